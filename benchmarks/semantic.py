"""Semantic lookups from 1,000 to 100,000 rows, compared with GPTCache and Chroma: `python -m benchmarks.semantic`.

Every contender stores the same rows (10 results of about 300 bytes, one vector) in separate files and gets the same
rewordings as queries (see `benchmarks.neighbours` and `benchmarks.semantic_contenders`). The embedding is part of every
call, so times are relative to the embedding alone: everything above 1 is the cache's. Memory and the first lookup of a
fresh process are measured in separate processes.
"""

import argparse
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from tabulate import tabulate

from benchmarks.embeddings import RememberedEmbedder
from benchmarks.neighbours import Rows, make_rows
from benchmarks.rows import Results, at_least, entry_point, results, say, workplace
from benchmarks.semantic_child import BARE, LOOK_UPS
from benchmarks.semantic_contenders import CONTENDERS, EMBEDDING, GPTCACHE, OURS, Contender, Ours, share_right
from benchmarks.timing import MILLISECOND, Contestant, Timing, as_json, interleaved, table, verdict
from harness.models.local.embedder import MiniLM

SIZES = (1_000, 10_000, 100_000)
FEWEST_ASKS = 60
BATCH = 5
PUTS = 100
FRESH_RUNS = 10
MOST_BESIDE_MS = 25
"""Time limit of a semantic hit at the largest size: lookup and verifier, without the embedding."""
BYTES_A_ROW = 36_000
"""Generous size of a row in all three together."""

REFERENCES = {"x embedding": EMBEDDING}
ALONE = "python -c pass"
_FILLING = ("fill_s", "first_look_up_s", "close_s")
_MEGABYTE = 2**20

Timings = dict[str, dict[str, Timing]]


def measure(folder: Path, rows: Rows, sizes: Sequence[int]) -> tuple[Timings, list[dict[str, Any]]]:
    """Fill every contender at every size, check what it finds, and time hits, misses and puts; also return what filling
    took. The files stay in `folder`, one folder a contender and size.
    """
    embedder = MiniLM()
    contenders: dict[str, Contender] = {}
    told = []
    with ExitStack() as opened:
        for size, (name, make) in ((size, each) for size in sizes for each in CONTENDERS.items()):
            say(f"storing {size:,} rows in {name} ...")
            reopen = partial(make, folder / _place(name, size), embedder)
            told.append({"name": name, "rows": size} | _filled(reopen, rows.part(size)))
            # opened again: after checking the answers it may remember the queries' vectors
            contenders[f"{name}, {size:,} rows"] = opened.enter_context(closing(reopen()))
        gc.collect()
        gc.freeze()  # or every collection during the timing would walk through the benchmark's own rows
        say("timing hits, misses and puts ...")
        return _timings(contenders, embedder, rows.asks), told


def _filled(reopen: Callable[[], Contender], rows: Rows) -> dict[str, float]:
    """Fill a contender; return the seconds that it, the first look-up and closing took, and the share of right answers.

    Closing waits for an index that is written in the background.
    """
    times = [time.monotonic()]
    with closing(reopen()) as contender:
        contender.fill(rows)
        times.append(time.monotonic())
        contender.hit(rows.asks[0])
        times.append(time.monotonic())
    times.append(time.monotonic())
    with closing(reopen()) as contender:
        right = share_right(contender, rows)
    return {key: times[n + 1] - times[n] for n, key in enumerate(_FILLING)} | {"right": right}


def _timings(contenders: dict[str, Contender], embedder: MiniLM, asks: Sequence[str]) -> Timings:
    def timed(contestants: list[Contestant[int]], calls: int) -> dict[str, Timing]:
        return interleaved(contestants, [range(start, min(start + BATCH, calls)) for start in range(0, calls, BATCH)])

    def ask(number: int) -> tuple[str]:
        return (asks[number],)

    def unknown(number: int) -> tuple[str]:
        return (_unknown(number),)

    def alone(prepare: Callable[[int], tuple[str]]) -> Contestant[int]:
        return Contestant(EMBEDDING, prepare, lambda query: embedder.embed([query]))

    hits = [Contestant(name, ask, each.hit) for name, each in contenders.items()]
    misses = [Contestant(name, unknown, each.miss) for name, each in contenders.items()]
    puts = [Contestant(name, _new(10_000), each.put) for name, each in contenders.items()]
    for name, each in contenders.items():
        if isinstance(each, Ours):
            puts.append(Contestant(f"{name}, search + put", _new(20_000), each.search))
    return {
        "semantic hit": timed([alone(ask), *hits], len(asks)),
        "miss": timed([alone(unknown), *misses], len(asks)),
        "put": timed([alone(unknown), *puts], PUTS),
    }


def _new(first: int) -> Callable[[int], tuple[str, Results]]:
    return lambda number: (_unknown(first + number), results(number))


def _unknown(number: int) -> str:
    """Return a query that no row answers, not even that of another number."""
    return f"error E{1_000 + number} after the upgrade to version {number // 97}.{number % 97}"


def _place(name: str, size: int) -> str:
    return f"{name.replace(' ', '-')}-{size}"


