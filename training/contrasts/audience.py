"""Whom it is for or about: beginners or experts, children or adults, women or men, dogs or cats."""

import re
from collections.abc import Iterator
from random import Random

from training.contrasts.edit import Contrast, Edit
from training.words import written_like

_GROUPS = tuple(
    tuple(line.split("/"))
    for line in """
    children/adults/teenagers/toddlers/babies/seniors/elderly people
    kids/adults/teenagers/toddlers/babies/seniors
    infants/adults/toddlers/teenagers
    newborns/adults/toddlers
    toddlers/teenagers/adults/newborns
    babies/adults/teenagers
    teenagers/children/adults/seniors
    teens/toddlers/adults/seniors
    adults/children/teenagers/toddlers
    seniors/teenagers/young adults/kids
    the elderly/young people/children
    women/men
    females/males
    girls/boys
    beginners/experts/advanced users/professionals/intermediate learners
    experts/beginners
    professionals/beginners/students
    freshers/experienced people
    dummies/experts
    students/teachers/professionals/retirees/working adults
    teachers/students/parents
    parents/teachers/grandparents
    employees/employers/contractors
    freelancers/employees
    startups/large companies/non-profits
    small businesses/large corporations/freelancers
    doctors/nurses/dentists/lawyers
    nurses/doctors/teachers
    engineers/lawyers/doctors/designers
    lawyers/doctors/accountants/engineers
    developers/designers/managers
    vegetarians/meat eaters
    vegans/meat eaters
    smokers/non-smokers
    men/women
    males/females
    boys/girls
    dogs/cats/rabbits/horses
    cats/dogs/rabbits/hamsters
    puppies/kittens
    kittens/puppies
    horses/cows/dogs
    diabetics/athletes/pregnant women
    athletes/elderly people/office workers
    pregnant women/elderly people/toddlers
    citizens/foreigners/tourists
    foreigners/citizens
    tourists/residents
    immigrants/citizens
    international students/domestic students/local students
    veterans/civilians
    introverts/extroverts
    extroverts/introverts
    couples/singles
    """.strip()
    .replace("    ", "")
    .splitlines()
)
_SINGLE = tuple(
    tuple(line.split("/"))
    for line in """
    child/adult/teenager
    kid/adult/teenager
    baby/toddler/teenager
    toddler/teenager/newborn
    teenager/toddler/adult
    woman/man
    man/woman
    girl/boy
    boy/girl
    female/male
    male/female
    beginner/expert
    dog/cat/rabbit
    cat/dog/rabbit
    puppy/kitten
    kitten/puppy
    student/teacher/professional
    husband/wife
    wife/husband
    boyfriend/girlfriend
    girlfriend/boyfriend
    mother/father
    father/mother
    mom/dad
    dad/mom
    son/daughter
    daughter/son
    brother/sister
    sister/brother
    fresher/experienced candidate
    foreigner/citizen
    introvert/extrovert
    extrovert/introvert
    citizen/foreigner
    """.strip()
    .replace("    ", "")
    .splitlines()
)
_OTHERS = {line[0]: line[1:] for line in (*_GROUPS, *_SINGLE)}
_WHO = re.compile(
    r"(?<![\w\-'’])(?:" + "|".join(sorted(_OTHERS, key=len, reverse=True)) + r")(?![\w\-]|['’]t)", re.IGNORECASE
)
_FIXED = re.compile(
    r"\b(?:wonder woman|iron man|spider man|old man|hot dogs?|big brother|family man|man of|man city|"
    r"man united|best man|"
    r"boy scouts?|mother (?:tongue|board|nature|earth|teresa)|father christmas|"
    r"founding fathers?|holy father|right man|man made|"
    r"godfather|girls? scouts?|common man|black man|man kind|parents? teachers?|baby "
    r"boomers?|young adult|son of|men in black|mad men|x men)\b",
    re.IGNORECASE,
)
_GENDERED = re.compile(
    r"\b(?:he|she|his|her|him|hers|pregnant|periods?|wife|husband|gay|lesbian|breasts?|penis|prostate|"
    r"vagina|uterus|testosterone)\b",
    re.IGNORECASE,
)
_KIN = frozenset(
    "husband wife boyfriend girlfriend mother father mom dad son daughter brother sister kid kids "
    "child children".split()
)
_OWN = re.compile(r"\b(?:my|your|our|their|his|her)\s+$", re.IGNORECASE)
_AGED = re.compile(r"\b(?:old|months?|mth|weeks?)\b", re.IGNORECASE)
_NAMED = re.compile(r"[A-Z]\w* $|``\s?$|[\"“]$")
_SEXED = frozenset(
    "man men woman women boy boys girl girls male males female females husband wife mother father "
    "mom dad "
    "brother sister son daughter boyfriend girlfriend".split()
)
_OPEN = re.compile(
    r"^(?:(?:what (?:is|are) (?:the |some )?)?(?:best|good|top|easiest)\b.*\b(?:\w+s|book|way|laptop|"
    r"phone|app|course|diet|website|job|gift|game|camera|bike|"
    r"car|exercise)|how (?:do i|to|can i|should i) (?:learn|start|study|practice|train|"
    r"exercise)\b.*)$",
    re.IGNORECASE,
)
_ADDED = (
    "for beginners",
    "for children",
    "for women",
    "for men",
    "for seniors",
    "for students",
    "for teenagers",
    "for professionals",
    "for kids",
    "for toddlers",
    "for people over 60",
    "for college students",
    "for small businesses",
)
_NARROWED = re.compile(
    r"\b(?:for|in|as|with|from|under|by|if|when|where|who|that|which|since|to be|near|at|on|my|your|of|vs|or|,)\b",
    re.IGNORECASE,
)
_DROPPED = re.compile(
    r"(?<=\w) for (?:complete |absolute |total )?(?:beginners|kids|children|toddlers|women|men|girls|"
    r"boys|seniors|students|dummies|freshers|"
    r"professionals|teens|teenagers|adults|babies|college students|startups|small "
    r"businesses)(?=\s*[?.!]*\s*$)",
    re.IGNORECASE,
)


def _edits(text: str, chance: Random) -> Iterator[Edit]:
    fixed = [match.span() for match in _FIXED.finditer(text)]
    low = text.lower()
    for match in _WHO.finditer(text):
        who = match.group().lower()
        if who in _KIN and _OWN.search(text[: match.start()]):
            continue
        if _AGED.search(text) or (match.group()[0].isupper() and _NAMED.search(text[: match.start()])):
            continue
        if any(a <= match.start() < b for a, b in fixed) or (
            who in _SEXED and _GENDERED.search(text.replace(match.group(), ""))
        ):
            continue
        others = [
            other
            for other in _OTHERS[who]
            if not re.search(rf"\b{other[:-1]}", low)
            or (other in {"men", "man", "male", "males"} and not re.search(rf"\b{other}\b", low))
        ]
        if others:
            yield Edit(*match.span(), written_like(chance.choice(others), match.group()))
    for match in _DROPPED.finditer(text):
        yield Edit(*match.span(), "")
    end = len(text.rstrip(" ?.!"))
    if _OPEN.match(text[:end]) and len(text.split()) <= 10 and not _NARROWED.search(text[6:]):
        yield Edit(end, end, " " + chance.choice(_ADDED))


AUDIENCE = Contrast("audience", _edits)
