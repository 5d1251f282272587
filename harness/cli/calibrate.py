"""`harness cache calibrate`: an acceptance rule for one's own kind of questions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import JsonOption
from harness.cli.output import print_json
from harness.cli.session import Session, with_session
from harness.errors import InvalidInput, StoreError
from harness.storage.files import replacing

if TYPE_CHECKING:
    from harness.app import App
    from harness.core.calibration import Calibration
    from harness.core.equivalence import Rule

MAX_PAIRS = 200_000
BATCH = 256
LAXEST = 0.05
"""The share of wrong answers whose shipped threshold is the lowest that is ever used."""


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
        float | None, typer.Option("--max-wrong", metavar="SHARE", help="Different pairs that may be served, as 0.01.")
    ] = None,
    max_wrong_of_served: Annotated[
        float | None,
        typer.Option(
            "--max-wrong-of-served",
            metavar="SHARE",
            help="What is served that may be wrong, where questions come as in the file.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what the rule would be.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Set how sure a match by meaning must be, from labelled pairs.

    The threshold is found by conformal risk control: on questions like these, the share of different pairs that are
    served wrongly stays within --max-wrong; with --max-wrong-of-served, so does (in 19 of 20 cases) the share of the
    served ones that are wrong. It is kept in the data directory and used from then on; too few pairs are
    refused. The shares printed are of pairs that their threshold was not chosen on.

    \b
    Examples:
      harness cache calibrate --pairs mine.jsonl
      harness cache calibrate --pairs mine.jsonl.gz --max-wrong 0.005 --dry-run
    """  # fmt: skip
    import msgspec

    from harness.cache.acceptance_rule import rule_file
    from harness.core.calibration import calibrate as calibrated
    from harness.core.equivalence import rule_for

    labelled = _read(pairs)
    with session.app({"max_wrong": max_wrong}) as app:
        app.identity.require_local()  # one rule decides for every tenant
        limit, file, verifier = app.settings.max_wrong, rule_file(app.settings), app.models.verifier
        laxest = rule_for(LAXEST) if verifier is None else verifier.rule(LAXEST)
        scores = _scores(app, laxest, labelled)
        found = calibrated(scores, [label for *_, label in labelled], limit, max_wrong_of_served)
        threshold = max(found.threshold, laxest.threshold)  # pairs that guards refuse say nothing of the others
        rule = msgspec.structs.replace(
            laxest, threshold=threshold, max_wrong=limit, calibrated_on=f"{len(labelled):,} pairs of {pairs.name}"
        )
        if not dry_run:
            _keep(file, msgspec.json.encode(rule))
    if as_json:
        print_json(msgspec.to_builtins(found) | {"threshold": threshold, "kept": None if dry_run else str(file)})
        return
    _print(found, threshold, limit)
    configured = session.load().settings.max_wrong
    if not dry_run and limit > configured:
        typer.echo(f"used once max_wrong is {limit:g}: it is {configured:g} now (HARNESS_MAX_WRONG={limit:g})")
    typer.echo("not kept (dry run)" if dry_run else f"kept in {file}; remove it to go back to the shipped rule")


def _keep(file: Path, rule: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as out:
            out.write(rule)
    except OSError as error:
        raise StoreError(f"cannot keep the rule in {file} ({error.strerror}); the rule used so far stays") from error


def _scores(app: "App", rule: "Rule", labelled: Sequence[tuple[str, str, bool]]) -> list[float]:
    """Return what `rule` makes of each pair, telling how far it is."""
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
        InvalidInput: an unreadable file, or a line that is no labelled pair.
    """
    import gzip
    import zlib

    opened = gzip.open if path.suffix == ".gz" else open
    found = []
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if number > MAX_PAIRS:
                    raise InvalidInput(f"{path} has more than {MAX_PAIRS:,} pairs; take a sample of them")
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
