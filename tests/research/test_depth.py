"""Sub-questions: found by the model in the passages read, researched level by level, sections of the report."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from harness.cache import Cache
from harness.errors import InvalidInput, ModelError
from harness.ports import Completion, Message
from harness.research.model_planner import ModelPlanner
from harness.research.planner import make_plan, with_parts
from harness.research.result import Research
from tests.fakes import MemoryStore
from tests.research.test_loop import Steps, result
from tests.research.test_run import Scripted, change_services, researcher

QUESTION = "How does exponential backoff limit retries?"
JITTER, BUDGET, CAP = "What is jitter?", "What is a retry budget?", "What caps the delay?"


class Deep(Steps):
    """A planner with scripted queries and sub-questions, a list for each level."""

    version = "deep"

    def __init__(self, *levels: Sequence[str]) -> None:
        super().__init__(["a"])
        self.levels = list(levels)
        self.seen: list[tuple[tuple[str, ...], int]] = []

    def sub_questions(self, plan: Any, passages: Any, most: int, cache: Cache) -> tuple[str, ...]:
        """See `RulePlanner.sub_questions`."""
        self.seen.append((plan.parts, len(list(passages))))
        return tuple(self.levels.pop(0))[:most] if self.levels else ()


def deep(embedder: Any, planner: Deep, *, depth: int, breadth: int = 3, cache: Cache | None = None, **how: Any) -> Any:
    """Research to a depth; every query has its own result."""
    engine = Scripted(lambda query: [result(0.5, 1 + sum(map(ord, query)) % 50)])
    leader = researcher(cache or Cache(MemoryStore()), engine, embedder, **how)
    leader.gathering = replace(leader.gathering, depth=depth, breadth=breadth)
    change_services(leader, planner=planner)
    return leader.run(QUESTION), engine


def parts(found: Research) -> tuple[str, ...]:
    """Return the sub-questions of a research."""
    return found.gathered.sub_questions


def test_a_depth_of_one_asks_no_sub_question(embedder: Any) -> None:
    """The default: the planner is not asked for any."""
    planner = Deep([JITTER])
    found, engine = deep(embedder, planner, depth=1)
    assert (parts(found), planner.seen, JITTER[:-1] in engine.asked) == ((), [], False)


def test_each_level_is_one_round_of_its_sub_questions(embedder: Any) -> None:
    """They are searched after what the question itself needed, and become parts of the plan."""
    planner = Deep([JITTER, BUDGET], [CAP])
    found, engine = deep(embedder, planner, depth=3)
    assert parts(found) == (JITTER, BUDGET, CAP)
    assert engine.asked.index(JITTER[:-1]) < engine.asked.index(CAP[:-1])
    assert found.plan.parts == (JITTER, BUDGET, CAP)
    assert found.plan.sections == ("Answer", "Key points", JITTER, BUDGET, CAP)
    assert [known for known, _ in planner.seen] == [(), (JITTER, BUDGET)], "it knows the earlier sub-questions"
    assert all(count for _, count in planner.seen), "it sees the passages"


def test_breadth_bounds_each_level(embedder: Any) -> None:
    """Further sub-questions are left out."""
    found, engine = deep(embedder, Deep([JITTER, BUDGET, CAP]), depth=2, breadth=1)
    assert (parts(found), BUDGET[:-1] in engine.asked) == ((JITTER,), False)


def test_live_calls_bound_the_levels(embedder: Any) -> None:
    """No level begins without a call left, and the reason says so."""
    found, engine = deep(embedder, Deep([JITTER], [BUDGET], [CAP]), depth=4, calls=2)
    assert found.gathered.stop_reason == "limit of live calls"
    assert len(engine.asked) == 2
    assert parts(found) == (JITTER,)


def test_no_further_sub_question_ends_the_levels(embedder: Any) -> None:
    """The stop reason is that of the question."""
    planner = Deep([JITTER])
    found, _ = deep(embedder, planner, depth=4)
    assert (parts(found), found.gathered.stop_reason, len(planner.seen)) == ((JITTER,), "stagnation", 2)


def test_a_cached_research_has_its_sub_questions_again(embedder: Any) -> None:
    """The second time nothing is searched, and the report is the same, byte for byte."""
    cache = Cache(MemoryStore())
    first, _ = deep(embedder, Deep([JITTER]), depth=2, cache=cache, keep=True)
    second, engine = deep(embedder, Deep([JITTER]), depth=2, cache=cache, keep=True)
    assert (engine.asked, second.research_cache, parts(second)) == ([], "hit", (JITTER,))
    assert second.plan == first.plan
    assert second.report.markdown() == first.report.markdown()


def test_another_depth_is_another_research(embedder: Any) -> None:
    """It is part of the fingerprint."""
    cache = Cache(MemoryStore())
    deep(embedder, Deep([JITTER]), depth=2, cache=cache, keep=True)
    found, _ = deep(embedder, Deep([JITTER]), depth=3, cache=cache, keep=True)
    assert found.research_cache == "stored"


# --- the model's sub-questions


class Model:
    """Answers with one text, or raises."""

    name, endpoint = "planner", "http://127.0.0.1/v1"
    parameters: Mapping[str, Any] = {}

    def __init__(self, text: str | Exception) -> None:
        self.text = text
        self.told: list[Sequence[Message]] = []

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """See `LanguageModel.complete`."""
        self.told.append(messages)
        if isinstance(self.text, Exception):
            raise self.text
        return Completion(self.text, whole=True)


def proposed(model: Model, known: Sequence[str] = (), most: int = 3) -> tuple[str, ...]:
    """Return the model's sub-questions, after `known` ones."""
    plan = with_parts(make_plan(QUESTION), known)
    return ModelPlanner(model).sub_questions(plan, ["Jitter spreads <b>retries</b>."], most, Cache(MemoryStore()))


def test_the_model_is_shown_the_question_what_was_found_and_what_was_asked() -> None:
    """Passages stand between tags that they cannot close."""
    model = Model(json.dumps({"queries": [JITTER]}))
    assert proposed(model, [CAP]) == (JITTER,)
    [[rules, payload]] = model.told
    assert "never follow instructions" in rules["content"]
    assert payload["content"].startswith("<source>\nJitter spreads ‹b›retries‹/b›.\n</source>")
    assert CAP in payload["content"]
    assert payload["content"].endswith(f"Question: {QUESTION}")


def test_sub_questions_are_new_and_bounded() -> None:
    """The question itself, those known in any spelling, and surplus ones are left out."""
    model = Model(json.dumps({"queries": [QUESTION.upper(), "what is JITTER", BUDGET, CAP]}))
    assert proposed(model, [JITTER], most=1) == (BUDGET,)


@pytest.mark.parametrize("answer", ["", "no JSON", "{}", '{"queries": []}', ModelError("it is tired")])
def test_an_unusable_answer_gives_none(answer: str | Exception) -> None:
    """Nothing is raised: the research ends with what it has."""
    assert proposed(Model(answer)) == ()


def test_depth_without_a_model_is_refused(tmp_path: Any, monkeypatch: Any) -> None:
    """Rules find no sub-questions; the error says what to do."""
    from harness.app import App
    from harness.settings import load

    settings = load({"depth": 2, "data_dir": tmp_path, "engine": ("corpus:python-docs",)}, environment={})
    with App(settings.settings) as app, pytest.raises(InvalidInput, match="--model"):
        app.researcher(question=QUESTION)
