"""One run of `harness chat`: answers lines from a terminal or from a pipe, one after another."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from harness.chat.command_results import Quit
from harness.chat.commands import continue_thread, is_command, run_command
from harness.chat.conversation import Chat, EchoModel
from harness.chat.exchanges import MAX_MESSAGE
from harness.chat.lookups import ChatServices, LookedUpText, Lookups
from harness.cli.chat_screen import Screen, show, show_reply
from harness.cli.read import page_summary
from harness.cli.search_command import search_summary
from harness.cli.terminal import ExitCode, exit_code
from harness.cli.terminal.progress import ProgressBars
from harness.core.text import amount
from harness.errors import HarnessError, InvalidInput, StoreError
from harness.ports import LanguageModel
from harness.settings.extras import require_extra

if TYPE_CHECKING:
    from prompt_toolkit.history import History

    from harness.app import App
    from harness.chat import Memory

HISTORY = "chat_history"
WEB_RESULTS = 5
"""Results of /web that become part of the context."""
DISABLED = "the memory of conversations is disabled ({why}); to enable it, {how}, and start the chat again"


def converse(
    app: "App",
    continued: str | None,
    *,
    no_memory: bool,
    dummy: bool,
    quiet: bool,
) -> int:
    """Hold a conversation, in the thread `continued` if it is given; return the exit code.

    Raises:
        HarnessError: an unusable setting, no such thread, or the extra `[chat]` is missing on a terminal.
    """
    screen = Screen(plain=not (sys.stdin.isatty() and sys.stdout.isatty()), quiet=quiet)
    if not screen.plain:
        require_extra("chat")
    if isinstance(app.progress, ProgressBars):
        screen.settle = app.progress.stop
    talk = conversation(app, screen, no_memory=no_memory, dummy=dummy)
    if continued is not None:
        show(screen, continue_thread(talk, continued))
    return _from_pipe(talk, screen) if screen.plain else _on_terminal(talk, screen, app, kept=not dummy)


def conversation(app: "App", screen: Screen, *, no_memory: bool, dummy: bool) -> Chat:
    """Return a new conversation with the model and memory of the settings; show a note for each that is missing."""
    memory, why = _memory(app, no_memory=no_memory)
    if memory is not None:
        _save_late(memory, screen)
    elif not no_memory:
        screen.warn(why)
    model: LanguageModel | None = None
    if dummy:
        model = EchoModel()
    elif not app.settings.offline:
        model = app.models.language_model
    if model is None:
        reason = "offline" if app.settings.offline else "no model is set (--model NAME, or the setting model)"
        screen.note(f"{reason}: messages are answered with memories, and /research searches for sources")
    return Chat(
        model,
        memory,
        why_no_memory=why,
        remembers=not dummy,
        services=_services(app),
        budget=app.settings.context_tokens,
    )


def _services(app: "App") -> ChatServices:
    """Return what the commands of a chat may call."""

    def search(query: str) -> Lookups:
        found, results = app.search(query)
        texts = [LookedUpText(*(str(each.get(name, "")) for name in ("title", "href", "body"))) for each in results]
        return Lookups(tuple(texts[:WEB_RESULTS]), "; ".join(map(search_summary, found)))

    def read(url: str) -> Lookups:
        answer = app.cache.pages.answer(url, app.sources.reader, ttl=app.settings.page_ttl)
        page = answer.value
        return Lookups((LookedUpText(page.title or page.url, page.url, page.text),), page_summary(answer))

    def model_named(name: str) -> LanguageModel:
        if app.settings.offline:
            raise InvalidInput("offline: no model answers; start the chat without --offline")
        model = app.models.with_settings(replace(app.settings, model=name)).language_model
        if model is None:
            raise InvalidInput("this chat replays a snapshot without a model")
        return model

    return ChatServices(
        research=lambda question: app.researcher(question=question).run(question),
        search=search,
        read=read,
        model_named=model_named,
        settings=app.loaded.describe() if app.loaded else (),
    )


def _memory(app: "App", *, no_memory: bool) -> "tuple[Memory | None, str]":
    """Return the memory, or `None` and the reason."""
    if no_memory:
        return None, DISABLED.format(why="--no-vector-store", how="leave out that option")
    if not app.settings.vector_store.enabled:
        how = "set `enabled: true` in the block vector_store of the settings"
        return None, DISABLED.format(why="vector_store: enabled: false", how=how)
    try:
        return app.chat_memory, ""
    except (InvalidInput, StoreError) as error:
        return None, f"there is no memory: {error}"


def _save_late(memory: "Memory", screen: Screen) -> None:
    """Save exchanges that could not be saved before, if any."""
    try:
        late = memory.writer.retry_journal()
    except HarnessError as error:
        screen.warn(f"exchanges that could not be saved before are still waiting: {error}")
        return
    if late:
        screen.note(f"saved {amount(late, 'exchange')} that could not be saved before")


def answer(talk: Chat, screen: Screen, line: str) -> bool:
    """Answer a message or a command; return whether the conversation continues.

    Raises:
        HarnessError: it could not be answered.
        KeyboardInterrupt: the user stopped it before the first text; in a pipe, also after.
    """
    if not line.strip():
        return True
    if is_command(line):
        try:
            outcome = run_command(talk, line)
        finally:
            screen.settle()
        show(screen, outcome)
        return not isinstance(outcome, Quit)
    with screen.reply() as shown:
        reply = talk.say(line, shown)
    show_reply(screen, reply)
    if reply.ending == "stopped" and screen.plain:
        raise KeyboardInterrupt
    return True


def _from_pipe(talk: Chat, screen: Screen) -> int:
    """Answer standard input line by line; return the exit code of the first failure."""
    code: int = ExitCode.OK
    for line in _piped_lines():
        try:
            if not answer(talk, screen, line):
                break
        except HarnessError as error:
            screen.error(str(error))
            code = code or exit_code(error)
    return code


def _piped_lines() -> Iterator[str]:
    """Yield the lines of standard input. A line that is too long for a message is cut, but stays too long."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    limit = MAX_MESSAGE + 2
    while line := sys.stdin.readline(limit):
        rest = line
        while len(rest) == limit and not rest.endswith("\n"):
            rest = sys.stdin.readline(limit)
        yield line.rstrip("\r\n")


