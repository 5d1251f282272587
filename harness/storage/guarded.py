"""The store for one access token: the rows of its tenant, and what its role allows."""

from collections.abc import Callable, Mapping
from typing import Any

from harness.errors import AccessDenied
from harness.identity import Identity
from harness.ports import Store
from harness.storage.interception import PortMethod, intercepted

_SKIPPED: Mapping[str, Callable[[], Any]] = {
    **dict.fromkeys(("touch", "mark_origin", "embed"), lambda: None),
    "unembedded": list,
}
"""Methods that lookups call for later lookups, and what a reader gets instead: no record of use, no row to embed."""


def guarded(store: Store, identity: Identity) -> Store:
    """Return `store` for the holder of a token. A call that names another tenant, concerns all tenants or goes beyond
    the role raises `AccessDenied`, whatever a service forgets.

    Lookups of a reader skip what they would do for later ones (record a use, delete expired rows, embed).
    """

    def check(
        method: PortMethod, implementation: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]
    ) -> Any:
        if method.role is None:
            return identity.require_local()
        subject = method.subject_of(arguments, named)
        if (subject.partition(" ")[0] if method.subject == "name" else subject) != identity.tenant:
            raise AccessDenied("this token is for one tenant, and the request is for another's rows")
        if not identity.may("writer"):
            if method.name in _SKIPPED:
                return _SKIPPED[method.name]()
            if method.name == "delete" and named.get("expired_at") is not None:
                return 0
        identity.require(method.role)
        return implementation(*arguments, **named)

    return store if identity.local else intercepted(store, check, identity.require_local)
