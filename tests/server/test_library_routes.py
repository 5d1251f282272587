"""The library over HTTP and on its page: search, numbers, passages of a source, deletion."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from starlette.testclient import TestClient

from harness.app import App
from harness.core.entries import Entry
from harness.core.freshness import DAY, HOUR, NEVER
from harness.core.tables import LIBRARY, LibraryColumns
from harness.identity import Identity
from harness.library import ReadDocument
from harness.models.from_settings import Models
from harness.server.pages.page_routes import PAGE_SIZE
from tests.fakes import WordReader
from tests.server.test_history_api import refused
from tests.server.test_pages import EVIL, shown

pytestmark = pytest.mark.usefixtures("embedder", "reader")

ADDRESS = "/api/library"
URL = "https://docs.example.org/retries"
RESULT = {"title": "Retries", "href": URL, "body": "Retries stop after five attempts."}
OTHER = {"title": "Timeouts", "href": "https://docs.example.org/timeouts", "body": "A client waits for ten seconds."}
LAB = Identity("lab", "ada", "admin", "0" * 16)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> WordReader:
    """A reader of words instead of the model, which takes a second to load."""
    made = WordReader(0.3)
    monkeypatch.setattr(Models, "reader", property(lambda _: made))
    return made


def get(client: TestClient, address: str = ADDRESS, **parameters: Any) -> dict[str, Any]:
    """Return what the API answers."""
    answer = client.get(address, params=parameters)
    assert answer.status_code == 200, answer.text
    shape: dict[str, Any] = answer.json()
    return shape


def timestamp(text: str) -> float:
    """Return a time of the API in seconds since the epoch."""
    return datetime.fromisoformat(text).timestamp()


def document(text: str, url: str = "notes", **changes: Any) -> ReadDocument:
    """Return a file that was read now and never expires."""
    fields: dict[str, Any] = {"title": "Notes", "source": "file", "fetched_at": time.time(), "expires_at": NEVER}
    return ReadDocument(url=url, text=text, **{**fields, **changes})


# --- the API


def test_each_passage_has_all_fields(client: TestClient, app: App) -> None:
    """A passage has source, time, engine, relevance and ranks."""
    before = time.time()
    app.cache.searches.put("retries of a client", [RESULT])
    shape = get(client, q="when do retries stop")
    assert shape["query"] == "when do retries stop"
    (passage,) = shape["passages"]
    age, fetched, expires = (passage.pop(name) for name in ("age_seconds", "fetched_at", "expires_at"))
    relevance, key = passage.pop("relevance"), passage.pop("id")
    assert passage == {
        "url": URL, "title": "Retries", "section": "", "text": RESULT["body"], "source": "snippet", "engine": "ddgs",
        "language": "", "found_by": "retries of a client", "answers": relevance >= 0.3, "by_words": 1, "by_meaning": 1,
    }  # fmt: skip
    assert 0 < relevance < 1
    assert [each.key for each in app.library.passages_of(URL)] == [key]
    assert 0 <= age <= time.time() - before + 1
    assert before - 2 < timestamp(fetched) < time.time() + 1
    assert timestamp(expires) - timestamp(fetched) == pytest.approx(7 * DAY, abs=1)


def test_passages_are_limited_and_ordered(client: TestClient, app: App) -> None:
    """The best come first, and a limit cuts the list. Passages that never expire have no time of expiry."""
    for number in range(12):
        app.library.index.add(document(f"Retries of kind{number} stop", f"notes {number}"))
    shape = get(client, q="retries of kind3", limit=12)
    assert len(shape["passages"]) == 12
    assert shape["passages"][0]["text"] == "Retries of kind3 stop"
    assert {each["expires_at"] for each in shape["passages"]} == {None}
    assert [each["id"] for each in get(client, q="retries of kind3", limit=5)["passages"]] == [
        each["id"] for each in shape["passages"][:5]
    ]
    assert len(get(client, q="retries of kind3")["passages"]) == 10


GERMAN = "Wiederholungen enden nach fünf Versuchen, und danach wartet der Client, bis der Server wieder antwortet."


def test_passages_have_a_language_and_are_limited_to_one(client: TestClient, app: App) -> None:
    """The API and the page show the same one; an unknown tag is an error that has examples."""
    app.library.index.add(document(f"retries: {GERMAN}"))
    app.library.index.add(document("retries", "short"))
    found = {each["url"]: each["language"] for each in get(client, q="retries")["passages"]}
    assert found == {"notes": "de", "short": ""}
    assert [each["url"] for each in get(client, q="retries", language="de-CH")["passages"]] == ["notes"]
    assert get(client, q="retries", language="fr")["passages"] == []
    assert len(get(client, q="retries", language="")["passages"]) == 2
    message = refused(client.get(ADDRESS, params={"q": "retries", "language": "<b>"}), 400, "invalid_input")
    assert "pass a tag such as en" in message
    page = shown(client, "/library?q=retries")
    assert [each.get("lang") for each in page.all("bdi") if each.get("lang")] == ["de"]
    assert len([each for each in page.all("span") if each.get("title") == "language"]) == 1


def test_answers_depend_on_the_reader(client: TestClient, app: App, reader: WordReader) -> None:
    """Its threshold decides. Passages that it did not read have no relevance and no decision."""
    for number in range(25):
        app.library.index.add(document(f"Retries of kind{number} stop", f"notes {number}"))
    passages = get(client, q="retries of kind3", limit=25)["passages"]
    assert [each["relevance"] is not None for each in passages] == [True] * 20 + [False] * 5
    assert [each["answers"] is not None for each in passages] == [True] * 20 + [False] * 5
    assert all(each["answers"] == (each["relevance"] >= 0.3) for each in passages[:20])
    assert passages[0]["answers"] is True


@pytest.mark.parametrize(
    "parameters",
    [
        {}, {"q": ""}, {"q": "  "}, {"q": "\x00"}, {"q": "x" * 10_001}, {"q": "x", "limit": 0},
        {"q": "x", "limit": 101}, {"q": "x", "limit": "many"},
    ],
)  # fmt: skip
def test_invalid_parameters_are_client_errors(client: TestClient, parameters: dict[str, Any]) -> None:
    """The error is one line."""
    message = refused(client.get(ADDRESS, params=parameters), 400, "invalid_input")
    assert ("?q=" in message) == (not str(parameters.get("q", "")).strip())


@pytest.mark.slow
@pytest.mark.parametrize("q", ["%", "' OR 1=1 --", "\u202e", "x" * 10_000, "*", '"', "NEAR(", "a:b", "\ud83d", "?"])
def test_any_other_text_is_a_query(client: TestClient, app: App, q: str) -> None:
    """Operators of query languages are only text."""
    app.library.index.add(document("Retries stop."))
    assert len(get(client, q=q.encode("utf-8", "replace").decode())["passages"]) == 1


def test_the_numbers(client: TestClient, app: App) -> None:
    """Numbers of an empty library are zero. Expired passages are counted apart, and nothing is indexed."""
    empty = {"passages": 0, "expired": 0, "without_vector": 0, "oldest": None, "newest": None}
    assert get(client, f"{ADDRESS}/stats") == empty
    then = time.time() - 2 * HOUR
    app.library.index.add(document("Old retries.", fetched_at=then))
    own = LibraryColumns("d", "x", "News", "page", "web")
    app.store.rows.put(LIBRARY, "default", Entry("k", "Expired.", b"{}", then, then + HOUR, then, own))
    app.library.index.add(document("New retries.", "y"), seconds=0)
    app.cache.searches.put("retries of a client", [RESULT])
    shape = get(client, f"{ADDRESS}/stats")
    assert (shape["passages"], shape["expired"], shape["without_vector"]) == (2, 1, 1)
    assert shape["oldest"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(then))
    assert shape["newest"] > shape["oldest"]


def test_the_passages_of_a_source(client: TestClient, app: App) -> None:
    """Passages are in order, for any spelling of the URL. Without passages: 404; without a URL: 400."""
    text = "\n".join(f"# {number}\n\nPassage {number}.\n" for number in range(12))
    app.library.index.add(document(text, URL, source="page"))
    shape = get(client, f"{ADDRESS}/passages", url=f"{URL}/?utm_source=x#top")
    assert [each["text"] for each in shape["passages"]] == [f"Passage {number}." for number in range(12)]
    assert "relevance" not in shape["passages"][0]
    refused(client.get(f"{ADDRESS}/passages", params={"url": "https://example.org"}), 404, "not_found")
    for parameters in ({}, {"url": ""}, {"url": "x" * 2_001}):
        refused(client.get(f"{ADDRESS}/passages", params=parameters), 400, "invalid_input")


def test_a_source_is_deleted(client: TestClient, app: App) -> None:
    """The cached search that has it is deleted too; a second request is a 404."""
    app.cache.searches.put("retries of a client", [RESULT, OTHER])
    get(client, q="retries")
    answer = client.delete(f"{ADDRESS}/passages", params={"url": URL})
    assert (answer.status_code, answer.json()["deleted"]) == (200, 1)
    assert [each["url"] for each in get(client, q="retries")["passages"]] == [OTHER["href"]]
    refused(client.get(f"{ADDRESS}/passages", params={"url": URL}), 404, "not_found")
    refused(client.delete(f"{ADDRESS}/passages", params={"url": URL}), 404, "not_found")


def test_only_an_admin_deletes(client: TestClient, app: App, token: Callable[..., str]) -> None:
    """Readers and writers see the passages of their tenant; another tenant's admin neither sees nor deletes them."""
    with app.serving(LAB) as theirs:
        theirs.library.index.add(document("Retries of the lab.", URL))
    for tenant, role, status in (
        ("lab", "reader", 403), ("lab", "writer", 403), ("shop", "admin", 404), ("lab", "admin", 200),
    ):  # fmt: skip
        headers = {"Authorization": f"Bearer {token(tenant, role, role)}"}
        found = client.get(ADDRESS, params={"q": "retries"}, headers=headers).json()["passages"]
        assert len(found) == (tenant == "lab")
        count = client.get(f"{ADDRESS}/stats", headers=headers).json()["passages"]
        assert count == (tenant == "lab")
        listed = client.get(f"{ADDRESS}/passages", params={"url": URL}, headers=headers)
        assert listed.status_code == (200 if tenant == "lab" else 404)
        answer = client.delete(f"{ADDRESS}/passages", params={"url": URL}, headers=headers)
        assert answer.status_code == status, (tenant, role, answer.text)
    assert client.get(ADDRESS, params={"q": "retries"}, headers=headers).json()["passages"] == []


