"""Run time of the commands, compared with `python -c pass`: `python -m benchmarks.startup`."""

import argparse
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import orjson

from benchmarks.rows import BYTES_A_ROW, at_least, entry_point, fill, workplace
from benchmarks.timing import MILLISECOND, Contestant, Timing, as_json, interleaved, table, verdict
from harness.storage.opening import DATABASE

NOTHING = "python -c pass"
HARNESS = "harness --help"
MAINTENANCE = "python search_cache.py"
REFERENCES = {"x pass": NOTHING}
MOST_MS = 250
ROWS = 10_000
DEFAULT_RUNS = 20
FEWEST_RUNS = 10

_SCRIPT = Path(__file__).parents[1] / "search_cache.py"


def measure(data_dir: Path, runs: int) -> dict[str, Timing]:
    """Run every command `runs` times, taking turns, on the cache in `data_dir`; one more run each is not counted."""
    commands = {
        NOTHING: (sys.executable, "-c", "pass"),
        HARNESS: (str(Path(sys.executable).parent / "harness"), "--help"),
        MAINTENANCE: (sys.executable, str(_SCRIPT)),
    }
    environment = os.environ | {"HARNESS_DATA_DIR": str(data_dir)}
    # piped away as in a script: on a terminal, showing the text comes on top
    run = partial(subprocess.run, env=environment, stdout=subprocess.DEVNULL, check=True)
    contestants = [Contestant(name, _no_arguments, partial(run, command)) for name, command in commands.items()]
    return interleaved(contestants, [[None]] * (1 + runs), warm_up=1)


def _no_arguments(task: None) -> tuple[()]:
    del task
    return ()


def _show(timings: dict[str, Timing]) -> None:
    print(f"{timings[NOTHING].calls} runs each, taking turns; the cache holds {ROWS:,} rows\n")
    print(table("start to end", timings, references=REFERENCES, unit="ms"), end="\n\n")
    for command in (HARNESS, MAINTENANCE):
        print(verdict(f"{command} (median)", timings[command].p50 / MILLISECOND, MOST_MS, "ms"))


@entry_point
def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--runs", type=at_least(FEWEST_RUNS), default=DEFAULT_RUNS, help="of each (%(default)s)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for the files, removed at the end")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    with workplace(arguments.data, BYTES_A_ROW * ROWS + 2**28) as folder:
        fill(folder / DATABASE, ROWS)
        timings = measure(folder, arguments.runs)
    if arguments.json:
        print(orjson.dumps(as_json(timings, references=REFERENCES), option=orjson.OPT_INDENT_2).decode())
    else:
        _show(timings)


if __name__ == "__main__":
    main()
