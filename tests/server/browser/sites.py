"""`harness serve` as a process that a test can stop and restart, and a search engine that waits for release."""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import msgspec
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.server.browser.sample_data import NOTES
from tests.server.conftest import PROGRAM

SERVING = re.compile(r"serving on (http://127\.0\.0\.1:(\d+))/")
PATIENCE = 20.0
"""Longest wait in seconds for a server to start, or for an engine to be released."""


class Site:
    """The program as a server of `data_dir`. It keeps its port across restarts."""

    def __init__(self, data_dir: Path, *options: str, settings: Mapping[str, str] | None = None) -> None:
        self.data_dir = data_dir
        self._log = data_dir.parent / f"{data_dir.name}.log"
        self._options = options
        self._settings = settings or {}
        self._port = "0"
        self._process: subprocess.Popen[bytes] | None = None
        self.address = ""

    def start(self) -> None:
        """Start it, and wait until it serves."""
        mine = {
            "HARNESS_DATA_DIR": str(self.data_dir),
            "HARNESS_CORPUS_MEANING": "0",
            "HARNESS_READING": "0",  # what the engine of these tests returns answers nothing
            "HARNESS_REUSE": "off",  # each test counts its own searches
            "XDG_CONFIG_HOME": "/nonexistent",
        }
        others = {name: value for name, value in os.environ.items() if not name.startswith("HARNESS_")}
        with self._log.open("wb") as payload:
            self._process = subprocess.Popen(
                [*PROGRAM, "--port", self._port, *self._options],
                stderr=payload,
                env={**others, **mine, **self._settings},
            )
        deadline = time.monotonic() + PATIENCE
        while (found := SERVING.search(self._log.read_text())) is None:
            waiting = self._process.poll() is None and time.monotonic() < deadline
            assert waiting, self._log.read_text()
            time.sleep(0.02)
        self.address, self._port = found[1], found[2]

    def tell(self, how: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(how)

    def wait(self) -> None:
        """Wait for its exit."""
        assert self._process is not None
        self._process.wait(PATIENCE)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.tell(signal.SIGKILL)
        self.wait()


class Engine:
    """A SearXNG instance that waits: `let(n)` lets it answer `n` more searches."""

    def __init__(self, server: HTTPServer) -> None:
        self.spec = f"searxng:{server.url_for('')}"
        self.asked: list[str] = []
        self.broken = False
        self._turns = threading.Semaphore(0)
        server.expect_request("/search").respond_with_handler(self._answer)

    def let(self, searches: int = 1_000) -> None:
        """Let it answer."""
        self._turns.release(searches)

    def hold(self) -> None:
        """Release the waiting searches, and make later ones wait again."""
        held, self._turns = self._turns, threading.Semaphore(0)
        held.release(1_000)
        self.asked.clear()
        self.broken = False

    def _answer(self, request: Request) -> Response:
        query = request.args["q"]
        self.asked.append(query)
        self._turns.acquire(timeout=PATIENCE)
        if self.broken:
            return Response("<h1>Internal Server Error</h1>", 500, content_type="text/html")
        results = [
            {"url": f"https://example.org/{name}", "title": name.title(), "content": " ".join(text.split()[2:])}
            for name, text in NOTES.items()
        ]
        return Response(msgspec.json.encode({"query": query, "results": results}), content_type="application/json")
