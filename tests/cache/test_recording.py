"""Records of answers: uses of a run, origins of rows, fields of outcomes, explanations."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from harness.cache import Cache, research_cache
from harness.cache.lookup import Answer
from harness.cache.search_results import MAX_RESULTS, checked_max_results, taught_text_of_row
from harness.core.entries import Entry, Hit, Miss, Stale
from harness.core.keys import search_key
from harness.core.origins import RunOrigin
from harness.core.tables import PAGES, RUNS, SEARCHES, TOOLS, UNANSWERED
from harness.errors import InvalidInput
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import bare, semantic_cache
from tests.fakes import FakeClock

RESULTS = [{"title": "Retries", "href": "https://example.org/retries", "body": "Back off."}]
TENANT = "default"


def cache_of(store: SqliteStore, clock: FakeClock, origin: RunOrigin = "user") -> Cache:
    """Return a cache for one origin."""
    return Cache(store, tenant=TENANT, clock=clock, origin=origin)


def test_a_run_records_what_answered_it(store: SqliteStore, clock: FakeClock) -> None:
    """Results, no results, and how: live, then from the cache; the same bytes have the same digest."""
    for how in (("live", "live"), ("exact", "no results")):
        run = cache_of(store, clock).recording()
        assert run.searches.answer("red cats", lambda *_: RESULTS).value == RESULTS
        assert run.searches.answer("blue dogs", lambda *_: []).value == []
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
    cache.searches.answer("red cats", lambda *_: RESULTS)
    cache.runs.put("r1", "red cats", "ddgs", {})
    key = search_key("red cats")
    assert store.usage.origins(SEARCHES, TENANT, [key]).get(key) == marked
    assert store.usage.origins(RUNS, TENANT, ["r1"]).get("r1", "user") == origin


def test_a_user_claims_what_was_searched_for_others(store: SqliteStore, clock: FakeClock) -> None:
    """After that it is in the history; an evaluation claims nothing."""
    key = search_key("red cats")
    cache_of(store, clock, "experiment").searches.answer("red cats", lambda *_: RESULTS)
    cache_of(store, clock, "evaluation").searches.claim(key)
    assert store.usage.origins(SEARCHES, TENANT, [key]) == {key: "experiment"}
    cache_of(store, clock, "agent").searches.claim(key)
    assert store.usage.origins(SEARCHES, TENANT, [key]) == {key: "agent"}
    cache_of(store, clock).searches.claim(key)
    assert store.usage.origins(SEARCHES, TENANT, [key]).get(key, "user") == "user"


def test_a_copied_answer_may_be_changed() -> None:
    """JSON is copied; an object that a function returned is shared by all."""
    value: list[Any] = [{"a": 1}]
    copied = Answer(value, Miss("unknown"), "live").copied()
    assert copied.value == value
    assert copied.value[0] is not value[0]
    assert Answer(value, Miss("unknown"), "live", own=False).copied().value is value


def test_explain_shows_what_an_exact_lookup_gives(store: SqliteStore, clock: FakeClock) -> None:
    """Never asked, fresh, expired with its age."""
    cache = cache_of(store, clock)
    assert bare(cache.searches.explain("red cats").exact) == Miss("unknown")
    cache.searches.answer("red cats", lambda *_: RESULTS, ttl=100.0)
    clock.advance(60.0)
    assert bare(cache.searches.explain("red cats").exact) == Hit(RESULTS, "exact", "red cats", 1.0, 60.0)
    clock.advance(70.0)
    stale = cache.searches.explain("red cats").exact
    assert isinstance(stale, Stale)
    assert (stale.value, stale.age) == (RESULTS, 130.0)
    assert cache.searches.explain("red cats").shown(clock())["exact"] == "stale"


def test_abbreviations_are_read_from_results_and_pages() -> None:
    """Titles and bodies; of other tables, nothing."""
    payload = b'[{"title": "RAG", "body": "retrieval-augmented generation"}]'
    assert taught_text_of_row(SEARCHES, payload) == "RAG\n\nretrieval-augmented generation"
    assert (
        taught_text_of_row(PAGES, b'{"title": 1}')
        == taught_text_of_row(TOOLS, payload)
        == taught_text_of_row(SEARCHES, b"no JSON")
        == ""
    )


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

    assert cache.maintenance.restore(SEARCHES, entry(clock() - 10, b"[1]"))
    assert not cache.maintenance.restore(SEARCHES, entry(clock() - 10, b"[2]"))
    assert not cache.maintenance.restore(SEARCHES, entry(clock() - 11, b"[3]"))
    assert cache.maintenance.restore(SEARCHES, entry(clock() - 9, b"[4]"))
    held = store.rows.get(SEARCHES, TENANT, search_key("q"))
    assert held is not None
    assert held.payload == b"[4]"


def test_an_outcome_has_the_values_of_its_row(store: SqliteStore, clock: FakeClock) -> None:
    """Key, expiry, origin and the stored bytes, exact, by meaning or stale; a miss has the key."""
    cache = semantic_cache(store, clock=clock)
    stored, meant = "semantic cache false positives", "false positives semantic cache"
    assert cache.searches.find(stored) == Miss("unknown", search_key(stored))
    cache.searches.answer(stored, lambda *_: RESULTS, ttl=100.0)
    for query in (stored, meant):
        hit = cache.searches.find(query)
        assert isinstance(hit, Hit)
        assert (hit.key, hit.expires_at, hit.origin) == (search_key(stored), clock() + 100.0, "ddgs")
        assert orjson.loads(hit.payload) == hit.value == RESULTS
    clock.advance(100.0)
    stale = cache.searches.find(stored)
    assert isinstance(stale, Stale)
    assert (stale.key, stale.expires_at, stale.origin) == (search_key(stored), clock(), "ddgs")
    entry = cache.tools.put("web", "a page", [1], created_by="ada")
    found = cache.tools.find("web", "A page")
    assert isinstance(found, Hit)
    assert (found.key, found.expires_at, found.origin, found.payload) == (entry.key, entry.expires_at, "ada", b"[1]")


class CountingStore(SqliteStore):
    """A store that counts the rows that are read by key."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.reads = 0
        get = self.rows.get

        def counted(table: str, tenant: str, key: str) -> Entry | None:
            self.reads += 1
            return get(table, tenant, key)

        self.rows.get = counted  # type: ignore[method-assign]


def test_each_lookup_reads_its_row_once(tmp_path: Path, clock: FakeClock) -> None:
    """A search, and an agent's lookup."""
    counting = CountingStore(tmp_path / "counting.db")
    cache = Cache(counting, clock=clock)
    cache.searches.put("red cats", RESULTS, ttl=100.0)
    cache.tools.put("web", "red cats", RESULTS)
    counting.reads = 0
    assert cache.searches.answer("red cats", lambda *_: []).how == "exact"
    assert counting.reads == 1
    reply = research_cache(cache, "lookup", cache_type="web", query="Red cats")
    assert (reply.found, reply.results, counting.reads) == (True, RESULTS, 2)
    counting.close()
