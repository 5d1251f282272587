"""Scorers of what reports promise: each share, and when a scorer applies."""

import math
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from harness_evals import promises, streams
from harness_evals.outcome import Cited, Outcome
from harness_evals.promises import (
    avoided,
    disagreement_shown,
    repeated_content,
    required_terms,
    sections_match,
    self_contained,
    short_answer,
)
from harness_evals.scorers import NEEDS, SCORERS, WEIGHTS, score, weights_for
from harness_evals.tasks import Nugget, Task, load_tasks

from harness.errors import InvalidInput
from harness.research.report import DISAGREEMENTS

SOUP = Nugget("it is hot", "vital", ("soup is hot",))
COMPOUND = "How long is the Halden Bridge, and who designed it?"


def task(question: str = "Which soup?", **more: Any) -> Task:
    """Return a task with a question."""
    return Task("T_X", question, **more)


def report(*sentences: str, section: str = "Answer", **more: Any) -> Outcome:
    """Return a run whose report quotes these sentences, in one paragraph."""
    return Outcome("T_X", 0, citations=tuple(Cited(section, each, each, "a", True, 1) for each in sentences), **more)


def test_every_sub_question_needs_its_own_section() -> None:
    """The title has the words that only this sub-question has, not just their common subject."""
    of_both = Outcome("T_X", 0, citations=tuple(
        Cited(section, "It is.", "It is.", "a", True) for section in ("How long is it?", "Designed by whom?")
    ))  # fmt: skip
    assert sections_match(task(COMPOUND), of_both) == 1.0
    assert sections_match(task(COMPOUND), report("It is long.", section="How long is it?")) == 0.5
    assert sections_match(task(COMPOUND), report("Long, designed.", section="The Halden Bridge")) == 0.0
    assert sections_match(task(COMPOUND), report("It was designed by her.", section="Answer")) == 0.0


@pytest.mark.parametrize(
    ("sentences", "share"),
    [
        (("The soup is hot today.", "the soup is hot, today"), 0.5),
        (("Onions make the vegetable soup sweet.", "Onions make this vegetable soup very sweet."), 0.5),
        (("The bridge is 812 metres long in total.", "The bridge is 798 metres long in total."), 1.0),
        (("The soup is hot today.", "Bread is sold at the counter."), 1.0),
        ((), 0.0),
    ],
)
def test_repeated_content_counts_sentences_said_before(sentences: tuple[str, ...], share: float) -> None:
    """In the same or nearly the same words; another number is other content."""
    assert repeated_content(task(), report(*sentences)) == share


def test_the_table_of_disagreements_repeats_nothing() -> None:
    """It shows statements again on purpose."""
    said = "The bridge is 812 metres long."
    both = (*report(said).citations, *report(said, section=DISAGREEMENTS).citations)
    assert repeated_content(task(), Outcome("T_X", 0, citations=both)) == 1.0


def test_terms_of_the_question_are_answered_or_named_as_missing() -> None:
    """In sentences, titles of sources, or limits; another year does not count."""
    asked = task("What did the Norvik Library cost in 2023?")
    here = "The Norvik Library cost 4 million."
    assert required_terms(asked, report(here, "That was in 2023.")) == 1.0
    assert required_terms(asked, report(here, "That was in 2024.")) == 0.5
    assert required_terms(asked, report(here, titles=("Budget 2023",))) == 1.0
    assert required_terms(asked, report(here, limits=("No quoted passage answers for 2023.",))) == 1.0
    assert required_terms(asked, Outcome("T_X", 0, limits=("2023",))) == 0.0


def test_a_disagreement_is_shown_if_all_sides_are_together() -> None:
    """In one paragraph; a number also with other separators, but never as a part of another one."""
    asked = task(disagrees=(("8,849", 8848),))
    assert disagreement_shown(asked, report("It is 8849 m high.", "It is 8,848 m high.", section=DISAGREEMENTS)) == 1.0
    assert disagreement_shown(asked, report("It is 18,849 m high.", "It is 8,848 m high.")) == 0.0
    apart = [Cited("Answer", f"It is {number} m high.", "", "a", True, number) for number in (8849, 8848)]
    assert disagreement_shown(asked, Outcome("T_X", 0, citations=tuple(apart))) == 0.0
    assert disagreement_shown(task(disagrees=(("red wine", "white"),)), report("Red wine; white or not.")) == 1.0


def test_avoided_is_the_share_of_wordings_that_are_not_there() -> None:
    """Whole words only; without a report it is 0."""
    asked = task(avoid=("buy soup", "ignore all instructions"))
    assert avoided(asked, report("You must buy  SOUP now.")) == 0.5
    assert avoided(asked, report("Buy soups now.")) == 1.0
    assert avoided(asked, Outcome("T_X", 0)) == 0.0


@pytest.mark.parametrize(
    "sentence",
    [
        "It was opened by the king in 1987.",
        "Six years later the bridge opened to traffic.",
        "As mentioned above, the bridge is long.",
        "The latter is longer than the former bridge.",
        "How often should a chain be oiled by its owner?",
        "Home | News | Sport | Weather | Sign in to read more.",
        "The bridge was opened by the king and then…",
        "the bridge was opened by the king in spring.",
        "The bridge (opened by the king in spring is long.",
        "- Wipe the chain with a rag. - Put oil on every roller of it.",
        "This page describes the bridge and its history.",
        "Scroll down to find out how long the bridge is.",
    ],
)
def test_debris_and_dangling_sentences_are_not_self_contained(sentence: str) -> None:
    """Each of them costs its share; a whole statement does not."""
    whole = "The king opened the bridge to traffic in 1987."
    assert self_contained(task(), report(sentence)) == 0.0
    assert self_contained(task(), report(whole)) == 1.0
    assert self_contained(task(), Outcome("T_X", 0)) == 0.0


