"""Built-in planner: search queries and report sections from a question, by rules alone."""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from harness.cache import Cache
from harness.core.keys import normalise
from harness.core.question_language import question_language
from harness.core.rules import RuleName, TypeName
from harness.core.sub_questions import sub_questions
from harness.core.text import content_words, one_line, stem
from harness.research.rules import PLANNING, SHIPPED_RULES, Rules, rules_of, version_of_rules

ANSWER, KEY_POINTS, DETAILS = "Answer", "Key points", "Details"
"""Sections of every report; the details have a section for each sub-question instead, if there are several."""
FURTHER = "Further passages"
"""Section of the excerpts that may help but more likely do not."""
LISTED = frozenset({KEY_POINTS, FURTHER})
"""Sections that are lists: no paragraph needs another one."""

FOLLOW_UPS = 2
"""Default number of queries in every round after the first."""


class Plan(Struct, frozen=True):
    """The first queries (at least one, all different) and the sections of the report. `task_type` is one of the rules.
    `wanted` is a requested number of sections, which replaces the usual ones. `parts` are the sub-questions of a
    compound question, each complete, and each among the queries.
    """

    question: str
    task_type: TypeName
    queries: tuple[str, ...]
    sections: tuple[str, ...]
    wanted: int | None = None
    parts: tuple[str, ...] = ()


class RulePlanner:
    """Built-in planner; proposes up to `follow_ups` queries in every round after the first; `rules` replace the shipped
    ones by name. Base of other planners.

    The same question and the same results always give the same queries.

    Raises:
        InvalidInput: a rule cannot be used, see `harness.core.rules`.
    """

    version: str = "rules-3"
    """Part of the fingerprint of a gathered context; names replaced rules. The shipped ones count as code."""

    def __init__(self, follow_ups: int = FOLLOW_UPS, rules: Mapping[RuleName, str] = SHIPPED_RULES) -> None:
        self._follow_ups = follow_ups
        self._replaced = rules
        if rules:
            rules_of(rules)
            self.version = f"{self.version} {version_of_rules(rules, *PLANNING)}".rstrip()

    def plan(self, question: str, cache: Cache) -> Plan:  # noqa: ARG002 - needs no model
        """Plan a research.

        Raises:
            InvalidInput: an unusable question, see `harness.core.keys.normalise`.
            HarnessError: see `CompletionCache.answer`, where a language model plans.
        """
        return make_plan(question, self._rules)

    @property
    def _rules(self) -> Rules:
        return rules_of(self._replaced)

    def follow_ups(
        self,
        plan: Plan,
        asked: Iterable[str],
        passages: Iterable[str],
        cache: Cache,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """Return queries for another round, none of them in `asked`; `passages` are the best ones found. Empty when no
        query is left.

        First come the question's words that the best passages lack; then the question's keywords with words that most
        passages share and no query had (pseudo-relevance feedback, after Rocchio, 1971).
        """
        asked, language = tuple(asked), _language(plan.question)
        keywords = self._keywords(plan)

        def stem_of(word: str) -> str:
            return stem(word, language)

        spent = {stem_of(word) for query in asked for word in _content_words(query, language, self._rules)}
        shared: Counter[str] = Counter()
        spelling: dict[str, str] = {}
        for passage in passages:
            for word in dict.fromkeys(_content_words(passage, language, self._rules)):
                shared[stem_of(word)] += 1
                spelling.setdefault(stem_of(word), word)
        missing = [word for word in keywords if not shared[stem_of(word)]]
        held = [word for word in keywords if word not in missing]
        new = [" ".join([*missing, max(held, key=len)])] if missing and held else []
        best = sorted(
            (word for word, times in shared.items() if times > 1 and word not in spent and _says_much(spelling[word])),
            key=lambda word: (-shared[word], word),
        )
        new += [f"{' '.join(keywords)} {spelling[word]}" for word in best]
        return unasked(new, asked)[: self._follow_ups]

    def sub_questions(
        self,
        plan: Plan,  # noqa: ARG002 - rules find none
        passages: Iterable[str],  # noqa: ARG002
        most: int,  # noqa: ARG002
        cache: Cache,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """Return up to `most` questions whose answers a thorough report still needs, different from `plan.parts`.
        Rules find none.
        """
        return ()

    def fallback(self, plan: Plan, asked: Iterable[str]) -> str | None:
        """Return one wider query for a round that found nothing relevant: the longer half of the question's keywords,
        because longer words are rarer; `None` if it is in `asked`.
        """
        keywords = self._keywords(plan)
        longest = sorted(keywords, key=len, reverse=True)[: max(1, len(keywords) // 2)]
        wider = " ".join(word for word in keywords if word in longest)
        return next(iter(unasked([wider], asked)), None) if wider else None

    def _keywords(self, plan: Plan) -> list[str]:
        return keywords_of(plan.question, self._rules)


def make_plan(question: str, rules: Rules | None = None) -> Plan:
    """Plan a research, by default with the shipped rules.

    Raises:
        InvalidInput: an unusable question, see `harness.core.keys.normalise`.
    """
    normalise(question)
    rules = rules or rules_of()
    question = one_line(question)
    task_type = next(each for each in rules.task_types if each.has(question))  # the last one has every question
    plain = question.rstrip(" ?!.？。！؟।")
    keywords = " ".join(keywords_of(question, rules)) or plain
    parts = sub_questions(question)
    angle = task_type.added if question_language(question) in {"en", ""} else ""
    more = [part.rstrip("?") for part in parts] or [f"{keywords} {angle}"]
    queries = unasked([plain, keywords, *more])
    sections = (ANSWER, KEY_POINTS, *(parts or (DETAILS,)))
    return Plan(question, task_type.name, queries, sections, parts=parts)


def with_parts(plan: Plan, parts: Iterable[str]) -> Plan:
    """Return the plan with further sub-questions, each with a section of the report."""
    every = tuple(dict.fromkeys([*plan.parts, *parts]))
    return replace(plan, parts=every, sections=(ANSWER, KEY_POINTS, *(every or (DETAILS,))))


def keywords_of(question: str, rules: Rules) -> list[str]:
    """Return the content words of a question, each once, in order; the stop words of `rules` are English."""
    return list(dict.fromkeys(_content_words(question, _language(question), rules)))


def _language(question: str) -> str:
    """Return the language of a question, English if it is not known."""
    return question_language(question) or "en"


def _content_words(text: str, language: str, rules: Rules) -> list[str]:
    return content_words(text, rules.stop_words, language, whole=True)


def _says_much(word: str) -> bool:
    return len(word) > 3 and word.isalpha()


def unasked(queries: Iterable[str], asked: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the queries that differ from each other and from those `asked` before, in order."""
    known = {normalise(query) for query in asked}
    kept: dict[str, str] = {}
    for query in queries:
        if normalise(query) not in known:
            kept.setdefault(normalise(query), query)
    return tuple(kept.values())
