"""Reranking of search results: the best of a round by what they say, not only by where an engine ranks them."""

import logging
from collections.abc import Sequence
from typing import Any, TypeAlias

from harness.cache import Cache
from harness.core.text import one_line
from harness.errors import EmbeddingError, ReaderError
from harness.library.relevance import fused_with_ranks, improves_order, relevance
from harness.ports import Embedder, Reader
from harness.settings.code_digest import source_digest

log = logging.getLogger(__name__)

MAX_CHARS = 600
"""Characters of a result that are read: a search excerpt, or the beginning of a passage. Reading takes up to 20 ms."""

Found: TypeAlias = tuple[str, list[dict[str, Any]]]
"""A URL and its results."""


def reranked(
    question: str, found: Sequence[Found], reader: Reader, embedder: Embedder, cache: Cache, *, most: int, ttl: float
) -> list[Found]:
    """Return the results with the first `most` in another order: by fusion of the given ranks with those by relevance,
    which the reader and the vectors decide (see `relevance`). The rest follows. The order comes from the cache if it is
    there. If reader or embedder fails, or the question is a statement (see `improves_order`), the given order stays.

    Raises:
        StoreError: the cache cannot be read.
    """
    first = list(found[:most])
    if len(first) < 2 or not improves_order(question):
        return list(found)
    texts = [_text(results[0]) for _, results in first]

    def compute() -> list[int]:
        return fused_with_ranks(relevance(question, texts, reader, embedder))

    try:
        ranking = f"rerank {reader.id} {reader.calibration} {embedder.id} {source_digest(__name__)}"
        order = cache.derived.get(question, ranking, texts, compute, list[int], ttl=ttl)
        if sorted(order) != list(range(len(first))):  # a cached row may come from another user's file
            order = compute()
    except (ReaderError, EmbeddingError) as error:
        log.debug("%s; results keep the engines' order", error)  # a warning follows where excerpts are chosen
        return list(found)
    return [*(first[place] for place in order), *found[most:]]


def _text(result: dict[str, Any]) -> str:
    title, body = (one_line(str(result.get(name) or "")) for name in ("title", "body"))
    return f"{title}: {body}"[:MAX_CHARS]
