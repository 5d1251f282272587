"""Tests of searches that held passages answer: when they do instead of an engine, and when they never do."""

# ruff: noqa: F401, F811 - fixtures of another module
from collections.abc import Sequence
from typing import Any

import pytest

from harness.app import App
from harness.cache import Cache, Policy
from harness.core.entries import Hit
from harness.core.freshness import HOUR, NEVER
from harness.core.sufficiency import Sufficiency
from harness.core.tables import LIBRARY
from harness.errors import OfflineMiss, ReaderError, StoreError
from harness.identity import Identity
from harness.library import Library, ReadDocument
from harness.models.from_settings import Models
from harness.research import held_answers
from harness.research.held_answers import held_answer
from harness.research.search import EngineSearch
from harness.settings import Settings
from harness.settings.mode import Mode
from harness.sources.from_settings import Sources
from tests.cli.program import Program
from tests.fakes import FakeClock, MemoryStore, WordEmbedder, WordReader, refusing
from tests.research.test_reuse import (
    POOL,
    QUESTION,
    TEXT,
    Engine,
    Open,
    ask,
    break_library,
    engine,
    hold,
    opened,
    search_with,
)

TIMEOUTS = "https://docs.example.org/timeouts"
ADA = Identity("lab", "ada", "admin", "a" * 16)
BOB = Identity("mill", "bob", "admin", "b" * 16)


