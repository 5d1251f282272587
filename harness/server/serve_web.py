"""Web server of `harness serve`."""

import logging
import threading
from collections.abc import Callable, Sequence

from harness.app import App
from harness.server.api.research_jobs import ResearchJobs
from harness.server.auth import Authenticator
from harness.server.http_server import check_reach, http_server, is_loopback, listen, run_server
from harness.server.request_checks import HostNames, RequestChecks, access, token_of
from harness.server.routes import build_routes

WATCH_EVERY = 0.2


def serve(
    app: App,
    host: str,
    port: int,
    *,
    per_minute: float,
    max_researches: int,
    names: Sequence[str] = (),
    logs: bool = False,
    on_ready: Callable[[str], None],
) -> None:
    """Serve until interrupted, then stop running researches so that they can be resumed. `names` are more host names
    that browsers may use; `on_ready` gets a line with the address once the server accepts connections.

    Raises:
        InvalidInput: other machines can reach `host` and no token exists; or it is not possible to listen there.
        StoreError: the database cannot be read.
        KeyboardInterrupt: a research still waits for a search at the end; it is abandoned.
    """
    check_reach(app, host)
    if logs:
        _log_requests()
    researches = ResearchJobs(max_researches)
    authenticator = Authenticator(app, per_minute=per_minute, alone=is_loopback(host), token_of=token_of)
    with listen(host, port) as listener, authenticator:
        checks = RequestChecks(
            build_routes(researches, authenticator),
            names=HostNames(host, names),
            authenticator=authenticator,
            logs=logs,
        )
        server = http_server(checks, proxies=app.settings.trusted_proxies)
        ended = threading.Event()

        def close_early() -> None:
            """Stop researches and their event streams once the server is to exit: it waits for both."""
            while not ended.wait(WATCH_EVERY):
                if server.should_exit:
                    researches.close()
                    return

        watcher = threading.Thread(target=close_early, name="closing")
        watcher.start()
        try:
            run_server(
                server,
                listener,
                lambda: on_ready(f"serving on http://{host}:{listener.getsockname()[1]}/ (Ctrl-C stops)"),
            )
        finally:
            ended.set()
            watcher.join()
            researches.close()
        if researches.hanging:
            raise KeyboardInterrupt  # exit as on Ctrl-C, without waiting for the search to time out


def _log_requests() -> None:
    """Write a line for each request to standard error, whatever the log level of the program."""
    access.handlers = [logging.StreamHandler()]
    access.setLevel(logging.INFO)
    access.propagate = False
