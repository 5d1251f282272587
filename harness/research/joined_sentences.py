"""Sentences that are quoted as one: a list with the sentence that announces it ("There are two steps: 1. …, 2. …"),
numbered steps that a question asks for, and a description with the name of what it describes ("list.sort() This method
sorts …").
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from harness.core.quotable import ITEM_MARK, is_quotable, is_signature
from harness.core.steps import FIRST, steps_of
from harness.core.text import one_line, sentences

_ITEM = re.compile(rf"(?:^|\n)[ \t]*({ITEM_MARK})[ \t]+")
_GAP = re.compile(r"\s*(?:\.\.\.|…|\[(?:…|\.\.\.)\])(?:\s+|$)")
"""The sign that an excerpt leaves something out."""
_ENDED = re.compile(r"[.!?。！？।॥؟۔][\"'”’»)」』）]*$")
_GOES_ON = (";", ",", ":")
"""Signs after an item that is not the last one."""
_NOTE = ("Note:", "Note that")


class Piece(Struct, frozen=True):
    """A sentence under a `heading`, and whether it is in an item of a list; `mark` is the sign of the item that it
    begins, else empty.
    """

    text: str
    heading: str = ""
    in_item: bool = False
    mark: str = ""


def pieces_of(paragraph: str, heading: str = "", *, excerpt: bool = False) -> list[Piece]:
    """Return the sentences of a paragraph; none reaches from one item of a list to the next, or, in an `excerpt`, over
    what it leaves out.
    """
    before, *items = _ITEM.split(paragraph)
    found = [Piece(each, heading) for each in _sentences(before, excerpt=excerpt)]
    for mark, item in zip(items[::2], items[1::2], strict=True):
        for place, each in enumerate(_sentences(item, excerpt=excerpt)):
            found.append(Piece(each, heading, in_item=True, mark="" if place else mark))
    return found


def _sentences(text: str, *, excerpt: bool) -> list[str]:
    """Return the sentences of a text; the names above a description are one."""
    line = one_line(text)
    if is_signature(line):
        return [line]
    return _around_gaps(line) if excerpt else [each.strip() for each in sentences(text)]


def _around_gaps(line: str) -> list[str]:
    """Return the sentences of an excerpt, none over a gap. One that lacks its end has the sign of the gap; one that
    lacks its beginning, after a gap at the beginning, is left out.
    """
    found, place = list[str](), 0
    gaps = [(gap.start(), gap.end()) for gap in _GAP.finditer(line)]
    for start, end in [*gaps, (len(line), len(line))]:
        between = [each.strip() for each in sentences(line[place:start])]
        if gaps and place == gaps[0][1] and gaps[0][0] == 0:
            between = between[1:]
        if between and not _ENDED.search(between[-1]):
            between[-1] += line[start:end].rstrip()
        found += between
        place = end
    return found


def joined(pieces: Sequence[Piece], *, steps: bool = False, ends: bool = False) -> Iterator[Piece]:
    """Yield the sentences of a chunk, those as one that can be quoted so (numbered steps only if `steps`); the words
    stay those of the chunk. `ends`: it is the last chunk of its text.
    """
    at = 0
    while at < len(pieces):
        begins = steps and pieces[at].mark in FIRST
        end = _end_of_steps(pieces, at, ends=ends) if begins else _end_of_whole(pieces, at)
        text = " ".join(f"{each.mark} {each.text}".strip() for each in pieces[at:end])
        text = text if begins else text.removeprefix(pieces[at].mark).lstrip()
        if end > at + 1 and is_quotable(text) and (not begins or steps_of(text)):
            yield replace(pieces[at], text=text)
            at = end
        else:
            yield pieces[at]
            at += 1


def _end_of_steps(pieces: Sequence[Piece], at: int, *, ends: bool) -> int:
    """Return where the numbered list that begins at a place ends; the next place if it may go on in the next chunk."""
    end = at + 1
    while end < len(pieces) and pieces[end].in_item and pieces[end].mark not in FIRST:
        end += 1
    if end == len(pieces):
        return end if ends else at + 1
    return end if _is_complete(pieces[at:end], pieces[end:]) else at + 1


def _end_of_whole(pieces: Sequence[Piece], at: int) -> int:
    """Return where the list or description that begins at a place ends; the next place if none begins there."""
    first, end = pieces[at], at + 1
    if is_signature(first.text):
        return min(end + 1, len(pieces))
    if first.text.endswith(":") and not first.in_item:
        while end < len(pieces) and pieces[end].in_item:
            end += 1
    return end if end > at + 1 and _is_complete(pieces[at + 1 : end], pieces[end:]) else at + 1


def _is_complete(items: Sequence[Piece], rest: Sequence[Piece]) -> bool:
    """Return whether a list ends with these items: `rest` of the chunk does not go on with it. At the end of a chunk,
    which may cut it, only the last item ends with a full stop.
    """
    if items[-1].text.endswith(_GOES_ON):
        return False
    if not rest:
        return items[-1].text.endswith(".") and not all(each.text.endswith(".") for each in items)
    if rest[0].text.startswith(_NOTE):  # it may stand between two items
        return False
    place = next((place for place, each in enumerate(rest) if each.in_item), 0)
    begins = rest[place].mark in FIRST or rest[place].heading != items[-1].heading
    return place == 0 or begins or rest[place - 1].text.endswith(":")
