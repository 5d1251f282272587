"""`/config` and `/autocompleter` for SearXNG clients."""

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from harness import __version__
from harness.app import App
from harness.server.search_api.search_options import capabilities
from harness.server.search_api.searxng_instance import MAX_SUGGESTIONS
from harness.settings import Settings

RESULT = {"title": "Retries", "href": "https://example.org/retries", "body": "Retries stop after five attempts."}
BY_SCRIPT = {"X-Requested-With": "XMLHttpRequest"}


def searched(app: App, *queries: str) -> None:
    """Store searches as if they had been made, in this order."""
    for query in queries:
        app.cache.searches.put(query, [RESULT])


def completed(client: TestClient, typed: str, **headers: str) -> list[str]:
    """Return the suggestions for the typed text."""
    answer = client.get("/autocompleter", params={"q": typed}, headers={**BY_SCRIPT, **headers})
    assert answer.status_code == 200, answer.text
    found: list[str] = answer.json()
    return found


# --- /config


def test_config_describes_the_instance(client: TestClient) -> None:
    """Engines, the category, the format, the version; no path of a corpus."""
    answer = client.get("/config")
    payload = answer.json()
    assert (payload["categories"], payload["formats"]) == (["general"], ["html", "json"])
    assert payload["version"] == __version__
    (engine,) = payload["engines"]
    assert (engine["name"], engine["categories"], engine["enabled"], engine["paging"]) == (
        "corpus",
        ["general"],
        True,
        True,
    )
    assert (engine["language_support"], engine["time_range_support"], engine["safesearch"]) == (False, False, False)
    assert "notes" not in answer.text


@pytest.mark.parametrize(
    ("name", "can"),
    [
        ("ddgs", (True, True, True)),
        ("browser", (True, True, False)),
        ("searxng", (True, True, False)),
        ("pubmed", (False, False, False)),
        ("corpus", (False, False, False)),
    ],
)
def test_config_and_search_agree_on_supported_options(name: str, can: tuple[bool, bool, bool]) -> None:
    """Language, time range and strict safe search."""
    found = capabilities(name, Settings(data_dir=Path()))
    assert (found.language, found.time_range, found.safety) == can


# --- /autocompleter


def test_earlier_queries_are_suggested(client: TestClient, app: App) -> None:
    """By their start, newest first, in any case and spacing; not the query itself."""
    searched(app, "rag best practices", "retries", "RAG  chunk sizes", "rag", "Rag best PRACTICES 2026")
    assert completed(client, " rAg ") == ["Rag best PRACTICES 2026", "RAG chunk sizes", "rag best practices"]
    assert completed(client, "rag c") == ["RAG chunk sizes"]
    assert completed(client, "best") == []
    assert completed(client, " ") == []


def test_browsers_get_opensearch_suggestions(client: TestClient, app: App) -> None:
    """The typed text, the suggestions and their relevance, in the right media type."""
    searched(app, "rag one", "rag two")
    answer = client.get("/autocompleter", params={"q": "rag"})
    assert answer.headers["content-type"] == "application/x-suggestions+json"
    assert answer.json() == ["rag", ["rag two", "rag one"], [], [], {"google:suggestrelevance": [600, 599]}]


def test_suggestions_are_few_short_and_clean(client: TestClient, app: App) -> None:
    """At most ten, none longer than a line, no control characters."""
    searched(app, *(f"rag {number}" for number in range(15)), "rag \x1b[31mred", f"rag {'x' * 400}")
    found = completed(client, "rag")
    assert len(found) == MAX_SUGGESTIONS
    assert "\x1b" not in "".join(found)
    assert max(map(len, found)) < 300


def test_another_tenants_queries_are_not_suggested(client: TestClient, app: App, token: Callable[..., str]) -> None:
    """With a token, only its tenant's queries; without one, the request is refused."""
    searched(app, "rag of the local tenant")
    asks = {"Authorization": f"Bearer {token('lab', 'ada', 'reader')}"}
    assert completed(client, "rag", **asks) == []
    assert client.get("/autocompleter", params={"q": "rag"}).status_code == 401
    assert client.get("/config").status_code == 401
    assert client.get("/config", headers=asks).status_code == 200


@pytest.mark.parametrize("path", ["/config", "/autocompleter"])
def test_pages_of_other_sites_cannot_read_suggestions(client: TestClient, path: str) -> None:
    """Nor the engines; errors are JSON."""
    answer = client.get(path, headers={"Sec-Fetch-Site": "cross-site", "Accept": "text/html"})
    assert (answer.status_code, answer.json()["code"]) == (403, "access_denied")
