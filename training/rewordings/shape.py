"""The shape of a text: question, keywords or statement; its end; its first letter."""

import re

from harness.models.local.tokenizer import vocabulary

ASKING = frozenset("what which who whom whose where when why how what's who's where's how's".split())
AUXILIARIES = frozenset(
    """
    is are am was were do does did can could should would will has have had may might must isn't aren't don't doesn't
    didn't can't couldn't shouldn't wouldn't won't
    """.split()
)
PRONOUNS = frozenset("i you we they he she it this that these those there someone anyone everyone people".split())
SMALL = ASKING | AUXILIARIES | PRONOUNS | frozenset(
    """
    a an the my your our their his her its some any many most if after before during since on in at for from with
    without to of by as while although because once until and or but so than best define meaning ways does both all
    each every one two three four five six seven eight nine ten please also however there here under over between
    explain tell give list find information
    """.split()
)  # fmt: skip
"""Words that have a capital only where a sentence begins."""
LINKS = frozenset("that which who whom whose where when while because although if but so whether until unless".split())
PREPOSITIONS = frozenset(
    """
    about above across after against along among around as at before behind below between beyond by during except for
    from in inside into like of off on onto out over per since than through to toward towards under until up upon via
    with within without versus vs
    """.split()
)

_SURELY_ASKING = frozenset("what who why how what's who's how's".split())
"""Other question words begin statements as well, which end in a point."""

_END = re.compile(r"[\s?.!]*\Z")
_INNER_END = re.compile(r"[.?!](?=\s|\Z)|[;\n]")
_KEYWORD_BREAK = re.compile(r"[.,;:?!\"“”()\n]")
_VOWEL_SOUND = re.compile(r"[aeio]|u(?!ni(?:[tvqcfo]|$)|s[eiu]|r[aoi]|t[ei]|k|b[ie])|hou?rs?\b|hour|hono|heir|honest")
_SPOKEN_VOWEL = frozenset("AEFHILMNORSX")


def split_end(text: str) -> tuple[str, str]:
    """Cut the points, question marks and white space at the end of `text` off; both parts joined are the text."""
    cut = _END.search(text)
    at = cut.start() if cut else len(text)
    return text[:at], text[at:]


def first_word(text: str) -> str:
    """Return the first word in small letters, or nothing."""
    return next(iter(text.split(None, 1)), "").lower().replace("’", "'").rstrip(",:")


def is_one_sentence(text: str) -> bool:
    """Return whether no sentence ends inside `text`."""
    return not _INNER_END.search(split_end(text)[0])


def is_question(text: str) -> bool:
    """Return whether the text is one question: it begins as one, or its only end is a question mark."""
    if not is_one_sentence(text):
        return False
    first, stripped = first_word(text), text.rstrip()
    if stripped.endswith((".", "!")) and first not in _SURELY_ASKING:
        return False
    return first in ASKING or first in AUXILIARIES or stripped.endswith("?")


def is_keywords(text: str) -> bool:
    """Return whether the text is a line of search words: short, without signs, not a question, not a sentence."""
    first = first_word(text)
    return (
        0 < len(text.split()) <= 8
        and not _KEYWORD_BREAK.search(text.strip())
        and first not in ASKING
        and first not in AUXILIARIES
        and first not in PRONOUNS
    )


def begins_small(text: str) -> bool:
    """Return whether the first letter is a small one."""
    return text[:1].islower()


def is_common(word: str) -> bool:
    """Return whether a word is in every reader's vocabulary, in small letters."""
    return word in vocabulary()


def lowered_start(text: str) -> str:
    """Return `text` with a small first letter, unless its first word may be a name or is `I`."""
    first = first_word(text)
    if first == "i" or first.startswith("i'") or first not in SMALL:
        return text
    return text[:1].lower() + text[1:]


def raised_start(text: str) -> str:
    """Return `text` with a capital first letter, unless the first word is written like `iPhone`."""
    head = text.split(None, 1)[0] if text.split() else ""
    return text if head[1:2].isupper() else text[:1].upper() + text[1:]


def like_start(text: str, model: str) -> str:
    """Return `text` with the first letter large or small as in `model`."""
    return text if begins_small(model) else raised_start(text)


def article(word: str) -> str:
    """Return the indefinite article that sounds right before `word`."""
    if len(word) > 1 and word.isupper():
        return "an" if word[0] in _SPOKEN_VOWEL else "a"
    low = word.lower()
    if low.startswith(("one", "eu", "ewe")):
        return "a"
    return "an" if _VOWEL_SOUND.match(low) else "a"
