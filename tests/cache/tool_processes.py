"""Processes that call one tool at the same time: `python -m tests.cache.tool_processes PATH PROCESSES SECONDS ENDING`.

Like `tests.cache.search_processes`, for `ToolCache.answer`: the tool appends its process id to `PATH.calls`, takes so
many seconds, and ends as ENDING says: `results`, `nothing`, or `ValueError`.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from harness.cache import Cache
from harness.storage.sqlite.store import SqliteStore
from tests.cache.search_processes import ask_together


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


if __name__ == "__main__":
    database = Path(sys.argv[1])
    ask_together(database, int(sys.argv[2]), lambda: _ask(database, float(sys.argv[3]), sys.argv[4]))
