"""Comparison of two readings: which words have a counterpart, which have none, and in which order."""

from collections.abc import Callable, Container
from itertools import combinations, pairwise

from msgspec import Struct
from rapidfuzz.distance import OSA, Indel

from harness.core.equivalence.lexicon import COMPOUNDING, WEAK
from harness.core.equivalence.polarity import opposite
from harness.core.equivalence.reading import Reading, Word, form
from harness.core.text import stem

MIN_TYPO_CHARS = 4
LONG = 16
"""Least number of content words in both queries for a text to be prose."""
REWORDED = 20
"""Least number of words in both queries together for one to be a rewording of the other."""
MAX_SURFACE = 0.7
"""Largest share of words in common, in order, for a rewording. Most look-alikes share more: they
differ in one point.
"""
MAX_ORDERED = 60
"""Words whose order is compared; the pairs grow with the square."""


Rest = dict[int, Word]


class Comparison(Struct, frozen=True):
    """Common parts of two readings. `only_a` and `only_b` have no counterpart on the other side; `weak` counts the
    words without one that are too general to matter, which are only in `rest_a` and `rest_b`; `pairs` are the
    counterparts, in a's order. `reworded`: one is a question that the other asks in other words and another order,
    rather than varying it in one point; then single words weigh less, and the embedding more. `strange` are words
    without counterpart in no vocabulary, if both sides have some: one term for another. `slips` are typing errors, each
    with the other side's known word.
    """

    a: Reading
    b: Reading
    pairs: tuple[tuple[int, int], ...]
    only_a: tuple[Word, ...]
    only_b: tuple[Word, ...]
    weak: int
    rest_a: tuple[Word, ...]
    rest_b: tuple[Word, ...]
    reworded: bool
    strange: tuple[Word, ...]
    slips: tuple[tuple[str, str], ...] = ()

    @property
    def is_prose(self) -> bool:
        """Whether both are long questions, in which much may be worded differently."""
        return len(self.a.words) + len(self.b.words) >= LONG and self.a.is_question and self.b.is_question

    @property
    def disorder(self) -> float:
        """The share (0..1) of pairs of counterparts in reversed order (Kendall's tau distance)."""
        places = [place for _, place in self.pairs[:MAX_ORDERED]]
        turned = sum(first > second for first, second in combinations(places, 2))
        return turned / max(1, len(places) * (len(places) - 1) // 2)

    @property
    def scattered(self) -> bool:
        """Whether a single word has moved, rather than two or more that stay together ("best practices for rag
        pipelines", "rag pipeline best practices").
        """
        places = [place for _, place in self.pairs]
        ranks = {place: rank for rank, place in enumerate(sorted(places))}
        blocks = [1] if places else []
        for one, following in pairwise(places):
            if ranks[following] == ranks[one] + 1:
                blocks[-1] += 1
            else:
                blocks.append(1)
        return len(blocks) > 1 and min(blocks) == 1


def compare(a: Reading, b: Reading, known: Container[str]) -> Comparison:
    """Find counterparts: the same form first, then words written together or apart, then typing errors.

    `known` are correctly written words: a typing error is an unknown word paired with a known one.
    """
    rest_a, rest_b = dict(enumerate(a.words)), dict(enumerate(b.words))
    pairs = _paired(rest_a, rest_b, lambda one, two: one.form == two.form and not _two_names(one, two))
    pairs += _joined(rest_a, rest_b)
    pairs += [(place_a, place_b) for place_b, place_a in _joined(rest_b, rest_a)]
    words_a, words_b = dict(rest_a), dict(rest_b)
    slipped = _paired(rest_a, rest_b, lambda one, two: _is_typing_error(one, two, known))
    pairs += slipped
    only_a = tuple(word for place, word in rest_a.items() if not is_weak(word) or _belongs(a, place, rest_a))
    only_b = tuple(word for place, word in rest_b.items() if not is_weak(word) or _belongs(b, place, rest_b))
    return Comparison(
        a,
        b,
        tuple(sorted(pairs)),
        only_a,
        only_b,
        len(rest_a) + len(rest_b) - len(only_a) - len(only_b),
        tuple(rest_a.values()),
        tuple(rest_b.values()),
        _is_reworded(a, b),
        _strange(only_a, only_b, known),
        tuple(_slip(words_a[one].plain, words_b[two].plain, known) for one, two in slipped),
    )


def _slip(one: str, two: str, known: Container[str]) -> tuple[str, str]:
    return (two, one) if one in known or one in WEAK else (one, two)


def _strange(only_a: tuple[Word, ...], only_b: tuple[Word, ...], known: Container[str]) -> tuple[Word, ...]:
    a, b = (tuple(word for word in side if _is_strange(word.plain, known)) for side in (only_a, only_b))
    return (*a, *b) if a and b else ()


def _is_strange(word: str, known: Container[str]) -> bool:
    return word.isalpha() and word not in known and word[:-1] not in known


def _is_reworded(a: Reading, b: Reading) -> bool:
    words_a, words_b = a.plain.split(), b.plain.split()
    long = len(words_a) + len(words_b) >= REWORDED
    return long and (a.is_question or b.is_question) and Indel.normalized_similarity(words_a, words_b) < MAX_SURFACE


def is_weak(word: Word) -> bool:
    """Return whether a word is so general that one side may lack it."""
    return not word.name and (word.plain in WEAK or word.form in _WEAK_FORMS)


def _belongs(side: Reading, place: int, rest: Rest) -> bool:
    """Return whether a general word specifies the kind of the next word ("life insurance", "used car")."""
    following = side.words[place + 1] if place + 1 < len(side.words) else None
    compound = following is not None and place + 1 not in rest and not following.before
    return compound and side.words[place].plain in COMPOUNDING


_WEAK_FORMS = frozenset(map(form, WEAK)) - {form("good"), form("way")} | {form("good")}


def _paired(rest_a: Rest, rest_b: Rest, is_same: Callable[[Word, Word], bool]) -> list[tuple[int, int]]:
    """Pair each word of a with the first of b that is the same, and take both out of the rests."""
    pairs = []
    for place_a, one in list(rest_a.items()):
        for place_b, two in rest_b.items():
            if is_same(one, two):
                pairs.append((place_a, place_b))
                del rest_a[place_a], rest_b[place_b]
                break
    return pairs


def _two_names(one: Word, two: Word) -> bool:
    """Return whether two synonyms are parts of different names (Boston University, Boston College)."""
    return one.name and two.name and one.plain != two.plain and stem(one.plain) != stem(two.plain)


def _joined(rest_one: Rest, rest_two: Rest) -> list[tuple[int, int]]:
    """Pair words written as one on side one with words written apart on side two ("e commerce")."""
    pairs = []
    for place, word in list(rest_one.items()):
        for first in list(rest_two):
            second = rest_two.get(first + 1)
            if second and (rest_two[first].plain + second.plain in (word.plain, word.plain.removesuffix("s"))):
                pairs.append((place, first))
                del rest_one[place], rest_two[first], rest_two[first + 1]
                break
    return pairs


def _is_typing_error(a: Word, b: Word, known: Container[str]) -> bool:
    """Return whether exactly one of the two is a known word, one slip (two in long words) away from the other, and no
    opposite.

    First and last letter must be equal: a different ending is more often another language than a slip (vaccine,
    vaccin).
    """
    one, two = a.plain, b.plain
    length = min(len(one), len(two))
    one_known, two_known = (word in known or word in WEAK for word in (one, two))
    if length < MIN_TYPO_CHARS or one_known == two_known or one[0] != two[0] or one[-1] != two[-1]:
        return False
    return OSA.distance(one, two, score_cutoff=2) <= (1 if length < 8 else 2) and not opposite(a, b)
