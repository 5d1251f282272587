"""`harness research`: from a question to a cited report."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion
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
    duration,
    in_words,
)
from harness.cli.output import BY_WORDS
from harness.cli.report import show, summary
from harness.cli.session import Session, with_session
from harness.cli.terminal import ExitCode
from harness.errors import InvalidInput

MAX_SECTIONS = 20


@with_session
def research(
    session: Session,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="QUESTION", help="The question to answer.", show_default=False)
    ] = None,
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
        typer.Option(
            "--strict/--marked",
            help="Leave out, or keep and mark, sentences that no quotation supports.",
            show_default=False,
        ),
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
        float | None, duration("--max-seconds", bare="s", help="Stop starting rounds after this time: 90s, 10m.")
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
            help="Reuse whole gathered researches (as RESEARCH_CACHE=1), or none, solved questions included (=0).",
            show_default=False,
        ),
    ] = None,
    semantic: SemanticOption = None,
    refresh: RefreshOption = False,
    no_cache: NoCacheOption = False,
    offline: OfflineOption = None,
    replay: ReplayOption = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume", metavar="RUN", help="Go on with a run that was stopped.", autocompletion=completion.runs
        ),
    ] = None,
    stale_if_error: Annotated[
        float | None,
        duration("--stale-if-error", bare="s", help="If a search fails, use results that expired within this time."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report there, with front matter.")
    ] = None,
    as_html: Annotated[bool, typer.Option("--html", help="One HTML page.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Research a question and write a report with quotations.

    It plans, searches in rounds and reads pages. Every sentence rests on a quotation that is checked against the stored
    text of its source. Asked again, the same question costs no live call and gives the same report, byte for byte.
    Without a model, the report is made of excerpts. A run that is stopped loses nothing: `--resume` goes on. The
    question needs no quotation marks, as long as the shell reads nothing into it.

    \b
    Examples:
      harness research "semantic cache false positives"
      harness research "How does the with statement handle exceptions?" --engine corpus:python-docs
      harness research "what do my notes say about retries" --engine corpus:~/notes --json
      harness research "crispr off-target effects" -e pubmed -e ddgs --model qwen3 -o crispr.md
      harness research "semantic cache false positives" --html -o report.html
      harness research "semantic cache false positives" --replay run.snapshot
    """
    from harness.research.saved_report import saved_research

    question = in_words(words)
    if bool(words) == (resume is not None):
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
        "marked": None if strict is None else not strict,
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
    live = _Stream(session) if sys.stdout.isatty() and not (as_html or as_json or output) else None
    late = stale_if_error or 0.0
    with session.app(flags, refresh=refresh, no_cache=no_cache, replay=replay, serve_stale=late) as app:
        if resume:
            given = {name: value for name, value in flags.items() if value is not None}
            found = app.resume(
                resume, given=given, epoch=epoch, sections=sections, serve_stale=stale_if_error, on_text=live
            )
        else:
            found = app.researcher(epoch=epoch, on_text=live).run(question, sections=sections)
        session.end_progress()
        saved = saved_research(found)
        show(saved, app.cache.now, output, as_html=as_html, as_json=saved.as_dict() if as_json else None)
        session.tell(summary(found))
        if app.settings.corpus_meaning and found.by_words:
            session.tell(BY_WORDS)
        sys.stdout.flush()
    if not found.report:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


class _Stream:
    """Shows on the terminal what the model writes, dimly, until the report is there."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self, text: str) -> None:
        from rich.text import Text

        from harness.cli.terminal.console import SafeConsole

        self._session.end_progress()
        SafeConsole(stderr=True).print(Text(text, style="dim"), end="", soft_wrap=True)
