"""Sentences that cannot be understood without the one before them."""

import re
from collections.abc import Iterable, Iterator

from harness.core.calendar_words import MONTHS
from harness.core.text import stems

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
_SPAN = r"(?:second|minute|hour|day|night|week|month|year|decade|centur)\w*"
_SEASON = r"(?:morning|evening|season|spring|summer|autumn|winter)"
_COUNTED_FROM = rf"{_SPAN} (?:later|earlier|afterwards?|after that|before that|previously)(?! than\b)"
_LATER = re.compile(
    rf"(?:(?:[\w-]+ ){{1,5}}?{_COUNTED_FROM}|later (?:that|in the same)|(?:(?:in|on|by|during|from|until|since|at) )?"
    rf"(?:(?:the|that) (?:same|next|following|previous|very) (?:{_SPAN}|{_SEASON})(?!['’])"
    r"|the (?:same|next|following|previous) time(?! (?:zone|you|we|i|it|they|he|she|the|an?)\b)"
    r"|that (?:time|day|night|week|month|year|decade|moment|point))"
    r"|(?:by|since|until|before|after|from) then(?: on)?"
    r"|(?:later|afterwards?|meanwhile|at the time|in the meantime)(?=,)"
    r"|(?:soon|shortly|long|not long|immediately) (?:after(?:wards?)?|before(?:hand)?|later|thereafter)"
    r"(?=,| (?:he|she|it|they|the)\b)|thereafter)\b",
    re.IGNORECASE,
)
"""Beginnings that count from a time in the sentence before."""
_ENDS_LATER = re.compile(
    r"(?=(?s:.*)(?:later|earlier|afterwards?|that|before|previously)[.!]?$)"  # rare, and the rest takes longer
    rf"(?!.*\b(?:\d{{4}}|and|but|then|when|while|after|until|before|if|from|since|or)\b.* {_SPAN} )"
    rf"[^,;:()]{{1,200}} (?:an?|\d+|[a-z]+) {_COUNTED_FROM}[.!]?$",
    re.IGNORECASE,
)
"""A single clause that ends with a time counted from the sentence before: "The bridge opened six years later."."""
_BACK = re.compile(
    r"(?:for (?:example|instance)|in (?:contrast|other words|this way|that way)|the (?:latter|former|above)|see above"
    r"|if (?:so|not|present|given|defined|true|false|omitted|specified|set|none|any|supplied|absent|provided)(?=,)"
    r"|(?:each|one|both|some|most|many|all|none|any|two|three) of (?:these|those|them)"
    r"|(?:(?:when|if|once|after|before|until|while|because|since|although|though|in|on|at|for|by) "
    r"(?:the|an?|any|no|each|every) (?:[\w-]+ )?)?\w+ (?:in|of|with|for|at|on|to) (?:this|these|those|such) "
    r"(?!study|paper|article|review|report|trial|survey|analysis|page|site|guide|book|manual|tutorial|year|month|week)"
    r"|(?:\w+ ){0,2}do(?:ing)? so|(?:called|invoked) (?:to|by|when|if|for|as|at|in|after|before|with)"
    r"|returns (?:an?|the|true|false|none|whether|all))\b",
    re.IGNORECASE,
)
"""Other beginnings that point back, or that lack a subject."""
_IN_A_YEAR = re.compile(
    r"(?:As of|In|At|By|Since|On|Until|During|Before|After|From) (?P<time>[^,.]{0,30}\b[12]\d{3}\b[^,.]{0,20}),"
    r" (?:its?|they|their|he|his|she|her)\b"
)
_NAMED = re.compile(rf"\b(?!(?:{'|'.join(map(str.capitalize, MONTHS))})\b)[A-Z]")
"""A name in a time: what "it" points to."""
_OF_ITSELF = re.compile(r"(?:in )?this (?:study|paper|article|review|report|trial|survey|analysis)\b", re.IGNORECASE)
"""Beginnings with which a source mentions itself."""
_EXPLETIVE = re.compile(
    r"(?!(?:this|that) (?:means|implies)\b)(it|there|this|that)('s| is| was| are| were| has been)?"
    r" (not |also |often |usually |generally )?(a |an |the )?"
    r"[\w\"“”]+ ((for|of) (\w+ ){1,4})?(that|to)\b"
    r"|it (should|must|can|may) be \w+ that\b|there (is|are|was|were)\b",
    re.IGNORECASE,
)
"""Sentences whose first word points nowhere: "It is known that …", "There are two …"."""


_POINTS_INSIDE = re.compile(
    r"(?<=\S )\b(?:this|these) (?!(?:year|month|week|page|article|section|document|manual|guide|study|case|way|is|are"
    r"|was|were|can|may|will|means|has|have|does|do)\b)(?P<thing>[a-z]+)"
)
"""A thing that the middle of a sentence points to: "ordering" in "No version guarantees this ordering."."""


def needs_previous(sentence: str) -> bool:
    """Return whether an English sentence begins with words that point back ("It …", "In this case …", "Two years later
    …"), so that it needs the sentence before it. Never raises.
    """
    begin = [word.lower() for word in _WORD.findall(sentence[:60])]
    if needs_time(sentence):
        return True
    if not begin or _EXPLETIVE.match(sentence) or _OF_ITSELF.match(sentence):
        return False
    if begin[0] in _CONTINUES or begin[0] in _POINTS_BACK or _BACK.match(sentence):
        return True
    if (year := _IN_A_YEAR.match(sentence)) and not _NAMED.search(year["time"]):
        return True
    leads = 0
    while leads < min(_MAX_LEADS, len(begin) - 1) and begin[leads] in _LEADS:
        leads += 1
    return leads > 0 and begin[leads] in _POINTS_BACK - {"there", "here"}


def names_earlier(sentence: str) -> bool:
    """Return whether an English sentence points in its middle to a thing that it has not named: "No version has
    guaranteed this order." Never raises.
    """
    found = _POINTS_INSIDE.finditer(sentence[:400])
    return any(not stems(each["thing"]) <= stems(sentence[: each.start()]) for each in found)


def needs_time(sentence: str) -> bool:
    """Return whether an English sentence counts from a time that the sentence before it names ("Six years later …", "By
    then …", "… opened the following year."). Never raises.
    """
    begin = sentence[:400]
    return _LATER.match(begin) is not None or _ENDS_LATER.match(begin) is not None


def with_needed(pieces: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each sentence with the one before it, if it needs it, otherwise with an empty text."""
    before = ""
    for piece in pieces:
        yield piece, before if needs_previous(piece) else ""
        before = piece
