"""Runs: listed, exported, replayed elsewhere, and whole caches carried from one place to another."""

import gzip
import hashlib
import json
import random
import shutil
import socket
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness import settings
from harness.app import App
from harness.errors import EngineUnavailable, SearchError
from harness.settings.mode import Mode
from harness.sources.from_settings import Sources
from tests.cli.program import Program

pytestmark = pytest.mark.slow

QUESTION = "How do retries use exponential backoff?"


class FakeEngine:
    """An engine with one answer for all, but an `odd` one for some queries."""

    name = "fake"
    options: dict[str, Any] = {}  # noqa: RUF012 - as the port declares it

    def __init__(self, odd: Any = None) -> None:
        self.odd = odd
        self.asked: list[str] = []

    def search(self, query: str, max_results: int) -> Sequence[dict[str, str]]:
        """See `SearchEngine.search`."""
        self.asked.append(query)
        if self.odd is not None and hashlib.sha256(query.encode()).digest()[0] % 2:
            if isinstance(self.odd, SearchError):
                raise self.odd
            return list(self.odd)
        body = f"Retries use exponential backoff between attempts. The words {query} were asked for."
        return [{"title": "Retries", "href": "https://example.org/retries", "body": body}]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put an engine in the place of all others, unless a run is replayed."""

    def put(engine: FakeEngine) -> FakeEngine:
        monkeypatch.setenv("HARNESS_READ_PAGES", "0")  # its addresses do not exist
        real = Sources.engines
        monkeypatch.setattr(
            Sources,
            "engines",
            lambda self, specs=(), question="", waits=False: (
                real(self, specs) if self._replay is not None else (engine,)
            ),
        )
        return engine

    return put


def run_id(harness: Program) -> str:
    """Return the id of the newest run."""
    found: str = harness("cache", "runs", "--json").told["items"][0]["id"]
    return found


def expire_everything(data: Path) -> None:
    """Let every entry have expired an hour ago."""
    with closing(sqlite3.connect(data / "harness.db")) as connection:
        for table in ("search_cache", "research_cache", "unanswered_searches"):
            connection.execute(f"UPDATE {table} SET expires_at = strftime('%s', 'now') - 3600, checksum = NULL")
        connection.commit()


def no_socket(*_: object, **__: object) -> None:
    """Replace `socket.socket`."""
    raise AssertionError("a socket was opened")


def test_a_run_is_listed(harness: Program, notes: str) -> None:
    """When, what, with how many live calls; as a table, and as JSON."""
    assert harness("cache", "runs").out == "no runs yet\n"
    assert harness("cache", "runs", "--json").told == {"items": [], "next_offset": None}
    ended = harness("research", QUESTION, "-e", notes)
    (run,) = harness("cache", "runs", "--json").told["items"]
    assert run["id"] in ended.err
    assert (run["question"], run["engine"]) == (QUESTION, "corpus")
    assert f"{run['live_calls']} live calls" in ended.err
    assert run["created_at"].endswith("Z")
    assert QUESTION in harness("cache", "runs").out
    harness("research", QUESTION, "-e", notes)
    assert harness("cache", "runs", "--json").told["items"][0]["live_calls"] == 0
    assert len(harness("cache", "runs", "--limit", 1, "--json").told["items"]) == 1
    assert harness("cache", "runs", "--limit", 0).code == 2


def test_a_run_that_failed_is_listed_with_its_cause(harness: Program, notes: str) -> None:
    """The code in the table, the message in JSON; resumed online, there is none. Resumed as it was started, it fails
    again: who asked for no network gets none.
    """
    ended = harness("research", QUESTION, "-e", notes, "--offline")
    (run,) = harness("cache", "runs", "--json").told["items"]
    assert (ended.code, run["state"], run["error"]["code"]) == (6, "failed", "offline_miss")
    assert run["error"]["message"] in ended.err
    assert "failed: offline_miss" in harness("runs").out
    assert harness("research", "--resume", run["id"]).code == 6
    assert harness("research", "--resume", run["id"], "--online").code == 0
    (run,) = harness("cache", "runs", "--json").told["items"]
    assert (run["state"], run["error"]) == ("finished", None)


@pytest.mark.parametrize("arguments", [(), ("--research-cache",)])
def test_a_run_is_replayed_elsewhere(
    harness: Program, notes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """In an empty data directory, without the notes, without a socket, though all has expired: the same bytes."""
    first = harness("research", QUESTION, "-e", notes, *arguments)
    assert first.code == 0
    again = harness("research", QUESTION, "-e", notes, *arguments)
    assert again.out == first.out
    for number, run in enumerate(harness("cache", "runs", "--json").told["items"]):
        file = tmp_path / f"{number}.snapshot"
        assert harness("cache", "export", file, "--run", run["id"]).code == 0
        expire_everything(tmp_path / "data")
        shutil.rmtree(tmp_path / "notes", ignore_errors=True)
        with monkeypatch.context() as patched:
            patched.setattr(socket, "socket", no_socket)
            replayed = harness("research", QUESTION, "--replay", file, "--data-dir", tmp_path / "empty", *arguments)
        assert (replayed.code, replayed.out) == (0, first.out)
        assert " 0 live calls" in replayed.err
        assert not (tmp_path / "empty" / "harness.db").exists(), "a replay makes no database"


@pytest.mark.parametrize("odd", [EngineUnavailable("down"), []], ids=["failures", "no results"])
def test_a_run_with_gaps_is_replayed_with_them(harness: Program, fake: Any, tmp_path: Path, odd: Any) -> None:
    """A failed search fails again, and an empty one stays empty: a replay knows no more than the run."""
    engine = fake(FakeEngine(odd))
    first = harness("research", QUESTION)
    assert first.code == 0
    assert engine.asked
    file = tmp_path / "run.snapshot"
    exported = harness("cache", "export", file, "--run", run_id(harness))
    assert exported.code == 0, exported
    expire_everything(tmp_path / "data")
    replayed = harness("research", QUESTION, "--replay", file, "--data-dir", tmp_path / "empty", "--json")
    assert replayed.told["report"] == first.out
    by = [search["answered_by"] for round_ in replayed.told["rounds"] for search in round_["searches"]]
    assert ("failed" in by) is bool(odd)
    assert bool(replayed.told["answered"].get("no results")) is not bool(odd)


def test_a_run_without_results_can_be_exported_later(harness: Program, fake: Any, tmp_path: Path) -> None:
    """The run itself records that there were none, although the cached entry has expired."""
    fake(FakeEngine([]))
    first = harness("research", QUESTION)
    run = run_id(harness)
    with closing(sqlite3.connect(tmp_path / "data" / "harness.db")) as connection:  # as ten minutes of use do
        connection.execute("DELETE FROM unanswered_searches")
        connection.commit()
    file = tmp_path / "run.snapshot"
    exported = harness("cache", "export", file, "--run", run)
    assert exported.code == 0, exported
    assert harness("research", QUESTION, "--replay", file, "--data-dir", tmp_path / "empty").out == first.out


def test_a_run_with_hits_by_meaning_is_replayed(harness: Program, fake: Any, tmp_path: Path) -> None:
    """The row that answered another query answers it in the replay as well."""
    fake(FakeEngine())
    harness("search", "how retries use exponential backoff")
    first = harness("research", QUESTION, "--reuse", "off", "--json").told
    assert first["answered"].get("semantic"), "one of its searches means the same as that one"
    file = tmp_path / "run.snapshot"
    assert harness("cache", "export", file, "--run", run_id(harness)).code == 0
    replayed = harness("research", QUESTION, "--replay", file, "--data-dir", tmp_path / "empty").out
    assert replayed == first["report"]


def test_a_replay_of_another_question_is_an_offline_miss(harness: Program, notes: str, tmp_path: Path) -> None:
    """Exit code 6, naming the query."""
    harness("research", QUESTION, "-e", notes)
    file = tmp_path / "run.snapshot"
    harness("cache", "export", file, "--run", run_id(harness))
    line = harness("research", "what is a monad", "--replay", file).one_line_error(6)
    assert "monad" in line
    assert "snapshot" in line


@pytest.mark.parametrize("flag", ["--refresh", "--no-cache"])
def test_a_replay_that_may_not_look_is_wrong_usage(harness: Program, notes: str, tmp_path: Path, flag: str) -> None:
    """As offline: exit code 2."""
    harness("research", QUESTION, "-e", notes)
    file = tmp_path / "run.snapshot"
    harness("cache", "export", file, "--run", run_id(harness))
    assert flag in harness("research", QUESTION, "--replay", file, flag).one_line_error(2)


def test_a_run_whose_answers_have_changed_cannot_be_exported(harness: Program, fake: Any, tmp_path: Path) -> None:
    """A clear error and no file; nor can one whose answers have gone, or one that is unknown."""
    engine = fake(FakeEngine())
    harness("research", QUESTION)
    run = run_id(harness)
    file = tmp_path / "run.snapshot"
    engine.search = lambda query, n: [{"title": "New", "href": "https://example.org/new", "body": "Backoff retries."}]
    harness("research", QUESTION, "--refresh")
    line = harness("cache", "export", file, "--run", run).one_line_error(2)
    assert "have changed or been deleted since; run it again" in line
    assert "no such run: 'x'" in harness("cache", "export", file, "--run", "x").one_line_error(2)
    harness("cache", "clear", "--kind", "search", "--yes")
    assert "have changed" in harness("cache", "export", file, "--run", run).one_line_error(2)
    assert not file.exists()


def test_a_run_that_keeps_nothing_is_not_recorded(harness: Program, notes: str) -> None:
    """`--no-cache` leaves no run."""
    ended = harness("research", QUESTION, "-e", notes, "--no-cache")
    assert "run " not in ended.err.splitlines()[-1].rpartition(";")[2]
    assert harness("cache", "runs", "--json").told == {"items": [], "next_offset": None}


def test_everything_is_exported_and_imported(harness: Program, fake: Any, tmp_path: Path) -> None:
    """`--all`, import, and each search answers there as here: exactly, by meaning, and by abbreviation."""
    engine = fake(FakeEngine())
    rag = [{"title": "t", "href": "https://example.org", "body": "Retrieval-augmented generation (RAG) is a pattern."}]
    engine.search = lambda query, n: rag
    harness("search", "RAG best practices")
    harness("research", QUESTION, "--research-cache")
    file, elsewhere = tmp_path / "all.snapshot", ("--data-dir", tmp_path / "elsewhere")
    exported = harness("cache", "export", file, "--all", "--json").told
    assert exported["entries"] > 2
    assert exported["sha256"]
    imported = harness("cache", "import", file, "--json", *elsewhere).told
    assert imported == {"file": str(file), "entries": exported["entries"], "added": exported["entries"]}
    assert harness("cache", "import", file, "--json", *elsewhere).told["added"] == 0
    here, there = (harness("cache", "stats", "--json", *where).tables for where in ((), elsewhere))
    assert {name: table["total"] for name, table in here.items()} == {n: table["total"] for n, table in there.items()}
    assert here["search_cache"]["oldest"] == there["search_cache"]["oldest"]
    exact = harness("search", "RAG best practices", "--offline", "--json", *elsewhere).told
    assert (exact["found"], exact["results"]) == ("exact", rag)
    copy = tmp_path / "copy.snapshot"
    harness("cache", "export", copy, *elsewhere)
    assert copy.read_bytes() == file.read_bytes()


def test_origins_move_with_the_entries(harness: Program, notes: str, tmp_path: Path) -> None:
    """Runs of evaluations do not become the user's own."""
    harness("search", "retries", "-e", notes)
    with App(settings.load({}).settings, Mode(origin="evaluation")) as app:
        app.cache.searches.put("measured", [{"title": "a", "href": "https://a.org", "body": "b"}])
    file = tmp_path / "all.snapshot"
    assert harness("cache", "export", file).code == 0
    elsewhere = ("--data-dir", str(tmp_path / "elsewhere"))
    assert harness("cache", "import", file, *elsewhere).code == 0
    for origin in ("own", "evaluation"):
        here, there = (harness("history", "--origin", origin, "--json", *place).told for place in ((), elsewhere))
        assert [each["title"] for each in there["items"]] == [each["title"] for each in here["items"]]
        assert len(there["items"]) == 1


