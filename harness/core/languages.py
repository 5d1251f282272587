"""Languages: their tags (BCP 47), and the scripts that they are written in."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from unicodedata import category
from unicodedata import name as name_of

from harness.errors import InvalidInput

MAX_CHARS = 1_000
"""Characters of a text that are looked at to find its language."""
_TAG = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]{1,8}){0,5}")
_SAME = {"iw": "he", "ji": "yi", "in": "id", "mo": "ro", "nb": "no", "nn": "no", "tl": "fil"}
"""Withdrawn tags, and tags of languages that count as another one here."""
_KANA = 0.05
"""Share of syllables (kana) among the characters of a Japanese text, at least; a Chinese text has none."""

LANGUAGES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        script: frozenset(languages.split())
        for script, languages in {
            "LATIN": """
                af ast az br bs ca ceb co cs cy da de en eo es et eu fi fil fo fr fur fy ga gd gl gn gsw gv ha haw hmn
                hr ht hu ia id ig is it jv ku kw la lb ln lt lv mg mi ms mt ny nl no oc om pl pms pt qu rm rn ro rw sc
                scn sk sl sm sn so sq sr ss st su sv sw tk tn to tr ts uz ve vi vo wa wo xh yo za zu""",
            "CYRILLIC": "ab az ba be bg ce cv kk ky mk mn os ru sah sr tg tk tt uk uz",
            "ARABIC": "ar arz az ckb fa ku ps sd ug ur",
            "CJK": "ja wuu yue zh",
            "KANA": "ja", "HANGUL": "ko", "DEVANAGARI": "bho hi kok mai mr ne new sa sd", "BENGALI": "as bn",
            "ARMENIAN": "hy", "ETHIOPIC": "am ti", "GEORGIAN": "ka", "GREEK": "el", "GUJARATI": "gu", "GURMUKHI": "pa",
            "HEBREW": "he yi", "KANNADA": "kn", "KHMER": "km", "LAO": "lo", "MALAYALAM": "ml", "MYANMAR": "my",
            "ORIYA": "or", "SINHALA": "si", "TAMIL": "ta", "TELUGU": "te", "THAANA": "dv", "THAI": "th",
            "TIBETAN": "bo dz",
        }.items()
    }
)  # fmt: skip
"""Languages by script: the first word of its characters' Unicode names, `CJK` for ideographs, `KANA` for Japanese."""
_KNOWN = frozenset().union(*LANGUAGES.values())


def primary_tag(tag: str) -> str:
    """Return the language in a tag (`de` for `de-AT`), in lower case; "" for an invalid tag or an unknown language."""
    found = _TAG.fullmatch(tag.strip()) if len(tag) <= 100 else None
    language = found[1].lower() if found else ""
    language = _SAME.get(language, language)
    return language if language in _KNOWN else ""


def checked_language(tag: str) -> str:
    """Return the language in a tag that a user gives.

    Raises:
        InvalidInput: an invalid tag or an unknown language.
    """
    if language := primary_tag(tag):
        return language
    raise InvalidInput(f"unknown language {tag[:40]!r}; pass a tag such as en, de or zh")


@lru_cache(4_096)
def script_of(character: str) -> str:
    """Return the script of a letter or a vowel sign; "" of any other character, and of accents."""
    script = name_of(character, "").partition(" ")[0]
    if category(character)[0] not in "LM" or script == "COMBINING":
        return ""
    return "KANA" if script.startswith(("HIRAGANA", "KATAKANA")) else script


def scripts(text: str) -> Counter[str]:
    """Return how much of a text is in each script: bytes of its letters in UTF-8, as an ideograph says more than one
    letter of an alphabet. `CJK` includes the kana of a text that has ideographs, too.
    """
    found = Counter[str]()
    for character, times in Counter(text).items():
        if script := script_of(character):
            found[script] += times * len(character.encode())
    if "CJK" in found:
        found["CJK"] += found.pop("KANA", 0)
    return found


def main_script(text: str) -> str:
    """Return the script of more than half of a text; "" if there is none."""
    found = scripts(text)
    script, size = max(found.items(), key=lambda each: each[1], default=("", 0))
    if 2 * size <= found.total():
        return ""
    kana = sum(script_of(each) == "KANA" for each in text) if script == "CJK" else 0
    return "KANA" if kana and 3 * kana >= _KANA * size else script


def is_written_in(text: str, language: str) -> bool:
    """Return whether the language is one of those that are written in the main script of a text."""
    return language in LANGUAGES.get(main_script(text[:MAX_CHARS]), ())
