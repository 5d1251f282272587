"""Fixtures: the program, and notes to search."""

from pathlib import Path

import pytest

NOTES = {
    "retries": "# Retries\n\nRetries use exponential backoff and stop after five failed attempts.\n\n"
    "A retry budget limits how many retries a client may make.\n",
    "timeouts": "# Timeouts\n\nA timeout bounds how long a client waits for the server before it retries.\n",
    "caches": "# Caches\n\nA cache keeps answers so that the same question is not asked twice.\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> str:
    """The engine for a small folder of notes."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / f"{name}.md").write_text(text)
    return f"corpus:{folder}"
