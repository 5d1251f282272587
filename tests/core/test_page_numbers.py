"""Page numbers: found by the words of a quotation, whatever was done to the white space."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.chunking import passages
from harness.core.page_numbers import MAX_STARTS, checked_starts, joined_starts, page_of, starts_in

TEXT = "# Title\n\nOne fish swims.\n\nTwo fish swim. Three\nfish rest.\n\n# End\n\nOne fish sleeps."
STARTS = ((9, 1), (TEXT.index("Two"), 3), (TEXT.index("fish rest"), 4), (TEXT.index("# End"), 7))


@pytest.mark.parametrize(
    ("quotation", "page"),
    [
        ("One fish swims.", 1),
        ("Two  fish\nswim.", 3),
        ("Three fish rest.", 3),
        ("fish rest.", 4),
        ("One fish sleeps.", 7),
        ("Title", 0),
        ("Four fish", 0),
        ("", 0),
    ],
)
def test_a_quotation_is_on_the_page_on_which_it_begins(quotation: str, page: int) -> None:
    """White space does not count; what comes before the first page, or is not in the text, is on none."""
    assert page_of(quotation, TEXT, STARTS) == page


def test_a_text_without_pages_has_none() -> None:
    """Every page of the web is such a text."""
    assert page_of("One fish", TEXT, ()) == 0
    assert list(starts_in(["One fish"], TEXT, ())) == [()]


def test_passages_keep_the_pages_of_their_words() -> None:
    """A passage over two pages has both starts; headings that are left out do not shift them."""
    parts = [each.text for each in passages(TEXT, 40)]
    assert parts == ["One fish swims.", "Two fish swim. Three\nfish rest.", "One fish sleeps."]
    starts = list(starts_in(parts, TEXT, STARTS))
    assert starts == [((0, 1),), ((0, 3), (21, 4)), ((0, 7),)]
    joined = joined_starts(parts, starts, between=2)
    whole = "\n\n".join(parts)
    assert [(whole[at:][:3], page) for at, page in joined] == [("One", 1), ("Two", 3), ("fis", 4), ("One", 7)]


def test_a_part_that_is_not_in_the_text_has_no_pages() -> None:
    """The parts after it have theirs."""
    assert list(starts_in(["Five fish", "Two fish"], TEXT, STARTS)) == [(), ((0, 3),)]


def test_a_part_without_pages_has_none_when_it_is_joined() -> None:
    """It does not inherit the page of the part before it."""
    parts = ["First.", "Second.", "Third."]
    starts = joined_starts(parts, [((0, 7),), (), ((0, 7),)], between=2)
    assert [page_of(part, "\n\n".join(parts), starts) for part in parts] == [7, 0, 7]
    assert joined_starts(parts, [(), ((0, 2),), ()], between=2) == ((8, 2), (17, 0))
    assert joined_starts(parts, [(), (), ()], between=2) == ()


@pytest.mark.parametrize(
    ("stored", "starts"),
    [
        ([[0, 7], [30, 8]], ((0, 7), (30, 8))),
        (((0, 7),), ((0, 7),)),
        (None, ()),
        ("[[0, 7]]", ()),
        ([[0, -1]], ()),
        ([[0]], ()),
        ({"0": 7}, ()),
        ([[0, 10**9]], ()),
        ([[at, 1] for at in range(MAX_STARTS + 1)], ()),
    ],
)
def test_stored_places_are_checked(stored: Any, starts: Any) -> None:
    """A row may be damaged, or from another user's file: then there are no pages."""
    assert checked_starts(stored) == starts


def test_many_pages_of_form_feeds_cost_little() -> None:
    """Places out of order neither: 100,000 form feeds and 2,000 pages in 5,000 parts take well below a second."""
    text = "".join(f"word {number}\n\n{chr(12) * 20}" for number in range(5_000))
    starts = tuple((place * 50, place) for place in range(1, MAX_STARTS + 1))
    parts = [f"word {number}" for number in range(5_000)]
    began = time.monotonic()
    assert sum(map(len, starts_in(parts, text, starts))) > 4_000
    assert len(list(starts_in(parts, text, starts[::-1]))) == len(parts)
    assert time.monotonic() - began < 5


def test_words_that_are_twice_in_a_text_have_their_own_pages() -> None:
    """Parts are found one after the other."""
    text = "The same words.\n\nThe same words."
    assert list(starts_in(["The same words."] * 2, text, ((0, 1), (17, 2)))) == [((0, 1),), ((0, 2),)]


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("ab .\n#=é…"), max_size=60), min_size=1, max_size=6))
def test_every_word_of_a_passage_is_on_the_page_it_came_from(pages: list[str]) -> None:
    """Each page has its own letters here, so that the page of each is known."""
    numbered = [page.replace("a", chr(0x4E00 + number)) for number, page in enumerate(pages, start=1)]
    text = "\n\n".join(numbered)
    starts = tuple((sum(len(page) + 2 for page in numbered[:place]), place + 1) for place in range(len(numbered)))
    parts = [each.text for each in passages(text)]
    joined, whole = joined_starts(parts, starts_in(parts, text, starts), between=2), "\n\n".join(parts)
    for number in range(1, len(pages) + 1):
        own = chr(0x4E00 + number)
        if own in whole:
            assert page_of(own, whole, joined) == number