def _on_terminal(talk: Chat, screen: Screen, app: "App", *, kept: bool) -> int:
    """Answer typed lines until the user exits; `kept`: whether to store their history."""
    from harness.cli.chat_terminal import Typing, unseen_typing

    troubles: list[str] = []
    history = _history(app, troubles) if kept else None
    typing = Typing(talk, history=history, documents=app.sources.documents_folder)
    _warn(screen, troubles)
    screen.note("/help shows the commands; Ctrl-C stops a reply, Ctrl-D exits")
    with unseen_typing():
        for line in typing.lines():
            _warn(screen, troubles)
            try:
                if not answer(talk, screen, line):
                    break
            except KeyboardInterrupt:
                screen.note("stopped")
            except HarnessError as error:
                screen.error(str(error))
    return ExitCode.OK


def _warn(screen: Screen, troubles: list[str]) -> None:
    for trouble in troubles:
        screen.warn(trouble)
    troubles.clear()


def _history(app: "App", troubles: list[str]) -> "History | None":
    """Return the history of typed lines in a private file, without secrets; failures, now or later, are appended to
    `troubles`.
    """
    from harness.cli.chat_terminal import PrivateHistory
    from harness.core.redaction import Redactor

    path = app.settings.data_dir / HISTORY
    redactor = Redactor(app.settings.vector_store.redact)
    try:
        return PrivateHistory(path, lambda line: redactor.redact(line)[0], troubles.append)
    except OSError as error:
        troubles.append(f"typed lines are not stored: cannot use {path} ({error.strerror})")
        return None
