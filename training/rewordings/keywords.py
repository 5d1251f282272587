"""Questions as lines of search words: function words dropped where they say nothing."""

import re
from random import Random

from training.rewordings.shape import is_question, split_end
from training.words import is_word, tokens

_OPENING = re.compile(
    r"(?:how (?:do|can|could|should|would) (?:i|we|you|one)(?: best| properly)?|how to|what (?:is|are"
    r"|was|were) (?:some of the|the|some)?"
    r"|which (?:is|are) (?:the|some)?|what's the|who (?:is|are|was) the"
    r"|(?:can|could|do|does|is|are|did) (?=(?!i\b|you\b|we\b|there\b|that\b|this\b|these\b|those\b)\w))\b ?",
    re.IGNORECASE,
)
_ADVISING = re.compile(
    r"(?P<asked>what|where|when|which \w+) (?:should|can|could|do|would) (?:i|we|you|one) (?=(?!think"
    r"|mean|know|call|have)\w)",
    re.IGNORECASE,
)
"""Asks what to do: `where can I buy` becomes `where to buy`."""
_DROPPED = frozenset("a an the some any i we do does is are am my me".split())
_GENTLY = frozenset("of in on".split())
_VERBS_WITH_PARTICLE = frozenset(
    """
    log turn sign put get check plug fill come go break give hold carry move try switch click work rely depend bring
    take call hang kick pass hack cash tune keep live lead step walk drop move cut build cheat focus based set going
    keen interested happen hit pick spy run believe
    """.split()
)
_UNSURE = frozenset(
    """
    it he she they them him his her their its that this these those who whom whose if when while because but or so
    not no never without than you your yourself us our there like be been being myself if whether and as
    """.split()
)
"""With one of these left the rest says too little or something else."""
_KEEPING = frozenset("out instead most because lots kind kinds type types sort sorts lot number name".split())
MOST_WORDS = 12


class DroppedWords:
    """Turns a short question into a line of search words: `how do I install numpy on windows` becomes
    `install numpy windows`. Negations, directions, numbers and comparisons stay; with pronouns or clauses inside, it
    does not apply.
    """

    name = "dropped words"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        body, _ = split_end(text)
        if not is_question(text) or len(body.split()) > MOST_WORDS or '"' in text or "," in text:
            return None
        body, advised = _ADVISING.subn(lambda found: f"{found['asked']} to ", body, count=1)
        opening = _OPENING.match(body)
        rest = body[opening.end() :] if opening else body
        pieces = [piece for piece in tokens(rest) if not piece.isspace()]
        if any(piece.lower() in _UNSURE or not is_word(piece) for piece in pieces) or _has_clause(pieces):
            return None
        kept = _kept(pieces, chance.random() < 0.6)
        least = 3 if body.lower().startswith("how") or opening is None else 2
        if len(kept) < least or (opening is None and not advised and len(kept) == len(pieces)):
            return None
        line = " ".join(kept)
        return line.lower() if chance.random() < 0.7 else line


def _has_clause(pieces: list[str]) -> bool:
    """Return whether `I` or `we` stands deep inside, or right after a word that says may or must."""
    return any(
        piece.lower() in {"i", "we"} and at and (at > 2 or pieces[at - 1].lower() not in {"do", "did", "am"})
        for at, piece in enumerate(pieces)
    ) or any("." in piece and piece[-1:].isalpha() and piece.split(".")[-1][:1].isupper() for piece in pieces)


def _kept(pieces: list[str], thoroughly: bool) -> list[str]:
    last = len(pieces) - 1
    return [piece for at, piece in enumerate(pieces) if at == last or not _says_nothing(pieces, at, thoroughly)]


def _says_nothing(pieces: list[str], at: int, thoroughly: bool) -> bool:
    """Return whether the word at `at`, which is not the last one, may go; `of`, `in`, `on` only where `thoroughly`."""
    piece, before, after = pieces[at], pieces[at - 1] if at else "", pieces[at + 1]
    if piece.lower() in _DROPPED:
        return piece not in {"A", "AM", "ARE"} and before.lower() != "to"
    if piece.lower() not in _GENTLY or not thoroughly or not at:
        return False
    in_name = piece.lower() == "of" and before[:1].isupper() and after[:1].isupper()
    return not in_name and before.lower() not in _KEEPING | _VERBS_WITH_PARTICLE
