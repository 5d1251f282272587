"""Results of gathering: sources, rounds, and the reason to stop."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal, TypeAlias

from msgspec import Struct

from harness.core.text import one_line
from harness.research.page_reading import PageReading

StopReason: TypeAlias = Literal[
    "score met",
    "stagnation",
    "no evidence",
    "limit of rounds",
    "limit of live calls",
    "limit of time",
    "limit of tokens",
]
"""`stagnation`: a round added little, or no new query is left. `no evidence`: nothing found is relevant."""


class SourceText(Struct, frozen=True):
    """One text found at `url`: an excerpt in search results, or the page."""

    url: str
    text: str

    @property
    def id(self) -> str:
        """Its id in the chunk store; depends on URL and text."""
        return sha256(f"{len(self.url)} {self.url}\n{self.text}".encode(errors="replace")).hexdigest()[:32]


class GatheredSource(Struct, frozen=True):
    """Everything found at one URL: excerpts from searches and the page, each once, in the order of discovery; an empty
    line separates paragraphs.
    """

    url: str
    title: str
    texts: tuple[str, ...]

    @property
    def documents(self) -> list[SourceText]:
        """Its texts as documents of the chunk store."""
        return [SourceText(self.url, text) for text in self.texts]

    def with_text(self, text: str) -> "GatheredSource":
        """Return the source with one more text, unless it has that text already."""
        known = {one_line(each) for each in self.texts}
        return (
            self if not text or one_line(text) in known else GatheredSource(self.url, self.title, (*self.texts, text))
        )


class Search(Struct, frozen=True):
    """One search of a round: answered by the cache, answered live, or failed with an error's code and message."""

    query: str
    engine: str
    answered_by: Literal["cache", "live", "failed"]
    results: int
    error: str | None = None


class Round(Struct, frozen=True):
    """One pass of searches and the pages read for their best results. `novelty` (0..1) is the distance of the new texts
    from the earlier ones, `score` (0..1) how well all texts together answer the question.
    """

    searches: tuple[Search, ...]
    pages: tuple[PageReading, ...]
    novelty: float
    score: float

    @property
    def answered_by(self) -> list[str]:
        """The origin of each search and page: `cache`, `live` or `failed`."""
        return [each.answered_by for each in self.searches] + [each.answered_by for each in self.pages]


class Gathered(Struct, frozen=True):
    """All sources, one per URL, best first, and the rounds that found them."""

    sources: tuple[GatheredSource, ...]
    rounds: tuple[Round, ...]
    stop_reason: StopReason

    @property
    def searches(self) -> list[Search]:
        """Every search, in order."""
        return [search for round_ in self.rounds for search in round_.searches]

    @property
    def answered_by(self) -> list[str]:
        """The origin of each search and page: `cache`, `live` or `failed`."""
        return [each for round_ in self.rounds for each in round_.answered_by]

    @property
    def pages(self) -> list[PageReading]:
        """Every page that was read or failed, in order."""
        return [page for round_ in self.rounds for page in round_.pages]

    @property
    def score(self) -> float:
        """The score (0..1) after the last round."""
        return self.rounds[-1].score if self.rounds else 0.0


def documents_of(sources: Iterable[GatheredSource]) -> list[SourceText]:
    """Return the documents of several sources."""
    return [document for source in sources for document in source.documents]
