"""Forks of a process with busy threads: the children do not wait for threads that they do not have."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from harness.storage import forks

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

FORK = """
def fork(work):
    child = os.fork()
    if not child:
        signal.alarm(20)
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


def run(program: str, folder: Path) -> str:
    """Run a program that forks; return what it prints."""
    begins = f"import os, signal, sys, threading, time\nsys.path.append({str(folder)!r})\n"
    ended = subprocess.run(
        [sys.executable, "-c", begins + FORK + program],
        capture_output=True, text=True, cwd=ROOT, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def test_a_child_can_import_what_a_thread_is_importing(tmp_path: Path) -> None:
    """The fork waits until the module is imported."""
    (tmp_path / "slow_module.py").write_text("import time\ntime.sleep(0.5)\nready = True\n")
    program = """
import harness.storage.forks

def load():
    import slow_module

threading.Thread(target=load).start()
while "slow_module" not in sys.modules:
    time.sleep(0.001)

def child():
    import slow_module
    assert slow_module.ready

print(fork(child))
"""
    assert run(program, tmp_path) == "0"


@pytest.mark.slow
def test_a_child_can_embed_while_a_thread_loads_the_models(tmp_path: Path) -> None:
    """During half a second: the import of the library, the load, and runs."""
    program = """
from harness.models.local.embedder import MiniLM
from harness.models.local.cross_encoder import MiniLMVerifier
embedder, verifier = MiniLM(), MiniLMVerifier()

def work():
    while True:
        embedder.embed(["a text", "another"])
        verifier.probability("how to turn it on", "how to switch it on")

threading.Thread(target=work, daemon=True).start()

def child():
    assert embedder.embed(["one"]).shape == (1, 384)
    assert verifier.probability("how to turn it on", "how to switch it on") > 0

for module in ("numpy", "onnxruntime", "tokenizers"):
    while module not in sys.modules:
        time.sleep(0.001)
    print(fork(child), end=" ")
for _ in range(10):
    time.sleep(0.02)
    print(fork(child), end=" ")
os._exit(sys.stdout.flush() or 0)
"""
    assert run(program, tmp_path) == " ".join(["0"] * 13)


@pytest.mark.slow
def test_locks_are_free_in_a_child(tmp_path: Path) -> None:
    """Also that of a script's app while a thread opens it, and those of cached properties."""
    program = """
from harness import app
from harness.storage.forks import cached_property, free_in_child

class Thing:
    @cached_property
    def value(self):
        time.sleep(0.0 if done else 1)
        return 1

thing, done = Thing(), []
lock = free_in_child(threading.RLock())

def hold():
    with app._opening, lock:
        thing.value

threading.Thread(target=hold).start()
time.sleep(0.2)

def child():
    done.append(1)
    with lock:
        assert thing.value == 1
    import search_cache
    assert search_cache.cached_search("q", lambda query: "found") == "found"

print(fork(child))
"""
    assert run(program, tmp_path) == "0"


def test_a_fork_waits_for_sections_of_other_threads_and_holds_new_ones_off() -> None:
    """A section within a section of the same thread goes on: the fork waits for it."""
    sections, events = forks._Sections(), []
    inside, leave = threading.Event(), threading.Event()

    def first() -> None:
        with sections.section():
            inside.set()
            assert leave.wait(20)
            with sections.section():
                events.append("within")
        events.append("left")

    def second() -> None:
        with sections.section():
            events.append("entered")

    threads = [threading.Thread(target=first)]
    threads[0].start()
    assert inside.wait(20)
    assert not sections.close(time.monotonic() + 0.05)  # too short
    threads.append(threading.Thread(target=second))
    threads[1].start()
    leave.set()
    threads[0].join(20)
    assert sections.close(time.monotonic() + 20)
    assert events == ["within", "left"]
    sections.open()
    sections.open()
    threads[1].join(20)
    assert events[-1] == "entered"


@pytest.mark.slow
def test_no_child_of_busy_threads_hangs() -> None:
    """100 forks while threads import, load, embed, verify and search; `python -m benchmarks.forks` makes 1,000."""
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.forks", "--forks", "100"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert ended.stdout == "100 forks: 100 done, 0 failed, 0 hung\n", ended.stderr
