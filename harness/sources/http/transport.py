"""HTTP on which nothing outlives one deadline. Import it where it is first needed: with httpx2 it takes 0.1 s.

A time-out of the socket is not enough: a server that sends a byte a second keeps every single `recv` within it. So each
operation on a connection gets what is left of the whole.
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
"""The headers that go out as openai makes them; what it takes from OPENAI_CUSTOM_HEADERS and tells of us does not."""


class Deadline:
    """The time `seconds` from now, by the monotonic clock; `inf` for none."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until then; negative afterwards."""
        return self._end - time.monotonic()

    def within(self, timeout: float | None = None) -> float:
        """Return `timeout`, or what is left if that is less.

        Raises:
            httpx2.ReadTimeout: nothing is left.
        """
        left = self.left
        if left <= 0:
            raise httpx2.ReadTimeout("the deadline has passed")
        return left if timeout is None else min(timeout, left)


class Sockets(httpcore2.SyncBackend):
    """Makes connections whose every operation ends at the deadline."""

    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **kwargs: Any
    ) -> httpcore2.NetworkStream:
        """See `httpcore2.NetworkBackend.connect_tcp`; raises as `Deadline.within` does, too."""
        stream = super().connect_tcp(host, port, self.deadline.within(timeout), *args, **kwargs)
        return _TimedStream(stream, self.deadline)


class Transport(httpx2.HTTPTransport):
    """Sends requests over `sockets`, and raises the errors of httpx2. `tls` may be `None` where nothing asks https."""

    def __init__(self, sockets: Sockets, tls: ssl.SSLContext | None, proxy: httpcore2.Proxy | None = None) -> None:
        # not the parent's, which takes no sockets; if it came to name its pool otherwise, no request would go out
        self._pool = httpcore2.ConnectionPool(ssl_context=tls, proxy=proxy, network_backend=sockets)


class EndpointTransport(Transport):
    """HTTP to the OpenAI-compatible endpoint at `address`. It alone knows the `key`, and reads nothing compressed.

    Of a body at most `max_bytes` are read. A longer one breaks off with an error if it has to be `whole`. Else it is
    cut, and that of an answer that tells of an error is cut after 65,536 bytes.
    """

    def __init__(self, address: str, key: str | None, deadline: Deadline, max_bytes: int, *, whole: bool) -> None:
        super().__init__(Sockets(deadline), trusted() if address.lower().startswith("https") else None)
        self._key = key
        self._max_bytes = max_bytes
        self._whole = whole

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """See `httpx2.BaseTransport.handle_request`; a compressed answer is a `DecodingError`."""
        headers = {name: request.headers[name] for name in _KEPT if name in request.headers}
        headers |= {"user-agent": "research-harness", "accept-encoding": "identity"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        request.headers = httpx2.Headers(headers)
        response = super().handle_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":  # a few bytes may stand for gigabytes
            response.close()
            raise httpx2.DecodingError("a compressed answer, which was not asked for")
        bound = self._max_bytes if self._whole or response.is_success else MAX_ERROR_BYTES
        response.stream = _BoundedStream(response.stream, bound, whole=self._whole)
        return response


@cache
def trusted() -> ssl.SSLContext:
    """Trust what the system trusts; made once, for reading the certificates takes tens of milliseconds."""
    return httpx2.create_ssl_context(trust_env=False)


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
                raise httpx2.ReadError("an answer that is too long")
            yield piece[:left]
            left -= len(piece)
            if left <= 0 and not self._whole:
                return

    def close(self) -> None:
        self._stream.close()
