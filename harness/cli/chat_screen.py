"""Display of the chat: frames and colours on a terminal, plain lines in a pipe."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, assert_never

import typer

from harness.chat.command_results import (
    Cleared,
    Context,
    Continued,
    Help,
    MemoryDetails,
    Notice,
    Outcome,
    PromptView,
    QueryResults,
    Quit,
    Researched,
    SettingList,
    Stored,
    TextsAdded,
    ThreadList,
)
from harness.chat.conversation import ChatResponse
from harness.chat.exchanges import Exchange, MemoryMatch, Remembered, ThreadInfo, seconds_of
from harness.chat.listing import MemoryStats
from harness.chat.prompt import estimated_tokens
from harness.cli.chat_stream import PlainReply, StreamedReply
from harness.cli.report import summary
from harness.core.freshness import age_in_words
from harness.core.text import amount, clean, shorten

if TYPE_CHECKING:
    from rich.console import Console

MAX_WIDTH = 100
SHORT_ID = 8
EXCERPT = 300
"""Characters of a message in a list of results."""
MAX_CONTEXT = 12_000
"""Characters of one message that /showcontext shows."""
TITLE = 120
"""Characters of a thread's title."""
LOADED_SHOWN = 5
"""Exchanges of a continued thread to show, the last ones."""


class Screen:
    """Display of one chat. `plain` is for a pipe: no frames, no colours, no wrapping."""

    def __init__(self, *, plain: bool | None = None, quiet: bool = False) -> None:
        self.plain = not sys.stdout.isatty() if plain is None else plain
        self.quiet = quiet
        self.settle: Callable[[], None] = lambda: None
        """Removes the progress line, before anything else is shown."""
        self._console: Console | None = None

    @property
    def console(self) -> "Console":
        """The terminal."""
        if self._console is None:
            from harness.cli.terminal.console import SafeConsole

            self._console = SafeConsole()
        return self._console

    @property
    def width(self) -> int:
        """Most columns for text."""
        return min(self.console.width, MAX_WIDTH)

    def line(self, text: str, style: str = "", *, indent: int = 0) -> None:
        """Show a line from the program itself."""
        if self.plain:
            typer.echo(" " * indent + text)
        else:
            from rich.padding import Padding
            from rich.text import Text

            self.console.print(Padding(Text(text, style=style), (0, 0, 0, indent)), width=self.width)

    def clear(self) -> None:
        """Clear the terminal; nothing in a pipe."""
        if not self.plain:
            self.console.clear()

    def note(self, text: str) -> None:
        """Show a side remark: dimmed, or on standard error; nothing if quiet."""
        if self.quiet:
            return
        if self.plain:
            typer.echo(text, err=True)
        else:
            self.line(text, "dim")

    def warn(self, text: str) -> None:
        """Show a failure after which the conversation continues."""
        self._problem(f"warning: {text}", "yellow")

    def error(self, text: str) -> None:
        """Show an error."""
        self._problem(f"error: {text}", "red")

    def _problem(self, text: str, style: str) -> None:
        text = " ".join(text.split())
        if self.plain:
            typer.echo(text, err=True)
        else:
            self.line(text, style)

    def panel(self, title: str, body: str, beneath: str = "") -> None:
        """Show a text under a title, with its origin beneath."""
        if self.plain:
            typer.echo(f"{title}\n{body}" + (f"\n({beneath})" if beneath else "") + "\n")
            return
        from rich.panel import Panel
        from rich.text import Text

        content = Text(body)
        if beneath:
            content.append(f"\n{beneath}", style="dim")
        heading = Text(title, style="bold")
        self.console.print(Panel(content, title=heading, title_align="left", border_style="dim", width=self.width))

    def markdown(self, text: str) -> None:
        """Show Markdown; a link shows its address."""
        if self.plain:
            typer.echo(text.rstrip("\n"))
        else:
            from rich.markdown import Markdown

            self.console.print(Markdown(text, hyperlinks=False), width=self.width)

    def reply(self) -> "StreamedReply | PlainReply":
        """Return a context manager that shows a reply while it arrives."""
        return PlainReply() if self.plain else StreamedReply(self.console, self.width)


def show_reply(screen: Screen, reply: ChatResponse) -> None:
    """Show everything about a reply except its text."""
    for warning in reply.warnings:
        screen.warn(warning)
    match reply.ending:
        case "stopped":
            screen.note("stopped; its text is kept")
        case "length":
            screen.note("cut off at the length limit (model_max_tokens)")
        case "failed":
            screen.note("interrupted; its text is kept")
        case "no model":
            _show_without_model(screen, reply.context)
        case "whole":
            pass
        case _:
            assert_never(reply.ending)
    if reply.context and reply.ending != "no model":
        similar = ", ".join(f"{match.similarity:.2f}" for match in reply.context)
        many = "memory" if len(reply.context) == 1 else "memories"
        screen.note(f"with {len(reply.context)} {many} (similarity {similar}); /context summary shows them")
    if reply.looked_up:
        texts = "1 text" if reply.looked_up == 1 else f"{reply.looked_up} texts"
        screen.note(f"with {texts} that /web and /url looked up; /showcontext shows them")


