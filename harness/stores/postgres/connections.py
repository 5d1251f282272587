"""Connections to PostgreSQL: a pool that survives restarts of the server and forks of this process."""

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from harness.errors import InvalidInput, StoreBusy, StoreError
from harness.stores.postgres import schema
from harness.stores.postgres.dialect import TENANTS, escaped

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

log = logging.getLogger(__name__)
T = TypeVar("T")

POOL_SIZE = 16
CONNECT_SECONDS = 10
RETRY_SECONDS = 0.05
MAX_RETRY_SECONDS = 1.0
_SESSION = {
    "hnsw.iterative_scan": "strict_order",  # goes on where a filter has left too few
    "hnsw.ef_search": "200",
    "jit": "off",  # it takes longer than any of these statements
    "client_min_messages": "warning",
}
_GONE = {"57P01", "57P02", "57P03", "08000", "08001", "08003", "08004", "08006", "53300"}
"""States of a server that goes, comes, or has no connection free."""
_AGAIN = {"40001", "40P01", "55P03", "57014"}
"""Serialization failure, deadlock, lock not available, statement time-out."""

_left_behind: list[object] = []
"""Pools of the parent of a fork: to close one here would end the parent's sessions."""


class Connections:
    """The connections of one process to the database behind `url`, each of which serves one thread at a time.

    What fails because the server restarts, or is out of reach, is tried again for `busy_seconds`.

    Raises:
        StoreError: the database cannot be opened (`MigrationError`, `StoreBusy` where that is the reason).
    """

    def __init__(self, url: str, busy_seconds: float) -> None:
        self.url = url
        self.busy_seconds = busy_seconds
        self._lock = threading.Lock()
        self._pool: ConnectionPool[Any] | None = None
        self._pid = os.getpid()
        self._known: set[str] = set()
        self.run(None, _prepare_nothing)

    def run(self, tenant: str | None, work: "Callable[[Any], T]", *, again: bool = True) -> T:
        """Return what `work` makes with a connection that sees this tenant's rows (`None`: nobody's).

        It is called again after a failure that may pass, unless `again` is false: then nobody knows whether a
        connection that broke had done it.

        Raises:
            StoreBusy: the server did not come back, or did not get to it, in time.
            StoreError: it refuses.
        """
        import psycopg

        deadline = time.monotonic() + self.busy_seconds
        pause = RETRY_SECONDS
        introduced = False
        while True:
            try:
                return self._once(tenant, work)
            except psycopg.errors.ForeignKeyViolation as error:  # somebody has deleted the tenant
                if tenant is None or introduced:
                    raise self._translated(error, passing=False) from error
                self._introduce(tenant)
                introduced = True
                continue
            except (psycopg.Error, OSError) as error:
                passing = _may_pass(error)
                if not passing or (not again and not _was_refused(error)):
                    raise self._translated(error, passing=passing) from error
                if time.monotonic() + pause > deadline:
                    raise self._translated(error, passing=True) from error
            time.sleep(pause)
            pause = min(2 * pause, MAX_RETRY_SECONDS)

    def _once(self, tenant: str | None, work: "Callable[[Any], T]") -> T:
        pool = self._opened()
        connection = pool.getconn(timeout=self.busy_seconds)
        try:
            if connection.tenant != tenant:
                connection.execute("SELECT set_config('harness.tenant', $1, false)", (escaped(tenant or ""),))
                connection.tenant = tenant
            return work(connection)
        except BaseException:
            connection.tenant = _UNKNOWN
            raise
        finally:
            pool.putconn(connection)

    def introduce(self, tenant: str) -> None:
        """Make the tenant known, if this process has not done so before."""
        if tenant not in self._known:
            self._introduce(tenant)

    def _introduce(self, tenant: str) -> None:
        sql = f"INSERT INTO {TENANTS} (id) VALUES ($1) ON CONFLICT DO NOTHING"
        self._once(tenant, lambda connection: connection.execute(sql, (escaped(tenant),)))
        self._known.add(tenant)

    def forget(self, tenant: str) -> None:
        """Take the tenant for unknown."""
        self._known.discard(tenant)

    def apart(self) -> Any:
        """Open a connection of its own, with all the rights of the user; whoever asks for it closes it.

        Raises:
            StoreError: the database cannot be opened.
        """
        import psycopg

        try:
            return _connect(self.url)
        except (psycopg.Error, OSError) as error:
            raise self._translated(error, passing=_may_pass(error)) from error

    def close(self) -> None:
        """Let go of every connection; a later call opens again."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None and self._pid == os.getpid():
            pool.close()

    def _opened(self) -> "ConnectionPool[Any]":
        if self._pool is not None and self._pid == os.getpid():
            return self._pool
        with self._lock:
            if self._pid != os.getpid():
                _left_behind.append(self._pool)
                self._pool, self._pid = None, os.getpid()
            if self._pool is None:
                self._pool = self._new_pool()
            return self._pool

    def _new_pool(self) -> "ConnectionPool[Any]":
        from psycopg_pool import ConnectionPool

        with _connect(self.url) as connection:  # not by the pool, which would try wrong passwords again and again
            if not schema.is_current(connection):
                schema.migrate(connection)
        return ConnectionPool(
            self.url,
            connection_class=_connection_class(),
            kwargs=_ARGUMENTS,
            configure=_configure,
            min_size=1,
            max_size=POOL_SIZE,
            timeout=self.busy_seconds,
            open=True,
            name="harness",
        )

    def _translated(self, error: BaseException, *, passing: bool) -> StoreError:
        if passing:
            return StoreBusy(
                f"the database did not answer within {self.busy_seconds:g} s ({_shown(error)}); try again later"
            )
        return StoreError(f"the database refuses: {_shown(error)}")


def _prepare_nothing(connection: Any) -> None:
    """Only show that there is a connection."""


_UNKNOWN = "\0 unknown"
"""What a connection's tenant is after a failure: it is named anew."""

