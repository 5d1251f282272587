"""Evaluation tasks: a question (or a stream of them), what a good answer says, and the sources that say it. Read from
`evals/tasks/*.yaml`, or bare questions from a file of prompts.

A report *says* a nugget if one of its sentences contains one of the nugget's aliases, or matches its pattern. Both
sides are compared by their words alone (see `comparable`).
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import yaml
from msgspec import Meta, Struct
from msgspec.structs import force_setattr, replace

from harness.core.patterns import MAX_REPETITIONS, repetitions
from harness.core.required_terms import lacking
from harness.core.text import words
from harness.errors import InvalidInput
from harness.settings import GatheringSettings, WritingSettings, checked
from harness_evals.task_yaml import place_of, read_yaml

_HERE = Path(__file__).parent
# installed, the tasks are in the package; in the repository, in the folder above
TASKS_DIR = tasks if (tasks := _HERE / "tasks").is_dir() else _HERE.parent / "tasks"
RECORDED = "recorded:"
"""Beginning of an engine that is a recorded web: `recorded:NAME` or `recorded:PATH`."""

MAX_TASKS = 1_000
MAX_PROMPTS_BYTES = 20_000_000
MAX_SENTENCE_CHARS = 5_000
"""Longest part of a sentence that is searched."""
PATTERN_SECONDS = 1.0
"""CPU seconds allowed for searching one sentence for a pattern."""

STREAM_STEP = 60.0
"""Seconds from one question of a stream to the next, where the task has a time."""
TASK_SETTINGS = (*GatheringSettings.__struct_fields__, *WritingSettings.__struct_fields__)
"""Settings that a task may have: those that decide what a research gathers and how it is written."""

_Line = Annotated[str, Meta(min_length=1, max_length=500)]
_Question = Annotated[str, Meta(min_length=1, max_length=10_000)]
_Address = Annotated[str, Meta(min_length=1, max_length=4_000)]
_Sections = Annotated[int, Meta(ge=1, le=50)]
_Share = Annotated[float, Meta(ge=0, le=1)]
_Side = Annotated[str, Meta(min_length=1, max_length=200)] | int
_Sides = Annotated[tuple[_Side, ...], Meta(min_length=2, max_length=6)]
_Promise = Literal[
    "sections_match",
    "repeated_content",
    "required_terms",
    "disagreement_shown",
    "avoided",
    "self_contained",
    "short_answer",
    "calls_saved",
]
"""Scorers to which a task may give a weight; see `harness_evals.promises`."""


class Nugget(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that an answer should say; `vital` if the answer is wrong without it, `okay` if it improves the answer.

    `aliases` are wordings, any of which is enough. `pattern` is a regular expression (of the package `regex`) for
    variants, searched ignoring case in the words of a sentence, separated by single spaces, without punctuation.
    """

    says: _Line
    importance: Literal["vital", "okay"]
    aliases: Annotated[tuple[_Line, ...], Meta(max_length=20)] = ()
    pattern: Annotated[str, Meta(max_length=300)] = ""

    def __post_init__(self) -> None:
        if not self.aliases and not self.pattern:
            raise ValueError("a nugget needs aliases or a pattern")
        for alias in self.aliases:
            if not comparable(alias):
                raise ValueError(f"the alias {alias!r} has no words")
        if self.pattern and _compiled(self.pattern).search("", timeout=PATTERN_SECONDS):
            raise ValueError(f"the pattern {self.pattern!r} matches the empty sentence, and so every one")


class Structure(Struct, frozen=True, forbid_unknown_fields=True):
    """Requested number of sections of the report: either `exactly` or `at_least`."""

    exactly: _Sections | None = None
    at_least: _Sections | None = None

    def __post_init__(self) -> None:
        if (self.exactly is None) == (self.at_least is None):
            raise ValueError("the structure is one of `exactly` and `at_least`")


