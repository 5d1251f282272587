"""Deletion of passages, and their export and import."""

import pytest
from msgspec.structs import replace

from harness.cache import Cache
from harness.core.entries import Miss
from harness.core.freshness import DAY, HOUR
from harness.core.pages import Page
from harness.core.tables import EVIDENCE, LIBRARY, MOVED, PAGES, READ, SEARCHES, library_mark
from harness.errors import InvalidInput
from harness.knowledge import Knowledge
from harness.library import Library
from harness.ports import Store
from tests.fakes import FakeClock, MemoryStore, WordEmbedder
from tests.library.documents import POOL, TEXT, Pages, document, held, result, texts

OTHER = "https://a.org/other"


# --- forgetting a source


@pytest.mark.parametrize(
    "url",
    [POOL, f" {POOL}/ ", "HTTPS://Docs.EXAMPLE.org:443/pool?utm_source=x#size", "https://docs.example.org/p%6Fol"],
)
def test_a_forgotten_source_is_not_indexed_again(
    cache: Cache, library: Library, store: Store, clock: FakeClock, url: str
) -> None:
    """Passages, cached page and cached searches are deleted, for every spelling of the URL. No update of any process
    adds them again.
    """
    cache.searches.put("pools", [result(), result(OTHER, "Other.")])
    cache.searches.put("timeouts", [result(OTHER, "Thirty seconds.")])
    pages = Pages({POOL: f"{TEXT}\n\n# Size\n\nIt may grow."})
    cache.pages.answer(POOL, pages)
    library.index.update()
    assert [each.text for each in library.passages_of(url)] == ["It may grow.", TEXT]
    assert library.forget(url) == (2, 2)
    assert library.passages_of(url) == []
    assert isinstance(cache.searches.find("pools"), Miss)
    assert not isinstance(cache.searches.find("timeouts"), Miss)
    assert [store.listings.stats(table, "default", 0.0).total for table in (SEARCHES, PAGES)] == [1, 0]
    assert library.index.update() == Library(store, WordEmbedder(), clock=clock).index.update() == 0
    assert held(library) == [(OTHER, "Other."), (OTHER, "Thirty seconds.")]


@pytest.mark.parametrize("url", [POOL, OTHER])
def test_a_page_behind_a_redirect_is_forgotten(cache: Cache, library: Library, url: str) -> None:
    """By either address: the passages of both and the cached page go, and no update adds them again."""

    class Redirecting(Pages):
        def read(self, url: str, held: Page | None = None) -> Page:
            return replace(super().read(url, held), url=POOL)

    page = cache.pages.answer(OTHER, Redirecting({OTHER: f"{TEXT}\n\n# Size\n\nIt may grow."})).value
    library.index.add(document(page.text, page.url, source="page"))
    library.index.add(document("Unrelated.", "https://a.org/third"))
    library.index.update()
    passages, answers = library.forget(url)
    assert (passages, answers) == (2, 1)
    assert library.index.update() == 0
    assert texts(library) == ["Unrelated."]


def test_a_source_that_was_not_indexed_yet_is_forgotten(cache: Cache, library: Library) -> None:
    """Cached answers are deleted too, as the next update would index them."""
    cache.searches.put("pools", [result()])
    assert library.forget(POOL) == (0, 1)
    assert library.index.update() == 0


def test_a_forgotten_source_may_be_read_again(cache: Cache, library: Library, clock: FakeClock) -> None:
    """A later search adds it again."""
    cache.searches.put("pools", [result()])
    library.index.update()
    library.forget(POOL)
    clock.advance(1)
    cache.searches.put("pools", [result()])
    assert library.index.update() == 1


def test_an_unknown_source_is_forgotten_without_effect(cache: Cache, library: Library) -> None:
    """Nothing is deleted for an unknown URL or for any other text."""
    cache.searches.put("pools", [result()])
    library.index.add(document("Whole.", "notes of mine"))
    library.index.update()
    for url in (OTHER, "", "https://docs.example.org", "%", "https://[", "' OR 1=1 --", "\0"):
        assert library.forget(url) == (0, 0)
    assert len(held(library)) == 2
    assert library.forget("notes of mine") == (1, 0)


# --- clearing the cache


