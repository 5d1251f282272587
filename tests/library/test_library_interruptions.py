"""Updates that fail, are killed or find damage: the next one completes them, and nothing is stored twice."""

import logging
from typing import Any

import pytest
from msgspec.structs import replace

from harness.cache import Cache
from harness.core.tables import EVIDENCE, LIBRARY, SEARCHES, library_mark
from harness.errors import StoreError
from harness.library import Library
from harness.ports import Stopped, Store
from tests.fakes import FakeClock, WordEmbedder, put_payload
from tests.library.documents import (
    POOL,
    TEXT,
    FailingEmbedder,
    Pages,
    document,
    held,
    put_searches,
    texts,
)


def broken_after(calls: int, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `rows.replace` fail once, after so many calls."""
    replace, left = store.rows.replace, [calls]

    def failing(*arguments: Any, **named: Any) -> int:
        left[0] -= 1
        if left[0] == -1:
            raise StoreError("the disk is full")
        return replace(*arguments, **named)

    monkeypatch.setattr(store.rows, "replace", failing)


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize("calls", [0, 1, 5])
def test_an_update_that_failed_is_completed(
    cache: Cache, store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, calls: int, *, new: bool
) -> None:
    """The same library or a new process adds the missing rows, each once."""
    put_searches(cache, clock, 6)
    broken_after(calls, store, monkeypatch)
    library = Library(store, WordEmbedder(), clock=clock)
    with pytest.raises(StoreError, match="the disk is full"):
        library.index.update()
    assert library.stats().total == calls
    library = Library(store, WordEmbedder(), clock=clock) if new else library
    assert library.index.update() == 6 - calls
    assert texts(library) == [f"Fact {number} of many." for number in range(6)]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_an_update_that_was_killed_is_completed(
    cache: Cache, store: Store, clock: FakeClock, error: BaseException
) -> None:
    """An update may end between two rows or within a page. A page is stored as a whole or not at all."""
    put_searches(cache, clock, 3)
    cache.pages.answer(POOL, Pages({POOL: "\n\n".join(f"# {n}\n\nPassage {n}." for n in range(20))}))
    embedder = FailingEmbedder(error, calls=4)  # type: ignore[arg-type]
    with pytest.raises(type(error)):
        Library(store, embedder, clock=clock).index.update()
    library = Library(store, WordEmbedder(), clock=clock)
    assert len(held(library)) == 3
    assert library.index.update() == 20
    assert len(held(library)) == 23
    assert library.stats().unembedded == 0


def test_work_that_is_stopped_is_continued(cache: Cache, library: Library, clock: FakeClock) -> None:
    """A progress that raises `Stopped` ends the update; what was added stays."""
    put_searches(cache, clock, 4)

    def stop(what: str, done: int, total: int) -> None:
        if done == 2:
            raise Stopped

    with pytest.raises(Stopped):
        library.index.update(stop)
    assert len(held(library)) == 2
    assert library.index.update() == 2


@pytest.mark.parametrize("payload", [b"null", b'"soon"', b"{", b"[1]", b""])
def test_a_damaged_mark_is_no_obstacle(
    cache: Cache, library: Library, store: Store, clock: FakeClock, payload: bytes
) -> None:
    """All rows are read again, and nothing is stored twice."""
    put_searches(cache, clock, 2)
    library.index.update()
    mark = store.rows.get(EVIDENCE, "default", library_mark(SEARCHES))
    assert mark is not None
    store.rows.put(EVIDENCE, "default", replace(mark, payload=payload))
    put_searches(cache, clock, 1, start=2)
    assert Library(store, WordEmbedder(), clock=clock).index.update() == 1
    assert len(held(library)) == 3


def test_damaged_passages_are_deleted_when_vectors_are_made(
    library: Library, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """A damaged row would otherwise be listed without a vector at each update."""
    library.index.add(document(TEXT), seconds=0)
    (row,) = store.listings.recent(LIBRARY, "default", 1)
    caplog.set_level(logging.ERROR)
    put_payload(store, LIBRARY, row)
    sql = f"UPDATE {LIBRARY} SET title = 'damaged'"
    store._connections.write(lambda connection: connection.execute(sql))  # type: ignore[attr-defined]
    library.index.add(document("Whole.", "file:///whole"), seconds=0)
    library.index.embed()
    assert [each.text for each in library.passages()] == ["Whole."]
    assert library.stats().total == 1
