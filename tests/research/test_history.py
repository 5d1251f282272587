"""History: every entry of a tenant is found by time and by meaning, and deleted ones never are."""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.cache import Cache, ResearchContext
from harness.core.entries import Entry
from harness.core.freshness import DAY, HOUR
from harness.core.keys import search_key
from harness.core.origins import EVERY
from harness.core.tables import KNOWLEDGE, RESEARCH, RUNS, SEARCHES
from harness.errors import EmbeddingError, InvalidInput, NotFound, SearchBackendError, StoreBusy, StoreError
from harness.knowledge import Knowledge
from harness.ports import Store
from harness.research.history import MAX_LIMIT, MAX_OFFSET, TABLES_OF, History, HistoryEntry, as_json, since_of
from harness.storage.sqlite.store import SqliteParts, SqliteStore
from tests.fakes import FakeClock, MemoryStore, WordEmbedder, put_payload, refusing

RESULT = {"title": "Retries", "href": "https://example.org/retries", "body": "Retries stop after five attempts."}
RUN = "20261122-101500-1a2b3c"
BIDI = "\u202e\u2066\u200f"
CONTROL = "\x00\x07\x1b[31m\x9b"
NOW = 1_795_342_500.0
"""22 November 2026, 10:15 UTC."""


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return an empty store: one in memory, and one in a file."""
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "past.db")
    yield made
    made.close()


in_memory = pytest.mark.parametrize("store", ["memory"], indirect=True)
"""For tests that need no database."""


@pytest.fixture
def clock() -> FakeClock:
    """Return a fake clock."""
    return FakeClock(NOW)


@pytest.fixture
def cache(store: Store, clock: FakeClock) -> Cache:
    """Return the cache of the tenant `default`."""
    return Cache(store, clock=clock)


@pytest.fixture
def history(store: Store, clock: FakeClock) -> History:
    """Return the history of the tenant `default`."""
    return past_of(store, clock)


def past_of(store: Store, clock: FakeClock, tenant: str = "default", embedder: Any = None) -> History:
    """Return the history of a tenant."""
    return History(store, embedder or WordEmbedder(), tenant=tenant, clock=clock)


def knowing(store: Store, clock: FakeClock, tenant: str = "default") -> Knowledge:
    """Return a tenant's knowledge."""
    return Knowledge(store, WordEmbedder(), tenant=tenant, clock=clock)


def titles(found: list[HistoryEntry]) -> list[str]:
    """Return the titles found, in order."""
    return [each.title for each in found]


def fill(store: Store, clock: FakeClock, tenant: str = "default") -> dict[str, str]:
    """Store one entry in each table, an hour apart; return the ids by title, the oldest first."""
    cache = Cache(store, tenant=tenant, clock=clock)
    cache.searches.put("retries in a search", [RESULT])
    clock.advance(HOUR)
    cache.researches.put("retries in a research", "general", ResearchContext("They stop.", [["a"]], [0.5]))
    clock.advance(HOUR)
    cache.runs.put(RUN, "retries in a run", "corpus", {"question": "retries in a run", "state": "gathering"})
    clock.advance(HOUR)
    knowing(store, clock, tenant).write("retries in a document", "Three, with jitter.", source_url="https://e.org/r")
    clock.advance(HOUR)
    return {each.title: each.id for each in reversed(past_of(store, clock, tenant).page().items)}


def put(store: Store, key: str, text: str, payload: bytes, *, at: float = NOW, table: str = SEARCHES) -> None:
    """Store a row directly."""
    own: dict[str, tuple[Any, ...]] = {
        SEARCHES: (10, "ddgs", "{}"),
        RESEARCH: ("[]", "[]", "general", ""),
        RUNS: ("corpus",),
        KNOWLEDGE: ("", 1),
    }
    entry = Entry(key, text, payload, at, at + DAY, at, own[table])
    if table == KNOWLEDGE:  # which gets its vectors when it is written
        entry = replace(entry, embedding=WordEmbedder().embed([text])[0].tobytes(), embedder=WordEmbedder().id)
    put_payload(store, table, entry)


# --- by origin, and repeats


def runs_of(cache: Cache, clock: FakeClock, question: str, *numbers: int, engine: str = "corpus") -> None:
    """Record runs of a question, a minute apart."""
    for number in numbers:
        cache.runs.put(f"20261122-101500-{number:06x}", question, engine, {"question": question})
        clock.advance(60)


