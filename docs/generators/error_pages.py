"""The page of errors and exit codes."""

import re
from collections.abc import Iterator

from docs.generators.markdown import code, docstring, page, table
from harness.cli.terminal import EXIT_CODES, ExitCode, exit_code
from harness.errors import HarnessError
from harness.server.error_payload import BUG, INTERNAL, status_of

INTRODUCTION = """\
A message is one line that says what happened and what to do next. The code is stable: programs may compare it. Commands
print `error: MESSAGE` on standard error and exit with the exit code. The HTTP API and the MCP tools return
`{"status": "error", "code": …, "message": …}`; the API with the HTTP status, a tool as an error result."""


def error_pages() -> dict[str, str]:
    """Return the page of errors and exit codes by its path."""
    exits = dict(re.findall(r"(\d+) ([^,.]+)", EXIT_CODES))
    rows = [(code(each.value), exits[str(each.value)]) for each in ExitCode]
    bug = ("", code(INTERNAL), code(ExitCode.FAILED.value), "500", BUG)
    return {
        "reference/errors.md": page(
            "Errors and exit codes",
            INTRODUCTION,
            "## Exit codes",
            table(("code", "meaning"), rows),
            "## Errors",
            "An indented error is a kind of the one above: `except` for that catches it, too.",
            table(("error", "code", "exit code", "HTTP status", "meaning"), [*_rows(HarnessError, 0), bug]),
        )
    }


def errors(root: type[HarnessError] = HarnessError) -> Iterator[type[HarnessError]]:
    """Yield an error and all its kinds that the program declares."""
    yield root
    for kind in root.__subclasses__():
        if kind.__module__ == HarnessError.__module__:
            yield from errors(kind)


def _rows(root: type[HarnessError], depth: int) -> Iterator[tuple[str, ...]]:
    made = root("")
    name = "&emsp;" * depth + code(root.__name__)
    meaning = docstring(root).replace("\n", " ")
    yield name, code(root.code), code(exit_code(made).value), str(status_of(made)), meaning
    for kind in root.__subclasses__():
        if kind.__module__ == HarnessError.__module__:
            yield from _rows(kind, depth + 1)
