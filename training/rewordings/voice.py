"""Active and passive, for questions and plain sentences of one verb."""

import re
from random import Random

from training.rewordings.agentless import turned
from training.rewordings.shape import begins_small, is_one_sentence, like_start, split_end

_VERBS = dict(
    verb.split("/")
    for verb in """
    wrote/written invented/invented discovered/discovered founded/founded directed/directed composed/composed
    painted/painted built/built created/created designed/designed developed/developed produced/produced
    killed/killed defeated/defeated married/married conquered/conquered assassinated/assassinated
    established/established introduced/introduced published/published owned/owned bought/bought acquired/acquired
    coined/coined drew/drawn sang/sung started/started elected/elected appointed/appointed murdered/murdered
    ruled/ruled recorded/recorded translated/translated edited/edited organized/organized sculpted/sculpted
    commissioned/commissioned launched/launched nominated/nominated illustrated/illustrated narrated/narrated
    financed/financed funded/funded sponsored/sponsored hosted/hosted trained/trained
    """.split()
)
_PASSIVE_OF = {participle: past for past, participle in _VERBS.items() if past != "married"}
_PAST = "|".join(_VERBS)
_DONE = "|".join(_VERBS.values())
_NAME = r"[A-Z][\w.'’-]*(?: (?:of |the |de |van )?[A-Z][\w.'’-]*){0,3}"
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December) "
_TAIL = rf"(?: (?:in|from|since|until|on|during) (?:{_MONTH})?(?:\d{{1,2}} ?, )?\d{{4}}| for [A-Z][\w.]+)?"
_THING = rf"(?:the (?:[\w-]+ ){{0,2}}[a-z]*[a-rt-z]|{_NAME})"
_WHO = re.compile(rf"(?P<who>[Ww]ho) (?P<verb>{_PAST}) (?P<thing>{_THING})")
_WHOM = re.compile(rf"(?:[Ww]ho was (?P<a>{_THING}) (?P<va>{_DONE}) by|[Bb]y whom was (?P<b>{_THING}) (?P<vb>{_DONE}))")
_PASSIVE = re.compile(
    rf"(?P<thing>(?:The (?:[a-z]+ )?[a-z]*[a-rt-z]|{_NAME}|It|He|She)) was (?P<verb>{_DONE}) by"
    rf" (?P<agent>{_NAME})(?P<tail>{_TAIL})"
)
_ACTIVE = re.compile(
    rf"(?P<agent>{_NAME}) (?P<verb>{_PAST}) (?P<thing>(?:the (?:[a-z]+ )?[a-z]*[a-rt-z]|{_NAME}))(?P<tail>{_TAIL})"
)
_ASKED = ("who was {thing} {done} by", "by whom was {thing} {done}", "who was it that {verb} {thing}",
    "who was the person who {verb} {thing}")  # fmt: skip
_OBJECT = {"it": "it", "he": "him", "she": "her"}
_NOT_AGENTS = frozenset(
    "who what which when where why how did does in the he she it they we you i this that there his her its".split()
)


class Voice:
    """Turns `Who wrote Emma?` into `Who was Emma written by?`, `Emma was written by Austen.` into `Austen wrote Emma.`,
    and back: past tense, singular, nothing else in the sentence.
    """

    name = "voice"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        body, end = split_end(text)
        if not is_one_sentence(text):
            return None
        said = _who(body, chance) or _statement(body) or _asked(body, chance)
        return said + end if said else None


def _who(body: str, chance: Random) -> str | None:
    """Turn a question after who did it."""
    who = _WHO.fullmatch(body)
    if who and not _plural(who["thing"]) and who["verb"] != "married":
        done = _VERBS[who["verb"]]
        return like_start(chance.choice(_ASKED).format(thing=who["thing"], done=done, verb=who["verb"]), body)
    whom = _WHOM.fullmatch(body)
    verb = _PASSIVE_OF.get(whom["va"] or whom["vb"]) if whom else None
    return like_start(f"who {verb} {whom['a'] or whom['b']}", body) if whom and verb else None


def _asked(body: str, chance: Random) -> str | None:
    """Turn a question of means or cause."""
    asked = turned(body, chance)
    if asked is None:
        return None
    return like_start(asked if begins_small(body) else re.sub(r"\bi\b", "I", asked), body)


def _statement(body: str) -> str | None:
    passive = _PASSIVE.fullmatch(body)
    if passive and passive["verb"] in _PASSIVE_OF:
        thing = passive["thing"]
        thing = _OBJECT.get(thing.lower(), thing[0].lower() + thing[1:] if thing.startswith("The ") else thing)
        return f"{passive['agent']} {_PASSIVE_OF[passive['verb']]} {thing}{passive['tail']}"
    active = _ACTIVE.fullmatch(body)
    if active and not _plural(active["thing"]) and active["agent"].split()[0].lower() not in _NOT_AGENTS:
        if active["verb"] in {"married", "started", "elected"}:
            return None
        thing = active["thing"][0].upper() + active["thing"][1:]
        return f"{thing} was {_VERBS[active['verb']]} by {active['agent']}{active['tail']}"
    return None


def _plural(thing: str) -> bool:
    return thing.endswith("s") and thing[:1].islower()
