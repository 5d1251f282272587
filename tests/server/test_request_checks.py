"""Checks before routing: host name, origin, size, token, rate."""

import asyncio
import base64
import json
import logging
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message

from harness.app import App
from harness.cache import ResearchContext
from harness.errors import StoreBusy
from harness.identity import Tokens
from harness.server import routes
from harness.server.api.research_jobs import ResearchJobs
from harness.server.auth import Authenticator, token_of
from harness.server.request_checks import MAX_BODY, POLICY, HostNames, RequestChecks
from harness.server.routes import build_routes
from tests.server.conftest import served

RUN = "20261122-101500-1a2b3c"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
MARK = "SECRETSOFTHELAB"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - nothing is bound to it
PAGES = ("/", "/cache", "/knowledge", "/experiments")
DATA = ("/api/stats", "/api/research-history", "/api/runs", "/api/openapi.json", "/search?q=x&format=json")


def client_of(app: App, researches: ResearchJobs, **how: Any) -> TestClient:
    """Return a client of an application with its own checks: `per_minute`, `alone`, `host`, `names`."""
    authenticator = Authenticator(app, per_minute=how.get("per_minute", 60_000), alone=how.get("alone", True))
    names = HostNames(how.get("host", "127.0.0.1"), how.get("names", ()))
    checks = RequestChecks(
        build_routes(researches, authenticator), names=names, authenticator=authenticator, logs=how.get("logs", False)
    )
    return TestClient(checks, base_url="http://127.0.0.1", follow_redirects=False, raise_server_exceptions=False)


def refused(answer: Any, status: int, code: str) -> str:
    """Check that a request was refused; return the message."""
    payload = answer.json()
    assert (answer.status_code, payload["status"], payload["code"], len(payload)) == (status, "error", code, 3), payload
    assert payload["message"].isprintable()
    return str(payload["message"])


def bearer_token(token: str) -> dict[str, str]:
    """Return the header with a token."""
    return {"Authorization": f"Bearer {token}"}


# --- host names


def test_loopback_accepts_only_its_names(client: TestClient) -> None:
    """With any port; other names may be DNS rebinding."""
    for host in ("127.0.0.1", "127.0.0.1:8766", "localhost", "LOCALHOST:1", "[::1]", "[::1]:8766"):
        assert client.get("/api/stats", headers={"Host": host}).status_code == 200, host
    for host in ("evil.example", "evil.example:8766", "127.0.0.1.evil.example", "localhost.evil.example", "[", "]", "",
                 "[::1", EVERYWHERE, "127.0.0.2", "evil.example#127.0.0.1", "127.0.0.1@evil.example"):  # fmt: skip
        for address in ("/", "/api/stats", "/static/app.css", "/login"):
            refused(client.get(address, headers={"Host": host}), 403, "access_denied")


@given(st.text(max_size=30).filter(str.isascii))
@settings(max_examples=50)
@pytest.mark.slow
def test_any_host_header_is_checked(address: str) -> None:
    """Without an error."""
    assert HostNames("127.0.0.1").include(address) in {True, False}
    assert not HostNames("127.0.0.1").include(f"evil{address}")


def test_other_names_can_be_allowed(app: App, researches: ResearchJobs, token: Callable[..., str]) -> None:
    """A public server accepts any name; with `names`, only those and loopback."""
    headers = bearer_token(token())
    with client_of(app, researches, host=EVERYWHERE, alone=False) as client:
        assert client.get("/api/stats", headers=headers | {"Host": "any.example"}).status_code == 200
    with client_of(app, researches, host=EVERYWHERE, alone=False, names=["lab.example"]) as client:
        for host, status in (("lab.example", 200), ("LAB.example:80", 200), ("localhost", 200), ("any.example", 403)):
            assert client.get("/api/stats", headers=headers | {"Host": host}).status_code == status


# --- origins


