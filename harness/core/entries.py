"""Entries of the cache, and outcomes of a lookup."""

from typing import Any, Generic, Literal, TypeAlias, TypeVar, final

from msgspec import Struct

T = TypeVar("T")

Found: TypeAlias = Literal["exact", "semantic", "no results", "library"]


# `Struct` rather than a dataclass: as immutable, and made in 0.1 µs instead of 1.3 µs on the path of every hit.
# `gc=False`: none of these values can be part of a cycle, so the collector need not look at them.
class Entry(Struct, frozen=True, gc=False):
    """One row of a cache table, as the store keeps it.

    `text` is the query or task, `payload` the answer in UTF-8. Times are seconds since the epoch.
    `own` holds the columns that only this table has: a tuple declared in `harness.core.tables`. A lookup reads neither
    `embedding` (float32, little-endian) nor `embedder`.
    `teaches` are the abbreviations that this entry defines, as (short, meaning); they are kept, and go, with it.
    """

    key: str
    text: str
    payload: bytes
    created_at: float
    expires_at: float
    last_used_at: float
    own: Any
    embedding: bytes | None = None
    embedder: str | None = None
    teaches: tuple[tuple[str, str], ...] = ()


class Outline(Struct, frozen=True, gc=False):
    """A row without its payload and its embedding. `number` grows with every row written in its table, and is never
    given twice. Times are seconds since the epoch.
    """

    number: int
    key: str
    text: str
    created_at: float
    expires_at: float
    own: Any


class Neighbour(Struct, frozen=True, gc=False):
    """An entry near a vector, and the similarity (0..1: cosine, negative ones count as 0) of its embedding."""

    entry: Entry
    similarity: float


class Hit(Struct, Generic[T], frozen=True, gc=False):
    """A fresh answer: how it was found, the query it was stored under, similarity (0..1) and age (seconds).

    `no results` is an answer, too: the engine returned none a while ago, and `value` is empty. `library` is one from
    passages that were read for other questions.
    `probability` (0..1) is how sure a verifier was that the two queries ask the same, if one was asked.
    `key`, `expires_at` and `payload` (the bytes that `value` was decoded from) are those of the row; `origin` names the
    engine, reader, model or user that the answer came from. `reason` says why a query with another meaning answers: by
    what its results say.
    """

    value: T
    found: Found
    query: str
    similarity: float
    age: float
    probability: float | None = None
    key: str = ""
    expires_at: float = 0.0
    origin: str | None = None
    payload: bytes = b""
    reason: str = ""


class Stale(Struct, Generic[T], frozen=True, gc=False):
    """An answer that exists but expired `expired_for` seconds ago; see `Hit`. Serving it is the caller's decision."""

    value: T
    query: str
    age: float
    expired_for: float
    key: str = ""
    expires_at: float = 0.0
    origin: str | None = None
    payload: bytes = b""


@final
class Miss(Struct, frozen=True, gc=False):
    """No usable answer for `key`; `reason` says why in a few words (`unknown`, `fewer results than asked for`, …)."""

    reason: str
    key: str = ""


class TableStats(Struct, frozen=True):
    """Counts of one cache table. Times are seconds since the epoch, `None` when it is empty."""

    table: str
    live: int
    expired: int
    total: int
    oldest: float | None
    newest: float | None
    indexed: int = 0
    """Vectors in the index."""
    tail: int = 0
    """Vectors that only the rows hold so far."""
    unembedded: int = 0
    """Live rows without a vector of the present embedder: only an exact lookup finds them."""
