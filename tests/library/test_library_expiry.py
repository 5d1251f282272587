"""Expiry of passages: they outlive the cached answers they are from, except those about the present."""

import pytest

from harness.cache import Cache
from harness.core.freshness import DAY, HOUR, NEVER
from harness.core.tables import LIBRARY
from harness.knowledge import Knowledge
from harness.library import Library, LibraryPolicy
from harness.ports import Store
from tests.fakes import FakeClock, WordEmbedder
from tests.library.documents import NOW, POOL, TEXT, Pages, document, held, result

MIRROR = "https://mirror.example.org/pool"


def found(library: Library, query: str = "pool connections") -> list[str]:
    """Return the URLs of the passages that a query finds."""
    return [each.passage.url for each in library.search(query)]


def test_a_passage_outlives_its_answer(cache: Cache, library: Library, clock: FakeClock) -> None:
    """The library's own lifetime counts. A passage is found until the second before it expires."""
    cache.searches.put("how large is a pool", [result()], ttl=HOUR)
    library.index.update()
    clock.now = NOW + 7 * DAY - 1
    assert found(library) == [POOL]
    clock.advance(1)
    assert found(library) == []
    assert (library.stats().live, library.stats().expired) == (0, 1)


def test_an_answer_that_lives_longer_keeps_its_passages(cache: Cache, library: Library, clock: FakeClock) -> None:
    """The later of both times counts."""
    cache.pages.answer(POOL, Pages({POOL: TEXT}), ttl=30 * DAY)
    library.index.update()
    (passage,) = library.passages()
    assert passage.expires_at == NOW + 30 * DAY
    clock.now = NOW + 29 * DAY
    assert found(library) == [POOL]


def test_the_lifetime_is_a_setting(cache: Cache, store: Store, clock: FakeClock) -> None:
    """One day instead of seven."""
    cache.searches.put("how large is a pool", [result()], ttl=HOUR)
    library = Library(store, WordEmbedder(), policy=LibraryPolicy(ttl=DAY), clock=clock)
    library.index.update()
    assert [each.expires_at for each in library.passages()] == [NOW + DAY]


@pytest.mark.parametrize(
    "query", ["latest release of pools", "POOLS today", "price of pools", "pools in 2023", "pools 2031", "weather"]
)
def test_answers_about_the_present_expire_as_answers(
    cache: Cache, library: Library, clock: FakeClock, query: str
) -> None:
    """Seven days later they would be wrong."""
    cache.searches.put(query, [result()], ttl=DAY)
    library.index.update()
    (passage,) = library.passages()
    assert passage.expires_at == NOW + HOUR, "the longest lifetime of such an answer"
    clock.now = passage.expires_at - 1
    assert found(library) == [POOL]
    clock.advance(1)
    assert found(library) == []


@pytest.mark.parametrize("query", ["pools in 2019", "how a pool is priced", "history of pools"])
def test_answers_about_the_past_stay(cache: Cache, library: Library, query: str) -> None:
    """A year before this one, and words that only look like those of the present."""
    cache.searches.put(query, [result()])
    library.index.update()
    assert [each.expires_at for each in library.passages()] == [NOW + 7 * DAY]


def test_a_title_about_the_present_counts_too(cache: Cache, library: Library) -> None:
    """A page of today's prices, whatever question found it."""
    cache.searches.put("pools", [result(title="Pool prices today")], ttl=2 * HOUR)
    cache.searches.put("pools", [result("https://a.org", "It is made of steel.")], engine="wikipedia")
    library.index.update()
    assert {each.url: each.expires_at - NOW for each in library.passages()} == {
        POOL: 2 * HOUR,
        "https://a.org": 7 * DAY,
    }


def test_knowledge_stays_as_long_as_it_is_fresh(knowledge: Knowledge, library: Library, clock: FakeClock) -> None:
    """Thirty days by default; a shorter lifetime is that of the library."""
    knowledge.write("Pools", TEXT, source_url=POOL)
    knowledge.write("Timeouts", "Thirty seconds.", ttl_hours=1)
    library.index.update()
    assert sorted(each.expires_at - NOW for each in library.passages()) == [7 * DAY, 30 * DAY]
    clock.now = NOW + 29 * DAY
    assert found(library) == [POOL]


def test_added_files_never_expire(library: Library, clock: FakeClock) -> None:
    """A file is found twenty years later."""
    library.index.add(document(TEXT))
    (passage,) = library.passages()
    assert passage.expires_at == NEVER
    clock.now = NOW + 20 * 365 * DAY
    assert found(library) == ["file:///notes.md"]


