"""Sentences that cannot be understood without the one before them."""

import re
from collections.abc import Iterable, Iterator

_POINTS_BACK = frozenset(
    "it its they them their theirs he him his she her hers this that these those such both neither either "
    "here there".split()
)
_CONTINUES = frozenset(
    "however therefore thus hence otherwise instead moreover furthermore additionally besides consequently "
    "nevertheless nonetheless similarly likewise conversely accordingly also then".split()
)
_LEADS = frozenset(
    "in on at for by with from of to as because after before despite under when while once until unless if though "
    "although since and but or so yet default case most some many all".split()
)
"""Words that may precede the one that points back: "By default it …", "When they …", "In this case, …"."""
_MAX_LEADS = 3
_WORD = re.compile(r"[A-Za-z]+")
_LATER = re.compile(
    r"(?:\w+ (?:second|minute|hour|day|week|month|year|decade|centur)\w* (?:later|earlier|after that|before that)"
    r"|later that|the (?:same|next|following|previous) (?:day|week|month|year|morning|evening|time|season))\b",
    re.IGNORECASE,
)
"""Beginnings that count from a time in the sentence before."""
_EXPLETIVE = re.compile(
    r"(it|there|this|that)('s| is| was| are| were| has been)? (a |an |the )?\w+ (that|to)\b|there (is|are|was|were)\b",
    re.IGNORECASE,
)
"""Sentences whose first word points nowhere: "It is known that …", "There are two …"."""


def needs_previous(sentence: str) -> bool:
    """Return whether an English sentence begins with words that point back ("It …", "In this case …", "Two years later
    …"), so that it needs the sentence before it. Never raises.
    """
    begin = [word.lower() for word in _WORD.findall(sentence[:60])]
    if not begin or _EXPLETIVE.match(sentence):
        return False
    if begin[0] in _CONTINUES or begin[0] in _POINTS_BACK or _LATER.match(sentence):
        return True
    leads = 0
    while leads < min(_MAX_LEADS, len(begin) - 1) and begin[leads] in _LEADS:
        leads += 1
    return leads > 0 and begin[leads] in _POINTS_BACK - {"there", "here"}


def with_needed(pieces: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each sentence with the one before it, if it needs it, otherwise with an empty text."""
    before = ""
    for piece in pieces:
        yield piece, before if needs_previous(piece) else ""
        before = piece
