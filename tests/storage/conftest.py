"""Let a failing assertion of the contract show its values, as one in a test module does."""

from pathlib import Path

import pytest

from harness.storage import checksums

pytest.register_assert_rewrite("tests.storage.contract", "tests.storage.words")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the database will be."""
    return tmp_path / "harness.db"


@pytest.fixture
def index(path: Path) -> Path:
    """Return the place of the index of words."""
    return path.with_name(f"{path.name}.words")


@pytest.fixture(autouse=True)
def nothing_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Damage is reported once a process: forget what earlier tests reported."""
    monkeypatch.setattr(checksums, "_reported", set())