@pytest.mark.parametrize("query", ["", "retries"])
def test_a_repeated_research_is_one_entry(history: History, cache: Cache, clock: FakeClock, query: str) -> None:
    """With the number of its runs, the newest first, and the newest time; another engine makes another research."""
    cache.researches.put("why retries", "general", ResearchContext("They stop.", [["a"]], [0.5]))
    runs_of(cache, clock, "why retries", 1, 2)
    runs_of(cache, clock, "why retries", 3, engine="ddgs")
    runs_of(cache, clock, " Why  retries ", 4)
    found = {each.id: each for each in history.page(query, source="research").items}
    newest, other = (f"20261122-101500-{number:06x}" for number in (4, 3))
    assert list(found) == [newest, other]
    assert found[newest].count == 3
    assert found[newest].ids == (newest, "20261122-101500-000002", "20261122-101500-000001")
    assert found[newest].timestamp == NOW + 180
    assert (found[other].count, found[other].ids) == (1, (other,))
    assert len(history.page(query, source="research", limit=1).items) == 1
    assert titles(history.page(query, source="research", offset=1).items) == ["why retries"]


@pytest.mark.parametrize("query", ["", "retries"])
def test_entries_of_other_origins_are_shown_on_demand(
    history: History, store: Store, clock: FakeClock, query: str
) -> None:
    """Searches and researches of users and agents by default; those of evaluations and experiments by name."""
    for number, origin in enumerate(EVERY[:4]):
        of_origin = Cache(store, clock=clock, origin=origin)
        of_origin.searches.put(f"retries of {origin}", [RESULT])
        runs_of(of_origin, clock, f"retries of {origin}", *range(10 * number, 10 * number + 3))
    shown = {"user", "agent"}
    for choice, wanted in (("own", shown), ("evaluation", {"evaluation"}), ("all", {*EVERY[:4]})):
        found = history.page(query, origin=choice, limit=100).items
        assert sorted(titles(found)) == sorted(f"retries of {origin}" for origin in wanted for _ in range(2))
    with pytest.raises(InvalidInput, match="no such origin: 'strangers'; choose own, user"):
        history.page(origin="strangers")


@pytest.mark.parametrize("query", ["", "retries"])
def test_the_searches_of_a_run_belong_to_the_run(history: History, store: Store, clock: FakeClock, query: str) -> None:
    """Until a user makes the same search alone."""
    cache = Cache(store, clock=clock)
    cache.recording().searches.put("retries of a run", [RESULT])
    assert history.page(query).items == []
    assert titles(history.page(query, origin="run").items) == ["retries of a run"]
    cache.searches.claim(search_key("Retries of a run"))
    assert titles(history.page(query).items) == ["retries of a run"]
    cache.recording().searches.put("retries of a run", [RESULT])
    assert history.page(query).items == [], "stored again, for a run"
    Cache(store, clock=clock, origin="evaluation").searches.claim(search_key("retries of a run"))
    assert history.page(query).items == []


# --- by time


def test_the_newest_come_first(history: History, store: Store, clock: FakeClock) -> None:
    """Without a query, all entries are listed by time, with similarity 1 and an excerpt."""
    fill(store, clock)
    found = history.page().items
    assert titles(found) == [f"retries in a {what}" for what in ("document", "run", "research", "search")]
    assert [each.source for each in found] == ["knowledge", "research", "research", "search"]
    assert {each.similarity for each in found} == {1.0}
    assert [each.timestamp for each in found] == [NOW + hours * HOUR for hours in (3, 2, 1, 0)]
    assert [each.snippet for each in found] == ["Three, with jitter.", "", "They stop.", RESULT["body"]]
    assert [each.url for each in found] == ["https://e.org/r", "", "", RESULT["href"]]
    assert history.page(" \n\t").items == found, "only spaces are no query"


@pytest.mark.parametrize(
    ("source", "found"),
    [("search", ["search"]), ("research", ["run", "research"]), ("knowledge", ["document"])],
)
@pytest.mark.parametrize("query", ["", "retries"])
def test_one_source_alone(
    history: History, store: Store, clock: FakeClock, query: str, source: str, found: list[str]
) -> None:
    """A source excludes the others; a research is found by the record of its run, and by its gathered context."""
    fill(store, clock)
    assert sorted(titles(history.page(query, source=source).items)) == sorted(f"retries in a {what}" for what in found)


