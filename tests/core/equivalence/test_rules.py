"""Rules with a verifier: when it is asked, what it can and cannot overrule."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.equivalence import Rule, decide, examine, judge, promised, rule_for
from harness.core.equivalence.comparison import compare
from harness.core.equivalence.decision import FEATURES, MAX_LOGIT, logit
from harness.core.equivalence.reading import read
from harness.core.reading_calibration import sigmoid
from harness.errors import InvalidInput
from harness.models.local.tokenizer import vocabulary

RULE = Rule(2.0, 0.01, "nothing", "says", (0.0, 1.0, *[0.0] * (len(FEATURES) - 1)))
A, B = "how to learn python", "how to learn python quickly"
TRAP = ("how to enable ipv6", "how to disable ipv6")
STORY = "my phone keeps rebooting every few minutes since the last update, what should i do"
REWORDED = "ever since i installed the newest update the phone restarts all the time. how can i fix that?"


def never(a: str, b: str) -> float:
    """Fail: nothing should be read."""
    raise AssertionError(f"read: {a!r}, {b!r}")


def test_an_objection_is_overruled_by_a_confident_verifier() -> None:
    """Content on only one side is not a veto; the objection is still reported."""
    decision = decide(A, B, 0.9, rule=RULE, verify=lambda *_: 0.99)
    assert decision.accepted
    assert (decision.probability, decision.objections) == (0.99, ())
    assert [verdict.guard for verdict in decision.verdicts if not verdict.passed] == ["content"]


def test_a_veto_is_not() -> None:
    """The verifier is not asked."""
    decision = decide(*TRAP, 0.99, rule=RULE, verify=never)
    assert not decision.accepted
    assert (decision.score, [each.guard for each in decision.objections]) == (-math.inf, ["negation"])


def test_nothing_is_accepted_unread() -> None:
    """Without a probability, a rule that needs one rejects."""
    assert not judge(examine(A, B, 1.0), RULE, None).accepted
    assert not decide(A, B, 1.0, rule=RULE).accepted


def test_a_query_is_itself_without_being_read() -> None:
    """Under any rule."""
    assert decide(A, f" {A.upper()}", 0.0, rule=RULE, verify=never).accepted


def test_a_rule_without_weights_needs_no_verifier() -> None:
    """Similarity decides, and every objection counts."""
    decision = decide(A, B, 1.0, rule=rule_for(0.01), verify=never)
    assert [verdict.guard for verdict in decision.objections] == ["content"]


def test_the_score_is_the_weighted_sum() -> None:
    """One weight per feature, the constant before them."""
    weights = tuple(float(number) for number in range(1, len(FEATURES) + 2))
    examined = examine(A, B, 0.9)
    decision = judge(examined, Rule(0.0, 0.01, "", "says", weights), 0.75)
    rows = (1.0, logit(0.75), *examined.features)
    assert decision.score == pytest.approx(sum(w * x for w, x in zip(weights, rows, strict=True)))
    assert len(rows) == len(weights)


def test_for_a_reworded_question_words_do_not_weigh() -> None:
    """The constant, the verifier and the similarity have separate weights there, and other features none."""
    weights = tuple(float(number) for number in range(1, len(FEATURES) + 2))
    for_reworded = Rule(0.0, 0.01, "", "says", weights, reworded=(0.5, 2.0, 4.0))
    examined = examine(STORY, REWORDED, 0.75)
    assert examined.reworded
    assert judge(examined, for_reworded, 0.9).score == pytest.approx(0.5 + 2.0 * logit(0.9) + 4.0 * 0.75)
    everywhere = Rule(0.0, 0.01, "", "says", weights)
    assert judge(examined, everywhere, 0.9).score != judge(examined, for_reworded, 0.9).score
    varied = examine(A, B, 0.9)
    assert not varied.reworded
    assert judge(varied, everywhere, 0.9) == judge(varied, for_reworded, 0.9)


@given(a=st.text(max_size=60), b=st.text(max_size=60), similarity=st.floats(0, 1), said=st.floats(0, 1))
def test_the_order_never_matters(a: str, b: str, similarity: float, said: float) -> None:
    """Nor does the verifier's probability: any number from 0 to 1 is valid."""
    one, other = (decide(*pair, similarity, rule=RULE, verify=lambda *_: said) for pair in ((a, b), (b, a)))
    assert one == other


def test_a_higher_probability_never_accepts_less() -> None:
    """The logit rises with the probability and is bounded."""
    found = [logit(each / 100) for each in range(101)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (pytest.approx(-MAX_LOGIT), pytest.approx(MAX_LOGIT))
    assert sigmoid(logit(0.3)) == pytest.approx(0.3)


def test_each_share_has_a_threshold() -> None:
    """The largest calibrated one within the limit; less than all is an error."""
    thresholds = ((0.005, 3.0), (0.01, 2.0))
    assert promised(0.007, thresholds) == (0.005, 3.0)
    assert promised(0.5, thresholds) == (0.01, 2.0)
    with pytest.raises(InvalidInput, match="max_wrong"):
        promised(0.001, thresholds)


@pytest.mark.parametrize(
    ("a", "b", "guard"),
    [
        ("how to learn python", "how to learn python in 2024", "dates"),
        ("my knee hurts what can i do", "my knee hurts what can i do today", "dates"),
        ("best laptops for students", "best 5 laptops for students", "numbers"),
        ("how do i learn to draw", '"how do i learn" to draw', "scope"),
    ],
)
def test_content_on_one_side_is_left_to_a_verifier(a: str, b: str, guard: str) -> None:
    """Without one it is rejected; a confident verifier may accept."""
    assert guard in [
        verdict.guard for verdict in examine(a, b, 0.95).verdicts if not verdict.passed and not verdict.veto
    ]
    assert not decide(a, b, 0.99, rule=rule_for(0.01), verify=never).accepted
    assert decide(a, b, 0.95, rule=RULE, verify=lambda *_: 0.99).accepted


@pytest.mark.parametrize(
    ("a", "b", "guard"),
    [
        ("python release date", "python 3.12 release date", "versions"),
        ("python 3.11 release date", "python 3.12 release date", "versions"),
        ("olympics 2020 medals", "olympics 2024 medals", "dates"),
        ("convert 3 km to miles", "convert 5 km to miles", "numbers"),
        ("flights from Paris to Rome", "flights from London to Rome", "names"),
    ],
)
def test_different_content_on_both_sides_is_a_veto(a: str, b: str, guard: str) -> None:
    """So is a version on only one side: without one the current version is meant."""
    assert guard in [verdict.guard for verdict in examine(a, b, 0.99).verdicts if verdict.veto and not verdict.passed]
    assert not decide(a, b, 0.99, rule=RULE, verify=never).accepted


@pytest.mark.parametrize(
    ("a", "b", "scattered"),
    [
        ("best practices for rag pipelines", "rag pipeline best practices", False),
        ("learn python fast", "learn python fast", False),
        ("boat house", "house boat", True),
        ("school bus driver", "bus driver school", True),
        ("", "", False),
    ],
)
def test_blocks_of_words_may_move(a: str, b: str, scattered: bool) -> None:
    """A single word that moves changes the meaning more often."""
    assert compare(read(a), read(b), vocabulary()).scattered is scattered
    assert compare(read(b), read(a), vocabulary()).scattered is scattered
