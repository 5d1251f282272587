"""Streams: questions of one user, researched one after the other, and their outcomes as one."""

import math
from collections.abc import Callable, Iterable
from itertools import chain

from harness_evals.outcome import STAGES, Outcome, total_cost
from harness_evals.tasks import Task


def joined(task: Task, repeat: int, parts: Iterable[Outcome]) -> Outcome:
    """Return the outcome of a stream; `parts` are run as they are taken, up to the first that failed."""
    done: list[Outcome] = []
    for part in parts:
        done.append(part)
        if part.error:
            break
    cost = total_cost(part.cost for part in done)
    if error := done[-1].error:
        return Outcome(task.id, repeat, cost=cost, error=f"question {len(done)}: {error}")
    return Outcome(
        task.id,
        repeat,
        sources=tuple(dict.fromkeys(chain.from_iterable(part.sources for part in done))),
        citations=tuple(chain.from_iterable(part.citations for part in done)),
        cost=cost,
        titles=tuple(dict.fromkeys(chain.from_iterable(part.titles for part in done))),
        parts=tuple(done),
    )


def stages_of_stream(outcome: Outcome) -> dict[str, str]:
    """Return the text of each stage of a stream: the digest of that stage for each question."""
    return {
        stage: "\n".join(f"{part.task} {part.digests.get(stage, '')}" for part in outcome.parts) for stage in STAGES
    }


def mean_score(task: Task, outcome: Outcome, scores: Callable[[Task, Outcome], float | None]) -> float:
    """Return the mean over the questions of a stream to which a scorer applies (`None`: it does not)."""
    found = [scores(part, ran) for part, ran in zip(task.parts, outcome.parts, strict=True)]
    held = [each for each in found if each is not None]
    return math.fsum(held) / len(held) if held else 0.0


def calls_saved(task: Task, outcome: Outcome) -> float:
    """Return the mean over the questions of a stream that have a limit of live calls: 1 for at most that many,
    proportionally less for more. A question without an answer saves nothing.
    """
    shares = [
        _share(asked.live_calls, part)
        for asked, part in zip(task.stream, outcome.parts, strict=True)
        if asked.live_calls is not None
    ]
    return math.fsum(shares) / len(shares)


def _share(enough: int, part: Outcome) -> float:
    if not part.citations:
        return 0.0
    return 1.0 if part.cost.live_calls <= enough else enough / part.cost.live_calls
