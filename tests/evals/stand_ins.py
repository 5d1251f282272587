"""Stand-ins for evaluations: tasks on a few notes, an engine that counts, runs with scripted results."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness_evals.journal import Experiment, NoiseFloor, Options
from harness_evals.loop import Loop, begin
from harness_evals.outcome import Cited, Cost, Outcome
from harness_evals.paired_runs import Runner
from harness_evals.proposers import FromFile, Grid, HillClimb, Proposer, Random
from harness_evals.run import Job
from harness_evals.space import Space
from harness_evals.tasks import Nugget, Structure, Task

from harness.settings import Settings

NOTES = {
    "retries": "# Retries\n\nRetries use exponential backoff and stop after five failed attempts.\n\n"
    "A retry budget limits how many retries a client may make.\n",
    "timeouts": "# Timeouts\n\nA timeout bounds how long a client waits for the server before it retries.\n",
    "caches": "# Caches\n\nA cache keeps answers so that the same question is not asked twice.\n",
    "queues": "# Queues\n\nA queue holds messages until a consumer takes them in order.\n",
}
QUESTIONS = {
    "retries": ("How do retries use exponential backoff?", "exponential backoff", "five failed attempts"),
    "timeouts": ("What does a timeout bound?", "how long a client waits", "the server"),
    "caches": ("What does a cache keep?", "keeps answers", "not asked twice"),
    "queues": ("What does a queue hold?", "holds messages", "in order"),
}
FACTS = 10
SPACE: Space = {"max_rounds": (1, 2, 3, 5), "max_results": (5, 10, 20), "read_pages": (0, 3)}


class CountingEngine:
    """An engine with one answer for all queries, after `latency` seconds; `asked` are its live queries."""

    name = "counting"
    options: dict[str, Any] = {}  # noqa: RUF012 - as the port declares it

    def __init__(self, latency: float = 0.0) -> None:
        self.latency = latency
        self.asked: list[str] = []

    def search(self, query: str, max_results: int) -> Sequence[dict[str, str]]:
        """See `SearchEngine.search`."""
        self.asked.append(query)
        time.sleep(self.latency)
        body = f"Retries use exponential backoff and stop after five failed attempts. {query} was asked."
        return [{"title": "Retries", "href": "https://example.org/retries", "body": body}]


def write_tasks(folder: Path, names: Sequence[str] = tuple(QUESTIONS)) -> Path:
    """Write notes and tasks about them into `folder`; return the folder of the tasks."""
    (folder / "notes").mkdir(parents=True)
    for name, text in NOTES.items():
        (folder / "notes" / f"{name}.md").write_text(text)
    tasks = folder / "tasks"
    tasks.mkdir()
    for number, name in enumerate(names):
        (tasks / f"{name}.yaml").write_text(task_text(name, folder / "notes", "tune" if number < 2 else "confirm"))
    return tasks


def task_text(name: str, notes: Path, split: str = "tune") -> str:
    """Return a task file."""
    question, vital, okay = QUESTIONS[name]
    return (
        f"id: {name}\nquestion: {question}\ntask_type: research\nengine: corpus:{notes}\nstructure: {{at_least: 1}}\n"
        f"split: {split}\ngold: ['{(notes / name).as_uri()}.md']\nnuggets:\n"
        f"  - {{says: one, importance: vital, aliases: [{vital}]}}\n"
        f"  - {{says: two, importance: okay, aliases: [{okay}]}}\n"
    )


def fact_task(name: str, split: Any = "tune") -> Task:
    """Return a task with `FACTS` vital nuggets; each one in the report adds 0.05 to the score."""
    nuggets = tuple(Nugget(f"fact {n}", "vital", (f"fact number {n} holds",)) for n in range(FACTS))
    return Task(name, f"What of {name}?", Structure(at_least=1), "research", "corpus:none", nuggets, ("gold",), split)


def fact_tasks(tune: int = 10, confirm: int = 3) -> list[Task]:
    """Return tasks of both splits."""
    return [fact_task(f"t{n:02}") for n in range(tune)] + [fact_task(f"c{n}", "confirm") for n in range(confirm)]


def saying(job: Job, facts: int) -> Outcome:
    """Return the outcome of a run whose report has that many facts, with verified quotations."""
    cited = tuple(Cited("Facts", f"Fact number {n} holds.", f"fact {n}", "gold", True) for n in range(facts))
    return Outcome(job.task.id, job.repeat, ("gold",), cited, Cost(1, 0, 0.0), {"report": str(facts)})


def answering(facts: Callable[[Job], int]) -> Runner:
    """Return a runner of jobs whose reports have the facts that a test wants."""

    def run(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        for job in jobs:
            yield job, saying(job, facts(job))

    return run


def a_fact_a_round(job: Job) -> int:
    """Return more facts for fewer rounds."""
    return 8 - job.settings.max_rounds


def options(**changes: Any) -> Options:
    """Return the rules of a short loop."""
    rules = {"experiments": 5, "repeats": 1, "delta": 0.01, "alpha": 0.05, "seed": 1, "proposer": "any", "plateau": 8}
    return Options(**{**rules, **changes})


def loop(
    folder: Path,
    proposer: Proposer,
    run: Runner,
    *,
    tasks: Sequence[Task] | None = None,
    rules: Options | None = None,
    now: float = 1_700_000_000.0,
    **more: Any,
) -> Loop:
    """Return a new loop in `folder`."""
    chosen, settings = fact_tasks() if tasks is None else tasks, Settings()
    begun = begin(chosen, settings, SPACE, rules or options(), now=now)
    return Loop(begun, folder, chosen, settings, proposer, run, **more)


def experiments_of(made: Loop) -> list[Experiment]:
    """Run all experiments; return them."""
    with made:
        return [step for step in made.steps() if not isinstance(step, NoiseFloor)]


def from_file(folder: Path, *changes: Mapping[str, Any]) -> FromFile:
    """Return a proposer of these changes."""
    file = folder / "experiments.yaml"
    file.write_text("experiments:\n" + "".join(f"- {dict(each)}\n" for each in changes))
    return FromFile(file)


def proposer_named(name: str, seed: int = 1) -> Proposer:
    """Return a proposer that draws from `SPACE`."""
    return {
        "grid": lambda: Grid(SPACE),
        "random": lambda: Random(SPACE, seed),
        "hillclimb": lambda: HillClimb(SPACE, seed),
    }[name]()


def halting(at_experiment: int, after_jobs: int) -> Runner:
    """Return a runner of jobs that hangs in the middle of an experiment, after printing that it does."""

    def run(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        for number, job in enumerate(jobs):
            if job.repeat // 1_000 == at_experiment and number == after_jobs:
                print("in the middle", flush=True)  # noqa: T201 - for the test that waits for it
                time.sleep(600)
            yield job, saying(job, a_fact_a_round(job))

    return run


if __name__ == "__main__":  # the loop that a test kills: FOLDER PROPOSER
    experiments_of(loop(Path(sys.argv[1]), proposer_named(sys.argv[2]), halting(7, 3), rules=options(experiments=10)))
