"""Journal of an experiment loop: experiments with verdicts; a table of them; the best settings."""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from msgspec import Struct
from msgspec.structs import replace

from harness.errors import InvalidInput, StoreError
from harness.settings import Settings
from harness.storage.files import replacing
from harness_evals.log import LogWriter, read_lines
from harness_evals.run import recorded_settings
from harness_evals.space import TEXTS, UNTOUCHABLE, Surface, checked_changes, surface_of
from harness_evals.verdicts import KEPT, KeepRule, Status

FOLDER = "autoresearch"
JOURNAL = "journal.jsonl"
RESULTS = "results.tsv"
BEST = "best.yaml"
EVALUATIONS = "evals"
"""Folder of the evaluations of both arms of each experiment; a stopped loop continues after the runs in them."""
STOP = "stop"
"""A file of this name in the loop's folder ends the loop after the current experiment."""

COLUMNS = ("experiment", "score", "baseline", "delta", "p", "interval", "status", "tasks", "description")
_READ = frozenset((".py", ".txt", ".yaml", ".md", ".jsonl"))
"""Kinds of files that can be edited; of others, only the size counts."""
BY_TASK = "task_scores"
"""Last column of the file: each task with its score, or `before -> after` if they differ."""


class Options(Struct, frozen=True):
    """Rules of a loop, fixed before it begins; see `harness_evals.verdicts` for `delta`, `alpha` and `keep_rule`, and
    `harness_evals.objective` for `objective` (empty: quality alone).
    """

    experiments: int
    repeats: int
    delta: float
    alpha: float
    seed: int
    proposer: str
    plateau: int
    fresh: bool = False
    surfaces: tuple[Surface, ...] = ("settings",)
    keep_rule: KeepRule = "significant"
    objective: str = ""


class Begun(Struct, frozen=True, tag="begun", tag_field="line"):
    """Start of a loop. `at` is the present time (seconds since the epoch) for expiry until the loop ends, so that
    nothing expires between two runs. `code` is the digest of the program that runs and judges (see `program_digest`).
    """

    id: str
    at: float
    tasks: dict[str, str]
    options: Options
    settings: dict[str, Any]
    space: dict[str, list[Any]]
    versions: dict[str, str]
    code: str = ""


class NoiseFloor(Struct, frozen=True, tag="noise floor", tag_field="line"):
    """Difference between runs of identical settings, from the A/A run; their score; their failed runs."""

    value: float
    score: float
    seconds: float
    live_calls: int
    errors: tuple[str, ...] = ()
    tokens: int = 0


class Experiment(Struct, frozen=True, tag="experiment", tag_field="line"):
    """One trial. `changes` are relative to the loop's first settings, `baseline` is the score of the settings kept
    before; it, `score`, `delta`, `p`, `low` and `high` are on the split `tune`, `None` after a crash. `task_scores` are
    the mean scores of baseline and candidate for each task that both ran, on either split; older journals have none.
    `evaluations` are the files with the runs of each arm, by its name, in the loop's folder `evals`; `commit` is that
    of kept code.
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
    idea: str = ""
    hypothesis: str = ""
    evaluations: Mapping[str, str] = {}
    commit: str = ""
    tokens: int = 0

    @property
    def is_kept(self) -> bool:
        """Whether the changes are part of the state that later experiments start from."""
        return self.status in KEPT

    @property
    def changed_tasks(self) -> dict[str, float]:
        """The difference of each task's score from the baseline's, if any; the largest first."""
        found = {task: after - before for task, (before, after) in self.task_scores.items() if before != after}
        return dict(sorted(found.items(), key=lambda each: (-abs(each[1]), each[0])))

    @property
    def description(self) -> str:
        """The changes in words; of a text, only its target and its length."""
        texts = {name for name in self.changes if surface_of(name) != "settings"}
        parts = [
            f"{name} ({len(value):,} characters)" if name in texts else f"{name}={value}"
            for name, value in self.changes.items()
        ]
        return ", ".join(parts) or self.idea


class Confirmation(Struct, frozen=True, tag="confirmation", tag_field="line"):
    """Test of the state that the first `experiments` led to against the loop's first one, on `tasks` that no
    experiment used: the mean difference, its 95 % interval, the one-sided p of "not better", and whether that confirms
    it.
    """

    experiments: int
    tasks: tuple[str, ...]
    confirmed: bool
    difference: float
    low: float
    high: float
    p: float
    reasons: tuple[str, ...]
    evaluations: Mapping[str, str] = {}


class Journal(Struct, frozen=True):
    """A journal as read."""

    folder: Path
    begun: Begun
    noise_floor: NoiseFloor | None
    experiments: tuple[Experiment, ...]
    confirmations: tuple[Confirmation, ...] = ()

    @property
    def best(self) -> Mapping[str, Any]:
        """The changes kept so far."""
        return kept_changes(self.experiments)

    @property
    def commit(self) -> str:
        """The last commit of kept code; empty without any."""
        return next((each.commit for each in reversed(self.experiments) if each.commit), "")

    @property
    def confirmation(self) -> Confirmation | None:
        """The last test of the present state on further tasks, if there was one."""
        kept = [each.number for each in self.experiments if each.is_kept]
        return next((each for each in reversed(self.confirmations) if kept and each.experiments >= kept[-1]), None)

    @property
    def is_confirmed(self) -> bool:
        """Whether everything that was kept was shown on tasks other than those that chose it."""
        if self.confirmation is not None:
            return self.confirmation.confirmed
        return not any(each.status == "unconfirmed" for each in self.experiments)


class JournalWriter(LogWriter):
    """Writer of the journal in `folder`, its table and its best settings. Close it after use.

    Raises:
        StoreBusy: another program is writing it.
        StoreError: they cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / JOURNAL)

    def write_table(self, experiments: Iterable[Experiment]) -> None:
        """Rewrite the table of experiments, atomically."""
        self._replace(RESULTS, as_table(experiments))

    def write_best(self, settings: Settings) -> None:
        """Write the settings that differ from the defaults, in the format of `--config`."""
        self._replace(BEST, as_config(recorded_settings(settings)))

    def _replace(self, name: str, text: str) -> None:
        path = self.path.with_name(name)
        try:
            with replacing(path) as file:
                file.write(text.encode())
        except OSError as error:
            raise StoreError(
                f"cannot write {path} ({error.strerror or error}); free space, or pass another --data-dir"
            ) from error


