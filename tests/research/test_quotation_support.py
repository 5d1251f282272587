"""Support of sentences by their quotations: rules and a reader together."""

import logging
from collections.abc import Sequence

import pytest

from harness.cache import Cache
from harness.core.support import SupportProbabilities
from harness.errors import ReaderError
from harness.research.quotation_support import BY_WORDS, MAX_READ, QuotationSupport
from tests.fakes import MemoryStore, WordReader

SENTENCE, QUOTATION = "Green tea lowers blood pressure.", "Adults who drank green tea had higher blood pressure."


class SureReader(WordReader):
    """A reader that says the same of every pair."""

    def __init__(self, supports: float, contradicts: float) -> None:
        super().__init__(least=0.8)
        self.said = SupportProbabilities(supports, contradicts, 1 - supports - contradicts)

    def supports(self, sentence: str, quotations: Sequence[str]) -> list[SupportProbabilities]:
        """See `Reader.supports`."""
        self.read += [sentence] * len(quotations)
        return [self.said] * len(quotations)


class FailingReader(WordReader):
    """A reader without weights."""

    def supports(self, sentence: str, quotations: Sequence[str]) -> list[SupportProbabilities]:
        """Fail."""
        raise ReaderError("the reader cannot be loaded")


def checked(support: QuotationSupport, sentence: str, quotation: str) -> tuple[bool, float | None]:
    """Return whether the quotation supports the sentence, and the probability."""
    [found] = support.check("question", [(sentence, quotation)], [""])
    return found.supported, found.probability


def test_shared_words_are_not_enough_for_a_reader() -> None:
    """An unrelated quotation with the same words is no support; a contradiction is found by the words."""
    bread = ("Bread is made of flour.", "Bread of fine flour is sold at the market.")
    assert checked(BY_WORDS, *bread) == (True, None)
    assert checked(QuotationSupport(SureReader(0.2, 0.1)), *bread) == (False, 0.3)
    assert checked(QuotationSupport(SureReader(0.55, 0.1)), *bread) == (True, 0.65)
    assert checked(QuotationSupport(SureReader(0.1, 0.85)), *bread) == (True, 0.95)
    negated = ("Bread is made of flour.", "Bread is not made of flour.")
    assert checked(QuotationSupport(SureReader(0.99, 0.0)), *negated) == (False, 0.99)


def test_other_words_are_support_if_the_reader_is_sure() -> None:
    """Below its threshold they are not; rules about numbers always count."""
    worded = ("The animal sleeps at noon.", "Around midday cats like to nap.")
    assert checked(BY_WORDS, *worded) == (False, None)
    assert checked(QuotationSupport(SureReader(0.9, 0.0)), *worded) == (True, 0.9)
    assert checked(QuotationSupport(SureReader(0.7, 0.0)), *worded) == (False, 0.7)
    assert checked(QuotationSupport(SureReader(0.99, 0.0)), "It began in 1992.", "It began in 1991.") == (False, 0.99)


def test_a_repeated_sentence_is_not_read() -> None:
    """It supports itself."""
    reader = SureReader(0.0, 1.0)
    assert checked(QuotationSupport(reader), QUOTATION, QUOTATION) == (True, 1.0)
    assert reader.read == []


def test_each_pair_is_read_once_with_a_cache() -> None:
    """The second report reads nothing."""
    reader = SureReader(0.9, 0.0)
    support = QuotationSupport(reader, Cache(MemoryStore()), 60)
    first = checked(support, SENTENCE, QUOTATION)
    assert checked(support, SENTENCE, QUOTATION) == first
    assert len(reader.read) == 1


def test_a_failing_reader_leaves_it_to_the_rules(caplog: pytest.LogCaptureFixture) -> None:
    """With one warning."""
    caplog.set_level(logging.WARNING)
    assert (
        checked(QuotationSupport(FailingReader()), "Bread is made of flour.", "Bread of fine flour is sold.")[1] is None
    )
    assert caplog.text.count("rules alone check quotations") == 1


def test_a_long_report_is_read_in_part() -> None:
    """The time of a check is bounded."""
    reader = SureReader(0.9, 0.0)
    pairs = [(f"Cat {number} naps.", "Cats nap.") for number in range(MAX_READ + 50)]
    assert len(QuotationSupport(reader).check("q", pairs, [""] * len(pairs))) == len(pairs)
    assert len(reader.read) == MAX_READ


def test_a_pair_in_another_language_is_not_read() -> None:
    """However sure the reader is: the rules alone decide, here that the words are there."""
    reader = SureReader(0.0, 1.0)
    pair = ("Der Tunnel ist für Busse geöffnet.", "Für Busse ist der Tunnel seit Mai geöffnet.")
    assert checked(QuotationSupport(reader), *pair) == checked(BY_WORDS, *pair) == (True, None)
    assert reader.read == []
