"""HTTP transport with one deadline. Import it in the function that needs it: httpx2 takes 0.1 s to import.

A socket time-out is not enough: a server that sends a byte a second keeps every `recv` within it. So each operation on
a connection gets the remaining time.
"""

import ssl
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpcore2
import httpx2

from harness.models.remote.endpoint import MAX_ERROR_BYTES

_KEPT = ("host", "content-length", "content-type", "accept", "connection")
"""Headers sent as openai sets them; those from OPENAI_CUSTOM_HEADERS and those about this machine are dropped."""


class Deadline:
    """Time `seconds` from now on the monotonic clock; `inf` for no deadline."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until then; negative afterwards."""
        return self._end - time.monotonic()

    def within(self, timeout: float | None = None) -> float:
        """Return `timeout`, or the remaining time if that is less.

        Raises:
            httpx2.ReadTimeout: no time remains.
        """
        left = self.left
        if left <= 0:
            raise httpx2.ReadTimeout("the deadline has passed")
        return left if timeout is None else min(timeout, left)


class Sockets(httpcore2.SyncBackend):
    """Network backend whose every operation ends at the deadline."""

    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **kwargs: Any
    ) -> httpcore2.NetworkStream:
        """See `httpcore2.NetworkBackend.connect_tcp`; also raises as `Deadline.within` does."""
        stream = super().connect_tcp(host, port, self.deadline.within(timeout), *args, **kwargs)
        return _TimedStream(stream, self.deadline)


class Transport(httpx2.HTTPTransport):
    """httpx2 transport over `sockets`. `tls` may be `None` if no URL is https."""

    def __init__(self, sockets: Sockets, tls: ssl.SSLContext | None, proxy: httpcore2.Proxy | None = None) -> None:
        # the parent takes no sockets; if it renamed its pool, no request would go out
        self._pool = httpcore2.ConnectionPool(ssl_context=tls, proxy=proxy, network_backend=sockets)


class TooLong(httpx2.ReadError):
    """A response has more bytes than are read."""


class EndpointTransport(Transport):
    """Transport to the OpenAI-compatible endpoint at `address`. Only it has the `key`; it refuses compressed bodies.

    At most `max_bytes` of a body are read. A longer body is an error if it has to be `whole`, else it is cut. The body
    of an error response is cut after 65,536 bytes.
    """

    def __init__(self, address: str, key: str | None, deadline: Deadline, max_bytes: int, *, whole: bool) -> None:
        super().__init__(Sockets(deadline), trusted() if address.lower().startswith("https") else None)
        self._key = key
        self._max_bytes = max_bytes
        self._whole = whole

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """See `httpx2.BaseTransport.handle_request`; a compressed response is a `DecodingError`."""
        headers = {name: request.headers[name] for name in _KEPT if name in request.headers}
        headers |= {"user-agent": "research-harness", "accept-encoding": "identity"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        request.headers = httpx2.Headers(headers)
        response = super().handle_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":  # a few bytes may expand to gigabytes
            response.close()
            raise httpx2.DecodingError("a compressed response, which was not requested")
        bound = self._max_bytes if self._whole or response.is_success else MAX_ERROR_BYTES
        response.stream = _BoundedStream(response.stream, bound, whole=self._whole)
        return response


@cache
def trusted() -> ssl.SSLContext:
    """Return the system's trust store; made once, because reading the certificates takes tens of milliseconds."""
    return httpx2.create_ssl_context(trust_env=False)


def beginning(response: httpx2.Response, limit: int, deadline: Deadline) -> bytes:
    """Return a decompressed body; of one that is longer than `limit` bytes, a beginning that is longer, too.

    Raises:
        httpx2.ReadTimeout: no time remains.
    """
    body = bytearray()
    for piece in response.iter_bytes():
        body += piece
        deadline.within()
        if len(body) > limit:
            break
    return bytes(body)


class _TimedStream(httpcore2.NetworkStream):
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
        secured = self._stream.start_tls(ssl_context, server_hostname, self._deadline.within(timeout))
        return _TimedStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, stream: Any, bound: int, *, whole: bool) -> None:
        self._stream = stream
        self._bound = bound
        self._whole = whole

    def __iter__(self) -> Iterator[bytes]:
        left = self._bound
        for piece in self._stream:
            if self._whole and len(piece) > left:
                raise TooLong("a response that is too long")
            yield piece[:left]
            left -= len(piece)
            if left <= 0 and not self._whole:
                return

    def close(self) -> None:
        self._stream.close()
