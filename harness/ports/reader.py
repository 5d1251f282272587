"""Port of models that read: a question with a text, or a sentence with a quotation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harness.core.reading_calibration import ReadingCalibration
    from harness.core.support import SupportProbabilities


class Reader(Protocol):
    """Model that reads two texts together and returns calibrated probabilities (0..1).

    The probability of a pair depends on its two texts alone, not on other pairs of the list, and is the same at any
    time. Any two strings have one; of a text that is too long to be read at once, the window that decides counts.
    """

    @property
    def id(self) -> str:
        """Return the name of model, weights and version: results that it decided are reused only with the same one."""

    @property
    def calibration(self) -> "ReadingCalibration":
        """Return the thresholds of its probabilities.

        Raises:
            ReaderError: the model, or a calibration made for it, is missing or damaged.
        """

    def answers(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how likely each text answers the question.

        Raises:
            ReaderError: the model is missing, damaged, or failed.
        """

    def supports(self, sentence: str, quotations: Sequence[str]) -> "list[SupportProbabilities]":
        """Return how likely each quotation supports the sentence, contradicts it, or neither.

        Raises:
            ReaderError: the model is missing, damaged, or failed.
        """

    def same_answer(self, question: str, others: Sequence[str]) -> list[float]:
        """Return how likely one answer serves the question and each other question.

        Raises:
            VerifierError: the model is missing, damaged, or failed.
        """
