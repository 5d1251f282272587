"""Audits: some semantic hits are searched live, too; pairs that disagree never answer each other."""

import logging
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from harness.cache import Cache, Policy
from harness.cache.audit import CLOSING_SECONDS, MAX_WAITING, Auditor, compared, labelled_pair
from harness.core.audits import DISAGREES_BELOW, REFUSAL, Audit, addresses, overlap
from harness.core.calibration import interval
from harness.core.entries import Hit, Miss
from harness.core.keys import search_key
from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.ports import Store
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import Engine, semantics
from tests.cache.test_single_flight import Gate
from tests.fakes import FakeClock, MemoryStore

STORED, ASKED = "semantic cache false positives", "false positives semantic cache"
THIRD = "semantic cache for false positives"
DEADLINE = 30


def results(*places: int) -> list[dict[str, Any]]:
    """Return a result at each of the places."""
    return [{"title": "t", "href": f"https://example.org/{place}", "body": f"of {place}"} for place in places]


TEN, OTHERS = results(*range(10)), results(*range(10, 20))


class Audited:
    """A cache that answers by meaning, and its auditor."""

    def __init__(self, store: Store, rate: float = 1.0, **rest: Any) -> None:
        self.store = store
        self.auditor = Auditor(rate)
        self.cache = Cache(store, semantics=semantics(store), auditor=self.auditor, **rest)

    def ask(self, query: str, found: Any, **rest: Any) -> Any:
        """Search, and wait for the audit; return the answer."""
        answer = self.cache.searches.answer(query, found if callable(found) else Engine(found), **rest)
        self.auditor.close(DEADLINE)
        return answer


@pytest.fixture
def checked(store: SqliteStore, clock: FakeClock) -> Audited:
    """A cache that holds `STORED`, and audits every hit by meaning."""
    audited = Audited(store, clock=clock)
    audited.cache.searches.put(STORED, TEN)
    return audited


@pytest.fixture
def gate() -> Iterator[Gate]:
    """An engine that answers when it may."""
    gate = Gate(TEN)
    yield gate
    gate.opened.set()


# --- what is compared


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("abcd", "abcd", 1.0),
        ("abcdefghij", "aklmnopqrs", 0.1),
        ("abcdefghij", "abklmnopqr", 0.2),
        ("abc", "cdefgh", 1 / 3),
        ("abc", "defgh", 0.0),
        ("ab", "abcdefgh", None),
        ("", "", None),
    ],
)
def test_the_overlap_is_the_share_of_the_shorter_list(one: str, other: str, share: float | None) -> None:
    """In either order; fewer than three addresses have no overlap."""
    assert overlap(set(one), set(other)) == overlap(set(other), set(one)) == share


def test_addresses_are_compared_in_one_spelling() -> None:
    """Case of the host, tracking, fragments, doubles, and results without an address do not count."""
    written = ["https://Example.org/a/?utm_source=x#top", "https://example.org/a", "", None]
    assert addresses([{"href": each} for each in written] + [{}]) == {"https://example.org/a"}


@pytest.mark.parametrize(("shared", "agreed"), [(DISAGREES_BELOW, True), (0.19999, False), (0.0, False), (1.0, True)])
def test_a_pair_disagrees_below_the_constant(shared: float, agreed: bool) -> None:
    """At it, it agrees."""
    audit = Audit.of("a", "b", overlap=shared, similarity=1.0, probability=None, now=0.0)
    assert audit.agreed is agreed


def test_an_audit_has_the_values_of_the_hit() -> None:
    """Similarity of the queries, and probability by the verifier."""
    served = Hit(TEN, "semantic", "b", 0.9, 0.0, 0.75)
    audit = compared("a", served, addresses(TEN), OTHERS, 5.0)
    assert audit == Audit.of("a", "b", overlap=0.0, similarity=0.9, probability=0.75, now=5.0)


# --- what an audit does


def test_an_audit_that_agrees_is_kept_and_changes_nothing(checked: Audited, clock: FakeClock) -> None:
    """The answer is the semantic hit; the outcome has both queries, and the similarity of results and queries."""
    answer = checked.ask(ASKED, results(*range(5, 15)))
    assert (answer.how, answer.value) == ("semantic", TEN)
    (audit,) = checked.cache.audits.all()
    assert set(audit.queries) == {STORED, ASKED}
    assert (audit.overlap, audit.agreed, audit.probability, audit.created_at) == (0.5, True, None, clock.now)
    assert audit.similarity == pytest.approx(1.0)
    assert isinstance(checked.cache.searches.find(THIRD), Hit)


