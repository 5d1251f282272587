"""Direction: from A to B becomes from B to A, to becomes from; never where both ways are the same way."""

import re
from collections.abc import Iterator
from random import Random

from training.contrasts.edit import Contrast, Edit, swapped
from training.words import written_like

_STOP = (
    r"for|in|on|at|by|with|without|using|and|or|when|if|while|via|through|as|because|is|are|was|were|"
    r"do|does|did|can|will|that|which|who|"
    r"be|been|get|has|have|had|it|i|you|we|than|after|before|during|of|from|to|into|between|but|"
    r"so|without|under|over|per|about|against|having|being|where|how|what|since|until|like"
)
_PART = rf"(?:(?!(?:{_STOP})\b)\w[\w.+#'’&/-]*)(?: (?!(?:{_STOP})\b)\w[\w+#'’&/-]*(?:\.\w+)*){{0,2}}"
_FROM_TO = re.compile(
    rf"\bfrom (?P<a>{_PART}) (?:back )?(?:to|into) (?P<b>{_PART})(?=\s*[?.,;!)]|\s*$|\s+(?:{_STOP})\b)", re.IGNORECASE
)
_TO_FROM = re.compile(
    rf"\b(?:go|goes|went|going|move|moves|moved|moving|travel\w*|flights?|fly|flying|flew|trip|way|"
    rf"drive|train|bus|transfer\w*|send|sent|migrat\w+|sail\w*|"
    rf"transmi\w+|transition\w*|switch\w*|shift\w*|ship\w*|return\w*|came|upgrade|trad\w+|spread) to "
    rf"(?P<a>{_PART}) from (?P<b>{_PART})(?=\s*[?.,;!)]|\s*$|\s+(?:{_STOP})\b)",
    re.IGNORECASE,
)
_CONVERT = re.compile(
    rf"\b(?:convert|converting|translate|translating|transform|port|(?:turn|change|changing|make)(?=[\w .-]+ into\b)) "
    rf"(?P<a>{_PART}) (?:to|into|in to) (?P<b>{_PART})(?=\s*[?.,;!)]|\s*$|\s+(?:{_STOP})\b)",
    re.IGNORECASE,
)
_KINDS = (
    "english spanish french german hindi chinese mandarin japanese russian arabic italian korean "
    "latin tamil telugu urdu portuguese marathi bengali",
    "pdf word doc docx excel csv json xml html jpg jpeg png gif mp3 mp4 wav avi mkv mov txt epub "
    "mobi ppt svg yaml sql binary ascii hex decimal",
    "km miles kilometers kg lbs pounds kilograms cm inches feet meters metres celsius fahrenheit "
    "litres gallons grams ounces usd inr eur gbp euro "
    "dollar dollars rupees rupee cad aud yen bitcoin mb gb tb ml cups",
    "python java c c++ javascript ruby php kotlin swift scala go rust typescript vb",
    "android ios iphone windows mac linux samsung ubuntu",
)
_KIND = {word: number for number, line in enumerate(_KINDS) for word in line.split()}
_BARE = re.compile(r"(?<![\w.])(?P<a>[a-z+\d]+) (?:to|into|2) (?P<b>[a-z+\d]+)(?![\w.])", re.IGNORECASE)
_UNDIRECTED = re.compile(
    r"\b(?:distance|difference|differ|different|differs|how far|far|between|range|ranging|ranges|"
    r"ranged|equivalent|similar|vary|varies|varying|link|relationship|"
    r"grades?|ages?|aged|everything|anything|time to time|door to door|connect|connects|connecting|"
    r"connected|road|route|railway|extends?|stretch\w*|bus(?:es)? service|"
    r"spans?|runs?|running|line|highway|border|derived?|found|occurs?|distributed|prevent\w*|protect\w*|refrain|stop)\b",
    re.IGNORECASE,
)
_ENDLESS = re.compile(
    r"^(?:another|everyone|anyone|one|each|use|make|do|see|buy|find|help|keep|play|read|watch|learn|become|scratch|zero|start|finish|beginning|end|now|here|there|time|day|night|bottom|top|head|toe|"
    r"today|morning|day one|then|"
    r"first|last|me|him|her|them|us|it|you|someone|others|people)$|^(?:\W*\d)|"
    r"^(?:being|having|\w+ing)\b|"
    r"^(?:january|february|march|april|may|june|july|august|september|october|"
    r"november|december|monday|friday|spring|fall)\b",
    re.IGNORECASE,
)
_WAYS = {
    one: two
    for pair in """
    import%from/export%to imports%from/exports%to importing%from/exporting%to imported%from/exported%to
    flights%to/flights%from flight%to/flight%from fly%to/fly%from travel%to/travel%from travelling%to/travelling%from
    traveling%to/traveling%from move%to/move%from moving%to/moving%from moved%to/moved%from immigrate%to/emigrate%from
    immigration%to/emigration%from upload%to/download%from train%to/train%from trains%to/trains%from
    return%to/return%from transfer%to/transfer%from buy%from/sell%to send%to/receive%from commute%to/commute%from
    switch%to/switch%from switching%to/switching%from migrate%to/migrate%from migrating%to/migrating%from
    upgrade%to/downgrade%from log%into/log%out%of shipping%to/shipping%from deposit%into/withdraw%from
    borrow%from/lend%to emails%to/emails%from calls%to/calls%from transferred%to/transferred%from
    relocate%to/relocate%from
    """.split()
    for one, two in (pair.split("/"), pair.split("/")[::-1])
}
_WAY = re.compile(
    r"\b(?P<verb>"
    + "|".join({way.split("%")[0] for way in _WAYS})
    + r")(?P<what>(?: (?!from|to|into|out)[\w$]+){0,2}?)"
    r" (?P<to>to|from|into|out of)(?= (?:the |a |an |my |his |her )?(?!\w+ing\b|fact\b|be\b|get\b|help\b|"
    r"make\b|see\b|do\b|home\b)\w)",
    re.IGNORECASE,
)


