"""Journal of an experiment loop: experiments with verdicts; a table of them; the best settings."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from msgspec.structs import replace

from harness.errors import InvalidInput, StoreError
from harness.settings import Settings
from harness_evals.log import LogWriter, read_lines
from harness_evals.run import recorded_settings
from harness_evals.space import UNTOUCHABLE, checked_changes
from harness_evals.verdicts import Status

FOLDER = "autoresearch"
JOURNAL = "journal.jsonl"
RESULTS = "results.tsv"
BEST = "best.yaml"
UNDER_WAY = "under-way.jsonl"
"""Runs of the current experiment: a stopped loop continues after them."""
STOP = "stop"
"""A file of this name in the loop's folder ends the loop after the current experiment."""

COLUMNS = ("experiment", "score", "baseline", "delta", "p", "interval", "status", "tasks", "description")
BY_TASK = "task_scores"
"""Last column of the file: each task with its score, or `before -> after` if they differ."""


class Options(Struct, frozen=True):
    """Rules of a loop, fixed before it begins; see `harness_evals.verdicts` for `delta` and `alpha`."""

    experiments: int
    repeats: int
    delta: float
    alpha: float
    seed: int
    proposer: str
    plateau: int
    fresh: bool = False


class Begun(Struct, frozen=True, tag="begun", tag_field="line"):
    """Start of a loop. `at` is the present time (seconds since the epoch) for expiry until the loop ends, so that
    nothing expires between two runs.
    """

    id: str
    at: float
    tasks: dict[str, str]
    options: Options
    settings: dict[str, Any]
    space: dict[str, list[Any]]
    versions: dict[str, str]


class NoiseFloor(Struct, frozen=True, tag="noise floor", tag_field="line"):
    """Difference between runs of identical settings, from the A/A run; their score; their failed runs."""

    value: float
    score: float
    seconds: float
    live_calls: int
    errors: tuple[str, ...] = ()


class Experiment(Struct, frozen=True, tag="experiment", tag_field="line"):
    """One trial. `changes` are relative to the loop's first settings, `baseline` is the score of the settings kept
    before; it, `score`, `delta`, `p`, `low` and `high` are on the split `tune`, `None` after a crash. `task_scores` are
    the mean scores of baseline and candidate for each task that both ran, on either split; older journals have none.
    """

    number: int
    changes: dict[str, Any]
    settings: str
    status: Status
    reasons: tuple[str, ...]
    tasks: int
    seconds: float
    live_calls: int
    score: float | None = None
    baseline: float | None = None
    delta: float | None = None
    p: float | None = None
    low: float | None = None
    high: float | None = None
    digests: Mapping[str, Mapping[str, str]] = {}
    task_scores: Mapping[str, tuple[float, float]] = {}

    @property
    def changed_tasks(self) -> dict[str, float]:
        """The difference of each task's score from the baseline's, if any; the largest first."""
        found = {task: after - before for task, (before, after) in self.task_scores.items() if before != after}
        return dict(sorted(found.items(), key=lambda each: (-abs(each[1]), each[0])))

    @property
    def description(self) -> str:
        """The changes in words."""
        return ", ".join(f"{name}={value}" for name, value in self.changes.items())


class Ran(Struct, frozen=True, tag="ran", tag_field="line"):
    """One run of the current experiment: result and cost. `settings` is their digest, `repeat` the number of the run
    (see `Job`), `report` the digest of the report; a crash has an `error` and no score.
    """

    settings: str
    task: str
    repeat: int
    live_calls: int
    score: float | None
    report: str
    error: str = ""


class Journal(Struct, frozen=True):
    """A journal as read."""

    folder: Path
    begun: Begun
    noise_floor: NoiseFloor | None
    experiments: tuple[Experiment, ...]
    under_way: tuple[Ran, ...] = ()

    @property
    def best(self) -> dict[str, Any]:
        """The changes kept so far."""
        return next((each.changes for each in reversed(self.experiments) if each.status == "keep"), {})


