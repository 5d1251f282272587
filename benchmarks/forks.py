"""Do children that are forked from a busy process hang? `python -m benchmarks.forks`.

Processes start threads that import the models, embed, read pairs and search through the cache, and fork at random
moments from the first second on, during imports and loading. Each child makes one cached search and one embedding. A
child that has not ended after 20 seconds hangs: it prints its stacks and is killed; so is a parent after two minutes.
"""

import argparse
import faulthandler
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.rows import at_least, entry_point

FORKS = 1_000
FORKS_A_PARENT = 20
"""Few, so that most children are forked while the parent's threads still import and load."""
SECONDS = 20.0
PARENT_SECONDS = 120.0
"""A parent that takes longer hangs itself."""
SPREAD = 0.12
"""Forks of one parent are this far apart on average, in seconds."""


def _busy(number: int) -> None:
    """Search through the cache without end."""
    from search_cache import cached_search

    for turn in range(sys.maxsize):
        cached_search(
            f"what is {number} plus {turn}", lambda query: [{"title": query, "href": f"https://a.example/{query}"}]
        )


def _embedding() -> None:
    from harness.models.local.embedder import MiniLM

    while True:
        MiniLM().embed(["one text", "another text"])


def _verifying() -> None:
    from harness.models.local.cross_encoder import MiniLMVerifier

    while True:
        MiniLMVerifier().probability("how to enable ipv6", "how to turn on ipv6")


def _child(number: int) -> None:
    faulthandler.dump_traceback_later(SECONDS - 1)
    from harness.models.local.embedder import MiniLM
    from search_cache import cached_search

    title = f"of the child {number}"
    found = cached_search(title, lambda query: [{"title": query}])
    if found[0]["title"] != title or MiniLM().embed(["a text"]).shape != (1, MiniLM.dimension):
        raise ValueError(found)


def _forked(number: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        _child(number)
    except BaseException as error:  # noqa: BLE001 - counted by the parent
        print(f"child {number}: {type(error).__name__}: {error}", file=sys.stderr)
        os._exit(1)
    os._exit(0)


def _ended(child: int, deadline: float) -> str:
    """Wait for a child until the deadline; return how it ended."""
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return "done" if status == 0 else "failed"
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hung"


def _parent(seed: int, forks: int) -> None:
    """Fork children out of busy threads, and print how each ended."""
    faulthandler.register(signal.SIGUSR1)
    chance = random.Random(seed)
    for work in (lambda: _busy(1), lambda: _busy(2), _embedding, _verifying):
        threading.Thread(target=work, daemon=True).start()
    children = []
    for number in range(forks):
        time.sleep(chance.expovariate(1 / SPREAD))
        children.append((_forked(number), time.monotonic() + SECONDS))
    print(*(_ended(*child) for child in children), flush=True)
    os._exit(0)  # the threads have no end


def _of_one_parent(seed: int, forks: int) -> list[str]:
    """Return how the children of a new parent process ended; if the parent hangs, all count as hung."""
    command = [sys.executable, "-m", "benchmarks.forks", "--parent", f"--seed={seed}", f"--forks={forks}"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        parent = subprocess.Popen(
            command,
            env=os.environ | {"HARNESS_DATA_DIR": folder},
            cwd=Path(__file__).parents[1],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            ended = parent.communicate(timeout=PARENT_SECONDS)[0].split()
        except subprocess.TimeoutExpired:
            parent.send_signal(signal.SIGUSR1)
            time.sleep(1)
            os.killpg(parent.pid, signal.SIGKILL)
            parent.communicate()
            return ["hung"] * forks
    return ended if len(ended) == forks else ["failed"] * forks


@entry_point
def main() -> None:
    """Run the benchmark that the command line asks for; exit with 1 if a child hung or failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forks", description=__doc__)
    parser.add_argument("--forks", type=at_least(1), default=FORKS, help="children in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments at which they are forked (%(default)s)")
    parser.add_argument("--parent", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.parent:
        _parent(arguments.seed, arguments.forks)
    ended: list[str] = []
    while len(ended) < arguments.forks:
        forks = min(FORKS_A_PARENT, arguments.forks - len(ended))
        ended += _of_one_parent(arguments.seed + len(ended), forks)
    counts = {how: ended.count(how) for how in ("done", "failed", "hung")}
    print(f"{len(ended):,} forks: " + ", ".join(f"{count:,} {how}" for how, count in counts.items()))
    sys.exit(counts["done"] < len(ended))


if __name__ == "__main__":
    main()
