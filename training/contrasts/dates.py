"""Times: another year, decade, century, month, weekday, season; after for before, next for last, tomorrow for today."""

import re
from collections.abc import Iterator
from random import Random

from training.contrasts.edit import Contrast, Edit
from training.words import written_like

_MONTHS = "january february march april may june july august september october november december".split()
_SHORT_MONTHS = "jan feb mar apr jun jul aug sept oct nov dec".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SEASONS = "spring summer autumn winter".split()
_DAYTIMES = "morning afternoon evening night".split()
_YEAR = re.compile(
    r"(?<![\w.,$£€#/\-])(1[5-9]\d\d|20[0-4]\d)(?![\w%,]\d|[/\-.]\d|-|\w|\s?(?:notes?|bills?|rs|"
    r"currency|rupees?|['’]?s\b|mg|km|kg|miles|people|men|rupees|dollars|calories|watts|hours|feet|"
    r"m\b))"
)
_MONEY_BEFORE = re.compile(r"(?:\brs\.?|₹|\$|\busd|\binr|\bof|\babout|\bover|\bunder|\bthan)\s*$", re.IGNORECASE)
_DECADE = re.compile(r"(?<!\w)(1[5-9]|20)?([0-9])0(?='?s\b)")
_CENTURY = re.compile(r"(?<!\w)(\d{1,2})(?:st|nd|rd|th)(?=[ -]centur(?:y|ies)\b)", re.IGNORECASE)
_MONTH = re.compile(
    rf"\b(?:{'|'.join(month for month in _MONTHS if month not in ('may', 'march'))})\b|"
    r"(?:(?<=\bin )|(?<=\bof )|(?<=\d ))(?:may|march)\b(?!\s+(?:be|have|not|i|it))|"
    r"\b(?:may|march)(?=\s+\d)|"
    rf"\b(?:{'|'.join(_SHORT_MONTHS)})(?=\.?\s+\d)",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    rf"(?<!black )(?<!man )(?<!cyber )(?<!bloody )(?<!good )\b({'|'.join(_WEEKDAYS)})(?=s?\b(?!\s+the 13))",
    re.IGNORECASE,
)
_SEASON = re.compile(
    r"(?:(?<=\bin )|(?<=\bthe )|(?<=\bthis )|(?<=\bfor )|(?<=\bduring ))(summer|winter|autumn)\b|\b(summer|winter)\b",
    re.IGNORECASE,
)
_DAYTIME = re.compile(
    r"(?<=\bin the )(morning|afternoon|evening)\b|(?<=\bat )night\b|\b(morning)(?=\s+(?:sickness|run|"
    r"walk|routine|shift))",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?<!look )(?<!looking )(?<!looks )(?<!looked )(?<!take )(?<!takes )(?<!named )(?<!year )(?<!day "
    r")(?<!go )(?<!going )(?<!run )(?<!running )"
    r"(?<!again and )(?<!ever )(?<!hours )(?<!soon )(?<!called )(?<!shortly )(?<!immediately "
    r")(?<!life )(?<!week )(?<!month )(?<!month )(?<!time )"
    r"(?<!-)\bafter\b(?!\s+(?:\d|all\b|that|effects?|an?|some|few|tomorrow|this|shave|so|wards?)\b)(?!-|"
    r"\s*[?.,])",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?<!ever )(?<!never )(?<!day )(?<!soon )(?<!long )(?<!-)(?<!than )(?<!like )(?<!as "
    r")\bbefore\b(?!\s+(?:and|or|yesterday|that|long|it's|i|you|too)\b)(?!-|\s*[?.,!]|\s*$)",
    re.IGNORECASE,
)
_LAST = re.compile(
    r"\b(last|next|previous|coming|upcoming|past|this)(?=\s+(?:week|month|year|night|weekend|summer|"
    r"winter|spring|quarter|season|"
    rf"semester|election|decade|century|{'|'.join(_WEEKDAYS)})s?\b)",
    re.IGNORECASE,
)
_TODAY = re.compile(r"\b(today|tomorrow|yesterday|tonight)('?s?)\b(?=\s*[?.!]*\s*$|\s+(?:in|at)\b|'s)", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:did|was|were|had|happened|won|died|got|came|went|made|said|started|lost|\w+ed)\b", re.IGNORECASE
)
_FUTURE = re.compile(r"\b(?:will|shall|going to|is|are|can|should|tomorrow|gonna|do|does|be)\b", re.IGNORECASE)
_NOWADAYS = re.compile(
    r"\b(?:still|why|today's (?:world|society|generation|youth|life|time|age)|become|became|have|has|we)\b",
    re.IGNORECASE,
)
_NIGHT = re.compile(r"\s+night", re.IGNORECASE)


def _edits(text: str, chance: Random) -> Iterator[Edit]:
    for match in _YEAR.finditer(text):
        if _MONEY_BEFORE.search(text[: match.start()]):
            continue
        year = int(match.group(1))
        others = [year + step for step in (-10, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 10)]
        yield Edit(*match.span(), str(chance.choice([other for other in others if str(other) not in text])))
    for match in _DECADE.finditer(text):
        tens = [digit for digit in ("0123456789" if match.group(1) else "456789") if digit != match.group(2)]
        yield Edit(match.start(2), match.end(2), chance.choice(tens))
    for match in _CENTURY.finditer(text):
        number = int(match.group(1))
        other = chance.choice([n for n in (number - 2, number - 1, number + 1) if 0 < n < 22] or [number + 1])
        yield Edit(
            *match.span(), f"{other}{'th' if 10 < other < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(other % 10, 'th')}"
        )
    for pattern, ladder in ((_MONTH, _MONTHS), (_WEEKDAY, _WEEKDAYS), (_SEASON, _SEASONS), (_DAYTIME, _DAYTIMES)):
        for match in pattern.finditer(text):
            yield from _rung(match, ladder, text, chance)
    yield from _sides(text, chance)


def _rung(match: re.Match[str], ladder: list[str], text: str, chance: Random) -> Iterator[Edit]:
    word = match.group().lower()
    if word not in ladder:
        ladder = _SHORT_MONTHS
    if ladder is _DAYTIMES:
        ladder = ["morning", "afternoon", "evening"] if word != "night" else ["noon", "dawn"]
    others = [other for other in ladder if other != word and other not in text.lower()]
    if others and word[:3] != "sep":
        yield Edit(*match.span(), written_like(chance.choice(others), match.group()))


def _sides(text: str, chance: Random) -> Iterator[Edit]:
    low = text.lower()
    if not ("before" in low and "after" in low):
        for pattern, other in ((_AFTER, "before"), (_BEFORE, "after")):
            for match in pattern.finditer(text):
                yield Edit(*match.span(), written_like(other, match.group()))
    for match in _LAST.finditer(text):
        word = match.group().lower()
        if not _NIGHT.match(text[match.end() :]):
            past = bool(_PAST.search(text))
            new = {"next": "last", "coming": "last", "upcoming": "previous", "this": "last" if past else "next"}.get(
                word, "next"
            )
            yield Edit(*match.span(), written_like(new, match.group()))
    for match in _TODAY.finditer("" if _NOWADAYS.search(text) else text):
        days = (
            ["yesterday"] if _PAST.search(text) else ["tomorrow"] if _FUTURE.search(text) else ["yesterday", "tomorrow"]
        )
        days = [day for day in [*days, "today"] if day != match.group(1).lower()]
        yield Edit(*match.span(1), written_like(chance.choice(days), match.group(1)))


DATES = Contrast("dates", _edits)
