"""Memories in process memory and in a file, a word embedder, and a clock that tests set."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.chat import Memory
from harness.ports import Store
from harness.settings import VectorStoreSettings
from tests.fakes import FakeClock, WordEmbedder


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Return the path of the journal."""
    return tmp_path / "journal.jsonl"


@pytest.fixture
def remembering(
    store: Store, embedder: WordEmbedder, clock: FakeClock, journal: Path, tmp_path: Path
) -> Iterator[Callable[..., Memory]]:
    """Return a factory of memories over that store; all are closed at the end."""
    made: list[Memory] = []

    def make(*, tenant: str = "default", opens: Any = store, model: Any = embedder, **settings: Any) -> Memory:
        memory = Memory(
            opens,
            model,
            VectorStoreSettings(**settings),
            tenant=tenant,
            place="here",
            clock=clock,
            journal=journal,
            documents_folder=tmp_path / "documents",
        )
        made.append(memory)
        return memory

    yield make
    for memory in made:
        memory.close()


@pytest.fixture
def memory(remembering: Callable[..., Memory]) -> Memory:
    """Return the empty memory of one tenant."""
    return remembering()
