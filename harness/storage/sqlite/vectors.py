"""Nearest rows of one SQLite file: the newest are scanned exactly, the bulk is asked of an index, which is a copy."""

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, IndexUnavailable
from harness.ports import Vectors
from harness.storage.forks import free_in_child
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.entries import as_text
from harness.storage.sqlite.scopes import Tail, VectorScope, by_similarity, scan_nearest, scope_rows, usual_dimension
from harness.storage.tables import INDEXES, TABLES

if TYPE_CHECKING:
    from harness.storage.chroma import ChromaIndex

log = logging.getLogger(__name__)

TAIL_LIMIT = 10_000
"""Rows of one scope that are scanned exactly; what is more goes to the index. 384 dimensions: 15 MB of memory."""
FULL_TAILS = 4
"""Limit of all tails in memory, in rows: this many full ones."""
OVER_FETCH = 8
"""Factor on the rows asked of the index: it ranks by shortened vectors, and rows may have gone."""
STALE_SHARE = 2
"""A tail this many times over the limit is cut by what another process has written to the index meanwhile."""


class VectorSearch:
    """Finds near rows, by their seq, for any number of threads and processes on one file.

    A row is written with its embedding, so every process sees it by meaning at once. When a scope's tail outgrows
    `tail_limit`, its vectors are written to the index in the background. What the index says is never trusted: callers
    recompute each similarity from the row. If it is lost, damaged or not installed, the rows are scanned in batches
    and the index is rebuilt from them, without an embedding call; that is said once.
    """

    def __init__(self, connections: Database, folder: Path | None, *, tail_limit: int = TAIL_LIMIT) -> None:
        self._connections = connections
        self._folder = folder
        self._tail_limit = tail_limit
        self._lock = free_in_child(threading.RLock())
        self._said = False
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._file: tuple[int, int] | None = None
        self._tails: OrderedDict[VectorScope, Tail] = OrderedDict()
        self._index: ChromaIndex | None = None
        self._writer: threading.Thread | None = None

    def nearest(
        self,
        scope: VectorScope,
        vector: Vectors,
        k: int,
        take: Callable[[Sequence[int]], int],
        *,
        now: float,
        at_least: float = 0.0,
    ) -> None:
        """Hand the seqs of rows to `take`, about the nearest first, until each of tail and index has given `k` rows.

        `take` looks at the rows and returns how many of them count: some may have gone, expired, or changed.
        """
        with self._lock:
            tail = self._current_tail(scope, len(vector))
            seqs, matrix, since = tail.seqs[:], tail.matrix, tail.since
            beyond = None if tail.complete else tail.last
        counted = 0
        for batch in by_similarity(seqs, matrix, vector, k, at_least):
            counted += take(batch)
            if counted >= k:
                break
        if beyond is not None:
            take(scan_nearest(self._connections, scope, beyond, None, vector, k, now))
        if since:
            self._ask_index(scope, since, tail.generation, vector, k, take, now)

    def counts(self, table: str, tenant: str) -> tuple[int, int]:
        """Return how many of a tenant's vectors are in the index, and how many only in the rows."""
        total = self._connections.fetch_one(
            f"SELECT count(*) FROM {table} WHERE tenant = ? AND embedding IS NOT NULL", (tenant,)
        )[0]
        scopes = ", ".join((*TABLES[table].scope, "embedder"))
        sql = (
            f"SELECT {scopes}, count(*) FROM {table} "
            f"WHERE tenant = ? AND embedding IS NOT NULL AND seq <= ? GROUP BY {scopes}"
        )
        indexed = 0
        for name, upto in self._recorded_of(table):
            for *values, found in self._connections.fetch_all(sql, (tenant, upto)):
                *own, embedder = map(as_text, values)
                indexed += found if VectorScope(table, tenant, tuple(own), embedder).collection == name else 0
        return indexed, total - indexed

    def rebuild(self) -> int:
        """Write every scope that is larger than the tail limit to a new index; return how many vectors these have.

        Raises:
            IndexUnavailable: no index can be made here.
        """
        if self._folder is None:
            return 0
        with self._alone(wait=True), self._lock:
            self._discard()
            written = 0
            for table in TABLES.values():
                scopes = ", ".join(("tenant", *table.scope, "embedder"))
                for *values, count in self._connections.fetch_all(
                    f"SELECT {scopes}, count(*) FROM {table.name} WHERE embedding IS NOT NULL GROUP BY {scopes}", ()
                ):
                    tenant, *own, embedder = map(as_text, values)
                    if count > self._tail_limit:
                        written += self._write(VectorScope(table.name, tenant, tuple(own), embedder))
            return written

    def lost(self) -> list[str]:
        """Return the collections that the database records and the index lacks."""
        with self._lock:
            recorded = self._connections.fetch_all(f"SELECT name, generation FROM {INDEXES}", ())
            return [as_text(name) for name, generation in recorded if not self._has(as_text(name), as_text(generation))]

    def _has(self, name: str, generation: str) -> bool:
        try:
            index = self._opened()
            if index.generation(name) != generation:
                return False
            row = self._connections.fetch_one(
                f"SELECT length(embedding) FROM {name.split('_vec-', maxsplit=1)[0]} WHERE embedding IS NOT NULL", ()
            )
            if row:
                import numpy as np

                index.nearest(name, np.ones(row[0] // 4, np.float32), 1)  # only what can be loaded is there
        except IndexUnavailable:
            return False
        return True

    def forget(self, table: str) -> None:
        """Drop a table's collections: all of its rows have gone."""
        recorded = self._recorded_of(table)
        try:
            if recorded:
                with self._alone(wait=True):
                    for name, _ in recorded:
                        self._opened().drop(name)
                        self._execute(f"DELETE FROM {INDEXES} WHERE name = ?", name)
        except IndexUnavailable as error:
            log.debug("the vector index keeps what has gone: %s", error)
        with self._lock:
            for scope in [scope for scope in self._tails if scope.table == table]:
                del self._tails[scope]

    def close(self) -> None:
        """Finish what is being written to the index, and let go of it."""
        writer = self._writer
        if writer is not None and self._pid == os.getpid():
            writer.join()
        with self._lock:
            if self._index is not None and self._pid == os.getpid():
                self._index.close()
            self._start()

    # The tail ----------------------------------------------------------------------------------------------------

    def _current_tail(self, scope: VectorScope, dimension: int) -> Tail:
        """Return the scope's tail with every row that any process has written until now."""
        if self._pid != os.getpid():  # a fork: what the parent has loaded is the parent's
            self._start()
        file = self._connections.handle().file
        if file != self._file:  # another file is there now: nothing of the old one is valid
            self._tails.clear()
            self._file = file
        tail = self._tails.get(scope)
        generation, upto = self._recorded(scope)
        if tail is None or tail.generation != generation or self._overtaken(scope, tail):
            tail = self._tails[scope] = Tail(upto, generation)
        self._tails.move_to_end(scope)
        self._load(scope, tail, dimension)
        if len(tail.seqs) > self._tail_limit:
            self._shorten(scope, tail, upto, dimension)
        self._let_go()
        return tail

    def _let_go(self) -> None:
        """Forget the tails that were used least recently, until the others are small enough; never the last used."""
        rows = sum(tail.room for tail in self._tails.values())
        while rows > FULL_TAILS * self._tail_limit and len(self._tails) > 1:
            rows -= self._tails.popitem(last=False)[1].room

    def _overtaken(self, scope: VectorScope, tail: Tail) -> bool:
        """Say whether another file's content stands here by now (a backup was restored): seqs mean other rows then."""
        newest = self._connections.fetch_one("SELECT seq FROM sqlite_sequence WHERE name = ?", (scope.table,))
        if (newest[0] if newest else 0) < tail.last:
            return True
        row = self._row_at(scope, tail.last) if tail.seqs else None
        known, tail.newest = tail.newest, row or tail.newest
        return row is not None and known is not None and row != known

    def _load(self, scope: VectorScope, tail: Tail, dimension: int) -> None:
        room = STALE_SHARE * self._tail_limit
        while len(tail.seqs) < room and (rows := scope_rows(self._connections, scope, tail.last, dimension)):
            tail.add(rows)
            tail.newest = self._row_at(scope, tail.last)
        tail.complete = len(tail.seqs) < room

    def _shorten(self, scope: VectorScope, tail: Tail, upto: int, dimension: int) -> None:
        """Cut the tail by what the index has, or let it be written there in the background."""
        if upto > tail.since:  # the index has more by now
            tail.cut(upto)
            self._load(scope, tail, dimension)
        if len(tail.seqs) > self._tail_limit:
            self._write_in_background(scope)

    # The index ---------------------------------------------------------------------------------------------------

    def _ask_index(
        self,
        scope: VectorScope,
        since: int,
        generation: str,
        vector: Vectors,
        k: int,
        take: Callable[[Sequence[int]], int],
        now: float,
    ) -> None:
        """Ask for more and more rows while too few of them count: what has gone stays in the index for a while."""
        wanted, counted, seen = OVER_FETCH * k, 0, set[int]()
        try:
            while True:
                seqs = self._asked(scope, generation, vector, wanted)
                counted += take([seq for seq in seqs if seq not in seen])
                if counted >= k or len(seqs) < wanted:
                    return
                seen.update(seqs)
                wanted *= 4
        except IndexUnavailable as error:
            self._say_once(error)
            self._write_in_background(scope, lost=generation)
            take(scan_nearest(self._connections, scope, 0, since, vector, k, now))

    def _asked(self, scope: VectorScope, generation: str, vector: Vectors, k: int) -> list[int]:
        index = self._opened()
        if index.generation(scope.collection) != generation:
            raise IndexUnavailable("the vector index that the database records is lost")
        return [int(key) for key in index.nearest(scope.collection, vector, k) if key.isdecimal()]

    def _write_in_background(self, scope: VectorScope, *, lost: str | None = None) -> None:
        """Add the newest rows to the scope's collection, or write it again if its generation is still the `lost` one;
        do nothing while this process or another one writes.
        """
        if self._writer and self._writer.is_alive():
            return

        def write() -> None:
            try:
                with self._alone(wait=False) as mine:
                    if mine and (lost is None or self._recorded(scope)[0] == lost):
                        self._write(scope, whole=lost is not None)
            except HarnessError as error:
                self._say_once(error)

        self._writer = threading.Thread(target=write, daemon=True)
        self._writer.start()

    def _write(self, scope: VectorScope, *, whole: bool = False) -> int:
        """Add the newest rows to the scope's collection; the caller holds the lock. Return how many were written."""
        index = self._opened()
        generation, upto = self._recorded(scope)
        dimension = usual_dimension(self._connections, scope)
        if not dimension:
            return 0
        if whole or not generation or index.generation(scope.collection) != generation or self._mostly_gone(scope):
            generation, upto = self._created(scope, dimension), 0
        written = 0

        def batches() -> Iterator[tuple[list[str], Vectors]]:
            nonlocal upto, written
            import numpy as np

            while rows := scope_rows(self._connections, scope, upto, dimension):
                yield [str(row[0]) for row in rows], np.stack([row[1] for row in rows])
                written, upto = written + len(rows), rows[-1][0]

        index.add_batches(scope.collection, batches())
        # recorded after it is published: who reads a reach finds all of it in the index
        self._execute(f"INSERT OR REPLACE INTO {INDEXES} VALUES (?, ?, ?)", scope.collection, generation, upto)
        return written

    def _created(self, scope: VectorScope, dimension: int) -> str:
        """Recreate the collection; a file in place of the index is removed first."""
        folder = self._place()
        if folder.exists() and not folder.is_dir():
            self._discard()
        return self._opened().create(scope.collection, embedder=scope.embedder, dimension=dimension)

    def _mostly_gone(self, scope: VectorScope) -> bool:
        """Say whether most of what the collection holds are rows that have gone."""
        sql = f"SELECT count(*) FROM {scope.table} WHERE {scope.condition}"
        (there,) = self._connections.fetch_one(sql, scope.bound)
        return bool(self._opened().count(scope.collection) > 2 * there + self._tail_limit)

    def _discard(self) -> None:
        self._opened().discard()
        self._execute(f"DELETE FROM {INDEXES}")

    def _place(self) -> Path:
        if self._folder is None:
            raise IndexUnavailable("a database in memory has no vector index")
        return self._folder

    def _opened(self) -> "ChromaIndex":
        if self._index is None:
            from harness.storage.chroma import ChromaIndex

            self._index = ChromaIndex(self._place())
        return self._index

    @contextmanager
    def _alone(self, *, wait: bool) -> Iterator[bool]:
        """Hold the index's lock among all processes; yield whether it was free, where one does not wait for it."""
        from filelock import FileLock, Timeout

        folder = self._place()
        lock = FileLock(folder.with_name(f"{folder.name}.lock"), timeout=600 if wait else 0)
        try:
            lock.acquire()
        except Timeout:
            if wait:
                raise IndexUnavailable("another process has been writing the vector index for 10 minutes") from None
            yield False
            return
        except OSError as error:
            raise IndexUnavailable(f"the vector index cannot be locked ({error})") from error
        try:
            yield True
        finally:
            lock.release()

    # The database ------------------------------------------------------------------------------------------------

    def _recorded(self, scope: VectorScope) -> tuple[str, int]:
        """Return the generation of the scope's collection and the seq up to which it holds the rows."""
        row = self._connections.fetch_one(f"SELECT generation, upto FROM {INDEXES} WHERE name = ?", (scope.collection,))
        return (as_text(row[0]), row[1]) if row else ("", 0)

    def _recorded_of(self, table: str) -> list[tuple[str, int]]:
        """Return name and reach of the table's collections."""
        sql = f"SELECT name, upto FROM {INDEXES} WHERE name LIKE ?"
        return [(as_text(name), upto) for name, upto in self._connections.fetch_all(sql, (f"{table}_vec-%",))]

    def _row_at(self, scope: VectorScope, seq: int) -> Any:
        return self._connections.fetch_one(f"SELECT key, created_at FROM {scope.table} WHERE seq = ?", (seq,))

    def _execute(self, sql: str, *values: Any) -> None:
        self._connections.write(lambda connection: connection.execute(sql, values))

    def _say_once(self, error: HarnessError) -> None:
        level = logging.DEBUG if self._said else logging.WARNING  # of one trouble, the first word is enough
        log.log(level, "%s; rows are scanned instead", error)
        self._said = True
