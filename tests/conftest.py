"""Fixtures for every test: nothing of the developer's own settings or data is ever read or written."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import search_cache
from harness.stores import connections


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests of PostgreSQL where they are not asked for: they import what `make test` does not install."""
    wanted = "not postgres" not in config.option.markexpr
    return None if wanted or collection_path.name != "postgres" else True


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Give each test a data directory and a (missing) configuration directory of its own."""
    for variable in list(os.environ):
        if variable.startswith("HARNESS_") or variable == "RESEARCH_CACHE":
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HARNESS_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HARNESS_CORPUS_MEANING", "0")  # embedding a corpus takes half a minute
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    yield
    search_cache.close()
    for each in list(connections._all):  # Python 3.13 warns of connections that nobody closed
        each.reopen()
