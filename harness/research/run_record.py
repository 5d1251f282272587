"""Record of a run, written stage by stage: its settings, its answers, its quoted passages."""

import logging
import re
import secrets
import time
from calendar import timegm
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, Literal, TypeAlias

from msgspec import Struct, to_builtins

from harness.cache import Cache
from harness.core.chunking import passages
from harness.core.citations import is_quoted_in
from harness.core.text import clean, one_line, shorten
from harness.errors import HarnessError, InvalidInput, StoreError
from harness.ports import Stopped
from harness.research.gathering import Gathered
from harness.research.report import CitedSource, Report, cited_source
from harness.research.result import Research

log = logging.getLogger(__name__)

State: TypeAlias = Literal["gathering", "writing", "finished", "failed"]

INTERRUPTED = "interrupted"
BUG = "internal_error"
MAX_MESSAGE = 1_000

RUN_ID = re.compile("[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")
ID_TIME = "%Y%m%d-%H%M%S"
"""Format of the start time (UTC) at the beginning of a run's id."""


def new_run_id(now: float) -> str:
    """Return an id for a run that begins `now` (seconds since the epoch); it ends with 24 random bits."""
    return f"{time.strftime(ID_TIME, time.gmtime(now))}-{secrets.token_hex(3)}"


def run_start(run: str) -> float:
    """Return when a run began (seconds since the epoch), from its id.

    Raises:
        ValueError: the id has no valid time.
    """
    return float(timegm(time.strptime(run[:15], ID_TIME)))


def checked_run_id(run: str) -> str:
    """Return the id of a run unchanged.

    Raises:
        InvalidInput: it is not of the form that `new_run_id` makes.
    """
    if not RUN_ID.fullmatch(run):
        raise InvalidInput(f"{run!r:.60} is not a run id like 20261122-101500-1a2b3c; leave it out to get a new one")
    return run


class RunError(Struct, frozen=True):
    """Why a run ended early: a stable code (see `harness.errors`, `INTERRUPTED`, `BUG`) and a one-line message."""

    code: str
    message: str


def error_of(error: BaseException) -> RunError:
    """Return the recorded form of the exception that ended a run."""
    if isinstance(error, HarnessError):
        return RunError(error.code, shorten(clean(one_line(str(error)), 2 * MAX_MESSAGE), MAX_MESSAGE))
    if isinstance(error, Stopped) or not isinstance(error, Exception):
        return RunError(INTERRUPTED, "it was stopped before it was finished")
    return RunError(BUG, "it failed because of a bug in harness; the program's own output has the details")


class Recorder:
    """Recorder of one run; if the record cannot be written, the run continues without. `before` lists the uses of an
    earlier part of the run, or of the run it reuses; `held` is the record of a resumed run. The record of a finished
    run stays until there is a new result.
    """

    def __init__(
        self,
        cache: Cache,
        run: str,
        about: Mapping[str, Any],
        *,
        before: Sequence[Mapping[str, str]] = (),
        held: Mapping[str, Any] | None = None,
    ) -> None:
        self._cache = cache
        self._run = run if cache.policy.write else ""
        self.about = about
        self.before = before
        self._record = held or {}
        self._kept = False

    def keep(self, state: State, **more: Any) -> str:
        """Record the state so far; return the run's id, empty if it is not recorded."""
        if self._record.get("state") == "finished" and state != "finished":
            return self._run
        uses = [*self.before, *to_builtins(self._cache.uses)]
        now = {
            "state": state,
            "began": self._cache.began,
            "created_at": self._cache.now,
            "run_origin": self._cache.origin,
            "uses": sorted(uses, key=itemgetter("table", "asked")),
        }
        return self._put({**self.about, **now, **more})

    @contextmanager
    def resumable(self) -> Iterator[None]:
        """Record the exception that ends the run; log how to resume it if something was found."""
        try:
            yield
        except BaseException as error:
            self._keep_error(error)
            if self._kept and any(use.how != "failed" for use in self._cache.uses):
                log.warning("nothing is lost: go on with `harness research --resume %s`", self._run)
            raise

    def _keep_error(self, error: BaseException) -> None:
        """Add the error to the last record. An unusable question makes no run, and a finished run stays as it is."""
        if not self._record and not isinstance(error, InvalidInput):
            self.keep("gathering")
        if not self._record or self._record.get("state") == "finished":
            return
        found, stage = error_of(error), "writing" if "gathered" in self._record else "gathering"
        state = stage if found.code == INTERRUPTED else "failed"
        self._put({**self._record, "state": state, "created_at": self._cache.now, "error": to_builtins(found)})

    def _put(self, record: Mapping[str, Any]) -> str:
        self._record = record
        if not self._run:
            return ""
        engine = "+".join(each["name"] for each in self.about["engines"])
        try:
            self._cache.runs.put(self._run, self.about["question"], engine, record)
        except StoreError as error:
            log.error("the run is not recorded: %s", error)  # noqa: TRY400 - one line; nothing else is lost
            self._run = ""
        self._kept = bool(self._run)
        return self._run


def finished(research: Research) -> dict[str, Any]:
    """Return the record of a finished run: the report, the rounds, title and URL of each source, notes on them, and the
    quoted passages. `harness.research.run_view` reads it.
    """
    report, gathered = research.report, research.gathered
    record: dict[str, Any] = {
        "report": report,
        "plan": research.plan,
        "rounds": gathered.rounds,
        "sources": cited_sources(report, gathered),
        "stop_reason": gathered.stop_reason,
        "quoted": quoted_by(report, gathered),
        "live_calls": research.live_calls,
        "cache_hits": research.cache_hits,
        "answered": research.answered,
        "cache_use": research.research_cache,  # `research_cache` is the setting
        "origin": research.origin,
    }
    if gathered.notes:
        record["notes"] = gathered.notes
    if gathered.decided:
        record |= {"reused": gathered.reused, "planned": gathered.planned, "decided": gathered.decided}
    return {name: to_builtins(value) for name, value in record.items()}


def cited_sources(report: Report | None, gathered: Gathered) -> tuple[CitedSource, ...]:
    """Return all gathered sources with their numbers in the report, 0 if it does not cite them."""
    numbers = {source.url: source.number for source in report.sources} if report else {}
    return tuple(cited_source(numbers.get(source.url, 0), source) for source in gathered.sources)


def quoted_by(report: Report | None, gathered: Gathered) -> dict[str, list[str]]:
    """Return, by URL of each cited source, the passages that the report quotes; they are stored with the run."""
    texts = {source.url: source.texts for source in gathered.sources}
    quoted: dict[str, list[str]] = {}
    for citation in report.quotations if report else ():
        held = quoted.setdefault(citation.url, [])
        passage = _passage_with(citation.quotation, texts.get(citation.url, ()))
        if passage and passage not in held:
            held.append(passage)
    return quoted


def _passage_with(quotation: str, texts: Sequence[str]) -> str:
    """Return the passage that holds a quotation, the whole text if the quotation crosses passages, or nothing."""
    for text in texts:
        if is_quoted_in(quotation, [text]):
            cut = (passage.text for passage in passages(text))
            return next((passage for passage in cut if is_quoted_in(quotation, [passage])), text)
    return ""
