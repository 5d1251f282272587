"""Contrasts of the aspect of a thing: its price or its size, its symptoms or its causes, its history or its uses."""

import re
from collections.abc import Iterator
from random import Random

from training.contrasts.edit import Contrast, Edit
from training.words import written_like

_KINDS = tuple(
    tuple(line.strip().split("/"))
    for line in """
    symptoms/causes/treatment/prevention/diagnosis/complications/risk factors/prevalence/history
    side effects/benefits/uses/dosage/price/interactions/ingredients
    effects/causes/history/cost/symptoms
    causes/effects/symptoms/consequences/history/prevention
    treatment/symptoms/causes/prevention/diagnosis
    treatments/symptoms/causes
    cure/cause/history
    diagnosis/treatment/cause
    prevention/diagnosis/treatment
    risk factors/treatments/symptoms
    price/size/weight/quality/release date/colour/warranty/history
    cost/duration/quality/history/purpose/size
    size/price/weight/colour/age
    weight/height/price/size
    height/weight/age/net worth
    age/height/salary/nationality
    net worth/age/height/nationality
    salary/job description/working hours/age limit/qualification
    population/area/climate/capital/history/currency/language
    capital/population/climate/currency/area
    climate/population/history/economy
    currency/capital/population/language
    economy/climate/history/geography/population
    culture/economy/climate/geography
    meaning/origin
    origin/meaning/purpose/future
    definition/history/types
    advantages/types/history/applications/examples
    benefits/side effects/costs/types/history
    disadvantages/types/applications/examples/history
    pros/dangers
    uses/side effects/types/history/price
    applications/types/limitations/history
    types/causes/uses/history/advantages
    examples/benefits/effects
    features/price/disadvantages/alternatives
    importance/history/structure/origin
    purpose/history/cost/origin/location
    function/structure/location/origin
    structure/function/origin/history
    history/future/importance/structure/purpose
    future/history/origin/importance
    ingredients/calories/price/side effects
    calories/ingredients/price
    duration/cost/syllabus
    syllabus/fees/duration/cutoff
    eligibility/fees/syllabus/deadline
    cutoff/syllabus/fees
    fees/syllabus/ranking/eligibility
    ranking/fees/location/placement
    reviews/price/specifications/alternatives
    review/price/release date/alternative
    release date/price/cast/budget
    plot/ending/cast/budget/soundtrack
    cast/plot/budget/director
    temperature/pressure/volume/density
    density/volume/temperature/mass
    mass/volume/velocity/density
    speed/weight/price/range
    melting point/boiling point/density/molar mass
    boiling point/melting point/density
    author/plot/publisher/price
    location/history/price/size
    map/symptoms/news
    death toll/symptoms/origin
    vaccine/symptoms/map/origin
    password/username/email address
    email address/phone number/password
    phone number/email address/opening hours
    income/expenses/tax rate
    interest rate/minimum deposit/credit limit
    definition of/examples of
    statistics/causes/prevention/history
    risks/benefits/costs/causes
    legality/safety/cost/history
    safety/cost/history/legality
    """.strip().splitlines()
)
_OTHERS = {kind[0]: kind[1:] for kind in _KINDS}
_ASPECTS = "|".join(sorted(_OTHERS, key=len, reverse=True))
_OF = re.compile(
    rf"\b({_ASPECTS})(?= (?:of|for(?<=treatment for)|for(?<=cure for)|for(?<=eligibility for)|"
    rf"for(?<=syllabus for)|for(?<=cutoff for)|for(?<=fees for)) (?!all\b|having\b|being\b|\w+ing\b|"
    rf"what\b)\w)",
    re.IGNORECASE,
)
_LAST = re.compile(rf"(?<=\w )({_ASPECTS})(?=\s*\??\s*$)", re.IGNORECASE)
_OWN = re.compile(rf"(?<=['’]s )({_ASPECTS})\b(?!\s+of\b)", re.IGNORECASE)
_NOT_AFTER = re.compile(
    r"\b(?:and|or|the same|in|on|with|by|to|same|a|an|its|his|her|their|my|your|lose|gain|at|for|this|"
    r"that|no|of|any|under|without|"
    r"full|cause|some|worth|other|lot|out|as|from|into|than|more|different|most|"
    r"better|best|good|what|these|those|per|whole|human|modern|"
    r"indian|world|american)\s+$",
    re.IGNORECASE,
)
_NOT_BEFORE = re.compile(
    r"\b(?:in|at|with|by|to|same|gain|lose|under|from|sake|on|this|and|or)\s+(?:the\s+)?$", re.IGNORECASE
)
_ASKED_BEFORE = re.compile(
    r"(?:^|\b(?:the|what are|what is|some|main|possible|common|early|any|there|are|list|about|major|"
    r"important|first|typical|other))\s*$",
    re.IGNORECASE,
)
_SINGULAR = re.compile(r"\b(?:what|how|where|why|which)(?:'s| is| was| does| did)\b", re.IGNORECASE)
_PLURAL = re.compile(r"\b(?:what|how|where|why|which)(?:'re| are| were| do)\b", re.IGNORECASE)
_FIXED = re.compile(
    r"\b(?:case of|purpose of (?:life|living)|speed of light|role of|future of|use of|age of|effects? of)\b",
    re.IGNORECASE,
)


def _edits(text: str, chance: Random) -> Iterator[Edit]:
    low = text.lower()
    if text.rstrip().endswith(".") or len(text.split()) > 25:
        return
    for pattern, barred in ((_OF, _NOT_BEFORE), (_LAST, _NOT_AFTER), (_OWN, _NOT_BEFORE)):
        for match in pattern.finditer(text):
            before = text[: match.start()]
            if barred.search(before) or (pattern is _OF and not _ASKED_BEFORE.search(before)):
                continue
            if pattern is _LAST and ("?" in text or len(text.split()) > 5):
                continue
            word = match.group(1).lower()
            others = [other for other in _OTHERS[word] if other not in low and _agrees(word, other, text)]
            if others:
                yield Edit(*match.span(1), written_like(chance.choice(others), match.group(1)))


def _agrees(word: str, other: str, text: str) -> bool:
    """Return whether the verb of the question, if it has one, still fits the aspect."""
    many, others_many = _is_many(word), _is_many(other)
    if _SINGULAR.search(text) or _PLURAL.search(text) or re.search(r"\b(?:is|are|has|have)\b", text, re.IGNORECASE):
        return many == others_many
    return True


def _is_many(aspect: str) -> bool:
    return aspect.endswith("s") and not aspect.endswith("sis")


ASPECTS = Contrast("aspect", _edits)
