"""Degrees: more for less, the best for the worst, at least for at most, over for under."""

import re
from collections.abc import Iterator
from random import Random

from training.contrasts.edit import Contrast, Edit
from training.words import written_like

_PAIRS = tuple(
    tuple(pair.split("/"))
    for pair in """
    best/worst better/worse bigger/smaller biggest/smallest larger/smaller largest/smallest higher/lower
    highest/lowest taller/shorter tallest/shortest longer/shorter longest/shortest faster/slower fastest/slowest
    quicker/slower quickest/slowest easier/harder easiest/hardest cheaper/costlier cheapest/costliest oldest/newest
    newer/older older/younger youngest/oldest stronger/weaker strongest/weakest richer/poorer richest/poorest
    hotter/colder hottest/coldest warmer/cooler warmest/coldest heavier/lighter heaviest/lightest thicker/thinner
    thickest/thinnest wider/narrower widest/narrowest deeper/shallower deepest/shallowest safer/riskier
    safest/riskiest brighter/dimmer brightest/darkest lighter/darker louder/quieter loudest/quietest closer/farther
    closest/farthest nearest/farthest nearer/farther happier/sadder happiest/saddest fatter/thinner smarter/dumber
    smartest/dumbest nicer/nastier cleaner/dirtier cleanest/dirtiest softer/harder softest/hardest smoother/rougher
    busiest/quietest greater/smaller greatest/smallest sharper/duller upper/lower uppermost/lowermost
    maximum/minimum max/min maximal/minimal
    """.split()
)
_OTHER = dict(reversed([pair for one, two in _PAIRS for pair in ((one, two), (two, one))]))
_OTHER |= {
    "fewer": "more",
    "fewest": "most",
    "earliest": "latest",
    "simpler": "more complicated",
    "simplest": "most complicated",
}
_WORD = re.compile(r"(?<![\w\-])(?:" + "|".join(sorted(_OTHER, key=len, reverse=True)) + r")(?![\w\-])", re.IGNORECASE)
_MANNER = re.compile(r"\b(?:to|i|you|we|they|people|can|could|should|get|feel)\s+$", re.IGNORECASE)
_FIXED = re.compile(
    r"\b(?:higher (?:education|studies|studying|secondary|ed\b)|best (?:buy|friend|friends|man|seller|"
    r"western|wishes|way out)|(?:upper|lower) (?:hand|back|stomach|abdomen|left|right)|upper case|lower case|"
    r"get better|feel better|had better|better half|better known?|best known|most known|better know|"
    r"longer (?:a|the|than|be)|no longer|any longer|sooner or later|later on|latest (?:news|"
    r"technology)|"
    r"greater (?:good|than)|older (?:man|woman|men|women|brother|sister|people)|at best|all the best|"
    r"at the latest|best before|"
    r"best of luck|next best|second best|better off|for the better|minimum wage|greatest common|"
    r"maximum likelihood|better business|closer look|harder than)\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(at least|at most|no more than|no less than|more than|less than|fewer than|greater than|over|"
    r"above|below|under|upto|up to)"
    r"(?=\s+(?:rs\.?\s*|[$€£₹]\s?)?\d)",
    re.IGNORECASE,
)
_BOUND_OTHER = {
    "at least": "at most",
    "at most": "at least",
    "more than": "less than",
    "less than": "more than",
    "fewer than": "more than",
    "greater than": "less than",
    "over": "under",
    "above": "below",
    "below": "above",
    "under": "over",
    "upto": "over",
    "up to": "over",
    "no more than": "more than",
    "no less than": "less than",
}
_DEGREE = re.compile(
    r"(?<!\bno )(?<!\bany )(?<!\bonce )(?<!\blearn )(?<!\bknow )(?<!\bread )(?<!what is )(?<!\bone "
    r")\b(more|most|less|least)(?=\s+(?P<next>[a-z]+))",
    re.IGNORECASE,
)
_DEGREES = {"more": "less", "most": "least", "less": "more", "least": "most"}
_ADJECTIVE = re.compile(
    r"(?:[a-z]{3,}(?:ful|ous|ive|able|ible|ic|ical|ent|ant|ing|ed|ular|tional|less)|likely|common|"
    r"expensive|"
    r"popular|secure|accurate|intense|severe|acidic|advanced|complex|difficult|"
    r"stable|polar|dense|real|rare|private|beautiful|"
    r"efficient|important|modern|open|prone|toxic|soluble|corrupt|reliable|"
    r"profitable|valuable|underrated|overrated)$",
    re.IGNORECASE,
)
_NOT_ADJECTIVE = frozenset(
    "during being something anything nothing everything need bed red seed feed speed student parent different".split()
)
_MASS = frozenset(
    "money time energy water sleep sugar weight calories protein fat carbs people followers views "
    "traffic power space memory "
    "rain oil salt food exercise stress attention ram heat light force".split()
)


def _edits(text: str, _chance: Random) -> Iterator[Edit]:
    low = text.lower()
    fixed = [match.span() for match in _FIXED.finditer(text)]
    alternatives = bool(re.search(r"\bor\b|\bvs\b|\bversus\b|\bbetween\b", low)) and bool(
        re.match(r"(?:which|what|who|is|are|between)\b", low)
    )
    for match in _WORD.finditer(text):
        if match.group() in {"Max", "Min"} or (
            match.group().lower() == "better" and _MANNER.search(text[: match.start()])
        ):
            continue
        other = _OTHER[match.group().lower()]
        if alternatives or re.search(rf"\b{other}\b", low) or any(a <= match.start() < b for a, b in fixed):
            continue
        if (
            match.group().lower() in {"better", "best"}
            and re.search(r"\b(?:the|like|know|love|do|does)\s+$", text[: match.start()], re.IGNORECASE)
            and not re.match(r"\s+\w", text[match.end() :])
        ):
            continue
        yield Edit(*match.span(), written_like(other, match.group()))
    for match in _BOUND.finditer(text):
        yield Edit(*match.span(), written_like(_BOUND_OTHER[match.group(1).lower()], match.group()))
    if re.search(r"\bmore\b.*\bless\b|\bless\b.*\bmore\b", low) or alternatives:
        return
    for match in _DEGREE.finditer(text):
        follows = match.group("next").lower()
        if follows in _MASS or (_ADJECTIVE.match(follows) and follows not in _NOT_ADJECTIVE) or follows == "than":
            yield Edit(*match.span(1), written_like(_DEGREES[match.group(1).lower()], match.group(1)))


COMPARATIVES = Contrast("comparatives", _edits)
