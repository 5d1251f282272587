"""Snapshots: written entries are read, changed files are refused, and no file makes reading use too much."""

import gzip
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.entries import Entry
from harness.core.keys import search_key
from harness.errors import InvalidInput, StoreError
from harness.ports import Store
from harness.settings import AskedEngine, AskedModel, RecordedRun
from harness.storage.replay_store import replay_store
from harness.storage.snapshots import (
    MAX_BODY_BYTES,
    MAX_HEADER_BYTES,
    SnapshotHeader,
    SnapshotLine,
    audit_of,
    entry_of,
    line_of,
    line_of_audit,
    read_snapshot,
    write_snapshot,
)
from tests.storage.embedded import EMBEDDER, SCOPES, embedded, keys_near, vector_of
from tests.storage.entries import NOW, RESEARCH, SEARCHES, TENANT, an_audit, an_entry
from tests.storage.scenarios import ROOT

RUN = RecordedRun(
    question="Zürich?",
    sections=None,
    engines=[AskedEngine("ddgs", {"region": "ch-de"})],
    max_rounds=3,
    enough_score=0.65,
    min_novelty=0.25,
    max_results=10,
    read_pages=2,
    max_live_calls=None,
    max_tokens=None,
    follow_ups=2,
    chunk_tokens=(200, 350),
    context_tokens=3_000,
    writer_style="",
    max_evidence=8,
    per_source=4,
    ranking_weights=(0.45, 0.15, 0.25, 0.15),
    embedder="minilm",
    reader="web-1",
    research_cache=True,
    model=AskedModel("small", "http://127.0.0.1:1/v1", {"temperature": 0.0}),
    strict=False,
    epoch="",
)
UNANSWERED = "unanswered_searches"

