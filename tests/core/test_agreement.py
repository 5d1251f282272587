"""Agreement between sources."""

from hypothesis import given
from hypothesis import strategies as st

from harness.core.agreement import agreement

WORDS = st.lists(st.frozensets(st.sampled_from("abcdef")), max_size=6)


def test_what_other_sites_say_too_counts() -> None:
    """The words of the question do not, nor those of another page of the same site."""
    texts = [{"moon", "two"}, {"moon", "two"}, {"moon", "nine"}, {"moon", "nine"}]
    sites = ["a.org", "b.org", "c.org", "c.org"]
    assert agreement(texts, sites, {"moon"}) == [1.0, 1.0, 0.0, 0.0]


def test_neither_a_long_text_nor_a_single_word_has_much() -> None:
    """The longer of two texts, each of which is agreed on in half, has more, but not twice as much."""
    short, long, other = {"one", "x"}, {"one", "two", "y", "z"}, {"one", "two"}
    of_short, of_long, _ = agreement([short, long, other], ["a.org", "b.org", "c.org"], set())
    assert of_short is not None
    assert of_long is not None
    assert of_short == 2 / 2**0.5
    assert of_long == 3 / 2


def test_one_site_cannot_agree() -> None:
    """Its pages are about different things."""
    assert agreement([{"one"}, {"one"}], ["a.org", "a.org"], set()) == [None, None]


@given(WORDS, st.frozensets(st.sampled_from("abcdef")))
def test_it_is_never_negative(texts: list[frozenset[str]], asked: frozenset[str]) -> None:
    """Whatever the texts are."""
    found = agreement(texts, [str(place) for place in range(len(texts))], asked)
    assert len(found) == len(texts)
    assert all(each is None or each >= 0 for each in found)
