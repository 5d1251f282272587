"""Vectors of passages, and the size of a library: both are limited, and updates always add all passages."""

import pytest

from harness.cache import Cache
from harness.core.tables import LIBRARY
from harness.errors import EmbeddingError
from harness.library import Library, LibraryPolicy, library_index
from harness.library.library_index import stored_bytes
from harness.ports import Store
from tests.fakes import FakeClock, WordEmbedder
from tests.library.documents import (
    POOL,
    TEXT,
    FailingEmbedder,
    Pages,
    document,
    put_searches,
    result,
)


def test_a_broken_embedder_delays_vectors_only(cache: Cache, store: Store, clock: FakeClock) -> None:
    """Passages are found by their words until the next update makes the vectors."""
    embedder = FailingEmbedder(EmbeddingError("the model is missing"))
    library = Library(store, embedder, clock=clock)
    cache.searches.put("pools", [result()])
    assert library.index.update() == 1
    assert library.stats().unembedded == 1
    (found,) = library.search("pool connections")
    assert (found.passage.text, found.by_words, found.by_meaning, found.similarity) == (TEXT, 1, None, None)
    embedder.error = None
    assert library.index.update() == 0
    assert library.stats().unembedded == 0
    (found,) = library.search("pool connections")
    assert (found.by_words, found.by_meaning) == (1, 1)


def test_the_time_for_vectors_is_limited(cache: Cache, library: Library, clock: FakeClock) -> None:
    """An update without time makes no vectors. `embed` makes all and shows its progress; a second one makes none."""
    put_searches(cache, clock, 20)
    assert library.index.update(seconds=0) == 20
    assert library.stats().unembedded == 20
    shown: list[tuple[str, int, int]] = []
    assert library.index.embed(lambda *step: shown.append(step)) == 20
    assert shown == [("embedding passages", 8, 20), ("embedding passages", 16, 20), ("embedding passages", 20, 20)]
    assert library.stats().unembedded == 0
    assert library.index.embed() == 0


def test_embed_reports_a_broken_embedder(store: Store, clock: FakeClock) -> None:
    """`embed` raises the error that an update only logs."""
    library = Library(store, FailingEmbedder(EmbeddingError("the model is missing")), clock=clock)
    library.index.add(document(TEXT))
    with pytest.raises(EmbeddingError, match="the model is missing"):
        library.index.embed()


def test_another_embedder_makes_its_own_vectors(library: Library, store: Store, clock: FakeClock) -> None:
    """Vectors of the earlier embedder are replaced."""
    library.index.add(document(TEXT))
    other = WordEmbedder()
    other.id = "other-64"
    changed = Library(store, other, clock=clock)
    assert changed.stats().unembedded == 1
    changed.index.update()
    assert changed.stats().unembedded == 0
    assert other.texts == [TEXT]


def test_title_heading_and_text_are_embedded(cache: Cache, library: Library, embedder: WordEmbedder) -> None:
    """Vectors made at once and later are of the same text."""
    cache.pages.answer(POOL, Pages({POOL: "# Size\n\nTen."}))
    library.index.update(seconds=0)
    library.index.embed()
    library.index.add(document("# Size\n\nTwenty.", title="Notes"))
    assert embedder.texts == ["Connection pools\nSize\nTen.", "Notes\nSize\nTwenty."]


# --- size


def test_the_most_recently_used_passages_are_kept(store: Store, clock: FakeClock, embedder: WordEmbedder) -> None:
    """Above the size limit, the oldest unused passages are deleted first."""
    library = Library(store, embedder, policy=LibraryPolicy(max_mb=10 * 1_000 / 2**20), clock=clock)
    for number in range(30):
        library.index.add(document(f"Fact {number} of many.", f"file:///{number}", fetched_at=clock.now))
        clock.advance(1)
    used = [each.key for each in library.passages() if each.url in {"file:///0", "file:///7"}]
    library.touch(used)
    assert library.index.evict() > 0
    rows = store.listings.recent(LIBRARY, "default", 100)
    assert 5 < len(rows) < 15
    assert sum(map(stored_bytes, rows)) <= 10_000
    assert {each.key for each in rows} >= set(used)
    newest = {f"file:///{30 - number}" for number in range(1, len(rows) - 1)}
    assert {each.own.url for each in rows} == newest | {"file:///0", "file:///7"}
    assert library.index.evict() == 0


def test_the_size_is_checked_while_passages_are_added(
    cache: Cache, store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long update does not fill the disk first."""
    monkeypatch.setattr(library_index, "CHECK_SIZE_AFTER", 10)
    library = Library(store, WordEmbedder(), policy=LibraryPolicy(max_mb=10 * 1_000 / 2**20), clock=clock)
    put_searches(cache, clock, 50)
    assert library.index.update() == 50
    assert 5 < library.stats().total < 25
