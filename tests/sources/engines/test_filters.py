"""Filters after the name of an engine: years and other filters, and what is refused."""

import re

import pytest

from harness.errors import InvalidInput
from harness.sources.engines.filters import NO_FILTERS, Filter, Filters, filters_of

ALL: tuple[Filter, ...] = ("years", "open", "field", "site", "kind")


@pytest.mark.parametrize(
    ("argument", "filters"),
    [
        ("", NO_FILTERS),
        ("::", NO_FILTERS),
        ("years=2020", Filters(since=2020, until=2020)),
        ("years=2020-", Filters(since=2020)),
        ("years=-2020", Filters(until=2020)),
        ("years=2020-2024", Filters(since=2020, until=2024)),
        ("years=2020-2020", Filters(since=2020, until=2020)),
        ("years=1500-2099", Filters(since=1500, until=2099)),
        ("open", Filters(open=True)),
        ("field=Computer Science", Filters(field="Computer Science")),
        ("site=owner/name.js", Filters(site="owner/name.js")),
        ("kind=code", Filters(kind="code")),
        (" years = 2020 : open :field= c++ ", Filters(since=2020, until=2020, open=True, field="c++")),
        ("years=2020\n", Filters(since=2020, until=2020)),
        ("field=Médecine", Filters(field="Médecine")),
    ],
)
def test_an_argument_is_read(argument: str, filters: Filters) -> None:
    """In any order, with spaces around the parts."""
    assert filters_of("openalex", argument, ALL) == filters


@pytest.mark.parametrize(
    "argument",
    [
        "years=2024-2020",
        "years=20202024",
        "years=",
        "years",
        "years=-",
        "years=--2020",
        "years=2020-2022-2024",
        "years=2020 - 2024",
        "years=20",
        "years=1499",
        "years=2100",
        "years=٢٠٢٠",
        "years=2020,2024",
        "open=yes",
        "field=",
        "field",
        "field=a\x1b[31m",
        "field=a\u202eb",
        'field="a"',
        "field=a&b=c",
        "field=a,b",
        "field=a\nb",
        "site=" + "x" * 61,
    ],
)
def test_a_value_of_another_form_is_refused(argument: str) -> None:
    """The message is one line, shows the value and says what to write."""
    with pytest.raises(InvalidInput, match="is not a filter of openalex; write openalex") as raised:
        filters_of("openalex", argument, ALL)
    message = str(raised.value)
    assert "[:years=2020-2024][:open][:field=TEXT][:site=NAME][:kind=NAME]" in message
    assert message.isprintable()
    assert len(message) < 250


@pytest.mark.parametrize(
    "argument",
    ["field=x", "2020", "=2020", "Years=2020", "open:open", "years=2020:years=2021", "\x1b[2J=x", "x" * 90_000],
)
def test_a_name_that_is_unknown_or_doubled_is_refused(argument: str) -> None:
    """Also one that another engine has; the message is short."""
    with pytest.raises(InvalidInput, match=re.escape("write crossref[:years=2020-2024][:open]")) as raised:
        filters_of("crossref", argument, ("years", "open"))
    assert "crossref cannot be filtered by" in str(raised.value)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 200


def test_the_options_are_those_that_are_set() -> None:
    """Without filters there are none."""
    assert NO_FILTERS.options == {}
    assert Filters(since=2020, open=True, field="x").options == {"since": 2020, "open": True, "field": "x"}


@pytest.mark.parametrize(
    ("filters", "conditions"),
    [
        (NO_FILTERS, []),
        (Filters(since=2020), ["from:2020-01-01"]),
        (Filters(until=2024), ["to:2024-12-31"]),
        (Filters(since=2020, until=2024), ["from:2020-01-01", "to:2024-12-31"]),
    ],
)
def test_years_become_conditions(filters: Filters, conditions: list[str]) -> None:
    """As many as are set."""
    assert filters.years("from:{}-01-01", "to:{}-12-31") == conditions
