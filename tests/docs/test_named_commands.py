"""Commands that pages show without running them: each exists, with its options; so does each target of make."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from harness.cli.main import commands
from tests.docs.guides import AT_THE_ROOT, DOCS, PAGES, ROOT, fences

_INLINE = re.compile(r"`(harness [a-z][^`]*)`")
_MAKE = re.compile(r"(?:^|`|run: )make ([a-z][a-z-]*)", re.MULTILINE)
_OPTION = re.compile(r"--?[a-z][a-z-]*$")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def shown_commands(page: Path) -> Iterator[str]:
    """Yield the commands of the program on a page, in blocks and in sentences."""
    text = page.read_text(encoding="utf-8")
    for block in fences(page):
        for line in block.body.replace("\\\n", " ").splitlines():
            _, found, command = re.sub(r"^\$ ", "", line).rpartition("| ")[2].partition("harness ")
            if found and re.match(r"[A-Z_a-z0-9=$./:()-]*\s*$", line.partition("harness ")[0].removeprefix("$ ")):
                yield f"harness {command}"
    yield from _INLINE.findall(text)


def words_of(command: str) -> list[str]:
    """Return the words of one command, up to a comment, a pipe or the next command."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";|&<>")
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if set(word) <= set(";|&<>"):
                break
            words.append(word)
    except ValueError:  # a quotation mark inside a word
        return command.split()
    return words


def problem(words: list[str]) -> str | None:
    """Return the word that no command has, or `None`."""
    at: Any = typer.main.get_command(commands)
    rest = iter(words[1:])
    for word in rest:
        below = getattr(at, "commands", None)
        if below is None or not re.fullmatch(r"[a-z][a-z-]*", word):
            break
        if word == "help":
            return None
        if word not in below:
            return f"no command {word}"
        at = below[word]
    options = {name for parameter in at.params for name in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}
    for word in words:
        if _OPTION.fullmatch(word.partition("=")[0]) and word.partition("=")[0] not in options:
            return f"no option {word} of {at.name}"
    return None


@pytest.mark.slow
@pytest.mark.parametrize("page", [*AT_THE_ROOT, *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_exist(page: Path) -> None:
    """A command that was renamed, or an option that was removed, fails here."""
    if page.name == "CHANGELOG.md":  # history names commands of earlier versions
        return
    for command in shown_commands(page):
        assert problem(words_of(command)) is None, command


def test_an_unknown_command_or_option_is_found() -> None:
    """The check above can fail."""
    assert problem(["harness", "reserach"]) == "no command reserach"
    assert problem(["harness", "cache", "explian"]) == "no command explian"
    assert problem(["harness", "research", "q", "--no-such"]) == "no option --no-such of research"
    assert problem(["harness", "research", "q", "-e", "ddgs", "--max-rounds=2"]) is None
    assert problem(words_of("harness show last -o sources.bib | head -4 --bytes")) is None


@pytest.mark.parametrize("page", [*AT_THE_ROOT, *PAGES, *WORKFLOWS, ROOT / ".ci" / "run"], ids=lambda page: page.name)
def test_the_targets_of_make_exist(page: Path) -> None:
    """Each `make TARGET` in a page or workflow is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(_MAKE.findall(page.read_text(encoding="utf-8"))) - {"it"}
    assert named <= targets, named - targets


def test_there_are_pages() -> None:
    """The lists above are not empty."""
    assert DOCS / "index.md" in PAGES
    assert len(AT_THE_ROOT) >= 3
    assert WORKFLOWS
