"""Research runs, on scripted engines and on the bundled corpus."""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from harness.cache import Cache, Policy
from harness.core.citations import is_quoted_in
from harness.core.pages import Page
from harness.core.sites import ANY_SITE, Sites
from harness.errors import EngineUnavailable, InvalidInput, PageError, RateLimited, ReaderError
from harness.models.local.embedder import MiniLM
from harness.models.local.tokenizer import rarity
from harness.ports import LanguageModel, PageReader, SearchEngine, SearchResult
from harness.research.drafting import Writer
from harness.research.fingerprint import Code
from harness.research.model_planner import ModelPlanner
from harness.research.planner import RulePlanner
from harness.research.result import Research
from harness.research.run import Researcher
from harness.research.services import ResearchServices
from harness.settings import FetchSettings, GatheringSettings, WritingSettings
from harness.sources.corpus.engine import open_corpus
from harness.storage.sqlite.store import SqliteStore
from harness.vector_cache import VectorCache
from tests.fakes import FakeClock, WordReader

QUESTION = "How does exponential backoff limit retries?"
PAGE = SearchResult(
    title="Retries and exponential backoff",
    href="https://example.org/retries?utm_source=x",
    body="Exponential backoff doubles the waiting time after every failed retry. "
    "However, a retry without a limit can overload the server that it waits for.",
)


def silent(what: str, done: int, total: int) -> None:
    """Show no progress."""


class Scripted:
    """An engine that answers from a function of the query, and records queries."""

    name = "scripted"
    options: Mapping[str, Any] = {}

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """Return the answer, or raise it if it is an error."""
        with self._lock:
            self.asked.append(query)
        answer = self.answer(query)
        if isinstance(answer, Exception):
            raise answer
        return list(answer)


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    """The real one, loaded once."""
    return MiniLM()


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty cache on disk."""
    return Cache(SqliteStore(tmp_path / "harness.db"))


class Library:
    """A reader of pages from a dict; an exception is raised, an unknown page is unreadable."""

    name = "library"

    def __init__(self, pages: Mapping[str, str | Exception] = {}) -> None:
        self.pages = pages
        self.asked: list[str] = []

    def read(self, url: str, held: Page | None = None, sites: Sites = ANY_SITE) -> Page:
        """Answer, or raise; there are no redirects."""
        self.asked.append(url)
        page = self.pages.get(url, PageError(f"no such page: {url}"))
        if isinstance(page, Exception):
            raise page
        return Page(url, "A page", page, "text/plain")


def memory_of(cache: Cache, embedder: MiniLM) -> Callable[[str], VectorCache]:
    """Return the vector caches of the same store."""
    store = cache.store
    return lambda space: VectorCache(store, embedder, space=space, clock=lambda: cache.now)


def researcher(
    cache: Cache,
    engines: SearchEngine | Sequence[SearchEngine],
    embedder: MiniLM,
    *,
    keep: bool | None = None,
    rounds: int = 5,
    reader: PageReader | None = None,
    pages: int = 3,
    calls: int | None = None,
    seconds: float | None = None,
    model: LanguageModel | None = None,
    strict: bool = False,
    enough: float = 1.0,
    novel: float = 0.1,
    tokens: int | None = None,
) -> Researcher:
    """Return a researcher with the usual limits; without a reader, no pages are read."""
    gathering = GatheringSettings(
        max_rounds=rounds,
        enough_score=enough,
        min_novelty=novel,
        max_results=5,
        read_pages=pages if reader else 0,
        max_live_calls=calls,
        max_tokens=tokens,
    )
    return Researcher(
        ResearchServices(
            cache,
            tuple(engines) if isinstance(engines, Sequence) else (engines,),
            reader or Library(),
            embedder,
            memory_of(cache, embedder),
            silent,
            rarity,
            planner=ModelPlanner(model) if model else RulePlanner(),
        ),
        writer=Writer(model, WritingSettings(strict=strict)),
        gathering=gathering,
        fetch=FetchSettings(ttl=60, page_ttl=60, max_seconds=seconds),
        keep_research=keep,
        code=Code(),
    )


def change_services(leader: Researcher, **changes: Any) -> None:
    """Replace some services of a researcher."""
    leader.services = structs.replace(leader.services, **changes)


def research(
    cache: Cache,
    engine: SearchEngine | Sequence[SearchEngine],
    embedder: MiniLM,
    *,
    question: str = QUESTION,
    **how: Any,
) -> Research:
    """Run one research."""
    return researcher(cache, engine, embedder, **how).run(question)


def test_every_sentence_is_quoted_from_its_source(cache: Cache, embedder: MiniLM) -> None:
    """Each quotation is in the engine's text, and has the number of a listed source."""
    found = research(cache, Scripted(lambda query: [PAGE]), embedder)
    assert found.report is not None
    assert found.report.citations
    assert all(c.verified and is_quoted_in(c.quotation, [PAGE["body"]]) for c in found.report.citations)
    assert {c.number for c in found.report.citations} == {source.number for source in found.report.sources}
    assert [source.url for source in found.report.sources] == ["https://example.org/retries"]


