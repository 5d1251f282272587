"""A failure as an answer: for programs in JSON, for people as a page."""

from collections.abc import Mapping

from fastapi.responses import JSONResponse
from starlette.requests import Request
from starlette.responses import Response

from harness.errors import HarnessError, TooManyRequests
from harness.server.error_payload import Envelope, envelope_of, status_of
from harness.server.pages.templates import page
from harness.server.search_api import tavily

DATA = ("/api/", "/search", "/config", "/autocompleter", "/tavily/", "/charts/", "/healthz")
"""What programs ask for: failures are JSON there, and pages of other sites are not answered at all."""


def is_data(path: str) -> bool:
    """Say whether an address is one that programs ask."""
    return path.startswith(DATA)


def failed(request: Request, status: int, told: Envelope, headers: Mapping[str, str] | None = None) -> Response:
    """Make the answer to a request that was not served."""
    if tavily.serves(request):
        return JSONResponse(tavily.failure(told), status, headers)
    if "text/html" in request.headers.get("accept", "") and not is_data(request.url.path):
        response: Response = page(request, "error.html", status=status, message=told["message"], code=status)
        response.headers.update(headers or {})
        return response
    return JSONResponse(told, status, headers)


def failed_with(request: Request, error: HarnessError) -> Response:
    """Make the answer to a request that ended with an error which the harness raised on purpose."""
    wait = {"Retry-After": str(int(error.wait) + 1)} if isinstance(error, TooManyRequests) else None
    return failed(request, status_of(error), envelope_of(error), wait)
