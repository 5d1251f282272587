"""Text functions: cleaning, words, sentences.

Everything from outside passes `clean` once, at the adapter that receives it; afterwards it is bounded, has no control
characters and encodes as UTF-8.
"""

import re
import threading
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_ACTING = re.compile(rf"{_CONTROL.pattern}|\r|\u061c")
"""Characters that a terminal acts on: also a carriage return, which lets text overwrite text."""
MAX_BLOCK = 5_000
STEMS_HELD = 20_000
"""Words whose stems are cached, least recently used dropped first: 3 MB. Stemming a word takes 20 µs."""
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_CLITIC = re.compile(r"['’](?:s|re|ve|ll|d|m)$")
_NEGATED = re.compile(r"n['’]t$")
"""Only auxiliary verbs have this ending: don't, isn't, won't."""

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


def words(text: str) -> list[str]:
    """Return the words of `text`, lower-cased, in order."""
    return _WORD.findall(text.lower())


def content_words(text: str, stop_words: Collection[str] = STOP_WORDS) -> list[str]:
    """Return the words that carry meaning, in order: no `stop_words`, contracted or not, no single letters.

    A possessive or contracted ending is removed: "the API's limit" gives "api" and "limit", "what's" nothing.
    """
    bare = (_CLITIC.sub("", word) for word in words(text) if not _NEGATED.search(word))
    return [word for word in bare if len(word) > 1 and word not in stop_words]


@lru_cache(maxsize=STEMS_HELD)
def stem(word: str) -> str:
    """Return the stem of an English word (Snowball's English stemmer, Porter 2001)."""
    stemmed: str = _stemmer().stemWord(word)
    return stemmed


_own = threading.local()


def _stemmer() -> Any:
    """Return this thread's stemmer: it stores its current word, so two threads would mix theirs."""
    try:
        return _own.stemmer
    except AttributeError:
        import snowballstemmer  # only research needs it, `--help` does not

        _own.stemmer = snowballstemmer.stemmer("english")
        return _own.stemmer


def stems(text: str) -> set[str]:
    """Return the stems of the content words of `text`."""
    return {stem(word) for word in content_words(text)}


def sentences(paragraph: str) -> list[str]:
    """Split one paragraph into sentences; joined, they are the paragraph on one line.

    The rules are those of Wikimedia's sentencex, except that a sentence never begins with a lower-case letter or a sign
    that only continues one, as after the point in `C.__dict__`.
    """
    from sentencex import segment

    found: list[list[str]] = []
    for piece in (piece for block in _blocks(one_line(paragraph)) for piece in segment("en", block)):
        if found and (not piece.strip() or not _begins_sentence(piece)):
            found[-1].append(piece)
        else:
            found.append([piece])
    return list(map("".join, found))


def _blocks(text: str) -> Iterator[str]:
    """Split `text` after a space at least every `MAX_BLOCK` characters: the splitter's time grows with the square."""
    start = 0
    while len(text) - start > MAX_BLOCK:
        end = text.rfind(" ", start, start + MAX_BLOCK) + 1 or start + MAX_BLOCK
        yield text[start:end]
        start = end
    yield text[start:]


def _begins_sentence(piece: str) -> bool:
    first = piece.lstrip()[0]
    return not first.islower() and (first.isalnum() or first in "\"'“‘«¿¡([*")
