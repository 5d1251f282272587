"""Runs of tasks in trials: in sandboxed processes with the trial's code, which get a task without what is expected.

A process answers in JSON, of bounded size, and nothing that it says is run here. Scores are computed here, too.
"""

import queue
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from harness.core.search_engines import alternative_specs
from harness.core.text import clean, one_line
from harness.errors import InvalidInput, StoreError
from harness.settings import BUNDLED, Settings, run_settings
from harness.storage.opening import DATABASE
from harness_evals.isolation import ProcessDied
from harness_evals.outcome import Outcome
from harness_evals.recorded_web import RESULTS
from harness_evals.run import Job
from harness_evals.sandbox import LOOK_SECONDS, Limits, Sandbox
from harness_evals.stages import digest, keep, keep_task
from harness_evals.streams import stages_of_stream
from harness_evals.tasks import RECORDED, TASKS_DIR

if TYPE_CHECKING:
    from harness_evals.code_trials import Trial
    from harness_evals.paired_runs import Runner

MAX_ANSWER = 32 * 2**20
"""Bytes of an answer: an outcome and the texts of its stages."""
MAX_OUTCOME = 4 * 2**20
"""Bytes of an outcome: it is scored here, and must fit into a line of a log."""
MAX_WRITTEN = 2**30
"""Bytes that a trial may add to its copy of the store."""
MAX_ERROR = 500
CORPUS = "corpus:"

_UNTOLD = {"says": "untold", "importance": "vital", "aliases": ["untold"]}
"""In the place of what a question of a stream expects."""
_DIGEST = re.compile(r"[0-9a-f]{16}")


class _Answer(Struct, frozen=True):
    """Answer of a process: an outcome, and the texts of its stages by digest."""

    outcome: Outcome
    texts: dict[str, str] = {}


