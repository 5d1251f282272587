"""Errors as HTTP responses: JSON for programs, a page for people."""

from collections.abc import Mapping

from fastapi.responses import JSONResponse
from starlette.requests import Request
from starlette.responses import Response

from harness.errors import HarnessError, TooManyRequests
from harness.server.error_payload import ErrorResponse, payload_of, status_of
from harness.server.pages.templates import page
from harness.server.search_api import tavily

DATA_PATHS = ("/api/", "/search", "/config", "/autocompleter", "/tavily/", "/charts/", "/healthz", "/mcp")
"""Paths for programs. Errors are JSON here, and requests from pages of other sites are refused."""


def is_data_path(path: str) -> bool:
    """Return whether a path is for programs."""
    return path.startswith(DATA_PATHS)


def respond_error(
    request: Request, status: int, payload: ErrorResponse, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response to a request that failed."""
    if tavily.serves(request):
        return JSONResponse(tavily.failure(payload).model_dump(), status, headers)
    if "text/html" in request.headers.get("accept", "") and not is_data_path(request.url.path):
        response: Response = page(request, "error.html", status=status, message=payload.message, code=status)
        response.headers.update(headers or {})
        return response
    return JSONResponse(payload.model_dump(), status, headers)


def respond_with(request: Request, error: HarnessError) -> Response:
    """Return the response to a request that ended with an error which the harness raised on purpose."""
    wait = {"Retry-After": str(int(error.wait) + 1)} if isinstance(error, TooManyRequests) else None
    return respond_error(request, status_of(error), payload_of(error), wait)
