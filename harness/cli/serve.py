"""`harness serve`: pages, API, search for other tools, and MCP on one port."""

import signal
import time
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.options import Options, ServerFlags, duration
from harness.cli.terminal import configure_logging
from harness.errors import InvalidInput
from harness.settings.extras import require_extra

if TYPE_CHECKING:
    from harness.app import App

LEAST_SWEEP_SECONDS = 1.0


class ServingOptions(Options):
    """Address of a server, who can reach it, and how it serves."""

    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1"
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="Port to listen on; 0: a free one.")
    ] = 8766
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Accept this host name too, as behind a proxy."),
    ] = None
    rate: Annotated[float, typer.Option("--rate", metavar="N", help="Maximum requests a minute for each token.")] = (
        6_000.0
    )
    researches: Annotated[
        int,
        typer.Option(
            "--researches", metavar="N", min=1, max=100, help="Maximum number of concurrent researches of a tenant."
        ),
    ] = 4
    workers: Annotated[
        int,
        typer.Option("--workers", metavar="N", min=1, max=64, help="Processes that serve: one for each core."),
    ] = 1
    sweep_every: Annotated[
        float | None,
        duration("--sweep-every", bare="s", help="Delete expired entries of every tenant this often: 15m, 1h."),
    ] = None
    log_requests: Annotated[
        bool, typer.Option("--log-requests", help="Write one line of JSON for each request to standard error.")
    ] = False

    def __post_init__(self) -> None:
        if self.sweep_every is not None and self.sweep_every < LEAST_SWEEP_SECONDS:
            raise InvalidInput(f"--sweep-every must be {LEAST_SWEEP_SECONDS:g}s or more, not {self.sweep_every:g}s")


@with_session
def serve(session: Session, *, serving: ServingOptions, flags: ServerFlags) -> None:
    """Serve web pages, an API, search for other tools and MCP.

    Pages: history, reports with their passages, the cache, the library, experiments, knowledge. Agents use /mcp. Tools
    for SearXNG, Tavily or OpenAI search and ask through the cache if you give them this server's address (/search,
    /tavily, /v1). /api/openapi.json describes the API; /healthz, /readyz and /metrics are for monitoring.
    Only this machine can reach the server unless you pass --host, which needs an access token. Once there is a token,
    every request needs one. Ctrl-C stops the server; running researches can be resumed. With --workers, the signal HUP
    replaces the processes one after another, without a pause.

    \b
    Examples:
      harness serve
      harness serve --port 0 --engine corpus:~/notes
      harness serve --host 0.0.0.0 --allow-host research.example.org --workers 4 --sweep-every 1h
      claude mcp add --transport http harness http://127.0.0.1:8766/mcp
      curl 'http://127.0.0.1:8766/api/research-history?q=attribute+lookup'
      curl 'http://127.0.0.1:8766/search?q=attribute+lookup&format=json'
    """
    require_extra("web")
    with session.app(flags) as app:
        if not app.identity.local:
            raise InvalidInput("a server takes a token from each request; unset HARNESS_TOKEN")
        app.sources.check()
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop as on Ctrl-C
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))  # when the terminal is closed
        _run(session, app, serving)


def _run(session: Session, app: "App", serving: ServingOptions) -> None:
    """Serve until interrupted, and say where."""
    from harness.server import serve_web
    from harness.server.warm_up import WarmUp

    options = serve_web.ServerOptions(
        host=serving.host,
        names=tuple(serving.allow_host or ()),
        per_minute=serving.rate,
        max_researches=serving.researches,
        logs=serving.log_requests,
    )
    with _sweeping(app, serving.sweep_every), WarmUp(app, session.note) as warming:

        def reachable(address: str) -> None:
            typer.echo(address, err=True)
            warming.start()

        if serving.workers == 1:
            serve_web.serve(app, serving.port, options, on_ready=reachable)
        else:
            prepare = partial(configure_logging, app.settings.log_level)
            serve_web.serve_with_workers(
                app, serving.port, options, serving.workers, prepare=prepare, on_ready=reachable
            )


def _sweeping(app: "App", every: float | None) -> AbstractContextManager[None]:
    """Delete expired entries of every tenant `every` few seconds; `None`: never."""
    if every is None:
        return nullcontext()
    from harness.cache.cleaning import periodic, sweep_all

    kept_for = app.settings.stale_if_error
    return periodic(every, lambda: sweep_all(app.databases.store, time.time(), kept_for))
