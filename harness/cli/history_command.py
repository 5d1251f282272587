"""`harness history`: past searches, researches and knowledge."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.options import JsonOption, OriginOption, in_words
from harness.cli.output import print_json
from harness.cli.tables import Cell, Column, Line, print_table
from harness.core.freshness import age_in_words

if TYPE_CHECKING:
    from harness.research.history import HistoryEntry


@with_session
def history(
    session: Session,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUERY", help="Text to find, by meaning; without it, the newest entries.", show_default=False
        ),
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            "--source",
            metavar="SOURCE",
            help="Only entries of: search, research, knowledge, or all.",
            autocompletion=completion.choices(("search", "research", "knowledge", "all")),
        ),
    ] = "all",
    since: Annotated[
        str,
        typer.Option(
            "--since", metavar="TIME", help="Only entries stored since this time: 2026-11-22, a Unix time, or 7d."
        ),
    ] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="Maximum number of entries.")] = 20,
    offset: Annotated[int, typer.Option("--offset", metavar="N", help="Entries to skip.")] = 0,
    origin: OriginOption = "own",
    as_json: JsonOption = False,
) -> None:
    """Search past searches, researches and knowledge.

    With a query, the most similar entries come first; without one, the newest.

    \b
    Examples:
      harness history
      harness history "attribute lookup" --source research
      harness history --since 7d -n 50
      harness history --origin experiment
      harness history "rag pipelines" --json | jq -r '.items[].title'
    """
    from harness.research.history import since_of

    query = in_words(words)
    with session.app({"offline": True}) as app:
        page = app.history.page(
            query, since=since_of(since, time.time()), source=source, limit=limit, offset=offset, origin=origin
        )
    if as_json:
        from harness.server.responses.history_responses import history_response

        print_json(history_response(page, limit, offset).model_dump())
    elif page.items:
        _print(page.items, bool(query.strip()))
    else:
        session.note("no past entry matches" if query.strip() else "no entries yet; try `harness search`")


def _print(found: "list[HistoryEntry]", asked: bool) -> None:
    from harness.research.run_record import RUN_ID

    now, rows = time.time(), list[tuple[Cell, ...]]()
    for each in found:
        marks = [f"{each.count} runs"] * (each.count > 1) + ["expired"] * each.expired
        title = Line(" · ".join((each.title, *marks)), "bold")
        run = f"harness show {each.id}" if each.source == "research" and RUN_ID.fullmatch(each.id) else ""
        details = [Line(line, "dim") for line in (each.snippet, each.url, run) if line]
        likeness = (f"{each.similarity:.3f}",) if asked else ()
        rows.append((*likeness, age_in_words(now - each.timestamp), each.source, (title, *details)))
    like = (Column("like", "right"),) if asked else ()
    print_table((*like, Column("when"), Column("what"), Column("title", least=30)), rows)