def test_the_same_research_again_costs_nothing_and_reads_the_same(cache: Cache, embedder: MiniLM) -> None:
    """0 live calls, the same bytes."""
    engine = Scripted(lambda query: [PAGE])
    first, second = research(cache, engine, embedder), research(cache, engine, embedder)
    assert first.report is not None
    assert second.report is not None
    assert first.live_calls == len(engine.asked) > 0
    assert (second.live_calls, second.cache_hits) == (0, first.live_calls)
    assert first.report.markdown() == second.report.markdown()


def test_the_order_of_answers_does_not_matter(cache: Cache, embedder: MiniLM, tmp_path: Path) -> None:
    """Concurrent searches that end in another order give the same report."""
    pages = [
        {**PAGE, "href": f"https://example.org/{n}", "body": f"{PAGE['body']} Page {n} says so."} for n in range(4)
    ]

    def one_by_one(query: str) -> list[dict[str, str]]:
        return pages[len(query) % 4 :]

    def slow_first(query: str) -> list[dict[str, str]]:
        threading.Event().wait(0.05 if len(query) % 2 else 0)
        return one_by_one(query)

    other = Cache(SqliteStore(tmp_path / "other.db"))
    first, second = research(cache, Scripted(one_by_one), embedder), research(other, Scripted(slow_first), embedder)
    assert first.report is not None
    assert second.report is not None
    assert first.report.markdown() == second.report.markdown()


def test_a_round_without_anything_new_ends_the_gathering(cache: Cache, embedder: MiniLM) -> None:
    """The same page again has novelty 0."""
    shared = {**PAGE, "body": f"{PAGE['body']}\n\nThe jitter spreads retries; more jitter spreads them further."}
    found = research(cache, Scripted(lambda query: [shared, {**shared, "href": "https://example.org/copy"}]), embedder)
    assert found.gathered.stop_reason == "stagnation"
    assert [round_.novelty for round_ in found.gathered.rounds] == [1.0, 0.0]


def test_rounds_are_limited(cache: Cache, embedder: MiniLM) -> None:
    """New text without end stops at the limit."""

    def endless(query: str) -> list[dict[str, str]]:
        word = "".join(chr(97 + ord(char) % 26) for char in query[::-1] if char.isalpha())
        body = f"Retries {word} grow {word} with exponential backoff {word[::2]} and {word[1::2]} limits {word[::3]}."
        return [{**PAGE, "href": f"https://example.org/{word}-{n}", "body": f"{body} {n}"} for n in range(2)]

    found = research(cache, Scripted(endless), embedder, rounds=3, novel=0.0)
    assert (found.gathered.stop_reason, len(found.gathered.rounds)) == ("limit of rounds", 3)


def test_sources_are_merged_by_address(cache: Cache, embedder: MiniLM) -> None:
    """Spellings of one address are one source, with every different passage once."""
    spellings = ["https://example.org/a", "HTTPS://EXAMPLE.org:443/a/", "https://example.org/a?utm_medium=y#part"]

    def answer(query: str) -> list[dict[str, str]]:
        return [{**PAGE, "href": href, "body": f"{PAGE['body']}\n\nPassage {n}."} for n, href in enumerate(spellings)]

    (source,) = research(cache, Scripted(answer), embedder).gathered.sources
    assert source.texts == tuple(f"{PAGE['body']}\n\nPassage {n}." for n in range(3))


def test_nothing_found_is_no_report(cache: Cache, embedder: MiniLM) -> None:
    """An empty context gives no report, and is not cached."""
    found = research(cache, Scripted(lambda query: []), embedder, keep=True)
    assert found.report is None
    assert (found.gathered.stop_reason, found.research_cache) == ("no evidence", "not stored")


def test_unrelated_sources_are_no_answer(cache: Cache, embedder: MiniLM) -> None:
    """Text about something else is not quoted."""
    page = {
        **PAGE,
        "title": "Soup",
        "body": "Peel the onions and let them simmer in butter until they are golden brown.",
    }
    found = research(cache, Scripted(lambda query: [page]), embedder)
    assert found.gathered.sources
    assert found.report is None