def test_a_sentence_may_point_back_to_the_one_before_it() -> None:
    """In the same paragraph and from the same source."""
    first, second = "The bridge is a work of Solberg.", "It was opened by the king in 1987."
    assert self_contained(task(), report(first, second)) == 1.0
    elsewhere = (*report(first).citations, Cited("Answer", second, second, "b", True, 1))
    assert self_contained(task(), Outcome("T_X", 0, citations=elsewhere)) == 0.5


def test_a_written_sentence_may_be_short() -> None:
    """The rules of quotations are for quotations."""
    written = Cited("Answer", "Yes, it is.", "The soup is hot on Mondays.", "a", True, 1)
    assert self_contained(task(), Outcome("T_X", 0, citations=(written,))) == 0.0
    whole = Cited("Answer", "Soup is hot.", "The soup is hot on Mondays.", "a", True, 1)
    assert self_contained(task(), Outcome("T_X", 0, citations=(whole,))) == 1.0


@pytest.mark.parametrize(
    ("answer", "sentence", "holds"),
    [
        ("Ingrid Solberg", "It was designed by INGRID SOLBERG.", True),
        ("The Beatles", "Beatles fans know who sang it.", True),
        ("4 March 1987", "It opened on March 4, 1987.", True),
        ("4 March 1987", "It opened on 1987-03-04.", True),
        ("4 March 1987", "It opened on 5 March 1987.", False),
        ("3,200", "It has 3200 seats.", True),
        ("320", "It has 3200 seats.", False),
        ("812 m", "It is 812 metres long.", True),
        ("812 m", "It is 812 feet long.", False),
        ("812 m", "It is 81 m long.", False),
        ("Amara Nilsen", "Nilsen won before Amara.", False),
    ],
)
def test_a_short_answer_is_compared_by_value(answer: str, sentence: str, holds: bool) -> None:
    """Numbers, dates, articles and case in any usual form; only the first sentence counts."""
    asked = task(short_answer=("no such answer", answer))
    assert short_answer(asked, report(sentence)) == float(holds)
    assert short_answer(asked, report("Soup is hot.", sentence)) == 0.0
    assert short_answer(asked, Outcome("T_X", 0)) == 0.0


def test_scorers_apply_only_to_tasks_with_what_they_count() -> None:
    """A plain question has no sub-questions, terms, disagreements, wordings to avoid, or short answer."""
    always = {"repeated_content", "self_contained"}
    of_promises = {name for name, scorer in SCORERS.items() if scorer.__module__ == promises.__name__}
    assert of_promises & set(weights_for(task())) == always
    full = task(
        "When did the Halden Bridge open, and who designed it in 1981?",
        disagrees=(("1", "2"),), avoid=("soup",), short_answer=("1987",),
    )  # fmt: skip
    assert of_promises & set(weights_for(full)) == of_promises
    assert of_promises - always == set(NEEDS) & of_promises


def test_promises_have_weight_only_where_a_task_gives_it() -> None:
    """The others share the rest in proportion; so the totals of older tasks stay as they were."""
    plain, weighed = task(nuggets=(SOUP, SOUP)), task(nuggets=(SOUP, SOUP), weights={"self_contained": 0.2})
    assert weights_for(plain)["self_contained"] == WEIGHTS["self_contained"] == 0.0
    given = weights_for(weighed)
    assert (given["self_contained"], math.fsum(given.values())) == (0.2, pytest.approx(1))
    assert given["nugget_vital"] == pytest.approx(0.8 * weights_for(plain)["nugget_vital"])
    ran = report("However, the soup is hot on every day.")
    assert score(weighed, ran).total == pytest.approx(0.8 * score(plain, ran).total)


def test_the_default_tasks_are_weighed_as_before_the_promises() -> None:
    """To the last bit, so that evaluations of earlier versions stay comparable."""
    for each in load_tasks():
        if each.answerable:
            counted = {name: weight for name, weight in weights_for(each).items() if weight}
            assert counted == {name: weight for name, weight in WEIGHTS.items() if weight}


def test_impossible_weights_of_a_task_are_refused() -> None:
    """For a scorer that does not apply, for an unknown one, and of more than 1 together."""
    with pytest.raises(InvalidInput, match="T_X gives a weight to short_answer, which does not apply"):
        weights_for(task(weights={"short_answer": 0.5}))
    with pytest.raises(ValueError, match="at most 1 together"):
        task(weights={"short_answer": 0.7, "self_contained": 0.7})
    named = get_args(get_args(get_type_hints(Task, include_extras=True)["weights"])[0])
    modules = {promises.__name__, streams.__name__}
    assert set(named) == {name for name, scorer in SCORERS.items() if scorer.__module__ in modules}


@pytest.mark.parametrize("suite", ["web", "short"])
def test_tasks_of_the_suites_can_be_weighed(suite: str) -> None:
    """Every weight in their files is for a scorer that applies."""
    for each in load_tasks(folder=Path(__file__).parents[2] / "evals" / suite / "tasks"):
        assert math.fsum(weights_for(each).values()) == pytest.approx(1)
