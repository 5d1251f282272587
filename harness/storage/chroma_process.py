"""ChromaDB below its Python client, and the process that writes a folder of it."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import IndexUnavailable
from harness.ports import Vectors
from harness.settings.extras import is_installed

BATCH = 2_000
"""Vectors written at a time. With 500, writing takes nearly twice as long."""
_CONFIGURATION = '{"hnsw": {"space": "cosine", "batch_size": 1, "sync_threshold": 1}}'
SCOPE = ("default_tenant", "default_database")
DATABASE = "chroma.sqlite3"
INCOMING = "incoming"


def import_bindings() -> Any:
    """Import ChromaDB below its Python client.

    That one takes 1.3 s and 49 MB more to import, reads the user's `.env`, and keeps every folder open in a table of
    its own, so that one that was deleted and made again stays unusable (#6499). It is only imported for the types of
    its errors, when there is one; where that fails, Rust ends this process. So files are looked into before.
    """
    if not is_installed("index"):
        raise ImportError("No module named 'chromadb'")
    import chromadb_rust_bindings as bindings  # type: ignore[import-untyped]

    if not hasattr(bindings, "Bindings"):  # a thread that waited for another one's import gets it, failed or not
        raise ImportError("chromadb_rust_bindings cannot be imported")
    return bindings


def opened(folder: Path) -> Any:
    """Open a folder of ChromaDB."""
    chroma = import_bindings()
    database = chroma.SqliteDBConfig(
        url=str(folder / DATABASE), hash_type=chroma.MigrationHash.MD5, migration_mode=chroma.MigrationMode.Apply
    )
    return chroma.Bindings(allow_reset=False, sqlite_db_config=database, persist_path=str(folder), hnsw_cache_size=1)


def hand_over(target: Path, keys: Sequence[str], vectors: Vectors) -> None:
    """Write keys and vectors to a file for the writing process."""
    if len(keys) != len(vectors):
        raise IndexUnavailable(f"{len(keys)} keys were given for {len(vectors)} vectors")
    for start in range(0, len(keys), BATCH):
        part = slice(start, start + BATCH)
        frame = msgspec.msgpack.encode((keys[part], vectors.shape[1], vectors[part].tobytes()))
        target.mkdir(exist_ok=True)
        with (target / INCOMING).open("ab") as incoming:
            incoming.write(len(frame).to_bytes(8) + frame)


def _handed_over(target: Path) -> Iterator[tuple[list[str], Any]]:
    decoder = msgspec.msgpack.Decoder(tuple[list[str], int, bytes])
    with (target / INCOMING).open("rb") as incoming:
        while size := incoming.read(8):
            keys, width, vectors = decoder.decode(incoming.read(int.from_bytes(size)))
            yield keys, memoryview(vectors).cast("f", (len(keys), width)).tolist()
    (target / INCOMING).unlink()


def write(folder: str, name: str, about: str) -> None:
    """Do what the writing process is for: write what was handed over, print how many keys there are then."""
    try:
        chroma = opened(Path(folder))
        if about:
            made = chroma.create_collection(name, _CONFIGURATION, None, json.loads(about), False, *SCOPE)
        else:
            made = chroma.get_collection(name, *SCOPE)
        for keys, vectors in _handed_over(Path(folder)):
            chroma.upsert(str(made.id), keys, vectors, None, None, None, *SCOPE)
        sys.stdout.write(str(chroma.count(str(made.id), *SCOPE)))
    except BaseException as error:  # noqa: BLE001 - every error is reported, and this process ends
        sys.stdout.write(one_line(error))
        sys.exit(1)


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    return " ".join(str(error).split()) or type(error).__name__
