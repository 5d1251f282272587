"""`harness cache calibrate`: an acceptance rule from labelled pairs of questions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.options import DryRunOption, JsonOption
from harness.cli.output import print_json
from harness.errors import InvalidInput, StoreError
from harness.storage.files import replacing

if TYPE_CHECKING:
    from harness.app import App
    from harness.core.calibration import Calibration
    from harness.core.equivalence import Rule

MAX_PAIRS = 200_000
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
            help="JSON Lines with a, b and label (1: the same answer, 0: not); may be gzipped.",
            show_default=False,
        ),
    ],
    max_wrong: Annotated[
        float | None,
        typer.Option("--max-wrong", metavar="SHARE", help="Largest share of pairs to answer wrongly, as 0.01."),
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
    """Set how certain a semantic hit must be, from labelled pairs.

    Conformal risk control finds the threshold: on questions like these, the share of different pairs that are answered
    wrongly stays within --max-wrong; with --max-wrong-of-served, the share of answers that are wrong also does (in 19
    of 20 cases). The rule is stored in the data directory and used from then on; too few pairs are an error. The
    printed shares are of pairs that did not choose the threshold.

    \b
    Examples:
      harness cache calibrate --pairs mine.jsonl
      harness cache calibrate --pairs mine.jsonl.gz --max-wrong 0.005 --dry-run
    """
    import msgspec

    from harness.cache.acceptance_rule import rule_file

    labelled = _read(pairs)
    with session.app({"max_wrong": max_wrong}) as app:
        app.identity.require_local()  # one rule decides for every tenant
        limit, file = app.settings.max_wrong, rule_file(app.settings)
        found, rule = _calibrated(app, labelled, max_wrong_of_served, f"{len(labelled):,} pairs of {pairs.name}")
        if not dry_run:
            _store(file, msgspec.json.encode(rule))
    if as_json:
        stored = None if dry_run else str(file)
        print_json(msgspec.to_builtins(found) | {"threshold": rule.threshold, "kept": stored})
        return
    _print(found, rule.threshold, limit)
    configured = session.load().settings.max_wrong
    if not dry_run and limit > configured:
        typer.echo(f"used once max_wrong is {limit:g}: it is {configured:g} now (HARNESS_MAX_WRONG={limit:g})")
    typer.echo("not stored (dry run)" if dry_run else f"stored in {file}; remove it to use the shipped rule again")


def _calibrated(
    app: "App", labelled: Sequence[tuple[str, str, bool]], max_wrong_of_served: float | None, name: str
) -> "tuple[Calibration, Rule]":
    """Return the calibration and the rule that follows from it; `name` describes the pairs."""
    import msgspec

    from harness.core.calibration import calibrate as calibrated
    from harness.core.equivalence import rule_for

    limit, verifier = app.settings.max_wrong, app.models.verifier
    laxest = rule_for(LAXEST) if verifier is None else verifier.rule(LAXEST)
    scores = _scores(app, laxest, labelled)
    found = calibrated(scores, [label for *_, label in labelled], limit, max_wrong_of_served)
    threshold = max(found.threshold, laxest.threshold)  # pairs that guards reject say nothing about the others
    return found, msgspec.structs.replace(laxest, threshold=threshold, max_wrong=limit, calibrated_on=name)


def _store(file: Path, rule: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as out:
            out.write(rule)
    except OSError as error:
        raise StoreError(f"cannot store the rule in {file} ({error.strerror}); the rule used so far stays") from error


def _scores(app: "App", rule: "Rule", labelled: Sequence[tuple[str, str, bool]]) -> list[float]:
    """Return the score of each pair under `rule`; shows progress."""
    from harness.core.equivalence import decide
    from harness.models.local.tokenizer import vocabulary

    words, verifier = vocabulary(), app.models.verifier
    verify = None if verifier is None else verifier.probability
    scores = []
    for start in range(0, len(labelled), BATCH):
        app.progress("comparing", start, len(labelled))
        part = labelled[start : start + BATCH]
        vectors = app.models.embedder.embed([text for a, b, _ in part for text in (a, b)])
        for (a, b, _), one, two in zip(part, vectors[::2], vectors[1::2], strict=True):
            scores.append(decide(a, b, float(one @ two), rule=rule, known=words, verify=verify).score)
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


def _read(path: Path) -> list[tuple[str, str, bool]]:
    """Read labelled pairs.

    Raises:
        InvalidInput: an unreadable file, or a line that is not a labelled pair.
    """
    import gzip
    import zlib

    opened = gzip.open if path.suffix == ".gz" else open
    found = []
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if number > MAX_PAIRS:
                    raise InvalidInput(f"{path} has more than {MAX_PAIRS:,} pairs; use a sample")
                if line.strip():
                    found.append(_pair(line, path, number))
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    except (EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    return found


def _pair(line: str, path: Path, number: int) -> tuple[str, str, bool]:
    try:
        row = json.loads(line)
        a, b, label = row["a"], row["b"], row["label"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInput(f"{path}, line {number}: not a JSON object with a, b and label") from None
    if not isinstance(a, str) or not isinstance(b, str) or label not in (0, 1):
        raise InvalidInput(f"{path}, line {number}: a and b must be text, label 0 or 1")
    if any("\ud800" <= letter <= "\udfff" for letter in a + b):
        raise InvalidInput(f"{path}, line {number}: broken Unicode (a lone surrogate); re-encode it")
    return a, b, bool(label)
