"""Load on `harness serve`: 64 clients with a mix of pages, API, search and MCP, for one worker process and for two:
`python -m benchmarks.server`.

Every answer comes from the cache or the database: no live call is measured. The engine is a SearXNG on loopback, whose
results are cached before. The clients run in one more process on the
same machine and keep their connections. `--program DIR` serves with the code of another checkout, to compare two
versions on one machine; `--without mcp` leaves out what that one lacks.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import numpy as np
from tabulate import tabulate

from benchmarks.rows import entry_point

CLIENTS = 64
SECONDS = 15.0
QUESTION = "How many times does a client retry a request?"
QUERIES = (
    "attribute lookup on an instance", "with statement exceptions", "generator expression", "descriptor protocol",
    "metaclass of a class", "import statement", "augmented assignment", "slots of a class", "async for", "patterns",
)  # fmt: skip
MOST_ANSWER = 64 * 2**20
Request = tuple[str, bytes]
"""Kind and bytes of one request."""


def get(path: str) -> bytes:
    """Return the bytes of a GET request."""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def post(path: str, body: Mapping[str, object]) -> bytes:
    """Return the bytes of a POST request with JSON."""
    sent = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(sent)}\r\n\r\n"
    )
    return head.encode() + sent


def mix(run: str, left_out: Sequence[str]) -> list[Request]:
    """Return the requests, each as often as it is in the mix."""
    call = {
        "name": "research_cache",
        "arguments": {"action": "lookup", "cache_type": "other", "query": "retries of the server"},
    }
    mcp = post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    found = [("search", get(f"/search?format=json&q={query.replace(' ', '+')}")) for query in QUERIES for _ in range(4)]
    found += [("tavily", post("/tavily/search", {"query": query})) for query in QUERIES]
    found += [("mcp", mcp)] * 15
    found += [("history", get("/api/research-history"))] * 10
    found += [("page: history", get("/"))] * 8
    found += [("page: report", get(f"/runs/{run}"))] * 8
    found += [("page: cache", get("/cache"))] * 4
    found += [("healthz", get("/healthz"))] * 5
    return [each for each in found if each[0] not in left_out]


async def client(port: int, requests: Sequence[Request], until: float, seed: int, times: dict[str, list[float]]) -> int:
    """Send requests one after another until `until` (monotonic seconds); return how many failed."""
    chance, failures = random.Random(seed), 0
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=MOST_ANSWER)
    while time.monotonic() < until:
        kind, sent = chance.choice(requests)
        began = time.perf_counter()
        writer.write(sent)
        head = await reader.readuntil(b"\r\n\r\n")
        lowered = head.lower()
        if b"transfer-encoding: chunked" in lowered:
            while (size := int(await reader.readline(), 16)) > 0:
                await reader.readexactly(size + 2)
            await reader.readline()
        else:
            await reader.readexactly(int(lowered.partition(b"content-length:")[2].split(b"\r\n")[0]))
        times[kind].append(time.perf_counter() - began)
        failures += head.split(b" ", 2)[1] != b"200"
        if b"connection: close" in lowered:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=MOST_ANSWER)
    writer.close()
    return failures


def load(
    port: int, requests: Sequence[Request], seconds: float, clients: int, result: "multiprocessing.Queue[object]"
) -> None:
    """Run all clients in this process; put the times of each kind (seconds) and the number of failures."""

    async def run() -> None:
        times: dict[str, list[float]] = defaultdict(list)
        until = time.monotonic() + seconds
        failures = await asyncio.gather(*(client(port, requests, until, each, times) for each in range(clients)))
        result.put((dict(times), sum(failures)))

    asyncio.run(run())


class SearXNG(BaseHTTPRequestHandler):
    """An instance with ten results for every query."""

    def do_GET(self) -> None:
        """Answer a search."""
        text = (
            "A client retries a request five times, with exponential backoff. " + "The pool holds ten connections. " * 8
        )
        results = [
            {"title": f"Result {number}", "url": f"https://example.org/{number}", "content": f"{text} {number}"}
            for number in range(10)
        ]
        sent = json.dumps({"results": results}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        """Write no log."""


@contextmanager
def searxng() -> Iterator[str]:
    """Run the instance; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), SearXNG) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@contextmanager
def serving(program: Path, data: Path, workers: int, engine: str) -> Iterator[int]:
    """Start `harness serve` with the code in `program`; yield its port."""
    more = ["--workers", str(workers)] if workers > 1 else []
    settings = {"HARNESS_DATA_DIR": str(data), "HARNESS_READ_PAGES": "0", "PYTHONPATH": str(program)}
    command = [sys.executable, "-m", "harness.cli.main", "serve", "--port=0", "--rate=10000000"]
    process = subprocess.Popen(
        [*command, f"--engine=searxng:{engine}", *more],
        cwd=program,
        env={**os.environ, **settings},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        line = ""
        while "serving on" not in line:
            line = process.stderr.readline()
            if not line:
                raise SystemExit(f"the server ended with {process.wait()}")
        yield int(line.split("127.0.0.1:")[1].split("/")[0])
    finally:
        process.terminate()
        process.wait(20)


def prepared(port: int) -> str:
    """Make one research, and search every query once; return the id of the run."""
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as http:
        run = str(http.post("/api/researches", json={"question": QUESTION}).raise_for_status().json()["id"])
        while http.get(f"/api/runs/{run}").json().get("state") != "finished":
            time.sleep(0.2)
        for query in QUERIES:
            http.get("/search", params={"q": query, "format": "json"}).raise_for_status()
    return run


def measure(program: Path, workers: int, seconds: float, clients: int, left_out: Sequence[str]) -> list[object]:
    """Return a row: workers, requests a second, p50 and p99 (milliseconds), errors; print a table by kind."""
    with (
        tempfile.TemporaryDirectory() as data,
        searxng() as engine,
        serving(program, Path(data), workers, engine) as port,
    ):
        requests = mix(prepared(port), left_out)
        result: multiprocessing.Queue[tuple[dict[str, list[float]], int]] = multiprocessing.Queue()
        for length in (3.0, seconds):  # the first one warms every worker
            process = multiprocessing.Process(target=load, args=(port, requests, length, clients, result))
            process.start()
            times, failures = result.get(timeout=length + 60)
            process.join()
    rows = [(kind, len(each), *milliseconds(each)) for kind, each in sorted(times.items())]
    print(tabulate(rows, ("kind", "requests", "p50 ms", "p99 ms"), floatfmt=".1f"), end="\n\n")
    every = [each for kind in times.values() for each in kind]
    return [workers, len(every) / seconds, *milliseconds(every), failures]


def milliseconds(times: Sequence[float]) -> tuple[float, float]:
    """Return p50 and p99 of times in seconds, in milliseconds."""
    return float(np.percentile(times, 50)) * 1_000, float(np.percentile(times, 99)) * 1_000


@entry_point
def main() -> None:
    """Parse the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--program", type=Path, default=Path.cwd(), help="the checkout whose code serves")
    parser.add_argument("--without", nargs="*", default=[], help="kinds to leave out")
    given = parser.parse_args()
    rows = [
        measure(given.program.resolve(), each, given.seconds, given.clients, given.without) for each in given.workers
    ]
    print(f"{given.clients} clients, {os.cpu_count()} cores, clients on the same machine:")
    print(tabulate(rows, ("workers", "requests/s", "p50 ms", "p99 ms", "errors"), floatfmt=".1f"))


if __name__ == "__main__":
    main()
