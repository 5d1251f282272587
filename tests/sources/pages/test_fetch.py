"""Fetching from real servers on loopback, most of them hostile."""

import gzip
import socket
import ssl
import time
import zlib
from collections.abc import Callable, Iterator, Sequence

import pytest
import trustme
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.core.sites import Sites
from harness.errors import AddressRefused, InvalidInput, PageError, SiteLeftOut
from harness.sources.pages import addresses
from harness.sources.pages import fetch as fetch_module
from harness.sources.pages.addresses import AddressGuard
from harness.sources.pages.fetch import Fetched, FetchLimits, fetch, usable_proxy
from harness.sources.pages.robots import Robots
from tests.sources.pages.conftest import Serve

LOOPBACK = AddressGuard(["127.0.0.1", "localhost"])
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
DIRECT = None


def _get(url: str, *, guard: AddressGuard = LOOPBACK, timeout: float = 5, most: int = 100_000) -> Fetched:
    return fetch(url, guard, FetchLimits(timeout=timeout, max_bytes=most, max_redirects=3), DIRECT)


def test_a_page_is_fetched_with_its_type_and_final_address(httpserver: HTTPServer) -> None:
    """The body is whole, and the address is the one after the redirect, without fragment, user and password."""
    httpserver.expect_request("/old").respond_with_data("", status=301, headers={"Location": "/new?a=1#part"})
    httpserver.expect_request("/new").respond_with_data("body", content_type="text/plain; charset=utf-8")
    url = httpserver.url_for("/old").replace("http://", "http://me:secret@")
    assert _get(url) == Fetched(httpserver.url_for("/new?a=1"), "text/plain; charset=utf-8", b"body")


def test_the_request_says_what_it_wants_and_tells_no_secret(httpserver: HTTPServer) -> None:
    """User agent and accepted types are named; a user and password in the address are not sent."""
    seen: list[Request] = []

    def answer(request: Request) -> Response:
        seen.append(request)
        return Response("body")

    httpserver.expect_request("/").respond_with_handler(answer)
    _get(httpserver.url_for("/").replace("localhost", "me:secret@localhost"))
    (request,) = seen
    assert "research-harness" in request.headers["User-Agent"]
    assert "text/html" in request.headers["Accept"]
    assert request.authorization is None


@pytest.mark.parametrize(
    "url",
    ["", "example.org", "file:///etc/passwd", "ftp://example.org/", "javascript:alert(1)", "http://", "http:///path",
     "data:text/html,hello", "http://[::1", "http://example.org:port/", "http://" + "a" * 5000, "http://a\x00b/"],
)  # fmt: skip
def test_what_is_no_address_of_the_web_is_invalid_input(url: str) -> None:
    """Nothing is asked; the message says what an address looks like."""
    with pytest.raises(InvalidInput, match="http://"):
        _get(url)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 429, 500, 503, 304])
def test_an_error_status_is_a_page_error_with_the_status(httpserver: HTTPServer, status: int) -> None:
    """A response with such a status is not a page, whatever its text."""
    httpserver.expect_request("/").respond_with_data("<p>sorry</p>", status=status)
    with pytest.raises(PageError, match=f"HTTP {status}"):
        _get(httpserver.url_for("/"))


@pytest.mark.parametrize(
    ("sites", "name"), [(Sites.of((), ["localhost"]), "skip_sites"), (Sites.of(["127.0.0.1"], ()), "only_sites")]
)
def test_a_redirect_to_a_site_that_is_left_out_is_not_followed(httpserver: HTTPServer, sites: Sites, name: str) -> None:
    """Not even its robots.txt is asked for, though it would lead back; other redirects are followed, loops included."""
    away, back = (f"http://{host}:{httpserver.port}/" for host in ("localhost", "127.0.0.1"))
    httpserver.expect_request("/").respond_with_data("", status=302, headers={"Location": "/again"})
    httpserver.expect_request("/again").respond_with_data("", status=302, headers={"Location": f"{away}away"})
    httpserver.expect_request("/away").respond_with_data("", status=302, headers={"Location": back})
    limits = FetchLimits(timeout=5, max_bytes=1_000, max_redirects=9)
    with pytest.raises(SiteLeftOut, match=f"it redirects to a site that {name} leaves out"):
        fetch(back, LOOPBACK, limits, DIRECT, robots=Robots(), sites=sites)
    asked = [(request.host.partition(":")[0], request.path) for request, _ in httpserver.log]
    assert asked == [("127.0.0.1", "/robots.txt"), ("127.0.0.1", "/"), ("127.0.0.1", "/again")]


