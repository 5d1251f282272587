"""Exact hit, miss and put compared with sqlite3, diskcache and requests-cache: `python -m benchmarks.cache`.

Every contender stores the same rows (10 results of about 300 bytes) in separate files and does the same work inside the
timing, key hashing included (see `benchmarks.contenders`). Calls are timed one by one, in short batches that take
turns. Results go to standard output, progress to standard error.
"""

import argparse
import gc
import platform
import random
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import orjson

from benchmarks import scale
from benchmarks.contenders import BARE, DISKCACHE, OURS, Contender, open_all
from benchmarks.rows import BYTES_A_ROW, SEED, at_least, entry_point, query, results, say, unknown_query, workplace
from benchmarks.timing import Contestant, Timing, as_json, interleaved, table, verdict

REFERENCES = {f"x {BARE}": BARE, f"x {DISKCACHE}": DISKCACHE}
MOST_OF_BARE = 1.3
BATCH = 25
ROUNDS = 400
PUT_ROUNDS = 120
DEFAULT_ROWS = 10_000

Task = int
"""The number of a row."""


def measure(contenders: Sequence[Contender], rows: int) -> dict[str, dict[str, Timing]]:
    """Store `rows` rows in every contender, check what comes back, and time `hit`, `miss` and `put` (of new rows)."""
    for contender in contenders:
        say(f"storing {rows:,} rows in {contender.name} ...")
        for number in range(rows):
            contender.put(contender.request(query(number)), contender.answer(query(number), results(number)))
        _check(contender, rows)
    chance = random.Random(SEED)
    gc.collect()
    gc.freeze()  # or every collection during the timing would walk through the benchmark's own rows
    say("timing hits, misses and puts ...")
    return {
        "exact hit": interleaved([_hit(each) for each in contenders], _random_rows(chance, rows, ROUNDS)),
        "miss": interleaved([_miss(each) for each in contenders], _random_rows(chance, rows, ROUNDS)),
        "put": interleaved([_put(each) for each in contenders], _new_rows(rows, PUT_ROUNDS)),
    }


def _check(contender: Contender, rows: int) -> None:
    """Refuse to time a cache that does not give back what it was given."""
    for number in (0, rows // 2, rows - 1):
        if contender.hit(contender.request(query(number))) != results(number):
            sys.exit(f"error: {contender.name} did not return what it was given for row {number}")
    if contender.miss(contender.request(unknown_query(0))) is not None:
        sys.exit(f"error: {contender.name} returned something that was never stored")


def _random_rows(chance: random.Random, rows: int, rounds: int) -> Iterator[list[Task]]:
    for _ in range(rounds + 1):  # one for warming up
        yield [chance.randrange(rows) for _ in range(BATCH)]


def _new_rows(rows: int, rounds: int) -> Iterator[list[Task]]:
    for number in range(rounds + 1):
        start = rows + number * BATCH
        yield list(range(start, start + BATCH))


def _hit(contender: Contender) -> Contestant[Task]:
    return Contestant(contender.name, lambda number: (contender.request(query(number)),), contender.hit)


def _miss(contender: Contender) -> Contestant[Task]:
    return Contestant(contender.name, lambda number: (contender.request(unknown_query(number)),), contender.miss)


def _put(contender: Contender) -> Contestant[Task]:
    def prepare(number: Task) -> tuple[object, object]:
        return contender.request(query(number)), contender.answer(query(number), results(number))

    return Contestant(contender.name, prepare, contender.put)


def _show(timings: dict[str, dict[str, Timing]], rows: int) -> None:
    size = len(orjson.dumps(results(0)))
    print(
        f"{rows:,} rows, one value is 10 results, {size:,} bytes of JSON; WAL, synchronous=NORMAL; "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}\n"
        "each call: normalise and hash the key, read or write, check the expiry, decode or encode\n"
    )
    for operation, measured in timings.items():
        print(table(operation, measured, references=REFERENCES), end="\n\n")
    hit = timings["exact hit"]
    print(verdict("exact hit at p50, this cache / sqlite3 + orjson", hit[OURS].p50 / hit[BARE].p50, MOST_OF_BARE))
    print(verdict("exact hit at p50, this cache / diskcache", hit[OURS].p50 / hit[DISKCACHE].p50, 1))


def _compare(rows: int, data: Path | None, *, as_object: bool) -> None:
    needed = 5 * BYTES_A_ROW * (rows + PUT_ROUNDS * BATCH) + 2**28
    with workplace(data, needed) as folder, ExitStack() as opened:
        contenders = [opened.enter_context(closing(each)) for each in open_all(folder)]
        timings = measure(contenders, rows)
    if as_object:
        told = {name: as_json(measured, references=REFERENCES) for name, measured in timings.items()}
        print(orjson.dumps({"rows": rows, "operations": told}, option=orjson.OPT_INDENT_2).decode())
    else:
        _show(timings, rows)


@entry_point
def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cache", description=__doc__)
    parser.add_argument("--rows", type=at_least(1), default=DEFAULT_ROWS, help="rows in each cache (%(default)s)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for the files, removed at the end")
    parser.add_argument(
        "--scale", action="store_true", help="the exact hit from 1,000 to 1,000,000 rows instead (some minutes, 6 GB)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if arguments.scale:
        scale.run(arguments.data, as_object=arguments.json)
    else:
        _compare(arguments.rows, arguments.data, as_object=arguments.json)


if __name__ == "__main__":
    main()
