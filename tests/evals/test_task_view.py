"""View of one task's run: nuggets with their sentences, sources, scores; and where two runs differ."""

from pathlib import Path
from typing import Any

import pytest
from harness_evals.changed_targets import changed_targets, names_of_changes
from harness_evals.evaluation_names import find_evaluation
from harness_evals.journal import EVALUATIONS, FOLDER, JOURNAL, Begun, Experiment, Journal
from harness_evals.log import Header, Log
from harness_evals.outcome import STAGES, Cited, Cost, Outcome, Round
from harness_evals.scorers import WEIGHTS
from harness_evals.stages import digest_of_task, keep, keep_task
from harness_evals.suite import scored
from harness_evals.task_view import StageView, TaskView, stage_view, task_view
from harness_evals.tasks import Nugget, StreamQuestion, Structure, Task
from msgspec.structs import replace

from harness.errors import InvalidInput, NotFound
from harness.research.gathering import Search
from tests.evals.stand_ins import options

HOSTILE = "\x1b[31m\u202e<b>bad</b>"
TASK = Task(
    "a",
    f"What of a? {HOSTILE}",
    Structure(exactly=1),
    nuggets=(
        Nugget("the first", "vital", ("retries back off",)),
        Nugget("the second", "vital", ("never said",)),
        Nugget("the third", "okay", (), "after (five|six) attempts"),
    ),
    gold=("https://a.example/", "https://b.example/", "https://c.example/"),
    same=(("https://b.example/", "https://copy.example/"),),
    avoid=("click here",),
)
CITED = (
    Cited("Answer", "Retries back off and stop after five attempts.", "q", "https://copy.example/", True),
    Cited("Answer", f"Something else {HOSTILE}.", "", "https://d.example/", False, 1),
    Cited("Answer", "Retries back off.", "q", "https://copy.example/", True, 1),
)
OUTCOME = Outcome(
    "a",
    0,
    ("https://d.example/", "https://copy.example/", "https://a.example/", "https://e.example/"),
    CITED,
    Cost(3, 0, 1.5),
    titles=("A copy", "The other"),
    rounds=(Round((Search(HOSTILE, "fake", "live", 4, None),), 1, 1, 3, 1.0, 0.5),),
    stop_reason="score met",
)


def log(*outcomes: Outcome, task: Task = TASK) -> Log:
    """Return a log of these runs."""
    header = Header("x", 0.0, {task.id: digest_of_task(task)}, len(outcomes), {}, {}, dict(WEIGHTS))
    return Log(Path("x"), header, tuple(scored(task, each) for each in outcomes))


def shown(data_dir: Path, *outcomes: Outcome, number: int = 1, **changes: Any) -> TaskView:
    """Return the view of a run of a task that is stored."""
    task = replace(TASK, **changes)
    keep_task(data_dir, task)
    return task_view(log(*outcomes or (OUTCOME,), task=task), task.id, number, data_dir)


def test_nuggets_have_the_sentences_that_say_them(tmp_path: Path) -> None:
    """By alias or pattern; each sentence has the nuggets that it says."""
    view = shown(tmp_path)
    assert [nugget.places for nugget in view.nuggets] == [(0, 2), (), (0,)]
    assert [sentence.nuggets for sentence in view.sentences] == [(0, 2), (), (0,)]
    assert [nugget.says for nugget in view.missed] == ["the second"]
    assert [(demand.what, demand.met) for demand in view.demands] == [
        ("sections: exactly 1; the report has 1", True),
        ("does not say: click here", True),
    ]


def test_demands_are_met_as_the_scorers_say(tmp_path: Path) -> None:
    """A short answer in the first sentence, both sides in one paragraph, and an avoided wording late in the report."""
    late = [Cited("Answer", "word " * 900, "", "https://d.example/", True, 2) for _ in range(2)]
    made = replace(OUTCOME, citations=(*CITED, *late, Cited("Answer", "Click here: 5 or 6.", "", "u", True, 3)))
    asked = {"short_answer": ("something else",), "disagrees": (("retries", "click here"), (5, 6))}
    demands = shown(tmp_path, made, structure=None, **asked).demands
    assert [each.met for each in demands] == [False, False, True, False]


