"""Researches over HTTP: start, watch, stop, resume, read."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pytest_httpserver import HTTPServer
from starlette.testclient import TestClient
from werkzeug import Request, Response

from harness.app import App
from harness.core.entries import Entry
from harness.core.freshness import DAY
from harness.core.tables import RUNS
from harness.server.api.research_jobs import MAX_ENDED, ResearchJobs
from harness.server.auth import Authenticator
from harness.server.request_checks import HostNames, RequestChecks
from harness.server.routes import build_routes
from harness.settings import Settings
from tests.cli.conftest import NOTES

QUESTION = "How do retries of a client stop?"
HALF = "How do retries of a client stop, and who invented them?"
"""A question of which the notes answer half, so that one round is not enough."""
NOWHERE = "20261122-101500-1a2b3c"
PATIENCE = 60.0
"""Seconds after which what a test waits for will not come any more."""


class Waiting:
    """A SearXNG instance that waits for `go`; `asked` are the received queries."""

    def __init__(self, server: HTTPServer) -> None:
        self.go = threading.Event()
        self.asked: list[str] = []
        self.began = threading.Event()
        self.status = 200
        self.address = server.url_for("")
        server.expect_request("/search").respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        if request.args["pageno"] == "1":
            self.asked.append(request.args["q"])
        self.began.set()
        self.go.wait(PATIENCE)
        results = [
            {"url": f"https://{name}.example/", "title": name, "content": text.partition("\n\n")[2]}
            for name, text in NOTES.items()
        ]
        body = json.dumps({"results": results, "unresponsive_engines": []})
        return Response(body, self.status, content_type="application/json")


@pytest.fixture
def engine(httpserver: HTTPServer) -> Iterator[Waiting]:
    """An engine that waits; it is released at the end of the test."""
    made = Waiting(httpserver)
    yield made
    made.go.set()


@pytest.fixture
def waiting(settings: Settings, engine: Waiting) -> Settings:
    """Settings with that engine, and no pages to read."""
    import msgspec

    return msgspec.structs.replace(
        settings,
        engine=(f"searxng:{engine.address}",),
        read_pages=0,
        searches_per_minute=60_000,
        rate_limit_retries=0,
    )


@pytest.fixture
def slow(waiting: Settings, engine: Waiting) -> Iterator[TestClient]:
    """A client of an application with the waiting engine; two researches at a time."""
    with App(waiting) as app, Authenticator(app, per_minute=60_000, alone=True) as let:
        researches = ResearchJobs(2)
        checks = RequestChecks(build_routes(researches, let), names=HostNames("127.0.0.1"), authenticator=let)
        with TestClient(checks, base_url="http://127.0.0.1", follow_redirects=False) as client:
            client.app_state = {"researches": researches, "app": app}
            yield client
            engine.go.set()
        researches.close()


def begin(client: TestClient, question: str = QUESTION, **more: Any) -> dict[str, Any]:
    """Start a research."""
    answer = client.post("/api/researches", json={"question": question, **more})
    assert answer.status_code == 202, answer.text
    response: dict[str, Any] = answer.json()
    return response


def events(client: TestClient, address: str, **headers: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Read a stream to its end, as a browser does: (event, id, data)."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    held: dict[str, str] = {}
    with client.stream("GET", address, headers={"Accept": "text/event-stream", **headers}) as stream:
        assert stream.status_code == 200, stream.read()
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            if line.startswith(":"):
                continue
            if line:
                held[name] = value
            elif held:
                found.append((held.get("event", "message"), held.get("id", ""), json.loads(held["data"])))
                held = {}
    return found


def until(holds: Callable[[], Any]) -> Any:
    """Wait until a condition holds; return its value."""
    deadline = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
    return found


def ended(client: TestClient, research: dict[str, Any]) -> dict[str, Any]:
    """Wait for the end of a research; return the event."""
    return events(client, research["events"])[-1][2]


def refused(answer: Any, status: int, code: str) -> str:
    """Check that a request was refused; return the message."""
    response = answer.json()
    assert (answer.status_code, response["status"], response["code"], len(response)) == (
        status,
        "error",
        code,
        3,
    ), response
    return str(response["message"])


# --- from the question to the report


def test_a_research_is_started_watched_and_read(client: TestClient) -> None:
    """The question is accepted at once; the stream has steps, rounds and the end; then the report exists."""
    begun = begin(client, HALF)
    assert begun["state"] == "running"
    assert begun["question"] == HALF
    response = events(client, begun["events"])
    assert {name for name, _, _ in response} == {"step", "round", "ended"}
    rounds = [(id_, data["number"]) for name, id_, data in response if name == "round"]
    assert rounds == [("1", 1), ("2", 2)]
    assert response[-1] == ("ended", "", {"state": "finished", "found": True, "code": None, "message": None})
    run = client.get(f"/api/runs/{begun['id']}").json()
    assert (run["state"], run["question"], run["title"]) == ("finished", HALF, HALF)
    assert run["citations"]
    assert all(each["verified"] for each in run["citations"])
    for each in run["citations"]:
        before, quotation, after = each["passage"]
        assert " ".join(quotation.split()) == each["quotation"]
        assert isinstance(before + after, str)
    assert run["quotations"] == run["quotations_verified"] == len(run["citations"])
    assert [each["number"] for each in run["rounds"]] == [1, 2]
    assert [data for name, _, data in response if name == "round"] == run["rounds"]
    assert run["markdown"].startswith("# ")
    assert client.get(begun["page"], headers={"Accept": "text/html"}).status_code == 200


@pytest.mark.slow
def test_the_history_finds_a_research(client: TestClient) -> None:
    """By meaning, with its run; the same question again costs no live call."""
    first = begin(client)
    ended(client, first)
    found = client.get("/api/research-history", params={"q": "when do clients stop retrying", "source": "research"})
    assert first["id"] in [each["id"] for each in found.json()["items"]]
    second = begin(client)
    ended(client, second)
    response = [client.get(f"/api/runs/{each['id']}").json() for each in (first, second)]
    assert response[0]["live_calls"] > 0
    assert response[1]["live_calls"] == 0
    assert response[1]["markdown"] == response[0]["markdown"]
    assert [each["id"] for each in client.get("/api/runs").json()["items"]] == [second["id"], first["id"]]


@pytest.mark.slow
def test_a_reconnected_client_misses_no_round(client: TestClient) -> None:
    """The stream continues after the last received round; the end is always sent."""
    begun = begin(client, HALF)
    ended(client, begun)
    for seen, rounds in (("0", ["1", "2"]), ("1", ["2"]), ("2", []), ("7", [])):
        response = events(client, begun["events"], **{"Last-Event-ID": seen})
        assert [id_ for name, id_, _ in response if name == "round"] == rounds
        assert response[-1][0] == "ended"


@pytest.mark.slow
def test_an_invalid_last_event_id_is_refused(client: TestClient) -> None:
    """Before the stream starts."""
    begun = begin(client)
    for seen in ("", "x", "-1", "101", "1.5", "9" * 5_000):
        refused(client.get(begun["events"], headers={"Last-Event-ID": seen}), 400, "invalid_input")
    ended(client, begun)


@pytest.mark.slow
def test_the_number_of_sections_is_used(client: TestClient) -> None:
    """In the report."""
    begun = begin(client, sections=1)
    ended(client, begun)
    assert len({each["section"] for each in client.get(f"/api/runs/{begun['id']}").json()["citations"]}) == 1


@pytest.mark.slow
def test_a_refresh_uses_nothing_from_the_cache(client: TestClient) -> None:
    """All searches are live."""
    ended(client, begin(client))
    again = begin(client, refresh=True)
    ended(client, again)
    run = client.get(f"/api/runs/{again['id']}").json()
    assert run["live_calls"] > 0
    assert run["cache_hits"] == 0


# --- refused requests


UNUSABLE: list[Any] = [
    {}, {"question": ""}, {"question": " \n\t"}, {"question": "\x00"}, {"question": "x" * 10_001}, {"question": 1},
    {"question": None}, {"question": ["x"]}, {"question": QUESTION, "sections": 0},
    {"question": QUESTION, "sections": 21}, {"question": QUESTION, "sections": 1.5},
    {"question": QUESTION, "refresh": "perhaps"}, {"question": QUESTION, "tenant": "lab"}, [], "x", None, 1,
]  # fmt: skip
NO_JSON = [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"question": "\\ud800"}', b'{"question": NaN}', b"x" * 10_000]


def test_an_invalid_question_is_refused_at_once(client: TestClient, researches: ResearchJobs) -> None:
    """In one line, without starting a research."""
    for body in UNUSABLE:
        message = refused(client.post("/api/researches", json=body), 400, "invalid_input")
        assert message.isprintable()
    for content in NO_JSON:
        answer = client.post("/api/researches", content=content, headers={"Content-Type": "application/json"})
        refused(answer, 400, "invalid_input")
    assert not researches._jobs


def test_a_refresh_while_offline_is_refused(settings: Settings, researches: ResearchJobs) -> None:
    """At once, without a research that runs for ever."""
    import msgspec

    with (
        App(msgspec.structs.replace(settings, offline=True)) as app,
        Authenticator(app, per_minute=60_000, alone=True) as authenticator,
    ):
        checks = RequestChecks(
            build_routes(researches, authenticator), names=HostNames("127.0.0.1"), authenticator=authenticator
        )
        with TestClient(checks, base_url="http://127.0.0.1") as client:
            answer = client.post("/api/researches", json={"question": QUESTION, "refresh": True})
            assert "only cached results" in refused(answer, 400, "invalid_input")
            assert client.get("/api/researches").json()["items"] == []


OF_A_RUN = [
    ("GET", "/api/runs/{}"), ("POST", "/api/runs/{}/resume"), ("DELETE", "/api/researches/{}"),
    ("GET", "/api/researches/{}/events"), ("GET", "/runs/{}"), ("GET", "/charts/runs/{}.svg"),
]  # fmt: skip


@pytest.mark.slow
def test_a_malformed_id_is_refused(client: TestClient) -> None:
    """Whatever it contains."""
    for run in ("x", "%2e%2e", "%00", "20261122-101500-1a2b3", "20261122-101500-1A2B3C", "0" * 5_000, f"{NOWHERE}%0a"):
        for method, address in (*OF_A_RUN, ("DELETE", "/api/runs/{}")):
            answer = client.request(method, address.format(run))
            assert answer.status_code in {400, 404}, (method, address, run)
            assert answer.json()["status"] == "error"


def test_an_unknown_run_is_not_found(client: TestClient) -> None:
    """At every path."""
    for method, address in OF_A_RUN:
        refused(client.request(method, address.format(NOWHERE)), 404, "not_found")
    refused(client.delete(f"/api/runs/{NOWHERE}"), 404, "not_found")


# --- running researches


@pytest.mark.slow
def test_the_number_of_running_researches_is_limited(slow: TestClient, engine: Waiting) -> None:
    """Beyond it the client has to wait; running ones are listed newest first."""
    first = begin(slow)
    until(lambda: engine.asked)
    second = begin(slow, "How long does a client wait for the server?")
    listed = slow.get("/api/researches").json()
    assert [each["id"] for each in listed["items"]] == [second["id"], first["id"]]
    assert listed["most"] == 2
    answer = slow.post("/api/researches", json={"question": QUESTION})
    refused(answer, 429, "too_many_requests")
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    engine.go.set()
    for each in (first, second):
        assert ended(slow, each)["state"] == "finished"
    assert slow.get("/api/researches").json()["items"] == []
    assert ended(slow, begin(slow))["state"] == "finished"


@pytest.mark.slow
def test_a_research_is_stopped_and_resumed(slow: TestClient, engine: Waiting) -> None:
    """It stops at its next step, its record says so; resumed, it finishes."""
    begun = begin(slow)
    until(lambda: engine.asked)
    assert slow.delete(f"/api/researches/{begun['id']}").json()["state"] == "running", "it stops at its next step"
    engine.go.set()
    assert ended(slow, begun) == {"state": "stopped", "found": False, "code": None, "message": None}
    run = slow.get(f"/api/runs/{begun['id']}").json()
    assert (run["state"], run["title"], run["citations"]) == ("gathering", None, [])
    page = slow.get(f"/runs/{begun['id']}", headers={"Accept": "text/html"})
    assert (page.status_code, "Resume" in page.text) == (200, True)
    resumed = slow.post(f"/api/runs/{begun['id']}/resume")
    assert (resumed.status_code, resumed.json()["id"]) == (202, begun["id"])
    assert ended(slow, begun)["state"] == "finished"
    assert slow.get(f"/api/runs/{begun['id']}").json()["state"] == "finished"
    assert len(engine.asked) == len(set(engine.asked)), "what was answered before the stop was asked again"


@pytest.mark.slow
def test_a_running_run_is_neither_resumed_nor_deleted(slow: TestClient, engine: Waiting) -> None:
    """It can be stopped twice."""
    begun = begin(slow)
    until(lambda: engine.asked)
    until(lambda: slow.get(f"/api/runs/{begun['id']}").status_code == 200)
    refused(slow.post(f"/api/runs/{begun['id']}/resume"), 429, "too_many_requests")
    for address in (f"/api/runs/{begun['id']}", f"/api/entries/research/{begun['id']}"):
        assert "stop it first" in refused(slow.delete(address), 400, "invalid_input")
    for _ in range(2):
        assert slow.delete(f"/api/researches/{begun['id']}").status_code == 200
    engine.go.set()
    ended(slow, begun)
    assert slow.delete(f"/api/runs/{begun['id']}").json() == {"deleted": 1}
    refused(slow.get(f"/api/runs/{begun['id']}"), 404, "not_found")
    assert begun["id"] not in slow.get("/api/research-history").text


@pytest.mark.slow
def test_the_page_of_a_running_research_watches_it(slow: TestClient, engine: Waiting) -> None:
    """The history lists it; afterwards the page is its report."""
    begun = begin(slow, "<script>alert(1)</script> retries of a client")
    until(lambda: engine.asked)
    page = slow.get(begun["page"]).text
    assert f'data-events="{begun["events"]}"' in page
    assert "<script>alert" not in page
    assert begun["page"] in slow.get("/").text
    engine.go.set()
    ended(slow, begun)
    assert "data-events" not in slow.get(begun["page"]).text


@pytest.mark.slow
def test_a_failing_engine_fails_the_research(slow: TestClient, engine: Waiting) -> None:
    """With the engine's code; the slot and the id are free again."""
    engine.status = 503
    engine.go.set()
    begun = begin(slow)
    end = ended(slow, begun)
    assert (end["state"], end["found"], end["code"]) == ("failed", False, "engine_unavailable")
    assert end["message"].isprintable()
    assert slow.get("/api/researches").json()["items"] == []
    engine.status = 200
    assert slow.post(f"/api/runs/{begun['id']}/resume").status_code == 202
    assert ended(slow, begun)["state"] == "finished"


