"""Forms of words in any script: normal forms, n-grams where a script has no spaces, and the language of a word."""

import re
from collections.abc import Callable
from functools import cache
from itertools import accumulate, pairwise
from typing import Any
from unicodedata import combining, decimal, normalize

CLUSTER_CHARS = 3
"""Least characters of an n-gram of a script whose letters carry marks. On Hindi with its spaces removed, recall is that
of bigrams of letters with their marks. On alphabets with their spaces removed, bigrams lose half of it; these nothing.
"""

MAX_MARKS = 30
"""Marks in a row that are kept, as in Unicode's stream-safe format (UAX 15): more only take quadratic time to sort."""

_OTHER = r"[\u0300-\u1dff\u1f00-\u1fff\u2c00-\udfff\uf900-\ufffd\U00010000-\U0001efff\U00020000-\U0003ffff]"
"""Characters that a text in Latin letters, with or without accents, does not have. Signs are not among them."""
_COMPATIBLE = re.compile(r"[\uf900-\ufaff\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffee\U0001d400-\U0001d7ff]+")
"""Other forms of letters: of full or half width, ligatures, and Arabic letters in their joined forms."""
_ENGLISH_LETTER = re.compile("[A-Za-z]")
_DIGIT = re.compile(r"(?![0-9])\d")
_JOINER = "\u200d"
"""Asks for another form of the same letters."""

_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc"
_MARKED = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_LETTERS = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{_SPACELESS}\p{{Hangul}}{_MARKED}]]"
_OTHER_LETTERS = rf"[{_LETTERS}--[\p{{Latin}}0-9_]]"
_RUN = rf"(?P<letters>[{_SPACELESS}]+|\p{{Hangul}}+)|(?P<clusters>[{_MARKED}]+)"

_MARKS = dict.fromkeys(
    [*range(0x591, 0x5C8), *range(0x610, 0x61B), 0x640, *range(0x64B, 0x660), 0x670, *range(0x6D6, 0x6EE)]
)
"""Points and accents of Hebrew and Arabic, which most texts leave out, and the Arabic line that only stretches a word.
"""
_SAME_LETTERS = str.maketrans("أإآٱىیئؤةکہھёıँ", "اااايييوهكههеiं")
"""Letters that are written for each other, as the dots above an Arabic alef."""

_LATIN_END = 0x370
"""Latin letters, digits and `_` come before this code point; the others of them from U+1E00 to U+1EFF."""
_BLOCKS = (
    (0x370, 0x400, "el"), (0x400, 0x530, "ru"), (0x530, 0x590, "hy"), (0x590, 0x600, "he"), (0x600, 0x780, "ar"),
    (0x900, 0x980, "hi"), (0xB80, 0xC00, "ta"), (0x1F00, 0x2000, "el"),
)  # fmt: skip
"""The language whose stemmer is used for all words of a script, so that a text and a question about it agree."""


def has_other_letters(text: str) -> bool:
    """Return whether a text has characters that no text in Latin letters has."""
    return not text.isascii() and _other().search(text) is not None


@cache
def _other() -> re.Pattern[str]:
    """Return the pattern of `_OTHER`: it takes 3 ms, and most commands need none."""
    return re.compile(_OTHER)


def normal(text: str) -> str:
    """Return a text with one form of each letter and digit: composed, of usual width, digits of ASCII, without the
    points and accents of Hebrew and Arabic. Case stays; of many marks in a row, `MAX_MARKS` stay.
    """
    text = normalize("NFC", with_few_marks(text.replace(_JOINER, "").translate(_MARKS)))
    text = _COMPATIBLE.sub(lambda found: normalize("NFKC", found[0]), text)
    return _DIGIT.sub(lambda found: str(decimal(found[0])), text)


def with_few_marks(text: str) -> str:
    """Return a text without the marks after `MAX_MARKS` in a row; call it before any other normal form of Unicode."""
    if text.isascii():
        return text
    kept: str = _patterns()[4].sub("", text)
    return kept


