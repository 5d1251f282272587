"""Acceptance rule of semantic hits, from labelled pairs of questions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from harness.cli.labelled_pairs import CalibrationResult, LabelledPair, share_line

if TYPE_CHECKING:
    from harness.app import App
    from harness.core.calibration import Calibration
    from harness.core.equivalence import Rule

BATCH = 256


def calibrated_rule(
    app: "App",
    labelled: Sequence[LabelledPair],
    max_wrong_of_served: float | None,
    name: str,
    configured: float | None,
) -> CalibrationResult:
    """Return the rule for the setting `max_wrong` of `app`; `name` describes the pairs. `configured` is the
    setting without this command's option, if the rule is stored.

    Raises:
        InvalidInput: too few pairs.
        EmbeddingError: the embedder failed.
        VerifierError: the verifier failed.
    """
    from harness.cache.acceptance_rule import rule_file

    found, rule = _calibrated(app, labelled, max_wrong_of_served, name)
    limit, on = app.settings.max_wrong, f"{found.different:,} different and {found.same:,} same pairs"
    lines = [
        f"threshold {rule.threshold:.4f} for at most {limit:.2%} wrong, on {on}",
        share_line("served, of the same", found.served),
        share_line("wrong, of the different", found.wrong),
        share_line("wrong, of the served", found.wrong_of_served),
    ]
    if configured is not None and limit > configured:
        lines.append(f"used once max_wrong is {limit:g}: it is {configured:g} now (HARNESS_MAX_WRONG={limit:g})")
    figures = msgspec.to_builtins(found) | {"threshold": rule.threshold}
    return CalibrationResult(rule_file(app.settings), msgspec.json.encode(rule), figures, lines)


def _calibrated(
    app: "App", labelled: Sequence[LabelledPair], max_wrong_of_served: float | None, name: str
) -> "tuple[Calibration, Rule]":
    """Return the calibration and the rule that follows from it; `name` describes the pairs."""
    from harness.cache.acceptance_rule import LAXEST
    from harness.core.calibration import calibrate as calibrated
    from harness.core.equivalence import rule_for

    limit, verifier = app.settings.max_wrong, app.models.verifier
    laxest = rule_for(LAXEST) if verifier is None else verifier.rule(LAXEST)
    scores = _scores(app, laxest, labelled)
    found = calibrated(scores, [bool(pair.label) for pair in labelled], limit, max_wrong_of_served)
    threshold = max(found.threshold, laxest.threshold)  # pairs that guards reject say nothing about the others
    return found, msgspec.structs.replace(laxest, threshold=threshold, max_wrong=limit, calibrated_on=name)


def _scores(app: "App", rule: "Rule", labelled: Sequence[LabelledPair]) -> list[float]:
    """Return the score of each pair under `rule`; shows progress."""
    from harness.core.equivalence import decide
    from harness.models.local.tokenizer import vocabulary

    words, verifier = vocabulary(), app.models.verifier
    verify = None if verifier is None else verifier.probability
    scores = []
    for start in range(0, len(labelled), BATCH):
        app.progress("comparing", start, len(labelled))
        part = labelled[start : start + BATCH]
        vectors = app.models.embedder.embed([text for pair in part for text in (pair.first, pair.second)])
        for pair, one, two in zip(part, vectors[::2], vectors[1::2], strict=True):
            decision = decide(pair.first, pair.second, float(one @ two), rule=rule, known=words, verify=verify)
            scores.append(decision.score)
    app.progress("comparing", len(labelled), len(labelled))
    return scores