@in_memory
@pytest.mark.parametrize("query", ["", "retries"])
def test_since_when(history: History, store: Store, clock: FakeClock, query: str) -> None:
    """An entry of that very moment counts, one of a moment before does not."""
    fill(store, clock)
    third = NOW + 2 * HOUR
    assert sorted(titles(history.page(query, since=third).items)) == ["retries in a document", "retries in a run"]
    assert titles(history.page(query, since=third + 0.001).items) == ["retries in a document"]
    assert history.page(query, since=NOW + DAY).items == []


@in_memory
def test_expired_entries_are_marked(history: History, cache: Cache, clock: FakeClock) -> None:
    """Expired entries are found, by time and by meaning, and marked from the second of their expiry."""
    cache.searches.put("retries", [RESULT], ttl=HOUR)
    clock.advance(HOUR - 1)
    assert [each.expired for each in history.page().items] == [False]
    clock.advance(1)
    assert [each.expired for each in history.page().items] == [True]
    assert [(each.title, each.expired) for each in history.page("retries").items] == [("retries", True)]


# --- by meaning


@in_memory
def test_the_most_similar_come_first(history: History, cache: Cache, clock: FakeClock) -> None:
    """With a query, similar entries come first, with three decimals; unrelated ones are absent."""
    for query in ("retries of a client", "retries", "autumn sea", "retries of a client library"):
        cache.searches.put(query, [RESULT])
        clock.advance(1)
    found = history.page("retries of a client").items
    assert titles(found) == ["retries of a client", "retries of a client library", "retries"]
    assert found[0].similarity == 1.0
    assert all(each.similarity == round(each.similarity, 3) for each in found)
    assert found[1].similarity > found[2].similarity > 0.2


def test_engines_and_options_are_all_looked_in(history: History, cache: Cache, store: Store) -> None:
    """One query finds the searches of every engine, with every option, and researches of every kind and fingerprint."""
    cache.searches.put("retries", [RESULT])
    cache.searches.put("retries", [RESULT], engine="corpus:notes")
    cache.searches.put("retries", [RESULT], engine="searxng", options={"language": "de"})
    cache.searches.put("retries", [RESULT], engine="searxng", options={"language": "fr"})
    cache.researches.put("retries", "general", ResearchContext("x", [], []))
    cache.researches.put("retries", "academic", ResearchContext("x", [], []), fingerprint="f")
    assert len(history.page("retries").items) == 6
    assert len({each.id for each in history.page("retries").items}) == 6
    about = [history.entry("search", each.id).about for each in history.page("retries", source="search").items]
    assert sorted((each["engine"], each["options"]) for each in about) == [
        ("corpus:notes", "{}"), ("ddgs", "{}"), ("searxng", '{"language":"de"}'), ("searxng", '{"language":"fr"}'),
    ]  # fmt: skip


def test_rows_without_a_vector_get_one(store: Store, clock: FakeClock) -> None:
    """Rows stored without a model are found by meaning from the first query on, and embedded once."""
    fill(store, clock)
    embedder = WordEmbedder()
    history = past_of(store, clock, embedder=embedder)
    assert len(history.page("retries").items) == 4
    assert len(history.page("retries").items) == 4
    assert sorted(embedder.texts) == sorted(
        ["retries", "retries", *(f"retries in a {what}" for what in ("run", "research", "search"))]
    )


def test_vectors_of_another_model_are_not_compared(store: Store, clock: FakeClock, cache: Cache) -> None:
    """With another model, rows are embedded again; the similarity of two models' vectors would mean nothing."""
    cache.searches.put("retries", [RESULT])
    knowing(store, clock).write("retries", "Three.")

    class Other(WordEmbedder):
        id = "words-reversed"

        def _vector(self, text: str) -> Any:
            return -super()._vector(text)

    assert len(past_of(store, clock).page("retries").items) == 2
    found = past_of(store, clock, embedder=Other()).page("retries").items
    assert {(each.source, each.similarity) for each in found} == {("search", 1.0), ("knowledge", 1.0)}


