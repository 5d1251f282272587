"""`search_cache`: the functions for scripts, and the maintenance command."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import search_cache
from search_cache import DEFAULT_TTL, cached_search, get, get_research, put, put_research

ROOT = Path(__file__).parents[1]
RESULTS = [{"title": "t", "href": "https://example.org", "body": "b"}]
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
    """Whether a function of one's own means "there is nothing" by an empty list is not known."""
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
    """Whatever it is; and the next call asks again."""

    def fails(query: str, max_results: int) -> list[dict[str, str]]:
        raise ConnectionError("no route")

    for _ in range(2):
        with pytest.raises(ConnectionError, match="no route"):
            cached_search("q", fails)


def test_what_a_script_was_answered_is_counted_when_it_ends() -> None:
    """Without a call of `close`."""
    put("q", RESULTS)
    search_cache.close()
    script = "import search_cache as s; s.get('q'); s.get('q')"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
    assert search_cache._cache().counted()["exact"] == 2


def test_put_and_get_know_only_the_query() -> None:
    """`get` returns what `put` kept, `None` for the unknown; the default lifetime is a day."""
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


def test_another_engine_has_entries_of_its_own() -> None:
    """A function that asks something else than DuckDuckGo says so, and is not answered by DuckDuckGo's results."""
    put("q", RESULTS)
    other = [{"title": "from bing"}]
    assert cached_search("q", lambda query, n: other, engine="bing") == other
    assert get("q") == RESULTS


def test_a_research_is_kept_with_its_rounds_and_scores() -> None:
    """`get_research` returns all that `put_research` was given; rounds may be a number."""
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
    """After `close` the next call opens what the settings name then."""
    put("q", RESULTS)
    search_cache.close()
    monkeypatch.setenv("HARNESS_DATA_DIR", str(tmp_path / "elsewhere"))
    assert get("q") is None


def test_statistics_tell_both_tables() -> None:
    """Live, expired, total, oldest, newest and size on disk; as text and as JSON."""
    put("q", RESULTS)
    put_research("t", "research", "c", 1, [])
    put("gone", RESULTS, ttl=1e-6)
    text = maintenance()
    assert text.returncode == 0
    assert "search_cache" in text.stdout
    assert "research_cache" in text.stdout
    assert "MB on disk" in text.stdout
    told = json.loads(maintenance("--json").stdout)
    table = told["tables"]["search_cache"]
    assert (table["live"], table["expired"], table["total"]) == (1, 1, 2)
    assert abs(table["newest"] - time.time()) < 60
    assert told["size_bytes"] > 0


def test_expired_deletes_only_what_is_expired() -> None:
    """`--expired` keeps what is live."""
    put_research("t", "research", "c", 1, [])
    put("gone", RESULTS, ttl=1e-6)
    put_research("gone", "research", "c", 1, [], ttl=1e-6)
    told = json.loads(maintenance("--expired", "--json").stdout)
    assert {table for table, count in told["deleted"].items() if count} == {"search_cache", "research_cache"}
    assert told["tables"]["research_cache"]["live"] == 1


def test_clear_asks_first() -> None:
    """Anything but yes deletes nothing and says so."""
    put("q", RESULTS)
    refused = maintenance("--clear", stdin="\n")
    assert refused.returncode == 2
    assert "Delete all 1 entries" in refused.stderr
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


def test_wrong_arguments_are_told_in_one_line() -> None:
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
    """The maintenance command, `--help` and an exact hit never pay for what they do not use."""
    put("q", RESULTS)  # here: a put makes a vector
    search_cache.close()
    check = f"import atexit, sys; atexit.register(lambda: print('IMPORTED', *sorted(set(sys.modules) & {HEAVY!r})))"
    ended = subprocess.run(
        [sys.executable, "-c", f"{check}\n{program}"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert ended.stdout.splitlines()[-1].strip() == "IMPORTED"
