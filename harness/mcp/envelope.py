"""The one shape of every failure: `{"status": "error", "code", "message"}`, as the result of a tool and over HTTP."""

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from pydantic import ValidationError

from harness.core.text import clean, one_line, shorten
from harness.errors import HarnessError

MAX_MESSAGE = 1_000
MAX_COMPLAINTS = 5
INVALID = "invalid_input"
INTERNAL = "internal_error"
"""A bug: what it was stands in the server's log, not in the reply."""


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


def envelope_of_arguments(tool: str, error: ValidationError) -> Envelope:
    """Make the envelope of arguments that do not fit a tool's schema; what was given, maybe long, is not repeated."""
    complaints = [_complaint(each["loc"], each["msg"]) for each in error.errors(include_url=False, include_input=False)]
    told = "; ".join(complaints[:MAX_COMPLAINTS])
    return envelope(INVALID, f"{tool} cannot use these arguments: {told}; mend them and call again")


def internal(tool: str) -> Envelope:
    """Make the envelope of a bug."""
    return envelope(INTERNAL, f"{tool} failed because of a bug in harness; the server's log tells more")


def _complaint(where: Sequence[Any], message: str) -> str:
    return f"{shorten('.'.join(map(str, where)), 100)}: {shorten(message, 300)}"
