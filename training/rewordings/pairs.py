"""`A and B` as `B and A`, where the order says nothing."""

import re

from training.rewordings.shape import ASKING, PREPOSITIONS

_WORD = r"[A-Za-z][\w+#]*"
_BEFORE = (
    r"(?P<before>(?:\A|\b(?:of|for|with|in|on|about|like|among|by|from|against|best|good|the|have"
    r"|without|include|both|cause|causes"
    r"|using|eating|eat|study|learn) ))"
)
_PAIR = re.compile(
    rf"{_BEFORE}(?P<first>{_WORD}) (?P<link>and|or|&) (?P<second>{_WORD})"
    r"(?P<after>(?=\s*\Z|\s*[?.,]| (?:in|on|for|with|is|are|at|by|from|to|during|have|has|do|does"
    r"|after|before|the same)\b))"
)
_BETWEEN = re.compile(
    r"(?P<head>.*\b(?:difference|differences|relationship|relation|distance|similarities|comparison"
    r"|connection|correlation"
    r"|link|compare|choose|conflict|love|war|contrast|similarity)s? between) (?P<first>(?:\S+"
    r" ){0,3}?\S+) and (?P<second>(?:\S+ ){0,3}?\S+?)",
    re.IGNORECASE,
)
_VERSUS = re.compile(
    r"(?P<first>\S+(?: \S+){0,2}) (?P<link>vs\.?|versus) (?P<second>\S+(?: \S+){0,2}?)(?P<tail>[:,] .*)?", re.IGNORECASE
)
_BETTER = re.compile(
    r"(?P<head>(?:which (?:one )?is (?:better|best|faster|cheaper|bigger|healthier|safer|more \w+)(?:"
    r" for \w+)?|is it better)[:,-]?) "
    r"(?P<first>(?:\S+ ){0,2}?\S+?),? or (?P<second>\S+(?: \S+){0,2})",
    re.IGNORECASE,
)
_TITLES = frozenset("batman godzilla alien freddy roe brown kramer spy plants ford joe kong jekyll hatfield".split())
_FROZEN = frozenset(
    """
    research development rock roll terms conditions pros cons bread butter supply demand trial error law order up down
    in out on off back forth now then more less first second before after half lost found cut paste copy download
    install
    search replace black white null void head tail drag drop plug play bed breakfast mac cheese fish chips peanut jelly
    salt pepper profit loss checks balances question answer cost benefit input output push pull start stop begin end
    left right top bottom north south east west here there true false yes no ups downs goods services arts crafts
    romeo juliet tom jerry adam eve cause effect stop search read write him her he she you me them us this that these
    those yin yang jammu kashmir bosnia herzegovina trinidad tobago antigua barbuda war peace crime punishment pride
    prejudice dungeons dragons weights measures one two three all any each every most many more some few both other
    others so such old new not then
    """.split()
)
_VERBISH = re.compile(r"(?:ing|ed|ly)\Z", re.IGNORECASE)


def paired(body: str) -> str | None:
    """Swap two single words around `and` or `or` that fill one place between a preposition and the next."""
    if re.search(r"\brespectively\b|\bbetween\b|\bfrom\b.*\bto\b", body, re.IGNORECASE):
        return None
    for found in _PAIR.finditer(body):
        first, second = found["first"], found["second"]
        if {first.lower(), second.lower()} & (_FROZEN | PREPOSITIONS | ASKING) or _VERBISH.search(first + " " + second):
            continue
        if first[0].isupper() != second[0].isupper() or (first[0].isupper() and found["link"] == "&"):
            continue
        if first[0].isupper() and not first.isupper() and _in_name(body[: found.start()]):
            continue
        if not found["before"] and found.start() == 0:
            continue
        swapped = f"{found['before']}{second} {found['link']} {first}"
        return body[: found.start()] + swapped + body[found.end() :]
    return None


def _in_name(before: str) -> bool:
    """Return whether the words before a preposition end in a capital: `Ministry of ...`."""
    words = before.split()
    return bool(words) and words[-1][:1].isupper()


def compared(body: str) -> str | None:
    """Swap both sides of a difference or of `which is better, A or B`."""
    between = _BETWEEN.fullmatch(body)
    if between and are_sides(between["first"], between["second"]):
        return f"{between['head']} {between['second']} and {between['first']}"
    better = _BETTER.fullmatch(body)
    if better and are_sides(better["first"], better["second"]):
        return f"{better['head']} {better['second']} or {better['first']}"
    return None


def versus(body: str) -> str | None:
    """Swap the sides of `A vs B`, where that is all of the text."""
    found = _VERSUS.fullmatch(body)
    if found is None or not (_whole(found["first"]) and _whole(found["second"])):
        return None
    first, second = found["first"], found["second"].rstrip(":,")
    if len(second.split()) > len(first.split()) or {first.split()[0].lower(), second.split()[0].lower()} & _TITLES:
        return None
    return f"{second} {found['link']} {first}{found['tail'] or ''}"


def are_sides(first: str, second: str) -> bool:
    """Return whether these are two whole sides of a comparison, of as many words: not `fixed` and `floating
    caliper`.
    """
    return _whole(first) and _whole(second) and _counted(first) == _counted(second)


def _counted(side: str) -> int:
    return sum(word.lower() not in {"a", "an", "the"} for word in side.split())


def _whole(side: str) -> bool:
    """Return whether one side of a comparison holds nothing that belongs to both, or to neither."""
    words = {word.lower().strip(",") for word in side.split()}
    return not words & (
        PREPOSITIONS | {"and", "or", "is", "are", "what", "which", "their", "its", "the", "other", "them"}
    ) and not any(sign in side for sign in ',;:?"')
