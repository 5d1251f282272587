"""`autoresearch` and `harness autoresearch`: real researches on a few notes, in an experiment loop."""

import csv
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from harness_evals.journal import Confirmation, Journal, JournalWriter, Options, read_journal
from harness_evals.loop import Loop, begin, expected_runs
from harness_evals.proposers import FromFile
from harness_evals.run import Job, run_jobs
from harness_evals.suite import settings_for
from harness_evals.tasks import load_tasks

from harness.settings import load
from tests.cli.program import Program
from tests.evals.stand_ins import CountingEngine
from tests.models.endpoint import Endpoint, endless, said, saying

pytestmark = pytest.mark.usefixtures("words")

ROOT = Path(__file__).parents[2]


@contextmanager
def in_a_thread(count: int, *, seconds: float | None = None) -> Iterator[ThreadPoolExecutor]:
    """Replace processes, which take seconds to start, where none has to die."""
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run jobs in this process."""
    monkeypatch.setattr("harness_evals.executors.processes", in_a_thread)


@pytest.fixture
def research(harness: Program, tasks_dir: Path, tmp_path: Path, in_threads: None) -> Callable[..., Journal]:
    """Run `harness autoresearch` on the notes to its end; return its journal."""

    def run(*arguments: object) -> Journal:
        ended = harness("autoresearch", "--tasks-dir", tasks_dir, *arguments)
        assert ended.code == 0, ended
        (folder,) = (tmp_path / "data" / "autoresearch").iterdir()
        return read_journal(folder)

    return run


def file_of(folder: Path, *changes: Mapping[str, Any]) -> tuple[str, str, str, Path]:
    """Return the arguments for these experiments."""
    path = folder / "experiments.yaml"
    path.write_text("experiments:\n" + "".join(f"- {json.dumps(each)}\n" for each in changes))
    return ("--proposer", "file", "--file", path)


def test_a_planner_setting_gathers_again_and_a_synthesis_setting_does_not(
    research: Callable[..., Journal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Live calls: some at the beginning, some for more rounds, none for writing the report differently."""
    monkeypatch.setenv("HARNESS_MAX_ROUNDS", "1")
    monkeypatch.setenv("HARNESS_ENOUGH_SCORE", "1")
    changes = ({"context_tokens": 1_500}, {"max_evidence": 4}, {"max_rounds": 2})
    held = research(*file_of(tmp_path, *changes))
    assert held.noise_floor is not None
    assert held.noise_floor.live_calls > 0
    assert [each.live_calls > 0 for each in held.experiments] == [False, False, True]
    assert held.noise_floor.value == 0.0
    assert all(each.status != "crash" for each in held.experiments)


