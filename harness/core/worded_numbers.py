"""Numbers in words: half, a third, two dozen, twice, the nineteenth century, the 1840s; in digits, to compare texts."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from types import MappingProxyType

from harness.core.equivalence.reading import MAX_CHARS

_COUNTS = MappingProxyType(
    {word: count for count, word in enumerate("one two three four five six seven eight nine ten".split(), start=1)}
)
_TEENS = "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_PLACES = "first second third fourth fifth sixth seventh eighth ninth tenth".split()


def _words() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each number from 11 to 99 with its words."""
    for teen, word in enumerate(_TEENS, start=11):
        yield str(teen), (word, "twelfth" if word == "twelve" else f"{word}th")
    for ten, word in enumerate(_TENS, start=2):
        yield f"{ten}0", (word, f"{word[:-1]}ieth")
        for unit, (count, place) in enumerate(zip(_COUNTS, _PLACES[:9], strict=False), start=1):
            yield f"{ten}{unit}", (f"{word}-{count}", f"{word}-{place}")


_WORDS = MappingProxyType(dict(_words()))
_PARTS = MappingProxyType({"half": 2, "quarter": 4} | {part: of for of, part in enumerate(_PLACES[2:], start=3)})
_WHOLES = MappingProxyType(
    {
        "minute": (60, "seconds"), "hour": (60, "minutes"), "day": (24, "hours"), "year": (12, "months"),
        "decade": (10, "years"), "century": (100, "years"), "dozen": (12, ""), "million": (10**6, ""),
        "billion": (10**9, ""),
    }
)  # fmt: skip
"""Wholes of which there are halves and quarters, in smaller units."""
_CENTURIES = MappingProxyType({_WORDS[str(century)][1]: century for century in range(11, 22)})
_STAGES = MappingProxyType(
    {"early": (0, 0.4), "first half": (0, 0.5), "mid": (0.3, 0.7), "second half": (0.5, 1), "late": (0.6, 1)}
)
"""Stages of a century or decade, as shares of it."""

_COUNT = rf"(?:{'|'.join(_COUNTS)}|\d{{1,3}})"
_PART = "|".join(_PARTS)
_OF_WHOLE = re.compile(
    rf"\b(?:(?P<count>an?|{_COUNT})[ -])?(?P<part>{_PART})s? (?:of )?an? (?P<whole>{'|'.join(_WHOLES)})\b",
    re.IGNORECASE,
)
_AND_A_HALF = re.compile(
    rf"\b(?P<count>{_COUNT}) and a half\b|\ban? (?P<unit>minute|hour|day|week|month|year|decade) and a half\b",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"(?<!first )(?<!second )(?<!other )(?<!latter )(?<!former )(?<!and )(?<!and a )(?<!each )(?<!this )(?<!either )"
    r"(?:\b(?:(?:an?|one|the)[ -])?half(?= (?:of|the|its|their|his|her|our|all|these|those|as)\b)"
    r"|\b(?P<near>about|around|almost|nearly|roughly|over|than|least|most|by) half\b(?!-))",
    re.IGNORECASE,
)
_THIRD = re.compile(
    rf"\b(?:(?P<one>an?|one|1)[ -](?P<part>{_PART})(?= (?:of|more|less|fewer|as)\b|[,;:)]|[.!?](?:\s|$)|$)"
    rf"|(?P<count>{_COUNT})[ -](?P<parts>{_PART})s\b(?! (?:of \d|in|running|later|earlier|ago|after|before)\b)"
    rf"|(?:one|1) in (?P<in>{_COUNT})\b(?! (?:thousand|million)))",
    re.IGNORECASE,
)
_DOZEN = re.compile(rf"\b(?P<count>an?|{_COUNT}) dozen\b", re.IGNORECASE)
_TIMES = re.compile(r"\b(?:(?P<two>twice|two-?fold|2-fold)|thrice|three-?fold|3-fold)(?!\w)", re.IGNORECASE)
_ONCE = re.compile(r"\bonce\b", re.IGNORECASE)
_GROWS = re.compile(r"\b(?:(?P<two>doubled|doubles|doubling)|(?:tripl|trebl)(?:ed|es|ing))\b", re.IGNORECASE)
_MULTIPLE = re.compile(rf"\b{_COUNT} times\b", re.IGNORECASE)
_PERCENT = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{1,4})?)\s?(?:%|per ?cent\b|pct\b)", re.IGNORECASE)
_STAGE = r"(?:(?P<stage>early|mid|late|(?:first|second) half of the)[ -])?"
_CENTURY = re.compile(
    rf"\b{_STAGE}(?:(?P<word>{'|'.join(_CENTURIES).replace('-', '[ -]')})|(?P<number>1[1-9]|2[01])(?:st|nd|rd|th))"
    r"[ -]century\b(?! bc)",
    re.IGNORECASE,
)
_DECADE = re.compile(rf"\b{_STAGE}(?P<decade>1\d\d0|20\d0)['’]?s\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.,])(?P<year>1\d{3}|20\d\d)(?P<decade>['’]?s)?\b")
_WORDED = re.compile(
    r"half|quarter|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|(?:one|1) in |dozen|twice|thrice|fold"
    r"|bl(?:ed|es|ing)\b|century|\d0['’]?s\b",
    re.IGNORECASE,
)
"""Words that a text must have to be changed."""


