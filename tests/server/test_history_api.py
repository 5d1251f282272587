"""The history over HTTP: found by meaning or by time, read, deleted, refreshed."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from starlette.testclient import TestClient
from werkzeug import Response

from harness.app import App
from harness.cache import ResearchContext
from harness.core.entries import Entry
from harness.core.freshness import DAY
from harness.core.keys import search_key
from harness.core.tables import KNOWLEDGE, RESEARCH, RUNS, SEARCHES
from harness.server.api.research_jobs import ResearchJobs
from harness.server.auth import Authenticator
from harness.server.request_checks import HostNames, RequestChecks
from harness.server.routes import build_routes
from harness.settings import Settings
from tests.fakes import WordEmbedder

pytestmark = pytest.mark.usefixtures("embedder")

ADDRESS = "/api/research-history"
RESULT = {"title": "Retries", "href": "https://example.org/retries", "body": "Retries stop after five attempts."}
RUN = "20261122-101500-1a2b3c"


def fill(app: App) -> dict[str, str]:
    """Store one entry in each table; return the ids by title."""
    app.cache.searches.put("retries in a search", [RESULT], engine="corpus")
    app.cache.researches.put("retries in a research", "general", ResearchContext("They stop.", [], []))
    app.cache.runs.put(RUN, "retries in a run", "corpus", {"question": "x", "state": "gathering"})
    app.knowledge.write("retries in a document", "Three, with jitter.")
    return {each.title: each.id for each in app.history.page().items}


def look(client: TestClient, **parameters: Any) -> dict[str, Any]:
    """List the history."""
    answer = client.get(ADDRESS, params=parameters)
    assert answer.status_code == 200, answer.text
    shape: dict[str, Any] = answer.json()
    return shape


def titles(shape: dict[str, Any]) -> list[str]:
    """Return the titles of the items."""
    return [each["title"] for each in shape["items"]]


def refused(answer: Any, status: int, code: str) -> str:
    """Check that a request was refused; return the message."""
    shape = answer.json()
    assert (answer.status_code, shape["status"], shape["code"], len(shape)) == (
        status,
        "error",
        code,
        3,
    ), shape
    assert shape["message"].isprintable()
    return str(shape["message"])


# --- listing


def test_each_item_has_all_fields(client: TestClient, app: App) -> None:
    """Source, id, title, snippet, time, similarity, URL, expired."""
    before = time.time()
    app.cache.searches.put("retries", [RESULT])
    shape = look(client)
    assert shape["next_offset"] is None
    (item,) = shape["items"]
    stamp = item.pop("timestamp")
    assert item == {
        "source": "search",
        "id": search_key("retries"),
        "title": "retries",
        "snippet": RESULT["body"],
        "similarity": 1.0,
        "url": RESULT["href"],
        "expired": False,
        "count": 1,
        "ids": [search_key("retries")],
        "found": True,
    }
    assert time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(before - 1)) <= stamp
    assert stamp <= time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time()))


def test_the_history_can_be_limited_to_what_was_found(client: TestClient, app: App) -> None:
    """Searches with results and researches with a report, or the others; over several pages, newest first."""
    for number in range(4):
        app.cache.searches.put(f"retries {number}", [RESULT])
    report = {"title": "x", "citations": [], "sources": []}
    for number, found in enumerate((report, None, report, None)):
        record = {"question": "x", "state": "finished", "report": found}
        app.cache.runs.put(f"20261122-10150{number}-1a2b3c", f"question {number}", "corpus", record)
    assert titles(look(client, found="no")) == ["question 3", "question 1"]
    assert titles(look(client, found="yes", source="research")) == ["question 2", "question 0"]
    first, second = (look(client, found="yes", limit=4, offset=offset) for offset in (0, 4))
    assert (first["next_offset"], second["next_offset"]) == (4, None)
    assert {*titles(first), *titles(second)} == {f"retries {n}" for n in range(4)} | {"question 0", "question 2"}
    assert titles(look(client, q="question", found="no", source="research")) != []
    assert all(not each["found"] for each in look(client, q="question", found="no")["items"])
    refused(client.get(ADDRESS, params={"found": "maybe"}), 400, "invalid_input")


def test_a_repeated_research_is_one_item(client: TestClient, app: App) -> None:
    """With the number of its runs and their ids, newest first."""
    runs = [f"20261122-10150{number}-1a2b3c" for number in range(3)]
    for run in runs:
        app.cache.runs.put(run, "Why retries?", "corpus", {"question": "x", "state": "gathering"})
    (item,) = look(client)["items"]
    assert (item["id"], item["count"], item["ids"]) == (runs[2], 3, runs[::-1])
    assert "3 runs" in client.get("/").text


def test_since_accepts_unix_times(client: TestClient, app: App) -> None:
    """In whole seconds or with decimals."""
    app.cache.searches.put("retries", [RESULT])
    now = time.time()
    assert titles(look(client, since=f"{now - 60:.0f}")) == titles(look(client, since=f"{now - 60:.3f}")) == ["retries"]
    assert titles(look(client, since=f"{now + 60:.3f}")) == []


def test_entries_of_experiments_are_shown_on_request(client: TestClient, app: App) -> None:
    """In the history, in the statistics, and on their pages."""
    with app.serving(app.identity, origin="experiment") as theirs:
        theirs.cache.searches.put("retries of a trial", [RESULT])
        for _ in range(7):
            theirs.cache.searches.find("retries of a trial")
    app.cache.searches.put("retries of mine", [RESULT])
    app.cache.searches.find("retries of mine")
    app.cache.usage.flush()
    assert titles(look(client)) == ["retries of mine"]
    assert titles(look(client, origin="experiment")) == ["retries of a trial"]
    assert len(look(client, origin="all")["items"]) == 2
    saved = {choice: client.get("/api/stats", params={"origin": choice}).json()["live_calls_saved"]
             for choice in ("own", "user", "agent", "experiment", "all")}  # fmt: skip
    assert saved == {"own": 1, "user": 1, "agent": 0, "experiment": 7, "all": 8}
    assert client.get("/api/stats").json()["live_calls_saved"] == 1
    assert "of a trial" not in client.get("/").text
    assert "of a trial" in client.get("/", params={"origin": "experiment"}).text
    shown = client.get("/cache", params={"origin": "experiment"}).text
    assert "<strong>7</strong> live calls saved" in shown
    chart = client.get("/charts/cache.svg", params={"origin": "agent"})
    assert chart.status_code == 404, "nothing was asked for agents"
    assert client.get("/charts/cache.svg", params={"origin": "experiment"}).status_code == 200
    refused(client.get(ADDRESS, params={"origin": "strangers"}), 400, "invalid_input")


def test_entries_are_found_by_time_and_by_meaning(client: TestClient, app: App) -> None:
    """Without `q` newest first, with it most similar first; `source` and `since` filter."""
    fill(app)
    assert titles(look(client))[0] == "retries in a document"
    by_meaning = look(client, q="retries in a run")["items"]
    assert (by_meaning[0]["title"], by_meaning[0]["similarity"]) == ("retries in a run", 1.0)
    assert [each["similarity"] for each in by_meaning] == sorted((e["similarity"] for e in by_meaning), reverse=True)
    assert all(each["similarity"] == round(each["similarity"], 3) < 1 for each in by_meaning[1:])
    assert {each["source"] for each in look(client, source="research")["items"]} == {"research"}
    assert len(look(client, since="1h", q="retries")["items"]) == 4
    tomorrow = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 2 * DAY))
    assert (
        look(client, since=tomorrow) == look(client, since=tomorrow, q="retries") == {"items": [], "next_offset": None}
    )
    assert look(client, q="zebra") == {"items": [], "next_offset": None}


def test_pages_follow_each_other(client: TestClient, app: App) -> None:
    """`next_offset` lists every item once; the last page has none, even if it is full."""
    for number in range(9):
        app.cache.searches.put(f"retries {number}", [RESULT])
    for q in ("", "retries"):
        for limit in (2, 3, 9, 100):
            found: list[str] = []
            offset: int | None = 0
            while offset is not None:
                shape = look(client, q=q, limit=limit, offset=offset)
                assert shape["items"]
                found += [each["id"] for each in shape["items"]]
                offset = shape["next_offset"]
            assert len(found) == len(set(found)) == 9


@pytest.mark.slow
def test_invalid_parameters_are_client_errors(client: TestClient) -> None:
    """In one line each."""
    for parameters in (
        {"limit": 0}, {"limit": 101}, {"limit": "x"}, {"limit": "1e9"}, {"limit": "9" * 5_000}, {"offset": -1},
        {"offset": 10_001}, {"offset": ""}, {"source": "web"}, {"source": ""}, {"source": "access_tokens"},
        {"since": "yesterday"}, {"since": "7"}, {"since": "9" * 65}, {"since": "2026-99-99"}, {"since": "nan"},
        {"q": "x" * 10_001}, {"since": "\x00"},
    ):  # fmt: skip
        refused(client.get(ADDRESS, params=parameters), 400, "invalid_input")
    for q in ("\x00", "\ud83d", "%", "' OR 1=1 --", "\u202e", "x" * 10_000, "*", '"', "NEAR(", "ﷺ" * 1_000):
        assert client.get(ADDRESS, params={"q": q.encode("utf-8", "replace").decode()}).status_code == 200


@pytest.mark.slow
def test_texts_from_outside_are_shortened_and_cleaned(client: TestClient, app: App) -> None:
    """A title of a megabyte and control characters do not reach the response."""
    now = time.time()
    title = "\u202e\x1b[2J\x00" + "retries " * 2_000 + "x" * 100_000
    payload = msgspec.json.encode([{"title": title, "href": "https://e.org/\n" + title, "body": title}])
    for number in range(20):
        entry = Entry(f"{number}", title, payload, now, now + DAY, now, (10, "ddgs", "{}"))
        app.store.rows.put(SEARCHES, "default", entry)
    answer = client.get(ADDRESS)
    assert len(answer.content) < 100_000
    for character in ("\\u202e", "\u202e", "\\u001b", "\\u0000", "\\n"):
        assert character not in answer.text


@pytest.mark.slow
def test_a_missing_model_is_an_error(client: TestClient, app: App, embedder: WordEmbedder) -> None:
    """Not an empty result; listing by time still works."""
    from harness.errors import EmbeddingError

    fill(app)

    def broken(_: Any) -> Any:
        raise EmbeddingError("the model is missing; install it again")

    embedder.embed = broken  # type: ignore[method-assign]
    assert "the model is missing" in refused(client.get(ADDRESS, params={"q": "x"}), 503, "search_backend_error")
    assert len(look(client)["items"]) == 4
    page = client.get("/", params={"q": "retries"}, headers={"Accept": "text/html"})
    assert (page.status_code, "the model is missing" in page.text, 'value="retries"' in page.text) == (503, True, True)


# --- single entries


def test_an_entry_is_returned_completely(client: TestClient, app: App) -> None:
    """With its origin and its data."""
    fill(app)
    for item in look(client)["items"]:
        shape = client.get(f"/api/entries/{item['source']}/{item['id']}").json()
        assert (shape["source"], shape["id"], shape["title"]) == (
            item["source"],
            item["id"],
            item["title"],
        )
        assert (shape["created_at"], shape["expired"]) == (item["timestamp"], item["expired"])
        assert shape["data"]
        page = client.get(f"/entries/{item['source']}/{item['id']}")
        assert page.status_code == (200 if item["title"].endswith(("search", "research")) else 303)
    search = client.get(f"/api/entries/search/{search_key('retries in a search', 'corpus')}").json()
    assert search["data"] == [RESULT]
    assert search["about"] == {"engine": "corpus", "options": "{}", "max_results": 10}


@pytest.mark.slow
def test_an_unknown_entry_is_not_found(client: TestClient, app: App) -> None:
    """To read, delete and refresh; also with the id of another source."""
    ids = fill(app)
    for source, key in (
        ("search", "x"),
        ("knowledge", "%00"),
        ("research", ids["retries in a search"]),
        ("search", RUN),
    ):
        for method, address in (("GET", ""), ("DELETE", ""), ("POST", "/refresh")):
            refused(client.request(method, f"/api/entries/{source}/{key}{address}"), 404, "not_found")
    for source in ("pages", "all", "access_tokens", "x"):
        refused(client.get(f"/api/entries/{source}/x"), 400, "invalid_input")


@pytest.mark.slow
def test_any_payload_can_be_shown(client: TestClient, app: App) -> None:
    """In list, response and page, without an error and without markup."""
    own: dict[str, tuple[Any, ...]] = {
        SEARCHES: (10, "ddgs", "{}"), RESEARCH: ("[]", "[]", "general", ""), RUNS: ("corpus",), KNOWLEDGE: ("", 1),
    }  # fmt: skip
    sources = {SEARCHES: "search", RESEARCH: "research", RUNS: "research", KNOWLEDGE: "knowledge"}
    now = time.time()
    for payload in (
        b"", b"null", b"[]", b"{}", b"[null]", b"42", b"{", b"[" * 5_000, b'{"report": {"citations": [1]}}',
        b'"\\ud800"',
        b'[{"title": null, "href": null, "body": null}]', b'[{"title": {}, "href": [], "body": 1}]',
        b'[{"title": "<script>alert(1)</script>", "href": "javascript:alert(1)", "body": "<img src=x onerror=alert(1)>"'
        b"}]",
        b"<script>alert(1)</script>", b'[{"title": "x", "href": "https://e.org/\\"onmouseover=alert(1) x="}]',
    ):  # fmt: skip
        for table, values in own.items():
            key, source = "0" * 32, sources[table]
            title = "<script>alert(1)</script>"
            app.store.rows.put(table, "default", Entry(key, title, payload, now, now + DAY, now, values))
            assert look(client, source=source)["items"][0]["id"] == key
            assert client.get(f"/api/entries/{source}/{key}").status_code == 200
            page = client.get(f"/entries/{source}/{key}", headers={"Accept": "text/html"})
            assert page.status_code in {200, 303}
            for text in (page.text, client.get("/", params={"source": source}).text):
                assert "<script>alert" not in text
                assert "<img" not in text
                assert 'href="javascript' not in text
                assert '"onmouseover' not in text
                assert ">None<" not in text
            app.store.rows.delete(table, "default", [key])


# --- deletion


def test_a_deleted_entry_is_found_nowhere(client: TestClient, app: App) -> None:
    """Not by time, by meaning, by id, or as an answer."""
    for title, key in fill(app).items():
        source = {"search": "search", "document": "knowledge"}.get(title.split()[-1], "research")
        assert title in titles(look(client, q=title))
        assert client.delete(f"/api/entries/{source}/{key}").json() == {"deleted": 1}
        assert title not in titles(look(client))
        assert title not in titles(look(client, q=title))
        refused(client.get(f"/api/entries/{source}/{key}"), 404, "not_found")
        refused(client.delete(f"/api/entries/{source}/{key}"), 404, "not_found")
    assert look(client)["items"] == []
    assert client.get("/api/explain", params={"q": "retries in a search"}).json()["decision"] == "miss"


@pytest.mark.parametrize("road", ["api", "cache", "expired", "knowledge", "run"])
def test_entries_deleted_elsewhere_are_gone(client: TestClient, app: App, road: str) -> None:
    """By the cache, the knowledge base or a sweep."""
    ids = fill(app)
    assert len(look(client, q="retries")["items"]) == 4
    if road == "api":
        cleared = client.post("/api/cache/clear", json={"kind": "all"}).json()
        assert cleared["selected"] == 2
        left = ["document", "run"]
    elif road == "cache":
        app.cache.maintenance.clear()
        left = ["document", "run"]
    elif road == "expired":
        app.store.rows.sweep(SEARCHES, "default", time.time() + 400 * DAY)
        left = ["document", "research", "run"]
    elif road == "knowledge":
        assert client.delete(f"/api/knowledge/{ids['retries in a document']}").json() == {"deleted": 1}
        left = ["research", "run", "search"]
    else:
        assert client.delete(f"/api/runs/{RUN}").json() == {"deleted": 1}
        left = ["document", "research", "search"]
    for q in ("", "retries"):
        assert sorted(each.split()[-1] for each in titles(look(client, q=q))) == left


# --- refresh


class Engine:
    """A SearXNG instance that counts its searches."""

    def __init__(self, server: HTTPServer) -> None:
        self.asked = 0
        self.status, self.most = 200, 10
        self.address = server.url_for("")
        server.expect_request("/search").respond_with_handler(self._answer)

    def _answer(self, _: Any) -> Response:
        self.asked += 1
        results = [
            {"url": f"https://e.org/{number}", "title": f"Answer {self.asked}", "content": "x"}
            for number in range(self.most)
        ]
        body = msgspec.json.encode({"results": results, "unresponsive_engines": []})
        return Response(body, self.status, content_type="application/json")


@pytest.fixture
def engine(httpserver: HTTPServer) -> Engine:
    """A SearXNG instance."""
    return Engine(httpserver)


@pytest.fixture
def asking(settings: Settings, engine: Engine, researches: ResearchJobs) -> Iterator[TestClient]:
    """A client of an application that searches with it."""
    changed = msgspec.structs.replace(
        settings,
        engine=(f"searxng:{engine.address}",),
        searches_per_minute=60_000,
        rate_limit_retries=0,
        semantic=False,
    )
    with App(changed) as bench, Authenticator(bench, per_minute=60_000, alone=True) as authenticator:
        checks = RequestChecks(
            build_routes(researches, authenticator), names=HostNames("127.0.0.1"), authenticator=authenticator
        )
        with TestClient(checks, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
            yield client


def searched(client: TestClient, q: str = "retries") -> dict[str, Any]:
    """Search as a tool does; return the item of the history."""
    assert client.get("/search", params={"q": q, "format": "json"}).status_code == 200
    found = client.get(ADDRESS).json()["items"]
    item: dict[str, Any] = next(each for each in found if each["title"] == q)
    return item


def test_a_search_is_refreshed(asking: TestClient, engine: Engine) -> None:
    """The engine is called although the cache could answer, and the results are replaced."""
    item = searched(asking)
    asked = engine.asked
    answer = asking.post(f"/api/entries/search/{item['id']}/refresh")
    assert answer.json() == {"id": item["id"], "results": 10, "live_calls": 1}
    assert engine.asked > asked
    shape = asking.get(f"/api/entries/search/{item['id']}").json()
    assert shape["data"][0]["title"] == f"Answer {engine.asked}"
    assert len(asking.get(ADDRESS).json()["items"]) == 1
    assert asking.get("/search", params={"q": "retries", "format": "json"}).json()["results"][0]["title"] != "Answer 1"


@pytest.mark.slow
def test_a_failed_refresh_keeps_the_old_results(asking: TestClient, engine: Engine) -> None:
    """Also if the engine finds nothing now."""
    item = searched(asking)
    engine.status = 503
    refused(asking.post(f"/api/entries/search/{item['id']}/refresh"), 502, "engine_unavailable")
    engine.status, engine.most = 200, 0
    assert asking.post(f"/api/entries/search/{item['id']}/refresh").json()["results"] == 0
    assert asking.get(f"/api/entries/search/{item['id']}").json()["data"][0]["title"] == "Answer 1"


@pytest.mark.slow
def test_refused_refreshes_have_a_reason(client: TestClient, app: App) -> None:
    """Another engine, other options, damaged entries, and entries that are not searches."""
    ids = fill(app)
    for title, source in (("retries in a run", "research"), ("retries in a document", "knowledge")):
        refused(client.post(f"/api/entries/{source}/{ids[title]}/refresh"), 400, "invalid_input")
    now = time.time()
    for own in (
        (10, "ddgs", "{}"),
        (10, "corpus", '{"x":1}'),
        (10, "corpus", "{"),
        (10, "corpus", ""),
        (10, "", "null"),
    ):
        app.store.rows.put(SEARCHES, "default", Entry("k", "retries", b"[]", now, now + DAY, now, own))
        message = refused(client.post("/api/entries/search/k/refresh"), 400, "invalid_input")
        assert "--engine" in message


@pytest.mark.slow
def test_offline_nothing_is_refreshed(settings: Settings, researches: ResearchJobs, token: Callable[..., str]) -> None:
    """The message says so, and no engine is called."""
    offline = msgspec.structs.replace(settings, offline=True, semantic=False)
    with App(offline) as bench, Authenticator(bench, per_minute=60_000, alone=True) as authenticator:
        engine = bench.sources.engines()[0]
        bench.cache.searches.put("retries", [RESULT], engine=engine.name, options=engine.options)
        checks = RequestChecks(
            build_routes(researches, authenticator), names=HostNames("127.0.0.1"), authenticator=authenticator
        )
        with TestClient(checks, base_url="http://127.0.0.1") as client:
            key = client.get(ADDRESS).json()["items"][0]["id"]
            refused(client.post(f"/api/entries/search/{key}/refresh"), 503, "offline_miss")
