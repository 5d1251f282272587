"""Passages of a document, for readers and rankers: split at headings, then paragraphs, then sentences."""

import re
from collections.abc import Iterator

from msgspec import Struct

from harness.core.text import sentences

PASSAGE_CHARS = 1_000
"""Target length of a passage: two or three paragraphs, well below the 256 tokens that MiniLM reads."""

MAX_HEADING_CHARS = 200
"""A longer "heading" is a paragraph that begins with a sign."""

_HEADING_LINES = 3
"""A line above the title, the title, and the line under it."""
_FENCE = re.compile(r"(```)`*[^`]*|(~~~).*")
_UNDERLINE = re.compile(r"([=\-*~^\"'#+])\1{2,}")


class Passage(Struct, frozen=True):
    """A slice of a document: its text (empty lines between paragraphs) and its heading."""

    section: str
    text: str


def passages(text: str, limit: int = PASSAGE_CHARS) -> list[Passage]:
    """Split `text` at headings, then paragraphs, then sentences, into passages of at most `limit` characters.

    Headings of Markdown (`# Title`) and of reStructuredText (a line underlined by punctuation) are recognised; the
    passages under one have it as `section`, not in their text. Everything else of the text is kept.
    """
    cut: list[Passage] = []
    for section, paragraphs in _sections(text):
        held = ""
        for piece in (piece for paragraph in paragraphs for piece in _pieces(paragraph, limit) if piece.strip()):
            if held and len(held) + 2 + len(piece) > limit:
                cut.append(Passage(section, held))
                held = piece
            else:
                held = f"{held}\n\n{piece}" if held else piece
        if held:
            cut.append(Passage(section, held))
    return cut


def embedded_text(title: str, section: str, text: str) -> str:
    """Return title, heading and text, each once, on separate lines: what an embedder gets of a passage."""
    return "\n".join(dict.fromkeys(part for part in (title, section, text) if part))


def in_context(title: str, section: str, text: str) -> str:
    """Return a text after its title and heading, as the reader has learned to read it."""
    place = " - ".join(dict.fromkeys(each for each in (title, section) if each))
    return f"{place}: {text}" if place else text


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each heading (empty before the first) with its paragraphs."""
    heading, paragraphs, lines = "", [], list[str]()
    fence = ""  # the end mark of the current code block; a comment in one looks like a heading

    def end_paragraph() -> None:
        if lines:
            paragraphs.append("\n".join(lines))
            lines.clear()

    for line in text.splitlines():
        bare = line.strip()
        title = None if fence else _heading(bare, lines)
        if title is None and (mark := _FENCE.fullmatch(bare)):
            fence = "" if fence in mark.groups() else fence or mark[1] or mark[2]
        if title is not None:
            end_paragraph()
            if paragraphs:
                yield heading, paragraphs
            heading, paragraphs = title, []
        elif not bare:
            end_paragraph()
        else:
            lines.append(bare)
    end_paragraph()
    if paragraphs:
        yield heading, paragraphs


def heading_of(paragraph: str) -> str:
    """Return the heading that a paragraph begins with, of Markdown or underlined, without its marks; else an empty
    text. Never raises.
    """
    above: list[str] = []
    for line in map(str.strip, paragraph.strip()[: 3 * MAX_HEADING_CHARS].splitlines()[:_HEADING_LINES]):
        if (found := _heading(line, above)) is not None:
            return found
        above.append(line)
    return ""


def _heading(line: str, above: list[str]) -> str | None:
    """Return the heading that `line` makes, alone (Markdown) or together with the line `above`, which
    is then removed.
    """
    marks = len(line) - len(line.lstrip("#"))
    if 1 <= marks <= 6 and line[marks : marks + 1].isspace():
        title = line[marks:].strip()
        opened = title.rstrip("#")  # `# Title ##`, but not `# C#`
        title = opened.rstrip() if opened[-1:].isspace() else title
        return title if len(title) <= MAX_HEADING_CHARS else None
    if above and _UNDERLINE.fullmatch(line) and len(line) >= len(above[-1]) * 0.8:
        title = above[-1]
        if above in ([title], [line, title]) and len(title) <= MAX_HEADING_CHARS:  # underlined, or between two lines
            above.clear()
            return title
    return None


def _pieces(paragraph: str, limit: int) -> Iterator[str]:
    """Yield `paragraph` whole if it fits, else its sentences packed up to `limit`, else cut at `limit`."""
    if len(paragraph) <= limit:
        yield paragraph
        return
    held = ""
    for sentence in sentences(paragraph):
        for part in (sentence[i : i + limit] for i in range(0, len(sentence), limit)):
            if len(held) + len(part) > limit:
                yield held
                held = part
            else:
                held += part
    yield held
