"""Threads and processes that fill one library at once, and one that is killed."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.cache import Cache
from harness.core.tables import LIBRARY
from harness.library import Library
from harness.storage.sqlite.store import SqliteStore
from tests.fakes import FakeClock, WordEmbedder
from tests.library import children as library_children
from tests.library.documents import NOW, POOL, Pages, document, result, texts
from tests.storage import children
from tests.storage.scenarios import ROOT

ROWS = 40
FACTS = sorted(f"Fact {number} of many." for number in range(ROWS))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a database with some cached searches and no passages."""
    path = tmp_path / "harness.db"
    store = SqliteStore(path)
    fill(Cache(store, clock=FakeClock()))
    store.close()
    return path


def fill(cache: Cache) -> None:
    """Cache a search for each fact."""
    for number in range(ROWS):
        cache.searches.put(f"query {number}", [result(f"https://a.org/{number}", f"Fact {number} of many.")])


def test_two_threads_update_at_once(path: Path) -> None:
    """Two libraries or a shared one: every passage is stored once, and no thread fails."""
    store, clock = SqliteStore(path), FakeClock(NOW + 600)
    shared = Library(store, WordEmbedder(), clock=clock)
    libraries = [shared, shared, Library(store, WordEmbedder(), clock=clock)]
    together = threading.Barrier(len(libraries))
    added: list[int] = []

    def update(library: Library) -> None:
        together.wait(60)
        added.append(library.index.update())

    threads = [threading.Thread(target=update, args=(each,)) for each in libraries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(added) == [0, 0, ROWS]
    assert texts(shared) == FACTS
    assert shared.stats().unembedded == 0
    store.close()


def test_documents_are_added_while_others_search(path: Path) -> None:
    """No search fails, each finds whole passages, and the last one finds all."""
    store, clock = SqliteStore(path), FakeClock(NOW + 600)
    ended = threading.Event()
    failed: list[Exception] = []

    def search() -> None:
        library = Library(store, WordEmbedder(), clock=clock)
        try:
            while not ended.is_set():
                assert all(each.passage.text for each in library.search("fact of many", 100))
        except Exception as error:  # noqa: BLE001 - reported below
            failed.append(error)

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    library = Library(store, WordEmbedder(), clock=clock)
    for number in range(20):
        library.index.add(document(f"Added fact {number}.", f"file:///{number}"))
        if number % 5 == 0:
            library.forget(f"file:///{number}")
    ended.set()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len([each for each in library.search("added", 100) if each.by_words]) == 16
    store.close()


@pytest.mark.slow
def test_two_processes_update_at_once(path: Path) -> None:
    """Every passage is added by one of them, and both find all."""
    pool = children.start(2)
    outcomes = pool.map(library_children.update_together, [str(path)] * 2, chunksize=1)
    pool.close()
    pool.join()
    assert sum(added for added, _ in outcomes) == ROWS
    assert [found for _, found in outcomes] == [ROWS, ROWS]
    store = SqliteStore(path)
    assert store.listings.stats(LIBRARY, "default", NOW).total == ROWS
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 7])
def test_a_killed_update_is_completed(path: Path, steps: int) -> None:
    """Stored passages stay, the lock is free, and the next process adds the rest."""
    command = [sys.executable, "-m", "tests.library.children", str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(steps):
            assert process.stdout.readline() == "embedding\n"
        process.kill()
    store = SqliteStore(path)
    library = Library(store, WordEmbedder(), clock=FakeClock(NOW + 600))
    before = library.stats().total
    assert before in {steps - 1, steps}
    assert library.index.update() == ROWS - before
    assert texts(library) == FACTS
    store.close()


def test_a_page_is_replaced_as_a_whole(path: Path) -> None:
    """A reader sees all old or all new passages of a page, never a mixture."""
    store, clock = SqliteStore(path), FakeClock(NOW + 600)
    versions = ["\n\n".join(f"# {n}\n\nVersion {v}, part {n}." for n in range(8)) for v in range(10)]
    library = Library(store, WordEmbedder(), clock=clock)
    cache = Cache(store, clock=clock).refreshing()
    cache.pages.answer(POOL, Pages({POOL: versions[0]}))
    library.index.update()
    ended = threading.Event()
    seen: list[list[str]] = []

    def look() -> None:
        while not ended.is_set():
            seen.append([each.text for each in Library(store, WordEmbedder(), clock=clock).passages_of(POOL)])

    thread = threading.Thread(target=look)
    thread.start()
    for version in versions[1:]:
        clock.advance(1)
        cache.pages.answer(POOL, Pages({POOL: version}))
        library.index.update()
    ended.set()
    thread.join()
    whole = [[f"Version {v}, part {n}." for n in range(8)] for v in range(10)]
    assert seen
    assert all(each in whole for each in seen)
    assert [each.text for each in library.passages_of(POOL)] == whole[-1]
    store.close()
