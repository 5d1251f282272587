"""Connections to PostgreSQL: they survive restarts of the server and forks of this process."""

import logging
import math
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from harness.core.text import shorten
from harness.errors import InvalidInput, StoreBusy, StoreError
from harness.settings.extras import require_extra
from harness.storage import forks
from harness.storage.postgres import schema
from harness.storage.postgres.dialect import TENANTS, escaped
from harness.storage.postgres.pool import Pool
from harness.storage.statements import NO_TEXT

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)
T = TypeVar("T")

POOL_SIZE = 16
CONNECT_SECONDS = 10
INTRODUCED_AGAIN = 10
"""Attempts to add a tenant that another process keeps deleting."""
RETRY_SECONDS = 0.05
MAX_RETRY_SECONDS = 1.0
_SESSION = {
    "hnsw.iterative_scan": "strict_order",  # goes on where a filter has left too few
    "hnsw.ef_search": "200",
    "jit": "off",  # it takes longer than any of these statements
    "client_min_messages": "warning",
}
_GONE = {"57P01", "57P02", "57P03", "57P05", "08000", "08001", "08003", "08004", "08006", "53300"}
"""States of a server that goes, comes, or has no connection free."""
_AGAIN = {"40001", "40P01", "55P03", "57014", "23503"}
"""Serialization failure, deadlock, lock not available, statement time-out; and that whom a row refers to, though just
introduced, was deleted again.
"""
_REFUSED = ("does not exist", "authentication failed", "no password supplied", "pg_hba.conf", "not permitted", "denied")
"""Messages of connection errors that a retry cannot fix. They have no state."""
_UNRESOLVED = "failed to resolve host"
_TOO_LONG = "54000"
_NOBODY = "\x1b"
"""Set where there is no tenant. An escape is never alone, so no tenant has this name; one may have the empty one."""


