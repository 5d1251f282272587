"""Several engines, pages, limits, and runs that are stopped and resumed."""

# ruff: noqa: F401, F811 - fixtures of another file
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from harness.cache import Cache, Policy
from harness.core.tables import PAGES
from harness.errors import EngineUnavailable, InvalidInput, PageError
from harness.models.local.embedder import MiniLM
from harness.ports import Completion
from harness.research.result import Research
from harness.storage.sqlite.store import SqliteStore
from tests.fakes import FakeClock
from tests.research.test_run import PAGE, QUESTION, Library, Scripted, cache, embedder, research, researcher

URL = "https://example.org/retries"
TEXT = (
    "# Retries\n\nExponential backoff limits retries because every waiting time is twice the one before it. "
    "A client with jitter adds a random part, so that not all clients come back at once."
)


def named(name: str, answer: Any) -> Scripted:
    """Return a scripted engine with this name."""
    engine = Scripted(answer)
    engine.name = name
    return engine


def quotations(found: Research) -> str:
    """Return all quotations of the report."""
    assert found.report is not None
    return " ".join(citation.quotation for citation in found.report.citations)


def test_the_pages_of_the_best_results_are_read_and_quoted(cache: Cache, embedder: MiniLM) -> None:
    """Text that only the page has is quoted, under the result's URL, and verified."""
    reader = Library({URL: TEXT})
    found = research(cache, Scripted(lambda query: [PAGE]), embedder, reader=reader)
    assert reader.asked == [URL]
    assert "every waiting time is twice the one before it" in quotations(found)
    assert found.report is not None
    assert found.report.verified == len(found.report.quotations) > 0
    [page] = found.gathered.pages
    assert (page.url, page.answered_by, page.error) == (URL, "live", None)


def test_a_page_is_read_once(cache: Cache, embedder: MiniLM) -> None:
    """Neither another round nor another run reads it again; the bytes are the same."""
    reader, engine = Library({URL: TEXT}), Scripted(lambda query: [PAGE])
    first = research(cache, engine, embedder, reader=reader)
    second = research(cache, engine, embedder, reader=reader)
    assert reader.asked == [URL]
    assert second.live_calls == 0
    assert first.report is not None
    assert second.report is not None
    assert first.report.markdown() == second.report.markdown()


def test_sources_have_the_day_on_which_they_were_fetched(tmp_path: Path, embedder: MiniLM) -> None:
    """The day of the page if it was read, else of the search, also where the cache answers later; a document of
    a corpus has none.
    """
    clock = FakeClock(1_700_006_395.0)  # five seconds before midnight
    cache = Cache(SqliteStore(tmp_path / "harness.db"), clock=clock)
    other = {"title": "Jitter", "href": "https://example.org/other", "body": "Jitter spreads retries over time."}
    local = {"title": "Notes", "href": "file:///notes.md", "body": "Limit retries to five with exponential backoff."}
    engine, reader = Scripted(lambda query: [PAGE, other, local]), Library({URL: TEXT})

    def days() -> dict[str, str]:
        found = research(cache, engine, embedder, reader=reader).gathered.sources
        return {source.url: source.read_on for source in found}

    assert days() == {URL: "2023-11-14", other["href"]: "2023-11-14", local["href"]: ""}
    cache.store.admin.clear(PAGES, "default")
    clock.advance(10.0)
    assert days() == {URL: "2023-11-15", other["href"]: "2023-11-14", local["href"]: ""}
    clock.advance(10.0)
    assert days() == {URL: "2023-11-15", other["href"]: "2023-11-14", local["href"]: ""}


def test_a_page_that_cannot_be_read_ends_nothing(cache: Cache, embedder: MiniLM) -> None:
    """It is reported with its reason; the text of the results is quoted."""
    reader = Library({URL: PageError("100 MB are too much")})
    found = research(cache, Scripted(lambda query: [PAGE]), embedder, reader=reader)
    assert found.report is not None
    assert [(page.answered_by, page.error) for page in found.gathered.pages] == [
        ("failed", "page_error: 100 MB are too much")
    ]


def test_the_number_of_pages_read_is_bounded(cache: Cache, embedder: MiniLM) -> None:
    """The best ones of each round; never URLs of other schemes."""
    results = [
        {**PAGE, "href": f"https://example.org/{n}", "body": f"{PAGE['body']} Retry {n} is the last."} for n in range(5)
    ] + [{**PAGE, "href": "file:///etc/passwd"}]
    reader = Library()
    research(cache, Scripted(lambda query: results), embedder, reader=reader, pages=2, rounds=1)
    assert len(reader.asked) == 2
    assert all(url.startswith("https://example.org/") for url in reader.asked)


def test_every_engine_is_asked_and_their_results_are_fused(cache: Cache, embedder: MiniLM) -> None:
    """Results of two engines come before the first result of one."""
    both = {**PAGE, "href": "https://example.org/both", "body": f"{PAGE['body']} Both engines know of this page."}
    one = named("one", lambda query: [{**PAGE, "href": "https://example.org/one"}, both])
    two = named("two", lambda query: [{**PAGE, "href": "https://example.org/two"}, both])
    found = research(cache, [one, two], embedder, rounds=1)
    assert sorted(one.asked) == sorted(two.asked)
    assert found.engine == "one+two"
    assert found.gathered.sources[0].url == "https://example.org/both"


