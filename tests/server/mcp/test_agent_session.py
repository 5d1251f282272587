"""A whole session with the SDK's client: over standard input and output, and over HTTP."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from harness.app import App
from harness.settings import Settings
from tests.server.mcp.conftest import PROGRAM, Served, connected

SECONDS = 1 / 3_600
JOBS = [{"title": "Senior Python Developer", "company": "Example GmbH"}]
SEARCH = {"cache_type": "job_search", "query": "senior python developer berlin"}

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def program(settings: Settings, *arguments: str, **environment: str) -> StdioServerParameters:
    """Start `harness mcp` over standard input and output."""
    common = ["--data-dir", str(settings.data_dir), "--engine", settings.engine[0]]
    return StdioServerParameters(
        command=PROGRAM[0], args=[*PROGRAM[1:], *common, *arguments], env={**os.environ, **environment}
    )


async def payload(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that succeeds; its text has the same content as its structure."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    assert result.structured_content is not None
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
    return result.structured_content


async def failed(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that fails; return the error response."""
    result = await client.call_tool(name, arguments)
    assert result.is_error
    assert result.structured_content is not None
    assert set(result.structured_content) == {"status", "code", "message"}
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
    return result.structured_content


async def walk(client: Client) -> None:
    """Miss, store, hit, list, expire, stale, refresh, hit."""
    assert not (await payload(client, "research_cache", action="lookup", **SEARCH))["found"]
    stored = await payload(client, "research_cache", action="store", data=JOBS, ttl_hours=2 * SECONDS, **SEARCH)
    assert stored["count"] == 1
    hit = await payload(client, "research_cache", action="lookup", **SEARCH)
    assert (hit["results"], hit["match"], hit["stale"]) == (JOBS, "exact", False)
    listed = await payload(client, "research_cache", action="list_recent")
    assert [entry["query"] for entry in listed["entries"]] == [SEARCH["query"]]
    await anyio.sleep(2.1)
    stale = await payload(client, "research_cache", action="lookup", **SEARCH)
    assert (stale["found"], stale["stale"], stale["results"]) == (True, True, JOBS)
    await payload(client, "research_cache", action="store", data=[*JOBS, *JOBS], **SEARCH)
    fresh = await payload(client, "research_cache", action="lookup", **SEARCH)
    assert (fresh["stale"], fresh["count"]) == (False, 2)


async def walk_knowledge(client: Client) -> None:
    """The same session for knowledge: miss, write, hit, expire, stale, refresh, hit."""
    question = {"query": "rate limits of the GitHub REST API"}
    assert not (await payload(client, "cache_lookup", **question))["hit"]
    written = await payload(
        client, "knowledge_write", title="GitHub REST API rate limits", content="5,000 an hour", ttl_hours=2 * SECONDS
    )
    assert (await payload(client, "cache_lookup", **question))["document"]["content"] == "5,000 an hour"
    await anyio.sleep(2.1)
    stale = await payload(client, "cache_lookup", **question)
    assert (stale["hit"], stale["stale_exists"], stale["stale_id"]) == (False, True, written["id"])
    await payload(client, "knowledge_write", id=written["id"], version=1, content="15,000", ttl_hours=1)
    assert (await payload(client, "cache_lookup", **question))["document"]["content"] == "15,000"
    assert (await payload(client, "knowledge_get", id=written["id"]))["document"]["version"] == 2


async def walk_web(client: Client) -> None:
    """Search and research, first live, then from the cache; progress is reported."""
    assert (await payload(client, "search", query="retries"))["live_calls"] == 1
    again = await payload(client, "search", query="Retries ")
    assert (again["live_calls"], again["answered"]) == (0, "exact")
    steps: list[float] = []

    async def note(step: float, _total: float | None, message: str | None) -> None:
        assert message
        steps.append(step)

    question = {"question": "After how many attempts do retries stop?"}
    first = await client.call_tool("research", question, progress_callback=note)
    assert first.structured_content is not None
    assert "five failed attempts" in first.structured_content["markdown"]
    assert first.structured_content["sources"][0]["url"].endswith("retries.md")
    assert steps == sorted(set(steps))
    assert steps
    second = await payload(client, "research", **question)
    assert (second["live_calls"], second["markdown"]) == (0, first.structured_content["markdown"])
    listed = (await client.list_resources()).resources
    (content,) = (await client.read_resource(listed[0].uri)).contents
    assert content.text == second["markdown"]  # type: ignore[union-attr]


@asynccontextmanager
async def over_stdio(
    settings: Settings, _serve: Callable[..., Served], _token: Callable[..., str]
) -> AsyncIterator[Client]:
    """Connect as the local user."""
    async with Client(program(settings)) as client:
        yield client


@asynccontextmanager
async def over_http(
    settings: Settings, serve: Callable[..., Served], token: Callable[..., str]
) -> AsyncIterator[Client]:
    """Connect with a token."""
    text = token()
    async with connected(serve().url, text) as client:
        yield client


@pytest.mark.parametrize("way", [over_stdio, over_http])
@pytest.mark.parametrize("story", [walk, walk_knowledge, walk_web])
async def test_a_whole_session_works_over_both_transports(
    way: Any, story: Any, settings: Settings, serve: Callable[..., Served], token: Callable[..., str]
) -> None:
    """A miss, then all outcomes up to a refreshed hit."""
    async with way(settings, serve, token) as client:
        await story(client)


