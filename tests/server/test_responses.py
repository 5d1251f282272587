"""One shape for each thing, in the API, the MCP tools and `--json`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from starlette.testclient import TestClient

from harness.app import App
from harness.server.mcp.server import build_server
from harness.server.responses.research_responses import ResearchFields
from tests.cli.program import Program

RESULTS = [{"title": "RAG", "href": "https://example.org/rag", "body": "Chunk by structure."}]


@pytest.fixture
def harness(
    app: App, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Any]:
    """Run a command on the database of `app`; return its JSON."""
    program = Program(capsys, monkeypatch)

    def run(*arguments: str) -> Any:
        return program(*arguments, "--json", "--data-dir", str(app.settings.data_dir)).told

    return run


def call(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call an MCP tool; return its structured content."""

    async def called() -> dict[str, Any]:
        async with Client(build_server(app)) as client:
            result = await client.call_tool(tool, arguments)
        assert not result.is_error, result
        return dict(result.structured_content or {})

    return anyio.run(called)


def test_history_is_the_same_in_the_api_and_the_terminal(
    app: App, client: TestClient, harness: Callable[..., Any]
) -> None:
    """Items and the offset of the next page."""
    for number in range(3):
        app.cache.searches.put(f"retries {number}", RESULTS)
    api = client.get("/api/research-history", params={"limit": 2}).json()
    assert harness("history", "--limit", "2") == api
    assert api["next_offset"] == 2


def test_cache_statistics_are_the_same_in_the_api_and_the_terminal(
    app: App, client: TestClient, harness: Callable[..., Any]
) -> None:
    """Tables, answers, expiry, audits."""
    app.cache.searches.put("retries", RESULTS)
    assert harness("cache", "stats") == client.get("/api/stats").json()


def test_an_explanation_is_the_same_in_the_api_and_the_terminal(
    app: App, client: TestClient, harness: Callable[..., Any]
) -> None:
    """All fields but the age, which grows."""
    engine = app.settings.engine[0]
    shown = harness("cache", "explain", "retries", "--engine", engine)
    assert shown == client.get("/api/explain", params={"q": "retries"}).json()


def test_deletions_are_counted_the_same_way(app: App, client: TestClient, harness: Callable[..., Any]) -> None:
    """`selected` is a number, `deleted` has one number per table."""
    api = client.post("/api/cache/clear", json={"kind": "search", "dry_run": True}).json()
    assert harness("cache", "clear", "--kind", "search", "--dry-run") == api
    expired = client.post("/api/cache/expired").json()
    assert harness("cache", "expired") == expired


def test_documents_are_the_same_everywhere(app: App, client: TestClient, harness: Callable[..., Any]) -> None:
    """List, versions and deletion in API and terminal; a hit has the same document in the MCP tool."""
    written = app.knowledge.write("Retries in our gateway", "Three, with jitter.", tags=["gateway"])
    app.knowledge.write("Retries in our gateway", "Four.", id=written.id)
    assert harness("knowledge", "list") == client.get("/api/knowledge").json()
    versions = client.get(f"/api/knowledge/{written.id}").json()
    assert harness("knowledge", "history", written.id) == versions
    assert harness("knowledge", "get", written.id) == versions["document"]
    found = call(app, "cache_lookup", query="Retries in our gateway")
    assert found["document"] == versions["document"]
    assert harness("knowledge", "lookup", "Retries in our gateway").items() <= found.items()
    assert call(app, "knowledge_get", id=written.id)["document"].items() <= versions["document"].items()
    assert harness("knowledge", "delete", written.id, "--yes") == {"deleted": 1}


def test_a_research_has_the_same_fields_in_the_api_and_the_tool(app: App, client: TestClient) -> None:
    """The report, its rounds and its costs; the tool lists only the cited sources."""
    found = call(app, "research", question="How long does a client wait between retries?")
    run = client.get(f"/api/runs/{found['id']}").json()
    shared = set(ResearchFields.model_fields) - {"sources"}
    assert {name: found[name] for name in shared} == {name: run[name] for name in shared}
    assert found["sources"] == [source for source in run["sources"] if source["number"]]
    assert found["markdown"].startswith("# ")


def test_recorded_runs_have_the_same_fields(app: App, client: TestClient, harness: Callable[..., Any]) -> None:
    """The terminal adds the state, the answers, the live calls and the error."""
    call(app, "research", question="How long does a client wait between retries?")
    api, shown = client.get("/api/runs").json(), harness("cache", "runs")
    assert shown["next_offset"] == api["next_offset"]
    assert [item.items() >= known.items() for item, known in zip(shown["items"], api["items"], strict=True)] == [True]
    assert harness("show", shown["items"][0]["id"])["created_at"] == api["items"][0]["created_at"]
