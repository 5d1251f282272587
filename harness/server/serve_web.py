"""Web server of `harness serve`: one process, or several that share a socket."""

import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
from msgspec import Struct
from starlette.types import Message, Receive, Scope, Send

from harness.app import App
from harness.errors import HarnessError
from harness.server.api.job_board import JobBoard
from harness.server.api.research_jobs import ResearchJobs
from harness.server.auth import Authenticator
from harness.server.http_server import (
    CLOSING_SECONDS,
    NOT_STARTED,
    check_reach,
    http_server,
    is_loopback,
    listen,
    run_workers,
)
from harness.server.metrics import SHARED_FOLDER
from harness.server.request_checks import HostNames, RequestChecks, access
from harness.server.tracing import check_collector, telemetry_of
from harness.settings import Settings
from harness.settings.mode import Mode

log = logging.getLogger(__name__)

WATCH_EVERY = 0.2
REPLACING_SECONDS = 300
"""Time that a worker which is replaced has for the requests in progress."""
READY, STOPPING = "ready", "stopping"
"""Files in the shared folder: a worker serves; the whole server stops."""


class ServerOptions(Struct, frozen=True, kw_only=True):
    """Options of a server: at most `per_minute` requests a minute for each token, and `max_researches` at a time for
    each tenant; `names` are more host names that browsers may use; `logs`: a line for each request. `shared` is a
    folder for what the workers of one server know of each other.
    """

    host: str = "127.0.0.1"
    names: tuple[str, ...] = ()
    per_minute: float = 6_000.0
    max_researches: int = 4
    logs: bool = False
    shared: Path | None = None


@contextmanager
def application(app: App, options: ServerOptions) -> Iterator[tuple[RequestChecks, ResearchJobs]]:
    """Open the application for `app`, with its researches; stop them at the end so that they can be resumed."""
    from harness.server.routes import build_routes

    if options.logs:
        _log_requests()
    board = JobBoard(options.shared / "jobs") if options.shared else None
    researches = ResearchJobs(options.max_researches, board)
    authenticator = Authenticator(app, per_minute=options.per_minute, alone=is_loopback(options.host))
    with authenticator, closing(researches):
        checks = RequestChecks(
            build_routes(researches, authenticator, telemetry_of(app.settings.trace_collector)),
            names=HostNames(options.host, options.names),
            authenticator=authenticator,
            logs=options.logs,
        )
        yield checks, researches


def serve(app: App, port: int, options: ServerOptions, *, on_ready: Callable[[str], None]) -> None:
    """Serve from this process until interrupted. `on_ready` gets a line with the address once the server accepts
    connections.

    Raises:
        InvalidInput: other machines can reach the host and no token exists; or it is not possible to listen there.
        StoreError: the database cannot be read.
        KeyboardInterrupt: a research still waits for a search at the end; it is abandoned.
    """
    check_reach(app, options.host)
    with listen(options.host, port) as listener, application(app, options) as (checks, researches):
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
            on_ready(_address(options.host, listener.getsockname()[1]))
            with suppress(KeyboardInterrupt):  # uvicorn shuts down gracefully, then raises the interrupt again
                server.run(sockets=[listener])
        finally:
            ended.set()
            watcher.join()
            researches.close()
        if researches.number or _threads_wait():
            raise KeyboardInterrupt  # exit as on Ctrl-C, without waiting for the search or page to time out


def serve_with_workers(
    app: App,
    port: int,
    options: ServerOptions,
    workers: int,
    *,
    prepare: Callable[[], None],
    on_ready: Callable[[str], None],
) -> None:
    """Serve from `workers` processes until interrupted, and replace one that dies. SIGHUP replaces all, one after
    another: the new one serves before the old one stops, so no connection is refused. Each worker counts the requests
    of a token for itself. `prepare` is called in each
    worker before it opens anything; it is sent there.

    Raises:
        InvalidInput: other machines can reach the host and no token exists; or it is not possible to listen there.
        StoreError: the database cannot be read.
        HarnessError: no worker could start; the reason is in the log.
    """
    check_reach(app, options.host)
    check_collector(app.settings.trace_collector)
    with listen(options.host, port) as listener, tempfile.TemporaryDirectory(prefix="harness-serve-") as shared:
        for name in ("jobs", "metrics"):
            (Path(shared) / name).mkdir()
        os.environ[SHARED_FOLDER] = str(Path(shared) / "metrics")  # for the workers
        options, address = msgspec.structs.replace(options, shared=Path(shared)), listener.getsockname()
        announcing = threading.Thread(
            target=_announce, args=(Path(shared), lambda: on_ready(_address(options.host, address[1]))), daemon=True
        )
        announcing.start()
        try:
            run_workers(
                partial(open_in_worker, app.settings, options, prepare),
                listener,
                workers,
                on_stop=(Path(shared) / STOPPING).touch,
                proxies=app.settings.trusted_proxies,
            )
        finally:
            (Path(shared) / READY).touch()
            announcing.join()


