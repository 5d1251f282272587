"""Number in a quotation, as it is written there: sign, range, exact unit, whether it is approximate, and its year.

Figures are compared across sources, so whatever makes a number another quantity (a change, a rate, a bound, a forecast,
another statistic) makes it another unit, or no number at all.
"""

import re
from decimal import Decimal
from types import MappingProxyType

from msgspec import Struct

from harness.core.equivalence.lexicon import MULTIPLIERS, UNITS
from harness.core.text import stems

MAX_NUMBER = 10**15
"""Larger numbers have more digits than a JSON number keeps."""
MAX_UNIT = 40
MAX_QUOTATION = 1_000
"""Characters; a longer quotation is no statement of one number."""
CONTEXT = 80
"""Characters before a number that say what it is."""

_SCALE = rf"(?:\s?(?:{'|'.join(sorted(MULTIPLIERS, key=len, reverse=True))})\b)"
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_NUMBER = re.compile(
    rf"(?P<before>(?:(?<![\w.])[A-Z]{{1,3}})?[$€£₹¥]\s?)?(?<![\w.,'’/^])(?P<digits>{_DIGITS})(?![.,'’/^]?\d|[\s\u00a0]\d{{3}}\b)"
    rf"(?P<scale>{_SCALE})?",
    re.IGNORECASE,
)
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_RANGE = re.compile(
    rf"(?P<between>\bbetween\s)?(?<![\w.,$€£₹¥-])(?P<sign>[$€£₹¥]?)(?P<low>{_DIGITS})(?P<own>{_SCALE}?)"
    rf"(?:(?(between)\sand\s|(?:\s?[-–]\s?|\sto\s)))[$€£₹¥]?(?P<high>{_DIGITS})(?P<scale>{_SCALE}?)"
    rf"(?P<unit>\s?(?:{_UNIT})(?!\w))?(?![\w.,]?\d)",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|close to|just (?:over|under)"
    r"|(?:an )?estimated(?: at)?)|\bca?\.|[~≈])\s*(?:an?\s)?[$€£₹¥]?$",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:not|never|no longer|\w+n['’]t|project\w*|forecast\w*|predict\w*|expect\w*|will|would|target\w*|goal"
    r"|plan(?:s|ned)?|aim(?:s|ed)?|(?-i:may)|might|could|should|if|unless|claim\w*|rumou?r\w*|half|twice|double"
    r"|(?-i:times))\b|\?",
    re.IGNORECASE,
)
"""Forecasts, denials, claims and multiples; not May, a month, or the Times, a newspaper."""
_CHANGES = re.compile(
    r"\b(?:increased|increasing|decreased|grew|grown|declined|dropped|risen|rises|rose|fell|fallen|gained|lost|changed"
    r"|reduced|climbed|soared|jumped|surged|shrank|shrunk|contracted|more|less|fewer|higher|lower|up|down)\b"
)
_CHANGE = re.compile(
    r"\b(?:increase|decrease|growth|decline|drop|rise|fall|gain|loss|change|reduction|deficit|difference)s?\b"
)
_STATED = re.compile(
    r"\b(?:is|was|were|are|to|at|has|had|have|reached|reaches|reaching|totall?ed|stood at|population of)\s*$"
)
"""Words between a verb of change and a number that is not the change."""
_COMPARED = re.compile(
    r"[^.,;]{0,25}\b(?:more|less|fewer|higher|lower|longer|shorter|larger|smaller|taller|older|younger|faster|slower)\b"
)
_PER_CENT = re.compile(r"\bper cent\b", re.IGNORECASE)
_BELOW = re.compile(r"\bbelow (?:zero|freezing|(?:the )?sea|ground)\b|\bunderground\b")
_MINUS = re.compile(r"(?:(?<![\w.,)%])([-\u2212])|\b(?:minus|negative)\s)[$€£₹¥]?$", re.IGNORECASE)
_DASH = re.compile(r"[-\u2010-\u2015\u2212][$€£₹¥]?$")
_POWER = re.compile(r"\s?[^\W\d_]{1,12}\s?\^?([23²³])(?!\w|[.,]\d)")
_RATE = re.compile(
    r"[\s-]?(?:%|(?!(?:in|at|on|by|of|for|as|and)\b)[^\W\d_]+[23²³]?)?\s?(?:/\s?|\b(?:per|an?|each|every)\s)"
    r"(\d* ?[^\W\d_]+)"
)
_OFTEN = re.compile(r"\s?(?:[^\W\d_]+\s)?(annually|yearly|monthly|weekly|daily|hourly)\b")
_SHARE = re.compile(r"\s?(?:%|percent\w*|pct)\s+of\s+(?:(?:the|all|its|their|total)\s)*([^\W\d_]+)")
_NOUN = re.compile(r"[\s-]?((?:square|cubic|metric|nautical|imperial|short|long|light)[\s-])?([^\W\d_]+)")
_SHORT = MappingProxyType({"celsius": "°C", "fahrenheit": "°F", "kmh": "km/hour", "h": "hour", "s": "second"})
_TON = re.compile(r"\s?(tonne|ton)")
_STATISTIC = re.compile(
    r"\b(average|mean|median|minimum|maximum|lowest|highest|peak|record|male|female|men|women|boys|girls|urban|rural"
    r"|metropolitan|metro|nominal|real|gross|net|per capita|annual|monthly|daily|adults?|children)\b"
)
_PEOPLE = frozenset(stems("people inhabitants residents persons citizens total"))
_EVENT = re.compile(
    r"\b(?:found|establish|built|build|born|publish|releas|open|creat|elect|book|article|paper|stud(?:y|ies)|report|since"
    r"|until|than|compared|began|begun|start|end(?:ed|ing)|discover|complet|join|became|moved)\w*"
)
"""Words beside which a year is rather that of something else."""
_OPENING = (
    r"^(?:in|by|as of|as at|during|for|at the end of|at the start of)\s(?:the year\s)?(?:[a-z]+\s)?(?:\d{1,2},?\s)?"
)
_BETWEEN = r"(?:[^,;\d]|(?<=[a-z])[23](?!\d)){0,60}"
"""Words between a number and its year."""


class QuotedNumber(Struct, frozen=True):
    """Number of a quotation: its value, the upper end if it is a range, and its unit, which includes what it is a rate
    or share of.
    """

    value: Decimal
    high: Decimal | None
    about: bool
    unit: str
    start: int
    end: int


def without_ranges(text: str) -> tuple[str, str]:
    """Return a quotation with its range replaced by the lower end, and by the upper end; twice itself if it has not
    exactly one. Two years are no range, nor are numbers without a unit, except with "between".
    """
    text = _PER_CENT.sub("percent", text)
    if len(text) > MAX_QUOTATION:
        return text, text
    found = [each for each in _RANGE.finditer(text) if each["between"] or each["unit"] or each["scale"]]
    if len(found) != 1 or _is_span(found[0]):
        return text, text
    (match,) = found
    low, high = (
        f"{text[: match.start()]}{match['sign']}{digits}{scale}{match['unit'] or ''}{text[match.end() :]}"
        for digits, scale in ((match["low"], match["own"] or match["scale"]), (match["high"], match["scale"]))
    )
    return low, high


def _is_span(match: re.Match[str]) -> bool:
    years = all(re.fullmatch(r"1\d{3}|2[01]\d{2}", match[end]) for end in ("low", "high"))
    return (years and not match["unit"]) or _decimal(match["low"], match["own"] or match["scale"]) >= _decimal(
        match["high"], match["scale"]
    )


def quoted_number(
    question: str, texts: tuple[str, str], ends: tuple[Decimal, Decimal], unit: str
) -> QuotedNumber | None:
    """Return the number of a quotation, given without its range (see `without_ranges`) as read, of this unit; `None` if
    it is not written once in digits, or if it is a change, a forecast, a bound or a claim.
    """
    low, high = (_written(question, text, value, unit) for text, value in zip(texts, ends, strict=True))
    if low is None or high is None or low.unit != high.unit:
        return None
    if texts[0] == texts[1]:
        return low
    if low.value < 0 or low.value >= high.value:
        return None
    return QuotedNumber(low.value, high.value, low.about, low.unit, low.start, low.end)


def _written(question: str, text: str, value: Decimal, unit: str) -> QuotedNumber | None:
    asked = stems(question)
    is_exact = value < MAX_NUMBER and Decimal(repr(float(value))) == value
    if len(text) > MAX_QUOTATION or not is_exact or _UNSURE.search(text) or _BELOW.search(text.lower()):
        return None
    if any(stems(each) - asked for each in _CHANGE.findall(text.lower())):
        return None
    matches = _NUMBER.finditer(text)
    found = [_number(text, each, unit, asked) for each in matches if _decimal(each["digits"], each["scale"]) == value]
    first = found[0] if found else None
    if first is None or any(each is None or (each.value, each.unit) != (first.value, first.unit) for each in found):
        return None
    return first


def _decimal(digits: str, scale: str | None) -> Decimal:
    return Decimal(digits.replace(",", "")) * MULTIPLIERS.get((scale or "").strip().lower(), 1)


def _number(text: str, match: re.Match[str], unit: str, asked: set[str]) -> QuotedNumber | None:
    before, after = text[max(0, match.start() - CONTEXT) : match.start()], text[match.end() :]
    currency = "".join((match["before"] or "").split())
    value = _decimal(match["digits"], match["scale"])
    if _MINUS.search(before):
        value = -value
    elif _DASH.search(before):
        return None  # a range, or a sign that may be a dash
    if currency and UNITS.get(currency[-1]) != unit:
        return None
    about = _ABOUT.search(before)
    stated = before[: about.start()] if about else before
    if _COMPARED.match(after) or (_CHANGES.search(text.lower()) and not _STATED.search(stated.lower())):
        return None
    exact = _exact_unit(unit, currency, after[:MAX_UNIT].lower(), asked)
    statistics = sorted({each for each in _STATISTIC.findall(text.lower()) if stems(each) - asked})
    named = ", ".join(filter(None, [exact, *statistics]))
    return QuotedNumber(value, None, about is not None, named, match.start(), match.end())


def _exact_unit(unit: str, currency: str, after: str, asked: set[str]) -> str:
    """Return a unit that two numbers share only if they can be compared: with its power, and what it is per or of."""
    exact = currency if len(currency) > 1 and currency.upper() != "US$" else _SHORT.get(unit, unit)
    if unit == "ton" and (ton := _TON.match(after)):
        exact = ton[1]
    if not unit and (noun := _NOUN.match(after)):
        kind, word = noun[1] or "", noun[2]
        if kind or stems(word) - asked - _PEOPLE:
            exact = f"{kind.strip(' -')} {UNITS.get(word, word)}".strip()
    elif power := _POWER.match(after):
        exact += {"2": "²", "3": "³"}.get(power[1], power[1])
    if rate := _RATE.match(after) or _OFTEN.match(after):
        exact += f"/{_SHORT.get(rate[1]) or UNITS.get(rate[1], rate[1])}"
    if unit == "%" and (share := _SHARE.match(after)) and stems(share[1]) - asked:
        exact += f" of {share[1]}"
    return exact


def year_of(text: str, number: QuotedNumber, year: str) -> bool:
    """Return whether a quotation gives its number for this year: "In 1990, it was 5", "5 in 1990", "the 1990 census
    counted 5". A year of something else, as of a book, does not count.
    """
    if _EVENT.search(text.lower()):
        return False
    return any(
        re.search(pattern, part, re.IGNORECASE)
        for pattern, part in (
            (rf"{_OPENING}{year}\b", text),
            (rf"\b{year}(?: (?:census|survey)(?: of \w+)?,)?{_BETWEEN}$", text[: number.start]),
            (rf"^{_BETWEEN}\b{year}\b", text[number.end :]),
        )
    )
