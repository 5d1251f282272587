"""Sources that recorded researches used: those that a report cites, and those of reused passages."""

from collections import Counter

import msgspec
from msgspec import Struct

from harness.cache import Cache
from harness.core.keys import canonical_url
from harness.core.tables import RUNS

RUNS_READ = 50
"""Newest recorded researches that are read."""


class _Source(Struct, frozen=True):
    url: str
    number: int = 0


class _Record(Struct, frozen=True):
    sources: tuple[_Source, ...] = ()
    reused: tuple[_Source, ...] = ()


def used_sources(cache: Cache) -> dict[str, int]:
    """Return how many of the newest recorded researches used each source, by URL in its canonical form. A record
    that cannot be read counts nothing.

    Raises:
        StoreError: the store cannot be read.
    """
    used = Counter[str]()
    for outline in cache.store.listings.timeline(RUNS, cache.tenant, limit=RUNS_READ):
        entry = cache.store.rows.get(RUNS, cache.tenant, outline.key)
        try:
            record = msgspec.json.decode(entry.payload if entry else b"{}", type=_Record)
        except msgspec.MsgspecError:
            continue
        cited = (each.url for each in record.sources if each.number)
        used.update({canonical_url(url) for url in (*cited, *(each.url for each in record.reused))})
    return dict(used)