def run_in_trial(
    jobs: Sequence[Job], trial: "Trial", *, workers: int = 1, seconds: float = 600.0
) -> Iterator[tuple[Job, Outcome]]:
    """Run jobs with a trial's code in at most `workers` processes, and yield their outcomes as they end.

    A job that takes longer than `seconds`, or whose process dies or answers anything else, has an outcome with that
    error. Stopping the iteration kills running jobs. The processes stay for the trial's next jobs.

    Raises:
        InvalidInput: settings that such runs cannot have.
        StoreError: the store cannot be copied.
    """
    if not jobs:
        return
    check_settings(jobs[0].settings, confined=trial.confined)
    data = trial.data_from(jobs[0].settings.data_dir)
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Job, Outcome]] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    while len(trial.workers) < min(workers, len(jobs)):
        trial.workers.append(Worker(trial.root, data, confined=trial.confined))
    stopped = threading.Event()

    def lead(worker: Worker) -> None:
        while not stopped.is_set():
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            done.put((job, worker.outcome(job, seconds, stopped.is_set)))

    threads = [threading.Thread(target=lead, args=(worker,), daemon=True) for worker in trial.workers[:workers]]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            yield done.get()
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def with_trials(
    plain: "Runner", trials: Mapping[Path, "Trial"], *, workers: int = 1, seconds: float = 600.0
) -> "Runner":
    """Return a runner of jobs: those with a trial run in it, the others by `plain`."""

    def run(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        by_trial: dict[Path | None, list[Job]] = {}
        for job in jobs:
            by_trial.setdefault(job.trial, []).append(job)
        for root, given in by_trial.items():
            found = run_in_trial(given, trials[root], workers=workers, seconds=seconds) if root else plain(given)
            yield from found

    return run


def check_settings(settings: Settings, *, confined: bool) -> None:
    """Check that runs in trials are possible with these settings.

    Raises:
        InvalidInput: they are not.
    """
    if settings.store is not None:
        raise InvalidInput("experiments with code copy the store, which must be a file; leave out the setting `store`")
    if settings.model and confined:
        raise InvalidInput(
            "experiments with code run without network, so without a language model; leave out `model`, and name the "
            "proposer's with --proposer-model"
        )


class Worker:
    """A process that runs jobs, one at a time, with the code at `root` and the data directory `data`."""

    def __init__(self, root: Path, data: Path, *, confined: bool) -> None:
        self._root = root
        self._data = data
        self._confined = confined
        self._sources: set[Path] = set()
        self._sandbox: Sandbox | None = None

    def outcome(self, job: Job, seconds: float, is_stopped: Callable[[], bool]) -> Outcome:
        """Run a job; any error is in the outcome, and ends the process."""
        began = time.monotonic()
        try:
            sandbox = self._started(_sources(job))
            sandbox.write(msgspec.json.encode(_request(job, self._data)) + b"\n", began + seconds)
            answer = msgspec.json.decode(self._line(sandbox, began + seconds, is_stopped), type=_Answer)
            return _accepted(answer, job, time.monotonic() - began)
        except TimeoutError:
            error = f"TimeoutError: it took longer than {seconds:g} s and was killed"
        except Exception as problem:  # noqa: BLE001 - whatever a process does, it is the outcome of its job
            error = f"{type(problem).__name__}: {_short(str(problem))}"
        self.close()
        return Outcome(job.task.id, job.repeat, error=error)

    def close(self) -> None:
        """End the process."""
        if self._sandbox is not None:
            self._sandbox.close()
        self._sandbox = None

    def _line(self, sandbox: Sandbox, end: float, is_stopped: Callable[[], bool]) -> bytes:
        found = bytearray()
        while b"\n" not in found[-65_536:]:
            try:
                piece = sandbox.read(min(end, time.monotonic() + LOOK_SECONDS))
            except TimeoutError:
                if time.monotonic() >= end or is_stopped():
                    raise
                continue
            if not piece:
                raise ProcessDied(f"its process ended with status {sandbox.ended(end)}")
            found += piece
            if len(found) > MAX_ANSWER:
                raise ValueError(f"the process answered with more than {MAX_ANSWER:,} bytes")
        line, _, rest = bytes(found).partition(b"\n")
        if rest:
            raise ValueError("the process answered twice")
        return line

    def _started(self, sources: set[Path]) -> Sandbox:
        if self._sandbox is not None and not sources <= self._sources:
            self.close()
        self._sources |= sources
        if self._sandbox is None:
            code = self._root / "harness"
            evals = Path(__file__).parents[1]
            self._sandbox = Sandbox(
                [sys.executable, "-P", "-m", "harness_evals.trial_worker"],
                read=[code, *_without_tasks(evals), *sorted(self._sources)],
                write=[self._data],
                environment={"PYTHONPATH": f"{self._root}:{evals}"},
                limits=Limits(written=_size(self._data) + MAX_WRITTEN),
                confined=self._confined,
                interactive=True,
            )
        return self._sandbox


def copy_store(data_dir: Path, target: Path) -> None:
    """Copy the database and the indexes of corpora in a data directory, each as of one moment.

    Raises:
        StoreError: one cannot be read.
    """
    target.mkdir(parents=True)
    files = [path for path in (data_dir / DATABASE, data_dir / f"{DATABASE}.words") if path.is_file()]
    for path in [*files, *(data_dir / "corpora").glob("*.db")]:
        copy = target / path.relative_to(data_dir)
        copy.parent.mkdir(exist_ok=True)
        try:
            with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(copy)) as new:
                old.backup(new)
        except sqlite3.Error as error:
            raise StoreError(f"cannot copy {path} for an experiment ({error}); run `harness cache check`") from error


