"""Results, pages and documents for tests of the library, and lists of its passages."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.cache import Cache
from harness.core.entries import Entry
from harness.core.freshness import NEVER
from harness.core.pages import Page
from harness.core.tables import SearchColumns
from harness.library import Library, ReadDocument
from harness.library.held_passages import SourceKind
from tests.fakes import FakeClock, WordEmbedder

POOL = "https://docs.example.org/pool"
TEXT = "A pool holds ten connections."
NOW = 1_700_000_000.0
"""The first moment of the fake clock."""
LONG = "# Pools\n\nA pool holds ten connections.\n\n# Timeouts\n\nA client waits for thirty seconds."


def result(url: str = POOL, body: str = TEXT, title: str = "Pools") -> dict[str, str]:
    """Return a search result."""
    return {"title": title, "href": url, "body": body}


def document(text: str, url: str = "file:///notes.md", **changes: Any) -> ReadDocument:
    """Return a file that was read at `NOW` and never expires; `changes` are other fields."""
    source: SourceKind = "file"
    fields = {"title": "", "source": source, "fetched_at": NOW, "expires_at": NEVER}
    return ReadDocument(url=url, text=text, **{**fields, **changes})


def search_row(payload: bytes, key: str = "k", *, created_at: float = NOW) -> Entry:
    """Return a row of searches, kept for an hour."""
    own = SearchColumns(10, "ddgs", "{}")
    return Entry(key, "how large is a pool", payload, created_at, created_at + 3_600, created_at, own)


def held(library: Library) -> list[tuple[str, str]]:
    """Return URL and text of every passage, sorted."""
    return sorted((each.url, each.text) for each in library.passages())


def texts(library: Library) -> list[str]:
    """Return the text of every passage, sorted."""
    return sorted(each.text for each in library.passages())


class Pages:
    """A page reader that has these texts, by URL."""

    name = "web"

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)

    def read(self, url: str, held: Page | None = None) -> Page:
        """See `PageReader.read`."""
        return Page(url=url, title="Connection pools", text=self.texts[url], media_type="text/html")


class FailingEmbedder(WordEmbedder):
    """An embedder that raises `error`, while it has one, after `calls` more calls."""

    def __init__(self, error: Exception, calls: int = 0) -> None:
        super().__init__()
        self.error: Exception | None = error
        self.calls = calls

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """See `Embedder.embed`."""
        if self.error is not None and self.calls <= 0:
            raise self.error
        self.calls -= 1
        return super().embed(texts)


def put_searches(cache: Cache, clock: FakeClock, count: int, start: int = 0) -> None:
    """Cache searches with one result each, a second apart."""
    for number in range(start, start + count):
        cache.searches.put(f"query {number}", [result(f"https://a.org/{number}", f"Fact {number} of many.")])
        clock.advance(1)
