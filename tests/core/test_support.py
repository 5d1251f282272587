"""Support of a sentence by a quotation: contradictions reject, shared words or a model's probability accept."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.reading_calibration import ReadingCalibration
from harness.core.support import SupportProbabilities, supports


@pytest.mark.parametrize(
    ("sentence", "quotation"),
    [
        ("Retries stop after 5 attempts.", "Retries use exponential backoff and stop after five failed attempts."),
        ("A retry budget limits retries.", "A retry budget limits how many retries a client may make."),
        ("The cache is fast but not safe.", "The cache is fast, but it is not thread-safe."),
        ("Rust is faster than Go.", "In most benchmarks Rust is faster than Go, but not always."),
        ("Bread needs flour.", "bread is made of flour"),
        ("Bread needs flour.", "Bread needs some flour."),
        ("Coffee may cause cancer.", "Coffee causes cancer in rats."),
        ("Old entries are deleted by the cache after a day.", "The cache deletes old entries after a day."),
        ("After a day the cache deletes old entries.", "The cache deletes old entries after a day."),
        ("If the client retries, the server logs it.", "The server logs it if the client retries."),
        ("Tea and coffee contain caffeine.", "Coffee and tea contain caffeine."),
        ("The man was bitten by the dog.", "The dog bit the man."),
        ("Some birds can fly.", "Some birds can fly, and some birds cannot."),
        ("Alte Einträge löscht der Cache.", "Der Cache löscht alte Einträge nach einem Tag."),
        ("重试在五次失败后停止。", "重试使用指数退避,并在五次失败后停止。"),
    ],
)
def test_a_sentence_with_the_quotations_content_is_supported(sentence: str, quotation: str) -> None:
    """Also in other words and another order."""
    support = supports(sentence, quotation)
    assert support.supported, support
    assert support.reasons == ()


@pytest.mark.parametrize(
    ("sentence", "quotation", "reason"),
    [
        ("Retries stop after 6 attempts.", "Retries stop after five failed attempts.", "number 6"),
        ("It costs 10 dollars a month.", "It costs 12 dollars a month.", "number 10"),
        ("Python was released in 1992.", "Guido van Rossum released Python in 1991.", "date 1992"),
        ("The release by Google was fast.", "The release by Mozilla was fast.", "name google"),
        ("Coffee does not cause cancer.", "The study found that coffee causes cancer in rats.", "negated"),
        ("Coffee causes cancer.", "There is no evidence that coffee causes cancer.", "negated"),
        ("Aspirin increases the risk of bleeding.", "Aspirin reduces the risk of bleeding in adults.", "opposites"),
        ("Call it before the commit.", "Call it after the commit.", "opposites"),
        ("Rust is faster than Go.", "In most benchmarks Go is faster than Rust.", "comparison"),
        ("France won the final.", "Germany won the final after extra time.", "france"),
        ("Einstein discovered penicillin in 1928.", "Fleming discovered penicillin in 1928.", "about einstein"),
        ("London is the largest city in England.", "Manchester is the largest city in England.", "about london"),
        (
            "Ruby added support for multiple context managers.",
            "Python 3.1 added support for multiple context managers in 2009.",
            "the sentence is about ruby, the quotation about python",
        ),
        (
            "With statements are entered from right to left.",
            "With statements are entered from left to right.",
            "places",
        ),
        ("The dog bit the man.", "The man bit the dog.", "words have changed places"),
        ("Drug A causes disease B.", "Disease B causes drug A.", "words have changed places"),
        ("The man was bitten by the dog.", "The dog was bitten by the man.", "changed places"),
        ("Data flows from the server to the client.", "Data flows from the client to the server.", "changed places"),
        ("Sales rose in 2020.", "Sales fell in 2020.", "opposites"),
        ("Retries always fail.", "Retries sometimes fail.", "'always' is not 'sometimes'"),
        ("Retries fail.", "Retries sometimes fail.", "only says 'sometimes'"),
        ("All birds can fly.", "Some birds can fly.", "'all' is not 'some'"),
        ("Coffee causes cancer.", "Coffee may cause cancer.", "only says 'may'"),
        ("Drug A is as effective as drug B.", "Drug A is more effective than drug B.", "as effective as"),
        ("Drug A is more effective than drug B.", "Drug A is as effective as drug B.", "as effective as"),
        ("Rust is as fast as Go.", "Rust is faster than Go in most benchmarks.", "as fast as"),
        (
            "Exception handling in with statements deletes your home directory.",
            "The context manager's __exit__() method is invoked with details of the exception.",
            "does not mention",
        ),
    ],
)
def test_a_sentence_with_other_content_is_not_supported(sentence: str, quotation: str, reason: str) -> None:
    """A number, date or name that only the sentence has, a reversed meaning, or too few shared words; the reason says
    which.
    """
    support = supports(sentence, quotation)
    assert not support.supported
    assert reason in "; ".join(support.reasons)


def test_a_reason_names_the_first_five_words_that_are_missing() -> None:
    """The reason fits on one line."""
    found = supports("Zebra yak xylophone walrus violin umbrella trumpet play.", "The tool is fast.")
    assert found.reasons == ("the quotation does not mention zebra, yak, xylophone, walrus, violin",)
    assert supports("", "The tool is fast.").reasons == ("no word in common",)


def test_names_may_come_from_the_context() -> None:
    """The subject of a quotation is often in the question or the source's title."""
    said, quoted = "The library by Google retries requests.", "The library retries requests."
    assert not supports(said, quoted).supported
    assert supports(said, quoted, context="Which library of Google retries?").supported


