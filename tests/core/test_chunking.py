"""Chunking into passages and token chunks: bounded, complete, under their headings."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.core.chunking import CHARS_A_TOKEN, PASSAGE_CHARS, Chunk, Passage, heading_of, passages, token_chunks
from harness.errors import InvalidInput
from harness.models.local.embedder import MiniLM

PROPERTY = settings(deadline=None)

# no character that can make a heading: what is then cut has no reason to lose anything but white space
PROSE = st.text(alphabet="abcdE éß.!?,;:()中\n\t\r\u3000\u2028", max_size=400)
PARAGRAPH = st.text(alphabet="abc def.! ", min_size=1, max_size=60).filter(str.strip)
TITLE = st.text(alphabet="ABCxyz 12", min_size=1, max_size=20).map(str.strip).filter(bool)


Count: TypeAlias = Callable[[Sequence[str]], list[int]]


def words_of(texts: Sequence[str]) -> list[int]:
    """Count words."""
    return [len(text.split()) for text in texts]


def characters_of(texts: Sequence[str]) -> list[int]:
    """Count characters, white space too."""
    return [len(text) for text in texts]


def joined_words_of(texts: Sequence[str]) -> list[int]:
    """Count like a tokenizer that joins: two adjacent words of one length are one and a half tokens."""
    return [(3 * len(text.split()) + 1) // 2 - len(text) % 2 for text in texts]


def quarters_of(texts: Sequence[str]) -> list[int]:
    """Estimate without a tokenizer: one token per four characters, rounded up."""
    return [-(-len(text) // 4) for text in texts]


COUNTS: dict[str, Count] = {
    "quarters": quarters_of,
    "words": words_of,
    "characters": characters_of,
    "joined": joined_words_of,
    "word pieces": MiniLM().count_tokens,
}
each_count = pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS)

# text of any script, with and without spaces, with paragraphs, sentences, and long words
SCRIPTS = st.text(alphabet="aéßΩж.?! \n中文。、かな한글हिं۱ับ\u200d🦄\u0301\r\t\u2029\u3000,-", max_size=300)
ANY = st.one_of(SCRIPTS, PROSE, st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=200))
RANGES = st.tuples(st.integers(1, 12), st.integers(0, 15)).map(lambda pair: (pair[0], sum(pair)))


def solid(text: str) -> str:
    """Return `text` without any white space."""
    return "".join(text.split())


@PROPERTY
@given(text=st.one_of(PROSE, st.text(alphabet=st.characters(exclude_categories=["Cs"]))), limit=st.integers(1, 80))
def test_no_passage_is_above_the_limit(text: str, limit: int) -> None:
    """Every passage fits the embedder's input."""
    assert all(len(passage.text) <= limit for passage in passages(text, limit))


@PROPERTY
@given(text=PROSE, limit=st.integers(1, 80))
def test_nothing_but_white_space_is_dropped(text: str, limit: int) -> None:
    """The passages of a text without headings, joined, are the text."""
    assert solid("".join(passage.text for passage in passages(text, limit))) == solid(text)


@PROPERTY
@given(text=PROSE, limit=st.integers(1, 80))
@example(text="aaa. B", limit=4)
def test_no_passage_is_blank(text: str, limit: int) -> None:
    """Every passage has visible text."""
    assert all(passage.text.strip() for passage in passages(text, limit))


@PROPERTY
@given(
    sections=st.lists(st.tuples(TITLE, st.lists(PARAGRAPH, min_size=1, max_size=4)), min_size=1, max_size=5),
    limit=st.integers(5, 80),
    underlined=st.booleans(),
)
def test_the_passages_of_a_section_are_its_text(
    sections: list[tuple[str, list[str]]], limit: int, underlined: bool
) -> None:
    """In a document with headings, only headings and white space are dropped, and no passage is misplaced."""
    heading = (lambda title: f"{title}\n{'=' * max(3, len(title))}") if underlined else (lambda title: f"## {title}")
    document = "\n\n".join("\n\n".join((heading(title), *paragraphs)) for title, paragraphs in sections)
    cut = passages(document, limit)
    assert solid("".join(p.text for p in cut)) == solid("".join("".join(paragraphs) for _, paragraphs in sections))
    assert list(dict.fromkeys(p.section for p in cut)) == list(dict.fromkeys(title for title, _ in sections))


@pytest.mark.parametrize("text", ["", " \n\t\n", "# Only a title", "Title\n====="])
def test_a_text_without_a_paragraph_has_no_passages(text: str) -> None:
    """An empty text has no passages."""
    assert passages(text) == []


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# Look-up", "Look-up"),
        ("###### Deep down", "Deep down"),
        ("## Closed ##", "Closed"),
        ("  ## Indented", "Indented"),
        ("# C#", "C#"),
        ("Look-up\n=======", "Look-up"),
        ("Look-up\n-------", "Look-up"),
        ("Look-up\n~~~~~~~", "Look-up"),
        ("Look-up\n^^^^^^^", "Look-up"),
        ('Look-up\n"""""""', "Look-up"),
        ("Look-up\n*******", "Look-up"),
        ("Look-up\n#######", "Look-up"),
        ("=======\nLook-up\n=======", "Look-up"),
    ],
)
def test_headings_of_markdown_and_restructuredtext_are_recognised(heading: str, title: str) -> None:
    """A passage has its heading as section, not in its text."""
    assert passages(f"{heading}\n\nThe text.") == [Passage(title, "The text.")]
    assert heading_of(heading) == title


