"""A store whose every call goes through one function: for access checks and for replays."""

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeAlias, cast

from msgspec import Struct

from harness.core.access import Role, needed_role
from harness.ports import STORE_PARTS, Store


class PortMethod(Struct, frozen=True):
    """A method of a part of the store. `role` is the one that a token needs; `None`: no token is enough.

    `subject` is the parameter that names the tenant (`tenant`, or `name` of a lock, which begins with it), "" if there
    is none; `place` is its position.
    """

    name: str
    role: Role | None
    subject: str
    place: int

    def subject_of(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> str:
        """Return the value of `subject` in a call."""
        value: str = arguments[self.place] if self.place < len(arguments) else named[self.subject]
        return value

    def with_subject(self, value: str, arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, str]]:
        """Return the arguments with another value of `subject`, and what to pass by name."""
        if self.place < len(arguments):
            return (*arguments[: self.place], value, *arguments[self.place + 1 :]), {}
        return arguments, {self.subject: value}


def _described(name: str, method: Callable[..., Any]) -> PortMethod:
    parameters = list(inspect.signature(method).parameters)[1:]
    subject = next((each for each in ("tenant", "name") if each in parameters), "")
    return PortMethod(name, needed_role(method), subject, parameters.index(subject) if subject else 0)


METHODS: Mapping[tuple[str, str], PortMethod] = MappingProxyType(
    {
        (part, name): _described(name, method)
        for part, port in STORE_PARTS.items()
        for name, method in vars(port).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }
)
"""Every method of the store, by part and name."""

Intercept: TypeAlias = Callable[[PortMethod, Callable[..., Any], tuple[Any, ...], Mapping[str, Any]], Any]
"""Called with the method, its implementation and the arguments; returns what the caller gets."""


def intercepted(store: Store, intercept: Intercept, close: Callable[[], None]) -> Store:
    """Return `store` with every call passed to `intercept`, and with another `close`."""
    parts = {part: _InterceptedPart(part, getattr(store, part), intercept) for part in STORE_PARTS}
    return cast("Store", SimpleNamespace(**parts, close=close))


class _InterceptedPart:
    """Methods are made at their first use, and stay."""

    def __init__(self, part: str, target: object, intercept: Intercept) -> None:
        self._part = part
        self._target = target
        self._intercept = intercept

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if (method := METHODS.get((self._part, name))) is None:
            raise AttributeError(name)
        intercept, implementation = self._intercept, getattr(self._target, name)

        def call(*arguments: Any, **named: Any) -> Any:
            return intercept(method, implementation, arguments, named)

        setattr(self, name, call)
        return call
