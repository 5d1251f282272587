"""A line of search words with its last noun in the other number: `python list comprehension(s)`."""

from random import Random

from training.rewordings.inflection import noun_forms
from training.rewordings.shape import PREPOSITIONS, first_word, is_common, is_keywords

_OTHER_THINGS = frozenset(
    """
    new news good goods mean means window windows glass glasses custom customs arm arms force forces spectacle
    spectacles manner manners physic physics math maths mathematic mathematics economic economics politic politics
    ethic ethics logistic logistics statistic statistics analytic analytics graphic graphics mechanic mechanics
    dynamic dynamics genetic genetics basic basics minute minutes second seconds color colors time times work works
    water waters cloth clothes saving savings earning earnings premise premises content contents damage damages
    state states series species business bus this has was does plus less bias virus gas christmas texas paris
    ice air snow rain gold iron music advice information software hardware research homework furniture
    county counties person people philippines philippine wage wages
    """.split()
)
"""Words that name another thing in the other number, that have none, or only end like a plural."""
_NO_NOUNS = ("ing", "ed", "ly", "al", "ic", "ous", "ful", "ive", "ss", "us", "is", "able", "less", "er", "est")
"""Ends of words that are seldom nouns, or have no plural in -s."""


class Plurals:
    """Puts the last word of a line of at least two search words into the plural, or out of it. Only where both forms
    are in every reader's vocabulary: other words may be names, or no nouns.
    """

    name = "plurals"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        line = text.strip()
        words = line.split(" ")
        if len(words) < 2 or not is_keywords(line) or first_word(line) == "to":
            return None
        last = words[-1]
        if len(last) < 4 or not (last.isalpha() and last.islower()) or last in _OTHER_THINGS | PREPOSITIONS:
            return None
        other = _other_number(last)
        if other is None or other in _OTHER_THINGS or not (is_common(other) and is_common(last)):
            return None
        return " ".join([*words[:-1], other])


def _other_number(word: str) -> str | None:
    if word.endswith(_NO_NOUNS):
        return None
    if not word.endswith("s"):
        return noun_forms(word)[1]
    for single in (word[:-3] + "y" if word.endswith("ies") else word[:-1], word[:-2]):
        if noun_forms(single)[1] == word and is_common(single):
            return single
    return None
