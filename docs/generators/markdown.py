"""Markdown from values and docstrings."""

import html
import inspect
import re
from collections.abc import Iterable, Sequence

_ARGUMENT = re.compile(r"    (\w+): ")


def text(plain: str) -> str:
    """Return a text in which Markdown finds no HTML; code between backticks stays as it is."""
    parts = plain.split("`")
    return "`".join(part if number % 2 else html.escape(part, quote=False) for number, part in enumerate(parts))


def cell(plain: str) -> str:
    """Return a text for one cell of a table."""
    return text(" ".join(plain.split())).replace("|", "\\|")


def code(plain: object) -> str:
    """Return inline code, also in a cell of a table."""
    escaped = str(plain).replace("|", "\\|")
    return f"`` {escaped} ``" if "`" in escaped else f"`{escaped}`"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table. The cells are Markdown."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def fence(body: str, language: str = "text") -> str:
    """Return a block of code."""
    return f"```{language}\n{body.rstrip()}\n```"


def page(title: str, *parts: str) -> str:
    """Return a page from its title and its parts, without the empty ones."""
    return "\n\n".join([f"# {title}", *filter(None, parts)]) + "\n"


def docstring(documented: object) -> str:
    """Return the docstring of an object as Markdown: examples become blocks of code, sections become lists."""
    blocks = (inspect.getdoc(documented) or "").split("\n\n")
    return "\n\n".join(map(_block, blocks))


def _block(block: str) -> str:
    """Return one paragraph of a docstring."""
    if block.startswith(">>>"):
        return fence(block, "pycon")
    lines = block.splitlines()
    if all(line.startswith("    ") for line in lines):
        return fence(inspect.cleandoc(block), "python")
    shown = [_listed(line) if line.startswith("    ") else text(line) for line in lines]
    return "\n".join(f"\n**{line}**\n" if line == "Raises:" else line for line in shown).strip()


def _listed(line: str) -> str:
    """Return a line of a section: the start of an entry of a list, or its continuation."""
    match = _ARGUMENT.match(line)
    return f"- `{match[1]}`: {text(line[match.end() :])}" if match else f"  {text(line.strip())}"
