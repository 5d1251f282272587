"""Entries to store: a light module, since other processes import it, too."""

from typing import Any

from msgspec.structs import replace

from harness.core.audits import Audit
from harness.core.entries import Entry

SEARCHES = "search_cache"
RESEARCH = "research_cache"
NOW = 1_700_000_000.0
TENANT = "default"

_OWN: dict[str, tuple[Any, ...]] = {
    SEARCHES: (10, "ddgs", '{"region":"us-en"}'),  # max_results, engine, options
    RESEARCH: ('["round one"]', "[0.9,0.1]", "comparison", "planner-1"),  # rounds, novelty scores, type, fingerprint
}


def an_entry(key: str, table: str = SEARCHES, **changes: Any) -> Entry:
    """Return an entry for `table`, made at `NOW`, fresh for an hour; `changes` are fields with other values."""
    entry = Entry(key, f"text of {key}", f'["payload of {key}"]'.encode(), NOW, NOW + 3_600, NOW, _OWN[table])
    return replace(entry, **changes) if changes else entry


def a_tool_entry(key: str, *, created_by: str | None) -> Entry:
    """Return an entry for the tool cache, with JSON in canonical form."""
    own = ("job_search", '{"query":"python jobs","region":"eu"}', 2, created_by)
    payload = '[{"title":"Zürich","weeks":4},{"title":"\\n\\"x\\"","weeks":1.5}]'.encode()
    return Entry(key, "python jobs", payload, NOW, NOW + 3_600, NOW, own)


def a_token(user: str) -> Entry:
    """Return an entry for the access tokens, whose id is the user's name."""
    return Entry(user, "a laptop", b'{"hash":"00"}', NOW, NOW + 3_600, NOW, (user, "writer"))


def an_audit(asked: str, answered: str, *, agreed: bool = False, at: float = 0.0, **rest: Any) -> Audit:
    """Return an audit of a pair, made this many seconds after `NOW`."""
    told = {"overlap": 0.75 if agreed else 0.125, "similarity": 0.9375, "probability": None} | rest
    return Audit.of(asked, answered, now=NOW + at, **told)
