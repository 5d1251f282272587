"""The vectors of the language reference that ship: made of the topics of Python releases."""

from pathlib import Path
from pydoc_data import topics as module

import pytest

from harness.sources.corpus.shipped_vectors import FILE
from tests.sources.corpus.test_vectors import ConceptEmbedder
from training.passages import encoded, texts_of, topics_in


def test_topics_are_read_without_running_them() -> None:
    """A `topics.py` of any release is parsed, and is what importing it gives."""
    assert module.__file__ is not None
    assert topics_in(Path(module.__file__)) == module.topics


def test_another_file_is_refused(tmp_path: Path) -> None:
    """The error names what to pass."""
    (tmp_path / "other.py").write_text("subjects = {}\n")
    with pytest.raises(ValueError, match="name a pydoc_data"):
        topics_in(tmp_path / "other.py")


def test_the_same_texts_make_the_same_file() -> None:
    """In whatever order, and however often, they come."""
    texts = texts_of({"a": "Apples\n\nThey are red.", "b": "Pears\n\nThey are green."})
    embedder = ConceptEmbedder()
    assert encoded(texts, embedder) == encoded([*reversed(texts), texts[0]], embedder)


def test_the_file_that_ships_is_small() -> None:
    """It is part of every installation: below 1.5 MB."""
    assert FILE.stat().st_size < 1_500_000
