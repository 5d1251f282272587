"""Evaluation suite: runs tasks, logs and scores them; resumes stopped evaluations; compares two, task by task."""

import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from harness.core.statistics import Scores, bootstrap_interval, clustered_error, paired_differences, sign_flip_p
from harness.errors import InvalidInput, ModelError
from harness.settings import Settings
from harness_evals.judge import WEIGHT as JUDGE_WEIGHT
from harness_evals.judge import Judge
from harness_evals.log import SUFFIX, Entry, Header, Log, LogWriter, logs_in, read_log
from harness_evals.objective import Objective
from harness_evals.outcome import STAGES, Outcome, Stage
from harness_evals.run import Job, recorded_settings, run_jobs, versions
from harness_evals.scorers import WEIGHTS, score, weights_for
from harness_evals.stages import digest_of_task, prune
from harness_evals.tasks import Task

logger = logging.getLogger(__name__)

FOLDER = "evals"
JUDGE = "judge"


class TaskScore(Struct, frozen=True):
    """Scores of one task: the mean of each scorer and of the total, the number of runs, and the errors of failed ones;
    and the mean cost of a run that did not fail.
    """

    task: str
    runs: int
    values: Mapping[str, float]
    total: float | None
    errors: tuple[str, ...]
    live_calls: float | None = None
    seconds: float | None = None
    tokens: float | None = None


class Summary(Struct, frozen=True):
    """Scores by task; the mean over tasks of each scorer and of the total, with standard errors clustered by task."""

    tasks: tuple[TaskScore, ...]
    means: Mapping[str, float]
    errors: Mapping[str, float]
    crashes: int


class Comparison(Struct, frozen=True):
    """Comparison of two evaluations on the tasks that both have: differences (second minus first) of the total by task,
    their mean, its 95 % interval (bootstrap over tasks), and the two-sided p-value of a sign-flip test.
    """

    differences: Mapping[str, float]
    mean: float
    low: float
    high: float
    p: float


def settings_for(settings: Settings, *, fresh: bool = False) -> Settings:
    """Return the settings of an evaluation: whole researches are reused, so that each task is gathered once by the same
    code, unless `fresh` or the setting `research_cache` is false; semantic matches are off, because the order of
    threads would decide which of two similar searches comes first.
    """
    return replace(settings, research_cache=settings.research_cache is not False and not fresh, semantic=False)


def begin(
    tasks: Sequence[Task],
    settings: Settings,
    *,
    repeats: int,
    now: float,
    weights: Mapping[str, float] = WEIGHTS,
    objective: str = "",
) -> Header:
    """Return the header of a new evaluation.

    Raises:
        InvalidInput: no task, less than one run of each, no weight counts for one of them, or a wrong objective.
    """
    Objective(objective)
    if not tasks:
        raise InvalidInput("there is no task to run")
    if repeats < 1:
        raise InvalidInput(f"each task runs at least once, not {repeats} times; pass --repeat 1 or more")
    for task in tasks:
        weights_for(task, weights)
    started = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    digests = {task.id: digest_of_task(task) for task in tasks}
    name = f"{started}-{secrets.token_hex(3)}"
    return Header(name, now, digests, repeats, recorded_settings(settings), versions(), dict(weights), objective)


def resume(path: Path, tasks: Sequence[Task], settings: Settings) -> Log:
    """Return the log of an evaluation to continue with these tasks and settings.

    Raises:
        InvalidInput: no such log, a damaged one, or tasks or settings have changed.
    """
    log = read_log(path)
    of_now, of_then = recorded_settings(settings), log.header.settings
    if other := sorted(name for name in {*of_now, *of_then} if of_now.get(name) != of_then.get(name)):
        raise InvalidInput(f"the settings {', '.join(other)} have changed since {log.header.id} began")
    now = {task.id: digest_of_task(task) for task in tasks}
    if changed := sorted(id_ for id_, of_then in log.header.tasks.items() if now.get(id_) != of_then):
        raise InvalidInput(f"the tasks {', '.join(changed)} have changed since {log.header.id} began; start a new run")
    return log


