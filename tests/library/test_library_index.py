"""Updates of a library: the passages they add, each once."""

from typing import Any

import orjson
import pytest

from harness.cache import Cache
from harness.core.entries import Entry
from harness.core.freshness import DAY, HOUR
from harness.core.tables import EVIDENCE, PAGES, SEARCHES, PageColumns
from harness.knowledge import Knowledge
from harness.library import Library, LibraryPolicy, library_index
from harness.library.held_passages import documents_in
from harness.ports import Store
from tests.fakes import FakeClock, WordEmbedder
from tests.library.documents import (
    LONG,
    NOW,
    POOL,
    TEXT,
    Pages,
    document,
    held,
    put_searches,
    result,
    texts,
)

# --- sources of passages


def test_the_excerpts_of_a_search_are_added(cache: Cache, library: Library, clock: FakeClock) -> None:
    """Excerpts have title, canonical URL, engine, query and times. Results without text or URL are left out."""
    url = "HTTPS://Docs.Example.org:443/pool/?utm_source=news#size"
    results = [result(url), result(body=""), result(url="", body="Text of nowhere."), result("https://a.org", "Other.")]
    cache.searches.put("how large is a pool", results, ttl=HOUR)
    assert library.index.update() == 2
    pool, other = sorted(library.passages(), key=lambda each: each.text)
    assert (pool.text, pool.url, pool.title, pool.section, pool.position) == (TEXT, POOL, "Pools", "", 0)
    assert (pool.source, pool.engine, pool.found_by) == ("snippet", "ddgs", "how large is a pool")
    assert (pool.fetched_at, pool.expires_at) == (clock.now, clock.now + 7 * DAY)
    assert (other.text, other.url) == ("Other.", "https://a.org")


def test_passages_of_a_pdf_have_their_pages(cache: Cache, library: Library) -> None:
    """Each from the page of its first word on; a damaged list of pages is none."""
    text = f"# Pools\n\n{TEXT}\n\nIt may hold twenty.\n\n# Timeouts\n\nA client waits for thirty seconds."
    starts = ((9, 3), (text.index("twenty"), 4), (text.index("thirty"), 5))
    library.index.add(document(text, POOL, source="page", page_starts=starts))
    first, second = library.passages_of(POOL)
    assert first.page_starts == ((0, 3), (first.text.index("twenty"), 4))
    assert second.page_starts == ((0, 4), (second.text.index("thirty"), 5))
    at = first.page_starts_under_heading[1][0]
    assert first.under_heading[at:] == "twenty."


@pytest.mark.parametrize("starts", ["x", [[1]], [[-1, 2]], [[0, "1"]], 5, None])
def test_damaged_pages_of_a_cached_pdf_are_none(cache: Cache, library: Library, starts: object) -> None:
    """The row may come from the file of another user."""
    value = {"title": "Pools", "text": TEXT, "page_starts": starts}
    row = Entry("k", POOL, orjson.dumps(value), NOW, NOW + HOUR, NOW, PageColumns("web"))
    assert [each.page_starts for each in documents_in(PAGES, row)] == [()]


def test_a_corpus_is_named_with_its_options(cache: Cache, library: Library) -> None:
    """Passages of another corpus, or of an earlier version of it, have another engine."""
    for version in ("1", "2"):
        cache.searches.put("pools", [result(body=f"Version {version}.")], engine="corpus", options={"version": version})
    library.index.update()
    assert {each.engine for each in library.passages()} == {'corpus {"version":"1"}', 'corpus {"version":"2"}'}


def test_the_passages_of_a_page_are_added(cache: Cache, library: Library, clock: FakeClock) -> None:
    """Passages are in order, with their headings and the name of the page reader."""
    cache.pages.answer(f"{POOL}/", Pages({f"{POOL}/": LONG}))
    assert library.index.update() == 2
    first, second = library.passages_of(POOL)
    assert (first.text, first.section, first.position) == (TEXT, "Pools", 0)
    assert (second.text, second.section, second.position) == ("A client waits for thirty seconds.", "Timeouts", 1)
    for each in (first, second):
        assert (each.title, each.source, each.engine, each.found_by) == ("Connection pools", "page", "web", "")
        assert each.fetched_at == clock.now


