"""Statements of both databases for audits: one row per pair of queries."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from harness.core.audits import Audit, flaw
from harness.core.text import clean, one_line
from harness.storage.tables import AUDITS

COLUMNS = (
    *("tenant", "key_a", "key_b", "query_a", "query_b"),
    *("overlap", "similarity", "probability", "agreed", "created_at"),
)
_NUMBERED = ", ".join(f"?{number}" for number in range(1, len(COLUMNS) + 1))
_REPLACED = ", ".join(f"{column} = excluded.{column}" for column in COLUMNS[3:])
"""Columns that a later audit of a pair updates."""

# values are numbered as SQLite has it; PostgreSQL writes `$` for `?`
PUT = (
    f"INSERT INTO {AUDITS} ({', '.join(COLUMNS)}) VALUES ({_NUMBERED}) "
    f"ON CONFLICT (tenant, key_a, key_b) DO UPDATE SET {_REPLACED} WHERE {AUDITS}.agreed "
    f"AND (NOT excluded.agreed OR excluded.created_at > {AUDITS}.created_at)"
)
ALL = f"SELECT {', '.join(COLUMNS[1:])} FROM {AUDITS} WHERE tenant = ?1 ORDER BY created_at, key_a, key_b"
COUNT = f"SELECT count(*) FILTER (WHERE agreed), count(*) FILTER (WHERE NOT agreed) FROM {AUDITS} WHERE tenant = ?1"
DISAGREEING = (
    f"SELECT key_b FROM {AUDITS} WHERE tenant = ?1 AND key_a = ?2 AND NOT agreed "
    f"UNION ALL SELECT key_a FROM {AUDITS} WHERE tenant = ?1 AND key_b = ?2 AND NOT agreed"
)
CLEAR = f"DELETE FROM {AUDITS} WHERE tenant = ?1"


def values_of(audit: Audit) -> tuple[Any, ...]:
    """Return what the row of an audit holds but its tenant, in the order of `COLUMNS`."""
    found = (audit.overlap, audit.similarity, audit.probability, audit.agreed, audit.created_at)
    return (*audit.keys, *audit.queries, *found)


def audit_in(row: Sequence[Any], text: Callable[[Any], Any]) -> Audit | None:
    """Return the audit that a row of `ALL` holds, `None` if it is damaged; `text` reads what the database keeps."""
    *keys, one, other, overlap, similarity, probability, agreed, created_at = row
    found = {
        "queries": (text(one), text(other)),
        "overlap": overlap,
        "similarity": similarity,
        "probability": probability,
        "agreed": {0: False, 1: True}.get(agreed),
        "created_at": created_at,
    }
    try:
        audit = msgspec.convert(found, Audit)
    except msgspec.ValidationError:
        return None
    return None if flaw(audit, [text(key) for key in keys]) else audit


def problem(key_a: Any, key_b: Any) -> str:
    """Say in a line which row is no audit."""
    one, other = (one_line(clean(key, 12)) for key in (key_a, key_b))
    return f"{AUDITS}: row {one}… {other}…: it cannot be used"
