"""One connection to an OpenAI-compatible endpoint: its bounds, its key, and its failures in our words.

Import it where it is first needed: with openai it takes a second. A connection serves one completion and is closed with
it. So threads share nothing, a forked child takes nothing over, and an answer that is no longer wanted stops.
"""

import email.utils
import math
import re
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any

import httpcore2
import httpx2
import msgspec
import openai
from msgspec import Struct
from openai import OpenAI, Stream

from harness.core.text import clean, shorten
from harness.errors import ModelError, ModelUnavailable

FOREIGN = (openai.OpenAIError, httpx2.HTTPError, msgspec.ValidationError, ValueError, RecursionError)
"""Whatever comes up through openai from an endpoint that is down, refuses, or sends garbage."""

MAX_ERROR_BYTES = 65_536
MAX_WORDS = 200

_KEPT = ("host", "content-length", "content-type", "accept", "connection")
"""The headers that go out as openai makes them; what it takes from OPENAI_CUSTOM_HEADERS and tells of us does not."""


class Endpoint(Struct, frozen=True):
    """Whom to ask for which model, and how long; `key` is a secret."""

    address: str
    model: str
    key: str | None
    key_variable: str
    timeout: float
    total_timeout: float

    def __repr__(self) -> str:
        return f"Endpoint({self.address!r}, {self.model!r})"


class Failure(Struct, frozen=True):
    """Why there is no answer. `refusal` holds the endpoint's words where it did not like the request.

    `again` tells whether the same request may be answered later; `wait` is how many seconds the endpoint asks for.
    """

    error: ModelError
    again: bool = False
    wait: float | None = None
    refusal: str = ""


class Deadline:
    """A time that lies `seconds` ahead, by the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until then; negative afterwards."""
        return self._end - time.monotonic()

    def bounded(self, timeout: float | None) -> float:
        """Return `timeout`, or what is left if that is less.

        Raises:
            httpcore2.ReadTimeout: nothing is left.
        """
        left = self.left
        if left <= 0:
            raise httpcore2.ReadTimeout("the deadline has passed")
        return left if timeout is None else min(timeout, left)


@contextmanager
def connected(endpoint: Endpoint, deadline: Deadline, max_bytes: int) -> Iterator[OpenAI]:
    """Yield a client of `endpoint` that reads at most `max_bytes` and nothing after `deadline`.

    It tries nothing again by itself: its waits would know no deadline, and it gives up on a stream that breaks off
    before the first word. Nothing of the environment reaches it: no key, address, header or proxy.
    """
    transport = _Transport(endpoint, deadline, max_bytes)
    timeout = httpx2.Timeout(endpoint.timeout)
    with (
        httpx2.Client(transport=transport, timeout=timeout, trust_env=False, follow_redirects=False) as http,
        OpenAI(
            api_key="the transport has it",
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            base_url=endpoint.address,
            timeout=timeout,
            max_retries=0,
            http_client=http,
        ) as client,
    ):
        yield client


def streamed(client: OpenAI, body: Mapping[str, Any]) -> Stream[object]:
    """Ask for a completion; return its events as parsed JSON: openai's own types would not be checked anyway."""
    return client.post("/chat/completions", cast_to=object, body=body, stream=True, stream_cls=Stream[object])


def failure_of(error: Exception, endpoint: Endpoint, deadline: Deadline) -> Failure:
    """Tell what an exception of `FOREIGN` means."""
    where = f"{endpoint.model} at {endpoint.address}"
    if isinstance(error, openai.APIStatusError):
        return _status_failure(error, endpoint)
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return _timeout_failure(where, endpoint, deadline)
    cause = error.__cause__ or error
    if isinstance(cause, httpx2.TransportError):
        reason = words_of(str(cause), endpoint)
        return Failure(ModelUnavailable(f"{where} cannot be reached ({reason}); is it running?"), again=True)
    if isinstance(error, openai.APIError) and error.body is not None:  # an event that tells of an error
        words = words_of(error.body, endpoint)
        return Failure(ModelUnavailable(f"{where} gave up: {words}; ask again, or another model"), again=True)
    if isinstance(error, UnicodeEncodeError):
        return Failure(ModelError("a message contains a lone surrogate (broken Unicode); re-encode it"))
    if isinstance(cause, httpx2.DecodingError):
        garbage = "compressed, which was not asked for; use another endpoint"
    else:
        garbage = "with something that is no chat completion; check the address, which often ends in /v1"
    return Failure(ModelError(f"{where} answered {garbage}"))


