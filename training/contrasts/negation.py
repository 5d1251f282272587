"""Negation: a `not`, `never`, `without` or negative part of a word put in or taken out.

A question that only asks `yes or no` is left alone but for its adjectives: `isn't it safe` asks what `is it safe` asks.
"""

import re
from collections.abc import Iterator
from random import Random

from training.contrasts.edit import Contrast, Edit
from training.contrasts.forms import gerund, third
from training.words import written_like

_NEGATED = {
    "can": "can't",
    "could": "couldn't",
    "will": "won't",
    "would": "wouldn't",
    "should": "shouldn't",
    "do": "don't",
    "does": "doesn't",
    "did": "didn't",
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
    "has": "hasn't",
    "have": "haven't",
    "had": "hadn't",
    "must": "mustn't",
}
_AFFIRMED = {negated: word for word, negated in _NEGATED.items()} | {
    "cannot": "can",
    "cant": "can",
    "dont": "do",
    "doesnt": "does",
    "didnt": "did",
    "isnt": "is",
    "wont": "will",
    "arent": "are",
}
_CONTRACTED = "|".join(word.replace("'", "['’]") for word in _AFFIRMED)
_AUXILIARY = "|".join(_NEGATED)
_WHY = re.compile(rf"\bwhy (?P<aux>{_AUXILIARY})\b(?! (?:not|n't|it|that|this|there|you|we) )", re.IGNORECASE)
_WHICH = re.compile(
    r"\b(?:what|which|who|whom)(?: (?!is|are|was|were|to|do|does|did|can|should|would|will)\w+){0,2} "
    r"(?P<aux>can|should|could|do|does|did|will)(?= (?:i|you|we|they|people|he|she|a|the|one|women|"
    r"men|children|students|some)\b)"
    r"(?! (?:you|we|i|they|people) (?:think|mean|call|say|feel|like best|want|do)\b)",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    rf"\b(?:who|that|if (?:i|you|we|they|he|she|it|someone|a \w+|the \w+)|when (?:i|you|they|someone)|"
    rf"because (?:i|he|she|they)) "
    rf"(?P<aux>{_AUXILIARY})\b(?!['’\-])(?! (?:not|never|n't|it|i|you|we|they|he|she|to)\b)",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"(?<=\w )(?P<aux>is|was|were|are|has|had|can|will|would|could|should)"
    r"(?= [a-z])(?! (?:not|never|no|to|only|like|n't)\b)"
)
_HOW_TO = re.compile(r"\bhow (?P<to>to )(?!not\b)[a-z]+\b", re.IGNORECASE)
_HOW_DO = re.compile(
    r"^how (?:do|can|should) (?:i|you|we|one|people) (?P<verb>[a-z]+)\b(?! (?:up|out|off|on|in|down|over)\b)",
    re.IGNORECASE,
)
_AVOIDED = frozenset(
    """
    get lose gain make become use eat drink sell buy pay break damage change share show send wake burn waste miss fail
    fall forget catch hurt spend sleep grow kill spread upset delete remove lose repeat overwrite trigger
    """.split()
)
_NOT = re.compile(
    r"(?<!why)(?<!or)(?<!if)(?<!and)(?<!but)(?<!whether) not\b(?! (?:only|just|sure|to mention|even|"
    r"necessarily|so|the same|as|all|yet|that)\b)(?!\?|$)",
    re.IGNORECASE,
)
_CANT = re.compile(
    rf"(?:(?P<why>why|what|which|who)\s+(?:\w+\s+)??)?(?:(?P<subject>i|you|we|they|people|he|she|it|"
    rf"who|that)\s+)?\b(?P<aux>{_CONTRACTED})\b(?P<next>\s+\w+)?",
    re.IGNORECASE,
)
_FIXED_AFTER = re.compile(
    r"\s+(?:you|we|i|it|they|he|she|know|think|wait|help|understand|see|feel|want|have to|necessarily|"
    r"seem|matter|mind|care|really)\b",
    re.IGNORECASE,
)
_NEVER = re.compile(r"\bnever\b(?! (?:mind|before|ending|again|been so)\b)(?!-)", re.IGNORECASE)
_ALWAYS = re.compile(r"\balways\b(?!-)", re.IGNORECASE)
_WITHOUT = re.compile(r"\bwithout\b(?! (?:a doubt|question|further|fail|\w+ing\b))(?!\s*[?.,]|$)", re.IGNORECASE)
_WITH = re.compile(
    r"(?<=\w )\bwith\b(?= (?:a|an|any|the help|no|insurance|sugar|milk|alcohol|experience|"
    r"medication|glasses|exercise|"
    r"internet|wifi|surgery|fever|pain|coaching|food|water|water|permission|visa|"
    r"credit|money|root|rooting|gluten)\b)",
    re.IGNORECASE,
)
_BOUND_WITH = re.compile(
    r"\b(?:deal|dealing|wrong|do|done|doing|come|comes|came|coming|up|cope|coping|compare|compared|"
    r"comparing|agree|disagree|love|"
    r"fall|fell|relationship|problem|problems|issue|issues|help|helps|start|begin|end|associated|"
    r"along|together|starts|begins|"
    r"familiar|obsessed|happy|satisfied|meet|talk|talking|speak|chat|married|contact|interact|interview|affair|connect|"
    r"connected|match|replace|replaced|provide|provided|filled|covered|friends|friend|sex|compatible|"
    r"consistent|angry|break|"
    r"broke|breaking|date|date|stuck|mix|mixed|combine|combined|begins|ends|experience|experiences|conversation|wrong|"
    r"flirt|sleep|bored|involved|charged|diagnosed|date|register|registered|integrate|merge|sync|"
    r"share|shared|difference|"
    r"argue|patient|careful|away|communicate|equipped|endowed|born|infected|partner|play|played|out|"
    r"job|mess|fight|war)\s+$",
    re.IGNORECASE,
)
_PARTS = tuple(
    tuple(pair.split("/"))
    for pair in """
    safe/unsafe healthy/unhealthy legal/illegal possible/impossible fair/unfair moral/immoral ethical/unethical
    normal/abnormal usual/unusual employed/unemployed limited/unlimited paid/unpaid stable/unstable
    successful/unsuccessful professional/unprofessional pleasant/unpleasant popular/unpopular reliable/unreliable
    realistic/unrealistic secure/insecure sufficient/insufficient visible/invisible valid/invalid correct/incorrect
    complete/incomplete accurate/inaccurate active/inactive adequate/inadequate appropriate/inappropriate
    capable/incapable consistent/inconsistent convenient/inconvenient curable/incurable direct/indirect
    effective/ineffective efficient/inefficient eligible/ineligible formal/informal organic/inorganic
    secure/insecure significant/insignificant tolerant/intolerant voluntary/involuntary mature/immature
    mortal/immortal perfect/imperfect polite/impolite practical/impractical probable/improbable rational/irrational
    regular/irregular relevant/irrelevant responsible/irresponsible reversible/irreversible
    replaceable/irreplaceable literate/illiterate logical/illogical legitimate/illegitimate honest/dishonest
    loyal/disloyal obedient/disobedient qualified/unqualified certain/uncertain clear/unclear
    comfortable/uncomfortable common/uncommon conscious/unconscious faithful/unfaithful familiar/unfamiliar
    fit/unfit friendly/unfriendly happy/unhappy helpful/unhelpful important/unimportant intended/unintended
    intentional/unintentional interesting/uninteresting likely/unlikely lucky/unlucky natural/unnatural
    necessary/unnecessary official/unofficial predictable/unpredictable productive/unproductive
    saturated/unsaturated skilled/unskilled structured/unstructured supervised/unsupervised treated/untreated
    vaccinated/unvaccinated verified/unverified willing/unwilling painful/painless harmful/harmless useful/useless
    hopeful/hopeless careful/careless meaningful/meaningless powerful/powerless fearful/fearless tasteful/tasteless
    constitutional/unconstitutional attractive/unattractive available/unavailable avoidable/unavoidable
    bearable/unbearable believable/unbelievable breakable/unbreakable invasive/noninvasive fiction/nonfiction
    profit/nonprofit smoker/nonsmoker smokers/nonsmokers vegetarian/non-vegetarian vegetarians/non-vegetarians
    alcoholic/non-alcoholic refundable/non-refundable toxic/non-toxic verbal/nonverbal infectious/non-infectious
    contagious/non-contagious muslim/non-muslim muslims/non-muslims diabetic/non-diabetic technical/non-technical
    linear/nonlinear trivial/nontrivial resident/nonresident prescription/non-prescription
    """.split()
)
_OTHER_PART = dict(pair for one, two in _PARTS for pair in ((one, two), (two, one)))
_PART = re.compile(
    r"(?<![\w\-])(?:" + "|".join(sorted(_OTHER_PART, key=len, reverse=True)) + r")(?![\w\-])", re.IGNORECASE
)


