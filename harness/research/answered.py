"""Probability that the evidence answers a question, by the reader."""

import logging
from collections.abc import Iterable, Sequence

from harness.cache import Cache
from harness.errors import ReaderError
from harness.ports import Reader
from harness.research.evidence import Evidence, cached_evidence
from harness.research.gathering import GatheredSource
from harness.research.scoring import ChunkSet
from harness.settings import WritingSettings

log = logging.getLogger(__name__)


def likeliest_answer(
    sources: Sequence[GatheredSource],
    chunk_set: ChunkSet,
    cache: Cache,
    *,
    ttl: float,
    reader: Reader | None,
    parts: Sequence[str],
) -> float | None:
    """Return how likely (0..1) the sources answer the question, or the `parts` that it has: that of the part that they
    answer least. It depends on no setting for writing. `None` if no reader reads them, or if it does not work.

    Raises:
        EmbeddingError: the embedder failed.
        StoreError: the cache cannot be read.
    """
    if reader is None:
        return None
    try:
        evidence = cached_evidence(sources, chunk_set, cache, WritingSettings(), ttl=ttl, reader=reader, parts=parts)
    except ReaderError as error:
        log.debug("%s; similarity decides", error)  # a warning follows where excerpts are chosen
        return None
    if evidence and likeliest_help(evidence) is None:
        return None
    return min(likeliest_help(evidence, part) or 0.0 for part in range(max(1, len(parts))))


def likeliest_help(evidence: Iterable[Evidence], part: int | None = None) -> float | None:
    """Return how likely (0..1) the best excerpt helps, of those about a part of the question if one is named; `None` if
    no reader read any. Statements that disagree do not count.
    """
    read = (found.helps for found in evidence if not found.disagrees and part in {None, found.part})
    return max((helps for helps in read if helps is not None), default=None)
