"""The library over HTTP and on its page: search, numbers, passages of a source, deletion."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from harness.app import App
from harness.core.entries import Entry
from harness.core.freshness import DAY, HOUR, NEVER
from harness.core.tables import LIBRARY, LibraryColumns
from harness.identity import Identity
from harness.library import ReadDocument
from harness.models.from_settings import Models
from harness.server.pages.history_page import PAGE_SIZE
from harness.sources.from_settings import Sources
from tests.fakes import WordReader
from tests.library.documents import Pages
from tests.server.test_history_api import refused
from tests.server.test_pages import EVIL, Page, shown

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


@pytest.mark.slow
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


# --- sources


def fill(app: App) -> None:
    """Store a page of two passages that a research reused, two search results of two hosts, and a file."""
    app.library.index.add(document("# A\n\nRetries stop.\n\n# B\n\nRetries wait.", URL, source="page", title="Retries"))
    app.cache.searches.put("retries", [OTHER, {**OTHER, "href": "https://example.org/x", "body": "Retries of x."}])
    app.library.index.add(document("Retries of mine.", "file:///notes/mine.md"))
    record = {"question": "q", "sources": [{"number": 1, "url": URL}, {"number": 0, "url": OTHER["href"]}]}
    app.cache.runs.put("20261122-101500-1a2b3c", "q", "corpus", record)
    app.cache.runs.put("20261122-101500-1a2b3d", "q", "corpus", {"question": "q", "reused": [{"url": f"{URL}/#top"}]})
    app.cache.runs.put("20261122-101500-1a2b3e", "q", "corpus", {"sources": "damaged"})


def test_sources_are_listed_the_most_used_first(client: TestClient, app: App) -> None:
    """Cited or reused sources come first, then those with most passages. Damaged records count nothing."""
    fill(app)
    shape = get(client, f"{ADDRESS}/sources")
    (first, *others), total = shape["sources"], shape["total"]
    assert (first["url"], first["passages"], first["researches"], first["kind"]) == (URL, 2, 2, "page")
    assert (first["title"], first["host"], total, shape["counted"]) == ("Retries", "docs.example.org", 4, 5)
    assert {each["researches"] for each in others} == {0}
    assert shape["kinds"] == {"page": 2, "snippet": 2, "file": 1}
    assert shape["hosts"] == {"docs.example.org": 3, "example.org": 1}
    assert sum(sum(kinds.values()) for kinds in shape["days"].values()) == 5


def test_sources_are_filtered_and_paged(client: TestClient, app: App) -> None:
    """By kind, and by host with the hosts below it, also if a URL is typed."""
    fill(app)

    def urls(**filters: Any) -> list[str]:
        return [each["url"] for each in get(client, f"{ADDRESS}/sources", **filters)["sources"]]

    assert urls(kind="file") == ["file:///notes/mine.md"]
    assert len(urls(host="example.org")) == 3
    assert urls(host="https://docs.example.org/any", kind="snippet") == [OTHER["href"]]
    assert urls(host="zebra.example.org") == urls(host="?") == []
    assert urls(limit=1) + urls(limit=3, offset=1) == urls()
    assert [each["url"] for each in get(client, q="retries", kind="file")["passages"]] == ["file:///notes/mine.md"]
    assert {each["url"] for each in get(client, q="retries", host="docs.example.org")["passages"]} == {
        URL,
        OTHER["href"],
    }
    for parameters in ({"kind": "zebra"}, {"host": "x" * 254}, {"limit": 0}, {"offset": -1}):
        refused(client.get(f"{ADDRESS}/sources", params=parameters), 400, "invalid_input")
    assert client.get("/library", params={"kind": "zebra"}).status_code == 400


def test_expired_passages_are_no_source(client: TestClient, app: App) -> None:
    """They are deleted with the next sweep."""
    then = time.time() - 2 * HOUR
    own = LibraryColumns("d", "x", "News", "page", "web")
    app.store.rows.put(LIBRARY, "default", Entry("k", "Expired.", b"{}", then, then + HOUR, then, own))
    shape = get(client, f"{ADDRESS}/sources")
    assert (shape["sources"], shape["total"], shape["counted"], shape["days"]) == ([], 0, 0, {})


READ = "Retries stop after five attempts, and then the client gives up."


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page reader that knows one page."""
    monkeypatch.setattr(Sources, "reader", Pages({URL: READ}))


@pytest.mark.slow
@pytest.mark.usefixtures("pages")
def test_a_page_is_read_into_the_library(client: TestClient, app: App) -> None:
    """It stays; a second reading adds nothing twice. The form leads to its passages."""
    answer = client.post(f"{ADDRESS}/pages", json={"url": URL})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["url"], answer.json()["passages"]) == (URL, 1)
    (held,) = app.library.passages_of(URL)
    assert (held.text, held.source, held.expires_at) == (READ, "page", NEVER)
    assert client.post(f"{ADDRESS}/pages", json={"url": URL}).status_code == 200
    assert len(app.library.passages_of(URL)) == 1
    sent = client.post("/library", data={"url": f" {URL} "})
    assert sent.status_code == 303
    assert READ in shown(client, sent.headers["location"]).text


