"""Checks of changed source files, in the sandbox: ruff, mypy, and the tests of the changed folders."""

import re
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from harness.core.text import clean, one_line
from harness.errors import InvalidInput
from harness_evals import sandbox

SECONDS = {"ruff": 60.0, "mypy": 600.0, "tests": 900.0}
"""Time limit of each check."""
_EXAMPLES = "/tmp/hypothesis"  # noqa: S108 - in the sandbox, whose /tmp is its own
MARKS = "not full and not slow and not postgres"
MAX_SAID = 300
"""Characters of a reason."""

_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - (.*))?$", re.MULTILINE)
_TEST = re.compile(r"test (tests/\S+?::\w+)")
_PASSED = re.compile(r"^\d+ passed\b.* in [\d.]+s", re.MULTILINE)


def check_tools() -> None:
    """Check that the tools are installed.

    Raises:
        InvalidInput: one is not.
    """
    if missing := [name for name in ("ruff", "mypy", "pytest") if find_spec(name) is None]:
        raise InvalidInput(
            f"experiments with code need {', '.join(missing)}; run `make check` in the checkout, which installs them"
        )


def check(root: Path, changed: Sequence[str], cache: Path, *, confined: bool = True) -> str:
    """Return the first check of the program at `root` that fails, in one line; empty if all pass, or nothing has
    `changed`. `cache` is a folder that mypy uses again.
    """
    if not changed:
        return ""
    return _first_failure(root, _programs(changed, cache, folders_to_test(root, changed)), cache, confined=confined)


def check_again(root: Path, changed: Sequence[str], cache: Path, failed: str, *, confined: bool = True) -> str:
    """Return what the check of the program at `root` says that `check` called `failed` elsewhere: of tests, the failed
    one alone is run.
    """
    if test := _TEST.match(failed):
        programs = {"tests": _programs(changed, cache, [test[1]])["tests"]}
    else:
        name = failed.partition(":")[0]
        programs = {each: program for each, program in _programs(changed, cache, []).items() if each == name != "tests"}
    return _first_failure(root, programs, cache, confined=confined)


def _programs(changed: Sequence[str], cache: Path, tests: Sequence[str]) -> dict[str, list[str]]:
    python = [sys.executable, "-P", "-m"]
    return {
        "ruff": [*python, "ruff", "check", "--no-cache", "--quiet", "--output-format=concise", "--", *changed],
        "mypy": [*python, "mypy", f"--cache-dir={cache}", "--no-error-summary", "--hide-error-context"],
        "tests": [*python, "pytest", "-m", MARKS, "-x", "-q", "-p", "no:cacheprovider", "--", *tests],
    }


def _first_failure(root: Path, programs: Mapping[str, Sequence[str]], cache: Path, *, confined: bool) -> str:
    for name, program in programs.items():
        ended = sandbox.run(
            program,
            seconds=SECONDS[name],
            read=[root],
            write=[cache] if name == "mypy" else [],
            folder=root,
            environment={"PYTHONPATH": f"{root}:{root / 'evals'}", "HYPOTHESIS_STORAGE_DIRECTORY": _EXAMPLES},
            confined=confined,
        )
        if ended.killed:
            return f"{name}: {ended.killed}"
        if ended.status or (name == "tests" and not _PASSED.search(ended.output)):
            return _reason(name, ended)
    return ""


def folders_to_test(root: Path, changed: Sequence[str]) -> list[str]:
    """Return the test folders of changed files, that of the same name; where there is none, the test files that import
    the changed module; else all tests.
    """
    found: dict[str, None] = {}
    for path in changed:
        folder = PurePosixPath("tests", *PurePosixPath(path).parts[1:-1])
        if folder != PurePosixPath("tests") and (root / folder).is_dir():
            found[str(folder)] = None
        else:
            found |= dict.fromkeys(_importing(root, path) or ["tests"])
    return list(found)


def _importing(root: Path, path: str) -> list[str]:
    """Return the test files that import a module."""
    parent, _, name = ".".join(PurePosixPath(path).with_suffix("").parts).rpartition(".")
    pattern = re.compile(
        rf"^\s*(?:from {re.escape(f'{parent}.{name}')} |import {re.escape(f'{parent}.{name}')}\b"
        rf"|from {re.escape(parent)} import .*\b{re.escape(name)}\b)",
        re.MULTILINE,
    )
    return [
        str(each.relative_to(root))
        for each in sorted((root / "tests").rglob("test_*.py"))
        if pattern.search(each.read_text(encoding="utf-8", errors="replace"))
    ]


def _reason(name: str, ended: sandbox.Ended) -> str:
    """Return what failed, in one line."""
    if name == "tests" and (failed := _FAILED.search(ended.output)):
        return f"test {_plain(failed[1])} failed: {_plain(failed[2] or 'see its traceback')}"
    lines = [line for line in ended.output.splitlines() if line.strip()]
    place = -1 if name == "tests" else 0
    said = lines[place] if lines else f"it ended with status {ended.status}"
    return f"{name}: {_plain(said)}"


def _plain(text: str) -> str:
    return one_line(clean(text, MAX_SAID))
