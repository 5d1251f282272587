"""Execution of tasks: each run returns an `Outcome`, whatever happens in it."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from harness.app import App
from harness.core.origins import RunOrigin
from harness.errors import HarnessError
from harness.research.gathering import Round as GatheringRound
from harness.research.result import Research
from harness.research.stage_traces import stages_of
from harness.settings import Settings, is_secret
from harness.settings.mode import Mode
from harness_evals.outcome import Cited, Cost, Outcome, Round
from harness_evals.stages import keep, keep_task
from harness_evals.streams import joined, stages_of_stream
from harness_evals.task_app import app_for, fresh_app, indexed
from harness_evals.tasks import Task


class Job(Struct, frozen=True):
    """One run of a task with some settings. `at` is the present time for expiry (seconds since the epoch), the real
    time if `None`; a `fresh` run reads no cache, and uses the real time. Its report is written into the folder
    `reports`, if any. `trial` is the folder of a copy of the program with changed code, in which it runs.
    """

    task: Task
    repeat: int
    settings: Settings
    at: float | None = None
    fresh: bool = False
    origin: RunOrigin = "evaluation"
    reports: Path | None = None
    trial: Path | None = None


def research_task(app: App, task: Task, repeat: int = 0) -> Research:
    """Research the task's question with the task's engine; each repeat is a separate epoch.

    Raises:
        HarnessError: the error of the research.
    """
    wanted = (task.structure.exactly or task.structure.at_least) if task.structure else None
    specs, epoch = (task.engine,) if task.engine else (), f"repeat {repeat}" if repeat else ""
    with app_for(app, task) as used:
        return used.researcher(specs, question=task.question, epoch=epoch).run(task.question, sections=wanted)


def run_task(app: App, task: Task, repeat: int = 0, reports: Path | None = None) -> Outcome:
    """Run a task once, and write its report into the folder `reports`, if any. An error of the research is in the
    outcome: a failed run is not a bad score.

    Raises:
        OSError: the report cannot be written.
    """
    keep_task(app.settings.data_dir, task)
    if task.stream:
        with fresh_app(app) as fresh:
            parts = (run_task(indexed(fresh, part), part, repeat, reports) for part in task.parts)
            stream = joined(task, repeat, parts)
        digests = keep(app.settings.data_dir, stages_of_stream(stream)) if stream.parts else {}
        return structs.replace(stream, digests=digests)
    started = time.perf_counter()
    try:
        found = research_task(app, task, repeat)
    except HarnessError as error:
        cost = Cost(0, 0, time.perf_counter() - started)
        return Outcome(task.id, repeat, cost=cost, error=f"{error.code}: {error}")
    seconds = time.perf_counter() - started
    if found.model_outage:  # excerpts in place of the model's report say nothing about the model
        return Outcome(task.id, repeat, cost=Cost(0, 0, seconds), error=f"model_unavailable: {found.model_outage}")
    if reports is not None and found.report is not None:
        name = f"{task.id}.{repeat}.md" if repeat else f"{task.id}.md"
        (reports / name).write_text(found.report.markdown(), encoding="utf-8", errors="replace")
    digests = keep(app.settings.data_dir, stages_of(found))
    return outcome_of(found, task.id, repeat, seconds, digests)


def outcome_of(found: Research, task: str, repeat: int, seconds: float, digests: Mapping[str, str]) -> Outcome:
    """Return the outcome of a research, with the `digests` of its stages."""
    citations = found.report.citations if found.report else ()
    return Outcome(
        task,
        repeat,
        sources=tuple(source.url for source in found.gathered.sources),
        citations=tuple(Cited(c.section, c.sentence, c.quotation, c.url, c.trusted, c.paragraph) for c in citations),
        cost=Cost(found.live_calls, found.tokens, seconds),
        digests=digests,
        titles=tuple(source.title for source in found.report.sources) if found.report else (),
        limits=found.report.limits if found.report else (),
        rounds=tuple(_round(each) for each in found.gathered.rounds),
        stop_reason=found.gathered.stop_reason,
        research_cache=found.research_cache,
        run=found.id,
    )


def _round(made: GatheringRound) -> Round:
    read = [page for page in made.pages if page.error is None]
    live = len(made.answered_by) - made.answered_by.count("cache")
    return Round(made.searches, len(read), len(made.pages) - len(read), live, made.novelty, made.score)


def run_jobs(jobs: Sequence[Job], executor: Executor, *, at_once: int) -> Iterator[tuple[Job, Outcome]]:
    """Run jobs in `executor`, at most `at_once` at a time, and yield their outcomes as they end.

    The job of a lost worker is run again once, then counted as failed; one that took too long (`TimeoutError`) is not
    repeated. Stopping the iteration loses only running jobs.
    """
    waiting = [(job, True) for job in reversed(jobs)]
    under_way: dict[Future[Outcome], tuple[Job, bool]] = {}
    try:
        while waiting or under_way:
            while waiting and len(under_way) < at_once:
                job, again = waiting.pop()
                under_way[executor.submit(run_apart, job)] = (job, again)
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                job, again = under_way.pop(future)
                error = future.exception()
                if error is None:
                    yield job, future.result()
                elif again and not isinstance(error, TimeoutError):
                    waiting.append((job, False))
                else:
                    yield job, Outcome(job.task.id, job.repeat, error=f"{type(error).__name__}: {error}")
    finally:
        for future in under_way:
            future.cancel()


def run_apart(job: Job) -> Outcome:
    """Run a job, in a thread or in another process. All jobs of a process with the same settings share one app, because
    loading the models takes longer than a warm run. Any error is in the outcome.
    """
    try:
        with _opening:
            # with a fixed clock, entries stored by an earlier run would count as this run's own
            app = _app(job.settings, None if job.fresh else job.at, job.fresh, job.origin)
        outcome = run_task(app, job.task, job.repeat, job.reports)
        app.cache.usage.flush()
    except Exception as error:  # noqa: BLE001 - an experiment may fail with any error; it counts as a crash
        return Outcome(job.task.id, job.repeat, error=f"{type(error).__name__}: {error}")
    return outcome


_opening = threading.Lock()


@lru_cache(maxsize=8)
def _app(settings: Settings, at: float | None, fresh: bool, origin: RunOrigin) -> App:
    return App(settings, Mode(at=at, read=not fresh, origin=origin))


def versions() -> dict[str, str]:
    """Return the versions that affect results, besides the settings."""
    import platform
    from importlib.metadata import version

    from harness.models.local.embedder import MiniLM

    return {"harness": version("research-harness"), "python": platform.python_version(), "embedder": MiniLM.id}


def recorded_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that affect results, as logged, without secrets and paths."""
    kept: Mapping[str, Any] = structs.asdict(settings)
    names = (name for name in kept if name not in _NOT_RECORDED and not is_secret(name))
    return {name: _plain(kept[name]) for name in names if kept[name] is not None}


_NOT_RECORDED = frozenset(
    "data_dir pubmed_email contact_email log_level vector_store knowledge_ttl_hours knowledge_floor "
    "tool_ttl_hours".split()
)
"""Paths, addresses, and settings that do not affect a research."""


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
