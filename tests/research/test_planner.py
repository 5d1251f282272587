"""The built-in planner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cache import Cache
from harness.core.keys import normalise
from harness.core.question_language import question_language
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
def test_a_plan_has_different_queries(question: str) -> None:
    """Any usable question gives usable, different queries, and sections; an English one two queries or more."""
    try:
        plan = make_plan(question)
    except InvalidInput:
        return
    normalised = [normalise(query) for query in plan.queries]
    least = 2 if question_language(question) in {"en", ""} else 1
    assert len(normalised) == len(set(normalised)) >= least
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


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        (
            "Wie viele Urlaubstage hat jeder Mitarbeiter im Jahr?",
            ("Wie viele Urlaubstage hat jeder Mitarbeiter im Jahr", "urlaubstage jeder mitarbeiter jahr"),
        ),
        ("每位员工每年有多少天年假？", ("每位员工每年有多少天年假",)),
    ],
)
def test_queries_in_another_language_have_no_english_words(question: str, queries: tuple[str, ...]) -> None:
    """Their own function words are left out, and nothing is added."""
    assert make_plan(question).queries == queries


def test_follow_ups_have_no_function_words_of_the_language() -> None:
    """Such words are what German passages share first; their subject comes after."""
    planner, cache = RulePlanner(), Cache(MemoryStore())
    plan = planner.plan("Wie lang ist die Kündigungsfrist für einen Mietvertrag?", cache)
    passages = [
        "Wenn der Mietvertrag nicht endet, gilt auch nach dem Gesetz eine Kündigungsfrist, wenn der Mieter kündigt.",
        "Auch nach einem Jahr gilt die Kündigungsfrist für den Mietvertrag nicht, wenn die Gesetze sie ausschließen.",
    ]
    assert planner.follow_ups(plan, plan.queries, passages, cache) == (
        "lang kündigungsfrist", "lang kündigungsfrist mietvertrag gesetz",
    )  # fmt: skip
