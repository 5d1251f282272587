"""Body of every error response, over HTTP and from MCP tools."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Literal

from pydantic import BaseModel, Field

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
from harness.server.responses.response_schema import example

MAX_MESSAGE = 1_000
MAX_FIELDS = 5
"""Invalid fields that a message names."""
INVALID = "invalid_input"
INTERNAL = "internal_error"
"""Code of a bug. The details go to the server's log, not into the response."""
BUG = "the request failed because of a bug in harness; see the server's log"

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


class ErrorResponse(BaseModel):
    """Why a request failed. All errors have this shape."""

    model_config = example(status="error", code="invalid_input", message="limit must be from 1 to 100, not 0")

    status: Literal["error"]
    code: str = Field(description="Stable: programs may compare it.")
    message: str = Field(description="One line that says what to do next.")


def error_payload(code: str, message: str) -> ErrorResponse:
    """Return an error response; the message is cleaned, on one line, and at most `MAX_MESSAGE` characters long."""
    text = shorten(clean(one_line(message), 2 * MAX_MESSAGE), MAX_MESSAGE)
    return ErrorResponse(status="error", code=code, message=text)


def invalid_fields(errors: Iterable[Mapping[str, Any]], skip: int = 0) -> str:
    """Return the first errors of pydantic on one line, without the values, which may be long; `skip` parts of each
    place are left out.
    """
    places = ((".".join(map(str, each["loc"][skip:])) or "the body", str(each["msg"])) for each in errors)
    return "; ".join(f"{shorten(place, 100)}: {shorten(message, 300)}" for place, message in islice(places, MAX_FIELDS))


def payload_of(error: HarnessError) -> ErrorResponse:
    """Return the error response for an error that the harness raised on purpose."""
    return error_payload(error.code, str(error))


def status_of(error: HarnessError) -> int:
    """Return the HTTP status of an error: 502 if another service failed, 503 if the database or a model is unavailable
    or the harness is offline.
    """
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 503)