def test_a_corpus_search_is_replayed_from_all(harness: Program, notes: str, tmp_path: Path) -> None:
    """Its key has the embedder's name, which a snapshot of all entries shows by their vectors."""
    first = harness("search", "retries backoff", "-e", notes)
    file = tmp_path / "all.snapshot"
    harness("cache", "export", file)
    replayed = harness("search", "retries backoff", "-e", notes, "--replay", file)
    assert (replayed.code, replayed.out) == (0, first.out)


def test_the_last_run_is_exported_by_that_name(harness: Program, notes: str, tmp_path: Path) -> None:
    """Or by the beginning of its id, as `show` takes it; a research is resumed by it, too."""
    harness("research", QUESTION, "-e", notes)
    (run,) = harness("cache", "runs", "--json").told["items"]
    for number, name in enumerate(("last", run["id"][:12])):
        file = tmp_path / f"{number}.snapshot"
        assert harness("cache", "export", file, "--run", name).code == 0
    assert harness("research", "--resume", "last").code == 0


def test_what_an_imported_entry_teaches_counts(harness: Program, fake: Any, tmp_path: Path) -> None:
    """Abbreviations go with the entries that define them."""
    engine = fake(FakeEngine())
    rag = [{"title": "t", "href": "https://example.org", "body": "Retrieval-augmented generation (RAG) is a pattern."}]
    engine.search = lambda query, n: rag
    harness("search", "RAG best practices")
    asked = ("search", "best practices for retrieval-augmented generation", "--offline", "--json")
    assert harness(*asked).told["found"] == "semantic"
    file = tmp_path / "all.snapshot"
    harness("cache", "export", file)
    elsewhere = ("--data-dir", tmp_path / "elsewhere")
    harness("cache", "import", file, *elsewhere)
    assert harness(*asked, *elsewhere).code == 0


