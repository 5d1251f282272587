"""Articles left out: `what is the boiling point of water` as `what is boiling point of water`."""

from random import Random

from training.words import tokens

_ARTICLES = frozenset({"a", "an", "the"})
_COUNTING = frozenset("same only few lot bit little most more less best worst first last second third other".split())
"""After these the article belongs to what is said: `a few` are some, `few` are hardly any."""
_RATES = frozenset(
    "once twice times thousand million hours minutes dollars rupees euros pounds much many often".split()
)
"""After these `a` may mean `per`."""


class Articles:
    """Leaves out one article, or all. Those before a capital or a number may be part of a name, and stay."""

    name = "articles"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        pieces = tokens(text)
        places = [place for place in range(len(pieces) - 2) if _is_free(pieces, place)]
        if not places:
            return None
        dropped = set(places) if chance.random() < 0.5 else {chance.choice(places)}
        kept = [piece for place, piece in enumerate(pieces) if not {place, place - 1} & dropped]
        return "".join(kept)


def _is_free(pieces: list[str], place: int) -> bool:
    """Return whether an article is at `place`, followed by a space and a common word."""
    after = pieces[place + 2]
    before = pieces[place - 2].lower() if place >= 2 else ""
    return (
        pieces[place] in _ARTICLES
        and not (before[-1:].isdecimal() or before in _RATES)
        and pieces[place + 1].isspace()
        and after.isalpha()
        and after.islower()
        and len(after) > 1
        and after not in _COUNTING
    )
