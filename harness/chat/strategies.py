"""How memories are found: what a strategy is given, what it returns, and the three that are built in."""

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
"""The entry points under which a package offers a strategy: a name, and a class called with the settings' block."""

POOL = 200
"""Memories nearest by vector, and as many by words, that `hybrid` weighs."""

MEANING = 0.5
"""What the cosine weighs beside words (0..1); see `sources.corpus.passage_ranking`, where it was chosen on SciFact."""

BESIDE = 0.4
"""What the better neighbour of a memory, right before or after it, adds to it: an answer often stands beside the words
that are asked for. Chosen on two of LoCoMo's conversations.
"""

RECENCY = 0.02
"""What the newest memory is ahead of an old one, where the best score by meaning and words is 1."""

HALF_LIFE = 30 * DAY

RELEVANT = 0.3
"""The least relevance: the mean of the cosine and of the share of the question's words. Without a memory that has it,
nothing is found; others may have it with what their neighbours add. On two of LoCoMo's conversations 96 % of the
questions find something, of the evidence among the first five 99 % stays, and of the questions of one conversation 38 %
find something in another.
"""

_TINY = 1e-9


class Query(Struct, frozen=True):
    """What is looked for: the unit vector, shape (dimension,), and the words.

    `words` tells what weight (0..1) those of each text have: the question 1, what was said before it less. `k` is how
    many memories are wanted at the most, `messages` how many the conversation has (two an exchange), `now` the time in
    seconds since the epoch. With `everything` nothing is left out for being too little similar.
    """

    vector: Vectors
    words: Mapping[str, float]
    k: int
    messages: int
    now: float
    everything: bool = False


class Found(Struct, frozen=True):
    """A memory as the strategies see it. `similarity` is the cosine (0..1) of its embedding to the query's, `None`
    where it was found by its words and that was not computed; `words` its BM25 score as a share of what the query's
    words are worth, 0 without any of them, around 1 where it has all. `created_at` is in seconds since the epoch.
    """

    key: str
    created_at: float
    similarity: float | None = None
    words: float = 0.0


class Ranked(Struct, frozen=True):
    """A memory that was chosen. `similarity` may be `None`: then it is computed for those that are returned."""

    key: str
    score: float
    similarity: float | None


class Searchable(Protocol):
    """What a strategy may ask of the memory: one collection of one tenant."""

    def nearest(self, vector: Vectors, k: int, *, at_least: float = 0.0) -> Sequence[Found]:
        """Return up to `k` memories, nearest first, at least so similar (0..1)."""

    def with_words(self, words: Mapping[str, float], k: int) -> Sequence[Found]:
        """Return up to `k` of the newest 20,000 memories, best first, that have words of these weighted texts."""

    def before(self, key: str) -> str | None:
        """Return the memory that came right before this one in the same session or document, if it is known."""


class RetrievalStrategy(Protocol):
    """How memories are chosen and ranked."""

    def retrieve(self, query: Query, memories: Searchable) -> Sequence[Ranked]:
        """Return up to `query.k` memories, best first. Called from any thread; must not keep `memories`."""


class Cosine:
    """The strategy `default`: the nearest that are at least `similarity_threshold` similar."""

    def __init__(self, settings: VectorStoreSettings) -> None:
        self._least = settings.similarity_threshold

    def retrieve(self, query: Query, memories: Searchable) -> Sequence[Ranked]:
        """See `RetrievalStrategy.retrieve`."""
        return _nearest(query, memories, self._least)


class DynamicCosine:
    """The strategy `dynamic`: as `default`, but the threshold rises with the messages of the conversation, linearly
    from the first of `dynamic_threshold`, without any, to the second, from `dynamic_messages` on. A new conversation is
    glad of what is vaguely fitting; a long one has its own context.
    """

    def __init__(self, settings: VectorStoreSettings) -> None:
        self._first, self._last = settings.dynamic_thresholds
        self._long = settings.dynamic_messages

    def threshold(self, messages: int) -> float:
        """Return the least similarity in a conversation of so many messages."""
        return self._first + (self._last - self._first) * min(1.0, max(0, messages) / self._long)

    def retrieve(self, query: Query, memories: Searchable) -> Sequence[Ranked]:
        """See `RetrievalStrategy.retrieve`."""
        return _nearest(query, memories, self.threshold(query.messages))