def memory(folder: Path, sizes: Sequence[int], asks: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each contender and size the bytes that a process grows by in `LOOK_UPS` look-ups."""
    told = []
    for name in CONTENDERS:
        for size in sizes:
            say(f"memory of {name} at {size:,} rows ...")
            printed = _child("memory", name, folder / _place(name, size), asks[:50])
            found = orjson.loads(printed)
            told.append({"name": name, "rows": size, "grown": found["after"] - found["before"], **found})
    return told


def fresh(folder: Path, size: int, asks: Sequence[str], runs: int) -> dict[str, Timing]:
    """Time fresh processes from start to end: one look-up in `size` rows each, taking turns."""
    say(f"first look-ups in {size:,} rows, fresh processes ...")
    contestants = [
        Contestant(ALONE, _nothing, partial(subprocess.run, [sys.executable, "-c", "pass"], check=True)),
        Contestant(EMBEDDING, _nothing, partial(_child, "fresh", BARE, folder, asks[:1])),
        *(
            Contestant(name, _nothing, partial(_child, "fresh", name, folder / _place(name, size), asks[:1]))
            for name in CONTENDERS
        ),
    ]
    return interleaved(contestants, [[None]] * (1 + runs), warm_up=1)


def _nothing(task: None) -> tuple[()]:
    del task
    return ()


def _child(what: str, name: str, folder: Path, asks: Sequence[str]) -> bytes:
    command = [sys.executable, "-m", "benchmarks.semantic_child", what, name, str(folder)]
    done = subprocess.run(command, input="\n".join(asks).encode(), stdout=subprocess.PIPE, check=True, env=os.environ)
    return done.stdout


def _show(told: dict[str, Any], rows: int) -> None:
    print(
        f"{len(told['asks']):,} rewordings of stored questions; every call embeds; up to {rows:,} rows. Chroma decides "
        "nothing: it returns the nearest row\n"
    )
    headers = ("filling", "rows", "seconds", "first look-up, s", "closing, s", "right answers")
    filled = [
        (each["name"], f"{each['rows']:,}", *(f"{each[key]:.2f}" for key in _FILLING), f"{each['right']:.1%}")
        for each in told["filled"]
    ]
    print(tabulate(filled, headers=headers, colalign=("left", *["right"] * 5), disable_numparse=True), end="\n\n")
    for operation, measured in told["timings"].items():
        print(table(operation, measured, references=REFERENCES, unit="ms"), end="\n\n")
    grown = [
        (
            each["name"],
            f"{each['rows']:,}",
            *(f"{each[key] / _MEGABYTE:.0f}" for key in ("before", "after", "grown")),
            f"{each['grown'] / _vectors(each['rows']):.2f}",
            "yes" if each["chromadb"] else "no",
        )
        for each in told["memory"]
    ]
    headers = (f"MB after {LOOK_UPS} look-ups", "rows", "embedder only", "then", "grown", "x the vectors", "chromadb")
    print(tabulate(grown, headers=headers, colalign=("left", *["right"] * 6), disable_numparse=True), end="\n\n")
    print(table(f"fresh process, {SIZES[0]:,} rows", told["fresh"], references=REFERENCES, unit="ms"), end="\n\n")
    hits = told["timings"]["semantic hit"]
    ours, peer = (hits[f"{name}, {rows:,} rows"].p50 for name in (OURS, GPTCACHE))
    what = f"semantic hit in {rows:,} rows at p50, {OURS}"
    beside = (ours - hits[EMBEDDING].p50) / MILLISECOND
    print(verdict(f"{what}, without its embedding", beside, MOST_BESIDE_MS, "ms"))
    print(verdict(f"{what} / {GPTCACHE}", ours / peer, 1))


def _vectors(rows: int) -> int:
    """Return the bytes of so many float32 vectors."""
    return 4 * MiniLM.dimension * rows


def _compare(arguments: argparse.Namespace) -> None:
    sizes = [size for size in SIZES if size <= arguments.most]
    rows = make_rows(sizes[-1], RememberedEmbedder(arguments.cache), arguments.queries)
    if len(rows.asks) < FEWEST_ASKS:
        sys.exit(f"error: the rule accepts {len(rows.asks)} rewordings, {FEWEST_ASKS} are needed; see neighbours.py")
    with workplace(arguments.data, BYTES_A_ROW * sum(sizes) + 2**30) as folder:
        timings, filled = measure(folder, rows, sizes)
        told: dict[str, Any] = {"asks": rows.asks, "filled": filled, "timings": timings}
        told["memory"] = memory(folder, sizes, rows.asks)
        told["fresh"] = fresh(folder, SIZES[0], rows.asks, arguments.runs)
    if arguments.json:
        told["timings"] = {name: as_json(each, references=REFERENCES) for name, each in timings.items()}
        told["fresh"] = as_json(told["fresh"], references=REFERENCES)
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
    else:
        _show(told, sizes[-1])


@entry_point
def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.semantic", description=__doc__)
    parser.add_argument("--most", type=at_least(SIZES[0]), default=SIZES[-1], help="maximum rows (%(default)s)")
    parser.add_argument("--queries", type=Path, metavar="FILE", help="real queries (gzipped JSON lines) to fill with")
    parser.add_argument("--cache", type=Path, metavar="FILE", help=".npz file that keeps the vectors between runs")
    parser.add_argument("--runs", type=at_least(3), default=FRESH_RUNS, help="fresh processes of each (%(default)s)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for the files, removed at the end")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    _compare(parser.parse_args())


if __name__ == "__main__":
    main()
