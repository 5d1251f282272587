"""The wheel: what it installs, and that what it installs is typed and works."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SNIPPET = """\
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from search_cache import acached_search, aget, cached_search, get


def my_search(query: str, max_results: int) -> list[dict[str, Any]]:
    return []


def as_text(query: str) -> str:
    return query


async def as_dict(query: str) -> dict[str, int]:
    return {}


@dataclass
class Found:
    title: str


def as_found(query: str) -> Iterator[Found]:
    yield Found(query)


results = cached_search("best practices for rag pipelines", my_search)
reveal_type(results)
reveal_type(cached_search("q", as_text))
reveal_type(cached_search("q", as_found))
reveal_type(get("q"))


async def use() -> None:
    reveal_type(await acached_search("q", as_dict))
    reveal_type(await acached_search("q", my_search))
    await aget("q")
"""


def test_the_wheel_takes_no_name_that_is_not_its_own(wheel: Path) -> None:
    """At the top there is what the project is named for; above all no `evals`, which is a package on PyPI."""
    names = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {
        "autoresearch.py", "harness", "harness_evals", "search_cache-stubs", "search_cache.py",
    }  # fmt: skip


def test_what_is_installed_has_its_types_and_licences(wheel: Path) -> None:
    """Both packages are marked as typed; the licences of what they contain come with them."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {"harness/py.typed", "harness_evals/py.typed", "search_cache-stubs/__init__.pyi"} <= set(names)
    licences = {name.partition("/licenses/")[2] for name in names} - {""}
    assert licences == {"LICENSE", "NOTICE", "LICENSES/Unicode-3.0.txt"}


def test_what_is_installed_is_typed(python: Path, tmp_path: Path) -> None:
    """`mypy --strict` takes the import of the README, and knows what each kind of function brings."""
    file = tmp_path / "snippet.py"
    file.write_text(SNIPPET)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", tmp_path, file],
        capture_output=True, text=True, cwd=tmp_path, check=False, env=_environment(),
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout
    told = [line.partition("Revealed type is ")[2].strip('"') for line in checked.stdout.splitlines()]
    assert [each.replace("builtins.", "") for each in told if each] == [
        "list[dict[str, Any]]", "str", "Any", "Any", "dict[str, Any]", "list[dict[str, Any]]",
    ]  # fmt: skip


def test_the_evaluation_tasks_are_installed(python: Path, tmp_path: Path) -> None:
    """Also if another package `evals` is installed."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "__init__.py").write_text("theirs = True\n")
    dependencies = sysconfig.get_path("purelib")
    program = f"""
import sys
sys.path.append({dependencies!r})
import evals
from harness_evals.tasks import TASKS_DIR, load_tasks
print(evals.theirs, len(load_tasks()), TASKS_DIR)
"""
    ended = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True, env=_environment()
    )
    theirs, count, folder = ended.stdout.split()
    assert (theirs, count) == ("True", "38")
    assert Path(folder).is_relative_to(python.parents[1])


def _environment() -> dict[str, str]:
    """Return the environment without what leads to this working tree."""
    return {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "MYPYPATH"}}
