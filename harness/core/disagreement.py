"""Disagreement between sources: figures and dates that differ, and statements whose words contradict each other."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from itertools import combinations

from msgspec import Struct

from harness.core.equivalence.reading import Reading, read
from harness.core.required_terms import lacking_names, required_names
from harness.core.support import supports
from harness.core.text import stems

MOST = 40
"""Statements that are compared; further ones are not."""
SHARED = 0.6
"""Least share (0..1) of the content words of two statements that both have, to be compared by words."""
MOST_ROWS = 6
"""Statements of a disagreement that are shown."""
FACTOR = 2
"""Counts that differ by more than this are of different things."""

_COUNTS = frozenset({"how many", "how long", "how old", "how far", "how often", "how fast", "how deep", "how big",
                     "how tall"})  # fmt: skip
_MEASURE = re.compile(
    r"\b(population|inhabitants|height|elevation|length|width|depth|area|size|weight|mass|age|speed|distance|price|cost"
    r"|number|rate|share|percentage|proportion|average|median|mean|temperature|capacity|duration|salary|gdp|revenue"
    r"|budget|limit|maximum|minimum|prevalence|incidence|mortality|accuracy|frequency)\b",
    re.IGNORECASE,
)
_AGAINST = ("negated", "opposites", "reversed")
"""Words of the reasons that count here; the others also arise where two statements are about different things."""


class Said(Struct, frozen=True):
    """A statement of a source; `title` is that of the source."""

    text: str
    source: str
    title: str = ""


def disagreements(question: str, said: Sequence[Said]) -> list[tuple[int, ...]]:
    """Return groups of places in `said` whose statements disagree: first those with other figures (or dates) for what
    the question asks, one statement a source and figure; then pairs that contradict each other. Never raises.

    Figures are compared if they have the same unit and are said of the same years. A rounded figure agrees with the
    one that it rounds.
    """
    held, asked = said[:MOST], read(question)
    figures = _of_figures(question, asked, held)
    used = set(figures)
    pairs = [pair for pair in _contradicting(held) if used.isdisjoint(pair)]
    return [*([figures] if figures else []), *_apart(pairs)]


def _apart(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the pairs that share no place with an earlier one."""
    used = set[int]()
    for pair in pairs:
        if used.isdisjoint(pair):
            used.update(pair)
            yield pair


def _of_figures(question: str, asked: Reading, held: Sequence[Said]) -> tuple[int, ...]:
    by_unit: dict[str, dict[int, Decimal]] = {}
    names = required_names(question)
    for place, each in enumerate(held):
        found = read(each.text)
        if asked.dates <= found.dates and _is_about(names, asked, each, found):
            for unit, value in _figures(question, asked, found):
                by_unit.setdefault(unit, {})[place] = value
    for values in by_unit.values():
        places = _comparable(asked, held, values)
        shown = {(held[place].source, values[place]): place for place in reversed(places)}
        kept = sorted(shown.values())[:MOST_ROWS]
        pairs = combinations(kept, 2)
        if any(held[a].source != held[b].source and not _agree(values[a], values[b]) for a, b in pairs):
            return tuple(kept)
    return ()


def _is_about(names: tuple[str, ...], asked: Reading, said: Said, found: Reading) -> bool:
    """Return whether a statement names something of the question; or begins with no other subject, in a source whose
    title does.
    """
    if not names or lacking_names(names, said.text) != names:
        return True
    first = found.words[0] if found.words else None
    begins = first is not None and found.plain.startswith(first.plain) and said.text[:1].isupper()
    other = first is not None and begins and first.form not in {word.form for word in asked.words}
    return not other and lacking_names(names, said.title) != names


def _figures(question: str, asked: Reading, found: Reading) -> Iterator[tuple[str, Decimal]]:
    """Yield unit and value of what a statement says about what is asked, each unit once."""
    if "when" in asked.asks:
        years = sorted(date for date in found.dates - asked.dates if date.isdecimal() and len(date) == 4)
        if len(years) == 1:
            yield "year", Decimal(years[0])
    elif not _COUNTS.isdisjoint(asked.asks) or _MEASURE.search(question):
        units = set[str]()
        bare = [quantity for quantity in found.quantities if not quantity.unit and quantity not in asked.quantities]
        for quantity in found.quantities:
            if quantity in asked.quantities or quantity.unit in units or (not quantity.unit and len(bare) > 1):
                continue
            try:
                value = Decimal(quantity.value)
            except InvalidOperation:  # a version
                continue
            units.add(quantity.unit)
            yield quantity.unit, value


def _comparable(asked: Reading, held: Sequence[Said], values: dict[int, Decimal]) -> list[int]:
    """Return the places whose figures are of the size of the first one, and not said of other years."""
    first = next(iter(values))
    years = _years(held[first].text)
    return [
        place
        for place, value in values.items()
        if "when" in asked.asks
        or (_near(value, values[first]) and (not years or (_years(held[place].text) or years) == years))
    ]


def _years(text: str) -> frozenset[str]:
    return frozenset(date for date in read(text).dates if date.isdecimal())


def _near(one: Decimal, two: Decimal) -> bool:
    low, high = sorted((abs(one), abs(two)))
    return high <= FACTOR * low


def _agree(one: Decimal, two: Decimal) -> bool:
    """Return whether one figure is the other, or the other rounded to as many places as it has."""
    return any(_places(rough) <= _places(fine) and round(fine, _places(rough)) == rough for rough, fine in
               ((one, two), (two, one)))  # fmt: skip


def _places(value: Decimal) -> int:
    """Return the number of decimal places; negative for zeros at the end of an integer."""
    return -int(value.normalize().as_tuple().exponent)


def _contradicting(held: Sequence[Said]) -> Iterator[tuple[int, int]]:
    words = [stems(each.text) for each in held]
    for one, two in combinations(range(len(held)), 2):
        shared = len(words[one] & words[two])
        alike = shared > 1 and shared >= SHARED * len(words[one] | words[two])
        if alike and held[one].source != held[two].source and _against(held[one].text, held[two].text):
            yield one, two


def _against(one: str, two: str) -> bool:
    found = supports(one, two)
    return found.contradicted and any(word in reason for word in _AGAINST for reason in found.reasons)
