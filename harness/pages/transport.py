"""The connections of one read: only to addresses that were checked, and none of them outlives the read's deadline.

A time-out of the socket is not enough: a server that sends a byte a second keeps every single `recv` within it. So each
operation on a connection gets what is left of the whole read.
"""

import ssl
import time
from collections.abc import Iterable, Iterator
from typing import Any

import httpcore2
import httpx2

from harness.errors import PageError
from harness.pages.addresses import AddressGuard

CONNECT_SECONDS = 5.0
"""The longest that one address of a host is tried."""


class Deadline:
    """The end of a read, `seconds` from now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds left.

        Raises:
            PageError: there are none.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise PageError(f"it took longer than {self.seconds:g} s; try again later, or allow more time")
        return left

    def within(self, timeout: float | None) -> float:
        """Return `timeout` or what is left, whichever is less; raises as `left` does."""
        return self.left() if timeout is None else min(timeout, self.left())


class Transport(httpx2.BaseTransport):
    """Sends the requests of one read. Without a `proxy`, every connection is to an address that `guard` has passed.

    The pool is our own, of public parts alone: a guard put into a private field of httpx2's would be gone, unnoticed,
    on the day that the field is renamed.
    """

    def __init__(
        self, guard: AddressGuard, deadline: Deadline, tls: ssl.SSLContext, proxy: httpx2.Proxy | None
    ) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=tls,
            proxy=None if proxy is None else httpcore2.Proxy(url=str(proxy.url), auth=proxy.raw_auth),
            network_backend=_Sockets(None if proxy else guard, deadline),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """See `httpx2.BaseTransport.handle_request`; errors are those of httpcore2, and `PageError`."""
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        response = self._pool.handle_request(
            httpcore2.Request(
                request.method, url, headers=request.headers.raw, content=b"", extensions=request.extensions
            )
        )
        return httpx2.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


class _Sockets(httpcore2.NetworkBackend):
    """Connects to checked addresses; without a guard (on the way to a proxy) to what the system resolves."""

    def __init__(self, guard: AddressGuard | None, deadline: Deadline) -> None:
        self._guard = guard
        self._deadline = deadline
        self._system = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        addresses = self._guard.addresses(host, port, self._deadline.left()) if self._guard else [host]
        for number, address in enumerate(addresses, start=1):
            try:
                stream = self._system.connect_tcp(
                    address, port, self._deadline.within(timeout), local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if number == len(addresses):
                    raise
            else:
                return _TimedStream(stream, self._deadline)
        raise httpcore2.ConnectError(f"{host} has no address")


class _TimedStream(httpcore2.NetworkStream):
    """A connection on which nothing waits beyond the deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.within(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.within(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _TimedStream(
            self._stream.start_tls(ssl_context, server_hostname, self._deadline.within(timeout)), self._deadline
        )

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
