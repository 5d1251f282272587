"""`harness serve` as a process: start, failures, shutdown."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pytest_httpserver import HTTPServer
from starlette.testclient import TestClient

from harness.app import App
from harness.server.serve_web import ServerOptions, application
from harness.settings import Settings
from tests.cli.program import Program
from tests.server.conftest import PROGRAM, program
from tests.server.test_research_api import QUESTION, Waiting, until


@pytest.fixture
def engine(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Waiting]:
    """An engine that waits, and settings for it in the environment."""
    for name, value in (("READ_PAGES", "0"), ("SEARCHES_PER_MINUTE", "60000"), ("RATE_LIMIT_RETRIES", "0")):
        monkeypatch.setenv(f"HARNESS_{name}", value)
    made = Waiting(httpserver)
    yield made
    made.go.set()


def ends(process: "subprocess.Popen[str]", sent: int, within: float = 15.0) -> tuple[int, str]:
    """Send a signal; return the exit code and the output, which must come within seconds."""
    process.send_signal(sent)
    _, said = process.communicate(timeout=within)
    return process.returncode, said


# --- refused options (within this process: quick)


@pytest.mark.parametrize(
    ("arguments", "payload"),
    [
        (["--host", "0.0.0.0"], "other machines can reach 0.0.0.0, and there is no token yet"),  # noqa: S104
        (["--host", "no such host"], "there is no token yet"),
        (["--rate", "nan"], "at least once a minute"),
        (["--engine", "corpus:/no/such/folder"], "no such corpus"),
        (["--engine", "altavista"], "no such engine"),
    ],
)
def test_invalid_options_are_refused_in_one_line(harness: Program, arguments: list[str], payload: str) -> None:
    """Before anything is served."""
    assert payload in harness("serve", *arguments).one_line_error(2)


def test_numbers_out_of_range_are_usage_errors(harness: Program) -> None:
    """With exit code 2."""
    for arguments in (["--port", "65536"], ["--port", "-1"], ["--researches", "0"], ["--researches", "101"]):
        ended = harness("serve", *arguments)
        assert (ended.code, ended.out) == (2, "")


def test_a_taken_port_is_reported(harness: Program) -> None:
    """One line says so, and what to choose."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = harness("serve", "--port", port).one_line_error(2)
    assert str(port) in line
    assert "--port" in line


