"""Files of evaluations and experiment loops: found by name, read again only after they change.

A URL never contains a path: its name is looked up among the existing files.
"""

import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from harness_evals.evaluation_names import SEPARATOR, arm_name, arms_of
from harness_evals.journal import FOLDER as LOOPS
from harness_evals.journal import JOURNAL, Journal, journals_in, read_journal
from harness_evals.log import Log, logs_in, read_log
from harness_evals.outcome import Outcome
from harness_evals.suite import FOLDER as EVALUATIONS
from harness_evals.suite import Summary, objectives, summary
from msgspec import Struct
from msgspec.structs import replace

from harness.core.text import clean, one_line, shorten
from harness.errors import InvalidInput, NotFound, StoreCorrupt, StoreError

T = TypeVar("T")

MAX_BYTES = 32 * 2**20
"""Largest log or journal that is read; a larger one is listed with a message."""
MAX_CACHED = 250
"""Files of each kind whose content stays in memory: without reports and sources, about 100 kB each."""
MAX_TEXT = 1_000
MAX_LINES = 20
"""Reasons or errors that are shown for one experiment, task or loop."""
MAX_VALUES = 20
"""Longest list that stays one."""
LATEST = 253_402_300_799.0
"""The end of the year 9999, the last year that a calendar can show."""
MAX_COST = 2.0**53
MAX_SCORE, MAX_VALUE = 2.0, 1e30
"""Largest scores and differences of scores, and values of an objective, either sign."""


class Evaluation(Struct, frozen=True):
    """A log without reports and sources, and its summary."""

    log: Log
    summary: Summary


class FileCache(Generic[T]):
    """Cache of the `MAX_CACHED` most recently read files; a changed file is read again. Thread-safe.

    `read` raises `InvalidInput` for a damaged file.
    """

    def __init__(self, read: Callable[[Path], T]) -> None:
        def content_or_error(path: Path, _state: tuple[int, int]) -> T | str:
            try:
                return read(path)
            except InvalidInput as error:
                return str(error)

        self._cached: Callable[[Path, tuple[int, int]], T | str] = lru_cache(MAX_CACHED)(content_or_error)

    def get(self, path: Path) -> T:
        """Return the content of a file.

        Raises:
            InvalidInput: it is damaged, too large, not a file, or unreadable.
        """
        content = self._cached(path, _state_of(path / JOURNAL if path.is_dir() else path))
        if isinstance(content, str):
            raise InvalidInput(content)
        return content

    def named(self, name: str, paths: Mapping[str, Path], what: str) -> T:
        """Return the content of the file with this name in `paths`; `what` names its kind in errors.

        Raises:
            NotFound: there is none.
            StoreCorrupt: it is damaged: an error of the storage, not of the request.
        """
        if name not in paths:
            raise NotFound(f"no {what} {clean(name, 100)!r}; /experiments lists all")
        try:
            return self.get(paths[name])
        except InvalidInput as error:
            raise StoreCorrupt(str(error)) from error


def evaluations_in(data_dir: Path) -> dict[str, Path]:
    """Return the logs of evaluations by name, newest first.

    Raises:
        StoreError: the folder cannot be read.
    """
    return _named(logs_in, data_dir / EVALUATIONS, lambda path: path.stem)


def evaluations_named(data_dir: Path, name: str) -> Mapping[str, Path]:
    """Return the logs among which an evaluation is looked up by name: all, or those of a loop for one of an arm (see
    `harness_evals.evaluation_names`).

    Raises:
        StoreError: the folder cannot be read.
    """
    if SEPARATOR not in name:
        return evaluations_in(data_dir)
    loop = loops_in(data_dir).get(name.partition(SEPARATOR)[0])
    return {short(arm): path for arm, path in arms_of(loop).items()} if loop else {}


