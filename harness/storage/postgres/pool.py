"""Pool of connections. Callers open them themselves, so that each caller gets its error at once.

`psycopg_pool` opens them in background threads. These wait longer and longer while the server is away, so that callers
wait for minutes after it is back; and they only log their errors.
"""

import select
import threading
import time
from collections.abc import Callable
from typing import Any

IDLE_SECONDS = 600.0
"""Seconds that an unused connection stays open."""


class Pool:
    """Up to `size` connections, made by `connect`, each lent to one thread at a time."""

    def __init__(self, connect: Callable[[], Any], size: int) -> None:
        self._connect = connect
        self._places = threading.Semaphore(size)
        self._lock = threading.Lock()
        self._idle: list[tuple[float, Any]] = []  # since when; the one used last is the last
        self._closed = False

    def lend(self, seconds: float) -> Any:
        """Return a connection, to be taken back. One that the server has ended meanwhile is not lent.

        Raises:
            TimeoutError: all were in use for `seconds`.
        """
        if not self._places.acquire(timeout=max(0.0, seconds)):
            raise TimeoutError("every connection is in use")
        try:
            while (connection := self._pop()) is not None:
                if _is_silent(connection):
                    return connection
                connection.close()
            return self._connect()
        except BaseException:
            self._places.release()
            raise

    def take_back(self, connection: Any) -> None:
        """Keep a connection for the next one, unless it is broken or in the middle of something."""
        from psycopg.pq import TransactionStatus

        now = time.monotonic()
        surplus = []
        with self._lock:
            if self._closed or connection.pgconn.transaction_status != TransactionStatus.IDLE:
                surplus.append(connection)
            else:
                self._idle.append((now, connection))
            while self._idle and self._idle[0][0] < now - IDLE_SECONDS:
                surplus.append(self._idle.pop(0)[1])
        for each in surplus:
            each.close()
        self._places.release()

    def close(self) -> None:
        """Close every connection, those that are lent when they are taken back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _pop(self) -> Any:
        with self._lock:
            return self._idle.pop()[1] if self._idle else None


def _is_silent(connection: Any) -> bool:
    """Say whether the server has said nothing unasked; it does so when it ends a session."""
    if connection.closed:
        return False
    if not hasattr(select, "poll"):  # on Windows
        return not select.select([connection.fileno()], [], [], 0)[0]
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)
