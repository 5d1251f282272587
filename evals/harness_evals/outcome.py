"""Outcome of one run of a task: all that scorers use, as logged."""

import math
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from harness.research.gathering import Search
from harness.research.planner import FURTHER
from harness.research.report import DISAGREEMENTS

Stage: TypeAlias = Literal["plan", "queries", "results", "pages", "chunks", "context", "prompt", "report"]
"""Stages in the order of a research."""

STAGES: tuple[Stage, ...] = ("plan", "queries", "results", "pages", "chunks", "context", "prompt", "report")


class Cited(Struct, frozen=True):
    """One sentence of the report, with its section and its quotation, if any; `verified`: the quotation is in the
    stored text of the source at `url`, and supports the sentence. `paragraph` is 0 in logs of earlier versions.
    """

    section: str
    sentence: str
    quotation: str
    url: str
    verified: bool
    paragraph: int = 0


class Cost(Struct, frozen=True):
    """Cost of a run: live searches and pages, tokens of the language model, seconds of wall-clock time."""

    live_calls: int
    tokens: int
    seconds: float


def total_cost(costs: Iterable[Cost]) -> Cost:
    """Return the sum of costs."""
    found = list(costs)
    return Cost(
        sum(each.live_calls for each in found),
        sum(each.tokens for each in found),
        math.fsum(each.seconds for each in found),
    )


class Round(Struct, frozen=True):
    """One round of a research: its searches, the pages read and not readable, its live calls, and how new the texts are
    and how well all of them answer the question (0..1).
    """

    searches: tuple[Search, ...]
    pages: int
    unread: int
    live_calls: int
    novelty: float
    score: float


class Outcome(Struct, frozen=True):
    """One run of a task. `sources` are the URLs found, best first; `citations` the report's sentences in order, empty
    without a report; `titles` those of the cited sources; `limits` what the report says it does not rest on. `digests`
    identify the bytes of every stage. `rounds` are those of the gathering, which ended because of `stop_reason`; with a
    `research_cache` of `hit` or `solved` it is that of an earlier run. `run` is the id in the history. `parts` are
    the outcomes of the questions of a stream. A failed run has an `error` (code and message) and nothing else: it is a
    crash, not a bad score.
    """

    task: str
    repeat: int
    sources: tuple[str, ...] = ()
    citations: tuple[Cited, ...] = ()
    cost: Cost = Cost(0, 0, 0.0)
    digests: Mapping[str, str] = {}
    error: str = ""
    titles: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    rounds: tuple[Round, ...] = ()
    stop_reason: str = ""
    research_cache: str = ""
    run: str = ""
    parts: "tuple[Outcome, ...]" = ()

    @property
    def sections(self) -> tuple[str, ...]:
        """The report's sections, in order, without those that may follow any report: the statements that disagree, and
        further passages.
        """
        aside = (DISAGREEMENTS, FURTHER)
        return tuple(dict.fromkeys(each.section for each in self.citations if each.section not in aside))

    @property
    def text(self) -> str:
        """All sentences of the report, in order."""
        return " ".join(citation.sentence for citation in self.citations)
