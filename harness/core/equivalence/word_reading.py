"""Reading of a query in a language other than English: its words by what they do, from the lists of the language."""

from functools import lru_cache

from msgspec import Struct

from harness.core.equivalence.tokens import tokens_in
from harness.core.equivalence.word_lists import WordLists, lists_of

BEFORE = ("directions", "relations", "negations")
"""Kinds of words that belong to a place in the order of the others."""
_AFTER = frozenset({"hi", "ja", "ko", "tr"})
"""Languages in which such a word follows the word it belongs to."""
_RELATION_AFTER = _AFTER | {"zh"}
_STEM = 3
"""Least characters that two forms of one word have in common."""

Placed = tuple[str, int]


class WordReading(Struct, frozen=True):
    """A parsed query. `ordered` are its content words, numbers and signs, `subjects` what may move, `times` the times
    relative to now, sorted. Directions,
    relations and negations have a place: how many of the ordered words come before them. `kinds` are its kinds of
    question and time. `length` counts all words.
    """

    ordered: tuple[str, ...]
    subjects: tuple[str, ...]
    times: tuple[str, ...]
    directions: tuple[Placed, ...]
    relations: tuple[Placed, ...]
    negations: tuple[Placed, ...]
    kinds: tuple[str, ...]
    length: int


@lru_cache(maxsize=4_096)
def read_words(text: str, language: str) -> WordReading:
    """Parse a query with the lists of a language; without lists, every word is a content word."""
    tokens = tokens_in(f"{text} ", language)
    parts = _meant(tokens, lists_of(language))
    ordered: list[str] = []
    movable: dict[str, list[str]] = {"subjects": [], "times": []}
    placed: dict[str, list[Placed]] = {kind: [] for kind in BEFORE}
    kinds: list[str] = []
    for position, (kind, word) in enumerate(parts):
        if kind in placed:
            placed[kind].append((word, len(ordered)))
        elif kind in movable and not _is_bound(parts, position, language):
            movable[kind].append(word)
        elif kind in {"", *movable}:
            ordered.append(word)
        elif kind != "drop":
            kinds.append(kind)
    return WordReading(
        ordered=tuple(ordered),
        subjects=tuple(movable["subjects"]),
        times=tuple(sorted(movable["times"])),
        directions=tuple(placed["directions"]),
        relations=tuple(placed["relations"]),
        negations=tuple(placed["negations"]),
        kinds=tuple(sorted(kinds)),
        length=len(tokens),
    )


def _meant(tokens: list[str], lists: WordLists) -> list[tuple[str, str]]:
    """Return the kind and the word of each part, the longest phrases first; the kind of a content word is ""."""
    parts = []
    position = 0
    while position < len(tokens):
        longest = min(lists.longest, len(tokens) - position)
        for length in range(longest, 0, -1):
            if found := lists.meanings.get(tuple(tokens[position : position + length])):
                parts.append(found)
                position += length
                break
        else:
            if tokens[position] != " ":
                parts.append(("", tokens[position]))
            position += 1
    return parts


def _is_bound(parts: list[tuple[str, str]], position: int, language: str) -> bool:
    """Return whether a relation or direction binds a movable word to its neighbour: then it may not move."""
    before = parts[position - 1][0] if position else ""
    after = parts[position + 1][0] if position + 1 < len(parts) else ""
    if language not in _AFTER and before in BEFORE and (before != "relations" or language not in _RELATION_AFTER):
        return True
    return language in _RELATION_AFTER and (after == "relations" or (after in BEFORE and language in _AFTER))


def same_word(one: str, two: str, lists: WordLists) -> bool:
    """Return whether two words are forms of one word: equal, or with two endings of one group.

    Stemmers are not used: those of Snowball give one stem to `caso` and `casa`, `Schule` and `Schüler`.
    """
    if one == two:
        return True
    if one[:_STEM] != two[:_STEM] or (one, two) in lists.distinct or (one, two) in lists.opposites:
        return False
    return any(not _stems(one, group).isdisjoint(_stems(two, group)) for group in lists.endings)


def _stems(word: str, endings: tuple[str, ...]) -> set[str]:
    stems = {word.removesuffix(ending) for ending in endings if word.endswith(ending)}
    return {stem for stem in stems if len(stem) >= _STEM}
