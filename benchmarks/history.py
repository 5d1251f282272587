"""Speed of the history over many entries: `python -m benchmarks.history`.

Searches are stored with vectors (see `neighbours.py`). The questions are worded differently. Timed are the service, the
server over HTTP, the newest entries instead of the most similar, the embedding of the question alone, and for
comparison a scan of all vectors in memory with NumPy, without the time to load them. Then many readers use the server
at once while a research runs.
"""

import argparse
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import httpx2
import numpy as np
from tabulate import tabulate

from benchmarks.embeddings import RememberedEmbedder
from benchmarks.neighbours import Rows, make_rows
from benchmarks.rows import BYTES_A_ROW, at_least, entry_point, results, say, workplace
from benchmarks.timing import MILLISECOND, Contestant, Timing, interleaved, table, verdict
from harness.app import App
from harness.core.entries import Entry
from harness.core.freshness import DEFAULT_TTL
from harness.core.keys import DEFAULT_ENGINE, search_key
from harness.models.local.embedder import MiniLM
from harness.server.api.research_jobs import ResearchJobs
from harness.server.auth import Authenticator
from harness.server.http_server import http_server, listen
from harness.server.request_checks import HostNames, RequestChecks
from harness.server.routes import build_routes
from harness.settings import Settings
from harness.storage.opening import DATABASE
from harness.storage.sqlite.entries import row_values
from harness.storage.sqlite.store import SqliteStore
from harness.storage.tables import SEARCH

FOUND = 10
GOAL_MS = 150.0
READERS = 50
EACH = 10
QUESTION = "In which order does Python look up an attribute on an instance?"
EMBEDDING, BY_MEANING = "MiniLM's vector alone", "by meaning"
REFERENCES = {"/ vector": EMBEDDING, "/ meaning": BY_MEANING}


def fill(database: Path, rows: Rows) -> None:
    """Store the rows, each with 10 results, as an hour's searches; then have the index written."""
    import orjson

    SqliteStore(database).close()
    now = time.time()
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        for number, (text, vector) in enumerate(zip(rows.texts, rows.vectors, strict=True)):
            entry = Entry(
                search_key(text),
                text,
                orjson.dumps(results(number)),
                created_at=now - 3_600 + 3_600 * number / len(rows.texts),
                expires_at=now + DEFAULT_TTL,
                last_used_at=now,
                own=(FOUND, DEFAULT_ENGINE, "{}"),
                embedding=vector.tobytes(),
                embedder=MiniLM.id,
            )
            connection.execute(SEARCH.upsert, row_values(SEARCH, "default", entry))
        connection.execute("COMMIT")
    store = SqliteStore(database)
    say(f"  {store.admin.reindex():,} vectors in the index")
    store.close()


@contextmanager
def served(app: App) -> Iterator[str]:
    """Serve the application in a thread; yield its address."""
    researches = ResearchJobs(1)
    authenticator = Authenticator(app, per_minute=1e6, alone=True)
    with listen("127.0.0.1", 0) as listener, authenticator:
        checks = RequestChecks(
            build_routes(researches, authenticator), names=HostNames("127.0.0.1"), authenticator=authenticator
        )
        server = http_server(checks)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            researches.close()
            server.should_exit = True
            thread.join()


def measure(app: App, address: str, rows: Rows, asks: Sequence[str]) -> dict[str, Timing]:
    """Time every way to ask."""
    model, history = MiniLM(), app.history
    with httpx2.Client(base_url=address, timeout=60) as client:

        def over_http(ask: str) -> None:
            client.get(f"/api/research-history?q={quote(ask)}&limit={FOUND}").raise_for_status()

        def scan(ask: str) -> None:
            np.argsort(-(rows.vectors @ model.embed([ask])[0]))[:FOUND]

        contestants = [
            Contestant(EMBEDDING, lambda ask: ([ask],), model.embed),
            Contestant(BY_MEANING, lambda ask: (ask,), lambda ask: history.page(ask, limit=FOUND).items),
            Contestant("by meaning, over HTTP", lambda ask: (ask,), over_http),
            Contestant("the newest", lambda ask: (ask,), lambda _: history.page(limit=FOUND).items),
            Contestant("NumPy, all vectors in memory", lambda ask: (ask,), scan),
        ]
        return interleaved(contestants, [asks[start : start + 5] for start in range(0, len(asks), 5)])


