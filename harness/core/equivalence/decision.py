"""May the answer to query A be served for query B? The decision, with every reason.

In two steps: `examine` reads both queries and asks the guards; `judge` weighs that by a rule, together with what a
verifier says, if one has read the pair. So a verifier is asked only where no guard vetoes.
"""

from collections.abc import Callable, Container
from math import exp, inf, isnan, log
from operator import mul

from msgspec import Struct

from harness.core.abbreviations import Meanings
from harness.core.equivalence.comparison import Comparison, compare
from harness.core.equivalence.guards import GUARDS, TOLD_ANEW, Guard, Verdict
from harness.core.equivalence.reading import MAX_CHARS, read
from harness.core.equivalence.requirement import requirement

NO_WORDS: frozenset[str] = frozenset()

Verify = Callable[[str, str], float]
"""How likely (0..1) two queries have the same answer."""

FEATURES = (
    "verifier", "similarity", *(guard.name for guard in GUARDS), "changed", "missing", "disorder", "required", "alike",
)  # fmt: skip
"""What a rule with a verifier weighs: the logit of the verifier's probability; the similarity of the embeddings (0..1);
whether each guard objects (0 or 1); the share of content words without counterpart, and of those on the side that
has more of them; the share of counterparts that changed places; how similar the two would have to be without it; and
whether (0 or 1) they are, with no guard objecting and no single word in another place.
"""
ANEW = FEATURES[:2]
"""What it weighs where a question is told anew (see `Comparison`). Who tells a story again takes other words, and how
many of them differ says nothing.
"""
CERTAIN = 100.0
"""The score of a query and itself."""
MAX_LOGIT = 8.0
"""A verifier is never surer than this (a probability of 0.9997), for its training was not either."""


class Rule(Struct, frozen=True):
    """How sure two queries must be: accepted iff `score >= threshold`.

    Without `weights` the score is the similarity beyond what the two queries require. With them (one a feature, and the
    constant before them) it is their weighted sum, the log-odds that the answers are the same; it then needs the
    verifier whose id is `verifier`. `anew` are those for questions told anew (one for each of `ANEW`, and the constant
    before them); without them `weights` count there, too. `max_wrong` is the share of different pairs that the
    threshold was calibrated to serve at the most, on the pairs that `calibrated_on` names.
    """

    threshold: float
    max_wrong: float
    calibrated_on: str
    verifier: str = ""
    weights: tuple[float, ...] = ()
    anew: tuple[float, ...] = ()


class Examined(Struct, frozen=True):
    """What is known of a pair before a verifier reads it.

    `a` and `b` are the texts that one reads: sorted, abbreviations written out. `required` is how similar (0..1; above:
    never) the two must be without a verifier, `features` is `FEATURES` without the first; `anew` says whether one is a
    question that the other tells anew; `identical` queries differ in case and white space at most.
    """

    a: str
    b: str
    similarity: float
    identical: bool = False
    required: float = 1.0
    verdicts: tuple[Verdict, ...] = ()
    features: tuple[float, ...] = ()
    anew: bool = False

    @property
    def vetoed(self) -> bool:
        """Whether the two may not share an answer, whatever a verifier says."""
        return any(verdict.veto and not verdict.passed for verdict in self.verdicts)


class Decision(Struct, frozen=True):
    """Whether the answer may be served. `score` is what the rule makes of the pair (see `Rule`), minus infinity after a
    veto; `required` is the similarity required without a verifier; `verdicts` has one a guard; `probability` (0..1) is
    the verifier's, `None` if it was not asked; `verified` says whether the rule goes by it.
    """

    accepted: bool
    score: float
    similarity: float
    required: float
    verdicts: tuple[Verdict, ...]
    probability: float | None = None
    verified: bool = False

    @property
    def objections(self) -> tuple[Verdict, ...]:
        """The verdicts of the guards that refuse: all that object, or those with a veto where a verifier decides."""
        refusing = (verdict for verdict in self.verdicts if not verdict.passed)
        return tuple(verdict for verdict in refusing if verdict.veto or not self.verified)


def decide(
    a: str,
    b: str,
    similarity: float,
    *,
    rule: Rule,
    known: Container[str] = NO_WORDS,
    meanings: Meanings | None = None,
    verify: Verify | None = None,
) -> Decision:
    """Decide whether the answer to `a` may be served for `b` (or the other way round: the order never matters).

    `similarity` (0..1) is that of their embeddings. `known` are correctly written words in small letters: what is none
    of them may be a typing error. `meanings` are the abbreviations that both sides may use. `verify` is asked if the
    rule needs it and no guard vetoes. Raises what `verify` raises; a query is always accepted for itself.
    """
    examined = examine(a, b, similarity, known=known, meanings=meanings)
    asked = rule.weights and verify is not None and not (examined.identical or examined.vetoed)
    return judge(examined, rule, verify(examined.a, examined.b) if asked and verify else None)


