"""A real PostgreSQL server with pgvector for every test in this folder; without one they fail."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from harness.storage.postgres.store import PostgresStore
from tests.storage.postgres.servers import Server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of this folder."""
    for item in items:
        if "tests/storage/postgres" in str(item.path):
            item.add_marker(pytest.mark.postgres)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Return a running server for these tests only, outside pytest's folders, which other runs clean up."""
    with (
        TemporaryDirectory(prefix="harness-postgres-", ignore_cleanup_errors=True) as folder,
        Server.started(Path(folder)) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def server(postgres: Server) -> Server:
    """Return that server."""
    return postgres


@pytest.fixture
def url(server: Server) -> str:
    """Return the address of an empty database."""
    server.empty()
    return server.url


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    """Return an empty store."""
    store = PostgresStore(url, busy_seconds=10)
    yield store
    store.close()
