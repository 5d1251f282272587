"""Language of a question, by its script and its words, letters and endings: it is too short for a statistical model."""

import re
from collections import defaultdict
from functools import lru_cache
from unicodedata import normalize

from harness.core.language_hints import ENGLISH, LETTERS, MAX_ENDING, ending_languages, word_weights
from harness.core.languages import LANGUAGES, MAX_CHARS, main_script, script_of, scripts

_ONE = {
    "KANA": "ja", "CJK": "zh", "HANGUL": "ko", "THAI": "th", "GREEK": "el", "HEBREW": "he", "BENGALI": "bn",
    "ARMENIAN": "hy", "GEORGIAN": "ka", "TAMIL": "ta", "TELUGU": "te", "GUJARATI": "gu", "GURMUKHI": "pa",
    "KANNADA": "kn", "MALAYALAM": "ml", "KHMER": "km", "LAO": "lo", "MYANMAR": "my", "SINHALA": "si", "ETHIOPIC": "am",
    "DEVANAGARI": "hi", "ARABIC": "ar", "CYRILLIC": "ru",
}  # fmt: skip
"""The language of a script, if nothing in the text shows another one."""

_OWN_LETTERS = {
    language: frozenset(letters)
    for language, letters in {
        "ur": "ٹڈڑںےہ", "fa": "پچژگکی", "be": "ў", "uk": "іїєґ", "sr": "ђћџљњј", "mr": "ळ",
        "ja": "円駅気売読発続対検験県様変戦実単価広図択沢鉄関覧観権帰応悪営囲栄駆黒児収渋繊銭騒総蔵髪抜払満黙薬歩毎塩仮"
        "巻挙厳両暦険転経済継剣圏歳剤雑釈処譲畳浄専臓団遅聴伝徳悩脳廃浜辺豊訳揺頼緑齢労録",
    }.items()
}  # fmt: skip
"""Letters that the first language of their script does not have; those of an earlier language decide."""
_OWN_WORDS = {
    "uk": frozenset("або був була було були від години зі навчання найкращий та це цей ця чи що як яка яке".split()),
    "bg": frozenset("българия български защо каква какво кога кои колко къде най са се със".split()),
}
"""Words that Russian does not have."""

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_ADDRESS = re.compile(r"[^\W_]\.[^\W_]")
_TURKISH = re.compile("n?[ıiuü]n|[yns]?[dt]?[aeıiuü]|[dt][ae]n|[dt][ae]ki|l[ae]r.{0,8}|[yn]?l[ae]|[dt][ıiuü]r")
"""Endings of names in Turkish, which follow an apostrophe."""
_CONTRACTED = frozenset("t ll ve re m".split())
_BEFORE = {
    **dict.fromkeys(("d", "n", "j", "qu", "jusqu", "lorsqu"), "fr"),
    **dict.fromkeys(("dell", "all", "nell", "sull", "dall", "dov", "cos", "quest", "c"), "it"),
}
"""Languages of shortened words before an apostrophe."""
_LETTER, _ENDING, _UNLISTED = 0.6, 0.7, 0.9
"""Weights of a letter and of an ending in a word that is not listed, and the most that such a word, or name, weighs."""
_ENOUGH = 1.0
"""Least weight for a language other than English."""
_LEAST_BYTES = 6
"""Bytes of another script than Latin that show a language: two ideographs or three letters, not a symbol."""


def question_language(question: str) -> str:
    """Return the language of a question as a primary tag of BCP 47; "" if nothing shows it, as in a list of names. Of a
    longer text only the first `MAX_CHARS` characters are looked at.

    The script decides, unless several languages that are known here share it: then their words, letters and endings.
    A question with English words around a word of another script is English.
    """
    return _language_of(question[:MAX_CHARS])


@lru_cache(4_096)  # of beginnings only: whole pages would stay in memory
def _language_of(beginning: str) -> str:
    text = normalize("NFC", beginning.lower()).replace("\u0307", "").replace("’", "'")
    if text.isascii():
        return _latin(text)[0]
    found = scripts(text)
    others = found.total() - found["LATIN"]
    if found["LATIN"]:
        language, weight = _latin(text)
        english = language == ENGLISH and weight >= 2 * _ENOUGH
        if english or others < _LEAST_BYTES or (language not in {"", ENGLISH} and others < found["LATIN"]):
            return language
    return _of_script(text)


def _of_script(text: str) -> str:
    """Return the language of the main script of a text, but for its Latin letters."""
    script = main_script("".join(each for each in text if script_of(each) != "LATIN"))
    languages = LANGUAGES.get(script, frozenset())
    for language, letters in _OWN_LETTERS.items():
        if language in languages and not letters.isdisjoint(text):
            return language
    if script == "CYRILLIC":
        words = frozenset(_TOKEN.findall(text))
        return next((language for language, own in _OWN_WORDS.items() if own & words), "ru")
    return _ONE.get(script, "")


def _latin(text: str) -> tuple[str, float]:
    """Return the language of a text in Latin letters and the weight of what shows it; "" if nothing does.

    Each word counts once, for all its languages; of those with more than English has, the one whose words, letters and
    endings are its own rather than shared.
    """
    weights: defaultdict[str, float] = defaultdict(float)
    own: defaultdict[str, float] = defaultdict(float)
    plain = " ".join(part for part in text.split() if "." not in part or not _ADDRESS.search(part))
    for word in dict.fromkeys(_TOKEN.findall(plain)):
        shown = _shown_by(word)
        for language, weight in shown:
            weights[language] += weight
            own[language] += weight / len(shown)
    for sign in "¿¡":
        if sign in text:
            weights["es"] += _ENOUGH
            own["es"] += _ENOUGH
    english = weights[ENGLISH]
    enough = [each for each, weight in weights.items() if weight >= _ENOUGH and weight > english and each != ENGLISH]
    best = max(enough, key=lambda each: (own[each], weights[each]), default=ENGLISH if english else "")
    return best, weights[best]


def _shown_by(word: str) -> list[tuple[str, float]]:
    """Return the languages that a word is from, with weights."""
    if known := word_weights().get(word):
        return list(known.items())
    first, apostrophe, last = word.partition("'")
    return _shown_by_parts(first, last) if apostrophe else _shown_by_letters(word)


def _shown_by_parts(first: str, last: str) -> list[tuple[str, float]]:
    """Return the languages that a word with an apostrophe between these parts is from."""
    if last in _CONTRACTED:
        return [(ENGLISH, _ENOUGH)]
    if last in {"s", "d"} and first.isascii():
        return _shown_by(first)
    if first == "l":
        return [("fr", _LETTER / 2), ("it", _LETTER / 2), *_shown_by(last)]
    if language := _BEFORE.get(first):
        return [(language, _LETTER)]
    if (len(first) > 2 or first.isdecimal()) and _TURKISH.fullmatch(last):
        return [("tr", _LETTER if len(last) == 1 else _ENOUGH)]
    return []


def _shown_by_letters(word: str) -> list[tuple[str, float]]:
    """Return the languages that have the letters, or the longest ending, of a word that is not listed."""
    shown: dict[str, float] = {}
    for letter in sorted(set(word)):
        for language in LETTERS.get(letter, ()):
            shown[language] = shown.get(language, 0.0) + _LETTER
    endings = ending_languages()
    for size in range(min(MAX_ENDING, len(word) - 3), 1, -1):
        if languages := endings.get(word[-size:]):
            shown |= {language: shown.get(language, 0.0) + _ENDING for language in languages}
            break
    return [(language, min(weight, _UNLISTED)) for language, weight in shown.items()]