def test_a_file_that_is_there_is_not_overwritten(harness: Program, tmp_path: Path) -> None:
    """Unless `--force` is given; `--run` and `--all` exclude each other."""
    file = tmp_path / "all.snapshot"
    file.write_text("mine")
    assert "--force" in harness("cache", "export", file).one_line_error(2)
    assert file.read_text() == "mine"
    assert harness("cache", "export", file, "--force").code == 0
    assert "choose one" in harness("cache", "export", file, "--force", "--run", "x", "--all").one_line_error(2)
    assert harness("cache", "export", tmp_path, "--force").one_line_error(4)
    assert not list(tmp_path.glob(".*part"))


def _spoilt(name: str, good: bytes) -> bytes:
    match name:
        case "random":
            return random.Random(7).randbytes(1_000)
        case "random gzip":
            return b"\x1f\x8b\x08\x00" + random.Random(7).randbytes(1_000)
        case "cut":
            return good[:-20]
        case "empty":
            return b""
        case "text":
            return b"hello\n"
    changed = bytearray(good)
    changed[len(good) // 2] ^= 0xFF
    return bytes(changed)


@pytest.mark.parametrize("kind", ["random", "random gzip", "cut", "empty", "text", "changed"])
def test_a_damaged_file_is_refused(harness: Program, fake: Any, tmp_path: Path, kind: str) -> None:
    """One line, exit code 2, and nothing of it is used: neither by import nor by a replay."""
    fake(FakeEngine())
    harness("search", "one", "two")
    harness("search", "retries")
    file = tmp_path / "all.snapshot"
    harness("cache", "export", file)
    file.write_bytes(_spoilt(kind, file.read_bytes()))
    elsewhere = ("--data-dir", tmp_path / "elsewhere")
    assert str(file) in harness("cache", "import", file, *elsewhere).one_line_error(2)
    assert str(file) in harness("research", QUESTION, "--replay", file, *elsewhere).one_line_error(2)
    assert harness("cache", "stats", "--json", *elsewhere).tables["search_cache"]["total"] == 0


def test_a_tampered_file_is_refused(harness: Program, fake: Any, tmp_path: Path) -> None:
    """Other text under the old checksum."""
    fake(FakeEngine())
    harness("search", "retries")
    file = tmp_path / "all.snapshot"
    harness("cache", "export", file)
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b"exponential", b"expedential")))
    assert "checksum" in harness("cache", "import", file).one_line_error(2)


