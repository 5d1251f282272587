"""Who is let in over HTTP, as whom, and what the others are told."""

import json
import socket
from collections.abc import Callable
from pathlib import Path

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.app import App
from harness.errors import InvalidInput
from harness.identity import Tokens
from harness.server.mcp.http import MAX_BODY, allowed, serve
from harness.server.run_server import is_loopback
from harness.settings import Settings
from tests.server.mcp.conftest import connected

pytestmark = pytest.mark.slow

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def post(url: str, **headers: str) -> httpx2.Response:
    """Ask for the list of tools with these headers, in the older way, which needs no handshake here."""
    return httpx2.post(url, json=LIST, headers={**ACCEPT, **headers})


def refused(response: httpx2.Response, status: int, code: str) -> str:
    """Check that nothing was done; return the message of the envelope."""
    told = response.json()
    assert (response.status_code, told["status"], told["code"], len(told)) == (status, "error", code, 3), told
    return str(told["message"])


def test_without_any_token_this_machine_is_served(online: Callable[..., str]) -> None:
    """A first try needs no token: on loopback, while there is none, the local user is served."""
    assert post(online()).status_code == 200


def test_the_first_token_is_needed_everywhere(online: Callable[..., str], token: Callable[..., str]) -> None:
    """As soon as there is a token, a request without one is refused, on loopback too, and told what to send."""
    url = online()
    text = token()
    response = post(url)
    assert "Authorization: Bearer" in refused(response, 401, "access_denied")
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert post(url, Authorization=f"Bearer {text}").status_code == 200


def test_an_expired_token_does_not_open_the_door(online: Callable[..., str], app: App) -> None:
    """When the last token has expired, the server does not fall back to serving without one."""
    Tokens(app.databases.store, lambda: 0.0).create("lab", "ada", "writer")
    refused(post(online()), 401, "access_denied")


@pytest.mark.parametrize("header", ["Bearer", "Bearer hrn_x", "Basic YTpi", "hrn_x", "Bearer \xff"])
def test_what_is_no_token_is_refused(online: Callable[..., str], token: Callable[..., str], header: str) -> None:
    """A malformed header lets nobody in, and is not repeated in the reply."""
    token()
    response = httpx2.post(online(), json=LIST, headers=[*ACCEPT.items(), (b"Authorization", header.encode("latin-1"))])
    assert "hrn_x" not in refused(response, 401, "access_denied")


def test_a_revoked_token_is_refused_at_once(online: Callable[..., str], token: Callable[..., str], app: App) -> None:
    """No request after the revocation is served, whatever was kept for that token."""
    url, text = online(), token()
    assert post(url, Authorization=f"Bearer {text}").status_code == 200
    app.databases.tokens.revoke(text.split(".")[1])
    refused(post(url, Authorization=f"Bearer {text}"), 401, "access_denied")


def test_a_proxied_request_needs_a_token(online: Callable[..., str]) -> None:
    """What a proxy passes on comes from elsewhere: the local user is not served through it."""
    refused(post(online(), **{"X-Forwarded-For": "203.0.113.7"}), 401, "access_denied")


def test_a_token_has_so_many_requests_a_minute(online: Callable[..., str], token: Callable[..., str]) -> None:
    """Beyond its rate a token is told when to come again; another token is not concerned."""
    url, ada, bob = online(per_minute=3), token(user="ada"), token(user="bob")
    statuses = [post(url, Authorization=f"Bearer {ada}").status_code for _ in range(5)]
    assert statuses[:3] == [200, 200, 200]
    assert statuses[-1] == 429
    response = post(url, Authorization=f"Bearer {ada}")
    refused(response, 429, "too_many_requests")
    assert 1 <= int(response.headers["Retry-After"]) <= 60
    assert post(url, Authorization=f"Bearer {bob}").status_code == 200


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
def test_a_foreign_page_is_refused(online: Callable[..., str], headers: dict[str, str]) -> None:
    """A site whose name is made to lead here, or whose page asks from a browser, gets nothing."""
    response = post(online(), **headers)
    refused(response, response.status_code, "access_denied")
    assert response.status_code in {403, 421}


