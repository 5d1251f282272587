"""Forks: keep a child from inheriting locks that another thread holds, counts not yet stored, sessions with a server,
and modules and models that another thread is in the middle of using.

A fork copies one thread and all memory. What another thread was doing is never finished in the child: a lock stays
locked, a module half imported. So before a fork (`os.fork`, `multiprocessing` by fork) this waits, at most `MOST_WAIT`
seconds, until no other thread imports a module or is in a `section`, such as a run of a model; and in the child, locks
are free again and `Forked` objects start afresh. Connections to databases take care of themselves.

What cannot be made safe here: native code in other threads that this package does not call itself (torch, and so
sentence-transformers; SQLite, by the program itself); a corpus that another thread is searching or indexing; requests
that another thread has sent; code that forks without Python's hooks. Start such processes by `spawn` or `forkserver`,
or fork before the threads start.
"""

# filelock and concurrent.futures.thread have hooks for forks, too. They are imported here so that no thread imports
# them later, in the middle of a fork, and so that their hooks, registered first, run last: filelock stops the threads
# that take its locks, and a hook of ours that ran after that would wait for such a thread without end.
import concurrent.futures.thread  # noqa: F401
import functools
import importlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

import filelock  # noqa: F401

log = logging.getLogger(__name__)
T = TypeVar("T")

MOST_WAIT = 10.0
"""Seconds that a fork waits for other threads; then it goes on."""


class Forked(Protocol):
    """Something that must start afresh in a forked child."""

    def begin_anew(self) -> None:
        """Forget what belongs to the parent; called in the child, before anything else there."""


_all: "WeakSet[Forked]" = WeakSet()
_locks: "WeakSet[Any]" = WeakSet()
_left_behind: list[object] = []


def begins_anew(what: Forked) -> None:
    """Have `what.begin_anew()` called in every child that this process forks, as long as it is referenced."""
    _all.add(what)


def free_in_child(lock: T) -> T:
    """Return a `threading.Lock` or `RLock` that is free in every child, whichever thread of the parent holds it."""
    _locks.add(lock)
    return lock


def leave_behind(session: object) -> None:
    """Keep what is the parent's as it is: to close it here would end the parent's session."""
    _left_behind.append(session)


class cached_property(functools.cached_property[T]):  # noqa: N801 - used as the one of functools
    """The one of `functools` without the lock that it has before Python 3.12, which a child could not get."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        super().__init__(function)
        self.lock = nullcontext()


class _Sections:
    """Code of threads that a fork must not interrupt."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._inside = 0
        self._changed = threading.Condition()
        self._forking = 0

    @contextmanager
    def section(self) -> Iterator[None]:
        """See the function `section`."""
        own = self._own()
        with self._changed:
            while self._forking and not own:
                self._changed.wait()
            self._inside += 1
        self._mine.own = own + 1
        try:
            yield
        finally:
            self._mine.own = own
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def _own(self) -> int:
        """Return how many sections this thread is in."""
        return getattr(self._mine, "own", 0)

    def close(self, deadline: float) -> bool:
        """Let no thread into a section, and wait until all but this one have left; return whether they have."""
        with self._changed:
            self._forking += 1
            return self._changed.wait_for(lambda: self._inside <= self._own(), deadline - time.monotonic())

    def open(self) -> None:
        """Let threads in again."""
        with self._changed:
            self._forking -= 1
            self._changed.notify_all()

    def open_in_child(self) -> None:
        """Forget the other threads."""
        self._changed = threading.Condition()
        self._forking = 0
        self._inside = self._own()


_sections = _Sections()


def section() -> Any:
    """Return a context manager for native code: a fork of another thread waits until it is left.

    What is done in it must be short, and wait for no other thread.
    """
    return _sections.section()


def _importing() -> bool:
    """Say whether another thread is importing a module."""
    held = getattr(importlib._bootstrap, "_module_locks", {})  # noqa: SLF001 - there is no public way
    owners = {getattr(lock(), "owner", None) for lock in list(held.values())}
    return bool(owners - {None, threading.get_ident()})


def _before_fork() -> None:
    deadline = time.monotonic() + MOST_WAIT
    quiet = _sections.close(deadline)
    while True:
        time.sleep(0.0005)  # so that this thread's turn begins, and no other begins an import until it has forked
        if not (importing := _importing()) or time.monotonic() > deadline:
            break
    if importing or not quiet:
        log.warning("forked while another thread imports a module or runs a model: the child may hang")


def _after_in_child() -> None:
    _sections.open_in_child()
    for lock in list(_locks):
        lock._at_fork_reinit()  # noqa: SLF001 - as the standard library does with its own
    for each in list(_all):
        each.begin_anew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork either
    os.register_at_fork(before=_before_fork, after_in_parent=_sections.open, after_in_child=_after_in_child)
