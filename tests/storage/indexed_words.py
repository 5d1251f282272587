"""Rows with different words, the files of their index, and lookups in both."""

from hashlib import sha256
from pathlib import Path

from harness.storage.sqlite.store import SqliteStore
from tests.storage.entries import TENANT
from tests.storage.words import found, passage, put

ROWS = 300
ANIMALS = ("zebra", "lion", "heron")


def text_of(number: int) -> str:
    """Return a text with its number as a word, and one of three animals."""
    return f"number{number} saw a {ANIMALS[number % 3]} " + "and more " * (number % 7)


def fill(store: SqliteStore, count: int = ROWS) -> None:
    """Store passages `0`, `1`, … and index them."""
    put(store, *(passage(f"{number}", text_of(number)) for number in range(count)))
    assert found(store, "number7") == ["7"]


def every(store: SqliteStore, *terms: str, tenant: str = TENANT) -> list[str]:
    """Return all keys that the words find, sorted."""
    return sorted(found(store, *terms, k=10_000, tenant=tenant))


def assert_right(store: SqliteStore, count: int = ROWS) -> None:
    """Check that each animal finds its passages, and each number its own."""
    for place, animal in enumerate(ANIMALS):
        assert every(store, animal) == sorted(f"{number}" for number in range(place, count, 3))
    for number in (0, count // 2, count - 1):
        assert found(store, f"number{number}") == [f"{number}"]


def database(path: Path) -> list[bytes]:
    """Return the content of the database and its log."""
    return [path.with_name(path.name + suffix).read_bytes() for suffix in ("", "-wal")]


def raw(path: Path) -> bytes:
    """Return the bytes of the index with its log."""
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


def overwrite(file: Path, content: bytes) -> None:
    """Write the file of a closed database, and delete its log."""
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    file.write_bytes(content)


def rare_words(count: int) -> list[str]:
    """Return words of letters that begin differently."""
    letters = str.maketrans("0123456789", "qrstuvwxyz")
    return [sha256(str(number).encode()).hexdigest()[:24].translate(letters) for number in range(count)]


def still_there(index: Path, wanted: list[str]) -> list[str]:
    """Return the words whose end is in the file: their beginning may be shared with the word before."""
    content = raw(index)
    return [word for word in wanted if word[6:].encode() in content]
