"""Names of one type, learned from texts: a country for a country, an app for an app, a drug for a drug.

Two names are of one type when they occur in the same contexts: the same words before and after them (Harris 1954),
weighed by positive pointwise mutual information and compared by cosine (Turney and Pantel 2010). Words that are no
names are exchanged only where writers themselves tell such words apart, by "vs", "or" or "between … and".
"""

from collections.abc import Iterable, Iterator
from random import Random

from training.contrasts.contexts import Token, Vocabulary, distinct, known_words, units
from training.contrasts.edit import Contrast, Edit
from training.contrasts.likeness import neighbours
from training.contrasts.slots import Slots


class Names:
    """The contrast that exchanges a name or a term for another of its type, learned from `texts` once.

    The same texts, in any order, give the same names. 50,000 short texts take under a minute and about 300 MB.
    """

    name = "names"

    def __init__(self, texts: Iterable[str]) -> None:
        known = sorted(set(texts))
        sentences = distinct(found for text in known if (found := known_words(text)))
        self._vocabulary = Vocabulary(sentences)
        self._slots = Slots(known)
        self.similar: dict[str, tuple[str, ...]] = neighbours(self._vocabulary, sentences)
        self._contrast = Contrast(self.name, self._edits)

    def vary(self, text: str, chance: Random) -> str | None:
        """Return `text` with one name exchanged for another of its type; `None` where it has none that is known."""
        return self._contrast.vary(text, chance)

    def _edits(self, text: str, chance: Random) -> Iterator[Edit]:
        yield from self._slots.edits(text, chance)
        words = known_words(text)
        found = [unit for unit in units(words, self._vocabulary) if unit.key in self.similar]
        present = {word.text.casefold() for word in words}
        for key in dict.fromkeys(unit.key for unit in found):
            places = [unit for unit in found if unit.key == key]
            others = [other for other in self.similar[key] if not present & set(other.split())]
            if not others or any(self._in_longer_name(place.first, place.last, words) for place in places):
                continue
            new = chance.choice(others)
            yield self._exchanged(text, [(place.start, place.end) for place in places], new)

    def _exchanged(self, text: str, spans: list[tuple[int, int]], new: str) -> Edit:
        """Return the change of one name, wherever it stands."""
        start, end = spans[0][0], spans[-1][1]
        made, at = "", start
        for a, b in spans:
            made += text[at:a] + (self._vocabulary.written(new) if text[a:b] != text[a:b].lower() else new)
            at = b
        return Edit(start, end, made)

    def _in_longer_name(self, first: int, last: int, words: list[Token]) -> bool:
        """Return whether a name is part of an unknown one: next to capitals or a hyphen."""
        if words[first].text.islower():
            return False
        before = words[first - 1].text if first else ""
        after = words[last + 1].text if last + 1 < len(words) else ""
        starts = first == 1 or (first > 1 and words[first - 2].text in set(".?!:"))
        return (
            (before[:1].isupper() and not starts and before != "I")
            or after[:1].isupper()
            or after[:1].isdigit()
            or after in {"&", "-", "/"}
        )
