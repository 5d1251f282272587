"""Help at every level, and one line for everything that is wrong with the arguments."""

import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import typer

import search_cache
from harness.cli.main import commands
from tests.cli.program import Program


def groups(group: Any, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield where each group of commands is."""
    yield path
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from groups(command, *path, name)


GROUPS = list(groups(typer.main.get_command(commands)))


@pytest.fixture
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """A terminal of so many columns."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    assert shutil.get_terminal_size().columns == request.param
    return int(request.param)


@pytest.mark.parametrize("columns", [60, 80, 120], indirect=True)
@pytest.mark.parametrize("path", GROUPS, ids=" ".join)
def test_no_description_is_cut(harness: Program, path: tuple[str, ...], columns: int) -> None:
    """In a list of commands each description is whole: on its line from 80 columns on, folded below."""
    said = harness(*path, "--help").out
    listed = said.partition("\nCommands:\n")[2]
    assert listed
    assert "..." not in listed
    assert "…" not in listed
    assert max(map(len, listed.splitlines())) <= columns
    folded = [line for line in listed.splitlines() if re.match(r" {4,}\S", line)]
    assert columns < 80 or not folded


@pytest.mark.parametrize("path", GROUPS, ids=" ".join)
def test_help_has_three_spellings_everywhere(harness: Program, path: tuple[str, ...]) -> None:
    """`-h`, `--help` and `help` say the same of a group, and `help COMMAND` that of a command in it."""
    whole = harness(*path, "--help")
    assert (whole.code, whole.err) == (0, "")
    assert harness(*path, "-h") == harness(*path, "help") == whole
    if path:
        assert harness("help", *path) == whole
    command = re.search(r"\nCommands:\n  (\S+)", whole.out)
    assert command
    assert harness(*path, "help", command[1]) == harness(*path, command[1], "-h")


def test_help_for_a_command_in_a_group(harness: Program) -> None:
    """`harness help cache explain` is `harness cache explain --help`."""
    assert harness("help", "cache", "explain") == harness("cache", "explain", "--help")
    assert "no such command 'nope'" in harness("help", "nope").one_line_error(2)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["serach", "x"], "did you mean 'search'"),
        (["search"], "missing argument 'QUERY'; `harness search --help` shows how"),
        (["search", "x", "--nope"], "no such option: --nope"),
        (["--nope"], "no such option: --nope; `harness --help` shows how"),
        (["runs", "--limit", "x"], "'--limit'"),
        (["runs", "--limit", "0"], "'--limit'"),
        (["search", "x", "-n"], "'-n'"),
        (["cache", "nope"], "no such command 'nope'; `harness cache --help` shows how"),
        (["read", "a", "b"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_is_one_line(harness: Program, arguments: list[str], told: str) -> None:
    """Typer's own errors look like every other one, and end with 2."""
    assert told.lower() in harness(*arguments).one_line_error(2).lower()


def test_no_command_shows_the_help(harness: Program) -> None:
    """`harness` and a bare group print their help on standard error, as wrong usage."""
    for path in ([], ["cache"]):
        ended = harness(*path)
        assert (ended.code, ended.out, ended.err) == (2, "", harness(*path, "--help").out)


def test_a_question_needs_no_quotation_marks(harness: Program, notes: str) -> None:
    """Words are one question, whether options come before, between or after."""
    asked = ("how", "do", "retries", "back", "off")
    quoted = harness("research", " ".join(asked), "-e", notes, "--json").told
    for arguments in ((*asked, "-e", notes, "--json"), ("-e", notes, "--json", *asked)):
        assert harness("research", *arguments).told["report"] == quoted["report"]
    assert harness("search", "retry", "-e", notes, "--json", "budget").told["query"] == "retry budget"
    assert harness("cache", "explain", "retry", "budget", "-e", notes).out.startswith("exact: cached")
    assert harness("history", "retry", "budget", "--json").told == harness("history", "retry budget", "--json").told
    assert "error" not in harness("memory", "query", "retry", "budget").err
    assert "nothing is known" in harness("knowledge", "lookup", "retry", "budget").err
    assert "missing argument 'QUERY'" in harness("search").one_line_error(2)
    assert "give a question" in harness("research").one_line_error(2)


def test_search_cache_has_errors_of_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The maintenance command does as `harness` does."""
    monkeypatch.setattr("sys.argv", ["search_cache", "--expired", "--clear"])
    with pytest.raises(SystemExit) as ended:
        search_cache.main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: argument --clear: not allowed with argument --expired; `search_cache --help`")
