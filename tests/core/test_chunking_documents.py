"""Chunks of a document by characters: none too long, nothing lost, overlaps exact, in every script."""

from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

import msgspec
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.core.chunking import STRATEGIES, Chunk, Chunked, Chunking, document_chunks
from harness.core.chunking.boundaries import MAX_CLUSTER
from harness.errors import InvalidInput

# words, sentences and paragraphs of scripts with and without spaces, marks, joined emoji, flags, all white space
FRAGMENTS = [
    *(
        "The cache answers. ",
        "Dr. Who? ",
        "No! ",
        "e.g. ",
        "« Où ? » ",
        "Straße ",
        "Это так. ",
        "Ναι; όχι. ",
        "हिन्दी है। ",
    ),
    *(
        "中文没有空格。",
        "かな、カナ。",
        "한국어 문장입니다. ",
        "العربية؟ نعم. ",
        "עברית. ",
        "ไทยไม่มีช่องว่าง",
        "ខ្មែរ។",
        "မြန်မာ။",
        "አማርኛ። ",
    ),
    *(
        "தமிழ். ",
        "e\u0301\u0323",
        "👩\u200d👩\u200d👧 ",
        "🇫🇷🇩🇪",
        "👍🏽",
        "ᄒ\u1161\u11ab",
        "\ud83d",
        "\x00",
        "\u202e",
        "aaaaaaaaaaaaaaaaaaaa",
    ),
    *(
        " ",
        "   ",
        "\n",
        "\n\n",
        "\r\n",
        "\r\n\r\n",
        "\t",
        "\u2028",
        "\u2029",
        "\u3000",
        "\x85",
        "\x1c",
        '"',
        "(",
        "# T\n",
        "1. ",
    ),
]
TEXT = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join),
    st.text(alphabet="aéßΩж.?! \n中文。、かな한글हिं۱ับ\u200d🦄\u0301\r\t\u2029\u3000,-", max_size=300),
    st.text(max_size=200),
)


@st.composite
def chunkings(draw: st.DrawFn, *strategies: str) -> Chunking:
    """Draw valid settings, with sizes suited to texts of a few hundred characters."""
    size = draw(st.integers(1, 60))
    overlap = draw(st.integers(0, size - 1))
    strategy: Any = draw(st.sampled_from(strategies or STRATEGIES))
    return Chunking(strategy, size, overlap, size + draw(st.integers(0, 60)), draw(st.booleans()))


def overlap_of(chunking: Chunking) -> int:
    """Return the number of characters that chunks share."""
    return chunking.chunk_overlap if chunking.strategy in {"fixed_size", "hybrid"} else 0


def is_well_cut(text: str, chunking: Chunking) -> None:
    """Assert everything that holds for every text, script and strategy."""
    cut = document_chunks(text, chunking)
    assert cut == document_chunks(text, chunking)
    chunks = cut.chunks
    assert all(0 < len(chunk.text) <= chunking.max_chunk_size for chunk in chunks)
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in chunks)
    assert [chunk.start for chunk in chunks[:1]] == [0] * bool(text)
    assert len(text) - cut.left_out == max((chunk.end for chunk in chunks), default=0)
    for before, after in pairwise(chunks):
        assert after.start == before.end - overlap_of(chunking)
        assert after.start > before.start
        assert after.end > before.end
    if chunking.strategy == "truncate":
        assert len(chunks) == bool(text)
        assert all(len(chunk.text) <= chunking.chunk_size for chunk in chunks)
    else:
        assert cut.left_out == 0


@settings(deadline=None, max_examples=60)
@given(text=TEXT, chunking=chunkings())
@example(text="A title\n\n" + "x" * 60, chunking=Chunking("hybrid", 50, 20, 80))
@example(text="e" + "\u0301" * 200, chunking=Chunking("fixed_size", 10, 9, 10))
def test_every_text_is_cut_well(text: str, chunking: Chunking) -> None:
    """No chunk above the limit, every character in a chunk, exact slices and overlaps, the same chunks each time."""
    is_well_cut(text, chunking)


@pytest.mark.slow
@settings(deadline=None, max_examples=400)
@given(text=TEXT, chunking=chunkings())
def test_two_thousand_texts_are_cut_well(text: str, chunking: Chunking) -> None:
    """The same for more texts than a quick run tries."""
    is_well_cut(text, chunking)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(deadline=None)
