"""The score of a round by the reader: when a research stops, and on which settings that does not depend."""

# ruff: noqa: F401, F811 - fixtures of another file
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from harness.cache import Cache
from harness.models.local.embedder import MiniLM
from harness.ports import SearchResult
from harness.research.answered import help_probability
from harness.research.evidence import Evidence
from harness.research.gathering import GatheredSource
from tests.fakes import WordReader
from tests.research.test_run import QUESTION, Scripted, cache, change_services, embedder, researcher

AGAIN = "Retries wait for longer every time: exponential backoff, with a limit of retries, is how a client waits."
TWO = "How does exponential backoff limit retries, and how is a violin tuned?"
VIOLIN = "A violin is tuned with its pegs: the player turns them until each string sounds right."


class Asked(WordReader):
    """A reader for which every text with a word answers, and no other."""

    def __init__(self, *words: str) -> None:
        super().__init__(least=0.3)
        self.words = words
        self.id = " ".join(("asked", *words))

    def answers(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Reader.answers`: a part of the question is answered by texts that have its word."""
        wanted = [word for word in self.words if word in question]
        return [0.99 if any(word in text for word in wanted) else 0.01 for text in texts]


def page(place: int, body: str) -> SearchResult:
    """Return a result of another site for every place."""
    return SearchResult(title="A page", href=f"https://site{place}.example/", body=body)


def engine() -> Scripted:
    """Return an engine that has another page for every query, so that no round adds too little."""
    pages: dict[str, int] = {}

    def answer(query: str) -> list[SearchResult]:
        number = pages.setdefault(query, len(pages))
        other = ["gardens", "cats", "tea", "rivers", "maps", "salt", "chess", "roofs"][number % 8]
        return [page(number, f"{AGAIN} Number {number} of all pages is about retries and {other} as well.")]

    return Scripted(answer)


def rounds(cache: Cache, embedder: MiniLM, question: str, reader: WordReader | None, **how: Any) -> tuple[str, int]:
    """Return the reason to stop and the number of rounds."""
    leader = researcher(cache, engine(), embedder, keep=False, **{"enough": 0.8, "novel": 0.0, "rounds": 3, **how})
    change_services(leader, answering=reader)
    found = leader.run(question)
    return found.gathered.stop_reason, len(found.gathered.rounds)


def test_it_stops_when_the_reader_says_that_the_question_is_answered(cache: Cache, embedder: MiniLM) -> None:
    """However near the vectors are: the same texts stop a research or do not."""
    assert rounds(cache, embedder, QUESTION, Asked("retries")) == ("score met", 1)
    assert rounds(cache, embedder, QUESTION, Asked("violin")) == ("limit of rounds", 3)


def test_without_a_reader_similarity_decides(cache: Cache, embedder: MiniLM) -> None:
    """The texts are near the question, but not that near."""
    assert rounds(cache, embedder, QUESTION, None, enough=0.5) == ("score met", 1)
    assert rounds(cache, embedder, QUESTION, None, enough=0.99) == ("limit of rounds", 3)


def test_every_part_must_be_answered(cache: Cache, embedder: MiniLM) -> None:
    """A score is that of the part that is answered least."""
    reader = Asked("retries", "violin")
    assert rounds(cache, embedder, TWO, reader) == ("limit of rounds", 3)
    cache.maintenance.clear()
    leader = researcher(cache, Scripted(lambda query: [page(1, AGAIN), page(2, VIOLIN)]), embedder, enough=0.8)
    change_services(leader, answering=reader)
    assert leader.run(TWO).gathered.stop_reason == "score met"


def test_the_score_of_a_round_is_what_stops_it(cache: Cache, embedder: MiniLM) -> None:
    """It is equal to the setting or higher; a little more is not enough."""
    leader = researcher(cache, engine(), embedder, keep=False, enough=0.8, rounds=1)
    change_services(leader, answering=Asked("retries"))
    [only] = leader.run(QUESTION).gathered.rounds
    assert 0.8 < only.score < 1.0
    assert rounds(cache, embedder, QUESTION, Asked("retries"), enough=only.score, rounds=1)[0] == "score met"
    more = rounds(cache, embedder, QUESTION, Asked("retries"), enough=only.score + 0.0001, rounds=1)
    assert more == ("limit of rounds", 1)


@pytest.mark.parametrize(("word", "use"), [("retries", "solved"), ("violin", "off")])
def test_only_a_question_that_is_answered_counts_as_solved(cache: Cache, embedder: MiniLM, word: str, use: str) -> None:
    """Its research is used again; near texts that answer nothing are searched again."""
    for _ in range(2):
        leader = researcher(cache, engine(), embedder, enough=0.8, rounds=1)
        change_services(leader, answering=Asked(word))
        found = leader.run(QUESTION)
    assert found.research_cache == use
    assert found.gathered.sources


def test_settings_for_writing_do_not_change_what_is_gathered(cache: Cache, embedder: MiniLM) -> None:
    """A report of one excerpt from each source ends its searches where another one does."""
    leader = researcher(cache, engine(), embedder, keep=False, enough=0.8, rounds=3)
    change_services(leader, answering=Asked("retries"))
    plain = leader.run(QUESTION).gathered
    few = replace(leader.writer.settings, max_evidence=1, per_source=1, reading_weight=1.0)
    leader.writer = replace(leader.writer, settings=few)
    assert leader.run(QUESTION).gathered.rounds[0].score == plain.rounds[0].score


def excerpt(helps: float | None, part: int = 0, disagrees: int = 0) -> Evidence:
    """Return an excerpt that helps this likely."""
    source = GatheredSource("https://example.org/", "A page", (AGAIN,))
    return Evidence((AGAIN,), source, "d", 0, 0, 0.5, 0.5, part=part, helps=helps, disagrees=disagrees)


@pytest.mark.parametrize(
    ("found", "part", "expected"),
    [
        ([], None, None),
        ([excerpt(None)], None, None),
        ([excerpt(0.3), excerpt(0.6, 1)], None, 0.6),
        ([excerpt(0.3), excerpt(0.6, 1)], 0, 0.3),
        ([excerpt(0.3), excerpt(0.6, 1)], 2, None),
        ([excerpt(0.3), excerpt(0.9, disagrees=1)], None, 0.3),
    ],
)
def test_the_best_excerpt_counts(found: list[Evidence], part: int | None, expected: float | None) -> None:
    """The best one of all, or about a part, without the statements that disagree and what no reader read."""
    assert help_probability(found, part) == expected
