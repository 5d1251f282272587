"""`harness chat`: a conversation that remembers earlier ones, and can research."""

from typing import Annotated

import typer

from harness.cli.options import EmbeddingModelOption, EngineOption, OfflineOption
from harness.cli.session import Session, with_session
from harness.cli.terminal import ExitCode
from harness.errors import InvalidInput


@with_session
def chat(
    session: Session,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="Talk to this language model.")] = None,
    model_url: Annotated[
        str | None, typer.Option("--model-url", metavar="URL", help="The model's OpenAI-compatible endpoint.")
    ] = None,
    engine: EngineOption = None,
    embedding_model: EmbeddingModelOption = None,
    continued: Annotated[
        str | None,
        typer.Option("--continue", metavar="THREAD", help="Go on with a thread, by its id or its beginning."),
    ] = None,
    no_memory: Annotated[
        bool, typer.Option("--no-vector-store", help="Neither remember this conversation nor look earlier ones up.")
    ] = False,
    dummy: Annotated[
        bool, typer.Option("--dummy", help="Talk to an echo instead of a model; the conversation is not remembered.")
    ] = False,
    add: Annotated[
        str | None, typer.Option("--add-to-vector-store", metavar="PATH", help="Remember a document, and leave.")
    ] = None,
    query: Annotated[
        str | None, typer.Option("--query-vector-store", metavar="TEXT", help="Show what fits a text, and leave.")
    ] = None,
    stats: Annotated[bool, typer.Option("--vector-store-stats", help="Tell what is remembered, and leave.")] = False,
    offline: OfflineOption = None,
) -> None:
    """Talk with a language model that remembers.

    Every reply is remembered on this machine, and what fits a later question is given to the model with it, marked as
    memory. /help in the chat lists its commands: they research a question, remember texts and documents, find, show and
    delete what is remembered, and go on with an earlier thread. Without a model, the chat shows what it remembers.

    Ctrl-C stops a reply and keeps what came; Ctrl-D leaves. From a pipe, every line is a message or a command.

    \b
    Examples:
      harness chat --model qwen3
      harness chat --continue 3f2a91bc
      harness chat --add-to-vector-store notes/retries.md
      harness chat --query-vector-store "when is staging restarted"
      echo "What did we decide about retries?" | harness chat --model qwen3
    """
    if add is not None or query is not None or stats:
        if sum((add is not None, query is not None, stats)) > 1 or no_memory or dummy or continued:
            raise InvalidInput("this option does one thing and leaves; give it alone (--help shows examples)")
        _do_and_leave(session, add, query)
        return
    from harness.cli.chat_session import converse

    flags = {
        "model": model,
        "model_url": model_url,
        "engine": engine or None,
        "embedding_model": embedding_model,
        "offline": offline,
    }
    with session.app(flags) as app:
        code = converse(app, continued, no_memory=no_memory, dummy=dummy, quiet=session.quiet)
    if code != ExitCode.OK:
        raise typer.Exit(code)


def _do_and_leave(session: Session, add: str | None, query: str | None) -> None:
    """Do what one of the historical options asks for."""
    from harness.cli import chat_headless

    if add is not None:
        chat_headless.add(session, add)
    elif query is not None:
        chat_headless.query(session, query)
    else:
        chat_headless.stats(session)
