"""A vector index on disk, kept by ChromaDB: a copy of vectors that the database holds.

    FOLDER/<collection>/manifest.json    what the collection is, and which snapshot is the published one
    FOLDER/<collection>/<snapshot>/      ChromaDB's files, never written again once they are published

ChromaDB writes its files in place and believes what it reads. A file that is cut short or overwritten, be it by a
process killed while writing, crashes the interpreter or hangs it (chroma-core/chroma#7238, #7069), and processes that
use one folder at a time lose vectors (#3792). So `add_batches` works on a copy, which replacing the manifest publishes,
and files are opened only if they have the manifest's checksums. Readers need no lock; anybody may be killed at any
time.

Writing is done in a separate process. Here it would stop every other thread (ChromaDB keeps the interpreter's lock,
2 s for 2,000 vectors) and leave its memory behind: 315 MB, instead of 95, after 10 calls for 100,000 vectors.
"""

import ctypes
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from uuid import uuid4
from weakref import WeakSet

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from harness.errors import IndexUnavailable
from harness.ports import Vectors
from harness.settings.extras import install_command
from harness.storage.chroma_process import (
    DATABASE,
    INCOMING,
    SCOPE,
    hand_over,
    import_bindings,
    one_line,
    opened,
    write,
)
from harness.storage.files import replacing
from harness.storage.vector_projection import INDEXED_DIMENSIONS, shortened

FORMAT = 1
"""Goes up when what older versions have written can no longer be used."""

MAX_LOADED = 4
"""Collections that stay in memory."""

# The threshold has each batch flushed to the files: every process that opens them would insert the rest of the log
# again. Larger `ef_construction`, `ef_search` or `max_neighbors` found nothing more.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of malloc.h
_MANIFEST = "manifest.json"
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,126}[a-zA-Z0-9]")


class _Manifest(Struct, frozen=True):
    """Description of a collection: `snapshot` is `""` while it is empty, `checksums` are those of its files."""

    format: int
    generation: str
    embedder: str
    dimension: int
    count: int = 0
    snapshot: str = ""
    checksums: dict[str, int] = {}


