"""Evaluations: logged, resumed, scored again, compared."""

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from harness_evals.executors import threads
from harness_evals.log import Entry, Header, Log, LogWriter, read_log
from harness_evals.outcome import Outcome
from harness_evals.run import Job, run_task
from harness_evals.scorers import WEIGHTS
from harness_evals.suite import (
    begin,
    compare,
    differing_stage,
    find_log,
    first_differences,
    rescored,
    resume,
    run,
    scored,
    settings_for,
    summary,
)
from harness_evals.tasks import Task

from harness.app import App
from harness.errors import InvalidInput
from harness.settings import Settings, load
from tests.evals.stand_ins import FACTS, fact_task, saying

SETTINGS = settings_for(Settings())


def log_of(scores: Mapping[str, Sequence[int | None]], name: str = "x") -> Log:
    """Return a log in which the reports of each task have that many facts; `None` is a failed run."""
    header = Header(name, 0.0, dict.fromkeys(scores, ""), 1, {}, {}, dict(WEIGHTS))
    entries = []
    for task, facts in scores.items():
        for repeat, said in enumerate(facts):
            job = Job(fact_task(task), repeat, SETTINGS)
            outcome = Outcome(task, repeat, error="down") if said is None else saying(job, said)
            entries.append(scored(job.task, outcome))
    return Log(Path(name), header, tuple(entries))


def run_all(
    path: Path, tasks: Sequence[Task], header: Header, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[int, int]]:
    """Run what is missing; return the reported progress."""
    monkeypatch.setattr("harness_evals.run.run_apart", lambda job: saying(job, 5))
    done = read_log(path).outcomes if path.exists() else []
    calls: list[tuple[int, int]] = []
    with threads(2) as executor:
        run(
            header,
            done,
            tasks,
            SETTINGS,
            path,
            executor,
            at_once=2,
            on_outcome=lambda *progress: calls.append(progress),
        )
    return calls


def test_each_run_is_logged_with_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings without secrets and paths, versions, a digest of each task; outcome, scores and digests of each run."""
    tasks = [fact_task("a"), fact_task("b")]
    secret = msgspec.structs.replace(SETTINGS, pubmed_api_key="hidden", proxy="http://user:hidden@host:1")
    header = begin(tasks, secret, repeats=3, now=1_700_000_000.0)
    calls = run_all(tmp_path / "one.jsonl", tasks, header, monkeypatch)
    assert calls == [(n, 6) for n in range(7)]
    assert "hidden" not in (tmp_path / "one.jsonl").read_text()
    log = read_log(tmp_path / "one.jsonl")
    assert log.header.id.startswith("20231114-221320-")
    assert log.header.settings["max_rounds"] == 5
    assert {"harness", "python", "embedder"} <= log.header.versions.keys()
    assert log.header.tasks["a"] != log.header.tasks["b"]
    assert {(each.outcome.task, each.outcome.repeat) for each in log.entries} == {
        (t, n) for t in "ab" for n in range(3)
    }
    assert all(each.total and each.scores and each.outcome.digests for each in log.entries)
    assert log.is_finished


def test_missing_and_failed_runs_are_run_on_resuming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else; earlier lines are unchanged."""
    tasks = [fact_task("a"), fact_task("b")]
    header = begin(tasks, SETTINGS, repeats=2, now=0.0)
    path = tmp_path / "one.jsonl"
    with LogWriter(path) as log:
        log.write(header)
        log.write(scored(tasks[0], saying(Job(tasks[0], 0, SETTINGS), 9)))
        log.write(Entry(Outcome("b", 0, error="search: down")))
    before = path.read_bytes()
    assert run_all(path, tasks, header, monkeypatch)[-1] == (3, 3)
    assert path.read_bytes().startswith(before)
    found = read_log(path)
    assert found.is_finished
    assert Counter((o.task, o.repeat) for o in found.outcomes) == {("a", 0): 1, ("a", 1): 1, ("b", 0): 2, ("b", 1): 1}
    assert summary(found).crashes == 0


