"""The acceptance rule that the harness ships with."""

from harness.core.equivalence.decision import Rule
from harness.errors import InvalidInput

CALIBRATED_ON = "to be calibrated"
THRESHOLDS = ((0.001, 0.05), (0.002, 0.04), (0.005, 0.025), (0.01, 0.012), (0.02, -0.02), (0.05, -0.05))
"""For each share of wrong answers, the score from which on pairs are served."""


def rule_for(max_wrong: float) -> Rule:
    """Return the shipped rule for at most this share (0..1) of wrong answers among different pairs.

    Raises:
        InvalidInput: for less than the calibration can promise.
    """
    fitting = [(share, threshold) for share, threshold in THRESHOLDS if share <= max_wrong]
    if not fitting:
        raise InvalidInput(
            f"max_wrong must be at least {THRESHOLDS[0][0]:g}, not {max_wrong:g}: the shipped rule was calibrated on "
            "too few pairs for less; calibrate your own with `harness cache calibrate`, or switch `semantic` off"
        )
    share, threshold = fitting[-1]
    return Rule(threshold, share, CALIBRATED_ON)


SHIPPED = rule_for(0.01)
