"""Figures of the pages: each names the command that prints it, and its day."""

import importlib.util
import re
from pathlib import Path

import pytest

from tests.docs.guides import AT_THE_ROOT, DOCS, PAGES, ROOT

MEASURED = [DOCS / "explanation" / name for name in ("measurements.md", "comparison.md", "scale.md")]
_COMMAND = re.compile(r"`(?:python -m (?:benchmarks|training)\.\w+|make bench|make bench-scale|harness eval \w+)")
_MODULE = re.compile(r"python -m ((?:benchmarks|training)\.\w+)")
_DAY = re.compile(
    r"\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}"
)


def sections(page: Path) -> dict[str, str]:
    """Return the text below each heading of the second level."""
    return {part.partition("\n")[0]: part for part in page.read_text(encoding="utf-8").split("\n## ")[1:]}


@pytest.mark.parametrize("heading", sections(MEASURED[0]))
def test_each_measurement_names_its_command_and_its_day(heading: str) -> None:
    """Each section has both; the last one describes figures of the reader."""
    text = sections(MEASURED[0])[heading]
    if heading == "Your own figures":
        return
    assert _COMMAND.search(text)
    assert _DAY.search(text)


@pytest.mark.parametrize("page", MEASURED, ids=lambda page: page.name)
def test_a_page_of_figures_has_commands_and_a_day(page: Path) -> None:
    """Facts about other programs have a day, too."""
    text = page.read_text(encoding="utf-8")
    assert _COMMAND.search(text)
    assert _DAY.search(text)


@pytest.mark.parametrize("page", [*AT_THE_ROOT, *PAGES, ROOT / "benchmarks" / "README.md"], ids=lambda page: page.name)
def test_the_measurements_that_a_page_names_exist(page: Path) -> None:
    """A benchmark that was renamed or removed fails here."""
    for module in _MODULE.findall(page.read_text(encoding="utf-8")):
        assert importlib.util.find_spec(module), module


def test_the_list_of_benchmarks_is_complete() -> None:
    """Every module that can be run is in the table."""
    listed = set(_MODULE.findall((ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")))
    for path in (ROOT / "benchmarks").glob("*.py"):
        runs = 'if __name__ == "__main__"' in path.read_text(encoding="utf-8")
        assert not runs or f"benchmarks.{path.stem}" in listed or path.stem == "semantic_child", path.name
