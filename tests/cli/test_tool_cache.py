"""The tool cache from the command line, and whole caches that move from one database to another without loss."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from harness.cache import Cache, ResearchContext
from harness.core.entries import Entry
from harness.core.freshness import DAY, HOUR
from harness.core.pages import Page
from harness.core.tables import KnowledgeColumns, KnowledgeHistoryColumns
from harness.errors import InvalidInput
from harness.ports import Completion
from harness.storage.snapshots import entry_of, line_of, read_snapshot, write_snapshot
from harness.storage.sqlite.store import SqliteStore
from harness.storage.tables import ABBREVIATIONS, TABLES
from harness.vector_cache import VectorCache
from tests.cache.stand_ins import semantics
from tests.cli.program import Program
from tests.fakes import FakeClock, WordEmbedder


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Callable[[], Cache]]:
    """The cache in the data directory."""
    stores = []

    def opened() -> Cache:
        stores.append(SqliteStore(tmp_path / "data" / "harness.db"))
        return Cache(stores[-1])

    yield opened
    for store in stores:
        store.close()


# --- commands


def test_the_tool_cache_is_told_cleared_and_swept(harness: Program, tools: Callable[[], Cache]) -> None:
    """By `stats`, `clear --kind tools` with type and user, and `expired`."""
    cache = tools()
    for cache_type, query, user in (("job_search", "a", "ada"), ("job_search", "b", "bob"), ("web_fetch", "c", "ada")):
        cache.tools.put(cache_type, query, [1], created_by=user)
    cache.tools.put("web_fetch", "gone", [1], ttl_hours=1e-9)
    told = harness("cache", "stats", "--json").tables["tool_cache"]
    assert (told["live"], told["expired"]) == (3, 1)
    assert "tool_cache" in harness("cache", "stats").out
    assert harness("cache", "expired", "--json").told["deleted"]["tool_cache"] == 1
    chosen = ("cache", "clear", "--kind", "tools", "--yes")
    dry = harness(*chosen, "--type", "Job_Search", "--dry-run", "--json").told
    assert dry == {"selected": 2, "deleted": {"tool_cache": 0}}
    assert harness(*chosen, "--type", "job_search", "--user", "ada", "--json").told["deleted"] == {"tool_cache": 1}
    assert harness(*chosen, "--user", "ada").out == "  c\ndeleted 1 entry\n"
    assert harness(*chosen, "--query", " B ").out == "  b\ndeleted 1 entry\n"
    assert cache.tools.recent() == []


def test_clearing_all_clears_tools(harness: Program, tools: Callable[[], Cache]) -> None:
    """They are cache as the rest is."""
    tools().tools.put("x", "q", [1])
    assert harness("cache", "clear", "--yes", "--json").told["deleted"]["tool_cache"] == 1


@pytest.mark.parametrize("option", [("--type", "job_search"), ("--user", "ada")])
def test_type_and_user_are_of_tools_alone(harness: Program, option: tuple[str, str]) -> None:
    """Anywhere else they would choose nothing, or everything."""
    for kind in ((), ("--kind", "search")):
        assert "add --kind tools" in harness("cache", "clear", "--yes", *kind, *option).one_line_error(2)
    assert harness("cache", "clear", "--kind", "tools", "--type", "no type").one_line_error(2)


def test_config_shows_the_lifetimes(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readably, and where they came from."""
    monkeypatch.setenv("HARNESS_TOOL_TTL_HOURS", "web_fetch=0.5")
    told = harness("config", "--json").told["tool_ttl_hours"]
    assert told["value"] == "company_research=168, job_search=24, web_fetch=0.5"
    assert told["origin"] == "environment HARNESS_TOOL_TTL_HOURS"


# --- moving


def fill(store: SqliteStore, clock: FakeClock, tenant: str = "default") -> None:
    """Put something into every table: fresh and expired, used and unused, with vectors and without."""
    cache = Cache(store, semantics=semantics(store, tenant=tenant), clock=clock, tenant=tenant)
    rag = "Retrieval-augmented generation (RAG) is a pattern."
    cache.searches.put("what is RAG", [{"title": "t", "href": "https://example.org", "body": rag}], engine="other")
    cache.searches.answer("nothing", lambda query, n: [])
    cache.researches.put("RAG", "research", ResearchContext(f'["{rag}"]', [["a"], 1], [0.25]), ttl=60)
    cache.pages.answer("https://example.org/a", Reader(rag))
    cache.completions.answer(Model(), [{"role": "user", "content": "What is bread?"}])
    cache.derived.get("q", "ranking", ["s"], lambda: [1.5], list, ttl=DAY)
    cache.runs.put("20260101-000000-abcdef", "q", "ddgs", {"uses": [], "ü": "\x7f"})
    cache.tools.put("job_search", "Python jobs", [{"a": "ü\u2028"}], params={"n": 1}, created_by="ada", ttl_hours=1)
    cache.tools.put("web_fetch", "https://example.org/A", {"text": "t"})
    clock.advance(2 * HOUR)
    cache.searches.find("what is RAG", engine="other")  # notes a use
    cache.tools.put("job_search", "python JOBS", [1, 2])
    memory = VectorCache(store, WordEmbedder(), space="s", clock=clock, tenant=tenant)
    memory.add_document("d", "A document about retries. " * 40, {"n": 1}, "part")
    memory.put_query("how do retries work", {"answer": [1]})
    clock.advance(1)
    memory.get_query("how do retries work")
    for name, own in (("knowledge", ("u", 2)), ("knowledge_history", ("id", 1)), ("access_tokens", ("ada", "admin"))):
        key = "id" if name == "knowledge" else f"id@{name}"
        at = clock.now
        vector = semantics(store).embedding("words") if name == "knowledge" else None
        entry = Entry(key, "Title", b'{"a":1}', at, 1e15, at + 7, own, vector, "words" if vector else None)
        store.rows.put(name, tenant, entry)


