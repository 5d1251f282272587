"""Export and import: lossless, and damaged files add nothing."""

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
    """Return the path of an export."""
    return tmp_path / "memory.jsonl"


@pytest.fixture
def full(memory: Memory) -> Memory:
    """Return a memory with an exchange and a document of several chunks."""
    memory.writer.remember(said("e1", "hello\nworld", "\N{SNOWMAN}", prior=("e0",), continuation=2))
    memory.writer.add_text("A sentence about ferrets. " * 100, session_id="s1")
    return memory


def test_export_and_import_are_lossless(full: Memory, remembering: Remembering, file: Path, store: Store) -> None:
    """Every field and vector; nothing is embedded again."""
    count = full.transfer.export_to(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other, model = MemoryStore(), WordEmbedder()
    imported = remembering(opens=other, model=model).transfer.import_from(file)
    assert (imported.added, imported.known, imported.kept) == (count, 0, 0)
    assert list(other.listings.scan("memory", "default")) == list(store.listings.scan("memory", "default"))
    assert model.texts == []


def test_importing_twice_changes_nothing(full: Memory, file: Path) -> None:
    """Existing memories are counted as known."""
    count = full.transfer.export_to(file)
    assert full.transfer.import_from(file) == type(full.transfer.import_from(file))(0, count, 0)


def test_existing_memories_stay(full: Memory, remembering: Remembering, file: Path) -> None:
    """An exchange with the same id is not overwritten, not in another collection either."""
    full.transfer.export_to(file)
    other = MemoryStore()
    remembering(opens=other).writer.remember(said("e1", "mine"))
    imported = remembering(opens=other).transfer.import_from(file)
    assert imported.kept == 1
    assert remembering(opens=other).listing.thread("t1")[0].user_message == "mine"


def test_only_the_own_collection_is_exported(full: Memory, remembering: Remembering, file: Path) -> None:
    """No other collection or tenant."""
    remembering(collection_name="other").writer.remember(said("not-mine-1", "hello"))
    remembering(tenant="ann").writer.remember(said("not-mine-2", "hello"))
    full.transfer.export_to(file)
    assert b"not-mine" not in file.read_bytes()


def test_an_empty_memory_is_exported_and_imported(memory: Memory, file: Path) -> None:
    """A header only."""
    assert memory.transfer.export_to(file) == 0
    assert memory.transfer.import_from(file).added == 0


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
def test_a_damaged_file_adds_nothing(full: Memory, remembering: Remembering, file: Path, how: str) -> None:
    """The whole file is checked before use, and the error is reported."""
    full.transfer.export_to(file)
    file.write_bytes(DAMAGES[how](file.read_bytes()))
    other = MemoryStore()
    with pytest.raises(InvalidInput) as caught:
        remembering(opens=other).transfer.import_from(file)
    assert str(file) in str(caught.value)
    assert list(other.listings.scan("memory", "default")) == []


def test_a_vector_must_have_the_length_1(full: Memory, remembering: Remembering, file: Path) -> None:
    """Otherwise similarities would be wrong: it is refused even if the digest matches."""
    import base64
    import hashlib

    full.transfer.export_to(file)
    header, *lines = [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]
    lines[0]["embedding"] = base64.b64encode(b"\0\0\x80\x3f" * 64).decode()
    body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    header["sha256"] = hashlib.sha256(body).hexdigest()
    file.write_bytes(msgspec.json.encode(header) + b"\n" + body)
    with pytest.raises(InvalidInput, match=r"line 2 is damaged.*length 1"):
        remembering(opens=MemoryStore()).transfer.import_from(file)


def test_secrets_are_masked_by_an_import(memory: Memory, remembering: Remembering, file: Path) -> None:
    """The file may come from a program that did not mask them; the secret's vector is dropped, too."""
    import hashlib

    memory.writer.remember(said("e1", "the key is PLACEHOLDER"))
    memory.transfer.export_to(file)
    header, line = file.read_bytes().replace(b"PLACEHOLDER", KEY.encode()).splitlines()
    told = msgspec.json.decode(header)
    told["sha256"] = hashlib.sha256(line + b"\n").hexdigest()
    file.write_bytes(msgspec.json.encode(told) + b"\n" + line + b"\n")
    other = MemoryStore()
    assert remembering(opens=other).transfer.import_from(file).added == 1
    (row,) = other.listings.scan("memory", "default")
    assert KEY not in row.text + row.payload.decode()
    assert row.embedding is None


def test_an_unwritable_path_is_reported(full: Memory, tmp_path: Path) -> None:
    """A missing folder, or a folder at the path; no partial file is left."""
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "missing" / "memory.jsonl", tmp_path / "folder"):
        with pytest.raises(InvalidInput, match="cannot write"):
            full.transfer.export_to(place)
    assert not [each.name for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_a_missing_file_is_reported(memory: Memory, tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(InvalidInput, match=r"cannot read.*missing"):
        memory.transfer.import_from(tmp_path / "missing")
