"""Databases and users for these tests, on a server that others use, too."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import psycopg

from harness.storage.postgres.store import PostgresStore
from tests.storage.entries import SEARCHES, a_token, a_tool_entry, an_audit, an_entry
from tests.storage.postgres.servers import Server

ORDINARY = "ordinary"
"""A user who owns a database, and may make neither roles nor databases."""


def address(server: Server, database: str, user: str, password: str = "") -> str:
    """Return the address of a database, for a user."""
    folder = psycopg.conninfo.conninfo_to_dict(server.url)["host"]
    return f"postgresql://{user}{f':{quote(password)}' if password else ''}@/{database}?host={quote(str(folder))}"


@contextmanager
def a_database(
    server: Server, name: str, *, owner: str = "postgres", extension: bool = True, options: str = ""
) -> Iterator[str]:
    """Make a database, as `owner`'s; return its address for the owner, and drop it in the end."""
    make_user(server, owner)
    server.execute(f'CREATE DATABASE "{name}" OWNER "{owner}" {options}')
    try:
        if extension:
            run(address(server, name, "postgres"), "CREATE EXTENSION vector")
        yield address(server, name, owner)
    finally:
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def make_user(server: Server, name: str, rights: str = "LOGIN") -> None:
    """Make a user, if there is none of that name."""
    if not server.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", name):
        server.execute(f'CREATE ROLE "{name}" {rights}')


def run(url: str, *statements: str) -> list[tuple[object, ...]]:
    """Run statements one by one in a new session; return the rows of the last one."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def made(url: str) -> None:
    """Make the tables."""
    PostgresStore(url, busy_seconds=10).close()


def filled(store: PostgresStore, tenant: str) -> None:
    """Give a tenant a row in most tables, with everything that refers to it."""
    store.rows.put(SEARCHES, tenant, an_entry("k", teaches=(("WHO", "World Health Organization"),)))
    store.rows.put("tool_cache", tenant, a_tool_entry("t", created_by="ann"))
    store.rows.put("tool_cache", tenant, a_tool_entry("u", created_by="ben"))
    store.rows.put("access_tokens", tenant, a_token("ann"))
    store.rows.put("access_tokens", tenant, a_token("ben"))
    store.usage.add(tenant, "2026-01-01", {"exact": 2})
    store.audits.put(tenant, an_audit("a", "b"))
