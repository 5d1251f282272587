"""Sides of an experiment: settings, or a trial of changed code, with the results of their runs."""

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, field

from harness.core.statistics import Scores, bootstrap_interval
from harness.settings import Settings
from harness_evals.log import Entry
from harness_evals.objective import Objective
from harness_evals.outcome import Outcome
from harness_evals.proposers import TaskState
from harness_evals.tasks import Task, comparable, is_said

SideName: TypeAlias = Literal["baseline", "candidate"]
MAX_REPORT = 6_000
"""Characters of a report that a proposer is shown."""


class Side(Struct):
    """Results of one side of an experiment. `entries` are the last run of each task and repeat, `all_runs` also those
    that failed before; `trial` is the folder of changed code.
    """

    name: SideName
    settings: Settings
    objective: Objective
    trial: Path | None = None
    code: Mapping[str, str] = {}
    entries: dict[tuple[str, int], Entry] = field(default_factory=dict)
    all_runs: list[Entry] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        """Add a run."""
        self.entries[entry.outcome.task, entry.outcome.repeat] = entry
        self.all_runs.append(entry)

    def has(self, task: Task, repeat: int) -> bool:
        """Return whether there is a run that did not fail."""
        entry = self.entries.get((task.id, repeat))
        return entry is not None and not entry.outcome.error

    def of(self, tasks: Sequence[Task]) -> Scores:
        """Return the values of the objective on these tasks, in the order of the repeats."""
        found: dict[str, list[float]] = {}
        for task in tasks:
            for entry in self._of(task):
                if entry.total is not None:
                    value = self.objective.value(entry.total, entry.outcome.cost)
                    found.setdefault(task.id, []).append(value)
        return found

    @property
    def errors(self) -> list[str]:
        """The errors of failed runs, with the task."""
        return [f"{task}: {each.outcome.error}" for (task, _), each in self.entries.items() if each.outcome.error]

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each task's report."""
        return {task: each.outcome.digests.get("report", "") for (task, _), each in sorted(self.entries.items())}

    @property
    def live_calls(self) -> int:
        """Live calls of all runs."""
        return sum(each.outcome.cost.live_calls for each in self.all_runs)

    @property
    def tokens(self) -> int:
        """Tokens of all runs."""
        return sum(each.outcome.cost.tokens for each in self.all_runs)

    def states(self, tasks: Sequence[Task]) -> Iterator[TaskState]:
        """Yield the state of each task: its last run's scores, what its report lacks, and the report."""
        for task in tasks:
            for entry in self._of(task)[-1:]:
                missed = tuple(says for says, said in _nuggets(task, entry.outcome) if not said)
                scores = dict(entry.scores or {})
                yield TaskState(task.id, task.title, entry.total or 0.0, scores, missed, _report(entry.outcome))

    def _of(self, task: Task) -> list[Entry]:
        return [self.entries[place] for place in sorted(each for each in self.entries if each[0] == task.id)]


def differs(one: Side, other: Side, tasks: Sequence[Task]) -> bool:
    """Return whether any stage of any run of these tasks differs between the two sides."""
    ids = {task.id for task in tasks}
    here, there = (
        {place: entry.outcome.digests for place, entry in side.entries.items() if place[0] in ids}
        for side in (one, other)
    )
    return here != there


def nuggets_moved(baseline: Side, candidate: Side, tasks: Sequence[Task]) -> str:
    """Return in words how many nuggets only one side says, and the 95 % interval of the difference in the share said,
    from draws of whole tasks: nuggets of one task are not independent. Empty if there are none to compare.
    """
    gained = lost = 0
    shares = list[float]()
    for task in tasks:
        one, other = (_said(side, task) for side in (baseline, candidate))
        if one and other:
            gained += sum(after > before for before, after in zip(one, other, strict=True))
            lost += sum(after < before for before, after in zip(one, other, strict=True))
            shares.append((sum(other) - sum(one)) / len(one))
    if len(shares) < 2:
        return ""
    low, high = bootstrap_interval(shares)
    return (
        f"nuggets: {gained} said more often, {lost} less often; share said {sum(shares) / len(shares):+.3f} "
        f"(95 % interval {low:+.3f} to {high:+.3f}, by task)"
    )


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


def _said(side: Side, task: Task) -> list[float]:
    """Return the share of a task's runs that say each of its nuggets."""
    runs = [
        [said for _, said in _nuggets(task, entry.outcome)]
        for (id_, _), entry in side.entries.items()
        if id_ == task.id and not entry.outcome.error
    ]
    return [sum(said) / len(runs) for said in zip(*runs, strict=True)]


def _nuggets(task: Task, outcome: Outcome) -> list[tuple[str, bool]]:
    """Return each nugget of a task, or of the questions of a stream, and whether the report says it."""
    if parts := task.parts:
        pairs = zip(parts, outcome.parts, strict=False)
        return [found for part, of_part in pairs for found in _nuggets(part, of_part)]
    said = [comparable(cited.sentence) for cited in outcome.citations]
    return [(nugget.says, is_said(nugget, said)) for nugget in task.nuggets]


def _report(outcome: Outcome) -> str:
    lines, section = list[str](), ""
    for cited in (*outcome.citations, *(each for part in outcome.parts for each in part.citations)):
        if cited.section != section:
            section = cited.section
            lines.append(f"## {section}")
        lines.append(cited.sentence)
    return "\n".join(lines)[:MAX_REPORT]
