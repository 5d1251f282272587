"""Processes that call one tool at the same time: `python -m tests.cache.tool_processes PATH PROCESSES SECONDS ENDING`.

Like `tests.cache.search_processes`, for `ToolCache.answer`: the tool appends its process id to `PATH.calls`, takes so
many seconds, and ends as ENDING says: `results`, `nothing`, or `ValueError`.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import filelock  # noqa: F401 - the store imports it late: here it is paid for once

from harness.cache import Cache
from harness.storage.sqlite.store import SqliteStore


def _ask(path: Path, seconds: float, ending: str) -> dict[str, Any]:
    def tool() -> list[Any]:
        with path.with_name(f"{path.name}.calls").open("a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(seconds)
        if ending == "ValueError":
            raise ValueError("as requested")
        return [] if ending == "nothing" else ["by", os.getpid()]

    store = SqliteStore(path)
    try:
        return {"value": Cache(store).tools.answer("x", "q", tool).value}
    except Exception as error:  # noqa: BLE001 - the test gets it
        return {"error": f"{type(error).__name__}: {error}"}
    finally:
        store.close()


def _start(path: Path, processes: int, seconds: float, ending: str) -> None:
    SqliteStore(path).close()
    start, go = os.pipe()
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(start, 1)  # until all have started
            os.write(1, (json.dumps(_ask(path, seconds, ending)) + "\n").encode())
            os._exit(0)
        children.append(child)
    os.close(go)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    _start(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
