"""Forks: a child must not inherit locks that another thread holds, counts that the parent will store, sessions with a
server, or modules and models that another thread is using.

A fork copies one thread and all memory. In the child, other threads never finish: their locks stay locked, their
modules half imported. So before a fork (`os.fork`, `multiprocessing` by fork) a hook waits, at most `MOST_WAIT`
seconds, until no other thread imports a module or is in a `section`, such as a run of a model. A hook in the child
frees locks (`free_in_child`) and resets objects (`reset_in_child`). Connections to SQLite check the process id.

Not covered: native code in other threads that this package does not call itself (torch, and so sentence-transformers;
SQLite, by the program itself); a corpus that another thread searches or indexes; requests that another thread has
sent; code that forks without Python's hooks. Start such processes by `spawn` or `forkserver`, or fork before the
threads start.
"""

# filelock and concurrent.futures.thread have hooks for forks, too. They are imported here so that no thread imports
# them later, during a fork, and so that their hooks, registered first, run last: filelock stops the threads that take
# its locks, and a later hook of ours would wait for such a thread without end.
import concurrent.futures.thread  # noqa: F401
import importlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, Self, TypeVar, overload
from weakref import WeakKeyDictionary

import filelock  # noqa: F401

log = logging.getLogger(__name__)
T = TypeVar("T")

MOST_WAIT = 10.0
"""Seconds that a fork waits for other threads; then it goes on."""


class Resettable(Protocol):
    """An object with state that belongs to one process."""

    def reset(self) -> None:
        """Drop the parent's state; called in the child before any other code there."""


_resets: "WeakKeyDictionary[Any, Callable[[Any], object]]" = WeakKeyDictionary()
"""Function that resets each object or lock in a forked child."""
_left_behind: list[object] = []


def reset_in_child(holder: Resettable) -> None:
    """Call `holder.reset()` in every child that this process forks, as long as `holder` is referenced."""
    _resets[holder] = lambda each: each.reset()


def free_in_child(lock: T) -> T:
    """Return a `threading.Lock` or `RLock` that is free in every child, even if a thread of the parent holds it."""
    _resets[lock] = lambda each: each._at_fork_reinit()  # noqa: SLF001 - as the standard library does
    return lock


def leave_behind(session: object) -> None:
    """Keep a session of the parent open: to close it in the child would end it for the parent."""
    _left_behind.append(session)


class cached_property(Generic[T]):  # noqa: N801 - used as `property` is
    """A property whose value is made at the first use and kept in the object's `__dict__`. Threads that ask at the same
    time get the same value. An error is not kept: the next use tries again.

    All properties of one object share one reentrant lock, free in a child. That of `functools` has no lock from Python
    3.12 on; before, it has one for each name: a child could not get it, and two threads could wait for each other where
    one property uses another.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...
    @overload
    def __get__(self, holder: object, owner: type) -> T: ...
    def __get__(self, holder: object | None, owner: type) -> "T | Self":
        if holder is None:
            return self
        values = holder.__dict__
        lock = values.get(_LOCK) or values.setdefault(_LOCK, free_in_child(threading.RLock()))
        with lock:
            if self._name not in values:
                values[self._name] = self._make(holder)
            value: T = values[self._name]
        return value


_LOCK = "_cached_property_lock"


class _Sections:
    """Code of threads that a fork must not interrupt."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._inside = 0
        self._changed = threading.Condition()
        self._forking = 0

    @contextmanager
    def section(self) -> Iterator[None]:
        """Run native code in the block: a fork by another thread waits until it ends. The block must be short, and wait
        for no other thread.
        """
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
section = _sections.section


def _importing() -> bool:
    """Return whether another thread is importing a module."""
    held = getattr(importlib._bootstrap, "_module_locks", {})  # noqa: SLF001 - there is no public way
    owners = {getattr(lock(), "owner", None) for lock in list(held.values())}
    return bool(owners - {None, threading.get_ident()})


def _before_fork() -> None:
    deadline = time.monotonic() + MOST_WAIT
    quiet = _sections.close(deadline)
    while True:
        time.sleep(0.0005)  # a new time slice starts, so that no other thread starts an import until this one forks
        if not (importing := _importing()) or time.monotonic() > deadline:
            break
    if importing or not quiet:
        log.warning("forked while another thread imports a module or runs a model: the child may hang")


def _after_in_child() -> None:
    _sections.open_in_child()
    for each, reset in list(_resets.items()):
        reset(each)


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork either
    os.register_at_fork(before=_before_fork, after_in_parent=_sections.open, after_in_child=_after_in_child)