def test_a_reader_does_not_fill_the_library(client: TestClient, app: App, token: Callable[..., str]) -> None:
    """Searches of a writer index cached results; those of a reader do not."""
    with app.serving(LAB) as theirs:
        theirs.cache.searches.put("retries of a client", [RESULT])
    for role, count in (("reader", 0), ("writer", 1), ("reader", 1)):
        headers = {"Authorization": f"Bearer {token('lab', role, role)}"}
        answer = client.get(ADDRESS, params={"q": "retries"}, headers=headers)
        assert (answer.status_code, len(answer.json()["passages"])) == (200, count)


def test_a_missing_model_leaves_the_words(client: TestClient, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passages are found by words, without a relevance."""
    from harness.errors import EmbeddingError

    app.cache.searches.put("retries of a client", [RESULT])

    def broken(_: Any) -> Any:
        raise EmbeddingError("the model is missing; install it again")

    monkeypatch.setattr(app.models.embedder, "embed", broken)
    (passage,) = get(client, q="retries")["passages"]
    assert (passage["by_words"], passage["by_meaning"], passage["relevance"], passage["answers"]) == (
        1,
        None,
        None,
        None,
    )
    assert get(client, f"{ADDRESS}/stats")["without_vector"] == 1


# --- the page


def test_the_page_shows_the_passages_of_the_api(client: TestClient, app: App) -> None:
    """Passages are in the same order, with a link to the source, kind and time."""
    app.cache.searches.put("retries of a client", [RESULT, OTHER])
    found = get(client, q="when do retries stop")["passages"]
    page = shown(client, "/library?q=when+do+retries+stop")
    assert page.links("https://docs") == [each["url"] for each in found]
    assert [each["datetime"] for each in page.all("time")] == [each["fetched_at"] for each in found]
    for each in found:
        assert each["text"] in page.text
    assert page.text.count("relevance 0.") + page.text.count("relevance 1.") == 2
    assert page.text.count("answers") == sum(each["answers"] for each in found) == 1
    assert "2 passages of" in page.text
    assert [each.get("value") for each in page.all("input") if each.get("name") == "q"] == ["when do retries stop"]


@pytest.mark.parametrize("address", ["/library", "/library?q=", "/library?q=%20%09"])
def test_without_a_query_the_page_shows_the_numbers(client: TestClient, app: App, address: str) -> None:
    """The form is shown too, without a passage and without an error."""
    app.library.index.add(document("Retries stop."))
    app.library.index.add(document("Retries wait.", "y"), seconds=0)
    page = shown(client, address)
    assert "2 passages of" in page.text
    assert "1 are found by their words only" in page.text
    assert "Retries stop." not in page.text
    assert not [each for each in page.all("p") if each.get("class") == "failure"]


def test_the_page_says_that_nothing_is_found(client: TestClient) -> None:
    """The page has advice."""
    page = shown(client, "/library?q=zebra")
    assert "No passage found" in page.text
    assert "0 passages of" in page.text


def test_an_invalid_query_stays_in_the_form(client: TestClient) -> None:
    """The page shows the error."""
    page = shown(client, "/library?q=retries%00", 400)
    assert "NUL" in page.text
    assert [each.get("role") for each in page.all("p") if each.get("class") == "failure"] == ["alert"]
    shown(client, f"/library?q={'x' * 10_001}", 400)


def test_the_page_is_linked(client: TestClient) -> None:
    """Every page links to it, and its own link is marked as the current one."""
    assert "/library" in shown(client, "/").links()
    (here,) = [each for each in shown(client, "/library").all("a") if each.get("aria-current")]
    assert here["href"] == "/library"


def test_nothing_from_outside_is_markup(client: TestClient, app: App) -> None:
    """Titles, texts, headings, URLs and the query are text; only web URLs are links."""
    app.cache.searches.put("a", [{"title": EVIL, "href": "javascript:alert(1)", "body": f"retries {EVIL}"}])
    app.cache.searches.put("b", [{"title": EVIL, "href": f"https://e.org/{EVIL}", "body": f"retries of {EVIL}"}])
    app.library.index.add(document(f"# {EVIL}\n\nretries {EVIL} {EVIL}", f"notes {EVIL}", title=EVIL))
    page = shown(client, "/library?q=retries")
    assert len(get(client, q="retries")["passages"]) == 3
    assert not [each for each in page.links() if each.startswith("javascript")]
    assert len(page.links("https://e.org/")) == 1
    assert "<script>alert(1)</script>" in page.text
    typed = shown(client, "/library?q=" + EVIL.replace("#", "").replace("\u202e", "").replace("<", "%3C"))
    (field,) = [each for each in typed.all("input") if each.get("name") == "q"]
    assert "<script>alert(1)" in str(field["value"])


@pytest.mark.slow
def test_long_texts_are_shortened_on_the_page(client: TestClient, app: App) -> None:
    """A megabyte of title and text does not fill it; the list ends."""
    word = "W" * 4_000
    for number in range(PAGE_SIZE + 10):
        long = f"retries {number} {word * 100}"
        result = {"title": long, "href": f"https://e.org/{number}/{word[:1_900]}", "body": long}
        app.cache.searches.put(f"retries {number}", [result])
    answer = client.get("/library", params={"q": "retries"}, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    assert len(answer.text) < 200_000
    assert len(shown(client, "/library?q=retries").all("time")) <= PAGE_SIZE
