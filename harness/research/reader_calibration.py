"""Thresholds of the reader from labelled texts: conformal risk control, for each of its decisions."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from harness.core.calibration import Interval, cross_fitted, highest_threshold, interval, lowest_threshold
from harness.core.reading_calibration import ReadingCalibration
from harness.core.support import SupportProbabilities
from harness.library.relevance import relevance
from harness.ports import Embedder, Progress, Reader

MAX_MISSED = 0.1
"""Share of the answering texts that may be missed, unless another is given."""
MAX_WRONG = 0.05
"""Share of the other texts that may be taken for support, or for contradiction, unless another is given."""

T = TypeVar("T")
Scores = Sequence[float]


class Decided(Struct, frozen=True):
    """A decision, its threshold, and the shares of texts that it accepts: of those that it should, and of the others.
    Half of the labels choose a threshold that judges the other half, and vice versa.
    """

    decision: str
    threshold: float
    right: Interval
    wrong: Interval


def calibrated_answers(
    reader: Reader,
    embedder: Embedder,
    pairs: Sequence[tuple[str, str, bool]],
    max_missed: float,
    name: str,
    progress: Progress,
) -> tuple[ReadingCalibration, list[Decided]]:
    """Return the reader's calibration with a threshold that misses at most `max_missed` (0..1, exclusive) of the texts
    that answer their question. `name` describes the pairs.

    Raises:
        InvalidInput: too few texts that answer.
        ReaderError: the reader failed.
        EmbeddingError: the embedder failed.
    """
    calibration = reader.calibration.with_vectors_of(embedder.id)
    scores = [relevance(question, [text], reader, embedder)[0] for question, text, _ in _counted(pairs, progress)]
    labels = [label for *_, label in pairs]
    decided = _decided("answers", scores, labels, lambda right, _: highest_threshold(right, max_missed))
    return _replaced(reader, calibration, name, [decided]), [decided]


def calibrated_support(
    reader: Reader, pairs: Sequence[tuple[str, str, str]], max_wrong: float, name: str, progress: Progress
) -> tuple[ReadingCalibration, list[Decided]]:
    """Return the reader's calibration with thresholds for support and contradiction that at most `max_wrong` (0..1,
    exclusive) of the other texts reach. `name` describes the pairs.

    Raises:
        InvalidInput: too few of the other texts.
        ReaderError: the reader failed.
    """
    read: list[SupportProbabilities] = [
        reader.supports(sentence, [quotation])[0] for sentence, quotation, _ in _counted(pairs, progress)
    ]
    decided = [
        _decided(
            decision,
            [getattr(each, decision) for each in read],
            [label == decision for *_, label in pairs],
            lambda _, wrong: lowest_threshold(wrong, max_wrong),
        )
        for decision in ("supports", "contradicts")
    ]
    return _replaced(reader, reader.calibration, name, decided), decided


def _counted(pairs: Sequence[tuple[str, str, T]], progress: Progress) -> Iterator[tuple[str, str, T]]:
    for done, pair in enumerate(pairs):
        progress("reading", done, len(pairs))
        yield pair
    progress("reading", len(pairs), len(pairs))


def _replaced(
    reader: Reader, calibration: ReadingCalibration, name: str, decided: Sequence[Decided]
) -> ReadingCalibration:
    thresholds = {each.decision: each.threshold for each in decided}
    return replace(calibration, reader=reader.id, calibrated_on=name, **thresholds)


def _decided(
    decision: str, scores: Scores, labels: Sequence[bool], choose: Callable[[Scores, Scores], float]
) -> Decided:
    right, wrong = (
        [score for score, label in zip(scores, labels, strict=True) if label == wanted] for wanted in (True, False)
    )
    accepted, mistaken = cross_fitted(right, wrong, choose)
    return Decided(decision, choose(right, wrong), interval(accepted, len(right)), interval(mistaken, len(wrong)))
