"""Errors for agents, which can call tools but cannot run commands."""

from harness.errors import HarnessError
from harness.server.error_payload import ErrorResponse, error_payload

_ADVICE = (
    (", or use --engine corpus:PATH", ", or call library_search, which needs no network"),
    ("delete it, or run `harness cache verify --repair`", "an admin can delete it with knowledge_delete"),
)
"""Advice for a command line, and the same for agents."""


def agent_message(error: HarnessError) -> str:
    """Return the message of an error with advice that an agent can follow."""
    message = str(error)
    for command, call in _ADVICE:
        message = message.replace(command, call)
    return message


def agent_payload(error: HarnessError) -> ErrorResponse:
    """Return the error response for an agent."""
    return error_payload(error.code, agent_message(error))
