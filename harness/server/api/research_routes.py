"""Researches as JSON: those under way, begun, watched and stopped here; and the records of all that were made."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from harness.cache.tables import RUNS
from harness.research.gathering import Round
from harness.research.run_view import PastRun, passage_of, past_run
from harness.server.api.history_routes import Limit, Offset
from harness.server.api.jobs import Job, Researches
from harness.server.api.research_options import chosen, chosen_for, engine_choices, model_choices
from harness.server.api.research_responses import (
    RUN_PATTERN,
    Asked,
    Begun,
    CitationReply,
    Ended,
    RoundReply,
    RunErrorReply,
    RunLine,
    RunReply,
    RunsReply,
    SourceReply,
    StepReply,
    UnderWay,
)
from harness.server.api.responses import Done, done
from harness.server.dependencies import FAILURES, Mine
from harness.server.pages.templates import iso, short

router = APIRouter(prefix="/api", tags=["research"], responses=FAILURES)

RunPath = Annotated[str, Path(pattern=RUN_PATTERN, description="The id of a run.")]
NO_EVENTS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": told["description"],
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
    }
    for status, told in FAILURES.items()
}
"""Failures of a stream; from the model alone FastAPI describes them as events, too."""
LOOK_EVERY = 0.2
"""Seconds between two looks at what a research has come to."""
ALIVE_EVERY = 15.0
"""Seconds after which a silent stream says that it is alive."""


def researches_of(request: Request) -> Researches:
    """Return the researches of this server."""
    found: Researches = request.app.state.researches
    return found


def job_of(request: Request, app: Mine, id: RunPath) -> Job:  # noqa: A002 - the address names it so
    """Return the research of that id, before an answer has begun.

    Raises:
        NotFound: this server leads none of that id.
    """
    return researches_of(request).get(app.identity.tenant, id)


Watched = Annotated[Job, Depends(job_of)]


@router.post("/researches", status_code=202)
def begin(request: Request, app: Mine, asked: Asked) -> Begun:
    """Begin to research a question; it goes on though nobody watches."""
    settings = app.settings
    choice = chosen_for(app, asked.like) if asked.like else chosen(settings, asked.engine, asked.model)
    return _begun(
        researches_of(request).begin(app, asked.question, sections=asked.sections, refresh=asked.refresh, choice=choice)
    )


@router.get("/researches")
def under_way(request: Request, app: Mine) -> UnderWay:
    """Tell which researches are under way."""
    working = researches_of(request)
    jobs = working.under_way(app.identity.tenant)
    return UnderWay(
        items=[_begun(job) for job in jobs],
        most=working.most,
        engines=[choice.name for choice in engine_choices(app.settings)],
        models=model_choices(app.settings),
    )


@router.delete("/researches/{id}")
def stop(app: Mine, job: Watched) -> Begun:
    """Stop a research at its next step. What it has found is kept, and it can be resumed."""
    app.identity.require("writer")
    job.stop()
    return _begun(job)


@router.get(
    "/researches/{id}/events",
    response_class=EventSourceResponse,
    responses={
        200: {"description": "Events `step`, `round` (with its number as id), and at last `ended`."},
        **NO_EVENTS,
    },
)
async def events(
    request: Request,
    job: Watched,
    last_event_id: Annotated[int, Header(ge=0, le=100, description="The last round that was seen.")] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Watch a research: every step, every round, and how it ends. A reader that comes back misses no round."""
    working = researches_of(request)
    told, rounds, spoke = None, last_event_id, time.monotonic()
    while True:
        ended = job.ended.is_set()  # before the rounds are looked at, or the last one may be missed
        if (step := job.step) is not told and not ended:
            told = step
            reply = StepReply(what=step.what, done=step.done, total=step.total)
            yield ServerSentEvent(event="step", data=reply)
            spoke = time.monotonic()
        for number, found in enumerate(job.rounds[rounds:], start=rounds + 1):
            yield ServerSentEvent(event="round", id=str(number), data=round_reply(number, found))
            rounds, spoke = number, time.monotonic()
        if ended:
            yield ServerSentEvent(event="ended", data=_ended(job))
            return
        if working.closing:
            return
        if time.monotonic() - spoke > ALIVE_EVERY:
            yield ServerSentEvent(comment="alive")
            spoke = time.monotonic()
        await asyncio.sleep(LOOK_EVERY)


