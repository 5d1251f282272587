"""Rules of robots.txt: which apply, how they are read from real servers, and how long they are held."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer

from harness.cache import Cache
from harness.errors import AddressRefused, PageError
from harness.ports import silent
from harness.research.page_reading import read_all
from harness.settings.research_settings import FetchSettings
from harness.sources.pages.addresses import AddressGuard
from harness.sources.pages.fetch import Fetched, FetchLimits, fetch, usable_proxy
from harness.sources.pages.reader import WebReader
from harness.sources.pages.robots import (
    MAX_ORIGINS,
    MAX_RULES_BYTES,
    RULES_SECONDS,
    UNREACHABLE_SECONDS,
    Robots,
    Rules,
    is_allowed,
    rules_in,
)
from harness.storage.sqlite.store import SqliteStore
from tests.cli.program import Program
from tests.fakes import FakeClock
from tests.sources.pages.conftest import Serve
from tests.sources.pages.documents import page

LOOPBACK = AddressGuard(["127.0.0.1", "localhost"])
NO_ROBOT = b"User-agent: *\nDisallow: /\n"
REFUSED = "its robots.txt refuses robots"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def _get(url: str, robots: Robots | None = None, *, timeout: float = 5) -> Fetched:
    limits = FetchLimits(timeout=timeout, max_bytes=100_000, max_redirects=3)
    found = fetch(url, LOOPBACK, limits, None, robots=robots or Robots())
    assert isinstance(found, Fetched)
    return found


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    """A server with the page `/page`, and no robots.txt yet."""
    httpserver.expect_request("/page").respond_with_data("body", content_type="text/plain")
    return httpserver


def _asked(server: HTTPServer, path: str = "/robots.txt") -> int:
    return sum(request.path == path for request, _ in server.log)


@pytest.mark.parametrize(
    ("text", "target", "allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /a", "/a/b", False),
        ("User-agent: *\nDisallow: /a", "/b/a", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?z", True),
        ("User-agent: *\nDisallow: /*/old/", "/x/old/y", False),
        ("User-agent: *\nDisallow: /*?q=", "/search?a=1&b?q=2", False),
        ("User-agent: *\nDisallow: /search?", "/search?q=2", False),
        ("User-agent: *\nDisallow: /%7Ejoe", "/~joe/x", False),
        ("User-agent: *\nDisallow: /caf\u00e9", "/caf%C3%A9", False),
        ("User-agent: *\nDisallow: /\nAllow: /$", "/", True),
        ("User-agent: other\nDisallow: /", "/a", True),
        ("User-agent: harness\nDisallow: /", "/a", True),
        ("User-agent: my-research-harness\nDisallow: /", "/a", True),
        ("User-agent: research-harness\nDisallow: /", "/a", False),
        ("USER-AGENT: Research-Harness/2.0 (x)\nDISALLOW: /", "/a", False),
        ("User-agent: *\nDisallow: /\nUser-agent: research-harness\nDisallow: /b", "/a", True),
        ("User-agent: research-harness\nDisallow: /b\nUser-agent: *\nDisallow: /", "/a", True),
        ("User-agent: other\nUser-agent: research-harness\nDisallow: /a", "/a", False),
        ("User-agent: research-harness\nDisallow: /a\nUser-agent: x\nUser-agent: research-harness\nDisallow: /b",
         "/b", False),
        ("Disallow: /\n", "/a", True),
        ("User-agent: * # all\r\nDisallow: /a # this", "/a", False),
        ("\ufeffUser-agent: *\rDisallow: /a", "/a", False),
        ("<html><body>User-agent: *</body></html>", "/a", True),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("User-agent: *\nDisallow: //evil", "//evil/x", False),
    ],
)  # fmt: skip
def test_the_rules_of_rfc_9309(text: str, target: str, allowed: bool) -> None:
    """Groups by product token, the longest match, `*` and `$`, comments and any line end."""
    assert is_allowed(rules_in(text.encode()), target) is allowed


@given(st.binary(max_size=400), st.sampled_from([b"", b"User-agent: *\nDisallow: /", b"\xef\xbb\xbf", b"\xff\xfe"]))
def test_hostile_bytes_are_rules_or_nothing(body: bytes, before: bytes) -> None:
    """No bytes raise an error."""
    assert is_allowed(rules_in(before + body), "/a") in {True, False}


def test_many_robots_with_many_rules_cost_little() -> None:
    """Without the one name for all others, this file takes a minute and gigabytes."""
    agents = "".join(f"User-agent: {number:x}\n" for number in range(10_000))
    rules = "".join(f"Disallow: /{number:x}\n" for number in range(20_000))
    began = time.process_time()
    assert is_allowed(rules_in((agents + rules + NO_ROBOT.decode()).encode()[:MAX_RULES_BYTES]), "/a") is False
    assert time.process_time() - began < 10


def test_rules_end_at_the_limit_with_a_whole_line() -> None:
    """A rule that is cut would refuse more than it says."""
    comments = b"#" * (MAX_RULES_BYTES - len(b"User-agent: *\n\nDisallow: /a")) + b"\n"
    body = b"User-agent: *\n" + comments + b"Disallow: /abc\nDisallow: /\n"
    assert is_allowed(rules_in(body), "/a")
    assert is_allowed(rules_in(body), "/abc")


def test_a_page_that_its_site_refuses_is_not_requested(site: HTTPServer) -> None:
    """The error says how to read it all the same; other pages are read."""
    site.expect_request("/robots.txt").respond_with_data("User-agent: *\nDisallow: /private")
    assert _get(site.url_for("/page")).body == b"body"
    with pytest.raises(PageError, match=f"{REFUSED} for this address; open it in a browser, or set robots to false"):
        _get(site.url_for("/private/a"))
    assert _asked(site, "/private/a") == 0


def test_a_redirect_is_checked_too(site: HTTPServer) -> None:
    """An allowed page does not lead to a refused one."""
    site.expect_request("/robots.txt").respond_with_data("User-agent: *\nDisallow: /private")
    site.expect_request("/old").respond_with_data("", status=302, headers={"Location": "/private"})
    with pytest.raises(PageError, match=REFUSED):
        _get(site.url_for("/old"))
    assert _asked(site, "/private") == 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 204, 304])
def test_a_site_without_rules_allows_everything(site: HTTPServer, status: int) -> None:
    """A status of 4xx means that there are none, whatever the text."""
    site.expect_request("/robots.txt").respond_with_data(NO_ROBOT, status=status)
    assert _get(site.url_for("/page")).body == b"body"


@pytest.mark.parametrize("status", [500, 502, 503, 599])
def test_a_broken_server_is_not_read_for_now(site: HTTPServer, status: int) -> None:
    """A status of 5xx: the page is refused, and the error says that it is temporary."""
    site.expect_request("/robots.txt").respond_with_data(b"", status=status)
    with pytest.raises(PageError, match=rf"robots\.txt cannot be read now \(HTTP {status}\).*try again later"):
        _get(site.url_for("/page"))
    assert _asked(site, "/page") == 0


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", HEAD + b"Content-Length: 10\r\n\r\nshort"])
def test_rules_that_are_not_http_are_unreachable(raw_server: Serve, answer: bytes) -> None:
    """Half of the rules are not the rules."""
    with pytest.raises(PageError, match=r"robots\.txt cannot be read now"):
        _get(f"http://127.0.0.1:{raw_server(lambda connection: connection.sendall(answer))}/")


def test_rules_that_drip_end_with_the_deadline(raw_server: Serve) -> None:
    """The page and its robots.txt share one time limit."""

    def drip(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"\r\n")
        while True:
            connection.sendall(b"#")
            time.sleep(0.05)

    began = time.monotonic()
    with pytest.raises(PageError, match=r"cannot be read now \(it did not answer in time\)"):
        _get(f"http://127.0.0.1:{raw_server(drip)}/", timeout=0.5)
    assert time.monotonic() - began < 5


def test_endless_rules_are_left_at_the_limit(raw_server: Serve) -> None:
    """The first 500 KiB count; the page is then read from the same server."""
    sent = [0]

    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"\r\nUser-agent: *\nDisallow: /\n")
        while sent[0] < 100_000_000:
            connection.sendall(b"#" * 65_535 + b"\n")
            sent[0] += 65_536

    with pytest.raises(PageError, match=REFUSED):
        _get(f"http://127.0.0.1:{raw_server(answer)}/")
    assert sent[0] < 20_000_000  # what the buffers of both sockets hold


def test_rules_may_be_behind_redirects(site: HTTPServer) -> None:
    """They apply to the site that was asked."""
    site.expect_request("/robots.txt").respond_with_data("", status=301, headers={"Location": "/rules"})
    site.expect_request("/rules").respond_with_data(NO_ROBOT)
    with pytest.raises(PageError, match=REFUSED):
        _get(site.url_for("/page"))


def test_rules_behind_too_many_redirects_are_none(site: HTTPServer) -> None:
    """After five redirects the rules count as missing."""
    site.expect_request("/robots.txt").respond_with_data("", status=302, headers={"Location": "/robots.txt"})
    assert _get(site.url_for("/page")).body == b"body"
    assert _asked(site) == 6


@pytest.mark.parametrize("target", ["file:///etc/passwd", "data:text/plain,x", "ftp://127.0.0.1/robots.txt"])
def test_rules_that_redirect_to_nowhere_are_none(site: HTTPServer, target: str) -> None:
    """Nothing but http(s) is asked."""
    site.expect_request("/robots.txt").respond_with_data("", status=302, headers={"Location": target})
    assert _get(site.url_for("/page")).body == b"body"


def test_rules_that_redirect_to_a_private_address_are_unreachable(site: HTTPServer) -> None:
    """The guard of pages checks the way to the rules, too."""
    site.expect_request("/robots.txt").respond_with_data("", status=302, headers={"Location": "http://10.0.0.1/"})
    with pytest.raises(PageError, match=r"cannot be read now \(10\.0\.0\.1 is at 10\.0\.0\.1, which is not a public"):
        _get(site.url_for("/page"))


def test_a_private_address_is_refused_as_without_robots() -> None:
    """The error is about the page, not about its robots.txt."""
    with pytest.raises(AddressRefused, match=r"^10\.0\.0\.1 is at"):
        _get("http://10.0.0.1/")


def test_a_host_that_does_not_listen_is_an_ordinary_error_and_not_held() -> None:
    """The page is not there, either; once the host listens, it is asked again."""
    robots = Robots()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for _ in range(2):
        with pytest.raises(PageError, match="cannot be reached"):
            _get(f"http://127.0.0.1:{port}/", robots)


def test_a_proxy_is_asked_for_the_rules_too(raw_server: Serve) -> None:
    """Neither the page nor its robots.txt is asked for directly."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + f"Content-Length: {len(NO_ROBOT)}\r\n\r\n".encode() + NO_ROBOT)

    proxy = usable_proxy(f"http://127.0.0.1:{raw_server(answer)}")
    limits = FetchLimits(timeout=5, max_bytes=1_000, max_redirects=0)
    public = AddressGuard(resolver=lambda host, port: ["8.8.8.8"])
    with pytest.raises(PageError, match=REFUSED):
        fetch("http://example.test/", public, limits, proxy, robots=Robots())


