"""The built-in planner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cache import Cache
from harness.core.keys import normalise
from harness.errors import InvalidInput
from harness.research.planner import RulePlanner, make_plan
from tests.fakes import MemoryStore


@pytest.mark.parametrize(
    ("question", "task_type"),
    [
        ("In which order does Python look up an attribute on an instance?", "enumerated"),
        ("What are the kinds of numeric types?", "enumerated"),
        ("best practices for rag pipelines", "best_practices"),
        ("How should I name a module?", "best_practices"),
        ("semantic cache false positives", "research"),
    ],
)
def test_the_task_type_follows_from_the_question(question: str, task_type: str) -> None:
    """Enumerations, advice, and everything else."""
    assert make_plan(question).task_type == task_type


@given(question=st.text(min_size=1, max_size=200))
def test_a_plan_has_at_least_two_different_queries(question: str) -> None:
    """Any usable question gives two or more usable, different queries, and sections."""
    try:
        plan = make_plan(question)
    except InvalidInput:
        return
    normalised = [normalise(query) for query in plan.queries]
    assert len(normalised) == len(set(normalised)) >= 2
    assert plan.sections
    assert plan == make_plan(question)


def test_follow_ups_use_words_that_no_query_had() -> None:
    """They come from words shared by the best passages, and never repeat a query."""
    plan = make_plan("semantic cache false positives")
    passages = ["A threshold that is too low lets a paraphrase in.", "Tune the threshold on pairs.", "threshold pairs"]
    planner, cache = RulePlanner(), Cache(MemoryStore())
    first = planner.follow_ups(plan, plan.queries, passages, cache)
    assert first == ("semantic cache false positives threshold", "semantic cache false positives pairs")
    assert not set(first) & set(planner.follow_ups(plan, (*plan.queries, *first), passages, cache))


def test_nothing_shared_gives_no_follow_up() -> None:
    """No word, no query."""
    plan = make_plan("semantic cache false positives")
    assert RulePlanner().follow_ups(plan, plan.queries, ["alpha beta", "gamma delta"], Cache(MemoryStore())) == ()


@pytest.mark.parametrize("question", ["what's the difference between lists and tuples", "What’s lists’ difference?"])
def test_no_query_of_keywords_keeps_a_contracted_stop_word(question: str) -> None:
    """All queries except the question itself consist of meaningful words."""
    assert not any("what" in query for query in make_plan(question).queries[1:])
