"""Runs of evaluations and experiments do not stand among those of users and agents."""

import pytest

from harness import settings
from harness.app import App
from harness.cli import completion
from harness.core.origins import RunOrigin
from harness.settings.mode import Mode
from harness.storage.recent import recent
from tests.cli.program import Program

RUNS: dict[RunOrigin, str] = {
    "user": "20261122-101500-aaaaaa",
    "agent": "20261122-101501-bbbbbb",
    "evaluation": "20261122-101502-cccccc",
    "experiment": "20261122-101503-dddddd",
}


@pytest.fixture
def runs() -> None:
    """Keep one run of each origin; the user's is the oldest."""
    for origin, run in RUNS.items():
        record = {"question": origin, "engines": [{"name": "ddgs"}], "uses": [], "state": "stopped"}
        with App(settings.load({}).settings, Mode(origin=origin)) as app:
            app.cache.runs.put(run, origin, "ddgs", record)


@pytest.mark.parametrize(
    ("option", "shown"),
    [
        ([], {"user", "agent"}),
        (["--origin", "evaluation"], {"evaluation"}),
        (["--origin", "experiment"], {"experiment"}),
        (["--origin", "all"], {*RUNS}),
    ],
)
@pytest.mark.parametrize("command", [["runs"], ["cache", "runs"]])
def test_runs_lists_users_and_agents_unless_asked(
    harness: Program, runs: None, command: list[str], option: list[str], shown: set[str]
) -> None:
    """The option is the one that `harness history` has."""
    listed = harness(*command, *option, "--json").told["items"]
    assert {run["question"] for run in listed} == shown


def test_an_unknown_origin_is_one_line(harness: Program, runs: None) -> None:
    """It names the known ones."""
    ended = harness("runs", "--origin", "nobody")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "evaluation" in ended.err


def test_last_is_the_last_of_users_and_agents(harness: Program, runs: None) -> None:
    """A run of an experiment is shown by its id."""
    shown = {name: harness("show", name).err for name in ("last", RUNS["experiment"])}
    assert RUNS["agent"] in shown["last"]
    assert RUNS["experiment"] in shown[RUNS["experiment"]]


def test_completion_offers_runs_of_users_and_agents(harness: Program, runs: None) -> None:
    """Newest first."""
    found = recent(settings.load({}).settings.data_dir / "harness.db", "runs", "default", completion.MAX_FOUND)
    assert found == [(RUNS["agent"], "agent"), (RUNS["user"], "user")]


def test_a_failed_run_shows_its_cause(harness: Program) -> None:
    """With how to continue it."""
    error = {"code": "engine_unavailable", "message": "duckduckgo.com cannot be reached"}
    record = {"question": "q", "engines": [{"name": "ddgs"}], "uses": [], "state": "failed", "error": error}
    with App(settings.load({}).settings) as app:
        app.cache.runs.put(RUNS["user"], "q", "ddgs", record)
    ended = harness("show", RUNS["user"])
    assert ended.code == 1
    assert f"it failed (duckduckgo.com cannot be reached); `harness research --resume {RUNS['user']}`" in ended.err
