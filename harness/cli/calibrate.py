"""`harness cache calibrate`: an acceptance rule, or thresholds of the reader, from labelled pairs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.calibrate_reader import NOT_STORED, calibrate_reader, store
from harness.cli.command_session import Session, with_session
from harness.cli.labelled_pairs import LabelledPair, read_pairs
from harness.cli.options import DryRunOption, JsonOption
from harness.cli.output import print_json

if TYPE_CHECKING:
    from harness.app import App
    from harness.core.calibration import Calibration
    from harness.core.equivalence import Rule

BATCH = 256
LAXEST = 0.05
"""Share of wrong answers whose shipped threshold is the lowest that is ever used."""


@with_session
def calibrate(
    session: Session,
    pairs: Annotated[
        Path,
        typer.Option(
            "--pairs",
            metavar="FILE",
            help="Labelled pairs, as JSON Lines; may be gzipped.",
            show_default=False,
        ),
    ],
    max_wrong: Annotated[
        float | None,
        typer.Option("--max-wrong", metavar="SHARE", help="Largest share of pairs to decide wrongly, as 0.01."),
    ] = None,
    max_wrong_of_served: Annotated[
        float | None,
        typer.Option(
            "--max-wrong-of-served",
            metavar="SHARE",
            help="Largest share of wrong answers, if questions are distributed as in the file.",
        ),
    ] = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Fit semantic hits or the reader to labelled pairs.

    Each line has two texts and a label: a, b and label (1: questions with the same answer, 0: not) for semantic hits;
    question, text and label (1: the text answers, 0: not), or sentence, quotation and label (supports, contradicts or
    neither), for the reader.

    Conformal risk control finds the threshold: on texts like these, the share of different questions that are answered
    wrongly stays within --max-wrong; with --max-wrong-of-served, the share of answers that are wrong also does (in 19
    of 20 cases). For the reader, --max-wrong bounds the answering texts that are missed (default 0.1), or the other
    texts that are taken for support or contradiction (default 0.05). The result is stored in the data directory and
    used from then on; too few pairs are an error. The printed shares are of pairs that did not choose the threshold.

    \b
    Examples:
      harness cache calibrate --pairs mine.jsonl
      harness cache calibrate --pairs mine.jsonl.gz --max-wrong 0.005 --dry-run
      harness cache calibrate --pairs quotations.jsonl
    """
    kind, labelled = read_pairs(pairs)
    if kind != "questions":
        if max_wrong_of_served is not None:
            from harness.errors import InvalidInput

            raise InvalidInput("--max-wrong-of-served is for questions with the same answer; leave it out")
        calibrate_reader(session, kind, labelled, pairs.name, max_wrong, dry_run=dry_run, as_json=as_json)
        return
    import msgspec

    from harness.cache.acceptance_rule import rule_file

    with session.app({"max_wrong": max_wrong}) as app:
        app.identity.require_local()  # one rule decides for every tenant
        limit, file = app.settings.max_wrong, rule_file(app.settings)
        found, rule = _calibrated(app, labelled, max_wrong_of_served, f"{len(labelled):,} pairs of {pairs.name}")
        if not dry_run:
            store(file, msgspec.json.encode(rule))
    if as_json:
        stored = None if dry_run else str(file)
        print_json(msgspec.to_builtins(found) | {"threshold": rule.threshold, "kept": stored})
        return
    _print(found, rule.threshold, limit)
    configured = session.load().settings.max_wrong
    if not dry_run and limit > configured:
        typer.echo(f"used once max_wrong is {limit:g}: it is {configured:g} now (HARNESS_MAX_WRONG={limit:g})")
    typer.echo(NOT_STORED if dry_run else f"stored in {file}; remove it to use the shipped rule again")


def _calibrated(
    app: "App", labelled: Sequence[LabelledPair], max_wrong_of_served: float | None, name: str
) -> "tuple[Calibration, Rule]":
    """Return the calibration and the rule that follows from it; `name` describes the pairs."""
    import msgspec

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


def _print(found: "Calibration", threshold: float, limit: float) -> None:
    on = f"{found.different:,} different and {found.same:,} same pairs"
    typer.echo(f"threshold {threshold:.4f} for at most {limit:.2%} wrong, on {on}")
    shares = {
        "served, of the same": found.served,
        "wrong, of the different": found.wrong,
        "wrong, of the served": found.wrong_of_served,
    }
    for name, share in shares.items():
        typer.echo(f"{name:24} {share.share:7.2%}  (95 %: {share.low:.2%} to {share.high:.2%})")
