"""Port for showing the progress of long work."""

from typing import Protocol


class Stopped(Exception):
    """Raised by a `Progress` to end work that is not wanted any more. Results found until then are cached."""


class Progress(Protocol):
    """Receives the progress of long work: `done` of `total` steps of `what` are done; equal numbers mean the end."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show it; must be quick, and raise nothing but `Stopped`, which ends the work."""


def silent(what: str, done: int, total: int) -> None:
    """Show no progress."""
