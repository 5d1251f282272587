"""Single flight: of all threads and processes that ask the same at the same time, one computes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cache import Cache, Policy
from harness.cache.model_calls import EmbeddedText, ForwardedRequest
from harness.cache.single_flight import SingleFlight
from harness.core.entries import Hit, Miss
from harness.errors import EngineUnavailable, RateLimited, SearchError
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import Engine, results, wait_until_all_wait

ROOT = Path(__file__).parents[2]
DEADLINE = 60


class Gate:
    """An engine that signals its call, and answers (or raises) once the gate is open."""

    def __init__(self, found: Any = None) -> None:
        self.engine = Engine(found)
        self.asked = threading.Semaphore(0)
        self.opened = threading.Event()

    def __call__(self, query: str, max_results: int) -> Any:
        """Answer one search, once the gate is open."""
        self.asked.release()
        assert self.opened.wait(DEADLINE)
        return self.engine(query, max_results)


def together(count: int, ask: Any) -> list[Any]:
    """Call `ask` in `count` threads; return the result or exception of each."""

    def one(number: int) -> Any:
        try:
            return ask(number)
        except BaseException as error:  # noqa: BLE001 - what each met is what is tested
            return error

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def search_together(cache: Cache, gate: Gate, count: int = 8) -> list[Any]:
    """Let `count` threads search for the same, all before the engine answers."""
    opener = threading.Thread(target=lambda: (wait_until_all_wait(cache, count), gate.opened.set()))
    opener.start()
    got = together(count, lambda _: cache.searches.answer("q", gate))
    opener.join()
    return got


def test_of_many_threads_one_computes(store: SqliteStore) -> None:
    """The others get its results as an exact hit, and are counted as hits."""
    gate = Gate(results("x"))
    cache = Cache(store)
    got = search_together(cache, gate)
    assert gate.engine.calls == ["q"]
    assert [answer.value for answer in got] == [results("x")] * 8
    assert sorted(type(answer.outcome).__name__ for answer in got) == ["Hit"] * 7 + ["Miss"]
    assert cache.usage.total() == {"live": 1, "exact": 7}


def test_a_function_that_asks_the_same_again_computes(store: SqliteStore) -> None:
    """A library may cache by itself; the outer call must not wait for the inner one, which waits for the outer one."""
    cache = Cache(store)

    def inner(query: str, max_results: int) -> object:
        return results(f"inner {query}")

    def outer(query: str, max_results: int) -> object:
        return cache.searches.answer(query, inner).value

    assert cache.searches.answer("q", outer).value == results("inner q")
    assert cache.searches.answer("q", outer).how == "exact"


def test_no_results_are_computed_once_too(store: SqliteStore) -> None:
    """Even if empty results are not remembered."""
    for negative_ttl in (600.0, 0.0):
        gate = Gate([])
        cache = Cache(store, policy=Policy(negative_ttl=negative_ttl))
        got = search_together(cache, gate)
        assert gate.engine.calls == ["q"]
        assert [answer.value for answer in got] == [[]] * 8
        assert {answer.outcome.found for answer in got if isinstance(answer.outcome, Hit)} == {"no results"}
        cache.maintenance.clear()
        store.admin.clear("unanswered_searches", "default")


@pytest.mark.parametrize(
    "error", [RateLimited("slow down"), EngineUnavailable("down"), SearchError("odd"), KeyError(1)]
)
def test_an_error_reaches_all_that_wait_and_no_later_search(store: SqliteStore, error: Exception) -> None:
    """One call for all of them; the next search tries again."""
    gate = Gate(error)
    cache = Cache(store)
    assert [type(met) for met in search_together(cache, gate)] == [type(error)] * 8
    assert gate.engine.calls == ["q"]
    assert isinstance(cache.searches.answer("q", Engine()).outcome, Miss)


def test_an_interrupted_thread_leaves_the_work_to_another(store: SqliteStore) -> None:
    """A KeyboardInterrupt stays in its thread; one of the waiting threads computes for the others."""
    interrupted = Gate(KeyboardInterrupt())
    good = Engine(results("x"))
    cache = Cache(store)
    met: list[Any] = []

    def lead() -> None:
        with pytest.raises(KeyboardInterrupt):
            cache.searches.answer("q", interrupted)
        met.append("interrupted")

    leader = threading.Thread(target=lead)
    leader.start()
    assert interrupted.asked.acquire(timeout=DEADLINE)
    opener = threading.Thread(target=lambda: (wait_until_all_wait(cache, 5), interrupted.opened.set()))
    opener.start()
    got = together(4, lambda _: cache.searches.answer("q", good))
    leader.join(DEADLINE)
    opener.join(DEADLINE)
    assert met == ["interrupted"]
    assert [answer.value for answer in got] == [results("x")] * 4
    assert good.calls == ["q"]


def test_other_numbers_of_results_are_other_flights(store: SqliteStore) -> None:
    """A search for twenty does not wait for one for five; other queries, engines and tenants do not wait either."""
    cache, other = Cache(store), Cache(store, tenant="other")
    gate = Gate(results("x"))
    asks = [
        lambda: cache.searches.answer("q", gate, max_results=5),
        lambda: cache.searches.answer("q", gate, max_results=20),
        lambda: cache.searches.answer("p", gate),
        lambda: cache.searches.answer("q", gate, engine="corpus"),
        lambda: other.searches.answer("q", gate),
    ]

    def open_when_all_are_in() -> None:
        for _ in asks:
            assert gate.asked.acquire(timeout=DEADLINE)
        gate.opened.set()

    opener = threading.Thread(target=open_when_all_are_in)
    opener.start()
    got = together(len(asks), lambda number: asks[number]())
    opener.join()
    assert [type(answer.outcome) for answer in got] == [Miss] * len(asks)


def test_without_writing_every_thread_computes(store: SqliteStore) -> None:
    """`--no-cache` shares nothing."""
    cache = Cache(store, policy=Policy(read=False, write=False))
    engine = Engine()
    together(3, lambda _: cache.searches.answer("q", engine))
    assert len(engine.calls) == 3


def test_refreshing_together_is_one_call(store: SqliteStore) -> None:
    """Older rows do not count; a row that another refresh has just stored does."""
    Cache(store).searches.put("q", results("old"))
    gate = Gate(results("new"))
    got = search_together(Cache(store, policy=Policy(read=False)), gate)
    assert gate.engine.calls == ["q"]
    assert [answer.value for answer in got] == [results("new")] * 8


def test_two_caches_of_one_process_compute_once(store: SqliteStore) -> None:
    """Threads that share no cache use the lock of the store."""
    gate = Gate(results("x"))
    opener = threading.Thread(target=lambda: (gate.asked.acquire(timeout=DEADLINE), time.sleep(0.2), gate.opened.set()))
    opener.start()
    got = together(4, lambda _: Cache(store).searches.answer("q", gate))
    opener.join()
    assert gate.engine.calls == ["q"]
    assert [answer.value for answer in got] == [results("x")] * 4


class FreeLocks:
    """Locks that every caller gets at once."""

    @contextmanager
    def hold(self, name: str, wait: float) -> Iterator[bool]:
        """See `Locks.hold`."""
        yield True


def test_a_forked_child_does_not_wait_for_a_thread_of_its_parent() -> None:
    """The thread that computes is not in the child: the child computes for itself."""
    once: SingleFlight[str] = SingleFlight(SimpleNamespace(locks=FreeLocks()), 1.0)  # type: ignore[arg-type]
    computing, ended = threading.Event(), threading.Event()

    def compute() -> str:
        computing.set()
        assert ended.wait(DEADLINE)
        return "by the parent"

    got: list[Any] = []
    parent = threading.Thread(target=lambda: got.append(once.run("q", lambda: None, compute)))
    parent.start()
    assert computing.wait(DEADLINE)
    child = os.fork()
    if child == 0:
        signal.alarm(DEADLINE)
        os._exit(0 if once.run("q", lambda: None, lambda: "by the child") == ("by the child", True) else 1)
    status = os.waitpid(child, 0)[1]
    ended.set()
    parent.join(DEADLINE)
    assert status == 0
    assert got == [("by the parent", True)]


# --- processes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The database that many processes share."""
    return tmp_path / "shared.db"


