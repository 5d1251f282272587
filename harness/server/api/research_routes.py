"""Researches as JSON: start, watch and stop them; recorded runs: list, read, resume, delete."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from msgspec.structs import replace

from harness.core.origins import origins_of
from harness.core.tables import RUNS
from harness.errors import NotFound
from harness.research.run_view import past_run
from harness.server.api.history_routes import Limit, Offset, OriginChosen
from harness.server.api.research_job import Job
from harness.server.api.research_jobs import ResearchJobs
from harness.server.api.research_options import choice_of, choice_of_run, engine_choices, model_choices
from harness.server.responses.history_responses import DeleteResponse, deleted_response
from harness.server.responses.research_responses import (
    RUN_PATTERN,
    EndedEvent,
    FollowUp,
    JobResponse,
    JobsResponse,
    NewResearch,
    RunResponse,
    RunsResponse,
    RunSummary,
    round_response,
    run_response,
)
from harness.server.responses.response_schema import iso
from harness.server.route_dependencies import ERROR_RESPONSES, RequestApp

router = APIRouter(prefix="/api", tags=["research"], responses=ERROR_RESPONSES)

RunPath = Annotated[str, Path(pattern=RUN_PATTERN, description="The id of a run.")]
STREAM_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": error["description"],
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorResponse"}}},
    }
    for status, error in ERROR_RESPONSES.items()
}
"""Errors of an event stream; from `model` alone, FastAPI would describe them as events."""
POLL_SECONDS = 0.2
"""Seconds between two checks for news of a research."""
KEEP_ALIVE_SECONDS = 15.0
"""Seconds without an event after which the stream sends a comment."""


def jobs_of(request: Request) -> ResearchJobs:
    """Return the researches of this server."""
    jobs: ResearchJobs = request.app.state.researches
    return jobs


def job_of(request: Request, app: RequestApp, id: RunPath) -> Job:  # noqa: A002 - the name in the URL
    """Return the running research with this id; a dependency, so that an error comes before the stream starts.

    Raises:
        NotFound: this server runs no such research.
    """
    job = jobs_of(request).find(app.identity.tenant, id)
    if job is None:
        raise NotFound("no such research is running here; look for it in the recorded runs")
    return job


RequestJob = Annotated[Job, Depends(job_of)]


@router.post("/researches", status_code=202)
def start(request: Request, app: RequestApp, wanted: NewResearch) -> JobResponse:
    """Start to research a question. It continues without a watcher."""
    settings = app.settings
    choice = choice_of(settings, wanted.engine, wanted.model, wanted.depth)
    if wanted.like:
        choice = replace(choice_of_run(app, wanted.like), depth=wanted.depth)
    changes = choice.changes(settings)
    job = jobs_of(request).start(
        app, wanted.question, sections=wanted.sections, refresh=wanted.refresh, changes=changes
    )
    return _job_response(job)


@router.get("/researches")
def running(request: Request, app: RequestApp) -> JobsResponse:
    """List the running researches."""
    jobs = jobs_of(request)
    return JobsResponse(
        items=[_job_response(job) for job in jobs.running(app.identity.tenant)],
        most=jobs.most,
        engines=[choice.name for choice in engine_choices(app.settings)],
        models=model_choices(app.settings),
    )


@router.delete("/researches/{id}")
def stop(app: RequestApp, job: RequestJob) -> JobResponse:
    """Stop a research at its next step. The results are kept, and it can be resumed."""
    app.identity.require("writer")
    job.stop()
    return _job_response(job)


@router.get(
    "/researches/{id}/events",
    response_class=EventSourceResponse,
    responses={
        200: {"description": "Events `step`, `round` (with its number as id), and finally `ended`."},
        **STREAM_ERRORS,
    },
)
async def events(
    request: Request,
    job: RequestJob,
    last_event_id: Annotated[int, Header(ge=0, le=100, description="The last round received.")] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Stream the steps, the rounds and the end of a research. A client that reconnects misses no round."""
    jobs = jobs_of(request)
    sent, rounds, sent_at = None, last_event_id, time.monotonic()
    while True:
        job.refresh()
        ended = job.ended.is_set()  # read before the rounds, or the last one may be missed
        if (step := job.step) is not sent and not ended:
            sent = step
            yield ServerSentEvent(event="step", data=step)
            sent_at = time.monotonic()
        for number, done in enumerate(job.rounds[rounds:], start=rounds + 1):
            yield ServerSentEvent(event="round", id=str(number), data=round_response(number, done))
            rounds, sent_at = number, time.monotonic()
        if ended:
            yield ServerSentEvent(event="ended", data=_ended_event(job))
            return
        if jobs.closing:
            return
        if time.monotonic() - sent_at > KEEP_ALIVE_SECONDS:
            yield ServerSentEvent(comment="alive")
            sent_at = time.monotonic()
        await asyncio.sleep(POLL_SECONDS)


@router.get("/runs")
def runs(app: RequestApp, limit: Limit = 20, offset: Offset = 0, origin: OriginChosen = "own") -> RunsResponse:
    """List the recorded runs, newest first."""
    found = app.store.listings.timeline(
        RUNS, app.identity.tenant, limit=limit + 1, offset=offset, origins=origins_of(origin)
    )
    lines = [
        RunSummary(id=each.key, question=each.text, engine=each.own.engine, created_at=iso(each.created_at))
        for each in found
    ]
    return RunsResponse(items=lines[:limit], next_offset=offset + limit if len(lines) > limit else None)


@router.get("/runs/{id}")
def run(app: RequestApp, id: RunPath) -> RunResponse:  # noqa: A002
    """Return a recorded run with its report and the cited passages."""
    return run_response(past_run(app.cache, id))


@router.post("/runs/{id}/resume", status_code=202)
def resume(request: Request, app: RequestApp, id: RunPath) -> JobResponse:  # noqa: A002
    """Resume a stopped run; its results so far come from the cache."""
    return _job_response(jobs_of(request).resume(app, id))


@router.post("/runs/{id}/ask", status_code=202)
def ask(request: Request, app: RequestApp, id: RunPath, wanted: FollowUp) -> JobResponse:  # noqa: A002
    """Ask a follow-up question to a run, with its engines and settings; what it has read answers first."""
    return _job_response(jobs_of(request).ask(app, id, wanted.question))


@router.delete("/runs/{id}")
def delete(request: Request, app: RequestApp, id: RunPath) -> DeleteResponse:  # noqa: A002
    """Delete the record of a run that is not running; its results stay in the cache."""
    app.identity.require("admin")
    jobs_of(request).check_ended(app.identity.tenant, id)
    return deleted_response(app.store.rows.delete(RUNS, app.identity.tenant, [id]), "run")


def _job_response(job: Job) -> JobResponse:
    return JobResponse(
        id=job.run,
        question=job.question,
        state=job.state,
        events=f"/api/researches/{job.run}/events",
        page=f"/runs/{job.run}",
    )


def _ended_event(job: Job) -> EndedEvent:
    state = "failed" if job.state == "running" else job.state
    failure = job.failure
    return EndedEvent(
        state=state,
        found=job.found,
        code=failure.code if failure else None,
        message=failure.message if failure else None,
    )
