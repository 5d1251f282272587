"""Text functions: cleaning, words, sentences.

Everything from outside passes `clean` once, at the adapter that receives it; afterwards it is bounded, has no control
characters and encodes as UTF-8.
"""

import re
import threading
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from harness.core.function_words import FUNCTION_WORDS
from harness.core.languages import MAX_CHARS, main_script
from harness.core.question_language import question_language
from harness.core.word_forms import has_other_letters, is_latin, language_of_word, normal, same_letters, split_words

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_ACTING = re.compile(rf"{_CONTROL.pattern}|\r|\u061c")
"""Characters that a terminal acts on: also a carriage return, which lets text overwrite text."""
MAX_BLOCK = 5_000
_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}\.\s*$")
_ORDINAL_POINTS = frozenset("de da no fi cs sk pl hu tr et sl hr".split())
"""Languages that write ordinals with a point."""
TURKISH_STEM = 6
"""Most letters of a Turkish stem (Can et al., 2008, take five): Snowball removes endings of nouns, not of verbs. On a
half of XQuAD recall@1 by words is 0.924 with it, 0.911 without.
"""
STEMS_HELD = 20_000
"""Words whose stems are cached, least recently used dropped first: 3 MB. Stemming a word takes 20 to 300 µs."""
MAX_STEMMED = 60
"""Characters of the longest word that is stemmed, except in English: some stemmers take quadratic time."""
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_CLITIC = re.compile(r"['’](?:s|re|ve|ll|d|m)$")
_NEGATED = re.compile(r"n['’]t$")
"""Only auxiliary verbs have this ending: don't, isn't, won't."""
_OPENING = "\"'“‘«¿¡([*「『《〈【（〔［｛〝"
"""Signs that a sentence may begin with."""
_BOLD, _END_OF_BOLD = "**", "** "
"""Signs of Markdown and reStructuredText around words in bold."""
_SPLITTING = {"CYRILLIC": "ru", "GREEK": "el"}
"""Languages whose rules split a script; those of English split the others as well, by the signs of their Unicode."""
_APOSTROPHE = re.compile("['’]")