def ask(path: Path, processes: int, seconds: float, ending: str) -> "subprocess.Popen[str]":
    """Start so many processes that ask the same."""
    command = [sys.executable, "-m", "tests.cache.search_processes", str(path), str(processes), str(seconds), ending]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def replies(asking: "subprocess.Popen[str]") -> list[dict[str, Any]]:
    """Return the reply of each process, when all have ended."""
    out, _ = asking.communicate(timeout=DEADLINE)
    return [json.loads(line) for line in out.splitlines()]


def calls(path: Path) -> list[int]:
    """Return the processes whose engine was asked."""
    file = path.with_name(f"{path.name}.calls")
    return [int(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.slow
def test_sixteen_processes_make_one_call(path: Path) -> None:
    """All of them get its results, from an engine that takes two seconds; the counts of all add up."""
    got = replies(ask(path, 16, 2, "results"))
    (caller,) = calls(path)
    assert [each["value"] for each in got] == [[{"title": "t", "by": caller}]] * 16
    assert sorted(each["found"] for each in got) == ["Miss"] + ["exact"] * 15
    store = SqliteStore(path)
    assert Cache(store).usage.total() == {"live": 1, "exact": 15}
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["nothing", "nothing-kept"])
def test_processes_share_no_results(path: Path, ending: str) -> None:
    """One call for an empty answer, too, even where it is not believed any longer than that (`negative_ttl` 0)."""
    got = replies(ask(path, 6, 0.5, ending))
    assert len(calls(path)) == 1
    assert [each["value"] for each in got] == [[]] * 6


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["RateLimited", "EngineUnavailable", "SearchError"])
def test_processes_fail_together(path: Path, ending: str) -> None:
    """One call, the same typed error with its message for all; a later search tries again."""
    got = replies(ask(path, 6, 0.5, ending))
    assert len(calls(path)) == 1
    assert [each["error"] for each in got] == [f"{ending}: as requested"] * 6
    assert replies(ask(path, 2, 0.1, "results"))[0]["value"]
    assert len(calls(path)) == 2


