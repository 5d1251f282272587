"""One run of an evaluation task, and where two runs differ, as text for the terminal."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from harness.cli.terminal.console import SafeConsole
from harness.core.durations import in_words
from harness.core.text import amount, one_line, shorten

if TYPE_CHECKING:
    from harness_evals.differences import Line
    from harness_evals.task_view import NuggetView, SourceView, StageView, TaskView
    from rich.text import Text

MAX_SOURCES = 15
MAX_SENTENCE = 160
WIDEST = 110
"""Columns of a terminal used at most; longer lines are hard to read. In a pipe, lines are whole."""


def print_task_run(view: "TaskView") -> None:
    """Print scores, nuggets with the sentences that say them, the report, sources and rounds."""
    console = SafeConsole()
    width = min(console.width, WIDEST)
    for line in _lines(view):
        console.print(line, width=width, soft_wrap=not console.is_terminal)


def print_stage(view: "StageView") -> None:
    """Print the first stage that differs, and the difference: `[-gone-]` and `{+new+}` are the changed words."""
    console = SafeConsole()
    if view.stage is None and not view.message:
        console.print(f"{view.task}: identical in every stage")
        return
    if view.stage is not None:
        console.print(_text(f"{view.task}: the first stage that differs is {view.stage}", "bold"))
    if view.message:
        console.print(_text(view.message))
    for line in view.lines:
        console.print(_difference(line), soft_wrap=not console.is_terminal)


def _lines(view: "TaskView") -> "Iterator[Text]":
    total = "failed" if view.total is None else f"{view.total:.3f}"
    run = f", run {view.number} of {view.runs}" if view.runs > 1 else ""
    objective = "" if view.objective is None else f", objective {view.objective:.3f}"
    yield _text(f"{view.task}{run}: {total}{objective}", "bold")
    if view.question:
        yield _text(view.question)
    reused = ", gathered by an earlier run" if view.research_cache in {"hit", "solved"} else ""
    calls = f"{amount(view.cost.live_calls, 'live call')}{reused}"
    yield _text(f"{calls}, {view.cost.tokens:,} tokens, {in_words(view.cost.seconds)}", "dim")
    if view.error:
        yield _text(f"failed: {view.error}", "red")
    if not view.known:
        yield _text("the task has changed since; its nuggets and expected sources are not known", "yellow")
    yield from _nuggets(view)
    yield from _report(view)
    yield from _scores(view)
    yield from _sources(view.sources)
    yield from _rounds(view)
    for number, part in enumerate(view.parts, start=1):
        yield _text(
            f"\nQuestion {number}: {part.question or part.task} ({amount(part.cost.live_calls, 'live call')})", "bold"
        )
        for lines in (_nuggets(part), _report(part), _sources(part.sources), _rounds(part)):
            yield from lines


def _nuggets(view: "TaskView") -> "Iterator[Text]":
    if view.nuggets or view.demands:
        yield _text("\nNuggets", "bold")
    for number, nugget in enumerate(view.nuggets, start=1):
        yield _nugget(number, nugget)
        for place in nugget.places[:1]:
            if place < len(view.sentences):
                sentence = shorten(one_line(view.sentences[place].sentence), MAX_SENTENCE)
                yield _text(f"    “{sentence}”", "dim")
    for demand in view.demands:
        yield _text(f"{'+' if demand.met else '-'} {demand.what}", "green" if demand.met else "red")


def _nugget(number: int, nugget: "NuggetView") -> "Text":
    sign, style = ("+", "green") if nugget.places else ("-", "red" if nugget.vital else "yellow")
    notes = [*([] if nugget.vital else ["not vital"]), *([nugget.problem] if nugget.problem else [])]
    state = "" if nugget.places or nugget.problem else " missed:"
    remark = f" ({', '.join(notes)})" if notes else ""
    return _text(f"{sign} n{number}{state} {nugget.says}{remark}", style)


def _report(view: "TaskView") -> "Iterator[Text]":
    """Yield the report; sentences that say a nugget are followed by its number."""
    if not view.sentences:
        return
    yield _text("\nReport", "bold")
    for section, cited in groupby(view.sentences, key=lambda each: each.section):
        yield _text(section, "underline")
        for _, sentences in groupby(cited, key=lambda each: each.paragraph):
            paragraph = _text("")
            for each in sentences:
                paragraph.append(one_line(each.sentence), style="bold green" if each.nuggets else "")
                marks = [*(f"n{place + 1}" for place in each.nuggets), *([f"[{each.number}]"] if each.number else [])]
                paragraph.append(f" {' '.join([*marks, *([] if each.verified else ['(not verified)'])])} ", style="dim")
            yield paragraph


def _scores(view: "TaskView") -> "Iterator[Text]":
    if view.scores:
        yield _text("\nScores", "bold")
    widest = max((len(each.name) for each in view.scores), default=0)
    for each in view.scores:
        weight = f"  weight {each.weight:.3g}" if each.weight else ""
        yield _text(f"{each.name.replace('_', ' '):<{widest}}  {each.value:.3f}{weight}")


def _sources(sources: "Sequence[SourceView]") -> "Iterator[Text]":
    if sources:
        yield _text("\nSources", "bold")
    for each in sources[:MAX_SOURCES]:
        found = f"found at {each.rank}" if each.rank else "not found"
        cited = f"cited {amount(each.cited, 'time')}" if each.cited else ""
        states = ", ".join(filter(None, ("expected" if each.expected else "", found, cited)))
        other = f" (as {each.found_as})" if each.found_as else ""
        number = f"[{each.number}] " if each.number else ""
        missing = each.expected and not each.rank
        yield _text(f"{'-' if missing else ' '} {number}{each.url}{other}: {states}", "red" if missing else "")
    if len(sources) > MAX_SOURCES:
        yield _text(f"  and {len(sources) - MAX_SOURCES} more", "dim")


def _rounds(view: "TaskView") -> "Iterator[Text]":
    from harness.research.gathering import stopped_because

    if view.rounds:
        yield _text(f"\nRounds (stopped because {stopped_because(view.stop_reason)})", "bold")
    for number, each in enumerate(view.rounds, start=1):
        calls = f"{amount(each.pages, 'page')}, {amount(each.live_calls, 'live call')}"
        scores = f"novelty {each.novelty:.2f}, score {each.score:.2f}"
        yield _text(f"{number}. {amount(len(each.searches), 'search')}, {calls}, {scores}")
        for search in each.searches:
            failed = f", {shorten(search.error, MAX_SENTENCE)}" if search.error else ""
            yield _text(f"   {search.query} ({amount(search.results, 'result')}, {search.answered_by}{failed})", "dim")


def _difference(line: "Line") -> "Text":
    if line.kind == "left out":
        return _text(f"  … {line.text}", "dim")
    sign, marks, style = {
        "gone": ("-", ("[-", "-]"), "red"),
        "new": ("+", ("{+", "+}"), "green"),
        "same": (" ", ("", ""), ""),
    }[line.kind]
    text = _text(f"{sign} ", style)
    for piece in line.pieces:
        if piece.marked:
            text.append(f"{marks[0]}{piece.text}{marks[1]}", style=f"bold {style}")
        else:
            text.append(piece.text, style=style)
    return text


def _text(text: str, style: str = "") -> "Text":
    from rich.text import Text

    return Text(text, style=style)