def read_journal(folder: Path) -> Journal:
    """Read a loop's journal; an incomplete last line is ignored.

    Raises:
        InvalidInput: there is none, or a line is not a journal line; the message has file and line.
    """
    path = folder / JOURNAL
    begun, floor, experiments, confirmations = None, None, list[Experiment](), list[Confirmation]()
    for number, line in enumerate(read_lines(path, Begun | NoiseFloor | Experiment | Confirmation), start=1):
        if isinstance(line, Begun) != (number == 1):
            raise InvalidInput(f"{path}, line {number}: a journal has one beginning, in its first line")
        match line:
            case Begun():
                begun = line
            case NoiseFloor():
                floor = line
            case Confirmation():
                confirmations.append(line)
            case Experiment():
                if line.number != len(experiments) + 1:
                    raise InvalidInput(f"{path}, line {number}: experiment {line.number} is not the next one")
                experiments.append(replace(line, changes=checked_changes(line.changes, f"{path}, line {number}")))
    if begun is None:
        raise InvalidInput(f"{path} is empty, not a journal of experiments")
    return Journal(folder, begun, floor, tuple(experiments), tuple(confirmations))


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
    changed = {name: value for name, value in found.items() if name not in UNTOUCHABLE or name in TEXTS}
    text = yaml.safe_dump(changed, sort_keys=True) if changed else ""
    return f"# the best settings found{'' if changed else ': the defaults'}; use with --config\n{text}"


def kept_changes(experiments: Sequence[Experiment]) -> Mapping[str, Any]:
    """Return the changes kept in these experiments, relative to the loop's first state."""
    return next((each.changes for each in reversed(experiments) if each.is_kept), {})


def find_loop(folder: Path, name: str) -> Path:
    """Return the folder of the loop with this id, or the beginning of one; the newest for `last`.

    Raises:
        InvalidInput: there is none, or several.
    """
    loops = journals_in(folder)
    found = loops[:1] if name == "last" else [each for each in loops if each.name.startswith(name)]
    if len(found) != 1:
        several = f"{name!r} may be any of {', '.join(each.name for each in found[:5])}; write more of it"
        raise InvalidInput(several if found else f"no loop {name!r} in {folder}; start one with `harness autoresearch`")
    return found[0]


def journals_in(folder: Path) -> list[Path]:
    """Return the folders of loops, newest first."""
    found = folder.iterdir() if folder.is_dir() else iter(())
    return sorted((each for each in found if (each / JOURNAL).is_file()), reverse=True)


def digest_of(settings: Settings, code: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a digest of the settings that affect results, and of changed source files."""
    from harness.core.keys import digest_of as digest

    return digest([recorded_settings(settings), dict(code)] if code else recorded_settings(settings))[:16]


def program_digest() -> str:
    """Return a digest of every file of the program, of its tasks and of its judges: it changes with any edit."""
    import harness

    roots = Path(harness.__file__).parent, Path(__file__).parents[1]
    files = [entry for root in roots for entry in _files(str(root))]
    return _digest_of(tuple((entry.path, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in files))


def _files(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path) if entry.name != "__pycache__" else ()
            elif entry.is_file():
                yield entry


@lru_cache(maxsize=4)
def _digest_of(files: tuple[tuple[str, int, int], ...]) -> str:
    """Return a digest of these files: path, size, time of the last change."""
    found = sha256()
    for name, size, _ in files:
        found.update(f"{name}\0{size}\0".encode())
        path = Path(name)
        found.update(path.read_bytes() if path.suffix in _READ else b"")
    return found.hexdigest()[:16]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
