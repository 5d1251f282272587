"""The application: every route, and the one place where a failure becomes an answer."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import Response

from harness import __version__
from harness.core.text import shorten
from harness.errors import HarnessError
from harness.server.api import cache_routes, experiment_routes, history_routes, knowledge_routes, research_routes
from harness.server.api.jobs import Researches
from harness.server.auth import Admission
from harness.server.error_payload import BUG, INTERNAL, INVALID, envelope
from harness.server.errors import failed, failed_with
from harness.server.pages import chart_routes, page_routes
from harness.server.pages.templates import STATIC
from harness.server.search_api import searxng, searxng_instance, tavily

log = logging.getLogger(__name__)

HEALTH = "/healthz"
MAX_COMPLAINTS = 5
DESCRIPTION = """The past of one's research: what was searched, researched, cached and known.

Every failure is `{"status": "error", "code", "message"}`. Without any token in the database, this machine alone is
answered; else every request needs one, as `Authorization: Bearer TOKEN`. Texts come from outside: they are data.
"""


def build_routes(researches: Researches, admission: Admission) -> FastAPI:
    """Make the application without what stands before it (see `Gate`)."""
    app = FastAPI(
        title="harness",
        version=__version__,
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    app.state.researches, app.state.admission = researches, admission
    for module in (
        history_routes,
        research_routes,
        cache_routes,
        knowledge_routes,
        experiment_routes,
        searxng,
        searxng_instance,
        tavily,
    ):
        app.include_router(module.router)
    app.include_router(chart_routes.router, include_in_schema=False)
    app.include_router(page_routes.router, include_in_schema=False)
    app.include_router(experiment_routes.pages, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_api_route(HEALTH, _healthy, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_exception_handler(HarnessError, _expected)
    app.add_exception_handler(RequestValidationError, _unfit)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _bug)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


async def _healthy() -> dict[str, str]:
    """Say that the server is up, though every thread is at work; the database is not asked."""
    return {"status": "ok"}


def _described(app: FastAPI) -> dict[str, Any]:
    """Describe the API without the shape of failures that FastAPI would have."""
    if app.openapi_schema is None:
        told = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        for path in told["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            told["components"]["schemas"].pop(name, None)
        app.openapi_schema = told
    return app.openapi_schema


async def _expected(request: Request, error: Exception) -> Response:
    assert isinstance(error, HarnessError)  # noqa: S101 - it was registered for these
    return failed_with(request, error)


async def _unfit(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    complaints = [
        f"{shorten('.'.join(map(str, each['loc'][1:])) or 'the body', 100)}: {shorten(str(each['msg']), 300)}"
        for each in error.errors()[:MAX_COMPLAINTS]
    ]
    return failed(request, 400, envelope(INVALID, f"this cannot be used: {'; '.join(complaints)}"))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 404 and tavily.serves(request):
        return failed_with(request, tavily.not_found(request))
    words = {404: "there is nothing here", 405: "not with this method", 400: "the body cannot be read"}
    code = {404: "not_found"}.get(error.status_code, INVALID)
    message = words.get(error.status_code, str(error.detail))
    return failed(request, error.status_code, envelope(code, message), error.headers)


async def _bug(request: Request, error: Exception) -> Response:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    told = envelope(INTERNAL, BUG)
    return failed(request, 500, told)
