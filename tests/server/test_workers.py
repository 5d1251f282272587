"""`harness serve --workers`: several processes behind one port."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import httpx2
import pytest
from pytest_httpserver import HTTPServer

from harness.app import App
from harness.core.tables import RUNS
from harness.errors import InvalidInput, TooManyRequests
from harness.server.api.job_board import JobBoard, JobStatus
from harness.server.api.research_jobs import ResearchJobs
from tests.cli.program import Program
from tests.server.conftest import program
from tests.server.test_research_api import QUESTION, Waiting, until
from tests.server.test_serve_web import ends, engine

__all__ = ["engine"]
pytestmark = pytest.mark.slow


def workers_of(process: "subprocess.Popen[str]") -> list[int]:
    """Return the process ids of the workers."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def answering(address: str) -> bool:
    """Return whether the server answers."""
    try:
        return httpx2.get(f"{address}/readyz", timeout=2).status_code == 200
    except httpx2.HTTPError:
        return False


def test_they_serve_and_end(notes: str) -> None:
    """A signal ends the server and its workers within seconds; their folder is removed."""
    with program("--engine", notes, "--workers", "2") as (process, address):
        until(lambda: answering(address))
        workers = workers_of(process)
        assert len(workers) == 2
        for _ in range(4):
            found = httpx2.get(f"{address}/search", params={"q": "retries", "format": "json"}, timeout=20)
            assert found.status_code == 200
        metrics = httpx2.get(f"{address}/metrics", timeout=20).text
        assert 'harness_http_requests_total{method="GET",route="/search",status="200"} 4.0' in metrics
        code, said = ends(process, signal.SIGTERM)
        assert code in {0, 130}
        assert "Traceback" not in said
        assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_a_killed_worker_is_replaced(notes: str) -> None:
    """Requests go on; the worker is killed while the parent waits for its answer."""
    with program("--engine", notes, "--workers", "2") as (process, address):
        until(lambda: answering(address))
        first = until(lambda: len(found := workers_of(process)) == 2 and found)  # one answers before the other starts
        os.kill(first[0], signal.SIGSTOP)
        time.sleep(1)  # the parent asks every half second
        os.kill(first[0], signal.SIGKILL)
        until(lambda: len(set(workers_of(process)) - set(first)) == 1)
        until(lambda: answering(address))


def test_a_reload_replaces_every_worker_without_a_refused_request(notes: str) -> None:
    """On SIGHUP: each new worker serves before an old one stops."""
    with program("--engine", notes, "--workers", "2") as (process, address):
        until(lambda: answering(address))
        first = set(workers_of(process))
        process.send_signal(signal.SIGHUP)
        deadline, refused, asked = time.monotonic() + 60, 0, 0
        while first & set(workers_of(process)) and time.monotonic() < deadline:
            asked += 1
            try:
                refused += httpx2.get(f"{address}/healthz", timeout=20).status_code != 200
            except httpx2.ConnectError:
                refused += 1
            time.sleep(0.05)
        assert not first & set(workers_of(process))
        assert asked > 3
        assert refused == 0


def test_every_worker_knows_a_research(engine: Waiting, harness: Program, httpserver: HTTPServer) -> None:
    """Whichever worker a request reaches, it sees the research, streams its steps and can stop it."""
    with program("--engine", f"searxng:{engine.address}", "--workers", "2") as (process, address):
        until(lambda: answering(address))
        begun = httpx2.post(f"{address}/api/researches", json={"question": QUESTION}, timeout=20).json()
        until(lambda: engine.asked)
        for _ in range(12):  # each on a new connection: the workers take turns
            running = httpx2.get(f"{address}/api/researches", timeout=20).json()
            assert [each["id"] for each in running["items"]] == [begun["id"]]
        assert httpx2.delete(f"{address}/api/researches/{begun['id']}", timeout=20).status_code == 200
        engine.go.set()
        with httpx2.stream("GET", address + begun["events"], timeout=30) as stream:
            lines = [line for line in stream.iter_lines() if line.startswith("data:")]
        assert json.loads(lines[-1].removeprefix("data:"))["state"] == "stopped"
        assert httpx2.get(f"{address}/api/researches", timeout=20).json()["items"] == []
        assert ends(process, signal.SIGTERM)[0] in {0, 130}


