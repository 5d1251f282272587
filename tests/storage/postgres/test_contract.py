"""PostgreSQL passes the contract of every store."""

from tests.storage.contract import StoreContract


class TestPostgresStore(StoreContract):
    """The contract, on a real server (the fixture `store` is the folder's)."""

    store = None  # the folder's fixture, not the contract's