@in_memory
def test_a_store_that_cannot_store_vectors_still_answers(clock: FakeClock, cache: Cache, tmp_path: Path) -> None:
    """Lookups are reads: if vectors cannot be stored (a locked or full store), they continue without."""
    store = refusing(StoreBusy("another process writes"), "nearest.embed")
    Cache(store, clock=clock).searches.put("retries", [RESULT])
    assert past_of(store, clock).page("retries").items == []
    assert titles(past_of(store, clock).page().items) == ["retries"]


@in_memory
def test_without_a_model_lookups_by_meaning_are_an_error(store: Store, clock: FakeClock, cache: Cache) -> None:
    """A failing model is an error, never an empty history; by time all entries are still there."""

    class Broken(WordEmbedder):
        def embed(self, texts: Any) -> Any:
            raise EmbeddingError("the model is missing")

    cache.searches.put("retries", [RESULT])
    history = past_of(store, clock, embedder=Broken())
    with pytest.raises(SearchBackendError, match="the model is missing"):
        history.page("retries")
    assert titles(history.page().items) == ["retries"]


# --- page after page


def leafed(history: History, query: str, limit: int, source: str = "all") -> list[str]:
    """Return the ids of every page, in order."""
    ids: list[str] = []
    while True:
        page = history.page(query, limit=limit, offset=len(ids), source=source)
        ids += [f"{each.source} {each.id}" for each in page.items]
        if not page.more:
            return ids
        assert len(page.items) == limit


@pytest.mark.parametrize("query", ["", "retries"])
@pytest.mark.parametrize("apart", [0.0, 1.0], ids=["at once", "one after the other"])
def test_pages_have_neither_gaps_nor_repeats(
    history: History, store: Store, clock: FakeClock, query: str, apart: float
) -> None:
    """Each entry appears once over all pages, in the order of one long page, even with equal times or similarities."""
    cache = Cache(store, clock=clock)
    for number in range(11):
        cache.runs.put(f"20261122-101500-{number:06x}", "retries", f"corpus {number}", {"question": "retries"})
        clock.advance(apart)
        cache.searches.put(f"retries {number % 3}", [RESULT], engine=f"engine {number}")
        clock.advance(apart)
    whole = leafed(history, query, 100)
    assert len(whole) == len(set(whole)) == 22
    for limit in (2, 7, 11):
        assert leafed(history, query, limit) == whole
    same = [each for each in whole if each.startswith("research")]
    if apart:
        assert same == sorted(same, reverse=True), "of what is as similar, the newest comes first"


@in_memory
def test_the_last_page_says_that_it_is(history: History, cache: Cache, clock: FakeClock) -> None:
    """A full page at the end of the history has no page after it."""
    for number in range(4):
        cache.searches.put(f"retries {number}", [RESULT])
        clock.advance(1)
    assert history.page(limit=3).more
    for limit, offset in ((4, 0), (2, 2), (5, 0), (3, 4)):
        assert not history.page(limit=limit, offset=offset).more
        assert not history.page("retries", limit=limit, offset=offset).more
    assert history.page(limit=3, offset=4).items == []


