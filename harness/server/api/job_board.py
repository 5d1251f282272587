"""Researches of the other worker processes of one server, by files in a folder that they share."""

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

import msgspec
from filelock import FileLock
from msgspec import Struct

from harness.research.gathering import Round
from harness.storage.files import replacing

MAX_BYTES = 16 * 2**20
"""Bytes of one file that are read."""


class JobStatus(Struct, frozen=True, kw_only=True):
    """One research as another worker sees it: `step` is what it does, with the numbers of done and of all steps;
    `failure` is the code and message of the error that ended it; `pid` is the worker's process.
    """

    run: str
    question: str
    tenant: str
    started: float
    pid: int
    step: tuple[str, int, int]
    rounds: list[Round]
    state: Literal["running", "finished", "stopped", "failed"]
    found: bool = False
    failure: tuple[str, str] | None = None


class JobBoard:
    """Statuses of researches in `folder`, which only the workers of one server may write. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def locked(self) -> AbstractContextManager[object]:
        """Keep the other workers from starting a research meanwhile."""
        return FileLock(self._folder / "starting.lock")

    def publish(self, status: JobStatus) -> None:
        """Write the status of a research of this process."""
        with replacing(self._folder / f"{status.run}.json") as file:
            file.write(msgspec.json.encode(status))

    def find(self, run: str) -> JobStatus | None:
        """Return the status of a research; `None` if there is none, or it cannot be read. A research whose process has
        ended is stopped.
        """
        path = self._folder / f"{run}.json"
        try:
            if path.parent != self._folder or path.stat().st_size > MAX_BYTES:
                return None
            status = msgspec.json.decode(path.read_bytes(), type=JobStatus)
        except (OSError, ValueError, msgspec.MsgspecError):
            return None
        if status.state == "running" and not is_alive(status.pid):
            return msgspec.structs.replace(status, state="stopped")
        return status

    def all(self) -> list[JobStatus]:
        """Return the status of every research, newest first."""
        found = [self.find(path.stem) for path in self._folder.glob("*.json")]
        return sorted((each for each in found if each is not None), key=lambda each: each.started, reverse=True)

    def forget(self, run: str) -> None:
        """Delete the status of a research."""
        for suffix in (".json", ".stop"):
            (self._folder / f"{run}{suffix}").unlink(missing_ok=True)

    def request_stop(self, run: str) -> None:
        """Ask the process of a research to stop it."""
        (self._folder / f"{run}.stop").touch()

    def stop_requested(self, run: str) -> bool:
        """Return whether a research is to stop."""
        return (self._folder / f"{run}.stop").exists()


def is_alive(pid: int) -> bool:
    """Return whether a process exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        pass
    return True
