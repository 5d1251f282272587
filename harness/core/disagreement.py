"""Disagreement between sources: figures and dates that differ, and statements that say the opposite."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache
from itertools import combinations

from msgspec import Struct

from harness.core.equivalence.reading import Reading, read
from harness.core.measures import MEASURES
from harness.core.required_terms import lacking_names, lacking_words, required_names, rival_terms
from harness.core.sites import host_of
from harness.core.support import supports
from harness.core.text import stems

MOST = 40
"""Statements that are compared; further ones are not."""
MOST_ROWS = 6
"""Statements of a disagreement that are shown."""
SHARED = 0.75
"""Least share (0..1) of the content words of two statements that both have, to be compared by words."""
SHARED_BUT_OPPOSITES = 0.5
"""Least share where one word is the opposite of another."""
FACTOR = 2
"""Figures that differ by more than this are of different things."""
MAJORITY = 2
"""Least number of sites by which one figure outvotes another."""
ROUNDED = 1_000
"""Zeros at the end of smaller figures are not taken for rounding."""

_COUNTS = frozenset(
    ("how many", "how long", "how old", "how far", "how often", "how fast", "how deep", "how big", "how tall")
)
_MEASURE = re.compile(
    rf"\b({MEASURES}|population|inhabitants|heavy|number|rate|share|percentage|proportion|average|median|mean|hot|cold"
    r"|(?:boiling|melting) point|duration|timeout|salary|gdp|revenue|budget|limit|maximum|minimum|prevalence|incidence"
    r"|mortality|accuracy|frequency|how wide)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(high|tall|height|elevation|long|length|wide|width|deep|depth|far|distance|heavy|weight|mass|area|point)\b",
    re.IGNORECASE,
)
"""Measures that stay the same over the years."""
_MEASURES = {
    "long|length": "length|long",
    "high|tall|height|elevation": "height|elevation|high|tall",
    "deep|depth": "depth|deep",
    "wide|width": "width|wide",
    "heavy|weight": "weight|weighs|heavy",
}
"""Words of a question for a measure, and those of a statement."""
_HAS_UNIT = re.compile(
    r"\b(?:long|tall|high|deep|wide|far|heavy|fast|hot|cold|height|elevation|length|width|depth|weight|mass|distance|speed"
    r"|temperature|area|duration|timeout)\b",
    re.IGNORECASE,
)
"""Measures whose figures have a unit: numbers without one count something else."""
_COUNTED = re.compile(
    r"\b(?:how many|number of) ([\w-]+(?: [\w-]+){0,3}?)(?= (?:of|in|on|at|for|per|to|with|by|from|and|as|do|does|did"
    r"|are|is|was|were|has|have|had|can|could|may|might|must|should|will|would|found|there|that|which|who)\b|\W*$)"
)
"""The words for what a question counts."""
_BOUND = re.compile(
    r"\b(?:more|less|fewer|greater|higher|lower) than\b|\bat (?:least|most)\b|\b(?:up to|over|under|between|from|before"
    r"|after|since|until|by) \$?\d|\d\s?(?:to|-|–|or)\s?\$?\d|\d0s\b|^(?:table|figure|chapter|section|page|step)\s\d",
    re.IGNORECASE,
)
"""Bounds, ranges, decades and labels: not one figure."""
_OF_MEASURE = rf"(?: \w+)? (?:{MEASURES}|approach|value|point)"
_QUALIFIERS = {
    "average": re.compile(r"\b(?:average|the mean|mean (?:of|value)|median|typical(?:ly)?)\b", re.IGNORECASE),
    "least": re.compile(
        rf"\b(?:closest|nearest|shortest|smallest|lowest|least){_OF_MEASURE}\b|\b(?:minimum|perigee|perihelion)\b",
        re.IGNORECASE,
    ),
    "most": re.compile(
        rf"\b(?:farthest|furthest|longest|largest|greatest|highest){_OF_MEASURE}\b|\b(?:maximum|apogee|aphelion)\b",
        re.IGNORECASE,
    ),
    "women": re.compile(r"\b(?:wom[ae]n|females?|girls?)\b", re.IGNORECASE),
    "men": re.compile(r"\b(?:(?<!isle of )man|men|males?|boys?)\b", re.IGNORECASE),
    "road": re.compile(r"\b(?:driving|by (?:road|car)|road distance)\b", re.IGNORECASE),
}
"""Words that say which of several figures for one thing is meant: on average or at the extreme, of women or men, by
road or as the crow flies.
"""
_PEOPLE = frozenset({"women", "men"})
_CLAUSES = re.compile(r"[/;()]|,\s|\b(?:while|whereas|and|but)\b")
_FOOTNOTE = re.compile(r"\[\d{1,3}\]")
_HEDGED = re.compile(
    r"\?|\b(?:believ|think|thought|claim|suppos|may|might|could|avoid|before|until|since|if|unless)\w*"
)


class Said(Struct, frozen=True):
    """A statement of a source; `title` is that of the source."""

    text: str
    source: str
    title: str = ""


def disagreements(question: str, said: Sequence[Said]) -> list[tuple[int, ...]]:
    """Return groups of places in `said` whose statements disagree: first those with other figures (or years) for what
    the question asks, each figure of a source once; then pairs that say the opposite. Never raises.

    Figures are compared if they have the same unit and are of like size, and, unless they last, are said of the same
    years. Bounds and ranges are not compared. A rounded figure agrees with the one that it rounds.
    """
    held = said[:MOST]
    figures = _of_figures(question, held)
    used = set(figures)
    groups: list[tuple[int, ...]] = [figures] if figures else []
    for pair in _opposed(held):
        if used.isdisjoint(pair):
            used.update(pair)
            groups.append(pair)
    return groups


def figures_for(question: str, said: Sequence[Said]) -> dict[str, dict[int, Decimal]]:
    """Return the figures (or years) that statements give for what the question asks: by unit, the place in `said` and
    the value. Bounds, ranges, figures of other things, and, unless what is measured lasts, those without the year of
    the question are left out. Never raises.
    """
    by_unit: dict[str, dict[int, Decimal]] = {}
    asked, names, lasting = read(question), required_names(question), _LASTING.search(question) is not None
    for place, each in enumerate(said[:MOST]):
        found, dates = read(_FOOTNOTE.sub("", _about_people(question, each.text))), read(each.text).dates
        is_dated = asked.dates <= dates or (lasting and not dates)
        is_meant = _qualifiers(question) <= _meant(question, each.text) and not _BOUND.search(each.text)
        if is_dated and is_meant and _is_about(question, names, asked, each, found):
            for unit, value in _figures(question, asked, found):
                by_unit.setdefault(unit, {})[place] = value
    return by_unit


def outvoted(question: str, said: Sequence[Said]) -> frozenset[str]:
    """Return the texts of statements with a minority figure (or year): at least `MAJORITY` more sites give another one.
    Sites that give both do not count. Never raises.

    What many pages say is more often right than what one says (Dumais et al. 2002).
    """
    held, texts = said[:MOST], set[str]()
    hosts = [host_of(each.source) for each in held]
    for unit, values in figures_for(question, held).items():
        figures = set(values.values())
        agreeing = {one: [other for other in figures if agree(one, other, exact=unit == "year")] for one in figures}
        for place, value in values.items():
            giving = defaultdict[Decimal, set[str]](set)
            for other in comparable(question, unit, place, held, values):
                giving[values[other]].add(hosts[other])
            own, *others = (
                set[str]().union(*(giving.get(each, ()) for each in agreeing[figure])) for figure in (value, *giving)
            )
            if any(len(found - own) - len(own - found) >= MAJORITY for found in others):
                texts.add(held[place].text)
    return frozenset(texts)


def _of_figures(question: str, held: Sequence[Said]) -> tuple[int, ...]:
    for unit, values in figures_for(question, held).items():
        for first in values:
            places = comparable(question, unit, first, held, values)
            if shown := _shown(places, held, values, exact=unit == "year"):
                return shown
    return ()


def _shown(
    places: Sequence[int], held: Sequence[Said], values: Mapping[int, Decimal], *, exact: bool
) -> tuple[int, ...]:
    """Return the first place of each source and figure, those with another figure first; none if all agree."""
    once = sorted({(held[place].source, values[place]): place for place in reversed(places)}.values())
    against = [
        (one, two)
        for one, two in combinations(once, 2)
        if held[one].source != held[two].source and not agree(values[one], values[two], exact=exact)
    ]
    if not against:
        return ()
    most = [*against[0], *(place for place in once if place not in against[0])][:MOST_ROWS]
    return tuple(sorted(most))


def _is_about(question: str, names: tuple[str, ...], asked: Reading, said: Said, found: Reading) -> bool:
    """Return whether a statement is about the question: it has all words of a name of the question, or begins with no
    other subject in a source whose title has; no rival of a number; and what happened, if the question is when.
    """
    if rival_terms(question, said.text):
        return False
    if "when" in asked.asks:
        named = {word for name in names for word in stems(name)}
        happened = stems(question) - named - {"year", "date", "day", "month", "time"}
        if not happened <= stems(said.text):
            return False
    if not names or lacking_words(names, said.text) != names:
        return True
    first = found.words[0] if found.words else None
    begins = first is not None and found.plain.startswith(first.plain) and said.text[:1].isupper()
    other = first is not None and begins and first.form not in {word.form for word in asked.words}
    if lacking_names(names, said.text) == names:
        return not other and lacking_words(names, said.title) != names
    return first is not None and first.form in {word.form for word in asked.words} and not _other_name(names, said.text)


def _other_name(names: tuple[str, ...], text: str) -> bool:
    """Return whether a text has a longer or other name with a word of one of `names`: Mount Kailash, World War I."""
    words = {word.casefold() for name in names for word in name.split()}
    return any(
        not {word.casefold() for word in name.split()} <= words and not words.isdisjoint(name.casefold().split())
        for name in required_names(f"x {text}")
    )


def _figures(question: str, asked: Reading, found: Reading) -> Iterator[tuple[str, Decimal]]:
    """Yield unit and value of what a statement says about the question; of a unit that it has twice, only the one next
    to the word for what is measured.
    """
    if "when" in asked.asks:
        years = sorted(date for date in found.dates - asked.dates if date.isdecimal() and len(date) == 4)
        if len(years) == 1:
            yield "year", Decimal(years[0])
    elif not _COUNTS.isdisjoint(asked.asks) or _MEASURE.search(question):
        new = [quantity for quantity in found.quantities if quantity not in asked.quantities]
        if _HAS_UNIT.search(question) or not _counts(question, found.plain):
            new = [quantity for quantity in new if quantity.unit]
        units, measured = [quantity.unit for quantity in new], _measured(question, found.plain)
        for quantity in new:
            if units.count(quantity.unit) == 1 or (quantity.value == measured and new.count(quantity) == 1):
                try:
                    yield quantity.unit, Decimal(quantity.value)
                except InvalidOperation:  # a version
                    continue


def _counts(question: str, plain: str) -> bool:
    """Return whether a statement has a word for what a question counts, if it counts something."""
    counted = _COUNTED.search(question.lower())
    words = stems(counted[1]) if counted else set()
    return not words or not words.isdisjoint(stems(plain))


def _measured(question: str, plain: str) -> str:
    """Return the figure next to the word for what the question measures ("a length of 798 metres"), "" if there is not
    exactly one.
    """
    asked = question.lower()
    words = "|".join(said for named, said in _MEASURES.items() if re.search(rf"\b(?:{named})\b", asked))
    if not words:
        return ""
    beside = re.findall(rf"\b(?:{words}) (?:\w+ ){{0,2}}?#?(\d[\d.]*)\b|#?(\d[\d.]*) \w+ (?:{words})\b", plain)
    figures = {one or other for one, other in beside}
    return figures.pop() if len(figures) == 1 else ""


def comparable(question: str, unit: str, first: int, held: Sequence[Said], values: Mapping[int, Decimal]) -> list[int]:
    """Return the places of `held` whose figures are of the size of that of `first`, of the same kind (on average, of
    women), and, unless what the question measures lasts, said of the same years.
    """
    if unit == "year":
        return list(values)
    years, lasting = years_of(held[first].text), _LASTING.search(question) is not None
    meant = _meant(question, held[first].text)
    return [
        place
        for place, value in values.items()
        if is_near(value, values[first])
        and (lasting or years_of(held[place].text) == years)
        and _meant(question, held[place].text) == meant
    ]


@lru_cache(maxsize=1_024)
def _qualifiers(text: str) -> frozenset[str]:
    """Return which of several figures for one thing a text means."""
    return frozenset(name for name, words in _QUALIFIERS.items() if words.search(text))


def _meant(question: str, text: str) -> frozenset[str]:
    """Return which of several figures for what a question asks a text means."""
    return _qualifiers(text) - _PEOPLE | _qualifiers(_about_people(question, text)) & _PEOPLE


def _about_people(question: str, text: str) -> str:
    """Return the clauses of a text about women, or men, where a question is about them alone and the text about both:
    "woman: 150 cm" of "an average height (man: 163 cm, woman: 150 cm)". Any other text stays as it is.
    """
    asked = _qualifiers(question) & _PEOPLE
    if len(asked) != 1 or _qualifiers(text) & _PEOPLE <= asked:
        return text
    return " ".join(part for part in _CLAUSES.split(text) if _qualifiers(part) & _PEOPLE == asked) or text


def years_of(text: str) -> frozenset[str]:
    """Return the years that a text names. Never raises."""
    return frozenset(date for date in read(text).dates if date.isdecimal())


def is_near(one: Decimal, two: Decimal) -> bool:
    """Return whether two figures differ by at most the factor `FACTOR`."""
    low, high = sorted((abs(one), abs(two)))
    return high <= FACTOR * low


def agree(one: Decimal, two: Decimal, *, exact: bool = False) -> bool:
    """Return whether one figure is the other, or the other rounded to as many places as it has."""
    if one == two or exact:
        return one == two
    rough, fine = sorted((one, two), key=_places)
    unit = Decimal(1).scaleb(-_places(rough))
    return any((fine / unit).quantize(Decimal(1), way) * unit == rough for way in (ROUND_HALF_UP, ROUND_HALF_DOWN))


def _places(value: Decimal) -> int:
    """Return the number of decimal places; negative for zeros at the end of a large figure."""
    places = -int(value.normalize().as_tuple().exponent)
    return places if abs(value) >= ROUNDED else max(0, places)


def _opposed(held: Sequence[Said]) -> Iterator[tuple[int, int]]:
    words = [stems(each.text) for each in held]
    plain = [place for place, each in enumerate(held) if not _HEDGED.search(each.text.lower())]
    for one, two in combinations(plain, 2):
        shared = len(words[one] & words[two])
        share = shared / max(1, len(words[one] | words[two]))
        different = shared > 1 and held[one].source != held[two].source
        if different and share >= SHARED_BUT_OPPOSITES and _is_against(held[one].text, held[two].text, share):
            yield one, two


def _is_against(one: str, two: str, share: float) -> bool:
    """Return whether one statement is the other negated, compared in the other direction, or with an opposite that is
    not its subject ("low inflation", "high inflation").
    """
    found = supports(one, two)
    if not found.contradicted:
        return False
    if share >= SHARED and any("negated" in reason or "reversed" in reason for reason in found.reasons):
        return True
    return stems(" ".join(one.split()[:1])) == stems(" ".join(two.split()[:1])) and any(
        "are opposites" in reason for reason in found.reasons
    )
