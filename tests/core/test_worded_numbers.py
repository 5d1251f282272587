"""Numbers in words and in digits: a sentence is supported by a quotation with the same number, never by another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.support import supports
from harness.core.worded_numbers import in_digits


@pytest.mark.parametrize(
    ("sentence", "quotation"),
    [
        ("Half of the voters agreed.", "50 % of the voters agreed."),
        ("About a third of the voters agreed.", "About 33 percent of the voters agreed."),
        ("A third of the voters agreed.", "33.3 % of the voters agreed."),
        ("A third of the voters agreed.", "Thirty-three percent of the voters agreed."),
        ("A quarter of the voters agreed.", "25% of the voters agreed."),
        ("50 % of the voters agreed.", "Half of the voters agreed."),
        ("33 percent of the voters agreed.", "A third of the voters agreed."),
        ("25% of the voters agreed.", "One quarter of the voters agreed."),
        ("Two thirds of the voters agreed.", "66.7 % of the voters agreed."),
        ("Two-thirds of the voters agreed.", "About 67 per cent of the voters agreed."),
        ("Three quarters of the voters agreed.", "75 % of the voters agreed."),
        ("One in five voters agreed.", "20 % of the voters agreed."),
        ("The factory was built in the nineteenth century.", "The factory was built in 1847."),
        ("The factory was built in the late 19th century.", "The factory was built in 1897."),
        ("The factory was built in the 1840s.", "The factory was built in 1847."),
        ("The factory was built in the 19th century.", "The factory was built in 1847."),
        ("The factory was built in the nineteenth century.", "The factory was built in the 19th century."),
        ("The factory was built in the nineteenth century.", "The factory was built in the 1840s."),
        ("The factory was built in the 1840s.", "The factory was built in the 1840s by two brothers."),
        ("The club has two dozen members.", "The club has 24 members."),
        ("The club has a dozen members.", "The club has 12 members."),
        ("The club has 24 members.", "The club has two dozen members."),
        ("The club has half a dozen members.", "The club has six members."),
        ("The output is twice as high as before.", "The output is 2 times as high as before."),
        ("The output is 2 times as high as before.", "The output is twice as high as before."),
        ("The output doubled.", "The output is twice as high."),
        ("The club meets twice a week.", "The club meets two times a week."),
        ("The club has half a million members.", "The club has 500,000 members."),
        ("It took half an hour.", "It took 30 minutes."),
        ("It took two and a half hours.", "It took 2.5 hours."),
        ("It took an hour and a half.", "It took 1.5 hours."),
        ("The second half of the game was good.", "The second half of the game was good and long."),
        ("Sales fell for three quarters in a row.", "Sales fell for three quarters in a row, to 40 million."),
        ("The first quarter of 2023 was good.", "The first quarter of 2023 was good for 40 % of them."),
    ],
)
def test_the_same_number_in_words_and_digits(sentence: str, quotation: str) -> None:
    """Fractions, dozens, multiples; and a century or decade for a year."""
    assert supports(sentence, quotation).supported


@pytest.mark.parametrize(
    ("sentence", "quotation"),
    [
        ("Half of the voters agreed.", "40 % of the voters agreed."),
        ("A third of the voters agreed.", "40 % of the voters agreed."),
        ("40 % of the voters agreed.", "Half of the voters agreed."),
        ("33 % of the voters agreed.", "A quarter of the voters agreed."),
        ("The factory was built in the nineteenth century.", "The factory was built in 1947."),
        ("The factory was built in the late 19th century.", "The factory was built in 1803."),
        ("The factory was built in 1847.", "The factory was built in the nineteenth century."),
        ("The factory was built in 1847.", "The factory was built in the 1840s."),
        ("The factory was built in 1840.", "The factory was built in the 1840s."),
        ("The factory was built in the 1840s.", "The factory was built in 1857."),
        ("The factory was built in the 1840s.", "The factory was built in the nineteenth century."),
        ("The output is twice as high.", "The output is three times as high."),
        ("The output is three times as high.", "The output is twice as high."),
        ("The output doubled last week.", "The output tripled last week."),
        ("The club has two dozen members.", "The club has 20 members."),
        ("The club has two dozen members.", "The club has three dozen members."),
        ("The club has a dozen members.", "The club has 15 members."),
        ("Half of the voters agreed.", "A third of the voters agreed."),
        ("Two thirds of the voters agreed.", "A third of the voters agreed."),
        ("Half of the voters agreed.", "All of the voters agreed."),
        ("Half of the voters agreed.", "The voters agreed."),
        ("The factory was built in the 19th century.", "The factory was built in the 18th century."),
        ("The club meets once a week.", "The club meets twice a week."),
        ("It took half an hour.", "It took 40 minutes."),
        ("The club has half a million members.", "The club has 5,000 members."),
    ],
)
def test_another_number_or_a_more_exact_one(sentence: str, quotation: str) -> None:
    """Half is not 40 %, and a quotation with a century says no year."""
    assert not supports(sentence, quotation).supported


@pytest.mark.parametrize(
    "text",
    [
        "The second half of the game was good.", "The first quarter was bad.", "It has a third party.", "A half-life.",
        "Call it once a user signs in.", "Several dozen people came.", "Sales fell for three quarters in a row.",
        "The 19th century was long.", "Das ist die Hälfte.",
    ],
)  # fmt: skip
def test_words_that_are_no_numbers(text: str) -> None:
    """Halves of games, quarters of years, third parties, and centuries without a year stay."""
    assert in_digits(text, text) == (text, text)


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_written_in_digits(one: str, other: str) -> None:
    """No text is too odd; those without such words stay."""
    assert all(isinstance(text, str) for text in in_digits(one, f"{other} half of 1 in 0 and 000 thirds, 19th century"))
    assert in_digits(f"x{''.join(filter(str.isdigit, one))}x", "x")[1] == "x"
