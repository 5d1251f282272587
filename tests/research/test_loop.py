"""Rounds of a research: stop reasons, scores, the cost of a second run, and robustness."""

import json
import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from harness.cache import Cache, Policy
from harness.core.tables import CHUNKS
from harness.errors import EmbeddingError, EngineUnavailable, HarnessError, StoreError
from harness.models.local.tokenizer import rarity
from harness.ports import Completion, Message
from harness.research.budget import CHARS_A_TOKEN
from harness.research.fingerprint import Code
from harness.research.gathering import SourceText
from harness.research.model_writer import rules_for
from harness.research.planner import Plan, RulePlanner, make_plan
from harness.research.result import Research
from harness.research.run import RULES_TOKENS
from harness.research.scoring import ChunkSet, RoundScore, RoundScorer
from harness.settings import WritingSettings
from harness.storage.sqlite.store import SqliteStore
from tests.fakes import FakeClock, MemoryStore
from tests.research.directed_embedder import DirectedEmbedder
from tests.research.test_run import Library, Scripted, change_services, memory_of, researcher, silent

QUESTION = "How does exponential backoff limit retries?"
SITE = "https://example.org"
_TOLD = re.compile(r"similarity\s+(-?\d\.\d+)\s+in\s+direction\s+(\d+)")


def text(similarity: float, direction: int) -> str:
    """Return a sentence for which `DirectedEmbedder` makes this vector."""
    return f"What this passage says has the similarity {similarity:.4f} in direction {direction} of all."


def result(similarity: float, direction: int, **others: Any) -> dict[str, Any]:
    """Return a result with such a text, at its own URL."""
    return {"title": "", "href": f"{SITE}/{direction}", "body": text(similarity, direction), **others}


class Steps(RulePlanner):
    """A planner with scripted queries, round by round."""

    version = "steps"

    def __init__(self, *rounds: Sequence[str], fallback: str | None = None) -> None:
        self.rounds = rounds
        self.wider = fallback

    def plan(self, question: str, cache: Cache) -> Plan:
        """See `RulePlanner.plan`."""
        return Plan(question, "research", tuple(self.rounds[0]), ("Answer", "How it works", "Limits"))

    def follow_ups(self, plan: Plan, asked: Iterable[str], passages: Iterable[str], cache: Cache) -> tuple[str, ...]:
        """See `RulePlanner.follow_ups`."""
        known = set(asked)
        return next((tuple(queries) for queries in self.rounds if not known >= {*queries}), ())

    def fallback(self, plan: Plan, asked: Iterable[str]) -> str | None:
        """See `RulePlanner.fallback`."""
        return None if self.wider in asked else self.wider


WRITES = {
    "rows": ("put", "replace", "touch", "sweep", "delete", "evict"),
    "nearest": ("embed",),
    "admin": ("clear",),
    "usage": ("add",),
}
EVERY_WRITE = frozenset(name for names in WRITES.values() for name in names)


class Watched(MemoryStore):
    """A store that counts reads of chunk rows, and refuses the writes in `full`."""

    def __init__(self) -> None:
        super().__init__()
        self.full: frozenset[str] = frozenset()
        self.read = 0
        for part, names in WRITES.items():
            for name in names:
                setattr(getattr(self, part), name, self._refusing(name, getattr(getattr(self, part), name)))
        find = self.listings.find

        def counted(table: str, tenant: str, where: Mapping[str, Any]) -> Any:
            self.read += table == CHUNKS
            return find(table, tenant, where)

        self.listings.find = counted  # type: ignore[method-assign]

    def _refusing(self, name: str, original: Any) -> Any:
        def method(*given: Any, **named: Any) -> Any:
            if name in self.full:
                raise StoreError("the disk is full; make room")
            return original(*given, **named)

        return method


@pytest.fixture
def store() -> Watched:
    """Return an empty store."""
    return Watched()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SqliteStore]:
    """Return an empty store on disk."""
    opened = SqliteStore(tmp_path / "harness.db")
    yield opened
    opened.close()


@pytest.fixture
def cache(store: Watched, clock: FakeClock) -> Cache:
    """Return a cache over it."""
    return Cache(store, clock=clock)


@pytest.fixture
def caches() -> Any:
    """Return a factory of empty caches."""
    return lambda **how: Cache(Watched(), **how)


def ask(
    cache: Cache,
    answers: Mapping[str, Any],
    embedder: Any,
    *rounds: Sequence[str],
    wider: str | None = None,
    question: str = QUESTION,
    **how: Any,
) -> Research:
    """Research with an engine that has these answers, in these rounds (by default its queries, in one round)."""
    engine = how.pop("engine", None) or Scripted(lambda query: answers.get(query, []))
    leader = researcher(cache, engine, embedder, **how)
    change_services(leader, planner=Steps(*(rounds or [list(answers)]), fallback=wider))
    return leader.run(question)


def ended(found: Research) -> tuple[str, int]:
    """Return the stop reason and the number of rounds."""
    return found.gathered.stop_reason, len(found.gathered.rounds)


