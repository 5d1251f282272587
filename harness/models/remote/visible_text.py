"""Visible text of a model: thoughts removed, cleaned.

Both steps work on a stream: text given out is final, and the result does not depend on how the text is cut into pieces.
The work is linear in the text.
"""

import re

from harness.core.text import clean

_TAG = re.compile(r"<(/?)think>", re.IGNORECASE)
_TAGS = ("<think>", "</think>")


class ThoughtFilter:
    """Filter that removes `<think>…</think>` from a stream, and everything after an unclosed `<think>`.

    Some models begin in thought: their prompt contains the `<think>`, so only `</think>` arrives. Therefore the first
    `hold` characters (`None`: all) are held back until no `</think>` can follow within them. Text before a later
    `</think>` was given out already and stays; the tag is removed.
    """

    def __init__(self, hold: int | None) -> None:
        self.began_in_thought = False
        self._hold = hold
        self._held: list[str] = []
        self._held_chars = 0
        self._begun = False
        self._thinking = False
        self._tail = ""

    def feed(self, piece: str) -> str:
        """Add the next piece; return the text that can be given out."""
        text = self._tail + piece
        visible: list[str] = []
        end = 0
        for tag in _TAG.finditer(text):
            visible.append(self._filtered(text[end : tag.start()]))
            visible.append(self._turn(closes=bool(tag[1])))
            end = tag.end()
        rest = text[end:]
        self._tail = _begun_tag(rest)
        visible.append(self._filtered(rest[: len(rest) - len(self._tail)]))
        return "".join(visible)

    def finish(self) -> str:
        """End the stream; return the text that was still held back."""
        tail, self._tail = self._tail, ""
        return self._filtered(tail) + self._release()

    def _filtered(self, text: str) -> str:
        if self._thinking:
            return ""
        if self._begun:
            return text
        self._held.append(text)
        self._held_chars += len(text)
        return self._release() if self._hold is not None and self._held_chars > self._hold else ""

    def _turn(self, *, closes: bool) -> str:
        if closes and not self._begun and not self._thinking:
            self.began_in_thought = True
            self._held.clear()
        self._thinking = not closes
        return self._release()

    def _release(self) -> str:
        held, self._held = "".join(self._held), []
        self._begun = True
        return held


class CleanedStream:
    """`harness.core.text.clean` for a stream: the pieces given out, joined, equal `clean` of the whole text."""

    def __init__(self) -> None:
        self._begun = False
        self._space: list[str] = []

    def feed(self, piece: str) -> str:
        """Add the next piece; return it cleaned. White space is held back until text follows it."""
        text = clean(f"|{piece}|", len(piece) + 2)[1:-1]  # bars, because `clean` strips white space at both ends
        solid = text.rstrip()
        if not solid:
            self._space.append(text)
            return ""
        space = "".join(self._space)
        self._space = [text[len(solid) :]]
        visible = space + solid if self._begun else solid.lstrip()
        self._begun = True
        return visible


def _begun_tag(text: str) -> str:
    """Return the end of `text` that may begin a tag."""
    start = text.rfind("<")
    end = text[start:].lower() if start >= 0 else ""
    return text[start:] if end and any(tag.startswith(end) for tag in _TAGS) else ""
