"""The past: everything of one tenant is found again, by time and by meaning, and what was deleted never is."""

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
from harness.cache.tables import KNOWLEDGE, RESEARCH, RUNS, SEARCHES
from harness.core.entries import Entry
from harness.core.freshness import DAY, HOUR
from harness.core.origins import EVERY
from harness.errors import EmbeddingError, InvalidInput, NotFound, SearchBackendError, StoreBusy, StoreError
from harness.knowledge import Knowledge
from harness.ports import Store
from harness.research.history import MAX_LIMIT, MAX_OFFSET, TABLES_OF, History, Past, as_json, since_of
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
"""For what a database has no part in."""


@pytest.fixture
def clock() -> FakeClock:
    """Return a clock that goes when it is told to."""
    return FakeClock(NOW)


@pytest.fixture
def cache(store: Store, clock: FakeClock) -> Cache:
    """Return the cache of the tenant `default`."""
    return Cache(store, clock=clock)


@pytest.fixture
def history(store: Store, clock: FakeClock) -> History:
    """Return the past of the tenant `default`."""
    return past_of(store, clock)


def past_of(store: Store, clock: FakeClock, tenant: str = "default", embedder: Any = None) -> History:
    """Return the past of a tenant."""
    return History(store, embedder or WordEmbedder(), tenant=tenant, clock=clock)


def knowing(store: Store, clock: FakeClock, tenant: str = "default") -> Knowledge:
    """Return what a tenant knows."""
    return Knowledge(store, WordEmbedder(), tenant=tenant, clock=clock)


def titles(found: list[Past]) -> list[str]:
    """Return what is found, by title, in order."""
    return [each.title for each in found]


def fill(store: Store, clock: FakeClock, tenant: str = "default") -> dict[str, str]:
    """Keep one thing of each table, an hour apart; return the ids by title, the oldest first."""
    cache = Cache(store, tenant=tenant, clock=clock)
    cache.put_search("retries in a search", [RESULT])
    clock.advance(HOUR)
    cache.put_research("retries in a research", "general", ResearchContext("They stop.", [["a"]], [0.5]))
    clock.advance(HOUR)
    cache.put_run(RUN, "retries in a run", "corpus", {"question": "retries in a run", "state": "gathering"})
    clock.advance(HOUR)
    knowing(store, clock, tenant).write("retries in a document", "Three, with jitter.", source_url="https://e.org/r")
    clock.advance(HOUR)
    return {each.title: each.id for each in reversed(past_of(store, clock, tenant).find())}


def put(store: Store, key: str, text: str, payload: bytes, *, at: float = NOW, table: str = SEARCHES) -> None:
    """Keep a row as it is."""
    own: dict[str, tuple[Any, ...]] = {
        SEARCHES: (10, "ddgs", "{}"),
        RESEARCH: ("[]", "[]", "general", ""),
        RUNS: ("corpus",),
        KNOWLEDGE: ("", 1),
    }
    entry = Entry(key, text, payload, at, at + DAY, at, own[table])
    if table == KNOWLEDGE:  # which has its vectors from where it is written
        entry = replace(entry, embedding=WordEmbedder().embed([text])[0].tobytes(), embedder=WordEmbedder().id)
    put_payload(store, table, entry)


def _is_text(payload: bytes) -> bool:
    try:
        return bool(payload.decode()) or not payload
    except UnicodeDecodeError:
        return False


# --- by origin, and repeats


def runs_of(cache: Cache, clock: FakeClock, question: str, *numbers: int, engine: str = "corpus") -> None:
    """Record runs of a question, a minute apart."""
    for number in numbers:
        cache.put_run(f"20261122-101500-{number:06x}", question, engine, {"question": question})
        clock.advance(60)