ENTRIES = (
    (SEARCHES, embedded("search")),
    (SEARCHES, an_entry("no vector", text="検索 👩‍🔬 \0 \n", payload='["Zürich"]'.encode())),
    (SEARCHES, an_entry("expired", expires_at=0.0, payload=b"")),
    (RESEARCH, embedded("research", RESEARCH, payload=b"any text\n\nof several lines\n")),
    (UNANSWERED, an_entry("unanswered", own=("ddgs", "{}"), payload=b'{"code":"rate_limited"}')),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the snapshot will be."""
    return tmp_path / "all.snapshot"


@pytest.fixture
def written(path: Path) -> Path:
    """Write a snapshot of `ENTRIES`."""
    write_snapshot(path, _lines(), run=RUN)
    return path


@pytest.fixture
def store() -> Store:
    """Return the store that answers from `ENTRIES`."""
    return replay_store(_lines())


def _lines() -> list[SnapshotLine]:
    return [line_of(table, entry) for table, entry in ENTRIES]


# There and back ------------------------------------------------------------------------------------------------------


def test_written_entries_are_read(written: Path) -> None:
    """Every entry comes back in its order, with all but its last use, and so does the run."""
    header, lines = read_snapshot(written)
    assert [line.table for line in lines] == [table for table, _ in ENTRIES]
    assert [entry_of(line) for line in lines] == [replace(entry, last_used_at=entry.created_at) for _, entry in ENTRIES]
    assert (header.entries, header.run) == (len(ENTRIES), RUN)


def test_writing_returns_the_header(path: Path) -> None:
    """It equals the header that is read."""
    header = write_snapshot(path, _lines(), run=RUN)
    assert read_snapshot(path)[0] == header


def test_no_entries_are_a_snapshot_too(path: Path) -> None:
    """An empty cache can be written and read."""
    write_snapshot(path, [])
    header, lines = read_snapshot(path)
    assert (header.entries, header.run, lines) == (0, None, [])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.characters(exclude_categories=["Cs"])),
    payload=st.text(st.characters(exclude_categories=["Cs"])),
    created_at=st.floats(allow_nan=False, allow_infinity=False),
    embedding=st.one_of(st.none(), st.binary(min_size=4, max_size=64).map(lambda raw: raw[: len(raw) // 4 * 4])),
)
def test_any_entry_comes_back(path: Path, text: str, payload: str, created_at: float, embedding: bytes | None) -> None:
    """With any text, any time and any vector."""
    entry = an_entry(f"key of {text}", text=text, payload=payload.encode(), created_at=created_at)
    entry = replace(entry, embedding=embedding, embedder=EMBEDDER if embedding else None, last_used_at=created_at)
    write_snapshot(path, [line_of(SEARCHES, entry)])
    assert [entry_of(line) for line in read_snapshot(path)[1]] == [entry]


def test_an_entry_that_never_expires_comes_back(path: Path) -> None:
    """JSON has no infinity; the written entry must be readable all the same."""
    write_snapshot(path, [line_of(SEARCHES, an_entry("k", expires_at=float("inf")))])
    (line,) = read_snapshot(path)[1]
    assert entry_of(line).expires_at > NOW * 100


def test_the_same_entries_make_the_same_bytes(path: Path, tmp_path: Path) -> None:
    """Under any name, at any time: two snapshots can be compared by their checksums."""
    write_snapshot(path, _lines(), run=RUN)
    os.utime(path, (0, 0))
    other = tmp_path / "elsewhere" / "other name.gz"
    write_snapshot(other, iter(_lines()), run=RUN)
    assert other.read_bytes() == path.read_bytes()


def test_a_snapshot_is_plain_json_lines_in_gzip(written: Path) -> None:
    """Any tool can look into it: the header, then a line for each entry; the checksum is that of both."""
    with gzip.open(written) as file:
        header, body = json.loads(file.readline()), file.read()
    assert (header["format"], header["version"], header["entries"]) == ("harness-snapshot", 1, len(ENTRIES))
    sealed = json.dumps(header | {"sha256": ""}, separators=(",", ":"), ensure_ascii=False).encode() + body
    assert header["sha256"] == hashlib.sha256(sealed).hexdigest()
    assert header["bytes"] == len(body)
    assert [json.loads(line)["key"] for line in body.splitlines()] == [entry.key for _, entry in ENTRIES]


# What cannot be written ----------------------------------------------------------------------------------------------


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """One line, which names the file."""
    (tmp_path / "file").write_text("mine")
    _assert_one_line(StoreError, lambda: write_snapshot(tmp_path / "file" / "all.snapshot", _lines()), "all.snapshot")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_snapshot_is_written_whole_or_not_at_all(written: Path) -> None:
    """If reading the entries fails, the old file is unchanged, and no other file is left."""
    before = written.read_bytes()

    def failing() -> Any:
        yield _lines()[0]
        raise RuntimeError("the store is gone")

    with pytest.raises(RuntimeError, match="the store is gone"):
        write_snapshot(written, failing())
    assert written.read_bytes() == before
    assert list(written.parent.iterdir()) == [written]


def test_a_damaged_row_does_not_stop_an_export(path: Path) -> None:
    """A payload that is not text is left out, or refused with an error that says so; it does not crash."""
    with suppress(StoreError, InvalidInput):
        write_snapshot(path, [line_of(SEARCHES, an_entry("k", payload=b"\xff\xfe")), line_of(*ENTRIES[0])])
        assert "search" in [line.key for line in read_snapshot(path)[1]]


# What is refused -----------------------------------------------------------------------------------------------------


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_byte_changes_no_content(written: Path, data: st.DataObject) -> None:
    """Wherever a byte was changed, the file is refused in one line; or its content is the same, as after a change of
    gzip's own header, or of one code of deflate to another for the same bytes.
    """
    content = written.read_bytes()
    place = data.draw(st.integers(0, len(content) - 1))
    changed = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[place]))
    damaged = written.with_name("damaged.snapshot")
    damaged.write_bytes(content[:place] + bytes([changed]) + content[place + 1 :])
    try:
        found = read_snapshot(damaged)
    except InvalidInput:
        _assert_refused(damaged)
    else:
        assert found == read_snapshot(written)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_entry_is_refused(written: Path, data: st.DataObject) -> None:
    """Also if the snapshot is unpacked, an entry is changed, and the file is packed again."""
    header, _, body = gzip.decompress(written.read_bytes()).partition(b"\n")
    place = data.draw(st.integers(0, len(body) - 1))
    changed = data.draw(st.integers(0, 255).filter(lambda byte: byte != body[place]))
    _pack(written.with_name("x"), header, body[:place] + bytes([changed]) + body[place + 1 :])
    _assert_refused(written.with_name("x"))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_header_is_refused(written: Path, data: st.DataObject) -> None:
    """The run of a snapshot and the number of its entries are protected like the entries."""
    header, _, body = gzip.decompress(written.read_bytes()).partition(b"\n")
    place = data.draw(st.integers(0, len(header) - 1))
    changed = data.draw(st.integers(0, 255).filter(lambda byte: byte != header[place]))
    _pack(written.with_name("x"), header[:place] + bytes([changed]) + header[place + 1 :], body)
    _assert_refused(written.with_name("x"))


@pytest.mark.parametrize("kept", [0, 1, 9, 10, 11, 100, -9, -8, -1], ids=str)
def test_a_snapshot_that_was_cut_off_is_refused(written: Path, kept: int) -> None:
    """Wherever it was cut, also in the last eight bytes, which are gzip's own checksum."""
    written.write_bytes(written.read_bytes()[:kept])
    _assert_refused(written)


@pytest.mark.parametrize("more", [b"x", b"garbage" * 100, gzip.compress(b"{}\n")], ids=["a byte", "more", "a member"])
def test_data_after_a_snapshot_is_refused(written: Path, more: bytes) -> None:
    """A file with data after its end is not the file that was written."""
    written.write_bytes(written.read_bytes() + more)
    _assert_refused(written)


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_are_no_snapshot(path: Path, seed: int) -> None:
    """A thousand bytes, with or without the beginning of a gzip file, are refused in one line."""
    noise = random.Random(seed).randbytes(1_000)
    path.write_bytes(noise if seed % 2 else b"\x1f\x8b\x08\0" + noise)
    _assert_refused(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b"null", b"1", b'"text"', b"\xff\xfe", b"no json", b'{"format":"another"}', b"{}\n{}\n"],
    ids=ascii,
)
def test_other_content_is_no_snapshot(path: Path, content: bytes) -> None:
    """Packed and plain files of other programs are refused in one line."""
    path.write_bytes(gzip.compress(content))
    _assert_refused(path)
    path.write_bytes(content)
    _assert_refused(path)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    """With its name."""
    _assert_refused(tmp_path / "missing.snapshot", "missing.snapshot")


