"""The store of a replay: a read-only database in memory, filled from a snapshot."""

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

from msgspec.structs import replace

from harness.core.entries import Entry
from harness.errors import StoreError
from harness.ports import Store
from harness.storage.interception import PortMethod, intercepted
from harness.storage.snapshots import SnapshotLine, audit_of, entry_of
from harness.storage.sqlite.memory import MemoryStore
from harness.storage.tables import AUDITS

TENANT = "default"
_NOTHING_TO_DO: Mapping[str, Callable[[], Any]] = {"unembedded": list, "tenants": list, "verify": list}
"""Answers of a replay: it embeds no rows later, is of no tenant, and was checked when the file was read."""


def replay_store(lines: Iterable[SnapshotLine]) -> Store:
    """Return a store that answers from a snapshot, whichever tenant asks. Nothing expires; every write raises
    `StoreError`.
    """
    store, asked = MemoryStore(), dict[tuple[str, str], Entry]()
    for line in lines:
        if line.table == AUDITS:
            store.audits.put(TENANT, audit_of(line))
        else:
            asked[line.table, line.asked or line.key] = replace(entry_of(line), expires_at=inf, last_used_at=inf)
    rows = {(table, entry.key): entry for (table, _), entry in asked.items()}
    store.fill(TENANT, rows)
    # a row that answered another key than its own, and one that was never asked by its own
    exceptions = {place: asked.get(place) for place in asked | rows if asked.get(place) is not rows.get(place)}

    def answer(
        method: PortMethod, implementation: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]
    ) -> Any:
        if method.role in {"writer", "admin"}:
            raise StoreError("a snapshot is read-only; leave out --replay to work on the cache itself")
        if method.name in _NOTHING_TO_DO:
            return _NOTHING_TO_DO[method.name]()
        if method.subject == "tenant":
            arguments, tenant = method.with_subject(TENANT, arguments)
            named = {**named, **tenant}
        if method.name in {"get", "get_whole"}:
            given = {**dict(zip(("table", "tenant", "key"), arguments, strict=False)), **named}
            if (place := (given["table"], given["key"])) in exceptions:
                return exceptions[place]
        return implementation(*arguments, **named)

    return intercepted(store, answer, store.close)
