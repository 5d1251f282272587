"""Port of models that compare two questions."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harness.core.equivalence import Rule


class Verifier(Protocol):
    """Reads two questions at once and says whether they have the same answer."""

    @property
    def id(self) -> str:
        """Names model, weights and version: a rule is calibrated on what one of them says."""

    def rule(self, max_wrong: float) -> "Rule":
        """Return the rule that weighs what it says, for at most this share (0..1) of wrong answers among different
        pairs.

        Raises:
            InvalidInput: for less than its calibration can promise.
            VerifierError: the model is missing or damaged.
        """

    def probability(self, a: str, b: str) -> float:
        """Return how likely (0..1) one answer serves both questions.

        Of any two texts of up to 10,000 characters; the same whichever comes first, and whenever it is asked. Texts
        that are too long to be read whole get a low one.

        Raises:
            VerifierError: the model is missing, damaged, or failed.
        """
