"""Parts of every route: the app of the request, and the documented errors."""

from typing import Annotated, Any

from fastapi import Depends, Request

from harness.app import App
from harness.server.auth import REQUEST_APP
from harness.server.error_payload import ErrorResponse

_DESCRIPTIONS = {
    400: "Part of the request is not valid.",
    401: "A token is required, or this one is not valid.",
    403: "The token's role does not allow this, or the request comes from another site.",
    404: "Not found.",
    405: "Method not allowed.",
    413: "The request is too large.",
    429: "Too many requests; wait, then try again.",
    500: "A bug in harness; see the server's log.",
    502: "Another service failed: a search engine, a page, a language model.",
    503: "The database or a model is unavailable, or the harness is offline and has no cached answer.",
}
ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorResponse, "description": description} for status, description in _DESCRIPTIONS.items()
}
"""For `responses` of a router."""


def request_app(request: Request) -> App:
    """Return the app that authentication chose for the request."""
    app: App = request.scope["state"][REQUEST_APP]
    return app


RequestApp = Annotated[App, Depends(request_app)]
"""The app for the tenant and role of the request."""
