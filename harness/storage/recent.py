"""A quick look at a database file for completion in a shell: read-only, and never an error."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from harness.core.tables import KNOWLEDGE, LIBRARY, MEMORY, TOKENS
from harness.storage.tables import ORIGINS, RUNS

WAIT = 0.2
"""Seconds to wait for a lock."""

Kind: TypeAlias = Literal["runs", "documents", "memories", "threads", "sources", "tokens", "tenants"]

_NEWEST = "ORDER BY max(created_at) DESC, max(seq) DESC"
_QUERIES: Mapping[Kind, str] = MappingProxyType(
    {
        "runs": f"SELECT key, {RUNS.text} FROM {RUNS.name} AS runs WHERE tenant = :tenant AND NOT EXISTS "
        f"(SELECT 1 FROM {ORIGINS} WHERE tenant = runs.tenant AND source = '{RUNS.name}' AND key = runs.key "
        "AND origin <> 'agent') ORDER BY created_at DESC, key DESC",
        "documents": f"SELECT key, title FROM {KNOWLEDGE} WHERE tenant = :tenant GROUP BY key {_NEWEST}",
        "memories": f"SELECT key, text FROM {MEMORY} WHERE tenant = :tenant GROUP BY key {_NEWEST}",
        "threads": f"SELECT thread_id, min(text) FROM {MEMORY} WHERE tenant = :tenant "
        f"AND thread_id <> '' GROUP BY thread_id {_NEWEST}",
        "sources": f"SELECT url, min(title) FROM {LIBRARY} WHERE tenant = :tenant GROUP BY url {_NEWEST}",
        "tokens": f"SELECT key, tenant || ' ' || user_id || ' ' || role FROM {TOKENS} GROUP BY key {_NEWEST}",
        "tenants": f"SELECT tenant, '' FROM (SELECT tenant FROM {TOKENS} UNION SELECT tenant FROM {RUNS.name}) "
        "ORDER BY tenant",
    }
)


def recent(path: Path, kind: Kind, tenant: str, limit: int) -> list[tuple[str, str]]:
    """Return the id and a text of up to `limit` entries of a kind, newest first; none of an unreadable file. Runs are
    those of users and agents; tokens and tenants are of all tenants.
    """
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=WAIT)) as database,
    ):
        rows = database.execute(f"{_QUERIES[kind]} LIMIT :limit", {"tenant": tenant, "limit": limit})
        return [(str(id_), str(text)) for id_, text in rows]
    return []
