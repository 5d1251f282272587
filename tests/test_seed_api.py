"""`search_cache`: the functions for scripts, and the maintenance command."""

import asyncio
import gc
import hashlib
import json
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import search_cache
from harness.cache import Cache
from harness.cache.script_api import ScriptCache
from harness.core.entries import Hit
from harness.errors import InvalidInput
from harness.storage.sqlite.store import SqliteStore
from harness.tools import default_app
from search_cache import DEFAULT_TTL, acached_search, aget, aput, cached_search, get, get_research, put, put_research

ROOT = Path(__file__).parents[1]
RESULTS = [{"title": "t", "href": "https://example.org", "body": "b"}]


def never(query: str, max_results: int) -> list[dict[str, str]]:
    """Fail: the cached result was missed."""
    raise AssertionError(query)


HEAVY = {"chromadb", "onnxruntime", "numpy", "tokenizers", "trafilatura", "ddgs", "pydantic", "httpx2", "torch"}


def maintenance(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run `python search_cache.py` as a user does."""
    return subprocess.run(
        [sys.executable, ROOT / "search_cache.py", *arguments],
        capture_output=True, text=True, input=stdin, env=dict(os.environ), check=False,
    )  # fmt: skip


def test_any_callable_is_asked_once() -> None:
    """`cached_search` calls the function with query and number, then never again."""
    calls: list[Any] = []

    def my_search(query: str, max_results: int) -> list[dict[str, str]]:
        calls.append((query, max_results))
        return RESULTS

    assert cached_search("a question", my_search) == RESULTS
    assert cached_search("A  QUESTION", my_search, 60, 10) == RESULTS
    assert calls == [("a question", 10)]


def test_an_empty_answer_is_asked_again() -> None:
    """An empty list of a script's function may not mean "no results"."""
    calls: list[str] = []

    def nothing(query: str, max_results: int) -> list[dict[str, str]]:
        calls.append(query)
        return []

    assert [cached_search("q", nothing), cached_search("q", nothing)] == [[], []]
    assert calls == ["q", "q"]
    assert cached_search("q", lambda query, n: RESULTS) == RESULTS


def test_a_search_that_means_the_same_is_answered() -> None:
    """By meaning as in `harness search`, for `cached_search` and `get`; another engine's rows do not count."""
    put("semantic cache false positives", RESULTS)
    asked = "false positives in semantic caches"
    assert get(asked) == RESULTS
    assert cached_search(asked, lambda query, n: []) == RESULTS
    assert cached_search(asked, lambda query, n: [], engine="bing") == []


def test_an_error_of_the_function_passes_through() -> None:
    """Any exception; the next call searches again."""

    def fails(query: str, max_results: int) -> list[dict[str, str]]:
        raise ConnectionError("no route")

    for _ in range(2):
        with pytest.raises(ConnectionError, match="no route"):
            cached_search("q", fails)


def test_an_expired_result_is_served_when_the_function_fails(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a day, with a warning; not for a mistake in the code; not where the setting is 0."""

    def fails(query: str, max_results: int) -> list[dict[str, str]]:
        raise ConnectionError("no route")

    put("q", RESULTS, ttl=1e-6)
    assert cached_search("q", fails) == RESULTS
    assert caplog.text.count("no route; serving the expired answer (just now)") == 1
    with pytest.raises(TypeError, match="positional argument"):
        cached_search("q", lambda: RESULTS)
    with pytest.raises(NameError):
        cached_search("q", lambda query: undefined)  # type: ignore[name-defined] # noqa: F821
    search_cache.close()
    monkeypatch.setenv("HARNESS_STALE_IF_ERROR", "0")
    with pytest.raises(ConnectionError):
        cached_search("q", fails)


@pytest.mark.parametrize("found", ["a text", {"answer": 1, "hits": [1, 2]}, ["a", "b"], 3, [{"n": 1}, "mixed"]])
def test_any_json_value_is_returned_unchanged(found: Any) -> None:
    """On the miss, on the hit, and by `get`; the search of the program does not take it for a list of results."""
    calls: list[str] = []
    asked = [cached_search("q", lambda query, n: calls.append(query) or found) for _ in range(3)]
    assert [*asked, get("q")] == [found] * 4
    assert calls == ["q"]
    program = default_app().cache.searches.answer("q", lambda query, n: RESULTS)
    assert (program.value, program.how) == (RESULTS, "live")


def test_only_the_requested_number_of_results_is_cached() -> None:
    """A list is cut; a text is not."""
    assert cached_search("list", lambda query, n: (each for each in "abcd"), max_results=2) == ["a", "b"]
    assert cached_search("list", never, max_results=2) == ["a", "b"]
    assert cached_search("text", lambda query, n: "abcd", max_results=2) == "abcd"


@dataclass
class Found:
    """A result as libraries return them."""

    title: str
    score: Any


def test_results_of_a_library_are_cached_in_their_json_form() -> None:
    """A generator of dataclasses with numpy numbers: the same list of dicts on the miss and on the hit."""
    first = cached_search("q", lambda query, n: (Found(title, np.float64(0.5)) for title in "ab"))
    assert first == cached_search("q", never) == [{"title": title, "score": 0.5} for title in "ab"]


def test_a_result_without_a_json_form_is_returned_uncached(caplog: pytest.LogCaptureFixture) -> None:
    """The very object, at every call; one warning for each function names it and the type."""
    frame = object()

    def framed(query: str) -> object:
        return frame

    assert all(cached_search(query, framed) is frame for query in ("a", "a", "b"))
    rows = [{"score": float("nan")}]
    assert cached_search("c", lambda query: rows) is rows
    assert get("a") is get("c") is None
    warnings = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert len(warnings) == 2
    assert "framed is returned but not cached: object has no JSON form" in warnings[0]
    assert "nan is not a JSON number" in warnings[1]


class Engine:
    """A search engine's client, as `DDGS` is."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def text(self, query: str, **kwargs: Any) -> list[dict[str, str]]:
        """Search as `DDGS().text`."""
        self.calls.append((query, kwargs))
        return RESULTS


def test_the_function_gets_the_number_as_it_takes_it() -> None:
    """By name, by position, or not at all; a second parameter that means something else keeps its default."""
    engine = Engine()
    cached_search("a", engine.text, max_results=3)
    assert engine.calls == [("a", {"max_results": 3})]
    took: dict[str, Any] = {
        "by position": lambda query, n: [n],
        "with a default": lambda query, limit=5: [limit],
        "by name": lambda query, region="us-en", max_results=5: [region, max_results],
        "by name alone": lambda query, *, max_results: [max_results],
        "any": lambda *arguments: list(arguments),
        "not at all": lambda query: ["none"],
        "another": lambda query, region="us-en": [region],
        "bound": partial(lambda region, query, n: [region, n], "de"),
    }
    assert {name: cached_search(name, function, max_results=3) for name, function in took.items()} == {
        "by position": [3],
        "with a default": [3],
        "by name": ["us-en", 3],
        "by name alone": [3],
        "any": ["any", 3],
        "not at all": ["none"],
        "another": ["us-en"],
        "bound": ["de", 3],
    }


def test_an_async_function_is_refused_in_a_sync_call() -> None:
    """The error names the function to call instead."""

    async def search(query: str) -> list[dict[str, str]]:
        return RESULTS

    with pytest.raises(InvalidInput, match="search is async; await acached_search"):
        cached_search("q", search)


# --- async


def test_an_async_search_is_made_once() -> None:
    """By an async function on the caller's loop, or a sync one in a thread; `aget` and `aput` share the rows."""
    threads: list[Any] = []

    async def on_the_loop(query: str, max_results: int) -> list[dict[str, str]]:
        await asyncio.sleep(0)
        threads.append(threading.current_thread())
        return RESULTS

    def in_a_thread(query: str) -> str:
        threads.append(threading.current_thread())
        return "text"

    async def use() -> list[Any]:
        assert await aput("put", RESULTS)
        return [
            await acached_search("a", on_the_loop), await acached_search("A", on_the_loop), await aget("a"),
            await acached_search("b", in_a_thread), await acached_search("b", in_a_thread), await aget("put"),
        ]  # fmt: skip

    assert asyncio.run(use()) == [RESULTS, RESULTS, RESULTS, "text", "text", RESULTS]
    assert [thread is threading.main_thread() for thread in threads] == [True, False]
    assert cached_search("a", never) == RESULTS


@pytest.mark.parametrize("sync", [False, True])
def test_of_many_tasks_one_searches_and_each_has_a_separate_list(sync: bool) -> None:
    """A change by one task is not seen by the others; but an object that cannot be stored is the same for all."""
    calls: list[str] = []
    frame = object()

    def blocking(query: str) -> Any:
        time.sleep(0.2)
        calls.append(query)
        return frame if query == "frame" else [dict(each) for each in RESULTS]

    async def waiting(query: str) -> Any:
        await asyncio.sleep(0.2)
        calls.append(query)
        return frame if query == "frame" else RESULTS

    async def use(query: str) -> list[Any]:
        return await asyncio.gather(*(acached_search(query, blocking if sync else waiting) for _ in range(5)))

    found = asyncio.run(use("q"))
    found[0][0]["title"] = "changed"
    assert found[1:] == [RESULTS] * 4
    assert all(each is frame for each in asyncio.run(use("frame")))
    assert calls == ["q", "frame"]


@pytest.mark.parametrize("sync", [False, True])
def test_a_cancelled_waiter_leaves_the_search_running(sync: bool) -> None:
    """Its result is stored; calls meanwhile wait for it, and nothing is searched twice."""
    calls: list[str] = []

    def blocking(query: str) -> str:
        calls.append(query)
        time.sleep(0.3)
        return "found"

    async def waiting(query: str) -> str:
        calls.append(query)
        await asyncio.sleep(0.3)
        return "found"

    async def use() -> str:
        search = blocking if sync else waiting
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(acached_search("q", search), 0.1)
        return await acached_search("q", search)

    assert asyncio.run(use()) == "found"
    assert (calls, get("q")) == (["q"], "found")


@pytest.mark.slow
def test_a_search_in_a_thread_outlives_its_loop(tmp_path: Path) -> None:
    """A script that stopped waiting and ended finds the results next time."""
    script = """
import asyncio, time
from search_cache import acached_search

def slow(query):
    time.sleep(0.5)
    return "found"

async def main():
    try:
        await asyncio.wait_for(acached_search("q", slow), 0.1)
    except TimeoutError:
        print("gave up")

asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert (ended.stdout.strip(), ended.stderr) == ("gave up", "")
    assert get("q") == "found"


@pytest.mark.slow
def test_an_error_without_a_waiter_gives_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    """The call of a cancelled waiter may fail; the next one asks again."""

    async def failing(query: str) -> str:
        await asyncio.sleep(0.1)
        raise ConnectionError("down")

    async def use() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(acached_search("q", failing), 0.05)
        await asyncio.sleep(0.3)
        with pytest.raises(ConnectionError):
            await acached_search("q", failing)

    asyncio.run(use())
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_wrong_input_is_refused_before_anything_is_called() -> None:
    """As by `cached_search`."""
    for wrong in ({"query": ""}, {"query": "q", "ttl": 0}, {"query": "q", "max_results": [1]}):
        with pytest.raises(InvalidInput):
            asyncio.run(acached_search(search_fn=never, **wrong))


def test_answers_to_a_script_are_counted_when_it_ends() -> None:
    """Without a call of `close`."""
    put("q", RESULTS)
    search_cache.close()
    script = "import search_cache as s; s.get('q'); s.get('q')"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
    assert default_app().cache.usage.total()["exact"] == 2


def test_put_and_get_know_only_the_query() -> None:
    """`get` returns the results of `put`, and `None` for unknown queries; the default lifetime is a day."""
    assert put("q", RESULTS) is True
    assert get("Q") == RESULTS
    assert get("another") is None
    assert DEFAULT_TTL == 86_400


def test_the_key_is_the_digest_of_the_normalised_query(tmp_path: Path) -> None:
    """SHA-256 hex of the query lower-cased with white space collapsed, as historical files have it."""
    put("  RAG   best\tpractices ", RESULTS)
    with sqlite3.connect(tmp_path / "data" / "harness.db") as connection:
        (key,) = connection.execute("SELECT key FROM search_cache").fetchone()
    connection.close()
    assert key == hashlib.sha256(b"rag best practices").hexdigest()


def test_another_engine_has_separate_entries() -> None:
    """A function for another engine does not get DuckDuckGo's results."""
    put("q", RESULTS)
    other = [{"title": "from bing"}]
    assert cached_search("q", lambda query, n: other, engine="bing") == other
    assert get("q") == RESULTS


def test_a_research_is_cached_with_its_rounds_and_scores() -> None:
    """`get_research` returns all arguments of `put_research`; rounds may be a number."""
    assert put_research("The task", "Research", "context", 3, [1.0, 0.5, 0.1])
    assert get_research("the  task", "research") == {
        "task": "The task",
        "task_type": "research",
        "context": "context",
        "search_rounds": 3,
        "novelty_scores": [1.0, 0.5, 0.1],
    }
    assert get_research("the task", "enumerated") is None


def test_closing_reads_the_settings_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After `close` the next call opens the database of the present settings."""
    put("q", RESULTS)
    search_cache.close()
    monkeypatch.setenv("HARNESS_DATA_DIR", str(tmp_path / "elsewhere"))
    assert get("q") is None


def test_statistics_show_both_tables() -> None:
    """Live, expired, total, oldest, newest and size on disk; as text and as JSON."""
    put("q", RESULTS)
    put_research("t", "research", "c", 1, [])
    put("gone", RESULTS, ttl=1e-6)
    text = maintenance()
    assert text.returncode == 0
    assert "search_cache" in text.stdout
    assert "research_cache" in text.stdout
    assert "MB on disk" in text.stdout
    shown = json.loads(maintenance("--json").stdout)
    table = shown["tables"]["search_cache"]
    assert (table["live"], table["expired"], table["total"]) == (1, 1, 2)
    assert abs(table["newest"] - time.time()) < 60
    assert shown["size_bytes"] > 0


def test_expired_deletes_only_what_is_expired() -> None:
    """`--expired` keeps live entries."""
    put_research("t", "research", "c", 1, [])
    put("gone", RESULTS, ttl=1e-6)
    put_research("gone", "research", "c", 1, [], ttl=1e-6)
    shown = json.loads(maintenance("--expired", "--json").stdout)
    assert {table for table, count in shown["deleted"].items() if count} == {"search_cache", "research_cache"}
    assert shown["tables"]["research_cache"]["live"] == 1


@pytest.mark.slow
def test_clear_asks_first() -> None:
    """Any answer but yes deletes nothing."""
    put("q", RESULTS)
    refused = maintenance("--clear", stdin="\n")
    assert refused.returncode == 2
    assert "Delete all 1 entry" in refused.stderr
    assert "nothing was deleted" in refused.stderr
    agreed = maintenance("--clear", "--json", stdin="y\n")
    assert json.loads(agreed.stdout)["deleted"]["search_cache"] == 1
    assert maintenance("--clear", "--yes").returncode == 0


def test_another_database_can_be_named(tmp_path: Path) -> None:
    """`--db PATH` works on that file; one that is not there is an error and is not made."""
    put("q", RESULTS)
    elsewhere = tmp_path / "data" / "harness.db"
    assert json.loads(maintenance("--db", str(elsewhere), "--json").stdout)["tables"]["search_cache"]["total"] == 1
    missing = maintenance("--db", str(tmp_path / "missing.db"))
    assert missing.returncode == 2
    assert "no database at" in missing.stderr
    assert not (tmp_path / "missing.db").exists()


@pytest.mark.parametrize("kind", ["text", "empty", "foreign"])
def test_a_file_of_another_program_is_left_alone(tmp_path: Path, kind: str) -> None:
    """Notes are not moved away as a damaged database, and no tables are added to another program's one."""
    file = tmp_path / "notes.txt"
    file.write_text("" if kind == "empty" else "my notes")
    if kind == "foreign":
        file.unlink()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE bookmarks (address TEXT)")
    before = file.read_bytes()
    ended = maintenance("--db", str(file))
    assert ended.returncode == 2
    assert "no database of this program" in ended.stderr
    assert file.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["notes.txt"]


def test_wrong_arguments_give_an_error_of_one_line() -> None:
    """`--clear --expired` and unknown flags are usage errors without a traceback."""
    for arguments in (("--clear", "--expired"), ("--what",)):
        ended = maintenance(*arguments)
        assert ended.returncode == 2
        assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "program",
    [
        "import search_cache, sys; sys.argv = ['search_cache', '--json']; search_cache.main()",
        "import sys; sys.argv = ['harness', '--help']; import harness.cli.main as m; m.main()",
        "import search_cache as s; assert s.cached_search('q', None)",
    ],
    ids=["maintenance", "help", "exact hit"],
)
def test_heavy_libraries_are_not_imported(program: str) -> None:
    """The maintenance command, `--help` and an exact hit import only what they use."""
    put("q", RESULTS)  # here: a put makes a vector
    search_cache.close()
    check = f"import atexit, sys; atexit.register(lambda: print('IMPORTED', *sorted(set(sys.modules) & {HEAVY!r})))"
    ended = subprocess.run(
        [sys.executable, "-c", f"{check}\n{program}"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert ended.stdout.splitlines()[-1].strip() == "IMPORTED"


def test_help_imports_only_the_command_line() -> None:
    """Every command imports the cache, the ports and the services when it runs, not before."""
    program = (
        "import atexit, sys; sys.argv = ['harness', '--help']\n"
        "def parts(): return sorted({name.split('.')[1] for name in sys.modules if name.startswith('harness.')})\n"
        "def libraries(): return sorted({'orjson', 'filelock'} & set(sys.modules))\n"
        "atexit.register(lambda: print('PARTS', *parts(), *libraries()))\n"
        "import harness.cli.main as m; m.main()"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stdout.splitlines()[-1] == "PARTS cli core errors settings storage"


def test_the_functions_can_be_passed_to_another_process() -> None:
    """They pickle, also after an async call."""
    asyncio.run(acached_search("q", lambda query, n: RESULTS))
    for function in (cached_search, acached_search, get, put):
        assert pickle.loads(pickle.dumps(function)).__name__ == function.__name__  # noqa: S301 - our own bytes
    assert pickle.loads(pickle.dumps(get))("q") == RESULTS  # noqa: S301


def test_the_script_api_works_on_any_cache(tmp_path: Path) -> None:
    """It needs no settings; results go to the cache that it was given."""
    store = SqliteStore(tmp_path / "other.db")
    cache = Cache(store)
    api = ScriptCache(lambda: cache)
    assert api.cached_search("q", lambda query, n: RESULTS) == api.get("q") == RESULTS
    assert api.put_research("a task", "Overview", "text", 1, [0.5])
    assert api.get_research("A task", "overview") == {
        "task": "a task", "task_type": "overview", "context": "text", "search_rounds": 1, "novelty_scores": [0.5],
    }  # fmt: skip
    assert isinstance(cache.searches.find("q"), Hit)
    assert get("q") is None
    store.close()
