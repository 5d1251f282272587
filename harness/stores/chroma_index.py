"""A vector index on disk, kept by ChromaDB: a copy of vectors that the database holds.

It may lag, be lost, be damaged or not be installed; every such failure is `IndexUnavailable`. A folder looks like this:

    FOLDER/<collection>/manifest.json    what the collection is, and which snapshot is the published one
    FOLDER/<collection>/<snapshot>/      the files of ChromaDB, never written again once they are published

ChromaDB writes its files in place and believes what it reads: a file cut short or overwritten, be it by a process that
was killed while writing, crashes the interpreter (chroma-core/chroma#7238, #7069), and a process that reads while
another one writes erodes the index of both (#3792). So every `add` works on a copy, which is published by replacing the
manifest, and files are only opened if their checksums are those of the manifest. Readers need no lock, and a process
may be killed at any time.
"""

import ctypes
import hashlib
import os
import re
import shutil
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import msgspec
from msgspec import Struct

from harness.errors import IndexUnavailable
from harness.ports import Vectors

FORMAT = 1
"""Goes up when older folders can no longer be used."""

INDEXED_DIMENSIONS = 64
"""Longer vectors are projected to this length.

ChromaDB holds an index in memory. 100,000 vectors of 384 dimensions take 240 MB, of 128 take 110 MB, of 64 take 87 MB,
17 MB of which do not depend on the number of vectors. What is near by 384 dimensions is near by 64: of 88,000 real
queries, all neighbours with a similarity of 0.85 or more are among the 64 nearest by 64 dimensions (99.8% among 32);
of the true nearest 8, however dissimilar, 85% (79%). With 128 dimensions these are 96% (93%).
"""

BATCH = 2_000
"""Vectors written by one call. 500 would take twice as long; 5,000 leave more memory behind."""

_CONFIGURATION = {"hnsw": {"space": "cosine", "batch_size": 1, "sync_threshold": 1}}
"""The threshold of 1 has each call flushed to the files; what is left in the log, every process that opens them would
insert again, and write to them. Larger `ef_construction`, `ef_search` or `max_neighbors` found nothing more.
"""

_MANIFEST = "manifest.json"
_DATABASE = "chroma.sqlite3"
_SCOPE = ("default_tenant", "default_database")
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,126}[a-zA-Z0-9]")


class _Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in a collection's manifest: `snapshot` is `""` while it is empty, `checksums` are those of its files."""

    format: int
    generation: str
    embedder: str
    dimension: int
    count: int = 0
    snapshot: str = ""
    checksums: dict[str, int] = {}


