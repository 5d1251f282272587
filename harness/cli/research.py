"""`harness research`: from a question to a cited report."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import (
    EmbeddingModelOption,
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
from harness.cli.report import show, summary
from harness.cli.session import Session, with_session
from harness.core.freshness import MAX_TTL
from harness.core.text import clean
from harness.errors import InvalidInput
from harness.terminal import ExitCode

MAX_SECTIONS = 20


@with_session
def research(
    session: Session,
    question: Annotated[str | None, typer.Argument(help="What you want to know.", show_default=False)] = None,
    engine: EngineOption = None,
    embedding_model: EmbeddingModelOption = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Have this language model plan and word the report.")
    ] = None,
    model_url: Annotated[
        str | None, typer.Option("--model-url", metavar="URL", help="The model's OpenAI-compatible endpoint.")
    ] = None,
    strict: Annotated[
        bool | None,
        typer.Option("--strict/--marked", help="Leave out, or mark, what no quotation supports.", show_default=False),
    ] = None,
    epoch: Annotated[
        str, typer.Option("--epoch", metavar="NAME", help="Ask the model anew, once for each name.", show_default=False)
    ] = "",
    max_rounds: Annotated[
        int | None, typer.Option("--max-rounds", metavar="N", help="Rounds of searches at the most, 1 to 5.")
    ] = None,
    max_results: MaxResultsOption = None,
    max_live_calls: Annotated[
        int | None, typer.Option("--max-live-calls", metavar="N", help="Searches and pages from outside at the most.")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", metavar="S", help="Begin no further round after so long.")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="N", help="Tokens of the model, read and written, at the most."),
    ] = None,
    read_pages: Annotated[
        int | None, typer.Option("--read-pages", metavar="N", help="Pages to read each round, 0 to 20.")
    ] = None,
    ttl: TtlOption = None,
    sections: Annotated[
        int | None, typer.Option("--sections", metavar="N", help="Lay the report out in N sections.")
    ] = None,
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
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="RUN", help="Go on with a run that was stopped.")
    ] = None,
    stale_if_error: Annotated[
        float | None,
        typer.Option(
            "--stale-if-error", metavar="SECONDS", help="If a search fails, take results expired so long ago."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report there, with front matter.")
    ] = None,
    as_html: Annotated[bool, typer.Option("--html", help="One HTML page.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Research a question: plan, search in rounds, read pages, and write a report that quotes its sources.

    Every sentence rests on a quotation that is checked against the stored text of its source. Asked again, the same
    question costs no live call and gives the same report, byte for byte. Without a model, the report is made of
    excerpts. A run that is stopped loses nothing: `--resume` goes on.

    \b
    Examples:
      harness research "semantic cache false positives"
      harness research "How does the with statement handle exceptions?" --engine corpus:python-docs
      harness research "what do my notes say about retries" --engine corpus:~/notes --json
      harness research "crispr off-target effects" -e pubmed -e ddgs --model qwen3 -o crispr.md
      harness research "semantic cache false positives" --html -o report.html
      harness research "semantic cache false positives" --replay run.snapshot
    """
    late = _checked_late(stale_if_error)
    if (question is None) == (resume is None):
        raise InvalidInput("give a question, or --resume RUN")
    if sections is not None and not 1 <= sections <= MAX_SECTIONS:
        raise InvalidInput(
            f"a report has 1 to {MAX_SECTIONS} sections, not {sections}; leave --sections out for the usual"
        )
    flags = {
        "engine": engine or None,
        "embedding_model": embedding_model,
        "model": model,
        "model_url": model_url,
        "strict": strict,
        "max_rounds": max_rounds,
        "max_results": max_results,
        "max_live_calls": max_live_calls,
        "max_seconds": max_seconds,
        "max_tokens": max_tokens,
        "read_pages": read_pages,
        "ttl": ttl,
        "research_cache": research_cache,
        "semantic": semantic,
        "offline": offline,
    }
    live = _Stream() if sys.stdout.isatty() and not (as_html or as_json or output) else None
    with session.workbench(flags, refresh=refresh, no_cache=no_cache, replay=replay, serve_stale=late) as workbench:
        researcher = workbench.researcher(epoch=epoch, on_text=live)
        found = researcher.resume(resume) if resume else researcher.run(question or "", sections=sections)
        session.end_progress()
        show(found, workbench.cache.now, output, as_html=as_html, as_json=as_json)
        session.tell(summary(found))
        sys.stdout.flush()
    if not found.report:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


class _Stream:
    """Shows on the terminal what the model writes, dimly, until the report stands; control characters are not."""

    def __call__(self, text: str) -> None:
        typer.secho(clean(text, len(text)), dim=True, nl=False, err=True)


def _checked_late(seconds: float | None) -> float:
    if seconds is not None and not 0 <= seconds <= MAX_TTL:
        raise InvalidInput(f"--stale-if-error must be seconds, 0 or more, not {seconds:g}")
    return seconds or 0.0
