"""Evaluation tasks: a question, what a good answer says, and the sources that say it. Read from `evals/tasks/*.yaml`,
or bare questions from a file of prompts.

A report *says* a nugget if one of its sentences contains one of the nugget's aliases, or matches its pattern. Both
sides are compared by their words alone (see `comparable`).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import yaml
from msgspec import Meta, Struct

from harness.core.patterns import MAX_REPETITIONS, repetitions
from harness.core.required_terms import lacking
from harness.core.text import sentences, words
from harness.errors import InvalidInput

_HERE = Path(__file__).parent
# installed, the tasks are in the package; in the repository, in the folder above
TASKS_DIR = tasks if (tasks := _HERE / "tasks").is_dir() else _HERE.parent / "tasks"
PYTHON_DOCS = "corpus:python-docs"

MAX_FILE_BYTES = 100_000
MAX_TASKS = 1_000
MAX_PROMPTS_BYTES = 20_000_000
MAX_SENTENCE_CHARS = 5_000
"""Longest part of a sentence that is searched."""
PATTERN_SECONDS = 1.0
"""CPU seconds allowed for searching one sentence for a pattern."""

_PLACE = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_UNKNOWN = re.compile(r"unknown field `(.*)`")

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


class Task(Struct, frozen=True, forbid_unknown_fields=True):
    """A question to research with `engine` (by default that of the settings), and the requirements for the report. The
    name of its file is its default id.

    `nuggets`, at least one of them vital, and `gold`, the URLs of sources that answer the question, may be left out;
    then the scorers that need them do not apply. Without a `structure`, the report has its usual sections. `same` are
    groups of URLs with the same text: finding one of a group counts as finding each. Settings are tuned on the tasks of
    the split `tune`; gains are confirmed on the split `confirm`. A question whose sources do not answer it is not
    `answerable`: a run should refuse to write a report.

    `disagrees` are groups of figures or wordings that the report should show together, `avoid` wordings that it should
    not have; `short_answer` are accepted forms of an answer in a few words. `weights` gives scorers of promises a share
    of the total (0..1).
    """

    id: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{1,60}$")]
    question: _Question
    structure: Structure | None = None
    task_type: Literal["enumerated", "best_practices", "research"] = "research"
    engine: _Line | None = None
    nuggets: Annotated[tuple[Nugget, ...], Meta(min_length=2, max_length=50)] = ()
    gold: Annotated[tuple[_Address, ...], Meta(min_length=1, max_length=50)] = ()
    split: Literal["tune", "confirm"] = "tune"
    answerable: bool = True
    same: Annotated[tuple[tuple[_Address, ...], ...], Meta(max_length=50)] = ()
    disagrees: Annotated[
        tuple[Annotated[tuple[_Side, ...], Meta(min_length=2, max_length=6)], ...], Meta(max_length=10)
    ] = ()
    avoid: Annotated[tuple[_Line, ...], Meta(max_length=20)] = ()
    short_answer: Annotated[tuple[_Line, ...], Meta(max_length=20)] = ()
    weights: dict[_Promise, _Share] = {}

    def __post_init__(self) -> None:
        if self.nuggets and not any(nugget.importance == "vital" for nugget in self.nuggets):
            raise ValueError("a task needs a vital nugget")
        if not self.answerable and (self.nuggets or self.gold):
            raise ValueError("a question that cannot be answered has neither nuggets nor gold sources")
        if not self.answerable and (self.disagrees or self.avoid or self.short_answer or self.weights):
            raise ValueError("a question that cannot be answered has only an id, an engine, a split and a structure")
        for wording in (*self.avoid, *self.short_answer):
            if not comparable(wording):
                raise ValueError(f"{wording!r} has no words")
        if sum(self.weights.values()) > 1:
            raise ValueError("the weights of a task must be at most 1 together")

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
    for task, place in _prompts(folder) if is_prompts(folder) else map(_task_and_place, _files(folder)):
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


def check_tasks(folder: Path = TASKS_DIR) -> list[str]:
    """Return a line for every problem of the folder's tasks, with file and line; empty if there is none.

    Of an invalid file, only the first problem is reported. For a task over the Python documentation (of this
    interpreter's version) or a recorded web, missing gold sources and nuggets that no gold source says are problems,
    too.

    Raises:
        InvalidInput: no such folder, or no task in it; an invalid line of a file of prompts.
    """
    if is_prompts(folder):
        load_tasks(folder=folder)
        return []
    problems: list[str] = []
    ids: set[str] = set()
    for path in _files(folder):
        try:
            task, node = _read(path)
            if (documents := _documents(task.engine)) is not None:
                problems += (f"{_place(path, node, place)}: {said}" for place, said in _unfounded(task, documents))
        except InvalidInput as error:
            problems.append(str(error))
            continue
        if task.id in ids:
            problems.append(f"{_place(path, node, '$.id')}: there are two tasks {task.id!r}; rename one")
        ids.add(task.id)
    return problems


def folder_of(folder: Path | None) -> Path:
    """Return the folder of the tasks: the default ones, a folder, or the suite of that name (`web`)."""
    if folder is None:
        return TASKS_DIR
    suite = TASKS_DIR.parent / folder / "tasks"
    return suite if len(folder.parts) == 1 and not folder.is_dir() and suite.is_dir() else folder


def schema() -> dict[str, Any]:
    """Return the JSON schema of a task."""
    return msgspec.json.schema(Task)


def _unfounded(task: Task, documents: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield claims of the task that its sources do not confirm: the place in the task, and the problem."""
    places = [(address, f"$.gold[{at}]") for at, address in enumerate(task.gold)]
    places += [(address, f"$.same[{at}]") for at, group in enumerate(task.same) for address in group]
    yield from (
        (place, f"{task.engine} has no source {address}") for address, place in places if address not in documents
    )
    paragraphs = [part for address in task.gold for part in documents.get(address, "").split("\n\n")]
    said = [comparable(sentence) for paragraph in paragraphs for sentence in sentences(paragraph)]
    for at, nugget in enumerate(task.nuggets):
        if task.gold and not is_said(nugget, said):
            yield f"$.nuggets[{at}]", f"the nugget {nugget.says!r} is in none of its gold sources"
    for at, sides in enumerate(task.disagrees):
        if task.gold and (absent := [side for side in sides if not any(has_side(part, side) for part in paragraphs)]):
            yield f"$.disagrees[{at}]", f"{absent[0]!r} is in none of its gold sources"
    answered = any(has_side(part, each) for part in paragraphs for each in task.short_answer)
    if task.gold and task.short_answer and not answered:
        yield "$.short_answer", "no form of the short answer is in its gold sources"


@cache
def _documents(engine: str | None) -> Mapping[str, str] | None:
    """Return the texts of a task's engine by URL; `None` if they cannot be listed."""
    from harness.sources.corpus.engine import PythonDocs
    from harness_evals.recorded_web import is_recorded, open_web

    if engine == PYTHON_DOCS:
        docs = PythonDocs()
        return {document.href: document.text for part in docs.parts() for document in docs.read(part)}
    return open_web(engine).texts() if engine and is_recorded(engine) else None


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
    task, node = _read(path)
    return task, _place(path, node, "$.id")


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


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InvalidInput(f"no task folder at {folder}")
    paths = sorted(path for path in folder.glob("*.yaml") if path.is_file())
    if not paths or len(paths) > MAX_TASKS:
        raise InvalidInput(f"{folder} holds {len(paths)} tasks (*.yaml); it must be 1 to {MAX_TASKS:,}")
    return paths


class _Loader(yaml.SafeLoader):
    """YAML loader for plain values only; rejects references, which can expand without limit, and duplicate fields."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark: Any = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="references (*name) are not read", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.MarkedYAMLError(problem=f"{key.value!r} is there twice", problem_mark=key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def _read(path: Path) -> tuple[Task, yaml.Node]:
    """Return the task in a file, and its YAML node.

    Raises:
        InvalidInput: the file is invalid; the message has file and line.
    """
    node: yaml.Node | None = None
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise InvalidInput(f"{path} is not a task: more than {MAX_FILE_BYTES:,} bytes")
        loader = _Loader(data.decode("utf-8"))
        node = loader.get_single_node()
        if node is None:
            raise InvalidInput(f"{path} is not a task: it is empty")
        document = loader.construct_document(node)
        if isinstance(document, dict):
            document.setdefault("id", path.stem)
        return msgspec.convert(document, Task), node
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `")
        raise InvalidInput(f"{_place(path, node, place.rstrip('`'), problem)} is not a task: {problem}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InvalidInput(f"{path}:{line} is not a task: {error.problem}") from error
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        problem = next(iter(str(error).splitlines()), type(error).__name__)
        raise InvalidInput(f"{path} is not a task: {problem}") from error


def _place(path: Path, node: yaml.Node | None, place: str, problem: str = "") -> str:
    """Return the file and the line of the value at `place` (in msgspec's notation: `$.nuggets[1].says`)."""
    if node is None:
        return str(path)
    for name, index in _PLACE.findall(place):
        if isinstance(node, yaml.SequenceNode) and index:
            node = node.value[int(index)]
        elif isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == name), node)
    if (unknown := _UNKNOWN.search(problem)) and isinstance(node, yaml.MappingNode):
        node = next((key for key, _ in node.value if key.value == unknown[1]), node)
    return f"{path}:{node.start_mark.line + 1}"
