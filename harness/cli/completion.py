"""Completion in the shell: ids and names of entries, engines, tasks, and the choices of options.

It is quick, changes nothing, and completes nothing on an error. Some shells (zsh) evaluate the texts, so they are
reduced to letters, digits and a few signs.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import typer

from harness.core.search_engines import ENGINES
from harness.core.text import one_line, shorten

if TYPE_CHECKING:
    from harness.storage.recent import Kind

Completions: TypeAlias = list[tuple[str, str]]

MAX_FOUND = 50
"""Values to complete, the newest."""
MAX_READ = 1_000
"""Rows to look at for those that begin as the word does."""
MAX_HELP = 60
MAX_HEAD = 4_000
"""Characters at the start of a task's file that may have its id."""

_ID = re.compile(r"[\w.-]{1,100}", re.ASCII)
_VALUE = re.compile(r"[\w.:/~%+=@,-]{1,200}", re.ASCII)
"""A value that no shell changes or runs."""
_TASK_ID = re.compile(r"^id:\s*([\w.-]+)\s*$", re.ASCII | re.MULTILINE)
_UNSAFE = re.compile(r"[^\w .,?!+-]")

Completer: TypeAlias = Callable[[typer.Context, str], Completions]


def _never_failing(complete: Completer) -> Completer:
    """Wrap a completion so that it completes nothing instead of failing, and returns only safe texts."""

    @wraps(complete)
    def safe(ctx: typer.Context, incomplete: str) -> Completions:
        try:
            found = complete(ctx, incomplete)
        except Exception:  # noqa: BLE001 - whatever it is, the command itself says it better than a completion could
            return []
        return [(value, shorten(one_line(_UNSAFE.sub(" ", text)), MAX_HELP)) for value, text in found]

    return safe


def stored(kind: "Kind") -> Completer:
    """Return a completion of the ids of what the database holds, newest first, each with its title."""

    @_never_failing
    def complete(ctx: typer.Context, incomplete: str) -> Completions:
        from harness.settings import load
        from harness.storage.recent import recent

        settings = load({"data_dir": ctx.params.get("data_dir")}, config=ctx.params.get("config")).settings
        if settings.store or settings.token:  # a server or a token to check: too slow for completion
            return []
        found = recent(settings.data_dir / "harness.db", kind, "default", MAX_READ)
        return [pair for pair in found if _VALUE.fullmatch(pair[0]) and pair[0].startswith(incomplete)][:MAX_FOUND]

    return complete


def choices(values: Iterable[str], *, several: bool = False) -> Completer:
    """Return a completion of one of these values; `several`: of the last one in a list separated by commas."""

    @_never_failing
    def complete(ctx: typer.Context, incomplete: str) -> Completions:  # noqa: ARG001
        pairs = [(each, "") for each in values]
        return _in_list(pairs, incomplete) if several else _beginning(pairs, incomplete)

    return complete


runs = stored("runs")


@_never_failing
def engines(ctx: typer.Context, incomplete: str) -> Completions:  # noqa: ARG001
    """Complete the name of an engine."""
    specs = [(each.name + ":" if each.argument.startswith(":") else each.name, each.label) for each in ENGINES]
    return _beginning(specs, incomplete)


@_never_failing
def task(ctx: typer.Context, incomplete: str) -> Completions:
    """Complete the name of an evaluation task, with its file."""
    return _beginning(_tasks(ctx), incomplete)


@_never_failing
def tasks(ctx: typer.Context, incomplete: str) -> Completions:
    """Complete the last name in a list of tasks separated by commas."""
    return _in_list(_tasks(ctx), incomplete)


@_never_failing
def evaluations(ctx: typer.Context, incomplete: str) -> Completions:
    """Complete the id of an evaluation, newest first."""
    return [(path.stem, "") for path in _newest(ctx, "evals", incomplete) if path.suffix == ".jsonl"]


@_never_failing
def loops(ctx: typer.Context, incomplete: str) -> Completions:
    """Complete the id of a loop of experiments, newest first."""
    return [(path.name, "") for path in _newest(ctx, "autoresearch", incomplete) if path.is_dir()]


def _beginning(pairs: Iterable[tuple[str, str]], incomplete: str) -> Completions:
    return [pair for pair in pairs if pair[0].startswith(incomplete)]


def _in_list(pairs: Iterable[tuple[str, str]], incomplete: str) -> Completions:
    """Complete the last value in a list separated by commas; each value is in it once."""
    before, comma, begun = incomplete.rpartition(",")
    known = before.split(",")
    return [(f"{before}{comma}{value}", text) for value, text in _beginning(pairs, begun) if value not in known]


def _tasks(ctx: typer.Context) -> Iterator[tuple[str, str]]:
    folder = ctx.params.get("tasks_dir") or Path(__file__).parents[2] / "evals" / "tasks"
    for path in sorted(Path(folder).glob("*.yaml")):
        with path.open(encoding="utf-8") as file:
            if found := _TASK_ID.search(file.read(MAX_HEAD)):
                yield found[1], path.name


def _newest(ctx: typer.Context, folder: str, incomplete: str) -> list[Path]:
    from harness.settings import load

    settings = load({"data_dir": ctx.params.get("data_dir")}, config=ctx.params.get("config")).settings
    found = (path for path in (settings.data_dir / folder).iterdir() if _ID.fullmatch(path.stem))
    return sorted((path for path in found if path.name.startswith(incomplete)), reverse=True)[:MAX_FOUND]
