"""How much comes back at once, and how the rest is had."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidInput
from harness.server.mcp.paging import MAX_OUTPUT, json_chars, leading, with_part
from harness.server.responses.schema import Part


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
    """Joined, the parts are the whole text; each is within the bound, whatever JSON makes of its characters."""
    text = first * times + last
    found = parts(text)
    assert "".join(part.text for part in found) == text
    assert all(json_chars(part) <= MAX_OUTPUT and part.total_chars == len(text) for part in found)
    assert [part.truncated for part in found] == [True] * (len(found) - 1) + [False]


def test_a_part_is_as_long_as_it_may_be() -> None:
    """The bound is used: 100,000 plain characters come in five parts, 100,000 quotation marks in nine."""
    assert len(parts("x" * 100_000)) == 5
    assert len(parts('"' * 100_000)) == 9


def test_an_offset_beyond_the_text_is_an_error() -> None:
    """Who asks for what is not there is told how long the text is."""
    with pytest.raises(InvalidInput, match="nothing at offset 4: the text has 3 characters"):
        with_part(Text(), "text", "abc", 4)


def test_only_whole_items_lead() -> None:
    """A list is cut between its items, before the first that does not fit."""
    assert leading(["a" * 10, "b" * 10, "c" * 10], 45) == ["a" * 10, "b" * 10]
    assert leading(["a" * 100, "b"], 40) == []
