"""Sides of an experiment: settings with the results of their runs."""

import random
from collections.abc import Sequence

from msgspec import Struct

from harness.core.statistics import Scores
from harness.settings import Settings
from harness_evals.journal import Ran
from harness_evals.outcome import Outcome
from harness_evals.run import Job
from harness_evals.scorers import score
from harness_evals.tasks import Task


class Side(Struct):
    """Results of one side of an experiment, by task."""

    settings: Settings
    scores: dict[str, list[float]] = {}
    errors: list[str] = []
    digests: dict[str, str] = {}

    def of(self, tasks: Sequence[Task]) -> Scores:
        """Return the scores of these tasks."""
        return {task.id: self.scores[task.id] for task in tasks if task.id in self.scores}

    def add(self, ran: Ran) -> None:
        """Add a run: its score and its report's digest, or its error."""
        if ran.score is None:
            self.errors.append(f"{ran.task}: {ran.error}")
            return
        self.scores.setdefault(ran.task, []).append(ran.score)
        self.digests[ran.task] = ran.report


def ran_of(job: Job, outcome: Outcome, settings: str) -> Ran:
    """Return the journal line of a run; `settings` is their digest."""
    total = None if outcome.error else score(job.task, outcome).total
    report, calls = outcome.digests.get("report", ""), outcome.cost.live_calls
    return Ran(settings, job.task.id, job.repeat, calls, total, report, outcome.error)


def shuffled(tasks: Sequence[Task], seed: int) -> list[Task]:
    """Return the tasks in a random but fixed order: the first ones decide on clear losers, and files are sorted by
    name.
    """
    order = sorted(tasks, key=lambda task: task.id)
    random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    return order


def mean_score(scores: Scores) -> float:
    """Return the mean over tasks of their mean scores; 0 without any."""
    means = [sum(each) / len(each) for each in scores.values()]
    return sum(means) / len(means) if means else 0.0