def numbers(found: Research) -> list[tuple[float, float]]:
    """Return novelty and score of each round."""
    return [(each.novelty, each.score) for each in found.gathered.rounds]


TWO = {"a": [result(0.8, 1)], "b": [result(0.6, 2), result(0.4, 3)]}


# --- stop reasons


@pytest.mark.parametrize(("enough", "reason"), [(0.6, "score met"), (0.6001, "limit of rounds")])
def test_enough_is_the_score_or_more(cache: Cache, embedder: Any, enough: float, reason: str) -> None:
    """The mean of the three best is compared with the setting: an equal score is enough."""
    found = ask(cache, TWO, embedder, ["a", "b"], enough=enough, rounds=1)
    assert numbers(found) == [(1.0, 0.6)]
    assert ended(found) == (reason, 1)


def test_the_three_best_chunks_make_the_score(cache: Cache, embedder: Any) -> None:
    """The best of all chunks, not of the last round; a fourth one changes nothing."""
    answers = {**TWO, "c": [result(0.9, 4), result(-0.5, 5)]}
    assert [score for _, score in numbers(ask(cache, answers, embedder, ["a", "b"], ["c"], novel=0.0))] == [
        0.6,
        pytest.approx((0.9 + 0.8 + 0.6) / 3, abs=1e-4),
    ]


@pytest.mark.parametrize(("more", "reason"), [(0.0, "limit of rounds"), (0.0001, "stagnation")])
def test_a_round_that_adds_too_little_is_the_last(cache: Cache, embedder: Any, more: float, reason: str) -> None:
    """Novelty is the mean distance to the nearest earlier chunks: below the limit, not at it."""
    answers = {"a": [result(0.6, 1)], "b": [result(0.6, 1, href=f"{SITE}/copy"), result(0.6, 2)]}
    expected = round((0.0 + (1.0 - 0.36)) / 2, 4)
    found = ask(cache, answers, embedder, ["a"], ["b"], rounds=2, novel=expected + more)
    assert [novelty for novelty, _ in numbers(found)] == [1.0, expected]
    assert ended(found) == (reason, 2)


def test_without_another_query_it_ends(cache: Cache, embedder: Any) -> None:
    """Though everything was new, and rounds are left."""
    found = ask(cache, {"a": [result(0.5, 1)]}, embedder, rounds=5)
    assert numbers(found) == [(1.0, 0.5)]
    assert ended(found) == ("stagnation", 1)


@pytest.mark.parametrize(("best", "reason"), [(0.349, "no evidence"), (0.35, "stagnation"), (-0.9, "no evidence")])
def test_without_anything_relevant_it_ends(cache: Cache, embedder: Any, best: float, reason: str) -> None:
    """Even if a score of 0 would be enough; one relevant chunk is enough to continue."""
    found = ask(cache, {"a": [result(best, 1), result(0.0, 2), result(0.0, 3)]}, embedder)
    assert ended(found) == (reason, 1)


@pytest.mark.parametrize("enough", [0.0, 0.5])
def test_nothing_found_is_no_evidence(cache: Cache, embedder: Any, enough: float) -> None:
    """A score of nothing is never enough."""
    found = ask(cache, {"a": []}, embedder, enough=enough)
    assert ended(found) == ("no evidence", 1)
    assert numbers(found) == [(0.0, 0.0)]
    assert found.report is None


def test_a_later_round_without_results_adds_nothing(cache: Cache, embedder: Any) -> None:
    """It is not "no evidence": there is a relevant chunk; the score stays."""
    found = ask(cache, {"a": [result(0.5, 1)]}, embedder, ["a"], ["b"])
    assert ended(found) == ("stagnation", 2)
    assert numbers(found) == [(1.0, 0.5), (0.0, 0.5)]


def test_a_later_round_that_fails_adds_nothing(cache: Cache, embedder: Any) -> None:
    """Its error is reported, and the answer uses the earlier results."""
    engine = Scripted(lambda query: [result(0.5, 1)] if query == "a" else EngineUnavailable("down"))
    found = ask(cache, {}, embedder, ["a"], ["b"], engine=engine)
    assert ended(found) == ("stagnation", 2)
    assert found.gathered.rounds[1].searches[0].error == "engine_unavailable: down"
    assert found.report is not None


NEW = {name: [result(0.5, n)] for n, name in enumerate("abcdef", start=1)}
STEPS = [[name] for name in "abcdef"]


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_no_more_rounds_than_the_limit(cache: Cache, embedder: Any, rounds: int) -> None:
    """However new everything is."""
    assert ended(ask(cache, NEW, embedder, *STEPS, rounds=rounds)) == ("limit of rounds", rounds)


@pytest.mark.parametrize(("calls", "rounds"), [(1, 1), (2, 2), (3, 3)])
def test_no_more_live_calls_than_the_limit(cache: Cache, embedder: Any, calls: int, rounds: int) -> None:
    """Searches that failed count as well."""
    engine = Scripted(lambda query: EngineUnavailable("down") if query == "b" else NEW[query])
    found = ask(cache, {}, embedder, *STEPS, engine=engine, calls=calls, novel=0.0)
    assert ended(found) == ("limit of live calls", rounds)
    assert len(engine.asked) == found.live_calls == calls


