"""Thoughts are removed from a stream and its text is cleaned, wherever the stream is cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.text import clean
from harness.models.remote.visible_text import CleanedStream, ThoughtFilter

PARTS = st.sampled_from(
    ["<think>", "</think>", "<THINK>", "<th", "ink>", "</", "<", ">", "a", "b c", "\n", "</thinking>"]
)
TEXTS = st.lists(PARTS, max_size=12).map("".join)


def heard(*pieces: str, hold: int | None = 0) -> str:
    """Return what is given out of `pieces`."""
    thoughts = ThoughtFilter(hold)
    return "".join(thoughts.feed(piece) for piece in pieces) + thoughts.finish()


def cut(text: str, points: list[int]) -> list[str]:
    """Cut `text` at these points."""
    ends = sorted({point % (len(text) + 1) for point in points} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(ends)]


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("<think>hm</think>Yes", "Yes"),
        ("A<think>hm</think>B<think>hm</think>C", "ABC"),
        ("<THINK>hm</Think>Yes", "Yes"),
        ("Yes<think>hm, or no", "Yes"),
        ("<think>hm", ""),
        ("a < b and <thin", "a < b and <thin"),
        ("<thinking>aloud</thinking>", "<thinking>aloud</thinking>"),
        ("<think>a<think>b</think>Yes", "Yes"),
        ("Yes<think></think></think>!", "Yes!"),
    ],
)
def test_what_is_thought_is_not_said(text: str, spoken: str) -> None:
    """Blocks go, the rest stays; a block that nothing closes goes on to the end."""
    assert heard(text) == spoken


@pytest.mark.parametrize("hold", [None, 4])
def test_an_answer_may_begin_in_thought(hold: int | None) -> None:
    """Text before a first `</think>` is a thought, if it is still held back."""
    thoughts = ThoughtFilter(hold)
    assert thoughts.feed("hmm.") == ""
    assert thoughts.feed("</think>Yes") + thoughts.finish() == "Yes"
    assert thoughts.began_in_thought


def test_what_was_given_out_stays() -> None:
    """A `</think>` that comes too late takes nothing back; it is only not said."""
    thoughts = ThoughtFilter(4)
    assert thoughts.feed("hmm, so") == "hmm, so"
    assert thoughts.feed("</think>Yes") == "Yes"
    assert not thoughts.began_in_thought


def test_a_listener_waits_only_for_the_beginning() -> None:
    """After so many characters each piece is given out as it comes."""
    thoughts = ThoughtFilter(4)
    assert [thoughts.feed(piece) for piece in ("ab", "cd", "ef", "gh")] == ["", "", "abcdef", "gh"]


@given(TEXTS, st.lists(st.integers(0, 100), max_size=10), st.sampled_from([None, 0, 3, 10]))
def test_the_cuts_change_nothing(text: str, points: list[int], hold: int | None) -> None:
    """However a text comes in pieces, the same is said."""
    assert heard(*cut(text, points), hold=hold) == heard(text, hold=hold)


@given(
    st.text(st.sampled_from("ab \n\t\x00\u202e\ufeff\x85\u3000"), max_size=30),
    st.lists(st.integers(0, 100), max_size=8),
)
def test_a_stream_is_cleaned_as_the_whole_is(text: str, points: list[int]) -> None:
    """Cleaning piece by piece gives what cleaning the whole text gives."""
    stream = CleanedStream()
    assert "".join(stream.feed(piece) for piece in cut(text, points)) == clean(text, 1_000)
