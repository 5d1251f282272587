"""`harness research`: from a question to a cited report."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.options import (
    EngineOption,
    JsonOption,
    MaxResultsOption,
    NoCacheOption,
    OfflineOption,
    RefreshOption,
    ReplayOption,
    SemanticOption,
    TtlOption,
)
from harness.cli.session import Session, with_session
from harness.core.freshness import MAX_TTL
from harness.errors import InvalidInput
from harness.terminal import ExitCode

if TYPE_CHECKING:
    from harness.research.run import Research

MAX_LINE = 100


@with_session
def research(
    session: Session,
    question: Annotated[str, typer.Argument(help="What you want to know.", show_default=False)],
    engine: EngineOption = None,
    max_rounds: Annotated[
        int | None, typer.Option("--max-rounds", metavar="N", help="Rounds of searches at the most, 1 to 5.")
    ] = None,
    max_results: MaxResultsOption = None,
    ttl: TtlOption = None,
    research_cache: Annotated[
        bool | None,
        typer.Option(
            "--research-cache/--no-research-cache",
            help="Keep the whole gathered research, too (as RESEARCH_CACHE=1).",
            show_default=False,
        ),
    ] = None,
    semantic: SemanticOption = None,
    refresh: RefreshOption = False,
    no_cache: NoCacheOption = False,
    offline: OfflineOption = None,
    replay: ReplayOption = None,
    stale_if_error: Annotated[
        float | None,
        typer.Option(
            "--stale-if-error", metavar="SECONDS", help="If a search fails, take results expired so long ago."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Research a question: plan, search in rounds, and write a report of quotations.

    Every sentence of the report is quoted from a source and carries its number. Asked again, the same question costs no
    live call and gives the same report, byte for byte.

    \b
    Examples:
      harness research "semantic cache false positives"
      harness research "How does the with statement handle exceptions?" --engine corpus:python-docs
      harness research "what do my notes say about retries" --engine corpus:~/notes --json
      RESEARCH_CACHE=1 harness research "semantic cache false positives"
      harness research "semantic cache false positives" --offline
      harness research "semantic cache false positives" --replay run.snapshot
    """
    flags = {
        "engine": engine,
        "max_rounds": max_rounds,
        "max_results": max_results,
        "ttl": ttl,
        "research_cache": research_cache,
        "semantic": semantic,
        "offline": offline,
    }
    if stale_if_error is not None and not 0 <= stale_if_error <= MAX_TTL:
        raise InvalidInput(f"--stale-if-error must be seconds, 0 or more, not {stale_if_error:g}")
    late = stale_if_error or 0.0
    with session.workbench(flags, refresh=refresh, no_cache=no_cache, replay=replay, serve_stale=late) as workbench:
        found = workbench.researcher().run(question)
    if as_json:
        import orjson

        typer.echo(orjson.dumps(_as_json(found), option=orjson.OPT_INDENT_2))
    elif found.report:
        _print_report(found.report.markdown())
    session.tell(_summary(found))
    if not found.report:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def _print_report(markdown: str) -> None:
    if not sys.stdout.isatty():
        typer.echo(markdown, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.print(Markdown(markdown), width=min(console.width, MAX_LINE))


def _summary(found: "Research") -> str:
    rounds, sources = found.gathered.rounds, found.gathered.sources
    lines = []
    failed = [search for search in found.gathered.searches if search.answered_by == "failed"]
    if failed and found.research_cache != "hit":
        lines.append(f"warning: {len(failed)} searches failed, the first with {failed[0].error}")
    if found.report:
        verified = sum(citation.verified for citation in found.report.citations)
        lines.append(
            f"{len(found.report.sources)} of {len(sources)} sources cited; "
            f"{verified} of {len(found.report.citations)} quotations verified"
        )
    elif sources:
        lines.append(f"nothing found: none of the {len(sources)} sources speaks to the question; try other words")
    else:
        lines.append(f"nothing found by {found.engine}; try other words or another --engine")
    where = "the whole research from the cache" if found.research_cache == "hit" else f"{found.cache_hits} cache hits"
    lines.append(f"{len(rounds)} rounds ({found.gathered.stop_reason}); {found.live_calls} live calls, {where}")
    hits = ", ".join(f"{found.answered.get(how, 0)} {how}" for how in ("exact", "semantic", "stale", "no results"))
    lines.append(f"hits: {hits}; misses: {found.answered.get('live', 0) + found.answered.get('failed', 0)}")
    if found.id:
        lines[-1] += f"; run {found.id}"
    return "\n".join(lines)


def _as_json(found: "Research") -> dict[str, Any]:
    from msgspec import to_builtins

    gathered, report = found.gathered, found.report
    numbers = {source.url: source.number for source in report.sources} if report else {}
    return {
        "question": found.plan.question,
        "engine": found.engine,
        "plan": to_builtins(found.plan),
        "rounds": to_builtins(gathered.rounds),
        "novelty_scores": [round_.novelty for round_ in gathered.rounds],
        "stop_reason": gathered.stop_reason,
        "sources": [
            {"number": numbers.get(source.url), "title": source.title, "url": source.url} for source in gathered.sources
        ],
        "citations": to_builtins(report.citations) if report else [],
        "quotations": len(report.citations) if report else 0,
        "quotations_verified": sum(citation.verified for citation in report.citations) if report else 0,
        "live_calls": found.live_calls,
        "cache_hits": found.cache_hits,
        "research_cache": found.research_cache,
        "answered": found.answered,
        "run": found.id or None,
        "report": report.markdown() if report else None,
    }