def test_a_bug_in_another_process_is_a_failed_search(path: Path) -> None:
    """The error has the name of its class."""
    got = sorted(each["error"] for each in replies(ask(path, 4, 0.5, "ZeroDivisionError")))
    assert len(calls(path)) == 1
    assert got == ["SearchError: the search failed in another process: ZeroDivisionError: as requested"] * 3 + [
        "ZeroDivisionError: as requested"
    ]


def test_another_takes_over_from_a_killed_process(path: Path) -> None:
    """`kill -9` of the computing process: the rest get the answer of a second call."""
    asking = ask(path, 6, 0, "first-hangs")
    deadline = time.monotonic() + DEADLINE
    while not (callers := calls(path)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.2)  # the others wait by now, or come too late to: either way they must get an answer
    os.kill(callers[0], signal.SIGKILL)
    got = replies(asking)
    assert len(calls(path)) == 2
    assert [each["value"] for each in got] == [[{"title": "t", "by": calls(path)[1]}]] * 5


def test_no_locks_are_left_behind(path: Path) -> None:
    """The files of released locks are deleted."""
    replies(ask(path, 3, 0.1, "results"))
    assert list(path.with_name(f"{path.name}.turns").iterdir()) == []


def test_vectors_are_stored_before_another_may_compute_them(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that looked them up before they were stored, and computes once the flight has ended, finds them."""
    cache, calls = Cache(store), []
    rows = cache.embeddings.requests(ForwardedRequest("local", {"model": "small"}), ["a", "bb"])
    missing = {each.key: each for each in rows}

    def embed() -> dict[str, EmbeddedText]:
        calls.append("call")
        return {key: EmbeddedText([1.0], "small", 1) for key in missing}

    late: list[Any] = []
    run = SingleFlight.run

    def run_and_ask_again(flights: SingleFlight[Any], name: str, find: Any, compute: Any) -> tuple[Any, bool]:
        outcome = run(flights, name, find, compute)
        if " embeddings " in name and not late:
            late.append(None)
            late.append(cache.embeddings.compute(missing, embed))
        return outcome

    monkeypatch.setattr(SingleFlight, "run", run_and_ask_again)
    first = cache.embeddings.compute(missing, embed)
    assert calls == ["call"]
    assert {each.how for each in first.values()} == {"live"}
    assert {each.how for each in late[1].values()} == {"exact"}
