"""The column for the language of passages on PostgreSQL."""

from harness.core.tables import LIBRARY
from harness.storage.postgres.schema import RECORD
from harness.storage.postgres.store import PostgresStore
from tests.storage.entries import TENANT
from tests.storage.postgres.places import ORDINARY, a_database, run
from tests.storage.postgres.servers import Server
from tests.storage.test_passage_languages import passage


def test_an_older_database_gets_the_column_and_keeps_its_rows(server: Server) -> None:
    """Old rows are unchanged, without a language; new ones have one, and are selected by it."""
    with a_database(server, "without_languages", owner=ORDINARY) as url:
        store = PostgresStore(url, busy_seconds=10)
        store.rows.put(LIBRARY, TENANT, passage("a", "de"))
        store.close()
        run(
            url,
            f"ALTER TABLE {LIBRARY} DROP COLUMN language",
            f"DELETE FROM {RECORD} WHERE name = '0008-languages'",
        )
        store = PostgresStore(url, busy_seconds=10)
        store.rows.put(LIBRARY, TENANT, passage("b", "fr"))
        assert sorted(store.listings.scan(LIBRARY, TENANT), key=lambda each: each.key) == [
            passage("a", None),
            passage("b", "fr"),
        ]
        assert [each.key for each in store.listings.find(LIBRARY, TENANT, {"language": "fr"})] == ["b"]
        assert store.admin.verify(repair=False) == []
        store.close()
