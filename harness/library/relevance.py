"""Relevance of texts to a question, by reader and vectors."""

from collections.abc import Sequence

from harness.core.rank_fusion import reciprocal_rank_fusion
from harness.ports import Embedder, Progress, Reader, silent


def relevance(
    question: str, texts: Sequence[str], reader: Reader, embedder: Embedder, progress: Progress = silent
) -> list[float]:
    """Return how likely (0..1) each text answers the question.

    Raises:
        ReaderError: the reader is missing, damaged, or failed.
        EmbeddingError: the embedder failed.
    """
    read = list[float]()
    for done, text in enumerate(texts):
        progress("reading passages", done, len(texts))
        read += reader.answers(question, [text])
    progress("reading passages", len(texts), len(texts))
    vectors = embedder.embed([question, *texts])
    calibration = reader.calibration.with_vectors_of(embedder.id)
    near = (vectors[1:] @ vectors[0]).tolist()
    return [calibration.relevance(*each) for each in zip(read, near, strict=True)]


def fused_with_ranks(likely: Sequence[float]) -> list[int]:
    """Return the places of texts in a new order: their present ranks, fused with those by relevance."""
    by_relevance = sorted(range(len(likely)), key=lambda place: -likely[place])
    return list(reciprocal_rank_fusion([by_relevance, range(len(likely))]))
