"""Terms that fill the same slot in texts: what is learned, treated, cooked, visited, bought."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from random import Random

from harness.core.equivalence.lexicon import EMPTY, WEAK
from harness.core.text import STOP_WORDS
from training.contrasts.edit import Edit
from training.contrasts.sameness import same_thing

MIN_COUNT = 2
"""A term that fills a slot more rarely is not known to."""
MAX_FILLERS = 400
"""Number of the most frequent terms of a slot that are kept."""

_SLOTS = tuple(
    tuple(" ".join(line.split()).split("/"))
    for line in """
    learn/study/teach myself/good at/fluent in/practice/practise/learning/studying/degree in/phd in/masters
        in/career in/course in/courses in/major in;
    play/playing/learn to play;
    speak/speaking/translate into;
    symptoms of/causes of/treatment for/treatment of/treat/treating/cure for/cure/signs of/prevent/diagnosed
        with/suffering from/suffer from/risk of/have symptoms of/stages of/due to;
    side effects of/overdose on/overdose of/allergic to/dose of/dosage of/prescribed/pregnant while on/taking;
    pain in my/pain in the/lump on my/lump in my/rash on my/bump on my/swelling in my/spots on my;
    capital of/population of/president of/prime minister of/economy of/king of/government of/currency of/living
        in/live in/visit/travel to/move to/trip to/born in/places in/hotels in/restaurants in;
    work at/job at/internship at/jobs at/work for/ceo of/founder of/interview at/interview with/working at/shares
        of/salary at;
    how to make/how do i make/how do you make/how to cook/recipe for/how do i cook/eat/eating/calories
        in/drink/drinking;
    install/uninstall/download/root/use of;
    meaning of/definition of/history of/origin of/father of/inventor of;
    good at;
    afraid of/fear of/addicted to/addiction to;
    become a/become an/how to be a/life of a/salary of a/job of a/work as a;
    what is a/what is an/how does a/how do i build a/buy a/own a/sell my
    """.split(";")
)
_KIND = {slot: number for number, slots in enumerate(_SLOTS) for slot in slots}
_BREAK = (
    r"of|in|for|and|or|is|are|was|were|to|with|from|on|at|by|as|that|which|who|do|does|did|can|will|"
    r"would|should|has|have|than|vs|when|if|like|without|about|"
    r"using|after|before|during|while|be|but|not|through|because|so|per|work|works|called|"
    r"means?|a|an|the|my|your|his|her|their|this|it|i|you|online|feel"
)
_AFTER = _BREAK.removeprefix("of|")
_FILLED = re.compile(
    r"\b(?P<slot>"
    + "|".join(sorted(_KIND, key=len, reverse=True))
    + r") (?P<filler>(?!(?:"
    + _BREAK
    + r")\b)[A-Za-z][\w+#-]{2,}(?: (?!(?:"
    + _BREAK
    + r")\b)[A-Za-z][\w+#-]+)?)"
    r"(?=\s*(?:[?.,;!]|$)| (?:" + _AFTER + r")\b)",
    re.IGNORECASE,
)
_NO_FILLER = (
    STOP_WORDS
    | EMPTY
    | WEAK
    | frozenset(
        "best new different things something anything difficult easy faster quickly early late well "
        "alone word words sentence happy peace "
        "school home first next other others another hard maths english foreign free fast sure true "
        "people healthy medicine medicines disease diseases drug drugs pregnant god name".split()
    )
)


class Slots:
    """The terms that fill each kind of slot, learned from texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        found: dict[int, Counter[str]] = defaultdict(Counter)
        forms: dict[str, Counter[str]] = defaultdict(Counter)
        for text in texts:
            if not text.istitle():
                for match in _FILLED.finditer(text):
                    filler = match.group("filler")
                    found[_KIND[match.group("slot").lower()]][filler.lower()] += 1
                    forms[filler.lower()][filler] += 1
        self.fillers = {
            kind: tuple(
                min(forms[term], key=lambda form: (-forms[term][form], form))
                for term, count in sorted(terms.items(), key=lambda item: (-item[1], item[0]))[:MAX_FILLERS]
                if count >= MIN_COUNT and _fills(term)
            )
            for kind, terms in found.items()
        }

    def edits(self, text: str, chance: Random) -> Iterator[Edit]:
        """Yield for each filled slot of `text` the change to another term that fills such slots."""
        for match in _FILLED.finditer(text):
            slot, filler = match.group("slot").lower(), match.group("filler")
            if not _fills(filler.lower()):
                continue
            others = [
                other
                for other in self.fillers.get(_KIND[slot], ())
                if _is_many(other) == _is_many(filler)
                and not same_thing(filler.lower(), other.lower())
                and other.lower() not in text.lower()
            ]
            if others:
                other = chance.choice(others)
                yield Edit(*match.span("filler"), other.lower() if text.islower() else other)


def _fills(term: str) -> bool:
    words = term.split()
    return not any(word in _NO_FILLER for word in words) and not words[-1].endswith(("ly", "ed"))


def _is_many(term: str) -> bool:
    return term.endswith("s") and not term.endswith(("ss", "us", "is", "cs"))
