"""Port of locks between processes."""

from contextlib import AbstractContextManager
from typing import Protocol

from harness.core.access import needs


class Locks(Protocol):
    """Named locks between all threads and processes. A name begins with its tenant and a space."""

    @needs("reader")
    def hold(self, name: str, wait: float) -> AbstractContextManager[bool]:
        """Hold the lock `name`; it becomes free when its holder dies.

        Yields whether it was acquired within `wait` seconds.
        """
