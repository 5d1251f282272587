"""Logs of evaluations and the journal of a loop, as the programs write them, with predictable numbers."""

import random
from pathlib import Path

from harness_evals import suite
from harness_evals.journal import FOLDER as LOOPS
from harness_evals.journal import Confirmation, Experiment, JournalWriter, NoiseFloor
from harness_evals.log import Entry, LogWriter
from harness_evals.loop import begin
from harness_evals.outcome import STAGES, Cost, Outcome
from harness_evals.scorers import WEIGHTS
from msgspec.structs import replace

from harness.settings import Settings
from tests.evals.stand_ins import SPACE, fact_tasks, options

TRIED = (
    ({"max_rounds": 3}, 0.02, "keep"),
    ({"max_rounds": 3, "max_results": 20}, -0.05, "discard"),
    ({"max_rounds": 5}, 0.005, "inconclusive"),
    ({"max_rounds": 3, "read_pages": 3}, 0.06, "keep"),
    ({"max_rounds": 1}, 0.0, "crash"),
    ({"max_rounds": 3, "read_pages": 0}, -0.01, "inconclusive"),
)


def evaluate(data_dir: Path, settings: Settings, *, now: float, gain: float = 0.0, broken: str = "") -> str:
    """Write an evaluation of 13 tasks that started `now` and scores `gain` more; the task `broken` crashed. Return its
    id.
    """
    tasks, drawn = fact_tasks(), random.Random(7)
    header = suite.begin(tasks, settings, repeats=2, now=now)
    writer = LogWriter(data_dir / suite.FOLDER / f"{header.id}.jsonl")
    writer.write(header)
    for task in tasks:
        for repeat in range(2):
            if task.id == broken:
                error = "engine_unavailable: the engine does not answer; is it running?"
                writer.write(Entry(Outcome(task.id, repeat, error=error)))
                continue
            scores = {name: min(1.0, drawn.uniform(0.4, 0.9) + gain * drawn.random()) for name in WEIGHTS}
            digests = dict.fromkeys(STAGES, "b" if gain and task.id > "t04" else "a")
            outcome = Outcome(task.id, repeat, ("gold",), cost=Cost(3, 1_200, 2.5), digests=digests)
            writer.write(Entry(outcome, scores, sum(scores[name] * weight for name, weight in WEIGHTS.items())))
    writer.close()
    return header.id


def experiment(data_dir: Path, settings: Settings, *, now: float) -> str:
    """Write a loop of six experiments and two tests of what they kept, that started `now`; return its id."""
    begun = begin(fact_tasks(), settings, SPACE, options(experiments=12), now=now)
    writer = JournalWriter(data_dir / LOOPS / begun.id)
    writer.write(begun)
    writer.write(NoiseFloor(0.012, 0.61, 40.0, 0))
    baseline = 0.61
    for number, (changes, gain, status) in enumerate(TRIED, start=1):
        tried = Experiment(number, changes, "digest", status, (), 13, 38.0, 2)  # type: ignore[arg-type]
        if status == "crash":
            writer.write(replace(tried, reasons=("engine_unavailable: the engine does not answer; is it running?",)))
            continue
        measured = replace(
            tried, score=baseline + gain, baseline=baseline, delta=gain, p=0.3 if abs(gain) < 0.02 else 0.004
        )
        said = {"keep": "better, and not worse on the split confirm", "discard": "worse"}.get(
            status, "too near to tell"
        )
        writer.write(replace(measured, low=gain - 0.018, high=gain + 0.018, reasons=(said,)))
        baseline += gain if status == "keep" else 0.0
    tasks, reasons = (
        tuple(f"n{number}" for number in range(8)),
        ("figures on 8 further tasks", "a reason"),
    )
    for count, confirmed, gain in ((3, False, 0.004), (6, True, 0.041)):
        writer.write(Confirmation(count, tasks, confirmed, gain, gain - 0.02, gain + 0.02, 0.02, reasons))
    writer.close()
    return begun.id
