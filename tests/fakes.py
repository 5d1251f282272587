"""Fakes for tests: a store in memory, an embedder and a reader without a model, a clock moved by hand."""

import hashlib
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from msgspec.structs import replace

from harness.core.entries import Entry
from harness.core.reading_calibration import ReadingCalibration
from harness.core.support import SupportProbabilities
from harness.storage.sqlite.memory import MemoryStore
from harness.storage.tables import TABLES

__all__ = ["FakeClock", "MemoryStore", "WordEmbedder", "WordReader", "put_payload", "refusing"]


def refusing(error: Exception, *methods: str, store: Any = None) -> Any:
    """Return a store (one in memory, if none is given) whose `methods`, such as `rows.put`, raise `error`."""
    store = MemoryStore() if store is None else store

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise error

    for method in methods:
        part, name = method.split(".")
        setattr(getattr(store, part), name, refuse)
    return store


def put_payload(store: Any, table: str, entry: Entry) -> None:
    """Put a row of the tenant `default` whose payload may be no text, which only damage writes, on SQLite."""
    try:
        entry.payload.decode()
    except UnicodeDecodeError:
        store.rows.put(table, "default", replace(entry, payload=b""))
        sql = f"UPDATE {table} SET {TABLES[table].payload} = CAST(? AS TEXT), checksum = NULL WHERE key = ?"
        store._connections.write(lambda connection: connection.execute(sql, (entry.payload, entry.key)))
    else:
        store.rows.put(table, "default", entry)


class FakeClock:
    """A clock for `Cache(clock=…)`: call it for the time, in seconds since the epoch; `advance` it by hand."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let `seconds` go by."""
        self.now += seconds


class WordEmbedder:
    """The `Embedder` port without a model: a text is the sum of its words, one fixed direction each; a word is a token.

    `texts` are all that were embedded, in order.
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


class WordReader:
    """A reader for which a text answers a question, or supports a sentence, by the share of its words that it has."""

    def __init__(self, least: float = 0.5) -> None:
        self.id = "words"
        self.calibration = ReadingCalibration(
            "words", WordEmbedder.id, least, least, least, (1.0, 3.0, -1.5), "nothing"
        )
        self.read: list[str] = []
        self.asked: list[str] = []

    def answers(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Reader.answers`."""
        self.asked.append(question)
        self.read += texts
        wanted = set(question.lower().split())
        return [len(wanted & set(text.lower().replace(".", "").split())) / len(wanted) for text in texts]

    def supports(self, sentence: str, quotations: Sequence[str]) -> list[SupportProbabilities]:
        """See `Reader.supports`."""
        return [SupportProbabilities(share, 0.0, 1 - share) for share in self.answers(sentence, quotations)]

    def same_answer(self, question: str, others: Sequence[str]) -> list[float]:
        """See `Reader.same_answer`."""
        return self.answers(question, others)
