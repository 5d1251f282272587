"""Dates: months, weekdays, years, centuries, and times relative to the present."""

import pytest

from harness.core.equivalence.guards import dates
from tests.core.equivalence.assertions import assert_objects, assert_refused, assert_served, assert_silent

GUARD = dates


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("weather in June", "weather in July"),
        ("weather in june", "weather"),
        ("monday night football", "tuesday night football"),
        ("open on Saturday", "open on Sunday"),
        ("released in May", "released in March"),
        ("elections in May 2020", "elections in June 2020"),
        ("5 May holiday", "5 March holiday"),
        ("January 5 2020", "February 5 2020"),
        ("world cup 2018 winner", "world cup 2022 winner"),
        ("world cup 2018 winner", "world cup winner"),
        ("1990s fashion", "1980s fashion"),
        ("what happened last year", "what happened this year"),
        ("last week news", "this week news"),
        ("next week", "next month"),
        ("this weekend events", "next weekend events"),
        ("news from yesterday", "news from today"),
        ("weather today", "weather tomorrow"),
        ("current president of france", "former president of france"),
        ("president of france", "former president of france"),
        ("upcoming movies", "recent movies"),
        ("3 days ago", "3 days"),
        ("who is the ceo of twitter", "who was the ceo of twitter"),
        ("does the shop open late", "did the shop open late"),
    ],
)
def test_another_date_is_another_question(a: str, b: str) -> None:
    """The guard itself rejects it, at any similarity."""
    assert_objects(GUARD, a, b)
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("19th century art", "20th century art"),
        ("90s music", "80s music"),
        ("500 BC events", "500 AD events"),
        ("in 3 days", "in 3 weeks"),
        ("3 days ago", "3 weeks ago"),
        ("3 days before christmas", "3 days after christmas"),
        ("before 2020", "after 2020"),
        ("since 2020", "until 2020"),
        ("2020-01-02", "2020-02-03"),
        ("Q1 2023 earnings", "Q2 2023 earnings"),
        ("early 20th century", "late 20th century"),
        ("1 January 2020", "January 2020"),
        ("first half of 2020", "second half of 2020"),
        ("in the past", "in the future"),
    ],
)
def test_a_time_in_any_form_is_refused(a: str, b: str) -> None:
    """Centuries, eras, spans, before and after, whichever guard rejects them."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("2020-01-02", "2020-02-01"),
        ("01/02/2020 events", "02/01/2020 events"),
        ("trip 3 june to 5 july", "trip 5 june to 3 july"),
        ("from 2010 to 2020", "from 2020 to 2010"),
        ("june 2019 to may 2020", "may 2019 to june 2020"),
        ("sales in 2020 compared to 2019", "sales in 2019 compared to 2020"),
    ],
)
def test_the_order_of_a_dates_parts_counts(a: str, b: str) -> None:
    """The same numbers reversed are another day or another span."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("is june hotter than july", "is july hotter than june"),
        ("flights from monday to friday", "flights from friday to monday"),
        ("is tomorrow colder than today", "is today colder than tomorrow"),
        ("open monday closed sunday", "open sunday closed monday"),
    ],
)
def test_calendar_words_keep_their_place(a: str, b: str) -> None:
    """A weekday or month removed from the sentence leaves its direction."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("sales in dec 2020", "sales in jan 2020"),
        ("bitcoin price in dec", "bitcoin price in jan"),
        ("open on mon", "open on sun"),
        ("events until may", "events until june"),
    ],
)
def test_ambiguous_short_forms_are_dates_in_the_context_of_dates(a: str, b: str) -> None:
    """Mon, sat, sun, jan, dec and may: next to a year or a preposition they are a day or a month."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("weather tonight", "weather today"),
        ("next full moon", "last full moon"),
        ("next olympics", "last olympics"),
        ("next june weather", "last june weather"),
        ("past 5 years returns", "next 5 years returns"),
    ],
)
def test_next_and_last_are_times(a: str, b: str) -> None:
    """Before a period, an event, or a number of years."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("will bitcoin crash", "did bitcoin crash"),
        ("how will AI change jobs", "how did AI change jobs"),
        ("when is the next eclipse", "when was the last eclipse"),
    ],
)
def test_another_tense_is_another_time(a: str, b: str) -> None:
    """The future is neither the present nor the past."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("weather in May 2020", "weather in may 2020"),
        ("jan 2020 weather", "january 2020 weather"),
        ("sept 2020 weather", "september 2020 weather"),
        ("5 january 2020 holiday", "January 5, 2020 holiday"),
        ("january 5th 2020 holiday", "january 5 2020 holiday"),
        ("mondays opening hours", "monday opening hours"),
        ("1980s music", "1980's music"),
        ("weather in tokyo today", "today weather in tokyo"),
        ("today's weather in tokyo", "weather in tokyo today"),
        ("latest python release", "newest python release"),
    ],
)
def test_another_format_of_a_date_is_the_same_date(a: str, b: str) -> None:
    """Months and weekdays have short forms, and the order of a date's parts means nothing."""
    assert_served(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("may i eat grapes", "can i eat grapes"),
        ("protest march in rome", "protest in rome"),
        ("sun cream", "rain cream"),
        ("12 cats", "13 cats"),
    ],
)
def test_words_that_are_not_dates_are_ignored(a: str, b: str) -> None:
    """The verb may, the walk march, the sun and plain numbers are left to other guards."""
    assert_silent(GUARD, a, b)
