"""Assertions for tests of equivalence: in both orders, with the real vocabulary and a rule without margin."""

from harness.core.abbreviations import Meanings
from harness.core.equivalence import Decision, Rule, decide
from harness.core.equivalence.comparison import compare
from harness.core.equivalence.guards import Guard, Objection
from harness.core.equivalence.reading import read
from harness.models.local.tokenizer import vocabulary

RULE = Rule(threshold=0.0, max_wrong=0.01, calibrated_on="nothing: no margin")
SAME = 0.97
"""A similarity that two wordings of one question reach."""
TRAP = 0.99
"""A similarity that two different texts hardly reach."""

Pairs = list[tuple[str, str]]


def judge(a: str, b: str, similarity: float, meanings: Meanings | None = None) -> Decision:
    """Decide as the cache does."""
    return decide(a, b, similarity, rule=RULE, known=vocabulary(), meanings=meanings)


def why(decision: Decision) -> str:
    """Return a decision's reasons, for the message of a failed test."""
    reasons = [f"{verdict.guard}: {verdict.reason}" for verdict in decision.objections]
    return f"accepted={decision.accepted}, required={decision.required}, {reasons or 'no objection'}"


def assert_served(a: str, b: str) -> None:
    """Fail unless the answer may be served, in both orders."""
    for one, two in ((a, b), (b, a)):
        decision = judge(one, two, SAME)
        assert decision.accepted, why(decision)


def assert_refused(a: str, b: str) -> None:
    """Fail if the answer may be served, in either order."""
    for one, two in ((a, b), (b, a)):
        decision = judge(one, two, TRAP)
        assert not decision.accepted, why(decision)


def objection(guard: Guard, a: str, b: str) -> Objection | None:
    """Return one guard's objection to a pair."""
    return guard(compare(read(a), read(b), vocabulary()))


def assert_objects(guard: Guard, a: str, b: str) -> None:
    """Fail unless this guard rejects the pair, in both orders."""
    assert objection(guard, a, b)
    assert objection(guard, b, a)


def assert_silent(guard: Guard, a: str, b: str) -> None:
    """Fail if this guard rejects the pair, in either order."""
    assert objection(guard, a, b) is None
    assert objection(guard, b, a) is None