STEMMERS: Mapping[str, str] = MappingProxyType(
    {
        "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
        "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french",
        "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
        "lt": "lithuanian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
        "ru": "russian", "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    }
)  # fmt: skip
"""Snowball's stemmers of other languages than English."""

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do does doing done down during each else ever every few for from further get gets give given go goes
    had has have having he her here hers him his how i if in into is it its itself just kind let like made make makes
    many may me might mine more most much must my myself no nor not of off on once one only or other our ours out over
    own per please same say says shall she should so some such tell than that the their theirs them then there these
    they thing things this those through to too under until up upon us use used uses using very via was way ways we
    were what when where whether which while who whom whose why will with within without would you your yours
    """.split()
)


def clean(text: object, limit: int) -> str:
    """Make outside text safe to store: `None` becomes empty, control and direction-override characters and lone
    surrogates are dropped, and at most `limit` characters remain.
    """
    if text is None:
        return ""
    return _CONTROL.sub("", str(text)[: 2 * limit])[:limit].strip()


def printable(text: str) -> str:
    """Drop all characters that a terminal would act on; line breaks and tabs stay."""
    return _ACTING.sub("", text)


def printable_json(text: str) -> str:
    """Escape all characters in a JSON document that a terminal would act on; a JSON parser reads the same values."""
    return _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    """Collapse every run of white space to one space."""
    return " ".join(text.split())


def shorten(text: str, limit: int) -> str:
    """Cut `text` to at most `limit` characters, between words, including an ellipsis."""
    text = one_line(text)
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"


def amount(number: int, noun: str) -> str:
    """Return a number with its English noun: "1 entry", "2,000 entries", "0 searches"."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number:,} {plural}"


def words(text: str, *, whole: bool = False) -> list[str]:
    """Return the words of `text`, lower-cased, in order. Where a script has no spaces (Chinese, Japanese, Thai, …; also
    Korean), they are overlapping n-grams (see `word_forms`), or, if `whole`, all letters up to the next sign.
    """
    text = text.lower()
    if not has_other_letters(text):
        return _WORD.findall(text)
    return split_words(normal(text).lower(), whole=whole)


def content_words(
    text: str, stop_words: Collection[str] = STOP_WORDS, language: str = "en", *, whole: bool = False
) -> list[str]:
    """Return the words that carry meaning, in order: no `stop_words`, contracted or not, no single letters.

    A possessive or contracted ending is removed: "the API's limit" gives "api" and "limit", "what's" nothing.
    `language` is that of the words in Latin letters; if it is not English, they are split at apostrophes, and its
    function words are left out. Those of other scripts always are. With `whole`, words are those that people write in
    a query; see `words`.
    """
    if language != "en":
        stop_words = FUNCTION_WORDS.get(language, frozenset())
        return [word for word in words(_APOSTROPHE.sub(" ", text), whole=whole) if _has_meaning(word, stop_words)]
    bare = (_CLITIC.sub("", word) for word in words(text, whole=whole) if not _NEGATED.search(word))
    return [word for word in bare if _has_meaning(word, stop_words)]


def _has_meaning(word: str, stop_words: Collection[str]) -> bool:
    if word.isascii() or is_latin(word):
        return len(word) > 1 and word not in stop_words
    language = language_of_word(word)  # none for ideographs and syllables: there, one character may be a word
    return not language or (len(word) > 1 and same_letters(word) not in _function_words(language))


@cache
def _function_words(language: str) -> frozenset[str]:
    """Return the function words of a language, with one form of letters that are written for each other."""
    return frozenset(map(same_letters, FUNCTION_WORDS.get(language, ())))


@lru_cache(maxsize=STEMS_HELD)
def stem(word: str, language: str = "en") -> str:
    """Return the stem of a word (Snowball; for English the stemmer of Porter, 2001). `language` is that of Latin
    letters; another script has one language. A word of a language without a stemmer is its own stem.

    Except in English, letters that are written for each other are one letter, as an Arabic alef with dots and without.
    """
    language = language_of_word(word, language) if word else ""
    if language == "en":
        stemmed: str = _stemmer("english").stemWord(word)
        return stemmed
    known = STEMMERS.get(language) if len(word) <= MAX_STEMMED else None
    stemmed = same_letters(_stemmer(known).stemWord(word) if known else word)
    return stemmed[:TURKISH_STEM] if language == "tr" else stemmed


_own = threading.local()


def _stemmer(name: str) -> Any:
    """Return this thread's stemmer: it stores its current word, so two threads would mix theirs."""
    held: dict[str, Any] = _own.__dict__
    if name not in held:
        import snowballstemmer  # only research needs it, `--help` does not

        held[name] = snowballstemmer.stemmer(name)
    return held[name]


def stems(text: str, language: str = "en") -> set[str]:
    """Return the stems of the content words of `text`; `language` is that of words in Latin letters."""
    return {stem(word, language) for word in content_words(text, language=language)}


def sentences(paragraph: str) -> list[str]:
    """Split one paragraph into sentences; joined, they are the paragraph on one line.

    The rules are those of Wikimedia's sentencex, except that a sentence never begins with a lower-case letter or a sign
    that only continues one, as after the point in `C.__dict__`, nor after an ordinal of a language that writes a point,
    and that one in bold ends with its sign.
    """
    from sentencex import segment

    found: list[list[str]] = []
    script = main_script(paragraph[:MAX_CHARS]) if has_other_letters(paragraph) else ""
    language = _SPLITTING.get(script, "en")
    for piece in (piece for block in _blocks(one_line(paragraph)) for piece in segment(language, block)):
        end = _END_OF_BOLD if found and found[-1][0].startswith(_BOLD) and piece.startswith(_END_OF_BOLD) else ""
        if end:
            found[-1].append(end)
        rest = piece.removeprefix(end)
        if found and (not rest.strip() or not _begins_sentence(rest) or _is_ordinal(found[-1][-1], paragraph)):
            found[-1].append(rest)
        else:
            found.append([rest])
    return list(map("".join, found))


def _blocks(text: str) -> Iterator[str]:
    """Split `text` after a space at least every `MAX_BLOCK` characters: the splitter's time grows with the square."""
    start = 0
    while len(text) - start > MAX_BLOCK:
        end = text.rfind(" ", start, start + MAX_BLOCK) + 1 or start + MAX_BLOCK
        yield text[start:end]
        start = end
    yield text[start:]


def _is_ordinal(piece: str, paragraph: str) -> bool:
    """Return whether the point at the end of a piece makes a number an ordinal, as in the German "am 31. März"."""
    return _ORDINAL.search(piece) is not None and question_language(paragraph[:MAX_CHARS]) in _ORDINAL_POINTS


def _begins_sentence(piece: str) -> bool:
    first = piece.lstrip()[0]
    return not first.islower() and (first.isalnum() or first in _OPENING)