def test_a_token_in_the_environment_is_refused(
    harness: Program, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request has its own token."""
    with App(settings) as app:
        text = app.databases.tokens.create("lab", "ada", "admin").text
    monkeypatch.setenv("HARNESS_TOKEN", text)
    line = harness("serve", "--port", "0").one_line_error(2)
    assert "unset HARNESS_TOKEN" in line
    assert text not in line


def test_the_help_shows_how(harness: Program) -> None:
    """It has examples, and says who can reach the server."""
    said = harness("serve", "--help").out
    assert "harness serve --port 0" in said
    assert "Only this machine can reach the server" in " ".join(said.split())


@pytest.mark.slow
def test_other_commands_do_not_load_the_web() -> None:
    """FastAPI, Jinja2 and matplotlib take a second to import; only the server imports them."""
    script = (
        "import sys\nfrom harness.cli.main import commands\n"
        "loaded = {'fastapi', 'starlette', 'uvicorn', 'jinja2', 'pydantic', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {loaded}' if loaded else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


# --- the process


@pytest.mark.slow
def test_it_serves_before_its_corpus_has_vectors(tmp_path: Path) -> None:
    """Searches rank by words until the vectors are made, and say so."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(70):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\n" + f"Retry {number} waits for the server. " * 30)
    environment = [("HARNESS_CORPUS_MEANING", "true")]
    with program("--engine", f"corpus:{folder}", environment=environment) as (process, address):

        def ask(query: str) -> dict[str, Any]:
            reply: dict[str, Any] = httpx2.get(f"{address}/search", params={"q": query, "format": "json"}).json()
            return reply

        first = ask("retries of the server")
        assert (first["ranked_by_words"], len(first["results"])) == (["corpus"], 10)
        until(lambda: "ranked_by_words" not in ask("retries of the server"))
        code, said = ends(process, signal.SIGTERM)
    assert code == 0
    assert [line.split(", ")[-1] for line in said.splitlines() if "embedding" in line] == [
        "in the background",
        "70 of 70",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_and_ends(notes: str, sent: int) -> None:
    """It prints its address when it can be reached, and exits within seconds after a signal."""
    with program("--engine", notes) as (process, address):
        assert httpx2.get(f"{address}/healthz").json() == {"status": "ok"}
        assert "text/html" in httpx2.get(f"{address}/").headers["content-type"]
        began = time.monotonic()
        code, said = ends(process, sent)
        assert code in {0, 130}
        assert time.monotonic() - began < 8
        assert "Traceback" not in said
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"{address}/healthz")


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_a_research_so_that_it_can_be_resumed(engine: Waiting, harness: Program, sent: int) -> None:
    """The terminal resumes it, and no search is repeated."""
    with program("--engine", f"searxng:{engine.address}") as (process, address):
        begun = httpx2.post(f"{address}/api/researches", json={"question": QUESTION}).json()
        until(lambda: engine.asked)
        threading.Timer(1.0, engine.go.set).start()
        lines = watched(address, begun["events"])
        code, said = ends(process, sent)
        assert code in {0, 130}
        assert "Traceback" not in said
        assert said.count(f"harness research --resume {begun['id']}") >= 1
        lines.join(5)
        assert not lines.is_alive(), "the stream was not ended"
    asked = len(engine.asked)
    ended = harness("research", "--resume", begun["id"], "--engine", f"searxng:{engine.address}")
    assert ended.code == 0, ended
    assert "Retries use exponential backoff" in ended.out
    assert len(engine.asked) == len(set(engine.asked)) >= asked


@pytest.mark.slow
def test_it_ends_though_an_engine_hangs(engine: Waiting) -> None:
    """A hanging search does not delay the exit."""
    with program("--engine", f"searxng:{engine.address}") as (process, address):
        httpx2.post(f"{address}/api/researches", json={"question": QUESTION})
        until(lambda: engine.asked)
        began = time.monotonic()
        code, _ = ends(process, signal.SIGTERM, within=20)
        assert code in {0, 130}
        assert time.monotonic() - began < 10


def watched(address: str, path: str) -> threading.Thread:
    """Watch a stream until the server ends it."""

    def read() -> None:
        with contextlib.suppress(httpx2.HTTPError), httpx2.stream("GET", address + path, timeout=20) as stream:
            for _ in stream.iter_lines():
                pass

    thread = threading.Thread(target=read)
    thread.start()
    time.sleep(0.5)
    return thread


@pytest.mark.slow
def test_a_killed_research_can_be_resumed(engine: Waiting, notes: str) -> None:
    """By the next server."""
    arguments = ("--engine", f"searxng:{engine.address}")
    with program(*arguments) as (process, address):
        begun = httpx2.post(f"{address}/api/researches", json={"question": QUESTION}).json()
        until(lambda: engine.asked)
        until(lambda: httpx2.get(f"{address}/api/runs/{begun['id']}").status_code == 200)
        process.kill()
    engine.go.set()
    with program(*arguments) as (_, address), httpx2.Client(base_url=address, timeout=30) as client:
        assert client.get(f"/api/runs/{begun['id']}").json()["state"] == "gathering"
        assert client.post(f"/api/runs/{begun['id']}/resume").status_code == 202
        until(lambda: client.get(f"/api/runs/{begun['id']}").json()["state"] == "finished")


