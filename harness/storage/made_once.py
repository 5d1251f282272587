"""Properties that are made at their first use, once for all threads."""

import threading
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

from harness.storage.forks import free_in_child

T = TypeVar("T")

_LOCK = "_made_once_lock"


class made_once(Generic[T]):  # noqa: N801 - used as `property` is
    """A property whose value is made at the first use and kept in the object's `__dict__`. Threads that ask at the same
    time get the same value. An error is not kept: the next use tries again.

    All properties of one object share one reentrant lock. `cached_property` has none from Python 3.12 on, and before
    has one for each name: two threads could wait for each other where one property uses another.
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
