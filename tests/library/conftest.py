"""A library in process memory and in a file, the cache and the knowledge base that fill it, a clock that tests set."""

import pytest

from harness.cache import Cache
from harness.knowledge import Knowledge
from harness.library import Library
from harness.ports import Store
from tests.fakes import FakeClock, WordEmbedder


@pytest.fixture
def cache(store: Store, clock: FakeClock) -> Cache:
    """Return an empty cache."""
    return Cache(store, clock=clock)


@pytest.fixture
def knowledge(store: Store, embedder: WordEmbedder, clock: FakeClock) -> Knowledge:
    """Return the empty knowledge base of the same tenant."""
    return Knowledge(store, embedder, clock=clock)


@pytest.fixture
def library(store: Store, embedder: WordEmbedder, clock: FakeClock) -> Library:
    """Return the empty library of the same tenant."""
    return Library(store, embedder, clock=clock)
