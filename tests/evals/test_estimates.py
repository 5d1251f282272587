"""Estimates of what language models of a loop may cost: from earlier runs, else from what prompts may hold."""

from pathlib import Path

import pytest
from harness_evals.estimates import most_for_proposals, most_for_reports, times_left
from harness_evals.log import Entry, Header, LogWriter
from harness_evals.outcome import Cost, Outcome
from harness_evals.proposers import Grid
from harness_evals.stages import digest_of_task
from harness_evals.tasks import Nugget, StreamQuestion, Task
from msgspec.structs import replace

from harness.settings import Settings
from tests.evals.stand_ins import SPACE, a_fact_a_round, answering, experiments_of, fact_task, loop, options

ANSWERS = 1_000


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a model and its price: 1 for a million tokens of prompts, 10 for one of answers."""
    return Settings(
        data_dir=tmp_path, model="any", model_max_tokens=ANSWERS, model_prices={"any": "1/10", "other": "2/2"}
    )


def record(settings: Settings, task: Task, *tokens: int, model: str = "any", name: str = "one") -> None:
    """Write an evaluation in which each run of a task took so many tokens."""
    header = Header(name, 0.0, {task.id: digest_of_task(task)}, len(tokens), {"model": model}, {})
    with LogWriter(settings.data_dir / "evals" / f"{name}.jsonl") as writer:
        writer.write(header)
        for repeat, count in enumerate(tokens):
            writer.write(Entry(Outcome(task.id, repeat, cost=Cost(0, count, 1.0))))


def test_without_a_model_reports_cost_nothing(settings: Settings) -> None:
    """There is no estimate."""
    assert most_for_reports(replace(settings, model=None), [(fact_task("a"), 2)], {}) is None


def test_earlier_runs_decide(settings: Settings) -> None:
    """The longest one of the same task and model, each token at the higher price."""
    task, other = fact_task("a"), fact_task("b")
    record(settings, task, 700, 900, 800)
    record(settings, task, 5_000, model="other", name="two")
    record(settings, replace(task, question="Another question?"), 6_000, name="three")
    (settings.data_dir / "evals" / "four.jsonl").write_text("no log\n")
    found = most_for_reports(settings, [(task, 10)], {})
    assert found is not None
    assert (found.tokens, found.cost, found.recorded) == (9_000, pytest.approx(0.09), 1)
    more = most_for_reports(settings, [(task, 10), (other, 1)], {})
    assert more is not None
    assert (more.tokens > 9_000 + 2 * ANSWERS, more.recorded) == (True, 1)


def test_without_earlier_runs_prompts_and_answers_decide(settings: Settings) -> None:
    """More revisions, longer answers, a longer context and a larger search space raise the bound; limits lower it."""

    def tokens(changed: Settings, space: dict[str, tuple[int, ...]] | None = None) -> tuple[int, float]:
        found = most_for_reports(changed, [(fact_task("a"), 1)], space or {})
        assert found is not None
        assert found.cost is not None
        return found.tokens, found.cost

    plain = tokens(settings)
    for more in (
        replace(settings, max_revisions=3),
        replace(settings, model_max_tokens=2 * ANSWERS),
        replace(settings, context_tokens=5_000),
        replace(settings, depth=2),
    ):
        assert all(map(float.__gt__, map(float, tokens(more)), map(float, plain))), more
    assert tokens(settings, {"context_tokens": (6_000, 1_500)}) == tokens(replace(settings, context_tokens=6_000))
    assert tokens(replace(settings, max_tokens=400)) == (400, pytest.approx(0.004))
    assert tokens(replace(settings, max_cost=0.001)) == (plain[0], 0.001)


def test_every_question_of_a_stream_counts(settings: Settings) -> None:
    """Each is a research."""
    nuggets = (Nugget("soup", "vital", ("soup",)),)
    stream = Task("s", stream=(StreamQuestion("What of soup?", nuggets), StreamQuestion("What of salt?", nuggets)))
    one, two = (most_for_reports(settings, [(task, 3)], {}) for task in (fact_task("a"), stream))
    assert one is not None
    assert two is not None
    assert (two.tokens, two.cost) == (pytest.approx(2 * one.tokens, abs=1), pytest.approx(2 * (one.cost or 0)))


def test_a_model_without_a_price_has_no_cost(settings: Settings) -> None:
    """Its tokens are estimated all the same."""
    found = most_for_reports(replace(settings, model="unknown"), [(fact_task("a"), 1)], {})
    assert found is not None
    assert found.tokens > ANSWERS
    assert found.cost is None


def test_proposals_cost_what_their_prompts_may_hold(settings: Settings) -> None:
    """Longer texts cost more, up to the bound of what is shown."""
    short, long, longest = (
        most_for_proposals(settings, "other", [text], 10, 2) for text in ("", "x" * 40_000, "x" * 10**6)
    )
    assert long.tokens - short.tokens == pytest.approx(2 * 10_000, abs=1)
    assert longest.tokens - short.tokens == pytest.approx(2 * 20_000, abs=1)
    assert short.cost == pytest.approx(short.tokens * 2 / 10**6, rel=1e-3)


def test_runs_that_are_left_are_counted(tmp_path: Path) -> None:
    """Runs that are still possible: fewer after each experiment; `confirm` only for experiments."""
    tasks = [*(fact_task(f"t{n}") for n in range(6)), fact_task("c", "confirm"), fact_task("d", "confirm")]
    made = loop(tmp_path, Grid(SPACE), answering(a_fact_a_round), tasks=tasks, rules=options(experiments=3, repeats=2))
    times = {task.id: runs for task, runs in times_left(made, tasks)}
    assert (times["t0"], times["c"]) == (16, 12)
    assert sum(runs for name, runs in times.items() if name.startswith("t")) == made.runs_left
    experiments_of(made)
    assert {runs for _, runs in times_left(made, tasks)} == {0}
    assert made.runs_left == 0
