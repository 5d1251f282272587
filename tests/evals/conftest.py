"""Fixtures for evaluations: the program, and tasks on a few notes."""

from pathlib import Path

import pytest

from harness.models.from_settings import Models
from tests.evals.stand_ins import write_tasks
from tests.fakes import WordEmbedder


@pytest.fixture
def tasks_dir(tmp_path: Path) -> Path:
    """A folder with tasks that cost almost nothing: `retries`, `timeouts` (tune), `caches`, `queues` (confirm)."""
    return write_tasks(tmp_path / "suite")


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare texts by their words: loading the model again for each change of settings would be slow."""
    monkeypatch.setattr(Models, "embedder", WordEmbedder())
