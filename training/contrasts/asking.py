"""Contrasts of the question word (when for why, where for how, who for when), or of maker, cost and cause."""

import re
from collections.abc import Iterator
from random import Random

from training.contrasts.edit import Contrast, Edit
from training.words import written_like

_ASKED = re.compile(
    r"^(?:(?P<lead>[\w .,'-]{2,40}): )?(?P<word>how|why|when|where)(?P<aux> (?:do|does|did|is|was|"
    r"were|should|can|will|would|has|have|are) )(?P<who>\w+)(?P<rest> .*)?$",
    re.IGNORECASE | re.DOTALL,
)
_SWAPS = {
    (line.split(":")[0].split()[0], line.split(":")[0].split()[1]): tuple(line.split(":")[1].strip().split("/"))
    for line in """
    why did: when/how/where; when did: why/how/where; where did: when/why; how did: when/why;
    why was: when/where; when was: why/where/how; where was: when; how was: when/why;
    why were: when/where; when were: why/where; why should: how/when/where; how should: why/when/where;
    when should: why/how/where; where should: when/why; why do: when/how often/where; when do: why/where;
    where do: why/when; how do: why should/when should/how often should/where should;
    why does: when/how often; when does: why/where; where does: when/why; how does: when/why;
    how can: when can/why should/where can/when should; where can: when can/how soon can;
    when can: where can/how often can; when will: where/why/how; how will: when/why; where will: when;
    why will: when/how; why is: since when is/how often is
    """.split(";")
}
"""For a question word and the verb after it, the words that may ask something else in its place."""
_PERSON = frozenset("i you we they he she one someone people".split())
_BOUND_TO_WORD = re.compile(
    r"^ (?:feel|come|look|mean|like|know|compare|think|say)\b|\b(?:from|to|like|look|feel)\W*$", re.IGNORECASE
)
_HOW_TO = re.compile(r"^how to (?=[a-z])", re.IGNORECASE)
_TO = ("when to ", "where to ", "why ", "how often to ")
_DEFINED = re.compile(
    r"^what (?:is|are) (?P<article>an? |the )?(?P<thing>(?!the\b|it\b|that\b|this\b|some\b|best\b|"
    r"your\b|my\b|there\b|good\b|a\b|wrong\b|better\b|most\b)[\w.+#'-]+(?: (?!of\b|for\b|in\b|to\b|"
    r"like\b|the\b|on\b|and\b|with\b|between\b|you\b|your\b)[\w.+#'-]+)?)\s*(?P<end>\?*)\s*$",
    re.IGNORECASE,
)
_OF_THING = (
    "who invented {}",
    "what are the disadvantages of {}",
    "what are the alternatives to {}",
    "what is the history of {}",
    "where is {} used",
    "who uses {}",
    "what is {} not good for",
    "how much does {} cost",
)
_CAUSE = re.compile(r"\bwhat (causes?|caused)\b", re.IGNORECASE)
_QUANTITY = re.compile(
    r"\bhow (long|often|old|tall|far|big|many times|fast|soon|heavy|expensive)(?= (?:does|do|is|are|"
    r"was|will|should|can|did)\b)(?!.*\b(?:takes?|since)\b)",
    re.IGNORECASE,
)
_QUANTITIES = {
    "often": ("long", "early"),
    "long": ("often",),
    "old": ("tall", "rich"),
    "tall": ("old", "heavy"),
    "big": ("old", "far away", "heavy"),
    "far": ("big", "old"),
    "fast": ("heavy", "expensive"),
    "soon": ("often", "long"),
    "heavy": ("tall", "expensive"),
    "expensive": ("heavy", "old", "safe"),
    "many times": ("long",),
}
_WHO = re.compile(
    r"^(who)(?= (?:invented|discovered|founded|built|killed|wrote|won|created|started|designed|made|"
    r"directed|composed)\b)(?P<rest> \w+ .*?)(?P<end>\s*\??\s*)$",
    re.IGNORECASE,
)
_BASES = {
    "invented": "invented",
    "discovered": "discovered",
    "founded": "founded",
    "built": "built",
    "killed": "killed",
    "wrote": "written",
    "created": "created",
    "started": "started",
    "designed": "designed",
    "made": "made",
    "composed": "composed",
}


def _edits(text: str, chance: Random) -> Iterator[Edit]:
    match = _ASKED.match(text)
    if match:
        yield from _other_word(match, chance)
    match = _HOW_TO.match(text)
    if match and not re.match(r"how to (?:be|get|say|spell|use)\b", text, re.IGNORECASE):
        yield Edit(*match.span(), written_like(chance.choice(_TO), text))
    match = _DEFINED.match(text)
    if match:
        thing = (match.group("article") or "") + match.group("thing")
        many = re.match(r"what are", text, re.IGNORECASE)
        forms = _OF_THING[:4] if many else _OF_THING
        yield Edit(0, match.end("thing"), written_like(chance.choice(forms).format(thing), text))
    for match in _CAUSE.finditer(text):
        new = {"causes": "prevents", "cause": "prevent", "caused": "ended"}[match.group(1).lower()]
        yield Edit(*match.span(1), new)
    for match in _QUANTITY.finditer(text):
        word = match.group(1).lower()
        yield Edit(*match.span(1), chance.choice(_QUANTITIES[word]))
    match = _WHO.match(text)
    if match:
        yield from _made(match, text, chance)


def _other_word(match: re.Match[str], chance: Random) -> Iterator[Edit]:
    word, aux, who = match.group("word").lower(), match.group("aux").strip().lower(), match.group("who").lower()
    others = _SWAPS.get((word, aux), ())
    if (word, aux) == ("how", "do") and who not in _PERSON - {"they", "he", "she"}:
        others = ("why", "when")
    rest = match.group("rest")
    if not others or not rest or _BOUND_TO_WORD.search(rest):
        return
    new = chance.choice(others)
    if " " not in new or new == "how often":
        new = f"{new} {aux}"
    yield Edit(match.start("word"), match.end("aux") - 1, written_like(new, match.group("word")))


def _made(match: re.Match[str], text: str, chance: Random) -> Iterator[Edit]:
    verb, _, rest = match.group("rest").strip().partition(" ")
    done = _BASES.get(verb.lower())
    if done and rest and len(rest.split()) < 8:
        was = "were" if re.match(r"\w+s$", rest) and not rest.endswith(("ss", "us")) else "was"
        new = f"{chance.choice(['when', 'where', 'why', 'how'])} {was} {rest} {done}"
        yield Edit(0, match.end("rest"), written_like(new, text))


ASKING = Contrast("asking", _edits)
