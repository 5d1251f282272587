"""Reading of queries: kind of question, spelling of words, counterparts."""

import random
from string import ascii_lowercase

import pytest

from harness.core.equivalence.comparison import Comparison, compare
from harness.core.equivalence.guards import Guard, content, dates, names, negation
from harness.core.equivalence.reading import read
from harness.core.equivalence.spelling import plain_text
from harness.models.local.tokenizer import vocabulary
from tests.core.equivalence.assertions import objection


def compared(a: str, b: str) -> Comparison:
    """Compare two queries."""
    return compare(read(a), read(b), vocabulary())


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("how many people live in oslo", "how many"),
        ("how much salt is in bread", "how many"),
        ("number of people in oslo", "how many"),
        ("amount of salt in bread", "how many"),
        ("how long is the nile", "how long"),
        ("how old is oslo", "how old"),
        ("how far is oslo", "how far"),
        ("how often does it rain", "how often"),
        ("how fast is a horse", "how fast"),
        ("how soon does it end", "how soon"),
        ("how deep is the lake", "how deep"),
        ("how big is oslo", "how big"),
        ("how large is oslo", "how big"),
        ("how tall is a giraffe", "how tall"),
        ("how high is everest", "how tall"),
        ("what is the best way to learn rust", "how"),
        ("tips for learning rust", "how"),
        ("what should i do about rust", "how"),
        ("steps to learn rust", "how"),
        ("how do i learn rust", "how"),
        ("why is rust slow", "why"),
        ("how come rust is slow", "why"),
        ("what causes rust", "why"),
        ("what is the main reason for rust", "why"),
        ("when did rust begin", "when"),
        ("what year did rust begin", "when"),
        ("where is oslo", "where"),
        ("which place is oslo", "where"),
        ("what website has rust", "where"),
        ("who made rust", "who"),
        ("whose rust is it", "who"),
        ("what is rust", "what"),
        ("are there any cats", "what"),
        ("is rust slow", "whether"),
        ("whether rust is slow", "whether"),
        ("do i need rust", "whether"),
        ("may rust be slow", "whether"),
        ("i wonder if rust is slow", "whether"),
        ("rust is it slow", "whether"),
        ("rust tutorial", ""),
    ],
)
def test_a_question_asks_for_one_thing(text: str, asks: str) -> None:
    """Its first words decide; keywords ask for nothing."""
    assert sorted(read(text).asks) == ([asks] if asks else [])


@pytest.mark.parametrize(
    ("text", "negations"),
    [
        ("should i use rust or not", 0),
        ("tell me if not", 0),
        ("not only rust is fast", 0),
        ("i am not sure how rust works", 0),
        ("rust is not sure to work", 1),
        ("why not use rust", 1),
        ("rust is not fast", 1),
        ("no rust here", 1),
    ],
)
def test_an_idiom_negates_nothing(text: str, negations: int) -> None:
    """`or not`, `not only`, `I am not sure`: nothing in question is negated."""
    assert read(text).negations == negations


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It's 1,000 dollars.", "it 1000 dollars"),
        ("whats new in v3.12", "what is new in 3.12"),
        ("Python's list", "python list"),
        ("they'll say we've won", "they will say we have won"),
        ("two cats, and one dog", "2 cats and one dog"),
        ("a bus for us", "a bus for us"),
        ("minimum wage us", "minimum wage usa"),
        ("please explain the GIL", "the gil"),
    ],
)
def test_spelling_is_normalised(text: str, plain: str) -> None:
    """Lower case, numbers in digits, contractions expanded, no polite phrases."""
    assert plain_text(text) == plain


def test_disorder_is_the_share_of_turned_pairs() -> None:
    """Four words in reversed order turn all six pairs; two swapped neighbours turn one of six."""
    assert compared("red cats chase mice", "red cats chase mice").disorder == 0.0
    assert compared("cats chase small mice", "mice small chase cats").disorder == 1.0
    assert compared("cats chase small mice", "chase cats small mice").disorder == pytest.approx(1 / 6)


def test_a_word_written_apart_is_the_word_written_together() -> None:
    """Each word has one counterpart."""
    pair = compared("ecommerce shop", "e commerce shop")
    assert (pair.only_a, pair.only_b, len(pair.pairs)) == ((), (), 2)


@pytest.mark.parametrize(
    ("guard", "a", "b", "reason", "veto"),
    [
        (negation, "rust is fast", "rust is not fast", "one is negated, the other is not", True),
        (negation, "enable ipv6", "disable ipv6", "disable / enable are opposites", True),
        (names, "what is it", "who are they", "nothing in common but function words", True),
        (names, "c tutorial", "tutorial", "no counterpart for c", True),
        (content, "bake bread with rye", "bake bread", "only one side mentions rye", False),
        (
            content,
            "bake bread slowly tonight",
            "paint walls quickly now",
            "too little in common: bake, bread, paint, quickly, slowly",
            False,
        ),
    ],
)
def test_an_objection_has_a_reason(guard: Guard, a: str, b: str, reason: str, veto: bool) -> None:
    """And whether a verifier may overrule it."""
    found = objection(guard, a, b)
    assert found is not None
    assert (found.reason, found.veto) == (reason, veto)


def test_very_different_texts_are_not_compared_word_by_word() -> None:
    """The time would grow with the product of their lengths."""
    letters = random.Random(1)
    one, other = (" ".join("".join(letters.sample(ascii_lowercase, 9)) for _ in range(60)) for _ in range(2))
    found = objection(negation, one, other)
    assert found is not None
    assert found.reason == "too much differs"


@pytest.mark.parametrize("text", ["was rust slow", "were they slow", "did it rain"])
def test_a_question_about_the_past_is_another_one(text: str) -> None:
    """Tense follows from the function words."""
    today = {"was": "is", "were": "are", "did": "does"}
    first, *rest = text.split()
    assert objection(dates, text, " ".join([today[first], *rest])) is not None
    assert objection(dates, f"am i {rest[-1]}", f"was i {rest[-1]}") is not None
