"""Knowledge over HTTP: list, versions, deletion."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from harness.app import App
from harness.core.entries import Entry
from harness.core.tables import KNOWLEDGE
from harness.identity import Identity

pytestmark = pytest.mark.usefixtures("embedder")

NASTY = "<script>alert(1)</script>"


def refused(answer: Any, status: int, code: str) -> None:
    """Check that a request was refused."""
    response = answer.json()
    assert (answer.status_code, response["status"], response["code"], len(response)) == (
        status,
        "error",
        code,
        3,
    ), response
    assert response["message"].isprintable()


def titles(client: TestClient, **parameters: Any) -> list[str]:
    """Return the titles of the documents, in order."""
    answer = client.get("/api/knowledge", params=parameters)
    assert answer.status_code == 200, answer.text
    return [each["title"] for each in answer.json()["items"]]


def test_documents_are_listed(client: TestClient, app: App) -> None:
    """Last updated first, filtered by tag, agent and limit."""
    first = app.knowledge.write("Retries", "Three.", tags=["gateway"], agent="ada").document
    app.knowledge.write("Timeouts", "Ten seconds.", tags=["gateway", "client"], agent="bob")
    assert titles(client) == ["Timeouts", "Retries"]
    assert titles(client, tag="client") == ["Timeouts"]
    assert titles(client, agent="ada") == ["Retries"]
    assert titles(client, tag="gateway", agent="bob") == ["Timeouts"]
    assert titles(client, tag=" ", agent=" ") == ["Timeouts", "Retries"]
    assert titles(client, tag="nothing") == titles(client, agent="eve") == []
    app.knowledge.write(id=first.id, content="Four.")
    assert titles(client) == ["Retries", "Timeouts"]
    assert titles(client, limit=1) == ["Retries"]


@pytest.mark.slow
def test_a_document_has_its_versions(client: TestClient, app: App) -> None:
    """Newest first; the page shows the same."""
    document = app.knowledge.write("Retries", "Three.", confidence=0.9, source_url="https://e.org/r").document
    for content in ("Four.", "Five."):
        app.knowledge.write(id=document.id, content=content)
    response = client.get(f"/api/knowledge/{document.id}").json()
    assert (response["document"]["content"], response["document"]["version"]) == ("Five.", 3)
    assert [each["content"] for each in response["earlier"]] == ["Four.", "Three."]
    assert (response["document"]["confidence"], response["document"]["source_url"]) == (0.9, "https://e.org/r")
    page = client.get(f"/knowledge/{document.id}").text
    assert all(content in page for content in ("Five.", "Four.", "Three.", "https://e.org/r"))


def test_a_deleted_document_is_gone(client: TestClient, app: App) -> None:
    """With its versions."""
    document = app.knowledge.write("Retries", "Three.").document
    assert client.delete(f"/api/knowledge/{document.id}").json() == {"deleted": 1}
    answer = client.delete(f"/api/knowledge/{document.id}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    for address in ("/api/knowledge/{}", "/knowledge/{}", "/api/entries/knowledge/{}"):
        refused(client.get(address.format(document.id)), 404, "not_found")
    assert titles(client) == []
    assert client.get("/api/research-history", params={"q": "Retries"}).json()["items"] == []


@pytest.mark.slow
def test_an_unknown_document_is_not_found(client: TestClient) -> None:
    """Also with an invalid id."""
    refused(client.get("/api/knowledge/0123456789abcdef"), 404, "not_found")
    for key in ("%00", "a.b", "a%20b", "x" * 65, "%2e%2e", "ä"):
        refused(client.get(f"/api/knowledge/{key}"), 400, "invalid_input")
    for parameters in ({"limit": 0}, {"limit": 1_001}, {"limit": "x"}, {"tag": "x" * 101}, {"agent": "x" * 201}):
        refused(client.get("/api/knowledge", params=parameters), 400, "invalid_input")


def test_tenants_see_only_their_own_documents(client: TestClient, app: App, token: Callable[..., str]) -> None:
    """They can neither list, read nor delete others."""
    mine = app.serving(Identity("lab", "ada", "admin", "0" * 16))
    document = mine.knowledge.write("Retries", "Three.").document
    shop, lab = ({"Authorization": f"Bearer {token(tenant)}"} for tenant in ("shop", "lab"))
    assert client.get("/api/knowledge", headers=shop).json() == {"items": []}
    assert "Retries" not in client.get("/knowledge", headers=shop).text
    refused(client.get(f"/api/knowledge/{document.id}", headers=shop), 404, "not_found")
    assert client.delete(f"/api/knowledge/{document.id}", headers=shop).status_code == 404
    assert len(client.get("/api/knowledge", headers=lab).json()["items"]) == 1


@pytest.mark.slow
def test_documents_are_shown_as_text(client: TestClient, app: App) -> None:
    """Title, content, tags and agent; only web URLs are links."""
    written = app.knowledge.write(NASTY, NASTY, tags=[NASTY], agent=NASTY, source_url="https://e.org/?q='\"><b>")
    for address in ("/knowledge", f"/knowledge/{written.document.id}", "/", f"/?q={NASTY}", f"/knowledge?tag={NASTY}"):
        page = client.get(address).text
        assert NASTY not in page
        assert "&lt;script&gt;" in page
        assert '"><b>' not in page


@pytest.mark.slow
def test_a_damaged_document_hides_no_other(client: TestClient, app: App) -> None:
    """Lists leave it out; by its id it is an error."""
    good = app.knowledge.write("Retries", "Three.").document
    row = app.store.rows.get(KNOWLEDGE, "default", good.id)
    assert row is not None
    for number, payload in enumerate((b"", b"{", b"null", b"[]", b'{"content": 1}', b"[" * 5_000)):
        key = f"{number:032x}"
        times = (row.created_at, row.expires_at, row.last_used_at)
        app.store.rows.put(KNOWLEDGE, "default", Entry(key, "damaged", payload, *times, ("", 1)))
        for address in (f"/api/knowledge/{key}", f"/knowledge/{key}"):
            assert client.get(address).status_code in {404, 503}
            assert client.get(address).json()["status"] == "error"
        assert titles(client) == ["Retries"]
        assert client.get("/knowledge").status_code == 200
        assert client.delete(f"/api/knowledge/{key}").status_code == 200