def test_expired_answers_are_not_added(cache: Cache, library: Library, clock: FakeClock) -> None:
    """An answer about the present from an hour ago, and one of last week."""
    cache.searches.put("pools", [result()])
    clock.advance(7 * DAY - HOUR)
    cache.searches.put("latest pools", [result("https://a.org", "Ten.")], ttl=HOUR)
    clock.advance(HOUR)
    assert library.index.update() == 0
    assert library.stats().total == 0


def test_old_knowledge_that_is_fresh_is_added(knowledge: Knowledge, library: Library, clock: FakeClock) -> None:
    """Knowledge is fresh for 30 days, and passages of other kinds live for 7."""
    knowledge.write("Pools", TEXT, source_url=POOL)
    clock.advance(8 * DAY)
    assert library.index.update() == 1
    assert held(library) == [(POOL, TEXT)]


def test_an_old_page_that_is_fresh_is_added(cache: Cache, library: Library, clock: FakeClock) -> None:
    """A page may be cached longer than the library's own lifetime."""
    cache.pages.answer(POOL, Pages({POOL: TEXT}), ttl=30 * DAY)
    clock.advance(8 * DAY)
    assert library.index.update() == 1
    assert held(library) == [(POOL, TEXT)]


def test_reading_again_renews(cache: Cache, library: Library, clock: FakeClock) -> None:
    """The lifetime begins again, and so does the age."""
    pages = Pages({POOL: TEXT})
    cache.pages.answer(POOL, pages, ttl=HOUR)
    library.index.update()
    clock.advance(3 * DAY)
    cache.pages.answer(POOL, pages, ttl=HOUR)
    library.index.update()
    (passage,) = library.passages()
    assert (passage.fetched_at, passage.expires_at) == (NOW + 3 * DAY, NOW + 10 * DAY)


def test_the_same_text_of_another_source_renews_after_an_hour(cache: Cache, library: Library, clock: FakeClock) -> None:
    """A reading less than an hour younger changes nothing: rows are not rewritten for a few minutes."""
    cache.searches.put("pools", [result()])
    clock.advance(HOUR / 2)
    cache.searches.put("pools", [result(MIRROR)], engine="wikipedia")
    library.index.update()
    assert [(each.url, each.fetched_at) for each in library.passages()] == [(POOL, NOW)]
    clock.advance(HOUR)
    cache.searches.put("more pools", [result(MIRROR)], engine="wikipedia")
    library.index.update()
    assert [(each.url, each.fetched_at) for each in library.passages()] == [(MIRROR, NOW + 1.5 * HOUR)]


def test_the_text_of_an_expired_passage_is_added_again(cache: Cache, library: Library, clock: FakeClock) -> None:
    """An expired row with the same text does not keep the new one out."""
    cache.searches.put("weather today", [result(POOL, "Rain falls.")], ttl=600)
    library.index.update()
    clock.advance(900)
    cache.searches.put("weather now", [result(MIRROR, "Rain falls.")], ttl=600)
    library.index.update()
    assert found(library, "rain falls") == [MIRROR]


def test_a_short_lived_excerpt_does_not_hide_its_page(cache: Cache, library: Library, clock: FakeClock) -> None:
    """A page with the same text is found after the excerpt has expired."""
    cache.pages.answer(POOL, Pages({POOL: TEXT}))
    clock.advance(60)
    cache.searches.put("pools today", [result(MIRROR)], ttl=600)
    library.index.update()
    clock.advance(HOUR)
    assert found(library) == [POOL]


def test_an_excerpt_about_the_present_shortens_no_lifetime(cache: Cache, library: Library, clock: FakeClock) -> None:
    """A file keeps its passage after an excerpt with the same text has expired."""
    library.index.add(document(TEXT))
    clock.advance(2 * HOUR)
    cache.searches.put("pools today", [result(MIRROR)], ttl=600)
    library.index.update()
    clock.advance(HOUR)
    assert [each.passage.text for each in library.search("pool connections")] == [TEXT]


def test_expiry_changes_the_engine(library: Library, clock: FakeClock) -> None:
    """Cached results of the engine would otherwise answer with expired passages."""
    library.index.add(document(TEXT, expires_at=clock.now + 8 * DAY, source="page"))
    before = library.engine().options
    clock.advance(9 * DAY)
    assert library.engine().search("pool", 5) == []
    assert library.engine().options != before


def test_the_sweep_deletes_expired_passages(cache: Cache, library: Library, store: Store, clock: FakeClock) -> None:
    """Passages that never expire stay."""
    cache.searches.put("pools", [result()])
    library.index.update()
    library.index.add(document("Whole."))
    clock.advance(8 * DAY)
    cache.maintenance.sweep()
    assert [row.text for row in store.listings.recent(LIBRARY, "default", 10)] == ["Whole."]
