"""What the cache notes of its answers: how a run was answered, who a row was stored for, what `explain` shows."""

from typing import Any

import pytest

from harness.cache import Cache
from harness.cache.lookup import Answer
from harness.cache.results import MAX_RESULTS, checked_max_results, taught_by
from harness.cache.tables import PAGES, RUNS, SEARCHES, TOOLS, UNANSWERED
from harness.core.entries import Entry, Hit, Miss, Stale
from harness.core.keys import search_key
from harness.core.origins import RunOrigin
from harness.errors import InvalidInput
from harness.storage.sqlite.store import SqliteStore
from tests.fakes import FakeClock

RESULTS = [{"title": "Retries", "href": "https://example.org/retries", "body": "Back off."}]
TENANT = "default"


def cache_of(store: SqliteStore, clock: FakeClock, origin: RunOrigin = "user") -> Cache:
    """Return a cache for one origin."""
    return Cache(store, tenant=TENANT, clock=clock, origin=origin)


def test_a_run_notes_what_answered_it(store: SqliteStore, clock: FakeClock) -> None:
    """Results, no results, and how: live, then from the cache; the same bytes have the same digest."""
    for how in (("live", "live"), ("exact", "no results")):
        run = cache_of(store, clock).recording()
        assert run.search("red cats", lambda *_: RESULTS).value == RESULTS
        assert run.search("blue dogs", lambda *_: []).value == []
        found, nothing = run.uses
        assert (found.table, nothing.table) == (SEARCHES, UNANSWERED)
        assert (found.how, nothing.how) == how
        assert (found.asked, found.served) == (search_key("red cats"),) * 2
        assert (nothing.asked, nothing.served) == (search_key("blue dogs"),) * 2
        assert len({found.digest, nothing.digest}) == 2


@pytest.mark.parametrize(
    ("origin", "in_a_run", "marked"),
    [
        ("user", False, None),
        ("user", True, "run"),
        ("agent", False, "agent"),
        ("agent", True, "run"),
        ("evaluation", True, "evaluation"),
        ("experiment", True, "experiment"),
    ],
)
def test_a_search_is_marked_with_its_origin(
    store: SqliteStore, clock: FakeClock, origin: RunOrigin, in_a_run: bool, marked: str | None
) -> None:
    """A search of a run belongs to the run; the user's own has no mark. A run is marked with its own origin."""
    cache = cache_of(store, clock, origin)
    cache = cache.recording() if in_a_run else cache
    cache.search("red cats", lambda *_: RESULTS)
    cache.put_run("r1", "red cats", "ddgs", {})
    key = search_key("red cats")
    assert store.usage.origins(SEARCHES, TENANT, [key]).get(key) == marked
    assert store.usage.origins(RUNS, TENANT, ["r1"]).get("r1", "user") == origin


def test_a_user_claims_what_was_searched_for_others(store: SqliteStore, clock: FakeClock) -> None:
    """From then on it is in the history; an evaluation claims nothing."""
    key = search_key("red cats")
    cache_of(store, clock, "experiment").search("red cats", lambda *_: RESULTS)
    cache_of(store, clock, "evaluation").claim("red cats", "ddgs", {})
    assert store.usage.origins(SEARCHES, TENANT, [key]) == {key: "experiment"}
    cache_of(store, clock, "agent").claim("red cats", "ddgs", {})
    assert store.usage.origins(SEARCHES, TENANT, [key]) == {key: "agent"}
    cache_of(store, clock).claim("red cats", "ddgs", {})
    assert store.usage.origins(SEARCHES, TENANT, [key]).get(key, "user") == "user"


def test_a_copied_answer_may_be_changed() -> None:
    """JSON is copied; what a function returned is given to all as it is."""
    value: list[Any] = [{"a": 1}]
    copied = Answer(value, Miss("unknown"), "live").copied()
    assert copied.value == value
    assert copied.value[0] is not value[0]
    assert Answer(value, Miss("unknown"), "live", own=False).copied().value is value


def test_explain_shows_what_an_exact_lookup_gives(store: SqliteStore, clock: FakeClock) -> None:
    """Never asked, fresh, expired with its age."""
    cache = cache_of(store, clock)
    assert cache.explain("red cats").exact == Miss("unknown")
    cache.search("red cats", lambda *_: RESULTS, ttl=100.0)
    clock.advance(60.0)
    assert cache.explain("red cats").exact == Hit(RESULTS, "exact", "red cats", 1.0, 60.0)
    clock.advance(70.0)
    stale = cache.explain("red cats").exact
    assert isinstance(stale, Stale)
    assert (stale.value, stale.age) == (RESULTS, 130.0)
    assert cache.explain("red cats").shown(clock())["exact"] == "stale"


def test_what_teaches_is_read_from_results_and_pages() -> None:
    """Titles and bodies; of other tables, nothing."""
    payload = b'[{"title": "RAG", "body": "retrieval-augmented generation"}]'
    assert taught_by(SEARCHES, payload) == "RAG\n\nretrieval-augmented generation"
    assert taught_by(PAGES, b'{"title": 1}') == taught_by(TOOLS, payload) == taught_by(SEARCHES, b"no JSON") == ""


def test_the_number_of_results_is_bounded() -> None:
    """Both ends belong to it."""
    assert (checked_max_results(1), checked_max_results(MAX_RESULTS)) == (1, MAX_RESULTS)
    for wrong in (0, MAX_RESULTS + 1, True, 2.0):
        with pytest.raises(InvalidInput, match="whole number"):
            checked_max_results(wrong)  # type: ignore[arg-type]


def test_an_imported_entry_replaces_an_older_one_only(store: SqliteStore, clock: FakeClock) -> None:
    """Equally old is not newer."""
    cache = cache_of(store, clock)

    def entry(created_at: float, text: bytes) -> Entry:
        return Entry(search_key("q"), "q", text, created_at, clock() + 900, created_at, (5, "ddgs", "{}"))

    assert cache.restore(SEARCHES, entry(clock() - 10, b"[1]"))
    assert not cache.restore(SEARCHES, entry(clock() - 10, b"[2]"))
    assert not cache.restore(SEARCHES, entry(clock() - 11, b"[3]"))
    assert cache.restore(SEARCHES, entry(clock() - 9, b"[4]"))
    held = store.rows.get(SEARCHES, TENANT, search_key("q"))
    assert held is not None
    assert held.payload == b"[4]"
