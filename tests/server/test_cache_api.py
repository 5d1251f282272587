"""The cache over HTTP: contents, statistics, explanations, deletion."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from harness.app import App
from harness.cache import ResearchContext
from harness.cache.usage import day_of
from harness.core.freshness import DAY, HOUR
from harness.identity import Identity
from tests.server.test_pages import shown

RESULT = {"title": "Retries", "href": "https://example.org/retries", "body": "Retries stop after five attempts."}
RUN = "20261122-101500-1a2b3c"
SEARCH = {"q": "retries of a client", "format": "json"}


def refused(answer: Any, status: int, code: str) -> str:
    """Check that a request was refused; return the message."""
    payload = answer.json()
    assert (answer.status_code, payload["status"], payload["code"], len(payload)) == (status, "error", code, 3), payload
    assert payload["message"].isprintable()
    return str(payload["message"])


def stats(client: TestClient, **headers: str) -> dict[str, Any]:
    """Return the statistics."""
    answer = client.get("/api/stats", headers=headers)
    assert answer.status_code == 200, answer.text
    payload: dict[str, Any] = answer.json()
    return payload


def held(client: TestClient) -> dict[str, int]:
    """Return the row count of each table that is not empty."""
    return {each["table"]: each["total"] for each in stats(client)["tables"] if each["total"]}


def fill(app: App) -> None:
    """Store a search, a research, the record of a run and a tool result."""
    app.cache.searches.put("retries", [RESULT])
    app.cache.researches.put("retries", "general", ResearchContext("They stop.", [], []))
    app.cache.runs.put(RUN, "retries", "corpus", {"question": "x"})
    app.cache.tools.put("web_fetch", "retries", {"x": 1})


def test_an_empty_cache_has_zero_counts(client: TestClient, app: App) -> None:
    """The database of this machine is named."""
    payload = stats(client)
    assert (payload["misses"], payload["live_calls_saved"], payload["days"]) == (0, 0, {})
    assert set(payload["hits"]) == {"exact", "semantic", "stale", "no results", "library"}
    assert held(client) == {}
    assert payload["database"] == app.databases.place
    assert payload["size_bytes"] > 0
    assert [each["entries"] for each in payload["expiring"]] == [0] * 5


def test_hits_and_misses_are_counted(client: TestClient) -> None:
    """A live search is a miss, the same one again a saved live call; both count for today."""
    for _ in range(3):
        assert client.get("/search", params=SEARCH).status_code == 200
    payload = stats(client)
    assert (payload["hits"]["exact"], payload["misses"], payload["live_calls_saved"]) == (2, 1, 2)
    assert payload["days"] == {day_of(time.time()): {"exact": 2, "live": 1}}


@pytest.mark.slow
def test_entries_are_counted_by_expiry(client: TestClient, app: App) -> None:
    """Each live entry in the first span that includes it, expired ones in none."""
    for number, ttl in enumerate((60, 59 * 60, 2 * HOUR, 3 * DAY, 20 * DAY, 300 * DAY, 36_500 * DAY)):
        app.cache.searches.put(f"retries {number}", [RESULT], ttl=ttl)
    payload = {each["within"]: each["entries"] for each in stats(client)["expiring"]}
    assert payload == {"1 hour": 2, "1 day": 1, "1 week": 1, "30 days": 1, "later": 2}


def test_explaining_does_not_search(client: TestClient) -> None:
    """Before the search it is a miss, after it an exact hit; explaining counts nothing."""
    asked = {"q": SEARCH["q"]}
    for _ in range(2):
        assert client.get("/api/explain", params=asked).json()["decision"] == "miss"
    assert held(client) == {}
    client.get("/search", params=SEARCH)
    payload = client.get("/api/explain", params=asked).json()
    assert (payload["exact"], payload["decision"], payload["answered_by"]) == ("hit", "exact", None)
    assert stats(client)["days"] == {day_of(time.time()): {"live": 1}}


@pytest.mark.slow
def test_candidates_have_the_verdicts_of_all_guards(client: TestClient) -> None:
    """A different number is refused, with the reason."""
    client.get("/search", params={"q": "retry a request 3 times", "format": "json"})
    payload = client.get("/api/explain", params={"q": "retry a request 5 times"}).json()
    assert payload["decision"] == "miss"
    (candidate,) = payload["candidates"]
    assert candidate["query"] == "retry a request 3 times"
    assert candidate["refused"]
    assert any(said != "passed" for said in candidate["guards"].values())
    assert 0 < candidate["similarity"] <= 1
    page = client.get("/cache", params={"q": "retry a request 5 times"}).text
    assert "refused" in page


@pytest.mark.slow
def test_an_invalid_query_is_a_client_error(client: TestClient) -> None:
    """The page shows it next to the query."""
    for q in ("", " ", "\x00", "x" * 10_001):
        refused(client.get("/api/explain", params={"q": q}), 400, "invalid_input")
    refused(client.get("/api/explain"), 400, "invalid_input")
    assert "NUL" in client.get("/cache", params={"q": "x\x00"}, headers={"Accept": "text/html"}).text


@pytest.mark.slow
def test_clearing_by_kind(client: TestClient, app: App) -> None:
    """Only this kind is deleted; records of runs only by their own name."""
    kinds = {
        "search": {"search_cache": 1}, "research": {"research_cache": 1}, "tools": {"tool_cache": 1}, "pages": {},
        "completions": {}, "runs": {"research_runs": 1},
    }  # fmt: skip
    for kind, gone in kinds.items():
        fill(app)
        before = {"search_cache": 1, "research_cache": 1, "tool_cache": 1}
        payload = client.post("/api/cache/clear", json={"kind": kind}).json()
        assert {table: count for table, count in payload["deleted"].items() if count} == gone, kind
        assert payload["selected"] == sum(gone.values())
        assert held(client) == {table: count for table, count in before.items() if table not in gone}
    fill(app)
    assert client.post("/api/cache/clear", json={"kind": "all"}).json()["selected"] == 3
    assert client.get(f"/api/runs/{RUN}").status_code != 404


def test_clearing_by_age(client: TestClient, app: App) -> None:
    """Only older entries are deleted; a dry run deletes nothing."""
    fill(app)
    for hours, selected in ((24, 0), (0, 1)):
        payload = client.post("/api/cache/clear", json={"kind": "search", "older_than_hours": hours, "dry_run": True})
        assert payload.json()["selected"] == selected
        assert sum(payload.json()["deleted"].values()) == 0
    assert held(client)["search_cache"] == 1
    assert client.post("/api/cache/clear", json={"kind": "search", "older_than_hours": 0}).json()["selected"] == 1
    assert "search_cache" not in held(client)


@pytest.mark.slow
def test_invalid_clear_requests_delete_nothing(client: TestClient, app: App) -> None:
    """A wrong word or number."""
    fill(app)
    before = held(client)
    for body in (
        {}, {"kind": "everything"}, {"kind": "ALL"}, {"kind": None}, {"kind": ["all"]}, {"kind": "access_tokens"},
        {"kind": "all", "older_than_hours": -1}, {"kind": "all", "older_than_hours": "x"},
        {"kind": "all", "older_than_hours": 1e9}, {"kind": "all", "dry_run": "perhaps"}, {"kind": "all", "sure": True},
        {"kind": "all", "older_then_hours": 48}, [], None, "all",
    ):  # fmt: skip
        refused(client.post("/api/cache/clear", json=body), 400, "invalid_input")
    for content in (
        b"",
        b"{",
        b'{"kind": "all", "older_than_hours": NaN}',
        b'{"kind": "all", "older_than_hours": Infinity}',
    ):
        answer = client.post("/api/cache/clear", content=content, headers={"Content-Type": "application/json"})
        refused(answer, 400, "invalid_input")
    refused(client.post("/api/cache/clear", data={"kind": "all"}), 400, "invalid_input")
    assert held(client) == before


@pytest.mark.slow
def test_only_expired_entries_are_deleted(client: TestClient, app: App) -> None:
    """By the endpoint for it."""
    app.cache.searches.put("retries of old", [RESULT], ttl=0.001)
    time.sleep(0.01)
    app.cache.searches.put("retries", [RESULT], engine="corpus")
    payload = client.post("/api/cache/expired").json()
    assert payload["selected"] == sum(payload["deleted"].values()) <= 1
    assert held(client) == {"search_cache": 1}


@pytest.mark.slow
def test_each_tenant_clears_and_counts_its_own(client: TestClient, app: App, token: Callable[..., str]) -> None:
    """And does not see the machine's database."""
    lab, shop = ({"Authorization": f"Bearer {token(tenant)}"} for tenant in ("lab", "shop"))
    for headers in (lab, shop):
        client.get("/search", params=SEARCH, headers=headers)
    client.get("/search", params=SEARCH, headers=lab)
    assert (stats(client, **lab)["live_calls_saved"], stats(client, **shop)["live_calls_saved"]) == (1, 0)
    payload = stats(client, **lab)
    assert (payload["database"], payload["size_bytes"]) == (None, None)
    assert client.post("/api/cache/clear", json={"kind": "all"}, headers=shop).json()["selected"] >= 1
    assert client.get("/api/explain", params={"q": SEARCH["q"]}, headers=lab).json()["decision"] == "exact"
    assert client.get("/api/explain", params={"q": SEARCH["q"]}, headers=shop).json()["decision"] == "miss"


