"""Test doubles: a store without a database, an embedder without a model, a clock that only tests advance."""

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np

from harness.core.audits import Audit
from harness.core.entries import Entry, Neighbour, Outline, TableStats
from harness.core.freshness import is_expired
from harness.core.origins import EVERY
from harness.ports import NOTHING
from harness.storage.tables import TABLES

SWEEP_BATCH = 1_000
"""Largest number of rows that one put sweeps."""


class FakeClock:
    """A clock for `Cache(clock=…)`: calling it returns seconds since the epoch; `advance` changes them."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Advance the clock by `seconds`."""
        self.now += seconds


class MemoryStore:
    """The `Store` port with one dict per table: nothing outlives the object, and `close` does nothing. A lookup returns
    the same as a database: the declared columns of `own`, and no embedding.
    """

    def __init__(self) -> None:
        self._tables: dict[str, dict[tuple[str, str], Entry]] = {name: {} for name in TABLES}
        self._lock = threading.RLock()
        self._times: dict[tuple[str, str, str, str], int] = {}
        self._marks: dict[tuple[str, str, str], str] = {}
        self._audits: dict[tuple[str, tuple[str, str]], Audit] = {}
        self._turns: dict[str, threading.Lock] = {}
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._written = 0

    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Store.get`."""
        with self._lock:
            entry = self._tables[table].get((tenant, key))
        if entry is None:
            return None
        decisive = entry.own[: TABLES[table].decisive]
        return msgspec.structs.replace(entry, own=decisive, embedding=None, embedder=None, teaches=())

    def whole(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Store.whole`."""
        with self._lock:
            return self._tables[table].get((tenant, key))

    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """See `Store.put`."""
        with self._lock:
            if sweep_before is not None:
                self._sweep(table, tenant, sweep_before, SWEEP_BATCH)
            self._tables[table].pop((tenant, entry.key), None)  # a row that is written again is the newest
            self._tables[table][tenant, entry.key] = entry
            self._number(table, tenant, entry.key)

    def replace(self, table: str, tenant: str, entries: Sequence[Entry], *, instead_of: Mapping[str, Any]) -> int:
        """See `Store.replace`."""
        with self._lock:
            gone = [entry.key for entry in self.rows(table, tenant, instead_of)]
            self.delete(table, tenant, gone)
            for entry in entries:
                self.put(table, tenant, entry)
        return len(gone)

    def swap(self, table: str, tenant: str, entry: Entry, *, expecting: Mapping[str, Any] | None) -> bool:
        """See `Store.swap`."""
        with self._lock:
            if expecting is None:
                fits = self.get(table, tenant, entry.key) is None
            else:
                fits = any(each.key == entry.key for each in self.rows(table, tenant, expecting))
            if fits:
                self.put(table, tenant, entry)
            return fits

    def recent(self, table: str, tenant: str, limit: int, *, where: Mapping[str, Any] = NOTHING) -> list[Entry]:
        """See `Store.recent`."""
        entries = self.rows(table, tenant, where) if where else list(self.scan(table, tenant))
        return entries[::-1][: max(0, limit)]

    def rows(self, table: str, tenant: str, where: Mapping[str, Any]) -> list[Entry]:
        """See `Store.rows`."""
        declared = TABLES[table]
        declared.where(where)
        wanted = [(declared.own_names.index(name), value) for name, value in where.items()]
        with self._lock:
            return [entry for entry in self.scan(table, tenant) if all(entry.own[at] == value for at, value in wanted)]

    def outlines(
        self, table: str, tenant: str, where: Mapping[str, Any], *, after: int = 0, limit: int
    ) -> list[Outline]:
        """See `Store.outlines`."""
        with self._lock:
            found = [self._outline(table, tenant, each) for each in self.rows(table, tenant, where)]
        return [each for each in found if each.number > after][::-1][: max(0, limit)]

    def timeline(
        self,
        table: str,
        tenant: str,
        *,
        since: float = 0.0,
        limit: int,
        offset: int = 0,
        origins: Sequence[str] = EVERY,
    ) -> list[Outline]:
        """See `Store.timeline`."""
        with self._lock:
            found = [self._outline(table, tenant, each) for each in self.scan(table, tenant)]
        marks = self.origins(table, tenant, [each.key for each in found])
        found = [each for each in found if each.created_at >= since and marks.get(each.key, "user") in origins]
        newest = sorted(found, key=lambda each: (each.created_at, each.number), reverse=True)
        return newest[max(0, offset) :][: max(0, limit)]

    def scopes(self, table: str, tenant: str, embedder: str) -> list[tuple[str, ...]]:
        """See `Store.scopes`."""
        places = [TABLES[table].own_names.index(column) for column in TABLES[table].scope]
        held = [entry for entry in self.scan(table, tenant) if entry.embedder == embedder]
        return sorted({tuple(entry.own[place] for place in places) for entry in held})

    def nearest(
        self,
        table: str,
        tenant: str,
        scope: tuple[str, ...],
        vector: np.ndarray,
        *,
        embedder: str,
        k: int,
        now: float,
        at_least: float = 0.0,
    ) -> list[Neighbour]:
        """See `Store.nearest`."""
        declared = TABLES[table]
        places = [declared.own_names.index(column) for column in declared.scope]
        found = [
            Neighbour(entry, min(1.0, max(0.0, float(np.frombuffer(entry.embedding, np.float32) @ vector))))
            for entry in self.scan(table, tenant)
            if entry.embedding
            and entry.embedder == embedder
            and len(entry.embedding) == 4 * len(vector)
            and not is_expired(entry.expires_at, now, entry.created_at)
            and tuple(entry.own[place] for place in places) == scope
        ]
        found = [each for each in found if each.similarity >= at_least]
        return sorted(found, key=lambda each: (-each.similarity, each.entry.key))[:k]

    def scan(self, table: str, tenant: str) -> Iterator[Entry]:
        """See `Store.scan`."""
        with self._lock:
            entries = [entry for (owner, _), entry in self._tables[table].items() if owner == tenant]
        yield from (msgspec.structs.replace(entry, teaches=()) for entry in entries)

    def unembedded(self, table: str, tenant: str, embedder: str, limit: int) -> list[tuple[str, str]]:
        """See `Store.unembedded`."""
        return [(e.key, e.text) for e in self.scan(table, tenant) if e.embedder != embedder][:limit]

    def embed(self, table: str, tenant: str, key: str, embedding: bytes, embedder: str) -> None:
        """See `Store.embed`."""
        with self._lock:
            rows = self._tables[table]
            if entry := rows.pop((tenant, key), None):
                rows[tenant, key] = msgspec.structs.replace(entry, embedding=embedding, embedder=embedder)
                self._number(table, tenant, key)

    def delete(self, table: str, tenant: str, keys: Sequence[str], *, expired_at: float | None = None) -> int:
        """See `Store.delete`."""
        with self._lock:
            rows = self._tables[table]
            gone = {key for key in keys if (entry := rows.get((tenant, key))) and _may_go(entry, expired_at)}
            for key in gone:
                del rows[tenant, key]
            return len(gone)

    def evict(self, table: str, tenant: str, scope: tuple[str, ...], keep: int) -> int:
        """See `Store.evict`."""
        with self._lock:
            entries = self.rows(table, tenant, dict(zip(TABLES[table].scope, scope, strict=True)))
            by_use = sorted(entries, key=lambda entry: entry.last_used_at)  # of those used at once, the older first
            gone = by_use[: max(0, len(by_use) - max(0, keep))]
            return self.delete(table, tenant, [entry.key for entry in gone])

    def meanings(self, tenant: str, shorts: Sequence[str]) -> list[tuple[str, str]]:
        """See `Store.meanings`."""
        wanted = {short.casefold() for short in shorts}
        with self._lock:
            entries = [e for rows in self._tables.values() for (owner, _), e in rows.items() if owner == tenant]
        return [pair for entry in entries for pair in entry.teaches if pair[0].casefold() in wanted]

    def count(self, tenant: str, day: str, times: Mapping[str, int], *, origin: str = "user") -> None:
        """See `Store.count`."""
        with self._lock:
            for what, number in times.items():
                place = (tenant, day, what, origin)
                self._times[place] = self._times.get(place, 0) + number

    def counted(self, tenant: str, origins: Sequence[str] = EVERY) -> dict[str, dict[str, int]]:
        """See `Store.counted`."""
        told: dict[str, dict[str, int]] = {}
        with self._lock:
            for owner, day, what, origin in sorted(self._times):
                if owner == tenant and origin in origins:
                    times = told.setdefault(day, {})
                    times[what] = times.get(what, 0) + self._times[owner, day, what, origin]
        return told

    def mark(self, table: str, tenant: str, key: str, origin: str) -> None:
        """See `Store.mark`."""
        with self._lock:
            self._marks[table, tenant, key] = origin

    def origins(self, table: str, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """See `Store.origins`."""
        with self._lock:
            held = {key: self._marks.get((table, tenant, key), "user") for key in keys}
            there = self._tables[table]
        return {key: origin for key, origin in held.items() if origin != "user" and (tenant, key) in there}

    def put_audit(self, tenant: str, audit: Audit) -> bool:
        """See `Store.put_audit`."""
        with self._lock:
            held = self._audits.get((tenant, audit.keys))
            kept = held is None or (held.agreed and not (audit.agreed and audit.created_at <= held.created_at))
            if kept:
                self._audits[tenant, audit.keys] = audit
            return kept

    def audits(self, tenant: str) -> list[Audit]:
        """See `Store.audits`."""
        with self._lock:
            mine = [audit for (owner, _), audit in self._audits.items() if owner == tenant]
        return sorted(mine, key=lambda audit: (audit.created_at, audit.keys))

    def audited(self, tenant: str) -> tuple[int, int]:
        """See `Store.audited`."""
        agreed = [audit.agreed for audit in self.audits(tenant)]
        return agreed.count(True), agreed.count(False)

    def disagreeing(self, tenant: str, key: str) -> frozenset[str]:
        """See `Store.disagreeing`."""
        pairs = [audit.keys for audit in self.audits(tenant) if not audit.agreed]
        return frozenset(one if key == other else other for one, other in pairs if key in {one, other})

    def clear_audits(self, tenant: str) -> int:
        """See `Store.clear_audits`."""
        with self._lock:
            gone = [place for place in self._audits if place[0] == tenant]
            for place in gone:
                del self._audits[place]
        return len(gone)

    def expiring(self, table: str, tenant: str, moments: Sequence[float]) -> list[int]:
        """See `Store.expiring`."""
        entries = list(self.scan(table, tenant))
        return [sum(is_expired(entry.expires_at, moment) for entry in entries) for moment in moments]

    @contextmanager
    def turn(self, name: str, wait: float) -> Iterator[bool]:
        """See `Store.turn`; there is only one process."""
        with self._lock:
            lock = self._turns.setdefault(name, threading.Lock())
        got = lock.acquire(timeout=wait)
        try:
            yield got
        finally:
            if got:
                lock.release()

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """See `Store.touch`."""
        with self._lock:
            rows = self._tables[table]
            if entry := rows.get((tenant, key)):
                rows[tenant, key] = msgspec.structs.replace(entry, last_used_at=now)

    def sweep(self, table: str, tenant: str, before: float) -> int:
        """See `Store.sweep`."""
        with self._lock:
            return self._sweep(table, tenant, before, None)

    def clear(self, table: str, tenant: str) -> int:
        """See `Store.clear`."""
        with self._lock:
            return self.delete(table, tenant, [entry.key for entry in self.scan(table, tenant)])

    def tenants(self) -> list[str]:
        """See `Store.tenants`."""
        with self._lock:
            return sorted({tenant for rows in self._tables.values() for tenant, _ in rows})

    def forget(self, tenant: str, user: str | None = None) -> int:
        """See `Store.forget`."""
        with self._lock:
            if user is None:
                self._times = {place: times for place, times in self._times.items() if place[0] != tenant}
                return sum(self.clear(table, tenant) for table in self._tables) + self.clear_audits(tenant)
            for entry in self.rows("tool_cache", tenant, {"created_by": user}):
                self._tables["tool_cache"][tenant, entry.key] = msgspec.structs.replace(
                    entry, own=(*entry.own[:-1], None)
                )
            tokens = self.rows("access_tokens", tenant, {"user_id": user})
            return self.delete("access_tokens", tenant, [entry.key for entry in tokens])

    def stats(self, table: str, tenant: str, now: float, embedder: str = "") -> TableStats:
        """See `Store.stats`."""
        entries = list(self.scan(table, tenant))
        expired = sum(is_expired(entry.expires_at, now, entry.created_at) for entry in entries)
        created = [entry.created_at for entry in entries]
        return TableStats(
            table,
            live=len(entries) - expired,
            expired=expired,
            total=len(entries),
            oldest=min(created, default=None),
            newest=max(created, default=None),
            tail=sum(entry.embedding is not None for entry in entries),
            unembedded=sum(
                entry.embedder != embedder and not is_expired(entry.expires_at, now, entry.created_at)
                for entry in entries
                if embedder
            ),
        )

    def verify(self, *, repair: bool) -> list[str]:
        """See `Store.verify`."""
        return []

    def unchecked(self) -> int:
        """See `Store.unchecked`."""
        return 0

    def reindex(self) -> int:
        """See `Store.reindex`."""
        return 0

    def size(self) -> int:
        """Return the size of the tables in bytes; nothing is on a disk."""
        with self._lock:
            entries = [entry for rows in self._tables.values() for entry in rows.values()]
        return sum(len(f"{entry.key}{entry.text}".encode()) + len(entry.payload) for entry in entries)

    def close(self) -> None:
        """See `Store.close`."""

    def _outline(self, table: str, tenant: str, entry: Entry) -> Outline:
        number = self._numbers[table, tenant, entry.key]
        return Outline(number, entry.key, entry.text, entry.created_at, entry.expires_at, entry.own)

    def _number(self, table: str, tenant: str, key: str) -> None:
        self._written += 1
        self._numbers[table, tenant, key] = self._written

    def _sweep(self, table: str, tenant: str, before: float, limit: int | None) -> int:
        rows = self._tables[table]
        mine = [(place, entry) for place, entry in rows.items() if place[0] == tenant]
        expired = [place for place, entry in mine if is_expired(entry.expires_at, before)][:limit]
        for place in expired:
            del rows[place]
        return len(expired)


def _may_go(entry: Entry, expired_at: float | None) -> bool:
    return expired_at is None or is_expired(entry.expires_at, expired_at)


class WordEmbedder:
    """The `Embedder` port without a model: a text is the sum of its words, each with a fixed direction; a word is a
    token. `texts` are all embedded texts, in order.
    """

    id = "words-64"
    dimension = 64

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """See `Embedder.embed`."""
        self.texts.extend(texts)
        return np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), self.dimension)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`."""
        return [len(text.split()) for text in texts]

    def _vector(self, text: str) -> np.ndarray:
        total = np.zeros(self.dimension)
        for word in text.lower().split() or [""]:
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            total += np.random.default_rng(seed).standard_normal(self.dimension)
        return total / np.linalg.norm(total)
