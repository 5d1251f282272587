"""Text that an agent has stored does nothing to the terminal, whichever command prints it."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest
import typer

import search_cache
from harness.cli import main
from harness.cli.terminal import configure_logging
from tests.cli.hostile import ACTING, HOSTILE, RUN, fill
from tests.cli.program import Program

DRAWING = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[0-9]*[AK]")
"""Sequences that rich and the prompt write: colours, the cursor, and the line that is drawn again."""

PRINTING: dict[str, tuple[str, ...]] = {
    "research": ("research", HOSTILE, "--offline"),
    "ask": ("ask", RUN, HOSTILE, "--offline"),
    "search": ("search", HOSTILE, "--exact"),
    "read": ("read", f"https://example.org/{HOSTILE}", "--offline"),
    "rank": ("rank", HOSTILE, HOSTILE),
    "check": ("check", HOSTILE, "--against", HOSTILE),
    "history": ("history",),
    "runs": ("runs",),
    "show": ("show", RUN),
    "chat": ("chat", "--query-vector-store", "retries of a client"),
    "doctor": ("doctor", "--engine", f"corpus:{HOSTILE}"),
    "index": ("index", f"corpus:{HOSTILE}"),
    "config": ("config",),
    "verify": ("verify", HOSTILE.replace("/", "")),
    "cache stats": ("cache", "stats"),
    "cache explain": ("cache", "explain", HOSTILE),
    "cache clear": ("cache", "clear", "--dry-run"),
    "cache expired": ("cache", "expired"),
    "cache reindex": ("cache", "reindex"),
    "cache verify": ("cache", "verify"),
    "cache calibrate": ("cache", "calibrate", "--pairs", HOSTILE),
    "cache runs": ("cache", "runs"),
    "cache export": ("cache", "export", "--pairs", "-"),
    "cache import": ("cache", "import", HOSTILE),
    "token create": ("token", "create", "--tenant", HOSTILE, "--user", "ada", "--role", "reader"),
    "token list": ("token", "list"),
    "token revoke": ("token", "revoke", HOSTILE),
    "tenant list": ("tenant", "list"),
    "tenant delete": ("tenant", "delete", HOSTILE, "--yes"),
    "eval run": ("eval", "run", "--tasks", HOSTILE),
    "eval show": ("eval", "show", HOSTILE),
    "eval score": ("eval", "score", HOSTILE),
    "eval compare": ("eval", "compare", HOSTILE),
    "eval check": ("eval", "check", "--tasks-dir", HOSTILE),
    "eval repeat": ("eval", "repeat", HOSTILE),
    "eval list": ("eval", "list"),
    "eval new": ("eval", "new", "--from-run", HOSTILE),
    "autoresearch": ("autoresearch", "--tasks", HOSTILE),
    "autoresearch report": ("autoresearch", "report", HOSTILE),
    "autoresearch confirm": ("autoresearch", "confirm", HOSTILE),
    "autoresearch apply": ("autoresearch", "apply", HOSTILE),
    "knowledge lookup": ("knowledge", "lookup", HOSTILE),
    "knowledge write": ("knowledge", "write", HOSTILE, HOSTILE, "--source-url", HOSTILE),
    "knowledge get": ("knowledge", "get", "DOCUMENT"),
    "knowledge list": ("knowledge", "list"),
    "knowledge history": ("knowledge", "history", "DOCUMENT"),
    "knowledge delete": ("knowledge", "delete", HOSTILE, "--yes"),
    "library search": ("library", "search", HOSTILE),
    "library stats": ("library", "stats"),
    "library index": ("library", "index"),
    "library add": ("library", "add", HOSTILE),
    "library show": ("library", "show", f"https://example.org/?{HOSTILE}"),
    "library forget": ("library", "forget", f"https://example.org/{HOSTILE}", "--yes"),
    "library export": ("library", "export"),
    "memory add": ("memory", "add", HOSTILE),
    "memory query": ("memory", "query", "retries of a client"),
    "memory get": ("memory", "get", "EXCHANGE"),
    "memory delete": ("memory", "delete", HOSTILE, "--yes"),
    "memory threads": ("memory", "threads"),
    "memory stats": ("memory", "stats"),
    "memory export": ("memory", "export", f"/nowhere/{HOSTILE}"),
    "memory import": ("memory", "import", HOSTILE),
    "memory forget": ("memory", "forget", "--thread", HOSTILE, "--yes"),
    "no such command": (HOSTILE,),
    "no such option": ("search", f"--{HOSTILE}"),
}
"""Every command with what makes it print as much stored or hostile text as it can, its errors included."""

SERVERS = {"serve", "mcp"}
"""Commands that print nothing that is stored."""


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Fill the data directory of the program; return the ids of its rows."""
    monkeypatch.setenv("HARNESS_PUBMED_EMAIL", HOSTILE)
    return fill()


