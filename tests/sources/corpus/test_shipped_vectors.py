"""Vectors that ship with the program: taken instead of computed, and never instead of another text's or model's."""

import logging
from collections.abc import Sequence
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import pytest

from harness.core.foreign_text import is_english
from harness.models.local.embedder import MiniLM
from harness.models.local.multilingual import Multilingual
from harness.ports import Vectors
from harness.sources.corpus import shipped_vectors
from harness.sources.corpus.engine import open_corpus
from harness.sources.corpus.passage_vectors import key_of, packed
from harness.sources.corpus.shipped_vectors import shipped
from tests.sources.corpus.test_vectors import ConceptEmbedder, on_index, quiet
from training.passages import encoded, texts_of

NOTE = "# Garage\n\nThe car stands inside.\n"
TEXT = "Garage\nThe car stands inside."


class Counting(MiniLM):
    """MiniLM, which notes what it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        self.embedded += texts
        return super().embed(texts)


@pytest.fixture(autouse=True)
def forgotten() -> None:
    """Nothing that another test has read is remembered."""
    shipped.cache_clear()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that ships, with the vector of one note by the embedder of concepts."""
    made = tmp_path / "shipped.vectors"
    made.write_bytes(encoded([TEXT], ConceptEmbedder()))
    monkeypatch.setattr(shipped_vectors, "FILE", made)
    return made


@pytest.fixture
def notes(tmp_path: Path) -> str:
    """A folder with that note."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "garage.md").write_text(NOTE)
    return str(folder)


def test_most_of_the_language_reference_ships(tmp_path: Path) -> None:
    """The first use of the bundled corpus embeds only what no release that ships says in the same words."""
    embedder = Counting()
    assert open_corpus("python-docs", tmp_path, quiet, embedder).options["mode"] == "hybrid"
    assert len(set(embedder.embedded)) < len(set(texts_of(topics))) / 2


def test_what_ships_is_what_the_model_makes() -> None:
    """Taken or computed, a vector is the same but for the last digit that another processor may round otherwise."""
    known, embedder = shipped(MiniLM.id, MiniLM.dimension), MiniLM()
    texts = [text for text in texts_of(topics) if key_of(text) in known][::60]
    assert texts
    for text, made in zip(texts, packed(embedder.embed(texts)), strict=True):
        levels = [np.frombuffer(each[4:], np.int8).astype(int) for each in (known[key_of(text)], made)]
        assert np.abs(levels[0] - levels[1]).max() <= 1


def test_what_ships_serves_with_the_model_for_other_languages_too() -> None:
    """The texts are in English: their other numbers are the zeros that the joined model would store."""
    known, embedder = shipped(Multilingual.id, Multilingual.dimension), Multilingual()
    texts = [text for text in texts_of(topics) if key_of(text) in known][::60]
    english = shipped(MiniLM.id, MiniLM.dimension)
    assert known.keys() == english.keys()
    for text, made in zip(texts, packed(embedder.embed(texts)), strict=True):
        assert known[key_of(text)] == english[key_of(text)] + bytes(512)
        assert len(made) == len(known[key_of(text)])
        assert made[-512:] == bytes(512)


def test_every_shipped_text_counts_as_english() -> None:
    """Else its vector would be another one by the joined model."""
    assert [text for text in texts_of(topics) if not is_english(text)] == []


def test_a_text_that_ships_is_not_embedded(tmp_path: Path, notes: str, file: Path) -> None:
    """Nothing is embedded, even by who does not wait, and the index is as if it had been."""
    embedder = ConceptEmbedder()
    corpus = open_corpus(notes, tmp_path / "indexes", quiet, embedder, waits=False)
    assert (corpus.options["mode"], embedder.embedded) == ("hybrid", [])
    [(vector,)] = on_index(tmp_path, "SELECT vector FROM vectors")
    assert [vector] == packed(ConceptEmbedder().embed([TEXT]))


def test_another_text_is_embedded(tmp_path: Path, notes: str, file: Path) -> None:
    """A text that differs by a letter has no vector that ships."""
    (Path(notes) / "garage.md").write_text(NOTE.replace("car", "cars"))
    embedder = ConceptEmbedder()
    open_corpus(notes, tmp_path / "indexes", quiet, embedder)
    assert embedder.embedded == [TEXT.replace("car", "cars")]


def test_another_embedder_takes_none(tmp_path: Path, notes: str, file: Path) -> None:
    """No vector is used for another model."""
    embedder = ConceptEmbedder()
    embedder.id = "other"
    open_corpus(notes, tmp_path / "indexes", quiet, embedder)
    assert embedder.embedded == [TEXT]


@pytest.mark.parametrize("damage", [lambda made: made[:-1], lambda made: b"no header", lambda made: b"", None])
def test_a_damaged_file_costs_a_warning(
    tmp_path: Path, notes: str, file: Path, damage: object, caplog: pytest.LogCaptureFixture
) -> None:
    """The vectors are computed instead, and one warning says what to do."""
    if callable(damage):
        file.write_bytes(damage(file.read_bytes()))
    else:
        file.unlink()
    embedder = ConceptEmbedder()
    for indexes in ("indexes", "others"):
        assert open_corpus(notes, tmp_path / indexes, quiet, embedder).options["mode"] == "hybrid"
    assert embedder.embedded == [TEXT, TEXT]
    [warning] = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert "reinstall research-harness" in warning
