"""Lookups by meaning with a verifier: when it reads, what it decides, and its failures."""

import logging
from typing import Any

import pytest

from harness.cache import Cache
from harness.cache.semantic import MAX_VERIFIED
from harness.core.entries import Hit
from harness.core.equivalence import Rule, rule_for
from harness.errors import VerifierError
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import Engine, results, semantics
from tests.fakes import FakeClock

WEIGHTS = (0.0, 1.0, *[0.0] * 7)
"""The verifier's word alone counts."""
RULE = Rule(2.0, 0.01, "nothing", "says", WEIGHTS)
STORED, ASKED = "semantic cache false positives", "semantic cache false positives avoided how"


class Says:
    """A verifier with a fixed probability that remembers the pairs it read."""

    id = "says"

    def __init__(self, probability: float | Exception) -> None:
        self.said = probability
        self.asked: list[frozenset[str]] = []

    def rule(self, max_wrong: float) -> Rule:
        """See `Verifier.rule`."""
        return RULE

    def probability(self, a: str, b: str) -> float:
        """See `Verifier.probability`."""
        self.asked.append(frozenset((a, b)))
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


def verified(store: Any, verifier: Says, clock: FakeClock, **rest: Any) -> Cache:
    """Return a cache whose rule goes by the verifier's word."""
    looking = semantics(
        store, rule=lambda reads: rule_for(0.01) if reads is None else reads.rule(0.01), verifier=verifier, **rest
    )
    return Cache(store, semantics=looking, clock=clock)


def test_a_pair_that_guards_alone_would_refuse_is_served_if_the_verifier_is_sure(
    store: SqliteStore, clock: FakeClock
) -> None:
    """A word that only one side has is an objection, no veto; the hit says how sure the verifier was."""
    verifier = Says(0.95)
    cache = verified(store, verifier, clock)
    cache.searches.put(STORED, results("kept"))
    found = cache.searches.answer(ASKED, Engine()).outcome
    assert isinstance(found, Hit)
    assert (found.found, found.probability) == ("semantic", 0.95)
    assert verifier.asked == [frozenset((STORED, ASKED))]


def test_a_pair_that_the_verifier_doubts_is_searched(store: SqliteStore, clock: FakeClock) -> None:
    """Even if the two are very similar."""
    cache = verified(store, Says(0.5), clock)
    cache.searches.put(STORED, results("kept"))
    engine = Engine()
    cache.searches.answer("false positives semantic cache", engine)
    assert engine.calls == ["false positives semantic cache"]


def test_a_veto_decides_before_the_verifier(store: SqliteStore, clock: FakeClock) -> None:
    """The verifier does not read pairs with different numbers."""
    verifier = Says(1.0)
    cache = verified(store, verifier, clock)
    cache.searches.put("python 3.11 release date", results("kept"))
    engine = Engine()
    cache.searches.answer("python 3.12 release date", engine)
    assert engine.calls == ["python 3.12 release date"]
    assert verifier.asked == []


def test_the_verifier_reads_only_the_three_nearest(store: SqliteStore, clock: FakeClock) -> None:
    """A lookup takes limited time; candidates that were not read are marked."""
    verifier = Says(0.1)
    cache = verified(store, verifier, clock)
    for word in ("alpha", "beta", "gamma", "delta", "epsilon"):
        cache.searches.put(f"{STORED} of the {word}", results(word))
    explained = cache.searches.explain(STORED)
    assert len(verifier.asked) == MAX_VERIFIED
    assert [each.decision.probability is None for each in explained.candidates] == [False] * 3 + [True] * 2
    assert "nearer ones" in explained.candidates[-1].refusal


def test_equal_words_need_no_verifier(store: SqliteStore, clock: FakeClock) -> None:
    """A query that differs in case and white space is the same one."""
    verifier = Says(0.0)
    cache = verified(store, verifier, clock)
    cache.searches.put(STORED, results("kept"))
    assert isinstance(cache.searches.find(f"  {STORED.upper()} "), Hit)
    assert verifier.asked == []


def test_distant_candidates_are_not_read(store: SqliteStore, clock: FakeClock) -> None:
    """A threshold that was set holds for the verifier, too."""
    verifier = Says(1.0)
    cache = verified(store, verifier, clock, max_distance=0.01)
    cache.searches.put(STORED, results("kept"))
    engine = Engine()
    cache.searches.answer(ASKED, engine)
    assert (engine.calls, verifier.asked) == ([ASKED], [])


def test_without_the_verifier_the_stricter_rule_decides_and_that_is_logged_once(
    store: SqliteStore, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Without weights there are fewer answers, never wrong ones."""
    cache = verified(store, Says(VerifierError("its weights are missing")), clock)
    cache.searches.put(STORED, results("kept"))
    engine = Engine()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            cache.refreshing().searches.answer(ASKED, engine)
        assert isinstance(cache.searches.find("false positives semantic cache"), Hit)
        cache.searches.answer("semantic cache false negatives", engine)
    assert [record.message for record in caplog.records].count(caplog.records[0].message) == 1
    assert "its weights are missing" in caplog.text
    assert "semantic cache false negatives" in engine.calls


def test_an_explanation_has_the_probability(store: SqliteStore, clock: FakeClock) -> None:
    """Its probability, the guards that object in vain, and the refusal."""
    cache = verified(store, Says(0.25), clock)
    cache.searches.put(STORED, results("kept"))
    (candidate,) = cache.searches.explain(ASKED).shown(clock())["candidates"]
    assert candidate["probability"] == 0.25
    assert candidate["objections"] == []
    assert candidate["guards"]["content"] != "passed"
    assert candidate["refused"] == "not sure enough (the verifier alone: 25%)"


def test_two_solved_questions_are_read_as_well(store: SqliteStore, clock: FakeClock) -> None:
    """`accepts` decides like a lookup."""
    sure, unsure = (verified(store, Says(said), clock).semantics for said in (0.95, 0.4))
    assert sure is not None
    assert unsure is not None
    assert sure.accepts(ASKED, STORED, 0.9)
    assert not unsure.accepts(ASKED, STORED, 0.9)
    assert not sure.accepts(ASKED, STORED, 0.3)


def test_no_verifier_reads_another_language(store: SqliteStore, clock: FakeClock) -> None:
    """A verifier reads English: in Spanish the words decide, for an answer and against one."""
    verifier = Says(1.0)
    cache = verified(store, verifier, clock)
    cache.searches.put("receta de tortilla de patatas", results("kept"))
    cache.searches.put("vuelos baratos de madrid a roma", results("kept"))
    served = cache.searches.answer("la receta de la tortilla de patatas por favor", Engine()).outcome
    assert isinstance(served, Hit)
    assert not isinstance(cache.searches.answer("vuelos baratos de roma a madrid", Engine()).outcome, Hit)
    assert not verifier.asked
