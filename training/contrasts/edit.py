"""One change of a text: where it may stand, how it is made, and which of several is taken."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from training.words import written_like

MAX_CHARACTERS = 2_000
"""Longer texts are left alone."""
STORY_WORDS = 30
"""A personal account of more words than these asks in its questions only, if it has any."""

_SENTENCE = re.compile(r"[^.!?]*(?:[.!?](?!\s|$)[^.!?]*)*[.!?]*\s*")
_PERSONAL = re.compile(r"\b(?:i|i'm|im|ive|i've|my|me|mine)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)
_VOWEL = re.compile(
    r"(?!uni(?!n|m)|us[aeu]|eu|one\b|once|ut[ei]|ub[ei])[aeiou]|hour|honest|heir|honou?r|8|1[18]\b|"
    r"mba\b|"
    r"sql\b|html|mp3|llm|x-?ray|f-?1\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Edit:
    """The characters from `start` to before `end` become `new`."""

    start: int
    end: int
    new: str


@dataclass(slots=True)
class Contrast:
    """A generator that makes one of the changes that `edits` finds, where the text asks something."""

    name: str
    edits: Callable[[str, Random], Iterable[Edit]]

    def vary(self, text: str, chance: Random) -> str | None:
        """Return `text` with one change that makes it ask for another answer; `None` where none applies."""
        if len(text) > MAX_CHARACTERS:
            return None
        spans = asking(text)
        found = [edit for edit in self.edits(text, chance) if any(a <= edit.start and edit.end <= b for a, b in spans)]
        chance.shuffle(found)
        made = (applied(text, edit) for edit in found)
        return next((new for new in made if _plain(new) not in {_plain(text), ""}), None)


def asking(text: str) -> list[tuple[int, int]]:
    """Return where `text` asks: its questions, or all of it if it has none; nothing of a long account without one."""
    spans = [match.span() for match in _SENTENCE.finditer(text) if match.group().strip()]
    questions = [(start, end) for start, end in spans if text[start:end].rstrip().endswith("?")]
    if questions:
        return questions
    if len(text.split()) > STORY_WORDS and _PERSONAL.search(text):
        return []
    return [(0, len(text))]


def applied(text: str, edit: Edit) -> str:
    """Make the change, and adapt its surroundings: the article, the spaces, the leading capital."""
    before, new, after = text[: edit.start], edit.new, text[edit.end :]
    if not new:
        before, after = (before.rstrip(), after) if not after[:1].isalnum() else (before, after.lstrip())
    if not before.strip() and text[:1].isupper():
        new, after = (new[:1].upper() + new[1:], after) if new else (new, after[:1].upper() + after[1:])
    return with_article(before, new + after) + new + after


def with_article(before: str, after: str) -> str:
    """Return `before` with the `a` or `an` at its end, if there is one, fit for the word that begins `after`."""
    match = _ARTICLE.search(before)
    if match is None or not after[:1].isalnum() or (match.group(1)[0] == "A" and before[: match.start()].strip()):
        return before
    article = "an" if _VOWEL.match(after) else "a"
    return before[: match.start()] + written_like(article, match.group(1)) + match.group(2)


def swapped(text: str, first: tuple[int, int], second: tuple[int, int]) -> Edit:
    """Return the change that lets two stretches of `text`, the first one before the other, change places."""
    (a, b), (c, d) = first, second
    between = with_article(text[b:c], text[a:b])
    return Edit(a, d, text[c:d] + between + text[a:b])


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+|[^\w\s]", text.casefold())).rstrip(" .?!")
