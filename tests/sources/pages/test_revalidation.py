"""Expired pages that are renewed by a 304 instead of being read again: real servers, the real cache."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json, structs
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.cache import Answer, Cache, Policy
from harness.core.entries import Stale
from harness.core.keys import page_key
from harness.core.pages import Page
from harness.core.tables import PAGES
from harness.errors import OfflineMiss, PageError
from harness.sources.pages import reader as reader_module
from harness.sources.pages.extraction_process import Worker
from harness.sources.pages.fetch import conditions, entity_tag, http_date
from harness.sources.pages.reader import WebReader
from harness.storage.sqlite.store import SqliteStore
from tests.cli.program import Program
from tests.fakes import FakeClock
from tests.sources.pages.documents import page

TTL = 60.0
DAY = 86_400.0
ETAG = '"v1"'
DATE = "Mon, 05 Jan 2026 10:00:00 GMT"
HOSTILE = [
    "v1", '"v1', 'W/"v1" , "v2"', '"v\x7f1"', '"\u00e9"', '"' + "x" * 201 + '"', "W/v1", 'w/"v1"', '"a"b"', "*", '" "'
]  # fmt: skip


class Site:
    """A server with one page at `/page`. It answers 304 if a validator matches; `asked` has the requests for pages."""

    def __init__(self, server: HTTPServer) -> None:
        self.asked: list[Request] = []
        self.headers = {"ETag": ETAG, "Last-Modified": DATE}
        self.text = "First."
        self.url = server.url_for("/page")
        server.expect_request("/page").respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        """Answer a request for the page."""
        self.asked.append(request)
        sent = {request.headers.get("If-None-Match"), request.headers.get("If-Modified-Since")} - {None}
        if sent & set(self.headers.values()):
            return Response("", 304, self.headers)
        return Response(page(self.text), 200, self.headers, content_type="text/html")

    @property
    def conditional(self) -> list[tuple[str | None, str | None]]:
        """The validators of each request."""
        return [(each.headers.get("If-None-Match"), each.headers.get("If-Modified-Since")) for each in self.asked]


Read = Callable[..., Answer[Page]]


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    """The site."""
    return Site(httpserver)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """A store in a file."""
    made = SqliteStore(tmp_path / "harness.db")
    yield made
    made.close()


@pytest.fixture
def read(site: Site, store: SqliteStore, clock: FakeClock, reader: WebReader) -> Read:
    """Return a function that reads the page through a cache with this policy."""

    def ask(url: str = "", tenant: str = "default", **policy: Any) -> Answer[Page]:
        made = Policy(**{"stale_if_error": DAY, **policy})
        cache = Cache(store, clock=clock, policy=made, tenant=tenant)
        return cache.pages.answer(url or site.url, reader, ttl=TTL)

    return ask


@pytest.fixture
def extracted(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies whose text was extracted."""
    bodies: list[bytes] = []
    original = Worker.extract

    def extract(self: Worker, body: bytes, content_type: str) -> Any:
        bodies.append(body)
        return original(self, body, content_type)

    monkeypatch.setattr(Worker, "extract", extract)
    return bodies


def test_an_unchanged_page_is_renewed_without_its_body(
    read: Read, site: Site, clock: FakeClock, extracted: list[bytes]
) -> None:
    """The text is the same, the lifetime is new, and it counts as one live call."""
    first = read()
    clock.advance(TTL)
    renewed = read()
    assert (renewed.how, renewed.value) == ("live", first.value)
    assert isinstance(renewed.outcome, Stale)
    assert site.conditional == [(None, None), (ETAG, DATE)]
    assert len(extracted) == 1
    clock.advance(TTL - 1)
    again = read()
    assert (again.how, again.value) == ("exact", first.value)
    clock.advance(1)
    assert read().how == "live"
    assert (len(site.asked), len(extracted)) == (3, 1)


def test_a_changed_page_is_read_again(read: Read, site: Site, clock: FakeClock) -> None:
    """The new text replaces the old one, and the new validators are sent the next time."""
    read()
    clock.advance(TTL)
    site.text, site.headers = "Second.", {"ETag": 'W/"v2"'}
    assert read().value.text.startswith("Second.")
    clock.advance(TTL)
    assert read().value.text.startswith("Second.")
    assert site.conditional == [(None, None), (ETAG, DATE), ('W/"v2"', None)]


@pytest.mark.parametrize("headers", [{"ETag": 'W/"v1"'}, {"Last-Modified": DATE}, {"ETag": '""'}])
def test_one_validator_is_enough(
    read: Read, site: Site, clock: FakeClock, extracted: list[bytes], headers: dict[str, str]
) -> None:
    """A weak or empty entity tag is sent as received; a date alone is, too."""
    site.headers = headers
    read()
    clock.advance(TTL)
    assert read().how == "live"
    assert site.conditional[1] == (headers.get("ETag"), headers.get("Last-Modified"))
    assert len(extracted) == 1


