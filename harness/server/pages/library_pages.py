"""The page of the library: search, sources, growth, and a form that reads a page."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from msgspec import Struct
from msgspec.structs import replace

from harness.core.text import one_line
from harness.errors import HarnessError
from harness.server.api import library_routes
from harness.server.api.library_routes import HostQuery, KindName, KindQuery, OffsetQuery
from harness.server.error_payload import status_of
from harness.server.pages.history_page import PAGE_SIZE
from harness.server.pages.templates import page
from harness.server.responses.library_responses import LibraryResponse
from harness.server.route_dependencies import RequestApp

router = APIRouter()

KIND_NAMES = {"page": "pages", "snippet": "search results", "file": "files", "knowledge": "knowledge"}
"""Kinds of sources in words."""


class LibraryView(Struct, frozen=True, kw_only=True):
    """Values of the page: the query `q` and what it found, the filters, the number of skipped sources (`offset`), the
    typed address of a page to read, and an error with its HTTP status.
    """

    q: str = ""
    kind: KindName = ""
    host: str = ""
    offset: int = 0
    found: LibraryResponse | None = None
    url: str = ""
    failure: str = ""
    status: int = 200

    def path(self, offset: int) -> str:
        """Return the path of the list with the same filters, from another place on."""
        filters = {name: value for name, value in (("kind", self.kind), ("host", self.host)) if value}
        return f"/library?{urlencode({**filters, 'offset': max(0, offset)})}"


@router.get("/library")
def library(
    request: Request,
    app: RequestApp,
    q: Annotated[str, Query(max_length=10_000)] = "",
    kind: KindQuery = "",
    host: HostQuery = "",
    offset: OffsetQuery = 0,
) -> Response:
    """Search everything that was read; without a query, list its sources."""
    view = LibraryView(q=q, kind=kind, host=host, offset=offset)
    if one_line(q):
        try:
            view = replace(view, found=library_routes.search(app, q, PAGE_SIZE, kind=kind, host=host))
        except HarnessError as error:  # keep the typed query, and show the error
            view = replace(view, failure=str(error), status=status_of(error))
    return _page(request, app, view)


@router.post("/library")
def add(request: Request, app: RequestApp, url: Annotated[str, Form(max_length=2_000)] = "") -> Response:
    """Read a page into the library and show its passages."""
    try:
        read = library_routes.read_page(app, library_routes.PageToRead(url=one_line(url)))
    except HarnessError as error:  # keep the typed address, and show the error
        return _page(request, app, LibraryView(url=url, failure=str(error), status=status_of(error)))
    return RedirectResponse(f"/library/source?{urlencode({'url': read.url})}", 303)


def _page(request: Request, app: RequestApp, view: LibraryView) -> Response:
    offset = view.offset
    sources = library_routes.sources(app, kind=view.kind, host=view.host, limit=PAGE_SIZE, offset=offset)
    return page(
        request,
        "library.html",
        status=view.status,
        view=view,
        stats=library_routes.stats(app),
        sources=sources,
        kinds=KIND_NAMES,
        more=view.path(offset + PAGE_SIZE) if offset + PAGE_SIZE < sources.total else "",
        earlier=view.path(offset - PAGE_SIZE) if offset else "",
    )
