"""Port for showing the progress of long work."""

from typing import Protocol


class Stopped(Exception):
    """Raised by a `Progress` to end work that is not wanted any more. What was found by then is cached."""


class Progress(Protocol):
    """Told about long work: `done` of `total` steps of `what` are finished; equal numbers mean the end."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take note; must be quick, and raise nothing but `Stopped`, which ends the work."""
