"""The tool `library_search`: passages with age and relevance, within the limit of a response."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client import Client
from mcp_types import CallToolResult

from harness.app import App
from harness.core.freshness import HOUR, NEVER
from harness.library import ReadDocument
from harness.models.from_settings import Models
from harness.server.mcp.paging import MAX_OUTPUT
from harness.server.mcp.server import HarnessServer
from tests.fakes import WordEmbedder, WordReader
from tests.server.mcp.test_tools import payload, refused

Call = Callable[..., CallToolResult]


@pytest.fixture(autouse=True)
def models(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedder and a reader of words instead of the models."""
    made = WordReader(0.5)
    app.models.__dict__["embedder"] = WordEmbedder()
    monkeypatch.setattr(Models, "reader", property(lambda _: made))


@pytest.fixture
def call(server: HarnessServer) -> Iterator[Call]:
    """Call the tool and wait for the result."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:
        yield lambda **arguments: portal.call(client.call_tool, "library_search", arguments)


def add(app: App, text: str, url: str = "https://a.org", *, age: float = 0.0, **changes: Any) -> None:
    """Add a page that was read so many seconds ago."""
    fields: dict[str, Any] = {"title": "Notes", "source": "page", "expires_at": NEVER, **changes}
    app.library.index.add(ReadDocument(url=url, text=text, fetched_at=time.time() - age, **fields))


def test_a_passage_has_its_age_and_relevance(call: Call, app: App) -> None:
    """A passage answers if its relevance is high enough."""
    add(app, "Retries stop after five attempts.", age=2 * HOUR)
    add(app, "The weather in Oslo.", "https://a.org/oslo")
    first, second = payload(call(query="retries stop after five attempts"))["passages"]
    assert (first["url"], first["text"]) == ("https://a.org", "Retries stop after five attempts.")
    assert 2 * HOUR <= first["age_seconds"] < 2 * HOUR + 60
    assert 0 <= second["age_seconds"] < 60
    assert 0 <= second["relevance"] < 0.5 <= first["relevance"] <= 1
    assert (first["answers"], second["answers"]) == (True, False)
    assert (first["by_words"], second["by_words"], first["expires_at"]) == (1, None, None)


def test_results_of_earlier_searches_are_found(call: Call, app: App) -> None:
    """No request is made, and the passage has the query that found it."""
    app.cache.searches.put("retries", [{"title": "Retries", "href": "https://a.org", "body": "They stop after five."}])
    (passage,) = payload(call(query="when do retries stop"))["passages"]
    assert (passage["found_by"], passage["source"], passage["engine"]) == ("retries", "snippet", "ddgs")


def test_the_age_is_limited(call: Call, app: App) -> None:
    """The limit is in hours, with fractions."""
    add(app, "Old retries.", "https://a.org/old", age=2 * HOUR)
    add(app, "New retries.", "https://a.org/new", age=0.2 * HOUR)
    for hours, urls in ((None, 2), (3, 2), (1, 1), (0.5, 1), (0.1, 0)):
        found = payload(call(query="retries", max_age_hours=hours))["passages"]
        assert len(found) == urls, hours
    assert payload(call(query="retries", max_age_hours=1))["passages"][0]["url"] == "https://a.org/new"


def test_the_number_is_limited(call: Call, app: App) -> None:
    """Five passages by default, the best first."""
    for number in range(60):
        add(app, f"Retries of kind{number} stop", f"https://a.org/{number}")
    shown = payload(call(query="retries of kind7"))["passages"]
    assert len(shown) == 5
    assert shown[0]["url"] == "https://a.org/7"
    (best,) = payload(call(query="retries of kind7", limit=1))["passages"]
    assert best["id"] == shown[0]["id"]
    assert len(payload(call(query="retries of kind7", limit=30))["passages"]) == 30


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ""}, {"query": " "}, {"query": "\0"}, {"query": "x" * 10_001}, {"query": "x", "limit": 0},
        {"query": "x", "limit": 51}, {"query": "x", "max_age_hours": 0}, {"query": "x", "max_age_hours": -1}, {},
        {"query": "x", "max_age": 1},
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(call: Call, arguments: dict[str, Any]) -> None:
    """The response is an error."""
    assert refused(call(**arguments)) == "invalid_input"


def test_an_empty_library_is_no_error(call: Call) -> None:
    """The list is empty, and the query is unchanged."""
    assert payload(call(query="  Retries? ")) == {"query": "  Retries? ", "passages": []}


@pytest.mark.parametrize("char", ["x", '"', "\\", "é", "\t"])
def test_long_responses_stay_within_the_limit(call: Call, app: App, char: str) -> None:
    """The best passages, as many as fit, each whole."""
    for number in range(50):
        text = f"Retries {number} " + char * 900 + "."
        add(app, text, f"https://a.org/{number}/" + "a" * 1_500, title=f"Retries {number} " + char * 250)
    result = call(query="retries", limit=50)
    shown = payload(result)["passages"]
    (content,) = result.content
    assert len(content.text) > MAX_OUTPUT / 2  # type: ignore[union-attr]
    assert 2 <= len(shown) < 50
    assert all(each["text"].endswith(".") for each in shown)
    few = payload(call(query="retries", limit=2))["passages"]
    assert [each["id"] for each in few] == [each["id"] for each in shown[:2]]


def test_a_long_query_leaves_the_response_within_the_limit(call: Call, app: App) -> None:
    """The response repeats the query, so fewer passages fit."""
    for number in range(50):
        add(app, f"Retries {number} " + "x" * 900, f"https://a.org/{number}")
    result = call(query="retries " * 1_200, limit=50)
    (content,) = result.content
    assert len(content.text) <= MAX_OUTPUT  # type: ignore[union-attr]
    assert payload(result)["passages"]
