"""The tool `search` where passages that were read before answer instead of the engines."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client import Client
from mcp_types import CallToolResult
from msgspec.structs import replace

from harness.app import App
from harness.core.freshness import HOUR
from harness.models.from_settings import Models
from harness.server.mcp.server import HarnessServer
from harness.settings import Settings
from harness.settings.mode import Mode
from tests.fakes import WordEmbedder, WordReader
from tests.research.test_reuse import POOL, QUESTION, TEXT, Engine, hold
from tests.server.mcp.test_tools import payload, refused

TIMEOUTS = "https://docs.example.org/timeouts"
Call = Callable[..., CallToolResult]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings without lookups by meaning, which need a model."""
    return Settings(data_dir=tmp_path / "data", semantic=False)


@pytest.fixture
def mode() -> Mode:
    """Return the mode of the app, at a fixed time, as `harness mcp` runs it."""
    return Mode(at=1_795_000_000.0, origin="agent")


@pytest.fixture
def app(settings: Settings, mode: Mode, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """An app that holds a passage about the question, with an embedder and a reader of words."""
    monkeypatch.setattr(Models, "reader", property(lambda _: WordReader()))
    with App(settings, mode) as opened:
        opened.models.__dict__["embedder"] = WordEmbedder()
        hold(opened)
        yield opened


@pytest.fixture
def call(server: HarnessServer) -> Iterator[Call]:
    """Call the tool and wait for the result."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:
        yield lambda **arguments: portal.call(client.call_tool, "search", {"query": QUESTION} | arguments)


def test_passages_answer_without_a_live_call(call: Call, app: App, engine: Engine) -> None:
    """The response says so, with their ages and why they suffice; the answer is counted."""
    answer = payload(call())
    assert engine.asked == []
    assert answer == {
        "query": QUESTION,
        "answered": "library",
        "matched_query": None,
        "similarity": 1.0,
        "age_seconds": 2 * HOUR,
        "live_calls": 0,
        "reuse": {
            "passages": 1,
            "newest_age_seconds": 2 * HOUR,
            "oldest_age_seconds": 2 * HOUR,
            "probability": 0.9755,
            "reasons": ["the likeliest passage answers with 98%"],
        },
        "failed": [],
        "ranked_by_words": False,
        "results": [{"title": "Pool", "url": POOL, "text": TEXT}],
        "truncated": False,
        "total": 1,
        "next_offset": None,
    }
    assert app.cache.usage.total(["agent"]) == {"library": 1}


def test_the_ages_are_those_of_the_newest_and_oldest_passage(call: Call, app: App) -> None:
    """The age of the answer is that of the oldest."""
    hold(app, "The pool of the gateway does hold connections.", "https://docs.example.org/more", age=26 * HOUR)
    answer = payload(call())
    reuse = answer["reuse"]
    assert (reuse["passages"], reuse["newest_age_seconds"], reuse["oldest_age_seconds"]) == (2, 2 * HOUR, 26 * HOUR)
    assert (answer["age_seconds"], answer["total"]) == (26 * HOUR, 2)


def test_results_of_passages_come_in_parts(call: Call, app: App, engine: Engine) -> None:
    """Results from an offset on come without a live call; beyond the last one, the call is refused."""
    hold(app, "The pool of the gateway does hold connections.", "https://docs.example.org/more")
    answer = payload(call(offset=1))
    assert ([each["url"] for each in answer["results"]], answer["total"]) == (["https://docs.example.org/more"], 2)
    assert answer["reuse"]["passages"] == 2
    assert refused(call(offset=2)) == "invalid_input"
    assert engine.asked == []


def test_a_caller_can_ask_for_a_search(call: Call, engine: Engine) -> None:
    """Its results are cached, and answer the same call from then on."""
    live = payload(call(reuse="off"))
    assert (live["answered"], live["live_calls"], live["reuse"], live["age_seconds"]) == ("live", 1, None, None)
    assert [each["url"] for each in live["results"]] == [TIMEOUTS]
    again = payload(call())
    assert (again["answered"], again["live_calls"], again["reuse"]) == ("exact", 0, None)
    assert again["results"] == live["results"]
    assert engine.asked == [QUESTION]


def test_the_setting_is_the_default(call: Call, app: App, engine: Engine) -> None:
    """A caller may still allow passages."""
    app.settings = replace(app.settings, reuse="off")
    assert payload(call(reuse="passages"))["answered"] == "library"
    assert engine.asked == []
    assert payload(call(reuse=None))["answered"] == "live"
    assert engine.asked == [QUESTION]


def test_other_questions_are_searched_as_before(call: Call, engine: Engine) -> None:
    """Once live, then from the cache; no passages are reported."""
    for answered in ("live", "exact"):
        answer = payload(call(query="when does bread rise at a warm place"))
        assert (answer["answered"], answer["reuse"]) == (answered, None)
        assert answer["live_calls"] == int(answered == "live")
    assert engine.asked == ["when does bread rise at a warm place"]


@pytest.mark.parametrize("mode", [Mode(origin="evaluation"), Mode(origin="experiment"), Mode(read=False)])
def test_some_servers_never_answer_from_passages(call: Call, engine: Engine, mode: Mode) -> None:
    """Searches of evaluations and experiments, and those that read no cache, also where a caller allows it."""
    answer = payload(call(reuse="passages"))
    assert (answer["answered"], answer["reuse"], engine.asked) == ("live", None, [QUESTION])


@pytest.mark.parametrize("value", ["on", "", "Off", True, ["off"]])
def test_unknown_values_are_refused(call: Call, engine: Engine, value: Any) -> None:
    """Nothing is searched."""
    assert refused(call(reuse=value)) == "invalid_input"
    assert engine.asked == []
