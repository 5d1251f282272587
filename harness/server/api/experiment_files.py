"""The files of evaluations and loops of experiments: found by name, read anew only when they have changed.

An address never names a path: it is one of the names that are there, or nothing.
"""

import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from harness_evals.journal import FOLDER as LOOPS
from harness_evals.journal import JOURNAL, Journal, journals_in, read_journal
from harness_evals.log import Log, logs_in, read_log
from harness_evals.suite import FOLDER as EVALUATIONS
from harness_evals.suite import Summary, summary
from msgspec import Struct
from msgspec.structs import replace

from harness.core.text import clean, one_line, shorten
from harness.errors import InvalidInput, NotFound, StoreCorrupt, StoreError

T = TypeVar("T")

MAX_BYTES = 32 * 2**20
"""Of one log or journal; a larger one is told of, and not read."""
MAX_KEPT = 250
"""Files of each kind whose content is kept in memory: without reports and sources, some 100 kB each."""
MAX_TEXT = 1_000
LATEST = 253_402_300_799.0
"""The end of the year 9999: what a calendar can show."""
MOST = 2.0**53


class Evaluation(Struct, frozen=True):
    """A log without reports and sources, and its sum."""

    log: Log
    summary: Summary


class Files(Generic[T]):
    """What files came to, the `MAX_KEPT` that were read last; one is read again when it has changed. Safe for threads.

    `read` raises `InvalidInput` for a file that is damaged.
    """

    def __init__(self, read: Callable[[Path], T]) -> None:
        self._read = read
        self._held: OrderedDict[Path, tuple[tuple[int, int], T | str]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, path: Path) -> T:
        """Return what the file came to.

        Raises:
            InvalidInput: it is damaged, too large, no file, or cannot be read.
        """
        state = _state_of(path / JOURNAL if path.is_dir() else path)
        with self._lock:
            held = self._held.get(path)
        if held is None or held[0] != state:
            held = (state, self._told(path))
        with self._lock:
            self._held[path] = held
            self._held.move_to_end(path)
            if len(self._held) > MAX_KEPT:
                self._held.popitem(last=False)
        if isinstance(found := held[1], str):
            raise InvalidInput(found)
        return found

    def _told(self, path: Path) -> T | str:
        try:
            return self._read(path)
        except InvalidInput as error:
            return str(error)


def evaluation_of(data_dir: Path, name: str) -> Evaluation:
    """Return the evaluation of that name.

    Raises:
        NotFound: there is none.
        StoreCorrupt: its log is damaged.
        StoreError: the folder cannot be read.
    """
    return _sound(evaluations, _path_of(name, evaluations_in(data_dir), "evaluation"))


def loop_of(data_dir: Path, name: str) -> Journal:
    """Return the loop of experiments of that name.

    Raises:
        NotFound: there is none.
        StoreCorrupt: its journal is damaged.
        StoreError: the folder cannot be read.
    """
    return _sound(loops, _path_of(name, loops_in(data_dir), "loop of experiments"))


def evaluations_in(data_dir: Path) -> dict[str, Path]:
    """Return the logs of evaluations by their names, the newest first.

    Raises:
        StoreError: the folder cannot be read.
    """
    return _named(logs_in, data_dir / EVALUATIONS, lambda path: path.stem)


def loops_in(data_dir: Path) -> dict[str, Path]:
    """Return the journals of loops by their names, the newest first.

    Raises:
        StoreError: the folder cannot be read.
    """
    return _named(journals_in, data_dir / LOOPS, lambda folder: folder.name)


def _named(find: Callable[[Path], Sequence[Path]], folder: Path, name_of: Callable[[Path], str]) -> dict[str, Path]:
    try:
        return {name: path for path in find(folder) if (name := short(name_of(path)))}
    except OSError as error:
        raise StoreError(f"cannot read {folder} ({error.strerror or error}); check its permissions") from error


def _sound(files: Files[T], path: Path) -> T:
    """Return what a file came to; that it is damaged is no fault of whoever asks for it."""
    try:
        return files.get(path)
    except InvalidInput as error:
        raise StoreCorrupt(str(error)) from error


def _path_of(name: str, there: Mapping[str, Path], what: str) -> Path:
    if name not in there:
        raise NotFound(f"no {what} {clean(name, 100)!r}; /experiments lists what there is")
    return there[name]


def _state_of(path: Path) -> tuple[int, int]:
    """Return what changes whenever the file does."""
    try:
        found = path.stat()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{path} is not a file; move it away")
    if found.st_size > MAX_BYTES:
        raise InvalidInput(f"{path} is larger than {MAX_BYTES // 2**20} MiB; look at it with `harness`")
    return found.st_mtime_ns, found.st_size


def _read_evaluation(path: Path) -> Evaluation:
    log = read_log(path)
    scores = [value for entry in log.entries for value in (entry.total or 0.0, *(entry.scores or {}).values())]
    costs = [outcome.cost for outcome in log.outcomes]
    spent = [value for cost in costs for value in (cost.live_calls, cost.tokens, cost.seconds)]
    _check(path, scores, log.header.began, spent)
    slim = (replace(entry, outcome=replace(entry.outcome, sources=(), citations=())) for entry in log.entries)
    log = replace(log, entries=tuple(slim))
    return Evaluation(log, summary(log))


def _read_journal(path: Path) -> Journal:
    found = read_journal(path)
    floor, held = found.noise_floor, found.experiments
    scores = [floor.value, floor.score] if floor else []
    for each in held:
        scores += [value for value in (each.score, each.baseline, each.delta, each.p, each.low, each.high) if value]
    _check(path, scores, found.begun.at, [value for each in held for value in (each.seconds, each.live_calls)])
    return replace(found, experiments=tuple(replace(each, digests={}) for each in held))


def _check(path: Path, scores: Iterable[float], moment: float, costs: Iterable[float]) -> None:
    """Refuse numbers that no program of ours has written: sums of them may be infinite, or no time at all."""
    sound = all(-2 <= score <= 2 for score in scores) and 0 <= moment <= LATEST
    if not sound or not all(0 <= cost <= MOST for cost in costs):
        raise InvalidInput(f"{path} holds a score, a time or a cost that cannot be; the file is damaged")


evaluations = Files(_read_evaluation)
"""By the path of the log."""
loops = Files(_read_journal)
"""By the path of the loop's folder."""


def short(text: object) -> str:
    """Make a text fit to be told: cleaned, on one line, at most `MAX_TEXT` characters."""
    return shorten(clean(one_line(str(text)), 2 * MAX_TEXT), MAX_TEXT)
