"""Similarity that two queries need without a verifier."""

from harness.core.equivalence.comparison import LONG, REWORDED, Comparison

SHORT = 7
"""With fewer content words in both queries together, a single word weighs much."""
LEAST_REQUIRED = 0.86
"""Different queries always need at least this similarity."""
REWORDED_SHORT, REWORDED_WORD = 0.95, 0.005
"""Similarity that the shortest rewording needs, and the reduction per further word."""


def requirement(pair: Comparison) -> float:
    """Return the similarity (0..1) that two queries need if no guard objects.

    The more words agree, the less similarity the embedding must show. More is needed in short queries, and in prose,
    where an embedding hardly changes if two words swap places. Above 1: never.
    """
    size = len(pair.a.words) + len(pair.b.words)
    changed = len(pair.only_a) + len(pair.only_b)
    asking = pair.a.is_question or pair.b.is_question
    if pair.reworded:
        longer = len(pair.a.plain.split()) + len(pair.b.plain.split()) - REWORDED
        return max(LEAST_REQUIRED, REWORDED_SHORT - REWORDED_WORD * longer)
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