@pytest.mark.slow
def test_a_reader_sees_all_statistics(client: TestClient, app: App, token: Callable[..., str]) -> None:
    """Its own lookups leave no trace."""
    mine = app.serving(Identity("lab", "ada", "writer", "0" * 16))
    engine = mine.sources.engines()[0]
    mine.cache.searches.put(SEARCH["q"], [RESULT], engine=engine.name, options=engine.options)
    rob = {"Authorization": f"Bearer {token('lab', 'rob', 'reader')}"}
    for _ in range(3):
        assert client.get("/search", params=SEARCH, headers=rob).status_code == 200
        assert stats(client, **rob)["days"] == {}
    assert client.get("/api/explain", params={"q": SEARCH["q"]}, headers=rob).json()["decision"] == "exact"
    page = client.get("/cache", headers=rob)
    assert (page.status_code, "Delete what has expired" in page.text) == (200, False)


# --- what was saved


def reuse(client: TestClient, **parameters: Any) -> dict[str, Any]:
    """Return what the cache saved."""
    answer = client.get("/api/cache/reuse", params=parameters)
    assert answer.status_code == 200, answer.text
    payload: dict[str, Any] = answer.json()
    return payload


def test_saved_calls_are_listed_by_engine_and_query(client: TestClient) -> None:
    """With the engine's live calls, the most reused query with its page, and the reason of the live call."""
    for query in ("retries of a client", "timeouts", "retries of a client", "retries of a client"):
        client.get("/search", params={"q": query, "format": "json"})
    payload = reuse(client, days=7)
    assert payload["sources"] == [{"kind": "search", "source": "corpus", "saved": 2, "live": 2, "failed": 0}]
    assert payload["saved_by_day"] == {day_of(time.time()): {"corpus": 2}}
    (entry,) = payload["reused"]
    assert (entry["text"], entry["hits"], entry["kind"]) == ("retries of a client", 2, "search")
    assert client.get(entry["page"], headers={"Accept": "text/html"}).status_code == 200
    assert payload["reasons"] == [{"reason": "new, or deleted after it expired", "calls": 2}]
    assert [each["query"] for each in payload["misses"]] == ["timeouts", "retries of a client"]
    page = shown(client, "/cache")
    assert "2 calls saved" in page.text
    assert entry["page"] in page.links()
    assert "new, or deleted after it expired" in page.text


