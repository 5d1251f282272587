"""Output of a research: the report, printed or written to a file, and a summary."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from harness.cli.output import json_text
from harness.core.freshness import age_in_words
from harness.core.text import amount, one_line, printable, shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.cli.options import ReportOptions
    from harness.research.gathering import DecidedQuestion, SourceNote
    from harness.research.report import Report
    from harness.research.result import Research
    from harness.research.saved_report import SavedReport

MAX_LINE, LEAST_WIDTH = 100, 80
"""Columns of a formatted report at most, and at least to draw bars."""
NEAREST = 3
"""Sources that are named if none answers."""
MAX_TITLE = 60


def show(saved: "SavedReport", now: float, options: "ReportOptions", about: Mapping[str, Any] | None = None) -> None:
    """Print the report, or write it to a file, in the form that the options name; JSON has the fields `about` too.

    Raises:
        InvalidInput: the file cannot be written, or the report has no such form.
    """
    output = options.output
    if options.explain:
        reported = () if saved.report is None else (*decisions(saved.decided), *explanation(saved.report))
        for line in (*source_notes(saved.notes), *reported):
            typer.echo(line, err=True)
    if saved.report is None and options.form != "json":
        return
    if saved.report is not None and options.form == "markdown" and output is None:
        _print_report(saved.report)
        return
    if options.form == "json":
        content = f"{json_text({**saved.as_dict(), **(about or {})})}\n".encode("utf-8", "replace")
    else:
        from harness.research.report_files import file_of

        content = file_of(saved, now, options.form)
    if output is None:
        typer.echo(content.decode(), nl=False)
        return
    try:
        from harness.storage.files import replacing

        with replacing(output) as file:
            file.write(content)
    except OSError as error:
        again = f"the run is stored: harness show {saved.run} -o FILE" if saved.run else "choose another file"
        raise InvalidInput(f"cannot write {output}: {error.strerror or error}; {again}") from error


def decisions(decided: Sequence["DecidedQuestion"]) -> Iterator[str]:
    """Yield, for each sub-question, whether passages of the library answer it, and why."""
    for each in decided:
        reasons = "; ".join(each.decision.reasons)
        yield printable(f"library: {each.decision.state}: {shorten(one_line(each.question), MAX_LINE)} ({reasons})")


def source_notes(notes: Sequence["SourceNote"]) -> Iterator[str]:
    """Yield, for each source that is not like the others, why it comes earlier or later, or is left out."""
    for each in notes:
        yield printable(f"source: {shorten(one_line(each.url), MAX_LINE)}: {shorten(one_line(each.note), MAX_LINE)}")


def explanation(report: "Report") -> Iterator[str]:
    """Yield, for each sentence of a report, the probabilities behind it."""
    for each in report.citations:
        figures = {"answers": each.relevance, "similarity": each.similarity, "supports": each.support}
        known = ", ".join(f"{name} {figure:.2f}" for name, figure in figures.items() if figure is not None)
        lacks = f", lacks {', '.join(each.lacks)}" if each.lacks else ""
        yield printable(f"[{each.number}] {known}{lacks}: {shorten(one_line(each.sentence), MAX_LINE)}")


def _print_report(report: "Report") -> None:
    """Print a report: as Markdown, or formatted on a terminal, where values have bars if it can show them."""
    if not sys.stdout.isatty():
        typer.echo(report.markdown(), nl=False)
        return
    from rich.markdown import Markdown

    from harness.cli.terminal.console import SafeConsole

    console = SafeConsole()
    markdown = report.markdown(bars=console.encoding.startswith("utf") and console.width >= LEAST_WIDTH)
    console.print(Markdown(markdown, hyperlinks=False), width=min(console.width, MAX_LINE))


def summary(found: "Research") -> str:
    """Summarize a research in a few lines: its course, failures, and use of the cache."""
    rounds = found.gathered.rounds
    lines = [] if found.origin else _failures(found)
    if found.model_outage:
        again = f"; when it works again: harness research --resume {found.id}" if found.id else ""
        lines.append(f"warning: the model is unavailable: {found.model_outage}{again}")
    lines += _outcome(found)
    if not found.report:
        lines += _left_out(found)
    if found.origin:
        what = "a solved question" if found.research_cache == "solved" else "a past research"
        age = age_in_words(found.origin.age)
        lines.append(f"answered from {what} ({age}), 0 live calls: {found.origin.question}")
    else:
        from harness.research.gathering import stopped_because

        course = amount(len(rounds), "round")
        course += f", score {found.gathered.score:.2f}, stopped because {stopped_because(found.gathered.stop_reason)}"
        spent = f"{amount(found.live_calls, 'live call')}, {amount(found.cache_hits, 'cache hit')}"
        lines.append(f"{course}; {spent}")
    lines += _reuse(found)
    hits = ", ".join(f"{found.answered.get(how, 0)} {how}" for how in ("exact", "semantic", "stale", "no results"))
    lines.append(f"hits: {hits}; misses: {found.answered.get('live', 0) + found.answered.get('failed', 0)}")
    if found.id:
        lines[-1] += f"; run {found.id}"
    return "\n".join(lines)


def _outcome(found: "Research") -> Iterator[str]:
    """Yield the result in the language of the question: cited sources, or those that come closest."""
    from harness.core.question_language import question_language
    from harness.research.messages import counted, message

    sources, language = found.gathered.sources, question_language(found.plan.question)
    if found.report:
        if found.report.remark:
            yield f"warning: {found.report.remark}"
        yield counted(
            language,
            "{cited} of {count} sources cited; {checks}",
            "{cited} of {count} sources cited; {checks}",
            len(sources),
            cited=len(found.report.sources),
            checks=found.report.checks,
        )
    elif sources:
        nearest = "; ".join(f"{shorten(one_line(each.title), MAX_TITLE)} <{each.url}>" for each in sources[:NEAREST])
        yield counted(
            language,
            "nothing found: none of the {count} sources answers the question; try other words",
            "nothing found: none of the {count} sources answers the question; try other words",
            len(sources),
        )
        yield printable(message(language, "closest sources: {sources}", sources=nearest))
    elif not found.gathered.left_out:
        yield message(language, "nothing found by {engine}; try other words or another --engine", engine=found.engine)


def _left_out(found: "Research") -> list[str]:
    """Return a line about the results that the lists of sites left out, if any."""
    beginning = "" if found.gathered.sources else "nothing is left: "
    counts = [f"{name} left out {amount(count, 'result')}" for name, count in found.gathered.left_out.items()]
    return [f"{beginning}{' and '.join(counts)}; change the list to use them"] if counts else []


def _reuse(found: "Research") -> list[str]:
    """Return a line about the searches that the library spared, and the passages that it gave, if any."""
    reused, planned = found.gathered.reused, found.gathered.planned
    searches = [each for each in found.gathered.searches if each.answered_by != "cache"]
    if found.origin or not (reused or len(searches) < planned):
        return []
    line = f"{len(searches)} of {planned} searches went out"
    if not reused:
        return [line]
    moments = [each.fetched_at for each in reused]
    newest, oldest = (age_in_words(found.at - moment) for moment in (max(moments), min(moments)))
    ages = oldest if newest == oldest else f"{newest} to {oldest}"
    runs = {each.run for each in reused}
    if len(runs) == 1 and (run := runs.pop()):
        ages += f", run {run}"
    return [f"{line}; {amount(len(reused), 'passage')} read before ({ages})"]


def _failures(found: "Research") -> list[str]:
    """Return a line for each kind of failure in this run."""
    lines = []
    if failed := [search for search in found.gathered.searches if search.answered_by == "failed"]:
        lines.append(f"warning: {len(failed)} searches failed, the first with {failed[0].error}")
    if unread := [page for page in found.gathered.pages if page.answered_by == "failed"]:
        lines.append(f"warning: {len(unread)} pages could not be read, the first with {unread[0].error}")
    return lines
