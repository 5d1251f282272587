"""HTML pages: the data of the API, rendered by the server."""

import time
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from harness.core.freshness import is_expired
from harness.core.languages import primary_tag
from harness.core.question_language import question_language
from harness.core.text import one_line
from harness.errors import AccessDenied, HarnessError, InvalidInput, NotFound
from harness.research.history import SOURCES, HistoryPage
from harness.research.messages import direction_of, message, place_in
from harness.research.planner import KEY_POINTS
from harness.research.report import DISAGREEMENTS
from harness.research.run_view import PastRun, past_run
from harness.server.api import cache_routes, knowledge_routes, library_routes
from harness.server.api.history_routes import IdPath, OriginChosen, SourcePath, find_page
from harness.server.api.research_options import choice_of, engine_choices, model_choices
from harness.server.api.research_routes import RunPath, jobs_of
from harness.server.error_payload import status_of
from harness.server.pages.templates import page
from harness.server.request_checks import COOKIE
from harness.server.responses.history_responses import history_response
from harness.server.responses.research_responses import CitationResponse, run_response
from harness.server.route_dependencies import RequestApp

router = APIRouter()

PAGE_SIZE = 20
MAX_DATA = 20_000
SPANS = (("", "any time"), ("1d", "the last day"), ("7d", "the last week"), ("30d", "the last 30 days"))
ORIGINS = (
    ("own", "users and agents"),
    ("user", "users"),
    ("agent", "agents"),
    ("run", "searches made by researches"),
    ("evaluation", "evaluations"),
    ("experiment", "experiments"),
    ("all", "everyone"),
)
LOGIN_SECONDS = 30 * 86_400


@router.get("/")
def history(
    request: Request,
    app: RequestApp,
    q: Annotated[str, Query(max_length=10_000)] = "",
    source: Annotated[str, Query(max_length=20)] = "all",
    since: Annotated[str, Query(max_length=64)] = "",
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
    origin: Annotated[str, Query(max_length=20)] = "own",
    part: bool = False,
) -> Response:
    """Show the history; with `part`, only the list, for the script that searches during typing. A request with a format
    comes from a SearXNG client that was configured with the host only.
    """
    if "format" in request.query_params:
        return RedirectResponse(f"/search?{request.url.query}", 308)
    found, failure, status = HistoryPage([], more=False), "", 200
    try:
        found = find_page(app, q, since, source, PAGE_SIZE, offset, origin)
    except HarnessError as error:  # keep the typed query, and show the error
        failure, status = str(error), status_of(error)
    more = history_response(found, PAGE_SIZE, offset).next_offset
    filters = {"q": q, "source": source, "since": since, "origin": origin}
    return page(
        request,
        "history_list.html" if part else "history.html",
        status=status,
        failure=failure,
        items=found.items,
        filters=filters,
        more=f"/?{urlencode({**filters, 'offset': more})}" if more is not None else "",
        earlier=f"/?{urlencode({**filters, 'offset': max(0, offset - PAGE_SIZE)})}" if offset else "",
        sources=("all", *SOURCES),
        spans=SPANS,
        origins=ORIGINS,
        jobs=jobs_of(request).running(app.identity.tenant),
        engines=engine_choices(app.settings),
        models=model_choices(app.settings),
        offline=app.settings.offline,
    )


@router.post("/research")
def research(
    request: Request,
    app: RequestApp,
    question: Annotated[str, Form(max_length=10_000)] = "",
    engine: Annotated[str, Form(max_length=500)] = "",
    model: Annotated[str, Form(max_length=500)] = "",
    refresh: Annotated[bool, Form()] = False,
) -> Response:
    """Start a research and show its progress."""
    if not one_line(question):
        raise InvalidInput("enter a question")
    choice = choice_of(app.settings, engine, model)
    job = jobs_of(request).start(app, question, refresh=refresh, choice=choice)
    return RedirectResponse(f"/runs/{job.run}", 303)


@router.get("/runs/{id}")
def run(request: Request, app: RequestApp, id: RunPath) -> Response:  # noqa: A002 - the name in the URL
    """Show a report with its passages, or the progress of a running research."""
    job = jobs_of(request).find(app.identity.tenant, id)
    if job is not None and not job.ended.is_set():
        return page(request, "watch.html", job=job)
    try:
        past = past_run(app.cache, id)
    except NotFound:  # it ended before it was recorded; this server may still know why
        if job is None:
            raise
        return page(request, "error.html", message=job.ending, code=200)
    run = run_response(past)
    return page(
        request,
        "report.html",
        past=past,
        run=run,
        sections_of=_by_section(run.citations),
        titles_of={source.number: source.title for source in run.sources if source.number},
        key_points=KEY_POINTS,
        disagreements=DISAGREEMENTS,
        **_language(past),
    )


def _language(past: PastRun) -> dict[str, Any]:
    """Return what the template needs to show a report in its language; the page around it stays in English. Attributes
    say in which language a part of the report is (`written`), or a quotation in another one (`foreign`).
    """
    report = past.report
    language = report.language if report else question_language(past.question)

    def foreign(citation: CitationResponse) -> Markup:
        is_quoted = citation.sentence == citation.quotation
        return _attributes(report.language_of(citation.number)) if report and is_quoted else Markup()

    return {
        "language": language,
        "say": partial(message, language),
        "place_in": place_in,
        "written": _attributes(language if language != "en" else ""),
        "foreign": foreign,
    }


def _attributes(language: str) -> Markup:
    """Return the attributes of an element in another language than the page's, none if it is not known."""
    tag = primary_tag(language)
    return Markup(' lang="{}" dir="{}"').format(tag, direction_of(tag)) if tag else Markup()


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


@router.get("/cache")
def cache(
    request: Request,
    app: RequestApp,
    q: Annotated[str, Query(max_length=10_000)] = "",
    origin: OriginChosen = "own",
) -> Response:
    """Show the cache statistics and, with a query, why it is answered as it is."""
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
        origins=[each for each in ORIGINS if each[0] != "run"],  # counts use the origin of the run itself
    )


@router.get("/library")
def library(request: Request, app: RequestApp, q: Annotated[str, Query(max_length=10_000)] = "") -> Response:
    """Search everything that was read; without a query, show its numbers."""
    found, failure, status = None, "", 200
    if one_line(q):
        try:
            found = library_routes.found_in(app, q, PAGE_SIZE)
        except HarnessError as error:  # keep the typed query, and show the error
            failure, status = str(error), status_of(error)
    stats = library_routes.stats(app)
    return page(request, "library.html", status=status, q=q, found=found, failure=failure, stats=stats)


@router.get("/knowledge")
def knowledge(
    request: Request,
    app: RequestApp,
    tag: Annotated[str, Query(max_length=100)] = "",
    agent: Annotated[str, Query(max_length=100)] = "",
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


def _by_section(citations: Sequence[CitationResponse]) -> list[tuple[str, list[list[tuple[int, CitationResponse]]]]]:
    """Group citations by section and paragraph, in order, each with its index."""
    return [
        (section, [list(cited) for _, cited in groupby(indexed, key=lambda each: each[1].paragraph)])
        for section, indexed in groupby(enumerate(citations), key=lambda each: each[1].section)
    ]
