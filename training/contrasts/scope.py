"""Restrictions: one put in, taken out or exchanged — for free, online, at home, in a country, only, the top ten."""

import re
from collections.abc import Iterator
from random import Random

from training.contrasts.edit import Contrast, Edit
from training.contrasts.forms import plural
from training.words import written_like

_KINDS = tuple(
    tuple(" ".join(phrase.split()) for phrase in line.split("/"))
    for line in """
    in the US/in India/in the UK/in Canada/in Germany/in Australia/in Europe/in China/in New York/in California;
    for free/for money; online/offline/in person; at home/at work/at school/at the gym;
    without money/without a computer/without experience/without a degree/without help/without internet;
    in a month/in one day/in a year/overnight/in 5 minutes/in two weeks; in winter/in summer;
    on Android/on an iPhone/on Windows/on a Mac/on Linux; while travelling/while pregnant/while working full time
    """.split(";")
)
_PLACES = (
    *("in the US", "in India", "in the UK", "in Canada", "in Germany", "in Australia", "in Europe", "in New York"),
    *("without money", "without experience", "without a degree", "online", "on a small budget"),
)
_LESSONS = (
    *("online", "for free", "at home", "in a month", "in one day", "in two weeks", "without a teacher", "after 40"),
    *("while working full time", "while travelling", "without the internet"),
)
_TASKS = (
    *("at home", "at work", "in a month", "in one day", "in 5 minutes", "in two weeks", "overnight", "without help"),
    *("on a small budget", "without any tools", "while travelling", "for free"),
)
_DEVICE = (
    *("on Android", "on an iPhone", "on Windows", "on a Mac", "on Linux"),
    *("without internet", "without a password", "for free"),
)
_CHOSEN = (
    (
        "college university school place hotel job company city bank hospital institute startup beach doctor "
        "restaurant lawyer agency course market business career program internship",
        ("in the US", "in India", "in the UK", "in Canada", "in Germany", "in Australia", "in Europe", "in New York"),
    ),
    (
        "laptop phone smartphone camera headphone earphone bike car tablet watch shoe printer tv mattress router gift "
        "speaker mobile mask monitor",
        (
            "under $100",
            "under $500",
            "for travelling",
            "of 2012",
            "in the UK",
            "in India",
            "for children",
            "for seniors",
        ),
    ),
    (
        "movie film song book album game player band novel series show singer actor documentary comedy",
        ("of 2012", "of the 1990s", "of the 1970s", "for children", "of 2005", "from Germany", "from India"),
    ),
)
_CHOOSING = {form: pool for nouns, pool in _CHOSEN for noun in nouns.split() for form in (noun, plural(noun))}
_DIGITAL = re.compile(
    r"\b(?:file|pdf|video|photo|photos|app|password|email|account|wifi|wi-fi|screenshot|delete|"
    r"download|install|browser|youtube|facebook|"
    r"whatsapp|instagram|snapchat|gmail|software|music|message|messages|contacts|"
    r"game)\b",
    re.IGNORECASE,
)
_DOING_ASKED = re.compile(
    r"^(?:how (?:do|can|should|would) (?:i|you|we|one|someone)|how to|what (?:is|are) the (?:best |"
    r"easiest |fastest )?(?:way|ways|method|methods) to|where can i|"
    r"what should i do to|is it possible to|can i|can you|can one|is it legal to|tips (?:to|for)|ways "
    r"to) (?P<verb>[a-z]+)\b",
    re.IGNORECASE,
)
_CHOOSING_ASKED = re.compile(
    r"^(?:(?:what|which|who) (?:is|are) (?:the |some (?:of the )?)?)?(?:best|top|good|cheapest|most "
    r"popular|worst|famous|highest paid|cheap|top 10|top ten) "
    r"(?:\w+ ){0,2}?(?:\w+)$",
    re.IGNORECASE,
)
_POOLS = (
    (
        "earn start become apply register invest buy sell rent hire publish meet open find advertise retire",
        _PLACES,
    ),
    ("learn study practice practise improve teach understand memorize master", _LESSONS),
    (
        "lose gain reduce increase cure treat remove grow save prepare cook clean fix repair build create write edit",
        _TASKS,
    ),
)
_POOL = {verb: pool for verbs, pool in _POOLS for verb in verbs.split()}
_DIGITAL_ACTS = frozenset(
    "delete download install recover send convert edit play watch create remove save share open".split()
)
_LIMITED = re.compile(
    r"\b(?:in|at|on|online|offline|free|without|within|near|from|under|over|before|after|during|while|"
    r"if|when|since|with|as|by|for|only|"
    r"my|this|that|which|who|because|between|or|and|via|using|where)\b",
    re.IGNORECASE,
)
_ALL = sorted({phrase for kind in _KINDS for phrase in kind}, key=len, reverse=True)
_KIND = {phrase.lower(): kind for kind in _KINDS for phrase in kind}
_STANDING = re.compile(
    r"(?<=\w )(?:" + "|".join(re.escape(phrase) for phrase in _ALL) + r")(?=\s*[?!]*\s*$|\s+(?:for|with|under)\b)",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?<!as well)(?<!such)(?<=\w) (?:for free|online|at home|without (?:a |an |any |the |"
    r"my )?\w+|in (?:the )?(?:us|usa|uk|india|canada|australia|germany|china|japan|europe|"
    r"united states|pakistan|singapore|bangalore|delhi|mumbai|london|new york|california|chennai|"
    r"hyderabad|pune)|under (?:rs\.? ?)?[$₹]?\d[\d,k]*(?: (?:dollars|rupees|inr|lakhs?))?|"
    r"during pregnancy|on (?:android|iphone|windows(?: \d+)?|mac|linux)|near me|while pregnant|in "
    r"(?:a|one|two|three|\d+) (?:days?|weeks?|months?|year|minutes?))(?=\s*\??\s*$)",
    re.IGNORECASE,
)
_OPEN_BEFORE = re.compile(
    r"\b(?:is|are|was|were|be|live|living|happen\w*|born|made|located|to|like|and|or|than|what|"
    r"one|exist\w*|do|does|did|stay\w*|go|going|it|interested|believe|available|buy|shopping|"
    r"i|you|we|they|there|from|most|more|work\w*|used|done|grow|found|it's|"
    r"died?|much|many|people)$",
    re.IGNORECASE,
)
_YES_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|can|how many|how much)\b", re.IGNORECASE)
_TOP = re.compile(
    r"\btop (3|5|10|20|50|100|five|ten|three)\b|(?<=\bthe )first(?= (?:\w+ )?(?:man|woman|person|"
    r"country|movie|film|book|president|step|game|computer|car|phone|song|city)\b)",
    re.IGNORECASE,
)
_TOPS = {"first": ["second", "last"], "five": ["ten", "three"], "ten": ["five", "three"], "three": ["ten", "five"]}
_ONLY = re.compile(r"\bonly (?=\w)(?<!not only )(?<!if only )(?<!the only )", re.IGNORECASE)


