"""Cutting documents into passages: bounded, complete, under their headings."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.core.chunking import PASSAGE_CHARS, Passage, passages

PROPERTY = settings(deadline=None, max_examples=200)

# no character that can make a heading: what is then cut has no reason to lose anything but white space
PROSE = st.text(alphabet="abcdE éß.!?,;:()中\n\t\r\u3000\u2028", max_size=400)
PARAGRAPH = st.text(alphabet="abc def.! ", min_size=1, max_size=60).filter(str.strip)
TITLE = st.text(alphabet="ABCxyz 12", min_size=1, max_size=20).map(str.strip).filter(bool)


def solid(text: str) -> str:
    """Return `text` without any white space."""
    return "".join(text.split())


@PROPERTY
@given(text=st.one_of(PROSE, st.text(alphabet=st.characters(exclude_categories=["Cs"]))), limit=st.integers(1, 80))
def test_no_passage_is_above_the_limit(text: str, limit: int) -> None:
    """Whatever the text, every passage fits what the embedder reads."""
    assert all(len(passage.text) <= limit for passage in passages(text, limit))


@PROPERTY
@given(text=PROSE, limit=st.integers(1, 80))
def test_nothing_but_white_space_is_dropped(text: str, limit: int) -> None:
    """The passages of a text without headings, put together, are the text."""
    assert solid("".join(passage.text for passage in passages(text, limit))) == solid(text)


@PROPERTY
@given(text=PROSE, limit=st.integers(1, 80))
@example(text="aaa. B", limit=4)
def test_no_passage_is_blank(text: str, limit: int) -> None:
    """Every passage has something to read."""
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
    """In a document with headings, nothing but the headings and white space is dropped, and none goes astray."""
    heading = (lambda title: f"{title}\n{'=' * max(3, len(title))}") if underlined else (lambda title: f"## {title}")
    document = "\n\n".join("\n\n".join((heading(title), *paragraphs)) for title, paragraphs in sections)
    cut = passages(document, limit)
    assert solid("".join(p.text for p in cut)) == solid("".join("".join(paragraphs) for _, paragraphs in sections))
    assert list(dict.fromkeys(p.section for p in cut)) == list(dict.fromkeys(title for title, _ in sections))


@pytest.mark.parametrize("text", ["", " \n\t\n", "# Only a title", "Title\n====="])
def test_a_text_without_a_paragraph_has_no_passages(text: str) -> None:
    """Where there is nothing to read there is nothing to cut."""
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
    """A passage carries the heading that it stands under, and does not begin with it."""
    assert passages(f"{heading}\n\nThe text.") == [Passage(title, "The text.")]


@pytest.mark.parametrize("line", ["#hashtag", "#!/bin/sh", "####### seven", "a # b", "#", "---", "==="])
def test_what_only_looks_like_a_heading_is_text(line: str) -> None:
    """A hash sign without a space, or a rule under nothing, heads no section."""
    assert passages(f"Before it.\n\n{line}\n\nAfter it.") == [Passage("", f"Before it.\n\n{line}\n\nAfter it.")]


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
    """An introduction stands under no heading."""
    assert passages("Before.\n\n# After\n\nBelow.") == [Passage("", "Before."), Passage("After", "Below.")]


def test_short_paragraphs_share_a_passage() -> None:
    """Paragraphs of one section are packed, an empty line apart, as far as they fit."""
    assert passages("One.\n\nTwo.\n\n\n\nThree.", limit=11) == [Passage("", "One.\n\nTwo."), Passage("", "Three.")]


def test_two_sections_never_share_a_passage() -> None:
    """A heading ends a passage, however short."""
    assert [p.text for p in passages("# A\nOne.\n# B\nTwo.")] == ["One.", "Two."]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """A paragraph over the limit is cut where a sentence ends."""
    text = "The first sentence is here. The second one follows. The third ends it."
    assert [p.text.strip() for p in passages(text, limit=55)] == [
        "The first sentence is here. The second one follows.",
        "The third ends it.",
    ]


def test_a_sentence_over_the_limit_is_cut_hard() -> None:
    """A text without any sentence end still keeps to the limit and loses nothing."""
    cut = passages("x" * 2_500)
    assert [len(passage.text) for passage in cut] == [PASSAGE_CHARS, PASSAGE_CHARS, 500]


def test_windows_line_ends_make_the_same_passages() -> None:
    """How lines end does not matter."""
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