class Hybrid:
    """The strategy `hybrid`: cosine and BM25, each divided by the highest of all, weighted and summed; what stands
    beside a good memory gains by it, and of equals the newer one comes first. What is not relevant (see `RELEVANT`) is
    left out.
    """

    def __init__(self, settings: VectorStoreSettings) -> None:
        """Take the block of settings, which has none for this strategy."""

    def retrieve(self, query: Query, memories: Searchable) -> Sequence[Ranked]:
        """See `RetrievalStrategy.retrieve`."""
        pool = _pool(memories.nearest(query.vector, POOL), memories.with_words(query.words, POOL))
        before = {key: memories.before(key) for key in pool}
        alone = {key: _relevance(found) for key, found in pool.items()}
        if not query.everything and max(alone.values(), default=0.0) < RELEVANT:
            return []
        relevance = _with_neighbours(alone, before)
        scores = _with_neighbours(_fused(pool), before)
        ranked = [
            Ranked(key, scores[key] + _recency(found, query.now), found.similarity)
            for key, found in pool.items()
            if query.everything or relevance[key] >= RELEVANT
        ]
        return sorted(ranked, key=lambda each: (-each.score, each.key))[: query.k]


STRATEGIES: Mapping[str, Callable[[VectorStoreSettings], RetrievalStrategy]] = MappingProxyType(
    {"default": Cosine, "dynamic": DynamicCosine, "hybrid": Hybrid}
)


def strategy_named(settings: VectorStoreSettings) -> RetrievalStrategy:
    """Return the strategy that the settings name: a built-in one, else one that an installed package offers.

    Raises:
        InvalidInput: there is none of this name, or it cannot be loaded.
    """
    name = settings.retrieval_strategy
    if name in STRATEGIES:
        return STRATEGIES[name](settings)
    from importlib.metadata import entry_points

    offered = entry_points(group=GROUP)
    if name not in offered.names:
        known = ", ".join(sorted({*STRATEGIES, *offered.names}))
        raise InvalidInput(f"no such retrieval strategy: {name!r}; set vector_store.retrieval_strategy to {known}")
    try:
        strategy: RetrievalStrategy = offered[name].load()(settings)
    except Exception as error:  # somebody else's code may raise anything
        reason = clean(error, 200)
        raise InvalidInput(f"the retrieval strategy {name!r} cannot be loaded ({reason}); mend or remove it") from error
    if not callable(getattr(strategy, "retrieve", None)):
        raise InvalidInput(f"the retrieval strategy {name!r} has no method `retrieve`; mend or remove it")
    return strategy


def _nearest(query: Query, memories: Searchable, least: float) -> list[Ranked]:
    found = memories.nearest(query.vector, query.k, at_least=0.0 if query.everything else least)
    return [Ranked(each.key, each.similarity or 0.0, each.similarity) for each in found]


def _pool(near: Iterable[Found], worded: Iterable[Found]) -> dict[str, Found]:
    """Return what was found in either way, once each."""
    pool = {each.key: each for each in near}
    for each in worded:
        other = pool.get(each.key)
        pool[each.key] = each if other is None else replace(each, similarity=other.similarity)
    return pool


def _fused(pool: Mapping[str, Found]) -> dict[str, float]:
    """Return the fused score (0..1) of each. What was not among the nearest is at the most as near as the last one that
    was, and counts as if it were.
    """
    cosines = [each.similarity for each in pool.values() if each.similarity is not None]
    last, best = min(cosines, default=0.0), max(cosines, default=0.0)
    most_words = max((each.words for each in pool.values()), default=0.0)
    return {
        key: MEANING * (last if each.similarity is None else each.similarity) / max(best, _TINY)
        + (1 - MEANING) * each.words / max(most_words, _TINY)
        for key, each in pool.items()
    }


def _relevance(found: Found) -> float:
    return ((found.similarity or 0.0) + min(1.0, found.words)) / 2


def _with_neighbours(scores: Mapping[str, float], before: Mapping[str, str | None]) -> dict[str, float]:
    """Add to each score `BESIDE` times the better one of those right before and after it."""
    beside = dict.fromkeys(scores, 0.0)
    for key, prior in before.items():
        if prior is not None and prior in scores:
            beside[key] = max(beside[key], scores[prior])
            beside[prior] = max(beside[prior], scores[key])
    return {key: score + BESIDE * beside[key] for key, score in scores.items()}


def _recency(found: Found, now: float) -> float:
    age = max(0.0, now - found.created_at)
    recency: float = RECENCY * 0.5 ** (age / HALF_LIFE)
    return recency