@given(paragraphs=st.lists(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=300).map("".join), max_size=5))
def test_the_default_sizes_hold(strategy: Any, paragraphs: list[str]) -> None:
    """With 1,000, 100 and 1,500 characters as well."""
    is_well_cut("\n\n".join(paragraphs), Chunking(strategy))


@settings(deadline=None, max_examples=60)
@given(text=TEXT, chunking=chunkings())
def test_a_chunk_ends_between_two_characters_of_a_reader(text: str, chunking: Chunking) -> None:
    """Marks stay with their letters, flags and joined emoji stay whole, unless a cluster fits nowhere."""
    clusters = [len(cluster) for cluster in regex.findall(r"\X", text)]
    between = {0, *accumulate(clusters)}
    if max(clusters, default=0) < min(MAX_CLUSTER, chunking.chunk_size - chunking.chunk_overlap):
        assert {chunk.end for chunk in document_chunks(text, chunking).chunks} <= between


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_empty_text_has_no_chunks(strategy: Any) -> None:
    """No chunk, and nothing left out."""
    assert document_chunks("", Chunking(strategy)) == Chunked([], 0)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_short_text_is_one_chunk(strategy: Any) -> None:
    """Including the white space around it."""
    text = "\n One.\n\nTwo.  "
    assert document_chunks(text, Chunking(strategy)) == Chunked([Chunk(text, 0, len(text))], 0)


# --- truncate


def test_truncate_keeps_the_beginning_up_to_a_sentence_end() -> None:
    """`left_out` is the length of the rest."""
    text = "One is here. Two is here. Three is here."
    assert document_chunks(text, Chunking("truncate", 30, 0)) == Chunked(
        [Chunk("One is here. Two is here. ", 0, 26)], 14
    )


def test_truncate_without_sentences_keeps_exactly_the_limit() -> None:
    """If no sentence ends, or sentences are not preserved."""
    text = "One is here. Two is here. Three is here."
    assert document_chunks(text, Chunking("truncate", 30, 0, preserve_sentence_boundaries=False)).chunks[0].end == 30
    assert document_chunks("x" * 50, Chunking("truncate", 30, 0)) == Chunked([Chunk("x" * 30, 0, 30)], 20)


def test_truncate_does_not_end_at_a_decimal_point() -> None:
    """A decimal number at the cut does not end a sentence."""
    assert document_chunks("So it is. It costs 3.14 euros.", Chunking("truncate", 21, 0)).chunks[0].text == "So it is. "


# --- fixed_size

WINDOWS = Chunking("fixed_size", 6, 2, preserve_sentence_boundaries=False)


def test_fixed_size_makes_windows() -> None:
    """Each has `chunk_size` and starts `chunk_overlap` before the end of the previous one; the last has the rest."""
    cut = document_chunks("abcdefghijklmnop", WINDOWS)
    assert [chunk.text for chunk in cut.chunks] == ["abcdef", "efghij", "ijklmn", "mnop"]


def test_no_window_is_entirely_inside_the_one_before() -> None:
    """After a window that ends with the text, there are no further chunks."""
    assert [chunk.text for chunk in document_chunks("abcdefghij", WINDOWS).chunks] == [
        "abcdef",
        "efghij",
    ]


@pytest.mark.parametrize(
    ("size", "first"),
    [(20, "The first is here. "), (36, "The first is here. The second is here. ")],
    ids=["back", "forward"],
)
def test_a_window_ends_with_the_nearest_sentence(size: int, first: str) -> None:
    """Before or after its size, within the limit; the overlap stays exact."""
    text = "The first is here. The second is here. The third is here. The fourth is here."
    cut = document_chunks(text, Chunking("fixed_size", size, 5, 40)).chunks
    assert cut[0].text == first
    assert cut[1].start == cut[0].end - 5


def test_a_short_rest_belongs_to_the_last_window() -> None:
    """With sentences preserved, the end of the text is a sentence end within the limit."""
    assert texts("x" * 55, "fixed_size", 50, 10, 60) == ["x" * 55]


def test_a_window_does_not_end_with_a_sentence_beyond_the_limit() -> None:
    """It ends with the sentence before, though that is farther from its size."""
    text = "A first one that is here. A second one that is longer is here."
    assert document_chunks(text, Chunking("fixed_size", 46, 0, 50)).chunks[0].text == "A first one that is here. "


# --- semantic


def texts(text: str, *settings: Any, **more: Any) -> list[str]:
    """Return the chunks' texts."""
    return [chunk.text for chunk in document_chunks(text, Chunking(*settings, **more)).chunks]


