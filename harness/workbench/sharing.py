"""What a workbench opens once, and lends to those that serve others with it."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, Self, TypeVar, overload

from harness.forks import begins_anew
from harness.settings import Settings

T = TypeVar("T")


class Lending:
    """Something that opens its `shared` properties once, for itself and all that it lends them to."""

    settings: Settings

    def __init__(self) -> None:
        self._lender: Self | None = None
        self.begin_anew()
        begins_anew(self)

    def begin_anew(self) -> None:
        """See `Forked`: a thread of the parent may hold the lock."""
        self._opening = threading.RLock()


class shared(Generic[T]):  # noqa: N801 - used as `property` is
    """A property of what is opened once, for a workbench and for all that it is `serving` with; where one of these has
    other settings whose names begin with one of `unless`, it opens its own.

    Not `cached_property`: before Python 3.12 that has a lock of its own for each name, and two of these, each with the
    workbench's lock, are taken in both orders where one property needs another.
    """

    def __init__(self, make: "Callable[[Any], T]", *, unless: tuple[str, ...] = ()) -> None:
        self._make = make
        self._unless = unless
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, workbench: None, owner: type) -> Self: ...
    @overload
    def __get__(self, workbench: "Lending", owner: type) -> T: ...
    def __get__(self, workbench: "Lending | None", owner: type) -> "T | Self":
        if workbench is None:
            return self
        name, first = self._name, self._holder(workbench)
        with first._opening:  # noqa: SLF001
            if name not in first.__dict__:
                first.__dict__[name] = self._make(first)
        value: T = first.__dict__[name]
        workbench.__dict__[name] = value  # found there from now on, before this is asked
        return value

    def _holder(self, workbench: "Lending") -> "Lending":
        """Return the workbench that opens it."""
        lender = workbench._lender  # noqa: SLF001 - the other half of it
        if lender is None or (self._unless and self._deciding(lender) != self._deciding(workbench)):
            return workbench
        return lender

    def _deciding(self, workbench: "Lending") -> list[object]:
        settings = workbench.settings
        return [getattr(settings, name) for name in settings.__struct_fields__ if name.startswith(self._unless)]


class own(shared[T]):  # noqa: N801 - used as `property` is
    """A property that each workbench makes for itself, once."""

    def _holder(self, workbench: "Lending") -> "Lending":
        return workbench


def shared_unless(*prefixes: str) -> "Callable[[Callable[[Any], T]], shared[T]]":
    """Make a `shared` property that depends on the settings whose names begin with one of `prefixes`."""
    return partial(shared, unless=prefixes)