def _request(job: Job, data: Path) -> dict[str, Any]:
    """Return what a process needs of a job: the question, and nothing of what is expected, not even the task's id."""
    told = msgspec.to_builtins(job.task)
    task = {"id": _name(job), **{key: told[key] for key in ("question", "structure", "at", "settings") if key in told}}
    if job.task.engine:
        task["engine"] = _absolute(job.task.engine)
    if job.task.stream:
        task["stream"] = [{"question": each.question, "nuggets": [_UNTOLD]} for each in job.task.stream]
    return {
        "task": task,
        "repeat": job.repeat,
        "settings": run_settings(job.settings),
        "data_dir": str(data),
        "at": job.at,
        "fresh": job.fresh,
        "origin": job.origin,
    }


def _accepted(answer: _Answer, job: Job, seconds: float) -> Outcome:
    """Return an answer's outcome under its task's name, with at most the seconds measured here; store its texts.

    Raises:
        ValueError: it is not an answer to this job.
    """
    outcome, task = answer.outcome, job.task
    cost = replace(outcome.cost, seconds=min(outcome.cost.seconds, seconds))
    if len(msgspec.json.encode(outcome)) > MAX_OUTCOME:
        raise ValueError(f"the process answered with an outcome of more than {MAX_OUTCOME:,} bytes")
    if (outcome.task, outcome.repeat) != (_name(job), job.repeat):
        raise ValueError("the process answered for another task")
    for each in (outcome, *outcome.parts):
        if not all(map(_DIGEST.fullmatch, each.digests.values())):
            raise ValueError("the process answered with digests that are none")
        if min(each.cost.live_calls, each.cost.tokens, each.cost.seconds) < 0:
            raise ValueError("the process answered with a negative cost")
    keep_task(job.settings.data_dir, task)
    if outcome.error:
        return Outcome(task.id, job.repeat, cost=cost, error=_short(outcome.error))
    if [part.task for part in outcome.parts] != [f"{_name(job)}-{n}" for n, _ in enumerate(task.stream, start=1)]:
        raise ValueError("the process answered other questions")
    parts = tuple(
        replace(part, task=asked.id, run="", parts=()) for part, asked in zip(outcome.parts, task.parts, strict=True)
    )
    found = replace(outcome, task=task.id, cost=cost, run="", parts=parts)
    named = {name for each in (found, *parts) for name in each.digests.values()}
    texts = {name: text for name, text in answer.texts.items() if name in named and digest(text) == name}
    keep(job.settings.data_dir, texts)
    if parts:  # its stages name the questions
        return replace(found, digests=keep(job.settings.data_dir, stages_of_stream(found)))
    return found


def _name(job: Job) -> str:
    """Return the name of a task for its process, which does not say what is expected."""
    return digest(job.task.id)


def _sources(job: Job) -> set[Path]:
    """Return the files and folders that a job's engines read."""
    found: set[Path] = set()
    for spec in (job.task.engine,) if job.task.engine else job.settings.engine:
        for each in map(_absolute, alternative_specs(spec)):
            if each.startswith(CORPUS) and each != BUNDLED:
                found.add(Path(each.removeprefix(CORPUS)))
            elif each.startswith(RECORDED) and (folder := Path(each.removeprefix(RECORDED))).is_absolute():
                found |= set(_without_tasks(folder))
    return found


def _absolute(spec: str) -> str:
    """Return an engine's name with an absolute path, if it has one; that of a web next to the tasks stays."""
    kind, colon, path = spec.partition(":")
    bundled = spec == BUNDLED or (spec.startswith(RECORDED) and (TASKS_DIR.parent / path / RESULTS).is_file())
    if f"{kind}{colon}" not in {CORPUS, RECORDED} or bundled:
        return spec
    return f"{kind}:{Path(path).expanduser().absolute()}"


def _without_tasks(folder: Path) -> list[Path]:
    """Return what is in a folder and its sub-folders of tasks, without the tasks: they say what is expected."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and (path / "tasks").is_dir():
            found += _without_tasks(path)
        elif path.name != "tasks" and not path.name.startswith("."):
            found.append(path)
    return found


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _short(text: str) -> str:
    return one_line(clean(text, MAX_ERROR))
