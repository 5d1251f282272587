"""Roles of access tokens, and the role that a method needs."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar, get_args

Role: TypeAlias = Literal["reader", "writer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Roles from least to most: a reader looks up, a writer also asks and stores, an admin also deletes."""

Method = TypeVar("Method", bound=Callable[..., Any])


def needs(role: Role) -> Callable[[Method], Method]:
    """Declare the role that a token needs to call a method of a port."""

    def declare(method: Method) -> Method:
        method.__dict__["needed_role"] = role
        return method

    return declare


def needed_role(method: Callable[..., Any]) -> Role | None:
    """Return the declared role of a port's method; `None`: it concerns every tenant, and no token is enough."""
    role: Role | None = method.__dict__.get("needed_role")
    return role