def test_semantic_packs_paragraphs() -> None:
    """As many as fit; the empty line belongs to the paragraph before it."""
    assert texts("One.\n\nTwo.\n \nThree.", "semantic", 13, 0, 13) == ["One.\n\nTwo.\n \n", "Three."]


def test_a_paragraph_within_the_limit_is_not_cut() -> None:
    """It may be longer than the size."""
    assert texts("One.\n\nTwo. It is long.", "semantic", 8, 0, 20) == ["One.\n\n", "Two. It is long."]


def test_a_paragraph_above_the_limit_is_cut_into_sentences() -> None:
    """The sentences are packed again."""
    text = "The first is here.\nThe second is here. The third is here."
    assert texts(text, "semantic", 40, 0, 40) == ["The first is here.\nThe second is here. ", "The third is here."]


def test_a_sentence_above_the_limit_is_cut_between_words() -> None:
    """And a longer word anywhere."""
    assert texts("some words without end", "semantic", 8, 0, 8) == ["some ", "words ", "without ", "end"]
    assert texts("x" * 20, "semantic", 8, 0, 8) == ["x" * 8, "x" * 8, "xxxx"]


def test_without_sentences_a_long_paragraph_is_cut_between_words() -> None:
    """Sentences do not matter then."""
    text = "It is. So it was, and so on."
    assert texts(text, "semantic", 12, 0, 12, preserve_sentence_boundaries=True)[0] == "It is. "
    assert texts(text, "semantic", 12, 0, 12, preserve_sentence_boundaries=False)[0] == "It is. So "


def test_sentences_without_spaces_between_them_are_found() -> None:
    """As in Chinese."""
    assert texts("一二三四。五六七八。九十。", "semantic", 6, 0, 6) == ["一二三四。", "五六七八。", "九十。"]


# --- hybrid


def test_hybrid_includes_the_text_before() -> None:
    """Boundaries are those of paragraphs; each chunk begins with the end of the one before."""
    assert texts("One one.\n\nTwo two.\n\nThree.", "hybrid", 10, 4, 14) == [
        "One one.\n\n",
        "e.\n\nTwo two.\n\n",
        "o.\n\nThree.",
    ]


def test_a_first_chunk_that_is_all_overlap_is_left_out() -> None:
    """A title shorter than the overlap is in the next chunk anyway."""
    assert texts("Title\n\n" + "x" * 40, "hybrid", 40, 10, 50) == ["Title\n\n" + "x" * 40]


# --- settings


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"strategy": "magic"}, "truncate, fixed_size, semantic, hybrid"),
        ({"chunk_size": 0}, "chunk_size must be at least 1"),
        ({"chunk_size": -5}, "chunk_size must be at least 1"),
        ({"chunk_overlap": -1}, "chunk_overlap must be 0 to 999"),
        ({"chunk_overlap": 1_000}, "chunk_overlap must be 0 to 999"),
        ({"chunk_overlap": 2_000}, "chunk_overlap must be 0 to 999"),
        ({"max_chunk_size": 999}, "must not be less than chunk_size"),
    ],
)
def test_impossible_settings_are_refused(wrong: Any, message: str) -> None:
    """The error gives the valid range."""
    with pytest.raises(InvalidInput, match=message):
        Chunking(**wrong)
    if "strategy" not in wrong:
        with pytest.raises(InvalidInput, match=message):
            msgspec.convert(wrong, Chunking)


def test_the_defaults_are_the_documented_ones() -> None:
    """1,000 characters, 100 shared, at most 1,500, sentences preserved."""
    assert Chunking() == Chunking("hybrid", 1_000, 100, 1_500, preserve_sentence_boundaries=True)


# --- time


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "make",
    [
        lambda n: "x" * n,
        lambda n: " " * n,
        lambda n: "中" * n,
        lambda n: "A. " * (n // 3),
        lambda n: "“a. " * (n // 4),
        lambda n: "\n" * n,
        lambda n: "a" + "\u0301" * n,
    ],
    ids=["one word", "spaces", "no spaces", "initials", "quotes", "lines", "marks"],
)
@pytest.mark.slow
def test_a_hostile_text_takes_bounded_time(strategy: Any, make: Callable[[int], str]) -> None:
    """Time is linear in the length of any text."""
    is_well_cut(make(200_000), Chunking(strategy))
