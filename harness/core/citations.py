"""Does the quoted passage really stand in the stored source?"""

import unicodedata
from collections.abc import Iterable

from harness.core.text import one_line

LEAST_ALIKE = 92.0
"""From this ratio (0..100) on, a quotation is a slip of the pen of the passage that it is most alike."""
MIN_FUZZY_CHARS = 20
"""A shorter quotation is alike too much by chance: it stands word for word, or not at all."""

_FOLDED = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u2011": "-", "\u00a0": " "})
"""One character for one: places in a folded text are places in the text."""


def stands_in(quotation: str, texts: Iterable[str]) -> bool:
    """Say whether `quotation` is a part of one of `texts`: white space, Unicode form (NFC), and the form of quotation
    marks and dashes aside.

    An empty quotation stands nowhere.
    """
    wanted = _comparable(quotation).translate(_FOLDED)
    return bool(wanted) and any(wanted in _comparable(text).translate(_FOLDED) for text in texts)


def parted(quotation: str, text: str) -> tuple[str, str, str] | None:
    """Return `text` on one line (NFC) in three parts: what stands before the first place of `quotation`, its words as
    the text has them, and what follows; `None` where it does not stand there (see `stands_in`).

    Joined, the parts are the whole text.
    """
    wanted, held = _comparable(quotation).translate(_FOLDED), _comparable(text)
    start = held.translate(_FOLDED).find(wanted) if wanted else -1
    if start < 0:
        return None
    end = start + len(wanted)
    return held[:start], held[start:end], held[end:]


def verbatim(quotation: str, texts: Iterable[str]) -> str | None:
    """Return the words of one of `texts` that `quotation` quotes: itself where it stands there, else the passage that
    it is alike by at least `LEAST_ALIKE` (the ratio of the best aligned part, by edits), widened to whole words; else
    `None`. So what is returned always stands in one of the texts.
    """
    from rapidfuzz import fuzz

    held = [_comparable(text) for text in texts]
    wanted = _comparable(quotation)
    if stands_in(wanted, held):
        return wanted
    if len(wanted) < MIN_FUZZY_CHARS:
        return None
    best, found = LEAST_ALIKE, None
    folded = wanted.translate(_FOLDED).lower()
    for text in held:
        lowered = text.translate(_FOLDED).lower()
        if len(lowered) != len(text):
            continue  # some capitals are longer when small: their places would not be the text's
        if len(lowered) < len(folded):  # aligned, the text would be all that is compared, and the rest pass unseen
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
    """Say whether words are made of this: `can` is no word of `can't`, and a vowel sign belongs to its letter."""
    return char.isalnum() or char in "'’_" or unicodedata.category(char).startswith("M")


def _comparable(text: str) -> str:
    return one_line(unicodedata.normalize("NFC", text))