def run(
    header: Header,
    done: Sequence[Outcome],
    tasks: Sequence[Task],
    settings: Settings,
    path: Path,
    executor: Executor,
    *,
    at_once: int,
    judge: Judge | None = None,
    reports: Path | None = None,
    on_outcome: Callable[[int, int], None],
) -> None:
    """Run what is not `done` yet, and append each outcome with its scores to the log at `path`. Each report is written
    into the folder `reports`, if any, under its task's id.

    Raises:
        InvalidInput: the folder cannot be made.
        StoreBusy: another program is writing it.
        StoreError: the log cannot be written.
    """
    known = {(outcome.task, outcome.repeat) for outcome in done if not outcome.error}
    by_id = {task.id: task for task in tasks}
    jobs = [
        Job(by_id[id_], n, settings, reports=reports)
        for n in range(header.repeats)
        for id_ in header.tasks
        if (id_, n) not in known
    ]
    if reports is not None:
        try:
            reports.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"cannot make the folder {reports} ({error.strerror}); choose another") from error
    prune(settings.data_dir)
    with LogWriter(path) as log:
        if not path.stat().st_size:
            log.write(header)
        on_outcome(0, len(jobs))
        for number, (job, outcome) in enumerate(run_jobs(jobs, executor, at_once=at_once), start=1):
            log.write(scored(job.task, outcome, header.weights, judge))
            on_outcome(number, len(jobs))


def scored(task: Task, outcome: Outcome, weights: Mapping[str, float] = WEIGHTS, judge: Judge | None = None) -> Entry:
    """Return an outcome with its scores, without any if the run failed. A failing judge is logged and left out."""
    if outcome.error:
        return Entry(outcome)
    scores = score(task, outcome, weights)
    if judge is not None:
        try:
            grade = judge.grade(task, outcome)
        except ModelError as error:
            logger.warning("%s is not judged: %s", task.id, error)
        else:
            total = (1 - JUDGE_WEIGHT) * scores.total + JUDGE_WEIGHT * grade
            return Entry(outcome, {**scores.values, JUDGE: grade}, total)
    return Entry(outcome, scores.values, scores.total)


def rescored(
    log: Log, tasks: Sequence[Task], weights: Mapping[str, float] = WEIGHTS, judge: Judge | None = None
) -> Log:
    """Return the log with scores from the current scorers (and the judge), weights and tasks; nothing is run.

    Raises:
        InvalidInput: a task of the log no longer exists.
    """
    by_id = {task.id: task for task in tasks}
    if gone := sorted(log.header.tasks.keys() - by_id.keys()):
        raise InvalidInput(
            f"the tasks {', '.join(gone)} of {log.path} do not exist; pass their folder with --tasks-dir"
        )
    entries = [scored(by_id[entry.outcome.task], entry.outcome, weights, judge) for entry in log.entries]
    return replace(log, header=replace(log.header, weights=dict(weights)), entries=tuple(entries))


def summary(log: Log) -> Summary:
    """Return the summary of a log."""
    runs: dict[str, list[Entry]] = {}
    for entry in last_entries(log):
        runs.setdefault(entry.outcome.task, []).append(entry)
    tasks = tuple(_task_score(id_, runs.get(id_, [])) for id_ in log.header.tasks)
    columns = {name: scores for name in (*WEIGHTS, JUDGE, "total") if (scores := _scores(log, name))}
    means = {name: _mean([_mean(values) for values in scores.values()]) for name, scores in columns.items()}
    errors = {name: clustered_error(scores) for name, scores in columns.items() if len(scores) > 1}
    return Summary(tasks, means, errors, sum(len(task.errors) for task in tasks))


def compare(first: Log, second: Log) -> Comparison:
    """Compare two evaluations, task by task.

    Raises:
        InvalidInput: no task was measured in both, or only one.
    """
    one, other = _scores(first, "total"), _scores(second, "total")
    common = sorted(one.keys() & other.keys())
    if not common:
        raise InvalidInput(f"{first.header.id} and {second.header.id} have no measured task in common")
    means = [{task: [_mean(scores[task])] for task in common} for scores in (one, other)]
    differences = paired_differences(*means)
    if len(common) == 1:
        raise InvalidInput(
            f"{first.header.id} and {second.header.id} have one measured task in common, {common[0]} "
            f"({differences[common[0]]:+.3f}); an interval needs two"
        )
    values = list(differences.values())
    low, high = bootstrap_interval(values)
    up, down = sign_flip_p(values), sign_flip_p([-value for value in values])
    return Comparison(differences, _mean(values), low, high, min(1.0, 2 * min(up, down)))


