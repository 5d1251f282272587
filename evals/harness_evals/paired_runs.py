"""Runs of two sides on the same tasks, in turns; each run is on disk as an ordinary evaluation as soon as it ends."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from harness.errors import InvalidInput
from harness.ports import Progress
from harness_evals.journal import EVALUATIONS, Options, digest_of
from harness_evals.log import SUFFIX, Entry, Header, LogWriter, read_log
from harness_evals.outcome import Outcome
from harness_evals.run import Job, recorded_settings, versions
from harness_evals.scorers import WEIGHTS
from harness_evals.sides import Side
from harness_evals.stages import digest_of_task
from harness_evals.suite import scored
from harness_evals.tasks import Task

Runner: TypeAlias = Callable[[Sequence[Job]], Iterator[tuple[Job, Outcome]]]

EPOCHS = 1_000
"""Repeats of one experiment are numbered from its own multiple of this, so that each gets its own model samples."""


class Comparing(Struct):
    """Runs of one comparison: its `name` (that of its files), its `number` (that of its epochs), how it is shown, and
    by how much the epochs of the two sides differ: not at all in an experiment, so that the same prompt gets the same
    answer.
    """

    name: str
    number: int
    shown: str
    apart: int = 0

    def file(self, side: Side) -> str:
        """Return the name of the file with the runs of a side."""
        return f"{self.name}-{side.name}{SUFFIX}"


class PairedRuns:
    """Runs both sides of comparisons through `run`, with the evaluations in `folder`. `at` is the present time for
    expiry; `progress` gets how the comparison is shown, and the numbers of runs that are done and expected.
    """

    def __init__(self, run: Runner, folder: Path, options: Options, *, at: float) -> None:
        self._run = run
        self._folder = folder / EVALUATIONS
        self._options = options
        self._at = at
        self.progress: Progress | None = None
        self.done = self.expected = 0

    def resume(self, comparing: Comparing, sides: Sequence[Side], tasks: Sequence[Task]) -> None:
        """Add the runs from before a stop to the sides; files of another proposal are removed."""
        for side in sides:
            path = self._folder / comparing.file(side)
            if not path.exists():
                continue
            try:
                log = read_log(path)
            except InvalidInput:  # torn before its first line was whole, or damaged: its runs are made again
                path.unlink()
                continue
            if replace(log.header, began=0.0) != replace(self._header(comparing, side, tasks), began=0.0):
                path.unlink()
                continue
            for entry in log.entries:
                side.add(entry)

    def run(
        self, comparing: Comparing, sides: tuple[Side, Side], tasks: Sequence[Task], every: Sequence[Task], times: range
    ) -> None:
        """Run both sides on tasks, in turns, for the repeats `times`, until one crashes. Runs that are there are not
        repeated. `every` are the tasks that the comparison may come to run.
        """
        wanted = dict[int, tuple[Side, int, Job]]()
        for repeat in times:
            for place, task in enumerate(tasks):
                for side in sides if (place + repeat) % 2 == 0 else sides[::-1]:
                    if side.has(task, repeat):
                        self.done += 1
                    else:
                        job = self._job(comparing, side, task, repeat)
                        wanted[id(job)] = side, repeat, job
        self._show(comparing)
        writers: dict[str, LogWriter] = {}
        try:
            for job, outcome in self._run([job for _, _, job in wanted.values()]):
                side, repeat, _ = wanted[id(job)]
                self.done += 1
                self._show(comparing)
                entry = scored(job.task, replace(outcome, repeat=repeat))
                if side.name not in writers:
                    writers[side.name] = self._writer(comparing, side, every)
                writers[side.name].write(entry)
                side.add(entry)
                if outcome.error:  # a crash decides, and the rest might hang just as long
                    break
        finally:
            for writer in writers.values():
                writer.close()

    def _job(self, comparing: Comparing, side: Side, task: Task, repeat: int) -> Job:
        epoch = comparing.number * EPOCHS + repeat + (comparing.apart if side.name == "candidate" else 0)
        return Job(
            task, epoch, side.settings, self._at, fresh=self._options.fresh, origin="experiment", trial=side.trial
        )

    def _writer(self, comparing: Comparing, side: Side, tasks: Sequence[Task]) -> LogWriter:
        path = self._folder / comparing.file(side)
        writer = LogWriter(path)
        if not path.stat().st_size:
            writer.write(self._header(comparing, side, tasks))
        return writer

    def _header(self, comparing: Comparing, side: Side, tasks: Sequence[Task]) -> Header:
        code: Mapping[str, str] = {"code": digest_of(side.settings, side.code)} if side.code else {}
        return Header(
            f"{comparing.name}-{side.name}",
            self._at,
            {task.id: digest_of_task(task) for task in sorted(tasks, key=lambda each: each.id)},
            self._options.repeats,
            recorded_settings(side.settings),
            {**versions(), **code},
            dict(WEIGHTS),
            self._options.objective,
        )

    def _show(self, comparing: Comparing) -> None:
        if self.progress is not None:
            self.progress(comparing.shown, self.done, self.expected)


def entries_of(folder: Path, file: str) -> tuple[Entry, ...]:
    """Return the runs of an arm; none if its file is gone.

    Raises:
        InvalidInput: the file is damaged.
    """
    path = folder / EVALUATIONS / file
    return read_log(path).entries if path.exists() else ()
