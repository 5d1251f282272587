"""Options that take a time: the same syntax in every command, and a word about numbers without a unit."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from harness.cli.main import commands
from tests.cli.program import Program


def options(command: Any, *path: str) -> Iterator[tuple[str, str, str]]:
    """Yield command, option and metavar of every option there is."""
    for name, each in getattr(command, "commands", {}).items():
        yield from options(each, *path, name)
    for parameter in command.params:
        yield " ".join(path), parameter.opts[0], parameter.metavar or ""


def test_every_option_for_a_time_takes_a_duration() -> None:
    """All options share one syntax."""
    found = list(options(typer.main.get_command(commands)))
    assert not [each for each in found if each[2] in {"SECONDS", "HOURS", "S", "AGE", "DAYS"}]
    times = {(command, option) for command, option, metavar in found if metavar == "TIME"}
    assert {("search", "--ttl"), ("cache clear", "--older-than"), ("memory forget", "--older-than")} <= times
    assert {("knowledge lookup", "--max-age"), ("token create", "--expires"), ("history", "--since")} <= times


def test_a_number_keeps_its_unit_and_says_which(harness: Program, notes: str) -> None:
    """Seconds for --ttl, hours for --max-age; with a unit nothing is said."""
    ended = harness("search", "retries", "-e", notes, "--ttl", "3600")
    assert "note: --ttl 3600 is read as seconds; write 3600s or 1h\n" in ended.err
    assert "note" not in harness("search", "retries", "-e", notes, "--ttl", "1h").err
    assert "note" not in harness("search", "retries", "-e", notes, "--ttl", "3600", "-q").err
    for option in ("--max-age", "--max-age-hours"):
        told = harness("knowledge", "lookup", "x", option, "48").err
        assert "note: --max-age 48 is read as hours; write 48h or 2d\n" in told
    assert "note" not in harness("research", "how do retries work", "-e", notes, "--max-seconds", "600").err


def test_what_is_deleted_is_not_guessed(harness: Program) -> None:
    """A number of hours, or is it days, is refused, with what to write."""
    for command in (("cache", "clear"), ("memory", "forget")):
        told = harness(*command, "--older-than", "48", "--yes").one_line_error(2)
        assert told.startswith("error: --older-than: 48 names no unit; write 48h for hours")


def test_a_duration_reaches_what_it_is_for(harness: Program) -> None:
    """Days become days of a token, hours the lifetime of a document."""
    create = ("token", "create", "--tenant", "lab", "--user", "ada", "--role", "reader", "--json", "-q")
    for spelling in (("--expires", "1w"), ("--expires", "7"), ("--expires-days", "7"), ("--expires", "168h")):
        told = harness(*create, *spelling).told
        assert told["expires_at"] - told["created_at"] == 7 * 86_400
    assert "1 to 3,650 days" in harness(*create, "--expires", "12h").one_line_error(2)
    told = harness("knowledge", "write", "Retries", "Three.", "--ttl", "2d", "--json").told
    document = harness("knowledge", "get", told["id"], "--json").told
    assert document["expires_at"] != document["updated_at"]
    assert harness("knowledge", "lookup", "Retries", "--max-age", "1m").code == 0


@pytest.mark.parametrize(("command", "default"), [(("token", "create"), "(1y)"), (("autoresearch",), "(10m)")])
def test_help_spells_default_times(harness: Program, command: tuple[str, ...], default: str) -> None:
    """As one writes them: not as a bare number of seconds."""
    text = harness(*command, "--help").out
    assert default in text
    assert "31536000" not in text
    assert "600.0" not in text