def objectives(log: Log) -> dict[str, float]:
    """Return the mean value of an evaluation's objective by task, of the runs that did not fail; none without one.

    Raises:
        InvalidInput: the objective is not a formula.
    """
    if not (objective := Objective(log.header.objective)):
        return {}
    found: dict[str, list[float]] = {}
    for entry in last_entries(log):
        if entry.total is not None:
            found.setdefault(entry.outcome.task, []).append(objective.value(entry.total, entry.outcome.cost))
    return {task: _mean(found[task]) for task in log.header.tasks if task in found}


def find_log(folder: Path, name: str) -> Path:
    """Return the log that `name` refers to: a file, an id or the beginning of one, or `last`.

    Raises:
        InvalidInput: there is none, or several.
    """
    if (path := Path(name)).suffix == SUFFIX and path.is_file():
        return path
    logs = logs_in(folder)
    found = logs[:1] if name == "last" else [log for log in logs if log.stem.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidInput(f"{name!r} may be any of {', '.join(log.stem for log in found[:5])}; write more of it")
    hint = "`harness eval list` shows them" if logs else "`harness eval run` makes one"
    raise InvalidInput(f"no evaluation {name!r} in {folder}; {hint}")


def _scores(log: Log, name: str) -> Scores:
    """Return one scorer's values (or the total) by task, of the runs that did not fail."""
    found: dict[str, list[float]] = {}
    for entry in sorted(last_entries(log), key=lambda entry: entry.outcome.repeat):
        value = entry.total if name == "total" else (entry.scores or {}).get(name)
        if value is not None:
            found.setdefault(entry.outcome.task, []).append(value)
    return found


def last_entries(log: Log) -> list[Entry]:
    """Return the last entry of each run: a failed one may have been repeated."""
    return list({(entry.outcome.task, entry.outcome.repeat): entry for entry in log.entries}.values())


def _task_score(task: str, entries: Sequence[Entry]) -> TaskScore:
    measured = [entry for entry in entries if entry.scores is not None]
    names = list(dict.fromkeys(name for entry in measured for name in entry.scores or {}))
    values = {
        name: _mean([each.scores[name] for each in measured if each.scores and name in each.scores]) for name in names
    }
    totals = [entry.total for entry in measured if entry.total is not None]
    errors = tuple(entry.outcome.error for entry in entries if entry.outcome.error)
    costs = [entry.outcome.cost for entry in measured]
    spent = [_mean([float(getattr(cost, name)) for cost in costs]) for name in ("live_calls", "seconds", "tokens")]
    total = _mean(totals) if totals else None
    return TaskScore(task, len(entries), values if measured else {}, total, errors, *(spent if costs else ()))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def differing_stage(outcomes: Sequence[Outcome]) -> Stage | None:
    """Return the first stage, in the order of `STAGES`, whose bytes are not the same in all outcomes; `None` if all are
    identical.
    """
    return next((name for name in STAGES if len({outcome.digests.get(name) for outcome in outcomes}) > 1), None)


def first_differences(first: Log, second: Log) -> dict[str, Stage | None]:
    """Return, for each task of two evaluations, the first stage in which any repeat differs from the same repeat of the
    other; `None` if all are the same to the byte. A task without a repeat that succeeded in both is left out.
    """
    one, other = _outcomes_with_digests(first), _outcomes_with_digests(second)
    found: dict[str, Stage | None] = {}
    for task, repeat in sorted(one.keys() & other.keys()):
        differing = {found.get(task), differing_stage([one[task, repeat], other[task, repeat]])}
        found[task] = next((stage for stage in STAGES if stage in differing), None)
    return found


def _outcomes_with_digests(log: Log) -> dict[tuple[str, int], Outcome]:
    """Return the outcomes that have stage digests, by task and repeat; failed ones have none."""
    return {(o.task, o.repeat): o for o in (entry.outcome for entry in last_entries(log)) if o.digests}