def test_a_miss_names_what_could_not_answer(client: TestClient) -> None:
    """The most similar search that was cached then, with the reason, on the page too."""
    for times in (3, 5):
        client.get("/search", params={"q": f"retry a request {times} times", "format": "json"})
    second, first = reuse(client)["misses"]
    assert first["nearest"] is None
    assert second["nearest"]["query"] == "retry a request 3 times"
    assert second["nearest"]["refused"]
    page = shown(client, "/cache")
    assert "could not answer" in page.text
    assert "/cache?q=retry%20a%20request%205%20times#explain" in page.links()


def test_only_the_wanted_days_and_origins_count(client: TestClient, app: App) -> None:
    """Older days are left out, of cards, tables and details; evaluations are counted apart."""
    usage, now = app.store.usage, app.cache.now
    for ago, times in ((0, 1), (6, 2), (29, 4), (89, 8), (100, 16)):
        day = day_of(now - ago * DAY)
        usage.add("default", day, {"exact": times})
        usage.add("default", day, {"source\tsearch_cache\tddgs\texact": times}, origin="user detail")
        usage.add("default", day, {"source\tsearch_cache\tddgs\texact": 100}, origin="evaluation detail")
    for days, saved in ((7, 3), (30, 7), (90, 15)):
        assert [each["saved"] for each in reuse(client, days=days)["sources"]] == [saved]
        text = " ".join(shown(client, f"/cache?days={days}").text.split())
        assert f"{saved} live calls saved" in text
    assert [each["saved"] for each in reuse(client, origin="evaluation", days=7)["sources"]] == [200]
    for parameters in ({"days": 0}, {"days": 367}, {"days": "x"}, {"origin": "zebra"}):
        refused(client.get("/api/cache/reuse", params=parameters), 400, "invalid_input")
        assert client.get("/cache", params=parameters).status_code == 400