def test_a_server_that_cannot_start_says_why_and_ends(harness: Program, tmp_path: Path) -> None:
    """No worker is started again and again."""
    (tmp_path / "config.yaml").write_text("trace_collector: ftp://collector\n")
    line = harness("serve", "--port", "0", "--workers", "2", "--config", tmp_path / "config.yaml").one_line_error(2)
    assert "trace_collector must be a URL" in line


def test_workers_end_with_their_parent(notes: str) -> None:
    """A parent that was killed leaves no process that serves on."""
    with program("--engine", notes, "--workers", "2") as (process, address):
        workers = workers_of(process)
        process.kill()
        process.wait()
        until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"{address}/healthz")


def test_one_process_ends_when_its_terminal_is_closed(notes: str) -> None:
    """As on Ctrl-C, so that researches can be resumed."""
    with program("--engine", notes) as (process, address):
        assert answering(address)
        code, said = ends(process, signal.SIGHUP)
        assert code in {0, 130}
        assert "Traceback" not in said


# --- researches of several workers, in one process


@pytest.fixture
def two(tmp_path: Path) -> tuple[ResearchJobs, ResearchJobs]:
    """The researches of two workers with one folder."""
    return ResearchJobs(2, JobBoard(tmp_path)), ResearchJobs(2, JobBoard(tmp_path))


def test_a_run_runs_once(two: tuple[ResearchJobs, ResearchJobs], app: App, engine: Waiting) -> None:
    """The other worker sees it at once, does not resume it, and does not let it be deleted."""
    first, second = two
    waiting = app.serving(app.identity, engine=(f"searxng:{engine.address}",))
    job = first.start(waiting, QUESTION)
    seen = second.find("default", job.run)
    assert seen is not None
    assert (seen.run, seen.question, seen.state) == (job.run, QUESTION, "running")
    with pytest.raises(InvalidInput, match="stop it first"):
        second.check_ended("default", job.run)
    assert second.find("lab", job.run) is None
    until(lambda: engine.asked)
    until(lambda: app.store.rows.get(RUNS, "default", job.run) is not None)
    with pytest.raises(TooManyRequests, match="already running"):
        second.resume(waiting, job.run)
    seen.stop()
    engine.go.set()
    job.ended.wait(20)
    seen.refresh()
    assert (job.state, seen.state) == ("stopped", "stopped")
    resumed = second.resume(waiting, job.run)
    found = first.find("default", job.run)
    assert found is not None
    assert found is not job, "its own, ended one is not the latest"
    resumed.ended.wait(20)
    found.refresh()
    assert found.state == resumed.state == "finished"


def test_the_limit_holds_for_all_workers(two: tuple[ResearchJobs, ResearchJobs], app: App, engine: Waiting) -> None:
    """Two at a time; another tenant has its own."""
    waiting = app.serving(app.identity, engine=(f"searxng:{engine.address}",))
    jobs = [each.start(waiting, f"{QUESTION} {number}") for number, each in enumerate(two)]
    for each in two:
        with pytest.raises(TooManyRequests, match="2 researches are running"):
            each.start(waiting, "a third question")
    other = app.serving(app.databases.tokens.verify(app.databases.tokens.create("lab", "ada", "writer").text))
    with other.serving(other.identity, engine=(f"searxng:{engine.address}",)) as theirs:
        jobs.append(two[0].start(theirs, "of another tenant"))
    engine.go.set()
    for job in jobs:
        assert job.ended.wait(20)


def test_a_dead_workers_research_has_stopped(tmp_path: Path) -> None:
    """Nothing would ever say that it ended."""
    board, ended = JobBoard(tmp_path), subprocess.Popen(["true"])
    ended.wait()
    status = JobStatus(
        run="20260101-000000-000000", question="q", tenant="default", started=0.0, pid=ended.pid,
        step=("searching", 0, 1), rounds=[], state="running",
    )  # fmt: skip
    board.publish(status)
    found = board.find(status.run)
    assert found is not None
    assert found.state == "stopped"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"run": 1}', b"\xff" * 100])
def test_a_damaged_status_is_none(tmp_path: Path, content: bytes) -> None:
    """A full disk leaves half a file."""
    (tmp_path / "20260101-000000-000000.json").write_bytes(content)
    assert JobBoard(tmp_path).find("20260101-000000-000000") is None
    assert JobBoard(tmp_path).all() == []
    assert JobBoard(tmp_path).find("../../etc/passwd") is None
