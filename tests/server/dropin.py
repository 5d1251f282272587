"""The search routes in a separate application, and a SearXNG instance that records its requests."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pytest_httpserver import HTTPServer
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send
from werkzeug import Request as InstanceRequest
from werkzeug import Response

from harness.app import App
from harness.errors import HarnessError
from harness.server.auth import REQUEST_APP
from harness.server.error_payload import INVALID, ErrorResponse, error_payload, payload_of, status_of
from harness.server.search_api import searxng_search, tavily
from harness.settings import Settings

MAX_RESULTS = 100


def request_app(app: App) -> ASGIApp:
    """Make an application of the search routes that serves every request with `app`."""
    api = FastAPI()
    api.include_router(searxng_search.router)
    api.include_router(tavily.router)
    api.add_exception_handler(HarnessError, _failed)
    api.add_exception_handler(RequestValidationError, _invalid)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})[REQUEST_APP] = app
        await api(scope, receive, send)

    return serve


async def _failed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HarnessError)
    return _respond(request, payload_of(error), status_of(error))


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    return _respond(request, error_payload(INVALID, str(error)), 400)


def _respond(request: Request, payload: ErrorResponse, status: int) -> JSONResponse:
    body = tavily.failure(payload) if tavily.serves(request) else payload
    return JSONResponse(body.model_dump(), status)


class Instance:
    """A SearXNG instance that finds `https://site-N.example/N` for every N; `asked` are the received queries."""

    def __init__(self, server: HTTPServer) -> None:
        self.asked: list[dict[str, str]] = []
        self.status = 200
        self.address = server.url_for("")
        server.expect_request("/search").respond_with_handler(self._answer)

    def _answer(self, request: InstanceRequest) -> Response:
        self.asked.append(request.args.to_dict())
        page = int(request.args["pageno"])
        results = [
            {"url": f"https://site-{number}.example/{number}", "title": f"Title {number}", "content": f"Text {number}."}
            for number in range(10 * page - 9, min(10 * page, MAX_RESULTS) + 1)
        ]
        body = msgspec.json.encode({"results": results, "unresponsive_engines": []})
        return Response(body, self.status, content_type="application/json")


@contextmanager
def client_of(folder: Path, *engines: str, **settings: Any) -> Iterator[TestClient]:
    """Open a client of the search routes over `engines`, with an empty cache."""
    effective = Settings(
        data_dir=folder / "data",
        engine=engines,
        semantic=False,
        corpus_meaning=False,
        searches_per_minute=60_000,
        rate_limit_retries=0,
        **settings,
    )
    with App(effective) as app, TestClient(request_app(app)) as client:
        yield client
