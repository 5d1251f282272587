"""Separate processes of `benchmarks.semantic`: `python -m benchmarks.semantic_child WHAT NAME FOLDER`.

`memory` prints, as JSON, the resident bytes with only the loaded embedder, and those after `LOOK_UPS` lookups. `fresh`
looks up one query and ends. NAME is a contender, or `embedding` for the embedder alone. The queries come on standard
input, one per line.
"""

import sys
from pathlib import Path

import orjson

from benchmarks.rows import entry_point
from harness.models.local.embedder import MiniLM

LOOK_UPS = 200
BARE = "embedding"


def resident() -> int:
    """Return the bytes of this process that are in memory (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    raise AssertionError("no VmRSS in /proc/self/status")


def _memory(name: str, folder: Path, asks: list[str]) -> None:
    from benchmarks.semantic_contenders import CONTENDERS

    embedder = MiniLM()
    for ask in asks:
        embedder.embed([ask])
    before = resident()
    contender = CONTENDERS[name](folder, embedder)
    for number in range(LOOK_UPS):
        contender.hit(asks[number % len(asks)])
    print(orjson.dumps({"before": before, "after": resident(), "chromadb": "chromadb" in sys.modules}).decode())


def _fresh(name: str, folder: Path, asks: list[str]) -> None:
    embedder = MiniLM()
    if name == BARE:
        embedder.embed(asks[:1])
        return
    from benchmarks.semantic_contenders import CHROMA, CONTENDERS, OURS, Ours

    contender = CONTENDERS[name](folder, embedder)
    if isinstance(contender, Ours):
        found = contender.ask(asks[0]).outcome.found
        assert found == "semantic", found
    else:
        assert contender.hit(asks[0]) is not None
    assert name == CHROMA or "chromadb" not in sys.modules, f"{OURS} has imported chromadb for a small table"


@entry_point
def main() -> None:
    """Do what the command line asks for."""
    what, name, folder = sys.argv[1:]
    asks = sys.stdin.read().splitlines()
    {"memory": _memory, "fresh": _fresh}[what](name, Path(folder), asks)


if __name__ == "__main__":
    main()
