"""Port of the database: all its parts."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol, get_type_hints

from harness.ports.admin import Admin
from harness.ports.audits import Audits
from harness.ports.listings import Listings
from harness.ports.locks import Locks
from harness.ports.nearest import Nearest
from harness.ports.rows import Rows
from harness.ports.usage import Usage


class Store(Protocol):
    """Cache tables in one database. Every method of every part is atomic, and safe from any thread and process.

    Rows belong to a tenant. No method that names one reads, counts or changes a row of another.

    Every method raises `StoreBusy` when a lock is not free in time, `StoreCorrupt` for a damaged file, and
    `StoreError` for anything else that the database refuses.
    """

    rows: Rows
    listings: Listings
    nearest: Nearest
    usage: Usage
    audits: Audits
    locks: Locks
    admin: Admin

    def close(self) -> None:
        """Close every connection of this process."""


STORE_PARTS: Mapping[str, type] = MappingProxyType(get_type_hints(Store))
"""The parts of a `Store`, by attribute."""
