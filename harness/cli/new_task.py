"""`harness eval new`: make an evaluation task of a past research."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.options import JsonOption
from harness.cli.output import print_result
from harness.core.text import printable


@with_session
def new(
    session: Session,
    from_run: Annotated[
        str,
        typer.Option(
            "--from-run", metavar="RUN", help="Id of the research, see `harness runs`.", autocompletion=completion.runs
        ),
    ],
    name: Annotated[
        str, typer.Option("--id", metavar="NAME", help="Id of the task; by default from the question.")
    ] = "",
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Folder to write into.")] = Path("recorded"),
    nugget: Annotated[
        list[str] | None,
        typer.Option("--nugget", metavar="TEXT", help="What a good answer must say; can be given several times."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a task of a past research, with the answers that it used.

    The question can then be researched again without network, at the time of the run, with the same report, byte for
    byte. Results and pages are those of the run, failures included; another query is answered from these results.

    The new file suggests, as comments, sources and nuggets of the run's report: edit it.

    \b
    Examples:
      harness eval new --from-run 20261122-101500-1a2b3c
      harness eval new --from-run 20261122-101500-1a2b3c --id halden --nugget "812 metres long"
      harness eval run --tasks-dir recorded
    """
    from harness_evals.freezing import freeze, report_again
    from harness_evals.tasks import load_tasks

    from harness.research.run_names import run_named

    with session.app() as app:
        run = run_named(app.store, app.identity.tenant, from_run)
        frozen = freeze(app, run, to, name=name, nuggets=nugget or ())
        (task,) = load_tasks([frozen.task.stem], frozen.task.parent)
        session.note("researching it again without network ...")
        same = report_again(app.settings, task) == frozen.report
    differs = "another report; settings, models or this program differ from those of the run"
    lines = (
        printable(f"wrote {frozen.task} and {frozen.folder}"),
        f"researched again without network: {'the same report, byte for byte' if same else differs}",
    )
    value = {"task": task.id, "file": str(frozen.task), "folder": str(frozen.folder), "same_report": same}
    print_result(value, lines, as_json=as_json)
