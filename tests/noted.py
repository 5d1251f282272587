"""Fixtures of servers: a workbench with a small folder of notes to search in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.settings import Settings
from harness.workbench import Workbench
from tests.cli.conftest import notes

__all__ = ["notes", "settings", "workbench"]


@pytest.fixture
def settings(tmp_path: Path, notes: str) -> Settings:
    """Settings as the program reads them in these tests."""
    return Settings(data_dir=tmp_path / "data", engine=(notes,), corpus_meaning=False)


@pytest.fixture
def workbench(settings: Settings) -> Iterator[Workbench]:
    """The local user's workbench."""
    with Workbench(settings) as opened:
        yield opened
