"""Authentication over HTTP, and the refused requests."""

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
from harness.server.http_server import is_loopback
from harness.server.request_checks import MAX_BODY, HostNames
from harness.server.serve_web import ServerOptions, serve
from harness.settings import Settings
from tests.server.mcp.conftest import connected

pytestmark = pytest.mark.slow

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def post(url: str, **headers: str) -> httpx2.Response:
    """List the tools with these headers, in the older protocol, which needs no handshake."""
    return httpx2.post(url, json=LIST, headers={**ACCEPT, **headers})


def refused(response: httpx2.Response, status: int, code: str) -> str:
    """Check that a request was refused; return the message."""
    payload = response.json()
    assert (response.status_code, payload["status"], payload["code"], len(payload)) == (status, "error", code, 3), (
        payload
    )
    return str(payload["message"])


def test_without_any_token_this_machine_is_served(online: Callable[..., str]) -> None:
    """While there is no token, the local user is served on loopback."""
    assert post(online()).status_code == 200


def test_the_first_token_makes_tokens_required(online: Callable[..., str], token: Callable[..., str]) -> None:
    """Also on loopback; the message says what to send."""
    url = online()
    text = token()
    response = post(url)
    assert "Authorization: Bearer" in refused(response, 401, "access_denied")
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert post(url, Authorization=f"Bearer {text}").status_code == 200


def test_tokens_stay_required_after_the_last_one_expired(online: Callable[..., str], app: App) -> None:
    """The server does not return to serving without one."""
    Tokens(app.databases.store, lambda: 0.0).create("lab", "ada", "writer")
    refused(post(online()), 401, "access_denied")


@pytest.mark.parametrize("header", ["Bearer", "Bearer hrn_x", "Basic YTpi", "hrn_x", "Bearer \xff"])
def test_a_malformed_token_is_refused(online: Callable[..., str], token: Callable[..., str], header: str) -> None:
    """And is not repeated in the response."""
    token()
    response = httpx2.post(online(), json=LIST, headers=[*ACCEPT.items(), (b"Authorization", header.encode("latin-1"))])
    assert "hrn_x" not in refused(response, 401, "access_denied")


def test_a_revoked_token_is_refused_at_once(online: Callable[..., str], token: Callable[..., str], app: App) -> None:
    """Also if its app is still open."""
    url, text = online(), token()
    assert post(url, Authorization=f"Bearer {text}").status_code == 200
    app.databases.tokens.revoke(text.split(".")[1])
    refused(post(url, Authorization=f"Bearer {text}"), 401, "access_denied")


def test_a_proxied_request_needs_a_token(online: Callable[..., str]) -> None:
    """It does not come from this machine, so it is not served as the local user."""
    refused(post(online(), **{"X-Forwarded-For": "203.0.113.7"}), 401, "access_denied")


def test_each_token_has_a_rate_limit(online: Callable[..., str], token: Callable[..., str]) -> None:
    """The response says how long to wait; other tokens are not affected."""
    url, ada, bob = online(per_minute=3), token(user="ada"), token(user="bob")
    statuses = [post(url, Authorization=f"Bearer {ada}").status_code for _ in range(5)]
    assert statuses[:3] == [200, 200, 200]
    assert statuses[-1] == 429
    response = post(url, Authorization=f"Bearer {ada}")
    refused(response, 429, "too_many_requests")
    assert 1 <= int(response.headers["Retry-After"]) <= 60
    assert post(url, Authorization=f"Bearer {bob}").status_code == 200


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
def test_requests_of_other_sites_are_refused(online: Callable[..., str], headers: dict[str, str]) -> None:
    """By host name (DNS rebinding) and by origin."""
    response = post(online(), **headers)
    refused(response, response.status_code, "access_denied")
    assert response.status_code in {403, 421}


def test_a_proxys_name_can_be_allowed(online: Callable[..., str], token: Callable[..., str]) -> None:
    """With `names`, as behind a proxy."""
    url = online(names=["cache.example"])
    assert post(url, Host="cache.example", Authorization=f"Bearer {token()}").status_code == 200


def test_health_needs_no_token(online: Callable[..., str], token: Callable[..., str]) -> None:
    """Anyone may check whether the server is up."""
    token()
    response = httpx2.get(online().replace("/mcp", "/healthz"))
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_other_paths_and_methods_are_refused(online: Callable[..., str]) -> None:
    """Agents may only send messages."""
    url = online()
    refused(httpx2.get(url), 405, "invalid_input")
    refused(httpx2.delete(url), 405, "invalid_input")
    refused(httpx2.post(url.replace("/mcp", "/mcp/../admin"), json={}), 404, "not_found")