@pytest.mark.parametrize("line", ["#hashtag", "#!/bin/sh", "####### seven", "a # b", "#", "---", "==="])
def test_what_only_looks_like_a_heading_is_text(line: str) -> None:
    """A hash sign without a space, or a rule without a title, is not a heading."""
    assert passages(f"Before it.\n\n{line}\n\nAfter it.") == [Passage("", f"Before it.\n\n{line}\n\nAfter it.")]
    assert heading_of(line) == ""


def test_a_rule_far_shorter_than_the_line_above_underlines_nothing() -> None:
    """An underline is about as long as its title."""
    text = "A whole sentence that happens to stand above a rule.\n---"
    assert passages(text) == [Passage("", text)]


def test_lines_of_a_fenced_code_block_are_no_headings() -> None:
    """A comment in a code block of Markdown is text, and is not dropped."""
    text = "# Setup\n\nRun this:\n\n```sh\n# make the environment\n# and enter it\npython -m venv .venv\n```"
    cut = passages(text)
    assert {passage.section for passage in cut} == {"Setup"}
    assert "# make the environment\n# and enter it" in "\n".join(passage.text for passage in cut)


def test_code_within_a_line_opens_no_block() -> None:
    """Code that begins and ends on one line hides no heading below it."""
    cut = passages("# Setup\n\n```make test```\n\n# Use\n\nThe text.")
    assert cut == [Passage("Setup", "```make test```"), Passage("Use", "The text.")]


def test_text_before_the_first_heading_has_no_section() -> None:
    """An introduction has no heading."""
    assert passages("Before.\n\n# After\n\nBelow.") == [Passage("", "Before."), Passage("After", "Below.")]


def test_short_paragraphs_share_a_passage() -> None:
    """Paragraphs of one section are packed, separated by empty lines, up to the limit."""
    assert passages("One.\n\nTwo.\n\n\n\nThree.", limit=11) == [Passage("", "One.\n\nTwo."), Passage("", "Three.")]


def test_two_sections_never_share_a_passage() -> None:
    """A heading ends a passage, however short it is."""
    assert [p.text for p in passages("# A\nOne.\n# B\nTwo.")] == ["One.", "Two."]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """A paragraph over the limit is cut where a sentence ends."""
    text = "The first sentence is here. The second one follows. The third ends it."
    assert [p.text.strip() for p in passages(text, limit=55)] == [
        "The first sentence is here. The second one follows.",
        "The third ends it.",
    ]


def test_a_sentence_over_the_limit_is_cut_hard() -> None:
    """A text without sentence ends still keeps to the limit and loses nothing."""
    cut = passages("x" * 2_500)
    assert [len(passage.text) for passage in cut] == [PASSAGE_CHARS, PASSAGE_CHARS, 500]


def test_windows_line_ends_make_the_same_passages() -> None:
    """Line ends do not matter."""
    text = "# A\n\nOne.\nTwo.\n\nThree."
    assert passages(text.replace("\n", "\r\n")) == passages(text)


@pytest.mark.parametrize(
    "text",
    [
        "# a" + " " * 100_000 + "b",
        "# " + "#" * 200_000 + " x",
        "```\n" * 50_000,
        "=\n" * 100_000,
        "# heading\n" * 100_000,
        "A. " * 100_000,
        "x" * 1_000_000,
    ],
    ids=["spaces", "signs", "fences", "underlines", "headings", "sentences", "one word"],
)
def test_a_hostile_text_does_not_take_for_ever(text: str) -> None:
    """Each of these once took minutes; now it is cut like any other, and no heading grows into every passage."""
    assert all(len(passage.text) <= 1_000 and len(passage.section) <= 200 for passage in passages(text))


# Chunks by tokens ----------------------------------------------------------------------------------------------------


@each_count
@PROPERTY
@given(text=ANY, tokens=RANGES)
@example(text="中" * 60, tokens=(5, 5))
@example(text="a" + " " * 30 + "b", tokens=(2, 3))
def test_no_chunk_has_too_many_tokens(count: Count, text: str, tokens: tuple[int, int]) -> None:
    """Whatever the script and the tokenizer, `most` is a hard limit; a single character cannot be cut."""
    for chunk in token_chunks(text, count, least=tokens[0], most=tokens[1]):
        assert count([chunk.text])[0] <= tokens[1] or len(chunk.text) == 1


