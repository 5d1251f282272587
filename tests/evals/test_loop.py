"""Experiment loop: what is tried, kept and written, and how it continues after a kill."""

import csv
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from harness_evals.isolation import IsolatedExecutor
from harness_evals.journal import COLUMNS, Experiment, as_table, digest_of, read_journal
from harness_evals.loop import Budget, Loop, begin
from harness_evals.outcome import Cost, Outcome
from harness_evals.proposers import Proposal, Proposer, Situation
from harness_evals.run import Job, run_jobs
from msgspec.structs import replace

from harness.errors import InvalidInput, ModelUnavailable, StoreBusy
from harness.settings import Settings, load
from tests.evals.stand_ins import (
    SPACE,
    a_fact_a_round,
    answering,
    experiments_of,
    fact_task,
    fact_tasks,
    from_file,
    halting,
    loop,
    options,
    proposer_named,
    saying,
)

Run = Callable[[Sequence[Job]], Iterator[tuple[Job, Outcome]]]


class Endless(Proposer):
    """Proposer of ever new values of `max_results`."""

    def propose(self, situation: Situation) -> Proposal | None:
        """See `Proposer.propose`."""
        return Proposal({"max_results": 11 + len(situation.tried)})


def counted(run: Run, jobs_run: list[Job]) -> Run:
    """Return `run`, recording the jobs."""

    def running(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        jobs_run.extend(jobs)
        yield from run(jobs)

    return running


# Verdicts ----------------------------------------------------------------------------------------------------------


def test_an_improvement_is_kept_and_becomes_the_baseline(tmp_path: Path) -> None:
    """Score, baseline and delta are relative to the settings kept before."""
    proposer = from_file(tmp_path, {"max_rounds": 3}, {"max_rounds": 4}, {"max_rounds": 1})
    first, second, third = experiments_of(loop(tmp_path / "loop", proposer, answering(a_fact_a_round)))
    assert [each.status for each in (first, second, third)] == ["keep", "discard", "keep"]
    for each, delta in ((first, 0.1), (second, -0.05), (third, 0.1)):
        assert each.score is not None
        assert each.baseline is not None
        assert each.delta == pytest.approx(each.score - each.baseline) == pytest.approx(delta, abs=0.01)
    assert second.baseline == pytest.approx(first.score)
    assert third.baseline == pytest.approx(first.score)


def test_the_split_confirm_is_run_for_candidates_that_pass_alone(tmp_path: Path) -> None:
    """Each task equally often on both sides, in turns."""
    run: list[Job] = []
    proposer = from_file(tmp_path, {"max_rounds": 4}, {"max_rounds": 5, "max_results": 5})
    experiments_of(loop(tmp_path / "loop", proposer, counted(answering(a_fact_a_round), run), tasks=fact_tasks(9, 2)))
    confirmed = [job for job in run if job.task.split == "confirm"]
    assert {job.repeat // 1_000 for job in confirmed} == {1}
    assert len(confirmed) == 4
    first = [job.settings.max_rounds for job in run if job.repeat // 1_000 == 1 and job.task.split == "tune"][:4]
    assert first == [5, 4, 4, 5]


def test_without_tasks_to_confirm_on_nothing_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A warning at the start, and a reason for each that passes; the loop continues."""
    with caplog.at_level(logging.WARNING, "harness"):
        made = loop(
            tmp_path / "loop",
            from_file(tmp_path, {"max_rounds": 3}, {"max_rounds": 1}),
            answering(a_fact_a_round),
            tasks=fact_tasks(10, 1),
        )
    assert "no experiment can be kept: confirming a gain needs at least 2 tasks" in caplog.text
    found = experiments_of(made)
    assert [each.status for each in found] == ["inconclusive", "inconclusive"]
    assert all("split confirm, not 1" in each.reasons[0] for each in found)


def test_too_few_tasks_are_a_warning_before_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With the number needed, in the program's log."""
    with caplog.at_level(logging.WARNING, "harness"):
        begin(fact_tasks(3), Settings(), SPACE, options(experiments=40), now=0.0)
    assert [record.name.split(".")[0] for record in caplog.records] == ["harness"]
    assert "3 tasks on tune are too few" in caplog.text


@pytest.mark.parametrize(
    ("tune", "rules", "says"),
    [
        (1, {}, "at least 2 tasks of the split tune, not 1"),
        (3, {"experiments": 0}, "must be at least 1"),
        (3, {"repeats": 0}, "must be at least 1"),
        (3, {"plateau": 0}, "must be at least 1"),
        (3, {"delta": 1.5}, "--delta must be 0 to 1"),
        (3, {"delta": float("nan")}, "--delta must be 0 to 1"),
        (3, {"alpha": 0.0}, "alpha"),
    ],
)
def test_invalid_rules_are_refused_before_anything_runs(tune: int, rules: dict[str, Any], says: str) -> None:
    """In one line."""
    with pytest.raises(InvalidInput, match=says):
        begin(fact_tasks(tune), Settings(), SPACE, options(**rules), now=0.0)


def test_settings_that_do_not_run_at_all_are_an_error(tmp_path: Path) -> None:
    """There is no baseline; once fixed, the loop continues where it was."""

    def failing(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        for job in jobs:
            yield job, Outcome(job.task.id, job.repeat, error="search: down")

    made = loop(tmp_path, Endless(), failing)
    with pytest.raises(InvalidInput, match=r"the loop's first settings do not run: t\d\d: search: down"):
        experiments_of(made)
    with Loop(made.begun, tmp_path, fact_tasks(), Settings(), Endless(), answering(a_fact_a_round)) as again:
        next(again.steps())
    assert again.noise_floor is not None


# Candidates that misbehave -----------------------------------------------------------------------------------------


def misbehaving(job: Job) -> Outcome:
    """Act as `max_results` selects: raise, hang, use up memory, or end the process."""
    match job.settings.max_results:
        case 11:
            raise ZeroDivisionError("the candidate raises")
        case 12:
            time.sleep(600)
        case 13:
            held = []
            while True:
                held.append(bytearray(2**26))
        case 14:
            os._exit(9)
    return saying(job, a_fact_a_round(job))


@pytest.mark.slow
def test_a_candidate_that_misbehaves_is_a_crash_and_the_loop_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its reason in the journal; the next experiment runs normally."""
    monkeypatch.setattr("harness_evals.run.run_apart", misbehaving)
    with IsolatedExecutor(1, seconds=5, memory=2**30) as executor:
        proposer = from_file(tmp_path, *({"max_results": n} for n in (11, 12, 13, 14)), {"max_rounds": 1})
        found = experiments_of(
            loop(
                tmp_path / "loop",
                proposer,
                lambda jobs: run_jobs(jobs, executor, at_once=1),
                tasks=fact_tasks(6, 2),
                rules=options(experiments=5, alpha=0.2),
            )
        )
    assert [each.status for each in found] == ["crash", "crash", "crash", "crash", "keep"]
    reasons = [
        "ZeroDivisionError: the candidate raises",
        "TimeoutError: it took longer than 5 s",
        "MemoryError",
        "status 9",
    ]
    for each, reason in zip(found, reasons, strict=False):
        assert reason in each.reasons[0]
        assert (each.score, each.delta) == (None, None)
    rows = list(csv.DictReader((tmp_path / "loop" / "results.tsv").read_text().splitlines(), delimiter="\t"))
    assert [row["status"] for row in rows] == ["crash"] * 4 + ["keep"]


# What is tried -----------------------------------------------------------------------------------------------------


def test_identical_settings_are_not_run_twice(tmp_path: Path) -> None:
    """Neither the baseline's, nor those of an earlier experiment in another form."""
    run: list[Job] = []
    plain = Settings()
    proposer = from_file(
        tmp_path,
        {"max_rounds": plain.max_rounds},
        {"read_pages": 6},
        {"read_pages": 6, "max_rounds": plain.max_rounds},
        {"read_pages": 0},
    )
    found = experiments_of(loop(tmp_path / "loop", proposer, counted(answering(lambda _: 5), run)))
    assert [each.changes for each in found] == [{"read_pages": 6}, {"read_pages": 0}]
    assert len({each.settings for each in found}) == 2
    assert {digest_of(job.settings) for job in run} == {digest_of(plain), *(each.settings for each in found)}


def test_paths_do_not_distinguish_settings(tmp_path: Path) -> None:
    """Nor the log level: a loop continues with `--verbose` too."""
    assert digest_of(Settings(data_dir=tmp_path, log_level="debug")) == digest_of(Settings())
    assert digest_of(Settings(max_rounds=2)) != digest_of(Settings())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random", "hillclimb", "grid"])
def test_the_same_seed_makes_the_same_experiments(tmp_path: Path, name: str) -> None:
    """All numbers except the seconds."""
    first, second = (
        experiments_of(loop(tmp_path / n, proposer_named(name), answering(a_fact_a_round))) for n in ("one", "two")
    )
    assert [_timeless(each) for each in first] == [_timeless(each) for each in second]
    assert len(first) == 5


def test_each_experiment_is_on_disk_when_it_is_yielded(tmp_path: Path) -> None:
    """Journal, table and best settings; the journal is never rewritten."""
    before = b""
    with loop(tmp_path, proposer_named("grid"), answering(a_fact_a_round)) as made:
        for step in made.steps():
            now = (tmp_path / "journal.jsonl").read_bytes()
            assert now.startswith(before)
            before = now
            if isinstance(step, Experiment):
                assert read_journal(tmp_path).experiments[-1] == step
                assert len((tmp_path / "results.tsv").read_text().splitlines()) == step.number + 1
                assert load(config=tmp_path / "best.yaml").settings.max_rounds == made.best.get("max_rounds", 5)


def test_the_table_has_its_columns(tmp_path: Path) -> None:
    """One row per experiment."""
    experiments_of(loop(tmp_path, proposer_named("grid"), answering(a_fact_a_round)))
    header, *rows = csv.reader((tmp_path / "results.tsv").read_text().splitlines(), delimiter="\t")
    assert tuple(header) == (*COLUMNS, "task_scores")
    assert header[:-1] == [
        "experiment",
        "score",
        "baseline",
        "delta",
        "p",
        "interval",
        "status",
        "tasks",
        "description",
    ]
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "5"]
    assert rows[0][-2] == "max_rounds=1"


# Its end -----------------------------------------------------------------------------------------------------------


def test_a_plateau_is_detected(tmp_path: Path) -> None:
    """Exactly the number of useless experiments in a row that the rules give."""
    run = answering(lambda job: 9 if job.settings.max_results >= 12 else 5)
    with loop(tmp_path, Endless(), run, rules=options(experiments=6, plateau=3)) as made:
        flat = [made.plateau() for step in made.steps() if isinstance(step, Experiment)]
    assert [each.status == "keep" for each in made.experiments] == [False, True, False, False, False, False]
    assert flat == [False, False, False, False, True, True]


@pytest.mark.parametrize(
    ("budget", "made", "says"),
    [
        (Budget(live_calls=20 + 2 * 13), 2, "the budget of live calls is spent"),
        (Budget(seconds=0.0), 0, "the budget of seconds is spent"),
        (Budget(live_calls=10_000, seconds=600), 5, "all experiments are made"),
    ],
)
def test_budgets_end_it(tmp_path: Path, budget: Budget, made: int, says: str) -> None:
    """No experiment begins beyond; none is left unfinished."""
    with loop(tmp_path, Endless(), answering(lambda job: 5), budget=budget) as running:
        steps = list(running.steps())
    assert (len(steps) - 1, running.ended) == (made, says)


def test_a_file_stops_it(tmp_path: Path) -> None:
    """After the current experiment."""
    with loop(tmp_path, Endless(), answering(lambda job: 5)) as made:
        for step in made.steps():
            if isinstance(step, Experiment) and step.number == 2:
                (tmp_path / "stop").touch()
    assert (len(made.experiments), made.ended) == (2, f"the file {tmp_path / 'stop'} asks for it")
    assert (tmp_path / "best.yaml").exists()


def test_an_exhausted_or_failing_proposer_ends_it(tmp_path: Path) -> None:
    """With the results so far."""
    with loop(tmp_path / "one", from_file(tmp_path, {"read_pages": 6}), answering(lambda job: 5)) as made:
        assert len(list(made.steps())) == 2
    assert made.ended == "nothing is left to try"

    class Gone(Proposer):
        def propose(self, situation: Situation) -> Proposal | None:
            raise ModelUnavailable("no one answers")

    with loop(tmp_path / "two", Gone(), answering(lambda job: 5)) as made:
        assert len(list(made.steps())) == 1
    assert made.ended == "nothing can be proposed: no one answers"


def test_a_proposers_tokens_count(tmp_path: Path) -> None:
    """Tokens of its model are part of each experiment, and of the budget."""

    class Costly(Endless):
        """A proposer with a language model."""

        spent = 0

        @property
        def tokens(self) -> int:
            return self.spent

        def propose(self, situation: Situation) -> Proposal | None:
            self.spent += 400
            return super().propose(situation)

    with loop(tmp_path / "one", Costly(), answering(lambda job: 5), budget=Budget(tokens=1_000)) as made:
        list(made.steps())
    assert [each.tokens for each in made.experiments] == [400, 400, 400]
    assert made.ended == "the budget of tokens is spent"


# Continuing --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random", "hillclimb"])
def test_a_killed_loop_continues_with_the_same_experiment(tmp_path: Path, name: str) -> None:
    """Killed during experiment 7, with an incomplete last line: as if not killed, nothing twice."""
    killed = tmp_path / "killed"
    script = [sys.executable, "-m", "tests.evals.stand_ins", killed, name]
    with subprocess.Popen(script, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"in the middle\n"
        running.send_signal(signal.SIGKILL)
    whole = (killed / "journal.jsonl").read_bytes()
    (killed / "journal.jsonl").write_bytes(whole + b'{"line":"experiment","number":7,"chan')
    held = read_journal(killed)
    assert [each.number for each in held.experiments] == [1, 2, 3, 4, 5, 6]
    run: list[Job] = []
    proposer = proposer_named(name)
    again = Loop(held.begun, killed, fact_tasks(), Settings(), proposer, counted(answering(a_fact_a_round), run))
    assert [each.number for each in experiments_of(again)] == [7, 8, 9, 10]
    assert {job.repeat // 1_000 for job in run} == {7, 8, 9, 10}
    assert (killed / "journal.jsonl").read_bytes().startswith(whole)
    lines = [json.loads(line) for line in (killed / "journal.jsonl").read_text().splitlines()]
    assert [line.get("number") for line in lines] == [None, None, *range(1, 11)]
    rules = options(experiments=10)
    unbroken = experiments_of(loop(tmp_path / "whole", proposer_named(name), answering(a_fact_a_round), rules=rules))
    assert [_timeless(each) for each in read_journal(killed).experiments] == [_timeless(each) for each in unbroken]


def test_a_loop_that_is_stopped_while_it_measures_noise_measures_it_again(tmp_path: Path) -> None:
    """No experiment was run, and none is missing."""
    stopped = loop(tmp_path, Endless(), halting(0, 0))
    stopped.close()
    again = Loop(stopped.begun, tmp_path, fact_tasks(), Settings(), Endless(), answering(a_fact_a_round))
    assert [each.number for each in experiments_of(again)] == [1, 2, 3, 4, 5]
    assert read_journal(tmp_path).noise_floor is not None


class Stopped(Exception):
    """Stand-in for the end of the loop's process."""


def gathering(stop_after: int | None = None, cached: set[tuple[str, int]] | None = None) -> Run:
    """Return a runner of jobs, three live calls for each new gathering; it stops after that many jobs."""
    made, known = 0, set[tuple[str, int]]() if cached is None else cached

    def run(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        nonlocal made
        for job in jobs:
            if made == stop_after:
                raise Stopped
            made += 1
            place = (job.task.id, job.settings.max_results)
            cost = Cost(0 if place in known else 3, 0, 0.0)
            known.add(place)
            yield job, replace(saying(job, 5), cost=cost)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, 30, 31, 69], ids=str)
@pytest.mark.parametrize("stops", [(0,), (7,), (20,), (21,), (33,), (46,), (5, 9, 3, 17)], ids=str)
def test_a_stopped_loop_counts_the_same_live_calls(tmp_path: Path, stops: tuple[int, ...], budget: int | None) -> None:
    """Stopped in its noise floor, between experiments or in one: calls, verdicts and the budget's end are the same."""
    rules, within = options(experiments=3), Budget(live_calls=budget)
    unbroken = loop(tmp_path / "whole", Endless(), gathering(), rules=rules, budget=within)
    experiments_of(unbroken)
    cached: set[tuple[str, int]] = set()
    folder = tmp_path / "stopped"
    begun = loop(folder, Endless(), gathering(), rules=rules)
    begun.close()
    for stop in (*stops, None):
        run = gathering(stop, cached)
        going = Loop(begun.begun, folder, fact_tasks(), Settings(), Endless(), run, budget=within)
        with suppress(Stopped):
            experiments_of(going)
    assert going.ended == unbroken.ended
    assert going.noise_floor is not None
    assert unbroken.noise_floor is not None
    assert going.noise_floor.live_calls == unbroken.noise_floor.live_calls == 30
    assert [_timeless(each) for each in going.experiments] == [_timeless(each) for each in unbroken.experiments]


def test_a_crash_is_repeated_and_its_calls_count(tmp_path: Path) -> None:
    """If the loop stopped before it wrote the verdict."""

    def crashing(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        yield jobs[0], replace(saying(jobs[0], 5), error="lost: the network is gone")

    stopped = loop(tmp_path, Endless(), crashing, rules=options(experiments=1))
    with pytest.raises(InvalidInput, match="do not run"):
        experiments_of(stopped)
    again = Loop(stopped.begun, tmp_path, fact_tasks(), Settings(), Endless(), answering(lambda job: 5))
    experiments_of(again)
    assert again.noise_floor is not None
    assert again.noise_floor.live_calls == 1 + 20


def test_values_of_a_journal_have_the_types_of_settings(tmp_path: Path) -> None:
    """A list in the journal becomes a tuple again, so that settings can be compared and hashed."""
    proposer = from_file(tmp_path, {"chunk_tokens": [100, 200]})
    run = answering(lambda job: 9 if job.settings.chunk_tokens == (100, 200) else 5)
    experiments_of(loop(tmp_path / "loop", proposer, run))
    held = read_journal(tmp_path / "loop")
    assert held.best == {"chunk_tokens": (100, 200)}
    again = Loop(held.begun, tmp_path / "loop", fact_tasks(), Settings(), Endless(), run)
    found = experiments_of(again)
    assert len(found) == 4
    assert all(each.baseline == pytest.approx(held.experiments[0].score) for each in found)
    assert load(config=tmp_path / "loop" / "best.yaml").settings.chunk_tokens == (100, 200)


def test_a_loop_continues_only_with_its_own_tasks_and_settings(tmp_path: Path) -> None:
    """Anything else would be another experiment under the same name; only one program at a time."""
    with (
        loop(tmp_path, Endless(), answering(a_fact_a_round)) as made,
        pytest.raises(StoreBusy, match="another program is writing"),
    ):
        Loop(made.begun, tmp_path, fact_tasks(), Settings(), Endless(), answering(a_fact_a_round))
    for tasks, settings in (
        ([*fact_tasks()[1:], fact_task("new")], Settings()),
        (fact_tasks(), Settings(max_rounds=2)),
    ):
        with pytest.raises(InvalidInput, match=r"have changed since .* began; begin a new loop"):
            Loop(made.begun, tmp_path, tasks, settings, Endless(), answering(a_fact_a_round))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda lines: [lines[0], "no line", *lines[2:]], "line 2: not a log line"),
        (lambda lines: lines[1:], "line 1: a journal has one beginning"),
        (lambda lines: [*lines, lines[0]], "a journal has one beginning"),
        (lambda lines: [*lines, lines[-1]], "experiment 2 is not the next one"),
        (lambda lines: [*lines[:-1], lines[-1].replace("max_results", "max_result")], "unknown setting 'max_result'"),
        (lambda lines: [], "is empty"),
    ],
)
def test_a_damaged_journal_is_named(tmp_path: Path, damage: Callable[[list[str]], list[str]], says: str) -> None:
    """With file and line."""
    experiments_of(loop(tmp_path, Endless(), answering(lambda job: 5), rules=options(experiments=2)))
    path = tmp_path / "journal.jsonl"
    path.write_text("".join(f"{line}\n" for line in damage(path.read_text().splitlines())))
    with pytest.raises(InvalidInput, match=says) as refused:
        read_journal(tmp_path)
    assert str(path) in str(refused.value)


def _timeless(each: Experiment) -> tuple[Any, ...]:
    changes, calls = dict(each.changes), each.live_calls
    return (each.number, changes, each.status, each.reasons, each.score, each.baseline, each.delta, each.p, calls)


def test_the_table_names_tasks_with_their_scores(tmp_path: Path) -> None:
    """Each task of every experiment, before and after if they differ; older journals have none, and are readable."""
    found = experiments_of(loop(tmp_path, proposer_named("grid"), answering(a_fact_a_round)))
    rows = list(csv.DictReader((tmp_path / "results.tsv").read_text().splitlines(), delimiter="\t"))
    for row, made in zip(rows, found, strict=True):
        named = dict(each.split(" ", 1) for each in row["task_scores"].split("; "))
        assert named.keys() == made.task_scores.keys()
        assert len(named) >= made.tasks
        for task, (before, after) in made.task_scores.items():
            assert named[task] == (f"{before:.4f}" if before == after else f"{before:.4f} -> {after:.4f}")
        assert made.changed_tasks.keys() == {task for task, (one, other) in made.task_scores.items() if one != other}
    assert any(made.changed_tasks for made in found)
    journal = tmp_path / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:
        line.pop("task_scores", None)
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    held = read_journal(tmp_path)
    assert [each.task_scores for each in held.experiments] == [{}] * len(found)
    assert "task_scores" in as_table(held.experiments)