def test_a_snapshot_of_a_newer_version_is_refused(harness: Program, tmp_path: Path) -> None:
    """It says to upgrade; a missing file is an error as well."""
    file = tmp_path / "new.snapshot"
    file.write_bytes(gzip.compress(b'{"format": "harness-snapshot", "version": 2, "entries": 0, "bytes": 0}\n'))
    assert "upgrade" in harness("cache", "import", file).one_line_error(2)
    assert "cannot read" in harness("cache", "import", tmp_path / "none").one_line_error(2)


def crafted(path: Path, *lines: bytes) -> Path:
    """Write a snapshot by hand, with a checksum that is right."""
    body = b"".join(line + b"\n" for line in lines)
    header: dict[str, Any] = {"format": "harness-snapshot", "version": 1, "entries": len(lines), "bytes": len(body)}
    header["sha256"] = hashlib.sha256(body).hexdigest()
    path.write_bytes(gzip.compress(json.dumps(header).encode() + b"\n" + body))
    return path


@pytest.mark.parametrize("own", ['["ten", "ddgs", "{}"]', f"[{'[' * 100_000}{']' * 100_000}, 1, 2]", "[10, 1, null]"])
def test_an_entry_of_wrong_types_is_refused(harness: Program, tmp_path: Path, own: str) -> None:
    """A right checksum says nothing of what is in a file: no traceback, and nothing that breaks later searches."""
    line = f'{{"table": "search_cache", "key": "{hashlib.sha256(b"q").hexdigest()}", "text": "q", "payload": "[{{}}]"'
    line += f', "created_at": 1, "expires_at": 4e9, "own": {own}}}'
    file = crafted(tmp_path / "crafted.snapshot", line.encode())
    assert str(file) in harness("cache", "import", file).one_line_error(2)
    assert harness("search", "q", "--offline").one_line_error(6)


@pytest.mark.parametrize("change", [{"max_rounds": 1}, {"max_rounds": "many"}, {"engines": "none"}])
def test_a_tampered_run_record_is_refused(harness: Program, fake: Any, tmp_path: Path, change: dict[str, Any]) -> None:
    """The checksum covers what the header says of the run, too."""
    fake(FakeEngine())
    harness("research", QUESTION)
    file = tmp_path / "run.snapshot"
    harness("cache", "export", file, "--run", run_id(harness))
    first, _, body = gzip.decompress(file.read_bytes()).partition(b"\n")
    header = json.loads(first)
    header["run"] |= change
    file.write_bytes(gzip.compress(json.dumps(header).encode() + b"\n" + body))
    assert str(file) in harness("research", QUESTION, "--replay", file).one_line_error(2)