def test_a_folder_is_no_snapshot(tmp_path: Path) -> None:
    """And the error names it."""
    _assert_refused(tmp_path, str(tmp_path))


@pytest.mark.parametrize("more", [{}, {"sha256": {"another": "shape"}}, {"entries": "many"}], ids=str)
def test_a_newer_version_says_what_to_do(path: Path, more: dict[str, Any]) -> None:
    """Whatever else is in its header, a snapshot of a newer program asks for an upgrade."""
    _pack(path, json.dumps({"format": "harness-snapshot", "version": 2, "bytes": 0} | more).encode())
    _assert_refused(path, "version 2.*upgrade")


LINE: dict[str, Any] = {
    "table": SEARCHES,
    "key": "k",
    "text": "t",
    "payload": "[]",
    "created_at": 1.0,
    "expires_at": 2.0,
    "own": [10, "ddgs", "{}"],
}
UNUSABLE: dict[str, dict[str, Any]] = {
    "an unknown table": {"table": "sqlite_master"},
    "too few columns": {"own": [10, "ddgs"]},
    "too many columns": {"own": [10, "ddgs", "{}", ""]},
    "columns of another kind": {"own": ["many", 3, None]},
    "lists in columns": {"own": [10, ["ddgs"], {"a": 1}]},
    "no time": {"created_at": None},
    "a time in words": {"created_at": "yesterday"},
    "no payload": {"payload": None},
    "a key that is no text": {"key": 5},
    "no base64": {"embedding": "!!!!", "embedder": "m"},
    "half a number": {"embedding": "AAAA", "embedder": "m"},
    "a vector without its embedder": {"embedding": "AAAAAA=="},
}


@pytest.mark.parametrize("changes", UNUSABLE.values(), ids=UNUSABLE)
def test_an_entry_that_cannot_be_used_is_refused(path: Path, changes: dict[str, Any]) -> None:
    """Even with a right checksum, so that no later use fails."""
    _sealed(path, json.dumps(LINE | changes).encode() + b"\n")
    _assert_refused(path)


