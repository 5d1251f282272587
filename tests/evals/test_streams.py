"""Streams of questions: run in order from nothing, scored by answers and live calls."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from harness_evals.outcome import Cited, Cost, Outcome
from harness_evals.run import run_task
from harness_evals.scorers import score, weights_for
from harness_evals.streams import joined
from harness_evals.task_checks import check_tasks
from harness_evals.tasks import Nugget, StreamQuestion, Task, folder_of, load_tasks

from harness.app import App
from harness.core.tables import RUNS, SEARCHES
from harness.errors import InvalidInput
from harness.settings import Settings
from harness.settings.mode import Mode

FILE = """\
engine: recorded:soups
at: 2025-01-02T03:04:05Z
weights: {calls_saved: 0.5}
settings: {max_rounds: 1}
stream:
  - question: How hot is the soup served?
    live_calls: 9
    gold: [https://a.example/soup]
    nuggets: [{says: 90 degrees, importance: vital, aliases: [90 degrees]}]
  - question: HOW HOT is the soup served?
    live_calls: 0
    nuggets: [{says: 90 degrees, importance: vital, aliases: [90 degrees]}]
"""


def stream(*questions: StreamQuestion, calls_saved: float = 0.5) -> Task:
    """Return a stream of these questions."""
    return Task("s", stream=questions, weights={"calls_saved": calls_saved})


def asked(word: str, live_calls: int | None = None, **more: tuple[str, ...]) -> StreamQuestion:
    """Return a question whose answer has a word."""
    return StreamQuestion(f"What of {word}?", (Nugget(word, "vital", (word,)),), live_calls=live_calls, **more)


def answered(number: int, sentence: str, live_calls: int) -> Outcome:
    """Return the outcome of one question."""
    cited = (Cited("Answer", sentence, sentence, "https://a.example/soup", True),) if sentence else ()
    return Outcome(f"s-{number}", 0, ("https://a.example/soup",), cited, Cost(live_calls, 1, 0.5), {"report": sentence})


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite with a stream over a recorded web of one page."""
    folder = tmp_path / "suite"
    (folder / "soups" / "pages").mkdir(parents=True)
    (folder / "tasks").mkdir()
    result = {
        "url": "https://a.example/soup",
        "title": "Soup",
        "snippet": "How hot the soup is served.",
        "file": "a.html",
    }
    (folder / "soups" / "results.jsonl").write_text(json.dumps(result) + "\n")
    text = "<p>The soup is served at 90 degrees, which is hot for a soup. It is made of onions and of bread.</p>"
    (folder / "soups" / "pages" / "a.html").write_text(f"<html><body><main>{text}</main></body></html>")
    (folder / "tasks" / "soups.yaml").write_text(FILE)
    return folder


@pytest.mark.usefixtures("words")
def test_a_stream_runs_in_order_from_nothing(suite: Path, tmp_path: Path) -> None:
    """Every time the same: the first question searches, the second is answered from what it found; no row of it is in
    the user's cache.
    """
    assert check_tasks(folder_of(suite)) == []
    (task,) = load_tasks(folder=folder_of(suite))
    assert task.engine == f"recorded:{suite / 'soups'}"
    with App(Settings(data_dir=tmp_path / "data", reading=False, offline=True), Mode(origin="evaluation")) as app:
        outcomes = [run_task(app, task, repeat) for repeat in range(2)]
        assert [list(app.store.listings.scan(table, app.identity.tenant)) for table in (SEARCHES, RUNS)] == [[], []]
    for outcome in outcomes:
        assert (outcome.error, [part.cost.live_calls for part in outcome.parts][1:]) == ("", [0])
        assert outcome.cost.live_calls == outcome.parts[0].cost.live_calls > 0
        assert [len(part.rounds) for part in outcome.parts] == [1, 1]
        values = score(task, outcome).values
        assert (values["nugget_vital"], values["retrieval_recall"], values["calls_saved"]) == (1.0, 1.0, 1.0)
    assert outcomes[0].digests == outcomes[1].digests
    assert len(set(outcomes[0].digests.values())) > 1


def test_a_stream_is_scored_by_answers_and_live_calls() -> None:
    """The mean over the questions to which a scorer applies; too many live calls count in proportion."""
    task = stream(asked("soup", 2), asked("bread", 0), asked("salt", 3, short_answer=("salt",)), asked("water"))
    parts = [
        answered(1, "The soup is hot today.", 4),
        answered(2, "It is something else.", 0),
        answered(3, "It needs salt and more.", 3),
        answered(4, "", 9),
    ]
    scores = score(task, joined(task, 0, parts))
    assert (scores.values["nugget_vital"], scores.values["first_sentence"]) == (0.5, 0.5)
    assert scores.values["calls_saved"] == pytest.approx((0.5 + 1 + 1) / 3)
    assert scores.values["short_answer"] == 1.0
    assert "required_terms" not in scores.values
    assert scores.cost == Cost(16, 4, 2.0)
    weights = weights_for(task)
    assert sum(weights.values()) == pytest.approx(1)
    assert scores.total == pytest.approx(sum(weights[name] * value for name, value in scores.values.items()))


def test_what_is_not_answered_saves_no_calls() -> None:
    """An empty report is cheap, and not a success."""
    task = stream(asked("soup", 0), asked("bread", 0))
    parts = [answered(1, "", 0), answered(2, "The bread is old.", 0)]
    assert score(task, joined(task, 0, parts)).values["calls_saved"] == 0.5


def test_a_stream_ends_at_the_first_question_that_fails() -> None:
    """It is a crash with the question's number; later questions are not asked."""
    task = stream(asked("soup"), asked("bread"), asked("salt"), calls_saved=0)
    taken: list[int] = []

    def parts() -> Iterator[Outcome]:
        for number, error in enumerate(["", "search_error: no network", ""], start=1):
            taken.append(number)
            yield Outcome(f"s-{number}", 0, cost=Cost(1, 0, 0.0), error=error)

    outcome = joined(task, 0, parts())
    assert (outcome.error, taken) == ("question 2: search_error: no network", [1, 2])
    assert outcome.cost.live_calls == 2
    with pytest.raises(InvalidInput, match="failed"):
        score(task, outcome)


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("stream:", "question: Why?\nstream:", "either a `question` or a `stream`"),
        (
            "  - question: HOW HOT is the soup served?\n    live_calls: 0\n    nuggets",
            "same: []\nx",
            "length >= 2",
        ),
        ("importance: vital", "importance: okay", "needs a vital nugget"),
        ("weights", "answerable: false\nweights", "have their own nuggets"),
        ("live_calls: 9", "live_calls: -1", ">= 0"),
        ("max_rounds: 1", "max_rounds: 99", "max_rounds"),
        ("max_rounds: 1", "data_dir: /tmp", "cannot change the setting 'data_dir'"),
        ("03:04:05Z", "03:04:05", "timezone"),
        ("at: 2025-01-02T03:04:05Z", "at: soon", "Invalid"),
    ],
)
def test_a_malformed_stream_is_refused_with_its_line(suite: Path, right: str, wrong: str, says: str) -> None:
    """As any other task."""
    file = suite / "tasks" / "soups.yaml"
    file.write_text(FILE.replace(right, wrong))
    with pytest.raises(InvalidInput, match=says) as refused:
        load_tasks(folder=folder_of(suite))
    assert str(refused.value).startswith(f"{file}:")


def test_unfounded_nuggets_of_a_stream_are_found(suite: Path) -> None:
    """With the line in the file."""
    file = suite / "tasks" / "soups.yaml"
    file.write_text(FILE.replace("90 degrees", "95 degrees", 2))
    (problem,) = check_tasks(folder_of(suite))
    assert problem == f"{file}:9: the nugget '95 degrees' is in none of its gold sources"


def test_four_streams_ship_and_are_sound() -> None:
    """Streams of both splits; each nugget with gold sources is in one of them, and a task survives JSON."""
    folder = folder_of(Path("stream"))
    tasks = load_tasks(folder=folder)
    assert check_tasks(folder) == []
    assert len(tasks) == 4
    assert {task.split for task in tasks} == {"tune", "confirm"}
    assert all(task.at and 2 <= len(task.stream) <= 20 and weights_for(task)["calls_saved"] > 0 for task in tasks)
    assert msgspec.json.decode(msgspec.json.encode(tasks), type=list[Task]) == tasks
