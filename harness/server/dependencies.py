"""What every route of the application has in common: who asks, and how a failure is told."""

from typing import Annotated, Any, Literal

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from harness.app import App
from harness.server.auth import REQUEST_APP


class Failure(BaseModel):
    """Why a request was not served. There is no other shape of a failure."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"status": "error", "code": "invalid_input", "message": "limit must be from 1 to 100, not 0"}]
        }
    )

    status: Literal["error"]
    code: str = Field(description="Stable: programs may compare it.")
    message: str = Field(description="One line that says what to do next.")


_WORDS = {
    400: "Something of the request is not usable as it is.",
    401: "A token is needed, or this one is not valid.",
    403: "The token is not enough for this, or the request comes from another site.",
    404: "There is nothing of that name.",
    405: "Not with this method.",
    413: "The request is too long.",
    429: "Too much at once; wait, and try again.",
    500: "A bug in harness; the server's log tells more.",
    502: "Somebody else failed: a search engine, a page, a language model.",
    503: "The database or a model is out of order, or the harness is offline and has no answer.",
}
FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": words} for status, words in _WORDS.items()
}
"""For `responses` of a router."""


def app_of(request: Request) -> App:
    """Return the app that the request was let in with."""
    found: App = request.scope["state"][REQUEST_APP]
    return found


Mine = Annotated[App, Depends(app_of)]
"""The app of whoever asks."""