class PostgresConnections:
    """The connections of one process to the database behind `url`, each of which serves one thread at a time.

    What fails because the server restarts, or is out of reach, is tried again for `busy_seconds`.

    Raises:
        StoreError: the database cannot be opened (`MigrationError`, `StoreBusy` where that is the reason).
    """

    def __init__(self, url: str, busy_seconds: float) -> None:
        self.url = url
        self.busy_seconds = busy_seconds
        self._lock = threading.Lock()
        self._pool: Pool | None = None
        self._known: set[str] = set()
        self._reached = False
        forks.reset_in_child(self)
        self.run(None, lambda _: None)  # shows that there is a connection

    def reset(self) -> None:
        """Leave the parent's connections to the parent."""
        forks.leave_behind(self._pool)
        self._lock = threading.Lock()
        self._pool = None

    def run(self, tenant: str | None, work: "Callable[[Any], T]", *, in_doubt: Callable[[], bool] = lambda: False) -> T:
        """Return the result of `work` on a connection that sees this tenant's rows (`None`: no rows).

        It is called again after a failure that may pass, unless it is then `in_doubt` whether it was done.

        Raises:
            InvalidInput: what is bound is no text, or too long for an index.
            StoreBusy: the server did not come back, or did not get to it, in time.
            StoreError: it refuses.
        """
        import psycopg

        def attempt(seconds: float) -> T:
            for _ in range(INTRODUCED_AGAIN):
                try:
                    return self._once(tenant, work, seconds)
                except psycopg.errors.ForeignKeyViolation:  # another process deleted the tenant, or the user
                    if tenant is None:
                        raise
                    self._introduce(tenant, seconds)
            return self._once(tenant, work, seconds)

        # after some failures the server has surely not done what it was asked
        return self.insist(attempt, repeatable=lambda error: _state(error) in _AGAIN or not in_doubt())

    def insist(
        self, attempt: "Callable[[float], T]", *, repeatable: Callable[[BaseException], bool] = lambda _: True
    ) -> T:
        """Return the result of `attempt`, which gets the seconds left. It is repeated after a failure that may pass and
        is `repeatable`.

        Raises as `run` does.
        """
        import psycopg

        deadline = time.monotonic() + self.busy_seconds
        pause = RETRY_SECONDS
        while True:
            try:
                return attempt(deadline - time.monotonic())
            except UnicodeError:
                raise InvalidInput(NO_TEXT) from None
            except (psycopg.Error, OSError) as error:
                passing = _may_pass(error, reached=self._reached)
                if not passing or not repeatable(error) or time.monotonic() + pause > deadline:
                    raise self._translated(error, passing=passing) from error
            time.sleep(pause)
            pause = min(2 * pause, MAX_RETRY_SECONDS)

    def _once(self, tenant: str | None, work: "Callable[[Any], T]", seconds: float) -> T:
        pool = self._opened()
        connection = pool.lend(seconds)
        try:
            if connection.tenant != tenant:
                name = _NOBODY if tenant is None else escaped(tenant)
                connection.execute("SELECT set_config('harness.tenant', $1, false)", (name,))
                connection.tenant = tenant
            return work(connection)
        except BaseException:
            connection.tenant = _UNKNOWN
            raise
        finally:
            pool.take_back(connection)

    def introduce(self, tenant: str) -> None:
        """Make the tenant known, if this process has not done so before."""
        if tenant not in self._known:
            self.insist(lambda seconds: self._introduce(tenant, seconds))

    def _introduce(self, tenant: str, seconds: float) -> None:
        sql = f"INSERT INTO {TENANTS} (id) VALUES ($1) ON CONFLICT DO NOTHING"
        self._once(tenant, lambda connection: connection.execute(sql, (escaped(tenant),)), seconds)
        self._known.add(tenant)

    def forget(self, tenant: str) -> None:
        """Take the tenant for unknown."""
        self._known.discard(tenant)

    def apart(self) -> Any:
        """Open a separate connection with all rights of the user; the caller closes it.

        Raises:
            StoreError: the database cannot be opened.
        """
        import psycopg

        try:
            return self.connect()
        except (psycopg.Error, OSError) as error:
            raise self._translated(error, passing=_may_pass(error, reached=self._reached)) from error

    def connect(self) -> "psycopg.Connection[Any]":
        """Open a connection as `apart` does, and raise what psycopg raises."""
        connection: psycopg.Connection[Any] = _connection_class().connect(
            self.url,
            autocommit=True,
            application_name="harness",
            client_encoding="utf8",
            connect_timeout=min(CONNECT_SECONDS, max(2, math.ceil(self.busy_seconds))),
            keepalives_idle=30,
            tcp_user_timeout=60_000,
        )
        self._reached = True
        return connection

    def close(self) -> None:
        """Let go of every connection; a later call opens again."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _opened(self) -> Pool:
        pool = self._pool
        if pool is None:
            with self._lock:
                if self._pool is None:
                    self._migrate()
                    self._pool = Pool(self._configured, POOL_SIZE)
                pool = self._pool
        return pool

    def _migrate(self) -> None:
        with closing(self.connect()) as connection:
            if not schema.is_current(connection):
                connection.execute(f"SET lock_timeout = {self._milliseconds()}")
                schema.migrate(connection)

    def _configured(self) -> Any:
        connection = self.connect()
        try:
            for name, value in {**_SESSION, "lock_timeout": str(self._milliseconds())}.items():
                connection.execute("SELECT set_config($1, $2, false)", (name, value))
            schema.step_down(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _milliseconds(self) -> int:
        return max(1, round(1_000 * self.busy_seconds))  # 0 would mean for ever

    def _translated(self, error: BaseException, *, passing: bool) -> StoreError | InvalidInput:
        if passing:
            return StoreBusy(
                f"the database did not answer within {self.busy_seconds:g} s ({_shown(error)}); try again later"
            )
        if _state(error) == _TOO_LONG:
            return InvalidInput(f"a name or a key is too long for an index ({_shown(error)}); shorten it")
        return StoreError(f"the database refuses: {_shown(error)}")


_UNKNOWN = "\0 unknown"
"""Tenant of a connection after a failure: the next use names it again."""


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
            self.reader = self.cursor(binary=True)  # kept: to make one takes a tenth of a look-up

        def fetch(self, sql: str, bound: tuple[Any, ...]) -> Any:
            """Return the first row, or `None`."""
            return self.reader.execute(sql, bound).fetchone()

    return TenantConnection


def _may_pass(error: BaseException, *, reached: bool) -> bool:
    """Say whether to ask again may help. `reached` is whether there has ever been a connection: then a host that has no
    address is one that is being restarted.
    """
    import psycopg

    state = _state(error)
    if state is not None:
        return state in _GONE or state in _AGAIN
    if isinstance(error, psycopg.OperationalError):  # no answer of a server: the connection broke, or was never there
        if str(error).startswith(_UNRESOLVED):
            return reached
        return not any(reason in str(error) for reason in _REFUSED)
    return isinstance(error, psycopg.InterfaceError | OSError)


def _state(error: BaseException) -> str | None:
    """Return the server's code for an error, `None` where it gave none."""
    state: str | None = getattr(error, "sqlstate", None)
    return state


def _shown(error: BaseException) -> str:
    """Return the message of an error in one line without the address, which may hold a password."""
    diagnosed = getattr(getattr(error, "diag", None), "message_primary", None)
    if str(error).startswith(_UNRESOLVED):
        return "the host of its address is not known"
    if diagnosed is None and getattr(error, "pgconn", None) is not None:
        diagnosed = str(error).partition("\n")[0].rpartition(" failed: ")[2].removeprefix("FATAL:")
    return shorten(diagnosed, 200) if diagnosed else type(error).__name__


def shown_url(url: str) -> str:
    """Return the address of a database without what is secret in it.

    Raises:
        InvalidInput: see `url_parts`.
    """
    parts = url_parts(url)
    host = parts.get("host") or "localhost"
    port = f":{parts['port']}" if "port" in parts else ""
    return f"postgresql://{host}{port}/{parts.get('dbname', '')}"


def url_parts(url: str) -> dict[str, Any]:
    """Return the parts of the address of a PostgreSQL database.

    Raises:
        InvalidInput: it is none, or psycopg is not installed; the address, which may hold a password, is not repeated.
    """
    require_extra("postgres")
    import psycopg

    try:
        if url.isprintable() and url.startswith(("postgresql://", "postgres://")):
            parts = dict(psycopg.conninfo.conninfo_to_dict(url))
            ports = str(parts.get("port") or "1").split(",")
            # an @ that is not written as %40 makes the end of the password the host, which messages show
            if "@" not in str(parts.get("host")) and all(each.isdigit() and 0 < int(each) < 65_536 for each in ports):
                return parts
    except psycopg.Error:
        log.debug("the setting store cannot be parsed")
    raise InvalidInput(
        "the setting store is no address of a PostgreSQL database; it looks like postgresql://user@host/name"
    )
