"""Search words in another order: `github rest api rate limits` as `rate limits github rest api`."""

from random import Random

from training.rewordings.shape import ASKING, AUXILIARIES, LINKS, PREPOSITIONS, PRONOUNS, is_keywords

_LEAST, _MOST = 3, 6
_BOUND = (
    PREPOSITIONS
    | ASKING
    | AUXILIARIES
    | PRONOUNS
    | LINKS
    | frozenset(
        """
        and or & not no non never without a an the my your our their his her its be been being becomes become more less
        most least best worst better than convert converts converting conversion change changes changing switch
        migrate translate translation vs versus replace replaces replacing compare compared beat beats beating kill
        kills killed cause causes caused owns own hate hates love loves loved eats eat bites wins win won defeats
        defeated married invaded invades sue sues sued only first last all before after
        """.split()
    )
)
"""With one of these in a line the places of the others say something."""


class KeywordOrder:
    """Moves one or two words from one end of a line of search words to the other. No line with a word that links,
    compares or turns one thing into another: there the order may say which is which.
    """

    name = "keyword order"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        line = text.strip()
        words = line.split(" ")
        if not _LEAST <= len(words) <= _MOST or not is_keywords(line) or _BOUND & set(line.lower().split()):
            return None
        if not all(word.isalnum() for word in words) or len({word.lower() for word in words}) < len(words):
            return None
        if any(word.isdecimal() for word in words):
            return None
        size = chance.choice((1, 2))
        return " ".join([*words[size:], *words[:size]] if chance.random() < 0.5 else [*words[-size:], *words[:-size]])
