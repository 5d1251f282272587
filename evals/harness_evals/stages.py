"""Texts of the stages of evaluated runs, each stored once under its digest, so that two runs can be compared later; and
the tasks that were run, as JSON.

A damaged file, or one whose text is another than its name says, counts as missing.
"""

import gzip
import logging
import os
import re
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from io import BytesIO
from itertools import chain
from pathlib import Path

import msgspec

from harness.errors import InvalidInput
from harness.storage.files import replacing
from harness_evals.tasks import TASKS_DIR, Task, load_tasks

log = logging.getLogger(__name__)

FOLDER = "stages"
SUFFIX = ".gz"
LOGS_READ = "logs_read"
"""File whose time is that when all logs were read last."""
MAX_BYTES = 2 * 2**20
"""Longest text that is stored, in UTF-8."""
MAX_TOTAL_BYTES = 512 * 2**20
"""Size of all files after pruning; the texts that were written last stay."""
GRACE_SECONDS = 86_400.0
"""Age up to which a text without a log stays: the run that wrote it may not be in its log yet."""

_DIGEST = re.compile(r"[0-9a-f]{16}")
_IN_LOGS = re.compile(rb'"([0-9a-f]{16})"')


def digest(text: str) -> str:
    """Return a text's digest: 16 hexadecimal digits."""
    return sha256(text.encode(errors="replace")).hexdigest()[:16]


def keep(data_dir: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """Store the text of each stage, unless it is there, empty or too long; return the digests by stage. A text that
    cannot be written is left out, with a warning.
    """
    folder = _folder(data_dir)
    digests = {stage: digest(text) for stage, text in texts.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for stage, text in texts.items():
            _put(folder / f"{digests[stage]}{SUFFIX}", text.encode(errors="replace"))
    except OSError as error:
        log.warning("the texts of a run's stages are not kept in %s: %s", folder, error.strerror or error)
    return digests


def keep_task(data_dir: Path, task: Task) -> None:
    """Store a task as it is now, under its digest."""
    keep(data_dir, {"task": msgspec.json.encode(task).decode()})


def digest_of_task(task: Task) -> str:
    """Return a digest that changes with the task."""
    return digest(msgspec.json.encode(task).decode())


def task_of(data_dir: Path, wanted: str) -> Task | None:
    """Return the task with this digest: stored, or one of the program's; `None` if there is neither."""
    if text := text_of(data_dir, wanted):
        with suppress(msgspec.MsgspecError, RecursionError):
            return msgspec.json.decode(text, type=Task)
    return _shipped().get(wanted)


def text_of(data_dir: Path, name: str) -> str | None:
    """Return the text with this digest; `None` if it is not stored."""
    if name == digest(""):
        return ""
    content = _read(_folder(data_dir) / f"{name}{SUFFIX}") if _DIGEST.fullmatch(name) else None
    if content is None:
        return None
    text = content.decode(errors="replace")
    return text if digest(text) == name else None


def prune(data_dir: Path, *, now: float | None = None) -> int:
    """Delete the texts that no log names any more, then the oldest beyond `MAX_TOTAL_BYTES`; return their number. Logs
    are read once in `GRACE_SECONDS` at most, and only while there are older texts that none of those read names.
    """
    now = time.time() if now is None else now
    stored = sorted(_files(_folder(data_dir)), reverse=True)
    lost = {path.stem for moment, _, path in stored if moment < now - GRACE_SECONDS}
    lost = _without_log(data_dir, lost, now) if lost else lost
    deleted, total = 0, 0
    for _, size, path in stored:
        if path.stem in lost or total + size > MAX_TOTAL_BYTES:
            path.unlink(missing_ok=True)
            deleted += 1
        else:
            total += size
    return deleted


def _without_log(data_dir: Path, texts: set[str], now: float) -> set[str]:
    """Return the texts that no log names; none if the logs were read less than `GRACE_SECONDS` ago."""
    read = _folder(data_dir) / LOGS_READ
    if read.exists() and 0 <= now - read.stat().st_mtime < GRACE_SECONDS:
        return set()
    with suppress(OSError):  # without it, they are read again the next time
        read.touch()
        os.utime(read, (now, now))
    for path in chain((data_dir / "evals").glob("*.jsonl"), (data_dir / "autoresearch").glob("*/evals/*.jsonl")):
        if not texts:
            break
        texts = texts.difference(_named_in(path))
    return texts


@cache
def _shipped() -> dict[str, Task]:
    """Return the program's tasks of all suites, by their digests."""
    found: dict[str, Task] = {}
    for folder in (TASKS_DIR, *sorted(TASKS_DIR.parent.glob("*/tasks"))):
        with suppress(InvalidInput):
            found |= {digest_of_task(task): task for task in load_tasks(folder=folder)}
    return found


def _folder(data_dir: Path) -> Path:
    return data_dir / "evals" / FOLDER


def _put(path: Path, content: bytes) -> None:
    if not content or len(content) > MAX_BYTES:
        return
    if path.exists():
        path.touch()  # pruning deletes the oldest texts first
        return
    packed = BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        file.write(content)
    with replacing(path) as written:
        written.write(packed.getvalue())


def _read(path: Path) -> bytes | None:
    try:
        with gzip.open(path) as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None
    return content if len(content) <= MAX_BYTES else None


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield the time, the size and the path of each stored text."""
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            status = path.stat()
        except OSError:  # another program has just deleted it
            continue
        yield status.st_mtime, status.st_size, path


def _named_in(path: Path) -> Iterator[str]:
    """Yield everything in a log that may be a digest; of an unreadable log nothing."""
    try:
        with path.open("rb") as file:
            for line in file:
                yield from (found.decode() for found in _IN_LOGS.findall(line))
    except OSError as error:
        log.warning("cannot read %s: %s", path, error.strerror or error)
