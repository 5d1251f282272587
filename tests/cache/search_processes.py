"""Processes that ask the same at the same time: `python -m tests.cache.search_processes PATH PROCESSES SECONDS ENDING`.

Forks so many processes, which start together to search for "q" in the cache at `PATH`. Their engine appends its process
id to `PATH.calls`, takes so many seconds, and ends as ENDING says: `results`, `nothing` (`nothing-kept`: with
`negative_ttl` 0), an error's class, or `first-hangs`: the first call takes a minute, later ones none. Each process
prints one JSON line. Forking a prepared process is a hundred times faster than starting Python for each.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import filelock  # noqa: F401 - the store imports it late: here it is paid for once

from harness import errors
from harness.cache import Cache, Policy
from harness.core.entries import Hit
from harness.storage.sqlite.store import SqliteStore


def _engine(calls: Path, seconds: float, ending: str) -> Any:
    def search(query: str, max_results: int) -> list[dict[str, Any]]:
        with calls.open("a") as file:
            file.write(f"{os.getpid()}\n")
        first = calls.read_text().splitlines() == [str(os.getpid())]
        time.sleep(60 if ending == "first-hangs" and first else seconds)
        if error := getattr(errors, ending, None) or {"ZeroDivisionError": ZeroDivisionError}.get(ending):
            raise error("as requested")
        return [] if ending.startswith("nothing") else [{"title": "t", "by": os.getpid()}]

    return search


def _ask(path: Path, seconds: float, ending: str) -> dict[str, Any]:
    store = SqliteStore(path)
    cache = Cache(store, policy=Policy(negative_ttl=0.0 if ending == "nothing-kept" else 600.0))
    engine = _engine(path.with_name(f"{path.name}.calls"), seconds, ending)
    try:
        answer = cache.searches.answer("q", engine)
    except Exception as error:  # noqa: BLE001 - the test gets it
        return {"error": f"{type(error).__name__}: {error}"}
    finally:
        cache.usage.flush()
        store.close()
    outcome = answer.outcome
    return {"value": answer.value, "found": outcome.found if isinstance(outcome, Hit) else type(outcome).__name__}


def ask_together(path: Path, processes: int, ask: Callable[[], dict[str, Any]]) -> None:
    """Print what `ask` returns in each of so many forked processes, which begin together."""
    SqliteStore(path).close()
    start, go = os.pipe()
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(start, 1)  # until all have started
            os.write(1, (json.dumps(ask()) + "\n").encode())
            os._exit(0)
        children.append(child)
    os.close(go)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    database = Path(sys.argv[1])
    ask_together(database, int(sys.argv[2]), lambda: _ask(database, float(sys.argv[3]), sys.argv[4]))
