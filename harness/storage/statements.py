"""Interface of the statements that both databases understand, for the parts of a store that are written once."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from harness.core.entries import Entry, Outline
from harness.storage.tables import Table

NO_TEXT = "what is to be stored or asked for is no text (broken Unicode)"


class Statements(Protocol):
    """Statements for one tenant. In `sql`, `?1` is the tenant, and `?2`, `?3`, … are the values of `bound`."""

    @property
    def tables(self) -> Mapping[str, Table]:
        """The cache tables as this database has them, by their logical names."""

    def fetch_all(self, tenant: str, sql: str, *bound: Any) -> list[Any]:
        """Return every row of a query."""

    def change(self, tenant: str, sql: str, *rows: tuple[Any, ...], again: bool = True) -> int:
        """Run a statement once for each of `rows`, its bound values, in one transaction; return how many rows of the
        database it changed. If the connection breaks during the commit, it is repeated unless `again` is false.
        """

    def text(self, value: Any) -> Any:
        """Return the text of a column, `None` for NULL."""

    def entries(self, table: str, rows: Sequence[tuple[Any, ...]]) -> list[Entry]:
        """Make entries of what `Table.select_whole` reads, leaving out the damaged ones."""

    def outlines(self, table: str, rows: Sequence[tuple[Any, ...]]) -> list[Outline]:
        """Make outlines of what `Table.select_outline` reads."""


def numbered(values: Sequence[Any], first: int) -> str:
    """Return a placeholder for each value, the first of which is bound as `?first`; NULL, which equals nothing, where
    there are none.
    """
    return ", ".join(f"?{number}" for number in range(first, first + len(values))) or "NULL"
