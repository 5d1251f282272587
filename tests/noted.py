"""Fixtures for servers: an app with a small folder of notes to search."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.app import App
from harness.settings import Settings
from tests.cli.conftest import notes

__all__ = ["app", "notes", "settings"]


@pytest.fixture
def settings(tmp_path: Path, notes: str) -> Settings:
    """Return the settings of the program in these tests."""
    return Settings(data_dir=tmp_path / "data", engine=(notes,), corpus_meaning=False)


@pytest.fixture
def app(settings: Settings) -> Iterator[App]:
    """Return the local user's app."""
    with App(settings) as opened:
        yield opened
