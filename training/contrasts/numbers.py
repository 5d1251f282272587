"""Counts, written in figures or as words: near numbers, another digit, a digit more or less."""

import re
from collections.abc import Callable, Iterator
from random import Random

from training.contrasts.edit import Contrast, Edit
from training.contrasts.versions import PRODUCTS
from training.words import written_like

MAX_AGE = 100
LONG = 20
"""In a question of more words one count says little: it must change by much."""

_FIGURE = re.compile(
    r"(?<![\w.,/:#'’^+=*\-–−])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\d|[/:,.][\d/]|[/:°'’\"^*]|\s*[-–]\s*\d)"
)
_ATTACHED = re.compile(r"[A-Za-z]+")
_UNITS = frozenset(
    "k m b mg g kg ml l cm mm km m mi ft lb lbs kb mb gb tb hz mhz ghz w kw v mah mp px am pm yr yrs "
    "yo y "
    "hr hrs min mins cr rs usd x".split()
)
_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_LADDERS = (
    _WORDS,
    _TENS,
    _ORDINALS[1:],
    ["dozens", "hundreds", "thousands", "millions"],
    ["once", "twice"],
    ["single", "double", "triple"],
)
_WORD = re.compile(
    r"\b(?:" + "|".join({word for ladder in _LADDERS for word in ladder}) + r")\b(?![-–])", re.IGNORECASE
)
_ROMAN = re.compile(
    r"\b(world war|part|type|volume|phase|stage|class|article|rocky|elizabeth|henry|charles|louis)"
    r"(\s+)(i{1,3}|iv|vi{0,3}|1|2|3|4|one|two|three)\b(?!')",
    re.IGNORECASE,
)
_ROMANS = "i ii iii iv v vi vii viii".split()
_VAGUE_BEFORE = re.compile(
    r"\b(?:the|these|those|both|between|any|my|or|and|other|last|first|than|of|a|an|no|at|all|us|them|"
    r"you|we|on|for|every|"
    r"last|back|second|number|no\.|covid|over)\s+$",
    re.IGNORECASE,
)
_NAMED_BEFORE = re.compile(
    r"(?:\b(?:" + "|".join(PRODUCTS) + r")|[#№$]\s?number|\b(?:number|version|v\.?|no\.?|area|cent|"
    r"error|code|route|highway|boeing|flight|model|physics|math|covid|"
    r"channel))\s*$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d$")
_MONTHS = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_MONTH_BESIDE = re.compile(rf"\b{_MONTHS}\s+$", re.IGNORECASE)
_MONTH_AFTER = re.compile(rf"\s+{_MONTHS}\b", re.IGNORECASE)
_AGES = re.compile(r"\b(?:ages?|aged|old|i'?m|years)\b", re.IGNORECASE)
_AGE_AFTER = re.compile(r"\s*[- ]?(?:years?|yrs?|y/?o|months?)\b", re.IGNORECASE)
_ORDINAL_FIGURE = re.compile(
    r"(?<![\w.,/\-])(\d{1,3})(st|nd|rd|th)\b(?!\s+(?:century|centuries|of|amendment))(?<!\d{4})", re.IGNORECASE
)
_FIXED = frozenset("0 1 7 24 50 100 101 360 365 404 420 500 786 911".split())


def _edits(text: str, chance: Random) -> Iterator[Edit]:
    yield from _figures(text, chance)
    yield from _words(text, chance)
    for match in _ORDINAL_FIGURE.finditer(text):
        value = _near(int(match.group(1)), chance)
        yield Edit(*match.span(), f"{value}{_suffix(value)}")
    for match in _ROMAN.finditer(text):
        number = match.group(3).lower()
        if number in _ROMANS:
            new = chance.choice([other for other in _ROMANS[: 2 if number in {"i", "ii"} else 5] if other != number])
            yield Edit(*match.span(3), new.upper() if match.group(3).isupper() else new)


def _figures(text: str, chance: Random) -> Iterator[Edit]:
    long = len(text.split()) > LONG and "?" in text
    for match in _FIGURE.finditer(text):
        written, before, after = match.group(), text[: match.start()], text[match.end() :]
        unit = _ATTACHED.match(after)
        if (unit and unit.group().lower() not in _UNITS) or _NAMED_BEFORE.search(before):
            continue
        if _YEAR.match(written) or (written in _FIXED and not unit) or not _counts(written, before, after):
            continue
        new = changed(written, chance, far=bool(_AGE_AFTER.match(after)) or long)
        if _MONTH_BESIDE.search(before) or _MONTH_AFTER.match(after):
            new = str(chance.choice([day for day in range(1, 29) if str(day) != written]))
        too_old = _AGES.search(text) and float(new.replace(",", "")) > MAX_AGE > float(written.replace(",", ""))
        if not too_old and not re.search(rf"\b{re.escape(new)}\b", text):
            yield Edit(*match.span(), new)