def test_deleted_entries_are_not_listed_as_reused(client: TestClient, app: App) -> None:
    """Their calls stay counted."""
    for _ in range(2):
        client.get("/search", params=SEARCH)
    client.post("/api/cache/clear", json={"kind": "all"})
    payload = reuse(client)
    assert payload["reused"] == []
    assert payload["sources"][0]["saved"] == 1


def test_an_empty_cache_starts_something(client: TestClient) -> None:
    """No table, no chart, no card of nothing: a link to the first research."""
    page = shown(client, "/cache")
    assert "Nothing is cached yet" in page.text
    assert not page.all("table")
    assert not page.all("img")
    assert not [each for each in page.all("p") if each.get("class") == "card"]


def test_a_range_without_answers_offers_a_longer_one(client: TestClient, app: App) -> None:
    """Not an empty chart."""
    app.store.usage.add("default", day_of(app.cache.now - 60 * DAY), {"exact": 1})
    page = shown(client, "/cache?days=7")
    assert "No lookup in this time" in page.text
    assert "/cache?days=90&origin=own" in page.links()
    assert not page.all("img")


def test_one_day_is_a_table_and_no_chart(client: TestClient, app: App) -> None:
    """A chart of one bar looks broken."""
    app.store.usage.add("default", day_of(app.cache.now), {"exact": 3, "library": 2})
    page = shown(client, "/cache")
    assert not page.all("img")
    assert len([each for each in page.all("details") if "open" in each]) == 1
    assert "library" in page.text
    assert "failed" not in page.text.split("Explain a search")[0].split("Answers by day")[1]


def test_hostile_texts_are_only_text(client: TestClient, app: App) -> None:
    """Queries, engines and reasons are escaped."""
    evil = "<script>alert(1)</script> 2023"
    for query in (evil, evil, evil.replace("2023", "2024")):
        app.cache.searches.answer(query, lambda *_: [RESULT], engine="<img src=x>")
    app.cache.usage.flush()
    page = shown(client, "/cache")
    assert "<script>alert(1)</script>" in page.text
    assert "<img src=x>" in page.text