_ALSO_VERBS = frozenset("secure correct complete direct perfect fit welcome limited register".split())
_VERB_BEFORE = re.compile(r"\b(?:to|i|you|we|they|can|will|should|not|and|please)\s+$", re.IGNORECASE)
_BE_BEFORE = re.compile(
    r"\b(?:have|has|had|been|was|were|be|is|are|am|get|got|getting|i|he|she|we|they|it|pvt|private|not)\s+$",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|never|without|no|nor|neither|nothing|nobody|none|cannot|cant|dont|wont)\b|n['’]t\b", re.IGNORECASE
)
_SUGGESTED = re.compile(r" (?:you|we|i) (?:suggest|recommend|advise|prefer|do|think|mean)\b", re.IGNORECASE)
_GOT = re.compile(
    r"get (?:rid|over|more|better|in|into|out|good|back|free|a|an|the|my|started|through|to)\b|(?:use|"
    r"make|become|change|eat|drink|grow)\b(?! (?:sick|mistakes|fat|debt))",
    re.IGNORECASE,
)


def _edits(text: str, chance: Random) -> Iterator[Edit]:
    low = text.lower()
    yield from _put_in(text, chance)
    yield from _taken_out(text)
    for pattern, new in ((_NEVER, "always"), (_ALWAYS, "never"), (_WITHOUT, "with"), (_WITH, "without")):
        for match in pattern.finditer(text):
            if not re.search(rf"\b{new}\b", low) and not _BOUND_WITH.search(text[: match.start()]):
                yield Edit(*match.span(), written_like(new, match.group()))
    for match in _PART.finditer(text):
        if not _describes(match, text):
            continue
        other = _OTHER_PART[match.group().lower()]
        if not re.search(rf"\b{other}\b|\bnot\b|n't\b|\b(?:or|as|how|vs)\s+{re.escape(match.group().lower())}", low):
            yield Edit(*match.span(), written_like(other, match.group()))


