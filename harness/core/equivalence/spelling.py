"""Spelling: a text in lower case, with numbers and short forms normalised; and its names and signs."""

import re

from text_to_num import alpha2digit

from harness.core.equivalence.lexicon import CONTRACTED, CONTRACTIONS, EMPTY, IMPLIED, POLITE, PRONOUN_BEFORE

MAX_WORDS = 150
"""Longest text that is read, in words: longer queries are the same only if identical."""

TOKEN = re.compile(r"\d+(?:\.\d+)+|\d+|[^\W\d_]+(?:['’][^\W\d_]+)*(?:\+\+|#)?|[%$€£₹°≤≥<>=+&*^/@-]|(?<= )\.(?= )")

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_COUNTRY = re.compile(r"\bU\.?S\.?A?\b\.?(?=\W|$)|\bu\.s\.?(?:a\b\.?)?(?=\W|$)")
_INITIALS = re.compile(r"\b[^\W\d_]\.(?:[^\W\d_]\.){1,9}(?!\w)|\b[A-Z]\.(?:\s?[A-Z]\.){1,9}(?!\w)")
_VERSION = re.compile(r"\b(?:v|version )(?=\d+\.\d)")
_SENTENCE_END = re.compile(r"(?<![.?!;])[.?!;]+(?=\s)")
_POLITE = re.compile(r"(?<!\w)(?:" + "|".join(POLITE) + r")(?!\w)")
_IMPLIED = re.compile(r"\b(?:" + "|".join(sorted(IMPLIED, key=len, reverse=True)) + r")(?=s?\b)", re.IGNORECASE)
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")
_SPACES = re.compile(r"\s+")
_NOT_ASCII = re.compile(r"[^\x20-\x7e]+")
_PUNCTUATION = r"\u2010-\u2027\u2030-\u203a\u200b-\u200f\ufe0e\ufe0f\ufeff°£€₹«»¡¿©®§¶·´¨¸"
_SIGNS = re.compile(
    r"(?<!\S)[-+](?=\d)"  # of a number
    r"|(?<=[\dx] )[+*/](?= ?\d)"  # of a sum
    r"|(?<!\S)\.(?=[^\W\d])"  # .net
    r"|[=<>|^~≤≥][=<>|&]*|&&+|[-!][=>]+|(?<!\w)\+\++"  # of a programming language
    rf"|[^\w\s\x00-\x7f{_PUNCTUATION}]"  # of any kind: symbols, emojis
)
_IDENTIFIER = re.compile(r"(?<![\w./])[^\W\d_]{2,}(?:[._@][^\W\d_]{2,})+(?![\w./])")


def letters_joined(text: str) -> str:
    """Remove the points of countries and initials ("U.S.", "p.m.", "J.R.R.")."""
    return _INITIALS.sub(lambda initials: "".join(initials[0].replace(".", "").split()), _COUNTRY.sub("usa", text))


def plain_text(text: str) -> str:
    """Return the text in lower case, contractions and number words expanded, polite phrases dropped."""
    text = _THOUSANDS.sub("", text.replace("’", "'")).casefold()
    text = _SENTENCE_END.sub(" . ", _VERSION.sub("", text))
    words = []
    for word in _SPACES.split(text)[: 2 * MAX_WORDS]:
        bare = word.strip('.,;:!?()[]{}"“”')
        written = CONTRACTIONS.get(bare)
        if written is None and "'" in bare:
            written = bare
            for ending, full in CONTRACTED:
                if bare.endswith(ending):
                    written = bare.removesuffix(ending) + full
                    break
            written = written.removesuffix("'s")
        words.append(word if written is None else word.replace(bare, written))
    joined = " ".join(words)
    if not _NOT_ASCII.search(joined):  # the parser reads English only, and raises on broken Unicode
        joined = alpha2digit(_HYPHEN.sub(" ", joined), "en", 1.5)  # "one" is a pronoun more often than a number
    joined = _POLITE.sub(" ", joined)
    tokens = [found for found in TOKEN.findall(joined) if found != "-"]
    before = ["", *tokens]
    tokens = ["usa" if t == "us" and before[i] not in PRONOUN_BEFORE else t for i, t in enumerate(tokens)]
    plain = " ".join(tokens).strip(". ")
    return without_phrases(plain)


def without_phrases(text: str, other: str | None = None) -> str:
    """Return the text with the shorter words for its phrases: for all, or for those whose shorter word `other` has."""
    held = None if other is None else other.lower()

    def shorter(found: re.Match[str]) -> str:
        word = IMPLIED[found[0].lower()]
        return word if held is None or re.search(rf"\b{re.escape(word)}s?\b", held) else found[0]

    return _IMPLIED.sub(shorter, text)


def names_in(text: str) -> frozenset[str]:
    """Return, in lower case, the words with a capital that is not due to the beginning of a sentence."""
    found: set[str] = set()
    first = True
    written = text.split()
    shouting = sum(word.isupper() for word in written) > len(written) / 2
    title = sum(word[:1].isupper() for word in written) > 0.7 * len(written)
    for word in written:
        bare = word.strip(".,;:!?()[]{}\"'“”’")
        inner = any(letter.isupper() for letter in bare[1:])
        if not shouting and (inner or (bare[:1].isupper() and not first and not title)):
            found.update(part for part in TOKEN.findall(bare.casefold().removesuffix("'s")) if part.isalpha())
        first = word.endswith((".", "?", "!", ":"))
    return frozenset(found)


def acronyms_in(text: str) -> frozenset[str]:
    """Return, in lower case, the function words written as names (IT, WHO, AND), unless the whole
    text is in capitals.
    """
    written = [word.strip(".,;:!?()[]{}\"'“”’") for word in text.split()]
    found = {word.casefold() for word in written if len(word) > 1 and word.isupper()}
    return frozenset(found & EMPTY) if 2 * sum(map(str.isupper, written)) <= len(written) else frozenset()


def signs_in(text: str) -> tuple[str, ...]:
    """Return, sorted, the signs that may be a topic or that change a number."""
    return tuple(sorted(_SIGNS.findall(text)))


def identifiers_in(text: str) -> frozenset[str]:
    """Return, in lower case, identifiers joined from words: `example.com`, `foo_bar`, `me@home`."""
    return frozenset(map(str.casefold, _IDENTIFIER.findall(text)))
