"""Evaluation tasks: reading, refusals with their place, and confirmation by the sources."""

import time
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml
from harness_evals.task_checks import check_tasks
from harness_evals.task_yaml import MAX_FILE_BYTES
from harness_evals.tasks import (
    TASKS_DIR,
    Nugget,
    Task,
    comparable,
    is_said,
    load_tasks,
    schema,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.word_forms import has_other_letters
from harness.errors import InvalidInput

TASK = """\
id: T_X
question: Why?
task_type: research
engine: corpus:python-docs
structure: {at_least: 2}
split: tune
gold: [pydoc:objects]
nuggets:
  - says: what mutable means
    importance: vital
    aliases: [objects whose value can change]
  - says: what identity is
    importance: okay
    pattern: identity never changes
"""


def write(folder: Path, text: str, name: str = "task.yaml") -> Path:
    """Put a task file into `folder`."""
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def nugget(*aliases: str, pattern: str = "") -> Nugget:
    """Return a vital nugget."""
    return Nugget("something", "vital", aliases, pattern)


def test_the_default_tasks_are_well_formed_and_confirmed_by_their_sources() -> None:
    """On this interpreter's documentation, whatever its version."""
    assert check_tasks() == []


def test_the_default_five_are_there_with_the_sections_that_they_promise() -> None:
    """T_A exactly 5 sections, T_C and T_D exactly 3, T_B and T_E at least 3; all in `tune`."""
    tasks = load_tasks(["T_A", "T_B", "T_C", "T_D", "T_E"])
    assert [task.structure.exactly for task in tasks] == [5, None, 3, 3, None]
    assert [task.structure.at_least for task in tasks] == [None, 3, None, None, 3]
    assert {task.split for task in tasks} == {"tune"}


def test_there_are_tasks_enough_of_every_type_to_tune_and_to_confirm() -> None:
    """At least 24 in all, each over the Python documentation and named like its file."""
    tasks = load_tasks()
    assert len(tasks) >= 24
    assert sorted(task.id for task in tasks) == sorted(path.stem for path in TASKS_DIR.glob("*.yaml"))
    assert {task.engine for task in tasks} == {"corpus:python-docs"}
    assert sum(task.split == "confirm" for task in tasks) >= 8
    assert {task.task_type for task in tasks} == {"enumerated", "best_practices", "research"}
    assert all(3 <= len(task.nuggets) <= 7 for task in tasks if task.answerable)
    assert sum(not task.answerable for task in tasks) == 12


def test_a_task_is_read_as_it_is_written(tmp_path: Path) -> None:
    """Every field, with the optional ones at their defaults."""
    (task,) = load_tasks(folder=write(tmp_path, TASK))
    assert (task.id, task.structure.at_least, task.gold, task.same) == ("T_X", 2, ("pydoc:objects",), ())
    assert [each.importance for each in task.nuggets] == ["vital", "okay"]


@pytest.mark.parametrize(
    ("right", "wrong", "line", "says"),
    [
        ("question: Why?", "question: [1]", 2, "Expected `str`"),
        ("question: Why?", "question: ''", 2, "length >= 1"),
        ("question: Why?", "", 1, "either a `question` or a `stream`"),
        ("split: tune", "split: both", 6, "Invalid enum value 'both'"),
        ("split: tune", "split: tune\nweight: 3", 7, "unknown field `weight`"),
        ("split: tune", "split: tune\nsplit: tune", 7, "'split' is there twice"),
        ("{at_least: 2}", "{}", 5, "one of `exactly` and `at_least`"),
        ("{at_least: 2}", "{at_least: 2, exactly: 2}", 5, "one of `exactly` and `at_least`"),
        ("{at_least: 2}", "{at_least: 0}", 5, ">= 1"),
        ("[pydoc:objects]", "[]", 7, "length >= 1"),
        ("importance: vital", "importance: okay", 1, "needs a vital nugget"),
        ("importance: okay", "importance: nice", 13, "Invalid enum value 'nice'"),
        ("[objects whose value can change]", "['!?']", 9, "the alias '!?' has no words"),
        ("[objects whose value can change]", "[]", 9, "needs aliases or a pattern"),
        ("identity never changes", "'(identity'", 12, "does not compile"),
        ("identity never changes", "'x*'", 12, "matches the empty sentence"),
        ("id: T_X", "id: ../x", 1, "matching regex"),
        ("id: T_X", "id: &a T_X\nx: *a", 2, "references"),
        ("id: T_X", "id: [", 2, "expected"),
        ("id: T_X", "id: !!python/name:os.system", 1, "constructor"),
    ],
)
def test_a_malformed_task_is_refused_with_its_file_and_line(
    tmp_path: Path, right: str, wrong: str, line: int, says: str
) -> None:
    """In one line with the problem."""
    folder = write(tmp_path, TASK.replace(right, wrong, 1), "bad.yaml")
    with pytest.raises(InvalidInput) as refused:
        load_tasks(folder=folder)
    message = str(refused.value)
    assert message.startswith(f"{folder / 'bad.yaml'}:{line} is not a task: ")
    assert says in message
    assert "\n" not in message
    assert check_tasks(folder) == [message]


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b"id: \x00", b"- " * 5_000, b"a: 2020-99-99", b"# " + b"x" * MAX_FILE_BYTES]
)
def test_a_file_that_is_not_yaml_is_refused(tmp_path: Path, content: bytes) -> None:
    """Empty, binary, deeply nested, too large: one line with its name."""
    (tmp_path / "bad.yaml").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"bad\.yaml(:\d+)? is not a task: .") as refused:
        load_tasks(folder=tmp_path)
    assert "\n" not in str(refused.value)