def _show_without_model(screen: Screen, matches: Sequence[MemoryMatch]) -> None:
    if matches:
        _show_matches(screen, matches)
    else:
        screen.line("No memory fits.")
    screen.note("/research QUESTION searches for sources")


def show(screen: Screen, outcome: Outcome) -> None:  # noqa: C901, PLR0912 - one case for each kind of outcome
    """Show the result of a command."""
    match outcome:
        case Notice():
            screen.line(outcome.text)
        case Cleared():
            screen.clear()
            screen.line(outcome.text)
        case Stored():
            _show_stored(screen, outcome)
        case QueryResults():
            _show_matches(screen, outcome.matches)
            if not outcome.matches:
                screen.line(f"No memory fits “{shorten(outcome.query, 60)}”.")
        case MemoryDetails():
            for each in outcome.remembered:
                _show_whole(screen, each)
        case MemoryStats():
            screen.panel("Memory", "\n".join(statistics(outcome)))
        case ThreadList():
            _show_threads(screen, outcome)
        case Continued():
            _show_continued(screen, outcome)
        case Researched():
            if outcome.found.report is not None:
                screen.markdown(outcome.found.report.markdown())
            screen.note(summary(outcome.found))
            if outcome.warning:
                screen.warn(outcome.warning)
        case Context():
            _show_context(screen, outcome)
        case TextsAdded():
            _show_added(screen, outcome)
        case SettingList():
            _show_settings(screen, outcome)
        case PromptView():
            _show_prompt(screen, outcome)
        case Help():
            _show_help(screen, outcome)
        case Quit():
            pass
        case _:
            assert_never(outcome)


def _show_stored(screen: Screen, stored: Stored) -> None:
    added = stored.added
    passages = amount(added.chunks, "passage")
    parts = [f"remembered {shorten(stored.what, 80)} as {passages}, {added.document_id[:SHORT_ID]}"]
    if added.replaced:
        parts.append(f"replaced {added.replaced} of an earlier version")
    if added.masked:
        parts.append("1 secret was masked" if added.masked == 1 else f"{added.masked} secrets were masked")
    if added.left_out:
        parts.append(f"{added.left_out:,} characters at the end were left out (chunking_strategy: truncate)")
    screen.line("; ".join(parts))


def _show_matches(screen: Screen, matches: Sequence[MemoryMatch]) -> None:
    for number, match in enumerate(matches, start=1):
        title = f"{number} · similarity {match.similarity:.2f} · {_age(match.remembered)}"
        screen.panel(title, _excerpt(match.remembered), _place(match.remembered))


def _show_whole(screen: Screen, remembered: Remembered) -> None:
    if isinstance(remembered, Exchange):
        title = f"exchange {_id(remembered)} · {_age(remembered)}"
        body = f"You: {remembered.user_message}\n\n{remembered.assistant_message}"
    else:
        title = f"passage {_id(remembered)} · {_age(remembered)}"
        body = remembered.text
    screen.panel(clean(title, 200), clean(body, len(body)), _place(remembered))


def _excerpt(remembered: Remembered) -> str:
    if isinstance(remembered, Exchange):
        said, answered = remembered.user_message, remembered.assistant_message
        return f"You: {shorten(said, EXCERPT)}\n{shorten(answered, EXCERPT)}"
    return shorten(remembered.text, 2 * EXCERPT)


def _place(remembered: Remembered) -> str:
    """Return the origin of a memory: its id, thread and session, or its document."""
    if isinstance(remembered, Exchange):
        thread, session = remembered.thread_id[:SHORT_ID], remembered.session_id[:SHORT_ID]
        return f"{_id(remembered)} · thread {thread} · session {session}"
    part = ""
    if remembered.total_chunks > 1:
        part = f" {remembered.chunk_index + 1} of {remembered.total_chunks}, {remembered.id[:SHORT_ID]}"
    where = shorten(remembered.source_file, 60) or "added by hand"
    return f"{_id(remembered)} · passage{part} · {where}"


def _id(remembered: Remembered) -> str:
    """Return the start of the id of an exchange, or of a passage's document."""
    whole = remembered.id if isinstance(remembered, Exchange) else remembered.document_id
    return whole[:SHORT_ID]


def _age(remembered: Remembered) -> str:
    return age_in_words(time.time() - seconds_of(remembered.timestamp))