def examine(
    a: str, b: str, similarity: float, *, known: Container[str] = NO_WORDS, meanings: Meanings | None = None
) -> Examined:
    """Read both queries and ask the guards; see `decide` for the arguments. Never raises."""
    if a == b or " ".join(a.casefold().split()) == " ".join(b.casefold().split()):
        return Examined(a, b, 1.0, identical=True, required=0.0)
    a, b = sorted((a, b))  # the order never matters: counterparts are looked for from one side
    similarity = 0.0 if isnan(similarity) else min(1.0, max(0.0, similarity))
    if max(len(a), len(b)) > MAX_CHARS:
        return _refused(a, b, similarity, "length", "too long to compare")
    if ambiguous := sorted({*meanings.ambiguous_in(a), *meanings.ambiguous_in(b)} if meanings else ()):
        return _refused(a, b, similarity, "abbreviations", f"{', '.join(ambiguous)} can mean more than one thing here")
    one, two = (meanings.expand(a), meanings.expand(b)) if meanings else (a, b)
    first, second = read(one), read(two)
    if not (first.whole and second.whole):
        return _refused(a, b, similarity, "length", "too long to compare")
    pair = compare(first, second, known)
    verdicts = tuple(_verdict(guard, pair) for guard in GUARDS)
    required = requirement(pair)
    alike = similarity >= required and not pair.scattered and all(verdict.passed for verdict in verdicts)
    features = (similarity, *_features(pair, verdicts), required, float(alike))
    return Examined(one, two, similarity, required=required, verdicts=verdicts, features=features, anew=pair.retold)


def judge(examined: Examined, rule: Rule, probability: float | None) -> Decision:
    """Weigh what is known of a pair. A rule that needs a verifier accepts nothing that none has read."""
    if examined.identical:
        return Decision(True, CERTAIN, 1.0, 0.0, ())
    if rule.weights:
        refused = examined.vetoed or probability is None
        score = -inf if refused else _log_odds(examined, rule, probability or 0.0)
    else:
        refused = any(not verdict.passed for verdict in examined.verdicts)
        score = -inf if refused else examined.similarity - examined.required
        refused = examined.required > 1.0
    accepted = not refused and score >= rule.threshold
    verdicts, verified = examined.verdicts, bool(rule.weights)
    return Decision(accepted, score, examined.similarity, examined.required, verdicts, probability, verified)


def sureness(score: float) -> float:
    """Return the probability (0..1) that a score of a rule with weights stands for."""
    return 1.0 / (1.0 + exp(-max(-500.0, score)))


def logit(probability: float) -> float:
    """Return the log-odds of a probability (0..1), within `MAX_LOGIT` of zero."""
    least = 1.0 / (1.0 + exp(MAX_LOGIT))
    bounded = min(1.0 - least, max(least, probability))
    return log(bounded / (1.0 - bounded))


def _verdict(guard: Guard, pair: Comparison) -> Verdict:
    told = guard.objection(pair)
    if told is None:
        return Verdict(guard.name, True, "")
    return Verdict(guard.name, False, told.reason, told.veto and not (pair.retold and guard.name in TOLD_ANEW))


def _log_odds(examined: Examined, rule: Rule, probability: float) -> float:
    constant, *weights = rule.anew if examined.anew and rule.anew else rule.weights
    weighed: list[float] = list(map(mul, weights, (logit(probability), *examined.features)))  # as many as are weighed
    return constant + sum(weighed)


def _features(pair: Comparison, verdicts: tuple[Verdict, ...]) -> tuple[float, ...]:
    """Return what `FEATURES` names between the similarity and the requirement."""
    words_a, words_b = max(1, len(pair.a.words)), max(1, len(pair.b.words))
    changed = (len(pair.rest_a) + len(pair.rest_b)) / (words_a + words_b)
    missing = max(len(pair.rest_a) / words_a, len(pair.rest_b) / words_b)
    objections = (float(not verdict.passed) for verdict in verdicts)
    return *objections, changed, missing, pair.disorder


def _refused(a: str, b: str, similarity: float, guard: str, reason: str) -> Examined:
    return Examined(a, b, similarity, verdicts=(Verdict(guard, False, reason, veto=True),))
