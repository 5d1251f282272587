"""`harness serve`: the web application."""

import signal
from typing import Annotated

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.options import ListenOptions, ServerFlags
from harness.errors import InvalidInput


@with_session
def serve(
    session: Session,
    *,
    listen: ListenOptions,
    researches: Annotated[
        int,
        typer.Option("--researches", metavar="N", min=1, max=100, help="Maximum number of concurrent researches."),
    ] = 4,
    log_requests: Annotated[
        bool, typer.Option("--log-requests", help="Write one line of JSON for each request to standard error.")
    ] = False,
    flags: ServerFlags,
) -> None:
    """Serve your research as web pages, and cached search.

    Pages: history, reports with their passages, the cache, experiments, knowledge. Tools for SearXNG or Tavily search
    through the cache if you give them this server's address (/search, /tavily). /api/openapi.json describes the API.
    Only this machine can reach the server unless you pass --host, which needs an access token. Once there is a token,
    every request needs one. Ctrl-C stops the server; running researches can be resumed.

    \b
    Examples:
      harness serve
      harness serve --port 0 --engine corpus:~/notes
      harness serve --host 0.0.0.0 --allow-host research.example.org
      curl 'http://127.0.0.1:8766/api/research-history?q=attribute+lookup'
      curl 'http://127.0.0.1:8766/search?q=attribute+lookup&format=json'
    """
    with session.app(flags) as app:
        if not app.identity.local:
            raise InvalidInput("a server takes a token from each request; unset HARNESS_TOKEN")
        app.sources.check()
        from harness.server.serve_web import serve as run
        from harness.server.warm_up import WarmUp

        signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop as on Ctrl-C
        with WarmUp(app, session.note) as warming:

            def reachable(address: str) -> None:
                typer.echo(address, err=True)
                warming.start()

            run(
                app,
                listen.host,
                listen.port,
                per_minute=listen.rate,
                max_researches=researches,
                names=listen.allow_host or (),
                logs=log_requests,
                on_ready=reachable,
            )