def words_of(number: str) -> tuple[str, ...]:
    """Return the words for a number from 11 to 99, and for its place in an order: twenty-one, twenty-first; nothing
    for any other text. Never raises.
    """
    return _WORDS.get(number, ())


def in_digits(sentence: str, quotation: str) -> tuple[str, str]:
    """Return both texts with fractions, dozens and multiples in digits, to be compared ("half" is "50 %"). A fraction
    is the percentage of either text that it rounds, if there is one ("a third" is "33.3 %"). A century or decade of the
    sentence is the year or decade of the quotation that lies in it: a sentence may be less exact than its quotation. In
    other languages, without such words, or too long to be read, the texts are as they were. Never raises.
    """
    if max(len(sentence), len(quotation)) > MAX_CHARS or not (_WORDED.search(sentence) or _WORDED.search(quotation)):
        return sentence, quotation
    percentages = [found[1] for text in (sentence, quotation) for found in _PERCENT.finditer(text)]
    said, quoted = (_counted(text, percentages) for text in (sentence, quotation))
    if not any(_ONCE.search(text) for text in (said, quoted)):  # "once" and "twice" are opposites by their words
        said, quoted = (_TIMES.sub(_multiple, text) for text in (said, quoted))
    if (_GROWS.search(said) and _MULTIPLE.search(quoted)) or (_MULTIPLE.search(said) and _GROWS.search(quoted)):
        said, quoted = (_GROWS.sub(_multiple, text) for text in (said, quoted))
    years = [(int(found["year"]), found[0]) for found in _YEAR.finditer(quoted)]
    for period in (_CENTURY, _DECADE):
        said = period.sub(lambda found: _year_within(found, years), said)
    return said, quoted


def years_of_decades(sentence: str, quotation: str) -> set[str]:
    """Return the years of the sentence of which the quotation only has the decade (1840 of "the 1840s")."""
    said, quoted = (
        {found["year"] for found in _YEAR.finditer(text) if not found["decade"]} for text in (sentence, quotation)
    )
    return said & {found["decade"] for found in _DECADE.finditer(quotation)} - quoted


def _counted(text: str, percentages: Sequence[str]) -> str:
    text = _OF_WHOLE.sub(_of_whole, text)
    text = _AND_A_HALF.sub(_and_a_half, text)
    text = _HALF.sub(lambda found: f"{found['near'] or ''} {_share(Fraction(1, 2), percentages)}".lstrip(), text)
    text = _THIRD.sub(lambda found: _share(_fraction(found), percentages), text)
    return _DOZEN.sub(lambda found: str(12 * _count(found["count"])), text)


def _of_whole(found: re.Match[str]) -> str:
    count, unit = _WHOLES[found["whole"].lower()]
    value = Fraction(_count(found["count"] or "a"), _PARTS[found["part"].lower()]) * count
    return f"{value} {unit}".rstrip() if value.denominator == 1 else found[0]


def _and_a_half(found: re.Match[str]) -> str:
    return f"{_count(found['count'])}.5" if found["count"] else f"1.5 {found['unit']}s"


def _fraction(found: re.Match[str]) -> Fraction:
    if found["in"]:
        return Fraction(1, max(1, _count(found["in"])))
    part = found["part"] or found["parts"]
    return Fraction(_count(found["count"] or "a"), _PARTS[part.lower()])


def _share(fraction: Fraction, percentages: Sequence[str]) -> str:
    """Return a fraction in per cent, as it is written among `percentages` if it is, rounded or cut off."""
    percent = 100 * fraction
    for written in percentages:
        if abs(percent - Fraction(written)) < Fraction(1, 10 ** len(written.partition(".")[2])):
            return f"{written} %"
    exact = (10 * percent).denominator == 1
    return f"{float(percent) if exact else round(percent):g} %"


def _count(word: str) -> int:
    return 1 if word.lower() in {"a", "an"} else _COUNTS.get(word.lower()) or int(word)


def _multiple(found: re.Match[str]) -> str:
    return f"{2 if found['two'] else 3} times"


def _year_within(found: re.Match[str], years: Sequence[tuple[int, str]]) -> str:
    """Return the first of `years` in a century or decade, as it is written; the period itself if there is none."""
    groups = found.groupdict()
    if groups.get("decade"):
        first = int(groups["decade"])
        length = 100 if first % 100 == 0 else 10  # "the 1800s" are a century or a decade
    else:
        word = (groups["word"] or "").lower().replace(" ", "-")
        first, length = 100 * (_CENTURIES[word] if word else int(groups["number"])) - 99, 100
    begin, end = _STAGES[(groups["stage"] or "").lower().removesuffix(" of the")] if groups["stage"] else (0, 1)
    within = (written for year, written in years if first + begin * length <= year <= first - 1 + end * length)
    return next(within, found[0])
