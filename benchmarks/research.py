"""A research, cold and warm, with an engine that takes a second to answer: `python -m benchmarks.research`."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from benchmarks.rows import at_least, workplace
from harness.app import App
from harness.ports import SearchEngine, SearchResult
from harness.research.result import Research
from harness.settings import Settings

QUESTION = "In which order does Python look up an attribute of an instance?"
LATENCY = 1.0
RUNS = 3
GOAL = 50.0


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


def _timed(data: Path, runs: int) -> list[tuple[str, float, Research]]:
    """Research once with nothing cached, then `runs` times; the models are loaded before, and the corpus is indexed."""
    settings = Settings(data_dir=data, engine=("corpus:python-docs",), read_pages=0)
    with App(settings) as app:
        fast = app.sources.engines
        app.sources.engines = lambda specs=(), *, waits=False: tuple(map(Slow, fast(specs, waits=waits)))  # type: ignore[method-assign]
        app.models.embedder.embed(["loads the model"])
        app.sources.engines(waits=True)[0].search("indexes the corpus", 1)
        told = []
        for name in ("cold", *["warm"] * runs):
            start = time.perf_counter()
            found = app.researcher().run(QUESTION)
            told.append((name, time.perf_counter() - start, found))
        return told


def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.research", description=__doc__)
    parser.add_argument("--runs", type=at_least(1), default=RUNS, help="warm runs (%(default)s)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for the files, removed at the end")
    arguments = parser.parse_args()
    with workplace(arguments.data, 100 * 2**20) as data:
        told = _timed(data, arguments.runs)
    cold = told[0][1]
    texts = {found.report.markdown() if found.report else "" for _, _, found in told}
    rows = [(name, f"{seconds:.3f}", found.live_calls, f"{cold / seconds:.1f}") for name, seconds, found in told]
    print(tabulate(rows, headers=("run", "seconds", "live calls", "cold / this"), disable_numparse=True))
    best = min(seconds for _, seconds, _ in told[1:])
    print(f"\nwarm runs are {cold / best:.0f} times as fast as the cold one (goal {GOAL:.0f})")
    print("all reports are the same, byte for byte" if len(texts) == 1 else "the reports DIFFER")


if __name__ == "__main__":
    main()
