"""Thresholds of the reader, from labelled texts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from harness.cli.labelled_pairs import CalibrationResult, Kind, LabelledPair, share_line
from harness.errors import ReaderError

if TYPE_CHECKING:
    from harness.app import App
    from harness.ports import Reader


def calibrated_reader(
    app: "App", kind: Kind, labelled: Sequence[LabelledPair], most: float | None, name: str
) -> CalibrationResult:
    """Return the threshold for answers, or those for support and contradiction; the others stay as they are. `most` is
    the largest share to decide wrongly; `name` describes the pairs.

    Raises:
        InvalidInput: too few pairs.
        ReaderError: the reader failed.
        EmbeddingError: the embedder failed.
    """
    from harness.models.from_settings import calibration_file
    from harness.research.reader_calibration import MAX_MISSED, MAX_WRONG, calibrated_answers, calibrated_support

    reader = _usable(app.models.reader)
    if kind == "answers":
        limit = MAX_MISSED if most is None else most
        answers = [(pair.first, pair.second, bool(pair.label)) for pair in labelled]
        calibration, decided = calibrated_answers(reader, app.models.embedder, answers, limit, name, app.progress)
    else:
        limit = MAX_WRONG if most is None else most
        support = [(pair.first, pair.second, str(pair.label)) for pair in labelled]
        calibration, decided = calibrated_support(reader, support, limit, name, app.progress)
    lines = []
    for each in decided:
        lines.append(f"{each.decision}: threshold {each.threshold:.4f}")
        lines.append(share_line("  accepted of the right", each.right))
        lines.append(share_line("  accepted of the others", each.wrong))
    figures = {"decisions": msgspec.to_builtins(decided), "max_wrong": limit}
    return CalibrationResult(calibration_file(app.settings), msgspec.json.encode(calibration), figures, lines)


def _usable(reader: "Reader") -> "Reader":
    """Return the reader, with the shipped thresholds if those in the data directory are damaged."""
    try:
        _ = reader.calibration
    except ReaderError:
        from harness.models.local.reader import MiniLMReader

        return MiniLMReader()
    return reader
