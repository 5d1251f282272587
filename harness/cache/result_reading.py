"""Reading of stored results for another query: the reader and the rules of `core.equivalence.results`."""

import logging
from collections.abc import Sequence
from typing import Self

from harness.core.equivalence.results import LEAST, ResultDecision, decide_by_results, read_result
from harness.core.foreign_text import is_english
from harness.core.reading_calibration import least_probability
from harness.errors import EmbeddingError, ReaderError
from harness.library.relevance import relevance
from harness.ports import Embedder, Reader

log = logging.getLogger(__name__)

MAX_READ = 6
"""Results that are read, the first ones: a tenth of a second for both queries."""
MAX_CHARS = 800
"""Characters of a result that are read."""


class ResultReading:
    """Decides whether the results of one query answer another; `max_wrong` is the share (0..1) of wrong answers."""

    @classmethod
    def of(cls, reader: Reader, embedder: Embedder, max_wrong: float) -> Self | None:
        """Return the reading; `None` if no calibrated probability is enough for `max_wrong`."""
        return cls(reader, embedder, max_wrong) if least_probability(max_wrong, LEAST) <= 1 else None

    def __init__(self, reader: Reader, embedder: Embedder, max_wrong: float) -> None:
        self._reader = reader
        self._embedder = embedder
        self._max_wrong = max_wrong

    def decide(self, query: str, other: str, texts: Sequence[str], similarity: float) -> ResultDecision | None:
        """Return the decision about texts that `other` found; `None` if they cannot be read, which is logged, or if a
        query or a text is not in English, which the reader reads.
        """
        first = [text[:MAX_CHARS] for text in texts[:MAX_READ]]
        if not first or not all(map(is_english, (query, other, *first))):
            return None
        try:
            new, before = (relevance(each, first, self._reader, self._embedder) for each in (query, other))
        except (ReaderError, EmbeddingError) as error:
            log.warning("results are not read for other queries: %s", error)
            return None
        read = [read_result(query, *each) for each in zip(first, new, before, strict=True)]
        return decide_by_results(read, similarity, self._max_wrong)