def _announce(shared: Path, announce: Callable[[], None]) -> None:
    """Call `announce` once the first worker serves; not if the server stops before."""
    while not (shared / READY).exists():
        time.sleep(WATCH_EVERY)  # the workers and this process share nothing but the folder
    if not (shared / STOPPING).exists():
        announce()


def open_in_worker(settings: Settings, options: ServerOptions, prepare: Callable[[], None]) -> "WorkerApplication":
    """Open the application in a worker process, whose server has set its signal handlers before; end the process if
    that is not possible.
    """
    prepare()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # for the parent, which replaces the workers
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    try:
        return WorkerApplication(App(settings, Mode()), options)
    except HarnessError as error:
        log.error("%s", error)  # noqa: TRY400 - one line
        sys.exit(NOT_STARTED)


class WorkerApplication:
    """Application of one worker process; it closes its app when the server shuts down."""

    def __init__(self, app: App, options: ServerOptions) -> None:
        self._stack = ExitStack()
        self._stack.enter_context(app)
        self._checks, researches = self._stack.enter_context(application(app, options))
        assert options.shared is not None  # noqa: S101 - workers have one
        self._shared = options.shared
        for sent in (signal.SIGTERM, signal.SIGINT):
            _close_first(sent, researches, self._shared)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the life of the application."""

        async def send_ready(message: Message) -> None:
            if message["type"] == "lifespan.startup.complete":
                (self._shared / READY).touch()
            await send(message)

        try:
            await self._checks(scope, receive, send_ready if scope["type"] == "lifespan" else send)
        finally:
            if scope["type"] == "lifespan":
                self._stack.close()


def _close_first(sent: int, researches: ResearchJobs, shared: Path) -> None:
    """Let a signal stop the researches and their event streams before the server handles it: it waits for both. A
    worker that is replaced may finish its requests; if the server stops, the time is short.
    """
    handler: Any = signal.getsignal(sent)

    def handle(number: int, frame: FrameType | None) -> None:
        seconds = CLOSING_SECONDS if (shared / STOPPING).exists() else REPLACING_SECONDS
        handler.__self__.config.timeout_graceful_shutdown = seconds
        threading.Thread(target=researches.close, name="closing", daemon=True).start()
        _exit_after(seconds + CLOSING_SECONDS)
        handler(number, frame)

    signal.signal(sent, handle)


def _exit_after(seconds: float) -> None:
    """End this process after some time, whatever its threads still wait for."""
    timer = threading.Timer(seconds, os._exit, [0])
    timer.daemon = True
    timer.start()


def _end_with_parent() -> None:
    """Stop this worker when the process that started it is gone: nothing else would."""
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 - a worker has one
    multiprocessing.connection.wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)


def _threads_wait() -> bool:
    """Return whether a request that was given up still has a thread; threads without work need a moment to end."""
    others = [each for each in threading.enumerate() if not each.daemon and each is not threading.main_thread()]
    until = time.monotonic() + WATCH_EVERY
    for each in others:
        each.join(max(0.0, until - time.monotonic()))
    return any(each.is_alive() for each in others)


def _address(host: str, port: int) -> str:
    return f"serving on http://{host}:{port}/ (Ctrl-C stops)"


def _log_requests() -> None:
    """Write a line for each request to standard error, whatever the log level of the program."""
    access.handlers = [logging.StreamHandler()]
    access.setLevel(logging.INFO)
    access.propagate = False