def _edits(text: str, chance: Random) -> Iterator[Edit]:
    end = len(text.rstrip(" ?.!"))
    yield from _exchanged(text, chance)
    for match in _TRAILING.finditer(text):
        before = text[: match.start() + 1]
        if not _OPEN_BEFORE.search(before) and len(before.split()) > (4 if _YES_NO.match(text) else 2):
            yield Edit(*match.span(), "")
    for match in _ONLY.finditer(text if "?" in text and len(text.split()) <= 12 else ""):
        if len(text[: match.start()].split()) > 1 and not re.search(
            r"\b(?:the|not|my|if|an|a|one|and|is|was|your|his|her|our|their|are)\s+$",
            text[: match.start()],
            re.IGNORECASE,
        ):
            yield Edit(*match.span(), "")
    if len(text.split()) <= 12 and not _LIMITED.search(text.split(" ", 3)[-1]):
        pool = _pool(text[:end])
        pool = tuple(phrase for phrase in pool if phrase.split()[-1].lower() not in text.lower())
        if pool:
            yield Edit(end, end, " " + _in_case(chance.choice(pool), text))


def _exchanged(text: str, chance: Random) -> Iterator[Edit]:
    for match in _STANDING.finditer(text):
        if text[: match.start()].rstrip().endswith((" as", " such")):
            continue
        others = [phrase for phrase in _KIND[match.group().lower()] if phrase.lower() != match.group().lower()]
        if others:
            yield Edit(*match.span(), _in_case(chance.choice(others), text))
    for match in _TOP.finditer(text):
        word = match.group(1) or match.group()
        others = _TOPS.get(word.lower()) or [top for top in ("3", "5", "10", "20", "50", "100") if top != word]
        yield Edit(match.end() - len(word), match.end(), written_like(chance.choice(others), word))


def _pool(asked: str) -> tuple[str, ...]:
    """Return the restrictions that a question without any may take."""
    match = _DOING_ASKED.match(asked)
    verb = match.group("verb").lower() if match else ""
    if verb in _DIGITAL_ACTS and _DIGITAL.search(asked):
        return _DEVICE
    if verb in _POOL:
        return _POOL[verb]
    return _CHOOSING.get(asked.lower().split()[-1], ()) if _CHOOSING_ASKED.match(asked) else ()


def _in_case(phrase: str, text: str) -> str:
    return phrase.lower() if text.islower() else phrase


SCOPE = Contrast("scope", _edits)
