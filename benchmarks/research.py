"""A research, cold and warm, with an engine that takes a second to answer, with the reader and without it:
`python -m benchmarks.research`.

Each of the two is measured in a separate process, because of the memory.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from benchmarks.rows import at_least, entry_point, workplace
from harness.app import App
from harness.ports import SearchEngine, SearchResult
from harness.settings import Settings

QUESTION = "In which order does Python look up an attribute of an instance?"
LATENCY = 1.0
RUNS = 3
GOAL = 50.0
MOST_SLOWER, MOST_MEMORY = 1.5, 80
"""Limits for what reading adds: seconds of a cold research, and MB of memory."""
Timed = tuple[str, float, int, str]
"""Name of a run, its seconds, its live calls, its report."""


class Slow:
    """The language reference, a second away."""

    name = "slow"

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine
        self.options = engine.options

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        time.sleep(LATENCY)
        return self._engine.search(query, max_results)


def _timed(data: Path, runs: int, *, reading: bool) -> tuple[list[Timed], float]:
    """Research once with nothing cached, then `runs` times; embedder and corpus are loaded before. Return the runs, and
    the most memory that the process has had, in MB.
    """
    settings = Settings(data_dir=data, engine=("corpus:python-docs",), read_pages=0, reading=reading)
    with App(settings) as app:
        fast = app.sources.engines
        app.sources.engines = lambda specs=(), **options: tuple(map(Slow, fast(specs, **options)))  # type: ignore[method-assign]
        app.models.embedder.embed(["loads the model"])
        app.sources.engines(waits=True)[0].search("indexes the corpus", 1)
        told = list[Timed]()
        for name in ("cold", *["warm"] * runs):
            start = time.perf_counter()
            found = app.researcher().run(QUESTION)
            seconds = time.perf_counter() - start
            told.append((name, seconds, found.live_calls, found.report.markdown() if found.report else ""))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return told, most / (2**20 if sys.platform == "darwin" else 2**10)


def _in_a_process(data: Path, runs: int, *, reading: bool) -> tuple[list[Timed], float]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_timed, (data, runs), {"reading": reading})


@entry_point
def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.research", description=__doc__)
    parser.add_argument("--runs", type=at_least(1), default=RUNS, help="warm runs (%(default)s)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for the files, removed at the end")
    arguments = parser.parse_args()
    with workplace(arguments.data, 200 * 2**20) as data:
        unread, least = _in_a_process(data / "unread", arguments.runs, reading=False)
        read, most = _in_a_process(data / "read", arguments.runs, reading=True)
    rows = [
        (name, f"{seconds:.3f}", calls, f"{told[0][1] / seconds:.1f}")
        for way, told in (("reader", read), ("no reader", unread))
        for name, seconds, calls in ((f"{name}, {way}", seconds, calls) for name, seconds, calls, _ in told)
    ]
    print(tabulate(rows, headers=("run", "seconds", "live calls", "cold / this"), disable_numparse=True))
    best, other = (min(seconds for _, seconds, *_ in told[1:]) for told in (read, unread))
    print(f"\nwarm runs are {read[0][1] / best:.0f} times as fast as the cold one (goal {GOAL:.0f})")
    print(f"reading adds {read[0][1] - unread[0][1]:.2f} s to a cold run (goal: at most {MOST_SLOWER} s)")
    print(f"and {1000 * (best - other):.1f} ms to a warm one (goal: none)")
    print(f"and {most - least:.0f} MB of memory (goal: at most {MOST_MEMORY} MB)")
    same = all(len({report for *_, report in told}) == 1 for told in (read, unread))
    print("all reports of each are the same, byte for byte" if same else "the reports DIFFER")


if __name__ == "__main__":
    main()
