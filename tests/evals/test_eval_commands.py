"""`harness eval`: run, list, show, score, compare, check, repeat."""

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from harness_evals.log import FIRST_WEIGHTS
from harness_evals.suite import Summary

from harness.app import App
from harness.cli import evaluation_views
from harness.models.from_settings import Models
from harness.models.local.embedder import MiniLM
from harness.settings import Settings
from harness.sources.from_settings import Sources
from tests.cli.program import Program
from tests.evals.stand_ins import CountingEngine

pytestmark = pytest.mark.usefixtures("words")


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Callable[..., CountingEngine]:
    """Replace all engines by a counting one."""

    def put(latency: float = 0.0) -> CountingEngine:
        engine = CountingEngine(latency)
        monkeypatch.setenv("HARNESS_READ_PAGES", "0")  # its URLs do not exist
        monkeypatch.setattr(Sources, "engines", lambda self, specs=(), **how: (engine,))
        return engine

    return put


def logs(tmp_path: Path) -> list[Path]:
    """Return the logs of evaluations."""
    return sorted((tmp_path / "data" / "evals").glob("*.jsonl"))


def test_tasks_are_run_scored_and_logged(
    harness: Program, tasks_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table for people, JSON for programs; the log has one line per run. With the real embedder."""
    monkeypatch.setattr(Models, "embedder", MiniLM())
    payload = harness("eval", "run", "--tasks-dir", tasks_dir, "--repeat", 2, "--json").told
    assert [(task["task"], task["runs"], task["errors"]) for task in payload["tasks"]] == [
        ("caches", 2, []), ("queues", 2, []), ("retries", 2, []), ("timeouts", 2, []),
    ]  # fmt: skip
    assert payload["evaluation"]["crashes"] == 0
    assert set(payload["weights"]) - set(payload["means"]) == {
        "required_terms", "avoided", "disagreement_shown", "sections_match", "short_answer", "calls_saved",
    }  # fmt: skip
    assert payload["means"]["retrieval_recall"] == 1.0
    (log,) = logs(tmp_path)
    assert len(log.read_text().splitlines()) == 9
    shown = harness("eval", "show")
    assert shown.out.splitlines()[3].split()[:2] == ["caches", "1.000"]
    assert harness("eval", "show", payload["evaluation"]["id"], "--json").told == payload
    assert harness("eval", "score", "last", "--tasks-dir", tasks_dir, "--json").told == payload


def uses(tmp_path: Path) -> list[str]:
    """Return how each run used past researches, the first run first."""
    with App(Settings(data_dir=tmp_path / "data")) as app:
        return [orjson.loads(run.payload)["cache_use"] for run in reversed(app.cache.runs.all())]


def test_a_fresh_evaluation_gathers_every_context_again(
    harness: Program, tasks_dir: Path, tmp_path: Path, counting: Callable[..., CountingEngine]
) -> None:
    """Through the search cache, so without live calls; a stopped one continues as it began."""
    engine = counting()
    of_one = ("eval", "run", "--tasks-dir", tasks_dir, "--tasks", "retries", "--json")
    *_, fresh = [harness(*of_one, *how).told["evaluation"]["id"] for how in ((), (), ("--fresh",))]
    asked = len(engine.asked)
    assert uses(tmp_path) == ["stored", "hit", "off"]
    (log,) = [each for each in logs(tmp_path) if each.stem == fresh]
    log.write_text(log.read_text().splitlines(keepends=True)[0])
    assert harness("eval", "run", "--tasks-dir", tasks_dir, "--resume", fresh).code == 0
    assert uses(tmp_path) == ["stored", "hit", "off", "off"]
    assert len(engine.asked) == asked


def test_evaluations_are_not_in_the_history_of_the_user(
    harness: Program, tasks_dir: Path, tmp_path: Path, counting: Callable[..., CountingEngine]
) -> None:
    """Nor are their answers in the statistics, unless requested; the user's own research is there."""
    counting()

    def titles(*options: str) -> list[str]:
        return [each["title"] for each in harness("history", "--json", *options).told["items"]]

    def answers(*options: str) -> int:
        payload = harness("cache", "stats", "--json", *options).told
        return int(payload["misses"] + payload["live_calls_saved"])

    harness("eval", "run", "--tasks-dir", tasks_dir, "--tasks", "retries", "--repeat", 2)
    harness("eval", "repeat", "caches", "--tasks-dir", tasks_dir, "-n", 2)
    assert (titles(), answers()) == ([], 0)
    assert {"How do retries use exponential backoff?", "What does a cache keep?"} < {*titles("--origin", "evaluation")}
    assert answers("--origin", "evaluation") == answers("--origin", "all") > 0
    for _ in range(2):
        harness("research", "What does a queue hold?")
    assert titles() == ["What does a queue hold?"]
    searched = titles("--origin", "run")
    assert "What does a queue hold" in searched
    harness("search", searched[0])
    assert sorted(titles()) == sorted([searched[0], "What does a queue hold?"])
    assert harness("history", "--origin", "strangers").code == 2


@pytest.mark.parametrize("enough", ["0", "1"], ids=["solved", "gathered"])
def test_research_cache_0_reuses_no_past_research(
    harness: Program,
    tasks_dir: Path,
    tmp_path: Path,
    counting: Callable[..., CountingEngine],
    monkeypatch: pytest.MonkeyPatch,
    enough: str,
) -> None:
    """Neither a gathered context nor a solved question: in evaluations, repeats, experiments and researches."""
    counting()
    monkeypatch.setenv("RESEARCH_CACHE", "0")
    monkeypatch.setenv("HARNESS_ENOUGH_SCORE", enough)
    of_one = ("--tasks-dir", tasks_dir, "--tasks", "retries")
    for command in (
        *[("eval", "run", *of_one)] * 2,
        ("eval", "repeat", "retries", "--tasks-dir", tasks_dir, "-n", 2),
        *[("research", "How do retries use exponential backoff?")] * 2,
    ):
        assert harness(*command).code == 0
    assert set(uses(tmp_path)) == {"off"}


def test_a_task_without_nuggets_is_scored_by_what_applies(
    harness: Program, tasks_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question and a structure are enough; the scorers of nuggets and gold sources are absent, not 0 or 1."""
    monkeypatch.setattr(Models, "embedder", MiniLM())
    whole = (tasks_dir / "caches.yaml").read_text()
    (tasks_dir / "caches.yaml").write_text(whole.partition("split:")[0])
    assert harness("eval", "check", "--tasks-dir", tasks_dir).code == 0
    payload = harness("eval", "run", "--tasks-dir", tasks_dir, "--json").told
    plain, other = payload["tasks"][:2]
    of_nuggets = {"nugget_vital", "nugget_all", "first_sentence"}
    assert {*other["values"]} - {*plain["values"]} == {*of_nuggets, "retrieval_recall"}
    weights = {name: payload["weights"][name] for name in plain["values"]}
    weighed = sum(weight * plain["values"][name] for name, weight in weights.items()) / sum(weights.values())
    assert plain["total"] == pytest.approx(weighed)
    assert payload["means"]["nugget_vital"] == pytest.approx(
        sum(task["values"]["nugget_vital"] for task in payload["tasks"][1:]) / 3
    )
    assert harness("eval", "show").out.splitlines()[3].split()[:3] == ["caches", "-", "-"]


def test_a_question_and_a_structure_are_a_task(
    harness: Program, tasks_dir: Path, words: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file names it, and the settings its engine."""
    monkeypatch.setenv("HARNESS_ENGINE", f"corpus:{tasks_dir.parent / 'notes'}")
    lines = (tasks_dir / "caches.yaml").read_text().partition("split:")[0].splitlines(keepends=True)
    left_out = ("id:", "task_type:", "engine:")
    (tasks_dir / "caches.yaml").write_text("".join(line for line in lines if not line.startswith(left_out)))
    assert harness("eval", "check", "--tasks-dir", tasks_dir).code == 0
    payload = harness("eval", "run", "--tasks-dir", tasks_dir, "--tasks", "caches", "--json").told
    assert [task["task"] for task in payload["tasks"]] == ["caches"]


def test_weights_for_no_scorer_of_a_task_are_refused(harness: Program, tasks_dir: Path) -> None:
    """Before anything runs."""
    (tasks_dir / "caches.yaml").write_text((tasks_dir / "caches.yaml").read_text().partition("split:")[0])
    (tasks_dir.parent / "weights.yaml").write_text("nugget_vital: 1\n")
    ended = harness("eval", "run", "--tasks-dir", tasks_dir, "--weights", tasks_dir.parent / "weights.yaml")
    assert "no scorer with a weight applies to caches" in ended.one_line_error(2)


def test_evaluations_are_listed_and_compared(
    harness: Program, tasks_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newest first; the same settings do not differ."""
    assert harness("eval", "list").out == "no evaluations yet; start one with `harness eval run`\n"
    assert harness("eval", "list", "--json").told == {"evaluations": []}
    monkeypatch.setattr("time.time", lambda: 1_700_000_000.0)
    first = harness("eval", "run", "--tasks-dir", tasks_dir, "--json").told["evaluation"]["id"]
    monkeypatch.setattr("time.time", lambda: 1_700_000_100.0)
    second = harness("eval", "run", "--tasks-dir", tasks_dir, "--json").told["evaluation"]["id"]
    listed = harness("eval", "list", "--json").told["evaluations"]
    assert [(each["id"], each["tasks"], each["finished"]) for each in listed] == [(second, 4, True), (first, 4, True)]
    assert second in harness("eval", "list").out.splitlines()[2]
    found = harness("eval", "compare", first, second, "--json").told
    assert (found["difference"]["mean"], found["difference"]["p"]) == (0.0, 1.0)
    assert ["retries", "+0.000"] in [line.split()[:2] for line in harness("eval", "compare", first).out.splitlines()]


def test_a_stopped_evaluation_continues(harness: Program, tasks_dir: Path, tmp_path: Path) -> None:
    """Finished runs are not repeated; a moved log is continued where it is; other settings are an error."""
    harness("eval", "run", "--tasks-dir", tasks_dir, "--quiet")
    (log,) = logs(tmp_path)
    header, first, *_ = log.read_text().splitlines(keepends=True)
    moved = tmp_path / "moved.jsonl"
    moved.write_text(header + first + '{"line":"outc')
    assert "not finished: continue with `harness eval run --resume" in harness("eval", "show", moved).out
    ended = harness("eval", "run", "--resume", moved, "--tasks-dir", tasks_dir)
    assert ended.code == 0
    assert "not finished" not in ended.out
    lines = moved.read_text().splitlines(keepends=True)
    assert lines[:2] == [header, first]
    assert len({(line["outcome"]["task"]) for line in map(json.loads, lines[1:])}) == len(lines[1:]) == 4
    refused = harness(
        "eval", "run", "--resume", moved, "--tasks-dir", tasks_dir, "--config", _config(tmp_path, "max_rounds: 1")
    )
    assert "the settings max_rounds have changed since" in refused.one_line_error(2)


def test_a_failing_task_is_a_crash_and_not_a_score(harness: Program, tasks_dir: Path) -> None:
    """Its reason is reported; the others are scored."""
    path = tasks_dir / "retries.yaml"
    path.write_text(path.read_text().replace("engine: corpus:", "engine: corpus:/nowhere"))
    ended = harness("eval", "run", "--tasks-dir", tasks_dir)
    assert "retries crashed: invalid_input: " in ended.out
    payload = harness("eval", "show", "--json").told
    assert [task["total"] is None for task in payload["tasks"]] == [False, False, True, False]
    assert payload["evaluation"]["crashes"] == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "--tasks", "T_Z"), "no task 'T_Z' in"),
        (("run", "--repeat", "0"), "pass --repeat 1 or more"),
        (("run", "--tasks-dir", "/nowhere"), "no task folder at /nowhere"),
        (("run", "--workers", "0"), "pass --workers 1 or more"),
        (("run", "--workers", "2", "--dask", "tcp://127.0.0.1:1"), "choose one of --workers and --dask"),
        (("run", "--resume", "x"), "no evaluation 'x' in"),
        (("show",), "no evaluation 'last' in"),
        (("score", "x"), "no evaluation 'x' in"),
        (("compare", "x", "y"), "no evaluation 'x' in"),
        (("show", "x:1:baseline", "T_A"), "no loop 'x' in"),
        (("repeat", "T_Z"), "no task 'T_Z' in"),
        (("repeat", "T_A,T_B"), "only one task can be repeated, not 2; name one"),
        (("repeat", "T_A", "-n", "1"), "pass -n 2 or more"),
    ],
)
def test_wrong_arguments_are_one_line(harness: Program, arguments: tuple[str, ...], says: str) -> None:
    """Exit code 2, with the valid choices."""
    assert says in harness("eval", *arguments).one_line_error(2)


def test_damage_is_named_by_every_command(harness: Program, tasks_dir: Path, tmp_path: Path) -> None:
    """File and line of the log; file and line of a task."""
    harness("eval", "run", "--tasks-dir", tasks_dir)
    (log,) = logs(tmp_path)
    log.write_text(log.read_text().replace('"line":"outcome"', '"line":"outcry"', 1))
    for command in (("show",), ("score",), ("run", "--resume", "last"), ("compare", "last")):
        assert f"{log}, line 2: " in harness("eval", *command).one_line_error(2)
    (tasks_dir / "retries.yaml").write_text("id: retries\nquestion: [1]\n")
    for command in (("run",), ("repeat", "caches")):
        said = harness("eval", *command, "--tasks-dir", tasks_dir).one_line_error(2)
        assert f"{tasks_dir / 'retries.yaml'}:2 is not a task: " in said
    checked = harness("eval", "check", "--tasks-dir", tasks_dir)
    assert checked.code == 2
    assert "retries.yaml:2 is not a task: " in checked.out
    assert harness("eval", "check", "--tasks-dir", tasks_dir, "--json").told["problems"] == checked.out.splitlines()


def test_sound_tasks_are_sound(harness: Program, tasks_dir: Path) -> None:
    """Exit code 0."""
    ended = harness("eval", "check", "--tasks-dir", tasks_dir)
    assert (ended.code, ended.out) == (0, "all tasks are valid\n")


def test_a_run_of_a_task_is_shown(harness: Program, tasks_dir: Path) -> None:
    """Its nuggets with the sentence that says them, sources, rounds and cost; as JSON too; wrong names are one line."""
    harness("eval", "run", "--tasks-dir", tasks_dir, "--tasks", "retries", "--repeat", 2)
    text = harness("eval", "show", "last", "retries").out
    assert text.startswith("retries, run 1 of 2: ")
    assert "+ n1 one\n    “Retries use exponential backoff and stop after five failed attempts.”" in text
    assert re.search(r"retries\.md: expected, found at \d, cited \d times?", text)
    payload = harness("eval", "show", "last", "retries", "--repeat", 2, "--json").told
    assert (payload["number"], payload["runs"], payload["error"]) == (2, 2, "")
    assert [nugget["places"] for nugget in payload["nuggets"]] == [[0], [0]]
    assert payload["rounds"][0]["searches"][0]["engine"].startswith("corpus")
    assert "has no task 'nope'" in harness("eval", "show", "last", "nope").one_line_error(2)
    assert "has 2 runs of retries" in harness("eval", "show", "last", "retries", "--repeat", 3).one_line_error(2)


def test_the_first_difference_of_two_runs_is_shown(
    harness: Program, tasks_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its stage and its lines; nothing for the same bytes."""
    of_one = ("eval", "run", "--tasks-dir", tasks_dir, "--tasks", "retries,timeouts", "--json")
    monkeypatch.setattr("time.time", lambda: 1_700_000_000.0)
    first = harness(*of_one).told["evaluation"]["id"]
    monkeypatch.setattr("time.time", lambda: 1_700_000_100.0)
    harness(*of_one, "--config", _config(tasks_dir, "max_results: 1"))
    shown = harness("eval", "compare", first, "last", "retries").out.splitlines()
    assert shown[0] == "retries: the first stage that differs is queries"
    assert any(line.startswith("- ") for line in shown)
    payload = harness("eval", "compare", first, "last", "retries", "--json").told
    assert payload["stage"] == "queries"
    assert {line["kind"] for line in payload["lines"]} > {"gone"}
    assert harness("eval", "compare", first, first, "retries").out == "retries: identical in every stage\n"
    assert "queries" in harness("eval", "compare", first).out


# Repeating ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_task_is_gathered_once_and_repeats_exactly(
    harness: Program, tasks_dir: Path, counting: Callable[..., CountingEngine]
) -> None:
    """40 runs: only the first one makes live calls, and the others together are faster."""
    engine = counting(latency=1.0)
    repeat = ("eval", "repeat", "retries", "-n", 40, "--tasks-dir", tasks_dir, "--json", "--config")
    ended = harness(*repeat, _config(tasks_dir, "max_rounds: 1"))
    payload = ended.told
    assert ended.code == 0
    assert (payload["gathered"], payload["live_calls"]) == (1, len(engine.asked))
    assert payload["live_calls"] > 0
    assert (len(payload["seconds"]), payload["run"], payload["stage"], payload["difference"]) == (40, None, None, "")
    assert sum(payload["seconds"][1:]) < payload["seconds"][0]


def test_the_result_is_given_in_words(harness: Program, tasks_dir: Path) -> None:
    """The number of gatherings, the time, and that nothing differs."""
    gathered, took, same = harness("eval", "repeat", "retries", "-n", 3, "--tasks-dir", tasks_dir).out.splitlines()
    assert gathered.startswith("gathered 1 time, ")
    assert took.startswith("run 1 took ")
    assert same.startswith("all 3 runs are identical in every stage; report ")


@pytest.mark.parametrize("as_json", [False, True])
def test_a_stage_that_differs_is_named_with_its_difference(
    harness: Program, tasks_dir: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    """The first differing stage, and the run; exit code 1."""
    runs: list[Any] = []
    from harness.research import stage_traces

    def drifting(found: Any) -> dict[str, str]:
        runs.append(found)
        payload = stage_traces.stages_of(found)
        if len(runs) == 3:
            payload["chunks"] += "\nanother chunk"
            payload["report"] += "\nanother sentence"
        return payload

    monkeypatch.setattr("harness_evals.repeating.stages_of", drifting)
    ended = harness("eval", "repeat", "retries", "-n", 5, "--tasks-dir", tasks_dir, *(["--json"] * as_json))
    assert ended.code == 1
    assert len(runs) == 3
    if as_json:
        assert (ended.told["run"], ended.told["stage"]) == (3, "chunks")
        assert "+another chunk" in ended.told["difference"]
    else:
        assert "run 3 differs from run 1 in stage 'chunks':\n--- run 1\n+++ run 3\n" in ended.out
        assert "+another chunk" in ended.out


def _config(folder: Path, text: str) -> Path:
    path = folder / "config.yml"
    path.write_text(text)
    return path


def test_old_logs_are_listed_and_broken_ones_are_named(harness: Program, tasks_dir: Path, tmp_path: Path) -> None:
    """A header without weights is from the first evaluations; a damaged log does not hide the others."""
    harness("eval", "run", "--tasks-dir", tasks_dir)
    (new,) = logs(tmp_path)
    header, *lines = new.read_text().splitlines()
    payload = json.loads(header)
    weights = payload.pop("weights")
    assert {name: weight for name, weight in weights.items() if weight} == FIRST_WEIGHTS, "they have not changed since"
    old, broken = new.with_name("20200101-000000-aaaaaa.jsonl"), new.with_name("20210101-000000-bbbbbb.jsonl")
    old.write_text("\n".join([json.dumps({**payload, "id": old.stem}), *lines, ""]))
    broken.write_text("\n".join([header, "{}", ""]))
    ended = harness("eval", "list")
    assert ended.code == 0
    assert [line.split()[0] for line in ended.out.splitlines()[2:]] == [new.stem, old.stem]
    assert f"warning: left out: {broken}, line 2: not a log line" in ended.err
    assert [each["id"] for each in harness("eval", "list", "--json").told["evaluations"]] == [new.stem, old.stem]
    of_old, of_new = (harness("eval", "show", path.stem, "--json").told for path in (old, new))
    assert of_old["means"].items() <= of_new["means"].items()
    assert of_old["weights"].items() <= of_new["weights"].items()
    assert harness("eval", "compare", old.stem, new.stem, "--json").told["difference"]["mean"] == 0
    assert harness("eval", "run", "--resume", old.stem, "--tasks-dir", tasks_dir).code == 0


@pytest.mark.parametrize(("columns", "names"), [(47, 1), (55, 2), (100, 3)])
def test_a_narrow_terminal_shows_fewer_scores(monkeypatch: pytest.MonkeyPatch, columns: int, names: int) -> None:
    """Only the total; with more room those with a weight, too; then all."""
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    means = {"length": 0.5, "self_contained": 0.5, "total": 0.5}
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        evaluation_views._print_scores(Summary((), means, {}, 0), {"length": 1.0, "self_contained": 0.0})
    table = terminal.getvalue().partition("left out")[0]
    assert len([name for name in ("total", "length", "contained") if name in table]) == names
