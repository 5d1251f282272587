"""Swapped roles: two names, numbers, adjectives or nouns of one kind change places in a sentence.

Not where they stand side by side in a list or a pair, whose order means nothing (as in PAWS, Zhang et al. 2019).
"""

import re
from collections.abc import Iterator
from itertools import combinations
from random import Random

from harness.core.text import STOP_WORDS
from training.contrasts.edit import Contrast, Edit, asking, swapped

Span = tuple[int, int]
MAX_BETWEEN = 160
"""Characters."""

_NAME = re.compile(r"(?<![\w.'’-])[A-Z][\w’-]*\w(?:(?: (?:of|de|van|von|al))? [A-Z][\w’-]*\w)*(?!\.\w)")
_NO_NAME = frozenset(
    """
    i've i'm i'll i'd january february march april may june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday mr mrs dr st god
    """.split()
)
_NUMBER = re.compile(r"(?<![\w.,/$€£-])\d[\d,]*(?:\.\d+)?(?![\w%/-]|[.,]\d)")
_ADJECTIVE_KINDS = tuple(
    frozenset(line.split())
    for line in """
    northern southern eastern western north south east west;
    american british german french english indian chinese japanese italian spanish russian african european asian
        roman greek canadian australian;
    local national international regional federal royal central provincial;
    public private political military religious social economic medical legal musical cultural industrial commercial
        financial academic scientific;
    young old new modern ancient medieval former current original early late;
    large small big little long short high low upper lower;
    black white red green blue yellow brown;
    male female senior junior professional amateur;
    first second third fourth fifth last;
    left right
    """.split(";")
)
_ADJECTIVE = re.compile(
    r"\b(?:"
    + "|".join(sorted({word for kind in _ADJECTIVE_KINDS for word in kind}, key=len, reverse=True))
    + r")(?= [a-z]{3,})",
    re.IGNORECASE,
)
_NOUN_KINDS = tuple(
    frozenset(line.split())
    for line in """
    king queen prince princess emperor president minister governor mayor general captain bishop pope leader chief
        officer duke earl lord;
    father mother son daughter brother sister husband wife uncle aunt nephew niece grandfather grandmother cousin
        parents children boy girl man woman men women boys girls;
    teacher student teachers students professor professors doctor patient patients doctors nurse lawyer client
        engineer artist writer author editor director producer actor singer composer poet painter player coach
        manager employee employees employer employers boss owner customer customers;
    dog dogs cat cats horse horses cow cows bird birds fish snake snakes mouse mice human humans animal animals
        plant plants insects;
    city town village river lake mountain island country state county district province region capital port valley
        hill church castle school university;
    company bank government court army police team club party union;
    book film movie novel play poem series show song album band;
    car bus train truck bike plane ship boat engine battery;
    heart liver lung lungs kidney kidneys brain stomach skin blood bone muscle muscles;
    android iphone laptop phone computer tablet server browser database
    """.split(";")
)
_NOUN = re.compile(
    r"\b(?:"
    + "|".join(sorted({noun for kind in _NOUN_KINDS for noun in kind}, key=len, reverse=True))
    + r")\b(?!['’-])"
)
_SIDE = re.compile(
    r"^(?:[\s,;&/()`'\"+–.-]|\b(?:and|or|vs|versus|nor|the|a|an|his|her|its|their|my|your|both|with|"
    r"either|then|as|well|to|also|on|dash|in|like|including)\b)*$",
    re.IGNORECASE,
)
_EQUAL = re.compile(
    r"\b(?:between|vs|versus|differ\w*|compar\w*|similar\w*|same|equal\w*|both|together|marr\w+|met|"
    r"meet|meets|relationship|relation|related|along|among|across|"
    r"better|border\w*|include\w*|including|such as|distance|likes?|known as|called|named|alias|aka|"
    r"synonym\w*|merge\w*|e\.g|i\.e|consist\w*|each other|one another|"
    r"resembl\w+|versions?|cousins?|siblings?|adjacent|next to|or)\b",
    re.IGNORECASE,
)
_IDENTICAL = re.compile(
    r"^\W*(?:(?:is|are|was|were|became|=|aka|or|born|also|namely|i\.e\.)\W*(?:the|a|an|as)?|\(|"
    r"\))[\W\w]{0,3}$|^\s*[(,–-]",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(?:i|my|me|i'm|im|you|your)\b", re.IGNORECASE)


def _edits(text: str, chance: Random) -> Iterator[Edit]:
    stated = text.rstrip().endswith(".") and not _PERSONAL.search(text)
    finders = (_names, _nouns, _numbers, _adjectives) if stated else (_names, _nouns) if "?" in text else ()
    for start, end in asking(text):
        for finder in finders:
            pairs = [pair for pair in finder(text, start, end) if _ordered(text, *pair)]
            if pairs:
                yield swapped(text, *chance.choice(pairs))


def _ordered(text: str, first: Span, second: Span) -> bool:
    """Return whether it matters which of two stretches stands first."""
    one, two, between = text[slice(*first)].lower(), text[slice(*second)].lower(), text[first[1] : second[0]]
    if (
        len(between) > MAX_BETWEEN
        or re.search(r"[.?!;:]\s", between)
        or _SIDE.match(between)
        or _IDENTICAL.match(between)
    ):
        return False
    if set(one.split()) & set(two.split()) or one[:4] == two[:4] or "/" in text[first[0] - 1 : first[1] + 1]:
        return False
    if any(text.lower().count(part) > 1 for part in (one, two)) or re.search(
        r"\bprime\s+$", text[: second[0]], re.IGNORECASE
    ):
        return False
    return not _EQUAL.search(text[max(0, first[0] - 40) : second[1] + 15]) and not _listed(between)


def _listed(between: str) -> bool:
    """Return whether two are in one list: only others like them, commas and "and" between them."""
    return bool(_SIDE.match(_ADJECTIVE.sub("", _NUMBER.sub("", _NAME.sub("", between)))))


def _names(text: str, start: int, end: int) -> list[tuple[Span, Span]]:
    if text[start:end].istitle() or text[start:end].isupper():
        return []
    asked = text[start:end].rstrip().endswith("?")
    spans = [match.span() for match in _NAME.finditer(text, start, end) if _is_name(match, text, start)]
    spans = [span for span in spans if not asked or _stands_free(text, span)]
    return [pair for pair in combinations(spans, 2) if _alike(text, *pair) and (not asked or _related(text, *pair))]


def _is_name(match: re.Match[str], text: str, start: int) -> bool:
    first = match.group().split()[0].lower()
    begins = not text[start : match.start()].strip() or text[: match.start()].rstrip()[-1:] in set(".?!:")
    if first.endswith("ing") or re.match(r"[ -]?\d", text[match.end() :]):
        return False
    return (
        first not in STOP_WORDS | _NO_NAME
        and not (begins and " " not in match.group())
        and text[match.end() : match.end() + 1] not in {"'", "’"}
    )


def _stands_free(text: str, span: Span) -> bool:
    """Return whether a name is a phrase: no noun right after it, no article before it; or a subject."""
    after = re.match(r"\s+([a-z]+)", text[span[1] :])
    if re.search(r"\b(?:did|does|will|can|should|could|would)\s+$", text[: span[0]], re.IGNORECASE):
        return after is not None and not after.group(1).endswith("s")
    return (after is None or after.group(1) in STOP_WORDS or after.group(1).endswith("ed")) and not re.search(
        r"\b(?:a|an|the|my)\s+$", text[: span[0]], re.IGNORECASE
    )


def _alike(text: str, first: Span, second: Span) -> bool:
    """Return whether an article stands before both names or before neither."""
    return (
        len({bool(re.search(r"\b(?:a|an|the)\s+$", text[: span[0]], re.IGNORECASE)) for span in (first, second)}) == 1
    )


def _related(text: str, first: Span, second: Span) -> bool:
    """Return whether a statement connects two names: a content word is between them, no bracket."""
    between = text[first[1] : second[0]]
    bracketed = {text[span[0] - 1 : span[0]] for span in (first, second)} & set("([")
    return (
        not bracketed
        and "(" not in between
        and any(word not in STOP_WORDS for word in re.findall(r"[a-z]{3,}", between))
    )


def _numbers(text: str, start: int, end: int) -> list[tuple[Span, Span]]:
    spans = [match.span() for match in _NUMBER.finditer(text, start, end)]
    kinds = [bool(re.fullmatch(r"(?:1[5-9]|20)\d\d", text[slice(*span)])) for span in spans]
    return [(one, two) for (one, a), (two, b) in combinations(zip(spans, kinds, strict=True), 2) if a == b]


def _adjectives(text: str, start: int, end: int) -> list[tuple[Span, Span]]:
    return _same_kind(text, [match.span() for match in _ADJECTIVE.finditer(text, start, end)], _ADJECTIVE_KINDS)


def _nouns(text: str, start: int, end: int) -> list[tuple[Span, Span]]:
    pairs = _same_kind(text, [match.span() for match in _NOUN.finditer(text, start, end)], _NOUN_KINDS)
    return [(one, two) for one, two in pairs if (text[one[1] - 1] == "s") == (text[two[1] - 1] == "s")]


def _same_kind(text: str, spans: list[Span], kinds: tuple[frozenset[str], ...]) -> list[tuple[Span, Span]]:
    words = {span: text[slice(*span)] for span in spans}
    return [
        (one, two)
        for one, two in combinations(spans, 2)
        if words[one][0].isupper() == words[two][0].isupper()
        and any({words[one].lower(), words[two].lower()} <= kind for kind in kinds)
    ]


ROLES = Contrast("roles", _edits)