class StreamQuestion(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One question of a stream, and the requirements for its report, as in `Task`. `live_calls` is the number of live
    calls that are enough for it, after the questions before it.
    """

    question: _Question
    nuggets: Annotated[tuple[Nugget, ...], Meta(min_length=1, max_length=50)]
    gold: Annotated[tuple[_Address, ...], Meta(min_length=1, max_length=50)] = ()
    short_answer: Annotated[tuple[_Line, ...], Meta(max_length=20)] = ()
    live_calls: Annotated[int, Meta(ge=0, le=1_000)] | None = None


class Task(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A question to research with `engine` (by default that of the settings), and the requirements for the report. The
    name of its file is its default id.

    `at` is the present time of its research, for a recorded web; by default the real time. `settings` (see
    `TASK_SETTINGS`) replace those that an evaluation leaves at their defaults.

    `nuggets`, at least one of them vital, and `gold`, the URLs of sources that answer the question, may be left out;
    then the scorers that need them do not apply. Without a `structure`, the report has its usual sections. `same` are
    groups of URLs with the same text: finding one of a group counts as finding each. Settings are tuned on the tasks of
    the split `tune`; gains are confirmed on the split `confirm`. A question whose sources do not answer it is not
    `answerable`: a run should refuse to write a report.

    `disagrees` are groups of figures or wordings that the report should show together, `avoid` wordings that it should
    not have; `short_answer` are accepted forms of an answer in a few words. `weights` gives scorers of promises a share
    of the total (0..1).

    Instead of a question, a task may have a `stream`: questions of one user that are researched one after the other, so
    that passages read for one may answer the next. They start without a cache or library. Their nuggets, gold sources
    and short answers are theirs alone.
    """

    id: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{1,60}$")]
    question: _Question = ""
    structure: Structure | None = None
    task_type: Literal["enumerated", "best_practices", "research"] = "research"
    engine: _Line | None = None
    nuggets: Annotated[tuple[Nugget, ...], Meta(min_length=1, max_length=50)] = ()
    gold: Annotated[tuple[_Address, ...], Meta(min_length=1, max_length=50)] = ()
    split: Literal["tune", "confirm"] = "tune"
    answerable: bool = True
    same: Annotated[tuple[tuple[_Address, ...], ...], Meta(max_length=50)] = ()
    disagrees: Annotated[tuple[_Sides, ...], Meta(max_length=10)] = ()
    avoid: Annotated[tuple[_Line, ...], Meta(max_length=20)] = ()
    short_answer: Annotated[tuple[_Line, ...], Meta(max_length=20)] = ()
    weights: dict[_Promise, _Share] = {}
    at: Annotated[datetime, Meta(tz=True)] | None = None
    settings: dict[str, Any] = {}
    stream: Annotated[tuple[StreamQuestion, ...], Meta(min_length=2, max_length=20)] = ()

    def __post_init__(self) -> None:
        if bool(self.question) == bool(self.stream):
            raise ValueError("a task has either a `question` or a `stream`")
        if self.stream and (self.nuggets or self.gold or self.short_answer or self.disagrees or not self.answerable):
            raise ValueError("the questions of a stream have their own nuggets, gold sources and short answers")
        for nuggets in (self.nuggets, *(each.nuggets for each in self.stream)):
            if nuggets and not any(nugget.importance == "vital" for nugget in nuggets):
                raise ValueError("a task needs a vital nugget")
        if not self.answerable and (self.nuggets or self.gold):
            raise ValueError("a question that cannot be answered has neither nuggets nor gold sources")
        if not self.answerable and (self.disagrees or self.avoid or self.short_answer or self.weights):
            raise ValueError("a question that cannot be answered has only an id, an engine, a split and a structure")
        for wording in (*self.avoid, *self.short_answer, *(form for each in self.stream for form in each.short_answer)):
            if not comparable(wording):
                raise ValueError(f"{wording!r} has no words")
        if sum(self.weights.values()) > 1:
            raise ValueError("the weights of a task must be at most 1 together")
        force_setattr(self, "settings", _checked(self.settings))

    @property
    def title(self) -> str:
        """The question, or those of the stream, one a line."""
        return self.question or "\n".join(each.question for each in self.stream)

    @property
    def now(self) -> float | None:
        """The time of its research in seconds since the epoch; `None` is the real time."""
        return self.at.timestamp() if self.at else None

    @property
    def parts(self) -> "tuple[Task, ...]":
        """The tasks of the stream, in order."""
        return tuple(
            replace(
                self,
                id=f"{self.id[:56]}-{number}",
                question=each.question,
                nuggets=each.nuggets,
                gold=each.gold,
                short_answer=each.short_answer,
                weights={},
                at=self.at and self.at + timedelta(seconds=(number - 1) * STREAM_STEP),
                stream=(),
            )
            for number, each in enumerate(self.stream, start=1)
        )

    def carriers(self, address: str) -> set[str]:
        """Return all URLs with the content of the source at `address`, including itself."""
        return {address}.union(*(group for group in self.same if address in group))


class Prompt(Struct, frozen=True):
    """A line of a file of prompts, such as those of DeepResearch Bench; other fields are ignored."""

    id: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{1,60}$")] | Annotated[int, Meta(ge=0)]
    prompt: _Question


def comparable(text: str) -> str:
    """Return the words of `text` (its first `MAX_SENTENCE_CHARS` characters) separated by single spaces, ignoring case,
    white space, punctuation, quotation marks and Markdown escapes.
    """
    text = unicodedata.normalize("NFKC", text[:MAX_SENTENCE_CHARS])
    return " ".join(words(text.replace("\\", "").replace("’", "'")))


def is_said(nugget: Nugget, comparables: Iterable[str]) -> bool:
    """Return whether one of the sentences, each as `comparable` returns it, says the nugget.

    Raises:
        InvalidInput: the nugget's pattern takes longer than `PATTERN_SECONDS`.
    """
    wanted = [f" {comparable(alias)} " for alias in nugget.aliases]
    return any(
        any(alias in f" {sentence} " for alias in wanted) or (nugget.pattern and _matches(nugget.pattern, sentence))
        for sentence in comparables
    )


def has_side(text: str, side: str | int) -> bool:
    """Return whether a text has one side of a disagreement: a number also with other separators, else its words."""
    side = str(side)
    if side[:1].isdecimal() and side[-1:].isdecimal():
        return not lacking((side,), text)
    return f" {comparable(side)} " in f" {comparable(text)} "


def load_tasks(ids: Sequence[str] = (), folder: Path = TASKS_DIR) -> list[Task]:
    """Return the tasks `ids`, in that order; by default all of the folder, by file name, or all of a file of prompts.

    Raises:
        InvalidInput: an unknown id, an id in two files, an invalid file, or no task at all; the message has file and
        line.
    """
    known: dict[str, Task] = {}
    for task, place in _prompts(folder) if is_prompts(folder) else map(_task_and_place, files_in(folder)):
        if task.id in known:
            raise InvalidInput(f"{place}: there are two tasks {task.id!r}; rename one")
        known[task.id] = task
    for id_ in ids:
        if id_ not in known:
            raise InvalidInput(f"no task {id_!r} in {folder}; there are {', '.join(known)}")
    return [known[id_] for id_ in ids] or list(known.values())


def is_prompts(path: Path) -> bool:
    """Return whether tasks are read from a file of prompts (JSON Lines with `id` and `prompt`) instead of a folder."""
    return path.suffix == ".jsonl" and path.is_file()


def folder_of(folder: Path | None) -> Path:
    """Return the folder of the tasks: the default ones, a folder or its folder `tasks`, or the suite of that name
    (`web`).
    """
    if folder is None:
        return TASKS_DIR
    suite = TASKS_DIR.parent / folder / "tasks"
    if len(folder.parts) == 1 and not folder.is_dir() and suite.is_dir():
        return suite
    inner = folder / "tasks"
    return inner if inner.is_dir() and not any(folder.glob("*.yaml")) else folder


def schema() -> dict[str, Any]:
    """Return the JSON schema of a task."""
    return msgspec.json.schema(Task)


def read_task(path: Path) -> tuple[Task, yaml.Node]:
    """Return the task in a file, and its YAML node. A recorded web next to the folder of the tasks is named in full.

    Raises:
        InvalidInput: the file is invalid; the message has file and line.
    """
    task, node = read_yaml(path, Task)
    name = (task.engine or "").removeprefix(RECORDED)
    web = path.parent.parent / name
    if name and task.engine != name and len(Path(name).parts) == 1 and web.is_dir():
        task = replace(task, engine=f"{RECORDED}{web.absolute()}")
    return task, node


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a task in their types.

    Raises:
        ValueError: a task may not have one of them, or its value is wrong.
    """
    if foreign := [name for name in settings if name not in TASK_SETTINGS]:
        raise ValueError(f"a task cannot change the setting {foreign[0]!r:.60}")
    try:
        return checked(settings, "a task")
    except InvalidInput as error:
        raise ValueError(str(error)) from error


@cache
def _compiled(pattern: str) -> Any:
    import regex  # unlike `re`, it has a time limit

    if repetitions(pattern) > MAX_REPETITIONS:
        raise ValueError(f"the pattern {pattern!r} repeats too much; its counts may multiply to {MAX_REPETITIONS:,}")
    try:
        return regex.compile(pattern, regex.IGNORECASE)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(f"the pattern {pattern!r} does not compile: {error}") from error


def _matches(pattern: str, sentence: str) -> bool:
    try:
        return _compiled(pattern).search(sentence, timeout=PATTERN_SECONDS) is not None
    except TimeoutError as error:
        raise InvalidInput(
            f"the pattern {pattern!r} takes more than {PATTERN_SECONDS:g} s for one sentence; repeat nothing within a "
            "repetition"
        ) from error


def _task_and_place(path: Path) -> tuple[Task, str]:
    task, node = read_task(path)
    return task, place_of(path, node, "$.id")


def _prompts(path: Path) -> Iterator[tuple[Task, str]]:
    """Yield a task for each prompt, and its line.

    Raises:
        InvalidInput: a line is not a prompt, or there are none or too many; the message has file and line.
    """
    if path.stat().st_size > MAX_PROMPTS_BYTES:
        raise InvalidInput(f"{path} is larger than {MAX_PROMPTS_BYTES // 10**6} MB; split it")
    lines = path.read_bytes().splitlines()
    if not 0 < len(lines) <= MAX_TASKS:
        raise InvalidInput(f"{path} holds {len(lines)} prompts; it must be 1 to {MAX_TASKS:,}")
    for number, line in enumerate(lines, start=1):
        try:
            found = msgspec.json.decode(line, type=Prompt)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise InvalidInput(f"{path}:{number} is not a prompt: {error}; it must have `id` and `prompt`") from error
        yield Task(str(found.id), found.prompt), f"{path}:{number}"


def files_in(folder: Path) -> list[Path]:
    """Return the task files of a folder, by name.

    Raises:
        InvalidInput: no such folder, or none or too many in it.
    """
    if not folder.is_dir():
        raise InvalidInput(f"no task folder at {folder}")
    paths = sorted(path for path in folder.glob("*.yaml") if path.is_file())
    if not paths or len(paths) > MAX_TASKS:
        raise InvalidInput(f"{folder} holds {len(paths)} tasks (*.yaml); it must be 1 to {MAX_TASKS:,}")
    return paths
