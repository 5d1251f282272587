"""The tools that list, search and delete knowledge."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client import Client
from mcp_types import CallToolResult

from harness.app import App
from harness.identity import Identity, Role
from harness.server.mcp.server import build_server
from tests.fakes import WordEmbedder
from tests.server.mcp.test_tools import payload, refused

Call = Callable[..., CallToolResult]


@contextmanager
def calling(app: App) -> Iterator[Call]:
    """Connect to a server of an app."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(build_server(app))) as client:
        yield lambda name, **arguments: portal.call(client.call_tool, name, arguments)


@pytest.fixture(autouse=True)
def embedder(app: App) -> None:
    """An embedder of words instead of the model."""
    app.models.__dict__["embedder"] = WordEmbedder()


@pytest.fixture
def call(app: App) -> Iterator[Call]:
    """Call a tool as the local user."""
    with calling(app) as opened:
        yield opened


def as_role(app: App, role: Role, tenant: str = "default") -> App:
    """Return the app of a token of this role."""
    return app.serving(Identity(tenant, "ada", role, "t"))


def titles(result: CallToolResult) -> list[str]:
    """Return the titles of the documents in a response."""
    return [each["title"] for each in payload(result)["documents"]]


def test_documents_are_listed_last_updated_first(call: Call, app: App) -> None:
    """With an excerpt, filtered by tags and writer."""
    first = app.knowledge.write("Retries", "Five. " * 500, tags=["API"], agent="ada").id
    app.knowledge.write("Pools", "Ten.", tags=["db", "api"], agent="bob")
    app.knowledge.write(id=first, confidence=0.9)
    assert titles(call("knowledge_list")) == ["Retries", "Pools"]
    assert titles(call("knowledge_list", tags=["api", "db"])) == ["Pools"]
    assert titles(call("knowledge_list", agent="ADA")) == ["Retries"]
    (shown,) = payload(call("knowledge_list", limit=1))["documents"]
    assert (shown["id"], shown["version"], shown["confidence"], shown["stale"]) == (first, 2, 0.9, False)
    assert shown["similarity"] is None
    assert shown["excerpt"].startswith("Five. Five.")
    assert len(shown["excerpt"]) <= 300


def test_a_long_list_comes_in_parts(call: Call, app: App) -> None:
    """No document twice, and none missing; each response is within the limit."""
    for number in range(70):
        app.knowledge.write(
            f"Document {number}", 'quoted "text" ' * 40, source_url=f"https://a.org/{number}/{'a' * 900}"
        )
    for name, arguments in (("knowledge_list", {}), ("knowledge_search", {"query": "document"})):
        found, offset = list[str](), 0
        while offset is not None:
            result = call(name, limit=100, offset=offset, **arguments)
            found += titles(result)
            assert payload(result)["truncated"] is (payload(result)["next_offset"] is not None)
            offset = payload(result)["next_offset"]
        assert len(found) == len(set(found)) == 70, name


def test_a_search_shows_the_most_similar_first(call: Call, app: App) -> None:
    """Also documents that do not answer, and stale ones."""
    app.knowledge.write("Retries of the gateway", "Five.")
    app.knowledge.write("Retries", "Three.", ttl_hours=1e-9)
    app.knowledge.write("Weather in Oslo", "Rain.")
    first, second = payload(call("knowledge_search", query="retries of the gateway"))["documents"]
    assert (first["title"], second["title"]) == ("Retries of the gateway", "Retries")
    assert 0 < second["similarity"] < first["similarity"] <= 1
    assert (first["stale"], second["stale"]) == (False, True)
    assert titles(call("knowledge_search", query="retries of the gateway", limit=1, offset=1)) == ["Retries"]


def test_a_search_finds_words_of_the_content(call: Call, app: App) -> None:
    """The title need not have them; its similarity is then not known."""
    app.knowledge.write("Minutes of Monday", "The launch code is 0000.")
    app.knowledge.write("Weather in Oslo", "Rain.")
    (found,) = payload(call("knowledge_search", query="launch code"))["documents"]
    assert (found["title"], found["similarity"]) == ("Minutes of Monday", None)


def test_a_deleted_document_is_gone(call: Call, app: App) -> None:
    """With its history; a second deletion says so."""
    written = app.knowledge.write("Retries", "Five.").id
    assert payload(call("knowledge_delete", id=written)) == {"deleted": 1}
    assert titles(call("knowledge_list")) == []
    assert app.knowledge.history(written) == []
    assert refused(call("knowledge_delete", id=written)) == "invalid_input"


def test_each_role_may_do_what_it_allows(app: App) -> None:
    """A reader looks, a writer writes, an admin deletes."""
    written = app.knowledge.write("Retries", "Five.").id
    for role in ("reader", "writer"):
        with calling(as_role(app, role)) as call:
            assert titles(call("knowledge_list")) == titles(call("knowledge_search", query="retries")) == ["Retries"]
            assert refused(call("knowledge_delete", id=written)) == "access_denied"
    with calling(as_role(app, "admin")) as call:
        assert payload(call("knowledge_delete", id=written)) == {"deleted": 1}


def test_another_tenant_finds_and_deletes_nothing(app: App) -> None:
    """Not even with the id."""
    written = app.knowledge.write("Retries", "Five.").id
    with calling(as_role(app, "admin", "lab")) as call:
        assert titles(call("knowledge_list")) == titles(call("knowledge_search", query="retries")) == []
        assert refused(call("knowledge_delete", id=written)) == "invalid_input"
    assert app.knowledge.get(written) is not None


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("knowledge_list", {"limit": 0}), ("knowledge_list", {"limit": 101}), ("knowledge_list", {"offset": 1_000}),
        ("knowledge_list", {"tags": ["a\0b"]}), ("knowledge_list", {"agent": "a\0b"}), ("knowledge_search", {}),
        ("knowledge_search", {"query": " "}), ("knowledge_search", {"query": "x", "offset": -1}),
        ("knowledge_delete", {"id": ""}), ("knowledge_delete", {}),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(call: Call, name: str, arguments: dict[str, object]) -> None:
    """The response is an error."""
    assert refused(call(name, **arguments)) == "invalid_input"