def stored_arms(loop: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the evaluations in these files of a loop's folder by arm, for those that are there."""
    stored = {short(name) for name in arms_of(loop)}
    named = {short(arm): short(arm_name(loop.name, file)) for arm, file in files.items()}
    return {arm: name for arm, name in named.items() if name in stored}


def whole_log(data_dir: Path, name: str) -> Log:
    """Return an evaluation with its reports and sources; `name` is its id, also for an arm, whose log has another.

    Raises:
        NotFound: there is no such evaluation.
        StoreCorrupt: its log is damaged.
        StoreError: the folder cannot be read.
    """
    paths = evaluations_named(data_dir, name)
    evaluations.named(name, paths, "evaluation")
    log = read_log(paths[name])
    return replace(log, header=replace(log.header, id=name))


def loops_in(data_dir: Path) -> dict[str, Path]:
    """Return the journals of loops by name, newest first.

    Raises:
        StoreError: the folder cannot be read.
    """
    return _named(journals_in, data_dir / LOOPS, lambda folder: folder.name)


def _named(find: Callable[[Path], Sequence[Path]], folder: Path, name_of: Callable[[Path], str]) -> dict[str, Path]:
    try:
        return {name: path for path in find(folder) if (name := short(name_of(path)))}
    except OSError as error:
        raise StoreError(f"cannot read {folder} ({error.strerror or error}); check its permissions") from error


def _state_of(path: Path) -> tuple[int, int]:
    """Return a value that changes whenever the file does: its modification time and size."""
    try:
        status = path.stat()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(f"{path} is not a file; move it elsewhere")
    if status.st_size > MAX_BYTES:
        raise InvalidInput(f"{path} is larger than {MAX_BYTES // 2**20} MiB; read it with `harness eval show`")
    return status.st_mtime_ns, status.st_size


def _read_evaluation(path: Path) -> Evaluation:
    log = read_log(path)
    scores = [value for entry in log.entries for value in (entry.total or 0.0, *(entry.scores or {}).values())]
    costs = [outcome.cost for outcome in log.outcomes]
    spent = [value for cost in costs for value in (cost.live_calls, cost.tokens, cost.seconds)]
    _check(path, scores, log.header.began, spent)
    _check(path, objectives(log).values(), most=MAX_VALUE)
    log = replace(log, entries=tuple(replace(entry, outcome=_slim(entry.outcome)) for entry in log.entries))
    return Evaluation(log, summary(log))


def _slim(outcome: Outcome) -> Outcome:
    return replace(outcome, sources=(), citations=(), titles=(), limits=(), rounds=())


def _read_journal(path: Path) -> Journal:
    journal = read_journal(path)
    floor, experiments = journal.noise_floor, journal.experiments
    scores = [floor.value, floor.score] if floor else []
    for each in experiments:
        scores += [value for value in (each.score, each.baseline, each.delta, each.p, each.low, each.high) if value]
    for test in journal.confirmations:
        scores += [test.difference, test.low, test.high, test.p]
    costs = [value for each in experiments for value in (each.seconds, each.live_calls)]
    _check(path, scores, journal.begun.at, costs, most=MAX_VALUE if journal.begun.options.objective else MAX_SCORE)
    return replace(journal, experiments=tuple(replace(each, digests={}) for each in experiments))


def _check(
    path: Path, scores: Iterable[float], moment: float = 0.0, costs: Iterable[float] = (), *, most: float = MAX_SCORE
) -> None:
    """Refuse impossible numbers: their sums may be infinite, or not valid times. `most` bounds scores, or values of an
    objective.
    """
    valid = all(-most <= score <= most for score in scores) and 0 <= moment <= LATEST
    if not valid or not all(0 <= cost <= MAX_COST for cost in costs):
        raise InvalidInput(f"{path} contains an impossible score, time or cost; the file is damaged")


evaluations = FileCache(_read_evaluation)
"""Evaluations, by the path of the log."""
loops = FileCache(_read_journal)
"""Loops, by the path of the folder."""


def short(text: object) -> str:
    """Return a text cleaned, on one line, and at most `MAX_TEXT` characters long."""
    return shorten(clean(one_line(str(text)), 2 * MAX_TEXT), MAX_TEXT)


def short_lines(lines: Iterable[object]) -> list[str]:
    """Return the first `MAX_LINES` texts, each shortened (see `short`)."""
    return [short(line) for line in islice(lines, MAX_LINES)]


def plain_value(value: Any) -> Any:
    """Return a setting to show: numbers stay, texts are cleaned, everything else becomes text."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and len(value) <= MAX_VALUES:
        return [each if isinstance(each, (bool, int, float)) else short(each) for each in value]
    return short(value)
