"""BM25 over the newest memories of one collection: an index in this process's memory, which reads only what is new."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log

from msgspec import Struct

from harness.core.entries import Outline
from harness.core.text import content_words, words
from harness.storage.forks import free_in_child

MAX_ROWS = 20_000
"""Memories that are indexed, the newest ones."""

MAX_TERMS = 64
"""Words of one text that are looked for, the first ones."""

SLACK = 100
"""Rows before the last one seen that are looked at again: what another process was writing may have come late."""

_TABLE = "CREATE VIRTUAL TABLE memories USING fts5(text, content='', tokenize='porter unicode61')"
_MATCHES = "SELECT rowid, -bm25(memories) FROM memories WHERE memories MATCH ? ORDER BY bm25(memories) LIMIT ?"
_HELD = "INSERT INTO memories (memories, rank) VALUES ('hashsize', ?)"
_HELD_BYTES = 32 * 2**20
"""What FTS5 collects before it writes: enough for all rows at once, which takes a third less time."""
_COUNT = "SELECT count(*) FROM memories WHERE memories MATCH ?"


class Worded(Struct, frozen=True):
    """A memory that was found: its key, its time (seconds since the epoch), and its score, a share of what the words
    asked for are worth together; a memory that has all of them once scores about 1.
    """

    key: str
    created_at: float
    score: float


class WordIndex:
    """What of a collection has which words. `read(after, limit)` returns the outlines of its rows, the newest first.

    Made at the first look-up; each later one adds what was written since, by any process. What has been deleted may
    still be found: look before you use it, or call `forget`. Safe for threads; a forked child makes its own.
    """

    def __init__(self, read: Callable[[int, int], Sequence[Outline]], *, max_rows: int = MAX_ROWS) -> None:
        self._read = read
        self._max_rows = max_rows
        self._index: _Index | None = None
        self._begin()

    def search(self, texts: Mapping[str, float], k: int) -> list[Worded]:
        """Return up to `k` memories that have words of these texts, best first. A text's words weigh as told; what they
        are worth is what those of the first text are that has any.

        Raises:
            StoreError: the rows cannot be read.
        """
        terms = {text: _terms(text) for text in texts}
        with self._fresh() as index:
            scores = dict[int, float]()
            for text, weight in texts.items():
                for row, score in index.matches(terms[text], k):
                    scores[row] = scores.get(row, 0.0) + weight * score
            worth = sum(map(index.worth, next(filter(None, terms.values()), ())))
            best = sorted(filter(index.is_current, scores), key=lambda row: (-scores[row], -row))[:k]
            return [Worded(*index.rows[row], scores[row] / worth) for row in best]

    def before(self, key: str) -> str | None:
        """Return what came right before this memory, in the same session or document, among those indexed so far."""
        with self._lock:
            return None if self._index is None else self._index.before.get(key)

    def forget(self) -> None:
        """Let go of the index; the next look-up reads everything anew."""
        with self._lock:
            if self._index is not None:
                self._index.close()
            self._index = None

    def _begin(self) -> None:
        self._lock = free_in_child(threading.RLock())
        self._process = os.getpid()

    @contextmanager
    def _fresh(self) -> Iterator["_Index"]:
        """Give the index with all that is written so far."""
        if self._process != os.getpid():  # a thread of the parent may hold its lock
            self._index = None
            self._begin()
        with self._lock:
            if self._index is not None and len(self._index.rows) > 2 * self._max_rows:
                self.forget()
            if self._index is None:
                self._index = _Index()
            self._index.add(self._read(max(0, self._index.newest - SLACK), self._max_rows))
            yield self._index


class _Index:
    """The index itself: rows by their numbers, the newest number of each key, and what came before each key."""

    def __init__(self) -> None:
        self._words = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._words.execute(_TABLE)
        self._words.execute(_HELD, (_HELD_BYTES,))
        self.rows = dict[int, tuple[str, float]]()
        self.before = dict[str, str]()
        self.newest = 0
        self._numbers = dict[str, int]()
        self._last = dict[tuple[object, ...], str]()

    def close(self) -> None:
        self._words.close()

    def add(self, outlines: Iterable[Outline]) -> None:
        """Add what is not there yet; of a row that was written again the old text no longer counts."""
        new = [each for each in outlines if self._numbers.get(each.key) != each.number]
        for each in sorted(new, key=lambda each: (each.created_at, each.own.position, each.number)):
            if each.key not in self._numbers:
                group = (each.own.kind, each.own.thread_id, each.own.session_id)
                if group in self._last:
                    self.before[each.key] = self._last[group]
                self._last[group] = each.key
            self._numbers[each.key] = each.number
            self.rows[each.number] = (each.key, each.created_at)
            self.newest = max(self.newest, each.number)
        self._words.execute("BEGIN")
        insert = "INSERT INTO memories (rowid, text) VALUES (?, ?)"
        # in rising order, or FTS5 writes out what it holds at every step
        self._words.executemany(insert, sorted((each.number, each.text) for each in new))
        self._words.execute("COMMIT")

    def is_current(self, row: int) -> bool:
        return self._numbers[self.rows[row][0]] == row

    def matches(self, terms: Sequence[str], k: int) -> list[tuple[int, float]]:
        """Return rows with any of the terms and their BM25 scores, best first."""
        expression = " OR ".join(f'"{term}"' for term in terms)
        return self._words.execute(_MATCHES, (expression, k)).fetchall() if terms else []

    def worth(self, term: str) -> float:
        """Return the term's inverse document frequency, as FTS5 computes it."""
        having: int = self._words.execute(_COUNT, (f'"{term}"',)).fetchone()[0]
        return max(1e-6, log((len(self.rows) - having + 0.5) / (having + 0.5)))


def _terms(text: str) -> list[str]:
    """Return the words to look for: those that carry meaning, else all; none has a character that is an operator."""
    return list(dict.fromkeys(content_words(text) or words(text)))[:MAX_TERMS]
