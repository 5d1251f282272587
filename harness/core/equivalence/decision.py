"""May the answer to query A be served for query B? The decision, with every reason."""

from collections.abc import Container
from math import inf, isnan

from msgspec import Struct

from harness.core.abbreviations import Meanings
from harness.core.equivalence.comparison import LONG, RETOLD, Comparison, compare
from harness.core.equivalence.guards import GUARDS, Verdict
from harness.core.equivalence.reading import MAX_CHARS, read

NO_WORDS: frozenset[str] = frozenset()

SHORT = 7
"""Below so many content words in both queries together, a single word weighs much."""
LEAST_REQUIRED = 0.86
"""No two different queries may be less similar than this."""
RETOLD_SHORT, RETOLD_WORD = 0.95, 0.005
"""What the shortest question told anew requires, and how much less each further word."""


class Rule(Struct, frozen=True):
    """How much more similar than required two queries must be: accepted iff `score >= threshold`.

    `max_wrong` is the share of different pairs that the threshold was calibrated to serve at the most, on the pairs
    that `calibrated_on` names.
    """

    threshold: float
    max_wrong: float
    calibrated_on: str


class Decision(Struct, frozen=True):
    """Whether the answer may be served. `score` is the similarity beyond what these two queries require (negative:
    below it), minus infinity after a veto; `required` is that requirement, 0..1; `verdicts` has one a guard.
    """

    accepted: bool
    score: float
    similarity: float
    required: float
    verdicts: tuple[Verdict, ...]

    @property
    def objections(self) -> tuple[Verdict, ...]:
        """The verdicts of the guards that veto."""
        return tuple(verdict for verdict in self.verdicts if not verdict.passed)


def decide(
    a: str,
    b: str,
    similarity: float,
    *,
    rule: Rule,
    known: Container[str] = NO_WORDS,
    meanings: Meanings | None = None,
) -> Decision:
    """Decide whether the answer to `a` may be served for `b` (or the other way round: the order never matters).

    `similarity` (0..1) is that of their embeddings. `known` are correctly written words in small letters: what is none
    of them may be a typing error. `meanings` are the abbreviations that both sides may use. Never raises; a query is
    always accepted for itself.
    """
    if a == b or " ".join(a.casefold().split()) == " ".join(b.casefold().split()):
        return Decision(True, 1.0, 1.0, 0.0, ())
    a, b = sorted((a, b))  # the order never matters: counterparts are looked for from one side
    similarity = 0.0 if isnan(similarity) else min(1.0, max(0.0, similarity))
    if max(len(a), len(b)) > MAX_CHARS:
        return _refused(similarity, "length", "too long to compare")
    if ambiguous := sorted({*meanings.ambiguous_in(a), *meanings.ambiguous_in(b)} if meanings else ()):
        return _refused(similarity, "abbreviations", f"{', '.join(ambiguous)} can mean more than one thing here")
    one, two = (meanings.expand(a), meanings.expand(b)) if meanings else (a, b)
    first, second = read(one), read(two)
    if not (first.whole and second.whole):
        return _refused(similarity, "length", "too long to compare")
    pair = compare(first, second, known)
    objections = [(guard.name, guard.objection(pair)) for guard in GUARDS]
    verdicts = tuple(Verdict(name, objection is None, objection or "") for name, objection in objections)
    required = requirement(pair)
    vetoed = any(not verdict.passed for verdict in verdicts)
    score = -inf if vetoed else similarity - required
    accepted = required <= 1.0 and score >= rule.threshold
    return Decision(accepted, score, similarity, required, verdicts)


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


def _refused(similarity: float, guard: str, reason: str) -> Decision:
    return Decision(False, -inf, similarity, 1.0, (Verdict(guard, False, reason),))