def test_the_content_of_knowledge_is_added(knowledge: Knowledge, library: Library) -> None:
    """The URL of a passage is the source of the document or, without a source, its id."""
    knowledge.write("Pools", TEXT, source_url="https://Docs.example.org/pool#size")
    alone = knowledge.write("Timeouts", "Thirty seconds.")
    assert library.index.update() == 2
    assert held(library) == [(POOL, TEXT), (f"knowledge:{alone.id}", "Thirty seconds.")]
    assert {(each.title, each.source) for each in library.passages_of(POOL)} == {("Pools", "knowledge")}


def test_a_new_version_of_knowledge_replaces_the_old_one(
    knowledge: Knowledge, library: Library, clock: FakeClock, store: Store
) -> None:
    """The next update of any process replaces the passages of the document."""
    written = knowledge.write("Pools", TEXT, source_url=POOL)
    library.index.update()
    clock.advance(HOUR)
    knowledge.write(id=written.id, content="A pool holds twenty connections.")
    Library(store, WordEmbedder(), clock=clock).index.update()
    assert [each.text for each in library.passages_of(POOL)] == ["A pool holds twenty connections."]


def test_deleted_knowledge_is_not_found(knowledge: Knowledge, library: Library) -> None:
    """Passages of a deleted document are deleted with it, and no update adds them again."""
    written = knowledge.write("Pools", TEXT)
    library.index.update()
    assert len(library.search("pool connections")) == 1
    knowledge.delete(written.id)
    assert library.index.update() == 0
    assert library.search("pool connections") == []


def test_results_of_the_library_itself_are_left_out(cache: Cache, library: Library) -> None:
    """Indexed again, its passages would get a new date at every search."""
    cache.searches.put("pools", [result()], engine="library")
    assert library.index.update() == 0
    assert held(library) == []


def test_caching_an_answer_waits_for_nothing(cache: Cache, library: Library, embedder: WordEmbedder) -> None:
    """No passage is written and no text is embedded before the next update."""
    cache.searches.put("pools", [result()])
    cache.pages.answer(POOL, Pages({POOL: LONG}))
    assert (library.stats().total, embedder.texts) == (0, [])
    assert library.index.update() > 0
    assert len(embedder.texts) == library.stats().total > 0


# --- no duplicates


def test_the_same_text_is_stored_once(cache: Cache, library: Library) -> None:
    """Two searches, or an excerpt and its page, give one passage."""
    cache.searches.put("how large is a pool", [result()])
    cache.searches.put("size of pools", [result()])
    cache.searches.put("another engine", [result("https://mirror.example.org/pool")], engine="wikipedia")
    cache.pages.answer(POOL, Pages({POOL: TEXT}))
    library.index.update()
    assert texts(library) == [TEXT]


def test_a_text_is_embedded_once(
    cache: Cache, library: Library, clock: FakeClock, embedder: WordEmbedder, store: Store
) -> None:
    """A passage that is read again gets the new date and keeps its vector."""
    cache.searches.put("how large is a pool", [result()])
    library.index.update()
    clock.advance(DAY)
    cache.refreshing().searches.put("how large is a pool", [result()])
    before = len(embedder.texts)
    assert library.index.update() == 1
    assert len(embedder.texts) == before
    (passage,) = library.passages()
    assert passage.fetched_at == clock.now
    assert library.stats().unembedded == 0


