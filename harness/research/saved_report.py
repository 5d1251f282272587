"""Finished research as saved, printed and verified: one shape for a research and for the record of its run."""

import time
from typing import Any

from msgspec import Struct, to_builtins

from harness.research.figures import figures_of
from harness.research.gathering import DecidedQuestion, ReusedPassage, Round, SourceNote
from harness.research.planner import Plan
from harness.research.report import Citation, CitedSource, Report
from harness.research.result import Research
from harness.research.run_record import cited_sources
from harness.research.solved_questions import Origin

RUN_FIELDS = frozenset({"state", "created_at", "error"})
"""Fields of the run that `harness show --json` adds to those of a saved report."""


class SavedReport(Struct, frozen=True, kw_only=True):
    """A saved report. `sources` are all gathered sources, number 0 if the report does not cite them; `run` is empty if
    the run is not recorded, `plan` is `None` in records of older versions. `notes` say which sources come earlier or
    later, or are left out, and why.
    """

    question: str
    engine: str
    plan: Plan | None
    rounds: tuple[Round, ...]
    stop_reason: str
    sources: tuple[CitedSource, ...]
    report: Report | None
    live_calls: int
    cache_hits: int
    research_cache: str
    origin: Origin | None
    answered: dict[str, int]
    run: str
    reused: tuple[ReusedPassage, ...] = ()
    planned: int = 0
    decided: tuple[DecidedQuestion, ...] = ()
    notes: tuple[SourceNote, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON object that `harness research --json` prints and `harness verify` reads."""
        report = self.report
        shown = {
            "question": self.question,
            "engine": self.engine,
            "model": report.writer or None if report else None,
            "remark": report.remark or None if report else None,
            "plan": to_builtins(self.plan),
            "rounds": to_builtins(self.rounds),
            "novelty_scores": [round_.novelty for round_ in self.rounds],
            "retrieval_score": self.rounds[-1].score if self.rounds else 0.0,
            "stop_reason": self.stop_reason,
            "sources": [_source(source) for source in self.sources],
            "citations": [_citation(each) for each in report.citations] if report else [],
            "figures": [figure.as_dict(report.language) for figure in figures_of(report)] if report else [],
            "quotations": len(report.quotations) if report else 0,
            "quotations_verified": report.verified if report else 0,
            "sentences_left_out": report.dropped if report else 0,
            "limits": list(report.limits) if report else [],
            "live_calls": self.live_calls,
            "cache_hits": self.cache_hits,
            "research_cache": self.research_cache,
            "origin": to_builtins(self.origin),
            "answered": self.answered,
            "run": self.run or None,
            "report": report.markdown() if report else None,
        }
        if self.notes:
            shown["source_notes"] = to_builtins(self.notes)
        if self.decided:
            reused = [_reused(each) for each in self.reused]
            shown |= {"reused": reused, "searches_planned": self.planned, "decided": to_builtins(self.decided)}
        return shown


def saved_research(found: Research) -> SavedReport:
    """Return the saved form of a research."""
    return SavedReport(
        question=found.plan.question,
        engine=found.engine,
        plan=found.plan,
        rounds=found.gathered.rounds,
        stop_reason=found.gathered.stop_reason,
        sources=cited_sources(found.report, found.gathered),
        report=found.report,
        live_calls=found.live_calls,
        cache_hits=found.cache_hits,
        research_cache=found.research_cache,
        origin=found.origin,
        answered=found.answered,
        run=found.id,
        reused=found.gathered.reused,
        planned=found.gathered.planned,
        decided=found.gathered.decided,
        notes=found.gathered.notes,
    )


def _citation(citation: Citation) -> dict[str, Any]:
    """Return the fields of a citation; its page only if it is known, as in the files of older versions."""
    return {name: value for name, value in to_builtins(citation).items() if name != "page" or value}


def _source(source: CitedSource) -> dict[str, Any]:
    names = ("authors", "site", "date", "doi", "language")
    about = {name: getattr(source, name) for name in names if getattr(source, name)}
    known = {"number": source.number or None, "title": source.title, "url": source.url}
    read_on = {"read_on": source.day} if source.day else {}
    return {**known, "kind": source.kind, "read": source.read, **read_on, **about}


def _reused(passage: ReusedPassage) -> dict[str, Any]:
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(passage.fetched_at))
    return {**to_builtins(passage), "fetched_at": at}