def _describes(match: re.Match[str], text: str) -> bool:
    """Return whether a word that may also be a verb or a part of one is an adjective."""
    before, after = text[: match.start()], text[match.end() :]
    if re.match(
        r" (?:issues?|process|system|advice|actions?|age|rights|team|notice|department|procedures?|"
        r"drinking|dispute|battle|form|aid|proceedings)\b",
        after,
    ):
        return False
    if match.group().lower() == "normal" and before.endswith(" to "):
        return False
    if match.group().lower() in _ALSO_VERBS and _VERB_BEFORE.search(before):
        return False
    if match.group().lower().endswith(("ed", "paid", "fit")):
        return bool(re.match(r" [a-z]{4,}", after)) and not _BE_BEFORE.search(before)
    return not (match.group()[0].isupper() and before.strip() and re.match(r" [A-Z]", after))


def _put_in(text: str, chance: Random) -> Iterator[Edit]:
    if _DENIED.search(text):
        return
    patterns = [_WHY, _WHICH, _RELATIVE] + ([_STATED] if text.rstrip().endswith(".") else [])
    for pattern in patterns:
        for match in list(pattern.finditer(text))[:2]:
            word = match.group("aux")
            if (pattern is _RELATIVE and match.start() == 0) or _SUGGESTED.match(text[match.end() :]):
                continue
            new = f"{word} not" if pattern is _STATED else written_like(_NEGATED[word.lower()], word)
            yield Edit(*match.span("aux"), new)
    for match in _HOW_TO.finditer(text):
        verb = text[match.end("to") : match.end()]
        yield Edit(match.start("to"), match.start("to"), "not ")
        if verb.lower() in _AVOIDED and not _GOT.match(verb + text[match.end() :]):
            yield Edit(match.start("to"), match.end(), chance.choice(["to avoid ", "to stop "]) + gerund(verb.lower()))
    for match in _HOW_DO.finditer(text):
        if not _GOT.match(text[match.start("verb") :]) and match.group("verb").lower() in _AVOIDED:
            yield Edit(*match.span("verb"), chance.choice(["avoid ", "stop "]) + gerund(match.group("verb").lower()))


def _taken_out(text: str) -> Iterator[Edit]:
    for match in _NOT.finditer(text):
        if len(text[: match.start()].split()) > 1:
            yield Edit(*match.span(), "")
    for match in _CANT.finditer(text):
        if match.start("aux") == 0 or (_FIXED_AFTER.match(text[match.end("aux") :]) and not match.group("why")):
            continue
        if not (match.group("why") or match.group("subject")) or re.match(r"\s+(?:you|we)\b", text[match.end("aux") :]):
            continue
        word = _AFFIRMED[match.group("aux").lower().replace("’", "'")]
        follows = match.group("next") or ""
        if match.group("subject") and word in {"do", "does", "did"}:
            if word == "did" or not follows:
                continue
            yield Edit(match.start("aux"), match.end(), third(follows.strip()) if word == "does" else follows.strip())
        else:
            yield Edit(*match.span("aux"), written_like(word, match.group("aux")))


NEGATION = Contrast("negation", _edits)
