"""Pages, completions and derived values: cached by their keys, computed once."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness.cache import Answer, Cache, Policy
from harness.cache.page_cache import PageRequest
from harness.core.entries import Hit, Miss
from harness.core.pages import Page
from harness.core.sites import ANY_SITE, Sites
from harness.core.tables import COMPLETIONS, PAGES, UNANSWERED
from harness.errors import (
    AddressRefused,
    InvalidInput,
    ModelUnavailable,
    OfflineMiss,
    PageError,
    SiteLeftOut,
    StoreError,
)
from harness.ports import Completion, Message
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import semantic_cache
from tests.fakes import FakeClock, refusing

URL = "https://example.org/a?x=1"
HOUR = 3_600.0
DEADLINE = 60
ASKED: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is bread?"}]


class Reader:
    """Reads the same text everywhere, or raises; counts."""

    def __init__(self, text: str | Exception = "Bread is made of flour.", name: str = "reader-1") -> None:
        self.name = name
        self.text = text
        self.asked: list[str] = []

    def read(self, url: str, held: Page | None = None, sites: Sites = ANY_SITE) -> Page:
        """See `PageReader.read`."""
        self.asked.append(url)
        if isinstance(self.text, Exception):
            raise self.text
        return Page(url, "A page", self.text, "text/plain")


class Model:
    """Answers with one text in two parts, or raises; counts."""

    def __init__(self, text: str | Exception = "Baked flour.", **own: Any) -> None:
        self.name = own.get("name", "model")
        self.endpoint = own.get("endpoint", "http://127.0.0.1/v1")
        self.parameters: Mapping[str, Any] = own.get("parameters", {"temperature": 0})
        self.text = text
        self.calls = 0

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """See `LanguageModel.complete`."""
        self.calls += 1
        if isinstance(self.text, Exception):
            raise self.text
        if on_text is not None:
            on_text(self.text[:3])
            on_text(self.text[3:])
        return Completion(self.text, whole=True, prompt_tokens=7)


def full_store(path: Path) -> SqliteStore:
    """Return a store that takes nothing more."""
    store: SqliteStore = refusing(StoreError("the disk is full"), "rows.put", store=SqliteStore(path))
    return store


@pytest.fixture
def cache(store: SqliteStore, clock: FakeClock) -> Cache:
    """A cache without lookups by meaning."""
    return Cache(store, clock=clock)


def with_policy(store: SqliteStore, clock: FakeClock, **policy: Any) -> Cache:
    """Return another cache on the same store."""
    return Cache(store, clock=clock, policy=Policy(**policy))


# --- pages


@pytest.mark.parametrize(
    "spelling",
    [
        URL,
        "HTTPS://Example.ORG:443/a?x=1",
        "https://example.org/a/?x=1#part",
        "https://example.org/%61?x=1&utm_source=mail",
        f"  {URL}\n",
    ],
)
def test_any_spelling_of_an_address_is_the_same_page(cache: Cache, spelling: str) -> None:
    """It is read once, and the second time it is an exact hit with the same text."""
    reader = Reader()
    first, second = cache.pages.answer(URL, reader), cache.pages.answer(spelling, reader)
    assert (first.how, second.how, len(reader.asked)) == ("live", "exact", 1)
    assert isinstance(first.outcome, Miss)
    assert isinstance(second.outcome, Hit)
    assert second.value == first.value


@pytest.mark.parametrize(("error", "shared"), [(SiteLeftOut("it redirects"), False), (PageError("HTTP 500"), True)])
def test_a_redirect_that_one_may_not_follow_is_no_failure_for_others(
    cache: Cache, store: SqliteStore, error: Exception, *, shared: bool
) -> None:
    """Processes with other lists of sites read the page themselves; a page that fails for all is shared."""
    skip = Sites.of((), ("example.com",))
    with pytest.raises(type(error)):
        cache.pages.answer(URL, Reader(error), sites=skip)
    assert bool(list(store.listings.scan(UNANSWERED, "default"))) is shared
    flights = [PageRequest(key="k", text=URL, ttl=1, kind=Page, sites=each).flight for each in ("a", "b", "")]
    assert flights == ["web_pages k a", "web_pages k b", "web_pages k"]
    assert cache.pages.answer(URL, Reader()).how == "live"


@pytest.mark.parametrize("other", ["https://example.org/A?x=1", "http://example.org/a?x=1", "https://example.org/a"])
def test_another_address_is_another_page(cache: Cache, other: str) -> None:
    """Case of the path, scheme and parameters count."""
    reader = Reader()
    cache.pages.answer(URL, reader)
    assert cache.pages.answer(other, reader).how == "live"


def test_pages_of_another_reader_are_read_again(cache: Cache) -> None:
    """A newer extraction does not answer with the text of the older one."""
    cache.pages.answer(URL, Reader("old", "reader-1"))
    assert cache.pages.answer(URL, Reader("new", "reader-2")).value.text == "new"
    assert cache.pages.answer(URL, Reader("never", "reader-1")).value.text == "old"


def test_a_page_lives_for_its_ttl(cache: Cache, clock: FakeClock) -> None:
    """At the second of its expiry it is read again."""
    reader = Reader()
    cache.pages.answer(URL, reader, ttl=60)
    clock.advance(59)
    assert cache.pages.answer(URL, reader).how == "exact"
    clock.advance(1)
    assert cache.pages.answer(URL, reader).how == "live"


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf"), "1"])
def test_an_unusable_lifetime_is_refused_before_anything_is_read(cache: Cache, ttl: Any) -> None:
    """`InvalidInput`, and no read."""
    reader = Reader()
    with pytest.raises(InvalidInput, match="ttl"):
        cache.pages.answer(URL, reader, ttl=ttl)
    assert reader.asked == []


def test_a_page_about_now_keeps_its_lifetime(cache: Cache, clock: FakeClock) -> None:
    """The words of a query shorten the lifetime of a search; an address does not."""
    cache.pages.answer("https://example.org/latest/news", reader := Reader(), ttl=10 * HOUR)
    clock.advance(9 * HOUR)
    assert cache.pages.answer("https://example.org/latest/news", reader).how == "exact"


def test_an_expired_page_is_served_when_it_cannot_be_read(store: SqliteStore, clock: FakeClock) -> None:
    """Within the window, as stale; beyond it, the error is raised."""
    cache = with_policy(store, clock, stale_if_error=100)
    cache.pages.answer(URL, Reader("then"), ttl=60)
    clock.advance(160)
    late = cache.pages.answer(URL, Reader(PageError("gone")))
    assert (late.value.text, late.how) == ("then", "stale")
    clock.advance(1)
    with pytest.raises(PageError, match="gone"):
        cache.pages.answer(URL, Reader(PageError("gone")))


def test_refreshing_reads_again_and_stores_the_page(store: SqliteStore, clock: FakeClock) -> None:
    """`--refresh` looks nothing up; later lookups get the new page."""
    with_policy(store, clock).pages.answer(URL, Reader("then"))
    clock.advance(1)
    assert with_policy(store, clock, read=False).pages.answer(URL, Reader("now")).value.text == "now"
    assert with_policy(store, clock).pages.answer(URL, Reader("never")).value.text == "now"


def test_without_the_cache_nothing_is_looked_up_or_stored(store: SqliteStore, clock: FakeClock) -> None:
    """`--no-cache` neither reads nor writes, not even a failure."""
    with_policy(store, clock).pages.answer(URL, Reader("then"))
    without = with_policy(store, clock, read=False, write=False)
    assert without.pages.answer(URL, Reader("now")).value.text == "now"
    with pytest.raises(PageError):
        without.pages.answer(URL, Reader(PageError("gone")))
    assert with_policy(store, clock).pages.answer(URL, Reader("never")).value.text == "then"
    assert list(store.listings.scan(UNANSWERED, "default")) == []


def test_offline_only_the_cache_answers(store: SqliteStore, clock: FakeClock) -> None:
    """A cached page is an exact hit; a missing or expired one is an `OfflineMiss` before anything is read."""
    with_policy(store, clock).pages.answer(URL, Reader("then"), ttl=60)
    offline, reader = with_policy(store, clock, offline=True), Reader()
    assert offline.pages.answer(URL, reader).value.text == "then"
    with pytest.raises(OfflineMiss, match="nothing is cached"):
        offline.pages.answer("https://example.org/other", reader)
    clock.advance(60)
    with pytest.raises(OfflineMiss, match="expired"):
        offline.pages.answer(URL, reader)
    assert reader.asked == []


@pytest.mark.parametrize("error", [PageError("404"), AddressRefused("private"), InvalidInput("no address")])
def test_a_failed_read_is_no_answer(cache: Cache, clock: FakeClock, error: Exception) -> None:
    """The typed error is raised, nothing is stored as a page, and the next call reads again."""
    with pytest.raises(type(error), match=str(error)):
        cache.pages.answer(URL, Reader(error))
    assert next(row for row in cache.maintenance.stats() if row.table == PAGES).total == 0
    clock.advance(0.001)
    assert cache.pages.answer(URL, Reader()).how == "live"


def test_a_page_that_failed_at_the_time_fails_again_when_replayed(store: SqliteStore, clock: FakeClock) -> None:
    """With the same error, code and message, and without a read."""
    with pytest.raises(AddressRefused):
        with_policy(store, clock).pages.answer(URL, Reader(AddressRefused("127.0.0.1 is private")))
    reader = Reader()
    with pytest.raises(AddressRefused, match=r"127\.0\.0\.1 is private"):
        with_policy(store, clock, offline=True, replay=True, write=False).pages.answer(URL, reader)
    assert reader.asked == []


def test_a_page_read_after_a_failure_is_what_is_replayed(store: SqliteStore, clock: FakeClock) -> None:
    """The answer comes before the failure."""
    cache = with_policy(store, clock)
    with pytest.raises(PageError):
        cache.pages.answer(URL, Reader(PageError("gone")))
    clock.advance(1)
    cache.pages.answer(URL, Reader("there"))
    replayed = with_policy(store, clock, offline=True, replay=True, write=False).pages.answer(URL, Reader())
    assert replayed.value.text == "there"


def wait_until_all_wait(cache: Cache, count: int) -> None:
    """Wait until all but one of `count` threads wait for the flight of that one."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        flights = list(cache._context.flights._flights.values())
        if flights and len(flights[0]._condition._waiters) == count - 1:
            return
        time.sleep(0.005)
    raise AssertionError("they never waited")


