"""Contract of listings and counts of every `Store`: by time, by scope, by day, by expiry."""

from collections.abc import Callable
from math import inf
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.entries import Entry, Outline
from harness.core.tables import TOOLS
from harness.ports import Store
from tests.storage.embedded import EMBEDDER, SCOPES, embedded, keys_near, vector_of
from tests.storage.entries import NOW, RESEARCH, SEARCHES, TENANT, a_tool_entry, an_entry

Empty: TypeAlias = Callable[[Store], object]

UNICODE = "Zürich 検索 👩‍🔬 e\u0301 nul\0 'x"

EMPTIED: dict[str, Empty] = {
    "deleted": lambda store: store.rows.delete(SEARCHES, TENANT, ["a", "b"]),
    "cleared": lambda store: store.admin.clear(SEARCHES, TENANT),
    "swept": lambda store: store.rows.sweep(SEARCHES, TENANT, inf),
    "forgotten": lambda store: store.admin.forget(TENANT),
}
"""The ways in which all rows of a tenant go."""

each_way_to_empty = pytest.mark.parametrize("empty", EMPTIED.values(), ids=EMPTIED)

_rows = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from([0.0, 1.0, 1.5, 2.0])), max_size=12)


def at(key: str, moment: float, table: str = SEARCHES) -> Entry:
    """Return an entry made this many seconds after `NOW`."""
    return an_entry(key, table, created_at=NOW + moment)


def in_scope(key: str, *scope: str) -> Entry:
    """Return an embedded search of this engine with these options."""
    return embedded(key, own=(10, *scope))


def keys(outlines: list[Outline]) -> list[str]:
    """Return the rows' keys."""
    return [each.key for each in outlines]


