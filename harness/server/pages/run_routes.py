"""HTML pages of researches: start one, watch it, read its report, download it, ask a follow-up question."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from harness.app import App
from harness.core.languages import primary_tag
from harness.core.question_language import question_language
from harness.core.text import one_line
from harness.errors import AccessDenied, HarnessError, InvalidInput, NotFound
from harness.research.messages import direction_of, message, place_in
from harness.research.planner import LISTED
from harness.research.report import DISAGREEMENTS
from harness.research.report_files import FileForm, file_of
from harness.research.run_view import PastRun, past_run
from harness.server.api.research_job import Job
from harness.server.api.research_jobs import ResearchJobs
from harness.server.api.research_options import STANDARD, choice_of
from harness.server.api.research_routes import RunPath, jobs_of
from harness.server.error_payload import status_of
from harness.server.pages.history_page import ResearchForm, history_page
from harness.server.pages.passage_text import marked_passage
from harness.server.pages.templates import page
from harness.server.responses.research_responses import CitationResponse, RunResponse, run_response
from harness.server.route_dependencies import RequestApp
from harness.settings.extras import is_installed

router = APIRouter()


class FileKind(Struct, frozen=True):
    """A form in which a report can be downloaded, with the extra that it needs."""

    form: FileForm
    label: str
    media_type: str
    extra: str = ""

    @property
    def installed(self) -> bool:
        """Whether the libraries of the form are installed."""
        return not self.extra or is_installed(self.extra)


FILES = {
    "md": FileKind("markdown", "Markdown", "text/markdown; charset=utf-8"),
    "html": FileKind("html", "Web page", "text/html; charset=utf-8"),
    "docx": FileKind("docx", "Word", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    "pdf": FileKind("pdf", "PDF", "application/pdf", "pdf"),
    "bib": FileKind("bib", "BibTeX", "application/x-bibtex; charset=utf-8"),
    "csl.json": FileKind("csl", "CSL JSON", "application/vnd.citationstyles.csl+json"),
}
"""Files of a report, by the end of their name."""


@router.post("/research")
def research(
    request: Request,
    app: RequestApp,
    question: Annotated[str, Form()] = "",
    engine: Annotated[str, Form(max_length=500)] = "",
    model: Annotated[str, Form(max_length=500)] = "",
    depth: Annotated[str, Form(max_length=20)] = STANDARD,
    refresh: Annotated[bool, Form()] = False,
) -> Response:
    """Start a research and show its progress; an error is shown next to its field, which keeps its text."""
    form = ResearchForm(question, engine, model, depth)
    field = "question"
    try:
        if not one_line(question):
            raise InvalidInput("enter a question")
        field = "options"
        changes = choice_of(app.settings, engine, model, depth).changes(app.settings)
        field = "question"
        job = jobs_of(request).start(app, question, refresh=refresh, changes=changes)
    except AccessDenied:  # there is no form to show it in
        raise
    except HarnessError as error:
        form = replace(form, field=field, error=str(error))
        return history_page(request, app, form=form, status=status_of(error))
    return RedirectResponse(f"/runs/{job.run}", 303)


@router.get("/runs/{id}")
def run(request: Request, app: RequestApp, id: RunPath) -> Response:  # noqa: A002 - the name in the URL
    """Show a report with its passages, or the progress of a running research."""
    job = jobs_of(request).find(app.identity.tenant, id)
    if job is not None and not job.ended.is_set():
        return page(request, "watch.html", job=job)
    return _report_page(request, app, id, job)


@router.post("/runs/{id}/ask")
def ask(
    request: Request,
    app: RequestApp,
    id: RunPath,  # noqa: A002
    question: Annotated[str, Form()] = "",
) -> Response:
    """Start to research a follow-up question and show its progress."""
    jobs: ResearchJobs = jobs_of(request)
    try:
        if not one_line(question):
            raise InvalidInput("enter a question")
        job = jobs.ask(app, id, question)
    except (AccessDenied, NotFound):
        raise
    except HarnessError as error:
        return _report_page(request, app, id, None, asked=question, failure=error)
    return RedirectResponse(f"/runs/{job.run}", 303)


@router.get("/runs/{id}/report.{kind}")
def download(app: RequestApp, id: RunPath, kind: str) -> Response:  # noqa: A002
    """Return the report as a file."""
    wanted, past = FILES.get(kind), past_run(app.cache, id)
    if wanted is None or past.report is None:
        raise NotFound("there is no such file of this report" if past.report else "this run has no report")
    content = file_of(past, past.created_at, wanted.form)
    name = f"report-{id}.{kind}"
    return Response(
        content, media_type=wanted.media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


def _report_page(
    request: Request, app: App, run_id: str, job: Job | None, *, asked: str = "", failure: HarnessError | None = None
) -> Response:
    """Return the page of a recorded run; `asked` is a follow-up question that could not be started."""
    try:
        past = past_run(app.cache, run_id)
    except NotFound:  # it ended before it was recorded; this server may still know why
        if job is None:
            raise
        return page(request, "error.html", message=job.ending, code=200)
    run = run_response(past)
    sections = _by_section(run.citations)
    return page(
        request,
        "report.html",
        status=status_of(failure) if failure else 200,
        past=past,
        run=run,
        sections_of=sections,
        contents=_contents(past, run, [section for section, _ in sections]),
        titles_of={source.number: source.title for source in run.sources if source.number},
        passage_html=partial(_passage, past),
        listed=LISTED,
        disagreements=DISAGREEMENTS,
        files=FILES,
        asked=asked,
        failure=str(failure) if failure else "",
        **_language(past),
    )


def _contents(past: PastRun, run: RunResponse, sections: Sequence[str]) -> list[tuple[str, str]]:
    """Return the id and the heading of each section of a report, in order."""
    if past.report is None:
        return []
    heading = past.report.heading
    found = [(f"section-{number}", heading(section)) for number, section in enumerate(sections, start=1)]
    found += [("figures", heading("Figures"))] if run.figures else []
    found += [("limits", heading("Limits"))] if run.limits else []
    return [*found, ("sources", heading("Sources"))]


def _passage(past: PastRun, citation: CitationResponse) -> Markup:
    """Return the stored passage of a citation, with the quotation marked; "" if no passage holds it."""
    return marked_passage(citation.quotation, past.quoted.get(citation.url, ()), citation.url)


def _language(past: PastRun) -> dict[str, Any]:
    """Return what the template needs to show a report in its language; the page around it stays in English. Attributes
    say in which language a part of the report is (`written`), or a quotation in another one (`foreign`).
    """
    report = past.report
    language = report.language if report else question_language(past.question)

    def foreign(citation: CitationResponse) -> Markup:
        is_quoted = citation.sentence == citation.quotation
        return _attributes(report.source_of(citation.number).language) if report and is_quoted else Markup()

    say: Callable[..., str] = partial(message, language)
    return {
        "language": language,
        "say": say,
        "place_in": place_in,
        "written": _attributes(language if language != "en" else ""),
        "foreign": foreign,
    }


def _attributes(language: str) -> Markup:
    """Return the attributes of an element in another language than the page's, none if it is not known."""
    tag = primary_tag(language)
    return Markup(' lang="{}" dir="{}"').format(tag, direction_of(tag)) if tag else Markup()


def _by_section(citations: Sequence[CitationResponse]) -> list[tuple[str, list[list[tuple[int, CitationResponse]]]]]:
    """Group citations by section and paragraph, in order, each with its index."""
    return [
        (section, [list(cited) for _, cited in groupby(indexed, key=lambda each: each[1].paragraph)])
        for section, indexed in groupby(enumerate(citations), key=lambda each: each[1].section)
    ]
