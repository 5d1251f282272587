"""The tools: descriptions, types, limits, and error responses."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from mcp.client import Client
from mcp_types import CallToolResult, Tool
from msgspec.structs import replace
from pytest_httpserver import HTTPServer

from harness.app import App
from harness.core.keys import tool_key
from harness.server.mcp.paging import MAX_OUTPUT
from harness.server.mcp.server import HarnessServer, build_server
from harness.settings import Settings

NAMES = [
    "research_cache", "cache_lookup", "knowledge_write", "knowledge_get", "knowledge_list", "knowledge_search",
    "knowledge_delete", "library_search", "search", "read_page", "check_claim", "research",
]  # fmt: skip
SEARCH = {"cache_type": "job_search", "query": "senior python developer berlin"}
GOOD: dict[str, dict[str, Any]] = {
    "research_cache": {"action": "lookup", **SEARCH},
    "cache_lookup": {"query": "retries"},
    "knowledge_write": {"title": "Retries", "content": "five"},
    "knowledge_get": {"id": "0" * 32},
    "knowledge_list": {},
    "knowledge_search": {"query": "retries"},
    "knowledge_delete": {"id": "0" * 32},
    "library_search": {"query": "retries"},
    "search": {"query": "retries"},
    "read_page": {"url": "https://example.org"},
    "check_claim": {"claim": "Retries wait.", "texts": ["Retries wait."]},
    "research": {"question": "retries"},
}

Call = Callable[..., CallToolResult]


@pytest.fixture
def call(server: HarnessServer) -> Iterator[Call]:
    """Call a tool of the server and wait for the result."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:
        yield lambda name, **arguments: portal.call(client.call_tool, name, arguments)


@pytest.fixture(scope="module")
def tools() -> list[Tool]:
    """The listed tools."""

    async def listed() -> list[Tool]:
        async with Client(build_server(None)) as client:
            return (await client.list_tools()).tools

    return anyio.run(listed)


def payload(result: CallToolResult) -> dict[str, Any]:
    """Check that a call succeeded within the limit; return its structured content."""
    assert not result.is_error, result
    assert result.structured_content is not None
    (content,) = result.content
    assert len(content.text) <= MAX_OUTPUT  # type: ignore[union-attr]
    return result.structured_content


def refused(result: CallToolResult) -> str:
    """Check that a call failed with an error response, as text and as structure; return its code."""
    assert result.is_error, result
    assert result.structured_content is not None
    assert set(result.structured_content) == {"status", "code", "message"}
    assert result.structured_content["status"] == "error"
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
    message = result.structured_content["message"]
    assert 0 < len(message) <= 1_000
    assert "\n" not in message
    return str(result.structured_content["code"])


def without_descriptions(schema: Any) -> Any:
    """Return a JSON schema without its descriptions."""
    if isinstance(schema, dict):
        return {name: without_descriptions(value) for name, value in schema.items() if name != "description"}
    return [without_descriptions(each) for each in schema] if isinstance(schema, list) else schema


def test_input_schemas_are_stable(tools: list[Tool]) -> None:
    """Clients depend on them: they are those of `input_schemas.json`, byte for byte, except for the descriptions."""
    recorded = json.loads((Path(__file__).parent / "input_schemas.json").read_text())
    listed = {tool.name: without_descriptions(tool.input_schema) for tool in tools}
    assert json.dumps(listed) == json.dumps(recorded)