@pytest.mark.parametrize("query", ["", "retries"])
def test_a_repeated_research_is_one_thing(history: History, cache: Cache, clock: FakeClock, query: str) -> None:
    """With the number of its runs, the newest first, and the newest time; another engine makes another research."""
    cache.put_research("why retries", "general", ResearchContext("They stop.", [["a"]], [0.5]))
    runs_of(cache, clock, "why retries", 1, 2)
    runs_of(cache, clock, "why retries", 3, engine="ddgs")
    runs_of(cache, clock, " Why  retries ", 4)
    found = {each.id: each for each in history.find(query, source="research")}
    newest, other = (f"20261122-101500-{number:06x}" for number in (4, 3))
    assert list(found) == [newest, other]
    assert found[newest].count == 3
    assert found[newest].ids == (newest, "20261122-101500-000002", "20261122-101500-000001")
    assert found[newest].timestamp == NOW + 180
    assert (found[other].count, found[other].ids) == (1, (other,))
    assert len(history.find(query, source="research", limit=1)) == 1
    assert titles(history.find(query, source="research", offset=1)) == ["why retries"]


@pytest.mark.parametrize("query", ["", "retries"])
def test_what_was_made_for_others_is_shown_on_demand(
    history: History, store: Store, clock: FakeClock, query: str
) -> None:
    """A user's and an agent's searches and researches by default; those of evaluations and experiments by name."""
    for number, origin in enumerate(EVERY[:4]):
        of_origin = Cache(store, clock=clock, origin=origin)
        of_origin.put_search(f"retries of {origin}", [RESULT])
        runs_of(of_origin, clock, f"retries of {origin}", *range(10 * number, 10 * number + 3))
    shown = {"user", "agent"}
    for choice, wanted in (("own", shown), ("evaluation", {"evaluation"}), ("all", {*EVERY[:4]})):
        found = history.find(query, origin=choice, limit=100)
        assert sorted(titles(found)) == sorted(f"retries of {origin}" for origin in wanted for _ in range(2))
    with pytest.raises(InvalidInput, match="no such origin: 'strangers'; choose own, user"):
        history.find(origin="strangers")


@pytest.mark.parametrize("query", ["", "retries"])
def test_what_a_run_searches_belongs_to_the_run(history: History, store: Store, clock: FakeClock, query: str) -> None:
    """Until the user asks the same, by itself."""
    cache = Cache(store, clock=clock)
    cache.recording().put_search("retries of a run", [RESULT])
    assert history.find(query) == []
    assert titles(history.find(query, origin="run")) == ["retries of a run"]
    cache.claim("Retries of a run", "ddgs", {})
    assert titles(history.find(query)) == ["retries of a run"]
    cache.recording().put_search("retries of a run", [RESULT])
    assert history.find(query) == [], "stored again, for a run"
    Cache(store, clock=clock, origin="evaluation").claim("retries of a run", "ddgs", {})
    assert history.find(query) == []


# --- by time


def test_the_newest_come_first(history: History, store: Store, clock: FakeClock) -> None:
    """Without a query, all that was kept is listed by time, each as similar as can be, with an excerpt."""
    fill(store, clock)
    found = history.find()
    assert titles(found) == [f"retries in a {what}" for what in ("document", "run", "research", "search")]
    assert [each.source for each in found] == ["knowledge", "research", "research", "search"]
    assert {each.similarity for each in found} == {1.0}
    assert [each.timestamp for each in found] == [NOW + hours * HOUR for hours in (3, 2, 1, 0)]
    assert [each.snippet for each in found] == ["Three, with jitter.", "", "They stop.", RESULT["body"]]
    assert [each.url for each in found] == ["https://e.org/r", "", "", RESULT["href"]]
    assert history.find(" \n\t") == found, "only spaces are no query"


@pytest.mark.parametrize(
    ("source", "found"),
    [("search", ["search"]), ("research", ["run", "research"]), ("knowledge", ["document"])],
)
@pytest.mark.parametrize("query", ["", "retries"])
def test_one_source_alone(
    history: History, store: Store, clock: FakeClock, query: str, source: str, found: list[str]
) -> None:
    """A source leaves out the others; a research is found by the record of its run, and by what it gathered."""
    fill(store, clock)
    assert sorted(titles(history.find(query, source=source))) == sorted(f"retries in a {what}" for what in found)