def test_one_origin_is_asked_once(site: HTTPServer) -> None:
    """Also by threads that start together; another origin has its own rules."""
    site.expect_request("/robots.txt").respond_with_data("User-agent: *\nAllow: /")
    robots, together = Robots(), threading.Barrier(4)

    def read(_: int) -> bytes:
        together.wait()
        return _get(site.url_for("/page"), robots).body

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(4))) == [b"body"] * 4
    assert (_asked(site), _asked(site, "/page")) == (1, 4)
    _get(f"http://127.0.0.1:{site.port}/page", robots)
    assert _asked(site) == 2


@pytest.mark.parametrize(("status", "seconds"), [(404, RULES_SECONDS), (503, UNREACHABLE_SECONDS)])
def test_rules_are_asked_for_again_after_their_time(site: HTTPServer, status: int, seconds: float) -> None:
    """An hour for rules, a minute for those that could not be read."""
    site.expect_request("/robots.txt").respond_with_data("", status=status)
    clock = FakeClock()
    robots = Robots(clock)

    def ask() -> int:
        try:
            _get(site.url_for("/page"), robots)
        except PageError:
            assert status == 503
        return _asked(site)

    assert (ask(), ask()) == (1, 1)
    clock.advance(seconds - 1)
    assert ask() == 1
    clock.advance(1)
    assert ask() == 2


