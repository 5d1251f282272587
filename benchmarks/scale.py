"""Exact hits from 1,000 to 1,000,000 rows: `python -m benchmarks.cache --scale`."""

import gc
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import orjson
from tabulate import tabulate

from benchmarks.contenders import BARE, OURS, Bare
from benchmarks.rows import BYTES_A_ROW, SEED, Results, fill, query, results, say, workplace
from benchmarks.timing import MICROSECOND, Contestant, Timing, interleaved, verdict
from harness.app import App
from harness.settings import Settings

SIZES = (1_000, 10_000, 100_000, 1_000_000)
FLAT_WITHIN = 1.5
BATCH = 25
ROUNDS = 400
WARM_UP = 40
# the same rows for both: sqlite3 reads them from the file that the cache has made
_SELECT = "SELECT results, expires_at FROM search_cache WHERE tenant = 'default' AND key = ?"

Task = float
"""A position among the rows, 0 (the first) to before 1: the same task gets another row at every size."""

Timings = dict[tuple[str, int], Timing]
"""By contender and number of rows."""


def run(data: Path | None, *, as_object: bool) -> None:
    """Fill one database a size in `data`, time hits in all of them in turn, print the result, remove the files."""
    with workplace(data, sum(SIZES) * BYTES_A_ROW + 2**30) as folder:
        timings = _measure(folder)
    if as_object:
        print(orjson.dumps(_as_json(timings), option=orjson.OPT_INDENT_2).decode())
    else:
        _show(timings)


def _measure(folder: Path) -> Timings:
    contestants: dict[tuple[str, int], Contestant[Task]] = {}
    with ExitStack() as opened:
        for rows in SIZES:
            database = _filled(folder, rows)
            contestants[OURS, rows] = _ours(opened, database, rows)
            contestants[BARE, rows] = _bare(opened, database, rows)
        gc.collect()
        gc.freeze()  # or every collection during the timing would walk through the benchmark's own rows
        say("timing exact hits ...")
        timed = interleaved(list(contestants.values()), _positions(), warm_up=WARM_UP)
    return {which: timed[contestant.name] for which, contestant in contestants.items()}


def _filled(folder: Path, rows: int) -> Path:
    database = folder / f"rows-{rows}.db"
    say(f"storing {rows:,} rows ...")
    start = time.monotonic()
    fill(database, rows)
    say(f"  {database.stat().st_size / 2**20:,.0f} MB in {time.monotonic() - start:.0f} s")
    return database


def _ours(opened: ExitStack, database: Path, rows: int) -> Contestant[Task]:
    """Make the call that `search_cache.cached_search` makes, on an app a size: that module has only one."""
    cache = opened.enter_context(App(Settings(data_dir=database.parent, semantic=False), database=database)).cache
    return Contestant(f"{OURS} {rows}", _asks(rows), lambda asked: cache.searches.answer(asked, _never).value)


def _bare(opened: ExitStack, database: Path, rows: int) -> Contestant[Task]:
    bare = opened.enter_context(closing(Bare(database, select=_SELECT)))
    if bare.hit(query(rows - 1)) != results(rows - 1):
        raise AssertionError(f"the last of {rows} rows is not as it was stored")
    return Contestant(f"{BARE} {rows}", _asks(rows), bare.hit)


def _asks(rows: int) -> Callable[[Task], tuple[str]]:
    return lambda position: (query(int(position * rows)),)


def _never(asked: str, max_results: int) -> Results:
    raise AssertionError(f"a hit was expected for {asked!r} ({max_results} results)")


def _positions() -> Iterator[list[Task]]:
    chance = random.Random(SEED)
    for _ in range(WARM_UP + ROUNDS):
        yield [chance.random() for _ in range(BATCH)]


def _growth(timings: Timings, contender: str, rows: int) -> float:
    """Return the ratio of medians: `rows` rows to the fewest."""
    return timings[contender, rows].p50 / timings[contender, SIZES[0]].p50


def _show(timings: Timings) -> None:
    print("exact hit by number of rows, random keys; both read the same file, µs\n")
    rows = []
    for size in SIZES:
        ours, bare = timings[OURS, size], timings[BARE, size]
        rows.append(
            (
                f"{size:,}",
                *(f"{value / MICROSECOND:.1f}" for value in (ours.p50, ours.p99, ours.minimum)),
                f"{_growth(timings, OURS, size):.2f}",
                *(f"{value / MICROSECOND:.1f}" for value in (bare.p50, bare.p99, bare.minimum)),
                f"{_growth(timings, BARE, size):.2f}",
                f"{ours.p50 / bare.p50:.2f}",
            )
        )
    to_first = f"x {SIZES[0]:,} rows"
    headers = ("rows", f"{OURS} p50", "p99", "min", to_first, f"{BARE} p50", "p99", "min", to_first, f"{OURS} / {BARE}")
    print(tabulate(rows, headers=headers, stralign="right", disable_numparse=True))
    growth = max(_growth(timings, OURS, size) for size in SIZES)
    print()
    print(verdict(f"exact hit at p50, slowest size / {SIZES[0]:,} rows", growth, FLAT_WITHIN))


def _as_json(timings: Timings) -> dict[str, list[dict[str, float]]]:
    return {
        contender: [
            {
                "rows": size,
                "p50_ns": timings[contender, size].p50,
                "p99_ns": timings[contender, size].p99,
                "min_ns": timings[contender, size].minimum,
                "x_fewest_rows": round(_growth(timings, contender, size), 3),
            }
            for size in SIZES
        ]
        for contender in (OURS, BARE)
    }
