"""Units: the number stays, what it counts changes."""

import re
from collections.abc import Iterator
from random import Random

from training.contrasts.edit import Contrast, Edit
from training.words import written_like

_FAMILIES = tuple(
    tuple(tuple(unit.split("/")) for unit in line.split())
    for line in """
    mg/milligram/milligrams g/gram/grams ml/millilitre/millilitres mcg/microgram/micrograms kg/kilogram/kilograms;
    kg/kilogram/kilograms/kgs lbs/pound/pounds/lbs grams/gram/grams stone/stone/stone;
    km/kilometre/kilometres/kms km/kilometer/kilometers/kms miles/mile/miles metres/metre/metres meters/meter/meters
        yards/yard/yards;
    cm/centimetre/centimetres/cms cm/centimeter/centimeters/cms mm/millimetre/millimetres inches/inch/inches
        feet/foot/feet;
    ml/millilitre/millilitres litres/litre/litres liters/liter/liters gallons/gallon/gallons ounces/ounce/ounces
        oz/ounce/ounces cups/cup/cups;
    seconds/second/seconds/secs minutes/minute/minutes/mins hours/hour/hours/hrs days/day/days weeks/week/weeks
        months/month/months years/year/years;
    dollars/dollar/dollars/usd euros/euro/euros/eur rupees/rupee/rupees/inr pounds/pound/pounds/gbp yen/yen/yen;
    kb/kilobyte/kilobytes mb/megabyte/megabytes gb/gigabyte/gigabytes tb/terabyte/terabytes;
    mph/mph/mph kmh/kmh/kmh kph/kph/kph;
    celsius/celsius/celsius fahrenheit/fahrenheit/fahrenheit kelvin/kelvin/kelvin;
    hz/hertz/hertz khz/kilohertz/kilohertz mhz/megahertz/megahertz ghz/gigahertz/gigahertz;
    w/watt/watts kw/kilowatt/kilowatts mw/megawatt/megawatts;
    volts/volt/volts amps/amp/amps watts/watt/watts;
    lakh/lakh/lakhs crore/crore/crores;
    thousand/thousand/thousands million/million/millions billion/billion/billions;
    acres/acre/acres hectares/hectare/hectares
    """.split(";")
)
_SAME = (
    {"kg", "kilogram"},
    {"km", "kilometre"},
    {"kmh", "kph"},
    {"oz", "ounce"},
    {"metre", "meter"},
    {"litre", "liter"},
)
_FORMS = {form: (family, unit) for family in _FAMILIES for unit in family for form in unit}
_NUMBER = (
    r"(?:\d[\d,]*(?:\.\d+)?|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|"
    r"twenty|thirty|fifty|hundred|few|several|couple of))"
)
_AFTER_NUMBER = re.compile(
    rf"({_NUMBER})(\s?-?\s?)({'|'.join(sorted(_FORMS, key=len, reverse=True))})\b(?!['’]s\b)", re.IGNORECASE
)
_AGED = re.compile(r"[ -]?(?:olds?|of age)\b", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d$")
_SIGN = re.compile(r"(?<![\w])[$€£₹](?=\s?\d)")
_PERIOD = re.compile(
    r"\b((?:per|each|every|once a|twice a|times a|times per|hours a|in a|within a|for a|after "
    r"a)\s+)(hour|day|week|month|year|decade)\b",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"(?<!\w)(hourly|daily|weekly|monthly|yearly|annual)\b(?!\s+(?:mail|show|beast|soaps?|bread|star|news|life))",
    re.IGNORECASE,
)
_RATES = "hourly daily weekly monthly yearly".split()
_CONVERTED = re.compile(
    r"\bin (kg|kilograms?|lbs|pounds|km|kilometers?|kilometres?|miles|cm|inches|feet|meters|metres|"
    r"celsius|fahrenheit|"
    r"dollars|usd|euros?|rupees|inr|gbp|litres|liters|gallons)\b(?=\s*\??\s*$)",
    re.IGNORECASE,
)


def _edits(text: str, chance: Random) -> Iterator[Edit]:
    for match in _AFTER_NUMBER.finditer(text):
        start = match.start(1)
        if _AGED.match(text[match.end() :]) or (_YEAR.match(match.group(1)) and match.group(3)[0].isupper()):
            continue
        if text[start - 1 : start].isalnum() or (match.group(3).lower() == "second" and match.group(2) != " "):
            continue
        new = _other(match.group(3), chance, text)
        if new:
            yield Edit(*match.span(3), new)
    for match in _SIGN.finditer(text):
        yield Edit(*match.span(), chance.choice([sign for sign in "$€£₹" if sign != match.group()]))
    for match in _PERIOD.finditer(text):
        periods = [one for one in ("hour", "day", "week", "month", "year") if one != match.group(2).lower()]
        yield Edit(*match.span(2), written_like(chance.choice(periods), match.group(2)))
    for match in _RATE.finditer(text):
        rates = [
            rate
            for rate in _RATES
            if rate != match.group().lower() and {rate, match.group().lower()} != {"yearly", "annual"}
        ]
        yield Edit(*match.span(), written_like(chance.choice(rates), match.group()))
    for match in _CONVERTED.finditer(text):
        new = _other(match.group(1), chance, text)
        if new:
            yield Edit(*match.span(1), new)


def _other(written: str, chance: Random, text: str) -> str | None:
    """Return another unit of the family, in the form of the one written: short, one, or many."""
    family, unit = _FORMS[written.lower()]
    place = unit.index(written.lower())
    others = [
        other
        for other in family
        if other[0] != unit[0] and other[1] != unit[1] and not _same(unit, other) and not _stands(other, text)
    ]
    if not others:
        return None
    at = [one[0] for one in family].index(unit[0])
    near = [
        other
        for other in others
        if abs([one[0] for one in family].index(other[0]) - at) <= (2 if family[0][0] == "seconds" else 9)
    ]
    other = chance.choice(near or others)
    if other[0].endswith("hz") and written.lower() == unit[0]:
        return other[0] if written.islower() else other[0][:-2].upper() + "Hz"
    place = min(place, len(other) - 1)
    if written.lower() == unit[2] and written.lower() != unit[1]:
        place = 2
    elif written.lower() == unit[1] and unit[1] != unit[2]:
        place = 1
    return written_like(other[place], written)


def _same(unit: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return any(both & set(unit) and both & set(other) for both in _SAME)


def _stands(unit: tuple[str, ...], text: str) -> bool:
    return any(re.search(rf"(?<![a-z]){form}\b", text, re.IGNORECASE) for form in unit)


UNITS = Contrast("units", _edits)