async def test_stdio_takes_its_identity_from_the_token(settings: Settings, token: Callable[..., str]) -> None:
    """The local user does not see what a tenant's token wrote."""
    async with Client(program(settings, HARNESS_TOKEN=token())) as lab:
        await payload(lab, "research_cache", action="store", data=JOBS, **SEARCH)
        listed = await payload(lab, "research_cache", action="list_recent")
        assert listed["entries"][0]["created_by"] == "ada"
    async with Client(program(settings)) as local:
        assert not (await payload(local, "research_cache", action="lookup", **SEARCH))["found"]


async def test_a_wrong_token_ends_the_program(settings: Settings) -> None:
    """An invalid token is reported at the start, in one line, without the token."""
    environment = {**os.environ, "HARNESS_TOKEN": "hrn_nonsense"}
    command = [*PROGRAM, "--data-dir", str(settings.data_dir)]
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    assert ended.returncode == 7
    assert len(ended.stderr.splitlines()) == 1
    assert "nonsense" not in ended.stderr


async def test_an_unusable_database_is_an_error_response(settings: Settings) -> None:
    """If the database is a folder, every tool reports it; the program keeps running and works after the repair."""
    folder = settings.data_dir / "harness.db"
    folder.mkdir(parents=True)
    async with Client(program(settings)) as client:
        for name, arguments in (
            ("research_cache", {"action": "lookup", **SEARCH}),
            ("cache_lookup", {"query": "retries"}),
            ("knowledge_write", {"title": "a", "content": "b"}),
            ("knowledge_get", {"id": "a"}),
            ("search", {"query": "retries"}),
            ("read_page", {"url": "https://example.org"}),
            ("research", {"question": "retries"}),
        ):
            assert (await failed(client, name, **arguments))["code"] in {"store_error", "store_corrupt"}
        folder.rmdir()
        assert not (await payload(client, "research_cache", action="lookup", **SEARCH))["found"]


async def test_standard_output_has_only_protocol_messages(settings: Settings) -> None:
    """Input lines that are not messages are ignored; the end of input ends the program."""
    lines = [
        "",
        "nonsense",
        "[" * 10_000,
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "search", "arguments": {"query": "retries"}}}),
        json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "search", "arguments": [1]}}),
        json.dumps({"jsonrpc": "2.0", "id": 4, "method": "nothing/such"}),
    ]  # fmt: skip
    command = [*PROGRAM, "-v", "--data-dir", str(settings.data_dir), "--engine", settings.engine[0]]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        messages = {}
        while not {1, 2, 3, 4} <= set(messages):
            message = json.loads(process.stdout.readline())
            messages[message.get("id")] = message
        process.stdin.close()
        assert process.wait(20) == 0
    assert messages[2]["result"]["structuredContent"]["total"] > 0
    assert "error" in messages[3]
    assert "error" in messages[4]


async def test_a_killed_client_does_not_affect_others(serve: Callable[..., Served], settings: Settings) -> None:
    """A client that dies during its calls leaves the server working for the others."""
    served = serve()
    script = (
        "import asyncio, os\nfrom mcp.client import Client\n"
        "async def main():\n"
        f"    async with Client({served.url!r}) as client:\n"
        "        for n in range(6):\n"
        "            asyncio.create_task(client.call_tool('research', {'question': f'retries {n}'}))\n"
        "        await asyncio.sleep(0.3)\n"
        "        os._exit(9)\n"
        "asyncio.run(main())\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    async with connected(served.url) as client:
        with anyio.fail_after(20):
            await payload(client, "research", question="How many retries?")
    code, said = await anyio.to_thread.run_sync(served.stop, signal.SIGTERM)
    assert code == 0
    assert [line for line in said.splitlines() if not line.startswith("warning: nothing is lost: go on with")] == []


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
async def test_a_stop_is_graceful(serve: Callable[..., Served], sent: int) -> None:
    """Ctrl-C and SIGTERM exit without an error, even if a client keeps a connection open."""
    served = serve()
    async with connected(served.url, mode="legacy") as client:
        await client.list_tools()
        assert await anyio.to_thread.run_sync(served.stop, sent) == (0, "")


async def test_no_token_is_in_a_log(serve: Callable[..., Served], token: Callable[..., str]) -> None:
    """With --debug, neither a valid nor an invalid token appears."""
    valid = token()
    wrong = valid[:-6] + "AAAAAA"
    served = serve("--debug")
    async with connected(served.url, valid) as client:
        await payload(client, "research_cache", action="store", data=JOBS, **SEARCH)
    with pytest.raises(Exception, match=r".*"):
        async with connected(served.url, wrong) as client:
            await client.list_tools()
    _, said = await anyio.to_thread.run_sync(served.stop, signal.SIGINT)
    assert said
    assert valid.split(".")[-1] not in said
    assert wrong.split(".")[-1] not in said


async def test_expired_rows_are_swept_in_the_background(
    serve: Callable[..., Served], settings: Settings, app: App, tmp_path: Path
) -> None:
    """With --sweep-every, expired rows are deleted without a call."""
    cache = app.cache
    cache.searches.put("old", [{"title": "t", "href": "https://example.org", "body": "b"}], ttl=0.4)
    os.environ["HARNESS_STALE_IF_ERROR"] = "0"
    try:
        serve("--sweep-every", "1s")
        with anyio.fail_after(10):
            while cache.maintenance.stats()[0].total:
                await anyio.sleep(0.2)
    finally:
        del os.environ["HARNESS_STALE_IF_ERROR"]