def test_two_files_with_one_id_are_an_error(tmp_path: Path) -> None:
    """The error has the second one."""
    write(tmp_path, TASK, "a.yaml")
    write(tmp_path, TASK, "b.yaml")
    with pytest.raises(InvalidInput, match=r"b\.yaml:1: there are two tasks 'T_X'"):
        load_tasks(folder=tmp_path)
    (problem,) = check_tasks(tmp_path)
    assert "b.yaml:1: there are two tasks 'T_X'" in problem


def test_a_check_covers_every_file(tmp_path: Path) -> None:
    """Not only the first problem."""
    write(tmp_path, "id: 1", "a.yaml")
    write(tmp_path, TASK, "b.yaml")
    write(tmp_path, "id: 2", "c.yaml")
    assert [problem.split(":")[0] for problem in check_tasks(tmp_path)] == [
        str(tmp_path / "a.yaml"),
        str(tmp_path / "c.yaml"),
    ]


@pytest.mark.parametrize("make", [False, True])
def test_a_folder_without_tasks_is_refused(tmp_path: Path, make: bool) -> None:
    """Missing or empty: never a silent evaluation of nothing."""
    folder = tmp_path / "tasks"
    if make:
        folder.mkdir()
    with pytest.raises(InvalidInput, match="tasks"):
        load_tasks(folder=folder)
    with pytest.raises(InvalidInput, match="tasks"):
        check_tasks(folder)


def test_an_unknown_task_is_an_error_with_the_known_ones(tmp_path: Path) -> None:
    """And known ones come in the requested order."""
    write(tmp_path, TASK)
    with pytest.raises(InvalidInput, match=r"no task 'T_Z' in .*; there are T_X"):
        load_tasks(["T_Z"], tmp_path)
    assert [task.id for task in load_tasks(["T_C", "T_A"])] == ["T_C", "T_A"]


@pytest.mark.parametrize(
    ("right", "wrong", "line", "says"),
    [
        ("[pydoc:objects]", "[pydoc:objects, pydoc:nothing]", 7, "corpus:python-docs has no source pydoc:nothing"),
        ("split: tune", "split: tune\nsame: [[pydoc:objects, pydoc:no]]", 7, "has no source pydoc:no"),
        ("identity never changes", "soup is hot", 12, "the nugget 'what identity is' is in none"),
        ("[objects whose value can change]", "[soup]", 9, "the nugget 'what mutable means' is in none"),
    ],
)
def test_claims_that_the_gold_sources_do_not_confirm_are_problems(
    tmp_path: Path, right: str, wrong: str, line: int, says: str
) -> None:
    """A missing source, a nugget that no source says: with file and line."""
    folder = write(tmp_path, TASK.replace(right, wrong))
    (problem,) = check_tasks(folder)
    assert problem.startswith(f"{folder / 'task.yaml'}:{line}: ")
    assert says in problem


def test_sources_of_other_engines_are_not_looked_up(tmp_path: Path) -> None:
    """A user's own task, over anything, is only checked for its form; no engine is asked."""
    folder = write(tmp_path, TASK.replace("corpus:python-docs", "corpus:/nowhere").replace("pydoc:objects", "x"))
    assert check_tasks(folder) == []


