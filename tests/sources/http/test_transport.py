"""HTTP that ends in time, against real servers on loopback; its users test what they make of it."""

import math
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx2
import pytest
import trustme
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.sources.http.transport import Deadline, EndpointTransport, Sockets, Transport


def client(transport: httpx2.BaseTransport, timeout: float = 5.0) -> httpx2.Client:
    """A client that takes nothing from the environment."""
    return httpx2.Client(transport=transport, timeout=timeout, trust_env=False)


def endpoint(server: HTTPServer, *, most: int = 1_000, whole: bool = True, key: str | None = None) -> httpx2.Client:
    """A client of `server` as an endpoint, without a deadline."""
    return client(EndpointTransport(server.url_for("/"), key, Deadline(math.inf), most, whole=whole))


# --- the deadline


def test_an_operation_gets_what_is_left_or_less() -> None:
    """Its own time-out counts where that is shorter."""
    deadline = Deadline(10)
    assert deadline.within(3) == 3
    assert 9 < deadline.within(20) <= deadline.within() + 1 <= 11
    assert Deadline(math.inf).within(3) == 3


@pytest.mark.parametrize("timeout", [None, 3.0])
def test_past_the_deadline_nothing_begins(timeout: float | None) -> None:
    """There is no such thing as a time-out of 0, which would mean not to wait at all."""
    deadline = Deadline(0)
    assert deadline.left <= 0
    with pytest.raises(httpx2.ReadTimeout):
        deadline.within(timeout)


def test_past_the_deadline_nobody_is_asked(httpserver: HTTPServer) -> None:
    """The error is one of httpx2, and the server sees no connection."""
    with client(Transport(Sockets(Deadline(0)), None)) as late, pytest.raises(httpx2.TimeoutException):
        late.get(httpserver.url_for("/"))
    assert not httpserver.log


def test_requests_share_one_deadline(httpserver: HTTPServer) -> None:
    """A reused connection does not restart the deadline."""
    httpserver.expect_request("/").respond_with_handler(lambda _: time.sleep(0.2) or Response("x"))
    began = time.monotonic()
    with client(Transport(Sockets(Deadline(0.5)), None)) as patient, pytest.raises(httpx2.TimeoutException):
        list(map(patient.get, [httpserver.url_for("/")] * 10))
    assert time.monotonic() - began < 1.5


@pytest.fixture
def authority() -> trustme.CA:
    """An authority for certificates."""
    return trustme.CA()


@pytest.fixture
def slow_tls(authority: trustme.CA) -> Iterator[HTTPServer]:
    """A server that speaks TLS, and takes its time with `/slow`."""
    ours = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(ours)
    with HTTPServer(host="127.0.0.1", ssl_context=ours) as server:
        server.expect_request("/").respond_with_data("x")
        server.expect_request("/slow").respond_with_handler(lambda _: time.sleep(1) or Response("x"))
        yield server


@pytest.mark.slow
def test_the_deadline_holds_within_tls(slow_tls: HTTPServer, authority: trustme.CA) -> None:
    """The deadline also holds for encrypted connections."""
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with client(Transport(Sockets(Deadline(0.6)), trusting)) as patient:
        assert patient.get(slow_tls.url_for("/")).text == "x"
        with pytest.raises(httpx2.TimeoutException):
            patient.get(slow_tls.url_for("/slow"))


def test_the_deadline_holds_while_tls_begins() -> None:
    """A server that accepts and then says nothing is left in time."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        transport = Transport(Sockets(Deadline(0.3)), ssl.create_default_context())
        with client(transport) as patient, pytest.raises(httpx2.TimeoutException):
            patient.get(f"https://127.0.0.1:{silent.getsockname()[1]}/")
    assert time.monotonic() - began < 3


# --- endpoints


def test_only_the_transports_own_key_goes_out(httpserver: HTTPServer) -> None:
    """Only HTTP's own headers of a request are kept."""
    asked: list[Request] = []
    httpserver.expect_request("/").respond_with_handler(lambda request: asked.append(request) or Response("x"))
    with endpoint(httpserver, key="ours") as keyed, endpoint(httpserver) as keyless:
        for each in (keyed, keyless):
            each.get(httpserver.url_for("/"), headers={"Authorization": "Bearer theirs", "X-Other": "theirs"})
    assert [request.headers.get("Authorization") for request in asked] == ["Bearer ours", None]
    assert "theirs" not in str([request.headers for request in asked])


@pytest.mark.parametrize(("length", "whole", "read"), [(10, True, 10), (10, False, 10), (11, False, 10)])
def test_a_body_is_read_up_to_the_bound(httpserver: HTTPServer, length: int, whole: bool, read: int) -> None:
    """A body of just so many bytes is whole; a longer one is cut where that will do."""
    httpserver.expect_request("/").respond_with_data("x" * length)
    with endpoint(httpserver, most=10, whole=whole) as asking:
        assert len(asking.get(httpserver.url_for("/")).content) == read


def test_a_body_that_has_to_be_whole_breaks_off_at_the_bound(httpserver: HTTPServer) -> None:
    """Half a list of vectors is none."""
    httpserver.expect_request("/").respond_with_data("x" * 11)
    with endpoint(httpserver, most=10) as asking, pytest.raises(httpx2.ReadError, match="too long"):
        asking.get(httpserver.url_for("/"))


def test_the_words_of_a_refusal_are_cut(httpserver: HTTPServer) -> None:
    """However much an answer may hold, an error has 65,536 bytes; and at a small bound it may still say why."""
    httpserver.expect_request("/").respond_with_data("x" * 100_000, status=500)
    for most in (10, 1_000_000):
        with endpoint(httpserver, most=most, whole=False) as asking:
            assert len(asking.get(httpserver.url_for("/")).content) == 65_536


def test_a_refusal_that_has_to_be_whole_is_read_like_any_answer(httpserver: HTTPServer) -> None:
    """JSON that is cut tells nothing."""
    httpserver.expect_request("/").respond_with_data("x" * 100_000, status=500)
    with endpoint(httpserver, most=100_000) as asking:
        assert len(asking.get(httpserver.url_for("/")).content) == 100_000


def test_what_is_compressed_is_not_read(httpserver: HTTPServer) -> None:
    """A few bytes may expand to gigabytes."""
    httpserver.expect_request("/").respond_with_data(b"x", headers={"Content-Encoding": "gzip"})
    with endpoint(httpserver) as asking, pytest.raises(httpx2.DecodingError, match="compressed"):
        asking.get(httpserver.url_for("/"))


# --- what it costs


@pytest.mark.parametrize("room", ["sources.http.request", "models.remote.endpoint", "models.remote.chat_completions"])
def test_who_asks_nobody_does_not_pay_for_http(room: str) -> None:
    """Neither an exact hit nor `--help` imports an HTTP client."""
    heavy = "{'ssl', 'httpx2', 'httpcore2', 'openai'}"
    check = f"import sys, harness.{room}; sys.exit(str({heavy} & set(sys.modules) or ''))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (1, "")
