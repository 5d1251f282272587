"""Words of a query in any language, in one form: for scripts without spaces, single characters."""

import re
import unicodedata

from harness.core.word_forms import with_few_marks

UNSPACED = frozenset({"zh", "ja", "ko", "th", "lo", "km", "my"})
"""Languages that are read by characters: words are not set apart, or particles are written together with them."""
_QUOTES = '"“”„«»'
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0900-\u0dff\u0e31-\u0eff\u1000-\u109f\u1780-\u17ff"
_TOKEN = re.compile(rf"(?<![\w])[-+]?\d+(?:[.,:/]\d+)*|\d+(?:[.,:/]\d+)*|[^\W\d_](?:[^\W\d_]|[{_MARKS}])*|\s+|.")
_HYPHEN = re.compile(r"(?<=\S)-|-(?!\w)")
"""A hyphen that neither excludes a word nor is a minus."""
_SILENT = re.compile(r"[\u0640\u064b-\u065f\u0670\u200b-\u200f]")
"""Vowel marks and other signs that Arabic texts leave out, and invisible characters."""
_VARIANTS = str.maketrans("أإآٱىةё", "اااايهе")
"""Letters that are often written as others."""
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
"""Letters of German that many write as two. (`ß` is `ss` without regard to case, in any language.)"""
_ARTICLES = re.compile(r"(وال|بال|كال|فال|لل|ال)(?=\w{3})")
_KEPT_SPACES = frozenset({"ko"})


def tokens_in(text: str, language: str) -> list[str]:
    """Return the words, numbers and signs of a text in order, in lower case.

    Digits of all scripts become ASCII digits. In Korean, " " is the end of a word; elsewhere spaces are left out. In
    German, umlauts are two letters.
    """
    tokens: list[str] = []
    for token in _TOKEN.findall(_folded(text, language)):
        if token[-1].isdecimal():
            tokens.append(token)
        elif token[0].isalnum():
            tokens += _parts(token, language)
        elif token == "-" or _is_sign(token[0]):  # noqa: S105 - a hyphen, not a secret
            tokens.append(token)
        elif language in _KEPT_SPACES and tokens and tokens[-1] != " ":
            tokens.append(" ")
    return tokens


def _folded(text: str, language: str) -> str:
    text = unicodedata.normalize("NFKC", with_few_marks(text))
    if language == "tr":
        text = text.replace("I", "ı").replace("İ", "i")
    text = _HYPHEN.sub(" ", _SILENT.sub("", text.casefold())).translate(_VARIANTS)
    if language == "de":
        text = text.translate(UMLAUTS)
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def _is_sign(char: str) -> bool:
    return unicodedata.category(char)[0] == "S" or char in _QUOTES or char in "%&@#*/"


def _parts(word: str, language: str) -> list[str]:
    """Return the parts of a word: characters of scripts without spaces; in Arabic, a prefix without its article."""
    if language in UNSPACED and not word.isascii():
        return list(word)
    if language == "ar" and (found := _ARTICLES.match(word)):
        prefix = found[1].removesuffix("ال") if found[1] != "لل" else "ل"
        return [*([prefix] if prefix else []), word[found.end() :]]
    return [word]
