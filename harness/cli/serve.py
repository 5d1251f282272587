"""`harness serve`: the web application."""

import signal
from typing import Annotated

import typer

from harness.cli.options import EmbeddingModelOption, EngineOption, OfflineOption
from harness.cli.session import Session, with_session
from harness.errors import InvalidInput


@with_session
def serve(
    session: Session,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="The port; 0 for a free one.")
    ] = 8766,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Another name that browsers use, as behind a proxy."),
    ] = None,
    rate: Annotated[
        float, typer.Option("--rate", metavar="N", help="Requests a minute and token at the most.")
    ] = 6_000.0,
    researches: Annotated[
        int, typer.Option("--researches", metavar="N", min=1, max=100, help="Researches at a time at the most.")
    ] = 4,
    log_requests: Annotated[
        bool, typer.Option("--log-requests", help="Write a line of JSON for each request to standard error.")
    ] = False,
    engine: EngineOption = None,
    embedding_model: EmbeddingModelOption = None,
    offline: OfflineOption = None,
) -> None:
    """Serve your research as web pages, and cached search.

    Pages: history, reports with their passages, the cache, experiments, knowledge. Other tools that take the address of
    a SearXNG or of Tavily search through the cache when they are given this one (/search, /tavily). /api/openapi.json
    describes the API. Only this machine can reach it, unless --host says otherwise, and that needs an access token;
    from the first token on, every request does. Ctrl-C ends it; researches under way stop where they can be resumed.

    \b
    Examples:
      harness serve
      harness serve --port 0 --engine corpus:~/notes
      harness serve --host 0.0.0.0 --allow-host research.example.org
      curl 'http://127.0.0.1:8766/api/research-history?q=attribute+lookup'
      curl 'http://127.0.0.1:8766/search?q=attribute+lookup&format=json'
    """
    with session.app({"engine": engine or None, "embedding_model": embedding_model, "offline": offline}) as app:
        if not app.identity.local:
            raise InvalidInput("a server is not one token's: every request brings its own; unset HARNESS_TOKEN")
        app.sources.check()
        from harness.server.serve_web import serve as run
        from harness.server.warm_up import WarmUp

        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as gracefully as Ctrl-C
        with WarmUp(app, session.tell) as warming:

            def reachable(words: str) -> None:
                typer.echo(words, err=True)
                warming.start()

            run(
                app,
                host,
                port,
                per_minute=rate,
                max_researches=researches,
                names=allow_host or (),
                logs=log_requests,
                on_ready=reachable,
            )
