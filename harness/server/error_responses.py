"""Errors as HTTP responses: JSON for programs, a page for people."""

from collections.abc import Mapping

from fastapi.responses import JSONResponse
from starlette.requests import Request
from starlette.responses import Response

from harness.errors import HarnessError, ModelRefused, TooManyRequests
from harness.server.error_payload import ErrorResponse, payload_of, status_of
from harness.server.llm_api import llm_errors
from harness.server.pages.templates import page
from harness.server.search_api import tavily

SEARCH_PATH = "/search"
"""Path of the search that is compatible with SearXNG, and a page in a browser."""
DATA_PATHS = (
    "/api/",
    SEARCH_PATH,
    "/config",
    "/autocompleter",
    "/tavily/",
    "/charts/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/mcp",
    "/v1/",
)
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
    if llm_errors.serves(request):
        return llm_errors.failure_response(status, payload, headers)
    if _shows_page(request):
        if status == 401:
            response: Response = page(request, "login.html", status=status, failure=payload.message)
        else:
            response = page(request, "error.html", status=status, message=payload.message, code=status)
        response.headers.update(headers or {})
        return response
    return JSONResponse(payload.model_dump(), status, headers)


def _shows_page(request: Request) -> bool:
    """Return whether a request comes from a person with a browser. `/search` serves people and programs."""
    if "text/html" not in request.headers.get("accept", ""):
        return False
    path = request.url.path
    if path == SEARCH_PATH:
        return request.method == "GET" and request.query_params.get("format", "") in {"", "html"}
    return not is_data_path(path)


def respond_with(request: Request, error: HarnessError) -> Response:
    """Return the response to a request that ended with an error which the harness raised on purpose."""
    if isinstance(error, ModelRefused) and llm_errors.serves(request):
        return llm_errors.refusal_response(error)
    wait = {"Retry-After": str(int(error.wait) + 1)} if isinstance(error, TooManyRequests) else None
    return respond_error(request, status_of(error), payload_of(error), wait)
