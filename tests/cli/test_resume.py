"""`harness research --resume`: a run continues with its first settings and ends the same."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.app import App
from harness.errors import InvalidInput
from harness.identity import LOCAL, Identity
from harness.settings import Settings, run_settings
from tests.cli.program import Program

QUESTION = "How do retries use exponential backoff?"
KILLS = 12


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data directory."""
    monkeypatch.setenv("HARNESS_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def started(harness: Program, *options: str) -> tuple[str, str]:
    """Research the question; return the run's id and its report."""
    found = harness("research", QUESTION, *options, "--json").told
    return found["run"], found["report"]


def record(home: Path, run: str) -> dict[str, object]:
    """Return the record of a run."""
    with App(Settings(data_dir=home)) as app:
        return app.cache.runs.get(run)


def test_a_run_resumes_with_its_own_settings(
    harness: Program, home: Path, notes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No option has to be repeated, whichever directory it is resumed from: engine, limits, sections, epoch."""
    monkeypatch.chdir(tmp_path)
    run, report = started(harness, "-e", "corpus:notes", "--max-results", "2", "--sections", "2", "--max-rounds", "2")
    before = record(home, run)
    monkeypatch.chdir(home)
    again = harness("research", "--resume", run, "--json")
    assert again.code == 0
    assert again.told["report"] == report
    after = record(home, run)
    for name in ("settings", "engines", "max_results", "max_rounds", "sections", "began"):
        assert after[name] == before[name]


def test_an_explicit_option_overrides_one_setting(harness: Program, home: Path, notes: str) -> None:
    """The others stay those of the run."""
    run, _ = started(harness, "-e", notes, "--max-results", "2")
    assert harness("research", "--resume", run, "--max-rounds", "1", "--sections", "1", "--json").code == 0
    after = record(home, run)
    assert (after["max_rounds"], after["max_results"], after["sections"]) == (1, 2, 1)


@pytest.mark.slow
def test_a_finished_run_stays_until_there_is_a_new_result(harness: Program, home: Path, notes: str) -> None:
    """If resuming fails, the report is still there."""
    run, report = started(harness, "-e", notes)
    before = record(home, run)
    failed = harness("research", "--resume", run, "-e", "searxng:http://127.0.0.1:9", "--ttl", "60")
    assert failed.code == 3
    assert record(home, run) == before
    assert harness("research", "--resume", run, "--json").told["report"] == report


def test_a_refreshed_run_resumes_refreshed_and_repeats_no_call_of_its_own(
    harness: Program, home: Path, notes: str
) -> None:
    """Answers since its start are exact hits; older entries are not."""
    started(harness, "-e", notes)
    run, report = started(harness, "-e", notes, "--refresh")
    again = harness("research", "--resume", run, "--json").told
    assert again["report"] == report
    assert again["live_calls"] == 0
    assert record(home, run)["refresh"] is True


def test_a_run_without_stored_settings_asks_for_them(harness: Program, home: Path, notes: str) -> None:
    """Runs of older versions are resumed with explicit options, never with the default engine."""
    run, report = started(harness, "-e", notes)
    with App(Settings(data_dir=home)) as app:
        old = app.cache.runs.get(run)
        del old["settings"], old["began"]
        app.cache.runs.put(run, QUESTION, "corpus", old)
    assert "pass --engine" in harness("research", "--resume", run).one_line_error(2)
    assert harness("research", "--resume", run, "-e", notes, "--json").told["report"] == report


@pytest.mark.parametrize(
    "damage",
    [{"settings": 5}, {"settings": {"max_rounds": "many"}}, {"settings": {"engine": []}}, {"epoch": 3}],
    ids=["no mapping", "no number", "no engine", "no text"],
)
def test_a_damaged_record_is_one_line(harness: Program, home: Path, notes: str, damage: dict[str, object]) -> None:
    """The error names the run, and nothing is overwritten."""
    run, _ = started(harness, "-e", notes)
    with App(Settings(data_dir=home)) as app:
        app.cache.runs.put(run, QUESTION, "corpus", {**app.cache.runs.get(run), **damage})
    ended = harness("research", "--resume", run)
    assert ended.code in {2, 4}
    assert run in ended.one_line_error(ended.code)


def test_a_server_resumes_only_with_its_own_engines(harness: Program, home: Path, notes: str, tmp_path: Path) -> None:
    """Write access to a record does not decide which folder or host a server reads."""
    run, _ = started(harness, "-e", notes)
    with App(Settings(data_dir=home, engine=("corpus:python-docs",))) as app:
        member = app.serving(Identity(LOCAL.tenant, "ada", "writer", "t1"))
        with pytest.raises(InvalidInput, match="another engine"):
            member.resume(run)
    with App(Settings(data_dir=home, engine=(notes,))) as app:
        assert app.serving(Identity(LOCAL.tenant, "ada", "writer", "t1")).resume(run).id == run


def test_passwords_are_not_stored_with_a_run(tmp_path: Path) -> None:
    """Neither secret settings nor credentials in URLs."""
    settings = Settings(
        data_dir=tmp_path,
        engine=("searxng:http://ada:secret1@127.0.0.1:9/",),
        model_url="http://ada:secret2@127.0.0.1:9/v1",
        searxng_url="http://ada:secret3@127.0.0.1:9/",
        proxy="http://ada:secret4@127.0.0.1:9",
        pubmed_api_key="secret5",
    )
    assert "secret" not in json.dumps(run_settings(settings))


PROGRAM = "import sys; from harness.cli.main import main; sys.argv[0] = 'harness'; main()"


def command(*arguments: str) -> list[str]:
    """Return the command line of the program in a separate process."""
    return [sys.executable, "-c", PROGRAM, *arguments]


@pytest.mark.slow
def test_a_run_killed_at_any_moment_gives_the_same_report(harness: Program, tmp_path: Path, notes: str) -> None:
    """Resumed, it ends as the unbroken run does; nothing that it stored itself answers it by meaning."""
    environment = {**os.environ, "HARNESS_DATA_DIR": str(tmp_path / "unbroken")}
    ask = command("research", QUESTION, "-e", notes, "--json")
    began = time.monotonic()
    whole = subprocess.run(ask, env=environment, capture_output=True, check=True, timeout=120)
    lasted = time.monotonic() - began
    report = json.loads(whole.stdout)["report"]
    chance = random.Random(22)
    resumed = 0
    for number in range(KILLS):
        home = tmp_path / f"killed-{number}"
        environment["HARNESS_DATA_DIR"] = str(home)
        process = subprocess.Popen(ask, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.3, 1.0) * lasted)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        listed = subprocess.run(command("cache", "runs", "--json"), env=environment, capture_output=True, check=True)
        runs = json.loads(listed.stdout)["items"]
        how = ["--resume", runs[0]["id"]] if runs else [QUESTION, "-e", notes]
        resumed += bool(runs)
        again = subprocess.run(
            command("research", *how, "--json"), env=environment, capture_output=True, check=True, timeout=120
        )
        assert json.loads(again.stdout)["report"] == report
    assert resumed, "no kill came after the run was recorded"