def test_a_proxys_name_can_be_allowed(online: Callable[..., str], token: Callable[..., str]) -> None:
    """Behind a proxy, the name that clients use is let in when it is named."""
    url = online(names=["cache.example"])
    assert post(url, Host="cache.example", Authorization=f"Bearer {token()}").status_code == 200


def test_health_needs_no_token(online: Callable[..., str], token: Callable[..., str]) -> None:
    """Whether the server is up is told to anybody who may ask it."""
    token()
    response = httpx2.get(online().replace("/mcp", "/healthz"))
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_other_paths_and_methods_are_refused(online: Callable[..., str]) -> None:
    """There is one address, and it is posted to."""
    url = online()
    refused(httpx2.get(url), 405, "invalid_input")
    refused(httpx2.get(url.replace("/mcp", "/")), 404, "invalid_input")
    refused(httpx2.post(url.replace("/mcp", "/mcp/../admin"), json={}), 404, "invalid_input")


def test_a_large_body_is_refused(online: Callable[..., str]) -> None:
    """Two megabytes are enough for one request, declared or not."""
    url = online()
    refused(httpx2.post(url, content=b"x" * (MAX_BODY + 1), headers=ACCEPT), 413, "invalid_input")
    chunks = (b"x" * 2**16 for _ in range(40))
    assert httpx2.post(url, content=chunks, headers=ACCEPT).status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc":"2.0","id":1}', b"[" * 100_000, b"\xff\xfe"])
def test_what_is_no_message_is_refused(online: Callable[..., str], body: bytes) -> None:
    """Bytes that are no message of the protocol are an error of the protocol, and the server goes on."""
    url = online()
    assert httpx2.post(url, content=body, headers=ACCEPT).status_code == 400
    assert post(url).status_code == 200


@pytest.mark.parametrize(
    "data", ["[" * 5_000 + "]" * 5_000, '"\\ud800"', '{"\\ud800": 1}', "1e999", "NaN", "9" * 5_000]
)
def test_json_that_is_none_for_others_is_no_crash(online: Callable[..., str], data: str) -> None:
    """Deep nesting, lone surrogates and numbers beyond all bounds are an error of the caller's."""
    url = online()
    call = {
        "name": "research_cache",
        "arguments": {"action": "store", "cache_type": "other", "query": "q", "data": "X"},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    response = httpx2.post(url, content=body.replace('"X"', data), headers=ACCEPT)
    if response.status_code == 200:
        assert "invalid_input" in response.text
    else:
        assert response.status_code == 400
    assert post(url).status_code == 200


def test_a_dead_database_refuses(online: Callable[..., str], settings: Settings) -> None:
    """Where tokens cannot be read, nobody is let in, and the envelope says why."""
    url = online()
    (settings.data_dir / "harness.db").mkdir(parents=True)
    response = post(url)
    assert response.json()["code"] in {"store_error", "store_corrupt"}
    assert response.status_code == 503


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_two_tenants_at_once_see_their_own(
    online: Callable[..., str], token: Callable[..., str], mode: str
) -> None:
    """Calls of two tenants that run at the same time are answered from the cache of the token of each call."""
    url = online()
    tokens = {tenant: token(tenant=tenant) for tenant in ("lab", "shop")}

    async def write(tenant: str) -> None:
        async with connected(url, tokens[tenant], mode) as client:
            for number in range(3):
                written = await client.call_tool(
                    "knowledge_write", {"title": f"Fact {number}", "content": f"{tenant} {number}"}
                )
                assert not written.is_error
                looked = await client.call_tool("cache_lookup", {"query": f"fact {number}"})
                assert looked.structured_content is not None
                assert looked.structured_content["document"]["content"] == f"{tenant} {number}"
                foreign = await client.call_tool("knowledge_get", {"id": "0" * 32})
                assert foreign.is_error

    async with anyio.create_task_group() as group:
        for tenant in tokens:
            group.start_soon(write, tenant)


@pytest.mark.anyio
async def test_another_tenants_document_is_not_there(online: Callable[..., str], token: Callable[..., str]) -> None:
    """With the id of another tenant's document, nothing is found, updated or told of."""
    url = online()
    async with connected(url, token(tenant="lab")) as lab, connected(url, token(tenant="shop")) as shop:
        told = await lab.call_tool("knowledge_write", {"title": "Secret recipe", "content": "42"})
        assert told.structured_content is not None
        found = told.structured_content["id"]
        for name, arguments in (("knowledge_get", {"id": found}), ("knowledge_write", {"id": found, "content": "0"})):
            answer = await shop.call_tool(name, arguments)
            assert answer.is_error
            assert answer.structured_content is not None
            assert answer.structured_content["code"] == "invalid_input"
        missed = await shop.call_tool("cache_lookup", {"query": "secret recipe"})
        assert missed.structured_content is not None
        assert (missed.structured_content["hit"], missed.structured_content["stale_exists"]) == (False, False)


@pytest.mark.anyio
async def test_a_reader_only_reads(online: Callable[..., str], token: Callable[..., str]) -> None:
    """A reader's token looks up what is there; to write, or to ask anew, is refused as a tool's error."""
    url = online()
    async with connected(url, token()) as writer, connected(url, token(user="eve", role="reader")) as reader:
        await writer.call_tool("knowledge_write", {"title": "Retries", "content": "five"})
        found = await reader.call_tool("cache_lookup", {"query": "retries"})
        assert found.structured_content is not None
        assert found.structured_content["document"]["content"] == "five"
        for name, arguments, code in (
            ("knowledge_write", {"title": "x", "content": "y"}, "access_denied"),
            ("search", {"query": "retries"}, "offline_miss"),
        ):
            answer = await reader.call_tool(name, arguments)
            assert answer.is_error
            assert answer.structured_content is not None
            assert answer.structured_content["code"] == code


def test_others_are_not_served_without_a_token(app: App) -> None:
    """An address that others can reach is not listened on while nobody has a token."""
    with pytest.raises(InvalidInput, match=r"others can reach 0\.0\.0\.0, and there is no token yet"):
        serve(app, "0.0.0.0", 0, per_minute=60, tell=print)  # noqa: S104 - it is refused


def test_a_port_that_is_taken_is_told_of(app: App) -> None:
    """Two servers cannot have one port; the second says so in a line."""
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InvalidInput, match="choose another"):
        serve(app, "127.0.0.1", taken.getsockname()[1], per_minute=60, tell=print)


@pytest.mark.parametrize(
    ("host", "alone"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.8.8.8", True), ("0.0.0.0", False), ("::", False),  # noqa: S104
     ("10.0.0.1", False), ("example.org", False), ("localhost.example.org", False), ("", False)],
)  # fmt: skip
def test_loopback_is_told_by_its_address(host: str, alone: bool) -> None:
    """Only addresses of loopback, and the name for them, are this machine's alone."""
    assert is_loopback(host) is alone


@given(st.text(max_size=30))
def test_any_text_may_be_asked_for_as_host(host: str) -> None:
    """Whatever --host is given, it is told apart without an error."""
    assert is_loopback(host) in {True, False}
    assert allowed(host, ()).enable_dns_rebinding_protection is is_loopback(host)


def test_no_secret_reaches_the_database_folder(token: Callable[..., str], app: App, tmp_path: Path) -> None:
    """A token's secret is in no file of the data directory."""
    secret = token().split(".")[-1].encode()
    app.store.close()
    assert not any(secret in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