def test_with_two_engines_no_more_live_calls_than_the_limit(cache: Cache, embedder: Any) -> None:
    """Even if too few calls are left for all of them."""
    one, two = (Scripted(lambda query: NEW[query]) for _ in range(2))
    two.name = "other"
    found = ask(cache, {}, embedder, *STEPS, engine=[one, two], calls=3)
    assert found.live_calls == len(one.asked) + len(two.asked) <= 3
    assert found.gathered.stop_reason == "limit of live calls"


def test_a_run_limited_by_live_calls_is_repeatable(cache: Cache, embedder: Any) -> None:
    """The same question, under the same limit, costs no live call and gives the same report."""
    engine = Scripted(lambda query: NEW[query])
    first = ask(cache, {}, embedder, *STEPS, engine=engine, calls=2)
    second = ask(cache, {}, embedder, *STEPS, engine=engine, calls=2)
    assert second.live_calls == 0
    assert second.report == first.report
    assert engine.asked == ["a", "b"]


@pytest.mark.parametrize(("seconds", "rounds"), [(20.0, 2), (20.001, 3), (1e-9, 1)])
def test_no_round_begins_after_the_time(
    cache: Cache, clock: FakeClock, embedder: Any, seconds: float, rounds: int
) -> None:
    """Rounds take ten seconds each."""

    def slow(query: str) -> Any:
        clock.advance(10)
        return NEW[query]

    found = ask(cache, {}, embedder, *STEPS, engine=Scripted(slow), seconds=seconds)
    assert ended(found) == ("limit of time", rounds)


def test_a_clock_that_goes_back_ends_nothing(cache: Cache, clock: FakeClock, embedder: Any) -> None:
    """Rounds continue as if no time had passed; stored entries are found again."""

    def back(query: str) -> Any:
        clock.advance(-30)
        return NEW[query]

    engine = Scripted(back)
    first = ask(cache, {}, embedder, *STEPS, engine=engine, seconds=10, rounds=3)
    assert ended(first) == ("limit of rounds", 3)
    again = ask(cache, {}, embedder, *STEPS, engine=engine, seconds=10, rounds=3)
    assert (again.report, again.live_calls) == (first.report, 0)


def test_a_limit_that_is_not_set_ends_nothing(cache: Cache, embedder: Any) -> None:
    """Rounds continue until no query is left."""
    assert ended(ask(cache, NEW, embedder, *STEPS, rounds=99)) == ("stagnation", 6)


# --- the fallback


def test_one_wider_query_is_asked_if_nothing_relevant_is_found(cache: Cache, embedder: Any) -> None:
    """In the same round, and its results decide."""
    answers = {"a": [result(0.1, 1)], "wide": [result(0.7, 2)]}
    found = ask(cache, answers, embedder, ["a"], wider="wide")
    [only] = found.gathered.rounds
    assert [search.query for search in only.searches] == ["a", "wide"]
    assert found.gathered.stop_reason == "stagnation"
    assert found.report is not None


def test_only_one_wider_query_is_asked(cache: Cache, embedder: Any) -> None:
    """If it does not help either, the run stops."""
    engine = Scripted(lambda query: [result(0.1, 1)])
    found = ask(cache, {}, embedder, ["a"], ["b"], engine=engine, wider="wide")
    assert engine.asked == ["a", "wide"]
    assert ended(found) == ("no evidence", 1)


@pytest.mark.parametrize("best", [0.35, 0.9])
def test_no_wider_query_after_something_relevant_was_found(cache: Cache, embedder: Any, best: float) -> None:
    """Nor in a later round that finds nothing relevant after an earlier one did."""
    engine = Scripted(lambda query: [result(best, 1)] if query == "a" else [result(-0.2, 2)])
    ask(cache, {}, embedder, ["a"], ["b"], engine=engine, wider="wide")
    assert engine.asked == ["a", "b"]


def test_no_wider_query_when_live_calls_are_spent(cache: Cache, embedder: Any) -> None:
    """One more would exceed the limit."""
    engine = Scripted(lambda query: [result(0.1, 1)])
    found = ask(cache, {}, embedder, ["a", "b"], engine=engine, wider="wide", calls=2)
    assert sorted(engine.asked) == ["a", "b"]
    assert found.gathered.stop_reason == "no evidence"


def test_a_wider_query_that_was_asked_is_not_asked_again(cache: Cache, embedder: Any) -> None:
    """Then there is none."""
    engine = Scripted(lambda query: [])
    ask(cache, {}, embedder, ["a", "wide"], engine=engine, wider="wide")
    assert sorted(engine.asked) == ["a", "wide"]


