"""Checks of tasks: form, and whether the sources say what a task claims."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from harness.core.search_engines import PYTHON_DOCS
from harness.core.text import sentences
from harness.errors import InvalidInput
from harness_evals.recorded_web import is_recorded, open_web
from harness_evals.task_yaml import place_of
from harness_evals.tasks import (
    TASKS_DIR,
    Task,
    comparable,
    files_in,
    has_side,
    is_prompts,
    is_said,
    load_tasks,
    read_task,
)


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
    for path in files_in(folder):
        try:
            task, node = read_task(path)
            if (documents := _documents(task.engine)) is not None:
                problems += (f"{place_of(path, node, place)}: {said}" for place, said in _claims(task, documents))
        except InvalidInput as error:
            problems.append(str(error))
            continue
        if task.id in ids:
            problems.append(f"{place_of(path, node, '$.id')}: there are two tasks {task.id!r}; rename one")
        ids.add(task.id)
    return problems


def _claims(task: Task, documents: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the unfounded claims of a task, or of the questions of its stream."""
    if not task.stream:
        yield from _unfounded(task, documents)
    for at, part in enumerate(task.parts):
        yield from ((f"$.stream[{at}]{place[1:]}", said) for place, said in _unfounded(part, documents))


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
    if engine == PYTHON_DOCS:
        from harness.sources.corpus.engine import PythonDocs

        docs = PythonDocs()
        return {document.href: document.text for part in docs.parts() for document in docs.read(part)}
    return open_web(engine).texts() if is_recorded(engine) else None