def same_letters(word: str) -> str:
    """Return a word with one of the letters that are written for each other, and without accents on Latin and Greek
    letters; in lower case.
    """
    word = word.casefold().translate(_SAME_LETTERS)
    if word.isascii() or not (is_latin(word) or language_of_word(word) == "el"):
        return word
    return normalize("NFC", "".join(each for each in normalize("NFD", word) if not combining(each)))


def is_latin(word: str) -> bool:
    """Return whether a word begins with a Latin letter, a digit or `_`, or has an English letter, as "κB" does."""
    first = ord(word[0])
    return first < _LATIN_END or 0x1E00 <= first < 0x1F00 or _ENGLISH_LETTER.search(word) is not None


def language_of_word(word: str, latin: str = "en") -> str:
    """Return the language that decides about the forms of a word: `latin` in Latin letters, one language for each other
    script, "" if none is known.
    """
    if is_latin(word):
        return latin
    code = ord(word[0])
    return next((language for start, end, language in _BLOCKS if start <= code < end), "")


def split_words(text: str, *, whole: bool = False) -> list[str]:
    """Return the words of a normal text, and the n-grams of each run of a script without spaces, in order; with
    `whole`, the runs.
    """
    found = _patterns()[0].finditer(text)
    return [word for each in found for word in (not whole and grams(each)) or [each[0]]]


def replaced_words(text: str, replaced: Callable[[Any], str], *, latin: bool) -> str:
    """Return a normal text with each word, and each run of a script without spaces, replaced; those with Latin letters
    or digits only if `latin`. `replaced` is called with the match; pass that to `grams`.
    """
    result: str = _patterns()[1 if latin else 2].sub(replaced, text)
    return result


def grams(found: Any) -> list[str]:
    """Return the n-grams of a matched run of a script without spaces, overlapping; of another match an empty list.

    They are pairs of letters (Han, kana, Hangul), or else of letters with their marks, `CLUSTER_CHARS` long or longer.
    A shorter run is one n-gram.
    """
    if found["letters"]:
        run = found[0]
        return [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    if found["clusters"]:
        return _cluster_grams(found[0]) or [found[0]]
    return []


def short_grams(found: Any) -> list[str]:
    """Return all parts of a matched run that are shorter than its n-grams: what a query of a single word may be."""
    if found["letters"]:
        return list(found[0])
    clusters = _patterns()[3].findall(found[0])
    pairs = map("".join, pairwise(clusters))
    return [gram for gram in (*clusters, *pairs) if len(gram) < CLUSTER_CHARS]


def _cluster_grams(run: str) -> list[str]:
    clusters = _patterns()[3].findall(run)
    grown = (list(accumulate(clusters[at : at + CLUSTER_CHARS])) for at in range(len(clusters)))
    return [
        next(gram for gram in grams if len(gram) >= CLUSTER_CHARS) for grams in grown if len(grams[-1]) >= CLUSTER_CHARS
    ]


@cache
def _patterns() -> tuple[Any, ...]:
    """Return the patterns of words with apostrophes, of words without, of words without Latin letters, of a letter with
    its marks, and of marks beyond `MAX_MARKS`.
    """
    import regex  # `re` knows neither scripts nor marks; English texts need no more than `re`

    patterns = (
        rf"{_RUN}|{_LETTERS}+(?:['’]{_LETTERS}+)*",
        rf"{_RUN}|{_LETTERS}+",
        rf"{_RUN}|(?<!{_LETTERS}){_OTHER_LETTERS}++(?!{_LETTERS})",
        r"\P{M}\p{M}*+|\p{M}++",
        rf"\p{{M}}{{{MAX_MARKS}}}\K\p{{M}}++",
    )
    return tuple(regex.compile(pattern, regex.V1) for pattern in patterns)
