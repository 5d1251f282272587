"""Fixtures: the web application over an app with notes to search, and the program as a server on loopback."""

# ruff: noqa: F401, F811 - fixtures of several conftests
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from starlette.testclient import TestClient

from harness.app import App
from harness.identity import Role
from harness.server.api.research_jobs import ResearchJobs
from harness.server.auth import Authenticator
from harness.server.http_server import http_server
from harness.server.request_checks import HostNames, RequestChecks
from harness.server.routes import build_routes
from harness.sources.from_settings import Sources
from tests.fakes import WordEmbedder
from tests.noted import app, notes, settings
from tests.research.test_reuse import Engine
from tests.server.dropin import Instance

PROGRAM = [sys.executable, "-m", "harness.cli.main", "serve"]
HERE = "http://127.0.0.1"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine that counts, in the place of those that the settings name."""
    made = Engine()
    monkeypatch.setattr(Sources, "engines", lambda *_, **__: (made,))
    return made


@pytest.fixture
def researches() -> Iterator[ResearchJobs]:
    """Running researches of the server, two at a time."""
    found = ResearchJobs(2)
    yield found
    found.close()


@pytest.fixture
def checks(app: App, researches: ResearchJobs) -> Iterator[RequestChecks]:
    """The application with its request checks, as `harness serve` runs it on this machine."""
    authenticator = Authenticator(app, per_minute=60_000, alone=True)
    with authenticator:
        yield RequestChecks(
            build_routes(researches, authenticator), names=HostNames("127.0.0.1"), authenticator=authenticator
        )


@pytest.fixture
def client(checks: RequestChecks) -> Iterator[TestClient]:
    """A client of the application that does not follow redirects."""
    with TestClient(checks, base_url=HERE, follow_redirects=False, raise_server_exceptions=False) as opened:
        yield opened


@pytest.fixture
def token(app: App) -> Callable[..., str]:
    """Make an access token: `token("lab", "ada", "writer")`."""

    def make(tenant: str = "default", user: str = "ada", role: Role = "admin") -> str:
        return app.databases.tokens.create(tenant, user, role).text

    return make


@contextmanager
def served(checks: RequestChecks, proxies: Sequence[str] = ()) -> Iterator[str]:
    """Serve the application on loopback in a thread, as the program does; yield its address."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        server = http_server(checks, proxies=proxies)
        server.config.timeout_graceful_shutdown = 1
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            deadline = time.monotonic() + 10
            while not server.started and time.monotonic() < deadline:
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def address(checks: RequestChecks) -> Iterator[str]:
    """The address of the served application."""
    with served(checks) as found:
        yield found


@contextmanager
def program(
    *arguments: str, environment: Sequence[tuple[str, str]] = ()
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `harness serve` on a free port; yield the process and its address once it serves."""
    import os

    process = subprocess.Popen(
        [*PROGRAM, "--port", "0", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **dict(environment)},
    )
    try:
        assert process.stderr is not None
        line = ""
        while "serving on" not in line:
            line = process.stderr.readline()
            assert line, f"ended with {process.wait()} before it served"
        yield process, line.split("serving on ")[1].split("/ (")[0]
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


@pytest.fixture
def instance(httpserver: HTTPServer) -> Instance:
    """A SearXNG instance behind the engine."""
    return Instance(httpserver)


@pytest.fixture
def embedder(app: App) -> WordEmbedder:
    """An embedder of words instead of the model, which takes half a second to load."""
    made = WordEmbedder()
    app.models.__dict__["embedder"] = made
    return made