def test_the_unchanged_line_is_read(path: Path) -> None:
    """Without this the tests above would prove nothing."""
    _sealed(path, json.dumps(LINE).encode() + b"\n", entries=1)
    assert [entry_of(line).key for line in read_snapshot(path)[1]] == ["k"]


def test_a_wrong_number_of_entries_is_refused(path: Path) -> None:
    """The header must have the number of entries in the file."""
    _sealed(path, json.dumps(LINE).encode() + b"\n", entries=2)
    _assert_refused(path)


@pytest.mark.parametrize(
    "body",
    [b"[" * 100_000, b'{"own":' + b"[" * 100_000, b'{"a":' * 100_000, b"\n" * 3, b"[]\n", b"9" * 5_000 + b"\n"],
    ids=["deep lists", "a deep list in a column", "deep objects", "empty lines", "a list", "a long number"],
)
def test_a_body_without_entries_is_refused(path: Path, body: bytes) -> None:
    """Deep nesting, empty lines and long numbers are refused in one line, too."""
    _sealed(path, body)
    _assert_refused(path)


@pytest.mark.parametrize(
    "header",
    [
        b"[" * 100_000,
        b'{"format":"harness-snapshot","run":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
        b'{"format":"' + b"x" * (2 * MAX_HEADER_BYTES) + b'"}',
        b'{"format":"harness-snapshot","version":' + b"9" * 5_000 + b"}",
        b'{"format":"harness-snapshot","version":1,"bytes":-1}',
        b'{"format":"harness-snapshot","version":1,"bytes":%d}' % (MAX_BODY_BYTES + 1),
        b'{"format":"harness-snapshot","version":1,"bytes":1e300}',
    ],
    ids=["deep", "a deep run", "long", "a long number", "negative", "too large", "far too large"],
)
def test_a_header_that_is_out_of_bounds_is_refused(path: Path, header: bytes) -> None:
    """However long, deep or large, the error is one line."""
    _pack(path, header)
    _assert_refused(path)


@pytest.mark.slow
def test_a_small_file_never_takes_much_memory(path: Path) -> None:
    """A gzip bomb, a megabyte that unpacks to one gigabyte, is refused before it has filled the memory."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"format":"harness-snapshot","version":1,"bytes":%d,"sha256":""}\n' % MAX_BODY_BYTES)
        for _ in range(64):
            file.write(bytes(2**24))
    script = r"""
import re, sys
from pathlib import Path
from harness.errors import InvalidInput
from harness.storage.snapshots import read_snapshot
try:
    read_snapshot(Path(sys.argv[1]))
except InvalidInput:
    status = Path("/proc/self/status")  # ru_maxrss counts what the parent had before it started this
    print(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1] if status.exists() else 0)
