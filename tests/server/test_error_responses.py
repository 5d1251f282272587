"""Errors of paths that serve people and programs, and of readers whose question is not in the cache."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.server.test_pages import Page

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def bearer(text: str) -> dict[str, str]:
    """Return the header of a token."""
    return {"Authorization": f"Bearer {text}"}


@pytest.mark.parametrize(
    ("method", "address", "fields"),
    [
        ("GET", "/search", {"params": {"q": "unheard of", "format": "json"}}),
        ("POST", "/search", {"data": {"q": "unheard of", "format": "json"}}),
        ("POST", "/tavily/search", {"json": {"query": "unheard of"}}),
    ],
)
def test_a_readers_miss_names_the_role_that_is_needed(
    client: TestClient, token: Callable[..., str], method: str, address: str, fields: dict[str, Any]
) -> None:
    """The server is online: advice to go online would be wrong."""
    answer = client.request(method, address, headers=bearer(token(role="reader")), **fields)
    assert (answer.status_code, answer.json()["code"]) == (403, "access_denied")
    assert "nothing is cached for 'unheard of'" in answer.json()["message"]
    assert "role writer" in answer.json()["message"]
    assert "offline" not in answer.text
    assert "online" not in answer.text


def test_a_readers_unread_page_names_the_role_that_is_needed(client: TestClient, token: Callable[..., str]) -> None:
    """Among the pages that failed."""
    body = {"urls": ["https://example.org/"]}
    answer = client.post("/tavily/extract", json=body, headers=bearer(token(role="reader")))
    assert answer.status_code == 200
    (failed,) = answer.json()["failed_results"]
    assert "role writer" in failed["error"]


def test_a_browser_without_a_token_gets_the_login_form(client: TestClient, token: Callable[..., str]) -> None:
    """With the status, so that a program that parses the page does not take it for results."""
    token()
    answer = client.get("/search?q=x", headers=BROWSER)
    assert answer.status_code == 401
    page = Page(answer.text)
    assert [each["action"] for each in page.all("form")] == ["/login"]
    assert "Authorization: Bearer" in page.text
    client.cookies.set("harness_token", "hrn_<script>")
    assert "<script>" not in client.get("/search?q=x", headers=BROWSER).text


@pytest.mark.parametrize("query", ["q=x&pageno=zero", "q=x&safesearch=9", "q=x&categories=files", "q=x&language=%3C"])
def test_a_browser_gets_a_page_for_an_invalid_search(client: TestClient, query: str) -> None:
    """And a program JSON."""
    answer = client.get(f"/search?{query}", headers=BROWSER)
    assert answer.status_code == 400
    assert Page(answer.text).all("main")
    for address, headers in ((f"/search?{query}&format=json", BROWSER), (f"/search?{query}", {})):
        answer = client.get(address, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")


def test_a_format_that_is_not_supported_is_refused_in_json(client: TestClient) -> None:
    """A program asked for it, whatever it accepts; the same for a form that is sent."""
    assert client.get("/search?q=x&format=csv", headers=BROWSER).json()["code"] == "access_denied"
    assert client.post("/search", data={"q": "x", "pageno": "zero"}, headers=BROWSER).json()["code"] == "invalid_input"