@pytest.mark.slow
@pytest.mark.usefixtures("pages")
def test_only_a_writer_adds_a_page(client: TestClient, token: Callable[..., str]) -> None:
    """A reader gets an error and no form; another tenant sees nothing of it."""
    for role, status in (("reader", 403), ("writer", 200)):
        headers = {"Authorization": f"Bearer {token('lab', role, role)}", "Accept": "text/html"}
        has_form = 'method="post" action="/library"' in client.get("/library", headers=headers).text
        assert has_form == (role == "writer")
        assert client.post(f"{ADDRESS}/pages", json={"url": URL}, headers=headers).status_code == status
        assert client.post("/library", data={"url": URL}, headers=headers).status_code in {status, 303}
    other = {"Authorization": f"Bearer {token('shop', 'eve', 'admin')}"}
    assert client.get(f"{ADDRESS}/sources", headers=other).json()["total"] == 0


@pytest.mark.parametrize(
    "url", ["", "retries", "file:///etc/passwd", "ftp://e.org", "http://127.0.0.1/x", "http://[::1]/", "https://"]
)
def test_other_addresses_are_not_read(client: TestClient, app: App, url: str) -> None:
    """The error is next to the form, which keeps the address; nothing of this machine is read."""
    refusal = client.post(f"{ADDRESS}/pages", json={"url": url})
    assert refusal.status_code in {400, 403, 502}, refusal.text
    answer = client.post("/library", data={"url": url}, headers={"Accept": "text/html"})
    assert answer.status_code == refusal.status_code
    page = Page(answer.text)
    assert [each.get("value") for each in page.all("input") if each.get("name") == "url"] == [url]
    assert [each.get("role") for each in page.all("p") if each.get("class") == "failure"] == ["alert"]
    assert app.library.stats().total == 0


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
    assert "2 passages of 2 sources" in page.text
    assert [each.get("value") for each in page.all("input") if each.get("name") == "q"] == ["when do retries stop"]


@pytest.mark.parametrize("address", ["/library", "/library?q=", "/library?q=%20%09"])
def test_without_a_query_the_page_lists_the_sources(client: TestClient, app: App, address: str) -> None:
    """Each with its passages, use and age, a link to its text, and a button that deletes it."""
    fill(app)
    app.library.index.add(document("Retries of y.", "y"), seconds=0)
    page = shown(client, address)
    assert "6 passages of 5 sources" in page.text
    waiting = get(client, f"{ADDRESS}/stats")["without_vector"]
    assert f"{waiting} are found by their words only" in page.text
    assert "used in 2 researches" in page.text
    assert "Retries stop." not in page.text
    assert len(page.links("/library/source?url=")) == 5
    deletes = [each["data-address"] for each in page.all("button") if each.get("data-method") == "DELETE"]
    assert f"/api/library/passages?url={quote(URL, safe='/')}" in deletes
    assert not [each for each in page.all("p") if each.get("class") == "failure"]
    filtered = shown(client, "/library?kind=snippet&host=example.org")
    assert "2 sources" in filtered.text
    assert "mine.md" not in filtered.text
    assert "No source of this kind and site" in shown(client, "/library?host=zebra.org").text


@pytest.mark.slow
def test_many_sources_are_paged(client: TestClient, app: App) -> None:
    """Each one is on one page; filters stay."""
    for number in range(PAGE_SIZE + 2):
        app.library.index.add(document(f"Retries of kind{number}.", f"file:///{number}.md"))
    first = shown(client, "/library?kind=file")
    (more,) = [link for link in first.links("/library?") if "offset" in link]
    assert more == f"/library?kind=file&offset={PAGE_SIZE}"
    second = shown(client, more)
    linked = first.links("/library/source") + second.links("/library/source")
    assert len(set(linked)) == len(linked) == PAGE_SIZE + 2


def test_an_empty_library_starts_something(client: TestClient) -> None:
    """A research, or a page to read; no table and no chart of nothing."""
    page = shown(client, "/library")
    assert "Nothing was read yet" in page.text
    assert "/" in page.links()
    assert [each["name"] for each in page.all("input") if "name" in each] == ["url"]
    assert not page.all("table")


def test_the_page_says_that_nothing_is_found(client: TestClient) -> None:
    """The page offers to research the question."""
    page = shown(client, "/library?q=zebra%26x")
    assert "No passage found" in page.text
    assert "/?question=zebra%26x" in page.links()


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
