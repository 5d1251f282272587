"""Corrupted files never give a wrong answer: every hit equals the stored value, and everything else is a miss.

A sound file, part of which is still in its write-ahead log, is damaged in one of six ways by each seed. Then every row
is looked up in every way that a service does.
"""

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cache import Cache, ResearchContext
from harness.core.entries import Entry, Hit, Stale
from harness.storage.sqlite.store import SqliteStore
from tests.cli.program import Program
from tests.fakes import FakeClock
from tests.storage.embedded import EMBEDDER, SCOPES, embedded, vector_of
from tests.storage.entries import NOW, SEARCHES, TENANT, a_tool_entry

pytestmark = pytest.mark.slow

SEEDS = 200
ROWS = 40
PAGE = 4_096
LOG_HEADER = 32
TOOL = "tool_cache"
DOCUMENTED = {0, 4, 6}
"""Codes: success, the database failed, offline and nothing is cached."""

Rng = random.Random


def make(path: Path) -> None:
    """Make a database as a killed process leaves it: half of its rows are in the log only."""
    alive = path.with_name("alive.db")
    store = SqliteStore(alive)
    cache = Cache(store, clock=FakeClock(NOW))
    for number in range(ROWS):
        if number == ROWS // 2:
            store.close()
        cache.searches.put(_query(number), _results(number))
        cache.researches.put(_query(number), "overview", _research(number))
        store.rows.put(SEARCHES, TENANT, embedded(f"k{number}", payload=_payload(number)))
        store.rows.put(TOOL, TENANT, a_tool_entry(f"t{number}", created_by=None))
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{alive}{suffix}", f"{path}{suffix}")
    store.close()


def damage(path: Path, seed: int) -> str:
    """Damage the file, or its log, in the way of this seed; return what was done."""
    rng = Rng(seed)
    name, how = list(_DAMAGES.items())[seed % len(_DAMAGES)]
    if name == "header" or (name != "log" and rng.random() < 0.5):  # or the log covers part of what is damaged
        SqliteStore(path).close()
    target = path.with_name(f"{path.name}-wal") if name == "log" else path
    content = bytearray(target.read_bytes())
    how(rng, content)
    target.write_bytes(content)
    return name


def _flip(rng: Rng, content: bytearray, start: int, end: int) -> None:
    content[rng.randrange(start, min(end, len(content)))] ^= 1 << rng.randrange(8)


def _in_header(rng: Rng, content: bytearray) -> None:
    for _ in range(rng.choice((1, 2, 10))):
        _flip(rng, content, 0, 100)


def _in_log(rng: Rng, content: bytearray) -> None:
    for _ in range(rng.choice((1, 10, 200))):
        _flip(rng, content, rng.choice((0, LOG_HEADER)), len(content))


