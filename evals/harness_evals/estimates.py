"""Estimate of what the language models of a loop may cost: an upper bound, in tokens and, with prices, in money."""

import math
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from harness.errors import InvalidInput
from harness.research.budget import CHARS_A_TOKEN, budget_of
from harness.research.model_planner import SHOWN_CHARS, SHOWN_PASSAGES
from harness.research.outline import MAX_SECTIONS
from harness.research.prompts import prompt_texts
from harness.settings import Settings
from harness_evals.journal import EVALUATIONS, FOLDER, journals_in
from harness_evals.log import logs_in, read_log
from harness_evals.model_proposers import MAX_TEXTS, SHOWN, WORST, brief
from harness_evals.sides import MAX_REPORT
from harness_evals.space import Space
from harness_evals.stages import digest_of_task
from harness_evals.suite import FOLDER as LOGS
from harness_evals.tasks import Task

if TYPE_CHECKING:
    from harness_evals.loop import Loop

LOGS_READ = 5
"""Newest evaluations, and newest loops, that are read for what runs have cost."""
PLANNED_CHARS = 2_000
"""Characters of a planner's prompt besides its passages: the question, and the queries so far."""
TASK_CHARS, TRIED_CHARS = 1_000, 1_000
"""Characters of a task without its report, and of a past experiment, in a prompt for a proposal."""


class Estimate(Struct, frozen=True):
    """Most tokens that calls of `model` may take, cached answers included, and their `cost` in the currency of the
    setting `model_prices`, `None` without a price. `recorded` is the number of tasks of which earlier runs say it.
    """

    model: str
    tokens: int
    cost: float | None
    recorded: int = 0


def times_left(loop: "Loop", tasks: Iterable[Task]) -> list[tuple[Task, int]]:
    """Return the most runs left of each task; those of the split `confirm` run only if an experiment seems better."""
    options, experiments = loop.begun.options, max(0, loop.begun.options.experiments - len(loop.experiments))
    comparisons = {"tune": experiments + (loop.noise_floor is None), "confirm": experiments}
    return [(task, 2 * options.repeats * comparisons[task.split]) for task in tasks]


def most_for_reports(settings: Settings, times: Iterable[tuple[Task, int]], space: Space) -> Estimate | None:
    """Return the most that so many runs of each task may take: for each, as many tokens as any earlier run of it with
    the same model took, else what the calls of a run may hold. `None` without a language model.
    """
    if not settings.model:
        return None
    prices, (tokens, cost) = _prices(settings, settings.model), _most_of_a_question(settings, space)
    earlier = _recorded_tokens(settings.data_dir, settings.model)
    recorded, every, paid = 0, 0.0, 0.0
    for task, runs in times:
        questions = runs * (len(task.parts) or 1)
        if (took := earlier.get(digest_of_task(task))) is None:
            every, paid = every + questions * tokens, paid + questions * cost
        else:
            recorded += 1
            every, paid = every + runs * took, paid + min(questions * cost, runs * took * max(prices or (0.0,)))
    return Estimate(settings.model, math.ceil(every), None if prices is None else paid, recorded)


def most_for_proposals(settings: Settings, model: str, texts: Sequence[str], tasks: int, proposals: int) -> Estimate:
    """Return the most that so many proposals of `model` may take, by what a prompt may hold: these `texts`, and the
    results of so many tasks.
    """
    shown = min(sum(map(len, texts)), MAX_TEXTS) + WORST * MAX_REPORT + tasks * TASK_CHARS + SHOWN * TRIED_CHARS
    prompts, answers = (len(brief()) + shown) / CHARS_A_TOKEN, settings.model_max_tokens
    prices = _prices(settings, model)
    cost = None if prices is None else proposals * (prompts * prices[0] + answers * prices[1])
    return Estimate(model, math.ceil(proposals * (prompts + answers)), cost)


def _most_of_a_question(settings: Settings, space: Space) -> tuple[float, float]:
    """Return the most tokens of a research, and their cost (0 without a price): every planning call, an outline, and
    each section with all revisions. An experiment may raise the bounds up to the highest value of the search space.
    """
    answer, (of_prompt, of_answer) = settings.model_max_tokens, _prices(settings, settings.model or "") or (0.0, 0.0)
    rounds = max((settings.max_rounds, *space.get("max_rounds", ())))
    context = max((settings.context_tokens, *space.get("context_tokens", ())))
    style = max(map(len, (settings.writer_style, *space.get("writer_style", ()))))
    rules = (max(map(len, prompt_texts(settings.prompts).values())) + style) / CHARS_A_TOKEN
    planning = rounds + settings.depth - 1
    writing = 1 + (1 + MAX_SECTIONS) * (1 + settings.max_revisions)
    of_plan = rules + (SHOWN_PASSAGES * SHOWN_CHARS + PLANNED_CHARS) / CHARS_A_TOKEN
    prompts = planning * of_plan + writing * (rules + context + answer)  # a revision's prompt has the draft
    answers = (planning + writing) * answer
    most = math.inf if settings.max_tokens is None else settings.max_tokens
    most_cost = math.inf if settings.max_cost is None else settings.max_cost
    cost = min(prompts * of_prompt + answers * of_answer, most_cost)
    return min(prompts + answers, most), cost if math.isinf(most) else min(cost, most * max(of_prompt, of_answer))


def _recorded_tokens(data_dir: Path, model: str) -> dict[str, int]:
    """Return the most tokens of a run with this model by the digest of its task, of the newest evaluations and the
    first runs of the newest loops; a log that cannot be read is left out.
    """
    arms = (loop / EVALUATIONS / "0-baseline.jsonl" for loop in journals_in(data_dir / FOLDER))
    found: dict[str, int] = {}
    for path in (*logs_in(data_dir / LOGS)[:LOGS_READ], *islice((arm for arm in arms if arm.exists()), LOGS_READ)):
        try:
            log = read_log(path)
        except InvalidInput:
            continue
        if log.header.settings.get("model") == model:
            for outcome in log.outcomes:
                task = log.header.tasks.get(outcome.task, "")
                if not outcome.error:
                    found[task] = max(outcome.cost.tokens, found.get(task, 0))
    return found


def _prices(settings: Settings, model: str) -> tuple[float, float] | None:
    """Return the prices of a token of prompts and of answers, `None` if the settings have none of this model."""
    if model not in settings.model_prices:
        return None
    return budget_of(replace(settings, max_cost=None), model, settings.model_max_tokens).prices
