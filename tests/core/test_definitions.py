"""Sentences that say what a thing is."""

import pytest

from harness.core.definitions import defines

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
