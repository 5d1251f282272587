"""Attributes before and after their noun: `the capital of France`, `France's capital`, `France capital`."""

import re
from random import Random

from training.rewordings.shape import is_keywords, like_start

_NOUNS = "|".join(
    sorted(
        "capital;population;president;prime minister;king;queen;history;economy;constitution;climate;culture;flag;"
        "currency;GDP;age;height;weight;length;price;salary;net worth;wife;husband;mother;father;daughter;son;parents;"
        "brother;sister;childhood;birthday;death;biography;career;founder;CEO;owner;author;director;foreign policy;"
        "national animal;national bird;national anthem;birthplace;nationality;religion;capital city;total population;"
        "first president;first prime minister;largest city;biggest city;official language;national sport;mayor;"
        "governor;chief minister;finance minister;current president;future;tax system;education"
        " system;highest mountain;"
        "longest river;national flower;richest man;head office;headquarters;market share;stock price;military strength;"
        "literacy rate;crime rate;unemployment rate;inflation rate;GDP growth;coastline;anthem;wealth".split(";"),
        key=len,
        reverse=True,
    )
)
_NAME = r"(?:[A-Z][\w.]+(?: [A-Z][\w.]+){0,2})"
_AFTER = re.compile(rf"\b(?P<the>[Tt]he )?(?P<noun>{_NOUNS}) of (?P<owner>{_NAME})(?=\s*[?.!]?\s*\Z| in \d{{4}}\b)")
_BEFORE = re.compile(rf"(?<![A-Z]\w )\b(?P<owner>{_NAME})['’]s (?P<noun>{_NOUNS})(?=\s*[?.!]?\s*\Z| in \d{{4}}\b)")
_TOPICS = (
    r"symptoms|signs|causes?|treatments?|side effects|benefits|history|definition|meaning|price|cost|statistics"
    r"|population|capital|incubation period|transmission|prevention|diagnosis|origin|pictures|images|photos|map|types"
    r"|characteristics|advantages|disadvantages|effects|risks?|complications|stages|prices|rate limits|lyrics|recipes?"
)
_TOPIC_OF = re.compile(rf"(?:the )?(?P<topic>{_TOPICS}) (?:of|for) (?:the )?(?P<thing>[\w.+-]+(?: [\w.+-]+)?)")
_THING_TOPIC = re.compile(rf"(?P<thing>[\w.+-]+(?: (?!side )[\w.+-]+)?) (?P<topic>{_TOPICS})")
_NOT_NAMES = frozenset("the a an what who which where is are my his her their its this that and or of in".split())


class Genitive:
    """Puts an attribute before or after its noun, for nouns and owners where both orders say the same."""

    name = "genitive"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        if is_keywords(text):
            line = _topic(text, chance)
            if line is not None:
                return line
        after = _AFTER.search(text)
        if after and (after["the"] or _stands_alone(text[: after.start()])):
            owner = after["owner"]
            new = f"{owner}{'’' if '’' in text else chr(39)}{'' if owner.endswith('s') else 's'} {after['noun']}"
            return text[: after.start()] + new + text[after.end() :]
        before = _BEFORE.search(text)
        if before and not text[: before.start()].rstrip().lower().endswith((" of", " and", " or", " the", "'s", "’s")):
            owner, start = before["owner"], before.start()
            if start == 0 and owner.split()[0].lower() in {"what", "who", "is", "how", "did", "was", "why"}:
                return None
            the = "the " if text[:start].strip() else "The "
            return text[:start] + f"{the}{before['noun']} of {owner}" + text[before.end() :]
        return None


def _stands_alone(before: str) -> bool:
    """Return whether a noun after `before` has neither article nor attribute."""
    return not before.strip() or before.rstrip().endswith((",", " is", " was", " as", " became", " become"))


def _topic(text: str, chance: Random) -> str | None:
    plain = text.strip()
    of = _TOPIC_OF.fullmatch(plain.lower()) if plain == plain.lower() else None
    if of and not set(of["thing"].split()) & _NOT_NAMES:
        return chance.choice([f"{of['thing']} {of['topic']}", f"{of['topic']} {of['thing']}"])
    thing = _THING_TOPIC.fullmatch(plain) if plain == plain.lower() else None
    if thing and not set(thing["thing"].split()) & _NOT_NAMES and not re.search(rf"\b(?:{_TOPICS})\b", thing["thing"]):
        form = chance.choice(["{topic} of {thing}", "{topic} of {thing}", "the {topic} of {thing}", "{topic} {thing}"])
        return like_start(form.format(**thing.groupdict()), text)
    return None
