"""Threads that use every part of a store while its server changes state."""

import random
import threading
from collections.abc import Callable
from typing import Self

from harness.errors import StoreBusy
from harness.storage.postgres.store import PostgresStore
from tests.storage.embedded import embedded, keys_near, vector_of
from tests.storage.entries import SEARCHES, TENANT


class Load:
    """Eight threads that write, read, search by meaning, count and take turns, until they are stopped."""

    def __init__(self, store: PostgresStore) -> None:
        self.store = store
        self.acknowledged: list[str] = []
        self.lost: list[str] = []
        self.errors: list[BaseException] = []
        self.busy = 0
        self._stop = threading.Event()
        uses = (self.write, self.write, self.write, self.read, self.search, self.search, self.take, self.swap)
        self._threads = [threading.Thread(target=self._use, args=(use, name)) for name, use in enumerate(uses)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(120)
        assert not any(thread.is_alive() for thread in self._threads), "a caller hangs"

    def _use(self, use: Callable[[str], None], name: int) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            try:
                use(f"{name}-{number}")
            except StoreBusy:
                self.busy += 1
            except BaseException as error:  # noqa: BLE001 - raised by the test
                self.errors.append(error)

    def write(self, key: str) -> None:
        """Put a row with a vector."""
        self.store.rows.put(SEARCHES, TENANT, embedded(key))
        self.acknowledged.append(key)

    def swap(self, key: str) -> None:
        """Make a row where there is none."""
        if self.store.rows.swap(SEARCHES, TENANT, embedded(key), expecting=None):
            self.acknowledged.append(key)

    def read(self, _key: str) -> None:
        """Find an acknowledged row."""
        if self.acknowledged:
            key = random.choice(self.acknowledged)
            if self.store.rows.get(SEARCHES, TENANT, key) is None:
                self.lost.append(key)

    def search(self, _key: str) -> None:
        """Find an acknowledged row by its meaning."""
        if self.acknowledged:
            key = random.choice(self.acknowledged)
            if key not in keys_near(self.store, vector_of(key)):
                self.lost.append(key)

    def take(self, key: str) -> None:
        """Take a lock that no other thread takes."""
        assert taken(self.store, key, 5)


def taken(store: PostgresStore, name: str, wait: float = 0.0) -> bool:
    """Take a lock and release it; return whether it was acquired."""
    with store.locks.hold(name, wait) as mine:
        return mine