@each_count
@PROPERTY
@given(text=ANY, tokens=RANGES)
def test_chunks_are_slices_and_leave_out_white_space_only(count: Count, text: str, tokens: tuple[int, int]) -> None:
    """Every other character is in exactly one chunk, in order; no chunk begins or ends with white space."""
    end = 0
    for chunk in token_chunks(text, count, least=tokens[0], most=tokens[1]):
        assert chunk.text == text[chunk.start : chunk.end] == chunk.text.strip() != ""
        assert chunk.start >= end
        assert not text[end : chunk.start].strip()
        end = chunk.end
    assert not text[end:].strip()


@PROPERTY
@given(text=st.one_of(SCRIPTS, PROSE), tokens=RANGES)
@example(text="?Ω ? ?", tokens=(2, 2))  # a word in which a sentence ends counts as one again
def test_only_the_last_chunk_is_smaller(text: str, tokens: tuple[int, int]) -> None:
    """Every other one has at least `least` tokens, whether words are what counts or the characters of one long word."""
    for count, document in ((words_of, text), (characters_of, solid(text))):
        cut = [chunk.text for chunk in token_chunks(document, count, least=tokens[0], most=tokens[1])]
        assert all(found >= tokens[0] for found in count(cut[:-1]))


@settings(deadline=None)
@given(
    words=st.lists(
        st.sampled_from(["The", "chunking", "of", "中文", "Zürich.", "it.\n\n", "e.g.", "ж"]), max_size=2_000
    )
)
def test_with_the_real_tokenizer_chunks_have_200_to_350_tokens(words: list[str]) -> None:
    """But for the last one, which is only smaller where it has to be."""
    text = " ".join(words)
    count = COUNTS["word pieces"]
    found = count([chunk.text for chunk in token_chunks(text, count)])
    assert all(200 <= tokens <= 350 for tokens in found[:-1])
    assert all(tokens >= 200 for tokens in found[-1:] if sum(found) >= 400)


def test_rounded_counts_make_chunks_as_large() -> None:
    """If the pieces' tokens do not add up to the chunk's, the chunk's count is used."""
    text = " ".join(f"It is {number} degrees." for number in range(2_000))
    found = quarters_of([chunk.text for chunk in token_chunks(text, quarters_of)])
    assert all(330 <= tokens <= 350 for tokens in found[:-2])
    assert all(200 <= tokens <= 350 for tokens in found[-2:])
    assert len(token_chunks(text[: 4 * 350 - 1], quarters_of)) == 1


@each_count
@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_a_text_without_words_has_no_chunks(count: Count, text: str) -> None:
    """An empty or blank text is not cut."""
    assert token_chunks(text, count) == []


def test_a_short_document_is_one_chunk() -> None:
    """Smaller than `least` or not, what fits is not cut, and is as it was between its first and last word."""
    assert token_chunks("\n One.\n\nTwo  three. ", words_of) == [Chunk("One.\n\nTwo  three.", 2, 19)]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("A a a.\n\nB b b. C c. D d. E e. F f.", "A a a."),
        ("A a a. B b b. C c c c. D d. E e. F f.", "A a a. B b b."),
        ("A a a a a a a a a a a a a a a a a", "A a a a a a"),
        ("a" * 20, "aaaaaa"),
        ("一二三。四五六七八九十一二三四五", "一二三。"),
    ],
    ids=["a paragraph", "a sentence", "a word", "anywhere", "a sentence without spaces"],
)
def test_the_best_place_to_cut_is_taken(text: str, first: str) -> None:
    """A paragraph's end in the range is better than a sentence's, that better than white space, that than none."""
    count = words_of if " " in text else characters_of
    assert token_chunks(text, count, least=3, most=6)[0].text == first


def test_a_small_tail_is_merged_where_it_fits() -> None:
    """Seven words are one chunk of seven, not one of six and one of one."""
    assert len(token_chunks("A a a. B b b. C", words_of, least=4, most=7)) == 1


def test_the_last_cut_leaves_enough_for_the_last_chunk() -> None:
    """Nine words are cut into five and four, not seven and two."""
    cut = token_chunks("a " * 9, words_of, least=4, most=7)
    assert words_of([chunk.text for chunk in cut]) == [5, 4]


@pytest.mark.parametrize(("least", "most"), [(0, 5), (-1, 5), (6, 5)])
def test_an_impossible_range_is_refused(least: int, most: int) -> None:
    """The error says what can be asked."""
    with pytest.raises(InvalidInput, match="1 <= least <= most"):
        token_chunks("text", words_of, least=least, most=most)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["x" * 1_000_000, "A. " * 100_000, "A.\n\n" * 50_000, "中文" * 100_000, "a " + " " * 1_000_000 + "b"],
    ids=["one word", "sentences", "paragraphs", "no spaces", "spaces"],
)
def test_hostile_texts_are_cut_in_linear_time(text: str) -> None:
    """At most a few times the document is counted, and no chunk is a blob that a tokenizer counts as one token."""
    counted = 0

    def count(texts: Sequence[str]) -> list[int]:
        nonlocal counted
        counted += sum(map(len, texts))
        return words_of(texts)

    cut = token_chunks(text, count)
    assert all(len(chunk.text) <= 350 * CHARS_A_TOKEN for chunk in cut)
    assert counted <= 5 * len(text)