class Model:
    """Answers with one text."""

    name, endpoint = "model", "http://127.0.0.1/v1"
    parameters: Mapping[str, Any] = MappingProxyType({"temperature": 0})

    def complete(self, messages: Any, **rest: Any) -> Completion:
        """See `LanguageModel.complete`."""
        return Completion("Baked flour.", whole=True)


class Reader:
    """Reads one text everywhere."""

    name = "reader-1"

    def __init__(self, text: str) -> None:
        self.text = text

    def read(self, url: str, held: Page | None = None) -> Page:
        """See `PageReader.read`."""
        return Page(url, "A page", self.text, "text/plain")


def contents(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table, in order, to the byte; but for the number of the row."""
    with closing(sqlite3.connect(path)) as connection:
        held = {
            name: connection.execute(f"SELECT {', '.join(table.columns)} FROM {name} ORDER BY seq").fetchall()
            for name, table in TABLES.items()
        }
        return held | {
            ABBREVIATIONS: connection.execute(f"SELECT * FROM {ABBREVIATIONS} ORDER BY 1,2,3,4,5").fetchall()
        }


def test_a_cache_moves_without_loss(harness: Program, tmp_path: Path) -> None:
    """Every row of every table, to the byte: times, last use, lifetimes, vectors, what it teaches, and the order."""
    store = SqliteStore(tmp_path / "data" / "harness.db")
    fill(store, FakeClock())
    fill(store, FakeClock(), tenant="other")
    store.close()
    first = contents(tmp_path / "data" / "harness.db")
    assert sorted(name for name, rows in first.items() if not rows) == [
        "library_passages",
        "memory",
    ]  # which has a separate export
    file, elsewhere = tmp_path / "all.snapshot", tmp_path / "elsewhere"
    exported = harness("cache", "export", file, "--json").told["entries"]
    assert harness("cache", "import", file, "--json", "--data-dir", elsewhere).told["added"] == exported
    second = contents(elsewhere / "harness.db")
    for name, rows in first.items():
        mine = [row for row in rows if row[0] == "default"]
        assert name == "access_tokens" or second[name] == mine, name
    assert second["access_tokens"] == []
    assert exported == sum(len([r for r in rows if r[0] == "default"]) for name, rows in first.items()
                           if name not in {"access_tokens", "memory", ABBREVIATIONS})  # fmt: skip
    again = tmp_path / "again.snapshot"
    harness("cache", "export", again, "--data-dir", elsewhere)
    assert again.read_bytes() == file.read_bytes()
    assert harness("cache", "import", file, "--json").told["added"] == 0


def test_a_newer_version_replaces_an_older_one_only(tmp_path: Path) -> None:
    """The higher version of a document wins, and an address has one document; history comes with its document."""
    store = SqliteStore(tmp_path / "harness.db")
    cache = Cache(store)

    def document(key: str, url: str, version: int) -> Entry:
        return Entry(key, "T", b"{}", 1.0, 2.0, 3.0, KnowledgeColumns(url, version))

    assert cache.maintenance.restore("knowledge", document("a", "u", 2))
    assert not cache.maintenance.restore("knowledge", document("a", "u", 2))
    assert not cache.maintenance.restore("knowledge", document("a", "u", 1))
    assert not cache.maintenance.restore("knowledge", document("b", "u", 9)), "another document was read there"
    assert cache.maintenance.restore("knowledge", document("a", "u", 3))
    assert cache.maintenance.restore("knowledge", document("b", "", 1))
    assert cache.maintenance.restore("knowledge", document("c", "", 1)), "an empty address belongs to no document"
    for document_id, added in (("a", True), ("z", False)):
        entry = Entry(f"{document_id}@1", "T", b"{}", 1.0, 2.0, 3.0, KnowledgeHistoryColumns(document_id, 1))
        assert cache.maintenance.restore("knowledge_history", entry) is added
    store.close()


def test_access_is_never_imported(harness: Program, tmp_path: Path) -> None:
    """A file with a token in it is refused."""
    entries = {"tool_cache": ("x", "{}", 1, None), "access_tokens": ("eve", "admin")}
    file = tmp_path / "made.snapshot"
    write_snapshot(file, [line_of(name, Entry("k", "q", b"{}", 1.0, 1e15, 3.0, own)) for name, own in entries.items()])
    assert "access_tokens" in harness("cache", "import", file).one_line_error(2)
    assert harness("cache", "stats", "--json").tables["tool_cache"]["total"] == 0
    store = SqliteStore(tmp_path / "data" / "harness.db")
    with pytest.raises(InvalidInput, match="not imported"):
        Cache(store).maintenance.restore("access_tokens", Entry("k", "q", b"{}", 1.0, 1e15, 3.0, ("eve", "admin")))
    store.close()


def test_snapshots_of_before_are_read(tmp_path: Path) -> None:
    """Without the time of the last use, the time of storing counts; snapshots of runs do not have it."""
    entry = Entry("k", "q", b"[1]", 1.0, 2.0, 3.0, ("x", "{}", 1, None))
    assert line_of("tool_cache", entry).used_at is None
    assert entry_of(line_of("tool_cache", entry)).last_used_at == 1.0
    write_snapshot(tmp_path / "s", [line_of("tool_cache", entry, used=True)])
    assert entry_of(read_snapshot(tmp_path / "s")[1][0]) == entry