@pytest.mark.parametrize("headers", [{}, *({"ETag": each} for each in HOSTILE[:3]), {"Last-Modified": "yesterday"}])
def test_without_valid_validators_a_page_is_read_as_ever(
    read: Read, site: Site, clock: FakeClock, headers: dict[str, str]
) -> None:
    """Nothing is stored or sent of a header that is not valid."""
    site.headers = headers
    found = read().value
    assert (found.etag, found.last_modified, found.extractor) == ("", "", "")
    clock.advance(TTL)
    assert read().value == found
    assert site.conditional == [(None, None)] * 2


@pytest.mark.parametrize("header", [*HOSTILE, "", None, ETAG + "\r\nCookie: a=1", ETAG + "\n"])
def test_an_entity_tag_that_is_not_one_is_dropped(header: str | None) -> None:
    """Not cut, not repaired: another tag would be another page."""
    assert entity_tag(header) == ""


@pytest.mark.parametrize("header", ["", None, "2026-01-05", "Monday, 05-Jan-26 10:00:00 GMT", DATE + "\n", "x" + DATE])
def test_a_date_that_is_not_one_is_dropped(header: str | None) -> None:
    """Only the one form that servers must send."""
    assert http_date(header) == ""


@given(st.text(max_size=300), st.text(max_size=300))
def test_stored_validators_are_checked_before_they_are_sent(etag: str, date: str) -> None:
    """A row may be from an imported file: no header has another line."""
    held = Page("http://a.test/", "", "text", "text/html", etag=etag, last_modified=date)
    assert all(value.isascii() and value.isprintable() for value in conditions(held, held.url).values())


def test_a_304_without_a_condition_is_an_error(httpserver: HTTPServer, reader: WebReader) -> None:
    """There is no page to renew."""
    httpserver.expect_request("/page").respond_with_data("", status=304, headers={"ETag": ETAG})
    with pytest.raises(PageError, match="HTTP 304"):
        reader.read(httpserver.url_for("/page"))


def test_validators_go_only_where_they_came_from(
    read: Read, site: Site, clock: FakeClock, httpserver: HTTPServer
) -> None:
    """Behind a redirect, the first address gets none; the one that sent them does."""
    seen: list[str | None] = []

    def redirect(request: Request) -> Response:
        seen.append(request.headers.get("If-None-Match"))
        return Response("", 302, {"Location": "/page", "ETag": '"other"'})

    httpserver.expect_request("/old").respond_with_handler(redirect)
    old = httpserver.url_for("/old")
    first = read(old)
    clock.advance(TTL)
    assert read(old).value == first.value
    assert (seen, site.conditional) == ([None, None], [(None, None), (ETAG, DATE)])


def test_a_redirect_elsewhere_gets_no_validators(
    read: Read, site: Site, clock: FakeClock, httpserver: HTTPServer
) -> None:
    """A page that has moved is read at its new address; a 304 there without a condition is an error."""
    first = read()
    clock.advance(TTL)
    httpserver.clear()
    httpserver.no_handler_status_code = 404
    httpserver.expect_request("/page").respond_with_data("", status=302, headers={"Location": "/new"})
    moved: list[str | None] = []

    def new(request: Request) -> Response:
        moved.append(request.headers.get("If-None-Match"))
        return Response("", 304)

    httpserver.expect_request("/new").respond_with_handler(new)
    answer = read()
    assert (answer.how, answer.value, moved) == ("stale", first.value, [None])
    with pytest.raises(PageError, match="HTTP 304"):
        read(stale_if_error=0.0)


