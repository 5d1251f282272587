"""Quotation checks: whether a quoted passage is in the stored source."""

import unicodedata
from collections.abc import Iterable

from harness.core.text import one_line

LEAST_ALIKE = 92.0
"""Least similarity (0..100) at which a quotation counts as a misspelling of the passage closest to it."""
MIN_FUZZY_CHARS = 20
"""Shorter quotations match by chance too often: they must match word for word."""

_FOLDED = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u2011": "-", "\u00a0": " "})
"""Maps single characters to single characters, so that positions in a folded text are positions in the text."""


def is_quoted_in(quotation: str, texts: Iterable[str]) -> bool:
    """Return whether `quotation` is part of one of `texts`, ignoring white space, Unicode form (NFC), and the form of
    quotation marks and dashes. An empty quotation is in no text.
    """
    wanted = folded(quotation)
    return bool(wanted) and any(wanted in folded(text) for text in texts)


def folded(text: str) -> str:
    """Return `text` as quotations are compared: on one line, in NFC, with plain quotation marks and dashes."""
    return _comparable(text).translate(_FOLDED)


def parted(quotation: str, text: str) -> tuple[str, str, str] | None:
    """Return `text` on one line (NFC) in three parts: before the first occurrence of `quotation`, the occurrence as the
    text has it, and after; `None` if there is none (see `is_quoted_in`).

    Joined, the parts are the whole text.
    """
    wanted, held = folded(quotation), _comparable(text)
    start = held.translate(_FOLDED).find(wanted) if wanted else -1
    if start < 0:
        return None
    end = start + len(wanted)
    return held[:start], held[start:end], held[end:]


def verbatim(quotation: str, texts: Iterable[str]) -> str | None:
    """Return the words of one of `texts` that `quotation` quotes: itself if it occurs there, else the passage with a
    similarity of at least `LEAST_ALIKE` (edit ratio of the best aligned part), widened to whole words; else `None`. A
    returned quotation is always in one of the texts.
    """
    from rapidfuzz import fuzz

    held = [_comparable(text) for text in texts]
    wanted = _comparable(quotation)
    if is_quoted_in(wanted, held):
        return wanted
    if len(wanted) < MIN_FUZZY_CHARS:
        return None
    best, found = LEAST_ALIKE, None
    folded = wanted.translate(_FOLDED).lower()
    for text in held:
        lowered = text.translate(_FOLDED).lower()
        if len(lowered) != len(text):
            continue  # some capitals are longer in lower case: positions would differ from those in the text
        if len(lowered) < len(folded):  # aligned, the rest of the quotation would be ignored
            if (alike := fuzz.ratio(folded, lowered)) >= best:
                best, found = alike, text
            continue
        match = fuzz.partial_ratio_alignment(folded, lowered, score_cutoff=best)
        if match is not None and match.score >= best and match.dest_end > match.dest_start:
            best, found = match.score, _whole_words(text, match.dest_start, match.dest_end)
    return found


def _whole_words(text: str, start: int, end: int) -> str:
    while start > 0 and _of_word(text[start - 1]) and _of_word(text[start]):
        start -= 1
    while end < len(text) and _of_word(text[end - 1]) and _of_word(text[end]):
        end += 1
    return text[start:end].strip()


def _of_word(char: str) -> bool:
    """Return whether this character can be part of a word: `can` is not a word of `can't`, and a vowel sign belongs to
    its letter.
    """
    return char.isalnum() or char in "'’_" or unicodedata.category(char).startswith("M")


def _comparable(text: str) -> str:
    return one_line(unicodedata.normalize("NFC", text))
