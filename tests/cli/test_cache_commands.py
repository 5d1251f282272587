"""`harness search`, `harness cache …` and `harness doctor`: right and wrong usage, and what they print."""

import gzip
import json
import os
import socket
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

import search_cache
from harness.app import App
from harness.cache import KINDS
from harness.cli.terminal import ExitCode
from harness.core.tables import ANSWERS, MADE, UNANSWERED
from harness.settings.mode import Mode
from tests.cli.program import Program

RESULTS = [{"title": "RAG pipelines", "href": "https://example.org/rag", "body": "Chunk, then rank."}]
STORED, ASKED = "semantic cache false positives", "false positives in semantic caches"
DOWN = {"HARNESS_PROXY": "http://127.0.0.1:1", "HARNESS_RATE_LIMIT_RETRIES": "0"}
COMMANDS = [
    ("search",), ("research",), ("config",), ("doctor",), ("cache",), ("cache", "stats"), ("cache", "explain"),
    ("cache", "clear"), ("cache", "expired"), ("cache", "reindex"), ("cache", "verify"), ("cache", "calibrate"),
    ("cache", "runs"), ("cache", "export"), ("cache", "import"),
]  # fmt: skip


def put(*queries: str, ttl: float = 86_400) -> None:
    """Cache results for each of the queries."""
    for query in queries:
        search_cache.put(query, RESULTS, ttl=ttl)
    search_cache.close()


def total(harness: Program) -> int:
    """Return how many searches are cached."""
    found: int = harness("cache", "stats", "--json").tables["search_cache"]["total"]
    return found


@pytest.fixture
def down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the default engine be out of reach."""
    for name, value in DOWN.items():
        monkeypatch.setenv(name, value)


# --- search and research


def test_a_search_by_meaning_says_what_it_answered(harness: Program) -> None:
    """Which query, how alike, how old; as text and as JSON. `--exact` and `semantic: false` switch it off."""
    put(STORED)
    ended = harness("search", ASKED)
    assert ended.code == 0
    assert f"means the same as {STORED!r}, similarity 0." in ended.err
    told = harness("search", ASKED, "--json").told
    assert (told["outcome"], told["found"], told["matched_query"], told["live_calls"]) == ("hit", "semantic", STORED, 0)
    assert 0.86 < told["similarity"] <= 1
    assert harness("search", ASKED, "--exact", "--offline").code == 6


def test_the_setting_switches_meaning_off(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the environment; the flag decides over it."""
    put(STORED)
    monkeypatch.setenv("HARNESS_SEMANTIC", "false")
    assert harness("search", ASKED, "--offline").code == 6
    assert harness("search", ASKED, "--offline", "--semantic").code == 0


@pytest.mark.parametrize(("threshold", "code"), [("0.15", 0), ("1", 0), ("0.001", 6), ("0", 6)])
def test_the_historical_threshold_is_a_cut(
    harness: Program, monkeypatch: pytest.MonkeyPatch, threshold: str, code: int
) -> None:
    """`SEMANTIC_CACHE_THRESHOLD` is a distance."""
    put(STORED)
    monkeypatch.setenv("SEMANTIC_CACHE_THRESHOLD", threshold)
    assert harness("search", ASKED, "--offline").code == code


@pytest.mark.parametrize("threshold", ["-0.1", "1.5", "nan", "inf", "near"])
def test_a_threshold_that_is_none_is_wrong_usage(
    harness: Program, monkeypatch: pytest.MonkeyPatch, threshold: str
) -> None:
    """Before anything is opened."""
    monkeypatch.setenv("SEMANTIC_CACHE_THRESHOLD", threshold)
    assert "semantic_cache_threshold" in harness("search", ASKED).one_line_error(2)


@pytest.mark.parametrize("command", ["search", "research"])
@pytest.mark.parametrize("flag", ["--refresh", "--no-cache"])
def test_offline_with_a_live_call_is_wrong_usage(harness: Program, command: str, flag: str) -> None:
    """Offline, only the cache can answer."""
    assert flag in harness(command, "q", "--offline", flag).one_line_error(2)