def commands(group: Any, *path: str) -> Iterator[str]:
    """Yield the names of all commands in a group and its groups."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *path, name)
            if not command.invoke_without_command:
                continue
        yield " ".join((*path, name))


def arguments_of(command: str, filled: dict[str, str]) -> list[str]:
    """Return the arguments for a command, ids filled in."""
    return [filled.get(each.lower(), each) if each.isupper() else each for each in PRINTING[command]]


def test_every_command_is_tried() -> None:
    """A new command is tried with hostile text, too, or is known to print none."""
    there = set(commands(typer.main.get_command(main.commands)))
    assert there - PRINTING.keys() - SERVERS == set()


@pytest.mark.slow
def test_nothing_acts_in_a_pipe(harness: Program, filled: dict[str, str]) -> None:
    """No command prints an escape sequence, a control character or an override of direction; the words are there."""
    said = 0
    for command in PRINTING:
        ended = harness(*arguments_of(command, filled))
        for text in (ended.out, ended.err):
            assert not set(ACTING + "\x1b") & set(text), command
        said += "gpj.exe" in ended.out + ended.err
    assert said > len(PRINTING) / 2, "the text itself is shown"


def test_search_cache_is_guarded_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The maintenance command prints through the same streams."""
    monkeypatch.setattr(sys, "argv", ["search_cache", "--db", HOSTILE])
    with pytest.raises(SystemExit):
        search_cache.main()
    said = capsys.readouterr().err
    assert "gpj.exe" in said
    assert not set(ACTING + "\x1b") & set(said)


def test_json_is_the_same_and_harmless(harness: Program, filled: dict[str, str]) -> None:
    """With --json every character is there, as an escape of JSON."""
    ended = harness("cache", "runs", "--json")
    assert ended.told["items"][0]["question"] == HOSTILE
    assert not set(ACTING + "\x1b") & set(ended.out)
    (pair,) = map(json.loads, harness("cache", "export", "--pairs", "-").out.splitlines())
    assert HOSTILE in pair.values()


def test_a_log_line_stays_one_line(capsys: pytest.CaptureFixture[str], harness: Program) -> None:
    """Text in a log message cannot start a new line, which would look like the program's."""
    import logging

    configure_logging("warning")
    logging.getLogger("harness.sources.engines").warning("skipped %s", f"a\nerror: {HOSTILE}\r\nb")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: skipped a error: retries")


TERMINAL = """
import functools, json, sys
import typer.main
from harness.cli.main import main
typer.main.get_command = functools.cache(typer.main.get_command)  # as in tests.cli.program
for arguments in json.loads(sys.argv[1]):
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit:
        print("-- ended")
"""


@pytest.mark.slow
def test_nothing_acts_on_a_terminal(filled: dict[str, str], tmp_path: Path) -> None:
    """On a real terminal there are colours and frames, and nothing that stored text could do."""
    lines = [arguments_of(command, filled) for command in PRINTING]
    lines += [[*line, "--verbose"] for line in lines[:3]]
    script = tmp_path / "all.py"
    script.write_text(TERMINAL)
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(Path(__file__).parents[2])}
    terminal = pexpect.spawn(
        sys.executable, [str(script), json.dumps(lines)], env=environment, timeout=60, dimensions=(50, 100)
    )
    terminal.expect(pexpect.EOF)
    shown = terminal.before.decode()
    assert shown.count("-- ended") == len(lines)
    assert "\x1b[31;5m" not in shown
    plain = DRAWING.sub("", shown).replace("\r\n", "\n")
    acting = set(ACTING + "\x1b") & set(plain.replace("\r", ""))
    assert not acting, [plain[max(0, plain.index(each) - 80) :][:160] for each in acting]
    assert plain.count("gpj.exe") > len(PRINTING) / 2
    assert RUN in plain
    assert "[bold red]text[/]" in plain, "markup is text"