@in_memory
@pytest.mark.parametrize("query", ["", "retries"])
def test_since_when(history: History, store: Store, clock: FakeClock, query: str) -> None:
    """What was stored at that very moment counts, what was a moment before does not."""
    fill(store, clock)
    third = NOW + 2 * HOUR
    assert sorted(titles(history.find(query, since=third))) == ["retries in a document", "retries in a run"]
    assert titles(history.find(query, since=third + 0.001)) == ["retries in a document"]
    assert history.find(query, since=NOW + DAY) == []


@in_memory
def test_what_is_expired_says_so(history: History, cache: Cache, clock: FakeClock) -> None:
    """Too old to answer is not forgotten: it is found, by time and by meaning, and marked from its very second on."""
    cache.put_search("retries", [RESULT], ttl=HOUR)
    clock.advance(HOUR - 1)
    assert [each.expired for each in history.find()] == [False]
    clock.advance(1)
    assert [each.expired for each in history.find()] == [True]
    assert [(each.title, each.expired) for each in history.find("retries")] == [("retries", True)]


# --- by meaning


@in_memory
def test_the_most_similar_come_first(history: History, cache: Cache, clock: FakeClock) -> None:
    """With a query, what means about the same comes first, told with three decimals; what is foreign is absent."""
    for query in ("retries of a client", "retries", "autumn sea", "retries of a client library"):
        cache.put_search(query, [RESULT])
        clock.advance(1)
    found = history.find("retries of a client")
    assert titles(found) == ["retries of a client", "retries of a client library", "retries"]
    assert found[0].similarity == 1.0
    assert all(each.similarity == round(each.similarity, 3) for each in found)
    assert found[1].similarity > found[2].similarity > 0.2


def test_engines_and_options_are_all_looked_in(history: History, cache: Cache, store: Store) -> None:
    """One query finds the searches of every engine, with every option, and researches of every kind and fingerprint."""
    cache.put_search("retries", [RESULT])
    cache.put_search("retries", [RESULT], engine="corpus:notes")
    cache.put_search("retries", [RESULT], engine="searxng", options={"language": "de"})
    cache.put_search("retries", [RESULT], engine="searxng", options={"language": "fr"})
    cache.put_research("retries", "general", ResearchContext("x", [], []))
    cache.put_research("retries", "academic", ResearchContext("x", [], []), fingerprint="f")
    assert len(history.find("retries")) == 6
    assert len({each.id for each in history.find("retries")}) == 6
    about = [history.entry("search", each.id).about for each in history.find("retries", source="search")]
    assert sorted((each["engine"], each["options"]) for each in about) == [
        ("corpus:notes", "{}"), ("ddgs", "{}"), ("searxng", '{"language":"de"}'), ("searxng", '{"language":"fr"}'),
    ]  # fmt: skip


def test_rows_without_a_vector_get_one(store: Store, clock: FakeClock) -> None:
    """What was stored without a model is found by meaning from the first query on, and embedded once."""
    fill(store, clock)
    embedder = WordEmbedder()
    history = past_of(store, clock, embedder=embedder)
    assert len(history.find("retries")) == 4
    assert len(history.find("retries")) == 4
    assert sorted(embedder.texts) == sorted(
        ["retries", "retries", *(f"retries in a {what}" for what in ("run", "research", "search"))]
    )


def test_vectors_of_another_model_are_not_compared(store: Store, clock: FakeClock, cache: Cache) -> None:
    """With another model, rows are embedded anew; a similarity of two models' vectors would mean nothing."""
    cache.put_search("retries", [RESULT])

    class Other(WordEmbedder):
        id = "words-reversed"

        def _vector(self, text: str) -> Any:
            return -super()._vector(text)

    assert len(past_of(store, clock).find("retries")) == 1
    assert [each.similarity for each in past_of(store, clock, embedder=Other()).find("retries")] == [1.0]


@in_memory
def test_a_store_that_takes_no_vectors_still_answers(clock: FakeClock, cache: Cache, tmp_path: Path) -> None:
    """Looking is reading: where vectors cannot be kept (another writes, the disk is full), it goes on without."""
    store = refusing(StoreBusy("another process writes"), "nearest.embed")
    Cache(store, clock=clock).put_search("retries", [RESULT])
    assert past_of(store, clock).find("retries") == []
    assert titles(past_of(store, clock).find()) == ["retries"]


