"""The in-memory store of the tests keeps the same promises as the real ones."""

import pytest

from harness.ports import Store
from tests.fakes import MemoryStore
from tests.storage.contract import StoreContract


class TestMemoryStore(StoreContract):
    """The contract, on `MemoryStore`."""

    @pytest.fixture
    def store(self) -> Store:
        """Return an empty store in memory."""
        return MemoryStore()
