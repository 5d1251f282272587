"""Decision whether the answer to query A may be served for query B, with reasons.

In two steps: `examine` reads both queries and runs the guards; `judge` applies a rule to that and to a verifier's
probability, if a verifier has read the pair. So a verifier runs only if no guard vetoes.
"""

import re
from collections.abc import Callable, Container
from math import exp, inf, isnan
from operator import mul

from msgspec import Struct

from harness.core.abbreviations import Meanings
from harness.core.equivalence.comparison import Comparison, compare
from harness.core.equivalence.guards import GUARDS, NO_VETO_IF_REWORDED, Guard, Verdict
from harness.core.equivalence.languages import ENGLISH, languages_of
from harness.core.equivalence.other_language import refusal, verdicts_in
from harness.core.equivalence.reading import MAX_CHARS, read
from harness.core.equivalence.requirement import LEAST_REQUIRED, requirement
from harness.core.equivalence.spelling import without_phrases
from harness.core.reading_calibration import log_odds

NO_WORDS: frozenset[str] = frozenset()

Verify = Callable[[str, str], float]
"""Verifier function: the probability (0..1) that two queries have the same answer."""

FEATURES = ("verifier", "similarity", *GUARDS, "changed", "missing", "disorder", "required", "alike")
"""Inputs of a rule with a verifier: the logit of the verifier's probability; the similarity of the embeddings (0..1);
whether each guard objects (0 or 1); the share of content words without counterpart, and of those on the side with more
of them; the share of counterparts that changed places; the similarity required without a verifier; and whether (0 or 1)
it is reached, with no objection and no single word moved.
"""
REWORDED_FEATURES = FEATURES[:2]
"""Inputs of a rule for reworded questions (see `Comparison`). A rewording uses other words, and their number means
nothing.
"""
CERTAIN = 100.0
"""Score of identical queries."""
MAX_LOGIT = 8.0
"""Bound on a verifier's logit (a probability of 0.9997), because its training was not more certain."""


class Rule(Struct, frozen=True):
    """Acceptance rule: accepted iff `score >= threshold`.

    Without `weights` the score is the similarity minus the required one. With them (the constant, then one per feature)
    it is their weighted sum, the log-odds that the answers are the same; it then needs the verifier whose id is
    `verifier`. `reworded` are the weights for reworded questions (the constant, then one for each of
    `REWORDED_FEATURES`); if empty, `weights` are used. `max_wrong` is the largest share of different pairs that the
    threshold was calibrated to serve, on the pairs described by `calibrated_on`.
    """

    threshold: float
    max_wrong: float
    calibrated_on: str
    verifier: str = ""
    weights: tuple[float, ...] = ()
    reworded: tuple[float, ...] = ()


class Examined(Struct, frozen=True):
    """A pair after the guards and before a verifier.

    `a` and `b` are the texts for the verifier: sorted, abbreviations expanded, typing errors corrected, and phrases
    replaced by the other side's word for them. `required` is the similarity (0..1; above 1: never) required without a
    verifier, `features` is `FEATURES` without the first; `reworded`: one question rewords the other; `identical`
    queries differ in case and white space at most. No verifier reads pairs that are not `english`.
    """

    a: str
    b: str
    similarity: float
    identical: bool = False
    required: float = 1.0
    verdicts: tuple[Verdict, ...] = ()
    features: tuple[float, ...] = ()
    reworded: bool = False
    english: bool = True

    @property
    def needs_verifier(self) -> bool:
        """Whether a verifier may decide: it reads English only, and not what is decided without it."""
        return self.english and not self.identical and not self.vetoed

    @property
    def vetoed(self) -> bool:
        """Whether the two may not share an answer, whatever the verifier's probability."""
        return any(verdict.veto and not verdict.passed for verdict in self.verdicts)


