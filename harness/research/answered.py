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


def answer_probability(
    sources: Sequence[GatheredSource],
    chunk_set: ChunkSet,
    cache: Cache,
    *,
    ttl: float,
    reader: Reader | None,
    parts: Sequence[str],
) -> float | None:
    """Return the probability (0..1) that the sources answer the question; with several `parts`, that of the part which
    they answer least. Settings for writing do not change it. `None` without a reader, or if it does not work.

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
    if evidence and help_probability(evidence) is None:
        return None
    return min(help_probability(evidence, part) or 0.0 for part in range(max(1, len(parts))))


def help_probability(evidence: Iterable[Evidence], part: int | None = None) -> float | None:
    """Return the probability (0..1) that the best excerpt helps, of all or of those about a `part` of the question.
    Statements that disagree do not count. `None` if no reader read any.
    """
    read = (found.helps for found in evidence if not found.disagrees and part in {None, found.part})
    return max((helps for helps in read if helps is not None), default=None)