def test_a_wider_query_that_fails_ends_nothing(cache: Cache, embedder: Any) -> None:
    """It is reported as failed, and the round counts."""
    engine = Scripted(lambda query: EngineUnavailable("down") if query == "wide" else [result(0.1, 1)])
    found = ask(cache, {}, embedder, ["a"], engine=engine, wider="wide")
    assert [search.answered_by for search in found.gathered.searches] == ["live", "failed"]
    assert ended(found) == ("no evidence", 1)


# --- scores


def test_a_document_found_again_adds_nothing(cache: Cache, embedder: Any) -> None:
    """Within a round it counts once; in a later one its novelty is 0, and the score stays."""
    once, more = {"a": [result(0.6, 1)]}, [result(0.6, 1), result(0.2, 2)]
    found = ask(cache, {**once, "b": more, "c": more}, embedder, ["a"], ["b", "c"], ["b"], novel=0.0)
    assert numbers(found) == [(1.0, 0.6), (round((1 - 0.12) / 2, 4), 0.4)]
    assert len(found.gathered.sources) == 2


def test_white_space_makes_no_other_document(cache: Cache, embedder: Any) -> None:
    """The same words at the same URL, spaced differently, count once."""
    spaced = text(0.9, 1).replace(" ", "  ")
    found = ask(cache, {"a": [result(0.9, 1), result(0.9, 1, body=spaced), result(0.3, 2)]}, embedder)
    assert [len(source.texts) for source in found.gathered.sources] == [1, 1]
    assert numbers(found) == [(1.0, 0.6)]


def test_a_copy_of_a_text_does_not_make_the_score(cache: Cache, embedder: Any) -> None:
    """One passage at three URLs is one passage, which may match by chance."""
    mirrors = [result(0.9, 1, href=f"{SITE}/mirror{n}") for n in range(3)]
    found = ask(cache, {"a": [*mirrors, result(0.3, 2), result(0.3, 3)]}, embedder)
    assert found.gathered.score == pytest.approx(0.5, abs=1e-4)


def test_the_text_of_a_page_counts(cache: Cache, embedder: Any) -> None:
    """Its chunks count with the results' in score and novelty; a page is new to later rounds once."""
    library = Library({f"{SITE}/1": text(0.9, 7)})
    found = ask(cache, {"a": [result(0.4, 1)]}, embedder, reader=library)
    assert numbers(found) == [(1.0, 0.65)]
    assert found.gathered.sources[0].texts == (text(0.4, 1), text(0.9, 7))


def test_a_page_may_be_the_only_relevant_text(cache: Cache, embedder: Any) -> None:
    """Then there is evidence, though the results show nothing relevant."""
    found = ask(cache, {"a": [result(0.1, 1)]}, embedder, reader=Library({f"{SITE}/1": text(0.9, 7)}))
    assert found.gathered.stop_reason != "no evidence"
    assert found.report is not None


def test_two_fresh_caches_give_the_same_rounds(caches: Any) -> None:
    """To the digit, and the same report, whichever search ends first."""
    runs = [ask(caches(), TWO, DirectedEmbedder(), ["a", "b"], ["c"], reader=Library()) for _ in range(2)]
    assert runs[0].gathered == runs[1].gathered
    assert runs[0].report == runs[1].report


@pytest.mark.parametrize(
    "odd",
    [
        {"body": ""},
        {"body": " \n\n\t"},
        {"body": None},
        {"href": ""},
        {"href": None},
        {"href": " "},
        {"title": None, "body": 7},
        {"body": ["not", "text"]},
    ],
    ids=str,
)
def test_a_result_without_text_or_address_is_passed_over(cache: Cache, embedder: Any, odd: dict[str, Any]) -> None:
    """Next to one that has both, it changes nothing that matters."""
    found = ask(cache, {"a": [{**result(0.0, 9), **odd}, result(0.6, 1)]}, embedder)
    assert found.report is not None
    assert found.gathered.sources[-1].url == f"{SITE}/1"


def test_results_with_nothing_but_a_title_are_no_evidence(cache: Cache, embedder: Any) -> None:
    """Keys may be missing."""
    found = ask(cache, {"a": [{"title": "A title"}, {"href": SITE}, {}]}, embedder)
    assert ended(found) == ("no evidence", 1)


@pytest.mark.parametrize(
    "body",
    [
        "指数退避限制重试次数。每次失败后等待时间加倍，直到达到上限为止。" * 200,
        "การถอยแบบเอ็กซ์โพเนนเชียลจำกัดการลองใหม่" * 400,
        "\u200b\u200d" * 50,
        "x" * 60_000,
        "🦄" * 5_000,
        "a\u0301" * 9_000,
        "word " * 20_000,
        ". " * 20_000,
        "\n\n".join("#" * 30),
    ],
    ids=["chinese", "thai", "joiners", "one word", "emoji", "combining", "words", "points", "signs"],
)
def test_any_text_is_scored(cache: Cache, embedder: Any, body: str) -> None:
    """Scripts without spaces, words without end, and meaningless text do not stop the run."""
    found = ask(cache, {"a": [result(0.6, 1), result(0.0, 2, body=body)]}, embedder)
    assert found.report is not None
    assert all(0.0 <= number <= 1.0 for each in numbers(found) for number in each)