def _timeout_failure(where: str, endpoint: Endpoint, deadline: Deadline) -> Failure:
    if deadline.left <= 0:
        return Failure(ModelUnavailable(f"{where} took longer than {endpoint.total_timeout:g} s; allow it more time"))
    silent = f"{where} was silent for {endpoint.timeout:g} s; check it, or allow it more time"
    return Failure(ModelUnavailable(silent), again=True)


def _status_failure(error: openai.APIStatusError, endpoint: Endpoint) -> Failure:
    status = error.status_code
    words = words_of(error.body, endpoint)
    if status in {401, 403}:
        said = f"refuses the key: {words}; check" if endpoint.key else "wants a key, and none is set; set"
        return Failure(ModelError(f"{endpoint.address} {said} {endpoint.key_variable}"))
    if status == 404:
        return Failure(
            ModelError(
                f"{endpoint.address} knows no model {endpoint.model!r}: {words}; check the model's name and the "
                "address, which often ends in /v1"
            )
        )
    if status in {408, 409, 429} or status >= 500:
        wait = _retry_after(error.response.headers)
        asked = f", and asks to wait {wait:.0f} s" if wait else ""
        text = f"{endpoint.address} cannot answer now (HTTP {status}: {words}){asked}; try again later"
        return Failure(ModelUnavailable(text), again=True, wait=wait)
    if status < 400:
        return Failure(ModelError(f"{endpoint.address} sends us elsewhere (HTTP {status}); give the address it means"))
    return Failure(ModelError(f"{endpoint.address} refuses the request (HTTP {status}): {words}"), refusal=words)


def words_of(body: object, endpoint: Endpoint) -> str:
    """Return what an endpoint says, in one line of at most 200 characters, without markup and the key."""
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    text = re.sub(r"<[^>]*>", " ", clean(body, MAX_ERROR_BYTES))
    if endpoint.key:
        text = text.replace(endpoint.key, "[key]")
    return shorten(text, MAX_WORDS) or "no words"


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Return the seconds that `Retry-After` asks for, as a number or a date (RFC 9110, 10.2.3)."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (email.utils.parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):  # TypeError: a date without a zone
            return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None


class _Transport(httpx2.HTTPTransport):
    """HTTP that keeps the deadline in every read and write, bounds what it reads, and alone knows the key."""

    def __init__(self, endpoint: Endpoint, deadline: Deadline, max_bytes: int) -> None:
        # not the parent's: it makes the same pool, but has no parameter for the network backend
        tls = _tls() if endpoint.address.startswith("https") else None
        self._pool = httpcore2.ConnectionPool(ssl_context=tls, network_backend=_Backend(deadline))
        self._key = endpoint.key
        self._max_bytes = max_bytes

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = {name: request.headers[name] for name in _KEPT if name in request.headers}
        headers |= {"user-agent": "research-harness", "accept-encoding": "identity"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        request.headers = httpx2.Headers(headers)
        response = super().handle_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":  # a few bytes may stand for gigabytes
            response.close()
            raise httpx2.DecodingError("compressed", request=request)
        bound = self._max_bytes if response.is_success else MAX_ERROR_BYTES
        response.stream = _BoundedStream(response.stream, bound)
        return response


class _BoundedStream(httpx2.SyncByteStream):
    """A body that ends after `bound` bytes."""

    def __init__(self, stream: Any, bound: int) -> None:
        self._stream = stream
        self._bound = bound

    def __iter__(self) -> Iterator[bytes]:
        left = self._bound
        for piece in self._stream:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return

    def close(self) -> None:
        self._stream.close()


class _Backend(httpcore2.SyncBackend):
    """Sockets whose every operation ends at the deadline: a drip of bytes never lets a time-out of its own come."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **kwargs: Any
    ) -> httpcore2.NetworkStream:
        stream = super().connect_tcp(host, port, self._deadline.bounded(timeout), *args, **kwargs)
        return _TimedStream(stream, self._deadline)


class _TimedStream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.bounded(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.bounded(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._deadline.bounded(timeout))
        return _TimedStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


@cache
def _tls() -> ssl.SSLContext:
    """Trust what the system trusts; made once, for reading the certificates takes tens of milliseconds."""
    return httpx2.create_ssl_context(trust_env=False)