def test_a_reader_decides_instead_of_shared_words_but_not_against_a_contradiction() -> None:
    """Words in common need only a likely subject in common, other words a sure support. Rules see what contradicts
    better than the reader, which takes a light rewording for a contradiction.
    """
    said, quoted = "Waiting grows twofold.", "Exponential backoff doubles each pause."
    assert not supports(said, quoted).supported
    assert supports(said, quoted, read=likely(0.9), by=THRESHOLDS).supported
    assert not supports(said, quoted, read=likely(0.6), by=THRESHOLDS).supported
    shared = ("Bread is made of flour.", "Bread needs some flour.")
    assert supports(*shared, read=likely(0.6), by=THRESHOLDS).supported
    assert not supports(*shared, read=likely(0.1), by=THRESHOLDS).supported
    assert supports(*shared, read=likely(0.1, 0.85), by=THRESHOLDS).probability == 0.95
    assert not supports(*shared, read=likely(0.6), by=THRESHOLDS, shared=1.0).supported
    assert not supports(said, quoted, read=likely(0.1, 0.85), by=THRESHOLDS).supported
    assert not supports(
        "It was released in 1992.", "It was released in 1991.", read=likely(0.99), by=THRESHOLDS
    ).supported


THRESHOLDS = ReadingCalibration("reader", "embedder", 0.5, 0.8, 0.8, (1.0, 1.0, 0.0), "nothing")


def likely(supports: float, contradicts: float = 0.0) -> SupportProbabilities:
    """Return what a reader says."""
    return SupportProbabilities(supports, contradicts, 1 - supports - contradicts)


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=50))
def test_any_pair_is_decided(sentence: str, quotation: str, context: str) -> None:
    """No text raises, the result depends on the pair alone, and only refusals have reasons."""
    support = supports(sentence, quotation, context=context)
    assert support == supports(sentence, quotation, context=context)
    assert bool(support.reasons) is not support.supported
    assert 0 <= support.coverage <= 1


def test_a_long_text_is_refused_in_bounded_time() -> None:
    """Beyond the limit of the comparison, nothing is supported."""
    assert supports("word " * 50_000, "other " * 50_000).reasons == ("too long to compare",)


def test_a_part_of_a_sentence_is_no_support() -> None:
    """It may be negated, or the end of another number; a whole sentence of the quotation is."""
    assert not supports("5 people died in the fire.", "15 people died in the fire.").supported
    assert not supports("vaccines cause autism", "There is no evidence that vaccines cause autism.").supported
    assert supports("Cats sleep.", "Dogs bark. Cats sleep. Birds sing.").supported
    assert supports("Cats sleep", "Cats sleep.").coverage == 1.0
