"""`harness chat`: a conversation with memory of earlier ones, which can start a research."""

from typing import Annotated

import typer

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.options import Flags, Options, SettingOptions
from harness.cli.terminal import ExitCode
from harness.errors import InvalidInput


class OneThing(Options):
    """Options that do one thing and exit."""

    add: Annotated[
        str | None, typer.Option("--add-to-vector-store", metavar="PATH", help="Remember a document, and exit.")
    ] = None
    query: Annotated[
        str | None,
        typer.Option("--query-vector-store", metavar="TEXT", help="Show memories that fit a text, and exit."),
    ] = None
    stats: Annotated[bool, typer.Option("--vector-store-stats", help="Show memory statistics, and exit.")] = False

    @property
    def given(self) -> int:
        """Number of these options that were given."""
        return (self.add is not None) + (self.query is not None) + self.stats


@with_session
def chat(
    session: Session,
    *,
    flags: Annotated[
        Flags,
        SettingOptions(
            "engine", "language", "embedding_model", "model_url", "offline", model="Language model to talk with."
        ),
    ],
    continued: Annotated[
        str | None,
        typer.Option(
            "--continue",
            metavar="THREAD",
            help="Continue a thread, by its id or the start of it.",
            autocompletion=completion.stored("threads"),
        ),
    ] = None,
    no_memory: Annotated[
        bool, typer.Option("--no-vector-store", help="Neither remember this conversation nor look up earlier ones.")
    ] = False,
    dummy: Annotated[
        bool, typer.Option("--dummy", help="Use an echo instead of a model; nothing is remembered.")
    ] = False,
    once: OneThing,
) -> None:
    """Talk with a language model that has a memory.

    Every exchange is stored on this machine. Memories that fit a later question are added to it, marked as memory.
    /help in the chat lists its commands: research a question, search the web or read a page into the context, remember
    texts and documents, find, show and delete memories, continue an earlier thread, change the model. Without a model,
    the chat only shows memories.

    Ctrl-C stops a reply and keeps its text so far; Ctrl-D exits. From a pipe, every line is a message or a command.

    \b
    Examples:
      harness chat --model qwen3
      harness chat --continue 3f2a91bc
      harness chat --add-to-vector-store notes/retries.md
      harness chat --query-vector-store "when is staging restarted"
      echo "What did we decide about retries?" | harness chat --model qwen3
    """
    from harness.cli import chat_headless, chat_session

    if once.given:
        if once.given > 1 or no_memory or dummy or continued:
            raise InvalidInput("this option does one thing and exits; give it alone (--help shows examples)")
        if once.add is not None:
            chat_headless.add(session, once.add)
        elif once.query is not None:
            chat_headless.query(session, once.query)
        else:
            chat_headless.stats(session)
        return
    with session.app(flags) as app:
        code = chat_session.converse(app, continued, no_memory=no_memory, dummy=dummy, quiet=session.quiet)
    if code != ExitCode.OK:
        raise typer.Exit(code)