class Decision(Struct, frozen=True):
    """Whether the answer may be served. `score` is the rule's score (see `Rule`), minus infinity after a veto;
    `required` is the similarity required without a verifier; `verdicts` has one per guard; `probability` (0..1) is the
    verifier's, `None` without one; `verified`: the rule uses it.
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
        """The verdicts that count against the pair: all objections, or only vetoes if a verifier decides."""
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
    """Decide whether the answer to `a` may be served for `b`, or vice versa: the order never matters.

    `similarity` (0..1) is that of their embeddings. `known` are correctly written words in lower case: other words may
    be typing errors. `meanings` are the abbreviations that both sides may use. `verify` is called if the rule needs it
    and no guard vetoes. Raises whatever `verify` raises; a query is always accepted for itself.
    """
    examined = examine(a, b, similarity, known=known, meanings=meanings)
    asked = rule.weights and verify is not None and examined.needs_verifier
    return judge(examined, rule, verify(examined.a, examined.b) if asked and verify else None)


def examine(
    a: str, b: str, similarity: float, *, known: Container[str] = NO_WORDS, meanings: Meanings | None = None
) -> Examined:
    """Read both queries and run the guards; see `decide` for the arguments. Never raises."""
    if a == b or " ".join(a.casefold().split()) == " ".join(b.casefold().split()):
        return Examined(a, b, 1.0, identical=True, required=0.0)
    a, b = sorted((a, b))  # the order never matters: counterparts are searched from one side
    similarity = 0.0 if isnan(similarity) else min(1.0, max(0.0, similarity))
    if max(len(a), len(b)) > MAX_CHARS:
        return _refused(a, b, similarity, "length", "too long to compare")
    if (languages := languages_of(a, b)) != (ENGLISH,):
        return _examined_in(languages, a, b, similarity)
    if ambiguous := sorted({*meanings.ambiguous_in(a), *meanings.ambiguous_in(b)} if meanings else ()):
        return _refused(a, b, similarity, "abbreviations", f"{', '.join(ambiguous)} can mean more than one thing here")
    one, two = (meanings.expand(a), meanings.expand(b)) if meanings else (a, b)
    first, second = read(one), read(two)
    if not (first.whole and second.whole):
        return _refused(a, b, similarity, "length", "too long to compare")
    pair = compare(first, second, known)
    verdicts = tuple(_verdict(name, guard, pair) for name, guard in GUARDS.items())
    required = requirement(pair)
    alike = similarity >= required and not pair.scattered and all(verdict.passed for verdict in verdicts)
    features = (similarity, *_features(pair, verdicts), required, float(alike))
    one, two = (_corrected(text, pair.slips) for text in (one, two))
    one, two = without_phrases(one, two), without_phrases(two, one)
    return Examined(one, two, similarity, False, required, verdicts, features, pair.reworded)


def _examined_in(languages: tuple[str, ...], a: str, b: str, similarity: float) -> Examined:
    """Run the guards of other languages than English: those of each language that the pair may be in."""
    if not languages:
        verdicts: tuple[Verdict, ...] = (refusal("language", "the two are in different languages"),)
    else:
        read = [verdicts_in(language, a, b) for language in languages]
        verdicts = next((each for each in read if not all(verdict.passed for verdict in each)), read[0])
    return Examined(a, b, similarity, required=LEAST_REQUIRED, verdicts=verdicts, english=False)


def _corrected(text: str, slips: tuple[tuple[str, str], ...]) -> str:
    """Return the text with its typing errors corrected towards the other side's words."""
    for wrong, right in slips:
        text = re.sub(rf"(?<!\w){re.escape(wrong)}(?!\w)", right, text, flags=re.IGNORECASE)
    return text


def judge(examined: Examined, rule: Rule, probability: float | None) -> Decision:
    """Apply a rule to a pair. A rule that needs a verifier accepts nothing without a probability."""
    if examined.identical:
        return Decision(True, CERTAIN, 1.0, 0.0, ())
    if not examined.english:
        score = -inf if examined.vetoed else examined.similarity - examined.required
        accepted = not examined.vetoed and (bool(rule.weights) or score >= rule.threshold)
        return Decision(accepted, score, examined.similarity, examined.required, examined.verdicts)
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


def logit(probability: float) -> float:
    """Return the log-odds of a probability (0..1), within `MAX_LOGIT` of zero."""
    return log_odds(probability, 1.0 / (1.0 + exp(MAX_LOGIT)))


def _verdict(name: str, guard: Guard, pair: Comparison) -> Verdict:
    objection = guard(pair)
    if objection is None:
        return Verdict(name, True, "")
    may_differ = pair.reworded and name in NO_VETO_IF_REWORDED
    return Verdict(name, False, objection.reason, objection.veto and not may_differ)


def _log_odds(examined: Examined, rule: Rule, probability: float) -> float:
    constant, *weights = rule.reworded if examined.reworded and rule.reworded else rule.weights
    weighed: list[float] = list(map(mul, weights, (logit(probability), *examined.features)))
    return constant + sum(weighed)


def _features(pair: Comparison, verdicts: tuple[Verdict, ...]) -> tuple[float, ...]:
    """Return the `FEATURES` between the similarity and the requirement."""
    words_a, words_b = max(1, len(pair.a.words)), max(1, len(pair.b.words))
    changed = (len(pair.rest_a) + len(pair.rest_b)) / (words_a + words_b)
    missing = max(len(pair.rest_a) / words_a, len(pair.rest_b) / words_b)
    objections = (float(not verdict.passed) for verdict in verdicts)
    return *objections, changed, missing, pair.disorder


def _refused(a: str, b: str, similarity: float, guard: str, reason: str) -> Examined:
    return Examined(a, b, similarity, verdicts=(Verdict(guard, False, reason, veto=True),))
