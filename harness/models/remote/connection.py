"""One connection to an OpenAI-compatible endpoint: its bounds, its key, and its failures in our words.

Import it where it is first needed: with openai it takes a second. A connection serves one completion and is closed with
it. So threads share nothing, a forked child takes nothing over, and an answer that is no longer wanted stops.
"""

import email.utils
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import httpx2
import msgspec
import openai
from msgspec import Struct
from openai import OpenAI, Stream

from harness.errors import ModelError, ModelUnavailable
from harness.models.remote.endpoint import ANONYMOUS, words_of
from harness.sources.http.transport import Deadline, EndpointTransport

FOREIGN = (openai.OpenAIError, httpx2.HTTPError, msgspec.ValidationError, ValueError, RecursionError)
"""Whatever comes up through openai from an endpoint that is down, refuses, or sends garbage."""


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


def connected(endpoint: Endpoint, deadline: Deadline, max_bytes: int) -> OpenAI:
    """Return a client of `endpoint`, to be closed, that reads at most `max_bytes` and nothing after `deadline`.

    It tries nothing again by itself: its waits would know no deadline, and it gives up on a stream that breaks off
    before the first word. Nothing of the environment reaches it: no key, address, header or proxy.
    """
    transport = EndpointTransport(endpoint.address, endpoint.key, deadline, max_bytes, whole=False)
    return OpenAI(
        **ANONYMOUS,
        base_url=endpoint.address,
        timeout=endpoint.timeout,
        max_retries=0,
        http_client=httpx2.Client(transport=transport, trust_env=False, follow_redirects=False),
    )


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
        reason = words_of(str(cause), endpoint.key)
        unreachable = ModelUnavailable(f"{where} cannot be reached ({reason}); is it running?")
        return Failure(unreachable, again=not _is_refused(cause))
    if isinstance(error, openai.APIError) and error.body is not None:  # an event that tells of an error
        words = words_of(error.body, endpoint.key)
        return Failure(ModelUnavailable(f"{where} gave up: {words}; ask again, or another model"), again=True)
    if isinstance(error, UnicodeEncodeError):
        return Failure(ModelError("a message contains a lone surrogate (broken Unicode); re-encode it"))
    if isinstance(cause, httpx2.DecodingError):
        garbage = "compressed, which was not asked for; use another endpoint"
    else:
        garbage = "with something that is no chat completion; check the address, which often ends in /v1"
    return Failure(ModelError(f"{where} answered {garbage}"))


def _is_refused(error: BaseException | None) -> bool:
    """Say whether nothing listens at the address: then nothing will a second later, and it is not tried again."""
    while error is not None and not isinstance(error, ConnectionRefusedError):
        error = error.__cause__ or error.__context__
    return error is not None


def _timeout_failure(where: str, endpoint: Endpoint, deadline: Deadline) -> Failure:
    if deadline.left <= 0:
        return Failure(ModelUnavailable(f"{where} took longer than {endpoint.total_timeout:g} s; allow it more time"))
    silent = f"{where} was silent for {endpoint.timeout:g} s; check it, or allow it more time"
    return Failure(ModelUnavailable(silent), again=True)


def _status_failure(error: openai.APIStatusError, endpoint: Endpoint) -> Failure:
    status = error.status_code
    words = words_of(error.body, endpoint.key)
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