def read_together(cache: Cache, reader: Reader, count: int = 8) -> list[Any]:
    """Let `count` threads read one page, all before the reader answers; return what each got, or its error."""
    opened = threading.Event()
    read = reader.read

    def slow(url: str) -> Page:
        assert opened.wait(DEADLINE)
        return read(url)

    def one(_: int) -> Any:
        try:
            return cache.pages.answer(URL, reader)
        except PageError as error:
            return error

    reader.read = slow  # type: ignore[method-assign]
    with ThreadPoolExecutor(count + 1) as pool:
        opener = pool.submit(lambda: (wait_until_all_wait(cache, count), opened.set()))
        got = list(pool.map(one, range(count)))
        opener.result()
    return got


def test_of_many_threads_one_reads(store: SqliteStore) -> None:
    """The others get its page, as a hit."""
    reader = Reader()
    got: list[Answer[Page]] = read_together(Cache(store), reader)
    assert len(reader.asked) == 1
    assert sorted(answer.how for answer in got) == ["exact"] * 7 + ["live"]
    assert {answer.value.text for answer in got} == {"Bread is made of flour."}


def test_a_failure_reaches_all_that_wait(store: SqliteStore) -> None:
    """The same typed error, and only one read."""
    reader = Reader(AddressRefused("private"))
    got = read_together(Cache(store), reader)
    assert len(reader.asked) == 1
    assert [type(error) for error in got] == [AddressRefused] * 8


