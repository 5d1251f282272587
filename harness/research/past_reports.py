"""Reports of recorded runs: found by a part of their id, and as the files that a finished research becomes."""

from typing import Any, cast

from harness.cache.tables import RUNS
from harness.core.text import clean, shorten
from harness.errors import InvalidInput, NotFound
from harness.ports import Store
from harness.research import reports
from harness.research.ended import Research, ResearchCacheUse
from harness.research.gathered import Gathered, Source, StopReason
from harness.research.past import PastRun
from harness.research.planner import Plan
from harness.research.recording import RUN_ID

LAST = "last"
MAX_RUNS = 100_000
NAMED = 5
"""Runs that a message about an ambiguous id names."""


def run_named(store: Store, tenant: str, name: str) -> str:
    """Return the id of the run that `name` means: an id, the beginning of one, or `last`.

    Raises:
        NotFound: there is none.
        InvalidInput: there are several.
        StoreError: the store cannot be read.
    """
    if RUN_ID.fullmatch(name):
        return name
    known = [outline.key for outline in store.timeline(RUNS, tenant, limit=MAX_RUNS)]
    found = known[:1] if name == LAST else [run for run in known if name and run.startswith(name)]
    if not found:
        shown = shorten(clean(name, 80), 40)
        raise NotFound(f"no such run: {shown!r}; `harness runs` lists them" if known else "there is no run yet")
    if len(found) > 1:
        raise InvalidInput(f"{name!r} may be any of {', '.join(found[:NAMED])}; write more of the id")
    return found[0]


def as_json(past: PastRun) -> dict[str, Any]:
    """Return a recorded run in the shape of a finished one (see `reports.as_json`), with its state and time.

    `plan` is null: a record does not keep it.
    """
    shape = reports.as_json(as_research(past))
    return {**shape, "plan": None, "state": past.state, "created_at": past.created_at}


def as_research(past: PastRun) -> Research:
    """Return a recorded run as the research that it was, without the texts of its sources and without its plan."""
    queries = tuple(dict.fromkeys(search.query for round_ in past.rounds[:1] for search in round_.searches))
    gathered = Gathered(
        tuple(Source(source.url, source.title, ()) for source in past.sources),
        past.rounds,
        cast("StopReason", past.stop_reason),
    )
    return Research(
        Plan(past.question, "research", queries, (), past.sections),
        gathered,
        past.report,
        past.engine,
        past.live_calls,
        past.cache_hits,
        cast("ResearchCacheUse", past.research_cache),
        past.answered,
        past.id,
        past.origin,
    )
