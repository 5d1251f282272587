"""Question: where is not when, how often is not how, and whether something happens is not why it does."""

import pytest

from harness.core.equivalence.guards import question
from tests.core.equivalence.assertions import assert_objects, assert_refused, assert_served, assert_silent

GUARD = question


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("when did the war start", "where did the war start"),
        ("who invented the telephone", "when was the telephone invented"),
        ("why does it rain", "how does it rain"),
        ("does it rain", "why does it rain"),
        ("how to learn python", "why learn python"),
        ("how to learn python", "where to learn python"),
        ("how long does it take to learn python", "how to learn python"),
        ("how much does a tesla cost", "why does a tesla cost"),
        ("should I buy bitcoin", "how to buy bitcoin"),
        ("should I buy bitcoin", "when to buy bitcoin"),
        ("what year did he die", "what place did he die"),
        ("how did elvis die", "did elvis die"),
        ("how often to water plants", "how to water plants"),
    ],
)
def test_asking_for_something_else_is_another_question(a: str, b: str) -> None:
    """The guard itself rejects it, at any similarity."""
    assert_objects(GUARD, a, b)
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("how old is the earth", "how big is the earth"),
        ("how tall is the eiffel tower", "how old is the eiffel tower"),
        ("how far is mars", "how big is mars"),
        ("how fast is a cheetah", "how tall is a cheetah"),
        ("how deep is the ocean", "how old is the ocean"),
        ("how soon can I exercise after surgery", "how long can I exercise after surgery"),
        ("how often to water cactus", "how much to water cactus"),
        ("how many people live in rome", "how do people live in rome"),
    ],
)
def test_measures_are_different_questions(a: str, b: str) -> None:
    """Age, size, distance, speed, height and depth are not the same measure."""
    assert_refused(a, b)


LONG = "the central bank raise interest rates three times during the long hot summer of 2018 in western canada"


@pytest.mark.parametrize(("a", "b"), [("why did", "did"), ("why did", "how did"), ("when did", "where did")])
def test_a_long_question_asks_for_something_too(a: str, b: str) -> None:
    """In prose as in a short query, whether is not why: an embedding of many words hardly reflects the first."""
    assert_objects(GUARD, f"{a} {LONG}", f"{b} {LONG}")
    assert_refused(f"{a} {LONG}", f"{b} {LONG}")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("how come the sky is blue", "why is the sky blue"),
        ("what time does the museum open", "when does the museum open"),
        ("what is the best way to peel garlic", "how to peel garlic"),
        ("how do i peel garlic", "how to peel garlic"),
        ("what is the capital of france", "capital of france"),
        ("which planet is the largest", "what planet is the largest"),
        ("what is a monad", "what are monads"),
    ],
)
def test_another_wording_of_the_question_is_served(a: str, b: str) -> None:
    """Here "what time" equals "when", "how come" equals "why", "the best way to" equals "how to"."""
    assert_served(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("what is rust", "what is go"),
        ("when did rome fall", "when was the fall of carthage"),
        ("rust", "go"),
        ("", ""),
    ],
)
def test_the_same_kind_of_question_passes(a: str, b: str) -> None:
    """The topic is left to other guards."""
    assert_silent(GUARD, a, b)
