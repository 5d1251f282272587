"""Knowledge in process memory and in a file, a word embedder, and a clock that tests set."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.knowledge import Knowledge
from harness.ports import Store
from harness.storage.sqlite.store import SqliteStore
from tests.fakes import FakeClock, MemoryStore, WordEmbedder


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return an empty store: one in memory, and one in a file."""
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "team.db")
    yield made
    made.close()


@pytest.fixture
def clock() -> FakeClock:
    """Return a clock that only tests advance."""
    return FakeClock()


@pytest.fixture
def embedder() -> WordEmbedder:
    """Return an embedder for which a text is the sum of its words."""
    return WordEmbedder()


@pytest.fixture
def knowledge(store: Store, embedder: WordEmbedder, clock: FakeClock) -> Knowledge:
    """Return one tenant's empty knowledge."""
    return Knowledge(store, embedder, clock=clock)
