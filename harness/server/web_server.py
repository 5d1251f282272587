"""Serving the application until interrupted."""

import logging
import threading
from collections.abc import Callable, Sequence

from harness.app import App
from harness.server.api.jobs import Researches
from harness.server.application import build_routes
from harness.server.auth import Admission
from harness.server.request_checks import Gate, Names, access, token_of
from harness.server.run_server import check_reach, is_loopback, listening, run, server_of

WATCH_EVERY = 0.2


def serve(
    app: App,
    host: str,
    port: int,
    *,
    per_minute: float,
    most_researches: int,
    names: Sequence[str] = (),
    logs: bool = False,
    tell: Callable[[str], None],
) -> None:
    """Serve until interrupted, then have researches under way stop where they can be resumed. `names` are further names
    by which browsers reach the server; `tell` is told the address once it can be reached.

    Raises:
        InvalidInput: others can reach `host`, and no token exists; or the address cannot be listened on.
        StoreError: the database cannot be read.
        KeyboardInterrupt: at the end, a research still waits for a search; it is left behind.
    """
    check_reach(app, host)
    if logs:
        _tell_requests()
    researches = Researches(most_researches)
    admission = Admission(app, per_minute=per_minute, alone=is_loopback(host), token_of=token_of)
    with listening(host, port) as listener, admission:
        gate = Gate(build_routes(researches, admission), names=Names(host, names), admission=admission, logs=logs)
        server = server_of(gate, proxies=app.settings.trusted_proxies)
        ended = threading.Event()

        def close_early() -> None:
            """Stop researches, and the streams that tell of them, once the server is to end: it waits for both."""
            while not ended.wait(WATCH_EVERY):
                if server.should_exit:
                    researches.close()
                    return

        watcher = threading.Thread(target=close_early, name="closing")
        watcher.start()
        try:
            run(server, listener, lambda: tell(f"serving on http://{host}:{listener.getsockname()[1]}/ (Ctrl-C ends)"))
        finally:
            ended.set()
            watcher.join()
            researches.close()
        if researches.hanging:
            raise KeyboardInterrupt  # ends as Ctrl-C ends every command: without waiting for a search's time-out


def _tell_requests() -> None:
    """Have a line for each request on standard error as it is, whichever level the program's own log has."""
    access.handlers = [logging.StreamHandler()]
    access.setLevel(logging.INFO)
    access.propagate = False
