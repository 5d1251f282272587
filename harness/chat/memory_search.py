"""Search of memories, for a text or for a message in its conversation."""

import logging
from collections.abc import Callable, Iterable, Sequence

from harness.chat.exchanges import MAX_MESSAGE, Exchange, MemoryMatch, remembered_in
from harness.chat.memory_rows import MemoryRows
from harness.chat.strategies import STRATEGIES, Query, RankedMemory, RetrievalStrategy, strategy_named
from harness.chat.strategy_view import View
from harness.core.text import clean, shorten, stems
from harness.errors import HarnessError, InvalidInput, StoreCorrupt
from harness.ports import Vectors
from harness.research.relevance import Wording
from harness.storage.forks import cached_property

log = logging.getLogger(__name__)

MAX_RESULTS = 100
REPLY_CHARS = 300
"""Characters of each earlier answer that go into a search; an answer names its subject at the beginning."""

CONTEXT_MEANING = 0.4
"""Weight of the vector of the earlier exchanges; the message's vector weighs 1."""

CONTEXT_WORDS = 0.2
"""Weight of their words; the message's words weigh 1. Both were chosen on half of the topics of TREC CAsT. Embedding
the question and the earlier ones as one text finds the topic, but seldom the answer.
"""


class MemorySearch:
    """Search by meaning and by words."""

    def __init__(self, rows: MemoryRows, rarity: Callable[[str], int]) -> None:
        self._rows = rows
        self._rarity = rarity

    @cached_property
    def _strategy(self) -> RetrievalStrategy:
        return strategy_named(self._rows.settings)

    def query(self, text: str, k: int = 5) -> list[MemoryMatch]:
        """Return the `k` (1..100) memories closest to a text, however weak the match, best first.

        Raises:
            InvalidInput: no text, or an unusable `k`.
            EmbeddingError: the text cannot be embedded.
            StoreError: the store cannot be read.
        """
        text = clean(text, MAX_MESSAGE)
        if not text:
            raise InvalidInput("type what to search for, such as 'what did I say about tea'")
        if not 1 <= k <= MAX_RESULTS:
            raise InvalidInput(f"k must be 1 to {MAX_RESULTS}, not {k}")
        vector = self._rows.vectors([text])[0]
        return self._matches(Query(vector, {text: 1.0}, k, 0, self._rows.clock(), everything=True), frozenset())

    def context_for(
        self, message: str, earlier: Sequence[Exchange] = (), *, shown: Iterable[str] | None = None
    ) -> list[MemoryMatch]:
        """Return the memories that fit a message, chosen by the strategy of the settings: at most `context_results`,
        best first; none where that is 0. Every strategy leaves out memories below `similarity_floor`, except those with
        the question's rarest word and most of its other words; on LoCoMo this costs no recall.

        `earlier` are the exchanges of this conversation, in order, without commands. The last `search_context_window`
        of them give context to a message that is unclear alone. `shown` are ids to leave out, by default those of
        `earlier`.

        Raises:
            EmbeddingError: the message cannot be embedded.
            StoreError: the store cannot be read.
        """
        settings = self._rows.settings
        message, k = clean(message, MAX_MESSAGE), settings.context_results
        if not message or not k:
            return []
        window = settings.search_context_window
        context = _context(earlier[-window:] if window else ())
        words = {message: 1.0}
        if context:
            words.setdefault(context, CONTEXT_WORDS)
        vector = self._mixed(message, context)
        hidden = frozenset(each.id for each in earlier) if shown is None else frozenset(shown)
        return self._matches(Query(vector, words, k, 2 * len(earlier), self._rows.clock()), hidden)

    def _mixed(self, message: str, context: str) -> Vectors:
        """Return the unit vector of a message, moved towards its context."""
        import numpy as np

        vectors = self._rows.vectors([message, context] if context else [message])
        if not context:
            only: Vectors = vectors[0]
            return only
        mixed = vectors[0] + CONTEXT_MEANING * vectors[1]
        unit: Vectors = (mixed / np.linalg.norm(mixed)).astype(np.float32)  # 1 and 0.4 never cancel out
        return unit

    def _matches(self, query: Query, hidden: frozenset[str]) -> list[MemoryMatch]:
        """Return the memories that the strategy chooses. Those below the similarity floor, damaged or deleted meanwhile
        are skipped.
        """
        view = View(self._rows, now=query.now, hidden=hidden)
        wording = Wording.of(next(iter(query.words)), self._rarity)
        matches = list[MemoryMatch]()
        for each in self._chosen(query, view):
            entry = self._rows.row(each.key)
            if entry is None or each.key in hidden:
                continue
            near = view.similarity(entry, query.vector) if each.similarity is None else each.similarity
            near_enough = query.everything or near >= self._rows.settings.similarity_floor
            if not near_enough and not wording.matches(frozenset(stems(entry.text))):
                continue
            try:
                matches.append(MemoryMatch(remembered_in(entry), near, each.score))
            except StoreCorrupt as error:
                log.warning("%s", error)
        return matches

    def _chosen(self, query: Query, view: View) -> Sequence[RankedMemory]:
        strategy = self._strategy
        try:
            return list(strategy.retrieve(query, view))[: query.k]
        except HarnessError:
            raise
        except Exception as error:
            name = self._rows.settings.retrieval_strategy
            if name in STRATEGIES:
                raise
            # third-party code may raise anything; the conversation continues without memories
            reason = clean(f"{type(error).__name__}: {error}", 200)
            raise InvalidInput(
                f"the retrieval strategy {name!r} failed ({reason}); fix it or choose another"
            ) from error


def _context(window: Sequence[Exchange]) -> str:
    """Return the last exchanges as text, latest first: an embedder reads the beginning of a long text."""
    texts = (
        f"{each.user_message}\n{shorten(each.assistant_message, REPLY_CHARS)}".strip() for each in reversed(window)
    )
    return "\n".join(texts)