class ListingContract:
    """One test for each requirement."""

    def test_a_whole_row_is_read_by_its_key(self, store: Store) -> None:
        """With every own column and its embedding; another tenant has no row of that key."""
        entry = replace(in_scope("a", "ddgs", "{}"), key=UNICODE.replace("\0", ""))
        store.rows.put(SEARCHES, TENANT, entry)
        assert store.rows.get_whole(SEARCHES, TENANT, entry.key) == entry
        assert store.rows.get_whole(SEARCHES, "another", entry.key) is None
        assert store.rows.get_whole(SEARCHES, TENANT, "none") is None

    def test_a_whole_row_of_a_tool_is_read_by_its_key(self, store: Store) -> None:
        """PostgreSQL has another name for that table's column."""
        entry = a_tool_entry("a", created_by=None)
        store.rows.put(TOOLS, TENANT, entry)
        assert store.rows.get_whole(TOOLS, TENANT, "a") == entry
        assert store.rows.get_whole(TOOLS, TENANT, "b") is None

    @pytest.mark.parametrize("embedder", ["\x1b[1m", "a\x1b", "model\0two"])
    def test_an_embedder_may_have_any_name(self, store: Store, embedder: str) -> None:
        """Its rows are found under that name, whether they came with their vectors or got them later."""
        store.rows.put(SEARCHES, TENANT, embedded("a", embedder=embedder))
        store.rows.put(SEARCHES, TENANT, an_entry("b"))
        store.nearest.embed(SEARCHES, TENANT, "b", vector_of("b").tobytes(), embedder)
        assert store.nearest.scopes(SEARCHES, TENANT, embedder) == [SCOPES[SEARCHES]]
        assert store.nearest.unembedded(SEARCHES, TENANT, embedder, 5) == []
        assert keys_near(store, vector_of("a"), k=1, embedder=embedder) == ["a"]
        assert keys_near(store, vector_of("b"), k=1, embedder=embedder) == ["b"]
        whole = store.rows.get_whole(SEARCHES, TENANT, "a")
        assert whole is not None
        assert whole.embedder == embedder

    # timeline ----------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("table", [SEARCHES, RESEARCH])
    def test_a_timeline_is_sorted_by_creation(self, store: Store, table: str) -> None:
        """The newest comes first, in whatever order they were written."""
        for key, moment in (("b", 2.0), ("d", 4.0), ("a", 1.0), ("c", 3.25)):
            store.rows.put(table, TENANT, at(key, moment, table))
        assert keys(store.listings.timeline(table, TENANT, limit=9)) == ["d", "c", "b", "a"]

    def test_a_timeline_has_all_but_the_large_columns(self, store: Store) -> None:
        """Key, text, both times and own columns, with the same number as in `outlines`."""
        put = an_entry("k", created_at=NOW + 0.25, expires_at=NOW + 60.5)
        store.rows.put(SEARCHES, TENANT, put)
        (told,) = store.listings.timeline(SEARCHES, TENANT, limit=9)
        assert told == Outline(told.number, put.key, put.text, put.created_at, put.expires_at, put.own)
        assert store.listings.outlines(SEARCHES, TENANT, {"engine": "ddgs"}, limit=9) == [told]

    def test_of_rows_made_at_one_time_the_last_written_comes_first(self, store: Store) -> None:
        """A row that was written again, or embedded later, counts as written then."""
        for key in "bdacb":
            store.rows.put(SEARCHES, TENANT, at(key, 0.0))
        store.nearest.embed(SEARCHES, TENANT, "d", b"\x00\x00\x80\x3f", EMBEDDER)
        told = store.listings.timeline(SEARCHES, TENANT, limit=9)
        assert keys(told) == ["d", "b", "c", "a"]
        assert [each.number for each in told] == sorted((each.number for each in told), reverse=True)

    def test_a_timeline_includes_its_start(self, store: Store) -> None:
        """A row made at exactly `since` is listed, one made a little earlier is not."""
        for key, moment in (("before", 0.75), ("at", 1.0), ("after", 1.25)):
            store.rows.put(SEARCHES, TENANT, at(key, moment))
        assert keys(store.listings.timeline(SEARCHES, TENANT, since=NOW + 1.0, limit=9)) == ["after", "at"]
        assert store.listings.timeline(SEARCHES, TENANT, since=NOW + 2.0, limit=9) == []

    @pytest.mark.parametrize(
        ("limit", "offset", "found"),
        [(2, 0, "ed"), (2, 2, "cb"), (2, 4, "a"), (2, 5, ""), (0, 0, ""), (-1, 0, ""), (2, -1, "ed"), (10**9, 3, "ba")],
    )
    def test_a_timeline_is_read_page_by_page(self, store: Store, limit: int, offset: int, found: str) -> None:
        """At most `limit` rows after `offset` rows; nothing after the last."""
        for moment, key in enumerate("abcde"):
            store.rows.put(SEARCHES, TENANT, at(key, float(moment)))
        assert keys(store.listings.timeline(SEARCHES, TENANT, limit=limit, offset=offset)) == list(found)

    def test_pages_of_rows_made_at_one_time_show_each_row_once(self, store: Store) -> None:
        """Pages neither repeat a row nor leave one out."""
        for number in range(25):
            store.rows.put(SEARCHES, TENANT, at(str(number), 0.0))
        pages = [keys(store.listings.timeline(SEARCHES, TENANT, limit=10, offset=start)) for start in range(0, 30, 10)]
        assert [key for page in pages for key in page] == [str(number) for number in reversed(range(25))]

    def test_expired_rows_are_in_the_timeline(self, store: Store) -> None:
        """With the time at which they expired."""
        store.rows.put(SEARCHES, TENANT, an_entry("k", expires_at=0.0))
        assert [each.expires_at for each in store.listings.timeline(SEARCHES, TENANT, limit=9)] == [0.0]

    def test_a_timeline_is_of_one_tenant_and_table(self, store: Store) -> None:
        """Others' rows neither show nor count."""
        for tenant, key in (("ann", "a"), ("bob", "b"), ("ann", "c")):
            store.rows.put(SEARCHES, tenant, an_entry(key))
        store.rows.put(RESEARCH, "ann", an_entry("r", RESEARCH))
        assert keys(store.listings.timeline(SEARCHES, "ann", limit=1, offset=1)) == ["a"]
        assert keys(store.listings.timeline(SEARCHES, "bob", limit=9)) == ["b"]
        assert store.listings.timeline(SEARCHES, "no-tenant", limit=9) == []

    @each_way_to_empty
    def test_deleted_rows_are_not_in_the_timeline(self, store: Store, empty: Empty) -> None:
        """A cleared table has an empty timeline; rows put afterwards are listed."""
        for key in "ab":
            store.rows.put(SEARCHES, TENANT, an_entry(key))
        empty(store)
        assert store.listings.timeline(SEARCHES, TENANT, limit=9) == []
        store.rows.put(SEARCHES, TENANT, an_entry("later"))
        assert keys(store.listings.timeline(SEARCHES, TENANT, limit=9)) == ["later"]

    def test_a_timeline_may_have_any_text(self, store: Store) -> None:
        """Any script, in the key, the text, the own columns and the tenant's name."""
        put = an_entry(UNICODE, text=UNICODE, own=(10, UNICODE, UNICODE))
        store.rows.put(SEARCHES, UNICODE, put)
        (told,) = store.listings.timeline(SEARCHES, UNICODE, limit=9)
        assert (told.key, told.text, told.own) == (UNICODE, UNICODE, put.own)

    def test_tool_rows_have_a_timeline(self, store: Store) -> None:
        """They are in a table of another kind."""
        for key, moment in (("a", 0.5), ("c", 2.0), ("b", 1.0)):
            store.rows.put("tool_cache", TENANT, replace(a_tool_entry(key, created_by=None), created_at=NOW + moment))
        told = store.listings.timeline("tool_cache", TENANT, since=NOW + 1.0, limit=9)
        assert [(each.key, each.created_at, each.expires_at) for each in told] == [
            ("c", NOW + 2.0, NOW + 3_600),
            ("b", NOW + 1.0, NOW + 3_600),
        ]
        assert told[0].own == a_tool_entry("c", created_by=None).own

    @settings(
        max_examples=25,
        deadline=None,  # a disk may be slow
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(rows=_rows, since=st.sampled_from([0.0, 1.0, 1.25]), limit=st.integers(0, 5), offset=st.integers(0, 5))
    def test_a_timeline_is_that_of_a_plain_list(
        self, store: Store, rows: list[tuple[str, float]], since: float, limit: int, offset: int
    ) -> None:
        """After any writes, any page equals that of the sorted list."""
        store.admin.clear(SEARCHES, TENANT)
        held: dict[str, float] = {}
        for key, moment in rows:
            store.rows.put(SEARCHES, TENANT, at(key, moment))
            held.pop(key, None)
            held[key] = moment
        newest = sorted(held, key=lambda key: (held[key], list(held).index(key)), reverse=True)
        expected = [key for key in newest if held[key] >= since][offset : offset + limit]
        assert (
            keys(store.listings.timeline(SEARCHES, TENANT, since=NOW + since, limit=limit, offset=offset)) == expected
        )

    # scopes ------------------------------------------------------------------------------------------------------

    def test_each_scope_is_listed_once_sorted_by_value(self, store: Store) -> None:
        """However many rows it has; expired ones count."""
        for number, scope in enumerate([("b", "{}"), ("a", "z"), ("b", "{}"), ("", ""), ("a", ""), ("b", "{}")]):
            store.rows.put(SEARCHES, TENANT, in_scope(str(number), *scope))
        store.rows.put(SEARCHES, TENANT, replace(in_scope("expired", "c", "{}"), expires_at=0.0))
        assert store.nearest.scopes(SEARCHES, TENANT, EMBEDDER) == [
            ("", ""),
            ("a", ""),
            ("a", "z"),
            ("b", "{}"),
            ("c", "{}"),
        ]

    def test_scopes_are_those_with_a_vector_of_the_embedder(self, store: Store) -> None:
        """Not scopes without a vector or with another model's vectors only."""
        others = ("another", "zz", f"{EMBEDDER}x", EMBEDDER[:-1])
        for number, embedder in enumerate((*others, EMBEDDER)):
            store.rows.put(SEARCHES, TENANT, replace(in_scope(f"both {number}", "both", "{}"), embedder=embedder))
        store.rows.put(SEARCHES, TENANT, an_entry("both none", own=(10, "both", "{}")))
        store.rows.put(SEARCHES, TENANT, an_entry("none", own=(10, "none", "{}")))
        store.rows.put(SEARCHES, TENANT, replace(in_scope("other", "other", "{}"), embedder="another"))
        assert store.nearest.scopes(SEARCHES, TENANT, EMBEDDER) == [("both", "{}")]
        assert store.nearest.scopes(SEARCHES, TENANT, "another") == [("both", "{}"), ("other", "{}")]
        assert store.nearest.scopes(SEARCHES, TENANT, "unknown") == []

    def test_a_scope_is_listed_while_it_has_a_vector(self, store: Store) -> None:
        """It is listed from the first vector to the deletion of the last one."""
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        assert store.nearest.scopes(SEARCHES, TENANT, EMBEDDER) == []
        store.nearest.embed(SEARCHES, TENANT, "k", embedded("k").embedding or b"", EMBEDDER)
        assert store.nearest.scopes(SEARCHES, TENANT, EMBEDDER) == [SCOPES[SEARCHES]]
        store.rows.put(SEARCHES, TENANT, in_scope("k", "elsewhere", "{}"))
        assert store.nearest.scopes(SEARCHES, TENANT, EMBEDDER) == [("elsewhere", "{}")]

    @each_way_to_empty
    def test_deleted_rows_have_no_scope(self, store: Store, empty: Empty) -> None:
        """However they were deleted."""
        for key in "ab":
            store.rows.put(SEARCHES, TENANT, embedded(key))
        empty(store)
        assert store.nearest.scopes(SEARCHES, TENANT, EMBEDDER) == []

    def test_scopes_are_of_one_tenant_and_table(self, store: Store) -> None:
        """Scopes of others are not listed."""
        store.rows.put(SEARCHES, "ann", in_scope("k", "ann's", "{}"))
        store.rows.put(SEARCHES, "bob", in_scope("k", "bob's", "{}"))
        store.rows.put(RESEARCH, "ann", embedded("k", RESEARCH))
        assert store.nearest.scopes(SEARCHES, "ann", EMBEDDER) == [("ann's", "{}")]
        assert store.nearest.scopes(RESEARCH, "ann", EMBEDDER) == [SCOPES[RESEARCH]]
        assert store.nearest.scopes(SEARCHES, "no-tenant", EMBEDDER) == []

    def test_a_table_without_scope_columns_has_one_scope(self, store: Store) -> None:
        """The empty one, if there is a vector."""
        entry = replace(embedded("k"), own=("https://example.org/", 1))
        assert store.nearest.scopes("knowledge", TENANT, EMBEDDER) == []
        for key in "ab":
            store.rows.put("knowledge", TENANT, replace(entry, key=key))
        assert store.nearest.scopes("knowledge", TENANT, EMBEDDER) == [()]
        assert store.nearest.scopes("knowledge", TENANT, "another") == []

    def test_a_scope_may_have_any_text(self, store: Store) -> None:
        """Any script, one a prefix of the other, with NUL characters or quotes."""
        texts = [UNICODE, "a", "a\0", "a\0b", "a ", "aa", "A", "ä", "\U0010ffff", "\uffff", "' OR 1=1 --"]
        for number, text in enumerate(texts):
            store.rows.put(SEARCHES, TENANT, in_scope(f"{number} engine", text, "{}"))
            store.rows.put(SEARCHES, TENANT, in_scope(f"{number} options", "e", text))
        expected = {*((text, "{}") for text in texts), *(("e", text) for text in texts)}
        assert set(store.nearest.scopes(SEARCHES, TENANT, EMBEDDER)) == expected
        assert len(store.nearest.scopes(SEARCHES, TENANT, EMBEDDER)) == len(expected)

    # counted by day ----------------------------------------------------------------------------------------------

    def test_counts_are_returned_by_day(self, store: Store) -> None:
        """The earliest day first, in whatever order they were counted; several things may be counted at once."""
        store.usage.add(TENANT, "2026-02-01", {"exact": 1})
        store.usage.add(TENANT, "2025-12-31", {"exact": 2, "miss": 1})
        store.usage.add(TENANT, "2026-01-10", {UNICODE: 4})
        store.usage.add(TENANT, "2025-12-31", {"exact": 3})
        told = store.usage.by_day(TENANT)
        assert told == {
            "2025-12-31": {"exact": 5, "miss": 1},
            "2026-01-10": {UNICODE: 4},
            "2026-02-01": {"exact": 1},
        }
        assert list(told) == sorted(told)
        assert list(store.usage.by_day(TENANT, since="2026-01-10")) == ["2026-01-10", "2026-02-01"]
        assert store.usage.by_day(TENANT, since="2026-02-02") == {}

    def test_uses_are_counted_by_origin(self, store: Store) -> None:
        """For some origins, or for all together."""
        for origin, times in (("user", 2), ("agent", 3), ("experiment", 50)):
            store.usage.add(TENANT, "2026-01-01", {"exact": times}, origin=origin)
        store.usage.add(TENANT, "2026-01-02", {"live": 1}, origin="evaluation")
        assert store.usage.by_day(TENANT, ["user", "agent"]) == {"2026-01-01": {"exact": 5}}
        assert store.usage.by_day(TENANT, ["evaluation"]) == {"2026-01-02": {"live": 1}}
        assert store.usage.by_day(TENANT) == {"2026-01-01": {"exact": 55}, "2026-01-02": {"live": 1}}

    def test_rows_are_listed_by_origin(self, store: Store) -> None:
        """An unmarked row is the user's; a mark replaces another, and is deleted with its row."""
        for place, key in enumerate("abc"):
            store.rows.put(SEARCHES, TENANT, at(key, place))
        for key, origin in (("a", "run"), ("b", "run"), ("b", "evaluation")):
            store.usage.mark_origin(SEARCHES, TENANT, key, origin)
        assert store.usage.origins(SEARCHES, TENANT, ["a", "b", "c", "d"]) == {"a": "run", "b": "evaluation"}
        assert store.usage.origins(SEARCHES, "other", ["a"]) == store.usage.origins(RESEARCH, TENANT, ["a"]) == {}
        listed = store.listings.timeline(SEARCHES, TENANT, limit=9, origins=["user", "evaluation"])
        assert [each.key for each in listed] == ["c", "b"]
        assert [
            each.key for each in store.listings.timeline(SEARCHES, TENANT, limit=1, offset=1, origins=["user", "run"])
        ] == ["a"]
        store.usage.mark_origin(SEARCHES, TENANT, "a", "user")
        assert store.usage.origins(SEARCHES, TENANT, ["a", "b"]) == {"b": "evaluation"}
        store.rows.delete(SEARCHES, TENANT, ["b"])
        assert store.usage.origins(SEARCHES, TENANT, ["b"]) == {}

    def test_counts_are_of_one_tenant(self, store: Store) -> None:
        """A tenant without counts has none."""
        store.usage.add("ann", "2026-01-01", {"exact": 2})
        assert store.usage.by_day("bob") == {}
        store.usage.add("bob", "2026-01-02", {"exact": 5})
        assert store.usage.by_day("ann") == {"2026-01-01": {"exact": 2}}

    def test_counts_outlive_the_rows(self, store: Store) -> None:
        """Clearing a table deletes no count."""
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        store.usage.add(TENANT, "2026-01-01", {"exact": 2})
        store.admin.clear(SEARCHES, TENANT)
        assert store.usage.by_day(TENANT) == {"2026-01-01": {"exact": 2}}

    # expiring ----------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("table", [SEARCHES, RESEARCH])
    def test_rows_are_counted_by_expiry(self, store: Store, table: str) -> None:
        """At each time, all rows that expire then or earlier, however long ago."""
        for key, expires_at in (("gone", 0.0), ("a", NOW), ("b", NOW), ("c", NOW + 1.5), ("never", inf)):
            store.rows.put(table, TENANT, an_entry(key, table, expires_at=expires_at))
        moments = [-1.0, 0.0, NOW - 1, NOW, NOW + 1, NOW + 1.5, 1e15, inf]
        assert store.listings.expiring(table, TENANT, moments) == [0, 1, 1, 3, 3, 4, 4, 5]

    def test_expiry_times_come_in_any_order(self, store: Store) -> None:
        """They may repeat; no times give no counts."""
        for number in range(4):
            store.rows.put(SEARCHES, TENANT, an_entry(str(number), expires_at=NOW + number))
        assert store.listings.expiring(SEARCHES, TENANT, [NOW + 2, NOW, NOW + 2, NOW + 9, NOW]) == [3, 1, 3, 4, 1]
        assert store.listings.expiring(SEARCHES, TENANT, []) == []
        thousand = store.listings.expiring(SEARCHES, TENANT, [NOW + number / 100 for number in range(1_000)])
        assert thousand == [min(4, 1 + number // 100) for number in range(1_000)]

    def test_expiries_are_of_one_tenant_and_table(self, store: Store) -> None:
        """Others' rows do not count."""
        for tenant in ("ann", "bob"):
            store.rows.put(SEARCHES, tenant, an_entry("k", expires_at=NOW))
        store.rows.put(RESEARCH, "ann", an_entry("k", RESEARCH, expires_at=NOW))
        assert store.listings.expiring(SEARCHES, "ann", [NOW]) == [1]
        assert store.listings.expiring(SEARCHES, "no-tenant", [NOW]) == [0]

    @each_way_to_empty
    def test_deleted_rows_do_not_expire(self, store: Store, empty: Empty) -> None:
        """However they were deleted."""
        for key in "ab":
            store.rows.put(SEARCHES, TENANT, an_entry(key))
        assert store.listings.expiring(SEARCHES, TENANT, [inf]) == [2]
        empty(store)
        assert store.listings.expiring(SEARCHES, TENANT, [inf]) == [0]

    def test_tool_rows_expire_like_others(self, store: Store) -> None:
        """They are in a table of another kind."""
        for key, expires_at in (("a", NOW), ("b", NOW + 0.5)):
            store.rows.put("tool_cache", TENANT, replace(a_tool_entry(key, created_by=None), expires_at=expires_at))
        assert store.listings.expiring("tool_cache", TENANT, [NOW + 0.25, NOW + 0.5, NOW - 1, inf]) == [1, 2, 0, 2]

    # all of them -------------------------------------------------------------------------------------------------

    def test_listing_changes_nothing(self, store: Store) -> None:
        """Listings are reads: not even `last_used_at` changes."""
        store.rows.put(SEARCHES, TENANT, embedded("k"))
        before = list(store.listings.scan(SEARCHES, TENANT))
        store.listings.timeline(SEARCHES, TENANT, limit=9)
        store.nearest.scopes(SEARCHES, TENANT, EMBEDDER)
        store.listings.expiring(SEARCHES, TENANT, [NOW])
        assert list(store.listings.scan(SEARCHES, TENANT)) == before