def test_clearing_the_cache_clears_the_library(cache: Cache, library: Library) -> None:
    """Passages and marks are deleted. Later results are added, earlier ones are not."""
    cache.searches.put("pools", [result()])
    library.index.update()
    library.index.add(document("Whole."))
    cache.maintenance.clear()
    assert (library.stats().total, library.index.update()) == (0, 0)
    cache.searches.put("timeouts", [result(OTHER, "Thirty seconds.")])
    assert library.index.update() == 1


def test_a_search_imported_after_clearing_is_indexed(cache: Cache, library: Library) -> None:
    """An export that is imported into the cleared cache is new to the library."""
    cache.searches.put("pools", [result()])
    library.index.update()
    exported = list(cache.maintenance.entries([SEARCHES]))
    cache.maintenance.clear()
    for table, entry in exported:
        assert cache.maintenance.restore(table, entry)
    assert library.index.update() == 1


# --- moves


@pytest.fixture
def elsewhere() -> MemoryStore:
    """Return another database."""
    return MemoryStore()


def moved(cache: Cache, tables: tuple[str, ...], target: Store) -> Cache:
    """Import rows into another database; return its cache."""
    there = Cache(target, clock=cache._context.clock)
    for table, entry in cache.maintenance.entries(tables):
        there.maintenance.restore(table, entry)
    return there


def test_passages_move_with_their_vectors(
    cache: Cache, library: Library, elsewhere: MemoryStore, clock: FakeClock
) -> None:
    """Imported passages are found without new embeddings, and an update adds nothing."""
    cache.searches.put("pools", [result()])
    library.index.update()
    library.index.add(document("Thirty seconds."))
    moved(cache, MOVED, elsewhere)
    embedder = WordEmbedder()
    there = Library(elsewhere, embedder, clock=clock)
    assert list(there.passages()) == list(library.passages())
    assert there.index.update() == 0
    assert embedder.texts == []
    assert there.search("pool connections") == library.search("pool connections")


def test_marks_do_not_move(cache: Cache, library: Library, knowledge: Knowledge, store: Store) -> None:
    """Marks are numbers of rows in one database, so they are not exported. Other evidence is."""
    cache.searches.put("pools", [result()])
    cache.pages.answer(POOL, Pages({POOL: TEXT}))
    knowledge.write("Pools", TEXT)
    library.index.update()
    marks = {library_mark(table) for table in READ}
    assert {row.key for row in store.listings.scan(EVIDENCE, "default")} == marks
    assert not [entry for table, entry in cache.maintenance.entries([EVIDENCE]) if entry.key in marks]
    (mark, *_) = store.listings.recent(EVIDENCE, "default", 1)
    with pytest.raises(InvalidInput, match="not imported"):
        cache.maintenance.restore(EVIDENCE, mark)


@pytest.mark.parametrize("table", READ)
def test_imported_answers_are_indexed_by_the_next_update(
    cache: Cache, library: Library, knowledge: Knowledge, elsewhere: MemoryStore, clock: FakeClock, table: str
) -> None:
    """Imported rows are added, although newer rows have been read."""
    cache.searches.put("pools", [result()])
    cache.pages.answer(POOL, Pages({POOL: TEXT}), ttl=DAY)
    knowledge.write("Pools", TEXT)
    clock.advance(HOUR)
    there = Library(elsewhere, WordEmbedder(), clock=clock)
    Cache(elsewhere, clock=clock).searches.put("timeouts", [result(OTHER, "Thirty seconds.")])
    Knowledge(elsewhere, WordEmbedder(), clock=clock).write("Retries", "Five retries.")
    Cache(elsewhere, clock=clock).pages.answer(OTHER, Pages({OTHER: "A page."}))
    assert there.index.update() == 3
    moved(cache, (table,), elsewhere)
    assert there.index.update() == 1
    assert texts(there) == sorted([TEXT, "A page.", "Five retries.", "Thirty seconds."])
    assert Library(elsewhere, WordEmbedder(), clock=clock).index.update() == 0


def test_a_newer_passage_is_not_replaced_by_an_import(
    cache: Cache, library: Library, elsewhere: MemoryStore, clock: FakeClock
) -> None:
    """The same text that was read later stays."""
    library.index.add(document(TEXT))
    there = Library(elsewhere, WordEmbedder(), clock=clock)
    there.index.add(document(TEXT, fetched_at=clock.now + 10))
    moved(cache, (LIBRARY,), elsewhere)
    assert [each.fetched_at for each in there.passages()] == [clock.now + 10]
