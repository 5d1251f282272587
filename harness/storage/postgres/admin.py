"""Administration of PostgreSQL: tenants, checks, deletion."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from harness.storage import checks
from harness.storage.audits import ALL, audit_in, problem
from harness.storage.listings import whole_rows
from harness.storage.postgres.dialect import POSTGRES_TABLES, TENANTS, USERS, escaped, text_of
from harness.storage.postgres.row_codec import ROW_CODECS
from harness.storage.postgres.schema import TENANT_COLUMNS
from harness.storage.postgres.statements import PostgresStatements
from harness.storage.postgres.vectors import HnswIndexes
from harness.storage.tables import AUDITS, FORGET_EMBEDDING


class PostgresAdmin:
    """The port `Admin` on PostgreSQL."""

    def __init__(self, statements: PostgresStatements, vectors: HnswIndexes) -> None:
        self._statements = statements
        self._vectors = vectors

    def clear(self, table: str, tenant: str) -> int:
        """See `Admin.clear`."""
        declared = POSTGRES_TABLES[table]
        sql = f"DELETE FROM {declared.name} WHERE {declared.mine}"
        return self._statements.change(tenant, sql, ())

    def forget(self, tenant: str, user: str | None = None) -> int:
        """See `Admin.forget`; the cascades of the tables do it."""
        if user is not None:
            count = "SELECT count(*) FROM access_tokens WHERE tenant = $1 AND user_id = $2"
            delete = f"DELETE FROM {USERS} WHERE tenant_id = $1 AND id = $2"
            bound: tuple[str, ...] = (escaped(tenant), escaped(user))
        else:
            numbers = (f"(SELECT count(*) FROM {each.name} WHERE {each.mine})" for each in POSTGRES_TABLES.values())
            count = f"SELECT {' + '.join(numbers)} + (SELECT count(*) FROM {AUDITS} WHERE tenant = $1)"
            delete = f"DELETE FROM {TENANTS} WHERE id = $1"
            bound = (escaped(tenant),)

        def write(connection: Any) -> int:
            gone: int = connection.execute(count, bound).fetchone()[0]
            connection.execute(delete, bound)
            return gone

        gone = self._statements.write(tenant, write)
        if user is None:
            self._statements.connections.forget(tenant)
            self._vectors.forget(tenant)
        return gone

    def tenants(self) -> list[str]:
        """See `Admin.tenants`."""
        return [name for name in self._named() if self._has_rows(name)]

    def _named(self) -> list[str]:
        """Return every tenant that has ever written, in the order of their names."""

        def listed(connection: Any) -> list[Any]:
            with connection.transaction():
                connection.execute("SELECT set_config('harness.listing', 'on', true)")
                found: list[Any] = connection.execute(f"SELECT id FROM {TENANTS}", binary=True).fetchall()
                return found

        return sorted(text_of(name) for (name,) in self._statements.connections.run(None, listed))

    def _has_rows(self, tenant: str) -> bool:
        held = (f"EXISTS (SELECT FROM {each.name} WHERE {each.mine})" for each in POSTGRES_TABLES.values())
        return bool(self._statements.fetch_all(tenant, f"SELECT {' OR '.join(held)}")[0][0])

    def verify(self, *, repair: bool) -> list[str]:
        """See `Admin.verify`. The schema prevents most damage; payloads and vectors remain to check."""
        problems = [
            line
            for tenant in self.tenants()
            for name in POSTGRES_TABLES
            for line in self._unusable_rows(name, tenant, repair=repair)
        ]
        problems += [line for name in self._named() for line in self._unusable_audits(name, repair=repair)]
        lost, orphaned = self._vectors.lost(), self._vectors.orphaned(self.tenants())
        if repair:
            self._vectors.drop(lost + orphaned)
        problems += [f"the vector index {name} was never finished" for name in lost]
        return problems + [f"the vector index {name} belongs to no tenant any more" for name in orphaned]

    def _unusable_rows(self, name: str, tenant: str, *, repair: bool) -> Iterator[str]:
        """Yield a line for each damaged row of the tenant; with `repair`, it is deleted, or its embedding forgotten."""
        declared = POSTGRES_TABLES[name]
        stored = f"{declared.mine} AND {_bytes_of(declared.column('key'))} = $2"  # its escapes may be damaged
        for row in chain.from_iterable(whole_rows(self._statements, name, tenant)):
            key, entry = text_of(row[1]), ROW_CODECS[name].whole(row)
            reason = checks.CHANGED if entry is None else checks.payload_problem(declared, entry.payload)
            if reason:
                if repair:
                    self._statements.change(tenant, f"DELETE FROM {declared.name} WHERE {stored}", (row[1],))
            elif entry is not None and entry.embedding is None and row[-1] is not None:
                reason = "its embedding is damaged"
                if repair:
                    sql = f"UPDATE {declared.name} SET {FORGET_EMBEDDING} WHERE {stored}"
                    self._statements.change(tenant, sql, (row[1],))
            if reason:
                yield f"{name}: {tenant}: row {key}: {reason}"

    def _unusable_audits(self, tenant: str, *, repair: bool) -> list[str]:
        """Return a line for each row of the tenant that is no audit; with `repair`, they are deleted."""
        keys = [row[:2] for row in self._statements.fetch_all(tenant, ALL) if audit_in(row, text_of) is None]
        if keys and repair:
            stored = f"{_bytes_of('key_a')} = $2 AND {_bytes_of('key_b')} = $3"
            self._statements.change(tenant, f"DELETE FROM {AUDITS} WHERE tenant = $1 AND {stored}", *keys)
        return [f"{tenant}: {problem(*map(text_of, each))}" for each in keys]

    def unchecked(self) -> int:
        """See `Admin.unchecked`."""
        counts = (
            f"(SELECT count(*) FROM {t.name} WHERE {t.mine} AND checksum IS NULL)" for t in POSTGRES_TABLES.values()
        )
        sql = f"SELECT {' + '.join(counts)}"
        return sum(int(self._statements.fetch_all(tenant, sql)[0][0]) for tenant in self.tenants())

    def reindex(self) -> int:
        """See `Admin.reindex`; scopes small enough to be compared row by row have no index."""
        return self._vectors.rebuild(self.tenants())

    def size(self) -> int:
        """See `Admin.size`: tables with their indexes."""
        sizes = " + ".join(f"pg_total_relation_size('{name}')" for name in TENANT_COLUMNS)
        return int(
            self._statements.connections.run(
                None, lambda connection: connection.execute(f"SELECT {sizes}").fetchone()[0]
            )
        )


def _bytes_of(column: str) -> str:
    """Return the SQL of a column's bytes as they are stored."""
    return f"convert_to({column}, 'UTF8')"
