"""Failures that only tools have: arguments that do not fit, and bugs; in the shape of every other one."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from harness.core.text import shorten
from harness.server.error_payload import INTERNAL, INVALID, Envelope, envelope

MAX_COMPLAINTS = 5


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