@in_memory
def test_without_a_model_it_says_so(store: Store, clock: FakeClock, cache: Cache) -> None:
    """A model that fails is a failure of its own, never an empty past; by time everything is still there."""

    class Broken(WordEmbedder):
        def embed(self, texts: Any) -> Any:
            raise EmbeddingError("the model is missing")

    cache.put_search("retries", [RESULT])
    history = past_of(store, clock, embedder=Broken())
    with pytest.raises(SearchBackendError, match="the model is missing"):
        history.find("retries")
    assert titles(history.find()) == ["retries"]


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
    """Page by page everything is there once, in the order of one long page, be it stored or similar to a hair alike."""
    cache = Cache(store, clock=clock)
    for number in range(11):
        cache.put_run(f"20261122-101500-{number:06x}", "retries", f"corpus {number}", {"question": "retries"})
        clock.advance(apart)
        cache.put_search(f"retries {number % 3}", [RESULT], engine=f"engine {number}")
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
    """A full page on which the past ends has no page after it."""
    for number in range(4):
        cache.put_search(f"retries {number}", [RESULT])
        clock.advance(1)
    assert history.page(limit=3).more
    for limit, offset in ((4, 0), (2, 2), (5, 0), (3, 4)):
        assert not history.page(limit=limit, offset=offset).more
        assert not history.page("retries", limit=limit, offset=offset).more
    assert history.page(limit=3, offset=4).items == []


