"""BM25 index of the newest memories of one collection, in process memory, which reads only new rows."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log

from harness.chat.strategies import MemoryCandidate
from harness.core.entries import Outline
from harness.core.search_words import indexed_text, search_terms, text_language
from harness.storage.forks import free_in_child

MAX_ROWS = 20_000
"""Largest number of indexed memories: the newest ones."""

MAX_TERMS = 64
"""Largest number of words of one text in a search: the first ones."""

SLACK = 100
"""Rows before the last one seen that are read again, because another process may have written late."""

_TABLE = (
    "CREATE VIRTUAL TABLE memories USING "
    """fts5(text, content='', tokenize="porter unicode61 categories 'L* M* N* Co'")"""
)
_MATCHES = "SELECT rowid, -bm25(memories) FROM memories WHERE memories MATCH ? ORDER BY bm25(memories) LIMIT ?"
_SET_BUFFER = "INSERT INTO memories (memories, rank) VALUES ('hashsize', ?)"
_BUFFER_BYTES = 32 * 2**20
"""Buffer of FTS5 before it writes: enough for all rows at once, which takes a third less time."""
_COUNT = "SELECT count(*) FROM memories WHERE memories MATCH ?"


class WordIndex:
    """Word index of a collection. `read(after, limit)` returns the outlines of its rows, newest first.

    The first search builds it; later ones add rows written since, by any process. Deleted rows may still be found:
    check them before use, or call `forget`. Safe for threads; a forked child builds its own.
    """

    def __init__(self, read: Callable[[int, int], Sequence[Outline]], *, max_rows: int = MAX_ROWS) -> None:
        self._read = read
        self._max_rows = max_rows
        self._index: _Index | None = None
        self._begin()

    def search(self, texts: Mapping[str, float], k: int) -> list[MemoryCandidate]:
        """Return up to `k` memories with words of these texts, best first. `texts` maps each text to the weight of its
        words. Their score `words` is a share of the total weight of the first text that has words.

        Raises:
            StoreError: the rows cannot be read.
        """
        terms = {text: search_terms(text)[:MAX_TERMS] for text in texts}  # none contains an operator of FTS5
        with self._fresh() as index:
            scores = dict[int, float]()
            for text, weight in texts.items():
                for row, score in index.matches(terms[text], k):
                    scores[row] = scores.get(row, 0.0) + weight * score
            worth = sum(map(index.worth, next(filter(None, terms.values()), ())))
            best = sorted(filter(index.is_current, scores), key=lambda row: (-scores[row], -row))[:k]
            return [MemoryCandidate(*index.rows[row], words=scores[row] / worth) for row in best]

    def before(self, key: str) -> str | None:
        """Return the memory right before this one in the same session or document, among those indexed so far."""
        with self._lock:
            return None if self._index is None else self._index.before.get(key)

    def forget(self) -> None:
        """Drop the index; the next search reads everything again."""
        with self._lock:
            if self._index is not None:
                self._index.close()
            self._index = None

    def _begin(self) -> None:
        self._lock = free_in_child(threading.RLock())
        self._process = os.getpid()

    @contextmanager
    def _fresh(self) -> Iterator["_Index"]:
        """Yield the index with all rows written so far."""
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
    """The index: rows by number, the newest number of each key, and the key before each key."""

    def __init__(self) -> None:
        self._words = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._words.execute(_TABLE)
        self._words.execute(_SET_BUFFER, (_BUFFER_BYTES,))
        self.rows = dict[int, tuple[str, float]]()
        self.before = dict[str, str]()
        self.newest = 0
        self._numbers = dict[str, int]()
        self._last = dict[tuple[object, ...], str]()

    def close(self) -> None:
        self._words.close()

    def add(self, outlines: Iterable[Outline]) -> None:
        """Add new rows; the new text of a rewritten row replaces its old text."""
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
        # in rising order; otherwise FTS5 flushes its buffer at every row
        texts = ((each.number, indexed_text(each.text, text_language(each.text))) for each in new)
        self._words.executemany(insert, sorted(texts))
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