def test_requests_of_other_origins_are_refused(client: TestClient) -> None:
    """Before anything is read or done, however the origin is written."""
    for origin in ("https://evil.example", "null", "", "http://127.0.0.1:1", "http://localhost", "http://[",
                   "file://", "http://127.0.0.1.evil.example",
                   "http://127.0.0.1@evil.example", "127.0.0.1", "http://]["):  # fmt: skip
        for method, address in (("POST", "/api/researches"), ("GET", "/")):
            refused(client.request(method, address, headers={"Origin": origin}), 403, "access_denied")
    for origin in ("http://127.0.0.1", "https://127.0.0.1", "HTTP://127.0.0.1"):
        assert client.get("/api/researches", headers={"Origin": origin}).status_code == 200


@pytest.mark.slow
def test_sec_fetch_site_is_checked(client: TestClient) -> None:
    """Other sites and other ports can open pages, but neither read data nor write."""
    for site in ("cross-site", "same-site"):
        headers = {"Sec-Fetch-Site": site}
        for address in PAGES:
            assert client.get(address, headers=headers | HTML).status_code == 200
        for address in (*DATA, "/charts/cache.svg", "/tavily/search"):
            refused_(client.get(address, headers=headers))
        for address in (
            "/research",
            "/login",
            "/logout",
            "/api/researches",
            "/api/cache/expired",
            "/search",
            "/tavily/search",
        ):
            refused_(client.post(address, headers=headers))
        refused_(client.delete(f"/api/runs/{RUN}", headers=headers))
    for site in ("same-origin", "none"):
        assert client.get("/api/stats", headers={"Sec-Fetch-Site": site}).status_code == 200


def refused_(answer: Any) -> None:
    """Check that a request of another site was refused; Tavily's clients get their format."""
    assert (answer.status_code, answer.json()["code"]) == (403, "access_denied")


# --- sizes