class SureReader(WordReader):
    """A reader for which every text answers every question."""

    def answers(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Reader.answers`."""
        return [1.0 for _ in texts]


def search(app: App, query: str = QUESTION) -> EngineSearch:
    """Search with one engine, and with held passages; return the only outcome."""
    (found,), results = app.search(query, reuse=True)
    assert results == found.results
    return found


def how(app: App, query: str = QUESTION) -> str:
    """Return how a search was answered."""
    outcome = search(app, query).outcome
    assert not isinstance(outcome, Exception)
    return outcome.how


# --- an answer


def test_held_passages_answer_instead_of_the_engine(opened: Open, engine: Engine) -> None:
    """The outcome names the library, the age and the reasons; the use of the passage is recorded and counted."""
    app = opened(Mode(at=1_795_000_000.0))
    hold(app)
    found = search(app)
    assert engine.asked == []
    assert found.engine == "library"
    assert found.results == [{"title": "Pool", "href": POOL, "body": TEXT}]
    assert found.reused is not None
    assert (found.reused.passages, found.reused.newest, found.reused.oldest) == (1, 2 * HOUR, 2 * HOUR)
    assert found.reused.decision.state == "answered"
    assert found.reused.decision.reasons == (
        f"the likeliest passage answers with {found.reused.decision.probability:.0%}",
    )
    assert not isinstance(found.outcome, Exception)
    assert isinstance(found.outcome.outcome, Hit)
    hit = found.outcome.outcome
    assert (found.outcome.how, hit.found, hit.origin, hit.age) == ("library", "library", "library", 2 * HOUR)
    assert [row.last_used_at for row in app.store.listings.recent(LIBRARY, "default", 9)] == [app.cache.now]
    assert app.cache.usage.total() == {"library": 1}


def test_each_source_is_one_result(opened: Open) -> None:
    """The likeliest one first; passages of one source are joined, and the ages are those of the newest and oldest."""
    app = opened(Mode(at=1_795_000_000.0))
    hold(app, age=3 * HOUR)
    hold(app, "The pool of the gateway does hold connections.", "https://docs.example.org/more", age=5 * HOUR)
    text = "The gateway pool has connections, how many does it hold."
    at = app.cache.now - HOUR
    app.library.index.add(
        ReadDocument(url=POOL, title="Pool", text=text, source="file", fetched_at=at, expires_at=NEVER)
    )
    found = search(app)
    assert [each["href"] for each in found.results] == [POOL, "https://docs.example.org/more"]
    assert found.results[0]["body"] == f"{text}\n\n{TEXT}"
    assert found.reused is not None
    assert (found.reused.passages, found.reused.newest, found.reused.oldest) == (3, HOUR, 5 * HOUR)


def test_a_passage_that_lacks_the_number_is_no_result(opened: Open) -> None:
    """It is left out also where another passage answers."""
    app = opened()
    question = "how many connections does the pool of version 12 hold"
    hold(app, "how many connections does the pool of version 12 hold by default")
    hold(app, "how many connections does the pool hold by default", "https://docs.example.org/other")
    assert [each["href"] for each in search(app, question).results] == [POOL]


def test_passages_that_the_reader_did_not_read_are_no_results(opened: Open) -> None:
    """It reads 12 of the 20 that are found; the others have no relevance."""
    app = opened()
    hold(app)
    for number in range(held_answers.FOUND):
        hold(app, f"Connections number {number} of another thing.", f"https://docs.example.org/{number}")
    assert len(app.library.search(QUESTION, held_answers.FOUND)) == held_answers.FOUND
    assert [each["href"] for each in search(app).results] == [POOL]


def test_the_deciding_passage_is_the_first_result(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a passage about another version is likelier, and the deciding one unlikely but for one sentence."""
    question = "how many connections does the pool of version 3.12 hold"
    rival = "the pool of version 3.11, not 3.12"

    def answers(_: WordReader, __: str, texts: Sequence[str]) -> list[float]:
        return [0.9 if "3.11" in text else 0.25 if "Many things" in text else 1.0 for text in texts]

    monkeypatch.setattr(WordReader, "answers", answers)
    app = opened(max_wrong_reuse=0.1)
    hold(app, f"Many things changed. {question}.")
    hold(app, rival, "https://docs.example.org/rival")
    assert [each["href"] for each in search(app, question).results] == [POOL, "https://docs.example.org/rival"]


def test_passages_of_an_earlier_search_answer_another_one(opened: Open, engine: Engine) -> None:
    """Passages that an engine found for one query answer the next, in other words, without a request."""
    app = opened(semantic=False)
    app.search("gateway timeouts")
    engine.asked.clear()
    found = search(app, "the timeout of the gateway is thirty")
    assert engine.asked == []
    assert (found.engine, [each["href"] for each in found.results]) == ("library", [TIMEOUTS])


def test_without_a_reader_the_nearest_passage_answers(opened: Open, engine: Engine) -> None:
    """It must have every word of the query, and nearly the same vector."""
    app = opened(reading=False)
    hold(app, f"{QUESTION} ten")
    found = search(app)
    assert engine.asked == []
    assert found.reused is not None
    assert found.reused.decision.reasons[0].startswith("no reader; the nearest passage has similarity 0.9")
    assert how(app, "how many threads does the gateway pool hold") == "live"


# --- no answer


@pytest.mark.parametrize("held", ["", "Bread rises for two hours.", "The gateway pool is drained at night."])
def test_other_passages_leave_the_search_as_it_was(opened: Open, engine: Engine, held: str) -> None:
    """The engine is asked once, its results are cached as ever, and nothing says that passages were reused."""
    app = opened(semantic=False)
    if held:
        hold(app, held)
    found = search(app)
    assert (found.engine, found.reused, [each["href"] for each in found.results]) == ("web", None, [TIMEOUTS])
    assert how(app) == "exact"
    assert engine.asked == [QUESTION]
    assert app.cache.usage.total() == {"live": 1, "exact": 1}


@pytest.mark.parametrize(
    ("asked", "held", "answered"),
    [
        ("pool of version 12", "pool of version 12", "library"),
        ("pool of version 12", "pool of any version", "live"),
        ("pool of version 12", "pool of version 11", "live"),
        ("pool of Postgres 12", "pool of Postgres 12", "library"),
        ("pool of Postgres 12", "pool of Postgres 11 and Postgres 12", "live"),
        ("pool in 2024", "pool in 2024", "library"),
        ("pool in 2024", "pool in 2023", "live"),
        ("pool with 3 nodes", "pool with 3 nodes", "library"),
        ("pool with 3 nodes", "pool with some nodes", "live"),
        ("Postgres pool", "Postgres pool", "library"),
        ("Postgres pool", "pool", "live"),
        ("Postgres pool", "MySQL pool", "live"),
    ],
)
def test_a_passage_that_lacks_a_number_or_name_never_answers(
    opened: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch, asked: str, held: str, answered: str
) -> None:
    """Nor one that mentions another version, too, however sure the reader is of it."""
    monkeypatch.setattr(Models, "reader", property(lambda _: SureReader()))
    app = opened()
    hold(app, f"how many connections does the {held} hold by default")
    question = f"how many connections does the {asked} hold"
    assert how(app, question) == answered
    assert engine.asked == ([question] if answered == "live" else [])


@pytest.mark.parametrize(
    ("held", "answered"),
    [
        ("The pool of Postgres 11 holds 5 connections. The pool of Postgres 12 holds 10 connections.", "library"),
        ("The pool of Postgres 11 holds 5 connections, and the one of Postgres 12 holds 10 connections.", "live"),
        ("The pool of Postgres 11 holds 5 connections. How many connections does Postgres 12 hold?", "live"),
    ],
)
def test_a_page_about_two_versions_answers_by_a_sentence_about_one(
    opened: Open, monkeypatch: pytest.MonkeyPatch, held: str, answered: str
) -> None:
    """The same page answers for both versions, but never by a sentence about both, or by a question."""
    monkeypatch.setattr(Models, "reader", property(lambda _: SureReader()))
    app = opened()
    hold(app, held)
    assert how(app, "how many connections does the pool of Postgres 12 hold") == answered


def test_a_failing_reader_leaves_the_sentences_unread(
    opened: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The signs of the whole passage decide, with a warning."""
    app = opened()
    hold(app)

    def fail(*_: object) -> list[float]:
        raise ReaderError("it is damaged")

    monkeypatch.setattr(held_answers, "relevance", fail)
    assert how(app) in {"library", "live"}
    assert "sentences of the library are not read: it is damaged" in caplog.text


@pytest.mark.parametrize(("limit", "answered"), [(HOUR, "live"), (2.5 * HOUR, "library"), (None, "library")])
def test_passages_older_than_the_limit_never_answer(opened: Open, limit: float | None, answered: str) -> None:
    """The passage is two hours old."""
    app = opened(reuse_max_age=limit)
    hold(app)
    assert how(app) == answered


@pytest.mark.parametrize(("age", "answered"), [(2 * HOUR, "live"), (HOUR / 2, "library")])
@pytest.mark.parametrize("question", [f"latest {QUESTION}", f"{QUESTION} currently"])
def test_questions_about_now_need_new_passages(opened: Open, question: str, age: float, answered: str) -> None:
    """Passages older than `volatile_ttl` do not answer."""
    app = opened()
    hold(app, f"latest {TEXT} currently", age=age)
    assert how(app, question) == answered


# --- where passages must not answer


@pytest.mark.parametrize(
    ("mode", "changes", "answered"),
    [
        (Mode(), {"reuse": "off"}, "live"),
        (Mode(read=False), {}, "live"),
        (Mode(read=False, write=False), {}, "live"),
        (Mode(origin="evaluation"), {}, "live"),
        (Mode(origin="experiment"), {}, "live"),
        (Mode(origin="agent"), {}, "library"),
        (Mode(write=False), {}, "library"),
    ],
)
def test_some_searches_never_take_passages(
    opened: Open, engine: Engine, mode: Mode, changes: dict[str, Any], answered: str
) -> None:
    """Nothing is reused where it is switched off, where the cache is not read, and in evaluations and experiments."""
    hold(opened())
    assert how(opened(mode, **changes)) == answered
    assert bool(engine.asked) is (answered == "live")


@pytest.mark.parametrize(("policy", "answers"), [(Policy(replay=True, offline=True), False), (Policy(), True)])
def test_a_replay_takes_no_passages(policy: Policy, answers: bool) -> None:
    """Only what was recorded answers, even if a store held passages."""
    store, clock = MemoryStore(), FakeClock()
    library = Library(store, WordEmbedder(), reader=WordReader(), clock=clock)
    library.index.add(
        ReadDocument(url=POOL, title="Pool", text=TEXT, source="page", fetched_at=clock.now - HOUR, expires_at=NEVER)
    )
    cache = Cache(store, policy=policy, clock=clock)
    found = held_answer(QUESTION, library, [Engine()], Settings(), cache)
    assert (found is not None) is answers


def test_passages_of_another_tenant_never_answer(opened: Open, engine: Engine) -> None:
    """They answer for their own tenant only."""
    app = opened()
    hold(app.serving(ADA))
    lent: list[App] = [app.serving(BOB), app, app.serving(ADA)]
    for each in lent:
        search_with(each, engine)
    assert [how(each) for each in lent] == ["live", "live", "library"]
    assert len(engine.asked) == 2


@pytest.mark.parametrize(
    ("passages_of", "name", "options", "answered"),
    [
        ('corpus {"corpus":"a"}', "web", {}, "live"),
        ('corpus {"corpus":"a"}', "corpus", {"corpus": "b"}, "live"),
        ('corpus {"corpus":"a"}', "corpus", {"corpus": "a"}, "library"),
        ("web", "corpus", {"corpus": "a"}, "live"),
        ("ddgs", "web", {}, "library"),
        ("web", "library", {}, "live"),
    ],
)
def test_passages_of_a_corpus_answer_for_it_alone(
    opened: Open, engine: Engine, passages_of: str, name: str, options: dict[str, str], answered: str
) -> None:
    """A search of a corpus takes its own passages only; one of the web takes none of a corpus; the library itself is
    searched as ever.
    """
    app = opened()
    hold(app, engine=passages_of)
    engine.name, engine.options = name, options
    assert how(app) == answered


# --- the cache answers first


def test_an_exact_hit_answers_first(opened: Open, engine: Engine) -> None:
    """A repeated search has the results that it had, although passages are held by now."""
    app = opened()
    first = search(app)
    hold(app)
    again = search(app)
    assert (again.engine, again.results, how(app)) == ("web", first.results, "exact")
    assert len(engine.asked) == 1


def test_a_hit_by_meaning_answers_first(opened: Open, engine: Engine) -> None:
    """As before; where lookups by meaning are switched off, the passage answers."""
    app = opened(verifier=False)
    stored = "gateway pool connections"
    app.search(stored)
    asked = "connections gateway pool"
    hold(app, f"The {asked} are ten {asked}.")
    assert how(app, asked) == "semantic"
    assert how(opened(semantic=False), asked) == "library"
    assert engine.asked == [stored]


def test_a_search_that_found_nothing_lately_answers_first(opened: Open, engine: Engine) -> None:
    """The engine has said that there is nothing."""
    app = opened()
    engine.silent = True
    assert search(app).results == []
    engine.silent = False
    hold(app)
    assert how(app) == "no results"


def test_passages_answer_unless_every_engine_is_cached(opened: Open, engine: Engine) -> None:
    """With two engines, one of them cached, they replace both; with both cached, nothing changes."""
    app, other = opened(), Engine("other")
    app.search(QUESTION)
    hold(app)
    search_with(app, engine, other)
    assert how(app) == "library"
    assert other.asked == []
    app.search(QUESTION)
    searched, _ = app.search(QUESTION, reuse=True)
    assert [each.engine for each in searched] == ["web", "other"]
    assert (len(engine.asked), len(other.asked)) == (1, 1)


# --- offline, counts and the command line


def test_offline_passages_answer(opened: Open, engine: Engine) -> None:
    """A search that neither they nor the cache answer is an `OfflineMiss`."""
    app = opened(offline=True)
    hold(app)
    assert how(app) == "library"
    with pytest.raises(OfflineMiss):
        search(app, "what is the timeout of the gateway")
    assert engine.asked == []


def test_a_research_counts_the_searches_that_passages_spared(opened: Open) -> None:
    """One for each query and engine."""
    app = opened()
    hold(app)
    found = ask(app)
    assert found.gathered.stop_reason == "answered from the library"
    assert app.cache.usage.total()["library"] == found.gathered.planned


def test_the_command_line_searches_and_shows_the_count(
    opened: Open, engine: Engine, harness: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`harness search` asks the engine; `harness cache stats` counts the searches that passages answered."""
    monkeypatch.setenv("HARNESS_READING", "1")
    monkeypatch.setattr("harness.models.from_settings.main_embedder", lambda _: WordEmbedder())
    monkeypatch.setattr(Sources, "engines", lambda *_, **__: (engine,))
    app = opened()
    hold(app)
    assert how(app) == how(app) == "library"
    app.cache.usage.flush()
    stats = harness("cache", "stats")
    assert "2 library" in stats.out
    assert "2 of 2 live calls saved" in stats.out
    told = harness("cache", "stats", "--json").told
    assert (told["hits"]["library"], told["live_calls_saved"], told["misses"]) == (2, 2, 0)
    ended = harness("search", QUESTION, "--json")
    assert (ended.told["engine"], ended.told["live_calls"]) == ("web", 1)
    assert engine.asked == [QUESTION]


def test_results_are_no_more_than_asked_for_and_answer(opened: Open) -> None:
    """Passages about something else are no results, and at most `max_results` sources are shown and counted."""
    app = opened(max_results=2)
    for number in range(4):
        hold(app, f"{TEXT} Edition {'abcd'[number]}.", f"https://docs.example.org/{number}")
    hold(app, "Bread rises for some hours.", "https://docs.example.org/bread")
    found = search(app)
    assert len(found.results) == 2
    assert found.reused is not None
    assert found.reused.passages == 2
    assert not any("Bread" in each["body"] for each in found.results)


@pytest.mark.parametrize("options", [{"timelimit": "d"}, {"time_range": "day"}, {"safesearch": "on"}])
def test_an_engine_with_limits_is_asked(opened: Open, engine: Engine, options: dict[str, str]) -> None:
    """Passages were read without its time range and its strict safe search."""
    engine.options = options
    app = opened()
    hold(app)
    assert app.search(QUESTION, reuse=True)[0][0].engine == engine.name
    assert ask(app).gathered.reused == ()


@pytest.mark.parametrize("method", ["rows.touch", "locks.hold"])
def test_a_failing_store_lets_the_engine_answer(opened: Open, engine: Engine, method: str) -> None:
    """A search works without the library as it did before."""
    app = opened()
    hold(app)
    break_library(app, method)
    assert app.search(QUESTION, reuse=True)[0][0].engine == engine.name


def test_passages_never_replace_a_search_in_another_language(
    opened: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However sure the decision is, which was calibrated for English."""
    monkeypatch.setattr(held_answers, "sufficiency", lambda *_: Sufficiency("answered", 1.0, ("sure",)))
    app = opened()
    hold(app)
    hold(app, "Der Pool des Gateways hält zehn Verbindungen offen.", "https://docs.example.org/de")
    assert how(app) == "library"
    assert how(app, "wie viele Verbindungen hält der Pool des Gateways offen") == "live"
    assert engine.asked == ["wie viele Verbindungen hält der Pool des Gateways offen"]