@router.get("/runs")
def runs(app: Mine, limit: Limit = 20, offset: Offset = 0) -> RunsReply:
    """List the recorded runs, the newest first."""
    found = app.store.listings.timeline(RUNS, app.identity.tenant, limit=limit + 1, offset=offset)
    lines = [
        RunLine(id=each.key, question=each.text, engine=each.own.engine, created_at=iso(each.created_at))
        for each in found
    ]
    return RunsReply(items=lines[:limit], next_offset=offset + limit if len(lines) > limit else None)


@router.get("/runs/{id}")
def run(app: Mine, id: RunPath) -> RunReply:  # noqa: A002
    """Return a recorded run, with its report and the passages that it rests on."""
    return run_reply(past_run(app.cache, id))


@router.post("/runs/{id}/resume", status_code=202)
def resume(request: Request, app: Mine, id: RunPath) -> Begun:  # noqa: A002
    """Go on with a run that was stopped; what it has found is not asked for again."""
    return _begun(researches_of(request).resume(app, id))


@router.delete("/runs/{id}")
def delete(request: Request, app: Mine, id: RunPath) -> Done:  # noqa: A002
    """Delete the record of a run that is not under way; what was found stays in the cache."""
    app.identity.require("admin")
    researches_of(request).check_ended(app.identity.tenant, id)
    return done(app.store.rows.delete(RUNS, app.identity.tenant, [id]), "run")


def round_reply(number: int, found: Round) -> RoundReply:
    """Tell of one round."""
    return RoundReply(
        number=number,
        queries=list(dict.fromkeys(search.query for search in found.searches)),
        results=sum(search.results for search in found.searches),
        pages=sum(page.answered_by != "failed" for page in found.pages),
        live_calls=sum(by != "cache" for by in found.answered_by),
        novelty=round(found.novelty, 4),
        score=round(found.score, 4),
    )


def run_reply(past: PastRun) -> RunReply:
    """Tell of a recorded run."""
    report = past.report
    citations = [
        CitationReply(
            section=each.section,
            paragraph=each.paragraph,
            sentence=each.sentence,
            quotation=each.quotation,
            number=each.number,
            url=each.url,
            similarity=round(each.similarity, 4),
            verified=each.verified,
            supported=each.supported,
            replaced=each.replaced,
            passage=list(passage_of(past, each) or ()) or None,
        )
        for each in (report.citations if report else ())
    ]
    sources = sorted(past.sources, key=lambda source: (source.number == 0, source.number))
    return RunReply(
        id=past.id,
        question=past.question,
        state=past.state,
        engine=past.engine,
        model=past.model or None,
        created_at=iso(past.created_at),
        title=report.title if report else None,
        remark=(report.remark or None) if report else None,
        citations=citations,
        sources=[SourceReply(number=each.number, title=each.title, url=each.url) for each in sources],
        quotations=len(report.quotations) if report else 0,
        quotations_verified=report.verified if report else 0,
        rounds=[round_reply(number, each) for number, each in enumerate(past.rounds, start=1)],
        stop_reason=past.stop_reason or None,
        live_calls=past.live_calls,
        cache_hits=past.cache_hits,
        answered=past.answered,
        origin=past.origin.question if past.origin else None,
        markdown=report.markdown() if report else None,
        error=RunErrorReply(code=past.error.code, message=short(past.error.message, 1_000)) if past.error else None,
    )


def _begun(job: Job) -> Begun:
    return Begun(
        id=job.run,
        question=job.question,
        state=job.state,
        events=f"/api/researches/{job.run}/events",
        page=f"/runs/{job.run}",
    )


def _ended(job: Job) -> Ended:
    state = "failed" if job.state == "running" else job.state
    failure = job.failure
    return Ended(
        state=state,
        found=job.found,
        code=failure["code"] if failure else None,
        message=failure["message"] if failure else None,
    )
