"""What an app opens once, and lends to those that serve others with it."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, Self, TypeVar, overload

from harness.settings import Settings
from harness.storage.forks import begins_anew

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
    """A property of what is opened once, for an app and for all that it is `serving` with; where one of these has
    other settings whose names begin with one of `unless`, it opens its own.

    Not `cached_property`: before Python 3.12 that has a lock of its own for each name, and two of these, each with the
    app's lock, are taken in both orders where one property needs another.
    """

    def __init__(self, make: "Callable[[Any], T]", *, unless: tuple[str, ...] = ()) -> None:
        self._make = make
        self._unless = unless
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, app: None, owner: type) -> Self: ...
    @overload
    def __get__(self, app: "Lending", owner: type) -> T: ...
    def __get__(self, app: "Lending | None", owner: type) -> "T | Self":
        if app is None:
            return self
        name, first = self._name, self._holder(app)
        with first._opening:  # noqa: SLF001
            if name not in first.__dict__:
                first.__dict__[name] = self._make(first)
        value: T = first.__dict__[name]
        app.__dict__[name] = value  # found there from now on, before this is asked
        return value

    def _holder(self, app: "Lending") -> "Lending":
        """Return the app that opens it."""
        lender = app._lender  # noqa: SLF001 - the other half of it
        if lender is None or (self._unless and self._deciding(lender) != self._deciding(app)):
            return app
        return lender

    def _deciding(self, app: "Lending") -> list[object]:
        settings = app.settings
        return [getattr(settings, name) for name in settings.__struct_fields__ if name.startswith(self._unless)]


class own(shared[T]):  # noqa: N801 - used as `property` is
    """A property that each app makes for itself, once."""

    def _holder(self, app: "Lending") -> "Lending":
        return app


def shared_unless(*prefixes: str) -> "Callable[[Callable[[Any], T]], shared[T]]":
    """Make a `shared` property that depends on the settings whose names begin with one of `prefixes`."""
    return partial(shared, unless=prefixes)