def test_an_entry_deleted_during_a_lookup_leaves_a_gap_and_no_end(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry deleted between listing and reading is left out; the pages after it are still there."""
    store = MemoryStore()
    get, gone = store.rows.get, ""

    def vanishing(table: str, tenant: str, key: str) -> Entry | None:
        return None if key == gone else get(table, tenant, key)

    monkeypatch.setattr(store.rows, "get", vanishing)
    cache = Cache(store, clock=clock)
    for number in range(5):
        cache.searches.put(f"retries {number}", [RESULT])
        clock.advance(1)
    history = past_of(store, clock)
    gone = history.page().items[1].id
    page = history.page(limit=3)
    assert (titles(page.items), page.more) == (["retries 4", "retries 2"], True)


# --- invalid arguments


@in_memory
@pytest.mark.parametrize(
    "asked",
    [
        {"limit": 0}, {"limit": -1}, {"limit": MAX_LIMIT + 1}, {"offset": -1}, {"offset": MAX_OFFSET + 1},
        {"since": float("nan")}, {"since": float("inf")}, {"since": -1.0}, {"source": ""}, {"source": "web"},
        {"source": "SEARCH"}, {"source": "search' OR 1=1 --"}, {"source": "access_tokens"},
    ],
)  # fmt: skip
def test_invalid_arguments_are_errors(history: History, asked: dict[str, Any]) -> None:
    """A number out of range or an unknown source is `InvalidInput`, in one line."""
    with pytest.raises(InvalidInput) as message:
        history.page("retries", **asked)
    assert "\n" not in str(message.value)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("", 0.0),
        (" \t", 0.0),
        ("2026-11-22", NOW - 10.25 * HOUR),
        ("2026-11-22T10:15", NOW),
        ("2026-11-22T10:15:00Z", NOW),
        ("2026-11-22T11:15:00+01:00", NOW),
        ("2026-11-21 22:15:00.000-12:00", NOW),
        ("20261122T101500Z", NOW),
        ("1795342500", NOW),
        (" 1795342500.5 ", NOW + 0.5),
        ("999999999", 999_999_999.0),
        ("20261122", NOW - 10.25 * HOUR),
        ("7d", NOW - 7 * DAY),
        (" 12H ", NOW - 12 * HOUR),
        ("100y", 0.0),
        ("0001-01-01", 0.0),
        ("1969-12-31T23:59:59Z", 0.0),
    ],
)
def test_since_is_a_date_a_time_or_an_age(text: str, moment: float) -> None:
    """A time without a zone is in UTC; nothing was stored before the epoch."""
    assert since_of(text, NOW) == pytest.approx(moment)


@pytest.mark.parametrize(
    "text", ["yesterday", "7", "7 moons", "-7d", "7d7d", "0d", "101y", "2026-13-01", "2026-11-22T25:00", "nan", "1e9"]
)
def test_an_invalid_since_is_an_error(text: str) -> None:
    """An invalid time is never read as any time."""
    with pytest.raises(InvalidInput, match="since is a date"):
        since_of(text, NOW)


@given(st.text(max_size=80))
def test_any_since_is_a_time_or_an_error(text: str) -> None:
    """Any text gives a valid time or `InvalidInput`."""
    with suppress(InvalidInput):
        assert 0.0 <= since_of(text, NOW) < 253_402_300_800.0


# --- deleted entries


@pytest.mark.parametrize("query", ["", "retries"])
def test_cleared_entries_are_gone(store: Store, clock: FakeClock, query: str) -> None:
    """However an entry was deleted, nothing finds it, though it was found by meaning before."""
    ids = fill(store, clock)
    history, cache = past_of(store, clock), Cache(store, clock=clock)
    assert len(history.page("retries").items) == 4

    def left() -> list[str]:
        return sorted(each.rpartition(" ")[2] for each in titles(history.page(query).items))

    cache.maintenance.delete({SEARCHES: [history.entry("search", ids["retries in a search"]).entry]})
    assert left() == ["document", "research", "run"]
    knowing(store, clock).delete(ids["retries in a document"])
    assert left() == ["research", "run"]
    cache.maintenance.clear()
    assert left() == ["run"]
    clock.advance(1_000 * DAY)
    cache.maintenance.sweep()
    assert left() == []


def test_swept_entries_are_gone(store: Store, clock: FakeClock) -> None:
    """A sweep removes expired entries from the history, and nothing else."""
    cache, history = Cache(store, clock=clock), past_of(store, clock)
    cache.searches.put("retries of old", [RESULT], ttl=HOUR)
    cache.searches.put("recent retries", [RESULT], ttl=DAY)
    assert len(history.page("retries").items) == 2
    clock.advance(2 * HOUR)
    cache.maintenance.sweep()
    assert titles(history.page("retries").items) == titles(history.page().items) == ["recent retries"]


@in_memory
def test_a_changed_title_is_found_by_its_new_words(store: Store, clock: FakeClock) -> None:
    """After an update, a document's old words find nothing, and the new ones find it."""
    knowledge, history = knowing(store, clock), past_of(store, clock)
    document = knowledge.write("retries of a gateway", "Three.").document
    assert titles(history.page("gateway").items) == ["retries of a gateway"]
    knowledge.write(id=document.id, title="backoff policy")
    assert history.page("gateway").items == []
    assert titles(history.page("backoff").items) == ["backoff policy"]


# --- tenants


def test_each_tenant_sees_its_own(store: Store, clock: FakeClock) -> None:
    """No entry of another tenant is found, by time, by meaning or by id."""
    theirs = fill(store, clock, "theirs")
    Cache(store, tenant="mine", clock=clock).searches.put("retries of mine", [RESULT])
    mine = past_of(store, clock, "mine")
    assert len(past_of(store, clock, "theirs").page("retries").items) == 4
    assert titles(mine.page().items) == titles(mine.page("retries").items) == ["retries of mine"]
    for source in TABLES_OF:
        for key in theirs.values():
            with pytest.raises(NotFound):
                mine.entry(source, key)


# --- single entries


def test_one_entry_is_returned_in_full(history: History, store: Store, clock: FakeClock) -> None:
    """By source and id an entry is returned as stored, with its own columns by name."""
    ids = fill(store, clock)
    search = history.entry("search", ids["retries in a search"])
    assert (search.data, search.about) == ([RESULT], {"max_results": 10, "engine": "ddgs", "options": "{}"})
    research = history.entry("research", ids["retries in a research"])
    assert (research.table, research.data) == (RESEARCH, "They stop.")
    assert (research.about["task_type"], research.about["search_rounds"]) == ("general", '[["a"]]')
    assert history.entry("research", RUN).about == {"engine": "corpus"}
    document = history.entry("knowledge", ids["retries in a document"])
    assert (document.data["content"], document.about["version"]) == ("Three, with jitter.", 1)


@in_memory
@pytest.mark.parametrize("key", ["", "\x00", "..", "a' OR 1=1 --", "%", "x" * 10_000, "\u202e", RUN])
def test_a_missing_entry_is_an_error(history: History, cache: Cache, key: str) -> None:
    """An id of nothing, or of another source, is not found; the message is bounded and printable."""
    cache.runs.put(RUN, "retries", "corpus", {"question": "retries"})
    with pytest.raises(NotFound) as missing:
        history.entry("search", key)
    assert str(missing.value).isprintable()
    assert len(str(missing.value)) < 200


# --- hostile and damaged payloads

NASTY = [
    b"", b"null", b"[]", b"{}", b"[[]]", b"[null]", b"[1]", b'"x"', b"42", b"true", b"\xff\xfe", b"{", b'{"report": 1}',
    b'{"report": {"citations": [1]}}', b'{"report": {"citations": "x"}}', b'{"sources": [1]}', b'{"sources": {}}',
    b'{"sources": [{"texts": [{"a": 1}], "url": 1}]}', b'[{"title": 1, "href": [], "body": {}}]', b"[" * 5_000,
    b'{"content": 1, "source_url": []}', b'[{"body": "' + b"x" * 200_000 + b'"}]', b'{"title": NaN}', b'"\\ud800"',
    b'[{"title": "<script>alert(1)</script>", "href": "javascript:alert(1)", "body": "\\u202e\\u0000\\u001b[2J"}]',
]  # fmt: skip


def assert_harmless(past: HistoryEntry) -> None:
    """Check that the texts are bounded, on one line, without control characters, and valid in JSON."""
    for text, most in ((past.title, 300), (past.snippet, 300), (past.url, 2_000), (past.id, 200)):
        assert len(text) <= most
        assert not any(character in text for character in "\n\r\t\x00\x07\x1b\x7f\x9b\u2028\u202e\u2066\u200f\ufeff")
        text.encode()
    assert msgspec.json.decode(msgspec.json.encode(as_json(past)))["title"] == past.title


@pytest.mark.parametrize("table", [table for tables in TABLES_OF.values() for table in tables])
def test_damaged_payloads_are_shown_as_text(store: Store, history: History, table: str) -> None:
    """Whatever a row contains, it is listed, found by meaning, and returned in full, without an error."""
    nasty = [each for each in NASTY if isinstance(store, SqliteParts) or _is_text(each)]
    for number, payload in enumerate(nasty):
        put(store, f"{number:08x}", f"retries {number}", payload, table=table)
    for found in (history.page(limit=100).items, history.page("retries", limit=100).items):
        assert len(found) == len(nasty)
        for past in found:
            assert_harmless(past)
    for number in range(len(nasty)):
        msgspec.json.encode(history.entry(past.source, f"{number:08x}").data)


def _is_text(payload: bytes) -> bool:
    try:
        return bool(payload.decode()) or not payload
    except UnicodeDecodeError:
        return False


@given(
    payload=st.binary(max_size=200) | st.from_type(dict).map(repr).map(str.encode),
    table=st.sampled_from(list(TABLES_OF)),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_payload_is_harmless(payload: bytes, table: str) -> None:
    """Any bytes are shown as bounded text."""
    store, clock = MemoryStore(), FakeClock(NOW)
    for name in TABLES_OF[table]:  # type: ignore[index]
        put(store, "0", "retries", payload, table=name)
    history = past_of(store, clock)
    for past in (*history.page().items, *history.page("retries").items):
        assert_harmless(past)
    assert history.entry(table, "0").entry.payload == payload
    msgspec.json.encode(history.entry(table, "0").data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["title", "body", "href", "content", "source_url", "report", "citations", "sentence", "url",
                         "sources", "texts"]),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
@settings(deadline=None)
def test_any_json_is_harmless(held: Any) -> None:
    """JSON of the right names and wrong types is shown as bounded text."""
    import json

    store, clock = MemoryStore(), FakeClock(NOW)
    payload = json.dumps(held).encode()
    for number, name in enumerate(name for tables in TABLES_OF.values() for name in tables):
        put(store, str(number), "retries", payload, table=name)
    for past in past_of(store, clock).page().items:
        assert_harmless(past)


@in_memory
@pytest.mark.parametrize(
    "title",
    [
        "x" * 1_000_000,
        "retries " * 1_000,
        f"{BIDI}{CONTROL}retries",
        "retries\n\r\tof\u2028a\u2029client",
        "\ufeff",
        "😀" * 400,
    ],
    ids=["long", "words", "controls", "lines", "nothing", "emoji"],
)
def test_titles_are_bounded_and_cleaned(history: History, store: Store, title: str) -> None:
    """A title of a megabyte, control characters and direction overrides are never shown."""
    put(store, "0", title, msgspec.json.encode([{"title": title, "href": f"https://e.org/{title}", "body": title}]))
    for past in (*history.page().items, *history.page("retries").items):
        assert_harmless(past)


@in_memory
def test_a_context_of_another_format_is_shown(history: History, cache: Cache) -> None:
    """A script's own context of a research is shown from its beginning, in any format."""
    cache.researches.put("retries", "general", ResearchContext('{"summary": "They stop."}', [], []))
    assert [each.snippet for each in history.page().items] == ['{"summary": "They stop."}']


def test_an_unreadable_store_is_an_error(clock: FakeClock) -> None:
    """An unreadable database is an error; an empty history would be false."""
    methods = ("listings.timeline", "nearest.scopes", "rows.get", "rows.get_whole")
    history = past_of(refusing(StoreBusy("another process writes"), *methods), clock)
    for look in (history.page, lambda: history.page("retries"), lambda: history.entry("search", "0")):
        with pytest.raises(StoreBusy):
            look()


def test_rows_that_another_program_wrote_are_harmless(tmp_path: Path, clock: FakeClock) -> None:
    """Rows with undeclared column types, as SQLite allows, are listed, or reported as damage."""
    store = SqliteStore(tmp_path / "past.db")
    Cache(store, clock=clock).searches.put("retries", [RESULT])
    with sqlite3.connect(tmp_path / "past.db") as connection:
        connection.execute("UPDATE search_cache SET results = X'FFFE00', query = X'FF00', max_results = 'many'")
    connection.close()
    for query in ("", "retries"):
        with suppress(StoreError):
            for past in past_of(store, clock).page(query).items:
                assert_harmless(past)
    store.close()


# --- the real model


@in_memory
@pytest.mark.slow
def test_the_real_model_finds_by_meaning(store: Store, clock: FakeClock) -> None:
    """With the shipped model, other words for the same are found, and unrelated entries come last or not at all."""
    from harness.models.local.embedder import MiniLM

    cache = Cache(store, clock=clock)
    for query in ("best practices for rag pipelines", "GitHub API rate limits", "colour of the autumn sea"):
        cache.searches.put(query, [RESULT])
    history = past_of(store, clock, embedder=MiniLM())
    found = history.page("rag pipeline best practices").items
    assert found[0].title == "best practices for rag pipelines"
    assert found[0].similarity > 0.9
    assert "colour of the autumn sea" not in titles(found)
    assert titles(history.page("how many requests may I send to github").items)[0] == "GitHub API rate limits"
