"""Copies: texts that add almost nothing to an earlier text."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.copies import LEAST_WORDS, MAX_CHARS, MAX_HOLDERS, copies

WORDS = """bees sleep at night inside their hive while foragers rest for long spells and younger workers nap in cells
    near the brood where it stays warm so that nothing wakes them before dawn and every antenna hangs down until the
    first light comes through the narrow gate of wood""".split()
TEXT = " ".join(WORDS)


def changed(every: int) -> str:
    """Return the text with every so manieth word replaced."""
    return " ".join(f"other{'x' * place}" if place % every == 0 else word for place, word in enumerate(WORDS, start=1))


@pytest.mark.parametrize(
    "copy",
    [
        TEXT,
        TEXT.upper(),
        f"{TEXT}.",
        TEXT.replace(" ", "\n\n"),
        f"Share this. {TEXT}",
        " ".join(WORDS[:-5]),
        changed(40),
    ],
)
def test_nearly_the_same_text_is_a_copy(copy: str) -> None:
    """Whatever its case, signs and line breaks, with a few words more, less or changed."""
    assert copies([TEXT, copy]) == {1: 0}


@pytest.mark.parametrize(
    "other", [changed(6), " ".join(reversed(WORDS)), f"{TEXT} {changed(2)}", "", " ".join(WORDS[:10])]
)
def test_another_text_is_none(other: str) -> None:
    """Many words changed, another order, much added, or too short to compare."""
    assert copies([TEXT, other]) == {}


def test_an_excerpt_is_a_copy_and_the_longer_text_is_not() -> None:
    """Nothing is lost: the text that has more stays."""
    excerpt = " ".join(WORDS[5:40])
    assert copies([TEXT, excerpt]) == {1: 0}
    assert copies([excerpt, TEXT]) == {}


def test_other_numbers_make_another_text() -> None:
    """Two releases, or two answers, in the same words."""
    one, two = (f"Version {version} was released. {TEXT} Get {version} today." for version in ("3.12.1", "3.12.2"))
    assert copies([one, two]) == {}
    assert copies([one, one]) == {1: 0}
    many = " ".join(f"item {number}" for number in range(100, 110))
    assert copies([f"{TEXT} {many}", f"{TEXT} {many} 7"]) == {1: 0}


def test_copies_of_copies_have_one_original() -> None:
    """The first one."""
    assert copies(["", TEXT, TEXT, f"{TEXT}!", changed(6), TEXT]) == {2: 1, 3: 1, 5: 1}


def test_an_original_must_be_allowed_to_replace() -> None:
    """Else the next one is asked, and a text without an original stays."""
    longer = f"{TEXT} {changed(2)}"
    assert copies([TEXT, longer, TEXT], may_replace=lambda original, copy: original == 1) == {2: 1}
    assert copies([TEXT, TEXT], may_replace=lambda original, copy: False) == {}


@pytest.mark.parametrize(("count", "found"), [(LEAST_WORDS - 1, {}), (LEAST_WORDS, {1: 0})])
def test_short_texts_are_not_compared(count: int, found: dict[int, int]) -> None:
    """Twenty words are enough."""
    text = " ".join(WORDS[:count])
    assert copies([text, text]) == found


def test_only_the_beginning_of_a_long_text_counts() -> None:
    """Text after the beginning costs nothing."""
    long = " ".join(f"word{chr(97 + place % 26)}{chr(97 + place // 26 % 26)}" for place in range(MAX_CHARS // 7 + 10))
    assert copies([long, f"{long} {TEXT}"]) == {1: 0}


@pytest.mark.slow
def test_many_texts_take_time_in_proportion() -> None:
    """Thousands with one common beginning, all different, and one word many times."""
    began = time.perf_counter()
    different = [
        f"{' '.join(WORDS[:20])} {' '.join(f'w{place}x{other}' for other in range(20))}" for place in range(3_000)
    ]
    assert copies(different) == {}
    assert copies(["spam " * 100_000] * 50) == {}
    assert time.perf_counter() - began < 20


def test_an_original_is_found_behind_many_that_share_a_part() -> None:
    """A part that more texts have than are looked up hides no copy of the rest."""
    common = " ".join(WORDS[:10])
    filled = [f"{common} {' '.join(f'w{place}x{other}' for other in range(60))}" for place in range(MAX_HOLDERS + 4)]
    assert copies([*filled, filled[-1]]) == {len(filled): len(filled) - 1}


TEXTS = st.lists(
    st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)), max_size=8
)


@settings(deadline=None, max_examples=60)
@given(TEXTS)
def test_originals_stay(texts: list[str]) -> None:
    """Any texts: an original comes first, is no copy itself, and every later twin of it is a copy."""
    found = copies(texts)
    assert all(original < copy and original not in found for copy, original in found.items())
    again = copies([*texts, *texts])
    long = [place for place, text in enumerate(texts) if len(set(text.split())) > 3 * LEAST_WORDS]
    assert all(place + len(texts) in again for place in long)
