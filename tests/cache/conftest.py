"""Stores and clocks for the tests of the cache."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.storage.sqlite.store import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """An empty store on disk."""
    opened = SqliteStore(tmp_path / "harness.db")
    yield opened
    opened.close()
