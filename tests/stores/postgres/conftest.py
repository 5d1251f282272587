"""A real PostgreSQL server with pgvector for every test in this folder; without one they fail."""

from collections.abc import Iterator

import pytest

from harness.stores.postgres import PostgresStore
from tests.stores.postgres.servers import Server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all of them."""
    for item in items:
        if "tests/stores/postgres" in str(item.path):
            item.add_marker(pytest.mark.postgres)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a running server, which nobody else uses."""
    with Server.started(tmp_path_factory.mktemp("postgres")) as running:
        yield running


@pytest.fixture
def url(server: Server) -> str:
    """Return the address of a database that holds nothing."""
    server.empty()
    return server.url


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    """Return an empty store."""
    store = PostgresStore(url, busy_seconds=10)
    yield store
    store.close()
