"""Help at every level, and one line for everything that is wrong with the arguments."""

import re
import shlex
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


def commands_in(path: tuple[str, ...]) -> list[str]:
    """Return the names of the commands of a group, in the order of its help."""
    group: Any = typer.main.get_command(commands)
    for name in path:
        group = group.commands[name]
    by_heading: dict[str, list[str]] = {}
    for name, command in group.commands.items():
        by_heading.setdefault(command.rich_help_panel or "", []).append(name)
    return [name for names in by_heading.values() for name in names]


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
    listed = harness(*path, "--help").out.partition("\nOptions:\n")[0]
    names, heading = commands_in(path), ("Research and search:" if not path else "Commands:")
    listed = listed.partition(f"\n{heading}\n")[2]
    assert [line.split()[0] for line in listed.splitlines() if re.match(r" {2}\S", line)] == names
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
    command = commands_in(path)[0]
    assert harness(*path, "help", command) == harness(*path, command, "-h")


def test_every_help_has_an_example() -> None:
    """Commands and groups have one."""

    def helps(command: Any, *path: str) -> Iterator[tuple[str, str]]:
        yield " ".join(path), command.help or ""
        for name, below in getattr(command, "commands", {}).items():
            yield from helps(below, *path, name)

    found = dict(helps(typer.main.get_command(commands), "harness"))
    assert len(found) > 60
    for path, text in found.items():
        assert "\nExample" in text, path
        assert re.search(r"^ +(.*\| )?(harness|curl|claude|HARNESS_)", text, re.MULTILINE), path


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


def test_a_bare_group_shows_its_help(harness: Program) -> None:
    """On standard error, as wrong usage."""
    ended = harness("cache")
    assert (ended.code, ended.out, ended.err) == (2, "", harness("cache", "--help").out)


def test_without_any_command_there_are_three_things_to_try(harness: Program) -> None:
    """They parse, need no network, and the help is named."""
    ended = harness()
    assert (ended.code, ended.err) == (0, "")
    tried = [shlex.split(line) for line in ended.out.splitlines() if line.startswith("  harness ")]
    assert [words[1] for words in tried] == ["research", "research", "doctor"]
    for _, *words in tried:
        assert harness(*words, "--help").code == 0
        assert words == ["doctor"] or words[words.index("--engine") + 1].startswith("corpus:")
    assert "`harness --help`" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 120


@pytest.mark.parametrize("columns", [80, 120, 200], indirect=True)
def test_help_uses_the_width_of_the_terminal(harness: Program, columns: int) -> None:
    """Up to 120 columns."""
    widest = max(map(len, harness("research", "--help").out.splitlines()))
    assert min(columns, 120) - 12 < widest <= max(min(columns, 120), 100), "examples are never broken"


def test_options_are_listed_under_headings(harness: Program) -> None:
    """Options of the command come first, those of every command last; arguments have no type."""
    text = harness("research", "--help").out
    headings = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert headings == [
        "Arguments", "Options", "Sources", "Rounds and limits", "Cache", "Report", "Models", "Options of every command",
    ]  # fmt: skip
    assert "\n  QUESTION  Question to answer.\n" in text
    assert text.index("--engine") < text.index("Rounds and limits:") < text.index("--max-rounds")
    assert text.index("Options of every command:") < text.index("--data-dir")


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
