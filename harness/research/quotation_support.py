"""Support of sentences by their quotations: rules about words and the reader decide together."""

import logging
from collections.abc import Sequence

from msgspec import Struct

from harness.cache import Cache
from harness.core.foreign_text import is_english
from harness.core.support import Support, SupportProbabilities, is_repeated, supports
from harness.errors import ReaderError
from harness.ports import Reader
from harness.settings.code_digest import source_digest

log = logging.getLogger(__name__)

MAX_READ, MAX_CHARS = 300, 3_000
"""Sentences of one report that are read, and characters of a pair; rules alone check the rest."""

Pair = tuple[str, str]
"""A sentence and its quotation."""


class QuotationSupport(Struct, frozen=True):
    """Checker of sentences. `reader`, which reads English, is `None` where only rules decide; with a `cache`, what it
    says is read once for a question, and again after `ttl` seconds.
    """

    reader: Reader | None
    cache: Cache | None = None
    ttl: float = 0.0

    def check(self, question: str, pairs: Sequence[Pair], contexts: Sequence[str]) -> list[Support]:
        """Return the support of each sentence by its quotation; see `supports` for the contexts. If the reader fails,
        the rules decide, with a warning in the log.

        Raises:
            StoreError: the cache cannot be read.
        """
        short = (pair for pair in dict.fromkeys(pairs) if len(pair[0]) + len(pair[1]) <= MAX_CHARS)
        worded = [pair for pair in short if not is_repeated(*pair) and all(map(is_english, pair))][:MAX_READ]
        known = dict[Pair, SupportProbabilities]()
        calibration = None
        if self.reader is not None and worded:
            try:
                known = dict(zip(worded, self._read(question, worded, self.reader), strict=True))
                calibration = self.reader.calibration
            except ReaderError as error:
                log.warning("%s; until then rules alone check quotations", error)
        return [
            supports(sentence, quotation, context=context, read=known.get((sentence, quotation)), by=calibration)
            for (sentence, quotation), context in zip(pairs, contexts, strict=True)
        ]

    def _read(self, question: str, pairs: Sequence[Pair], reader: Reader) -> Sequence[SupportProbabilities]:
        def compute() -> list[SupportProbabilities]:
            return [reader.supports(sentence, [quotation])[0] for sentence, quotation in pairs]

        if self.cache is None:
            return compute()
        ranking = f"support {reader.id} {source_digest(__name__)}"
        kept = self.cache.derived.get(question, ranking, pairs, compute, list[SupportProbabilities], ttl=self.ttl)
        return kept if len(kept) == len(pairs) else compute()  # a cached row may come from another user's file


BY_WORDS = QuotationSupport(None)
"""Rules alone."""