def test_the_schema_takes_every_task_and_refuses_what_the_reader_refuses() -> None:
    """As far as a JSON schema can express it."""
    validator = jsonschema.Draft202012Validator(schema())
    for path in TASKS_DIR.glob("*.yaml"):
        validator.validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    for right, wrong in (("split: tune", "split: both"), ("question: Why?", "question: ''"), ("id:", "name:")):
        assert not validator.is_valid(yaml.safe_load(TASK.replace(right, wrong, 1)))


@pytest.mark.parametrize(
    "sentence",
    [
        "It is said that the  exception is\n  reraised.",
        "THE EXCEPTION IS RERAISED",
        "“The *exception* is “reraised””",
        "the \\*exception\\* is `reraised`!",
    ],
)
def test_an_alias_is_found_whatever_the_form(sentence: str) -> None:
    """Case, white space, quotation marks, punctuation, Markdown's marks and escapes do not matter."""
    assert is_said(nugget("The exception is reraised."), [comparable(sentence)])


def test_an_alias_is_found_in_whole_words_only() -> None:
    """`immutable` does not say `mutable`."""
    assert not is_said(nugget("mutable objects"), [comparable("Some immutable objects.")])
    assert is_said(nugget("the class\\'s __init__"), [comparable("See the class’s \\_\\_init\\_\\_.")])


def test_a_nugget_is_said_by_one_sentence_not_across_two() -> None:
    """The end of one and the beginning of the next do not count together."""
    assert not is_said(nugget("is false"), [comparable("That it is."), comparable("False!")])


def test_a_pattern_is_searched_in_words_without_regard_to_case() -> None:
    """Words are separated by one space, without punctuation."""
    said = nugget(pattern=r"Returns? (a|the) \w+ iterator")
    assert is_said(said, [comparable("It *returns* the\n'new' iterator.")])
    assert not is_said(said, [comparable("It returns an iterator.")])


def test_a_slow_pattern_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an error that has the pattern, after about `PATTERN_SECONDS`: never an endless run, never a silent no."""
    monkeypatch.setattr("harness_evals.tasks.PATTERN_SECONDS", 0.2)
    endless = nugget(pattern=r"(a|aa|b?a)+c(a|aa|b?a)+$")
    started = time.process_time()
    with pytest.raises(InvalidInput, match=r"takes more than 0\.2 s"):
        is_said(endless, ["a" * 40 + "c" + "a" * 4_000 + "!"])
    assert time.process_time() - started < 2


@pytest.mark.parametrize("pattern", ["a{9999999}", "(?:(?:a{999}){999}){999}"])
def test_a_pattern_that_would_take_all_memory_is_refused(pattern: str) -> None:
    """Before it is compiled."""
    with pytest.raises(ValueError, match="repeats too much"):
        nugget(pattern=pattern)


@given(st.text(max_size=200).filter(lambda text: not has_other_letters(unicodedata.normalize("NFKC", text))))
def test_comparable_text_is_comparable_to_itself(text: str) -> None:
    """Normalising twice is normalising once, unless a script without spaces becomes n-grams."""
    assert comparable(comparable(text)) == comparable(text)


def test_an_alias_is_found_within_a_sentence_without_spaces() -> None:
    """N-grams of an alias are those of its place in the sentence."""
    said = [comparable("诺维克市在2020年有48,200名居民。")]
    assert is_said(nugget("诺维克市"), said)
    assert is_said(nugget("居民"), said)
    assert not is_said(nugget("市民"), said)


@given(st.text(max_size=60).filter(comparable), st.lists(st.text(max_size=60), max_size=4))
def test_an_alias_is_found_at_any_position(alias: str, others: list[str]) -> None:
    """Whatever its words, among any others."""
    assert is_said(nugget(alias), [comparable(each) for each in [*others, f"so: {alias} (indeed)"]])


@settings(max_examples=40)  # each writes and reads a file
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(["id", "question", "structure", "split", "gold", "nuggets", "same", "engine", "other"]),
)
def test_any_file_is_a_task_or_refused(tmp_path_factory: pytest.TempPathFactory, value: Any, field: str) -> None:
    """Never another error than `InvalidInput`."""
    content: Mapping[str, Any] = yaml.safe_load(TASK) | {field: value}
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "a.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    try:
        tasks = load_tasks(folder=folder)
    except InvalidInput:
        assert check_tasks(folder)
        return
    assert msgspec.convert(msgspec.to_builtins(tasks), list[Task]) == tasks