def test_rules_of_few_origins_are_held() -> None:
    """The first one goes when there are too many."""
    robots, asked = Robots(), []

    def read(address: httpx2.URL) -> Rules:
        asked.append(str(address))
        return Rules()

    for number in [*range(MAX_ORIGINS + 1), MAX_ORIGINS, 1, 0]:
        robots.check(httpx2.URL(f"http://host{number}.test/a?b"), read, 1)
    assert len(asked) == MAX_ORIGINS + 2
    assert asked[0] == asked[-1] == "http://host0.test/robots.txt"


def test_who_waits_for_rules_does_not_wait_for_ever() -> None:
    """Another thread that reads them slowly costs at most the own time limit."""
    robots, begun, end = Robots(), threading.Event(), threading.Event()
    address = httpx2.URL("http://host.test/")

    def slow(_: httpx2.URL) -> Rules:
        begun.set()
        end.wait(10)
        return Rules()

    thread = threading.Thread(target=robots.check, args=(address, slow, 10))
    thread.start()
    begun.wait(10)
    with pytest.raises(PageError, match="did not answer in time"):
        robots.check(address, slow, 0.05)
    end.set()
    thread.join(10)


def test_the_setting_decides_whether_rules_are_honoured(
    site: HTTPServer, harness: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused page is refused again, not cached as an error; if robots is false, its rules are not even asked for."""
    site.expect_request("/robots.txt").respond_with_data(NO_ROBOT)
    site.expect_request("/article").respond_with_data(page("First."), content_type="text/html")
    monkeypatch.setenv("HARNESS_ALLOWED_HOSTS", "localhost")
    for _ in range(2):
        assert f"/article: {REFUSED}" in harness("read", site.url_for("/article")).one_line_error(5)
    assert (_asked(site), _asked(site, "/article")) == (2, 0)
    monkeypatch.setenv("HARNESS_ROBOTS", "false")
    assert "First." in harness("read", site.url_for("/article")).out
    assert (_asked(site), _asked(site, "/article")) == (2, 1)


def test_a_research_notes_a_refused_page_and_goes_on(site: HTTPServer, tmp_path: Path) -> None:
    """It counts as a page that failed; the others are read."""
    site.expect_request("/robots.txt").respond_with_data("User-agent: research-harness\nDisallow: /closed")
    urls = [site.url_for("/closed"), site.url_for("/page")]
    reader = WebReader(allowed_hosts=["localhost"])
    cache = Cache(SqliteStore(tmp_path / "harness.db"))
    found = read_all(urls, cache, reader, fetch=FetchSettings(), progress=silent, what="pages")
    reader.close()
    (refused, nothing, _), (read, _, _) = found
    assert (refused.answered_by, nothing, read.answered_by) == ("failed", None, "live")
    assert refused.error is not None
    assert f"page_error: {urls[0]}: {REFUSED}" in refused.error
    assert _asked(site) == 1
