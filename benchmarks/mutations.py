"""Mutations: how many small changes of the code the unit tests notice.

    python -m benchmarks.mutations [--root CHECKOUT] [--count 300] [--seed 1] [--workers 2]

Draws changes with a fixed seed from the functions of `harness/core` and `harness/cache`: another comparison, `and` for
`or`, a negated condition, another number, other arithmetic, `None` returned. For each, a forked child gets the changed
function and runs the tests that reach the line (measured once, with coverage.py), at most `MAX_TESTS`. Processes that a
test starts do not see the change. Prints how many changes were noticed, and each that was not.
"""

import argparse
import ast
import gc
import os
import random
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import coverage
import pytest

from benchmarks.rows import entry_point

FOLDERS = ("core", "cache")
MAX_TESTS = 40
TIMEOUT = 60
"""Seconds that the tests of one mutation may take."""
UNUSED = 77
"""Exit status of a child in which no function has the changed code."""
OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not full and not slow and not postgres"]
OPTIONS += [f"tests/{folder}" for folder in FOLDERS]
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}


class Mutation(NamedTuple):
    """One change: from `start` to `end` (bytes of the file) to `text`; `line` is the one that tests must reach."""

    file: str
    line: int
    start: int
    end: int
    text: str


def _changed(node: ast.AST) -> ast.expr | None:
    """Return another expression in place of this one; `None` if no mutation applies."""
    changed: ast.expr | None = None
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            changed = ast.Compare(node.left, [COMPARISONS[type(op)]()], node.comparators)
        case ast.BoolOp(op=op):
            changed = ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), node.values)
        case ast.UnaryOp(op=ast.Not()):
            changed = node.operand
        case ast.BinOp(op=op) if type(op) in ARITHMETIC and not isinstance(node.left, ast.Constant | ast.JoinedStr):
            changed = ast.BinOp(node.left, ARITHMETIC[type(op)](), node.right)
        case ast.Constant(value=bool() as value):
            changed = ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            changed = ast.Constant(value + 1)
        case ast.IfExp(test=test):
            changed = ast.IfExp(ast.UnaryOp(ast.Not(), test), node.body, node.orelse)
    return changed


def _mutations(root: Path, file: Path) -> Iterator[Mutation]:
    source = file.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for statement in function.body:
            for node in ast.walk(statement):
                text: str | None = None
                if isinstance(node, ast.expr) and (changed := _changed(node)) is not None:
                    text = f"({ast.unparse(ast.fix_missing_locations(changed))})"
                elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
                    text = "return None"
                if text is not None:
                    start = starts[node.lineno - 1] + node.col_offset
                    end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
                    yield Mutation(str(file.relative_to(root)), node.lineno, start, end, text)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


class _Reached:
    """Plugin that names the running test to coverage.py."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured = measured

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self._measured.switch_context(item.nodeid)
        yield


class _Tries:
    """Plugin that runs, instead of all tests, those of each mutation in a separate child."""

    def __init__(self, tests: Mapping[tuple[str, int], list[str]], drawn: list[Mutation], workers: int) -> None:
        self._tests = tests
        self._drawn = drawn
        self._workers = workers
        self.outcomes = dict[Mutation, str]()

    def pytest_runtestloop(self, session: Any) -> bool:
        items = {item.nodeid: item for item in session.items}
        running = dict[int, Mutation]()
        for mutation in self._drawn:
            names = [name for name in self._tests.get((mutation.file, mutation.line), ()) if name in items]
            if not names:
                self.outcomes[mutation] = "not reached"
                continue
            few = random.Random(1).sample(names, min(MAX_TESTS, len(names)))
            if len(running) == self._workers:
                self._wait(running)
            if (child := os.fork()) == 0:
                _run_mutated(session, mutation, [items[name] for name in few])
            running[child] = mutation
        while running:
            self._wait(running)
        return True

    def _wait(self, running: dict[int, Mutation]) -> None:
        child, status = os.wait()
        if mutation := running.pop(child, None):
            unused = status == UNUSED << 8
            self.outcomes[mutation] = "not reached" if unused else "noticed" if status else "missed"


def _run_mutated(session: Any, mutation: Mutation, items: list[Any]) -> None:
    """Change the function, run the tests and end the process: 0 if all pass. One that hangs is killed."""
    signal.alarm(TIMEOUT)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    if not _install(mutation):
        os._exit(UNUSED)
    for item in items:
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed:
            os._exit(1)
    os._exit(0)


def _install(mutation: Mutation) -> bool:
    """Give every live function of the changed code its new code; return whether there is any."""
    file = Path(mutation.file).resolve()
    source = file.read_bytes()
    changed = source[: mutation.start] + mutation.text.encode() + source[mutation.end :]
    before, after = (_codes(compile(text, str(file), "exec")) for text in (source, changed))
    found = False
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename == str(file):
            name = (each.__code__.co_qualname, each.__code__.co_firstlineno)
            if name in before and name in after and before[name] != after[name]:
                each.__code__ = after[name]
                found = True
    return found


def _codes(module: CodeType) -> dict[tuple[str, int], CodeType]:
    """Return every code object in a module, by qualified name and first line."""
    found = dict[tuple[str, int], CodeType]()
    waiting = [module]
    while waiting:
        code = waiting.pop()
        found[code.co_qualname, code.co_firstlineno] = code
        waiting.extend(each for each in code.co_consts if isinstance(each, CodeType))
    return found


def _tests_by_line() -> dict[tuple[str, int], list[str]]:
    """Run the tests once, in a child; return those that reach each line, by file and line."""
    data = Path(f".coverage-mutations-{os.getpid()}").resolve()
    if (child := os.fork()) == 0:
        measured = coverage.Coverage(str(data), source=[f"harness/{folder}" for folder in FOLDERS])
        measured.start()
        failed = pytest.main(OPTIONS, plugins=[_Reached(measured)])
        measured.stop()
        measured.save()
        os._exit(int(failed))
    if os.waitpid(child, 0)[1]:
        raise SystemExit("error: the tests fail before anything is changed; fix them first")
    covered = coverage.CoverageData(str(data))
    covered.read()
    found = dict[tuple[str, int], list[str]]()
    for file in covered.measured_files():
        name = str(Path(file).relative_to(Path.cwd()))
        for line, contexts in covered.contexts_by_lineno(file).items():
            found[name, line] = sorted(each for each in contexts if each)
    data.unlink()
    return found


@entry_point
def main() -> None:
    """Draw, run and report the mutations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    os.chdir(root)
    sys.path[:] = [str(root), *(path for path in sys.path if Path(path).resolve() != Path(__file__).parent)]
    files = [file for folder in FOLDERS for file in sorted((root / "harness" / folder).rglob("*.py"))]
    possible = [mutation for file in files for mutation in _mutations(root, file)]
    drawn = random.Random(arguments.seed).sample(possible, min(arguments.count, len(possible)))
    tries = _Tries(_tests_by_line(), drawn, arguments.workers)
    pytest.main(OPTIONS, plugins=[tries])
    for mutation, outcome in tries.outcomes.items():
        if outcome != "noticed":
            print(f"{outcome}: {mutation.file}:{mutation.line}: {mutation.text.splitlines()[0]:.90}")
    noticed = sum(outcome == "noticed" for outcome in tries.outcomes.values())
    print(f"{noticed} of {len(drawn)} noticed ({len(possible):,} possible, seed {arguments.seed})")


if __name__ == "__main__":
    main()
