"""Shipped acceptance rule for pairs without a verifier; a verifier has its own rule."""

from collections.abc import Sequence

from harness.core.equivalence.decision import Rule
from harness.errors import InvalidInput

CALIBRATED_ON = "495 different and 279 same pairs of queries from a search log"
THRESHOLDS = ((0.0025, 0.077), (0.005, 0.042), (0.01, 0.015), (0.02, -0.01), (0.05, -0.05))
"""For each share of wrong answers among different pairs, the least score that is served without a verifier.

Calibrated by conformal risk control on 774 pairs that we labelled by hand: two queries of the Bing Coronavirus Query
Set of January 2020 (Microsoft, Open Use of Data Agreement 1.0) whose all-MiniLM-L6-v2 similarity is at least 0.85,
drawn at random; 26 pairs with one intent in two languages were left out. Those thresholds (0.076 for 0.25 %, below 0
from 0.5 % on) were then raised where questions of other kinds, which must not be trained on, showed more wrong answers.
"""


def rule_for(max_wrong: float) -> Rule:
    """Return the shipped rule for at most this share (0..1) of wrong answers among different pairs.

    Raises:
        InvalidInput: the share is less than the calibration can guarantee.
    """
    share, threshold = promised(max_wrong, THRESHOLDS)
    return Rule(threshold, share, CALIBRATED_ON)


def promised(max_wrong: float, thresholds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the largest calibrated share of wrong answers within `max_wrong`, and its threshold.

    Raises:
        InvalidInput: the share is less than the calibration can guarantee.
    """
    fitting = [(share, threshold) for share, threshold in thresholds if share <= max_wrong]
    if not fitting:
        raise InvalidInput(
            f"max_wrong must be at least {thresholds[0][0]:g}, not {max_wrong:g}: the shipped rule was calibrated on "
            "too few pairs for less; calibrate with `harness cache calibrate`, or turn `semantic` off"
        )
    return fitting[-1]


SHIPPED = rule_for(0.01)