def test_the_results_of_an_audit_are_an_ordinary_row(checked: Audited) -> None:
    """The query is an exact hit afterwards, and the live call is counted."""
    live = results(*range(5, 15))
    checked.ask(ASKED, live)
    again = checked.ask(ASKED, Engine(EngineUnavailable("not asked")))
    assert (again.how, again.value) == ("exact", live)
    assert checked.cache.usage.total() == {"semantic": 1, "live": 1, "exact": 1}


def test_a_pair_that_disagrees_never_answers_again(checked: Audited, clock: FakeClock) -> None:
    """In either direction, even after the row of the audit is deleted, and in another cache on the store."""
    checked.ask(ASKED, OTHERS)
    assert checked.cache.audits.summary().disagreeing == 1
    checked.store.rows.delete("search_cache", "default", [search_key(ASKED)])
    other = Audited(checked.store, rate=0.0, clock=clock)
    for cache in (checked.cache, other.cache):
        assert isinstance(cache.searches.find(ASKED.upper()), Miss)
    checked.store.admin.clear("search_cache", "default")
    checked.cache.searches.put(ASKED, OTHERS)
    for cache in (checked.cache, other.cache):
        assert isinstance(cache.searches.find(STORED), Miss)
        assert isinstance(cache.searches.find(THIRD), Hit)  # who was not audited is answered


def test_the_refusal_holds_for_every_engine_and_number_of_results(checked: Audited) -> None:
    """The meaning of two queries does not depend on the engine."""
    checked.ask(ASKED, OTHERS)
    checked.cache.searches.put(STORED, TEN, engine="pubmed", options={"a": 1}, max_results=5)
    asked = checked.cache.searches.find(ASKED, engine="pubmed", options={"a": 1}, max_results=3)
    assert isinstance(asked, Miss)
    assert isinstance(checked.cache.searches.find(THIRD, engine="pubmed", options={"a": 1}, max_results=3), Hit)


def test_the_refusal_holds_for_one_tenant(store: SqliteStore, checked: Audited, clock: FakeClock) -> None:
    """Another tenant's lookups by meaning are unchanged."""
    checked.ask(ASKED, OTHERS)
    other = Cache(store, semantics=semantics(store, tenant="lab"), tenant="lab", clock=clock)
    other.searches.put(STORED, TEN)
    assert isinstance(other.searches.find(ASKED), Hit)


def test_the_refusal_is_explained(checked: Audited) -> None:
    """Among the candidates of the query, in words; solved questions are refused, too."""
    checked.ask(ASKED, OTHERS)
    checked.store.rows.delete("search_cache", "default", [search_key(ASKED)])
    explained = checked.cache.searches.explain(ASKED)
    assert [candidate.refusal for candidate in explained.candidates] == [REFUSAL]
    assert explained.shown(0.0)["candidates"][0]["refused"] == "an audit found other results"
    assert checked.cache.semantics is not None
    assert not checked.cache.semantics.accepts(STORED, ASKED, 1.0)
    assert checked.cache.semantics.accepts(STORED, THIRD, 1.0)


def test_only_the_results_that_were_asked_for_are_compared(checked: Audited) -> None:
    """Beyond `max_results` lists may differ."""
    checked.ask(ASKED, results(2, 1, 0, 13, 14), max_results=3)
    assert [audit.overlap for audit in checked.cache.audits.all()] == [1.0]


def test_a_caller_that_changes_the_answer_changes_no_audit(checked: Audited, gate: Gate) -> None:
    """The served addresses are those of that moment."""
    checked.cache.searches.answer(ASKED, gate).value.clear()
    gate.opened.set()
    checked.auditor.close(DEADLINE)
    assert [audit.overlap for audit in checked.cache.audits.all()] == [1.0]


# --- what is no evidence