"""
    told = subprocess.run(
        [sys.executable, "-c", script, path], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert int(told.stdout) < 300 * 1_024


# The store -----------------------------------------------------------------------------------------------------------


def test_the_store_answers_by_key(store: Store) -> None:
    """For any tenant; the payload is the stored one."""
    for table, entry in ENTRIES:
        for tenant in (TENANT, "anybody"):
            found = store.rows.get(table, tenant, entry.key)
            assert found is not None
            assert (found.text, found.payload, found.created_at) == (entry.text, entry.payload, entry.created_at)
    assert store.rows.get(SEARCHES, TENANT, "unknown") is None
    assert store.rows.get(RESEARCH, TENANT, "search") is None


def test_an_entry_answers_its_query(tmp_path: Path) -> None:
    """A row that answered another key also answers it in the replay; two lines of one row are one row."""
    entry = embedded("own key")
    write_snapshot(tmp_path / "x", [line_of(SEARCHES, entry, asked) for asked in ("asked", "own key")])
    store = replay_store(read_snapshot(tmp_path / "x")[1])
    for key in ("asked", "own key"):
        found = store.rows.get(SEARCHES, TENANT, key)
        assert found is not None
        assert found.key == "own key"
    assert [each.key for each in store.listings.scan(SEARCHES, TENANT)] == ["own key"]


def test_nothing_expires_in_a_replay(store: Store) -> None:
    """An answer of the snapshot is valid at any time."""
    found = store.rows.get(SEARCHES, TENANT, "expired")
    assert found is not None
    assert found.expires_at > NOW * 100
    stats = store.listings.stats(SEARCHES, TENANT, NOW * 100)
    assert (stats.live, stats.expired, stats.total) == (3, 0, 3)


def test_the_store_answers_by_meaning(store: Store) -> None:
    """By scope and embedder, like the original store."""
    assert keys_near(store, vector_of("search")) == ["search"]
    assert keys_near(store, vector_of("research"), table=RESEARCH) == ["research"]
    assert keys_near(store, vector_of("search"), embedder="another") == []
    assert keys_near(store, vector_of("search"), scope=("another", "{}")) == []
    assert keys_near(store, vector_of("search"), k=0) == []


def test_the_nearest_come_first_in_a_replay(path: Path) -> None:
    """Ordered by similarity, then by key."""
    held = [embedded(key, vector=vector_of("one")) for key in ("b", "a")] + [embedded("two"), embedded("three")]
    store = replay_store([line_of(SEARCHES, entry) for entry in held])
    found = store.nearest.search(SEARCHES, TENANT, SCOPES[SEARCHES], vector_of("one"), embedder=EMBEDDER, k=3, now=NOW)
    assert [each.entry.key for each in found][:2] == ["a", "b"]
    assert [each.similarity for each in found] == sorted((each.similarity for each in found), reverse=True)


def test_the_store_lists_its_rows(path: Path) -> None:
    """By time (of equal times, the later in the file first) and by scope; nothing expires."""
    held = [embedded("b", created_at=NOW + 1), an_entry("a"), embedded("c", own=(10, "a", "{}"), created_at=NOW + 1)]
    store = replay_store([line_of(SEARCHES, entry) for entry in held])
    told = store.listings.timeline(SEARCHES, TENANT, limit=9)
    assert [(each.key, each.number, each.own) for each in told] == [
        (held[at].key, at + 1, held[at].own) for at in (2, 0, 1)
    ]
    assert [each.key for each in store.listings.timeline(SEARCHES, TENANT, since=NOW + 1, limit=1, offset=1)] == ["b"]
    assert store.nearest.scopes(SEARCHES, TENANT, EMBEDDER) == [("a", "{}"), SCOPES[SEARCHES]]
    assert store.nearest.scopes(RESEARCH, TENANT, EMBEDDER) == []
    assert store.listings.expiring(SEARCHES, TENANT, [NOW, NOW * 100]) == [0, 0]


def test_a_row_of_the_store_is_whole(store: Store) -> None:
    """A scan returns every row of the table, with all own columns and its embedding."""
    kept: Callable[[Entry], Entry] = lambda entry: replace(entry, expires_at=0.0, last_used_at=0.0)  # noqa: E731
    expected = [kept(entry) for table, entry in ENTRIES if table == SEARCHES]
    assert [kept(entry) for entry in store.listings.scan(SEARCHES, TENANT)] == expected


WRITES: dict[str, Callable[[Store], object]] = {
    "put": lambda store: store.rows.put(SEARCHES, TENANT, an_entry("k")),
    "embed": lambda store: store.nearest.embed(SEARCHES, TENANT, "search", b"", EMBEDDER),
    "touch": lambda store: store.rows.touch(SEARCHES, TENANT, "search", NOW),
    "sweep": lambda store: store.rows.sweep(SEARCHES, TENANT, NOW * 2),
    "delete": lambda store: store.rows.delete(SEARCHES, TENANT, ["search"]),
    "clear": lambda store: store.admin.clear(SEARCHES, TENANT),
    "count": lambda store: store.usage.add(TENANT, "2026-01-01", {"exact": 1}),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_snapshot_is_read_only(store: Store, write: Callable[[Store], object]) -> None:
    """Every write is refused in one line that says so, and changes nothing."""
    before = [list(store.listings.scan(table, TENANT)) for table in (SEARCHES, RESEARCH, UNANSWERED)]
    _assert_one_line(StoreError, lambda: write(store), "read-only")
    assert [list(store.listings.scan(table, TENANT)) for table in (SEARCHES, RESEARCH, UNANSWERED)] == before


def test_reads_are_answered(store: Store) -> None:
    """Every other call of a service works, and finds nothing to do."""
    with store.locks.hold("name", 0) as mine:
        assert mine
    assert store.nearest.meanings(TENANT, ["RAG"]) == []
    assert store.usage.by_day(TENANT) == {}
    assert store.nearest.unembedded(SEARCHES, TENANT, EMBEDDER, 10) == []
    assert store.admin.verify(repair=True) == []
    assert store.admin.reindex() == 0
    assert store.admin.size() > 0
    store.close()
    assert store.rows.get(SEARCHES, TENANT, "search") is not None


# ---------------------------------------------------------------------------------------------------------------------


def _pack(path: Path, header: bytes, body: bytes = b"") -> None:
    path.write_bytes(gzip.compress(header + b"\n" + body, compresslevel=1))


def _sealed(path: Path, body: bytes, entries: int | None = None) -> None:
    """Write a snapshot of any body, with a matching header."""
    header = SnapshotHeader(entries=len(body.splitlines()) if entries is None else entries, bytes=len(body))
    sealed = hashlib.sha256(msgspec.json.encode(header) + body).hexdigest()
    _pack(path, msgspec.json.encode(replace(header, sha256=sealed)), body)


def _assert_refused(path: Path, words: str = "") -> None:
    _assert_one_line(InvalidInput, lambda: read_snapshot(path), words)


def _assert_one_line(error: type[Exception], call: Callable[[], object], words: str) -> None:
    with pytest.raises(error, match=words or None) as raised:
        call()
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 600


# Audits --------------------------------------------------------------------------------------------------------------


def test_audits_are_exported(path: Path) -> None:
    """Whole, and for any tenant; pairs that disagreed stay refused; audits cannot be changed."""
    audits = [an_audit("Zürich\n?", "b"), an_audit("a", "c", agreed=True, at=1.0, probability=0.5)]
    write_snapshot(path, map(line_of_audit, reversed(audits)))
    _, lines = read_snapshot(path)
    store = replay_store(lines)
    assert list(map(audit_of, lines)) == audits[::-1]
    assert store.audits.all("any tenant") == audits
    assert store.audits.count("any tenant") == (1, 1)
    assert store.audits.disagreeing("any tenant", search_key("B")) == {search_key("zürich ?")}
    assert store.audits.disagreeing("any tenant", search_key("a")) == frozenset()
    for change in (lambda: store.audits.put("any tenant", audits[0]), lambda: store.audits.clear("any tenant")):
        with pytest.raises(StoreError, match="read-only"):
            change()


@pytest.mark.parametrize(
    "change",
    [
        {"queries": ["b", "a"]}, {"queries": ["a", "a"]}, {"queries": ["a", ""]}, {"queries": ["a", "x"]},
        {"queries": ["a"]}, {"overlap": 1.5}, {"similarity": -0.1}, {"probability": 2}, {"agreed": 1},
        {"created_at": 1e12}, {"created_at": -1}, {"created_at": None},
    ],
)  # fmt: skip
def test_an_invalid_audit_is_refused(path: Path, change: dict[str, Any]) -> None:
    """The whole file is refused, in one line."""
    line = line_of_audit(an_audit("a", "b"))
    told = json.loads(line.payload)
    if change.get("queries") == ["b", "a"]:
        change = {"queries": told["queries"][::-1]}
    write_snapshot(path, [replace(line, payload=json.dumps(told | change))])
    _assert_refused(path)


def test_the_header_of_an_older_program_is_read(path: Path) -> None:
    """A run whose fields are in another order, or fewer, opens: the checksum is of the line as it was written."""
    older = msgspec.to_builtins(RUN)
    newest = older.pop("chunk_tokens"), older.pop("marked"), older.pop("code")
    header = {"format": "harness-snapshot", "version": 1, "entries": 0, "bytes": 0, "sha256": ""}
    line = msgspec.json.encode({**header, "run": dict(reversed(older.items()))})
    sealed = hashlib.sha256(line).hexdigest()
    _pack(path, line.replace(b'"sha256":""', f'"sha256":"{sealed}"'.encode()))
    assert newest == ((200, 350), False, {})
    assert read_snapshot(path) == (SnapshotHeader(sha256=sealed, run=RUN), [])
