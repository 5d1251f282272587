"""Exchange of words and phrases by others of a table, at places that are no names and no quotations."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from training.rewordings.shape import article
from training.words import is_word, tokens, written_like

ABOUT_WORDS = re.compile(
    r"\b(?:differences?|differ|vs|versus|mean(?:s|ing)?|define|definition|synonym|antonym|opposite|word|words|spell"
    r"|spelling|spelled|pronounced?|pronunciation|grammar|grammatical|called|etymology|translat\w+|noun|verb|adjective"
    r"|phrase|slang|idiom|rhymes?|stands? for|lyrics|song|movie named|quote|abbreviat\w+|acronym|sentence)\b",
    re.IGNORECASE,
)
"""A text with one of these may ask about the very word that would be exchanged."""

_QUOTES = frozenset('"“”`«»')
_JOINING = frozenset("[]<>@#\\_/=&+*-")
TWICE = 0.25
"""Probability of exchanging two places where there are several."""


@dataclass(frozen=True)
class Place:
    """A run of tokens, from `start` to before `end`, and its replacements."""

    start: int
    end: int
    options: tuple[str, ...]


Context = Callable[[Sequence[str], int, int], bool]
"""Says of tokens, start and end whether an exchange may happen there."""


def no_name(pieces: Sequence[str], start: int, _end: int) -> bool:
    """Allow every place that is no name."""
    return not is_name(pieces, start)


def is_name(pieces: Sequence[str], at: int) -> bool:
    """Return whether the word at `at` is written with a capital that no beginning of a sentence explains."""
    word = pieces[at]
    if not word[:1].isupper():
        return False
    before = "".join(pieces[:at]).rstrip()
    if before and before[-1] not in ".?!:":
        return not all(piece.isupper() for piece in pieces if piece.isalpha())
    following = neighbour(pieces, at, 1)
    return following[:1].isupper() and following != "I" and not following.isupper()


def neighbour(pieces: Sequence[str], at: int, step: int) -> str:
    """Return the word next to the token at `at`, before it (-1) or after it (1); nothing at an end or a sign."""
    at += step
    while 0 <= at < len(pieces) and pieces[at].isspace():
        at += step
    return pieces[at] if 0 <= at < len(pieces) and is_word(pieces[at]) else ""


def replaced(pieces: Sequence[str], place: Place, new: str) -> list[str]:
    """Return the tokens with `new` at `place`, and the article before it as it must sound."""
    result = list(pieces)
    result[place.start : place.end] = [_written(new, pieces, place.start)]
    at = place.start - 2
    if at >= 0 and result[at].lower() in {"a", "an"} and result[at + 1].isspace():
        result[at] = article(new).capitalize() if result[at][0] == "A" else article(new)
    return result


def _written(new: str, pieces: Sequence[str], start: int) -> str:
    """Return `new` as it is written at `start`: a short form of capitals does not lend its size to a word."""
    model = pieces[start]
    if len(model) > 1 and model.isupper():
        return new.upper() if "".join(pieces).isupper() else new
    return written_like(re.sub(r"\bi\b", "I", new) if "I" in pieces else new, model)


class Exchange:
    """Exchanges one or two words or phrases by what a table says means the same.

    The table's keys are in small letters, their words parted by one space; an empty tuple protects a longer phrase from
    exchanges inside it. `context` says where an exchange may happen; nothing is exchanged inside quotation marks, nor
    by a phrase that the text already has.
    """

    def __init__(
        self,
        name: str,
        table: Mapping[str, tuple[str, ...]],
        context: Context = no_name,
        avoid: re.Pattern[str] | None = ABOUT_WORDS,
    ) -> None:
        self.name = name
        self._context = context
        self._avoid = avoid
        self._phrases: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
        for phrase, options in table.items():
            words = tuple(phrase.split())
            self._phrases.setdefault(words[0], []).append((words, options))
        for entries in self._phrases.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        if self._avoid is not None and self._avoid.search(text):
            return None
        pieces = tokens(text)
        places = list(self._places(pieces, text.lower()))
        if not places:
            return None
        chosen = chance.sample(places, 2 if len(places) > 1 and chance.random() < TWICE else 1)
        for place in sorted(chosen, key=lambda place: -place.start):
            pieces = replaced(pieces, place, chance.choice(place.options))
        varied = "".join(pieces)
        return varied if varied != text else None

    def _places(self, pieces: Sequence[str], low: str) -> Iterator[Place]:
        at, quoted = 0, False
        while at < len(pieces):
            if pieces[at] in _QUOTES:
                quoted = not quoted
            place = None if quoted else self._match(pieces, at)
            if place is None:
                at += 1
                continue
            options = tuple(option for option in place.options if option.lower() not in low)
            if options and not _is_joined(pieces, place) and self._context(pieces, place.start, place.end):
                yield Place(place.start, place.end, options)
            at = place.end

    def _match(self, pieces: Sequence[str], at: int) -> Place | None:
        for words, options in self._phrases.get(_plain(pieces[at]), ()):
            end = at + 2 * len(words) - 1
            found = tuple(_plain(piece) for piece in pieces[at:end:2])
            if found == words and all(piece.isspace() for piece in pieces[at + 1 : end : 2]):
                return Place(at, end, options)
        return None


def _is_joined(pieces: Sequence[str], place: Place) -> bool:
    """Return whether a sign of names, paths or marks is next to the place."""
    before = pieces[place.start - 1] if place.start else " "
    after = pieces[place.end] if place.end < len(pieces) else " "
    return before in _JOINING or after in _JOINING


def _plain(word: str) -> str:
    return word.lower().replace("’", "'")


def both_ways(pairs: str) -> dict[str, tuple[str, ...]]:
    """Read a table, one group a line: `a = b = c` may all be exchanged, `a > b` only the first by the others, and
    `a` alone is protected.
    """
    table: dict[str, tuple[str, ...]] = {}
    for line in pairs.strip().splitlines():
        forms = [form.strip() for form in re.split(r"[=>]", line) if form.strip()]
        for form in forms if "=" in line else forms[:1]:
            key = form.lower()
            others = tuple(other for other in forms if other != form)
            table[key] = tuple(dict.fromkeys(table.get(key, ()) + others))
    return table