def statistics(stats: MemoryStats) -> Iterator[str]:
    """Yield the statistics of a memory, one a line."""
    yield f"total exchanges: {stats.total_exchanges:,}"
    yield f"threads: {stats.threads:,} (sessions: {stats.sessions:,})"
    yield f"documents: {stats.documents:,} (passages: {stats.document_chunks:,})"
    yield f"store path: {stats.store_path}"
    yield f"collection: {stats.collection}"
    yield f"dimension: {'unknown' if stats.embedding_dimension is None else stats.embedding_dimension}"
    yield f"model: {stats.embedding_model}"
    yield f"strategy: {stats.retrieval_strategy}"
    if stats.oldest and stats.newest:
        yield f"from: {stats.oldest[:10]} to {stats.newest[:10]}"
    if stats.not_embedded:
        yield f"not embedded: {stats.not_embedded:,}, found only by their words"
    if stats.waiting:
        yield "waiting: exchanges that could not be saved; the next chat retries"


def _show_threads(screen: Screen, listed: ThreadList) -> None:
    for thread in listed.threads:
        screen.line(thread_line(thread) + (" · this one" if thread.id == listed.current else ""), "bold")
        screen.line(shorten(thread.title, TITLE), indent=2)
    if not listed.threads:
        screen.line("No conversations yet.")
    elif listed.more:
        screen.note(f"the {len(listed.threads)} most recent; `harness memory threads -n` shows more")


def thread_line(thread: ThreadInfo) -> str:
    """Describe a thread in one line: its id, age and size."""
    exchanges = "1 exchange" if thread.exchanges == 1 else f"{thread.exchanges} exchanges"
    sessions = "" if thread.sessions == 1 else f", {thread.sessions} sessions"
    return f"{thread.id[:SHORT_ID]} · {age_in_words(time.time() - seconds_of(thread.last))} · {exchanges}{sessions}"


def _show_continued(screen: Screen, continued: Continued) -> None:
    shown = continued.exchanges[-LOADED_SHOWN:]
    if left := len(continued.exchanges) - len(shown):
        screen.note(f"{left} earlier exchanges are also loaded; /vget thread shows all")
    for exchange in shown:
        screen.panel(f"You: {shorten(exchange.user_message, TITLE)}", shorten(exchange.assistant_message, 2 * EXCERPT))
    many = "1 exchange" if len(continued.exchanges) == 1 else f"{len(continued.exchanges)} exchanges"
    screen.line(
        f"thread {continued.thread_id[:SHORT_ID]} continues: {many} loaded, continuation {continued.continuation}, "
        f"session {continued.session_id[:SHORT_ID]}"
    )


def _show_context(screen: Screen, context: Context) -> None:
    _show_matches(screen, context.matches)
    given = len(context.matches)
    many = "no memory" if not given else "1 memory" if given == 1 else f"{given} memories"
    screen.line(f"The last message got {many}; this conversation has {context.exchanges} exchanges.")
    state = "on" if context.on else "off"
    screen.line(f"Lookup of memories is {state} (strategy {context.how}); /context on and /context off change it.")


def _show_added(screen: Screen, result: TextsAdded) -> None:
    for number, text in enumerate(result.found.texts, start=1):
        screen.panel(f"{number} · {shorten(text.title, TITLE)}", shorten(text.text, EXCERPT), shorten(text.url, TITLE))
    screen.note(result.found.summary)
    if result.found.texts and result.has_model:
        screen.note(f"{result.total} in the context of this conversation; /showcontext shows it, /clear empties it")
    elif result.found.texts:
        screen.note("no model reads them; /model NAME chooses one")


def _show_settings(screen: Screen, listed: SettingList) -> None:
    for each in listed.settings:
        screen.line(f"{each.name}: {shorten(each.value, EXCERPT)}  ({each.origin})")
    if len(listed.settings) == 1:
        screen.note(listed.settings[0].help)
    if listed.others:
        screen.note(f"{listed.others} others have their defaults; /config NAME shows them, `harness config` all")


def _show_prompt(screen: Screen, view: PromptView) -> None:
    for warning in view.warnings:
        screen.warn(warning)
    total = 0
    for message in view.prompt.messages:
        tokens = estimated_tokens(message["content"])
        total += tokens
        if not message["content"]:
            continue
        body = clean(message["content"], MAX_CONTEXT)
        rest = len(message["content"]) - MAX_CONTEXT
        screen.panel(message["role"], body, f"about {tokens:,} tokens" + (f"; {rest:,} more characters" * (rest > 0)))
    screen.line(
        f"About {total:,} of {view.budget:,} tokens (context_tokens); exchanges: {view.prompt.turns}, "
        f"memories: {len(view.prompt.context)}, texts of /web and /url: {view.prompt.looked_up}."
    )
    if not view.searched:
        screen.note("memories are searched for each message; /showcontext MESSAGE shows those of one")


def _show_help(screen: Screen, listed: Help) -> None:
    for usage, meaning in listed.lines:
        screen.line(usage, "bold")
        screen.line(meaning, indent=2)
    for example in listed.examples:
        screen.line(f"Example: {example}", "dim", indent=2)
    if len(listed.lines) > 1:
        screen.line("Anything else is a message; put a space before a message that starts with a slash.")
