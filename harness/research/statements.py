"""Statements of a language model's answer: sentences with their citations, parsed; never trusted."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from msgspec import Struct

from harness.core.text import clean, one_line, sentences
from harness.research.messages import CATALOGUES, heading_in

MAX_SENTENCES = 60
MAX_SENTENCE_CHARS = 1_000
MAX_SECTION_CHARS = 200

# All are for lines with single spaces, and stop before another citation: their running time is bounded.
_OPENING = r"\[ ?(?:source ?)?#?\d{1,3} ?[:,]? ?[\"“]"
_CITED = re.compile(
    rf"\[ ?(?:source ?)?#?(\d{{1,3}}) ?[:,]? ?[\"“]((?:[^\[]|\[(?!{_OPENING[2:]})){{1,2000}}?)[\"”] ?\]", re.IGNORECASE
)
_HEADING = re.compile(r"#{1,6} (.*)")
_NUMBERED = re.compile(r"\[ ?(?:source ?)?#?\d{1,3}[^\[\]]{0,2000}\]", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,30}://\S*|www\.\S+|(?:mailto|javascript):\S+", re.IGNORECASE)
_MARKUP = re.compile(r"[\\`*_<>#|~\[\]]")
_OPENS = re.compile(_OPENING, re.IGNORECASE)
_FENCE = "```"
_LISTS = frozenset(("sources", "references", "bibliography", "citations", "quotations"))
"""Headings of lists that the program writes itself."""
_EMPHASIS = re.compile(r"\*\*(?=\S)|(?<=\S)\*\*")
_ITEM = re.compile(r"^\d{1,2}[.)] ")
_BULLETS = re.compile(r"^(?:[-•.,;]+ |\*+ ?)+")


class Statement(Struct, frozen=True):
    """A sentence as a model wrote it, with its source number and quotation; 0 and empty if it cites nothing."""

    section: str
    paragraph: int
    sentence: str
    number: int
    quotation: str


def statements(text: str) -> Iterator[Statement]:
    """Parse a model's answer: sentences with their citations, by heading and paragraph, at most `MAX_SENTENCES`; never
    raises.
    """
    return islice(_stated(clean(text, MAX_SENTENCES * 3 * MAX_SENTENCE_CHARS)), MAX_SENTENCES)


def _stated(text: str) -> Iterator[Statement]:
    section, paragraph = "Answer", 0
    for line in _lines(text):
        if heading := _HEADING.match(line):
            section = heading_of(heading[1]) or section
            continue
        if is_list(section):
            continue
        paragraph += bool(line)
        place = 0
        for cited in _CITED.finditer(line):
            worded = _worded(line[place : cited.start()])
            for sentence in worded[:-1]:  # a citation belongs only to the sentence before it
                yield Statement(section, paragraph, sentence, 0, "")
            for sentence in worded[-1:]:
                yield Statement(section, paragraph, sentence, int(cited[1]), cited[2].strip())
            place = cited.end()
        for sentence in _worded(line[place:]):
            yield Statement(section, paragraph, sentence, 0, "")


def _lines(text: str) -> Iterator[str]:
    """Yield the lines, with single spaces, without fences of code and the numbers of a list. A line that begins with a
    citation belongs to the line before it.
    """
    held = list[str]()
    for line in map(one_line, text.splitlines()):
        if line.startswith(_FENCE):
            continue
        if held and not (_OPENS.match(line) and held[0] and not _HEADING.match(held[0])):
            yield " ".join(held)
            held = []
        held.append(_ITEM.sub("", line))
    yield " ".join(held)


def _worded(text: str) -> list[str]:
    """Return the sentences of `text`, without URLs and markup; none if there are no words."""
    plain = without_addresses(_NUMBERED.sub("", _EMPHASIS.sub("", text)))[: MAX_SENTENCES * MAX_SENTENCE_CHARS]
    found = [_BULLETS.sub("", sentence.strip()).rstrip(" -*•.") for sentence in sentences(plain)]
    return [
        sentence[:MAX_SENTENCE_CHARS] + ("" if sentence[-1] in "!?:" else ".")
        for sentence in found
        if any(map(str.isalnum, sentence))
    ]


def heading_of(text: str) -> str:
    """Return a heading as words only, without URLs and markup."""
    return without_addresses(_MARKUP.sub("", text))[:MAX_SECTION_CHARS]


def is_list(heading: str) -> bool:
    """Return whether a heading is that of a list that the program writes itself."""
    name = heading.rstrip(" :：").lower()
    return name in _LISTS or name in _lists_in_all_languages()


@cache
def _lists_in_all_languages() -> frozenset[str]:
    return frozenset(heading_in(each, name).lower() for each in CATALOGUES for name in ("Sources", "Quotations"))


def without_addresses(text: str) -> str:
    """Return a text on one line, without URLs."""
    return one_line(_ADDRESS.sub("", text))
