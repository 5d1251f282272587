"""Turns among processes by advisory locks, which the server frees when their session ends."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from harness.storage import forks
from harness.storage.postgres.connections import Connections

POLL_SECONDS = 0.02


class Turns:
    """The advisory locks of one process, all held by one session of their own: whoever computes for a minute does not
    keep a connection from those who look up. Within a session they are no locks, so a process keeps its own account.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._begin()
        forks.reset_in_child(self)

    def reset(self) -> None:
        """Leave the parent's turns to the parent."""
        forks.leave_behind(self._session)
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._held: set[int] = set()
        self._session: Any = None
        self._closing = False

    @contextmanager
    def turn(self, name: str, wait: float) -> Iterator[bool]:
        """See `Store.turn`."""
        pid = os.getpid()
        number = int.from_bytes(sha256(name.encode(errors="replace")).digest()[:8], "big", signed=True)
        deadline = time.monotonic() + wait
        while not (mine := self._connections.insist(lambda _: self._try(number))) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        try:
            yield mine
        finally:
            if mine and pid == os.getpid():  # in a child that was forked meanwhile it is the parent's turn
                self._free(number)

    def close(self) -> None:
        """End the session, as soon as nobody holds a turn."""
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
                got = self._opened().execute("SELECT pg_try_advisory_lock($1)", (number,)).fetchone()[0]
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

    def _opened(self) -> Any:
        if self._session is None:
            self._session = self._connections.connect()
        return self._session

    def _end(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()