def test_one_failing_search_does_not_end_the_run(cache: Cache, embedder: MiniLM) -> None:
    """It is reported, with its code; the report comes from the others, and the incomplete research is not cached."""
    refused = QUESTION.rstrip("?")
    engine = Scripted(lambda query: RateLimited("slow down") if query == refused else [PAGE])
    found = research(cache, engine, embedder, keep=True)
    assert [s.error for s in found.gathered.searches if s.answered_by == "failed"] == ["rate_limited: slow down"]
    assert found.report is not None
    assert found.research_cache == "not stored"


def test_when_every_search_fails_the_error_passes_through(cache: Cache, embedder: MiniLM) -> None:
    """A dead engine is an error, not an empty result."""
    with pytest.raises(EngineUnavailable, match="down"):
        research(cache, Scripted(lambda query: EngineUnavailable("down")), embedder)


def test_a_whole_research_is_cached_when_opted_in(cache: Cache, embedder: MiniLM) -> None:
    """The second run looks up no searches, says so, and writes the same report."""
    engine = Scripted(lambda query: [PAGE])
    first, second = research(cache, engine, embedder, keep=True), research(cache, engine, embedder, keep=True)
    assert (first.research_cache, second.research_cache) == ("stored", "hit")
    assert (second.live_calls, second.cache_hits) == (0, 0)
    assert first.report == second.report
    assert first.gathered == second.gathered


def test_another_gathering_is_a_miss(cache: Cache, embedder: MiniLM) -> None:
    """Another limit of rounds gathers again (from cached searches)."""
    engine = Scripted(lambda query: [PAGE])
    research(cache, engine, embedder, keep=True, rounds=5)
    assert research(cache, engine, embedder, keep=True, rounds=4).research_cache == "stored"


def test_an_unreadable_cached_research_is_gathered_again(
    cache: Cache, embedder: MiniLM, caplog: pytest.LogCaptureFixture
) -> None:
    """Foreign data under our key is a warning, not an error."""
    engine = Scripted(lambda query: [PAGE])
    research(cache, engine, embedder, keep=True)
    store = cache.store
    assert isinstance(store, SqliteStore)
    sql = "UPDATE research_cache SET context = '{}', checksum = NULL"
    store._connections.write(lambda connection: connection.execute(sql))
    assert research(cache, engine, embedder, keep=True).research_cache == "stored"
    assert "unreadable" in caplog.text


@pytest.mark.parametrize("question", ["", " ", "x" * 20_000, "a\0b", "\ud800"])
def test_an_unusable_question_is_an_error(cache: Cache, embedder: MiniLM, question: str) -> None:
    """It is refused before anything is searched."""
    engine = Scripted(lambda query: [PAGE])
    with pytest.raises(InvalidInput):
        research(cache, engine, embedder, question=question)
    assert engine.asked == []


def test_hostile_text_is_never_markup(cache: Cache, embedder: MiniLM) -> None:
    """Titles, URLs and sentences of a page cannot make links, headings or HTML in the report."""
    page = {
        "title": "# Heading <script>alert(1)</script> [x](javascript:alert(1))",
        "href": "https://example.org/a> <b",
        "body": "Exponential backoff <img src=x> limits retries by [doubling](javascript:x) the *time* each `turn`.",
    }
    found = research(cache, Scripted(lambda query: [page]), embedder)
    assert found.report is not None
    report = found.report.markdown()
    assert found.report.citations[0].quotation == page["body"]
    assert "\\<script\\>" in report
    assert "[doubling\\](" in report
    assert "\\*time\\*" in report
    assert "<https://example.org/a%3E%20%3Cb>" in report
    assert "\n# Heading" not in report


@pytest.mark.slow
def test_the_bundled_corpus_answers_the_demo_question(tmp_path: Path, cache: Cache, embedder: MiniLM) -> None:
    """Attribute lookup is quoted from the page that defines it; all quotations are verified; the bytes repeat."""
    engine = open_corpus("python-docs", tmp_path / "corpora", silent)
    question = "In which order does Python look up an attribute on an instance?"
    found = research(cache, engine, embedder, question=question)
    assert found.report is not None
    assert "pydoc:attribute-access" in {source.url for source in found.report.sources}
    assert any("base classes" in citation.quotation for citation in found.report.citations)
    assert all(citation.verified for citation in found.report.citations)
    again = research(cache, engine, embedder, question=question)
    assert again.live_calls == 0
    assert msgspec.json.encode(again.report) == msgspec.json.encode(found.report)


def test_searches_made_again_are_live_calls(tmp_path: Path, embedder: MiniLM) -> None:
    """Expired entries searched again do not count as cache hits, though they are in the cache now."""
    clock = FakeClock()
    cache = Cache(SqliteStore(tmp_path / "harness.db"), clock=clock, policy=Policy(stale_if_error=600))
    engine = Scripted(lambda query: [PAGE])
    first = research(cache, engine, embedder)
    clock.advance(61)
    again = research(cache, engine, embedder)
    assert (again.live_calls, again.cache_hits) == (first.live_calls, first.cache_hits)
    assert again.live_calls == again.answered["live"] > 0


