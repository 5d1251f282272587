"""Paging of long responses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidInput
from harness.server.mcp.paging import MAX_OUTPUT, json_chars, leading, with_part
from harness.server.responses.response_schema import Part


class Text(Part):
    """A response with one text field."""

    text: str = ""


def parts(text: str) -> list[Text]:
    """Follow `next_offset` to the end."""
    found = [with_part(Text(), "text", text, 0)]
    while found[-1].next_offset is not None:
        found.append(with_part(Text(), "text", text, found[-1].next_offset))
    return found


@given(st.text(max_size=40), st.integers(0, 3_000), st.text(max_size=40))
def test_parts_make_up_the_text(first: str, times: int, last: str) -> None:
    """The joined parts are the whole text; each is within the limit, even if JSON makes its characters longer."""
    text = first * times + last
    found = parts(text)
    assert "".join(part.text for part in found) == text
    assert all(json_chars(part) <= MAX_OUTPUT and part.total_chars == len(text) for part in found)
    assert [part.truncated for part in found] == [True] * (len(found) - 1) + [False]


def test_parts_use_the_limit() -> None:
    """100,000 plain characters come in five parts, 100,000 quotation marks in nine."""
    assert len(parts("x" * 100_000)) == 5
    assert len(parts('"' * 100_000)) == 9


def test_an_offset_beyond_the_text_is_an_error() -> None:
    """The message has the length of the text."""
    with pytest.raises(InvalidInput, match="nothing at offset 4: the text has 3 characters"):
        with_part(Text(), "text", "abc", 4)


def test_lists_are_cut_between_items() -> None:
    """Before the first item that does not fit."""
    assert leading(["a" * 10, "b" * 10, "c" * 10], 45) == ["a" * 10, "b" * 10]
    assert leading(["a" * 100, "b"], 40) == []
