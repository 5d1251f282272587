"""Results of gathering: sources, rounds, and the reason to stop."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from harness.core.page_numbers import PageStarts, page_of
from harness.core.sites import ONLY, SKIP, WEB
from harness.core.sufficiency import Sufficiency
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
    "limit of cost",
    "answered from the library",
]
"""`stagnation`: a round added little, or no new query is left. `no evidence`: nothing found is relevant. `answered from
the library`: held passages answer everything that was planned.
"""
STOPPED_BECAUSE: Mapping[str, str] = MappingProxyType(
    {
        "score met": "the evidence answers the question well enough",
        "stagnation": "more searches brought nothing new",
        "no evidence": "nothing that was found answers the question",
        "limit of rounds": "all rounds of searches were used",
        "limit of live calls": "the limit of searches and pages was reached",
        "limit of time": "the time limit was reached",
        "limit of tokens": "the model's limit of tokens was reached",
        "limit of cost": "the model's limit of cost was reached",
        "answered from the library": "passages that were read before answer it",
    }
)
"""The reasons in plain words, after "stopped because"."""


def stopped_because(reason: str | None) -> str:
    """Return in plain words why a research stopped to search."""
    return STOPPED_BECAUSE.get(reason or "", reason or "")


LEFT_OUT = "left out"
"""End of the note on a source that is not used."""


class SourceText(Struct, frozen=True):
    """One text found at `url`: an excerpt in search results, or the page."""

    url: str
    text: str

    @property
    def id(self) -> str:
        """Its id in the chunk store; depends on URL and text."""
        return sha256(f"{len(self.url)} {self.url}\n{self.text}".encode(errors="replace")).hexdigest()[:32]


class GatheredSource(Struct, frozen=True, omit_defaults=True):
    """Everything found at one URL: excerpts from searches and the page, each once, in the order of discovery; an empty
    line separates paragraphs. `fetched_at` (seconds since the epoch) is when passages of the library were read, the
    oldest of them; 0: it was found now, and `read_on` is the day (UTC, YYYY-MM-DD) on which the engine gave it, or its
    page was fetched; empty for a document. Authors, site (journal), date (YYYY, YYYY-MM or YYYY-MM-DD) and DOI are as a
    search engine gave them, empty where it did not. `full_text` is the URL of its text, if another. `read`: its page
    was read, and `ads` is the number of its advertisements, as in `Page`. `weight` (-0.05 to 0.05) is its quality,
    which its excerpts get in their ranking. `page_starts` are, for each text, the places at which the pages of a PDF
    begin in it; nothing for the last texts if they have none. `language` is its language, as a primary tag, if it is
    known and not that of the question.
    """

    url: str
    title: str
    texts: tuple[str, ...]
    fetched_at: float = 0.0
    read_on: str = ""
    authors: str = ""
    site: str = ""
    date: str = ""
    doi: str = ""
    full_text: str = ""
    read: bool = False
    ads: int = 0
    weight: float = 0.0
    page_starts: tuple[PageStarts, ...] = ()
    language: str = ""

    @property
    def documents(self) -> list[SourceText]:
        """Its texts as documents of the chunk store."""
        return [SourceText(self.url, text) for text in self.texts]

    @property
    def undated(self) -> "GatheredSource":
        """The source without the day of reading, for keys of what is made of its texts."""
        return replace(self, read_on="")

    @property
    def is_excerpt(self) -> bool:
        """Whether only excerpts in search results are known of it: a web page that was not read."""
        return self.url.startswith(WEB) and not self.read

    def with_text(self, text: str, starts: PageStarts = ()) -> "GatheredSource":
        """Return the source with one more text, unless it has that text already; pages begin in it at `starts`."""
        if not text or one_line(text) in {one_line(each) for each in self.texts}:
            return self
        paged = (*self.page_starts, *[()] * (len(self.texts) - len(self.page_starts)), starts)
        return replace(self, texts=(*self.texts, text), page_starts=paged if starts else self.page_starts)

    def page_of(self, quotation: str) -> int:
        """Return the page on which a quotation begins; 0 if that is not known."""
        found = (page_of(quotation, text, starts) for text, starts in zip(self.texts, self.page_starts, strict=False))
        return next(filter(None, found), 0)


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


class ReusedPassage(Struct, frozen=True, kw_only=True):
    """A passage of the library that a research used: its key there, where and how it was read before, by which query,
    when (seconds since the epoch), and in which `run`: "" if none of the newest did.
    `relevance` (0..1) is how likely it answers, `None` without a reader.
    """

    key: str
    url: str
    title: str
    source: str
    engine: str
    found_by: str
    fetched_at: float
    relevance: float | None = None
    run: str = ""


class SourceNote(Struct, frozen=True):
    """Why the source at a URL comes earlier or later ("paper: up"), or is left out ("skip_sites: left out")."""

    url: str
    note: str


class DecidedQuestion(Struct, frozen=True):
    """A sub-question of a plan, whether held passages answer it, and its queries that need no search, therefore."""

    question: str
    decision: Sufficiency
    spared: tuple[str, ...]


class Gathered(Struct, frozen=True, omit_defaults=True):
    """All sources, one per URL, best first, and the rounds that found them. `reused` passages were read before this
    research; `planned` is the number of searches that its plan would have needed without them, and `decided` says why.
    `notes` are about the sources that are not neutral, and those that were left out. `sub_questions` were found on the
    way, and researched as well. `tokens` were spent on planning, and `answer_tokens` of these were written.
    """

    sources: tuple[GatheredSource, ...]
    rounds: tuple[Round, ...]
    stop_reason: StopReason
    reused: tuple[ReusedPassage, ...] = ()
    planned: int = 0
    decided: tuple[DecidedQuestion, ...] = ()
    notes: tuple[SourceNote, ...] = ()
    sub_questions: tuple[str, ...] = ()
    tokens: int = 0
    answer_tokens: int = 0

    @property
    def left_out(self) -> dict[str, int]:
        """The number of results that each list of sites left out: {"skip_sites": 5}."""
        notes = [each.note for each in self.notes]
        counts = {name: notes.count(f"{name}: {LEFT_OUT}") for name in (ONLY, SKIP)}
        return {name: count for name, count in counts.items() if count}

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
