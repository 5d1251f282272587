"""Evaluation tasks: a question, and the sources that answer it. Read from `evals/tasks/*.yaml`."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import yaml
from msgspec import Struct

from harness.errors import InvalidInput

TASKS_DIR = Path(__file__).with_name("tasks")


class Task(Struct, frozen=True, forbid_unknown_fields=True):
    """A question to research with `engine`; `gold` are the addresses of sources that a good report cites."""

    id: str
    question: str
    engine: str
    gold: tuple[str, ...]


def load_tasks(ids: Sequence[str] = (), folder: Path = TASKS_DIR) -> list[Task]:
    """Return the tasks named in `ids`, in that order; all of the folder, by id, when none is named.

    Raises:
        InvalidInput: an unknown id, or a file that is no task; the message names it.
    """
    known = {task.id: task for task in map(_read, sorted(folder.glob("*.yaml")))}
    for id_ in ids:
        if id_ not in known:
            raise InvalidInput(f"no task {id_!r} in {folder}; there are {', '.join(known) or 'none'}")
    return [known[id_] for id_ in ids] or list(known.values())


def _read(path: Path) -> Task:
    try:
        return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), Task)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise InvalidInput(f"{path} is no task: {error}") from error
