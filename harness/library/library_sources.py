"""Sources of the library: how many passages each has, of which kind and host, and when they were read."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from harness.cache.usage import day_of
from harness.core.entries import Outline
from harness.core.freshness import is_expired
from harness.core.sites import host_of

MAX_COUNTED = 10_000
"""Newest passages that are counted by source: up to half a second."""


class LibrarySource(Struct, frozen=True):
    """One source: its URL, title, kind (see `SourceKind`) and host ("" of a file), its number of passages, and when the
    newest one was read (seconds since the epoch).
    """

    url: str
    title: str
    kind: str
    host: str
    passages: int
    read_at: float


class LibraryOverview(Struct, frozen=True):
    """Sources of the counted passages, the last read first; passages by kind, by host, and by the day (YYYY-MM-DD, UTC)
    on which they were read, then by kind. `counted` is how many there are.
    """

    sources: list[LibrarySource]
    kinds: dict[str, int]
    hosts: dict[str, int]
    days: dict[str, dict[str, int]]
    counted: int


def overview_of(rows: Iterable[Outline], now: float) -> LibraryOverview:
    """Count passages that have not expired at the time `now` (seconds since the epoch); `rows` are newest first."""
    newest: dict[tuple[str, str], Outline] = {}
    passages = Counter[tuple[str, str]]()
    days: dict[str, Counter[str]] = {}
    for row in rows:
        if is_expired(row.expires_at, now, row.created_at):
            continue
        source = (row.own.url, row.own.source)
        newest.setdefault(source, row)
        passages[source] += 1
        days.setdefault(day_of(row.created_at), Counter())[row.own.source] += 1
    found = [
        LibrarySource(url, row.own.title, kind, host_of(url), passages[url, kind], row.created_at)
        for (url, kind), row in newest.items()
    ]
    kinds, hosts = Counter[str](), Counter[str]()
    for each in found:
        kinds[each.kind] += each.passages
        if each.host:
            hosts[each.host] += each.passages
    by_day = {day: dict(counted) for day, counted in sorted(days.items())}
    return LibraryOverview(found, dict(kinds.most_common()), dict(hosts.most_common()), by_day, passages.total())
