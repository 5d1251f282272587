"""HTML pages: the data of the API, rendered by the server."""

import time
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from harness.core.freshness import is_expired
from harness.core.keys import MAX_QUERY_CHARS
from harness.errors import AccessDenied
from harness.knowledge.knowledge_checks import MAX_AGENT
from harness.server.api import knowledge_routes
from harness.server.api.history_routes import HistoryFilters, IdPath, SourcePath
from harness.server.auth import COOKIE
from harness.server.pages.history_page import ResearchForm, history_page
from harness.server.pages.templates import page
from harness.server.route_dependencies import RequestApp

router = APIRouter()

MAX_DATA = 20_000
MAX_PASSAGES = 200
LOGIN_SECONDS = 30 * 86_400


@router.get("/")
def history(
    request: Request,
    app: RequestApp,
    q: Annotated[str, Query(max_length=10_000)] = "",
    source: Annotated[str, Query(max_length=20)] = "all",
    since: Annotated[str, Query(max_length=64)] = "",
    found: Annotated[str, Query(max_length=20)] = "any",
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
    origin: Annotated[str, Query(max_length=20)] = "own",
    part: bool = False,
) -> Response:
    """Show the history; with `part`, only the list, for the script that searches during typing. With `question`, the
    form for a research has it, for links that suggest one. A request with a format comes from a SearXNG client that was
    configured with the host only.
    """
    parameters = request.query_params
    if "format" in parameters:
        return RedirectResponse(f"/search?{request.url.query}", 308)
    form = ResearchForm(parameters.get("question", "")[:MAX_QUERY_CHARS], parameters.get("engine", "")[:500])
    filters = HistoryFilters(q, since, source, origin, found)
    return history_page(request, app, filters, offset, form=form, part=part)


@router.get("/entries/{source}/{id}")
def entry(request: Request, app: RequestApp, source: SourcePath, id: IdPath) -> Response:  # noqa: A002
    """Show one complete entry."""
    if source == "knowledge":
        return RedirectResponse(f"/knowledge/{id}", 303)
    found = app.history.entry(source, id)
    if found.table == "research_runs":
        return RedirectResponse(f"/runs/{id}", 303)
    data = found.data
    results = data if isinstance(data, list) and all(isinstance(each, dict) for each in data) else None
    return page(
        request,
        "entry.html",
        source=source,
        row=found.entry,
        about=found.about,
        expired=is_expired(found.entry.expires_at, time.time(), found.entry.created_at),
        results=results,
        data="" if results is not None else found.entry.payload[:MAX_DATA].decode(errors="replace"),
    )


@router.get("/library/source")
def source(request: Request, app: RequestApp, url: Annotated[str, Query(min_length=1, max_length=2_000)]) -> Response:
    """Show the passages of one source that the library has."""
    held = app.library.passages_of(url)[:MAX_PASSAGES]
    return page(request, "source.html", status=200 if held else 404, url=url, passages=held, now=time.time())


@router.get("/knowledge")
def knowledge(
    request: Request,
    app: RequestApp,
    tag: Annotated[str, Query(max_length=100)] = "",
    agent: Annotated[str, Query(max_length=MAX_AGENT)] = "",
) -> Response:
    """List the documents."""
    found = app.knowledge.list(200, tags=[tag] if tag.strip() else None, agent=agent.strip() or None)
    return page(request, "knowledge.html", documents=found, tag=tag, agent=agent, now=time.time())


@router.get("/knowledge/{id}")
def document(request: Request, app: RequestApp, id: knowledge_routes.DocumentPath) -> Response:  # noqa: A002
    """Show a document with its earlier versions."""
    knowledge_routes.document(app, id)  # raises `NotFound`
    found, *earlier = app.knowledge.history(id)
    return page(request, "document.html", document=found, earlier=earlier, now=time.time())


@router.get("/login")
def login(request: Request) -> Response:
    """Ask for a token."""
    return page(request, "login.html", failure="")


@router.post("/login")
def set_cookie(request: Request, token: Annotated[str, Form(max_length=1_000)] = "") -> Response:
    """Store a valid token in a cookie that scripts cannot read."""
    authenticator = request.app.state.authenticator
    try:
        authenticator.verify(token)
    except AccessDenied as error:
        return page(request, "login.html", status=401, failure=str(error))
    response = RedirectResponse("/", 303)
    response.set_cookie(
        COOKIE,
        token.strip(),
        max_age=LOGIN_SECONDS,
        httponly=True,
        samesite="lax",
        # behind an unconfigured proxy only the browser's header tells; it can only make this stricter
        secure=request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://"),
    )
    return response


@router.post("/logout")
def logout() -> Response:
    """Delete the cookie."""
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE)
    return response
