"""Connections over real sockets: late requests and unreadable requests."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from unittest import mock

import httpx2
import pytest

from harness.server import http_protocol
from harness.server.http_protocol import BODY_SECONDS, HEAD_SECONDS, LINGER_SECONDS
from harness.server.http_server import http_server, listen

HEAD = 0.3
BODY = 0.5
PATIENCE = 10.0
"""Seconds after which a connection will not be closed any more."""
GET = b"GET /echo HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
POST = b"POST /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Echo the length of the body; `/slow` responds late, `/stream` in pieces, `/early` at once."""
    if scope["type"] != "http":
        return
    path, size, more = scope["path"], 0, scope["path"] != "/early"
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    if path == "/slow":
        await asyncio.sleep(2 * BODY)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(4 if path == "/stream" else 0):
        await asyncio.sleep(BODY / 2)
        await send({"type": "http.response.body", "body": b"piece ", "more_body": True})
    await send({"type": "http.response.body", "body": f"{size}".encode()})


@contextmanager
def serving(application: Any = app, head: float = HEAD_SECONDS, body: float = BODY_SECONDS) -> Iterator[int]:
    """Serve an application in a thread with these time limits; yield its port."""
    limits = mock.patch.multiple(http_protocol, HEAD_SECONDS=head, BODY_SECONDS=body)
    with limits, ExitStack() as stack:
        listener = stack.enter_context(listen("127.0.0.1", 0))
        server = http_server(application)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a server with short time limits."""
    with serving(head=HEAD, body=BODY) as found:
        yield found


def connect(port: int, sent: bytes = b"") -> socket.socket:
    """Connect and send the start of a request."""
    made = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    made.sendall(sent)
    return made


def one_response(connection: socket.socket) -> bytes:
    """Read one chunked response. It may arrive in several pieces."""
    answer = b""
    while not answer.endswith(b"0\r\n\r\n"):
        piece = connection.recv(65_536)
        assert piece, f"the server closed the connection after {answer!r}"
        answer += piece
    return answer


def rest(connection: socket.socket) -> bytes:
    """Read until the server closes the connection, then close it."""
    with connection:
        pieces = []
        while piece := connection.recv(65_536):
            pieces.append(piece)
        return b"".join(pieces)


def refusal(answer: bytes, status: int, code: str) -> str:
    """Check that a response is an error response; return the message."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status), answer
    assert b"content-type: application/json" in head.lower()
    payload = json.loads(body)
    assert (payload["status"], payload["code"], len(payload)) == ("error", code, 3)
    return str(payload["message"])


# --- late requests


@pytest.mark.slow
def test_hundreds_of_slow_connections_are_closed_and_others_are_served(port: int) -> None:
    """With nothing sent, half a header or half a body."""
    began = time.monotonic()
    beginnings = [b"", GET[:-2], POST + b"x" * 50, b"GET /ec", POST.replace(b"100", b"2000000")]
    slow = [connect(port, beginnings[number % len(beginnings)]) for number in range(350)]
    assert httpx2.get(f"http://127.0.0.1:{port}/echo").text == "0"
    answers = [rest(connection) for connection in slow]
    assert time.monotonic() - began < BODY + PATIENCE / 2
    assert answers[0] == b""
    assert "head of the request did not arrive within 0.3 seconds" in refusal(answers[1], 408, "request_timeout")
    assert "body of the request did not arrive within 0.5 seconds" in refusal(answers[2], 408, "request_timeout")
    assert httpx2.post(f"http://127.0.0.1:{port}/echo", content=b"x" * 10).text == "10"


@pytest.mark.slow
@pytest.mark.parametrize("beginning", [b"GET /echo HTTP/1.1\r\nX: ", POST, POST.replace(b"/echo", b"/early")])
def test_trickling_bytes_do_not_extend_the_limit(port: int, beginning: bytes) -> None:
    """In the headers, in the body, or after the response."""
    began = time.monotonic()
    with connect(port, beginning) as connection, suppress(ConnectionResetError, BrokenPipeError):
        while time.monotonic() - began < PATIENCE:
            connection.sendall(b"x")
            time.sleep(0.1)
    assert time.monotonic() - began < BODY + LINGER_SECONDS + 2


@pytest.mark.slow
def test_a_second_request_has_its_own_limit(port: int) -> None:
    """It starts with the first byte of that request."""
    with connect(port, GET) as connection:
        assert b"200 OK" in one_response(connection)
        time.sleep(2 * HEAD)  # longer than the limit of a head, which must not run while the connection is idle
        connection.sendall(GET)
        assert b"200 OK" in one_response(connection)
        connection.sendall(GET[:20])
        assert "head of the request did not arrive" in refusal(rest(connection), 408, "request_timeout")


def test_a_pipelined_request_is_timed_too(port: int) -> None:
    """Two requests in one piece, the second one incomplete."""
    answer = rest(connect(port, GET + GET[:20]))
    first, found, second = answer.partition(b"HTTP/1.1 408")
    assert b"200 OK" in first
    assert "head of the request did not arrive" in refusal(found + second, 408, "request_timeout")


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/slow", "/stream"])
def test_slow_responses_are_not_cut(port: int, path: str) -> None:
    """Only the request is timed: a research takes minutes."""
    answer = httpx2.post(f"http://127.0.0.1:{port}{path}", content=b"x" * 10, timeout=PATIENCE)
    assert answer.text == "piece " * (4 if path == "/stream" else 0) + "10"


@pytest.mark.slow
def test_a_slow_application_does_not_make_a_body_late() -> None:
    """The client could not send it yet."""

    async def late(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(1)
        await app({"path": "/", **scope}, receive, send)

    with serving(late, body=0.3) as port:
        answer = httpx2.post(f"http://127.0.0.1:{port}/", content=b"x" * 3_000_000, timeout=PATIENCE)
    assert answer.text == "3000000"


# --- unreadable requests


def test_too_long_urls_are_refused_in_json(port: int) -> None:
    """With their own status, and the limit."""
    answer = rest(connect(port, b"GET /" + b"x" * 600_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
    assert "at most 262,144 bytes" in refusal(answer, 414, "invalid_input")


def test_too_long_headers_are_refused_in_json(port: int) -> None:
    """With their own status, and the limit."""
    answer = rest(connect(port, b"GET / HTTP/1.1\r\nX: " + b"x" * 400_000))
    assert "the headers of a request may have at most" in refusal(answer, 431, "invalid_input")


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"]
)
def test_invalid_requests_are_refused_in_json(port: int, sent: bytes) -> None:
    """TLS on this port, arbitrary bytes, a request without a host."""
    assert "not an HTTP/1.1 request" in refusal(rest(connect(port, sent)), 400, "invalid_input")


def test_a_broken_body_ends_the_connection(port: int) -> None:
    """A chunk with an invalid length; the application does not wait for the rest."""
    head = b"POST /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert "not an HTTP/1.1 request" in refusal(rest(connect(port, head + b"zz\r\n")), 400, "invalid_input")