def test_a_lookup_reads_its_row_once(call: Call, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exact hit takes one read of one row and one computation of its key; a miss does the same."""
    payload(call("research_cache", action="store", data=[1], **SEARCH))
    reads, keys = [], []
    get, make_key = app.cache.store.rows.get, tool_key

    def counted_get(table: str, tenant: str, key: str) -> Any:
        reads.append((table, key))
        return get(table, tenant, key)

    def counted_key(*arguments: str) -> str:
        keys.append(arguments)
        return make_key(*arguments)

    monkeypatch.setattr(app.cache.store.rows, "get", counted_get)
    monkeypatch.setattr("harness.cache.tool_cache.tool_key", counted_key)
    hit = payload(call("research_cache", action="lookup", **SEARCH))
    assert (hit["results"], hit["key"], hit["expires_at"] is not None) == ([1], reads[0][1], True)
    assert reads == [("tool_cache", hit["key"])]
    missed = payload(call("research_cache", action="lookup", cache_type="other", query="https://example.org/new"))
    assert (missed["found"], missed["key"]) == (False, reads[1][1])
    assert (len(reads), len(keys)) == (2, 2)


def test_every_tool_is_described(tools: list[Tool]) -> None:
    """Each has a title, hints, at least two valid examples, and types for all arguments and results."""
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        assert tool.title
        assert tool.annotations is not None
        changes = {"research_cache", "knowledge_write", "knowledge_delete"}
        assert tool.annotations.read_only_hint is (tool.name not in changes)
        assert tool.annotations.open_world_hint is (tool.name in {"search", "read_page", "check_claim", "research"})
        described = tool.description or ""
        _, _, examples = described.partition("Examples:\n")
        found = [json.loads(each) for each in examples.replace("\n   ", " ").splitlines() if each.strip()]
        assert len(found) >= 2
        properties = tool.input_schema["properties"]
        assert all(set(example) <= set(properties) for example in found)
        assert all("description" in each for each in properties.values())
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
        assert "tenant" not in json.dumps(tool.input_schema)


def test_texts_from_outside_are_called_data(tools: list[Tool]) -> None:
    """Each description warns the model not to follow instructions in them."""
    for tool in tools:
        if tool.name not in {"knowledge_write", "knowledge_delete"}:
            assert "data" in (tool.description or "")
            assert "instruction" in (tool.description or "")


@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "shop"},
        {"query": 5, "url": 5, "question": 5, "id": 5},
        {"query": ["a"], "url": {}, "question": None, "id": [], "action": {}},
        {"query": "x" * 1_000_000, "url": "x" * 1_000_000, "question": "x" * 1_000_000, "id": "x" * 1_000_000},
        {"query": "a\0b", "url": "a\0b", "question": "a\0b", "id": "a\0b", "title": "a\0b"},
        {"limit": -1, "offset": -1, "version": -1},
        {"limit": 10**30, "offset": 10**30, "version": 0},
        {"action": "drop", "max_results": 101, "confidence": 2, "sections": 21},
        {"\ud800": 1},
        {"x" * 1_000_000: 1},
    ],
)
def test_wrong_arguments_are_an_error_response(call: Call, tools: list[Tool], change: dict[str, Any]) -> None:
    """One line says what to fix, without repeating a large argument."""
    taken = {tool.name: set(tool.input_schema["properties"]) for tool in tools}
    for name, takes in taken.items():
        wrong = {
            key: value for key, value in change.items() if key in takes or not any(map({key}.__le__, taken.values()))
        }
        if wrong:
            assert refused(call(name, **{**GOOD[name], **wrong})) in {"invalid_input", "page_error"}


def test_a_missing_argument_and_an_unknown_tool_are_named(call: Call) -> None:
    """With the nearest known name."""
    assert refused(call("nothing_such")) == "invalid_input"
    result = call("search")
    assert refused(result) == "invalid_input"
    assert "query" in str(result.structured_content)
    result = call("search", query="retries", max_result=3)
    assert "did you mean 'max_results'?" in str(result.structured_content)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@hypothesis_settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from(NAMES[:7]))
def test_any_argument_is_served_or_a_client_error(
    call: Call, tools: list[Tool], data: st.DataObject, name: str
) -> None:
    """Never an error of the harness."""
    takes = next(tool.input_schema["properties"] for tool in tools if tool.name == name)
    arguments = {argument: data.draw(JSON | st.just(GOOD[name].get(argument)), argument) for argument in takes}
    arguments |= (
        {"action": data.draw(st.sampled_from(["lookup", "store", "list_recent"]))} if "action" in arguments else {}
    )
    result = call(name, **arguments)
    if result.is_error:
        assert refused(result) == "invalid_input"
    else:
        payload(result)


@pytest.mark.parametrize("data", ['{"a": ', "plain text", "", [], {}, None, ["a\0b"], "x" * 1_000_000, 2**70])
def test_invalid_data_is_refused(call: Call, data: object) -> None:
    """Broken JSON, empty data, and texts that no database accepts; nothing is stored."""
    arguments = {"action": "store", "data": data, **SEARCH}
    assert refused(call("research_cache", **arguments)) == "invalid_input"
    assert payload(call("research_cache", action="list_recent"))["entries"] == []


def test_a_megabyte_of_data_comes_in_parts(call: Call) -> None:
    """The joined parts are the stored data."""
    data = [{"title": f"Job {number}", "text": 'quoted "text" \\ ' * 50} for number in range(1_000)]
    payload(call("research_cache", action="store", data=data, **SEARCH))
    parts, offset = [], 0
    while offset is not None:
        reply = payload(call("research_cache", action="lookup", offset=offset, **SEARCH))
        assert reply["results"] is None
        parts.append(reply["results_text"])
        offset = reply["next_offset"]
    assert json.loads("".join(parts)) == data
    assert refused(call("research_cache", action="lookup", offset=10**7, **SEARCH)) == "invalid_input"


def test_too_large_arguments_are_refused(call: Call) -> None:
    """Over two megabytes in total."""
    result = call("research_cache", action="store", data=["x" * 3_000_000], **SEARCH)
    assert refused(result) == "invalid_input"
    assert "3,0" in str(result.structured_content)


def test_a_turn_gets_the_same_results_once(call: Call) -> None:
    """Without a turn, or in another one, they are repeated. The rest of a long result always is."""
    payload(call("research_cache", action="store", data=["x" * 30_000], **SEARCH))
    first = payload(call("research_cache", action="lookup", turn="1", **SEARCH))
    assert (first["seen"], first["truncated"]) == (False, True)
    rest = payload(call("research_cache", action="lookup", turn="1", offset=first["next_offset"], **SEARCH))
    assert json.loads(first["results_text"] + rest["results_text"]) == ["x" * 30_000]
    again = payload(call("research_cache", action="lookup", turn="1", **SEARCH))
    assert (again["seen"], again["results"], again["results_text"]) == (True, None, None)
    assert not payload(call("research_cache", action="lookup", turn="2", **SEARCH))["seen"]
    assert not payload(call("research_cache", action="lookup", **SEARCH))["seen"]


def test_a_long_list_comes_in_parts(call: Call) -> None:
    """No entry twice, none missing."""
    queries = [f"https://example.org/{number}/" + "long" * 250 for number in range(60)]
    for query in queries:
        payload(call("research_cache", action="store", cache_type="other", query=query, data=[1]))
    found, offset = [], 0
    while offset is not None:
        reply = payload(call("research_cache", action="list_recent", limit=100, offset=offset))
        found += [entry["query"].split("/")[3] for entry in reply["entries"]]
        offset = reply["next_offset"]
    assert found == [str(number) for number in reversed(range(60))]


def test_a_hit_has_its_content_in_its_document(call: Call) -> None:
    """As much as fits; `knowledge_get` continues where it ends."""
    content = "".join(f"{number} is a number. " for number in range(3_000)).strip()
    written = payload(call("knowledge_write", title="Numbers", content=content))
    found = payload(call("cache_lookup", query="numbers"))
    assert found["truncated"]
    assert "content" not in found
    assert len(found["document"]["content"]) == found["next_offset"]
    parts, offset = [found["document"]["content"]], found["next_offset"]
    while offset is not None:
        reply = payload(call("knowledge_get", id=written["id"], offset=offset))
        parts, offset = [*parts, reply["content"]], reply["next_offset"]
    assert "".join(parts) == content
    assert payload(call("cache_lookup", query="the weather in Oslo"))["document"] is None


@pytest.mark.slow
@pytest.mark.parametrize("char", ["x", '"', "\\", "\n", "é", "\t"])
def test_the_longest_texts_stay_within_the_limit(call: Call, char: str) -> None:
    """Also with characters that JSON doubles."""
    title, url = char * 400 + "Title", "https://example.org/" + "a" * 9_000
    tags = [f"{number}" + char * 40 + "t" for number in range(20)]
    written = payload(
        call(
            "knowledge_write",
            title=title,
            content=char * 199_000 + "end",
            source_url=url,
            tags=tags,
            agent=char * 199 + "a",
        )
    )
    assert payload(call("cache_lookup", query=title, source_url=url))["hit"]
    reply = payload(call("knowledge_get", id=written["id"]))
    content = reply["content"]
    while reply["next_offset"] is not None:
        reply = payload(call("knowledge_get", id=written["id"], offset=reply["next_offset"]))
        content += reply["content"]
    assert content.strip() == (char * 199_000 + "end").strip()
    query = "q" + char * 9_900 + "q"
    payload(call("research_cache", action="store", cache_type="other", query=query, data=[char * 40_000]))
    assert payload(call("research_cache", action="lookup", cache_type="other", query=query))["truncated"]
    assert len(payload(call("research_cache", action="list_recent"))["entries"]) == 1
    payload(call("research", question=query))


def test_a_page_comes_in_parts(settings: Settings, httpserver: HTTPServer) -> None:
    """The page is read once, and the joined parts are its text."""
    paragraphs = [f"Paragraph {number} says something about retries." for number in range(2_000)]
    httpserver.expect_request("/robots.txt").respond_with_data("", 404)
    httpserver.expect_oneshot_request("/long").respond_with_data("\n\n".join(paragraphs), content_type="text/plain")
    with App(replace(settings, allowed_hosts=("localhost", "127.0.0.1"))) as app:
        server = build_server(app)
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:
            text, offset, live = "", 0, 0
            while offset is not None:
                arguments = {"url": httpserver.url_for("/long"), "offset": offset}
                reply = payload(portal.call(client.call_tool, "read_page", arguments))
                text, offset, live = text + reply["text"], reply["next_offset"], live + reply["live_calls"]
    assert text.split("\n\n") == paragraphs
    assert live == 1


def test_an_unreadable_page_is_an_error_response(call: Call) -> None:
    """A private address has its own error code."""
    assert refused(call("read_page", url="http://127.0.0.1/")) == "address_refused"
    assert refused(call("read_page", url="ftp://example.org")) in {"invalid_input", "page_error"}


def test_results_can_be_listed_from_an_offset(call: Call) -> None:
    """An offset beyond the end is an error."""
    found = payload(call("search", query="retries"))
    assert found["total"] == len(found["results"]) >= 2
    assert payload(call("search", query="retries", offset=1))["results"] == found["results"][1:]
    assert payload(call("search", query="retries", max_results=1))["total"] == 1
    assert refused(call("search", query="retries", offset=100)) == "invalid_input"


def test_a_search_and_a_research_take_a_language(call: Call) -> None:
    """An unknown one is refused; the corpus has none, so it answers in any."""
    for name, arguments in (("search", {"query": "retries"}), ("research", {"question": "How do retries work?"})):
        assert refused(call(name, **arguments, language="xx")) == "invalid_input"
    assert payload(call("search", query="retries", language="de"))["total"] > 0


def test_a_bug_is_reported_without_details(call: Call, app: App, caplog: pytest.LogCaptureFixture) -> None:
    """They are in the log."""
    app.__dict__["knowledge"] = None
    logging.getLogger("harness").propagate = True
    result = call("knowledge_get", id="a")
    assert refused(result) == "internal_error"
    assert "NoneType" not in str(result)
    assert "NoneType" in caplog.text


@pytest.mark.anyio
async def test_parallel_calls_do_not_mix(server: HarnessServer) -> None:
    """Each gets its own answer."""

    async def write(number: int) -> None:
        arguments = {"cache_type": "other", "query": f"question number {number}"}
        await client.call_tool("research_cache", {"action": "store", "data": [number], **arguments})
        found = await client.call_tool("research_cache", {"action": "lookup", **arguments})
        assert payload(found)["results"] == [number]

    async with Client(server) as client, anyio.create_task_group() as group:
        for number in range(30):
            group.start_soon(write, number)


@pytest.mark.anyio
async def test_a_server_without_an_app_serves_no_call() -> None:
    """A call without an HTTP request never uses another app."""
    async with Client(build_server(None)) as client:
        assert refused(await client.call_tool("search", {"query": "retries"})) == "internal_error"


def test_a_claim_is_checked_against_texts(call: Call) -> None:
    """The verdict comes with the sentence that decides; without a text it is an error response."""
    reply = payload(
        call("check_claim", claim="The pool holds ten connections.", texts=["The pool holds ten connections."])
    )
    assert (reply["verdict"], reply["sentence"], reply["source"]) == (
        "supports", "The pool holds ten connections.", "text",
    )  # fmt: skip
    assert refused(call("check_claim", claim="The pool holds ten connections.")) == "invalid_input"