def test_a_redirect_loop_ends(httpserver: HTTPServer) -> None:
    """After the limit the read ends with an error."""
    httpserver.expect_request("/").respond_with_data("", status=302, headers={"Location": "/"})
    with pytest.raises(PageError, match="more than 3 redirects"):
        _get(httpserver.url_for("/"))
    assert len(httpserver.log) == 4


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.2/", "http://169.254.169.254/latest/", "http://[::1]/", "http://2130706433/", "//10.0.0.1/",
     "file:///etc/passwd", "ftp://example.org/", "gopher://127.0.0.1/", "data:text/html,hello"],
)  # fmt: skip
def test_a_redirect_to_what_is_not_asked_is_refused(httpserver: HTTPServer, target: str) -> None:
    """Every address on the way is checked as the first one is."""
    httpserver.expect_request("/").respond_with_data("", status=302, headers={"Location": target})
    with pytest.raises(AddressRefused):
        _get(httpserver.url_for("/"))


def test_the_connection_goes_to_the_checked_address(raw_server: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that resolves to a public address for the check, and to a private one afterwards, leads to the former.

    Loopback has many addresses: 127.0.0.2 represents a public one here, 127.0.0.1 is the private one.
    """
    port = raw_server(_says(b"public"), "127.0.0.2")
    raw_server(_says(b"private"), "127.0.0.1", port)
    monkeypatch.setattr(addresses, "is_public", lambda address: address == "127.0.0.2")
    answers = [["127.0.0.2"], ["127.0.0.1"]]
    guard = AddressGuard(resolver=lambda host, port: answers.pop(0))
    assert _get(f"http://rebinding.test:{port}/", guard=guard).body == b"public"
    assert answers == [["127.0.0.1"]]


def test_a_name_that_turns_private_at_a_redirect_is_refused(raw_server: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new connection is checked again, although the host is the same."""

    def redirect(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

    port = raw_server(redirect, "127.0.0.2")
    monkeypatch.setattr(addresses, "is_public", lambda address: address == "127.0.0.2")
    answers = [["127.0.0.2"], ["127.0.0.1"]]
    guard = AddressGuard(resolver=lambda host, port: answers.pop(0))
    with pytest.raises(AddressRefused):
        _get(f"http://rebinding.test:{port}/", guard=guard)


def test_the_next_address_is_tried_when_one_does_not_answer(raw_server: Serve) -> None:
    """A host with several addresses is reached as long as one of them listens."""
    port = raw_server(_says(b"here"), "127.0.0.3")
    guard = AddressGuard(["host.test"], resolver=lambda host, port: ["127.0.0.1", "127.0.0.3"])
    assert _get(f"http://host.test:{port}/", guard=guard).body == b"here"


def test_a_host_that_does_not_listen_is_a_page_error() -> None:
    """The system's own words say why."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(PageError, match="cannot be reached"):
        _get(f"http://127.0.0.1:{port}/")


def test_a_large_page_is_not_even_begun(raw_server: Serve) -> None:
    """100 MB by the server's own word: an error that names the limit, before the body."""
    port = raw_server(lambda connection: connection.sendall(HEAD + b"Content-Length: 100000000\r\n\r\n"))
    with pytest.raises(PageError, match=r"larger than 100,000 bytes; raise max_bytes"):
        _get(f"http://127.0.0.1:{port}/")


def test_an_endless_page_is_left_at_the_limit(raw_server: Serve) -> None:
    """Chunks without an end: reading stops just after the limit."""
    sent = [0]

    def endless(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
            sent[0] += 65_536

    with pytest.raises(PageError, match="larger than"):
        _get(f"http://127.0.0.1:{raw_server(endless)}/")
    assert sent[0] < 20_000_000  # what the buffers of both sockets hold


@pytest.mark.parametrize("codings", ["gzip", "gzip, gzip"])
def test_a_compression_bomb_is_left_at_the_limit(raw_server: Serve, codings: str) -> None:
    """50 MB of nothing in 50 kB, or in less than one: the limit is of what comes out."""
    bomb = gzip.compress(b"\0" * 50_000_000)
    if "," in codings:
        bomb = gzip.compress(bomb)
    head = HEAD + f"Content-Encoding: {codings}\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
    port = raw_server(lambda connection: connection.sendall(head + bomb))
    with pytest.raises(PageError, match="larger than"):
        _get(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(("coding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_compressed_page_is_decompressed(httpserver: HTTPServer, coding: str, compress: object) -> None:
    """The reader can read all that it accepts."""
    assert callable(compress)
    httpserver.expect_request("/").respond_with_data(compress(b"body" * 99), headers={"Content-Encoding": coding})
    assert _get(httpserver.url_for("/")).body == b"body" * 99


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "nonsense"])
def test_a_compression_that_was_not_requested_is_an_error(httpserver: HTTPServer, coding: str) -> None:
    """Compressed bytes must not be taken for text."""
    httpserver.expect_request("/").respond_with_data(b"\x1b\x03\x00", headers={"Content-Encoding": coding})
    with pytest.raises(PageError, match="not requested"):
        _get(httpserver.url_for("/"))


def test_damaged_compression_is_a_page_error(httpserver: HTTPServer) -> None:
    """Half a page is not passed off as a page."""
    httpserver.expect_request("/").respond_with_data(b"no gzip at all", headers={"Content-Encoding": "gzip"})
    with pytest.raises(PageError, match="compression is damaged"):
        _get(httpserver.url_for("/"))


@pytest.mark.parametrize(
    "answer",
    [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"\x00\x01\x02", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
     b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 30_000, b"HTTP/1.1 999999 What\r\n\r\n"],
)  # fmt: skip
def test_what_is_not_http_is_a_page_error(raw_server: Serve, answer: bytes) -> None:
    """Another protocol, nothing, endless headers, or a body that ends too soon."""
    port = raw_server(lambda connection: connection.sendall(answer))
    with pytest.raises(PageError):
        _get(f"http://127.0.0.1:{port}/")


@pytest.mark.slow
@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nX: ", HEAD + b"Content-Length: 1000\r\n\r\n"])
def test_a_server_that_drips_does_not_outlive_the_deadline(raw_server: Serve, start: bytes) -> None:
    """A byte now and then, in the head or in the body, keeps every single wait short: the whole is bounded."""

    def drip(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(b"x")
            time.sleep(0.05)

    began = time.monotonic()
    with pytest.raises(PageError, match=r"longer than 0\.5 s"):
        _get(f"http://127.0.0.1:{raw_server(drip)}/", timeout=0.5)
    assert time.monotonic() - began < 5


@pytest.mark.slow
def test_redirects_share_one_deadline(raw_server: Serve) -> None:
    """Each hop within the time, all of them not: the read ends all the same."""

    def slow(connection: socket.socket) -> None:
        time.sleep(0.4)
        connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

    with pytest.raises(PageError, match="longer than 1 s"):
        _get(f"http://127.0.0.1:{raw_server(slow)}/", timeout=1)


def test_the_proxies_of_the_environment_are_ignored(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that is not there would make the read fail if it were asked."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    httpserver.expect_request("/").respond_with_data("body")
    assert _get(httpserver.url_for("/")).body == b"body"


def test_a_proxy_is_asked_for_public_targets_only(raw_server: Serve) -> None:
    """The target is checked here first; the proxy itself may be on the user's network."""
    seen: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        seen.append(b"asked")
        connection.sendall(HEAD + b"Content-Length: 4\r\n\r\nbody")

    proxy = usable_proxy(f"http://user:secret@127.0.0.1:{raw_server(answer)}")
    limits = FetchLimits(timeout=5, max_bytes=1_000, max_redirects=0)
    public = AddressGuard(resolver=lambda host, port: ["8.8.8.8"])
    assert fetch("http://example.test/", public, limits, proxy).body == b"body"
    private = AddressGuard(resolver=lambda host, port: ["10.0.0.1"])
    with pytest.raises(AddressRefused):
        fetch("http://example.test/", private, limits, proxy)
    assert seen == [b"asked"]


@pytest.mark.parametrize("proxy", ["nonsense", "ftp://user:secret@host", "http://user:secret@[::1", "socks5://host:1"])
def test_a_proxy_that_cannot_be_used_is_invalid_input(proxy: str) -> None:
    """The message says how to write one, and never shows the password."""
    with pytest.raises(InvalidInput, match="proxy") as caught:
        usable_proxy(proxy)
    assert "secret" not in str(caught.value)


@pytest.fixture
def tls_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HTTPServer]:
    """Serve `/` over TLS as `pages.test`, certified by an authority that the reader trusts for this test."""
    authority = trustme.CA()
    ours = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("pages.test").configure_cert(ours)
    theirs = ssl.create_default_context()
    authority.configure_trust(theirs)
    monkeypatch.setattr(fetch_module, "_tls", lambda: theirs)
    with HTTPServer(host="127.0.0.1", ssl_context=ours) as server:
        server.expect_request("/").respond_with_handler(lambda request: Response(request.host))
        yield server


def _loopback(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


def test_tls_is_checked_against_the_name_not_the_address(tls_server: HTTPServer) -> None:
    """The connection goes to an address; host header and certificate are those of the name."""
    guard = AddressGuard(["pages.test"], resolver=_loopback)
    fetched = _get(f"https://pages.test:{tls_server.port}/", guard=guard)
    assert fetched.body == f"pages.test:{tls_server.port}".encode()


def test_a_certificate_for_another_name_is_refused(tls_server: HTTPServer) -> None:
    """A response with another host's certificate is not read."""
    guard = AddressGuard(["other.test"], resolver=_loopback)
    with pytest.raises(PageError, match="certificate"):
        _get(f"https://other.test:{tls_server.port}/", guard=guard)


def test_a_certificate_of_an_unknown_authority_is_refused(
    tls_server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the authority of the test, its certificate is worth nothing."""
    monkeypatch.setattr(fetch_module, "_tls", ssl.create_default_context)
    guard = AddressGuard(["pages.test"], resolver=_loopback)
    with pytest.raises(PageError, match="certificate"):
        _get(f"https://pages.test:{tls_server.port}/", guard=guard)


def _says(body: bytes) -> Callable[[socket.socket], None]:
    head = HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode()
    return lambda connection: connection.sendall(head + body)
