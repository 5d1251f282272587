"""`harness history`: the same entries in the terminal as over HTTP."""

import json
import os
import re
import sys
from pathlib import Path

import pexpect
import pytest
from starlette.testclient import TestClient

from harness import settings
from harness.app import App
from harness.cache import ResearchContext
from harness.server.api.research_jobs import ResearchJobs
from harness.server.auth import Authenticator
from harness.server.request_checks import HostNames, RequestChecks
from harness.server.routes import build_routes
from tests.cli.program import Program

RESULT = {"title": "Retries", "href": "https://example.org/" + "retries/" * 30, "body": "Retries stop after five."}
NASTY = "[bold red]\x1b[31m\x07\u202eretries[/] of a client"
RUN = "20261122-101500-1a2b3c"


@pytest.fixture
def filled(tmp_path: Path) -> None:
    """Store some entries of each kind in the data directory."""
    loaded = settings.load({}).settings
    with App(loaded) as app:
        for number in range(3):
            app.cache.searches.put(f"retries of a client {number}", [RESULT])
        app.cache.researches.put("retries of a server", "general", ResearchContext("They stop.", [], []))
        app.cache.runs.put(RUN, "retries of a gateway", "corpus", {"question": "x"})
        app.knowledge.write("retries of ours", "Three, with jitter.")


def over_http(**parameters: object) -> list[dict[str, object]]:
    """Return the items of the API."""
    with (
        App(settings.load({}).settings) as app,
        Authenticator(app, per_minute=6_000, alone=True) as authenticator,
    ):
        checks = RequestChecks(
            build_routes(ResearchJobs(1), authenticator), names=HostNames("127.0.0.1"), authenticator=authenticator
        )
        with TestClient(checks, base_url="http://127.0.0.1") as client:
            found: list[dict[str, object]] = client.get("/api/research-history", params=parameters).json()["items"]
            return found


def test_it_shows_the_items_of_the_api(harness: Program, filled: None) -> None:
    """With --json the items are those of the API, in the same order, by time and by meaning, page by page."""
    for arguments, parameters in (
        ([], {}),
        (["retries of a client"], {"q": "retries of a client"}),
        (["retries", "--source", "search", "-n", "2"], {"q": "retries", "source": "search", "limit": 2}),
        (["--offset", "2", "--limit", "3", "--since", "7d"], {"offset": 2, "limit": 3, "since": "7d"}),
    ):
        ended = harness("history", *arguments, "--json")
        assert (ended.code, ended.err) == (0, "")
        assert ended.told["items"] == over_http(**parameters)
        assert ended.told["items"]


def test_it_is_read_in_a_pipe(harness: Program, filled: None) -> None:
    """Without a terminal, every title is shown without colours, in lines of bounded length."""
    ended = harness("history", "retries of a client")
    assert (ended.code, ended.err) == (0, "")
    assert "\x1b" not in ended.out
    for title in ("retries of a client 0", "retries of a server", "retries of a gateway", "retries of ours"):
        assert title in ended.out
    assert re.search(r"\b0\.\d{3}\b", ended.out)
    assert max(map(len, ended.out.splitlines())) <= 120
    assert not re.search(r"\b[01]\.\d{3}\b", harness("history").out), "without a query nothing is more or less alike"


def test_an_empty_past_says_so(harness: Program) -> None:
    """An empty history is no failure: standard output stays empty, standard error has advice."""
    ended = harness("history")
    assert (ended.code, ended.out) == (0, "")
    assert "harness search" in ended.err
    assert harness("history", "--quiet").err == ""
    assert harness("history", "--json").told == {"items": [], "next_offset": None}
    assert "no past entry matches" in harness("history", "zebra").err


def test_nothing_of_it_acts_on_the_terminal(harness: Program) -> None:
    """Escape sequences, markup and direction overrides in titles are text, or gone."""
    with App(settings.load({}).settings) as app:
        app.cache.searches.put(NASTY, [{"title": NASTY, "href": f"https://e.org/\n{NASTY}", "body": NASTY}])
    said = harness("history").out
    for character in "\x1b\x07\u202e":
        assert character not in said
    assert "[bold red]" in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-n", "101", "--offset", "-1"], "limit must be from 1 to 100"),
        (["--source", "web"], "no such source"),
        (["--since", "soon"], "since is a date"),
    ],
)
def test_a_wrong_option_is_one_line(harness: Program, arguments: list[str], told: str) -> None:
    """A wrong option is wrong usage, with a message of one line."""
    assert told in harness("history", *arguments).one_line_error(2)


def test_the_help_has_examples(harness: Program) -> None:
    """The help shows how to look, by time and by meaning."""
    said = harness("history", "--help").out
    assert "harness history --since 7d" in said
    assert "jq" in said


@pytest.mark.slow
def test_it_fits_a_narrow_terminal(filled: None) -> None:
    """In a terminal of forty columns no line is wider, and titles are whole, folded where they must be."""
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    environment["HARNESS_EMBEDDING_MODEL"] = "local:english"  # that of the entries
    command = [sys.executable, "-m", "harness.cli.main", "history", "retries"]
    process = pexpect.spawn(
        command[0], command[1:], env=environment | {"TERM": "xterm"}, dimensions=(200, 40), timeout=60, encoding="utf-8"
    )
    process.expect(pexpect.EOF)
    process.close()
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", process.before).splitlines()
    assert process.exitstatus == 0
    assert max(map(len, lines)) <= 40, lines
    words = " ".join(" ".join(lines).split())
    assert "search" in words
    assert "knowledge" in words
    assert "…" not in "".join(line for line in lines if "search" in line or "ago" in line), lines


@pytest.mark.slow
def test_a_pipe_that_is_closed_is_no_crash(filled: None) -> None:
    """`harness history | head -1` ends quietly."""
    import subprocess

    program = f"{sys.executable} -m harness.cli.main"
    ended = subprocess.run(
        ["bash", "-c", f"{program} history | head -1; {program} history --json | head -c 5"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert "Traceback" not in ended.stderr
    json.dumps(ended.stdout)