class ChromaIndex:
    """Collections of vectors with keys, found by cosine similarity, in `folder`. For any thread, and after a fork.

    Making one opens nothing. Every process sees at its next call what another one has published. Only one process may
    write at a time: whoever calls `create`, `add`, `add_batches`, `drop` or `discard` holds a lock of its own (if not,
    the index stays sound, but vectors may be missing from it).

    Every method raises `IndexUnavailable`, and nothing else, when ChromaDB is not installed, and when the folder or
    the collection is lost, damaged or not writable. `create` makes a damaged collection anew, `discard` all of them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._start()
        _indexes.add(self)

    def _start(self) -> None:
        self._opened: dict[str, _Snapshot] = {}
        self._opening = threading.Lock()
        self._writing = threading.Lock()

    def generation(self, name: str) -> str | None:
        """Return the collection's generation, 32 hexadecimal digits, or `None` if there is no such collection."""
        with self._translating():
            manifest = self._read(name)
            return manifest.generation if manifest else None

    def names(self) -> list[str]:
        """Return the names of the collections, damaged ones too, sorted."""
        with self._translating():
            if not self._folder.exists():
                return []
            return sorted(each.name for each in self._folder.iterdir() if (each / _MANIFEST).exists())

    def count(self, name: str) -> int:
        """Return how many keys the collection holds."""
        with self._translating():
            return self._manifest(name).count

    def nearest(self, name: str, vector: Vectors, k: int) -> list[str]:
        """Return about the `k` nearest keys, the nearest first; fewer if the collection is smaller.

        The search is approximate, and by a shortened vector (`INDEXED_DIMENSIONS`): ask for some times more keys than
        are wanted, and rank them by the vectors themselves. The first call, and the first one after another process
        has written, loads the collection: 0.2 s for 100,000 vectors.
        """
        with self._translating():
            shortened = _shortened(vector[None], self._manifest(name).dimension)
            snapshot = self._published(name) if k > 0 else None
            return snapshot.nearest(shortened[0], k) if snapshot else []

    def create(self, name: str, *, embedder: str, dimension: int) -> str:
        """Make an empty collection for vectors of `dimension`, in place of any of this name; return its generation.

        What was there before may be damaged.
        """
        with self._translating(), self._writing:
            _bindings()  # to learn that it is not installed before the database relies on the collection
            manifest = _Manifest(format=FORMAT, generation=uuid4().hex, embedder=embedder, dimension=dimension)
            home = self._home(name)
            if not home.is_dir() or (home / _MANIFEST).is_dir():
                _remove(home)
            home.mkdir(parents=True, exist_ok=True)
            self._publish(name, manifest)
            return manifest.generation

    def add(self, name: str, keys: Sequence[str], vectors: Vectors) -> None:
        """Insert or replace vectors, shape (keys, dimension): all of them, or none at all when it raises.

        Beside 0.3 ms a vector, a call copies the collection: 0.3 s for 100,000 vectors. Prefer a few large calls, or
        `add_batches`. Searches go on meanwhile, and find what was there before.
        """
        self.add_batches(name, [(keys, vectors)])

    def add_batches(self, name: str, batches: Iterable[tuple[Sequence[str], Vectors]]) -> None:
        """Do one `add` of all batches together. What the iterator raises is raised as it is, and nothing is added."""
        with self._writing:
            with self._translating():
                manifest = self._manifest(name)
                target = self._home(name) / uuid4().hex
            try:
                with self._translating():
                    snapshot = self._copied(name, manifest, target)
                for keys, vectors in batches:
                    with self._translating():
                        snapshot.add(keys, _shortened(vectors, manifest.dimension))
                with self._translating():
                    published = msgspec.structs.replace(
                        manifest, snapshot=target.name, count=snapshot.count(), checksums=_checksums(target)
                    )
                    with self._opening:  # or a search might load a second one
                        self._publish(name, published)
                        self._opened[name] = snapshot
            except BaseException:
                shutil.rmtree(target, ignore_errors=True)
                raise

    def drop(self, name: str) -> None:
        """Delete the collection and its files; do nothing if there is none."""
        with self._translating(), self._writing:
            (self._home(name) / _MANIFEST).unlink(missing_ok=True)  # first: it is gone at once, for every process
            shutil.rmtree(self._home(name), ignore_errors=True)
            self._opened.pop(name, None)

    def discard(self) -> None:
        """Let go of the folder and remove it with all that is in it, or move aside what cannot be removed."""
        with self._translating(), self._writing:
            self.reopen()
            _remove(self._folder)

    def reopen(self) -> None:
        """Let go of what is loaded. The next call loads what is published then, as it always does when that has changed."""
        self._opened = {}

    def close(self) -> None:
        """Let go of what is loaded, and of its memory. A later call loads it again."""
        self.reopen()

    # The manifest ------------------------------------------------------------------------------------------------

    def _home(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise IndexUnavailable(f"not a collection's name: {name!r}; use 3 to 128 letters, digits, '.', '_', '-'")
        return self._folder / name

    def _read(self, name: str) -> _Manifest | None:
        path = self._home(name) / _MANIFEST
        try:
            manifest = msgspec.json.decode(path.read_bytes(), type=_Manifest)
        except FileNotFoundError:
            return None
        except msgspec.MsgspecError as error:
            raise IndexUnavailable(f"{path} is damaged ({error})") from error
        if manifest.format != FORMAT:
            raise IndexUnavailable(f"{path} was written by another version of the harness")
        return manifest

    def _manifest(self, name: str) -> _Manifest:
        manifest = self._read(name)
        if manifest is None:
            raise IndexUnavailable(f"there is no collection {name} in {self._folder}")
        return manifest

    def _publish(self, name: str, manifest: _Manifest) -> None:
        """Replace the manifest, which is atomic, and remove every snapshot but its own, killed writers' ones too."""
        home = self._home(name)
        draft = home / f"{_MANIFEST}.new"
        draft.write_bytes(msgspec.json.encode(manifest))
        draft.replace(home / _MANIFEST)
        for each in home.iterdir():
            if each.name not in {_MANIFEST, manifest.snapshot}:
                shutil.rmtree(each, ignore_errors=True)  # Windows keeps what a process has open: until the next time

    # Snapshots ---------------------------------------------------------------------------------------------------

    def _published(self, name: str) -> "_Snapshot | None":
        """Return the published snapshot, loaded; `None` while the collection is empty."""
        manifest = self._manifest(name)
        snapshot = self._opened.get(name)
        if snapshot is not None and snapshot.id == manifest.snapshot:
            return snapshot
        with self._opening:
            snapshot = self._opened.pop(name, None)
            while (manifest := self._manifest(name)).snapshot:
                if snapshot is not None and snapshot.id == manifest.snapshot:
                    self._opened[name] = snapshot
                    return snapshot
                snapshot = None  # lets go of it: two at once would take twice the memory
                try:
                    with self._translating():
                        snapshot = self._loaded(name, manifest)
                except IndexUnavailable:
                    if self._manifest(name).snapshot == manifest.snapshot:
                        raise
            return None

    def _loaded(self, name: str, manifest: _Manifest) -> "_Snapshot":
        """Check the files and have ChromaDB read them; whoever calls looks whether they were published all the time."""
        folder = self._home(name) / manifest.snapshot
        _check(folder, manifest)
        snapshot = _Snapshot(folder, name)
        snapshot.load(min(manifest.dimension, INDEXED_DIMENSIONS))
        return snapshot

    def _copied(self, name: str, manifest: _Manifest, target: Path) -> "_Snapshot":
        """Open a copy of the published snapshot; or a new one, if there is none."""
        target.mkdir()
        if not manifest.snapshot:
            about = {
                "embedder": manifest.embedder,
                "dimension": manifest.dimension,
                "generation": manifest.generation,
            }
            return _Snapshot(target, name, about)
        source = self._home(name) / manifest.snapshot
        for file in manifest.checksums:
            (target / file).parent.mkdir(exist_ok=True)
            shutil.copyfile(source / file, target / file)
        # not by copying the file: opening it, ChromaDB writes to it, which a reader may just be doing
        published = f"{(source / _DATABASE).absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(published, uri=True)) as old, closing(sqlite3.connect(target / _DATABASE)) as new:
            old.backup(new)
        _check(target, manifest)
        return _Snapshot(target, name)

    # Errors ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except IndexUnavailable:
            raise
        except (ImportError, AttributeError) as error:
            raise IndexUnavailable(
                f"ChromaDB is not installed, or not in a usable version ({_line(error)}); pip install 'chromadb~=1.5'"
            ) from error
        except OSError as error:
            raise IndexUnavailable(f"cannot use the vector index in {self._folder} ({_line(error)})") from error
        except BaseException as error:
            # a panic of Rust code is no Exception, so that nobody catches it by accident
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise IndexUnavailable(f"the vector index in {self._folder} is damaged ({_line(error)})") from error


class _Snapshot:
    """ChromaDB, opened on one folder with one collection, which is made if `about` is given. `id` names the folder.

    Spoken to below its Python client: that takes 1.3 s and 49 MB more to import, reads the user's `.env`, and keeps
    every folder open in a table of its own, so that one that was deleted and made again stays unusable (#6499).
    """

    def __init__(self, folder: Path, name: str, about: dict[str, Any] | None = None) -> None:
        chroma = _bindings()
        database = chroma.SqliteDBConfig(
            url=str(folder / _DATABASE), hash_type=chroma.MigrationHash.MD5, migration_mode=chroma.MigrationMode.Apply
        )
        self.id = folder.name
        self.bindings = chroma.Bindings(
            allow_reset=False, sqlite_db_config=database, persist_path=str(folder), hnsw_cache_size=1
        )
        _snapshots.add(self)
        if about is None:
            collection = self.bindings.get_collection(name, *_SCOPE)
        else:
            configuration = msgspec.json.encode(_CONFIGURATION).decode()
            collection = self.bindings.create_collection(name, configuration, None, about, False, *_SCOPE)
        self._collection = str(collection.id)

    def load(self, dimension: int) -> None:
        """Have the files read, which the first search does."""
        import numpy as np

        self.nearest(np.ones(dimension, np.float32), 1)

    def nearest(self, vector: Vectors, k: int) -> list[str]:
        answer = self.bindings.query(self._collection, None, [vector], k, None, None, [], *_SCOPE)
        keys: list[str] = answer.ids[0]
        return keys

    def add(self, keys: Sequence[str], vectors: Vectors) -> None:
        if len(keys) != len(vectors):
            raise IndexUnavailable(f"{len(keys)} keys were given with {len(vectors)} vectors")
        for start in range(0, len(keys), BATCH):
            part = slice(start, start + BATCH)
            self.bindings.upsert(self._collection, list(keys[part]), list(vectors[part]), None, None, None, *_SCOPE)

    def count(self) -> int:
        count: int = self.bindings.count(self._collection, *_SCOPE)
        return count


def _bindings() -> Any:
    import chromadb_rust_bindings  # type: ignore[import-untyped]

    return chromadb_rust_bindings


def _shortened(vectors: Vectors, dimension: int) -> Vectors:
    """Return the vectors as they are indexed, shape (vectors, at most `INDEXED_DIMENSIONS`)."""
    import numpy as np

    matrix = np.asarray(vectors, np.float32)
    if matrix.ndim != 2 or matrix.shape[1] != dimension:
        raise IndexUnavailable(f"vectors of shape {matrix.shape} do not fit a collection of {dimension} dimensions")
    return matrix if dimension <= INDEXED_DIMENSIONS else matrix @ _projection(dimension)


@lru_cache(maxsize=8)
def _projection(dimension: int) -> Vectors:
    """Return random orthonormal columns, shape (dimension, INDEXED_DIMENSIONS): the same ones for ever.

    Not learned from vectors: those first seen tell little of the later ones, and principal components, which keep more
    of the dissimilar neighbours, lose more of the near ones.
    """
    import numpy as np

    # the bits of a hash, because NumPy's generators may change; orthonormal columns are unique but for their signs
    bits = hashlib.shake_256(b"harness").digest(dimension * INDEXED_DIMENSIONS // 8 + 1)
    signs = np.unpackbits(np.frombuffer(bits, np.uint8))[: dimension * INDEXED_DIMENSIONS] * 2.0 - 1.0
    columns, triangle = np.linalg.qr(signs.reshape(dimension, INDEXED_DIMENSIONS))
    projection: Vectors = (columns * np.sign(np.diag(triangle))).astype(np.float32)
    return projection


def _check(folder: Path, manifest: _Manifest) -> None:
    if _checksums(folder) != manifest.checksums:
        raise IndexUnavailable(f"the vector index in {folder} is damaged: its files are not as they were written")


def _checksums(folder: Path) -> dict[str, int]:
    """Return the CRC-32 of every file but the database's: that has its own, and opening it changes it."""
    found = {}
    for file in folder.rglob("*"):
        if not file.name.startswith(_DATABASE) and file.is_file():
            with file.open("rb") as content:
                checksum = 0
                while part := content.read(1 << 20):
                    checksum = zlib.crc32(part, checksum)
            found[file.relative_to(folder).as_posix()] = checksum
    return found


def _remove(path: Path) -> None:
    """Delete a file, or a folder with all that is in it; rename what cannot be deleted."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except FileNotFoundError:
        return
    except OSError:
        path.rename(path.with_name(f"{path.name}.discarded-{uuid4().hex}"))


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


# A fork copies none of ChromaDB's threads. Whoever uses, or only lets go of, what the parent has opened would wait for
# them for ever. So the child keeps it and never touches it, and opens its own.
_indexes: WeakSet[ChromaIndex] = WeakSet()
_snapshots: WeakSet[_Snapshot] = WeakSet()


def _after_fork_in_child() -> None:
    for snapshot in list(_snapshots):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(snapshot.bindings))  # not even freed when the child ends
    for index in list(_indexes):
        index._start()  # noqa: SLF001 - same module


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork either
    os.register_at_fork(after_in_child=_after_fork_in_child)
