"""The one shape of every failure: `{"status": "error", "code", "message"}`, as the result of a tool and over HTTP."""

from typing import Literal, TypedDict

from harness.core.text import clean, one_line, shorten
from harness.errors import (
    AccessDenied,
    HarnessError,
    InvalidInput,
    ModelError,
    NotFound,
    PageError,
    RateLimited,
    SearchBackendError,
    SearchError,
    TooManyRequests,
)

MAX_MESSAGE = 1_000
INVALID = "invalid_input"
INTERNAL = "internal_error"
"""A bug: what it was stands in the server's log, not in the reply."""
BUG = "the request failed because of a bug in harness; the server's log tells more"

_STATUSES: tuple[tuple[type[HarnessError], int], ...] = (
    (NotFound, 404),
    (InvalidInput, 400),
    (AccessDenied, 403),
    (TooManyRequests, 429),
    (RateLimited, 429),
    (SearchBackendError, 503),
    (SearchError, 502),
    (PageError, 502),
    (ModelError, 502),
)


class Envelope(TypedDict):
    """A failure: `code` is stable (see `harness.errors`), `message` one line that says what to do next."""

    status: Literal["error"]
    code: str
    message: str


def envelope(code: str, message: str) -> Envelope:
    """Make an envelope; the message is cleaned, on one line, and at most `MAX_MESSAGE` characters."""
    return {"status": "error", "code": code, "message": shorten(clean(one_line(message), 2 * MAX_MESSAGE), MAX_MESSAGE)}


def envelope_of(error: HarnessError) -> Envelope:
    """Make the envelope of an error that the harness raised on purpose."""
    return envelope(error.code, str(error))


def status_of(error: HarnessError) -> int:
    """Return the HTTP status of an error: 502 where somebody else failed, 503 where something of ours is out of order
    or offline.
    """
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 503)