@pytest.mark.slow
def test_a_second_server_takes_another_port(notes: str) -> None:
    """Two servers can share a database, but not a port; the second one reports it."""
    with program("--engine", notes) as (_, first), program("--engine", notes) as (_, second):
        assert first != second
        begun = httpx2.post(f"{first}/api/researches", json={"question": QUESTION}).json()
        until(lambda: httpx2.get(f"{first}/api/runs/{begun['id']}").json().get("state") == "finished")
        assert httpx2.get(f"{second}/api/runs/{begun['id']}").json()["state"] == "finished"
        assert begun["id"] in httpx2.get(f"{second}/api/research-history").text
        assert httpx2.get(f"{second}{begun['events']}").status_code == 404
        port = first.rpartition(":")[2]
        ended = subprocess.run([*PROGRAM, "--port", port], check=False, capture_output=True, text=True, timeout=60)
        (line,) = ended.stderr.splitlines()
        assert (ended.returncode, line.startswith("error: cannot listen")) == (2, True)
        assert httpx2.get(f"{first}/healthz").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("how", ["deleted", "moved", "replaced by nonsense"])
def test_a_lost_database_does_not_end_the_server(notes: str, settings: Settings, tmp_path: Path, how: str) -> None:
    """Deleted, moved or overwritten, it is created again or reported; never a crash."""
    with program("--engine", notes) as (process, address), httpx2.Client(base_url=address, timeout=30) as client:
        assert client.get("/search", params={"q": "retries", "format": "json"}).status_code == 200
        assert client.get("/api/research-history").json()["items"]
        for file in [each for each in settings.data_dir.glob("harness.db*") if each.is_file()]:
            if how == "deleted":
                file.unlink()
            elif how == "moved":
                file.rename(tmp_path / file.name)
            else:
                file.write_bytes(b"no database at all " * 1_000)
        for _ in range(3):
            for path in (
                "/",
                "/cache",
                "/api/research-history",
                "/api/research-history?q=x",
                "/api/stats",
                "/api/runs",
            ):
                answer = client.get(path)
                assert answer.status_code in {200, 503}, answer.text
        assert client.get("/search", params={"q": "timeouts", "format": "json"}).status_code in {200, 503}
        assert process.poll() is None
        code, said = ends(process, signal.SIGTERM)
        assert code in {0, 130}
        assert "Traceback" not in said


@pytest.mark.slow
def test_each_request_is_logged_as_a_line_of_json(notes: str) -> None:
    """With --log-requests, for any URL; without it nothing is logged."""
    with program("--engine", notes, "--log-requests") as (process, address):
        for path in ("/", "/api/stats", "/%00%0a%22", "/nowhere?q=secret"):
            httpx2.get(address + path)
        _, said = ends(process, signal.SIGTERM)
        payload = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        assert [each["status"] for each in payload] == [200, 200, 404, 404]
        assert all(line.startswith("{") for line in said.splitlines() if "{" in line), "a line is JSON and nothing else"
        assert "secret" not in said
    with program("--engine", notes) as (process, address):
        httpx2.get(address)
        assert "{" not in ends(process, signal.SIGTERM)[1]


@pytest.mark.slow
def test_other_machines_are_served_with_a_token(notes: str, settings: Settings) -> None:
    """And not without one."""
    with App(settings) as app:
        text = app.databases.tokens.create("lab", "ada", "admin").text
    everywhere = "0.0.0.0"  # noqa: S104
    with program("--engine", notes, "--host", everywhere, "--allow-host", "lab.example") as (_, address):
        here = address.replace(everywhere, "127.0.0.1")
        headers: dict[str, Any] = {"Authorization": f"Bearer {text}"}
        assert httpx2.get(f"{here}/api/stats").status_code == 401
        assert httpx2.get(f"{here}/api/stats", headers=headers).status_code == 200
        assert httpx2.get(f"{here}/api/stats", headers=headers | {"Host": "lab.example"}).status_code == 200
        assert httpx2.get(f"{here}/api/stats", headers=headers | {"Host": "evil.example"}).status_code == 403


def test_agents_learn_which_extra_is_missing(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the SDK of MCP, everything else is served."""
    monkeypatch.setattr("harness.server.routes.is_installed", lambda extra: extra != "mcp")
    with application(app, ServerOptions()) as (checks, _), TestClient(checks, base_url="http://127.0.0.1") as client:
        refused = client.post("/mcp", json={})
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_input")
        assert "research-harness[mcp]" in refused.json()["message"]
        assert client.get("/api/stats").status_code == 200
