"""What one run of a task came to: everything that scorers look at, as the log keeps it."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

Stage: TypeAlias = Literal["plan", "queries", "results", "pages", "chunks", "context", "prompt", "report"]
"""In the order in which a research goes through them."""

STAGES: tuple[Stage, ...] = ("plan", "queries", "results", "pages", "chunks", "context", "prompt", "report")


class Cited(Struct, frozen=True):
    """One sentence of the report, with the section it stands in and the quotation that it rests on, if any; `verified`
    says that the quotation stands in the stored text of the source at `url`.
    """

    section: str
    sentence: str
    quotation: str
    url: str
    verified: bool


class Cost(Struct, frozen=True):
    """What a run took: searches and pages from outside, tokens of the language model, seconds by the wall clock."""

    live_calls: int
    tokens: int
    seconds: float


class Outcome(Struct, frozen=True):
    """One run of a task. `sources` are the addresses found, best first; `citations` the report's sentences in order,
    none where there is no report. `digests` name the bytes of every stage. A run that failed has an `error` (its code
    and message) and nothing else: it is a crash, not a bad score.
    """

    task: str
    repeat: int
    sources: tuple[str, ...] = ()
    citations: tuple[Cited, ...] = ()
    cost: Cost = Cost(0, 0, 0.0)
    digests: Mapping[str, str] = {}
    error: str = ""

    @property
    def sections(self) -> tuple[str, ...]:
        """The report's sections, in order."""
        return tuple(dict.fromkeys(citation.section for citation in self.citations))

    @property
    def text(self) -> str:
        """All sentences of the report, in order."""
        return " ".join(citation.sentence for citation in self.citations)
