"""A quick look at the newest runs of a database file, for completion in a shell: read-only, and never an error."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from harness.storage.tables import ORIGINS, RUNS

WAIT = 0.2
"""Seconds to wait for a lock."""


def recent_runs(path: Path, tenant: str, limit: int) -> list[tuple[str, str]]:
    """Return id and question of up to `limit` runs of users and agents, newest first; none of an unreadable file."""
    query = (
        f"SELECT key, {RUNS.text} FROM {RUNS.name} AS runs WHERE tenant = ? AND NOT EXISTS "
        f"(SELECT 1 FROM {ORIGINS} WHERE tenant = runs.tenant AND source = '{RUNS.name}' AND key = runs.key "
        "AND origin <> 'agent') ORDER BY created_at DESC, key DESC LIMIT ?"
    )
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=WAIT)) as database,
    ):
        return [(str(key), str(question)) for key, question in database.execute(query, (tenant, limit))]
    return []