def test_a_process_that_waited_raises_the_same_failure(store: SqliteStore, clock: FakeClock) -> None:
    """A failure since it began to wait is raised there, too, with the same type; an earlier failure is not."""
    reader = Reader()
    waiting, first = Cache(store, clock=clock), Cache(store, clock=clock)
    take_lock = waiting._context.flights._take_lock

    def fail_meanwhile(name: str, stack: Any) -> None:
        clock.advance(1)
        with pytest.raises(AddressRefused):
            first.pages.answer(URL, Reader(AddressRefused("private")))
        take_lock(name, stack)

    waiting._context.flights._take_lock = fail_meanwhile  # type: ignore[method-assign]
    with pytest.raises(AddressRefused, match="private"):
        waiting.pages.answer(URL, reader)
    assert reader.asked == []
    waiting._context.flights._take_lock = take_lock  # type: ignore[method-assign]
    clock.advance(1)
    assert waiting.pages.answer(URL, reader).how == "live"


def test_a_page_teaches_abbreviations_but_is_not_found_by_meaning(store: SqliteStore) -> None:
    """Its definitions are learned, as from results, and deleted with the row; it has no vector."""
    cache = semantic_cache(store)
    cache.pages.answer(URL, Reader("Retrieval-augmented generation (RAG) looks documents up first."))
    assert [meaning.lower() for _, meaning in store.nearest.meanings("default", ["RAG"])] == [
        "retrieval-augmented generation"
    ]
    (entry,) = store.listings.scan(PAGES, "default")
    assert (entry.embedding, entry.embedder) == (None, None)
    assert all(row.unembedded == 0 for row in cache.maintenance.stats())
    cache.maintenance.clear()
    assert store.nearest.meanings("default", ["RAG"]) == []


