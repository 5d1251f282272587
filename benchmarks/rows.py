"""Rows of all benchmarks, fast storage of many of them, and the disk space that they need."""

import argparse
import random
import shutil
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from harness.core.entries import Entry
from harness.core.freshness import DEFAULT_TTL
from harness.core.keys import DEFAULT_ENGINE, search_key
from harness.errors import HarnessError
from harness.storage.sqlite.entries import row_values
from harness.storage.sqlite.store import SqliteStore
from harness.storage.tables import SEARCH

Results = list[dict[str, str]]

SEED = 20_261_121
BYTES_A_ROW = 5_000
"""Generous disk space of a row in any of the databases: 3.1 kB of JSON, on a page of 4 kB, and its indexes."""

_RESULTS_A_ROW = 10
_BODY_CHARS = 190
_DISTINCT = 1_000
_FILL_BATCH = 50_000
_WORDS = (
    "agent answer baseline benchmark cache chunk citation context corpus distance document embedding engine evidence "
    "expiry fallback query index latency loop memory model novelty passage pipeline planner prompt ranking recall "
    "report research retrieval retry round score search section semantic session similarity source store summary"
).split()


def query(number: int) -> str:
    """Return the query of row `number`; some capitals, so that normalising has work to do."""
    return f"Best practices for {_WORDS[number % len(_WORDS)]} pipelines in RAG, part {number}"


def unknown_query(number: int) -> str:
    """Return a query that no row has."""
    return f"What no one asked about {_WORDS[number % len(_WORDS)]} pipelines in RAG, part {number}"


def results(number: int) -> Results:
    """Return the value of row `number`: 10 results of about 300 bytes of JSON each. Rows share 1,000 values."""
    return _values()[number % _DISTINCT]


@cache
def _values() -> list[Results]:
    chance = random.Random(SEED)
    return [[_result(chance) for _ in range(_RESULTS_A_ROW)] for _ in range(_DISTINCT)]


def _result(chance: random.Random) -> dict[str, str]:
    words = chance.choices(_WORDS, k=40)
    return {
        "title": " ".join(words[:5]).capitalize(),
        "href": f"https://www.{words[0]}-{words[1]}.example/{'/'.join(words[2:4])}/{chance.randrange(10**6)}",
        "body": " ".join(words[5:])[:_BODY_CHARS],
    }


def fill(database: Path, rows: int) -> None:
    """Store rows 0 to `rows` - 1 in a new harness database at `database`; progress goes to standard error.

    The store makes the file and its schema; the rows go in by the store's own statement, many to a transaction.
    """
    SqliteStore(database).close()
    connection = sqlite3.connect(database, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = OFF")  # a benchmark's file may be lost
        connection.execute("PRAGMA cache_size = -400000")  # the index of random keys, or every row waits for the disk
        for start in range(0, rows, _FILL_BATCH):
            stop = min(start + _FILL_BATCH, rows)
            connection.execute("BEGIN")
            connection.executemany(SEARCH.upsert, _stored(start, stop))
            connection.execute("COMMIT")
            if rows > _FILL_BATCH:
                say(f"  {stop:,} of {rows:,} rows stored")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def _stored(start: int, stop: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows from `start` to before `stop`, values in the order of `SEARCH.stored`."""
    payloads = [orjson.dumps(value) for value in _values()]
    now = time.time()
    for number in range(start, stop):
        text, payload = query(number), payloads[number % _DISTINCT]
        own = (_RESULTS_A_ROW, DEFAULT_ENGINE, "{}")
        entry = Entry(search_key(text), text, payload, now, now + DEFAULT_TTL, now, own)
        yield row_values(SEARCH, "default", entry)


@contextmanager
def workplace(parent: Path | None, needed_bytes: int) -> Iterator[Path]:
    """Give an empty folder in `parent` (the system's temporary folder if `None`) and remove it at the end.

    Raises:
        SystemExit: if there is less free space than `needed_bytes`, or no such folder.
    """
    if parent is not None and not parent.is_dir():
        sys.exit(f"error: no such folder: {parent}; make it, or pass --data another")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds, so that the gigabytes go in that case, too
    with TemporaryDirectory(prefix="harness-bench-", dir=parent) as name:
        free = shutil.disk_usage(name).free
        if free < needed_bytes:
            need, have = (f"{size / 2**30:.1f} GB" for size in (needed_bytes, free))
            sys.exit(f"error: {need} are needed and only {have} are free in {Path(name).parent}; pass --data DIR")
        yield Path(name)


def say(line: str) -> None:
    """Tell on standard error what is being done."""
    print(line, file=sys.stderr, flush=True)


def entry_point(main: Callable[[], None]) -> Callable[[], None]:
    """Return a command that ends with one line instead of a traceback on Ctrl-C, if a file cannot be read, and if the
    program refuses.
    """

    @wraps(main)
    def guarded() -> None:
        try:
            main()
        except KeyboardInterrupt:
            say("interrupted")
            sys.exit(130)
        except (HarnessError, OSError) as error:
            sys.exit(f"error: {error}")

    return guarded


def at_least(fewest: int) -> Callable[[str], int]:
    """Return what turns a command-line argument into a whole number from `fewest` up."""

    def whole_number(text: str) -> int:
        number = int(text)
        if number < fewest:
            raise argparse.ArgumentTypeError(f"{number} is too few; at least {fewest}")
        return number

    return whole_number