def recall(app: App, rows: Rows, asks: Sequence[str]) -> float:
    """Return the share of the truly nearest rows that are found."""
    model, found = MiniLM(), 0
    for ask in asks:
        nearest = np.argsort(-(rows.vectors @ model.embed([ask])[0]))[:FOUND]
        titles = {past.title for past in app.history.page(ask, limit=FOUND).items}
        found += sum(" ".join(rows.texts[at].split()) in titles for at in nearest)
    return found / (FOUND * len(asks))


def at_once(address: str, asks: Sequence[str]) -> tuple[Timing, int, int]:
    """Have readers ask while a research runs; return their times, their failures, and the researches that ended."""
    taken: list[int] = []

    def read(number: int) -> int:
        failures = 0
        with httpx2.Client(base_url=address, timeout=60) as client:
            for turn in range(EACH):
                began = time.perf_counter_ns()
                ask = quote(asks[(number * EACH + turn) % len(asks)])
                answer = client.get(f"/api/research-history?q={ask}" if turn % 2 else "/")
                taken.append(time.perf_counter_ns() - began)
                failures += answer.status_code != 200
        return failures

    with httpx2.Client(base_url=address, timeout=60) as client:
        begun = client.post("/api/researches", json={"question": QUESTION}).raise_for_status().json()
        with ThreadPoolExecutor(READERS) as pool:
            failures = sum(pool.map(read, range(READERS)))
        deadline = time.monotonic() + 120
        while client.get("/api/researches").json()["items"] and time.monotonic() < deadline:
            time.sleep(0.1)
        done = client.get(f"/api/runs/{begun['id']}").json()["state"] == "finished"
    return Timing(taken), failures, int(done)


@entry_point
def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description=__doc__)
    parser.add_argument("--rows", type=at_least(1_000), default=100_000, help="entries (%(default)s)")
    parser.add_argument("--asks", type=at_least(20), default=200, help="questions (%(default)s)")
    parser.add_argument("--cache", type=Path, metavar="FILE", help=".npz file that keeps the vectors between runs")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for the files, removed at the end")
    arguments = parser.parse_args()
    rows = make_rows(arguments.rows, RememberedEmbedder(arguments.cache), None)
    asks = [f"{ask} for beginners" for ask in rows.asks[: arguments.asks]]
    with workplace(arguments.data, (BYTES_A_ROW + 4_000) * arguments.rows) as folder:
        say(f"storing {arguments.rows:,} searches")
        fill(folder / DATABASE, rows)
        settings = Settings(data_dir=folder, engine=("corpus:python-docs",), corpus_meaning=False)
        with App(settings) as app, served(app) as address:
            timings = measure(app, address, rows, asks)
            share = recall(app, rows, asks[:50])
            readers, failures, done = at_once(address, asks)
    print(table(f"{arguments.rows:,} entries", timings, references=REFERENCES, unit="ms"))
    beside = (timings[BY_MEANING].percentile(95) - timings[EMBEDDING].p50) / MILLISECOND
    print(f"\nrecall@{FOUND} of the truly nearest: {share:.3f}")
    print(verdict("by meaning, p95 without the embedding", beside, GOAL_MS, "ms"))
    told = [(READERS, readers.calls, failures, done, *(f"{each / MILLISECOND:.0f}" for each in _spread(readers)))]
    headers = ("readers", "requests", "failures", "researches done", "p50 ms", "p95 ms")
    print("\nat once, while a research runs\n" + tabulate(told, headers=headers))


def _spread(timing: Timing) -> tuple[int, int]:
    return timing.p50, timing.percentile(95)


if __name__ == "__main__":
    main()
