"""The embedder of a recorded run: a name, and no vectors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import OfflineMiss
from harness.models.recorded_embedder import RecordedEmbedder
from harness.models.remote.embeddings import OpenAIEmbedder


def test_it_lends_its_name_and_makes_no_vector() -> None:
    """The error is one line with the missing text."""
    recorded = RecordedEmbedder("openai:m@host/v1")
    assert recorded.id == "openai:m@host/v1"
    with pytest.raises(OfflineMiss, match=r"no vectors of openai:m@host/v1 for 'what is\W+a monad'; replay"):
        recorded.embed(["what is\na monad"])
    for ask in (lambda: recorded.dimension, lambda: recorded.embed([])):
        with pytest.raises(OfflineMiss, match="no vectors of openai:m@host/v1; replay"):
            ask()


@given(st.lists(st.text(max_size=50), max_size=5))
def test_it_counts_tokens_as_at_the_time(texts: list[str]) -> None:
    """Documents are cut where the endpoint's embedder has cut them."""
    counted = OpenAIEmbedder("m", "http://host/v1").count_tokens(texts)
    assert RecordedEmbedder("openai:m@host/v1").count_tokens(texts) == counted