@pytest.mark.slow
def test_the_body_size_is_limited(client: TestClient) -> None:
    """To two megabytes, with or without a declared length."""
    for address in ("/api/researches", "/api/cache/clear", "/research", "/login", "/search", "/tavily/search"):
        headers = {"Content-Type": "application/json" if "api" in address or "tavily" in address else
                   "application/x-www-form-urlencoded"}  # fmt: skip
        for content in (b"x" * (MAX_BODY + 1), (b" " * 2**16 for _ in range(40))):
            answer = client.post(address, content=content, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (413, "invalid_input"), address
            assert f"{MAX_BODY:,}" in answer.json()["message"]


def test_any_declared_length_is_handled(client: TestClient) -> None:
    """Without an error."""
    for declared in ("9" * 4_000, "-1", "1e9", "²", " 5", "0x10", ""):
        answer = client.post("/api/researches", content=b"{}", headers={"Content-Length": declared.encode("latin-1")})
        assert answer.status_code in {400, 413}


# --- tokens


def test_without_tokens_this_machine_is_served(client: TestClient) -> None:
    """But not through a proxy."""
    for address in (*PAGES, *DATA):
        assert client.get(address).status_code == 200
    for name in ("Forwarded", "X-Forwarded-For", "X-Real-IP"):
        refused(client.get("/api/stats", headers={name: "127.0.0.1"}), 401, "access_denied")


def test_a_public_server_requires_a_token(app: App, researches: ResearchJobs) -> None:
    """Even while there is none."""
    with client_of(app, researches, alone=False) as client:
        refused(client.get("/api/stats"), 401, "access_denied")


def test_the_first_token_makes_tokens_required(client: TestClient, token: Callable[..., str]) -> None:
    """Programs get a message, people the login page; public paths stay open."""
    assert client.get("/api/stats").status_code == 200
    text = token()
    for address in DATA:
        answer = client.get(address, headers=HTML)
        assert "Authorization: Bearer" in refused(answer, 401, "access_denied")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    for address in PAGES:
        answer = client.get(address)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/login")
    assert client.post("/research", headers=HTML).status_code == 401
    assert client.post("/logout", headers=HTML).status_code == 303
    assert client.head("/").status_code == 401
    for address in ("/healthz", "/login", "/static/app.css", "/static/app.js"):
        assert client.get(address).status_code == 200
    assert client.get("/api/stats", headers=bearer_token(text)).status_code == 200


def test_tokens_stay_required_after_the_last_one_expired(client: TestClient, app: App) -> None:
    """The server does not return to serving without one."""
    Tokens(app.databases.store, lambda: 0.0).create("lab", "ada", "writer")
    refused(client.get("/api/stats"), 401, "access_denied")


def test_a_token_can_be_sent_in_three_ways(client: TestClient, token: Callable[..., str]) -> None:
    """As Bearer, as the password of Basic, and in the cookie; the scheme in any case."""
    text = token("lab")
    basic = [base64.b64encode(f"{user}:{text}".encode()).decode() for user in ("", "me", "ä")]
    for headers in (
        bearer_token(text), {"Authorization": f"bearer {text}"}, {"Authorization": f"BEARER {text}"},
        *({"Authorization": f"Basic {each}"} for each in basic), {"Cookie": f"harness_token={text}"},
        {"Cookie": f"other=1; harness_token={text}; more=2"},
        {"Authorization": "Bearer tvly-a-key-of-another-service", "Cookie": f"harness_token={text}"},
    ):  # fmt: skip
        assert client.get("/api/stats", headers=headers).status_code == 200, headers


@pytest.mark.slow
def test_keys_of_other_services_are_ignored(client: TestClient, token: Callable[..., str]) -> None:
    """Tavily's clients must send some key; it counts as no token."""
    foreign = bearer_token("tvly-0123456789")
    assert client.get("/api/stats", headers=foreign).status_code == 200
    token()
    refused(client.get("/api/stats", headers=foreign), 401, "access_denied")


def test_a_malformed_token_is_refused(client: TestClient, token: Callable[..., str]) -> None:
    """Without a crash, and without repeating it."""
    text = token()
    tampered = text[:-1] + ("A" if text[-1] != "A" else "B")
    others = base64.urlsafe_b64encode(b"other").decode().rstrip("=")
    stolen = f"hrn_{others}.{text.split('.', 1)[1]}"
    for value in (
        b"Bearer", b"Bearer ", b"Bearer hrn_", b"Bearer hrn_x", b"Basic", b"Basic x", b"Basic \xff", b"Basic =",
        b"hrn_x",
        b"Basic " + base64.b64encode(b"\xff\xfe"), b"Basic " + base64.b64encode(b"no colon"), b"Bearer hrn_\xff",
        b"Basic " + base64.b64encode(b"me:hrn_x"), f"Bearer {tampered}".encode(), f"Bearer {stolen}".encode(),
        b"Bearer " + b"hrn_" + b"x" * 5_000, f"Token {text}".encode(), f"Bearer {text} {text}".encode(),
    ):  # fmt: skip
        answer = client.get("/api/stats", headers=[(b"Authorization", value)])
        message = refused(answer, 401, "access_denied")
        assert "hrn_" not in message
    for cookie in (b"harness_token=hrn_\xff\xfe", b"harness_token=", b"=;=;", b"harness_token=" + b"x" * 4_000):
        refused(client.get("/api/stats", headers=[(b"Cookie", cookie)]), 401, "access_denied")


def test_a_revoked_token_is_refused_at_once(client: TestClient, token: Callable[..., str], app: App) -> None:
    """Also if its app is still open."""
    token("lab", "bob")
    text = token("lab")
    assert client.get("/api/stats", headers=bearer_token(text)).status_code == 200
    assert app.databases.tokens.revoke(text.split(".")[1])
    refused(client.get("/api/stats", headers=bearer_token(text)), 401, "access_denied")
    assert client.get("/", headers={"Cookie": f"harness_token={text}"}).headers["Location"] == "/login"


@pytest.mark.slow
def test_a_reader_changes_nothing(client: TestClient, token: Callable[..., str], app: App) -> None:
    """It sees the tenant's data; it cannot start, refresh, clear or delete."""
    ada, rob = token("lab", "ada", "admin"), token("lab", "rob", "reader")
    ids = fill(app, "lab")
    for address in (*PAGES, "/api/stats", "/api/runs", "/api/research-history", f"/entries/search/{ids['search']}"):
        assert client.get(address, headers=bearer_token(rob)).status_code in {
            200,
            403 if "experiments" in address else 200,
        }
    for method, address, body in WRITES:
        answer = client.request(method, address.format(**ids), json=body, headers=bearer_token(rob))
        assert answer.status_code == 403, (method, address, answer.text)
        assert answer.json()["code"] == "access_denied"
    assert client.post("/research", data={"question": "x"}, headers=bearer_token(rob)).status_code == 403
    found = client.get("/api/research-history", headers=bearer_token(ada)).json()["items"]
    assert len(found) == 4, "a reader has changed something"


WRITES: list[tuple[str, str, Any]] = [
    ("POST", "/api/researches", {"question": "x"}),
    ("POST", "/api/runs/{run}/resume", None),
    ("DELETE", "/api/runs/{run}", None),
    ("POST", "/api/entries/search/{search}/refresh", None),
    ("DELETE", "/api/entries/search/{search}", None),
    ("DELETE", "/api/entries/research/{research}", None),
    ("DELETE", "/api/entries/research/{run}", None),
    ("DELETE", "/api/entries/knowledge/{knowledge}", None),
    ("DELETE", "/api/knowledge/{knowledge}", None),
    ("POST", "/api/cache/clear", {"kind": "all"}),
    ("POST", "/api/cache/expired", None),
]


@pytest.mark.slow
def test_a_writer_deletes_nothing(client: TestClient, token: Callable[..., str], app: App) -> None:
    """Deletion requires an admin."""
    wim = token("lab", "wim", "writer")
    ids = fill(app, "lab")
    for method, address, body in WRITES:
        if method == "DELETE" or "cache" in address:
            answer = client.request(method, address.format(**ids), json=body, headers=bearer_token(wim))
            refused(answer, 403, "access_denied")


def fill(app: App, tenant: str) -> dict[str, str]:
    """Store one entry of each kind for a tenant, each with `MARK`; return the ids."""
    from harness.identity import Identity

    mine = app.serving(Identity(tenant, "ada", "admin", "0" * 16))
    result = {"title": MARK, "href": f"https://e.org/{MARK}", "body": MARK}
    mine.cache.searches.put(f"{MARK} search", [result], engine="corpus")
    mine.cache.researches.put(f"{MARK} research", "general", ResearchContext(MARK, [[MARK]], [0.5]))
    record = {"question": MARK, "engines": [{"name": MARK}], "state": "gathering"}
    mine.cache.runs.put(RUN, f"{MARK} run", MARK, record)
    document = mine.knowledge.write(f"{MARK} document", MARK, tags=[MARK], agent=MARK).document
    mine.cache.tools.put("web_fetch", f"{MARK} tool", {"x": MARK})
    ids = {each.source if each.title != f"{MARK} run" else "run": each.id for each in mine.history.page().items}
    assert ids["knowledge"] == document.id
    mine.close()
    return ids


@pytest.mark.slow
def test_tenants_are_isolated_at_every_path(client: TestClient, token: Callable[..., str], app: App) -> None:
    """With all ids of another tenant, no page, chart or data shows or changes anything."""
    ids = fill(app, "lab")
    lab, shop = bearer_token(token("lab")), bearer_token(token("shop"))
    assert MARK in client.get("/api/research-history", headers=lab).text
    asked = 0
    for path, methods in addresses(client, shop):
        for method in methods:
            for source in ("search", "research", "run", "knowledge"):
                filled = path.replace("{source}", source.replace("run", "research"))
                filled = re.sub(r"\{(id|run)\}", ids[source], filled)
                filled = re.sub(r"\{\w+\}", ids[source], filled)
                for query in ("", f"?q={MARK}&format=json&tag={MARK}&agent={MARK}&first=x&second=x"):
                    body = {"question": "", "kind": "all"} if method == "POST" else None
                    answer = client.request(method, filled + query, json=body, headers=shop)
                    payload = answer.text.replace(query.replace("&", "&amp;"), "").count(MARK)
                    assert answer.status_code < 500, (method, filled, answer.text)
                    assert payload <= (8 if query else 0), (method, filled + query, answer.text)  # the typed text
                    if query and answer.status_code == 200 and answer.headers["content-type"] == "application/json":
                        assert f"{MARK} " not in answer.text, (method, filled)
                    asked += 1
    assert asked > 100
    assert len(client.get("/api/research-history", headers=lab).json()["items"]) == 4


def addresses(client: TestClient, headers: dict[str, str]) -> Iterator[tuple[str, set[str]]]:
    """Yield every path of the application with its methods."""
    for router in routes.PAGES:
        for route in router.routes:
            assert isinstance(route, Route)
            yield route.path, route.methods or set()
    described = client.get("/api/openapi.json", headers=headers).json()["paths"]
    yield from ((path, {each.upper() for each in operations}) for path, operations in described.items())


@pytest.mark.slow
def test_evaluations_are_for_the_local_user_only(client: TestClient, token: Callable[..., str]) -> None:
    """Not for tokens, which belong to one tenant."""
    headers = bearer_token(token("lab"))
    for address in ("/api/experiments", "/charts/evaluations.svg"):
        refused(client.get(address, headers=headers), 403, "access_denied")
    stats = client.get("/api/stats", headers=headers).json()
    assert (stats["database"], stats["size_bytes"]) == (None, None)


@pytest.mark.slow
def test_each_token_has_a_rate_limit(app: App, researches: ResearchJobs, token: Callable[..., str]) -> None:
    """The response says how long to wait; other tokens and public paths are not affected."""
    ada, bob = bearer_token(token("lab", "ada")), bearer_token(token("lab", "bob"))
    with client_of(app, researches, per_minute=3) as client:
        statuses = [client.get("/api/runs", headers=ada).status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        answer = client.get("/api/runs", headers=ada)
        refused(answer, 429, "too_many_requests")
        assert 1 <= int(answer.headers["Retry-After"]) <= 60
        page = client.get("/", headers=ada | HTML)
        assert (page.status_code, page.headers["content-type"]) == (429, "text/html; charset=utf-8")
        assert client.get("/api/runs", headers=bob).status_code == 200
        assert client.get("/static/app.css", headers=ada).status_code == 200


# --- the login


def test_a_valid_token_logs_in(client: TestClient, token: Callable[..., str]) -> None:
    """The cookie is hidden from scripts and from forms of other sites; logging out deletes it."""
    text = token("lab")
    answer = client.post("/login", data={"token": f" {text}\n"}, headers=HTML)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"harness_token={text};")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "Secure" not in cookie, "on http the browser would not send it"
    assert client.get("/").status_code == 200
    assert "of <bdi>lab</bdi>" in client.get("/").text
    left = client.post("/logout", headers=HTML)
    assert (left.status_code, left.headers["Location"]) == (303, "/login")
    assert client.get("/").headers["Location"] == "/login"


def test_over_tls_the_cookie_is_secure(client: TestClient, token: Callable[..., str]) -> None:
    """Also behind a proxy with TLS."""
    answer = client.post("/login", data={"token": token("lab")}, headers={"Origin": "https://127.0.0.1"})
    assert "Secure" in answer.headers["Set-Cookie"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("proxies", "sent", "secure"),
    [
        (("127.0.0.0/8",), "https", True),
        (("127.0.0.0/8",), "http", False),
        (("127.0.0.0/8",), "", False),
        (("10.0.0.1",), "https", False),
        ((), "https", False),
    ],
)
def test_a_trusted_proxy_tells_whether_it_was_tls(
    checks: RequestChecks, token: Callable[..., str], proxies: tuple[str, ...], sent: str, secure: bool
) -> None:
    """The browser may send no Origin; a header from another address is ignored."""
    with served(checks, proxies=proxies) as address:
        headers = {"X-Forwarded-Proto": sent} if sent else {}
        answer = httpx2.post(f"{address}/login", data={"token": token("lab")}, headers=headers)
    assert answer.status_code == 303
    assert ("Secure" in answer.headers["Set-Cookie"]) == secure


def test_an_invalid_token_does_not_log_in(client: TestClient, token: Callable[..., str]) -> None:
    """The page shows an error without the token, and sets no cookie."""
    token()
    for wrong in ("hrn_wrong", "", "x" * 500, "<script>alert(1)</script>", "\x00", "hrn_\u202e"):
        answer = client.post("/login", data={"token": wrong}, headers=HTML)
        assert answer.status_code == 401
        assert "Set-Cookie" not in answer.headers
        assert not wrong or wrong not in answer.text
    assert client.post("/login", data={"token": "x" * 5_000}, headers=HTML).status_code == 400
    assert client.post(
        "/login", content=b"\xff", headers={"Content-Type": "application/x-www-form-urlencoded"}
    ).status_code in {400, 401}
    assert client.post("/login", json={"token": "x"}).status_code in {400, 401}


# --- response headers


def test_every_response_has_security_headers(client: TestClient, token: Callable[..., str]) -> None:
    """Pages, data, files, redirects and errors."""
    answers = [client.get(address) for address in (*PAGES, *DATA, "/healthz", "/login", "/static/app.js", "/nowhere")]
    answers += [client.post("/"), client.head("/"), client.options("/"), client.get("/static/nowhere")]
    answers += [client.get("/", headers={"Host": "evil.example"}), client.get("/", headers={"Origin": "null"})]
    answers += [
        client.get("/api/runs", params={"limit": 0}),
        client.post("/api/researches", content=b"x" * (MAX_BODY + 1)),
    ]
    token()
    answers += [client.get("/"), client.get("/api/stats"), client.post("/login", data={"token": "x"})]
    for answer in answers:
        headers = answer.headers
        assert headers["content-security-policy"] == POLICY, answer.url
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers
    assert "frame-ancestors 'none'" in POLICY
    assert "unsafe" not in POLICY


@pytest.mark.slow
def test_other_methods_are_refused(client: TestClient) -> None:
    """With an error response, and without an effect."""
    for address in ("/", "/api/stats", "/static/app.css", f"/api/runs/{RUN}", "/search"):
        for method in ("PUT", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "x"):
            refused(client.request(method, address), 405, "invalid_input")
    assert client.head("/static/app.css").content == b""


NASTY = [
    "/%00", "/%2e%2e/%2e%2e/etc/passwd", "/static/%2e%2e/app.py", "/static/..%2fgate.py", "/static/%2fetc/passwd",
    "/static/%00", "/static//app.css/", "/api/%2e%2e/", "//evil.example/", "/api%3F", "/%0d%0aX-Evil:1", "/a%09b",
    "/%ff%fe", "/%e2%80%ae", "/entries/search/%00", "/entries/search/%2e%2e", "/entries/search/%2f", "/entries/x/y",
    "/api/entries/search/%00", "/api/entries/access_tokens/x", "/api/entries/search/" + "a" * 201, "/" + "a" * 60_000,
    "/runs/%00", "/runs/" + "a" * 10_000, "/charts/runs/%00.svg", "/charts/..%2f.svg", "/knowledge/%2e%2e",
    "/api/knowledge/%00", "/api/knowledge/" + "a" * 65, "/api/experiments/loops/%2e%2e",
    "/api/experiments/loops/..%2f..%2fetc", "/api/experiments/evaluations/%00", "/?q=%00%ff", "/?offset=x", "/?since=x",
    "/?source=x", "/api/research-history?limit=1e9", "/api/research-history?source=access_tokens", "/api/explain?q=%00",
    "/api/research-history?q=" + "a" * 60_000, "/?" + "q=1&" * 5_000, "/api/research-history?since=" + "9" * 64,
    "/api/knowledge?tag=%00&agent=%ff", "/cache?q=%00", "/search?q=%00&format=json", "/api/explain?q=" + "a" * 10_001,
]  # fmt: skip


@pytest.mark.slow
def test_hostile_urls_are_refused(client: TestClient) -> None:
    """With a page or an error response, never a crash or a file."""
    for address in NASTY:
        for headers in ({}, HTML):
            answer = client.get(address, headers=headers)
            assert answer.status_code < 500, (address, answer.text)
            assert "root:x:" not in answer.text
            assert "class Gate" not in answer.text
            assert "x-evil" not in answer.headers
            if answer.headers["content-type"] == "application/json" and answer.status_code >= 400:
                assert answer.json()["message"].isprintable()


# --- an unavailable store


@pytest.mark.slow
def test_an_unavailable_store_is_reported_at_every_path(
    client: TestClient, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error response for programs, a page for people."""

    def down(*_: Any, **__: Any) -> Any:
        raise StoreBusy("the database is locked by another process; try again")

    store = app.databases.store
    for part in (store.rows, store.listings, store.nearest, store.usage):
        for name in {name for name in dir(part) if not name.startswith("_") and callable(getattr(part, name))}:
            monkeypatch.setattr(part, name, down)
    look_everywhere(client)


def look_everywhere(client: TestClient) -> None:
    """Check that every kind of path reports the unavailable store."""
    for address in ("/", "/?q=x", "/?part=1", "/cache", "/knowledge", f"/knowledge/{'0' * 32}", f"/runs/{RUN}",
                    "/entries/search/x"):  # fmt: skip
        answer = client.get(address, headers=HTML)
        assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html; charset=utf-8"), address
        assert "locked by another process" in answer.text
    for method, address, body in (
        ("GET", "/api/research-history", None), ("GET", "/api/stats", None), ("GET", "/api/runs", None),
        ("GET", f"/api/runs/{RUN}", None), ("GET", "/api/entries/search/x", None), ("GET", "/api/knowledge", None),
        ("GET", f"/charts/runs/{RUN}.svg", None), ("POST", f"/api/runs/{RUN}/resume", None),
        ("POST", "/api/cache/expired", None), ("POST", "/api/cache/clear", {"kind": "all"}),
        ("GET", "/search?q=x&format=json", None),
    ):  # fmt: skip
        refused(client.request(method, address, json=body), 503, "store_busy")
    assert client.get("/healthz").status_code == 200


@pytest.mark.slow
def test_requests_are_refused_if_tokens_cannot_be_read(
    client: TestClient, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason."""

    def down(*_: Any, **__: Any) -> Any:
        raise StoreBusy("the database is locked by another process; try again")

    monkeypatch.setattr(app.databases.store.admin, "tenants", down)
    look_everywhere(client)
    answer = client.post("/tavily/search", json={"query": "x"})
    assert (answer.status_code, answer.json()["code"]) == (503, "store_busy")


@pytest.mark.slow
def test_refusals_for_tavilys_clients_have_their_format(client: TestClient, token: Callable[..., str]) -> None:
    """The message is where they look for it."""
    token()
    answer = client.post("/tavily/search", json={"query": "x"})
    assert (answer.status_code, answer.json()["detail"]["error"]) == (401, answer.json()["message"])


# --- the log


@pytest.mark.slow
def test_each_request_is_logged_as_one_line_of_json(
    app: App, researches: ResearchJobs, token: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    """With --log-requests, for any path; without the token."""
    text = token("lab", "ada")
    caplog.set_level(logging.INFO, "harness.server.access")
    with client_of(app, researches, logs=True) as client:
        for address in NASTY:
            client.get(address, headers=bearer_token(text))
        client.get("/", headers={"Host": "evil.example"})
        client.get("/")
    lines = [record.getMessage() for record in caplog.records if record.name == "harness.server.access"]
    assert len(lines) == len(NASTY) + 2
    payload = [json.loads(line) for line in lines]
    for line, each in zip(lines, payload, strict=True):
        assert line.isascii()
        assert line.isprintable()
        assert len(line) < 4_000
        assert set(each) == {"time", "method", "path", "status", "milliseconds", "tenant", "user"}
        assert text.rpartition(".")[2] not in line
    assert (payload[0]["tenant"], payload[0]["user"]) == ("lab", "ada")
    assert [(each["status"], each["tenant"]) for each in payload[-2:]] == [(403, None), (303, None)]


# --- over a real connection


@pytest.mark.slow
def test_raw_bytes_are_refused(address: str) -> None:
    """The server keeps running."""
    host, _, port = address.removeprefix("http://").partition(":")
    here = f"Host: {host}:{port}\r\n".encode()
    for raw in (
        b"GET /?q=\xff HTTP/1.1\r\n" + here, b"GET / HTTP/1.1\r\n", b"GET / HTTP/9.9\r\n" + here, b"\x16\x03\x01\r\n",
        b"GET / HTTP/1.1\r\nHost: evil.example\r\n" + here,
        b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n",
        b"GET / HTTP/1.1\r\n" + here + b"Origin: http://[\r\n", b"GET / HTTP/1.1\r\n" + here + b"Cookie: \xff\xff\r\n",
        b"GET / HTTP/1.1\r\n" + here + b"Authorization: Basic \xff\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\n" + here,
        b"POST /login HTTP/1.1\r\n" + here + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"GET / HTTP/1.1\r\n" + here + b"X: " + b"y" * 200_000 + b"\r\n",
    ):  # fmt: skip
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.settimeout(5)
            try:
                connection.sendall(raw + b"Connection: close\r\n\r\n")
                answer = connection.recv(200)
            except (ConnectionError, TimeoutError):
                answer = b""
        assert b" 500 " not in answer, raw[:80]
    assert httpx2.get(f"{address}/healthz").status_code == 200


@pytest.mark.slow
def test_a_chunked_body_is_limited(address: str) -> None:
    """Over a real connection; the client gets the message."""
    chunks = (b" " * 2**16 for _ in range(40))
    answer = httpx2.post(f"{address}/api/researches", content=chunks, headers={"Content-Type": "application/json"})
    refused(answer, 413, "invalid_input")


def test_any_header_can_be_parsed_for_a_token() -> None:
    """Without an error."""

    @settings(max_examples=50)
    @given(st.binary(max_size=60), st.binary(max_size=60))
    def read(authorization: bytes, cookie: bytes) -> None:
        headers = [
            (b"authorization", authorization),
            (b"authorization", b"Basic " + authorization),
            (b"cookie", cookie),
        ]
        for each in headers:
            found = token_of(Request({"type": "http", "headers": [each]}))
            assert found is None or found.strip().startswith("hrn_")

    read()


def test_a_bug_in_the_checks_is_an_error_response(
    client: TestClient, checks: RequestChecks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all security headers, without details."""

    def broken(_: object) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr(checks._authenticator, "app_for", broken)
    answer = client.get("/api/stats")
    assert "secret" not in refused(answer, 500, "internal_error")
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize(
    ("method", "path", "instead"),
    [
        ("POST", "crawl", "/tavily/extract"),
        ("POST", "map", "include_domains"),
        ("POST", "research", "/api/researches"),
        ("GET", "research/1", "/api/researches"),
        ("GET", "usage", "usage.credits"),
    ],
)
def test_tavilys_other_endpoints_are_refused_with_an_alternative(
    client: TestClient, method: str, path: str, instead: str
) -> None:
    """In the place where its clients look for the message."""
    answer = client.request(method, f"/tavily/{path}", json={})
    assert answer.status_code == 400
    payload = answer.json()
    assert payload["message"].startswith(f"Tavily's {path.partition('/')[0]} is not supported; ")
    assert instead in payload["message"]
    assert payload["detail"] == {"error": payload["message"]}


def test_unknown_tavily_paths_are_not_found(client: TestClient) -> None:
    """The message names the two supported endpoints."""
    answer = client.post("/tavily/nothing", json={})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert "POST /tavily/search and POST /tavily/extract" in answer.json()["detail"]["error"]


# --- shares of a tenant


@pytest.mark.slow
def test_slow_uploads_take_no_place(checks: RequestChecks, address: str) -> None:
    """Forty clients that send half of their body do not keep others of their tenant waiting."""
    host, _, port = address.removeprefix("http://").partition(":")
    half = (
        b"POST /api/researches HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b'Content-Length: 100\r\n\r\n{"question": '
    )
    with ExitStack() as stack:
        for _ in range(40):
            client = stack.enter_context(socket.create_connection((host, int(port))))
            client.sendall(half)
        time.sleep(0.3)
        assert checks._limits.waiting == 0
        assert httpx2.get(f"{address}/api/stats", timeout=10).status_code == 200


def test_a_request_that_the_server_gives_up_gets_an_error(checks: RequestChecks) -> None:
    """In JSON, with the time to wait, when the server is stopped or replaced."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    async def waiting(*_: object) -> None:
        await asyncio.sleep(60)

    async def serve() -> None:
        checks._asgi = waiting  # type: ignore[assignment]
        scope = {
            "type": "http", "method": "GET", "path": "/api/stats", "query_string": b"",
            "headers": [(b"host", b"localhost")],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "scheme": "http", "root_path": "",
        }  # fmt: skip
        task = asyncio.create_task(checks(scope, receive, send))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(serve())
    start, body = sent
    assert start["status"] == 503
    assert (b"retry-after", b"5") in start["headers"]
    assert json.loads(body["body"])["code"] == "unavailable"