def test_an_engine_that_fails_is_reported_while_another_works(cache: Cache, embedder: MiniLM) -> None:
    """Its searches are reported as failed, with its name."""
    dead = named("dead", lambda query: EngineUnavailable("no answer"))
    found = research(cache, [dead, Scripted(lambda query: [PAGE])], embedder, rounds=1)
    assert found.report is not None
    failed = {search.engine for search in found.gathered.searches if search.answered_by == "failed"}
    assert failed == {"dead"}


def test_no_more_live_calls_are_made_than_allowed(cache: Cache, embedder: MiniLM) -> None:
    """Searches and pages together; the stop reason says so."""
    reader = Library({URL: TEXT})
    engine = Scripted(lambda query: [{**PAGE, "body": f"{PAGE['body']} It is about {query} today."}])
    found = research(cache, engine, embedder, reader=reader, calls=2)
    assert len(engine.asked) + len(reader.asked) <= 2
    assert found.live_calls <= 2
    assert found.gathered.stop_reason == "limit of live calls"


def test_no_round_begins_after_the_time(tmp_path: Path, embedder: MiniLM) -> None:
    """The current round is finished."""
    clock = FakeClock()
    cache = Cache(SqliteStore(tmp_path / "harness.db"), clock=clock)

    def slow(query: str) -> list[dict[str, str]]:
        clock.now += 20
        return [{**PAGE, "body": f"{PAGE['body']} Something new about {query} in other words."}]

    found = research(cache, Scripted(slow), embedder, seconds=10)
    assert len(found.gathered.rounds) == 1
    assert found.gathered.stop_reason == "limit of time"


class DeadModel:
    """A language model that plans once and then fails."""

    name, endpoint = "dead", "http://127.0.0.1:9/v1"
    parameters: Mapping[str, Any] = MappingProxyType({})

    def __init__(self) -> None:
        self.dead = False

    def complete(self, messages: Any, *, schema: Any = None, on_text: Any = None) -> Completion:
        """Plan, or raise an outage."""
        if self.dead or schema is None:
            raise KeyboardInterrupt
        return Completion('{"queries": ["exponential backoff retries"]}', True)


class Writer(DeadModel):
    """The same one, available again."""

    def complete(self, messages: Any, *, schema: Any = None, on_text: Any = None) -> Completion:
        """Write a report."""
        if schema is not None:
            return super().complete(messages, schema=schema)
        quotation = "Exponential backoff doubles the waiting time after every failed retry."
        return Completion(f'## Answer\nThe waiting time doubles. [1: "{quotation}"]', True)


def test_a_stopped_run_continues_where_it_was(cache: Cache, embedder: MiniLM, caplog: pytest.LogCaptureFixture) -> None:
    """An outage of the model loses nothing that was gathered: no search is repeated."""
    engine = Scripted(lambda query: [PAGE])
    with pytest.raises(KeyboardInterrupt):
        research(cache, engine, embedder, model=DeadModel())
    [run] = cache.runs.all()
    assert f"--resume {run.key}" in caplog.text
    asked = len(engine.asked)
    cache.maintenance.clear()  # the searches, not the record, which has the gathering
    found = researcher(cache, engine, embedder, model=Writer()).resume(run.key)
    assert len(engine.asked) == asked
    assert found.report is not None
    assert found.report.writer == "dead"
    assert [citation.sentence for citation in found.report.citations] == ["The waiting time doubles."]
    assert found.id == run.key


def test_a_finished_run_is_asked_again_through_the_cache(cache: Cache, embedder: MiniLM) -> None:
    """Resuming it costs nothing and gives the same report."""
    engine = Scripted(lambda query: [PAGE])
    first = research(cache, engine, embedder)
    again = researcher(cache, engine, embedder).resume(first.id)
    assert again.live_calls == 0
    assert first.report is not None
    assert again.report is not None
    assert first.report.markdown() == again.report.markdown()


def test_an_unknown_run_cannot_be_resumed(cache: Cache, embedder: MiniLM) -> None:
    """The error says how to list runs."""
    with pytest.raises(InvalidInput, match="runs"):
        researcher(cache, Scripted(lambda query: [PAGE]), embedder).resume("20260101-000000-abcdef")


def test_without_writing_nothing_is_recorded(tmp_path: Path, embedder: MiniLM) -> None:
    """`--no-cache` leaves no record, and resuming is not mentioned."""
    cache = Cache(SqliteStore(tmp_path / "harness.db"), policy=Policy(read=False, write=False))
    found = research(cache, Scripted(lambda query: [PAGE]), embedder)
    assert found.id == ""
    assert cache.runs.all() == []


def test_the_question_is_recorded_before_anything_is_searched(cache: Cache, embedder: MiniLM) -> None:
    """Ctrl-C in the first search leaves a run that can be resumed."""

    def interrupted(query: str) -> list[dict[str, str]]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        research(cache, Scripted(interrupted), embedder)
    [run] = cache.runs.all()
    found = researcher(cache, Scripted(lambda query: [PAGE]), embedder).resume(run.key)
    assert found.plan.question == QUESTION
