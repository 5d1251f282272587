"""The history page: the form for a research, filters, and the entries, each research with its searches and pages."""

from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import Response
from msgspec import Struct
from msgspec.structs import asdict, replace

from harness.app import App
from harness.core.search_engines import PYTHON_DOCS
from harness.errors import HarnessError
from harness.research.history import SOURCES, HistoryPage
from harness.research.run_record import RUN_ID, run_start
from harness.research.run_steps import RunSteps, steps_of
from harness.server.api.history_routes import HistoryFilters, find_page
from harness.server.api.research_options import STANDARD, engine_choices, model_choices, needs_network
from harness.server.api.research_routes import jobs_of
from harness.server.error_payload import status_of
from harness.server.pages.templates import page
from harness.server.responses.history_responses import history_response

PAGE_SIZE = 20
SPANS = (
    ("", "any time"),
    ("1d", "the last day"),
    ("7d", "the last week"),
    ("30d", "the last 30 days"),
    ("365d", "the last year"),
)
ORIGINS = (
    ("own", "users and agents"),
    ("user", "users"),
    ("agent", "agents"),
    ("run", "searches made by researches"),
    ("evaluation", "evaluations"),
    ("experiment", "experiments"),
    ("all", "everyone"),
)
OUTCOMES = (("any", "found or not"), ("yes", "something found"), ("no", "nothing found"))
DEPTHS = (
    (STANDARD, "Standard"),
    ("quick", "Quick: one round of searches"),
    ("thorough", "Thorough: more rounds and pages"),
)
EXAMPLES = (
    "In which order does Python look up an attribute?",
    "What happens when a generator is closed?",
    "How does the with statement handle an exception?",
)
"""Questions that the Python language reference answers without a network."""


class ResearchForm(Struct, frozen=True):
    """Values of the form for a research, and an error next to one of its fields (`question`, `options`)."""

    question: str = ""
    engine: str = ""
    model: str = ""
    depth: str = STANDARD
    field: str = ""
    error: str = ""


NEW = ResearchForm()
ALL = HistoryFilters()


def history_page(
    request: Request,
    app: App,
    filters: HistoryFilters = ALL,
    offset: int = 0,
    *,
    form: ResearchForm = NEW,
    part: bool = False,
    status: int = 200,
) -> Response:
    """Return the history page; with `part`, only the list, for the script that searches during typing."""
    found, failure = HistoryPage([], more=False), ""
    try:
        found = find_page(app, filters, PAGE_SIZE, offset)
    except HarnessError as error:  # keep the typed query, and show the error
        failure, status = str(error), max(status, status_of(error))
    more = history_response(found, PAGE_SIZE, offset).next_offset
    chosen = asdict(filters)
    return page(
        request,
        "history_list.html" if part else "history.html",
        status=status,
        failure=failure,
        items=found.items,
        steps=_steps(app, found),
        run_times=_times(found),
        filters=filters,
        filtered=filters != replace(ALL, q=filters.q),
        more=f"/?{urlencode({**chosen, 'offset': more})}" if more is not None else "",
        earlier=f"/?{urlencode({**chosen, 'offset': max(0, offset - PAGE_SIZE)})}" if offset else "",
        sources=("all", *SOURCES),
        spans=SPANS,
        origins=ORIGINS,
        outcomes=OUTCOMES,
        **({} if part else _form_values(request, app, form)),
    )


def _form_values(request: Request, app: App, form: ResearchForm) -> dict[str, Any]:
    return {
        "form": form,
        "jobs": jobs_of(request).running(app.identity.tenant),
        "engines": engine_choices(app.settings),
        "models": model_choices(app.settings),
        "depths": DEPTHS,
        "examples": EXAMPLES,
        "example_engine": PYTHON_DOCS,
        "offline": app.settings.offline,
        "networked": needs_network(app.settings.engine),
    }


def _steps(app: App, found: HistoryPage) -> dict[str, RunSteps]:
    """Return the searches and pages of the researches on a page of the history, by run."""
    runs = [each.id for each in found.items if each.source == "research" and RUN_ID.fullmatch(each.id)]
    return {run: steps_of(app.cache, app.store.rows, app.identity.tenant, run) for run in runs}


def _times(found: HistoryPage) -> dict[str, float]:
    """Return when the earlier runs of repeated researches started, by run."""
    times: dict[str, float] = {}
    for run in (each for item in found.items if item.count > 1 for each in item.ids):
        try:
            times[run] = run_start(run)
        except ValueError:
            continue
    return times
