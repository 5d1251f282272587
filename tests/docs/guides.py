"""Code blocks of the written pages, run in a shell without network, and without settings or data of the developer."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
README = ROOT / "README.md"
AT_THE_ROOT = sorted(path for path in ROOT.glob("*.md"))
RUN = ("console", "bash", "python")
"""Languages of the blocks that are run; only `console` shows output. A block of Python with a title is a file that a
later command runs. `<!-- not run: REASON -->` before a block excludes it."""
LANGUAGES = {*RUN, "text", "json", "yaml", "toml", "sql", "ini", "dockerfile", "html", "javascript", "typescript"}
ANYTHING = "…"
"""In a shown output: any text, also over several lines."""

_FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]*) -->\n\n?)?"
    r"```(?P<language>\w*)(?: title=\"(?P<title>[\w.-]+)\")?\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_GUARD = """\
import socket
import sys

def _refuse(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple) and arguments[1][0] not in ("127.0.0.1", "::1"):
        with open(NOTE, "a") as note:
            note.write(f"{sys.argv[0]} {arguments[1]}\\n")
        raise OSError("no network in this test")
    if event == "socket.getaddrinfo" and arguments[0] not in (None, "", "localhost", "127.0.0.1", "::1", b"localhost"):
        with open(NOTE, "a") as note:
            note.write(f"{sys.argv[0]} {arguments[0]}\\n")
        raise OSError("no network in this test")

sys.addaudithook(_refuse)
"""


class Step(NamedTuple):
    """One command of a page, and the output that the page shows; `None` where it shows none."""

    command: str
    shown: str | None


class Block(NamedTuple):
    """One block of code: a file to write if it has a title, else commands. `reason` says why it is not run."""

    line: int
    language: str
    title: str
    body: str
    reason: str = ""

    @property
    def is_run(self) -> bool:
        """Whether a test runs the block or writes its file."""
        return not self.reason and (self.language in RUN or bool(self.title))

    def steps(self) -> Iterator[Step]:
        """Yield the commands of the block."""
        if self.language == "bash":
            yield Step(self.body, None)
            return
        if self.language == "python":
            yield Step(f"python - << 'END_OF_BLOCK'\n{self.body}END_OF_BLOCK\n", None)
            return
        for part in re.split(r"^\$ ", self.body, flags=re.MULTILINE)[1:]:
            lines = part.splitlines(keepends=True)
            last = next(number for number, line in enumerate(lines) if not line.endswith("\\\n"))
            yield Step("".join(lines[: last + 1]), "".join(lines[last + 1 :]))


def fences(page: Path) -> list[Block]:
    """Return all blocks of code of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            text.count("\n", 0, match.start()) + 1,
            match["language"],
            match["title"] or "",
            match["body"],
            match["reason"] or "",
        )
        for match in _FENCE.finditer(text)
    ]


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page that are run or written to a file."""
    return [block for block in fences(page) if block.is_run]


class Shell:
    """A home directory in which the commands of one page run, one after another."""

    def __init__(self, folder: Path) -> None:
        self.home, self.guard, self.note = folder / "home", folder / "guard", folder / "connections"
        self.home.mkdir()
        self.guard.mkdir()
        (self.guard / "sitecustomize.py").write_text(f"NOTE = {str(self.note)!r}\n{_GUARD}", encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        """Write a file that a page shows."""
        (self.home / name).write_text(text, encoding="utf-8")

    def run(self, command: str) -> tuple[int, str]:
        """Run a command; return its exit code and its output, standard error included, in the order of a terminal."""
        ended = subprocess.run(
            ["bash", "-c", command],
            cwd=self.home,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=280,
            check=False,
        )
        return ended.returncode, ended.stdout

    def connections(self) -> str:
        """Return the connections to other hosts that were refused, one on each line."""
        return self.note.read_text() if self.note.exists() else ""

    def _environment(self) -> dict[str, str]:
        programs = Path(sys.executable).parent
        return {
            "HOME": str(self.home),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.guard),
            "PYTHONUNBUFFERED": "1",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }


def matches(shown: str, output: str) -> bool:
    """Return whether an output is the one that a page shows, spaces at the ends of lines aside."""
    parts = [re.escape(part) for part in _stripped(shown).split(ANYTHING)]
    return re.fullmatch(".*?".join(parts), _stripped(output), re.DOTALL) is not None


def _stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
