"""Sentences that say what a thing is."""

import pytest

from harness.core.definitions import asks_other, asks_what, defines

QUESTION = "How does a circuit breaker protect a service from retries?"


@pytest.mark.parametrize(
    "sentence",
    [
        "A circuit breaker is a component that stops calls for a while.",
        "Circuit breakers are the simplest protection.",
        "In distributed systems, a circuit breaker (also a breaker) is a switch between services.",
        "A retry refers to another attempt.",
        "The service, is a program.",
    ],
)
def test_a_definition_of_a_thing_in_the_question(sentence: str) -> None:
    """Singular or plural, with an article, a place or a remark in brackets."""
    assert defines(sentence, QUESTION)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "It is a component that stops calls.",
        "A bulkhead is a wall between parts.",
        "The circuit breaker of the house is a switch.",
        "A circuit breaker opens after five failures.",
        "A circuit breaker is slow.",
        "a" * 100_000,
        "is a is a is a",
    ],
)
def test_other_sentences_define_nothing(sentence: str) -> None:
    """Other things, pointing words, and what a thing does or how it is."""
    assert not defines(sentence, QUESTION)


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("What is the maximum load of the Orlin Cargo bike?", "The Orlin Cargo is a front loader.", False),
        ("What is the maximum load of the Orlin Cargo bike?", "The maximum load is the sum of all.", True),
        ("What is the Orlin Cargo bike?", "The Orlin Cargo is a front loader.", True),
        ("What is a closure in Python?", "A closure is a function with its variables.", True),
        ("What is a closure in Python?", "Python is a language.", False),
        ("What are the opening hours of the museum in winter?", "The museum was the best part.", False),
        ("What is the difference between a list and a tuple?", "A tuple is a sequence.", False),
        ("What is the Bank of America?", "Bank of America is a bank.", True),
        ("How does a breaker work?", "A breaker is a switch.", True),
        ("What is a closure?", "A function that keeps its variables is called a *closure*.", True),
        ("What is a closure?", "Such a function is also known as a closure.", True),
        ("What is a closure?", "It is called again and again.", False),
        ("What is a closure?", "Closures are called by their makers.", False),
        ("What is a closure?", "A function that is passed on is called a callback.", False),
    ],
)
def test_a_question_what_something_is_asks_for_that_thing(question: str, sentence: str, expected: bool) -> None:
    """The load, rather than the bike that it is the load of."""
    assert defines(sentence, question) is expected


def test_questions_what_something_is() -> None:
    """Not how, and not what happens."""
    assert [asks_what(each) for each in ("What is a list?", "what are lists?", "How is a list?", "What happens?")] == [
        True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("How does a breaker work?", True), ("why do breakers open", True), ("When was the bridge opened?", True),
        ("In which order are they called, and how?", False), ("What happens when a generator is called?", True),
        ("What does del do to a name?", True), ("On whom does it depend?", False), ("What is a breaker?", False),
        ("How is a breaker defined?", False), ("What does HTTP refer to?", False), ("circuit breaker", False),
        ("Who was Ada Lovelace?", False), ("Is a tuple a sequence?", False), ("", False),
    ],
)  # fmt: skip
def test_questions_for_something_else_than_a_definition(question: str, other: bool) -> None:
    """How, why, when, where, what happens; not those that a definition may answer."""
    assert asks_other(question) is other