@pytest.mark.slow
def test_a_bug_is_reported_without_details(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The research ends; the details are in the log."""
    from harness.research.run import Researcher

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr(Researcher, "run", broken)
    begun = begin(client)
    end = ended(client, begun)
    assert (end["state"], end["code"]) == ("failed", "internal_error")
    assert "secret" not in end["message"]


@pytest.mark.slow
def test_an_app_that_cannot_be_opened_fails_the_research(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """No slot is lost."""

    def broken(*_: Any, **__: Any) -> None:
        from harness.errors import StoreBusy

        raise StoreBusy("another process writes")

    monkeypatch.setattr(App, "researcher", broken)
    for _ in range(3):
        assert ended(client, begin(client))["code"] == "store_busy"
    assert client.get("/api/researches").json()["items"] == []


@pytest.mark.slow
def test_a_research_can_be_resumed_after_the_server_closes(waiting: Settings, engine: Waiting) -> None:
    """It stops within seconds, the log says how to resume it, and no new one starts."""
    from harness.errors import TooManyRequests

    with App(waiting) as app:
        researches = ResearchJobs(2)
        job = researches.start(app, QUESTION)
        until(lambda: engine.asked)
        closer = threading.Thread(target=researches.close)
        closer.start()
        until(lambda: researches.closing)
        with pytest.raises(TooManyRequests):
            researches.start(app, QUESTION)
        engine.go.set()
        closer.join(PATIENCE)
        assert job.state == "stopped"
        again = ResearchJobs(2).resume(app, job.run)
        assert again.ended.wait(PATIENCE)
        assert (again.state, again.found) == ("finished", True)


@pytest.mark.slow
def test_a_research_of_another_process_is_shown_by_its_record(slow: TestClient, engine: Waiting) -> None:
    """It is listed, and shown as far as it is recorded."""
    other = App(slow.app_state["app"].settings)
    with other:
        researches = ResearchJobs(1)
        job = researches.start(other, QUESTION)
        until(lambda: engine.asked)
        run = until(lambda: [each for each in slow.get("/api/runs").json()["items"] if each["id"] == job.run])[0]
        assert run["question"] == QUESTION
        assert slow.get(f"/api/runs/{job.run}").json()["state"] == "gathering"
        assert slow.get(f"/runs/{job.run}").status_code == 200
        refused(slow.get(f"/api/researches/{job.run}/events"), 404, "not_found")
        assert job.run in slow.get("/api/research-history").text
        engine.go.set()
        assert job.ended.wait(PATIENCE)
    assert slow.get(f"/api/runs/{job.run}").json()["state"] == "finished"


def test_the_number_of_remembered_researches_is_limited(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last ones."""
    from harness.server.api import research_jobs

    monkeypatch.setattr(research_jobs, "MAX_ENDED", 3)
    researches = ResearchJobs(1)
    for _ in range(8):
        job = researches.start(app, "?")
        assert job.ended.wait(PATIENCE)
    assert MAX_ENDED > 3
    assert len(researches._jobs) <= 4
    assert researches.find("default", job.run) is job


# --- roles and tenants


@pytest.mark.slow
def test_a_reader_can_only_watch(client: TestClient, app: App, token: Callable[..., str]) -> None:
    """It cannot start, stop, resume or delete."""
    ada, rob = (
        {"Authorization": f"Bearer {token('lab', name, role)}"} for name, role in (("ada", "writer"), ("rob", "reader"))
    )
    begun = client.post("/api/researches", json={"question": QUESTION}, headers=ada).json()
    assert events(client, begun["events"], **rob)[-1][2]["state"] == "finished"
    assert client.get(f"/api/runs/{begun['id']}", headers=rob).status_code == 200
    assert client.get(f"/runs/{begun['id']}", headers=rob).status_code == 200
    assert client.get("/api/runs", headers=rob).json()["items"]
    for method, address, body in (
        ("POST", "/api/researches", {"question": QUESTION}),
        ("POST", f"/api/runs/{begun['id']}/resume", None),
        ("DELETE", f"/api/researches/{begun['id']}", None),
        ("DELETE", f"/api/runs/{begun['id']}", None),
    ):
        refused(client.request(method, address, json=body, headers=rob), 403, "access_denied")
    refused(client.delete(f"/api/runs/{begun['id']}", headers=ada), 403, "access_denied")


def test_another_tenant_does_not_find_a_research(slow: TestClient, engine: Waiting) -> None:
    """Neither research, record, stream nor chart, in any role."""
    tokens = slow.app_state["app"].databases.tokens
    lab, shop = ({"Authorization": f"Bearer {tokens.create(each, 'ada', 'admin').text}"} for each in ("lab", "shop"))
    begun = slow.post("/api/researches", json={"question": QUESTION}, headers=lab).json()
    until(lambda: engine.asked)
    until(lambda: slow.get(f"/api/runs/{begun['id']}", headers=lab).status_code == 200)
    for _ in range(2):
        assert slow.get("/api/researches", headers=shop).json()["items"] == []
        assert slow.get("/api/runs", headers=shop).json()["items"] == []
        assert slow.get("/api/research-history", headers=shop).json()["items"] == []
        for method, address in (*OF_A_RUN, ("GET", "/api/entries/research/{}"), ("DELETE", "/api/entries/research/{}")):
            refused(slow.request(method, address.format(begun["id"]), headers=shop), 404, "not_found")
        refused(slow.delete(f"/api/runs/{begun['id']}", headers=shop), 404, "not_found")
        engine.go.set()
        assert events(slow, begun["events"], **lab)[-1][2]["state"] == "finished"


# --- damaged records


@pytest.mark.slow
def test_a_damaged_record_is_an_error(client: TestClient, app: App) -> None:
    """For programs and people; the lists show the other runs."""
    now = time.time()
    for payload in (b"", b"{", b"null", b"[]", b"{}", b'"x"', b'{"question": 1}', b"[" * 5_000):
        app.store.rows.put(RUNS, "default", Entry(NOWHERE, "retries", payload, now, now + DAY, now, ("corpus",)))
        for method, address in (("GET", "/api/runs/{}"), ("POST", "/api/runs/{}/resume"), ("GET", "/runs/{}")):
            refused(client.request(method, address.format(NOWHERE)), 503, "store_corrupt")
        assert "cannot be read" in client.get(f"/runs/{NOWHERE}", headers={"Accept": "text/html"}).text
        assert [each["id"] for each in client.get("/api/runs").json()["items"]] == [NOWHERE]
        assert client.get("/api/research-history").json()["items"][0]["id"] == NOWHERE
        assert client.delete(f"/api/runs/{NOWHERE}").json() == {"deleted": 1}


def test_runs_are_listed_page_by_page(client: TestClient, app: App) -> None:
    """Each once, newest first; the last page has no next offset."""
    for number in range(7):
        app.cache.runs.put(f"20261122-10150{number}-1a2b3c", f"question {number}", "corpus", {"question": "x"})
    found: list[str] = []
    offset: int | None = 0
    while offset is not None:
        response = client.get("/api/runs", params={"limit": 3, "offset": offset}).json()
        found += [each["question"] for each in response["items"]]
        offset = response["next_offset"]
    assert found == [f"question {number}" for number in reversed(range(7))]


# --- over a real connection


@pytest.mark.slow
def test_a_closed_stream_does_not_end_the_research(waiting: Settings, engine: Waiting) -> None:
    """A client that reconnects gets the end."""
    from tests.server.conftest import served

    with App(waiting) as app, Authenticator(app, per_minute=60_000, alone=True) as authenticator:
        researches = ResearchJobs(1)
        checks = RequestChecks(
            build_routes(researches, authenticator), names=HostNames("127.0.0.1"), authenticator=authenticator
        )
        with served(checks) as address, httpx2.Client(base_url=address, timeout=PATIENCE) as client:
            begun = client.post("/api/researches", json={"question": QUESTION}).json()
            with client.stream("GET", begun["events"]) as stream:
                assert next(stream.iter_lines()).startswith("event: step")
            until(lambda: engine.asked)
            engine.go.set()
            with client.stream("GET", begun["events"]) as stream:
                assert '"state":"finished"' in list(stream.iter_lines())[-2]
            assert client.get(f"/api/runs/{begun['id']}").json()["state"] == "finished"


@pytest.mark.slow
def test_many_clients_read_during_researches(waiting: Settings, engine: Waiting, tmp_path: Path) -> None:
    """Fifty at once, in the history, the cache, the runs and the streams, without an error."""
    from tests.server.conftest import served

    addresses = (
        "/", "/?q=retries", "/cache", "/knowledge", "/experiments", "/api/research-history?q=retries+of+a+client",
        "/api/research-history", "/api/stats", "/api/runs", "/api/researches", "/api/explain?q=retries", "/healthz",
    )  # fmt: skip
    with App(waiting) as app, Authenticator(app, per_minute=60_000, alone=True) as authenticator:
        researches = ResearchJobs(3)
        checks = RequestChecks(
            build_routes(researches, authenticator), names=HostNames("127.0.0.1"), authenticator=authenticator
        )
        with served(checks) as address:
            engine.go.set()

            def look(number: int) -> list[tuple[str, int]]:
                found = []
                with httpx2.Client(base_url=address, timeout=60) as client:
                    for step in range(6):
                        path = addresses[(number + step) % len(addresses)]
                        found.append((path, client.get(path).status_code))
                    with client.stream("GET", begun["events"]) as stream:
                        found.append(("events", 200 if "ended" in "".join(stream.iter_lines()) else 0))
                return found

            with httpx2.Client(base_url=address, timeout=60) as client:
                begun = client.post("/api/researches", json={"question": QUESTION}).json()
                for question in ("How long does a client wait?", "Why is a question not asked twice?"):
                    assert client.post("/api/researches", json={"question": question}).status_code == 202
            with ThreadPoolExecutor(50) as pool:
                response = [each for found in pool.map(look, range(50)) for each in found]
            assert {status for _, status in response} == {200}, [each for each in response if each[1] != 200][:5]
            assert len(response) == 350
        researches.close()


@pytest.mark.slow
def test_health_is_served_while_all_threads_wait(waiting: Settings, engine: Waiting) -> None:
    """Then all searches are answered."""
    from tests.server.conftest import served

    with App(waiting) as app, Authenticator(app, per_minute=60_000, alone=True) as authenticator:
        checks = RequestChecks(
            build_routes(ResearchJobs(1), authenticator), names=HostNames("127.0.0.1"), authenticator=authenticator
        )
        with served(checks) as address, ThreadPoolExecutor(50) as pool:

            def search(number: int) -> int:
                query = {"q": f"retries {number}", "format": "json"}
                return httpx2.get(f"{address}/search", params=query, timeout=60).status_code

            asked = [pool.submit(search, number) for number in range(50)]
            until(lambda: engine.asked)
            time.sleep(1)  # until every thread has its search
            assert httpx2.get(f"{address}/healthz", timeout=3).status_code == 200
            engine.go.set()
            assert {each.result() for each in asked} == {200}


@pytest.mark.slow
def test_a_follow_up_question_uses_the_run(client: TestClient, app: App) -> None:
    """Its engine and settings, and its subject in the question; an unknown run is refused."""
    first = begin(client)
    ended(client, first)
    answer = client.post(f"/api/runs/{first['id']}/ask", json={"question": "when do they stop?"})
    assert answer.status_code == 202, answer.text
    asked = answer.json()
    assert "retries" in asked["question"]
    ended(client, asked)
    engines = [app.cache.runs.get(run)["engines"] for run in (first["id"], asked["id"])]
    assert engines[0] == engines[1]
    for run, question, status in ((NOWHERE, "why?", 404), (first["id"], " ", 400), (first["id"], "", 400)):
        assert client.post(f"/api/runs/{run}/ask", json={"question": question}).status_code == status


@pytest.mark.slow
def test_a_quick_research_has_one_round(client: TestClient) -> None:
    """The depth of the request changes the settings of the run, which it records."""
    begun = begin(client, depth="quick")
    ended(client, begun)
    assert len(client.get(f"/api/runs/{begun['id']}").json()["rounds"]) == 1
    assert client.post("/api/researches", json={"question": QUESTION, "depth": "deep"}).status_code == 400
