"""The store that these tests run on; by no fixture of which a test may have an argument's name."""

from collections.abc import Iterator

import pytest

from harness.storage.postgres.store import PostgresStore
from tests.storage.postgres.servers import Server


@pytest.fixture
def store(server: Server) -> Iterator[PostgresStore]:
    """Return an empty store."""
    server.empty()
    opened = PostgresStore(server.url, busy_seconds=10)
    yield opened
    opened.close()