class ChromaIndex:
    """Collections of vectors with keys, found by cosine similarity, in `folder`. For any thread, and after a fork.

    Making one opens nothing. Each call sees what any process has published before. But only one process may write at a
    time: callers of `create`, `add_batches`, `drop` or `discard` must hold a lock. (Without, vectors may be missing;
    nothing is damaged.)

    Every method raises `IndexUnavailable`, and nothing else, when ChromaDB is not installed, and when the folder or
    the collection is lost, damaged or not writable. `create` recreates a damaged collection, `discard` deletes all.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._start()
        _indexes.add(self)

    def _start(self) -> None:
        self._loaded: dict[str, _Snapshot] = {}
        self._loading = threading.Lock()
        self._writing = threading.Lock()

    def generation(self, name: str) -> str | None:
        """Return the collection's generation, 32 hexadecimal digits, or `None` if there is no such collection."""
        with self._translating():
            manifest = self._read(name)
            return manifest.generation if manifest else None

    def count(self, name: str) -> int:
        """Return how many keys the collection holds."""
        with self._translating():
            return self._manifest(name).count

    def nearest(self, name: str, vector: Vectors, k: int) -> list[str]:
        """Return about the `k` nearest keys, the nearest first; fewer if the collection is smaller.

        The search is approximate, and by shortened vectors (`INDEXED_DIMENSIONS`): ask for some times more keys than
        are wanted, and rank them by the vectors themselves. The first call, and the first one after something was
        published, loads the collection: 0.3 s for 100,000 vectors.
        """
        with self._translating():
            while k > 0 and (manifest := self._manifest(name)).snapshot:
                short = shortened(vector[None], manifest.dimension)[0]
                try:
                    with self._translating():
                        return self._snapshot(name, manifest).nearest(short, k)
                except IndexUnavailable:
                    # A writer may have published another snapshot, and deleted this one's files, meanwhile: ChromaDB
                    # opens more of them while it searches, and makes an empty database in place of one that is gone.
                    if self._manifest(name).snapshot == manifest.snapshot:
                        raise
            return []

    def create(self, name: str, *, embedder: str, dimension: int) -> str:
        """Make an empty collection for vectors of `dimension`, in place of any of this name; return its generation."""
        with self._translating(), self._writing:
            import_bindings()  # that it is not installed is to be known before anybody relies on the collection
            home = self._home(name)
            if not home.is_dir() or (home / _MANIFEST).is_dir():
                _remove(home)
            home.mkdir(parents=True, exist_ok=True)
            generation = uuid4().hex
            self._publish(name, _Manifest(FORMAT, generation, embedder, dimension))
            return generation

    def add_batches(self, name: str, batches: Iterable[tuple[Sequence[str], Vectors]]) -> None:
        """Insert or replace vectors, with one batch (keys; vectors, shape (keys, dimension)) at a time in memory: all
        of them, or none when it raises. What `batches` raises passes through.

        Takes 0.3 to 0.8 ms a vector, and for each call 0.3 s, with 100,000 vectors in the collection 0.9 s: prefer a
        few large calls. Meanwhile searches use the previous content.
        """
        with self._writing:
            with self._translating():
                manifest = self._manifest(name)
                target = self._home(name) / uuid4().hex
            try:
                for keys, vectors in batches:
                    with self._translating():
                        hand_over(target, keys, shortened(vectors, manifest.dimension))
                with self._translating():
                    if target.exists():  # or there was nothing to add
                        self._copy(name, manifest, target)
                        count = self._write_apart(name, manifest, target)
                        self._publish(
                            name, replace(manifest, count=count, snapshot=target.name, checksums=_sums(target))
                        )
            except BaseException:
                shutil.rmtree(target, ignore_errors=True)
                raise

    def drop(self, name: str) -> None:
        """Delete the collection and its files; do nothing if there is none."""
        with self._translating(), self._writing:
            (self._home(name) / _MANIFEST).unlink(missing_ok=True)  # first: it is gone at once, for every process
            shutil.rmtree(self._home(name), ignore_errors=True)
            self.close()

    def discard(self) -> None:
        """Remove the folder with all that is in it, or move aside what cannot be removed, and let go of it."""
        with self._translating(), self._writing:
            self.close()
            _remove(self._folder)

    def close(self) -> None:
        """Let go of what is loaded, and of its memory; a later call loads it again."""
        if self._loaded:
            self._loaded = {}
            _free_memory()

    # The manifest ------------------------------------------------------------------------------------------------

    def _home(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise IndexUnavailable(f"not a collection's name: {name!r}; use 3 to 128 letters, digits, '.', '_', '-'")
        return self._folder / name

    def _read(self, name: str) -> _Manifest | None:
        try:
            content = (self._home(name) / _MANIFEST).read_bytes()
        except FileNotFoundError:
            return None
        manifest = msgspec.json.decode(content, type=_Manifest)
        if manifest.format != FORMAT:
            raise IndexUnavailable(f"the vector index in {self._folder} was written by another version of the harness")
        return manifest

    def _manifest(self, name: str) -> _Manifest:
        manifest = self._read(name)
        if manifest is None:
            raise IndexUnavailable(f"there is no collection {name} in {self._folder}")
        return manifest

    def _publish(self, name: str, manifest: _Manifest) -> None:
        """Replace the manifest, atomically; then delete every other snapshot, those that killed writers left too."""
        home = self._home(name)
        with replacing(home / _MANIFEST) as file:
            file.write(msgspec.json.encode(manifest))
        for each in home.iterdir():
            if each.name not in {_MANIFEST, manifest.snapshot}:
                shutil.rmtree(each, ignore_errors=True)  # on Windows, what a process has open stays until next time

    # Snapshots ---------------------------------------------------------------------------------------------------

    def _snapshot(self, name: str, manifest: _Manifest) -> "_Snapshot":
        """Return the manifest's snapshot, loaded. Raises `IndexUnavailable`, too, if it was replaced meanwhile."""
        snapshot = self._loaded.get(name)
        if snapshot is not None and snapshot.id == manifest.snapshot:
            return snapshot
        del snapshot  # before another one is loaded: two would take twice the memory
        with self._loading:
            snapshot = self._loaded.get(name)
            if snapshot is not None and snapshot.id == manifest.snapshot:
                return snapshot
            self._loaded.pop(name, None)
            del snapshot
            _free_memory()
            loaded = _Snapshot(self._home(name) / manifest.snapshot, name, manifest)
            if self._manifest(name).snapshot != manifest.snapshot:  # ChromaDB ignores some missing files
                raise IndexUnavailable(f"the vector index in {self._folder} was written while it was read")
            self._loaded = dict([*self._loaded.items(), (name, loaded)][-MAX_LOADED:])
            return loaded

    def _copy(self, name: str, manifest: _Manifest, target: Path) -> None:
        """Copy the published snapshot, if there is one."""
        if manifest.snapshot:
            source = self._home(name) / manifest.snapshot
            for file in manifest.checksums:
                (target / file).parent.mkdir(exist_ok=True)
                shutil.copyfile(source / file, target / file)
            # opening it, ChromaDB writes to its database, which a reader may just be doing: so not as a file
            with closing(_database(source)) as old, closing(sqlite3.connect(target / DATABASE)) as new:
                old.backup(new)
            _check(target, manifest)

    def _write_apart(self, name: str, manifest: _Manifest, target: Path) -> int:
        """Write what was handed over, in a separate process; return how many keys there are then."""
        program = (
            f"import sys; sys.path[:] = {[*map(str, sys.path)]}; "
            f"from {write.__module__} import write; write(*sys.argv[1:])"
        )
        about = {"embedder": manifest.embedder, "dimension": manifest.dimension, "generation": manifest.generation}
        done = subprocess.run(  # noqa: S603 - our own interpreter, our own module
            [sys.executable, "-I", "-c", program, str(target), name, "" if manifest.snapshot else json.dumps(about)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            start_new_session=True,  # Ctrl-C is for this process, which kills the other one
        )
        if done.returncode:
            reason = done.stdout.decode(errors="replace") or f"status {done.returncode}"
            raise IndexUnavailable(f"cannot write the vector index in {self._folder} ({reason})")
        return int(done.stdout)

    # Errors ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except IndexUnavailable:
            raise
        except (ImportError, AttributeError) as error:
            raise IndexUnavailable(
                f"ChromaDB is not installed, or not in a usable version ({one_line(error)}); "
                f"install it with: {install_command('index')}"
            ) from error
        except BaseException as error:
            # a panic of Rust code is no Exception, so that no handler catches it by accident
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise IndexUnavailable(f"cannot use the vector index in {self._folder} ({one_line(error)})") from error


class _Snapshot:
    """One folder of a collection, checked and loaded by ChromaDB; `id` is its name."""

    def __init__(self, folder: Path, name: str, manifest: _Manifest) -> None:
        import numpy as np

        _check(folder, manifest)
        self.id = folder.name
        self.bindings = opened(folder)
        _snapshots.add(self)
        self._collection = str(self.bindings.get_collection(name, *SCOPE).id)
        self.nearest(np.ones(min(manifest.dimension, INDEXED_DIMENSIONS), np.float32), 1)  # reads the files

    def nearest(self, vector: Vectors, k: int) -> list[str]:
        answer = self.bindings.query(self._collection, None, [vector], k, None, None, [], *SCOPE)
        keys: list[str] = answer.ids[0]
        return keys


def _check(folder: Path, manifest: _Manifest) -> None:
    """Make sure that ChromaDB can open the folder."""
    with closing(_database(folder)) as database:
        database.execute("BEGIN IMMEDIATE")
        database.execute("PRAGMA user_version = 0")  # ends with a rollback; but it must be possible to write
        sound = database.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
    if not sound or _sums(folder) != manifest.checksums:
        raise IndexUnavailable(f"the vector index in {folder} is damaged: its files are not as they were written")


def _database(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{(folder / DATABASE).absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)


def _sums(folder: Path) -> dict[str, int]:
    """Return the CRC-32 of every file but the database's, which opening it changes."""
    found = {}
    for file in folder.rglob("*"):
        if not file.name.startswith((DATABASE, INCOMING)) and file.is_file():
            checksum = 0
            with file.open("rb") as content:
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
    except OSError:
        if path.exists():
            path.rename(path.with_name(f"{path.name}.discarded-{uuid4().hex}"))


def _free_memory() -> None:
    """Have the system get back what ChromaDB frees now and later.

    By default glibc keeps up to 64 MB for every thread that had large blocks: 250 MB are taken, instead of 90, after a
    collection was loaded at 10,000, 20,000, … 100,000 vectors.
    """
    with suppress(AttributeError, OSError, TypeError):  # not with another C library
        libc = ctypes.CDLL(None)
        libc.mallopt(_TRIM_THRESHOLD, 1 << 20)
        libc.mallopt(_MMAP_THRESHOLD, 1 << 20)
        libc.malloc_trim(0)


# A fork copies none of ChromaDB's threads. Who uses what the parent has opened, or only lets go of it, would wait for
# them for ever. So the child keeps it untouched until its end, and opens its own.
_indexes: WeakSet[ChromaIndex] = WeakSet()
_snapshots: WeakSet[_Snapshot] = WeakSet()


def _after_fork_in_child() -> None:
    for snapshot in list(_snapshots):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(snapshot.bindings))
    for index in list(_indexes):
        index._start()  # noqa: SLF001 - same module


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork either
    os.register_at_fork(after_in_child=_after_fork_in_child)