@pytest.mark.parametrize(
    ("found", "counted"),
    [
        (EngineUnavailable("down"), "failed"),
        (RateLimited("slower"), "failed"),
        ([], "live"),
        (results(1, 2), "live"),
        ([{"title": "no address"}] * 10, "live"),
    ],
)
def test_an_audit_without_outcome_is_not_stored(
    checked: Audited, caplog: pytest.LogCaptureFixture, found: Any, counted: str
) -> None:
    """A failure, no results, too few to compare: one line at level info, no evidence; the call counts as it was."""
    caplog.set_level(logging.INFO, logger="harness")  # a command may have set it before
    assert checked.ask(ASKED, found).how == "semantic"
    assert checked.cache.audits.all() == []
    assert any("audit" in record.message for record in caplog.records)
    assert all(record.levelno <= logging.INFO for record in caplog.records)
    assert checked.cache.usage.total() == {"semantic": 1, counted: 1}


def test_a_search_that_fails_does_not_end_the_worker(checked: Audited) -> None:
    """After any exception, the next audit runs."""
    checked.ask(ASKED, ZeroDivisionError())
    checked.ask(ASKED, SystemExit(3))
    checked.ask(ASKED, TEN)
    assert checked.cache.audits.summary().audited == 1


# --- when there is an audit


def test_the_rate_is_the_share_of_audited_hits(store: SqliteStore) -> None:
    """A hit is audited if the number drawn is below the rate: none at 0, all at 1."""
    drawn = iter([0.25, 0.249, 0.9, 0.0])
    auditor = Auditor(0.25, chance=lambda: next(drawn))
    assert [auditor.wants_one() for _ in range(4)] == [False, True, False, True]
    assert not any(Auditor(0.0).wants_one() for _ in range(100))
    assert all(Auditor(1.0).wants_one() for _ in range(100))


@pytest.mark.parametrize("rate", [-0.1, 1.01, float("nan")])
def test_a_rate_is_a_share(rate: float) -> None:
    """Other numbers than 0 to 1 are refused."""
    with pytest.raises(InvalidInput, match="audit_rate"):
        Auditor(rate)


@pytest.mark.parametrize(
    ("policy", "how"),
    [
        (Policy(offline=True), "semantic"),
        (Policy(offline=True, replay=True), "semantic"),
        (Policy(write=False), "semantic"),
    ],
)
def test_nothing_is_audited_where_searching_or_storing_is_forbidden(
    store: SqliteStore, policy: Policy, how: str
) -> None:
    """Offline, replaying, for a reader."""
    Cache(store, semantics=semantics(store)).searches.put(STORED, TEN)
    engine = Engine(TEN)
    assert Audited(store, policy=policy).ask(ASKED, engine).how == how
    assert engine.calls == []


def test_exact_and_empty_answers_are_not_audited(checked: Audited) -> None:
    """They need no check."""
    checked.ask("nothing at all", [])
    engine = Engine(TEN)
    assert [checked.ask(query, engine).how for query in (STORED, "nothing at all")] == ["exact", "no results"]
    assert engine.calls == []


def test_an_answer_does_not_wait_for_its_audit(checked: Audited, gate: Gate) -> None:
    """Later answers do not wait either."""
    began = time.monotonic()
    assert checked.cache.searches.answer(ASKED, gate).how == "semantic"
    assert checked.cache.searches.answer(THIRD, gate).how == "semantic"
    assert time.monotonic() - began < 2
    assert gate.asked.acquire(timeout=DEADLINE)
    gate.opened.set()
    checked.auditor.close(DEADLINE)
    assert checked.cache.audits.summary().agreeing == 2


