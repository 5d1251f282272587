"""Servers on loopback that answer as hostile or clumsy ones do, and one reader that may ask them."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from pytest_httpserver import HTTPServer

from harness.sources.pages.reader import WebReader

Answer = Callable[[socket.socket], None]
Serve = Callable[..., int]


@pytest.fixture
def raw_server() -> Iterator[Serve]:
    """Return a function that serves every connection by `answer` (after the request's head) and returns the port."""
    listeners: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def one(connection: socket.socket, answer: Answer) -> None:
        with connection, suppress(OSError):
            connection.recv(65_536)
            answer(connection)

    def accept(listener: socket.socket, answer: Answer) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                thread = threading.Thread(target=one, args=(connection, answer), daemon=True)
                thread.start()
                threads.append(thread)

    def serve(answer: Answer, host: str = "127.0.0.1", port: int = 0) -> int:
        listener = socket.create_server((host, port))
        listeners.append(listener)
        thread = threading.Thread(target=accept, args=(listener, answer), daemon=True)
        thread.start()
        threads.append(thread)
        return int(listener.getsockname()[1])

    yield serve
    for listener in listeners:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # wakes the one who accepts
        listener.close()
    for thread in threads:
        thread.join(5)


@pytest.fixture
def httpserver(httpserver: HTTPServer) -> HTTPServer:
    """A server that answers 404 to all but the expected requests: it has no robots.txt unless a test adds it."""
    httpserver.no_handler_status_code = 404
    return httpserver


@pytest.fixture(scope="package")
def reader() -> Iterator[WebReader]:
    """Return a reader that may ask loopback, small enough to be tested at its limits."""
    made = WebReader(allowed_hosts=["127.0.0.1", "localhost"], timeout=10)
    yield made
    made.close()