def test_a_large_body_is_refused(online: Callable[..., str]) -> None:
    """The limit is two megabytes, with or without a declared length."""
    url = online()
    refused(httpx2.post(url, content=b"x" * (MAX_BODY + 1), headers=ACCEPT), 413, "invalid_input")
    chunks = (b"x" * 2**16 for _ in range(40))
    assert httpx2.post(url, content=chunks, headers=ACCEPT).status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc":"2.0","id":1}', b"[" * 100_000, b"\xff\xfe"])
def test_invalid_messages_are_protocol_errors(online: Callable[..., str], body: bytes) -> None:
    """The server keeps running."""
    url = online()
    assert httpx2.post(url, content=body, headers=ACCEPT).status_code == 400
    assert post(url).status_code == 200


@pytest.mark.parametrize(
    "data", ["[" * 5_000 + "]" * 5_000, '"\\ud800"', '{"\\ud800": 1}', "1e999", "NaN", "9" * 5_000]
)
def test_extreme_json_is_a_client_error(online: Callable[..., str], data: str) -> None:
    """Deep nesting, lone surrogates and huge numbers."""
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


def test_requests_are_refused_if_tokens_cannot_be_read(online: Callable[..., str], settings: Settings) -> None:
    """The error response says why."""
    url = online()
    (settings.data_dir / "harness.db").mkdir(parents=True)
    response = post(url)
    assert response.json()["code"] in {"store_error", "store_corrupt"}
    assert response.status_code == 503


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_parallel_tenants_see_only_their_own_data(
    online: Callable[..., str], token: Callable[..., str], mode: str
) -> None:
    """Each call uses the cache of its token's tenant."""
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
async def test_another_tenants_document_is_not_found(online: Callable[..., str], token: Callable[..., str]) -> None:
    """It can be neither read nor updated by its id."""
    url = online()
    async with connected(url, token(tenant="lab")) as lab, connected(url, token(tenant="shop")) as shop:
        payload = await lab.call_tool("knowledge_write", {"title": "Secret recipe", "content": "42"})
        assert payload.structured_content is not None
        found = payload.structured_content["id"]
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
    """A reader can look up; writing and live searches are refused as errors of the tool."""
    url = online()
    async with connected(url, token()) as writer, connected(url, token(user="eve", role="reader")) as reader:
        await writer.call_tool("knowledge_write", {"title": "Retries", "content": "five"})
        found = await reader.call_tool("cache_lookup", {"query": "retries"})
        assert found.structured_content is not None
        assert found.structured_content["document"]["content"] == "five"
        for name, arguments, code in (
            ("knowledge_write", {"title": "x", "content": "y"}, "access_denied"),
            ("search", {"query": "retries"}, "access_denied"),
            ("read_page", {"url": "https://example.org/"}, "access_denied"),
            ("check_claim", {"claim": "x", "urls": ["https://example.org/"]}, "access_denied"),
            ("research", {"question": "after how many attempts do retries stop"}, "access_denied"),
        ):
            answer = await reader.call_tool(name, arguments)
            assert answer.is_error
            assert answer.structured_content is not None
            assert answer.structured_content["code"] == code
            assert "role writer" in answer.structured_content["message"]


def test_a_public_address_needs_a_token(app: App) -> None:
    """The server does not listen there while no token exists."""
    with pytest.raises(InvalidInput, match=r"other machines can reach 0\.0\.0\.0, and there is no token yet"):
        serve(app, 0, ServerOptions(host="0.0.0.0"), on_ready=print)  # noqa: S104 - it is refused


def test_a_taken_port_is_reported(app: App) -> None:
    """In one line."""
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InvalidInput, match="choose another"):
        serve(app, taken.getsockname()[1], ServerOptions(), on_ready=print)


@pytest.mark.parametrize(
    ("host", "alone"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.8.8.8", True), ("0.0.0.0", False), ("::", False),  # noqa: S104
     ("10.0.0.1", False), ("example.org", False), ("localhost.example.org", False), ("", False)],
)  # fmt: skip
def test_loopback_is_recognised(host: str, alone: bool) -> None:
    """Only its addresses and its name."""
    assert is_loopback(host) is alone


@given(st.text(max_size=30))
def test_any_host_text_is_classified(host: str) -> None:
    """Without an error."""
    assert is_loopback(host) in {True, False}
    assert HostNames(host).include("evil.example") is not is_loopback(host)


def test_no_secret_reaches_the_database_folder(token: Callable[..., str], app: App, tmp_path: Path) -> None:
    """The secret of a token is in no file of the data directory."""
    secret = token().split(".")[-1].encode()
    app.store.close()
    assert not any(secret in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
