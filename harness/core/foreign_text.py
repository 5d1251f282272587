"""Language of a text that is not English, for models that know English only, and for those that know others."""

from harness.core.languages import MAX_CHARS, script_of, scripts
from harness.core.question_language import question_language

FOREIGN = 0.3
"""Share of letters of other scripts (bytes in UTF-8) from which on a text is not English, whatever its words: a foreign
name in an English question has less, a Chinese question about a program more.
"""
UNKNOWN = "und"
"""BCP 47's tag for a language that is not known."""


def foreign_language(text: str) -> str:
    """Return the language of a text as a primary tag of BCP 47, as far as its beginning shows; "" for English, and for
    Latin letters that show no language, as a name.
    """
    text = text[:MAX_CHARS]
    language = question_language(text)
    if language not in {"en", ""}:
        return language
    if text.isascii():
        return ""
    found = scripts(text)
    if found.total() - found["LATIN"] < FOREIGN * (found.total() or 1):
        return ""
    rest = "".join(" " if script_of(each) == "LATIN" else each for each in text)
    return question_language(rest) or UNKNOWN


def is_english(text: str) -> bool:
    """Return whether a text is English, or in Latin letters that show no other language."""
    return not foreign_language(text)
