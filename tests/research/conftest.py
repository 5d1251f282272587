"""Fixtures of this layer."""

from typing import Any

import pytest

from tests.research.directed_embedder import DirectedEmbedder


@pytest.fixture
def embedder() -> Any:
    """Return an embedder for which all questions are the same."""
    return DirectedEmbedder()