def test_a_page_that_other_code_extracted_is_read_again(
    read: Read, site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a better extraction would never reach a page that does not change."""
    read()
    clock.advance(TTL)
    monkeypatch.setattr(reader_module, "_extractor", lambda: "newer")
    assert read().value.extractor == "newer"
    assert site.conditional == [(None, None)] * 2


def test_refresh_reads_the_whole_page(read: Read, site: Site, clock: FakeClock) -> None:
    """A reader who does not trust the cache does not get its text."""
    read()
    clock.advance(TTL)
    read(read=False)
    assert site.conditional == [(None, None)] * 2


def test_offline_asks_nobody(read: Read, site: Site, clock: FakeClock) -> None:
    """The expired page is served where the policy allows it, else it is a miss."""
    first = read()
    clock.advance(TTL)
    assert (read(offline=True).how, read(offline=True).value) == ("stale", first.value)
    with pytest.raises(OfflineMiss):
        read(offline=True, stale_if_error=0.0)
    assert len(site.asked) == 1


@pytest.mark.parametrize("swept", ["by maintenance", "by a write"])
def test_a_page_whose_row_is_gone_is_read_again(
    read: Read, site: Site, store: SqliteStore, clock: FakeClock, httpserver: HTTPServer, swept: str
) -> None:
    """A write removes rows that expired a day ago (`stale_if_error`), maintenance all that expired."""
    httpserver.expect_request("/other").respond_with_data(page("Other."), content_type="text/html")
    read()
    if swept == "by maintenance":
        clock.advance(TTL)
        Cache(store, clock=clock).maintenance.sweep()
    else:
        clock.advance(TTL + DAY + 1)
        read(httpserver.url_for("/other"))
    read()
    assert site.conditional == [(None, None)] * 2


def test_within_the_window_a_row_survives_other_writes(
    read: Read, site: Site, clock: FakeClock, httpserver: HTTPServer
) -> None:
    """A day after its expiry it can still be renewed."""
    httpserver.expect_request("/other").respond_with_data(page("Other."), content_type="text/html")
    read()
    clock.advance(TTL + DAY - 1)
    read(httpserver.url_for("/other"))
    read()
    assert site.conditional[1] == (ETAG, DATE)


def test_tenants_do_not_share_validators(read: Read, site: Site, clock: FakeClock) -> None:
    """Another tenant reads the page itself, though the row of the first one is there."""
    read()
    clock.advance(TTL)
    assert read(tenant="other").how == "live"
    assert site.conditional == [(None, None)] * 2


def test_of_threads_that_ask_together_one_revalidates(read: Read, site: Site, clock: FakeClock) -> None:
    """The others get what it has renewed."""
    first = read()
    clock.advance(TTL)
    together = threading.Barrier(4)

    def ask(_: int) -> Answer[Page]:
        together.wait()
        return read()

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(4)))
    assert sorted(each.how for each in answers) == ["exact", "exact", "exact", "live"]
    assert {each.value for each in answers} == {first.value}
    assert len(site.asked) == 2


@pytest.mark.slow
def test_of_two_processes_one_revalidates(harness: Program, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both print the same page."""
    monkeypatch.setenv("HARNESS_ALLOWED_HOSTS", "localhost")
    first = harness("read", site.url, "--ttl", "0.01")
    command = [sys.executable, "-m", "harness.cli.main", "read", site.url]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [each.communicate(timeout=60)[0] for each in running] == [first.out] * 2
    assert site.conditional == [(None, None), (ETAG, DATE)]


def test_rows_of_older_versions_are_read(read: Read, site: Site, store: SqliteStore, clock: FakeClock) -> None:
    """A page without the new fields answers; when it has expired, it is read again."""
    read()
    key = page_key(site.url, "web-1")
    entry = store.rows.get(PAGES, "default", key)
    assert entry is not None
    fields = json.decode(entry.payload)
    assert {fields.pop(name) for name in ("etag", "last_modified")} == {ETAG, DATE}
    del fields["extractor"]
    store.rows.put(PAGES, "default", structs.replace(entry, payload=json.encode(fields)))
    assert read().how == "exact"
    clock.advance(TTL)
    assert read().value.etag == ETAG
    assert site.conditional == [(None, None)] * 2


def test_the_program_says_that_a_page_is_unchanged(
    harness: Program, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both its note and its JSON say so; those of a page from the cache, or read first, do not."""
    monkeypatch.setenv("HARNESS_ALLOWED_HOSTS", "localhost")
    first = harness("read", site.url, "--ttl", "0.01")
    time.sleep(0.02)
    again = harness("read", site.url, "--ttl", "0.01")
    time.sleep(0.02)
    assert "unchanged" not in first.err
    assert "unchanged since it was last read; 1 live call" in again.err
    data = harness("read", site.url, "--json").told
    assert (data["unchanged"], data["live_calls"], data["etag"]) == (True, 1, ETAG)
    assert "unchanged" not in harness("read", site.url, "--json").told


def test_a_feed_is_a_page_like_others(read: Read, site: Site, clock: FakeClock, httpserver: HTTPServer) -> None:
    """It has a text, and is renewed by its validators."""
    sent: list[str | None] = []

    def feed(request: Request) -> Response:
        sent.append(request.headers.get("If-None-Match"))
        text = "<rss><channel><title>News</title><item><title>One</title></item></channel></rss>"
        status = 304 if sent[-1] else 200
        return Response("" if sent[-1] else text, status, {"ETag": ETAG}, content_type="application/rss+xml")

    httpserver.expect_request("/feed").respond_with_handler(feed)
    url = httpserver.url_for("/feed")
    assert (read(url).value.title, read(url).value.text) == ("News", "## One")
    clock.advance(TTL)
    assert read(url).value.text == "## One"
    assert sent == [None, ETAG]