def _page(rng: Rng, content: bytearray) -> None:
    start = PAGE * rng.randrange(len(content) // PAGE)
    content[start : start + PAGE] = rng.choice((rng.randbytes(PAGE), bytes(PAGE), content[:PAGE]))


def _swapped_pages(rng: Rng, content: bytearray) -> None:
    one, other = (PAGE * rng.randrange(1, len(content) // PAGE) for _ in range(2))
    content[one : one + PAGE], content[other : other + PAGE] = content[other : other + PAGE], content[one : one + PAGE]


def _bits(rng: Rng, content: bytearray) -> None:
    for _ in range(rng.choice((1, 10, 200))):
        _flip(rng, content, 100, len(content))


def _payload_bits(rng: Rng, content: bytearray) -> None:
    places = [at for at in range(len(content)) if content.startswith(b"answer ", at)]
    for at in rng.sample(places, k=min(20, len(places))):
        _flip(rng, content, at, at + 40)


_DAMAGES: dict[str, Callable[[Rng, bytearray], None]] = {
    "header": _in_header,
    "log": _in_log,
    "page": _page,
    "swapped pages": _swapped_pages,
    "bits": _bits,
    "payload": _payload_bits,
}


def _query(number: int) -> str:
    return f"the question number {number}"


def _results(number: int) -> list[dict[str, str]]:
    return [{"title": f"answer {number} to {_query(number)} " + "x" * 300, "href": f"https://example.org/{number}"}]


def _research(number: int) -> ResearchContext:
    return ResearchContext(f"answer {number} gathered " + "y" * 300, [f"round {number}"], [number / 100])


def _payload(number: int) -> bytes:
    return f'["answer {number} found by meaning"]'.encode()


def wrong_answers(path: Path) -> tuple[list[str], int]:
    """Look everything up; return the answers that had not been stored, and how many rows answered."""
    store = SqliteStore(path)
    cache = Cache(store, clock=FakeClock(NOW))
    wrong: list[str] = []
    served = 0
    for number in range(ROWS):
        asked = {
            "search": (cache.searches.find(_query(number)), _results(number)),
            "research": (cache.researches.find(_query(number), "overview"), _research(number)),
        }
        for kind, (found, stored) in asked.items():
            if isinstance(found, Hit | Stale):
                served += 1
                wrong += [f"{kind} {number}"] if found.value != stored or isinstance(found, Stale) else []
        entry = store.rows.get(TOOL, TENANT, f"t{number}")
        known = a_tool_entry(f"t{number}", created_by=None)
        wrong += [f"tool {number}"] if entry is not None and entry != known else []
    near = store.nearest.search(SEARCHES, TENANT, SCOPES[SEARCHES], vector_of("k7"), embedder=EMBEDDER, k=ROWS, now=NOW)
    wrong += [f"near {each.entry.key}" for each in near if not _is_stored(each.entry)]
    wrong += [
        f"scanned {each.key}"
        for each in store.listings.scan(SEARCHES, TENANT)
        if each.embedder and not _is_stored(each)
    ]
    store.admin.verify(repair=False)
    store.rows.put(SEARCHES, TENANT, embedded("after"))
    wrong += [] if store.rows.get(SEARCHES, TENANT, "after") else ["what was put after the damage"]
    store.close()
    return wrong, served


def _is_stored(entry: Entry) -> bool:
    stored = embedded(entry.key, payload=_payload(int(entry.key[1:])))
    return (entry.text, entry.payload, entry.own) == (stored.text, stored.payload, stored.own)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sound database, which no test opens."""
    path = tmp_path_factory.mktemp("sound") / "harness.db"
    make(path)
    return path


def copy(sound: Path, folder: Path) -> Path:
    """Copy a database with its log."""
    path = folder / "harness.db"
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{sound}{suffix}", f"{path}{suffix}")
    return path


def test_the_sound_file_answers_everything(sound: Path, tmp_path: Path) -> None:
    """Without damage every row is served, so the other tests have something to miss."""
    assert wrong_answers(copy(sound, tmp_path)) == ([], 2 * ROWS)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_corrupted_file_gives_no_wrong_answer(sound: Path, tmp_path: Path, seed: int) -> None:
    """No call raises, only stored values are served, and the store takes rows again."""
    path = copy(sound, tmp_path)
    kind = damage(path, seed)
    wrong, _ = wrong_answers(path)
    assert not wrong, kind


@pytest.mark.parametrize("seed", range(6))
def test_the_command_survives_a_corrupted_file(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    """No command ends with a traceback; each ends with a documented code."""
    harness = Program(capsys, monkeypatch)
    monkeypatch.setenv("HARNESS_DATA_DIR", str(tmp_path))
    damage(copy(sound, tmp_path), seed)
    for arguments in (("search", _query(3), "--offline"), ("cache", "verify"), ("cache", "stats"), ("cache", "runs")):
        assert harness(*arguments).code in DOCUMENTED, arguments
    with sqlite3.connect(tmp_path / "harness.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() is not None
    connection.close()