_ARGUMENTS: dict[str, Any] = {
    "autocommit": True,
    "connect_timeout": CONNECT_SECONDS,
    "application_name": "harness",
    "keepalives_idle": 30,
    "tcp_user_timeout": 60_000,
}


def _connection_class() -> Any:
    import psycopg
    from psycopg.types.string import ByteaBinaryLoader

    class TenantConnection(psycopg.Connection[Any]):
        """A connection that remembers which tenant it has named."""

        tenant: str | None = None

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.cursor_factory = psycopg.RawCursor  # `$1` instead of `%s`, which it would have to translate
            for name in ("text", "json", "jsonb"):  # read as bytes: payloads are never decoded
                self.adapters.register_loader(name, ByteaBinaryLoader)

    return TenantConnection


def _connect(url: str) -> "psycopg.Connection[Any]":
    connection: psycopg.Connection[Any] = _connection_class().connect(url, **_ARGUMENTS)
    return connection


def _configure(connection: Any) -> None:
    for name, value in _SESSION.items():
        connection.execute("SELECT set_config($1, $2, false)", (name, value))
    schema.step_down(connection)


def _may_pass(error: BaseException) -> bool:
    import psycopg
    from psycopg_pool import PoolTimeout

    if isinstance(error, PoolTimeout | psycopg.InterfaceError):
        return True
    state = getattr(error, "sqlstate", None)
    if state is None:  # no answer of a server: the connection broke, or was never there
        return isinstance(error, psycopg.OperationalError | OSError)
    return state in _GONE or state in _AGAIN


def _was_refused(error: BaseException) -> bool:
    """Say whether the server has surely not done what it was asked."""
    return getattr(error, "sqlstate", None) in _AGAIN


def _shown(error: BaseException) -> str:
    """Tell an error in one line without the address, which may hold a password."""
    diagnosed = getattr(getattr(error, "diag", None), "message_primary", None)
    return diagnosed or type(error).__name__


def checked_url(url: str) -> str:
    """Return `url` if it names a PostgreSQL database.

    Raises:
        InvalidInput: it does not; the address, which may hold a password, is not repeated.
    """
    import psycopg

    try:
        psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error as error:
        raise InvalidInput(
            "the setting store is no address of a PostgreSQL database; it looks like postgresql://user@host/name"
        ) from error
    return url
