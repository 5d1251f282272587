"""Repetition of one task, to check that every stage is the same, to the byte."""

import difflib
import time

from msgspec import Struct

from harness.app import App
from harness.research.stage_traces import stages_of
from harness_evals.run import research_task
from harness_evals.stages import digest
from harness_evals.tasks import Task

MAX_DIFFERENCE_LINES = 40


class Repeated(Struct, frozen=True):
    """Result of the repetitions: the number of runs that gathered from outside, live calls in total, seconds of each
    run, the report's digest. If a run differed from the first: its number (from 1), the first stage that differs, and
    the difference in the format of `diff -u`.
    """

    gathered: int
    live_calls: int
    seconds: tuple[float, ...]
    report: str
    run: int | None = None
    stage: str | None = None
    difference: str = ""


def repeat_task(app: App, task: Task, times: int) -> Repeated:
    """Run a task `times` times; stop at the first run that differs from the first one.

    Raises:
        HarnessError: the error of a failed run.
    """
    first: dict[str, str] = {}
    live: list[int] = []
    seconds: list[float] = []
    run, stage, difference = None, None, ""
    for number in range(1, times + 1):
        app.progress("runs", number - 1, times)
        began = time.perf_counter()
        found = research_task(app, task)
        seconds.append(time.perf_counter() - began)
        live.append(found.live_calls)
        stages = stages_of(found)
        first = first or stages
        if (stage := next((name for name in first if stages[name] != first[name]), None)) is not None:
            run, difference = number, _difference(first[stage], stages[stage], number)
            break
    else:
        app.progress("runs", times, times)
    gathered = sum(calls > 0 for calls in live)
    return Repeated(gathered, sum(live), tuple(seconds), digest(first["report"]), run, stage, difference)


def _difference(first: str, other: str, number: int) -> str:
    lines = difflib.unified_diff(first.splitlines(), other.splitlines(), "run 1", f"run {number}", lineterm="", n=1)
    return "\n".join(line[:300] for line, _ in zip(lines, range(MAX_DIFFERENCE_LINES), strict=False))
