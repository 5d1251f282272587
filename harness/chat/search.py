"""Finding: what fits a text, and what fits what is being talked about."""

import logging
from collections.abc import Iterable, Sequence

from harness.chat.collection import Collection
from harness.chat.exchanges import MAX_MESSAGE, Exchange, Match, remembered_in
from harness.chat.strategies import STRATEGIES, Query, Ranked
from harness.chat.strategy_view import View
from harness.core.text import clean, shorten, stems
from harness.errors import HarnessError, InvalidInput, StoreCorrupt
from harness.ports import Vectors
from harness.research.relevance import Wording

log = logging.getLogger(__name__)

MAX_RESULTS = 100
REPLY_CHARS = 300
"""Characters of each reply that a look-up is made of, too: what it is about is said first."""

CONTEXT_MEANING = 0.4
"""What the vector of the exchanges before weighs beside that of the message, which weighs 1."""

CONTEXT_WORDS = 0.2
"""What their words weigh beside those of the message. Both were chosen on half of the topics of TREC CAsT: the question
and those before it embedded as one text find the topic, but seldom what was asked of it.
"""


class Finding(Collection):
    """What is looked up by meaning and by words."""

    def query(self, text: str, k: int = 5) -> list[Match]:
        """Return the `k` (1..100) memories that fit a text best, however little they do, best first.

        Raises:
            InvalidInput: no text, or an unusable `k`.
            EmbeddingError: the text cannot be embedded.
            StoreError: the store cannot be read.
        """
        text = clean(text, MAX_MESSAGE)
        if not text:
            raise InvalidInput("say what to look for, as 'what did I say about tea'")
        if not 1 <= k <= MAX_RESULTS:
            raise InvalidInput(f"1 to {MAX_RESULTS} results can be asked for, not {k}")
        vector = self._vectors([text])[0]
        return self._matches(Query(vector, {text: 1.0}, k, 0, self._clock(), everything=True), frozenset())

    def context_for(
        self, message: str, earlier: Sequence[Exchange] = (), *, shown: Iterable[str] | None = None
    ) -> list[Match]:
        """Return what is remembered that fits a message, by the strategy of the settings: at most `context_results`,
        best first; nothing where they are 0. Whichever strategy it is, a memory below `similarity_floor` is left out,
        unless it has the question's rarest word and most of the others: on LoCoMo that costs no recall.

        `earlier` are the exchanges of this conversation, in order, without commands. The last `search_context_window`
        of them say what a message is about that means nothing alone. `shown` are the ids of what is not returned; none
        given: those of `earlier`.

        Raises:
            EmbeddingError: the message cannot be embedded.
            StoreError: the store cannot be read.
        """
        message, k = clean(message, MAX_MESSAGE), self.settings.context_results
        if not message or not k:
            return []
        window = self.settings.search_context_window
        context = _context(earlier[-window:] if window else ())
        words = {message: 1.0}
        if context:
            words.setdefault(context, CONTEXT_WORDS)
        vector = self._mixed(message, context)
        hidden = frozenset(each.id for each in earlier) if shown is None else frozenset(shown)
        return self._matches(Query(vector, words, k, 2 * len(earlier), self._clock()), hidden)

    def _mixed(self, message: str, context: str) -> Vectors:
        """Return the unit vector of a message, turned towards what was said before it."""
        import numpy as np

        vectors = self._vectors([message, context] if context else [message])
        if not context:
            only: Vectors = vectors[0]
            return only
        mixed = vectors[0] + CONTEXT_MEANING * vectors[1]
        unit: Vectors = (mixed / np.linalg.norm(mixed)).astype(np.float32)  # 1 and 0.4 never add up to nothing
        return unit

    def _matches(self, query: Query, hidden: frozenset[str]) -> list[Match]:
        """Have the strategy choose, and fetch what it chose. What is below the floor of similarity, damaged or deleted
        meanwhile is passed over.
        """
        view = View(
            self._store,
            self._words,
            tenant=self._tenant,
            collection=self._name,
            embedder=self._embedder.id,
            now=query.now,
            hidden=hidden,
        )
        asked = Wording.of(next(iter(query.words)))
        matches = list[Match]()
        for each in self._chosen(query, view):
            entry = self._row(each.key)
            if entry is None or each.key in hidden:
                continue
            near = view.similarity(entry, query.vector) if each.similarity is None else each.similarity
            near_enough = query.everything or near >= self.settings.similarity_floor
            if not near_enough and not asked.matches(frozenset(stems(entry.text))):
                continue
            try:
                matches.append(Match(remembered_in(entry), near, each.score))
            except StoreCorrupt as error:
                log.warning("%s", error)
        return matches

    def _chosen(self, query: Query, view: View) -> Sequence[Ranked]:
        strategy = self._strategy
        try:
            return list(strategy.retrieve(query, view))[: query.k]
        except HarnessError:
            raise
        except Exception as error:
            name = self.settings.retrieval_strategy
            if name in STRATEGIES:
                raise
            # somebody else's code may raise anything, and a conversation goes on without memories
            reason = clean(f"{type(error).__name__}: {error}", 200)
            raise InvalidInput(
                f"the retrieval strategy {name!r} failed ({reason}); mend it or choose another"
            ) from error


def _context(window: Sequence[Exchange]) -> str:
    """Return what was said last, the latest first: an embedder reads the beginning of a long text."""
    said = (f"{each.user_message}\n{shorten(each.assistant_message, REPLY_CHARS)}".strip() for each in reversed(window))
    return "\n".join(said)
