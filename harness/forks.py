"""What a forked child must not take over from its parent: locks that another thread holds, counts not yet stored,
sessions with a server.
"""

import os
from typing import Protocol
from weakref import WeakSet


class Forked(Protocol):
    """Something that must begin anew in a forked child."""

    def begin_anew(self) -> None:
        """Forget what belongs to the parent; called in the child, before anything else there."""


_all: "WeakSet[Forked]" = WeakSet()
_left_behind: list[object] = []


def begins_anew(what: Forked) -> None:
    """Have `what.begin_anew()` called in every child that this process forks, as long as somebody holds it."""
    _all.add(what)


def leave_behind(session: object) -> None:
    """Keep what is the parent's as it is: to close it here would end the parent's session."""
    _left_behind.append(session)


def _after_fork() -> None:
    for each in list(_all):
        each.begin_anew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork either
    os.register_at_fork(after_in_child=_after_fork)
