"""Planners, and the built-in one: from a question to searches and a report's sections, by rules alone."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from harness.cache import Cache
from harness.core.keys import normalise
from harness.core.text import content_words, one_line, stem

TaskType: TypeAlias = Literal["enumerated", "best_practices", "research"]

FOLLOW_UPS = 2
"""Queries of every round after the first, unless told otherwise."""

_BEST_PRACTICES = re.compile(
    r"\b(best (practices?|ways?)|good practices?|guidelines?|recommend\w*|tips|how (should|do|can|to)\b|should (i|we))",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(
    r"\b(list|enumerate|name (all|the)|which \w+s\b|what are|what (kinds|types)|in (which|what) order|steps|how many)",
    re.IGNORECASE,
)

_SECTIONS: dict[TaskType, tuple[str, ...]] = {
    "enumerated": ("Answer", "Details", "Exceptions and limits"),
    "best_practices": ("Recommendations", "How it works", "Pitfalls"),
    "research": ("Answer", "How it works", "Exceptions and limits"),
}
_ANGLES: dict[TaskType, str] = {
    "enumerated": "overview",
    "best_practices": "best practices",
    "research": "explained",
}


class Plan(Struct, frozen=True):
    """What will be searched first, and what the report is expected to hold. At least two queries, all different.
    `wanted` is a number of sections that was asked for instead of the usual ones.
    """

    question: str
    task_type: TaskType
    queries: tuple[str, ...]
    sections: tuple[str, ...]
    wanted: int | None = None


class Planner(Protocol):
    """Decides what is searched. The same question, and the same finds, always give the same searches."""

    version: str
    """Part of the fingerprint of what gathered a research."""

    def plan(self, question: str, cache: Cache) -> Plan:
        """Plan a research.

        Raises:
            InvalidInput: an unusable question, see `harness.core.keys.normalise`.
            HarnessError: see `CompletionCache.answer`, where a language model plans.
        """

    def follow_ups(self, plan: Plan, asked: Iterable[str], passages: Iterable[str], cache: Cache) -> tuple[str, ...]:
        """Return queries for another round, none of those `asked`; `passages` are the best of what was found. Empty
        when there is nothing left to ask.
        """

    def fallback(self, plan: Plan, asked: Iterable[str]) -> str | None:
        """Return one wider query for a round that found nothing near the question; `None` if it was `asked` already."""


class RulePlanner:
    """The built-in planner; it asks up to `follow_ups` queries in every round after the first."""

    version = "rules-2"

    def __init__(self, follow_ups: int = FOLLOW_UPS) -> None:
        self._follow_ups = follow_ups

    def plan(self, question: str, cache: Cache) -> Plan:  # noqa: ARG002 - asks nobody
        """See `make_plan`."""
        return make_plan(question)

    def follow_ups(
        self,
        plan: Plan,
        asked: Iterable[str],
        passages: Iterable[str],
        cache: Cache,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """See `follow_ups`."""
        return follow_ups(plan, asked, passages, self._follow_ups)

    def fallback(self, plan: Plan, asked: Iterable[str]) -> str | None:
        """See `fallback`."""
        return fallback(plan, asked)


def make_plan(question: str) -> Plan:
    """Plan a research.

    Raises:
        InvalidInput: an unusable question, see `harness.core.keys.normalise`.
    """
    normalise(question)
    question = one_line(question)
    task_type = _task_type(question)
    plain = question.rstrip(" ?!.")
    keywords = " ".join(dict.fromkeys(content_words(question))) or plain
    angle = _ANGLES[task_type]
    queries = _different((plain, keywords, f"{keywords} {angle}"))
    return Plan(question, task_type, queries, _SECTIONS[task_type])


def follow_ups(plan: Plan, asked: Iterable[str], passages: Iterable[str], most: int = FOLLOW_UPS) -> tuple[str, ...]:
    """Return up to `most` queries for another round: what the best passages lack of the question; then the question's
    keywords with the words that most of them share and nobody asked for yet (pseudo-relevance feedback, after Rocchio,
    1971). Empty when there is neither.
    """
    asked = tuple(asked)
    keywords = _keywords(plan)
    spent = {stem(word) for query in asked for word in content_words(query)}
    shared: Counter[str] = Counter()
    spelling: dict[str, str] = {}
    for passage in passages:
        for word in dict.fromkeys(content_words(passage)):
            shared[stem(word)] += 1
            spelling.setdefault(stem(word), word)
    missing = [word for word in keywords if not shared[stem(word)]]
    held = [word for word in keywords if word not in missing]
    new = [" ".join([*missing, max(held, key=len)])] if missing and held else []
    best = sorted(
        (word for word, times in shared.items() if times > 1 and word not in spent and _says_much(spelling[word])),
        key=lambda word: (-shared[word], word),
    )
    new += [f"{' '.join(keywords)} {spelling[word]}" for word in best]
    return tuple(_unasked(new, asked))[:most]


def fallback(plan: Plan, asked: Iterable[str]) -> str | None:
    """Return the longer half of the question's keywords, for longer words are rarer ones; `None` if it was asked."""
    keywords = _keywords(plan)
    longest = sorted(keywords, key=len, reverse=True)[: max(1, len(keywords) // 2)]
    wider = " ".join(word for word in keywords if word in longest)
    return next(iter(_unasked([wider], asked)), None) if wider else None


def _keywords(plan: Plan) -> list[str]:
    return list(dict.fromkeys(content_words(plan.question)))


def _says_much(word: str) -> bool:
    return len(word) > 3 and word.isalpha()


def _unasked(queries: Iterable[str], asked: Iterable[str]) -> list[str]:
    known = {normalise(query) for query in asked}
    return [query for query in _different(queries) if normalise(query) not in known]


def _task_type(question: str) -> TaskType:
    if _ENUMERATED.search(question):
        return "enumerated"
    if _BEST_PRACTICES.search(question):
        return "best_practices"
    return "research"


def _different(queries: Iterable[str]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for query in queries:
        kept.setdefault(normalise(query), query)
    return tuple(kept.values())