def test_what_goes_while_one_looks_leaves_a_gap_and_no_end(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that is deleted between its listing and its reading is left out; the pages after it are still there."""
    store = MemoryStore()
    get, gone = store.rows.get, ""

    def vanishing(table: str, tenant: str, key: str) -> Entry | None:
        return None if key == gone else get(table, tenant, key)

    monkeypatch.setattr(store.rows, "get", vanishing)
    cache = Cache(store, clock=clock)
    for number in range(5):
        cache.put_search(f"retries {number}", [RESULT])
        clock.advance(1)
    history = past_of(store, clock)
    gone = history.find()[1].id
    page = history.page(limit=3)
    assert (titles(page.items), page.more) == (["retries 4", "retries 2"], True)


# --- what is asked wrongly


@in_memory
@pytest.mark.parametrize(
    "asked",
    [
        {"limit": 0}, {"limit": -1}, {"limit": MAX_LIMIT + 1}, {"offset": -1}, {"offset": MAX_OFFSET + 1},
        {"since": float("nan")}, {"since": float("inf")}, {"since": -1.0}, {"source": ""}, {"source": "web"},
        {"source": "SEARCH"}, {"source": "search' OR 1=1 --"}, {"source": "access_tokens"},
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_told(history: History, asked: dict[str, Any]) -> None:
    """A number out of its range, or no such source, is an error of the caller's, in one line."""
    with pytest.raises(InvalidInput) as told:
        history.find("retries", **asked)
    assert "\n" not in str(told.value)


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
def test_since_of_nothing_is_told(text: str) -> None:
    """What is no time is never taken for ever."""
    with pytest.raises(InvalidInput, match="since is a date"):
        since_of(text, NOW)


@given(st.text(max_size=80))
def test_since_of_any_text_is_a_moment_or_told(text: str) -> None:
    """Any text whatever gives a moment that a history can be asked for, or the one error."""
    with suppress(InvalidInput):
        assert 0.0 <= since_of(text, NOW) < 253_402_300_800.0


# --- what was deleted


@pytest.mark.parametrize("query", ["", "retries"])
def test_what_was_cleared_is_gone(store: Store, clock: FakeClock, query: str) -> None:
    """By whichever road a thing was deleted, nothing finds it afterwards, though it was found by meaning before."""
    ids = fill(store, clock)
    history, cache = past_of(store, clock), Cache(store, clock=clock)
    assert len(history.find("retries")) == 4

    def left() -> list[str]:
        return sorted(each.rpartition(" ")[2] for each in titles(history.find(query)))

    cache.delete({SEARCHES: [history.entry("search", ids["retries in a search"]).entry]})
    assert left() == ["document", "research", "run"]
    knowing(store, clock).delete(ids["retries in a document"])
    assert left() == ["research", "run"]
    cache.clear()
    assert left() == ["run"]
    clock.advance(1_000 * DAY)
    cache.sweep()
    assert left() == []


def test_what_was_swept_is_gone(store: Store, clock: FakeClock) -> None:
    """A sweep takes what is expired out of the history, and nothing else."""
    cache, history = Cache(store, clock=clock), past_of(store, clock)
    cache.put_search("retries of old", [RESULT], ttl=HOUR)
    cache.put_search("retries of late", [RESULT], ttl=DAY)
    assert len(history.find("retries")) == 2
    clock.advance(2 * HOUR)
    cache.sweep()
    assert titles(history.find("retries")) == titles(history.find()) == ["retries of late"]


@in_memory
def test_a_title_that_was_changed_is_found_by_its_new_words(store: Store, clock: FakeClock) -> None:
    """After an update, the old words of a document find nothing, and the new ones find it."""
    knowledge, history = knowing(store, clock), past_of(store, clock)
    document = knowledge.write("retries of a gateway", "Three.").document
    assert titles(history.find("gateway")) == ["retries of a gateway"]
    knowledge.write(id=document.id, title="backoff policy")
    assert history.find("gateway") == []
    assert titles(history.find("backoff")) == ["backoff policy"]


# --- tenants


def test_each_tenant_sees_its_own(store: Store, clock: FakeClock) -> None:
    """Neither by time, nor by meaning, nor by its id, anything of another tenant is found."""
    theirs = fill(store, clock, "theirs")
    Cache(store, tenant="mine", clock=clock).put_search("retries of mine", [RESULT])
    mine = past_of(store, clock, "mine")
    assert len(past_of(store, clock, "theirs").find("retries")) == 4
    assert titles(mine.find()) == titles(mine.find("retries")) == ["retries of mine"]
    for source in TABLES_OF:
        for key in theirs.values():
            with pytest.raises(NotFound):
                mine.entry(source, key)


# --- one thing, whole


def test_one_thing_is_told_whole(history: History, store: Store, clock: FakeClock) -> None:
    """By source and id a thing is told as it is kept, with where it came from by name."""
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
def test_what_is_not_there_is_told(history: History, cache: Cache, key: str) -> None:
    """An id of nothing, or of another source, is not found; the message is bounded and printable."""
    cache.put_run(RUN, "retries", "corpus", {"question": "retries"})
    with pytest.raises(NotFound) as told:
        history.entry("search", key)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 200


# --- hostile and damaged payloads

NASTY = [
    b"", b"null", b"[]", b"{}", b"[[]]", b"[null]", b"[1]", b'"x"', b"42", b"true", b"\xff\xfe", b"{", b'{"report": 1}',
    b'{"report": {"citations": [1]}}', b'{"report": {"citations": "x"}}', b'{"sources": [1]}', b'{"sources": {}}',
    b'{"sources": [{"texts": [{"a": 1}], "url": 1}]}', b'[{"title": 1, "href": [], "body": {}}]', b"[" * 5_000,
    b'{"content": 1, "source_url": []}', b'[{"body": "' + b"x" * 200_000 + b'"}]', b'{"title": NaN}', b'"\\ud800"',
    b'[{"title": "<script>alert(1)</script>", "href": "javascript:alert(1)", "body": "\\u202e\\u0000\\u001b[2J"}]',
]  # fmt: skip


def assert_harmless(past: Past) -> None:
    """Check that what is shown is bounded, on one line, without control characters, and fit for JSON."""
    for text, most in ((past.title, 300), (past.snippet, 300), (past.url, 2_000), (past.id, 200)):
        assert len(text) <= most
        assert not any(character in text for character in "\n\r\t\x00\x07\x1b\x7f\x9b\u2028\u202e\u2066\u200f\ufeff")
        text.encode()
    assert msgspec.json.decode(msgspec.json.encode(as_json(past)))["title"] == past.title


@pytest.mark.parametrize("table", [table for tables in TABLES_OF.values() for table in tables])
def test_damaged_payloads_are_shown_as_text(store: Store, history: History, table: str) -> None:
    """Whatever a row holds, it is listed, found by meaning, and told whole, without an error."""
    nasty = [each for each in NASTY if isinstance(store, SqliteParts) or _is_text(each)]
    for number, payload in enumerate(nasty):
        put(store, f"{number:08x}", f"retries {number}", payload, table=table)
    for found in (history.find(limit=100), history.find("retries", limit=100)):
        assert len(found) == len(nasty)
        for past in found:
            assert_harmless(past)
    for number in range(len(nasty)):
        msgspec.json.encode(history.entry(past.source, f"{number:08x}").data)


@given(
    payload=st.binary(max_size=200) | st.from_type(dict).map(repr).map(str.encode),
    table=st.sampled_from(list(TABLES_OF)),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_any_payload_is_harmless(payload: bytes, table: str) -> None:
    """Any bytes whatever are shown as bounded text."""
    store, clock = MemoryStore(), FakeClock(NOW)
    for name in TABLES_OF[table]:  # type: ignore[index]
        put(store, "0", "retries", payload, table=name)
    history = past_of(store, clock)
    assert history.entry(table, "0").entry.payload == payload
    for past in (*history.find(), *history.find("retries")):
        assert_harmless(past)
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
@settings(max_examples=60)
def test_any_json_is_harmless(held: Any) -> None:
    """JSON of the right names and the wrong types is shown as bounded text."""
    import json

    store, clock = MemoryStore(), FakeClock(NOW)
    payload = json.dumps(held).encode()
    for number, name in enumerate(name for tables in TABLES_OF.values() for name in tables):
        put(store, str(number), "retries", payload, table=name)
    for past in past_of(store, clock).find():
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
    """A title of a megabyte, control characters and direction overrides never reach who looks."""
    put(store, "0", title, msgspec.json.encode([{"title": title, "href": f"https://e.org/{title}", "body": title}]))
    for past in (*history.find(), *history.find("retries")):
        assert_harmless(past)


@in_memory
def test_a_context_that_is_json_of_its_own_is_shown(history: History, cache: Cache) -> None:
    """What a script has kept as the context of a research is shown as it begins, whatever its form."""
    cache.put_research("retries", "general", ResearchContext('{"summary": "They stop."}', [], []))
    assert [each.snippet for each in history.find()] == ['{"summary": "They stop."}']


def test_a_store_that_is_down_is_told(clock: FakeClock) -> None:
    """Where the database cannot be read, that is said; an empty past would be a lie."""
    methods = ("listings.timeline", "nearest.scopes", "rows.get", "rows.get_whole")
    history = past_of(refusing(StoreBusy("another process writes"), *methods), clock)
    for look in (history.find, lambda: history.find("retries"), lambda: history.entry("search", "0")):
        with pytest.raises(StoreBusy):
            look()


def test_rows_that_another_program_wrote_are_harmless(tmp_path: Path, clock: FakeClock) -> None:
    """Rows whose columns hold other types than declared, as SQLite allows, are listed, or told as damage."""
    store = SqliteStore(tmp_path / "past.db")
    Cache(store, clock=clock).put_search("retries", [RESULT])
    with sqlite3.connect(tmp_path / "past.db") as connection:
        connection.execute("UPDATE search_cache SET results = X'FFFE00', query = X'FF00', max_results = 'many'")
    connection.close()
    for query in ("", "retries"):
        with suppress(StoreError):
            for past in past_of(store, clock).find(query):
                assert_harmless(past)
    store.close()


# --- the real model


@in_memory
@pytest.mark.slow
def test_the_real_model_finds_by_meaning(store: Store, clock: FakeClock) -> None:
    """With the model that is shipped, other words for the same are found, and what is foreign comes last or not."""
    from harness.models.local.embedder import MiniLM

    cache = Cache(store, clock=clock)
    for query in ("best practices for rag pipelines", "GitHub API rate limits", "colour of the autumn sea"):
        cache.put_search(query, [RESULT])
    history = past_of(store, clock, embedder=MiniLM())
    found = history.find("rag pipeline best practices")
    assert found[0].title == "best practices for rag pipelines"
    assert found[0].similarity > 0.9
    assert "colour of the autumn sea" not in titles(found)
    assert titles(history.find("how many requests may I send to github"))[0] == "GitHub API rate limits"
