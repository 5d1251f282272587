"""Planner with a language model: the model proposes queries; rules decide the rest and replace a failing model."""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from harness.cache import Cache
from harness.core.keys import normalise
from harness.core.rules import RuleName
from harness.core.text import clean, one_line
from harness.errors import InvalidInput, ModelError
from harness.ports import LanguageModel, Message
from harness.research.budget import Budget
from harness.research.planner import FOLLOW_UPS, Plan, RulePlanner, unasked
from harness.research.prompts import SHIPPED, inside, messages_of, prompt, version_of
from harness.research.rules import PLANNING, SHIPPED_RULES, version_of_rules
from harness.settings import PromptName

log = logging.getLogger(__name__)

MAX_QUERIES = 5
MAX_QUERY_CHARS = 200
SHOWN_PASSAGES = 6
SHOWN_CHARS = 600

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "queries": {
            "type": "array",
            "items": {"type": "string", "minLength": 2, "maxLength": MAX_QUERY_CHARS},
            "minItems": 1,
            "maxItems": MAX_QUERIES,
        }
    },
    "required": ["queries"],
    "additionalProperties": False,
}


class _Answered(Struct):
    queries: list[str]


class ModelPlanner(RulePlanner):
    """Planner with `model`, through the cache; `prompts` replace its prompts by name, `rules` those of the rules that
    plan in its place; `epoch` keeps repetitions apart that should differ. Proposes up to `follow_ups` queries in every
    round after the first. Rules plan where `budget` has no room for a prompt and the longest answer.
    """

    def __init__(
        self,
        model: LanguageModel,
        prompts: Mapping[PromptName, str] = SHIPPED,
        *,
        epoch: str = "",
        follow_ups: int = FOLLOW_UPS,
        rules: Mapping[RuleName, str] = SHIPPED_RULES,
        budget: Budget = Budget(),  # noqa: B008 - immutable
    ) -> None:
        super().__init__(follow_ups, rules)
        version = f"{version_of(prompts, 'plan', 'follow_up', 'sub_questions')} {version_of_rules(rules, *PLANNING)}"
        self.version = f"model-2 {version.rstrip()} {model.endpoint} {model.name} {epoch}".rstrip()
        self._prompts = prompts
        self._model = model
        self._epoch = epoch
        self._budget = budget

    def plan(self, question: str, cache: Cache) -> Plan:
        """See `RulePlanner.plan`. Falls back to the rules' plan, with a warning, if the answer is unusable."""
        plan = super().plan(question, cache)
        plain = plan.queries[0]  # the question itself is always searched
        asked_for = f"Question: {plan.question}"
        queries = self._queries(cache, "plan", asked_for, "the plan", "planned by rules", besides=plain)
        return replace(plan, queries=unasked([plain, *queries])) if queries else plan

    def follow_ups(self, plan: Plan, asked: Iterable[str], passages: Iterable[str], cache: Cache) -> tuple[str, ...]:
        """See `RulePlanner.follow_ups`. Falls back to the rules' queries, with a warning, if the answer is unusable."""
        asked, passages = tuple(asked), tuple(passages)
        asked_for = f"{_shown(passages)}\n\nAsked so far: {_listed(asked)}\nQuestion: {plan.question}"
        queries = self._queries(cache, "follow_up", asked_for, "the follow-up queries", "asked by rules")
        if not queries:
            return super().follow_ups(plan, asked, passages, cache)
        return unasked(queries, asked)[: self._follow_ups]

    def sub_questions(self, plan: Plan, passages: Iterable[str], most: int, cache: Cache) -> tuple[str, ...]:
        """See `RulePlanner.sub_questions`. None, with a warning, if the answer is unusable."""
        known = (plan.question, *plan.parts)
        asked_for = f"{_shown(passages)}\n\nAlready researched: {_listed(known)}\nQuestion: {plan.question}"
        found = self._queries(cache, "sub_questions", asked_for, "the sub-questions", "there are none")
        return unasked([f"{each.rstrip(' ?.!')}?" for each in found], known)[:most]

    def _queries(
        self, cache: Cache, rules: PromptName, asked_for: str, what: str, instead: str, *, besides: str = ""
    ) -> list[str]:
        """Return the queries of the model; none, with a warning of `what` failed and what is done `instead`, if its
        answer is unusable.
        """
        try:
            return self._proposed(cache, messages_of([prompt(rules, self._prompts)], [asked_for]), besides)
        except ModelError as error:
            log.warning("%s of %s cannot be used (%s); %s", what, self._model.name, error, instead)
            return []

    def _proposed(self, cache: Cache, messages: Sequence[Message], besides: str) -> list[str]:
        """Return the queries of the model, at least one.

        Raises:
            ModelError: there is none, or the budget has no room for them.
        """
        if not self._budget.allows(messages, cache):
            raise ModelError(f"{self._budget.spent(cache)}, too little is left for it")
        answer = cache.completions.answer(self._model, messages, schema=SCHEMA, epoch=self._epoch)
        try:
            queries = msgspec.json.decode(answer.value.text, type=_Answered).queries
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise ModelError(f"no JSON object with queries: {one_line(answer.value.text)[:100]!r}") from error
        usable = [one_line(clean(query, MAX_QUERY_CHARS)) for query in queries if len(query) <= MAX_QUERY_CHARS]
        known = " ".join(besides.lower().split())
        if not (kept := [query for query in usable if _is_query(query) and normalise(query) != known]):
            raise ModelError("no new query among what it answered")
        return kept[:MAX_QUERIES]


def _shown(passages: Iterable[str]) -> str:
    """Return the first passages, each in tags that it cannot close."""
    shown = (inside(passage)[:SHOWN_CHARS] for passage in islice(passages, SHOWN_PASSAGES))
    return "\n".join(f"<source>\n{text}\n</source>" for text in shown)


def _listed(queries: Sequence[str]) -> str:
    return json.dumps(queries, ensure_ascii=False)


def _is_query(query: str) -> bool:
    try:
        return bool(normalise(query)) and any(map(str.isalnum, query))
    except InvalidInput:
        return False