@pytest.mark.slow
def test_nothing_expires_between_two_arms(tasks_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TTLs of a second end by the wall clock, but not within a loop, whose time is fixed."""
    engine = CountingEngine()
    monkeypatch.setattr("harness.sources.from_settings.Sources.engines", lambda self, specs=(), **how: (engine,))
    monkeypatch.setenv("HARNESS_TTL", "1")
    monkeypatch.setenv("HARNESS_PAGE_TTL", "1")
    monkeypatch.setenv("HARNESS_READ_PAGES", "0")
    settings, (task,) = settings_for(load().settings), load_tasks(["retries"], tasks_dir)
    now = time.time()
    live = []
    with ThreadPoolExecutor(1) as executor:
        for at, pause in ((now, 1.1), (now, 0), (None, 0)):
            ((_, outcome),) = run_jobs([Job(task, 0, settings, at)], executor, at_once=1)
            live.append(outcome.cost.live_calls)
            time.sleep(pause)
    assert (live[0] > 0, live[1], live[2] > 0) == (True, 0, True)


def test_fresh_gathering_is_live_in_every_run(research: Callable[..., Journal], tmp_path: Path) -> None:
    """Both sides of each experiment."""
    held = research(*file_of(tmp_path, {"context_tokens": 1_500}), "--fresh-gather")
    assert held.noise_floor is not None
    (experiment,) = held.experiments
    assert experiment.live_calls == held.noise_floor.live_calls >= 4


def test_experiments_are_not_in_the_history_of_the_user(
    research: Callable[..., Journal], harness: Program, tmp_path: Path
) -> None:
    """Nor in the statistics, unless asked for."""
    research(*file_of(tmp_path, {"max_evidence": 4}))
    assert harness("history", "--json").told == {"items": [], "next_offset": None}
    assert len(harness("history", "--json", "--source", "research", "--origin", "experiment").told["items"]) > 0
    assert harness("cache", "stats", "--json").told["misses"] == 0
    assert harness("cache", "stats", "--json", "--origin", "experiment").told["misses"] > 0


def test_the_best_settings_are_a_configuration(
    research: Callable[..., Journal], harness: Program, tasks_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kept settings are a file for `--config`, and so are the first ones; the table is next to it."""
    monkeypatch.setattr("harness_evals.verdicts._passes", lambda finding: True)
    config = tmp_path / "config.yml"
    config.write_text("read_pages: 1\n")
    held = research(*file_of(tmp_path, {"chunk_tokens": [100, 200], "max_rounds": 1}), "--config", config)
    assert held.best == {"chunk_tokens": (100, 200), "max_rounds": 1}
    best = held.folder / "best.yaml"
    shown = harness("config", "--config", best)
    assert shown.code == 0
    settings = load(config=best).settings
    assert (settings.chunk_tokens, settings.read_pages, settings.research_cache) == ((100, 200), 1, None)
    assert harness("eval", "run", "--tasks-dir", tasks_dir, "--config", best).code == 0
    (row,) = csv.DictReader((held.folder / "results.tsv").read_text().splitlines(), delimiter="\t")
    assert (row["status"], row["description"]) == ("keep", "chunk_tokens=(100, 200), max_rounds=1")


@pytest.mark.parametrize("proposer", ["grid", "random", "hillclimb"])
def test_experiments_are_proposed_in_several_ways(
    harness: Program, tasks_dir: Path, tmp_path: Path, in_threads: None, proposer: str
) -> None:
    """Experiments of a custom space are printed one by one, and as JSON at the end."""
    space = tmp_path / "space.yaml"
    space.write_text("max_evidence: [4, 6]\nper_source: [2, 3]\n")
    how = ("--tasks-dir", tasks_dir, "--proposer", proposer, "--space", space, "--experiments", 2, "--plateau", 2)
    ended = harness("autoresearch", *how, "--json")
    assert len(ended.told["experiments"]) == 2
    assert {name for each in ended.told["experiments"] for name in each["changes"]} <= {"max_evidence", "per_source"}
    assert "noise floor 0.0000: identical settings" in ended.err
    assert "plateau: the last 2 experiments kept nothing" in ended.err
    assert "ended: all experiments are made; the best settings are in" in ended.err


def test_a_model_proposes(
    research: Callable[..., Journal], endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its proposal is tried; three in a row that repeat it end the loop. Its plans and reports are unusable."""
    endpoint.answers(saying('{"idea": "less", "hypothesis": "shorter", "change": {"max_evidence": 5}}'))
    monkeypatch.setenv("HARNESS_MODEL", "scripted")
    monkeypatch.setenv("HARNESS_MODEL_URL", endpoint.url)
    held = research("--proposer", "model", "--repeats", 1)
    assert [each.changes for each in held.experiments] == [{"max_evidence": 5}, {}, {}, {}]
    assert [each.status for each in held.experiments[1:]] == ["invalid"] * 3


def test_what_a_model_may_cost_is_said_before_it_is_asked(
    harness: Program, tasks_dir: Path, tmp_path: Path, in_threads: None, endpoint: Endpoint, monkeypatch: Any
) -> None:
    """By what prompts may hold, and the next time by the runs of this loop; both are bounds of what it takes."""
    endpoint.answers(saying('{"idea": "less", "hypothesis": "shorter", "change": {"max_evidence": 5}}'))
    monkeypatch.setenv("HARNESS_MODEL", "scripted")
    monkeypatch.setenv("HARNESS_MODEL_URL", endpoint.url)
    monkeypatch.setenv("HARNESS_MODEL_PRICES", "scripted=1/2")
    how = ("--tasks-dir", tasks_dir, "--proposer", "model", "--repeats", 1, "--experiments", 1)

    def most_for_reports(source: str) -> int:
        (line,) = [each for each in harness("autoresearch", *how).err.splitlines() if "Upper bounds" in each]
        said = rf"at most ([\d,]+) tokens of scripted for reports, which cost [\d.,]+ by model_prices \({source}\); "
        found = re.match(said + r"at most [\d,]+ tokens of scripted for proposals, which cost [\d.,]+ by", line)
        assert found, line
        return int(found[1].replace(",", ""))

    first = most_for_reports("by what their prompts and answers may hold")
    (folder,) = (tmp_path / "data" / "autoresearch").iterdir()
    held = read_journal(folder)
    assert held.noise_floor is not None
    took = held.noise_floor.tokens + sum(each.tokens for each in held.experiments)
    second = most_for_reports("by earlier runs of 2 of 4 tasks, else by what prompts and answers may hold")
    assert 0 < took <= second < first


def test_a_stopped_loop_continues(harness: Program, tasks_dir: Path, tmp_path: Path, in_threads: None) -> None:
    """Continued with `last`: a file stopped it, and more output on standard error does not change the loop."""
    space = tmp_path / "space.yaml"
    space.write_text("max_evidence: [4, 6, 8]\nper_source: [2, 3]\nchunk_tokens: [[100, 200]]\n")
    how = ("--tasks-dir", tasks_dir, "--proposer", "grid")
    harness("autoresearch", *how, "--space", space, "--experiments", 4, "--budget-seconds", "0")
    (folder,) = (tmp_path / "data" / "autoresearch").iterdir()
    (folder / "stop").touch()
    assert "asks for it" in harness("autoresearch", "--tasks-dir", tasks_dir, "--resume", "last").err
    assert read_journal(folder).experiments == ()
    (folder / "stop").unlink()
    ended = harness("autoresearch", "--tasks-dir", tasks_dir, "--resume", folder.name[:12], "--verbose")
    assert "ended: all experiments are made" in ended.err
    assert [each.description for each in read_journal(folder).experiments] == [
        "max_evidence=4", "max_evidence=6", "per_source=2", "per_source=3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--tasks", "T_Z"), "no task 'T_Z' in"),
        (("--tasks", "T_B,T_B"), "at least 2 tasks of the split tune, not 1"),
        (("--proposer", "wish"), "no proposer 'wish'; choose one of grid"),
        (("--proposer", "file"), "--proposer file and --file FILE need each other"),
        (("--proposer", "file", "--file", "/nowhere.yaml"), "cannot read /nowhere.yaml"),
        (("--proposer", "model"), "a language model; pass --proposer-model, or set `model`"),
        (("--space", "/nowhere.yaml"), "cannot read /nowhere.yaml"),
        (("--experiments", "0"), "must be at least 1"),
        (("--delta", "2"), "--delta must be 0 to 1"),
        (("--workers", "0"), "pass --workers 1 or more"),
        (("--resume", "last"), "no loop 'last' in"),
        (("report",), "no loop 'last' in"),
    ],
)
def test_wrong_arguments_are_one_line(harness: Program, arguments: tuple[str, ...], says: str) -> None:
    """Exit code 2, with the valid choices."""
    assert says in harness("autoresearch", *arguments).one_line_error(2)


@pytest.mark.parametrize(("text", "says"), [("", "is empty"), ("max_round: [1]", "did you mean 'max_rounds'")])
def test_an_invalid_space_is_one_line(harness: Program, tmp_path: Path, text: str, says: str) -> None:
    """Before anything runs."""
    path = tmp_path / "space.yaml"
    path.write_text(text)
    assert says in harness("autoresearch", "--space", path).one_line_error(2)


# Reports -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def reported(research: Callable[..., Journal], tmp_path: Path) -> Journal:
    """A finished loop."""
    return research(*file_of(tmp_path, {"max_evidence": 1}, {"max_evidence": 2}))


def test_a_report_is_a_table_and_a_chart(reported: Journal, harness: Program) -> None:
    """Without colour in a pipe; as JSON for programs."""
    ended = harness("autoresearch", "report")
    assert ended.code == 0
    assert "\x1b" not in ended.out
    assert ended.out.startswith("noise floor 0.0000: ")
    assert "1. entry 1: max_evidence=1\n" in ended.out
    assert ended.out.rstrip().endswith("nothing was kept")
    assert harness("autoresearch", "report", reported.begun.id, "--json").told["experiments"][1]["number"] == 2


def test_a_report_is_a_picture(reported: Journal, harness: Program, tmp_path: Path) -> None:
    """A PNG; if it cannot be written, a one-line error."""
    picture = tmp_path / "scores.png"
    assert harness("autoresearch", "report", "--png", picture).code == 0
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert picture.stat().st_size > 5_000
    assert "cannot write" in harness("autoresearch", "report", "--png", tmp_path / "no" / "x.png").one_line_error(2)


# Processes ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_program_runs_experiments_in_processes(tasks_dir: Path, tmp_path: Path) -> None:
    """As a user runs it: quietly, with JSON on standard output and nothing on standard error."""
    arguments = ("--tasks-dir", tasks_dir, *file_of(tmp_path, {"max_results": 7}, {"max_evidence": 4}), "--quiet")
    ended = subprocess.run(
        [sys.executable, ROOT / "autoresearch.py", *arguments, "--json"],
        capture_output=True, text=True, env=dict(os.environ), check=False, timeout=120,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    payload = json.loads(ended.stdout)
    assert [each["status"] != "crash" for each in payload["experiments"]] == [True, True]
    assert payload["noise_floor"]["live_calls"] > 0


@pytest.mark.slow
def test_a_real_candidate_that_takes_too_long_is_a_crash(tasks_dir: Path, tmp_path: Path, endpoint: Endpoint) -> None:
    """Its processes are killed, and the journal has the reason; the next experiment runs."""
    endpoint.answers(endless(said("word "), lambda: endpoint.pause(0.1)))
    slowly = {"model": "slow", "model_url": endpoint.url, "model_max_tokens": 100_000}
    arguments = ("--tasks-dir", tasks_dir, "--task-seconds", "6", *file_of(tmp_path, slowly, {"max_evidence": 4}))
    ended = subprocess.run(
        [sys.executable, ROOT / "autoresearch.py", *arguments, "--json"],
        capture_output=True, text=True, env=dict(os.environ), check=False, timeout=120,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    slow, fast = json.loads(ended.stdout)["experiments"]
    assert slow["status"] == "crash"
    assert "TimeoutError: it took longer than 6 s and was killed" in slow["reasons"][0]
    assert fast["status"] != "crash"


def test_a_pipe_gets_one_line_per_step_and_no_bar(
    harness: Program, tasks_dir: Path, tmp_path: Path, in_threads: None
) -> None:
    """First the journal's path and what is measured, then each experiment."""
    ended = harness("autoresearch", "--tasks-dir", tasks_dir, *file_of(tmp_path, {"max_evidence": 4}))
    lines = [line for line in ended.err.splitlines() if not line.startswith("warning: ")]
    assert [line.split()[0] for line in lines] == ["loop", "if", "at", "measuring", "noise", "1.", "ended:"]
    assert "\x1b" not in ended.err


def test_a_loop_counts_its_runs(tasks_dir: Path, tmp_path: Path, in_threads: None) -> None:
    """The count goes from 0 to all, never backwards; an experiment that ends early reduces the total."""
    tasks = load_tasks([], tasks_dir)
    settings = settings_for(load().settings)
    options = Options(2, 1, 0.01, 0.05, 0, "file", 8)
    begun = begin(tasks, settings, {}, options, now=time.time())
    proposer = FromFile(file_of(tmp_path, {"max_evidence": 4}, {"max_evidence": 5})[-1])
    seen: list[tuple[str, int, int]] = []
    with (
        ThreadPoolExecutor(1) as executor,
        Loop(
            begun, tmp_path / "loop", tasks, settings, proposer, partial(run_jobs, executor=executor, at_once=1)
        ) as loop,
    ):
        assert loop.runs_left == expected_runs(options, tasks)
        list(loop.steps(lambda *step: seen.append(step)))
        loop.close()
    names, done, total = zip(*seen, strict=True)
    assert list(dict.fromkeys(names)) == ["noise floor", "experiment 1 of 2", "experiment 2 of 2"]
    assert list(done) == sorted(done)
    assert (done[0], total[0]) == (0, expected_runs(options, tasks))
    assert all(each <= expected for each, expected in zip(done, total, strict=True))


# Results -----------------------------------------------------------------------------------------------------------


def test_a_loop_that_kept_nothing_has_nothing_to_confirm_or_apply(
    reported: Journal, harness: Program, tasks_dir: Path
) -> None:
    """One line."""
    assert reported.best == {}
    assert "kept nothing" in harness("autoresearch", "apply").one_line_error(2)
    assert "kept nothing" in harness("autoresearch", "confirm", "--tasks-dir", tasks_dir).one_line_error(2)


def test_what_is_unconfirmed_is_applied_on_request_alone(
    reported: Journal, harness: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Into the configuration; the report says that it is unconfirmed."""
    journal = reported.folder / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"status":"inert"', '"status":"unconfirmed"'))
    config = tmp_path / "config.yaml"
    config.write_text("max_results: 9\n")
    monkeypatch.setenv("HARNESS_CONFIG", str(config))
    assert "whether it holds on others is not shown" in " ".join(harness("autoresearch", "report").out.split())
    assert "--unconfirmed" in harness("autoresearch", "apply").one_line_error(2)
    ended = harness("autoresearch", "apply", "--unconfirmed")
    assert (ended.code, load(config=config).settings.max_evidence) == (0, 2)
    tests = [
        Confirmation(count, ("n1", "n2"), sure, 0.03, 0.01, 0.05, 0.03, ("+0.030 on 2 further tasks",))
        for count, sure in ((1, False), (2, True))
    ]
    with JournalWriter(reported.folder) as writer:
        for test in tests:
            writer.write(test)
    said = " ".join(harness("autoresearch", "report").out.split())
    assert "after 1 experiments, of an earlier state, on n1, n2: not confirmed: +0.030 on 2 further tasks" in said
    assert "confirmation after 2 experiments, on n1, n2: confirmed: +0.030" in said
    assert "is not shown" not in said
    again = harness("autoresearch", "apply", "--unconfirmed")
    assert (again.code, again.out) == (0, "all of it was applied before; nothing was changed\n")
    assert (tmp_path / "config.yaml.before").read_text() == "max_results: 9\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--surface", "everything"), "no surface 'everything'"),
        (("--surface", ","), "choose of settings, prompts, rules, code"),
        (("--surface", "prompts"), "changes settings alone"),
        (("--keep-rule", "luck"), "choose significant or gain"),
        (("--objective", "2 ** 9"), "objective"),
        (("--proposer", "agent"), "--agent COMMAND need each other"),
        (("--proposer-model", "any"), "--proposer-model is the model of --proposer model"),
        (("--agent", "x"), "--agent COMMAND need each other"),
    ],
)
def test_wrong_options_are_one_line(harness: Program, tasks_dir: Path, arguments: tuple[str, ...], says: str) -> None:
    """Before anything runs."""
    assert says in harness("autoresearch", "--tasks-dir", tasks_dir, *arguments).one_line_error(2)
