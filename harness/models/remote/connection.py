"""Connections to an OpenAI-compatible endpoint: bounds, key, and failures as our errors.

Import it in the function that needs it: openai takes a second to import. Each completion has its own connection. So
threads and forked children share none, and closing it stops an answer that is no longer wanted.
"""

import email.utils
import math
from datetime import UTC, datetime

import httpx2
import msgspec
import openai
from msgspec import Struct
from openai import OpenAI

from harness.errors import ModelError, ModelUnavailable
from harness.models.remote.endpoint import ANONYMOUS, words_of
from harness.sources.http.transport import Deadline, EndpointTransport

FOREIGN = (openai.OpenAIError, httpx2.HTTPError, msgspec.ValidationError, ValueError, RecursionError)
"""Exceptions that openai lets through when an endpoint is down, refuses, or sends garbage."""


class Endpoint(Struct, frozen=True):
    """URL, model, key (a secret) and time limits of one request."""

    address: str
    model: str
    key: str | None
    key_variable: str
    timeout: float
    total_timeout: float

    def __repr__(self) -> str:
        return f"Endpoint({self.address!r}, {self.model!r})"


class FailedAttempt(Struct, frozen=True):
    """Reason for a missing answer. `refusal` is the endpoint's message if it rejected the request itself.

    `again`: the same request may succeed later; `wait`: seconds that the endpoint asks for.
    """

    error: ModelError
    again: bool = False
    wait: float | None = None
    refusal: str = ""


def client_of(address: str, transport: EndpointTransport, *, timeout: float, retries: int) -> OpenAI:
    """Return an openai client, to be closed, that takes no key, URL, header or proxy from the environment."""
    return OpenAI(
        **ANONYMOUS,
        base_url=address,
        timeout=timeout,
        max_retries=retries,
        http_client=httpx2.Client(transport=transport, trust_env=False, follow_redirects=False),
    )


def failure_of(error: Exception, endpoint: Endpoint, deadline: Deadline) -> FailedAttempt:
    """Translate an exception of `FOREIGN`."""
    where = f"{endpoint.model} at {endpoint.address}"
    if isinstance(error, openai.APIStatusError):
        return _status_failure(error, endpoint)
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return _timeout_failure(where, endpoint, deadline)
    cause = error.__cause__ or error
    if isinstance(cause, httpx2.TransportError):
        reason = words_of(str(cause), endpoint.key)
        unreachable = ModelUnavailable(f"{where} cannot be reached ({reason}); is it running?")
        return FailedAttempt(unreachable, again=not _is_refused(cause))
    if isinstance(error, openai.APIError) and error.body is not None:  # an error event
        words = words_of(error.body, endpoint.key)
        return FailedAttempt(ModelUnavailable(f"{where} gave up: {words}; ask again, or another model"), again=True)
    if isinstance(error, UnicodeEncodeError):
        return FailedAttempt(ModelError("a message contains a lone surrogate (broken Unicode); re-encode it"))
    if isinstance(cause, httpx2.DecodingError):
        garbage = "with compressed data, which was not requested; use another endpoint"
    else:
        garbage = "with something that is not a chat completion; check the URL, which often ends in /v1"
    return FailedAttempt(ModelError(f"{where} answered {garbage}"))


def _is_refused(error: BaseException | None) -> bool:
    """Return whether nothing listens at the address; a retry within seconds would not help."""
    while error is not None and not isinstance(error, ConnectionRefusedError):
        error = error.__cause__ or error.__context__
    return error is not None


def _timeout_failure(where: str, endpoint: Endpoint, deadline: Deadline) -> FailedAttempt:
    if deadline.left <= 0:
        return FailedAttempt(
            ModelUnavailable(f"{where} took longer than {endpoint.total_timeout:g} s; allow it more time")
        )
    silent = f"{where} was silent for {endpoint.timeout:g} s; check it, or allow it more time"
    return FailedAttempt(ModelUnavailable(silent), again=True)


def _status_failure(error: openai.APIStatusError, endpoint: Endpoint) -> FailedAttempt:
    status = error.status_code
    words = words_of(error.body, endpoint.key)
    if status in {401, 403}:
        problem = f"refuses the key: {words}; check" if endpoint.key else "needs a key; set"
        return FailedAttempt(ModelError(f"{endpoint.address} {problem} {endpoint.key_variable}"))
    if status == 404:
        return FailedAttempt(
            ModelError(
                f"{endpoint.address} has no model {endpoint.model!r}: {words}; check the model's name and the "
                "URL, which often ends in /v1"
            )
        )
    if status in {408, 409, 429} or status >= 500:
        wait = _retry_after(error.response.headers)
        pause = f", and asks to wait {wait:.0f} s" if wait else ""
        text = f"{endpoint.address} cannot answer now (HTTP {status}: {words}){pause}; try again later"
        return FailedAttempt(ModelUnavailable(text), again=True, wait=wait)
    if status < 400:
        return FailedAttempt(ModelError(f"{endpoint.address} redirects (HTTP {status}); set the final URL"))
    return FailedAttempt(ModelError(f"{endpoint.address} refuses the request (HTTP {status}): {words}"), refusal=words)


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