class JournalWriter:
    """Writer of the journal in `folder`, its table and its best settings. Close it after use.

    Raises:
        StoreBusy: another program is writing it.
        StoreError: they cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._log = LogWriter(folder / JOURNAL)
        self._runs: LogWriter | None = None

    def write(self, line: Begun | NoiseFloor | Experiment) -> None:
        """Append one line, flushed to disk, and delete the single runs that it sums up."""
        self._log.write(line)
        self._close_runs()
        (self.folder / UNDER_WAY).unlink(missing_ok=True)

    def write_run(self, run: Ran) -> None:
        """Append a run of the current experiment, flushed to disk."""
        if self._runs is None:
            self._runs = LogWriter(self.folder / UNDER_WAY)
        self._runs.write(run)

    def close(self) -> None:
        """Close the journal."""
        self._close_runs()
        self._log.close()

    def _close_runs(self) -> None:
        if self._runs is not None:
            self._runs.close()
        self._runs = None

    def write_table(self, experiments: Iterable[Experiment]) -> None:
        """Rewrite the table of experiments, atomically."""
        self._replace(RESULTS, as_table(experiments))

    def write_best(self, settings: Settings) -> None:
        """Write the settings that differ from the defaults, in the format of `--config`."""
        self._replace(BEST, as_config(recorded_settings(settings)))

    def _replace(self, name: str, text: str) -> None:
        path = self.folder / name
        draft = path.with_name(f"{name}.new")
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(path)
        except OSError as error:
            raise StoreError(
                f"cannot write {path} ({error.strerror or error}); free space or choose another"
            ) from error


def read_journal(folder: Path) -> Journal:
    """Read a loop's journal; an incomplete last line is ignored.

    Raises:
        InvalidInput: there is none, or a line is not a journal line; the message has file and line.
    """
    path = folder / JOURNAL
    begun, floor, experiments = None, None, list[Experiment]()
    for number, line in enumerate(read_lines(path, Begun | NoiseFloor | Experiment), start=1):
        if isinstance(line, Begun) != (number == 1):
            raise InvalidInput(f"{path}, line {number}: a journal has one beginning, in its first line")
        match line:
            case Begun():
                begun = line
            case NoiseFloor():
                floor = line
            case Experiment():
                if line.number != len(experiments) + 1:
                    raise InvalidInput(f"{path}, line {number}: experiment {line.number} is not the next one")
                experiments.append(replace(line, changes=checked_changes(line.changes, f"{path}, line {number}")))
    if begun is None:
        raise InvalidInput(f"{path} is empty, not a journal of experiments")
    runs = folder / UNDER_WAY
    under_way = tuple(read_lines(runs, Ran)) if runs.exists() else ()
    return Journal(folder, begun, floor, tuple(experiments), under_way)


def as_table(experiments: Iterable[Experiment]) -> str:
    """Return the table as tab-separated values, with a header; `delta` is relative to the settings kept before."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow((*COLUMNS, BY_TASK))
    writer.writerows((*row_of(each), _by_task(each)) for each in experiments)
    return text.getvalue()


def row_of(experiment: Experiment) -> tuple[str, ...]:
    """Return an experiment as a row of the table."""
    e = experiment
    interval = "" if e.low is None or e.high is None else f"{e.low:+.4f}..{e.high:+.4f}"
    return (
        str(e.number),
        _number(e.score),
        _number(e.baseline),
        "" if e.delta is None else f"{e.delta:+.4f}",
        "" if e.p is None else f"{e.p:.3g}",
        interval,
        e.status,
        str(e.tasks),
        e.description,
    )


def _by_task(experiment: Experiment) -> str:
    pairs = ((task, _number(one), _number(other)) for task, (one, other) in sorted(experiment.task_scores.items()))
    return "; ".join(f"{task} {one}" if one == other else f"{task} {one} -> {other}" for task, one, other in pairs)


def as_config(settings: Mapping[str, Any]) -> str:
    """Return a file for `--config`: the settings (see `recorded_settings`) that differ from the defaults."""
    plain = recorded_settings(Settings())
    found = {name: value for name, value in settings.items() if plain.get(name) != value}
    changed = {name: value for name, value in found.items() if name not in UNTOUCHABLE}
    text = yaml.safe_dump(changed, sort_keys=True) if changed else ""
    return f"# the best settings found{'' if changed else ': the defaults'}; use with --config\n{text}"


def journals_in(folder: Path) -> list[Path]:
    """Return the folders of loops, newest first."""
    found = folder.iterdir() if folder.is_dir() else iter(())
    return sorted((each for each in found if (each / JOURNAL).is_file()), reverse=True)


def digest_of(settings: Settings) -> str:
    """Return a digest of the settings that affect results."""
    from harness.core.keys import digest_of as digest

    return digest(recorded_settings(settings))[:16]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