def test_a_body_of_ten_megabytes_is_bounded(cache: Cache, embedder: Any) -> None:
    """Its beginning counts."""
    found = ask(cache, {"a": [result(0.0, 1, body=text(0.8, 1) + "\n\n" + "word " * 2_000_000)]}, embedder)
    assert found.report is not None
    assert sum(len(each) for source in found.gathered.sources for each in source.texts) <= 50_000


def test_a_long_address_is_an_address(cache: Cache, embedder: Any) -> None:
    """5,000 characters of it are kept and reported."""
    long = f"{SITE}/{'x' * 5_000}"
    found = ask(cache, {"a": [result(0.6, 1, href=long)]}, embedder, reader=Library({long: text(0.7, 2)}))
    assert found.report is not None
    assert found.report.sources[0].url == long
    assert len(found.gathered.sources[0].texts) == 2


def test_text_in_an_address_makes_no_other_document(cache: Cache, embedder: Any) -> None:
    """URL and text are kept apart, whatever they contain."""
    first, second = SourceText("x\nYes,", "z"), SourceText("x", "Yes,\nz")
    assert first.id != second.id
    odd = [result(0.6, 1, href="x\nYes,"), result(0.0, 1, href="x", body=f"Yes,\n{text(0.6, 1)}")]
    ask(cache, {"a": odd[:1]}, embedder)
    assert ask(cache, {"b": odd[1:]}, embedder).report is not None


def test_negative_similarity_counts_as_none(cache: Cache, embedder: Any) -> None:
    """The opposite of the question is as distant as something unrelated."""
    chunk_set = ChunkSet(
        QUESTION,
        memory_of(cache, embedder)("x"),
        embedder,
        code=Code(),
        keep=True,
        ttl=60,
        progress=silent,
        rarity=rarity,
    )
    documents = [SourceText(f"{SITE}/{n}", text(similarity, n)) for n, similarity in enumerate((0.6, -0.9, -1.0))]
    judged = RoundScorer(chunk_set, cache, ttl=60).score(documents, ())
    assert judged == RoundScore(1.0, 0.2, 0.6)
    assert RoundScorer(chunk_set, cache, ttl=60).score([], documents) == RoundScore(0.0, 0.2, 0.6)
    assert RoundScorer(chunk_set, cache, ttl=60).score([], ()) == RoundScore(0.0, 0.0, 0.0)


# --- a second run


def test_a_warm_run_embeds_nothing_and_reads_no_chunk(cache: Cache, store: Watched, embedder: Any) -> None:
    """Novelty, score, and the report's bytes are those of the first run."""
    pages = Library({f"{SITE}/{n}": text(0.9, 6 + n) for n in (1, 2, 3)})
    how: Any = {"reader": pages, "novel": 0.0, "rounds": 2}
    first = ask(cache, TWO, embedder, ["a"], ["b"], **how)
    assert embedder.texts
    assert store.read
    embedder.texts, store.read = [], 0
    second = ask(cache, TWO, embedder, ["a"], ["b"], **how)
    assert (embedder.texts, store.read, second.live_calls) == ([], 0, 0)
    assert numbers(second) == numbers(first)
    assert first.report is not None
    assert second.report is not None
    assert second.report.markdown() == first.report.markdown()


def test_another_question_embeds_no_document_again(cache: Cache, embedder: Any) -> None:
    """Chunks stored by one research serve the others."""
    ask(cache, TWO, embedder)
    chunks = {each["body"] for found in TWO.values() for each in found}
    embedder.texts = []
    ask(cache, TWO, embedder, question="What else limits retries?")
    assert embedder.texts.count("What else limits retries?") == 1
    assert all(embedder.texts.count(chunk) <= 1 for chunk in chunks)  # as a sentence, not as a chunk


@pytest.mark.parametrize("policy", [Policy(), Policy(read=False, write=False)], ids=["kept", "not kept"])
def test_a_run_embeds_everything_once(caches: Any, policy: Policy) -> None:
    """The question, and each chunk, stored or not; sentences are embedded in addition."""
    embedder, bodies = DirectedEmbedder(), [f"{text(0.6, n)} And more of it follows, word by word." for n in (1, 2)]
    answers = {name: [result(0.0, n, body=bodies[n])] for n, name in enumerate("ab")}
    ask(caches(policy=policy), answers, embedder, ["a"], ["b"], reader=Library({f"{SITE}/0": text(0.4, 5)}))
    for each in (QUESTION, *bodies):
        assert embedder.texts.count(each) == 1


def test_another_embedder_scores_again(cache: Cache, embedder: Any) -> None:
    """It has vectors of another length; the chunks of the first one are replaced, not compared."""

    class Other(DirectedEmbedder):
        id = "other-8"
        dimension = 8

        def _vector(self, given: str) -> np.ndarray:
            return super()._vector(given.replace("0.8000", "0.2000"))

    first = ask(cache, TWO, embedder, rounds=1)
    other = Other()
    second = ask(cache, TWO, other, rounds=1)
    assert [score for _, score in (*numbers(first), *numbers(second))] == [0.6, 0.4]
    assert any(each in other.texts for each in (text(0.8, 1), text(0.6, 2)))
    back = ask(cache, TWO, embedder, rounds=1)
    assert numbers(back) == numbers(first)
    assert back.report == first.report


