"""Knowledge in process memory and in a file, a word embedder, and a clock that tests set."""

import pytest

from harness.knowledge import Knowledge
from harness.ports import Store
from tests.fakes import FakeClock, WordEmbedder


@pytest.fixture
def knowledge(store: Store, embedder: WordEmbedder, clock: FakeClock) -> Knowledge:
    """Return one tenant's empty knowledge."""
    return Knowledge(store, embedder, clock=clock)
