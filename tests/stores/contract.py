"""What every `Store` promises: subclass `StoreContract`, name it `Test…`, and give it the fixture `store`."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.entries import Entry
from harness.ports import Store
from tests.stores.entries import NOW, RESEARCH, SEARCHES, TENANT, an_entry

DECISIVE = {SEARCHES: 1, RESEARCH: 2}

each_table = pytest.mark.parametrize("table", [SEARCHES, RESEARCH])

_tenants = st.sampled_from(["ann", "bob"])
_keys = st.sampled_from(["one", "two", "three"])
_payloads = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_actions = st.lists(
    st.one_of(
        st.tuples(st.just("put"), _tenants, _keys, _payloads),
        st.tuples(st.just("get"), _tenants, _keys, st.just("")),
        st.tuples(st.just("clear"), _tenants, _keys, st.just("")),
    ),
    max_size=30,
)


class StoreContract:
    """The promises, one a test."""

    @pytest.fixture
    def store(self) -> Store:
        """Return an empty store."""
        raise NotImplementedError

    # get and put -------------------------------------------------------------------------------------------------

    @each_table
    def test_an_unknown_key_is_none(self, store: Store, table: str) -> None:
        """A key that was never put is `None`, not an error."""
        assert store.get(table, TENANT, "unknown") is None

    @each_table
    def test_what_was_put_comes_back(self, store: Store, table: str) -> None:
        """Key, text, payload and the three times are read back as they were put."""
        put = an_entry("k", table, created_at=NOW + 0.25, expires_at=NOW + 60.5, last_used_at=NOW + 0.75)
        store.put(table, TENANT, put)
        assert replace(_got(store, table, "k"), own=()) == replace(put, own=())

    @each_table
    def test_only_the_decisive_own_columns_come_back(self, store: Store, table: str) -> None:
        """Of a table's own columns a look-up brings the first, which decide whether the row answers."""
        put = an_entry("k", table)
        store.put(table, TENANT, put)
        assert _got(store, table, "k").own == put.own[: DECISIVE[table]]

    @each_table
    def test_an_embedding_is_accepted_and_not_read_back(self, store: Store, table: str) -> None:
        """A row may carry an embedding and its embedder; a look-up by key does not pay for them."""
        store.put(table, TENANT, an_entry("k", table, embedding=b"\x00\x00\x80\x3f" * 384, embedder="minilm"))
        got = _got(store, table, "k")
        assert (got.embedding, got.embedder) == (None, None)

    @each_table
    def test_a_second_put_replaces_everything(self, store: Store, table: str) -> None:
        """Putting a key again leaves one row, and nothing of the old one in it."""
        store.put(table, TENANT, an_entry("k", table))
        new = an_entry(
            "k", table, text="new", payload=b"[]", created_at=NOW + 1, expires_at=NOW + 2, last_used_at=NOW + 3
        )
        store.put(table, TENANT, new)
        assert replace(_got(store, table, "k"), own=()) == replace(new, own=())
        assert store.stats(table, NOW).total == 1

    def test_a_second_put_replaces_the_own_columns(self, store: Store) -> None:
        """A row that is asked again, for more, answers for more."""
        store.put(SEARCHES, TENANT, an_entry("k", own=(10, "ddgs", "{}")))
        store.put(SEARCHES, TENANT, an_entry("k", own=(20, "ddgs", "{}")))
        assert _got(store, SEARCHES, "k").own == (20,)

    def test_an_expired_row_is_still_got(self, store: Store) -> None:
        """A look-up is a read: whether an expired row may be served is decided by who asked."""
        store.put(SEARCHES, TENANT, an_entry("k", expires_at=0.0))
        assert _got(store, SEARCHES, "k").expires_at == 0.0
        assert store.get(SEARCHES, TENANT, "k") is not None

    def test_tables_do_not_share_keys(self, store: Store) -> None:
        """The same key in two tables names two rows."""
        store.put(SEARCHES, TENANT, an_entry("k", SEARCHES))
        assert store.get(RESEARCH, TENANT, "k") is None

    @pytest.mark.parametrize(
        "text",
        ["", "Zürich", "検索", "بحث", "👩‍🔬", "e\u0301", "nul\0inside", "'; DROP TABLE search_cache; --", "\n\r\t"],
        ids=ascii,
    )
    def test_any_text_comes_back_as_it_was(self, store: Store, text: str) -> None:
        """Text of any script, with NUL characters, quotes or nothing in it, is neither changed nor cut."""
        store.put(SEARCHES, f"tenant {text}", an_entry(f"key {text}", text=text, payload=text.encode()))
        got = store.get(SEARCHES, f"tenant {text}", f"key {text}")
        assert got is not None
        assert (got.key, got.text, got.payload) == (f"key {text}", text, text.encode())

    def test_a_large_payload_comes_back_whole(self, store: Store) -> None:
        """A payload of several megabytes is kept like any other."""
        payload = b"0123456789abcdef" * 2**18
        store.put(SEARCHES, TENANT, an_entry("k", payload=payload))
        assert _got(store, SEARCHES, "k").payload == payload

    # touch -------------------------------------------------------------------------------------------------------

    @each_table
    def test_touch_notes_the_use_and_nothing_else(self, store: Store, table: str) -> None:
        """After `touch` only `last_used_at` differs."""
        store.put(table, TENANT, an_entry("k", table))
        before = _got(store, table, "k")
        store.touch(table, TENANT, "k", NOW + 500)
        assert store.get(table, TENANT, "k") == replace(before, last_used_at=NOW + 500)

    def test_touching_an_unknown_key_makes_no_row(self, store: Store) -> None:
        """A row that went in the meantime stays gone."""
        store.touch(SEARCHES, TENANT, "unknown", NOW)
        assert store.get(SEARCHES, TENANT, "unknown") is None

    # sweep -------------------------------------------------------------------------------------------------------

    @each_table
    def test_sweep_takes_what_expired_at_or_before(self, store: Store, table: str) -> None:
        """The very second of `expires_at` counts as expired; a moment later does not."""
        for key, expires_at in (("before", NOW - 1), ("at", NOW), ("after", NOW + 0.001)):
            store.put(table, TENANT, an_entry(key, table, expires_at=expires_at))
        assert store.sweep(table, NOW) == 2
        assert [store.get(table, TENANT, key) is None for key in ("before", "at", "after")] == [True, True, False]

    def test_sweeping_nothing_counts_nothing(self, store: Store) -> None:
        """A sweep of a table where nothing is expired returns 0 and leaves all."""
        store.put(SEARCHES, TENANT, an_entry("k"))
        assert store.sweep(SEARCHES, NOW) == 0
        assert store.get(SEARCHES, TENANT, "k") is not None

    def test_sweep_takes_more_than_one_batch(self, store: Store) -> None:
        """However many rows are expired, one sweep takes all of them."""
        for number in range(2_100):
            store.put(SEARCHES, TENANT, an_entry(str(number), expires_at=NOW - number))
        assert store.sweep(SEARCHES, NOW) == 2_100
        assert store.stats(SEARCHES, NOW).total == 0

    def test_sweep_is_for_every_tenant_and_one_table(self, store: Store) -> None:
        """Expired rows of all tenants go; the other table is left alone."""
        for tenant in ("ann", "bob"):
            store.put(SEARCHES, tenant, an_entry("k", expires_at=NOW))
        store.put(RESEARCH, "ann", an_entry("k", RESEARCH, expires_at=NOW))
        assert store.sweep(SEARCHES, NOW) == 2
        assert store.get(RESEARCH, "ann", "k") is not None

    def test_put_sweeps_what_expired_at_or_before(self, store: Store) -> None:
        """A put with `sweep_before` takes expired rows along, the boundary included, and stores its own."""
        for key, expires_at in (("before", NOW - 1), ("at", NOW), ("after", NOW + 1)):
            store.put(SEARCHES, TENANT, an_entry(key, expires_at=expires_at))
        store.put(SEARCHES, TENANT, an_entry("new"), sweep_before=NOW)
        found = {key for key in ("before", "at", "after", "new") if store.get(SEARCHES, TENANT, key)}
        assert found == {"after", "new"}

    def test_put_without_sweep_before_sweeps_nothing(self, store: Store) -> None:
        """Expired rows stay until somebody asks for them to go."""
        store.put(SEARCHES, TENANT, an_entry("expired", expires_at=0.0))
        store.put(SEARCHES, TENANT, an_entry("new"))
        assert store.get(SEARCHES, TENANT, "expired") is not None

    def test_put_renews_the_expired_row_of_its_own_key(self, store: Store) -> None:
        """Storing a fresh answer for a key whose row is expired leaves the fresh one."""
        store.put(SEARCHES, TENANT, an_entry("k", expires_at=NOW))
        store.put(SEARCHES, TENANT, an_entry("k", expires_at=NOW + 9), sweep_before=NOW)
        assert _got(store, SEARCHES, "k").expires_at == NOW + 9

    # clear -------------------------------------------------------------------------------------------------------

    def test_clear_empties_one_table_and_counts(self, store: Store) -> None:
        """Every row of the table goes, of every tenant, fresh or expired; the other table stays."""
        store.put(SEARCHES, "ann", an_entry("fresh"))
        store.put(SEARCHES, "bob", an_entry("expired", expires_at=0.0))
        store.put(RESEARCH, "ann", an_entry("k", RESEARCH))
        assert store.clear(SEARCHES) == 2
        assert store.stats(SEARCHES, NOW).total == 0
        assert store.get(RESEARCH, "ann", "k") is not None

    def test_clearing_an_empty_table_counts_nothing(self, store: Store) -> None:
        """There is nothing to delete and nothing to complain about."""
        assert store.clear(SEARCHES) == 0

    def test_a_cleared_table_takes_new_rows(self, store: Store) -> None:
        """After `clear` the store goes on."""
        store.put(SEARCHES, TENANT, an_entry("old"))
        store.clear(SEARCHES)
        store.put(SEARCHES, TENANT, an_entry("new"))
        assert store.get(SEARCHES, TENANT, "new") is not None

    # stats, size, close --------------------------------------------------------------------------------------------

    @each_table
    def test_stats_of_an_empty_table(self, store: Store, table: str) -> None:
        """No rows, and no oldest or newest one."""
        stats = store.stats(table, NOW)
        assert (stats.table, stats.live, stats.expired, stats.total) == (table, 0, 0, 0)
        assert (stats.oldest, stats.newest) == (None, None)

    @each_table
    def test_stats_count_all_tenants_by_freshness(self, store: Store, table: str) -> None:
        """Live and expired add up to the total; the second of `expires_at` counts as expired."""
        store.put(table, "ann", an_entry("live", table, created_at=NOW - 3, expires_at=NOW + 1))
        store.put(table, "bob", an_entry("live", table, created_at=NOW - 1, expires_at=NOW + 1))
        store.put(table, "bob", an_entry("at", table, created_at=NOW - 2, expires_at=NOW))
        stats = store.stats(table, NOW)
        assert (stats.live, stats.expired, stats.total) == (2, 1, 3)
        assert (stats.oldest, stats.newest) == (NOW - 3, NOW - 1)

    def test_size_is_in_bytes_and_counts_what_is_held(self, store: Store) -> None:
        """A megabyte more makes the store about a megabyte larger."""
        before = store.size()
        store.put(SEARCHES, TENANT, an_entry("k", payload=b"x" * 2**20))
        assert 2**20 <= store.size() - before < 2**22

    def test_a_closed_store_opens_again(self, store: Store) -> None:
        """`close` loses nothing, may be called twice, and the next call simply works."""
        store.put(SEARCHES, TENANT, an_entry("k"))
        store.close()
        store.close()
        assert store.get(SEARCHES, TENANT, "k") is not None
        store.put(SEARCHES, TENANT, an_entry("later"))

    # tenants -----------------------------------------------------------------------------------------------------

    @each_table
    def test_a_tenant_sees_only_its_own_rows(self, store: Store, table: str) -> None:
        """One key, two tenants: two rows, each with its own answer."""
        store.put(table, "ann", an_entry("k", table, payload=b"ann's"))
        assert store.get(table, "bob", "k") is None
        store.put(table, "bob", an_entry("k", table, payload=b"bob's"))
        found = [store.get(table, tenant, "k") for tenant in ("ann", "bob")]
        assert [entry and entry.payload for entry in found] == [b"ann's", b"bob's"]

    def test_touch_is_for_one_tenant(self, store: Store) -> None:
        """A use by one tenant is not noted on the row of another."""
        for tenant in ("ann", "bob"):
            store.put(SEARCHES, tenant, an_entry("k"))
        store.touch(SEARCHES, "ann", "k", NOW + 9)
        bobs = store.get(SEARCHES, "bob", "k")
        assert bobs is not None
        assert bobs.last_used_at == NOW

    @settings(
        max_examples=60,
        deadline=None,  # a disk may be slow
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,  # every example begins by emptying the store
            HealthCheck.differing_executors,  # one contract, several stores: that is its point
        ],
    )
    @given(actions=_actions)
    def test_tenants_are_isolated_whatever_happens(
        self, store: Store, actions: list[tuple[str, str, str, str]]
    ) -> None:
        """After any sequence of puts, look-ups and clears, each tenant finds exactly what a dict of its own holds."""
        store.clear(SEARCHES)
        model: dict[tuple[str, str], bytes] = {}
        for action, tenant, key, payload in actions:
            if action == "put":
                store.put(SEARCHES, tenant, an_entry(key, payload=payload.encode()))
                model[tenant, key] = payload.encode()
            elif action == "clear":
                assert store.clear(SEARCHES) == len(model)
                model.clear()
            else:
                found = store.get(SEARCHES, tenant, key)
                assert (found and found.payload) == model.get((tenant, key))
        for tenant in ("ann", "bob"):
            for key in ("one", "two", "three"):
                found = store.get(SEARCHES, tenant, key)
                assert (found and found.payload) == model.get((tenant, key))


def _got(store: Store, table: str, key: str) -> Entry:
    entry = store.get(table, TENANT, key)
    assert entry is not None
    return entry
