"""Export and import: nothing is lost on the way, and nothing damaged gets in."""

import stat
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from harness.chat import Memory
from harness.errors import InvalidInput
from harness.ports import Store
from tests.chat.said import said
from tests.fakes import MemoryStore, WordEmbedder

Remembering = Callable[..., Memory]
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where an export goes."""
    return tmp_path / "memory.jsonl"


@pytest.fixture
def full(memory: Memory) -> Memory:
    """Return a memory with an exchange and a document of several chunks."""
    memory.remember(said("e1", "hello\nworld", "\N{SNOWMAN}", prior=("e0",), continuation=2))
    memory.add_text("A sentence about ferrets. " * 100, session_id="s1")
    return memory


def test_nothing_is_lost_on_the_way(full: Memory, remembering: Remembering, file: Path, store: Store) -> None:
    """Every field and every vector; nothing is embedded again."""
    count = full.export_to(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other, model = MemoryStore(), WordEmbedder()
    imported = remembering(opens=other, model=model).import_from(file)
    assert (imported.added, imported.known, imported.kept) == (count, 0, 0)
    assert list(other.listings.scan("memory", "default")) == list(store.listings.scan("memory", "default"))
    assert model.texts == []


def test_importing_twice_changes_nothing(full: Memory, file: Path) -> None:
    """What is there is known."""
    count = full.export_to(file)
    assert full.import_from(file) == type(full.import_from(file))(0, count, 0)


def test_what_is_there_stays_as_it_is(full: Memory, remembering: Remembering, file: Path) -> None:
    """Another exchange of the same id is not written over, and not of another collection either."""
    full.export_to(file)
    other = MemoryStore()
    remembering(opens=other).remember(said("e1", "mine"))
    imported = remembering(opens=other).import_from(file)
    assert imported.kept == 1
    assert remembering(opens=other).thread("t1")[0].user_message == "mine"


def test_only_ones_own_collection_is_exported(full: Memory, remembering: Remembering, file: Path) -> None:
    """Neither another collection nor another tenant."""
    remembering(collection_name="other").remember(said("not-mine-1", "hello"))
    remembering(tenant="ann").remember(said("not-mine-2", "hello"))
    full.export_to(file)
    assert b"not-mine" not in file.read_bytes()


def test_an_empty_memory_is_exported_and_imported(memory: Memory, file: Path) -> None:
    """A header, and nothing else."""
    assert memory.export_to(file) == 0
    assert memory.import_from(file).added == 0


def _cut(data: bytes) -> bytes:
    return b"\n".join(data.splitlines()[:-1]) + b"\n"


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "the last line is missing": _cut,
    "cut off": lambda data: data[:-40],
    "a word changed": lambda data: data.replace(b"ferrets", b"badgers", 1),
    "a line twice": lambda data: data + data.splitlines()[-1] + b"\n",
    "no header": lambda data: b"\n".join(data.splitlines()[1:]),
    "another version": lambda data: data.replace(b'"version":1', b'"version":9', 1),
    "no JSON": lambda data: b"\xff\xfe not JSON\n" + data,
    "a vector that is none": lambda data: data.replace(b'"embedding":"', b'"embedding":"!', 1),
    "an id that is a path": lambda data: data.replace(b'"id":"e1"', b'"id":"../e1"', 1),
    "empty": lambda _: b"",
}


@pytest.mark.parametrize("how", DAMAGES)
def test_of_a_damaged_file_nothing_gets_in(full: Memory, remembering: Remembering, file: Path, how: str) -> None:
    """It is checked whole before anything is used, and what is wrong is told."""
    full.export_to(file)
    file.write_bytes(DAMAGES[how](file.read_bytes()))
    other = MemoryStore()
    with pytest.raises(InvalidInput) as caught:
        remembering(opens=other).import_from(file)
    assert str(file) in str(caught.value)
    assert list(other.listings.scan("memory", "default")) == []


def test_a_vector_must_have_the_length_1(full: Memory, remembering: Remembering, file: Path) -> None:
    """Or similarities would be wrong: it is refused even where the digest fits."""
    import base64
    import hashlib

    full.export_to(file)
    header, *lines = [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]
    lines[0]["embedding"] = base64.b64encode(b"\0\0\x80\x3f" * 64).decode()
    body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    header["sha256"] = hashlib.sha256(body).hexdigest()
    file.write_bytes(msgspec.json.encode(header) + b"\n" + body)
    with pytest.raises(InvalidInput, match=r"line 2 is damaged.*length 1"):
        remembering(opens=MemoryStore()).import_from(file)


def test_secrets_are_masked_on_the_way_in(memory: Memory, remembering: Remembering, file: Path) -> None:
    """A file may come from a program that did not mask them; the vector of the secret does not get in either."""
    import hashlib

    memory.remember(said("e1", "the key is PLACEHOLDER"))
    memory.export_to(file)
    header, line = file.read_bytes().replace(b"PLACEHOLDER", KEY.encode()).splitlines()
    told = msgspec.json.decode(header)
    told["sha256"] = hashlib.sha256(line + b"\n").hexdigest()
    file.write_bytes(msgspec.json.encode(told) + b"\n" + line + b"\n")
    other = MemoryStore()
    assert remembering(opens=other).import_from(file).added == 1
    (row,) = other.listings.scan("memory", "default")
    assert KEY not in row.text + row.payload.decode()
    assert row.embedding is None


def test_a_place_that_cannot_be_written_is_told(full: Memory, tmp_path: Path) -> None:
    """No folder, or a folder in the file's place; and no half file is left."""
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "missing" / "memory.jsonl", tmp_path / "folder"):
        with pytest.raises(InvalidInput, match="cannot write"):
            full.export_to(place)
    assert not [each.name for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_a_file_that_is_not_there_is_told(memory: Memory, tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(InvalidInput, match=r"cannot read.*missing"):
        memory.import_from(tmp_path / "missing")
