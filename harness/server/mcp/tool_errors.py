"""Errors that only tools have: arguments that do not match the schema, and bugs."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from harness.core.text import shorten
from harness.server.error_payload import INTERNAL, INVALID, ErrorResponse, error_payload

MAX_ERRORS = 5


def argument_error(tool: str, error: ValidationError) -> ErrorResponse:
    """Return the error for arguments that do not match a tool's schema, without the arguments, which may be long."""
    messages = [_message(each["loc"], each["msg"]) for each in error.errors(include_url=False, include_input=False)]
    listed = "; ".join(messages[:MAX_ERRORS])
    return error_payload(INVALID, f"invalid arguments for {tool}: {listed}; fix them and call again")


def internal_error(tool: str) -> ErrorResponse:
    """Return the error for a bug."""
    return error_payload(INTERNAL, f"{tool} failed because of a bug in harness; see the server's log")


def _message(where: Sequence[Any], message: str) -> str:
    return f"{shorten('.'.join(map(str, where)), 100)}: {shorten(message, 300)}"