def test_offline_opens_no_socket(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hit, a hit by meaning, and a miss, which names the query and ends with 6."""

    def no_socket(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    put(STORED)
    monkeypatch.setattr(socket, "socket", no_socket)
    assert harness("search", STORED, "--offline").code == 0
    assert harness("search", ASKED, "--offline").code == 0
    assert "'unheard of'" in harness("search", "unheard of", "--offline").one_line_error(6)
    assert "what" in harness("research", "what is unheard of", "--offline").one_line_error(6)


@pytest.mark.slow
def test_stale_answers_are_served_and_called_so(harness: Program, down: None) -> None:
    """`harness search` serves what expired within the window when the engine is down, or offline, with its age."""
    put("old", ttl=1e-6)
    ended = harness("search", "old")
    assert ended.code == 0
    assert "1 result from the cache (stale, just now), because the search failed" in ended.err
    told = harness("search", "old", "--json", "-q").told
    assert (told["stale"], told["live_calls"], told["results"]) == (True, 0, RESULTS)
    assert harness("search", "old", "--offline").code == 0


def test_without_the_setting_no_stale_answer_is_served(
    harness: Program, down: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`stale_if_error: 0`."""
    put("old", ttl=1e-6)
    monkeypatch.setenv("HARNESS_STALE_IF_ERROR", "0")
    assert harness("search", "old").one_line_error(3)
    assert harness("search", "old", "--offline").one_line_error(6)


def test_a_research_takes_stale_answers_only_with_the_option(harness: Program, notes: str, tmp_path: Path) -> None:
    """Without `--stale-if-error`, expired answers do not count."""
    question = "How do retries use exponential backoff?"
    asked = ("research", question, "-e", notes, "--reuse", "off")
    assert harness(*asked, "--ttl", "0.000001").code == 0
    assert harness(*asked, "--offline").code == 6
    ended = harness(*asked, "--offline", "--stale-if-error", "600")
    assert ended.code == 0
    assert " 0 stale" not in ended.err
    assert harness("research", question, "-e", notes, "--stale-if-error", "nan").one_line_error(2)
    assert harness("research", question, "-e", notes, "--stale-if-error", "-1").one_line_error(2)


def test_a_research_does_not_sweep_what_a_search_may_still_serve(harness: Program, notes: str, down: None) -> None:
    """The setting decides how long expired rows stay, not one run."""
    put("old", ttl=1e-6)
    assert harness("research", "How do retries use exponential backoff?", "-e", notes).code == 0
    assert harness("search", "old").code == 0


def test_a_search_made_again_is_live_though_it_finds_the_same(harness: Program, notes: str) -> None:
    """An expired entry whose live answer equals it is no stale answer, and the call is counted."""
    harness("search", "retries", "-e", notes, "--ttl", "0.000001")
    told = harness("search", "retries", "-e", notes, "--json", "--ttl", "0.000001").told
    assert (told["stale"], told["live_calls"]) == (False, 1)
    assert "1 live call" in harness("search", "retries", "-e", notes).err


def test_a_research_made_again_counts_its_live_calls(harness: Program, notes: str) -> None:
    """Searches whose entries had expired were made live, and are counted as live."""
    question = ("research", "How do retries use exponential backoff?", "-e", notes, "--ttl", "0.000001", "--exact")
    first, again = (harness(*question, "--reuse", "off", "--json").told for _ in range(2))
    assert again["live_calls"] == first["live_calls"] > 0
    assert again["cache_hits"] == 0


def test_refresh_and_no_cache(harness: Program, notes: str) -> None:
    """`--refresh` asks and stores, `--no-cache` asks and does not."""
    asked = ("search", "retries", "-e", notes, "--json")
    assert harness(*asked, "--no-cache").told["live_calls"] == 1
    assert total(harness) == 0
    assert harness(*asked, "--refresh").told["live_calls"] == 1
    assert harness(*asked).told["live_calls"] == 0
    assert harness(*asked, "--refresh").told["live_calls"] == 1
    assert harness(*asked, "--no-cache").told["outcome"] == "miss"


def test_no_results_are_kept_for_a_while(harness: Program, notes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1 either way; the second time no request is sent, unless that is switched off."""
    asked = ("search", "zymurgy", "-e", notes, "--json")
    assert [harness(*asked).told["live_calls"] for _ in range(2)] == [1, 0]
    told = harness(*asked).told
    assert (told["found"], told["results"]) == ("no results", [])
    assert harness(*asked).code == 1
    monkeypatch.setenv("HARNESS_NEGATIVE_TTL", "0")
    assert harness(*asked).told["live_calls"] == 1


# --- stats


@pytest.mark.slow
def test_counts_add_up_over_runs(harness: Program, notes: str) -> None:
    """Hits by kind, misses, and the live calls saved; those of threads, processes and researches alike."""
    empty = harness("cache", "stats", "--json").told
    assert empty["hits"] == {"exact": 0, "semantic": 0, "stale": 0, "no results": 0, "library": 0}
    assert (empty["misses"], empty["live_calls_saved"]) == (0, 0)
    for query in ("client retry budget", "client retry budget", "retry budget of the client", "zymurgy", "zymurgy"):
        harness("search", query, "-e", notes)
    told = harness("cache", "stats", "--json").told
    assert told["hits"] == {"exact": 1, "semantic": 1, "stale": 0, "no results": 1, "library": 0}
    assert (told["misses"], told["live_calls_saved"]) == (2, 3)
    answered = harness("research", "what is a retry budget", "-e", notes, "--json").told["answered"]
    after = harness("cache", "stats", "--json").told
    assert after["misses"] == 2 + answered["live"]
    assert after["hits"]["library"] == 2, "the first search of the research shows that the library covers its subject"
    assert after["live_calls_saved"] == 3 + 2 + sum(answered.values()) - answered["live"]
    text = harness("cache", "stats").out
    assert f"{after['live_calls_saved']} of {after['live_calls_saved'] + after['misses']} live calls saved" in text


def test_scripts_are_counted_when_they_end(harness: Program) -> None:
    """The functions for scripts count as the program does."""
    put("q")
    search_cache.get("q")
    search_cache.close()
    assert harness("cache", "stats", "--json").told["hits"]["exact"] == 1


def test_stats_tell_what_is_held(harness: Program) -> None:
    """Live, expired, total, oldest, newest, and the vectors."""
    put("one", "two")
    put("gone", ttl=1e-6)
    stats = harness("cache", "stats", "--json")
    assert stats.told["database"].endswith("harness.db")
    assert stats.told["size_bytes"] > 0
    table = stats.tables["search_cache"]
    assert (table["live"], table["expired"], table["total"], table["tail"]) == (2, 1, 3, 3)
    newest = datetime.fromisoformat(table["newest"])
    assert abs(newest.timestamp() - time.time()) < 600
    assert table["unembedded"] == 0


# --- explain


def test_an_explanation_agrees_with_the_search(harness: Program) -> None:
    """Exact, by meaning, refused, unknown."""
    put(STORED, "how to enable http retries")
    for query, decision in (
        (STORED.upper(), "exact"), (ASKED, "semantic"), ("how to disable http retries", "miss"), ("a monad", "miss"),
    ):  # fmt: skip
        told = harness("cache", "explain", query, "--json").told
        searched = harness("search", query, "--json", "--offline")
        assert told["decision"] == decision
        assert (json.loads(searched.out)["found"] if searched.out else "miss") == decision
        assert told["answered_by"] == (STORED if decision == "semantic" else None)
    assert total(harness) == 2, "nothing is changed"


def test_an_explanation_gives_reasons(harness: Program) -> None:
    """Every candidate with its similarity, what it needs, its guards, and why it is refused."""
    put("how to enable http retries")
    told = harness("cache", "explain", "how to disable http retries", "--json").told
    assert set(told) == {
        "query", "key", "exact", "read_as", "volatile", "threshold", "candidates", "decision", "answered_by",
    }  # fmt: skip
    (candidate,) = told["candidates"]
    assert set(candidate) == {
        "query", "similarity", "required", "probability", "age_seconds", "guards", "objections", "refused", "reason",
    }  # fmt: skip
    assert candidate["objections"] == ["negation"]
    assert "opposites" in candidate["guards"]["negation"]
    assert candidate["guards"]["numbers"] == "passed"
    text = harness("cache", "explain", "how to disable http retries").out
    assert "negation objects: disable / enable are opposites" in text
    assert "decision: a miss; the engine would be searched" in text


def test_an_explanation_knows_of_no_results(harness: Program, notes: str) -> None:
    """A search that is known to find nothing would not be made, and the explanation says so."""
    harness("search", "zymurgy", "-e", notes)
    told = harness("cache", "explain", "zymurgy", "-e", notes, "--json").told
    assert told["decision"] == "no results"
    assert "it would be searched" not in harness("cache", "explain", "zymurgy", "-e", notes).out


def test_an_exact_hit_needs_no_candidates(harness: Program) -> None:
    """A cached search is compared with no candidate."""
    put(STORED)
    assert harness("cache", "explain", STORED, "--json").told["candidates"] == []


def test_an_explanation_writes_abbreviations_out(harness: Program) -> None:
    """It shows how the query was read."""
    rag = [{"title": "t", "href": "https://example.org", "body": "Retrieval-augmented generation (RAG) is a pattern."}]
    search_cache.put("grounding", rag)
    search_cache.close()
    assert (
        "retrieval-augmented generation best practices"
        in harness("cache", "explain", "RAG best practices", "--json").told["read_as"].lower()
    )
    assert "read as: retrieval-augmented" in harness("cache", "explain", "RAG best practices").out.lower()


def test_an_explanation_without_meaning(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """No candidates where it is switched off; what is expired, or has too few results, is said."""
    monkeypatch.setenv("HARNESS_SEMANTIC", "false")
    put(STORED)
    put("old", ttl=1e-6)
    assert harness("cache", "explain", ASKED, "--json").told["candidates"] == []
    assert "exact: expired just now" in harness("cache", "explain", "old").out
    assert "exact: fewer results than asked for" in harness("cache", "explain", STORED, "-n", 50).out


@pytest.mark.parametrize("query", ["", "  ", "x" * 100_000])
def test_unusable_queries_are_one_line(harness: Program, query: str) -> None:
    """For every command that takes one."""
    for arguments in (("cache", "explain", query), ("cache", "clear", "--query", query), ("research", query)):
        assert len(harness(*arguments).one_line_error(2)) < 300


# --- clear, expired, reindex, verify


def test_a_dry_run_deletes_nothing(harness: Program) -> None:
    """It shows what would be deleted."""
    put("one", "two")
    ended = harness("cache", "clear", "--dry-run")
    assert (ended.code, ended.out) == (0, "  one\n  two\nwould delete 2 entries\n")
    told = harness("cache", "clear", "--dry-run", "--json", "--yes").told
    assert told == {"selected": 2, "deleted": dict.fromkeys(KINDS["all"], 0)}
    assert total(harness) == 2


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_anything_but_yes_deletes_nothing(harness: Program, answer: str) -> None:
    """Also an end of the input; the exit code is that of wrong usage."""
    put("one")
    ended = harness("cache", "clear", stdin=answer)
    assert total(harness) == 1
    assert ended.code == 2
    assert "nothing was deleted" in ended.err


def test_yes_deletes(harness: Program) -> None:
    """Asked on standard error, or not at all."""
    put("one")
    ended = harness("cache", "clear", "--json", stdin="y\n")
    assert ended.told["deleted"] == {**dict.fromkeys((*ANSWERS, *MADE, UNANSWERED), 0), "search_cache": 1}
    assert "Delete 1 entry" in ended.err
    put("one")
    assert harness("cache", "clear", "--yes").out == "  one\ndeleted 1 entry\n"
    assert harness("cache", "clear", "--yes").out == "deleted 0 entries\n"


def test_entries_to_delete_can_be_selected(harness: Program) -> None:
    """By kind, age and query, also together."""
    put("one", "two", "three")
    search_cache.put_research("one", "research", "c", 1, [])
    search_cache.close()
    assert harness("cache", "clear", "--yes", "--older-than", "1h").out == "deleted 0 entries\n"
    assert harness("cache", "clear", "--yes", "--query", " ONE ", "--kind", "search").out.endswith("deleted 1 entry\n")
    assert harness("cache", "clear", "--yes", "--kind", "research", "--older-than", "0", "--json").told["deleted"] == {
        "research_cache": 1,
        "research_evidence": 0,
        "agent_queries": 0,
    }
    assert total(harness) == 2


def test_clearing_ends_the_belief_in_no_results(harness: Program, notes: str) -> None:
    """Whether all is cleared or that query: the next search asks."""
    asked = ("search", "zymurgy", "-e", notes, "--json")
    for arguments in (("--query", "zymurgy"), ()):
        harness(*asked)
        assert harness("cache", "clear", "--yes", *arguments).code == 0
        assert harness(*asked).told["live_calls"] == 1
        harness("cache", "clear", "--yes")


@pytest.mark.parametrize("age", ["nan", "-1", "-inf", "soon", "inf", "48"])
def test_an_age_that_is_none_is_wrong_usage(harness: Program, age: str) -> None:
    """Nothing is deleted by it."""
    put("one")
    assert harness("cache", "clear", "--yes", "--older-than", age).code == 2
    assert total(harness) == 1
    assert harness("cache", "clear", "--yes", "--older-than", "2y").out == "deleted 0 entries\n"


def test_an_unknown_kind_is_wrong_usage(harness: Program) -> None:
    """The kinds there are are named."""
    told = harness("cache", "clear", "--kind", "everything").one_line_error(2)
    assert "choose search, research, pages, completions, tools, runs, all" in told


def test_expired_entries_go(harness: Program) -> None:
    """And only those."""
    put("gone", ttl=1e-6)
    put("stays")  # a put sweeps, but not what a search may still serve late
    assert harness("cache", "expired", "--json").told == {
        "selected": 1,
        "deleted": {**dict.fromkeys(ANSWERS, 0), "search_cache": 1},
    }
    assert harness("cache", "expired").out == "deleted 0 expired entries\n"
    assert total(harness) == 1


def test_reindexing_embeds_rows_without_a_vector(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows stored without a vector become semantic hits afterwards."""
    monkeypatch.setenv("HARNESS_SEMANTIC", "false")
    put(STORED)
    assert "semantic: true" in harness("cache", "reindex").one_line_error(2)
    monkeypatch.delenv("HARNESS_SEMANTIC")
    assert harness("search", ASKED, "--offline").code == 6
    assert harness("doctor", "--json").told["findings"][5]["state"] == "weak"
    assert harness("cache", "reindex", "--json").told == {"embedded": 1, "indexed": 0}
    assert harness("cache", "reindex").out.startswith("embedded 0 entries")
    assert harness("search", ASKED, "--offline").code == 0


def test_verifying_finds_and_repairs(harness: Program, tmp_path: Path) -> None:
    """A file without problems passes; an unusable row exits with 4 until it is repaired."""
    import sqlite3

    put("one", "two")
    assert harness("cache", "verify").out == f"{tmp_path / 'data' / 'harness.db'} has no problems\n"
    connection = sqlite3.connect(tmp_path / "data" / "harness.db")
    connection.execute("UPDATE search_cache SET results = '[{' WHERE query = 'one'")
    connection.commit()
    connection.close()
    found = harness("cache", "verify", "--json")
    assert found.code == 4
    assert len(found.told["problems"]) == 1
    assert found.told["repaired"] is False
    assert harness("doctor").code == 5
    assert harness("cache", "verify", "--repair").code == 0
    assert harness("cache", "verify", "--json").told["problems"] == []
    assert total(harness) == 1


# --- calibrate


def pairs(path: Path, different: int = 150, same: int = 20) -> Path:
    """Write labelled pairs: the different ones are of other numbers, the same ones of another order."""
    rows = [{"a": f"release {n} of python", "b": f"release {n + 1} of python", "label": 0} for n in range(different)]
    rows += [{"a": f"topic {n} retry policy", "b": f"retry policy topic {n}", "label": 1} for n in range(same)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.slow
def test_a_calibrated_rule_is_used_until_it_is_removed(harness: Program, tmp_path: Path) -> None:
    """It is stored in the data directory, shown by doctor, used by lookups, and gone with its file."""
    shipped = harness("cache", "explain", "q", "--json").told["threshold"]
    dry = harness("cache", "calibrate", "--pairs", pairs(tmp_path / "mine.jsonl"), "--dry-run", "--json").told
    file = tmp_path / "data" / "acceptance.json"
    assert dry["kept"] is None
    assert not file.exists()
    told = harness("cache", "calibrate", "--pairs", pairs(tmp_path / "mine.jsonl.gz"), "--json").told
    assert told | {"kept": None} == dry
    assert (told["kept"], told["different"], told["same"], told["max_wrong"]) == (str(file), 150, 20, 0.01)
    assert harness("cache", "explain", "q", "--json").told["threshold"] == told["threshold"] != shipped
    assert "mine.jsonl.gz" in harness("doctor").out
    file.write_text(file.read_text().replace('"verifier":"minilm-pairs-', '"verifier":"minilm-pairs-before-'))
    assert harness("cache", "explain", "q", "--json").told["threshold"] == shipped
    assert "it is for another verifier" in " ".join(harness("doctor").out.split())
    file.unlink()
    assert harness("cache", "explain", "q", "--json").told["threshold"] == shipped


@pytest.mark.slow
def test_a_rule_that_cannot_be_stored_is_an_error(harness: Program, tmp_path: Path) -> None:
    """The message has the file, and no partial file is left."""
    (tmp_path / "data" / "acceptance.json").mkdir(parents=True)
    ended = harness("cache", "calibrate", "--pairs", pairs(tmp_path / "mine.jsonl"))
    assert ended.code == ExitCode.STORE_FAILED
    assert "cannot store the rule in" in ended.err
    assert not list((tmp_path / "data").glob(".acceptance*"))


@pytest.mark.slow
def test_pairs_that_the_guards_reject_do_not_lower_the_threshold(harness: Program, tmp_path: Path) -> None:
    """Different pairs of which none came near teach no threshold that lets everything pass; lines stay lines."""
    ended = harness("cache", "calibrate", "--pairs", pairs(tmp_path / "mine.jsonl"))
    assert ended.code == 0
    assert max(map(len, ended.out.splitlines())) < 250
    assert harness("cache", "explain", "q", "--json").told["threshold"] > -1


@pytest.mark.slow
def test_a_rule_calibrated_for_more_wrong_answers_is_used_or_said_not_to_be(harness: Program, tmp_path: Path) -> None:
    """`--max-wrong 0.05` where the setting says 0.01: no silence about which rule counts."""
    ended = harness("cache", "calibrate", "--pairs", pairs(tmp_path / "mine.jsonl"), "--max-wrong", "0.05")
    assert ended.code == 0
    threshold = harness("cache", "explain", "q", "--json").told["threshold"]
    assert f"threshold {threshold:.4f}" in ended.out or "max_wrong" in ended.out + ended.err


@pytest.mark.parametrize(
    "line",
    ["[1, 2]", "{", '{"a": "x", "b": "y"}', '{"a": 1, "b": "y", "label": 0}', '{"a": "x", "b": "y", "label": 2}',
     '{"a": "x", "b": "y", "label": null}', '{"a": "x", "b": "y", "label": "1"}',
     '{"a": "\\ud800", "b": "y", "label": 0}'],
)  # fmt: skip
def test_a_malformed_line_is_named(harness: Program, tmp_path: Path, line: str) -> None:
    """By its number; nothing is kept."""
    file = pairs(tmp_path / "mine.jsonl")
    file.write_text(file.read_text() + line + "\n")
    assert "line 171" in harness("cache", "calibrate", "--pairs", file).one_line_error(2)
    assert not (tmp_path / "data" / "acceptance.json").exists()


@pytest.mark.slow
def test_too_few_pairs_are_refused(harness: Program, tmp_path: Path) -> None:
    """With how many are needed."""
    for different in (0, 50):
        line = harness("cache", "calibrate", "--pairs", pairs(tmp_path / "few.jsonl", different)).one_line_error(2)
        assert "at least 99" in line
    assert "cannot read" in harness("cache", "calibrate", "--pairs", tmp_path / "none").one_line_error(2)
    (tmp_path / "bad.jsonl.gz").write_bytes(b"no gzip")
    assert "cannot read" in harness("cache", "calibrate", "--pairs", tmp_path / "bad.jsonl.gz").one_line_error(2)
    for share in ("0", "1", "nan", "-0.1"):
        assert "max_wrong" in harness(
            "cache", "calibrate", "--pairs", tmp_path / "few.jsonl", "--max-wrong", share
        ).one_line_error(2)


def test_a_damaged_rule_is_named(harness: Program, tmp_path: Path) -> None:
    """Commands that need it name the file; doctor reports nothing else."""
    put(STORED)
    (tmp_path / "data" / "acceptance.json").write_text('{"threshold": "high"}')
    assert "acceptance.json" in harness("search", ASKED, "--offline").one_line_error(2)
    broken = [each for each in harness("doctor", "--json").told["findings"] if each["state"] == "broken"]
    assert [each["name"] for each in broken] == ["meaning"]


# --- doctor, help


def test_doctor_on_a_healthy_installation(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is ok; as lines and as JSON."""
    monkeypatch.setenv("HARNESS_READING", "1")
    ended = harness("doctor")
    assert (ended.code, ended.err) == (0, "")
    assert all(line.startswith("ok ") for line in ended.out.splitlines())
    told = harness("doctor", "--json").told["findings"]
    assert [each["name"] for each in told] == [
        "python", "settings", "disk", "database", "embedder", "meaning", "reader", "vector index", "languages",
        "engine", "access",
    ]  # fmt: skip
    assert {each["state"] for each in told} == {"ok"}


def test_doctor_reports_broken_and_weak_parts(
    harness: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A data directory that cannot be, an engine that is none, offline, no meaning."""
    assert harness("doctor", "--data-dir", "/proc/harness").code == 5
    monkeypatch.setenv("HARNESS_ENGINE", "corpus:/no/such/folder")
    monkeypatch.setenv("HARNESS_OFFLINE", "true")
    monkeypatch.setenv("HARNESS_SEMANTIC", "false")
    ended = harness("doctor", "--json")
    states = {each["name"]: each["state"] for each in ended.told["findings"]}
    assert ended.code == 5
    assert (states["engine"], states["settings"], states["meaning"]) == ("broken", "weak", "weak")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_fits_a_narrow_terminal(harness: Program, monkeypatch: pytest.MonkeyPatch, command: Sequence[str]) -> None:
    """Every command has help with examples, and prints it in 40 columns, too."""
    shown = harness(*command, "--help").out
    assert command == ("cache",) or f"\n    harness {' '.join(command)}" in shown
    assert "\\b" not in shown
    monkeypatch.setenv("COLUMNS", "40")
    assert harness(*command, "--help").code == 0


def test_tables_fit_a_narrow_terminal(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing breaks in 40 columns."""
    put(STORED, "x" * 300)
    monkeypatch.setenv("COLUMNS", "40")
    for arguments in (("cache", "stats"), ("cache", "explain", ASKED), ("search", STORED), ("cache", "runs")):
        assert harness(*arguments).code == 0


def test_unknown_commands_are_wrong_usage(harness: Program) -> None:
    """Nouns, verbs and options."""
    for arguments in (("cache", "empty"), ("cache", "stats", "--kind", "x"), ("cache", "explain"), ("doctor", "x")):
        assert harness(*arguments).code == 2


def test_the_app_says_what_it_cannot_do(tmp_path: Path) -> None:
    """Programs meet the same errors as users."""
    from msgspec.structs import replace

    from harness.errors import InvalidInput
    from harness.settings import load

    settings = load({"data_dir": tmp_path}, environment={}).settings
    with pytest.raises(InvalidInput, match="offline"):
        App(replace(settings, offline=True), Mode(read=False))
    with pytest.raises(InvalidInput, match="no such engine"):
        App(settings).sources.engines(["altavista"])
    with App(settings) as app:
        assert app.cache is app.cache
        assert os.path.samefile(Path(app.databases.place).parent, tmp_path)  # noqa: PTH121 - links count as the same
