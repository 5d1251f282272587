"""Locks between processes: advisory locks, which the server frees when their session ends."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from harness.storage import forks
from harness.storage.postgres.connections import PostgresConnections

POLL_SECONDS = 0.02


class AdvisoryLocks:
    """The port `Locks`: the advisory locks of one process, all held by one separate session, so that a computation of a
    minute keeps no connection from lookups. A session does not exclude itself, so a process records its own locks.
    """

    def __init__(self, connections: PostgresConnections) -> None:
        self._connections = connections
        self._begin()
        forks.reset_in_child(self)

    def reset(self) -> None:
        """Leave the parent's locks to the parent."""
        forks.leave_behind(self._session)
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._held: set[int] = set()
        self._session: Any = None
        self._closing = False

    @contextmanager
    def hold(self, name: str, wait: float) -> Iterator[bool]:
        """See `Locks.hold`."""
        pid = os.getpid()
        number = int.from_bytes(sha256(name.encode(errors="replace")).digest()[:8], "big", signed=True)
        deadline = time.monotonic() + wait
        while not (mine := self._connections.insist(lambda _: self._try(number))) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        try:
            yield mine
        finally:
            if mine and pid == os.getpid():  # in a child that was forked meanwhile the lock is the parent's
                self._free(number)

    def close(self) -> None:
        """End the session, as soon as no lock is held."""
        with self._lock:
            self._closing = bool(self._held)
            if not self._held:
                self._end()

    def _try(self, number: int) -> bool:
        import psycopg

        with self._lock:
            if number in self._held:
                return False
            try:
                if self._session is None:
                    self._session = self._connections.connect()
                got = self._session.execute("SELECT pg_try_advisory_lock($1)", (number,)).fetchone()[0]
            except psycopg.Error:
                self._end()
                raise
            if got:
                self._held.add(number)
            return bool(got)

    def _free(self, number: int) -> None:
        import psycopg

        with self._lock:
            self._held.discard(number)
            try:
                if self._session is not None:
                    self._session.execute("SELECT pg_advisory_unlock($1)", (number,))
            except psycopg.Error:  # the session has ended, and its locks with it
                self._end()
            if self._closing and not self._held:
                self._closing = False
                self._end()

    def _end(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()
