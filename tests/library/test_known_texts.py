"""Which results of a search the library knows: texts and whole pages that were read before a time."""

import pytest

from harness.cache import Cache
from harness.core.freshness import DAY, HOUR
from harness.core.tables import LIBRARY
from harness.library import Library
from tests.fakes import FakeClock
from tests.library.documents import LONG, NOW, POOL, TEXT, Pages, document, result


def test_a_text_is_known_once_it_was_read(cache: Cache, library: Library) -> None:
    """Wherever it was read; a text read from a moment on is not known before it."""
    cache.searches.put("how large is a pool", [result()])
    library.index.update()
    assert library.has_read(POOL, TEXT, NOW + 1)
    assert library.has_read("https://mirror.example.org/pool", TEXT, NOW + 1)
    assert not library.has_read(POOL, TEXT, NOW)
    assert not library.has_read(POOL, f"{TEXT} And twenty at night.", NOW + 1)


def test_every_passage_of_a_text_has_to_be_held(library: Library) -> None:
    """A text that is only half held is new."""
    library.index.add(document(LONG))
    assert library.has_read("file:///other.md", LONG, NOW + 1)
    keys = [each.key for each in library.passages()]
    assert len(keys) > 1
    library.store.rows.delete(LIBRARY, "default", keys[:1])
    assert not library.has_read("file:///other.md", LONG, NOW + 1)


def test_any_excerpt_of_a_page_that_was_read_is_known(cache: Cache, library: Library) -> None:
    """The whole page is held, whatever a search engine quotes from it."""
    cache.pages.answer(POOL, Pages({POOL: LONG}), ttl=HOUR)
    library.index.update()
    assert library.has_read(POOL, "ten … thirty seconds", NOW + 1)
    assert not library.has_read(f"{POOL}/other", "ten … thirty seconds", NOW + 1)


def test_an_expired_passage_is_not_known(cache: Cache, library: Library, clock: FakeClock) -> None:
    """A search may find something newer."""
    cache.searches.put("how large is a pool", [result()], ttl=HOUR)
    library.index.update()
    clock.now = NOW + 8 * DAY
    assert not library.has_read(POOL, TEXT, clock.now)


@pytest.mark.parametrize(("url", "text"), [("", ""), (POOL, ""), ("", " \n "), ("http://[", "\x00\ud800" * 9)])
def test_nothing_is_not_known(library: Library, url: str, text: str) -> None:
    """An empty or broken result shows nothing."""
    assert not library.has_read(url, text, NOW + 1)


def test_a_question_about_now_wants_young_passages(library: Library, clock: FakeClock) -> None:
    """Also where its queries do not mention the present."""
    library.index.add(document("The pool holds ten connections."))
    clock.now = NOW + 2 * HOUR
    assert library.search("pool connections")
    assert not library.search("pool connections", about="how many connections does the pool hold now")
