"""Numbers as words and as digits, signs of units and their names."""

import re
from collections.abc import Callable
from random import Random

_SMALL = dict(
    enumerate("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split())
) | {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety",
     100: "one hundred", 1000: "one thousand"}  # fmt: skip
_VALUES = {word: number for number, word in _SMALL.items() if number > 1}
_ORDINALS = dict(
    zip(
        "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th 13th 15th 18th 19th 20th 21st".split(),
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fifteenth "
        "eighteenth nineteenth twentieth twenty-first".split(),
        strict=True,
    )
)
_FROM_ORDINAL = {word: digits for digits, word in _ORDINALS.items()}
_NAMING = frozenset(
    """
    type class chapter part version level grade step phase stage season episode section article unit room number no day
    week tier python windows iphone galaxy note moto age top page question volume year month track war area formula rs
    rs. inr than route highway january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec jan. feb. mar. apr. jun. jul. aug. sep. sept. oct. nov. dec.
    """.split()
)
"""After these a number is a name or a part of a date."""
_COUNTED = (
    r"(?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|people|men|women|children|kids|times|things|ways|words"
    r"|questions|books|dogs|cats|cars|countries|states|types|kinds|parts|steps|sides|eyes|legs|hands|feet|miles"
    r"|kilometers|pounds|dollars|rupees|lakhs?|crores?|million|billion|thousand|hundred|players|persons|pages|cups"
    r"|pills|tablets|drops|babies|sisters|brothers|sons|daughters|friends|numbers|languages|planets|stars|wheels"
    r"|cities|examples|reasons|tips|major|main|different|most|best|sentences|teams|points|courses|subjects|accounts"
    r"|phones|letters|colors|colours|sets|ships|islands|members|seats|rounds|games|matches|goals|songs|albums|films)"
)
_SINGULAR = (
    r"(?:year|month|week|day|hour|minute|lakh|crore|million|billion|thousand|hundred|mile|dollar|pound|cup|liter)"
)
_UNITS = tuple(
    (pair.split("/")[0], pair.split("/")[1])
    for pair in """
    km/kilometers km/kilometres kms/kilometers kg/kilograms kg/kilos kgs/kilograms cm/centimeters cm/centimetres
    mm/millimeters mg/milligrams ml/milliliters ml/millilitres lbs/pounds lb/pounds hrs/hours hr/hours mins/minutes
    min/minutes yrs/years yr/years gb/gigabytes mb/megabytes tb/terabytes ft/feet mph/miles-per-hour secs/seconds
    sec/seconds wks/weeks yo/years-old y/o/years-old
    """.replace("y/o/years-old", "").split()
)
_FACTORS = {"thousand": 10**3, "million": 10**6, "billion": 10**9}


class NumberWords:
    """Writes one number another way: 2 and two, 1st and first, 50% and 50 percent, 1000 and 1,000, $5 and 5 dollars,
    5 km and 5 kilometers. Numbers that name (type 2, Windows 7, page 3) stay.
    """

    name = "number words"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        found = [(match, write) for pattern, write in _RULES for match in pattern.finditer(text)]
        for match, write in chance.sample(found, len(found)):
            written = write(match, chance)
            if written is None:
                continue
            if match[0][:1].isupper() and match.start() == 0:
                written = written[:1].upper() + written[1:]
            varied = text[: match.start()] + written + text[match.end() :]
            if varied != text:
                return varied
        return None


Writer = Callable[[re.Match[str], Random], str | None]


def _is_named(found: re.Match[str]) -> bool:
    before = found.string[: found.start()].rstrip().rsplit(None, 1)
    return bool(before) and before[-1].lower() in _NAMING


def _in_words(found: re.Match[str], _chance: Random) -> str | None:
    number = int(found[0])
    if _is_named(found):
        return None
    if number == 1:
        return "one" if re.match(rf" {_SINGULAR}\b", found.string[found.end() :]) else None
    return _SMALL.get(number)


def _ordinal(found: re.Match[str], _chance: Random) -> str | None:
    return None if _is_named(found) else _ORDINALS[found[0].lower()]


def _grouped(found: re.Match[str], _chance: Random) -> str | None:
    before = found.string[: found.start()].split()
    if len(before) > 1 and before[-1][:1].isupper() and before[-1] not in {"Rs", "Rs.", "INR", "I"}:
        return None
    return f"{int(found[0]):,}" if not 1000 <= int(found[0]) <= 2200 or len(found[0]) > 4 else None


def _grouped_if_amount(found: re.Match[str], _chance: Random) -> str:
    return f"{int(found[1]):,} {found[2]}"


def _dollars(found: re.Match[str], chance: Random) -> str:
    unit = chance.choice(["dollars", "dollars", "USD", "bucks"])
    return f"{found[1]}{found[2] or ''} {unit if found[1] != '1' or unit == 'USD' else 'dollar'}"


def _scaled(found: re.Match[str], _chance: Random) -> str:
    return f"{int(found[1]) * _FACTORS[found[2].lower()]:,}"


def _unscaled(found: re.Match[str], _chance: Random) -> str | None:
    number = int(found[0].replace(",", ""))
    for word, factor in reversed(_FACTORS.items()):
        if number % factor == 0 and number // factor < 1000:
            return f"{number // factor} {word}"
    return None


def _unit(new: str, singular: bool) -> Writer:
    def write(found: re.Match[str], chance: Random) -> str:
        name = new.removesuffix("s") if singular and found[1] == "1" and new != "feet" else new.replace("-", " ")
        glue = "" if len(new) <= 2 and chance.random() < 0.4 else " "
        return found[1] + glue + name

    return write


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_MILLIONS = r"(?:million|billion|trillion|thousand)"
_ALONE = r"(?<![\w.,$£€₹#/:-])"
_RULES: tuple[tuple[re.Pattern[str], Writer], ...] = (
    (_pattern(rf"{_ALONE}(?:\d|1\d|[2-9]0|100)(?= {_COUNTED}\b)"), _in_words),
    (
        _pattern(rf"\b(?:{'|'.join(_VALUES)})(?= {_COUNTED}\b)"),
        lambda found, _chance: str(_VALUES[found[0].lower()]) if found[0][0].islower() or found.start() == 0 else None,
    ),
    (_pattern(rf"\bone(?= {_SINGULAR}\b)"), lambda _found, _chance: "1"),
    (_pattern(rf"{_ALONE}(?:{'|'.join(_ORDINALS)})(?= [a-z])"), _ordinal),
    (
        re.compile(rf"(?<=\bthe |\bmy  |\bhis )(?:{'|'.join(word for word in _FROM_ORDINAL)})"
                   r"(?= (?:year|time|day|month|week|century|trimester|place|round|season|person"
                   r"|grade|half|quarter|edition|semester|trip|job|phone|car|president|son|daughter"
                   r"|wife|husband|book|child|world|film|album|match|game|man|woman)\b)"),
        lambda found, _chance: _FROM_ORDINAL[found[0]],
    ),
    (_pattern(r"(?<=\d)\s?%(?!\w)"), lambda _found, chance: chance.choice([" percent", " percent", " per cent", " %"])),
    (_pattern(r"(?<=\d)\s(?:percent|per cent)\b(?! points?)"), lambda _found, _chance: "%"),
    (re.compile(rf"(?<!no\. )(?<!\b[A-Z] ){_ALONE}[1-9]\d{{3,8}}(?= [a-z])(?!,|-|\.\d)"), _grouped),
    (re.compile(rf"{_ALONE}(1[0-9]00|2000) (dollars|rupees|calories|miles|words|people|kg|km)\b"), _grouped_if_amount),
    (re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d.,]*\d)"), lambda found, _chance: found[0].replace(",", "")),
    (re.compile(rf"(?<!\w)\$\s?(\d[\d,]*(?:\.\d\d)?)( {_MILLIONS})?(?![\w.,]*\d)(?![kKmMbB]\b)(?! ?{_MILLIONS})(?!/)"),
     _dollars),
    (_pattern(r"(?<![\w.,$])(\d[\d,]*) (?:dollars|USD|bucks)\b"), lambda found, _chance: f"${found[1]}"),
    (_pattern(rf"{_ALONE}(\d{{1,3}}) (thousand|million|billion)\b(?! of)"), _scaled),
    (re.compile(r"(?<![\w.,$])\d{1,3}(?:,000)+(?![\d.,]*\d)(?! (?:dollars|to|-))"), _unscaled),
    (_pattern(rf"{_ALONE}(\d+)k\b(?= (?:rupees|dollars|per|followers|views|users|people|inr|usd|a year|a month))"),
     lambda found, _chance: f"{int(found[1]) * 1000:,}"),
    *((_pattern(rf"{_ALONE}(\d+(?:\.\d+)?)\s?{short}\b(?![/-]|\d)"), _unit(name, True)) for short, name in _UNITS),
    *((_pattern(rf"{_ALONE}(\d+(?:\.\d+)?) {name}\b"), _unit(short, False))
      for short, name in _UNITS if "-" not in name and short not in {"min", "sec", "yr", "hr", "lb", "gb", "mb", "tb"}),
)  # fmt: skip
