"""View of a recorded run: the report, how it was gathered, and the quoted passages."""

from collections import Counter
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import asdict

from harness.cache import MAX_PAYLOAD_BYTES, Cache, Use
from harness.cache.run_records import RUN_TTL
from harness.core.citations import parted
from harness.core.text import clean, shorten
from harness.errors import NotFound, StoreCorrupt
from harness.research.gathering import DecidedQuestion, ReusedPassage, Round, SourceNote, StopReason
from harness.research.planner import Plan
from harness.research.report import Citation, CitedSource, Report
from harness.research.run_record import RUN_ID, RunError, State, run_start
from harness.research.saved_report import SavedReport
from harness.research.solved_questions import Origin

MAX_CITATIONS = 10_000
MAX_ROUNDS = 100
MAX_SOURCES = 100_000
MAX_REASON = 200

Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=253_402_300_799)]
"""Since the epoch, up to the end of the year 9999, the last that a calendar can show."""


class PastRun(SavedReport, frozen=True, kw_only=True):
    """A recorded run: its saved report, and more. All its text is data: it may come from the web or from another user's
    file.

    `engine` is the engines' names, joined by `+`; `model` is the language model chosen for writing, empty without one
    (the report names its writer). Times are seconds since the epoch; `created_at` is when the record was last written.
    `sources` are best first. `quoted` has the quoted passages of the stored texts, by URL. If the run reused a solved
    question or a cached research (`research_cache`, `origin`), the rounds are those of the original run. For an
    unfinished run or a record of an older version, `research_cache` is empty, report and rounds are missing, and calls
    and hits are counted from the recorded answers. `limits` are the novelty to stop below and the score that is enough
    (both 0..1). `error` is why an unfinished run ended; `None` while it is running, and if its process was killed.
    `reading`: the reader decided, too.
    """

    state: State
    created_at: float
    expires_at: float
    model: str
    quoted: dict[str, tuple[str, ...]]
    sections: int | None
    limits: tuple[float, float]
    error: RunError | None
    reading: bool


class _Named(Struct, frozen=True):
    name: str


class _Record(Struct, frozen=True):
    """The part of a record that is shown: fields without a default are in every record, those with one only in newer
    records. A run has those of the same name as they are, unless they are missing.
    """

    question: str
    engines: Annotated[tuple[_Named, ...], Meta(min_length=1, max_length=100)]
    state: State
    model: _Named | None = None
    sections: Count | None = None
    uses: tuple[Use, ...] = ()
    created_at: Seconds | None = None
    report: Report | None = None
    rounds: Annotated[tuple[Round, ...], Meta(max_length=MAX_ROUNDS)] = ()
    sources: Annotated[tuple[CitedSource, ...], Meta(max_length=MAX_SOURCES)] = ()
    stop_reason: StopReason | Literal[""] = ""
    quoted: Annotated[dict[str, tuple[str, ...]], Meta(max_length=MAX_SOURCES)] = {}
    live_calls: Count | None = None
    cache_hits: Count | None = None
    answered: Annotated[dict[str, Count], Meta(max_length=100)] | None = None
    research_cache: Annotated[str, Meta(max_length=100)] = field(name="cache_use", default="")
    origin: Origin | None = None
    plan: Plan | None = None
    min_novelty: Share = 0.0
    enough_score: Share = 1.0
    error: RunError | None = None
    reading: bool = False
    reused: Annotated[tuple[ReusedPassage, ...], Meta(max_length=MAX_SOURCES)] = ()
    planned: Count = 0
    decided: Annotated[tuple[DecidedQuestion, ...], Meta(max_length=MAX_ROUNDS)] = ()
    notes: Annotated[tuple[SourceNote, ...], Meta(max_length=MAX_SOURCES)] = ()


def past_run(cache: Cache, run: str) -> PastRun:
    """Return a recorded run, finished or not. It is data: a page must escape it like any text from outside.

    Raises:
        NotFound: there is no such run.
        StoreCorrupt: its record is damaged, or larger than the largest payload (16 MiB).
        StoreError: the store cannot be read.
    """
    if not RUN_ID.fullmatch(run):
        raise NotFound(f"no such run: {run!r:.60}; `harness runs` lists them")
    try:
        record = msgspec.convert(cache.runs.get(run), _Record)
        _check(record)
        created_at = run_start(run) if record.created_at is None else record.created_at
    except (ValueError, msgspec.MsgspecError) as error:  # also for invalid JSON
        why = shorten(clean(error, MAX_REASON), MAX_REASON)  # it may quote the record
        raise StoreCorrupt(
            f"the record of the run {run} cannot be read ({why}); research its question again: "
            "cached answers cost nothing"
        ) from error
    answered: Counter[str] = Counter(use.how for use in record.uses if use.how != "derived")
    live = answered["live"] + answered["failed"]
    fields = {name: value for name, value in asdict(record).items() if name in PastRun.__struct_fields__}
    counted = {"live_calls": live, "cache_hits": answered.total() - live, "answered": dict(answered)}
    fields |= {name: count for name, count in counted.items() if fields[name] is None}
    fields |= {"created_at": created_at, "model": record.model.name if record.model else ""}
    return PastRun(
        **fields,
        run=run,
        engine="+".join(engine.name for engine in record.engines),
        expires_at=created_at + RUN_TTL,
        limits=(record.min_novelty, record.enough_score),
    )


def passage_of(past: PastRun, citation: Citation) -> tuple[str, str, str] | None:
    """Return the stored passage that holds the citation's quotation, on one line, in three parts: the text before it,
    its words as in the source, the text after; `None` if no passage holds it.
    """
    found = (parted(citation.quotation, passage) for passage in past.quoted.get(citation.url, ()))
    return next((parts for parts in found if parts), None)


def _check(record: _Record) -> None:
    """Check what the types do not express.

    Raises:
        ValueError: a share out of range, or more content than a record can hold.
    """
    citations = record.report.citations if record.report else ()
    shares = [citation.similarity for citation in citations]
    shares += [share for each in citations for share in (each.relevance, each.support) if share is not None]
    shares += [share for round_ in record.rounds for share in (round_.novelty, round_.score)]
    if not all(-0.01 <= share <= 1.01 for share in shares):  # computed values may exceed the range by a rounding error
        raise ValueError("a similarity, novelty or score is not between 0 and 1")
    if len(citations) > MAX_CITATIONS or len(msgspec.json.encode(record)) > MAX_PAYLOAD_BYTES:
        raise ValueError("it is too large")
