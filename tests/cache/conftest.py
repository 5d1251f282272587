"""Stores and clocks for the tests of the cache."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.storage.sqlite.store import SqliteStore
from tests.fakes import FakeClock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """An empty store on disk."""
    opened = SqliteStore(tmp_path / "harness.db")
    yield opened
    opened.close()


@pytest.fixture
def clock() -> FakeClock:
    """The time of the caches under test."""
    return FakeClock()