def test_expected_sources_come_first(tmp_path: Path) -> None:
    """With their places among the found ones, also under the URL of a copy; then the cited ones, then the others."""
    found = [(each.url, each.expected, each.rank, each.cited, each.number) for each in shown(tmp_path).sources]
    assert found == [
        ("https://a.example/", True, 3, 0, 0),
        ("https://b.example/", True, 2, 2, 1),
        ("https://c.example/", True, 0, 0, 0),
        ("https://d.example/", False, 1, 1, 2),
        ("https://e.example/", False, 4, 0, 0),
    ]
    assert shown(tmp_path).sources[1].found_as == "https://copy.example/"
    assert [each.title for each in shown(tmp_path).sources if each.number] == ["A copy", "The other"]


def test_scores_have_the_weights_of_the_task(tmp_path: Path) -> None:
    """The weighted sum is the total; texts have no control characters."""
    view = shown(tmp_path)
    assert view.total == pytest.approx(sum(each.value * each.weight for each in view.scores))
    assert view.scores[0].name == "nugget_vital"
    texts = [view.question, view.sentences[1].sentence, view.rounds[0].searches[0].query]
    assert all("<b>bad</b>" in text and text.isprintable() for text in texts)


def test_a_failed_run_has_its_error(tmp_path: Path) -> None:
    """And no scores; runs are numbered from 1."""
    failed = Outcome("a", 1, error="search_failed: down")
    view = shown(tmp_path, OUTCOME, failed, number=2)
    assert (view.number, view.runs, view.total, view.scores) == (2, 2, None, ())
    assert view.error == "search_failed: down"
    for task, number in (("a", 3), ("a", 0), ("b", 1)):
        with pytest.raises(NotFound, match="x has"):
            task_view(log(OUTCOME), task, number, tmp_path)


def test_a_task_that_is_gone_is_said(tmp_path: Path) -> None:
    """The report is still there."""
    view = task_view(log(OUTCOME), "a", 1, tmp_path)
    assert (view.known, view.nuggets, len(view.sentences)) == (False, (), 3)


def test_a_pattern_that_takes_too_long_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other nuggets are shown."""

    def slow(nugget: Nugget, said: Any) -> bool:
        if nugget.pattern:
            raise InvalidInput("the pattern takes too long")
        return "back off" in said[0] and nugget.says == "the first"

    made = log(OUTCOME)
    monkeypatch.setattr("harness_evals.task_view.is_said", slow)
    keep_task(tmp_path, TASK)
    view = task_view(made, "a", 1, tmp_path)
    assert [(nugget.places, nugget.problem) for nugget in view.nuggets] == [
        ((0, 2), ""), ((), ""), ((), "the pattern takes too long"),
    ]  # fmt: skip


def difference_of(data_dir: Path, first: dict[str, str], second: dict[str, str], *, stored: bool = True) -> StageView:
    """Return where two runs with these stages differ."""
    from harness_evals.stages import digest

    logs = []
    for texts in (first, second):
        whole = {**dict.fromkeys(STAGES, "the same"), **texts}
        digests = keep(data_dir, whole) if stored else {stage: digest(text) for stage, text in whole.items()}
        logs.append(log(replace(OUTCOME, digests=digests)))
    return stage_view(logs[0], logs[1], "a", 1, data_dir)


def test_the_first_stage_that_differs_has_its_difference(tmp_path: Path) -> None:
    """In the order of the stages; none for the same bytes; without the texts it says why."""
    first, second = {"context": "a b", "report": "x"}, {"context": f"a c {HOSTILE}", "report": "y"}
    view = difference_of(tmp_path, first, second)
    assert (view.stage, view.message) == ("context", "")
    assert [(line.kind, line.text) for line in view.lines] == [("gone", "a b"), ("new", "a c [31m<b>bad</b>")]
    same = difference_of(tmp_path, first, first)
    assert (same.stage, same.lines, same.message) == (None, (), "")
    assert "not stored" in difference_of(tmp_path / "other", first, second, stored=False).message


def test_a_failed_run_has_no_stages(tmp_path: Path) -> None:
    """The message has the evaluation."""
    failed = log(Outcome("a", 0, error="down"))
    assert (
        "the run of x failed"
        in stage_view(log(replace(OUTCOME, digests={"plan": "1"})), failed, "a", 1, tmp_path).message
    )


def test_the_questions_of_a_stream_are_shown_one_by_one(tmp_path: Path) -> None:
    """Each with its nuggets and its report; a difference is that of the first question that differs."""
    questions = tuple(StreamQuestion(f"What of {name}?", TASK.nuggets) for name in "pq")
    task = Task("a", stream=questions)
    keep_task(tmp_path, task)
    parts = tuple(replace(OUTCOME, task=part.id, citations=CITED[at:]) for at, part in enumerate(task.parts))
    logs = []
    for text in ("one", "other"):
        digests = keep(tmp_path, {"report": text, "plan": "the same"})
        changed = (replace(parts[0], digests=keep(tmp_path, {"report": "x"})), replace(parts[1], digests=digests))
        stream = Outcome("a", 0, OUTCOME.sources, CITED, digests={"report": text}, parts=changed)
        logs.append(log(stream, task=task))
    view = task_view(logs[0], "a", 1, tmp_path)
    assert (view.sentences, [part.question for part in view.parts]) == ((), ["What of p?", "What of q?"])
    assert [[nugget.places for nugget in part.nuggets] for part in view.parts] == [[(0, 2), (), (0,)], [(1,), (), ()]]
    differing = stage_view(logs[0], logs[1], "a", 1, tmp_path)
    assert [line.text for line in differing.lines] == ["question 2 of the stream", "one", "other"]


# Arms of experiments ----------------------------------------------------------------------------------------------


def test_arms_are_found_by_name(tmp_path: Path) -> None:
    """By the loop's id, its beginning, or `last`; others are named in the error."""
    loop = tmp_path / FOLDER / "20261122-1"
    (loop / EVALUATIONS).mkdir(parents=True)
    (loop / JOURNAL).touch()
    for name in ("2-baseline", "2-candidate", "confirm-1-baseline"):
        (loop / EVALUATIONS / f"{name}.jsonl").touch()
    for name in ("20261122-1:2:candidate", "2026:2:candidate", "last:2:candidate"):
        assert find_evaluation(tmp_path, name) == ("20261122-1:2:candidate", loop / EVALUATIONS / "2-candidate.jsonl")
    assert find_evaluation(tmp_path, "last:confirm-1:baseline")[1].stem == "confirm-1-baseline"
    for name, says in (("last:3:baseline", "There are"), ("x:2:baseline", "no loop 'x'"), ("last:../..:x", "no eval")):
        with pytest.raises(InvalidInput, match=says):
            find_evaluation(tmp_path, name)