def test_one_audit_is_made_at_a_time_and_few_wait(store: SqliteStore, gate: Gate) -> None:
    """Further ones are left out; the thread ends with the last."""
    auditor = Auditor(1.0)
    done: list[int] = []

    def audit(number: int) -> None:
        gate("q", 1)
        done.append(number)

    auditor.begin(lambda: audit(-1))
    assert gate.asked.acquire(timeout=DEADLINE)
    for number in range(MAX_WAITING + 5):
        auditor.begin(lambda number=number: audit(number))
    assert sum(thread.name == "audit" for thread in threading.enumerate()) == 1
    gate.opened.set()
    auditor.close(DEADLINE)
    assert done == [-1, *range(MAX_WAITING)]
    until = time.monotonic() + DEADLINE
    while any(thread.name == "audit" for thread in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_search_for_the_audited_query_waits_for_the_same_call(checked: Audited, gate: Gate) -> None:
    """An audit computes once, as any search does."""
    checked.cache.searches.answer(ASKED, gate)
    assert gate.asked.acquire(timeout=DEADLINE)
    found: list[Any] = []
    refreshing = checked.cache.refreshing()
    asker = threading.Thread(target=lambda: found.append(refreshing.searches.answer(ASKED, gate)))
    asker.start()
    time.sleep(0.1)
    gate.opened.set()
    asker.join(DEADLINE)
    checked.auditor.close(DEADLINE)
    assert gate.engine.calls == [ASKED]
    assert found[0].value == TEN


def test_a_recorded_run_does_not_contain_its_audits(checked: Audited, clock: FakeClock) -> None:
    """A replay uses the answers that were served."""
    clock.advance(1)
    recording = checked.cache.recording()
    recording.searches.answer(ASKED, Engine(OTHERS))
    checked.auditor.close(DEADLINE)
    assert checked.cache.audits.summary().disagreeing == 1
    assert [(use.how, use.asked, use.served) for use in recording.uses] == [
        ("semantic", search_key(ASKED), search_key(STORED))
    ]


# --- its end


def test_closing_waits_for_a_short_time(checked: Audited, gate: Gate) -> None:
    """Audits that have not begun are dropped; the running one is left alone."""
    checked.cache.searches.answer(ASKED, gate)
    checked.cache.searches.answer(THIRD, gate)
    assert gate.asked.acquire(timeout=DEADLINE)
    began = time.monotonic()
    checked.auditor.close(0.2)
    assert 0.15 < time.monotonic() - began < 2
    gate.opened.set()
    until = time.monotonic() + DEADLINE
    while not checked.cache.audits.all():
        assert time.monotonic() < until
        time.sleep(0.01)
    assert gate.engine.calls == [ASKED]
    assert 1 <= CLOSING_SECONDS <= 2


def test_closing_does_not_wait_for_other_auditors(store: SqliteStore, gate: Gate) -> None:
    """It drops none of them."""
    mine, other = Auditor(1.0), Auditor(1.0)
    done: list[str] = []
    mine.begin(lambda: gate("q", 1))
    mine.begin(lambda: done.append("mine"))
    assert gate.asked.acquire(timeout=DEADLINE)
    began = time.monotonic()
    other.close(DEADLINE)
    assert time.monotonic() - began < 2
    gate.opened.set()
    mine.close(DEADLINE)
    assert done == ["mine"]


def test_a_forked_child_starts_afresh(checked: Audited, gate: Gate) -> None:
    """It does not wait for audits of its parent, and can audit."""
    checked.cache.searches.answer(ASKED, gate)
    assert gate.asked.acquire(timeout=DEADLINE)
    child = os.fork()
    if child == 0:
        began = time.monotonic()
        checked.auditor.close(DEADLINE)
        waited = time.monotonic() - began
        checked.cache.searches.answer(THIRD, Engine(OTHERS))
        checked.auditor.close(DEADLINE)
        os._exit(0 if waited < 2 and checked.cache.audits.summary().disagreeing == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    gate.opened.set()
    checked.auditor.close(DEADLINE)
    summary = checked.cache.audits.summary()
    assert (summary.agreeing, summary.disagreeing) == (1, 1)


# --- reports


def test_the_share_that_disagrees_has_an_exact_interval(clock: FakeClock) -> None:
    """Pairs are counted, each once; clearing the cache leaves them, and they are cleared separately."""
    checked = Audited(MemoryStore(), clock=clock)
    checked.cache.searches.put(STORED, TEN)
    for query, found in ((ASKED, TEN), (THIRD, OTHERS)):
        checked.ask(query, found)
    checked.cache.maintenance.clear()
    summary = checked.cache.audits.summary()
    assert (summary.audited, summary.agreeing, summary.disagreeing, summary.wrong) == (2, 1, 1, interval(1, 2))
    assert checked.cache.audits.clear() == 2
    assert checked.cache.audits.summary().wrong == interval(0, 0)


def test_an_audit_becomes_a_labelled_pair() -> None:
    """As `harness cache calibrate` reads it."""
    audit = Audit.of("b", "a", overlap=1 / 3, similarity=0.987654, probability=None, now=1_700_000_000.0)
    pair = labelled_pair(audit)
    assert {pair.pop("a"), pair.pop("b")} == {"a", "b"}
    assert pair == {
        "label": 1,
        "overlap": 0.3333,
        "similarity": 0.9877,
        "probability": None,
        "audited_at": "2023-11-14T22:13:20Z",
    }