def test_a_page_that_changed_has_its_new_passages_only(cache: Cache, library: Library, clock: FakeClock) -> None:
    """Passages that are no longer on the page are deleted."""
    pages = Pages({POOL: LONG})
    cache.pages.answer(POOL, pages, ttl=HOUR)
    library.index.update()
    clock.advance(2 * HOUR)
    pages.texts[POOL] = LONG.replace("thirty", "ten")
    cache.pages.answer(POOL, pages, ttl=HOUR)
    library.index.update()
    assert [each.text for each in library.passages_of(POOL)] == [TEXT, "A client waits for ten seconds."]


def test_a_second_update_adds_nothing(cache: Cache, library: Library, store: Store, clock: FakeClock) -> None:
    """The same library and a new process skip all indexed rows."""
    put_searches(cache, clock, 3)
    cache.pages.answer(POOL, Pages({POOL: LONG}))
    assert library.index.update() == 5
    before = held(library)
    assert library.index.update() == 0
    assert Library(store, WordEmbedder(), clock=clock).index.update() == 0
    assert held(library) == before


def test_another_process_continues(
    cache: Cache, library: Library, store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new process adds later rows only, and reads few of the earlier ones again."""
    monkeypatch.setattr(library_index, "SLACK", 1)
    put_searches(cache, clock, 4)
    library.index.update()
    put_searches(cache, clock, 2, start=4)
    read: list[str] = []
    get = store.rows.get

    def counted(table: str, tenant: str, key: str) -> Any:
        read.extend([key] if table == SEARCHES else [])
        return get(table, tenant, key)

    store.rows.get = counted  # type: ignore[method-assign]
    assert Library(store, WordEmbedder(), clock=clock).index.update() == 2
    assert len(read) == 3
    assert len(held(library)) == 6


def test_a_row_that_was_written_late_is_not_missed(cache: Cache, library: Library, store: Store) -> None:
    """The clock of another machine may be some minutes behind."""
    cache.searches.put("pools", [result()])
    library.index.update()
    behind = Cache(store, clock=FakeClock(library.clock() - 200))
    behind.searches.put("timeouts", [result("https://a.org/late", "Thirty seconds.")])
    assert library.index.update() == 1


def test_a_clock_that_was_set_back_stops_nothing(cache: Cache, library: Library, clock: FakeClock) -> None:
    """New rows are added, although others have a later date."""
    cache.searches.put("pools", [result()])
    clock.now -= DAY
    library.index.update()
    clock.advance(HOUR)
    cache.searches.put("timeouts", [result("https://a.org/later", "Thirty seconds.")])
    assert library.index.update() == 1


def test_many_rows_are_read_in_order(
    cache: Cache, library: Library, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest come first, and progress is shown."""
    monkeypatch.setattr(library_index, "MARK_AFTER", 4)
    put_searches(cache, clock, 11)
    shown: list[tuple[str, int, int]] = []
    assert library.index.update(lambda *step: shown.append(step)) == 11
    assert [each.text for each in library.passages()] == [f"Fact {number} of many." for number in range(11)]
    assert shown[0] == ("indexing passages", 0, 11)
    assert shown[-1] == ("indexing passages", 11, 11)


def test_without_writes_nothing_is_added(cache: Cache, store: Store, clock: FakeClock) -> None:
    """An update of a read-only library stores no passage and no mark."""
    cache.searches.put("pools", [result()])
    reading = Library(store, WordEmbedder(), policy=LibraryPolicy(writes=False), clock=clock)
    assert reading.index.update() == 0
    assert reading.stats().total == store.listings.stats(EVIDENCE, "default", 0.0).total == 0


# --- documents that are added


def test_an_added_document_replaces_its_older_passages(library: Library) -> None:
    """An older reading does not; the number of passages is returned."""
    assert library.index.add(document(LONG)) == 2
    assert library.index.add(document("Twenty.", fetched_at=library.clock() + 10)) == 1
    assert library.index.add(document("Five.")) == 0
    assert held(library) == [("file:///notes.md", "Twenty.")]