def _edits(text: str, _chance: Random) -> Iterator[Edit]:
    if not _UNDIRECTED.search(text):
        for pattern in (_FROM_TO, _TO_FROM, _CONVERT):
            for match in pattern.finditer(text):
                if _exchangeable(match.group("a"), match.group("b")):
                    yield swapped(text, match.span("a"), match.span("b"))
    for match in _BARE.finditer(text):
        kinds = {_KIND.get(match.group(part).lower()) for part in "ab"}
        if len(kinds) == 1 and None not in kinds:
            yield swapped(text, match.span("a"), match.span("b"))
    yield from _turned(text)


def _exchangeable(a: str, b: str) -> bool:
    parts = ({word for word in part.lower().split() if word not in {"the", "a", "an", "my"}} for part in (a, b))
    return not _ENDLESS.match(a) and not _ENDLESS.match(b) and not set.intersection(*parts)


def _turned(text: str) -> Iterator[Edit]:
    for match in _WAY.finditer(text):
        turned = _WAYS.get(f"{match.group('verb').lower()}%{match.group('to').lower().replace(' ', '%')}")
        rest = text[match.end() :]
        if turned and not re.search(r"\b(?:from|to|into)\b", rest) and _goes_somewhere(match.group("to"), rest):
            verb, _, to = turned.partition("%")
            yield Edit(
                *match.span(),
                written_like(verb, match.group("verb")) + match.group("what") + " " + to.replace("%", " "),
            )


def _goes_somewhere(to: str, rest: str) -> bool:
    """Return whether what follows a `to` is a place or a thing, not what is to be done."""
    return to.lower() != "to" or bool(re.match(r" (?:the|a|an|my|his|her|another|other) | [A-Z]", rest))


DIRECTION = Contrast("direction", _edits)