def test_stale_answers_are_cache_hits(tmp_path: Path, embedder: MiniLM) -> None:
    """With the engine down, within the window, the report is the same, and its answers count as stale."""
    clock = FakeClock()
    cache = Cache(SqliteStore(tmp_path / "harness.db"), clock=clock, policy=Policy(stale_if_error=600))
    first = research(cache, Scripted(lambda query: [PAGE]), embedder)
    clock.advance(61)

    def down(query: str) -> list[dict[str, str]]:
        raise EngineUnavailable("down")

    late = research(cache, Scripted(down), embedder)
    assert late.report == first.report
    assert late.cache_hits == late.answered["stale"] > 0


class BrokenReader(WordReader):
    """A reader whose weights are damaged."""

    def answers(self, question: str, texts: Sequence[str]) -> list[float]:
        """Fail."""
        raise ReaderError("the reader cannot be loaded; reinstall research-harness")


def test_with_a_broken_reader_nothing_is_refused(
    cache: Cache, embedder: MiniLM, caplog: pytest.LogCaptureFixture
) -> None:
    """The report is that of a research without a reader; one warning says why."""
    plain = research(cache, Scripted(lambda query: [PAGE]), embedder, keep=False)
    leader = researcher(cache, Scripted(lambda query: [PAGE]), embedder, keep=False)
    change_services(leader, answering=BrokenReader())
    found = leader.run(QUESTION)
    assert found.report is not None
    assert plain.report is not None
    assert found.report.markdown() == plain.report.markdown()
    assert sum("until then a research does not check" in message for message in caplog.messages) == 1


def test_a_question_that_no_sentence_answers_has_no_report(cache: Cache, embedder: MiniLM) -> None:
    """The reader refuses; the sources are kept with the run."""
    leader = researcher(cache, Scripted(lambda query: [PAGE]), embedder)
    change_services(leader, answering=WordReader(least=1.0))
    found = leader.run(QUESTION)
    assert found.report is None
    assert found.gathered.sources


class PartReader(WordReader):
    """A reader for which no text answers a question about violins, and none about violins any other."""

    def answers(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Reader.answers`."""
        if "violin" in question:
            return [0.1] * len(texts)
        return [0.05 if "violin" in text else 0.95 for text in texts]


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("How does exponential backoff limit retries, and how is a violin tuned?", True),
        ("How is a violin tuned?", False),
        ("How is a violin tuned, and how long do violins last?", False),
    ],
)
def test_a_question_with_a_part_that_is_answered_has_a_report(
    cache: Cache, embedder: MiniLM, question: str, answered: bool
) -> None:
    """No sentence answers the whole of it; where none answers a part either, there is no report."""
    leader = researcher(cache, Scripted(lambda query: [PAGE]), embedder)
    change_services(leader, answering=PartReader())
    assert (leader.run(question).report is not None) == answered


def test_a_part_that_nothing_answers_is_named_and_has_no_excerpt(cache: Cache, embedder: MiniLM) -> None:
    """The limits say so; what is about it is not quoted as its answer."""
    about = {**PAGE, "href": "https://example.org/violins", "body": "A violin is tuned before and after it is played."}
    question = "How does exponential backoff limit retries, and how is a violin tuned?"
    leader = researcher(cache, Scripted(lambda query: [PAGE, about]), embedder)
    plain = leader.run(question).report
    change_services(leader, answering=PartReader())
    found = leader.run(question).report
    assert plain is not None
    assert found is not None
    assert any("violin" in citation.quotation for citation in plain.citations)
    assert not any("violin" in citation.quotation for citation in found.citations)
    assert any("Nothing was found that answers" in limit and "violin" in limit for limit in found.limits)


def test_the_reader_chooses_the_pages_to_read(cache: Cache, embedder: MiniLM) -> None:
    """Among the results of a round, the page whose excerpt answers comes before the engine's first ones."""
    hits = [
        SearchResult(
            title="", href=f"https://example.org/{place}", body=f"This page {place} is about gardens and cats."
        )
        for place in range(4)
    ]
    hits[2]["body"] = "Exponential backoff doubles the time and so it does limit retries."
    library = Library({hit["href"]: "A page about backoff and retries." for hit in hits})
    leader = researcher(cache, Scripted(lambda query: hits), embedder, reader=library, pages=2, rounds=1)
    leader.run(QUESTION)
    assert hits[2]["href"] not in library.asked
    library.asked.clear()
    change_services(leader, answering=WordReader(least=0.1))
    cache.maintenance.clear()
    leader.run(QUESTION)
    assert hits[2]["href"] in library.asked
    assert len(library.asked) == 2
