"""How similar two queries must be where no verifier reads them."""

from harness.core.equivalence.comparison import LONG, RETOLD, Comparison

SHORT = 7
"""Below so many content words in both queries together, a single word weighs much."""
LEAST_REQUIRED = 0.86
"""No two different queries may be less similar than this."""
RETOLD_SHORT, RETOLD_WORD = 0.95, 0.005
"""What the shortest question told anew requires, and how much less each further word."""


def requirement(pair: Comparison) -> float:
    """Return how similar (0..1) two queries must be that no guard objects to.

    The more the words already agree, the less the embedding has to; in a short query, and in prose, which an embedding
    hardly tells apart when two words change places, it has to more. Above 1: never.
    """
    size = len(pair.a.words) + len(pair.b.words)
    changed = len(pair.only_a) + len(pair.only_b)
    asking = pair.a.is_question or pair.b.is_question
    if pair.retold:
        longer = len(pair.a.plain.split()) + len(pair.b.plain.split()) - RETOLD
        return max(LEAST_REQUIRED, RETOLD_SHORT - RETOLD_WORD * longer)
    keywords = pair.a.is_keywords and pair.b.is_keywords
    needs = [0.94 if size < SHORT and not keywords else LEAST_REQUIRED]
    if pair.weak:
        needs.append(0.93 if size < SHORT else 0.89)
    if changed:
        needs.append(_for_changed_words(size, asking=asking))
    if pair.disorder:
        needs.append(_for_another_order(pair, size, asking=asking))
    return max(needs)


def _for_another_order(pair: Comparison, size: int, *, asking: bool) -> float:
    if pair.a.is_keywords and pair.b.is_keywords:
        return 0.89
    if not asking:
        return 1.1
    return 0.93 if size < 11 else 0.95


def _for_changed_words(size: int, *, asking: bool) -> float:
    if not asking:
        return 0.97 if size < LONG else 1.1
    return 0.93 if size < SHORT else 0.91 if size < 11 else 0.94