def tried(number: int, changes: dict[str, Any], status: Any = "discard") -> Experiment:
    """Return an experiment with these changes."""
    return Experiment(number, changes, "", status, (), 0, 0.0, 0)


def test_changes_are_shown_against_the_state_kept_before() -> None:
    """Settings with both values, texts as a difference; an earlier kept change is not shown again."""
    made = (
        tried(1, {"max_rounds": 2}, "keep"),
        tried(2, {"max_rounds": 2, "prompts.answer": "Answer in one word."}, "unconfirmed"),
        tried(3, {"prompts.answer": "Answer in two words.", "harness/core/none.py": "x = 1"}),
        tried(4, {}, "invalid"),
    )
    begun = Begun("x", 0.0, {}, options(), {"max_rounds": 5}, {}, {})
    journal = Journal(Path("x"), begun, None, made)
    assert list(names_of_changes(made).values()) == [
        ("max_rounds",),
        ("prompts.answer",),
        ("max_rounds", "prompts.answer", "harness/core/none.py"),
        (),
    ]
    (first,) = changed_targets(journal, made[0])
    assert (first.target, first.before, first.after, first.lines) == ("max_rounds", 5, 2, ())
    (second,) = changed_targets(journal, made[1])
    assert second.lines[0].kind == "gone"
    assert second.lines[-1].kind in {"new", "gone"}
    back, text, code = changed_targets(journal, made[2])
    assert (back.before, back.after) == (2, 5)
    assert [line.text for line in text.lines] == ["Answer in one word.", "Answer in two words."]
    assert [(line.kind, line.text) for line in code.lines] == [("new", "x = 1")]


def test_a_path_that_leaves_the_program_is_not_read() -> None:
    """Its first text is empty."""
    made = tried(1, {"harness/../../../etc/passwd": "x"})
    journal = Journal(Path("x"), Begun("x", 0.0, {}, options(), {}, {}, {}), None, (made,))
    (change,) = changed_targets(journal, made)
    assert [(line.kind, line.text) for line in change.lines] == [("new", "x")]