def _counts(written: str, before: str, after: str) -> bool:
    """Return whether a lone 2 or 4 counts something, and is no "to" or "for" of a hasty writer."""
    if written not in {"2", "4", "8"} or not before.strip():
        return True
    return bool(
        re.match(
            r"(?:[a-z]{1,2}\b|\s?[-–]?\s?\w+(?<!s)s\b|\s+(?:feet|people|men|women|children|million|billion)|"
            r"\s*[?.)%,]|\s*$|-)",
            after,
        )
    ) and not before.rstrip().endswith((".", "?"))


def changed(written: str, chance: Random, *, far: bool = False) -> str:
    """Return another number than the one written, in the same writing; `far` is half as much again or more."""
    if "." in written:
        whole, _, part = written.partition(".")
        return f"{changed(whole, chance)}.{part}" if whole != "0" else f"0.{changed(part, chance)}"
    value = int(written.replace(",", "")[:15])
    new = _far(value, chance) if far else _near(value, chance)
    return f"{new:,}" if "," in written else str(new)


def _near(value: int, chance: Random) -> int:
    """Return a number near `value`, but clearly different: a round one moves by a fifth at least."""
    if value <= 12:
        return chance.choice([other for other in range(2, value + 4) if other != value])
    digits = str(value)
    ways: list[Callable[[int, Random], int]] = [_far]
    if digits.rstrip("0") != digits[:1] and len(digits.rstrip("0")) > 1 and value % 10:
        ways += [_other_digit, _other_digit]
    way = chance.choice(ways)
    return way(value, chance)


def _far(value: int, chance: Random) -> int:
    step: int = 10 ** max(0, len(str(value)) - 2) * (5 if value % 5 == 0 else 1)
    made = [round(value * factor / step) * step for factor in (0.3, 0.5, 0.7, 1.4, 1.5, 2, 3)]
    made += [value * 10, value // 10 if value % 10 == 0 else value * 2]
    return chance.choice([new for new in made if new > 1 and abs(new - value) * 4 >= value] or [value + 8])


def _other_digit(value: int, chance: Random) -> int:
    digits = list(str(value))
    place = chance.randrange(len(digits))
    digits[place] = chance.choice([digit for digit in "123456789" if digit != digits[place]])
    made = int("".join(digits))
    return made if value > 999 or abs(made - value) * 8 >= value else _far(value, chance)


def _suffix(value: int) -> str:
    return "th" if 10 < value % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


def _words(text: str, chance: Random) -> Iterator[Edit]:
    for match in _WORD.finditer(text):
        word, after = match.group().lower(), text[match.end() :]
        ladder = next(ladder for ladder in _LADDERS if word in ladder)
        if _VAGUE_BEFORE.search(text[: match.start()]) and ladder in (_WORDS, _TENS):
            continue
        if not _word_counts(word, ladder, text[: match.start()], after):
            continue
        others = [other for other in ladder if not re.search(rf"\b{other}\b", text, re.IGNORECASE)]
        if others:
            yield Edit(*match.span(), written_like(chance.choice(others), match.group()))


def _word_counts(word: str, ladder: list[str], before: str, after: str) -> bool:
    if ladder is _WORDS or ladder is _TENS:
        return bool(
            re.match(r"\s+(?:\w+\s+)?\w+(?<![su])s\b|\s+(?:people|children|men|women|percent|feet)\b", after)
            and not _VAGUE_BEFORE.search(before)
        )
    if word == "once":
        return bool(
            re.match(r"\s+(?:a|per|every|in a)\s+(?:day|week|month|year|hour|while\b(?!))", after)
            and not re.search(r"\b(?:at|for|more|only)\s+$", before, re.IGNORECASE)
        )
    if word == "second":
        return bool(
            re.search(r"\b(?:the|a|my|his|her|its)\s+$", before)
            and not re.match(r"\s+(?:hand|time|to|half|and|or|per)\b|\s*[?.,]|-", after)
        )
    return word not in {"single", "third"} or bool(re.search(r"\bthe\s+$", before) and word == "third")


NUMBERS = Contrast("numbers", _edits)
