"""Searches and pages of a run, with the rows that answered them."""

from harness.app import App
from harness.core.keys import search_key
from harness.core.tables import SEARCHES
from harness.research.run_steps import MAX_STEPS, RunSearch, RunSteps, steps_of
from tests.noted import app, notes, settings  # noqa: F401 - fixtures

RUN = "20261122-101500-1a2b3c"
RESULT = {"title": "Retries", "href": "https://example.org/retries", "body": "Retries stop."}


def search(query: str, answered_by: str = "live") -> dict[str, object]:
    """Return a search as it is recorded."""
    return {"query": query, "engine": "ddgs", "answered_by": answered_by, "results": 3}


def record(app: App, searches: list[dict[str, object]], pages: list[dict[str, object]], served: list[str]) -> RunSteps:  # noqa: F811
    """Record a run with one round; return its steps."""
    uses = [{"table": SEARCHES, "asked": key, "served": key, "how": "live"} for key in served]
    rounds = [{"searches": searches, "pages": pages, "novelty": 1.0, "score": 0.5}]
    app.cache.runs.put(RUN, "x", "ddgs", {"question": "x", "rounds": rounds, "uses": uses})
    return steps_of(app.cache, app.store.rows, app.identity.tenant, RUN)


def test_a_search_has_the_key_of_the_row_that_answered_it(app: App) -> None:  # noqa: F811
    """A deleted row has none."""
    app.cache.searches.put("Retries of  a client", [RESULT])
    key = search_key("Retries of  a client")
    pages = [{"url": "https://e.org/a", "answered_by": "live", "characters": 9}]
    pages += [{"url": "https://e.org/b", "answered_by": "failed", "characters": 0, "error": "x"}]
    found = record(app, [search("retries of a client"), search("gone", "cache")], pages, [key, "f" * 64])
    assert found == RunSteps(
        (RunSearch("retries of a client", "ddgs", "live", 3, key), RunSearch("gone", "ddgs", "cache", 3, "")),
        ("https://e.org/a",),
        2,
        1,
    )


def test_many_steps_are_counted_and_the_first_shown(app: App) -> None:  # noqa: F811
    """A long research does not make a long list."""
    found = record(app, [search(f"query {number}") for number in range(40)], [], [])
    assert (len(found.searches), found.searched) == (MAX_STEPS, 40)


def test_a_damaged_record_has_no_steps(app: App) -> None:  # noqa: F811
    """The history still lists the run."""
    app.cache.runs.put(RUN, "x", "ddgs", {"question": "x", "rounds": "none"})
    for run in (RUN, "20200101-000000-000000"):
        assert steps_of(app.cache, app.store.rows, app.identity.tenant, run) == RunSteps()