def test_without_the_cache_the_numbers_are_the_same(caches: Any) -> None:
    """`--no-cache` stores no chunk, no score, no run."""
    kept = ask(caches(), TWO, DirectedEmbedder())
    cache = caches(policy=Policy(read=False, write=False))
    found = ask(cache, TWO, DirectedEmbedder())
    assert (numbers(found), found.report) == (numbers(kept), kept.report)
    assert all(
        cache.store.listings.stats(table, "default", 0.0).total == 0
        for table in (CHUNKS, "agent_queries", "research_evidence")
    )


# --- robustness


@pytest.mark.parametrize("full", [frozenset({"replace"}), EVERY_WRITE], ids=["chunks", "everything"])
def test_a_full_disk_ends_nothing_and_loses_nothing(
    caches: Any, full: frozenset[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Numbers and report are those of a writable store; one message says that chunks are not kept."""
    healthy = ask(caches(), TWO, DirectedEmbedder(), ["a"], ["b"], enough=0.6)
    cache = caches()
    cache.store.full = full
    found = ask(cache, TWO, DirectedEmbedder(), ["a"], ["b"], enough=0.6)
    assert (numbers(found), found.report) == (numbers(healthy), healthy.report)
    assert sum("chunks are not kept" in record.getMessage() for record in caplog.records) == 1
    assert all(record.levelno <= logging.ERROR and "\n" not in record.getMessage() for record in caplog.records)


def test_a_disk_that_was_full_is_used_again(caches: Any) -> None:
    """The next run stores its chunks."""
    cache = caches()
    cache.store.full = frozenset({"replace"})
    first = ask(cache, TWO, DirectedEmbedder())
    assert cache.store.listings.stats(CHUNKS, "default", 0.0).total == 0
    cache.store.full = frozenset()
    cache.store.admin.clear("research_evidence", "default")
    assert ask(cache, TWO, DirectedEmbedder()).report == first.report
    assert cache.store.listings.stats(CHUNKS, "default", 0.0).total == 3


def test_a_solved_question_is_answered_from_a_store_that_cannot_be_written(caches: Any) -> None:
    """Only its use is not recorded."""
    cache = caches()
    first = ask(cache, TWO, DirectedEmbedder(), enough=0.6)
    cache.store.full = EVERY_WRITE
    again = ask(cache, TWO, DirectedEmbedder(), enough=0.6)
    assert (again.research_cache, again.report) == ("solved", first.report)


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE agent_chunks SET metadata = '[]'",
        "UPDATE agent_chunks SET metadata = '{}'",
        "UPDATE agent_chunks SET metadata = '[{'",
        "UPDATE agent_chunks SET embedding = x'00'",
        "UPDATE agent_chunks SET embedding = x''",
        "UPDATE agent_chunks SET embedding = zeroblob(64)",
        "UPDATE agent_chunks SET embedding = NULL",
        "UPDATE agent_chunks SET embedding = NULL, embedder = NULL",
        "UPDATE agent_chunks SET chunk_index = chunk_index + 5",
        "DELETE FROM agent_chunks WHERE chunk_index = 0",
        "UPDATE research_evidence SET evidence = '[['",
        "UPDATE research_evidence SET evidence = '{}'",
    ],
)
def test_damaged_rows_end_nothing(disk: SqliteStore, embedder: Any, damage: str) -> None:
    """Damaged rows are replaced, with the same numbers and the same report."""
    words = " ".join(f"{text(0.7, n)} And so on, for a good while, it says." for n in range(1, 40))
    answers = {"a": [result(0.0, 1, body=words)]}
    cache = Cache(disk)
    first = ask(cache, answers, embedder)
    disk._connections.write(lambda connection: connection.execute(damage))
    if "agent_chunks" in damage:
        disk.admin.clear("research_evidence", "default")
    again = ask(cache, answers, embedder)
    assert numbers(again) == numbers(first)
    assert again.report == first.report


@pytest.mark.parametrize(
    "evidence",
    [
        '[[["Not of any source at all, by anybody."],"https://evil.example/","d",0,0,0.9,0.9]]',
        '[[[],"https://example.org/1","d",0,0,0.9,0.9]]',
    ],
    ids=["another address", "no sentence"],
)
def test_evidence_of_an_unknown_source_is_found_again(disk: SqliteStore, embedder: Any, evidence: str) -> None:
    """A row from another user's file with an unknown source raises no foreign error."""
    answers = {"a": [result(0.9, 1)]}
    cache = Cache(disk)
    ask(cache, answers, embedder)
    disk._connections.write(
        lambda connection: connection.execute(
            "UPDATE research_evidence SET evidence = ? WHERE evidence LIKE '[[%'", (evidence,)
        )
    )
    found = ask(cache, answers, embedder)
    assert found.report is not None
    assert "evil" not in found.report.markdown()


@pytest.mark.parametrize("broken", ["body", "title", "href"])
def test_broken_unicode_of_an_engine_is_a_typed_error(cache: Cache, embedder: Any, broken: str) -> None:
    """Engines clean their results; broken Unicode from one cannot be stored."""
    with pytest.raises(HarnessError):
        ask(cache, {"a": [result(0.6, 1, **{broken: "https://example.org/\ud800 text"})]}, embedder)


def test_broken_unicode_of_a_page_is_a_typed_error(cache: Cache, embedder: Any) -> None:
    """Or an unreadable page, like others."""
    library = Library({f"{SITE}/1": f"{text(0.9, 7)} \ud800"})
    try:
        found = ask(cache, {"a": [result(0.6, 1)]}, embedder, reader=library)
    except HarnessError:
        return
    assert found.report is not None


def test_a_run_cut_short_by_time_is_not_cached(cache: Cache, clock: FakeClock, embedder: Any) -> None:
    """With the research cache on, a run with more time gathers more."""

    def slow(query: str) -> Any:
        clock.advance(10)
        return NEW[query]

    short = ask(cache, {}, embedder, *STEPS, engine=Scripted(slow), seconds=10, keep=True)
    assert short.gathered.stop_reason == "limit of time"
    longer = ask(cache, {}, embedder, *STEPS, engine=Scripted(slow), keep=True)
    assert ended(longer) == ("limit of rounds", 5)


def test_a_run_with_stale_answers_is_not_cached(caches: Any, clock: FakeClock) -> None:
    """With the research cache on, expired answers do not get another TTL."""
    cache = caches(clock=clock, policy=Policy(stale_if_error=600))
    ask(cache, TWO, DirectedEmbedder(), keep=True)
    clock.advance(61)

    def down(query: str) -> Any:
        raise EngineUnavailable("down")

    late = ask(cache, TWO, DirectedEmbedder(), engine=Scripted(down), keep=True)
    assert late.answered["stale"] == 2
    assert ask(cache, TWO, DirectedEmbedder(), keep=True).live_calls == 2


def test_a_broken_embedder_is_an_error(cache: Cache) -> None:
    """Not an empty report."""

    class Broken(DirectedEmbedder):
        def embed(self, texts: Sequence[str]) -> np.ndarray:
            raise EmbeddingError("the model is missing; reinstall")

    with pytest.raises(EmbeddingError, match="reinstall"):
        ask(cache, TWO, Broken())


# --- tokens


class Model:
    """A language model that plans a query a round, quotes the first source, and counts."""

    name, endpoint = "small", "http://127.0.0.1:9/v1"
    parameters: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, tokens: int = 100) -> None:
        self.tokens = tokens
        self.planned = 0
        self.told: list[str] = []

    def complete(self, messages: Sequence[Message], *, schema: Any = None, on_text: Any = None) -> Completion:
        """See `LanguageModel.complete`."""
        content = messages[-1]["content"]
        if schema is not None:
            self.planned += 1
            return Completion(json.dumps({"queries": [f"query {len(content)}"]}), True, self.tokens - 1, 1)
        self.told.append(content)
        quotation = found[0] if (found := _TOLD.search(content)) else "nothing"
        return Completion(f'## Answer\nThat is so. [1: "What this passage says has the {quotation}"]', True)


def led(cache: Cache, embedder: Any, model: Model, **how: Any) -> Research:
    """Research with a model, and an engine that always has something new."""
    engine = Scripted(lambda query: [result(0.5, sum(map(ord, query)))])
    return researcher(cache, engine, embedder, model=model, novel=0.0, **how).run(QUESTION)


@pytest.mark.parametrize(("tokens", "rounds"), [(1, 1), (100, 1), (101, 2), (300, 3)])
def test_no_round_begins_after_the_tokens(cache: Cache, embedder: Any, tokens: int, rounds: int) -> None:
    """Each plan takes 100."""
    assert ended(led(cache, embedder, Model(), tokens=tokens)) == ("limit of tokens", rounds)


def test_tokens_from_the_cache_count_as_well(cache: Cache, embedder: Any) -> None:
    """So a second run stops where the first one did, without a call of the model."""
    first = led(cache, embedder, Model(), tokens=250)
    model = Model()
    second = led(cache, embedder, model, tokens=250)
    assert (model.planned, model.told, second.live_calls) == (0, [], 0)
    assert ended(second) == ended(first) == ("limit of tokens", 3)
    assert second.report == first.report


PAGE = " ".join(f"{text(0.5, n)} It goes on like this for many words and says little." for n in range(300))
"""Some 7,000 words."""


def written(caches: Any, **how: Any) -> tuple[str, Research]:
    """Return the writer's prompt and the research, on a page of many words."""
    model = Model()
    leader = researcher(
        caches(), Scripted(lambda query: [result(0.5, 1, body=PAGE)]), DirectedEmbedder(), model=model, rounds=1, **how
    )
    found = leader.run(QUESTION)
    return (model.told[0] if model.told else ""), found


def test_fewer_tokens_shrink_the_writers_context(caches: Any) -> None:
    """Down to excerpts with a remark, without asking the model."""
    rules = RULES_TOKENS + math.ceil(len(rules_for(make_plan(QUESTION), WritingSettings())) / CHARS_A_TOKEN)
    answer, planned = 2_048, 100
    sizes = []
    for room in (10_000, 2_000, 1_000, 400):
        payload, found = written(caches, tokens=room + answer + rules + planned)
        assert found.report is not None
        assert found.report.remark == ""
        assert len(payload.split()) <= room + 50
        sizes.append(len(payload.split()))
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 4
    payload, found = written(caches, tokens=199 + answer + rules + planned)
    assert payload == ""
    assert found.report is not None
    assert "tokens are spent" in found.report.remark
    assert found.report.remark.endswith("these are excerpts")
    assert found.report.verified == len(found.report.quotations) > 0


def test_without_a_limit_the_writers_context_is_the_setting(caches: Any) -> None:
    """3,000 tokens of sources."""
    payload, _ = written(caches)
    assert 2_000 < len(payload.split()) <= 3_050


def test_a_solved_question_is_written_within_the_same_tokens(cache: Cache, embedder: Any) -> None:
    """The original planning counts: the writer sees the same context, and its answer comes from the cache."""
    model = Model(tokens=1_000)
    how: Any = {"model": model, "enough": 0.4, "rounds": 1, "tokens": 2_048 + 300 + 1_000 + 600}
    engine = Scripted(lambda query: [result(0.5, 1, body=PAGE)])
    first = researcher(cache, engine, embedder, **how).run(QUESTION)
    again = researcher(cache, engine, embedder, **how).run(QUESTION)
    assert again.research_cache == "solved"
    assert len(model.told) == 1
    assert again.report == first.report


class Away(Model):
    """A language model that plans, and writes once it is back."""

    away = True

    def complete(self, messages: Sequence[Message], *, schema: Any = None, on_text: Any = None) -> Completion:
        """See `LanguageModel.complete`."""
        if schema is None and self.away:
            raise KeyboardInterrupt
        return super().complete(messages, schema=schema)


@pytest.mark.slow
def test_a_resumed_run_is_written_within_the_same_tokens(caches: Any) -> None:
    """Tokens spent on planning before the stop are not spent again."""

    def leader(cache: Cache, model: Model) -> Any:
        engine = Scripted(lambda query: [result(0.5, sum(map(ord, query)), body=f"{text(0.5, len(query))} {PAGE}")])
        limit = 3 * 500 + 2_048 + 300 + 800
        return researcher(cache, engine, DirectedEmbedder(), model=model, novel=0.0, rounds=3, tokens=limit)

    whole = Model(tokens=500)
    expected = leader(caches(), whole).run(QUESTION)
    cache, model = caches(), Away(tokens=500)
    with pytest.raises(KeyboardInterrupt):
        leader(cache, model).run(QUESTION)
    model.away = False
    [run] = cache.runs.all()
    assert leader(cache, model).resume(run.key).report == expected.report
    assert model.told == whole.told


def test_other_chunks_are_scored_and_quoted_again(caches: Any) -> None:
    """Chunks of another size, in the same cache, give the same as in a fresh one."""
    body = " ".join(f"{text(0.3 + n % 7 / 10, n)} And so on, for a good while, it says." for n in range(60))

    def run(cache: Cache, sizes: tuple[int, int]) -> Research:
        leader = researcher(cache, Scripted(lambda query: [result(0.5, 1, body=body)]), DirectedEmbedder(), rounds=1)
        leader.gathering = structs.replace(leader.gathering, chunk_tokens=sizes)
        memory = leader.services.memory

        def sized(space: str) -> Any:
            held = memory(space)
            held.chunk_tokens = sizes
            return held

        change_services(leader, memory=sized)
        return leader.run(QUESTION)

    cache = caches()
    run(cache, (200, 350))
    found, expected = run(cache, (20, 40)), run(caches(), (20, 40))
    assert [(each.document, each.chunk) for each in found.evidence] == [
        (each.document, each.chunk) for each in expected.evidence
    ]
    assert numbers(found) == numbers(expected)


def test_no_text_is_embedded_twice(cache: Cache) -> None:
    """An excerpt of one sentence is a chunk and a quotation: it has one vector, and so has the question."""
    embedder = DirectedEmbedder()
    results = [result(0.9, 1), result(0.8, 2), {**result(0.7, 3), "body": f"{text(0.7, 3)} {text(0.6, 4)}"}]
    found = researcher(cache, Scripted(lambda query: results), embedder, rounds=1).run(QUESTION)
    assert found.report is not None
    assert {QUESTION, text(0.9, 1), text(0.6, 4)} <= set(embedder.texts)
    assert sorted(embedder.texts) == sorted(set(embedder.texts))
