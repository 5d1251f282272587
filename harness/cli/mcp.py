"""`harness mcp`: a server of the Model Context Protocol."""

import logging
import signal
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.options import ListenOptions, ServerFlags, duration
from harness.cli.terminal.streams import unguarded
from harness.errors import InvalidInput, StoreError

if TYPE_CHECKING:
    from harness.app import App

LEAST_SWEEP_SECONDS = 1.0

log = logging.getLogger(__name__)


class McpListenOptions(ListenOptions):
    """Options of the server over HTTP."""

    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="Port to listen on; 0: a free one.")
    ] = 8765
    rate: Annotated[float, typer.Option("--rate", metavar="N", help="Maximum requests a minute for each token.")] = (
        600.0
    )


@with_session
def mcp(
    session: Session,
    *,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP instead of standard input.")] = False,
    listen: McpListenOptions,
    sweep_every: Annotated[
        float | None,
        duration("--sweep-every", bare="s", help="Delete expired entries of every tenant this often: 15m, 1h."),
    ] = None,
    flags: ServerFlags,
) -> None:
    """Serve cache, search, research and knowledge to MCP agents.

    Over standard input and output, the server uses the token in the settings (HARNESS_TOKEN), or else the local user.
    Over HTTP (--http, with --host, --port, --allow-host, --rate), every request brings its own token (`Authorization:
    Bearer …`); without any token, the local user is served. Only this machine can reach the server unless you pass
    --host, which needs a token. Ctrl-C lets running calls finish.

    \b
    Examples:
      claude mcp add harness -- harness mcp
      harness mcp --engine corpus:~/notes
      harness mcp --http
      harness mcp --http --host 0.0.0.0 --port 8765 --sweep-every 1h
    """
    if sweep_every is not None and sweep_every < LEAST_SWEEP_SECONDS:
        raise InvalidInput(f"--sweep-every must be {LEAST_SWEEP_SECONDS:g}s or more, not {sweep_every:g}s")
    settings = session.load(**flags).settings
    from harness.app import App
    from harness.settings.mode import Mode

    with ExitStack() as stack:
        app = stack.enter_context(App(settings, Mode(origin="agent")))
        _check_token(app)
        if sweep_every is not None:
            _sweep(app, sweep_every, stack)
        if http:
            _serve_http(session, app, listen, stack)
            return
        if sys.stdin.isatty():
            session.note("waiting for messages of an MCP client on standard input; Ctrl-C ends")
        _serve_stdio(app)


def _serve_http(session: Session, app: "App", listen: McpListenOptions, stack: ExitStack) -> None:
    from harness.server.mcp.serve_mcp import serve
    from harness.server.warm_up import WarmUp

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop as on Ctrl-C
    warming = stack.enter_context(WarmUp(app, session.note))

    def reachable(address: str) -> None:
        session.note(address)
        warming.start()

    serve(app, listen.host, listen.port, per_minute=listen.rate, names=listen.allow_host or (), on_ready=reachable)


def _check_token(app: "App") -> None:
    """Refuse an invalid token at once. A database failure is only logged: each call will report it."""
    try:
        app.identity  # noqa: B018 - raises
    except StoreError as error:
        log.error("%s", error)  # noqa: TRY400 - one line


def _sweep(app: "App", every: float, stack: ExitStack) -> None:
    from harness.cache.cleaning import periodic, sweep_all

    app.identity.require_local()
    kept_for = app.settings.stale_if_error
    stack.enter_context(periodic(every, lambda: sweep_all(app.databases.store, time.time(), kept_for)))


def _serve_stdio(app: "App") -> None:
    import anyio

    from harness.server.mcp.server import build_server

    sys.stdout = unguarded(sys.stdout)  # bytes of the protocol must not change
    anyio.run(build_server(app).run_stdio_async)
