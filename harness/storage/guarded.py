"""The store as one token may use it: its tenant's rows alone, and of what is done to them what its role includes."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from harness.errors import AccessDenied
from harness.identity import Identity, Role
from harness.ports import Store

_NEEDED: Mapping[str, Role] = {
    **dict.fromkeys(("get", "whole", "rows", "recent", "outlines", "timeline", "scopes", "nearest", "scan"), "reader"),
    **dict.fromkeys(("unembedded", "meanings", "counted", "turn", "stats", "expiring", "origins"), "reader"),
    **dict.fromkeys(("audits", "audited", "disagreeing"), "reader"),
    **dict.fromkeys(("put", "swap", "replace", "embed", "touch", "sweep", "delete", "evict", "count"), "writer"),
    **dict.fromkeys(("put_audit", "mark"), "writer"),
    **dict.fromkeys(("clear", "clear_audits", "forget"), "admin"),
}
"""The role for each method; those that are not here concern every tenant, and no token is enough for them."""


_LEFT_UNDONE: Mapping[str, Callable[[], Any]] = {
    **dict.fromkeys(("touch", "mark", "embed"), lambda: None),
    "unembedded": list,
}
"""What look-ups do for later ones, and what a reader's get instead: no note of use, no row to be embedded."""


def _tenant_of(name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> str:
    """Return whose rows, or whose lock, a call is about."""
    parameter = "name" if name == "turn" else "tenant"
    place = _PLACES[name]
    value: str = arguments[place] if place < len(arguments) else named[parameter]
    return value.partition(" ")[0] if name == "turn" else value


def _place(name: str) -> int:
    """Return where among the arguments of a method stands what tells whose it is."""
    names = list(inspect.signature(getattr(Store, name)).parameters)[1:]
    return names.index("name" if name == "turn" else "tenant")


_PLACES = {name: _place(name) for name in _NEEDED}


def guarded(store: Store, identity: Identity) -> Store:
    """Return `store` for who has a token: everything that names another tenant, concerns all of them, or goes beyond
    the role is an `AccessDenied`, whatever a service forgets. Names of locks begin with the tenant and a space.

    What a reader's look-ups would do for later ones (note a use, delete what has expired, embed) is left undone.
    """
    return store if identity.local else cast("Store", _Guarded(store, identity))


class _Guarded:
    """Checks every call, then passes it on. Methods are made when first asked for, and stay."""

    def __init__(self, store: Store, identity: Identity) -> None:
        self._store = store
        self._identity = identity

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or not hasattr(Store, name):
            raise AttributeError(name)
        method = self._checked(name)
        setattr(self, name, method)
        return method

    def _checked(self, name: str) -> Callable[..., Any]:
        identity, passed_on = self._identity, getattr(self._store, name)
        if name not in _NEEDED:
            return lambda *_, **__: identity.require_local()

        def call(*arguments: Any, **named: Any) -> Any:
            if _tenant_of(name, arguments, named) != identity.tenant:
                raise AccessDenied("this token is for one tenant, and what was asked for is another's")
            if not identity.may("writer"):
                if name in _LEFT_UNDONE:
                    return _LEFT_UNDONE[name]()
                if name == "delete" and named.get("expired_at") is not None:
                    return 0
            identity.require(_NEEDED[name])
            return passed_on(*arguments, **named)

        return call
