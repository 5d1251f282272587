"""The settings of programs that work on a team's database."""

from pathlib import Path

import pytest

from harness.settings import Settings
from tests.storage.postgres.servers import Server


@pytest.fixture
def settings(tmp_path: Path, notes: str, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings as the program reads them in these tests: in this process, and in those that it starts."""
    postgres.empty()
    monkeypatch.setenv("HARNESS_STORE", postgres.url)
    return Settings(data_dir=tmp_path / "data", engine=(notes,), corpus_meaning=False, store=postgres.url)