@pytest.mark.parametrize("payload", ["", "{", "[]", '{"url": 1}', '"text"', "null"])
def test_an_unreadable_row_is_read_again_and_replaced(
    cache: Cache, store: SqliteStore, caplog: pytest.LogCaptureFixture, payload: str
) -> None:
    """It costs a warning and a read, not an error; then it is a hit again."""
    reader = Reader()
    cache.pages.answer(URL, reader)
    sql = "UPDATE web_pages SET page = ?, checksum = NULL"  # as an older program leaves it
    store._connections.write(lambda connection: connection.execute(sql, (payload,)))
    assert cache.pages.answer(URL, reader).value.text == reader.text
    assert "unreadable" in caplog.text
    assert cache.pages.answer(URL, reader).how == "exact"
    assert len(reader.asked) == 2


def test_a_page_that_cannot_be_stored_is_returned(
    store: SqliteStore, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk costs an error in the log, once."""
    full = full_store(store.path)
    cache = Cache(full, clock=clock)
    for _ in range(2):
        assert cache.pages.answer(URL, Reader("read all the same")).value.text == "read all the same"
    assert caplog.text.count("the disk is full") == 1
    full.close()


def test_a_failure_on_a_full_disk_is_still_that_failure(store: SqliteStore, clock: FakeClock) -> None:
    """If the failure cannot be shared, it is still raised."""
    full = full_store(store.path)
    with pytest.raises(PageError, match="gone"):
        Cache(full, clock=clock).pages.answer(URL, Reader(PageError("gone")))
    full.close()


def test_a_long_address_is_stored_whole(cache: Cache, store: SqliteStore) -> None:
    """A report is verified by the address of the page."""
    url = f"https://example.org/{'a' * 3_000}"
    cache.pages.answer(url, Reader())
    assert [entry.text for entry in store.listings.scan(PAGES, "default")] == [url]


def test_an_address_of_broken_unicode_is_refused(cache: Cache) -> None:
    """`InvalidInput`, and no read."""
    reader = Reader()
    with pytest.raises(InvalidInput):
        cache.pages.answer("mailto:\ud800", reader)
    assert reader.asked == []


# --- completions


def test_a_model_is_asked_the_same_once(cache: Cache) -> None:
    """The second answer is an exact hit, equal in every field."""
    model = Model()
    first, second = cache.completions.answer(model, ASKED), cache.completions.answer(model, list(ASKED))
    assert (first.how, second.how, model.calls) == ("live", "exact", 1)
    assert second.value == first.value == Completion("Baked flour.", whole=True, prompt_tokens=7)


@pytest.mark.parametrize(
    "other",
    [
        {"model": Model(name="other")},
        {"model": Model(endpoint="http://127.0.0.2/v1")},
        {"model": Model(parameters={"temperature": 1})},
        {"model": Model(parameters={})},
        {"messages": ASKED[1:]},
        {"messages": ASKED[::-1]},
        {"messages": [ASKED[0], {"role": "user", "content": "what is bread?"}]},
        {"schema": {"type": "object"}},
        {"schema": {}},
        {"epoch": "2"},
    ],
)
def test_any_difference_asks_the_model_again(cache: Cache, other: dict[str, Any]) -> None:
    """Model, endpoint, parameters, messages and their order, schema, epoch: each is part of the key."""
    asked: dict[str, Any] = {"model": Model(), "messages": ASKED}
    cache.completions.answer(**asked)
    assert cache.completions.answer(**asked).how == "exact"
    assert cache.completions.answer(**asked | other).how == "live"


def test_the_order_of_parameters_does_not_count(cache: Cache) -> None:
    """JSON objects are the same in any order."""
    cache.completions.answer(Model(parameters={"seed": 1, "temperature": 0}), ASKED)
    assert cache.completions.answer(Model(parameters={"temperature": 0, "seed": 1}), ASKED).how == "exact"


def test_the_callback_gets_the_whole_text(cache: Cache) -> None:
    """In parts from the model; at once from the cache."""
    heard: list[str] = []
    cache.completions.answer(Model(), ASKED, on_text=heard.append)
    assert heard == ["Bak", "ed flour."]
    heard.clear()
    cache.completions.answer(Model(), ASKED, on_text=heard.append)
    assert heard == ["Baked flour."]


def test_offline_no_model_is_asked(store: SqliteStore, clock: FakeClock) -> None:
    """Cached completions answer; anything else is an `OfflineMiss`."""
    with_policy(store, clock).completions.answer(Model(), ASKED)
    offline, model = with_policy(store, clock, offline=True), Model()
    assert offline.completions.answer(model, ASKED).how == "exact"
    with pytest.raises(OfflineMiss):
        offline.completions.answer(model, ASKED, epoch="2")
    assert model.calls == 0


def test_a_model_that_fails_is_asked_again(cache: Cache, clock: FakeClock) -> None:
    """The failure is raised unchanged, and nothing is stored as an answer."""
    with pytest.raises(ModelUnavailable, match="down"):
        cache.completions.answer(Model(ModelUnavailable("down")), ASKED)
    clock.advance(0.001)
    assert cache.completions.answer(Model(), ASKED).how == "live"


@pytest.mark.parametrize("broken", ["\ud800", "a\udfffb"])
def test_broken_unicode_is_refused_before_the_model_is_asked(cache: Cache, broken: str) -> None:
    """In a message, a schema or an epoch: `InvalidInput`."""
    model = Model()
    for asked in (
        {"messages": [{"role": "user", "content": broken}]},
        {"messages": ASKED, "schema": {"title": broken}},
        {"messages": ASKED, "epoch": broken},
        {"messages": ASKED, "schema": {"x": object()}},
    ):
        with pytest.raises(InvalidInput):
            cache.completions.answer(model, **asked)  # type: ignore[arg-type]
    assert model.calls == 0


def test_an_unreadable_completion_is_asked_again(cache: Cache, store: SqliteStore) -> None:
    """Like an unreadable page."""
    cache.completions.answer(Model(), ASKED)
    store._connections.write(lambda connection: connection.execute("UPDATE completions SET completion = '{}'"))
    assert cache.completions.answer(Model("again"), ASKED).value.text == "again"
    assert len(list(store.listings.scan(COMPLETIONS, "default"))) == 1


def test_a_run_records_its_answers(cache: Cache) -> None:
    """Pages and completions, live and cached, and failures, with digests of the stored rows."""
    recording = cache.recording()
    recording.pages.answer(URL, Reader())
    recording.pages.answer(URL, Reader())
    recording.completions.answer(Model(), ASKED)
    with pytest.raises(PageError):
        recording.pages.answer("https://example.org/b", Reader(PageError("gone")))
    assert [(use.table, use.how) for use in recording.uses] == [
        (PAGES, "live"),
        (PAGES, "exact"),
        (COMPLETIONS, "live"),
        (PAGES, "failed"),
    ]
    assert recording.uses[0].digest == recording.uses[1].digest
    assert recording.uses[3].error == "page_error: gone"


# Evidence ------------------------------------------------------------------------------------------------------------


def test_a_derived_value_is_computed_once(cache: Cache) -> None:
    """The same question, sources and ranking; each of them counts."""
    asked: list[str] = []

    def find(name: str) -> list[str]:
        asked.append(name)
        return [name]

    def evidence(question: str, ranking: str, sources: object) -> list[str]:
        name = f"{question} {ranking} {sources}"
        return cache.derived.get(question, ranking, sources, lambda: find(name), list[str], ttl=60)

    assert evidence("q", "r", ["a"]) == evidence("q", "r", ["a"]) == ["q r ['a']"]
    assert evidence("other", "r", ["a"]) == ["other r ['a']"]
    assert evidence("q", "other", ["a"]) == ["q other ['a']"]
    assert evidence("q", "r", ["b"]) == ["q r ['b']"]
    assert len(asked) == 4


def test_a_derived_value_is_not_counted_as_an_answer(cache: Cache) -> None:
    """It is computed from answers, so it is not counted; it is recorded as derived, so that a replay has it."""
    mine = cache.recording()
    mine.derived.get("q", "r", [], lambda: [1], list[int], ttl=60)
    assert mine.derived.get("q", "r", [], lambda: [2], list[int], ttl=60) == [1]
    assert [use.how for use in mine.uses] == ["derived", "derived"]
    assert not any(cache.usage.total().values())
