"""Retrieval strategies for memories: their interface and the three built-in ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from harness.core.freshness import DAY
from harness.core.text import clean
from harness.errors import InvalidInput
from harness.ports import Vectors
from harness.settings import VectorStoreSettings

GROUP = "harness.retrieval_strategies"
"""Entry point group for strategies of other packages: a name and a class, called with the settings block."""

POOL = 200
"""Memories nearest by vector, and as many by words, that `hybrid` compares."""

MEANING = 0.5
"""Weight (0..1) of the cosine against the words, chosen on SciFact; see `harness.sources.corpus.passage_ranking`."""

NEIGHBOUR_WEIGHT = 0.4
"""Share of the score of the better neighbour, right before or after a memory, that is added to it: an answer is often
next to the words of the question. Chosen on two of LoCoMo's conversations.
"""

RECENCY = 0.02
"""Bonus of the newest memory over an old one; the best score by meaning and words is 1."""

HALF_LIFE = 30 * DAY

MIN_RELEVANCE = 0.3
"""Minimum relevance: the mean of the cosine and of the share of the question's words. If no memory reaches it, the
result is empty; otherwise neighbours may lift others above it. On two of LoCoMo's conversations, 96 % of the questions
find something, 99 % of the evidence among the first five stays, and 38 % of the questions of one conversation find
something in another.
"""

_TINY = 1e-9


class Query(Struct, frozen=True):
    """A search of memories: a unit vector, shape (dimension,), and words.

    `words` maps each text to the weight (0..1) of its words: 1 for the question, less for earlier text. `k` is the
    largest number of results, `messages` the length of the conversation (two per exchange), `now` the time in seconds
    since the epoch. With `everything`, no memory is left out because of low similarity.
    """

    vector: Vectors
    words: Mapping[str, float]
    k: int
    messages: int
    now: float
    everything: bool = False


class MemoryCandidate(Struct, frozen=True):
    """A memory that a strategy may choose. `similarity` is the cosine (0..1) of its embedding to the query's, `None` if
    it was found by words and not computed. `words` is its BM25 score as a share of the query words' total weight: 0
    without any of them, about 1 with all. `created_at` is in seconds since the epoch.
    """

    key: str
    created_at: float
    similarity: float | None = None
    words: float = 0.0


class RankedMemory(Struct, frozen=True):
    """A chosen memory. A `similarity` of `None` is computed before it is returned."""

    key: str
    score: float
    similarity: float | None


class Searchable(Protocol):
    """Read access of a strategy to one collection of one tenant."""

    def nearest(self, vector: Vectors, k: int, *, at_least: float = 0.0) -> Sequence[MemoryCandidate]:
        """Return up to `k` memories with a similarity of `at_least` (0..1), nearest first."""

    def with_words(self, words: Mapping[str, float], k: int) -> Sequence[MemoryCandidate]:
        """Return up to `k` of the newest 20,000 memories with words of these weighted texts, best first."""

    def before(self, key: str) -> str | None:
        """Return the memory right before this one in the same session or document, if known."""


class RetrievalStrategy(Protocol):
    """Choice and ranking of memories."""

    def retrieve(self, query: Query, memories: Searchable) -> Sequence[RankedMemory]:
        """Return up to `query.k` memories, best first. Called from any thread; must not keep `memories`."""


class Cosine:
    """The strategy `default`: the nearest memories with a similarity of `similarity_threshold` or more."""

    def __init__(self, settings: VectorStoreSettings) -> None:
        self._least = settings.similarity_threshold

    def retrieve(self, query: Query, memories: Searchable) -> Sequence[RankedMemory]:
        """See `RetrievalStrategy.retrieve`."""
        return _nearest(query, memories, self._least)


class DynamicCosine:
    """The strategy `dynamic`: like `default`, but the threshold rises linearly with the messages of the conversation:
    from the first value of `dynamic_threshold` at 0 messages to the second at `dynamic_messages` and beyond. A new
    conversation profits from loosely related memories; a long one has its own context.
    """

    def __init__(self, settings: VectorStoreSettings) -> None:
        self._first, self._last = settings.dynamic_thresholds
        self._long = settings.dynamic_messages

    def threshold(self, messages: int) -> float:
        """Return the minimum similarity in a conversation with this many messages."""
        return self._first + (self._last - self._first) * min(1.0, max(0, messages) / self._long)

    def retrieve(self, query: Query, memories: Searchable) -> Sequence[RankedMemory]:
        """See `RetrievalStrategy.retrieve`."""
        return _nearest(query, memories, self.threshold(query.messages))


class Hybrid:
    """The strategy `hybrid`: the weighted sum of cosine and BM25, each divided by its highest value. Neighbours of a
    good memory gain score; of equals the newer comes first. Memories below `MIN_RELEVANCE` are left out.
    """

    def __init__(self, settings: VectorStoreSettings) -> None:
        """Take the settings block, which has no setting for this strategy."""

    def retrieve(self, query: Query, memories: Searchable) -> Sequence[RankedMemory]:
        """See `RetrievalStrategy.retrieve`."""
        pool = _pool(memories.nearest(query.vector, POOL), memories.with_words(query.words, POOL))
        before = {key: memories.before(key) for key in pool}
        alone = {key: ((found.similarity or 0.0) + min(1.0, found.words)) / 2 for key, found in pool.items()}
        if not query.everything and max(alone.values(), default=0.0) < MIN_RELEVANCE:
            return []
        relevance = _with_neighbours(alone, before)
        scores = _with_neighbours(_fused(pool), before)
        ranked = [
            RankedMemory(key, scores[key] + _recency(found, query.now), found.similarity)
            for key, found in pool.items()
            if query.everything or relevance[key] >= MIN_RELEVANCE
        ]
        return sorted(ranked, key=lambda each: (-each.score, each.key))[: query.k]


STRATEGIES: Mapping[str, Callable[[VectorStoreSettings], RetrievalStrategy]] = MappingProxyType(
    {"default": Cosine, "dynamic": DynamicCosine, "hybrid": Hybrid}
)


def strategy_named(settings: VectorStoreSettings) -> RetrievalStrategy:
    """Return the strategy in the settings: a built-in one, or one of an installed package.

    Raises:
        InvalidInput: the name is unknown, or the strategy cannot be loaded.
    """
    name = settings.retrieval_strategy
    if name in STRATEGIES:
        return STRATEGIES[name](settings)
    from importlib.metadata import entry_points

    offered = entry_points(group=GROUP)
    if name not in offered.names:
        known = ", ".join(sorted({*STRATEGIES, *offered.names}))
        raise InvalidInput(f"no retrieval strategy {name!r}; set vector_store.retrieval_strategy to one of {known}")
    try:
        strategy: RetrievalStrategy = offered[name].load()(settings)
    except Exception as error:  # third-party code may raise anything
        reason = clean(error, 200)
        raise InvalidInput(f"the retrieval strategy {name!r} cannot be loaded ({reason}); fix or remove it") from error
    if not callable(getattr(strategy, "retrieve", None)):
        raise InvalidInput(f"the retrieval strategy {name!r} has no method `retrieve`; fix or remove it")
    return strategy


def _nearest(query: Query, memories: Searchable, least: float) -> list[RankedMemory]:
    found = memories.nearest(query.vector, query.k, at_least=0.0 if query.everything else least)
    return [RankedMemory(each.key, each.similarity or 0.0, each.similarity) for each in found]


def _pool(near: Iterable[MemoryCandidate], worded: Iterable[MemoryCandidate]) -> dict[str, MemoryCandidate]:
    """Return the union of both results, without duplicates."""
    pool = {each.key: each for each in near}
    for each in worded:
        other = pool.get(each.key)
        pool[each.key] = each if other is None else replace(each, similarity=other.similarity)
    return pool


def _fused(pool: Mapping[str, MemoryCandidate]) -> dict[str, float]:
    """Return the fused score (0..1) of each. A memory that is not among the nearest gets the similarity of the last of
    them, which it cannot exceed.
    """
    cosines = [each.similarity for each in pool.values() if each.similarity is not None]
    last, best = min(cosines, default=0.0), max(cosines, default=0.0)
    most_words = max((each.words for each in pool.values()), default=0.0)
    return {
        key: MEANING * (last if each.similarity is None else each.similarity) / max(best, _TINY)
        + (1 - MEANING) * each.words / max(most_words, _TINY)
        for key, each in pool.items()
    }


def _with_neighbours(scores: Mapping[str, float], before: Mapping[str, str | None]) -> dict[str, float]:
    """Add to each score `NEIGHBOUR_WEIGHT` times the better score of its two neighbours."""
    beside = dict.fromkeys(scores, 0.0)
    for key, prior in before.items():
        if prior is not None and prior in scores:
            beside[key] = max(beside[key], scores[prior])
            beside[prior] = max(beside[prior], scores[key])
    return {key: score + NEIGHBOUR_WEIGHT * beside[key] for key, score in scores.items()}


def _recency(found: MemoryCandidate, now: float) -> float:
    age = max(0.0, now - found.created_at)
    recency: float = RECENCY * 0.5 ** (age / HALF_LIFE)
    return recency
