"""Embedding of a corpus: for a caller that waits, or in a background thread of a long-lived process."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from harness.errors import HarnessError, StoreBusy, StoreError
from harness.ports import Embedder, Progress, Vectors
from harness.sources.corpus import passage_vectors
from harness.sources.corpus.database import IndexDatabase
from harness.sources.corpus.shipped_vectors import shipped
from harness.storage.forks import free_in_child

log = logging.getLogger(__name__)

BATCH = 32
"""Texts stored together; a crash loses at most one batch, one to three seconds of work."""

LOCK_POLL_SECONDS = 1.0
YIELD_SECONDS = 0.2
"""The background thread releases the lock for this long between batches, so that a waiting caller gets it."""

STUCK_SECONDS = 120.0
"""Time that another process may hold the lock without a new vector; no batch takes as long."""


class VectorMaker:
    """Embeds the passages of `database` with `embedder`, in batches.

    Across all threads and processes one batch is made at a time, under a file lock next to the index that ends with
    its process: no text is embedded twice, and a crash loses one batch.
    """

    def __init__(self, database: IndexDatabase, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._starting = free_in_child(threading.Lock())
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def missing(self) -> int:
        """Return the number of texts without a vector."""
        with self._database.connected() as connection:
            return len(passage_vectors.missing_keys(connection, self._embedder.id))

    def take_shipped(self) -> int:
        """Store the missing vectors that ship with the program; return how many are still missing.

        Raises:
            StoreError: the index cannot be written.
        """
        embedder = self._embedder.id
        with self._database.connected() as connection:
            keys = passage_vectors.missing_keys(connection, embedder)
            if not keys:
                return 0
            known = shipped(embedder, self._embedder.dimension)
            if found := {key: known[key] for key in keys if key in known}:
                passage_vectors.keep(connection, embedder, found)
        return len(keys) - len(found)

    def finish(self, what: str, progress: Progress, *, patience: float = STUCK_SECONDS) -> None:
        """Make all missing vectors, or wait while another process makes them; report `what` to `progress`.

        Raises:
            EmbeddingError: the embedder failed; earlier vectors are kept.
            StoreBusy: another process held the lock for `patience` seconds without a new vector.
            StoreError: the index cannot be written.
        """
        left = total = self.missing()
        moved = time.monotonic()
        while left:
            progress(what, total - left, total)
            with self._turn() as is_ours:
                made = self._make_batch() if is_ours else 0
            before, left = left, left - made if made else self.missing()
            total = max(total, left)
            if left < before:
                moved = time.monotonic()
            elif time.monotonic() - moved > patience:
                raise StoreBusy(f"another process holds {self._lock_file} and makes no vectors; end it")
        if total:
            progress(what, total, total)

    def start(self) -> None:
        """Make the missing vectors in a thread, one text at a time, until all are made, `stop`, or the program ends.

        Does nothing while the thread runs. The thread ends when another thread or process has the lock, for example a
        caller that waits for the vectors.
        """
        with self._starting:
            if not self._stopped.is_set() and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._run, name="embed corpus")
                self._thread.start()

    def stop(self) -> None:
        """End the thread after its current text; finished vectors are kept."""
        self._stopped.set()
        with self._starting:
            if self._thread is not None:
                self._thread.join()

    def _run(self) -> None:
        made = 0
        try:
            log.info("embedding %s in the background: %d vectors are missing", self._database.path, self.missing())
            while self._may_go_on():
                with self._turn(wait=0.0) as is_ours:
                    batch = self._make_batch(one_by_one=True) if is_ours else 0
                made += batch
                if not batch:
                    break
                if self._may_go_on():
                    self._stopped.wait(YIELD_SECONDS)
        except HarnessError as error:
            self._stopped.set()  # the next search would fail in the same way
            log.warning("searching by words only, the corpus cannot be embedded: %s", error)
        finally:
            log.info("embedded %d passages of %s in the background", made, self._database.path)

    def _may_go_on(self) -> bool:
        # a daemon thread would be killed inside the model; so it checks itself whether the program ends
        return not self._stopped.is_set() and threading.main_thread().is_alive()

    def _make_batch(self, *, one_by_one: bool = False) -> int:
        """Embed and store one batch of missing vectors; return their number. `one_by_one` can stop between texts."""
        with self._database.connected() as connection:
            batch = passage_vectors.unembedded(connection, self._embedder.id, BATCH)
        if not batch:
            return 0
        texts = [text for _, text in batch]
        made = self._one_by_one(texts) if one_by_one else self._embedder.embed(texts)
        if len(made):
            with self._database.connected() as connection:
                keys = (key for key, _ in islice(batch, len(made)))
                packed = dict(zip(keys, passage_vectors.packed(made), strict=True))
                passage_vectors.keep(connection, self._embedder.id, packed)
        return len(made)

    def _one_by_one(self, texts: list[str]) -> Vectors:
        import numpy as np

        vectors = [np.empty((0, self._embedder.dimension), np.float32)]
        for text in texts:
            if not self._may_go_on():
                break
            # one text uses one core, which leaves the other to searches
            vectors.append(self._embedder.embed([text]))
        return np.concatenate(vectors)

    @property
    def _lock_file(self) -> Path:
        return self._database.path.with_name(self._database.path.name + ".lock")

    @contextmanager
    def _turn(self, wait: float = LOCK_POLL_SECONDS) -> Iterator[bool]:
        """Hold the lock; yield whether it was acquired within `wait` seconds."""
        from filelock import FileLock, Timeout

        lock = FileLock(self._lock_file)
        try:
            lock.acquire(timeout=wait)
        except Timeout:
            yield False
            return
        except (OSError, NotImplementedError) as error:
            raise StoreError(f"cannot lock {lock.lock_file} ({error}); choose another --data-dir") from error
        try:
            yield True
        finally:
            lock.release()
