"""What a model says aloud: its text as it comes, without its thoughts, cleaned.

Both steps work on a stream: what they have given out stands, and their result is the same however the text is cut into
pieces. The work is linear in the text.
"""

import re

from harness.core.text import clean

_TAG = re.compile(r"<(/?)think>", re.IGNORECASE)
_TAGS = ("<think>", "</think>")


class Thoughts:
    """Takes `<think>…</think>` out of a stream. What follows a `<think>` that nothing closes is thought to the end.

    Some models begin in thought: their prompt holds the `<think>`, and only `</think>` is seen. So the beginning is
    held back: up to `hold` characters, or with `None` to the end, are not given out until it is clear that no
    `</think>` follows them. What stands before one that comes later was given out already and stays; the tag goes.
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
        """Take the next piece; return what can be given out."""
        text = self._tail + piece
        said: list[str] = []
        end = 0
        for tag in _TAG.finditer(text):
            said.append(self._say(text[end : tag.start()]))
            said.append(self._turn(closes=bool(tag[1])))
            end = tag.end()
        rest = text[end:]
        self._tail = _begun_tag(rest)
        said.append(self._say(rest[: len(rest) - len(self._tail)]))
        return "".join(said)

    def finish(self) -> str:
        """Say that nothing follows; return what was still held back."""
        tail, self._tail = self._tail, ""
        return self._say(tail) + self._release()

    def _say(self, text: str) -> str:
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
    """`harness.core.text.clean` for a stream: what is given out, joined, is what `clean` makes of the whole."""

    def __init__(self) -> None:
        self._begun = False
        self._space: list[str] = []

    def feed(self, piece: str) -> str:
        """Take the next piece; return it cleaned. White space waits for the text that follows it."""
        text = clean(f"|{piece}|", len(piece) + 2)[1:-1]  # between bars, for `clean` takes white space off the ends
        solid = text.rstrip()
        if not solid:
            self._space.append(text)
            return ""
        space = "".join(self._space)
        self._space = [text[len(solid) :]]
        said = space + solid if self._begun else solid.lstrip()
        self._begun = True
        return said


def _begun_tag(text: str) -> str:
    """Return the end of `text` that may be the beginning of a tag."""
    start = text.rfind("<")
    end = text[start:].lower() if start >= 0 else ""
    return text[start:] if end and any(tag.startswith(end) for tag in _TAGS) else ""
