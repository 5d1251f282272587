"""The pages that people look at. They show what the API tells, rendered by the server."""

import time
from collections.abc import Sequence
from itertools import groupby
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from harness.core.freshness import is_expired
from harness.core.text import one_line
from harness.errors import AccessDenied, HarnessError, InvalidInput, NotFound
from harness.research.history import SOURCES, HistoryEntry
from harness.research.run_view import past_run
from harness.server.api import cache_routes, knowledge_routes
from harness.server.api.history_routes import IdPath, OriginChosen, SourcePath, find
from harness.server.api.research_options import chosen, engine_choices, model_choices
from harness.server.api.research_responses import CitationReply
from harness.server.api.research_routes import RunPath, researches_of, run_reply
from harness.server.dependencies import Mine
from harness.server.error_payload import status_of
from harness.server.pages.templates import page
from harness.server.request_checks import COOKIE

router = APIRouter()

PAGE_SIZE = 20
MAX_DATA = 20_000
SPANS = (("", "any time"), ("1d", "the last day"), ("7d", "the last week"), ("30d", "the last 30 days"))
ORIGINS = (
    ("own", "users and agents"),
    ("user", "users"),
    ("agent", "agents"),
    ("run", "searches of researches"),
    ("evaluation", "evaluations"),
    ("experiment", "experiments"),
    ("all", "everybody"),
)
LOGIN_SECONDS = 30 * 86_400


@router.get("/")
def history(
    request: Request,
    app: Mine,
    q: Annotated[str, Query(max_length=10_000)] = "",
    source: Annotated[str, Query(max_length=20)] = "all",
    since: Annotated[str, Query(max_length=64)] = "",
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
    origin: Annotated[str, Query(max_length=20)] = "own",
    part: bool = False,
) -> Response:
    """Show the history; with `part`, only the list, for the script that searches while one types. Who asks for a format
    is a client of SearXNG that was given the host alone.
    """
    if "format" in request.query_params:
        return RedirectResponse(f"/search?{request.url.query}", 308)
    items: list[HistoryEntry] = []
    failure, status, more = "", 200, None
    try:
        items, more = find(app, q, since, source, PAGE_SIZE, offset, origin)
    except HarnessError as error:  # what one has typed stays, with what is wrong about it
        failure, status = str(error), status_of(error)
    working = researches_of(request)
    asked = {"q": q, "source": source, "since": since, "origin": origin}
    return page(
        request,
        "history_list.html" if part else "history.html",
        status=status,
        failure=failure,
        items=items,
        asked=asked,
        more=f"/?{urlencode({**asked, 'offset': more})}" if more is not None else "",
        earlier=f"/?{urlencode({**asked, 'offset': max(0, offset - PAGE_SIZE)})}" if offset else "",
        sources=("all", *SOURCES),
        spans=SPANS,
        origins=ORIGINS,
        jobs=working.under_way(app.identity.tenant),
        engines=engine_choices(app.settings),
        models=model_choices(app.settings),
        offline=app.settings.offline,
    )


@router.post("/research")
def research(
    request: Request,
    app: Mine,
    question: Annotated[str, Form(max_length=10_000)] = "",
    engine: Annotated[str, Form(max_length=500)] = "",
    model: Annotated[str, Form(max_length=500)] = "",
    refresh: Annotated[bool, Form()] = False,
) -> Response:
    """Begin a research, and show how it goes."""
    if not one_line(question):
        raise InvalidInput("what do you want to know? Write a question")
    choice = chosen(app.settings, engine, model)
    job = researches_of(request).begin(app, question, refresh=refresh, choice=choice)
    return RedirectResponse(f"/runs/{job.run}", 303)


@router.get("/runs/{id}")
def run(request: Request, app: Mine, id: RunPath) -> Response:  # noqa: A002 - the address names it so
    """Show a report with what it rests on; or the research, while it is under way."""
    working = researches_of(request)
    job = next((each for each in working.under_way(app.identity.tenant) if each.run == id), None)
    if job is not None:
        return page(request, "watch.html", job=job)
    try:
        past = past_run(app.cache, id)
    except NotFound:  # where it ended before it could be recorded, this server may still know why
        ended = working.find(app.identity.tenant, id)
        if ended is None:
            raise
        return page(request, "error.html", message=ended.ending, code=200)
    told = run_reply(past)
    return page(request, "report.html", past=past, run=told, laid_out=_laid_out(told.citations))


@router.get("/entries/{source}/{id}")
def entry(request: Request, app: Mine, source: SourcePath, id: IdPath) -> Response:  # noqa: A002
    """Show one thing that is kept, whole."""
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


@router.get("/cache")
def cache(
    request: Request,
    app: Mine,
    q: Annotated[str, Query(max_length=10_000)] = "",
    origin: OriginChosen = "own",
) -> Response:
    """Show what the cache holds and saves; and, if asked, why a search is answered as it is."""
    failure, explained = "", None
    if one_line(q):
        try:
            explained = cache_routes.explain(app, q)
        except HarnessError as error:
            failure = str(error)
    return page(
        request,
        "cache.html",
        stats=cache_routes.stats(app, origin),
        q=q,
        explained=explained,
        failure=failure,
        origin=origin,
        origins=[each for each in ORIGINS if each[0] != "run"],  # what is counted is the run's own origin
    )


@router.get("/knowledge")
def knowledge(
    request: Request,
    app: Mine,
    tag: Annotated[str, Query(max_length=100)] = "",
    agent: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """List what is known."""
    found = app.knowledge.list(200, tags=[tag] if tag.strip() else None, agent=agent.strip() or None)
    return page(request, "knowledge.html", documents=found, tag=tag, agent=agent, now=time.time())


@router.get("/knowledge/{id}")
def document(request: Request, app: Mine, id: knowledge_routes.DocumentPath) -> Response:  # noqa: A002
    """Show a document with its earlier versions."""
    knowledge_routes.document(app, id)  # raises where there is none
    found, *earlier = app.knowledge.history(id)
    return page(request, "document.html", document=found, earlier=earlier, now=time.time())


@router.get("/login")
def login(request: Request) -> Response:
    """Ask for a token."""
    return page(request, "login.html", failure="")


@router.post("/login")
def let_in(request: Request, token: Annotated[str, Form(max_length=1_000)] = "") -> Response:
    """Keep a valid token in a cookie that no script can read."""
    admission = request.app.state.admission
    try:
        admission.verify(token)
    except AccessDenied as error:
        return page(request, "login.html", status=401, failure=str(error))
    response = RedirectResponse("/", 303)
    response.set_cookie(
        COOKIE,
        token.strip(),
        max_age=LOGIN_SECONDS,
        httponly=True,
        samesite="lax",
        # behind a proxy that is not configured, the browser's word is all there is; it can only make it stricter
        secure=request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://"),
    )
    return response


@router.post("/logout")
def logout() -> Response:
    """Forget the token."""
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE)
    return response


def _laid_out(citations: Sequence[CitationReply]) -> list[tuple[str, list[list[tuple[int, CitationReply]]]]]:
    """Return sentences with their places among all, by section and paragraph, in order."""
    return [
        (section, [list(cited) for _, cited in groupby(held, key=lambda each: each[1].paragraph)])
        for section, held in groupby(enumerate(citations), key=lambda each: each[1].section)
    ]
