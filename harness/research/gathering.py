"""Result of a gathering: sources, rounds, and the reason why it stopped."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal, TypeAlias

from msgspec import Struct

from harness.core.text import one_line
from harness.research.page_reading import Reading

StopReason: TypeAlias = Literal[
    "score met",
    "stagnation",
    "no evidence",
    "limit of rounds",
    "limit of live calls",
    "limit of time",
    "limit of tokens",
]
"""`stagnation`: a round added little, or there is nothing new to ask. `no evidence`: nothing speaks to the question."""


class Document(Struct, frozen=True):
    """One text that was found at `url`: what a search showed of it, or its page."""

    url: str
    text: str

    @property
    def id(self) -> str:
        """Its name in the chunk store: another text, or another address, has another one."""
        return sha256(f"{len(self.url)} {self.url}\n{self.text}".encode(errors="replace")).hexdigest()[:32]


class Source(Struct, frozen=True):
    """What was found at one address: its texts are what the searches showed of it, and its page, each once, in the
    order of discovery; paragraphs are apart by an empty line.
    """

    url: str
    title: str
    texts: tuple[str, ...]

    @property
    def documents(self) -> list[Document]:
        """Its texts as the chunk store keeps them."""
        return [Document(self.url, text) for text in self.texts]

    def with_text(self, text: str) -> "Source":
        """Return the source with one more text, if it is a new one."""
        known = {one_line(each) for each in self.texts}
        return self if not text or one_line(text) in known else Source(self.url, self.title, (*self.texts, text))


class Search(Struct, frozen=True):
    """One search of a round: answered by the cache or live, or failed with an error's code and message."""

    query: str
    engine: str
    answered_by: Literal["cache", "live", "failed"]
    results: int
    error: str | None = None


class Round(Struct, frozen=True):
    """One pass of searches, the pages read for the best of their results, how far (0..1) what both brought was from
    what was held, and how well (0..1) all that was held then answers.
    """

    searches: tuple[Search, ...]
    pages: tuple[Reading, ...]
    novelty: float
    score: float

    @property
    def answered_by(self) -> list[str]:
        """Who answered each search and page: `cache`, `live` or `failed`."""
        return [each.answered_by for each in self.searches] + [each.answered_by for each in self.pages]


class Gathered(Struct, frozen=True):
    """All sources, one an address, best first; and the rounds that found them."""

    sources: tuple[Source, ...]
    rounds: tuple[Round, ...]
    stop_reason: StopReason

    @property
    def searches(self) -> list[Search]:
        """Every search, in order."""
        return [search for round_ in self.rounds for search in round_.searches]

    @property
    def answered_by(self) -> list[str]:
        """Who answered each search and page: `cache`, `live` or `failed`."""
        return [each for round_ in self.rounds for each in round_.answered_by]

    @property
    def pages(self) -> list[Reading]:
        """Every page that was read, or was to be, in order."""
        return [page for round_ in self.rounds for page in round_.pages]

    @property
    def score(self) -> float:
        """How well (0..1) all that was gathered answers."""
        return self.rounds[-1].score if self.rounds else 0.0


def documents_of(sources: Iterable[Source]) -> list[Document]:
    """Return the documents of several sources."""
    return [document for source in sources for document in source.documents]
