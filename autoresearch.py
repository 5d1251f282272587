"""Repeats evaluation tasks against the cache, and tells whether they repeat exactly.

    python autoresearch.py --tasks T_A,T_B --repeat 3

Researches are kept whole (as with RESEARCH_CACHE=1), so that each task is gathered once. What is not here yet:
proposing changes, and keeping or discarding them.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from evals.run import TaskRun, run_task
from evals.tasks import load_tasks
from harness.errors import InvalidInput
from harness.terminal import EXIT_CODES, ExitCode, ProgressBars, configure_logging, run


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autoresearch",
        description="Repeat evaluation tasks against the cache: scores, live calls, whether reports are identical.",
        epilog=EXIT_CODES.replace("1 nothing found", "1 reports of one task differ"),
    )
    parser.add_argument("--tasks", metavar="ID,ID,…", default="", help="tasks to run; all of them by default")
    parser.add_argument("--repeat", metavar="N", type=int, default=2, help="runs of each task (default 2)")
    parser.add_argument("--data-dir", metavar="DIR", type=Path, help="keep everything in this directory")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--debug", action="store_true", help="log everything; show tracebacks")
    return parser


def _repeat_tasks() -> None:
    from harness.settings import load
    from harness.workbench import Workbench

    arguments = _parser().parse_args()
    if arguments.repeat < 1:
        raise InvalidInput(f"--repeat must be at least 1, not {arguments.repeat}")
    tasks = load_tasks([id_.strip() for id_ in arguments.tasks.split(",") if id_.strip()])
    settings = load({"research_cache": True, "data_dir": arguments.data_dir}).settings
    configure_logging("debug" if arguments.debug else settings.log_level)
    with ProgressBars() as bars, Workbench(settings, progress=bars) as workbench:
        runs = [run_task(workbench, task) for task in tasks for _ in range(arguments.repeat)]
    differing = [task.id for task in tasks if len({each.digest for each in runs if each.task == task.id}) > 1]
    _show(runs, differing, as_json=arguments.json)
    if differing:
        raise SystemExit(ExitCode.NOTHING_FOUND)


def _show(runs: Sequence[TaskRun], differing: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode({"runs": runs, "differing": differing})).decode())
        return
    from tabulate import tabulate

    rows = [
        (r.task, f"{r.gold_recall:.2f}", f"{r.verified:.2f}", r.live_calls, f"{r.seconds:.2f}", r.digest) for r in runs
    ]
    print(tabulate(rows, headers=("task", "gold cited", "verified", "live calls", "seconds", "report"), floatfmt=".2f"))
    verdict = (
        f"reports differ between runs of {', '.join(differing)}" if differing else "all runs of a task are identical"
    )
    print(verdict, file=sys.stderr)


def main() -> None:
    """Run the command and exit."""
    run(_repeat_tasks)


if __name__ == "__main__":
    main()
