"""Fixtures: an app with notes to search, an MCP server for it, and the program as a server on loopback."""

# ruff: noqa: F401, F811 - fixtures of several conftests

import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import pytest
import uvicorn
from mcp.client import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from harness.app import App
from harness.identity import Role
from harness.server.mcp.server import HarnessServer, build_server
from harness.server.request_checks import RequestChecks
from harness.server.serve_web import ServerOptions, application
from harness.settings import Settings
from tests.cli.program import Program
from tests.noted import app, notes, settings

PROGRAM = [sys.executable, "-m", "harness.cli.main", "mcp"]


@pytest.fixture
def anyio_backend() -> str:
    """Run asynchronous tests as the server runs."""
    return "asyncio"


@pytest.fixture
def server(app: App) -> HarnessServer:
    """The server of the local user's app."""
    return build_server(app)


@pytest.fixture
def token(app: App) -> Callable[..., str]:
    """Make a token; return its text."""

    def make(tenant: str = "lab", user: str = "ada", role: Role = "writer") -> str:
        return app.databases.tokens.create(tenant, user, role).text

    return make


@pytest.fixture
def online(app: App) -> Iterator[Callable[..., str]]:
    """Serve the app over HTTP from a thread of this process; return the address."""
    with ExitStack() as stack:

        def start(host: str = "127.0.0.1", per_minute: float = 6_000, names: Sequence[str] = ()) -> str:
            options = ServerOptions(host=host, per_minute=per_minute, names=tuple(names))
            checks, _ = stack.enter_context(application(app, options))
            return stack.enter_context(_listening(checks))

        yield start


@contextmanager
def _listening(app: RequestChecks) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none", timeout_graceful_shutdown=1))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        server.should_exit = True
        thread.join()


@asynccontextmanager
async def connected(url: str, token: str = "", mode: str = "auto") -> AsyncIterator[Client]:
    """Connect the SDK's client over streamable HTTP, with a token in the header."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


class Served:
    """The program, serving over HTTP in a separate process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("serving on "), line
        self.url = f"{line.split()[2]}mcp"

    def stop(self, sent: int) -> tuple[int, str]:
        """Send it a signal; return its exit code and its standard error."""
        self.process.send_signal(sent)
        _, said = self.process.communicate(timeout=20)
        return self.process.returncode, said


@pytest.fixture
def serve(settings: Settings) -> Iterator[Callable[..., Served]]:
    """Start the program with arguments; it stops after the test."""
    with ExitStack() as stack:

        def start(*arguments: str) -> Served:
            process = stack.enter_context(_running(settings, *arguments))
            return Served(process)

        yield start


@contextmanager
def _running(settings: Settings, *arguments: str) -> "Iterator[subprocess.Popen[str]]":
    command = [
        *PROGRAM[:-1],
        "serve",
        "--port",
        "0",
        "--data-dir",
        str(settings.data_dir),
        "--engine",
        settings.engine[0],
    ]
    with subprocess.Popen([*command, *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
