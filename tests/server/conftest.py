"""The application over an app with notes to search in; and the program as a server on loopback."""

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
from starlette.testclient import TestClient

from harness.app import App
from harness.identity import Role
from harness.server.api.jobs import Researches
from harness.server.application import build_routes
from harness.server.auth import Admission
from harness.server.request_checks import Gate, Names, token_of
from harness.server.run_server import server_of
from tests.noted import app, notes, settings

PROGRAM = [sys.executable, "-m", "harness.cli.main", "serve"]
HERE = "http://127.0.0.1"


@pytest.fixture
def researches() -> Iterator[Researches]:
    """The researches of the server, two at a time."""
    found = Researches(2)
    yield found
    found.close()


@pytest.fixture
def gate(app: App, researches: Researches) -> Iterator[Gate]:
    """The application with its gate, as `harness serve` has it on this machine."""
    admission = Admission(app, per_minute=60_000, alone=True, token_of=token_of)
    with admission:
        yield Gate(build_routes(researches, admission), names=Names("127.0.0.1"), admission=admission)


@pytest.fixture
def client(gate: Gate) -> Iterator[TestClient]:
    """A client of the application that does not follow redirects."""
    with TestClient(gate, base_url=HERE, follow_redirects=False, raise_server_exceptions=False) as opened:
        yield opened


@pytest.fixture
def token(app: App) -> Callable[..., str]:
    """Make an access token: `token("lab", "ada", "writer")`."""

    def make(tenant: str = "default", user: str = "ada", role: Role = "admin") -> str:
        return app.databases.tokens.create(tenant, user, role).text

    return make


@contextmanager
def served(gate: Gate, proxies: Sequence[str] = ()) -> Iterator[str]:
    """Serve the application on loopback, in a thread, as the program does; yield its address."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        server = server_of(gate, proxies=proxies)
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
def address(gate: Gate) -> Iterator[str]:
    """The address of the application, served on loopback."""
    with served(gate) as found:
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
