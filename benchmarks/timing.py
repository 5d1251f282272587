"""Timing of contestants under the same machine noise, and a table of the results."""

import random
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any, Generic, TypeVar

from tabulate import tabulate

T = TypeVar("T")

MICROSECOND = 1_000
MILLISECOND = 1_000_000


@dataclass(frozen=True)
class Contestant(Generic[T]):
    """One thing to time. `prepare` turns a task into the arguments of `call`; only `call` is timed."""

    name: str
    prepare: Callable[[T], tuple[Any, ...]]
    call: Callable[..., object]


class Timing:
    """The wall times of many calls of one contestant, in nanoseconds."""

    def __init__(self, nanoseconds: Iterable[int]) -> None:
        self._ordered = sorted(nanoseconds)

    def percentile(self, percent: float) -> int:
        """Return the time (ns) that `percent` (0..100) of the calls did not exceed, by nearest rank."""
        return self._ordered[min(int(len(self._ordered) * percent / 100), len(self._ordered) - 1)]

    @property
    def p50(self) -> int:
        """The median, in ns."""
        return self.percentile(50)

    @property
    def p99(self) -> int:
        """The time that one call in a hundred exceeds, in ns."""
        return self.percentile(99)

    @property
    def minimum(self) -> int:
        """The fastest call, in ns: the one that other jobs on the machine disturbed least."""
        return self._ordered[0]

    @property
    def calls(self) -> int:
        """Number of timed calls."""
        return len(self._ordered)


def interleaved(
    contestants: Sequence[Contestant[T]], rounds: Iterable[Sequence[T]], *, warm_up: int = 1
) -> dict[str, Timing]:
    """Time every contestant on the tasks of every round, one contestant after the other within a round.

    A disturbance that lasts longer than a round so falls on all of them alike. The first `warm_up` rounds are run but
    not counted: they fill caches and compile what is compiled once.
    """
    times = {contestant.name: array("q") for contestant in contestants}
    chance = random.Random(0)
    for number, tasks in enumerate(rounds):
        # another order each round: who follows whom decides what the processor's caches hold
        for contestant in chance.sample(contestants, len(contestants)):
            taken = _timed(contestant.call, [contestant.prepare(task) for task in tasks])
            if number >= warm_up:
                times[contestant.name].extend(taken)
    return {name: Timing(taken) for name, taken in times.items()}


def _timed(call: Callable[..., object], prepared: Sequence[tuple[Any, ...]]) -> list[int]:
    taken = []
    for arguments in prepared:
        start = perf_counter_ns()
        call(*arguments)
        taken.append(perf_counter_ns() - start)
    return taken


def table(title: str, timings: Mapping[str, Timing], *, references: Mapping[str, str], unit: str = "µs") -> str:
    """Return `timings` as a text table in `unit` (`µs` or `ms`).

    `references` maps the heading of a ratio column to the contestant whose median every other is divided by.
    """
    scale = {"µs": MICROSECOND, "ms": MILLISECOND}[unit]
    rows = [
        (
            name,
            *(f"{value / scale:.1f}" for value in (timing.p50, timing.p99, timing.minimum)),
            *(f"{timing.p50 / timings[reference].p50:.2f}" for reference in references.values()),
        )
        for name, timing in timings.items()
    ]
    headers = (title, f"p50 {unit}", f"p99 {unit}", f"min {unit}", *references)
    return tabulate(rows, headers=headers, colalign=("left", *["right"] * (len(headers) - 1)), disable_numparse=True)


def as_json(timings: Mapping[str, Timing], *, references: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return `timings` as JSON-able values: times in ns, and the same ratios of medians as in `table`."""
    return {
        name: {"p50_ns": timing.p50, "p99_ns": timing.p99, "min_ns": timing.minimum, "calls": timing.calls}
        | {heading: round(timing.p50 / timings[reference].p50, 3) for heading, reference in references.items()}
        for name, timing in timings.items()
    }


def verdict(what: str, value: float, limit: float, unit: str = "times") -> str:
    """Return one line that compares `value` with the goal of at most `limit`, both in `unit`."""
    digits = ".2f" if unit == "times" else ".0f"
    met = "met" if value <= limit else "NOT MET"
    return f"{what}: {value:{digits}} {unit} (goal: at most {limit:g}): {met}"