RUNNING = """
import pathlib, sys, time
from harness_evals import run, suite
from harness_evals.executors import threads
from tests.evals.stand_ins import fact_task, saying

def slowly(job):
    time.sleep(0.05)
    return saying(job, 5)

run.run_apart = slowly
tasks = [fact_task(f"t{n}") for n in range(5)]
settings = suite.settings_for(suite.Settings())
header = suite.begin(tasks, settings, repeats=10, now=0.0)
with threads(2) as executor:
    suite.run(header, [], tasks, settings, pathlib.Path(sys.argv[1]), executor, at_once=2,
              on_outcome=lambda number, total: print(number, flush=True))
"""


def test_a_killed_evaluation_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run is there once, whole: no line twice, none incomplete."""
    path = tmp_path / "one.jsonl"
    with subprocess.Popen([sys.executable, "-c", RUNNING, path], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        while running.stdout.readline() != b"7\n":
            pass
        running.send_signal(signal.SIGKILL)
    with path.open("ab") as file:
        file.write(b'{"line":"outcome","outcome":{"task":"t')
    tasks = [fact_task(f"t{n}") for n in range(5)]
    log = resume(path, tasks, SETTINGS)
    assert 7 <= len(log.entries) < 50
    run_all(path, tasks, log.header, monkeypatch)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    runs = Counter((line["outcome"]["task"], line["outcome"]["repeat"]) for line in lines[1:])
    assert set(runs.values()) == {1}
    assert len(runs) == 50


def test_other_tasks_or_settings_cannot_continue(tmp_path: Path) -> None:
    """A log has one set of each; the error says what has changed."""
    tasks = [fact_task("a"), fact_task("b")]
    path = tmp_path / "one.jsonl"
    with LogWriter(path) as log:
        log.write(begin(tasks, SETTINGS, repeats=1, now=0.0))
    assert resume(path, tasks, msgspec.structs.replace(SETTINGS, log_level="debug")).entries == ()
    with pytest.raises(InvalidInput, match="the tasks b have changed since"):
        resume(path, [tasks[0], fact_task("b", "confirm")], SETTINGS)
    with pytest.raises(InvalidInput, match="the settings max_rounds, model have changed since"):
        resume(path, tasks, msgspec.structs.replace(SETTINGS, max_rounds=1, model="other"))


def test_an_old_log_is_scored_again() -> None:
    """With the current tasks; nothing is run, and failed runs stay failed."""
    log = log_of({"a": [5, None]})
    now = fact_task("a")
    easier = msgspec.structs.replace(now, nuggets=now.nuggets[: FACTS // 2])
    again = rescored(log, [easier])
    assert again.entries[0].total is not None
    assert log.entries[0].total is not None
    assert again.entries[0].total > log.entries[0].total
    assert again.entries[1].scores is None
    with pytest.raises(InvalidInput, match="the tasks a of x do not exist; pass their folder with --tasks-dir"):
        rescored(log, [fact_task("b")])


def test_repeats_are_summed_up_by_task() -> None:
    """A task is one observation, however often it ran; a failed run is a crash, not a score of 0."""
    found = summary(log_of({"a": [2, 4, None], "b": [8, 8, 8], "c": [None]}))
    a, b, c = found.tasks
    assert (a.runs, c.runs, c.total, c.errors, found.crashes) == (3, 1, None, ("down",), 2)
    assert a.values["nugget_vital"] == pytest.approx(0.3)
    assert found.means["nugget_vital"] == pytest.approx((0.3 + 0.8) / 2)
    assert set(found.errors) == set(found.means)
    assert b.total is not None


def test_evaluations_are_compared_task_by_task() -> None:
    """On the tasks that both have; the second minus the first."""
    first = log_of({**{f"t{n}": [3, 3] for n in range(8)}, "only": [9]})
    second = log_of({**{f"t{n}": [5] for n in range(8)}, "other": [1]})
    found = compare(first, second)
    assert found.mean == pytest.approx(0.1, abs=0.01)
    assert set(found.differences) == {f"t{n}" for n in range(8)}
    assert found.low <= found.mean <= found.high
    assert found.p == pytest.approx(2 / 2**8)
    assert compare(second, first).mean == pytest.approx(-found.mean)
    assert compare(first, first).p == 1.0
    with pytest.raises(InvalidInput, match="no measured task in common"):
        compare(first, log_of({"new": [1]}))


def test_a_task_without_an_answer_is_a_bad_score_and_no_crash(tmp_path: Path) -> None:
    """No report: neither source nor sentence, but a cost."""
    soup = tmp_path / "soup.txt"
    soup.write_text("Peel the onions and let them simmer in butter until they are golden brown.\n")
    task = msgspec.structs.replace(fact_task("a"), engine=f"corpus:{soup}", question="quantum chromodynamics")
    with App(load().settings) as app:
        outcome = run_task(app, task)
    assert (outcome.sources, outcome.citations, outcome.error) == ((), (), "")
    assert outcome.cost.live_calls > 0
    assert scored(task, outcome).total == 0


@pytest.mark.parametrize(("repeats", "tasks", "says"), [(0, 1, "--repeat 1 or more"), (1, 0, "no task to run")])
def test_an_evaluation_of_nothing_is_refused(repeats: int, tasks: int, says: str) -> None:
    """In one line."""
    with pytest.raises(InvalidInput, match=says):
        begin([fact_task("a")] * tasks, SETTINGS, repeats=repeats, now=0.0)


def test_a_log_is_found_by_its_beginning(tmp_path: Path) -> None:
    """Or its whole path, or `last`; an ambiguous name is an error."""
    for name in ("20260101-000000-aaaaaa", "20260101-000000-bbbbbb", "20260201-000000-cccccc"):
        (tmp_path / f"{name}.jsonl").touch()
    assert find_log(tmp_path, "last").stem == find_log(tmp_path, "202602").stem == "20260201-000000-cccccc"
    assert find_log(Path("nowhere"), str(tmp_path / "20260101-000000-aaaaaa.jsonl")).exists()
    for name, says in (
        ("20260101", "may be any of 2026.*write more of it"),
        ("x", "no evaluation 'x' in"),
        ("*", "no ev"),
    ):
        with pytest.raises(InvalidInput, match=says):
            find_log(tmp_path, name)


def test_the_first_stage_that_differs_is_named() -> None:
    """In the order of the stages."""
    one = Outcome("a", 0, digests={"plan": "1", "chunks": "2", "report": "3"})
    other = Outcome("a", 1, digests={"plan": "1", "chunks": "4", "report": "5"})
    assert differing_stage([one, other]) == "chunks"
    assert differing_stage([one, one]) is differing_stage([]) is None


def test_two_evaluations_are_compared_by_stages() -> None:
    """Repeat by repeat; the earliest stage counts, in any order of the log; failed runs are not compared."""
    bytes_of = {"plan": "1", "queries": "2", "chunks": "3", "report": "4"}

    def log(name: str, **changed: Mapping[str, str]) -> Log:
        outcomes = [Outcome("a", 0), Outcome("a", 1), Outcome("b", 0), Outcome("c", 0, error="down"), Outcome("d", 0)]
        entries = [
            Entry(each if each.error else msgspec.structs.replace(each, digests={**bytes_of, **changed.get(key, {})}))
            for each in outcomes
            if (key := f"{each.task}{each.repeat}") and not (key == "d0" and name == "two")
        ]
        return Log(Path(name), Header(name, 0.0, dict.fromkeys("abcd", ""), 2, {}, {}, {}), tuple(entries))

    other = log("two", a0={"report": "x"}, a1={"chunks": "x", "report": "x"})
    assert first_differences(log("one"), other) == {"a": "chunks", "b": None}
    assert first_differences(other, other) == {"a": None, "b": None}
