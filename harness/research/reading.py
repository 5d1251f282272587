"""Passages ranked by how likely each answers a question."""

from collections.abc import Sequence

from msgspec import Struct

from harness.errors import InvalidInput
from harness.library.relevance import relevance
from harness.ports import Embedder, Progress, Reader

MAX_PASSAGES = 2_000
MAX_PASSAGE_CHARS = 20_000


class RankedPassage(Struct, frozen=True):
    """A passage with its `rank` (1 is best), its `place` among the given ones (from 1), and the probability (0..1) that
    it answers the question, by the reader and by similarity. `answers` says whether that is enough for an answer.
    """

    rank: int
    place: int
    probability: float
    answers: bool
    text: str


def ranked_passages(
    question: str, passages: Sequence[str], reader: Reader, embedder: Embedder, progress: Progress
) -> list[RankedPassage]:
    """Return the passages, the likeliest first; equally likely ones keep their order.

    Raises:
        InvalidInput: an empty question, no passage, too many, or one that is too long.
        ReaderError: the reader is missing, damaged, or failed.
        EmbeddingError: the embedder failed.
    """
    if not question.strip():
        raise InvalidInput("the question is empty; name one")
    if not passages:
        raise InvalidInput("there are no passages to rank; pass one per line")
    if len(passages) > MAX_PASSAGES:
        raise InvalidInput(f"{len(passages):,} passages are too many; rank at most {MAX_PASSAGES:,} at once")
    if any(len(passage) > MAX_PASSAGE_CHARS for passage in passages):
        raise InvalidInput(f"a passage has more than {MAX_PASSAGE_CHARS:,} characters; split it")
    probabilities, least = relevance(question, passages, reader, embedder, progress), reader.calibration.answers
    order = sorted(range(len(passages)), key=lambda place: -probabilities[place])
    return [
        RankedPassage(rank, place + 1, round(probabilities[place], 4), probabilities[place] >= least, passages[place])
        for rank, place in enumerate(order, start=1)
    ]
