"""`harness mcp`: the harness as a server of the Model Context Protocol."""

import logging
import signal
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import EmbeddingModelOption, EngineOption, OfflineOption, duration
from harness.cli.session import Session, with_session
from harness.cli.terminal.streams import unguarded
from harness.errors import InvalidInput, StoreError

if TYPE_CHECKING:
    from harness.app import App

LEAST_SWEEP_SECONDS = 1.0

log = logging.getLogger(__name__)


@with_session
def mcp(
    session: Session,
    http: Annotated[bool, typer.Option("--http", help="Serve over streamable HTTP instead of standard input.")] = False,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="With --http: where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="With --http: the port; 0 for a free one.")
    ] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME", help="With --http: another name that clients use, as behind a proxy."
        ),
    ] = None,
    rate: Annotated[
        float, typer.Option("--rate", metavar="N", help="With --http: requests a minute and token at the most.")
    ] = 600.0,
    sweep_every: Annotated[
        float | None,
        duration("--sweep-every", bare="s", help="Delete what has expired, of every tenant, this often: 15m, 1h."),
    ] = None,
    engine: EngineOption = None,
    embedding_model: EmbeddingModelOption = None,
    offline: OfflineOption = None,
) -> None:
    """Serve cache, search, research and knowledge to MCP agents.

    Over standard input and output, whoever starts it is served: as the token in the settings says (HARNESS_TOKEN), else
    as the local user. Over HTTP every request brings its own token (`Authorization: Bearer …`), which alone says whose
    cache it is. Only this machine can reach it, unless --host says otherwise, and that needs a token; without any token
    the local user is served. A stop (Ctrl-C) lets running calls end.

    \b
    Examples:
      claude mcp add harness -- harness mcp
      harness mcp --engine corpus:~/notes
      harness mcp --http
      harness mcp --http --host 0.0.0.0 --port 8765 --sweep-every 1h
    """
    if sweep_every is not None and sweep_every < LEAST_SWEEP_SECONDS:
        raise InvalidInput(f"--sweep-every must be {LEAST_SWEEP_SECONDS:g}s or more, not {sweep_every:g}s")
    settings = session.load(engine=engine or None, embedding_model=embedding_model, offline=offline).settings
    from harness.app import App, Mode

    with ExitStack() as stack:
        app = stack.enter_context(App(settings, Mode(origin="agent")))
        _greet(app)
        if sweep_every is not None:
            _sweep(app, sweep_every, stack)
        if not http:
            if sys.stdin.isatty():
                session.tell("waiting for the messages of an MCP client on standard input; Ctrl-C ends")
            _serve_stdio(app)
            return
        from harness.server.mcp.serve_mcp import serve
        from harness.server.warm_up import WarmUp

        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as gracefully as Ctrl-C
        warming = stack.enter_context(WarmUp(app, session.tell))

        def reachable(words: str) -> None:
            session.tell(words)
            warming.start()

        serve(app, host, port, per_minute=rate, names=allow_host or (), on_ready=reachable)


def _greet(app: "App") -> None:
    """Refuse a token that is not valid at once; a database that is out of order is told of, call by call."""
    try:
        app.identity  # noqa: B018 - asked for its error
    except StoreError as error:
        log.error("%s", error)  # noqa: TRY400 - one line


def _sweep(app: "App", every: float, stack: ExitStack) -> None:
    from harness.cache.cleaning import Periodic, sweep_all

    app.identity.require_local()
    kept_for = app.settings.stale_if_error
    stack.enter_context(Periodic(every, lambda: sweep_all(app.databases.store, time.time(), kept_for)))


def _serve_stdio(app: "App") -> None:
    import anyio

    from harness.server.mcp.server import build_server

    sys.stdout = unguarded(sys.stdout)  # a protocol for programs, whose bytes stay as they are
    anyio.run(build_server(app).run_stdio_async)
