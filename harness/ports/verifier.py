"""Port of models that compare two questions."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harness.core.equivalence import Rule


class Verifier(Protocol):
    """Model that reads two questions together and estimates whether one answer serves both."""

    @property
    def id(self) -> str:
        """Return the name of model, weights and version: a rule is calibrated on the output of one of them."""

    def rule(self, max_wrong: float) -> "Rule":
        """Return the rule that decides on its output, for at most this share (0..1) of wrong answers among different
        pairs.

        Raises:
            InvalidInput: for less than its calibration can promise.
            VerifierError: the model is missing or damaged.
        """

    def probability(self, a: str, b: str) -> float:
        """Return how likely (0..1) one answer serves both questions.

        Of any two texts of up to 10,000 characters; the same in either order, at any time. Texts
        that are too long to be read whole get a low one.

        Raises:
            VerifierError: the model is missing, damaged, or failed.
        """
