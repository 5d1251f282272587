"""`harness cache calibrate`: an acceptance rule, or thresholds of the reader, from labelled pairs."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.calibrate_reader import calibrated_reader
from harness.cli.calibrate_rule import calibrated_rule
from harness.cli.command_session import Session, with_session
from harness.cli.labelled_pairs import read_pairs
from harness.cli.options import DryRunOption, JsonOption
from harness.cli.output import print_result
from harness.errors import InvalidInput, StoreError
from harness.storage.files import replacing


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
    if kind != "questions" and max_wrong_of_served is not None:
        raise InvalidInput("--max-wrong-of-served is for questions with the same answer; leave it out")
    name = f"{len(labelled):,} pairs of {pairs.name}"
    with session.app({"max_wrong": max_wrong} if kind == "questions" else {}) as app:
        app.identity.require_local()  # one calibration decides for every tenant
        if kind == "questions":
            configured = None if dry_run else session.load().settings.max_wrong
            made = calibrated_rule(app, labelled, max_wrong_of_served, name, configured)
        else:
            made = calibrated_reader(app, kind, labelled, max_wrong, name)
        if not dry_run:
            _store(made.file, made.content)
    stored = "not stored (dry run)" if dry_run else f"stored in {made.file}; remove it to use what is shipped again"
    value = {**made.figures, "kept": None if dry_run else str(made.file)}
    print_result(value, [*made.lines, stored], as_json=as_json)


def _store(file: Path, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as out:
            out.write(content)
    except OSError as error:
        raise StoreError(f"cannot store the rule in {file} ({error.strerror}); the rule used so far stays") from error
