"""Contract of every `Store`: subclass `StoreContract`, name it `Test…`, and give it the fixture `store`."""

import base64
import random
import threading
import time
from collections.abc import Callable
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.entries import Entry
from harness.core.freshness import NEVER
from harness.core.tables import COLUMNS
from harness.errors import InvalidInput
from harness.ports import Store
from tests.storage.auditing import AuditContract
from tests.storage.embedded import EMBEDDER, SCOPES, ask, brute_force, embedded, keys_near, near, vector_of
from tests.storage.entries import NOW, RESEARCH, SEARCHES, TENANT, a_token, a_tool_entry, an_entry
from tests.storage.listings import ListingContract
from tests.storage.words import WordContract

Go: TypeAlias = Callable[[Store, str, str], object]

SCOPED = {SEARCHES: ("engine", "options"), RESEARCH: ("task_type", "fingerprint")}
_OTHER_SCOPE = {SEARCHES: ("pubmed", "{}"), RESEARCH: ("overview", "")}
_OTHER_OWN = {SEARCHES: (20, *_OTHER_SCOPE[SEARCHES]), RESEARCH: ("[]", "[]", *_OTHER_SCOPE[RESEARCH])}

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


_changes = st.lists(
    st.one_of(
        st.tuples(st.just("put"), _tenants, _keys, st.booleans()),
        st.tuples(st.just("delete"), _tenants, _keys, st.booleans()),
        st.tuples(st.just("embed"), _tenants, _keys, st.booleans()),
        st.tuples(st.just("expire"), _tenants, _keys, st.booleans()),
        st.tuples(st.just("look"), _tenants, _keys, st.booleans()),
    ),
    max_size=20,
)

_LATER = NOW + 9_999
_INCOMPRESSIBLE = base64.b85encode(random.Random(0).randbytes(2**20 * 4 // 5 + 1))
"""A megabyte of text that no database makes much smaller."""

GONE: dict[str, Go] = {
    "deleted": lambda store, table, key: store.rows.delete(table, TENANT, [key]),
    "cleared": lambda store, table, key: store.admin.clear(table, TENANT),
    "swept": lambda store, table, key: store.rows.sweep(table, TENANT, _LATER),
    "swept by a put": lambda store, table, key: store.rows.put(
        table, TENANT, an_entry("x", table), sweep_before=_LATER
    ),
    "replaced": lambda store, table, key: store.rows.put(table, TENANT, an_entry(key, table)),
    "evicted": lambda store, table, key: store.rows.evict(table, TENANT, SCOPES[table], 0),
    "replaced by others": lambda store, table, key: store.rows.replace(
        table, TENANT, [an_entry("x", table)], instead_of=dict(zip(SCOPED[table], SCOPES[table], strict=True))
    ),
}
"""The ways in which a row goes, with its vector and what it teaches."""

each_way_to_go = pytest.mark.parametrize("go", GONE.values(), ids=GONE)


class StoreContract(ListingContract, AuditContract, WordContract):
    """One test for each requirement; `ListingContract` has those of listings and counts, `AuditContract` of audits,
    `WordContract` of lookups by words.
    """

    @pytest.fixture
    def store(self) -> Store:
        """Return an empty store."""
        raise NotImplementedError

    # get and put -------------------------------------------------------------------------------------------------

    @each_table
    def test_an_unknown_key_is_none(self, store: Store, table: str) -> None:
        """A key that was never put is `None`, not an error."""
        assert store.rows.get(table, TENANT, "unknown") is None

    @each_table
    def test_a_stored_row_is_read_back_unchanged(self, store: Store, table: str) -> None:
        """Key, text, payload and the three times are read back as they were put."""
        put = an_entry("k", table, created_at=NOW + 0.25, expires_at=NOW + 60.5, last_used_at=NOW + 0.75)
        store.rows.put(table, TENANT, put)
        assert replace(_got(store, table, "k"), own=()) == replace(put, own=())

    @each_table
    def test_the_own_columns_come_back_by_name(self, store: Store, table: str) -> None:
        """A lookup returns all own columns of the table, as the tuple that declares them."""
        put = an_entry("k", table)
        store.rows.put(table, TENANT, put)
        for got in (_got(store, table, "k"), *store.listings.scan(table, TENANT)):
            assert got.own == put.own
            assert type(got.own) is COLUMNS[table].own

    @each_table
    def test_an_embedding_is_accepted_and_not_read_back(self, store: Store, table: str) -> None:
        """A row may have an embedding and its embedder; a look-up by key does not read them."""
        store.rows.put(table, TENANT, an_entry("k", table, embedding=b"\x00\x00\x80\x3f" * 384, embedder="minilm"))
        got = _got(store, table, "k")
        assert (got.embedding, got.embedder) == (None, None)

    @each_table
    def test_a_second_put_replaces_everything(self, store: Store, table: str) -> None:
        """Putting a key again leaves one row, and nothing of the old one in it."""
        store.rows.put(table, TENANT, an_entry("k", table))
        new = an_entry(
            "k", table, text="new", payload=b"[]", created_at=NOW + 1, expires_at=NOW + 2, last_used_at=NOW + 3
        )
        store.rows.put(table, TENANT, new)
        assert replace(_got(store, table, "k"), own=()) == replace(new, own=())
        assert store.listings.stats(table, TENANT, NOW).total == 1

    def test_a_second_put_replaces_the_own_columns(self, store: Store) -> None:
        """A second search for more results replaces the number of results."""
        store.rows.put(SEARCHES, TENANT, an_entry("k", own=(10, "ddgs", "{}")))
        store.rows.put(SEARCHES, TENANT, an_entry("k", own=(20, "ddgs", "{}")))
        assert _got(store, SEARCHES, "k").own == (20, "ddgs", "{}")

    @each_table
    def test_broken_unicode_is_an_invalid_input(self, store: Store, table: str) -> None:
        """In reading and in writing; nothing is stored."""
        for call in (
            lambda: store.rows.get(table, TENANT, "\udcff"),
            lambda: store.rows.get_whole(table, "\udcff", "k"),
            lambda: store.rows.delete(table, TENANT, ["\udcff"]),
            lambda: store.rows.put(table, TENANT, replace(an_entry("k", table), text="\udcff")),
            lambda: store.listings.find(table, "\udcff", {}),
        ):
            with pytest.raises(InvalidInput):
                call()
        assert store.listings.stats(table, TENANT, NOW, "").total == 0

    def test_an_expired_row_is_still_returned(self, store: Store) -> None:
        """A look-up is a read: the caller decides whether to serve an expired row."""
        store.rows.put(SEARCHES, TENANT, an_entry("k", expires_at=0.0))
        assert _got(store, SEARCHES, "k").expires_at == 0.0
        assert store.rows.get(SEARCHES, TENANT, "k") is not None

    def test_tables_do_not_share_keys(self, store: Store) -> None:
        """The same key in two tables names two rows."""
        store.rows.put(SEARCHES, TENANT, an_entry("k", SEARCHES))
        assert store.rows.get(RESEARCH, TENANT, "k") is None

    @pytest.mark.parametrize(
        "text",
        ["", "Zürich", "検索", "بحث", "👩‍🔬", "e\u0301", "nul\0inside", "'; DROP TABLE search_cache; --", "\n\r\t"],
        ids=ascii,
    )
    def test_any_text_comes_back_unchanged(self, store: Store, text: str) -> None:
        """Text of any script, empty, or with NUL characters or quotes, is neither changed nor cut."""
        store.rows.put(SEARCHES, f"tenant {text}", an_entry(f"key {text}", text=text, payload=text.encode()))
        got = store.rows.get(SEARCHES, f"tenant {text}", f"key {text}")
        assert got is not None
        assert (got.key, got.text, got.payload) == (f"key {text}", text, text.encode())

    def test_a_large_payload_comes_back_whole(self, store: Store) -> None:
        """A payload of several megabytes is kept like any other."""
        payload = b"0123456789abcdef" * 2**18
        store.rows.put(SEARCHES, TENANT, an_entry("k", payload=payload))
        assert _got(store, SEARCHES, "k").payload == payload

    # touch -------------------------------------------------------------------------------------------------------

    @each_table
    def test_touch_notes_the_use_and_nothing_else(self, store: Store, table: str) -> None:
        """After `touch` only `last_used_at` differs."""
        store.rows.put(table, TENANT, an_entry("k", table))
        before = _got(store, table, "k")
        store.rows.touch(table, TENANT, "k", NOW + 500)
        assert store.rows.get(table, TENANT, "k") == replace(before, last_used_at=NOW + 500)

    def test_touching_an_unknown_key_makes_no_row(self, store: Store) -> None:
        """A row that was deleted in the meantime stays deleted."""
        store.rows.touch(SEARCHES, TENANT, "unknown", NOW)
        assert store.rows.get(SEARCHES, TENANT, "unknown") is None

    # nearest -----------------------------------------------------------------------------------------------------

    @each_table
    def test_the_nearest_rows_come_first(self, store: Store, table: str) -> None:
        """Rows are sorted by similarity: the cosine of their vector and the query vector."""
        asked = vector_of("asked")
        vectors = {share: near(asked, share) for share in (0.9, 0.1, 0.5)}
        for share, vector in vectors.items():
            store.rows.put(table, TENANT, embedded(f"turned by {share}", table, vector))
        found = ask(store, asked, 3, table)
        assert [key for key, _ in found] == ["turned by 0.1", "turned by 0.5", "turned by 0.9"]
        assert [similarity for _, similarity in found] == pytest.approx(
            [float(vectors[share] @ asked) for share in (0.1, 0.5, 0.9)], abs=1e-5
        )

    def test_equally_near_rows_are_sorted_by_key(self, store: Store) -> None:
        """Rows of equal similarity always come in the same order."""
        for key in ("b", "d", "a", "c"):
            store.rows.put(SEARCHES, TENANT, embedded(key, vector=vector_of("one")))
        assert keys_near(store, near(vector_of("one"), 0.2)) == ["a", "b", "c"]

    @pytest.mark.parametrize("k", [0, 1, 5, 6, 100])
    def test_nearest_returns_up_to_k(self, store: Store, k: int) -> None:
        """At most `k` rows, or all there are."""
        for number in range(6):
            store.rows.put(SEARCHES, TENANT, embedded(str(number)))
        assert len(ask(store, vector_of("0"), k)) == min(k, 6)

    @each_table
    def test_a_neighbour_is_the_whole_row(self, store: Store, table: str) -> None:
        """All own columns, the times, the embedding and its embedder come back as they were put."""
        put = embedded("k", table, created_at=NOW + 0.25, expires_at=NOW + 60.5, last_used_at=NOW + 0.75)
        store.rows.put(table, TENANT, put)
        (found,) = store.nearest.search(table, TENANT, SCOPES[table], vector_of("k"), embedder=EMBEDDER, k=1, now=NOW)
        assert found.entry == put
        assert found.similarity == pytest.approx(1.0, abs=1e-5)

    def test_a_similarity_is_never_negative(self, store: Store) -> None:
        """The opposite of the query vector has similarity 0."""
        store.rows.put(SEARCHES, TENANT, embedded("k"))
        assert ask(store, -vector_of("k")) == [("k", 0.0)]

    def test_a_similarity_is_never_above_1(self, store: Store) -> None:
        """Rounding never gives more than 1."""
        for number in range(50):
            store.rows.put(SEARCHES, TENANT, embedded(str(number)))
        assert all(ask(store, vector_of(str(number)), 1)[0][1] <= 1.0 for number in range(50))

    def test_only_rows_that_are_similar_enough_are_near(self, store: Store) -> None:
        """`at_least` leaves out rows that are less similar; a row of exactly that similarity is returned."""
        asked = vector_of("asked")
        for share in (0.9, 0.1, 0.5):
            store.rows.put(SEARCHES, TENANT, embedded(f"turned by {share}", vector=near(asked, share)))
        similarities = dict(ask(store, asked))
        found = ask(store, asked, at_least=similarities["turned by 0.5"])
        assert [key for key, _ in found] == ["turned by 0.1", "turned by 0.5"]
        assert ask(store, asked, at_least=1.1) == []
        assert len(ask(store, asked, at_least=0.0)) == 3

    def test_expired_rows_are_never_near(self, store: Store) -> None:
        """A row is expired at the exact time `expires_at`, and not a moment before."""
        for key, expires_at in (("before", NOW - 1), ("at", NOW), ("after", NOW + 0.001)):
            store.rows.put(SEARCHES, TENANT, embedded(key, vector=vector_of("one"), expires_at=expires_at))
        assert keys_near(store, vector_of("one")) == ["after"]

    def test_rows_created_in_the_future_are_not_near_and_count_as_expired(self, store: Store) -> None:
        """More than five minutes ahead they are expired, unless they never expire."""
        ages = {"now": 300.0, "ahead": 301.0, "never": 301.0}
        for key, ahead in ages.items():
            until = NEVER if key == "never" else NOW + 9_999
            store.rows.put(SEARCHES, TENANT, embedded(key, created_at=NOW + ahead, expires_at=until))
        assert sorted(keys_near(store, vector_of("now"), 3)) == ["never", "now"]
        stats = store.listings.stats(SEARCHES, TENANT, NOW, "another-model")
        assert (stats.live, stats.expired, stats.unembedded) == (2, 1, 2)
        store.rows.put("tool_cache", TENANT, replace(a_tool_entry("t", created_by=None), created_at=NOW + 301))
        assert (
            store.listings.stats("tool_cache", TENANT, NOW).live,
            store.listings.stats("tool_cache", TENANT, NOW).expired,
        ) == (0, 1)

    def test_expired_rows_do_not_hide_fresh_ones(self, store: Store) -> None:
        """The fresh row is found even if many expired rows are nearer."""
        for number in range(100):
            store.rows.put(SEARCHES, TENANT, embedded(str(number), vector=vector_of("one"), expires_at=NOW))
        store.rows.put(SEARCHES, TENANT, embedded("fresh"))
        assert keys_near(store, vector_of("one"), 1) == ["fresh"]

    def test_a_row_without_a_vector_is_not_near(self, store: Store) -> None:
        """Only a look-up by its key finds it."""
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        assert ask(store, vector_of("k")) == []

    def test_nothing_is_near_in_an_empty_store(self, store: Store) -> None:
        """The same for an empty scope."""
        assert ask(store, vector_of("k")) == []
        store.rows.put(SEARCHES, TENANT, embedded("k"))
        assert ask(store, vector_of("k"), scope=("unknown", "{}")) == []

    @each_table
    def test_a_tenant_finds_only_its_own_rows_by_vector(self, store: Store, table: str) -> None:
        """The same vector of another tenant is not found."""
        store.rows.put(table, "ann", embedded("k", table))
        assert keys_near(store, vector_of("k"), table=table, tenant="ann") == ["k"]
        assert keys_near(store, vector_of("k"), table=table, tenant="bob") == []

    @pytest.mark.parametrize(
        ("table", "own"),
        [
            (SEARCHES, (10, "pubmed", '{"region":"us-en"}')),
            (SEARCHES, (10, "ddgs", "{}")),
            (RESEARCH, ("[]", "[]", "overview", "planner-1")),
            (RESEARCH, ("[]", "[]", "comparison", "planner-2")),
        ],
        ids=["engine", "options", "task type", "fingerprint"],
    )
    def test_rows_of_another_scope_are_not_near(self, store: Store, table: str, own: tuple[object, ...]) -> None:
        """Rows of another engine, other options or another planner are not compared."""
        store.rows.put(table, TENANT, embedded("other", table, vector_of("k"), own=own))
        assert keys_near(store, vector_of("k"), table=table) == []
        store.rows.put(table, TENANT, embedded("k", table))
        assert keys_near(store, vector_of("k"), table=table) == ["k"]

    def test_the_number_of_results_is_not_part_of_the_scope(self, store: Store) -> None:
        """Rows with more results are found, too; the caller decides whether they answer."""
        store.rows.put(SEARCHES, TENANT, embedded("k", own=(50, *SCOPES[SEARCHES])))
        assert keys_near(store, vector_of("k")) == ["k"]

    def test_a_row_that_moves_to_another_scope_is_near_there_only(self, store: Store) -> None:
        """A key that is put again with another fingerprint is no longer found under the old one."""
        store.rows.put(RESEARCH, TENANT, embedded("k", RESEARCH))
        assert keys_near(store, vector_of("k"), table=RESEARCH) == ["k"]
        store.rows.put(RESEARCH, TENANT, embedded("k", RESEARCH, own=("[]", "[]", "comparison", "planner-2")))
        assert keys_near(store, vector_of("k"), table=RESEARCH) == []
        assert keys_near(store, vector_of("k"), table=RESEARCH, scope=("comparison", "planner-2")) == ["k"]

    def test_vectors_of_another_embedder_are_not_near(self, store: Store) -> None:
        """Vectors of two models are never compared, even if they have the same length."""
        store.rows.put(SEARCHES, TENANT, embedded("k", embedder="another"))
        assert ask(store, vector_of("k")) == []
        assert keys_near(store, vector_of("k"), embedder="another") == ["k"]

    def test_a_vector_of_another_length_is_not_near(self, store: Store) -> None:
        """A row whose vector cannot be compared is left out; the others are found."""
        store.rows.put(SEARCHES, TENANT, embedded("short", vector=vector_of("k", 16)))
        store.rows.put(SEARCHES, TENANT, embedded("k"))
        store.rows.put(SEARCHES, TENANT, embedded("long", vector=vector_of("k", 64)))
        assert keys_near(store, vector_of("k")) == ["k"]

    def test_a_second_put_replaces_the_vector(self, store: Store) -> None:
        """A row is compared by its present vector, and returned once."""
        store.rows.put(SEARCHES, TENANT, embedded("k"))
        assert ask(store, vector_of("k"))[0][1] == pytest.approx(1.0, abs=1e-5)
        store.rows.put(SEARCHES, TENANT, embedded("k", vector=-vector_of("k")))
        assert ask(store, vector_of("k")) == [("k", 0.0)]
        assert ask(store, -vector_of("k")) == [("k", pytest.approx(1.0, abs=1e-5))]

    def test_replaced_vectors_do_not_hide_the_nearest(self, store: Store) -> None:
        """Rows whose old vectors were near do not displace the row that is nearest now."""
        for number in range(20):
            store.rows.put(SEARCHES, TENANT, embedded(str(number), vector=vector_of("asked")))
        assert len(ask(store, vector_of("asked"))) == 3
        for number in range(20):
            store.rows.put(SEARCHES, TENANT, embedded(str(number), vector=-vector_of("asked")))
        store.rows.put(SEARCHES, TENANT, embedded("near", vector=near(vector_of("asked"), 0.5)))
        assert keys_near(store, vector_of("asked"), 1) == ["near"]

    @each_table
    @each_way_to_go
    def test_deleted_rows_are_not_near(self, store: Store, table: str, go: Go) -> None:
        """A row that was deleted, cleared, swept or replaced by one without a vector is not found by meaning."""
        store.rows.put(table, TENANT, embedded("k", table))
        assert keys_near(store, vector_of("k"), table=table) == ["k"]
        go(store, table, "k")
        assert keys_near(store, vector_of("k"), table=table) == []

    def test_a_row_that_is_put_again_is_near_again(self, store: Store) -> None:
        """After a delete and after a clear, the same key can be put and found."""
        for go in (GONE["deleted"], GONE["cleared"]):
            store.rows.put(SEARCHES, TENANT, embedded("k"))
            assert keys_near(store, vector_of("k")) == ["k"]
            go(store, SEARCHES, "k")
        store.rows.put(SEARCHES, TENANT, embedded("k"))
        assert keys_near(store, vector_of("k")) == ["k"]

    def test_nearest_changes_nothing(self, store: Store) -> None:
        """It is a read: not even `last_used_at` changes."""
        store.rows.put(SEARCHES, TENANT, embedded("k"))
        before = list(store.listings.scan(SEARCHES, TENANT))
        ask(store, vector_of("k"))
        assert list(store.listings.scan(SEARCHES, TENANT)) == before

    def test_a_touched_row_is_still_near(self, store: Store) -> None:
        """It shows the new `last_used_at`."""
        store.rows.put(SEARCHES, TENANT, embedded("k"))
        store.rows.touch(SEARCHES, TENANT, "k", NOW + 5)
        (found,) = store.nearest.search(
            SEARCHES, TENANT, SCOPES[SEARCHES], vector_of("k"), embedder=EMBEDDER, k=1, now=NOW
        )
        assert found.entry.last_used_at == NOW + 5

    @settings(
        max_examples=25,
        deadline=None,  # a disk may be slow
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(changes=_changes)
    def test_near_rows_are_those_of_a_plain_list(self, store: Store, changes: list[tuple[str, str, str, bool]]) -> None:
        """After any changes, the result equals a comparison with every live row of the tenant."""
        for tenant in ("ann", "bob"):
            store.admin.clear(SEARCHES, tenant)
        held: dict[tuple[str, str], bool] = {}
        for change, tenant, key, flag in changes:
            if change == "put":
                store.rows.put(SEARCHES, tenant, embedded(key) if flag else an_entry(key))
                held[tenant, key] = flag
            elif change == "expire":
                store.rows.put(SEARCHES, tenant, embedded(key, expires_at=NOW))
                held[tenant, key] = False
            elif change == "delete":
                assert store.rows.delete(SEARCHES, tenant, [key]) == ((tenant, key) in held)
                held.pop((tenant, key), None)
            elif change == "embed" and (tenant, key) not in held:
                store.nearest.embed(SEARCHES, tenant, key, vector_of(key).tobytes(), EMBEDDER)
            else:
                self._assert_finds(store, held, tenant, key)
        for tenant in ("ann", "bob"):
            for key in ("one", "two", "three"):
                self._assert_finds(store, held, tenant, key)

    @staticmethod
    def _assert_finds(store: Store, held: dict[tuple[str, str], bool], tenant: str, key: str) -> None:
        live = [each for (owner, each), is_live in held.items() if owner == tenant and is_live]
        expected = brute_force(live, vector_of(key), 2) if live else []
        assert keys_near(store, vector_of(key), 2, tenant=tenant) == expected

    # scan --------------------------------------------------------------------------------------------------------

    @each_table
    def test_scan_returns_whole_rows(self, store: Store, table: str) -> None:
        """All own columns, the embedding and its embedder, of fresh and expired rows, the oldest first."""
        put = [embedded("b", table), an_entry("a", table, expires_at=0.0), embedded("c", table, own=_OTHER_OWN[table])]
        for entry in put:
            store.rows.put(table, TENANT, entry)
        assert list(store.listings.scan(table, TENANT)) == put

    def test_scan_is_of_one_tenant_and_table(self, store: Store) -> None:
        """Others' rows are not shown."""
        store.rows.put(SEARCHES, "ann", an_entry("ann's"))
        store.rows.put(SEARCHES, "bob", an_entry("bob's"))
        store.rows.put(RESEARCH, "ann", an_entry("research", RESEARCH))
        assert [entry.key for entry in store.listings.scan(SEARCHES, "ann")] == ["ann's"]
        assert list(store.listings.scan(SEARCHES, "unknown")) == []

    def test_a_row_that_was_written_again_is_the_newest(self, store: Store) -> None:
        """A scan shows it last, and once."""
        for key in ("a", "b", "a"):
            store.rows.put(SEARCHES, TENANT, an_entry(key))
        assert [entry.key for entry in store.listings.scan(SEARCHES, TENANT)] == ["b", "a"]

    def test_scan_takes_more_than_one_batch(self, store: Store) -> None:
        """However many rows there are, each comes once."""
        for number in range(1_100):
            store.rows.put(SEARCHES, TENANT, an_entry(str(number)))
        assert [entry.key for entry in store.listings.scan(SEARCHES, TENANT)] == [
            str(number) for number in range(1_100)
        ]

    def test_rows_may_be_deleted_and_added_during_a_scan(self, store: Store) -> None:
        """A caller may delete rows it has seen, or stop half-way; the other rows are still returned."""
        for number in range(600):
            store.rows.put(SEARCHES, TENANT, an_entry(str(number)))
        for entry in store.listings.scan(SEARCHES, TENANT):
            store.rows.delete(SEARCHES, TENANT, [entry.key])
        assert store.listings.stats(SEARCHES, TENANT, NOW).total == 0
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        next(store.listings.scan(SEARCHES, TENANT))
        store.rows.put(SEARCHES, TENANT, an_entry("later"))

    # embed -------------------------------------------------------------------------------------------------------

    @each_table
    def test_a_row_that_is_embedded_later_is_near(self, store: Store, table: str) -> None:
        """Only its vector changes."""
        put = an_entry("k", table, own=_OTHER_OWN[table])
        store.rows.put(table, TENANT, put)
        assert ask(store, vector_of("k"), table=table, scope=_OTHER_SCOPE[table]) == []
        store.nearest.embed(table, TENANT, "k", vector_of("k").tobytes(), EMBEDDER)
        assert keys_near(store, vector_of("k"), table=table, scope=_OTHER_SCOPE[table]) == ["k"]
        expected = replace(put, embedding=vector_of("k").tobytes(), embedder=EMBEDDER)
        assert list(store.listings.scan(table, TENANT)) == [expected]

    def test_embedding_by_another_model_replaces_the_vector(self, store: Store) -> None:
        """A row has one vector: that of the last embedder."""
        store.rows.put(SEARCHES, TENANT, embedded("k"))
        store.nearest.embed(SEARCHES, TENANT, "k", vector_of("k", 16).tobytes(), "another")
        assert ask(store, vector_of("k")) == []
        assert keys_near(store, vector_of("k", 16), embedder="another") == ["k"]

    def test_embedding_an_unknown_key_makes_no_row(self, store: Store) -> None:
        """A row that was deleted meanwhile stays deleted; the same holds for another tenant's row."""
        store.rows.put(SEARCHES, "ann", an_entry("k"))
        store.nearest.embed(SEARCHES, TENANT, "k", vector_of("k").tobytes(), EMBEDDER)
        assert store.rows.get(SEARCHES, TENANT, "k") is None
        assert keys_near(store, vector_of("k"), tenant="ann") == []

    def test_rows_without_the_vector_of_an_embedder_are_listed(self, store: Store) -> None:
        """Key and text of rows without a vector, or with another model's; none of another tenant or table."""
        store.rows.put(SEARCHES, TENANT, an_entry("none"))
        store.rows.put(SEARCHES, TENANT, embedded("another's", embedder="another"))
        store.rows.put(SEARCHES, TENANT, embedded("embedded"))
        store.rows.put(SEARCHES, "ann", an_entry("ann's"))
        store.rows.put(RESEARCH, TENANT, an_entry("research", RESEARCH))
        told = store.nearest.unembedded(SEARCHES, TENANT, EMBEDDER, 10)
        assert sorted(told) == [("another's", "text of another's"), ("none", "text of none")]
        assert len(store.nearest.unembedded(SEARCHES, TENANT, EMBEDDER, 1)) == 1

    # delete ------------------------------------------------------------------------------------------------------

    @each_table
    def test_delete_takes_the_named_rows_and_counts_them(self, store: Store, table: str) -> None:
        """Unknown keys, and keys that are named twice, do not count; other rows stay."""
        for key in ("a", "b", "c"):
            store.rows.put(table, TENANT, an_entry(key, table))
        assert store.rows.delete(table, TENANT, ["a", "unknown", "b", "a"]) == 2
        assert [entry.key for entry in store.listings.scan(table, TENANT)] == ["c"]

    def test_deleting_nothing_counts_nothing(self, store: Store) -> None:
        """No keys, no rows, no error."""
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        assert store.rows.delete(SEARCHES, TENANT, []) == 0
        assert store.rows.get(SEARCHES, TENANT, "k") is not None

    def test_delete_is_for_one_tenant_and_table(self, store: Store) -> None:
        """The same key of another tenant, or in another table, stays."""
        for tenant in ("ann", "bob"):
            store.rows.put(SEARCHES, tenant, an_entry("k"))
        store.rows.put(RESEARCH, "ann", an_entry("k", RESEARCH))
        assert store.rows.delete(SEARCHES, "ann", ["k"]) == 1
        assert store.rows.get(SEARCHES, "ann", "k") is None
        assert store.rows.get(SEARCHES, "bob", "k") is not None
        assert store.rows.get(RESEARCH, "ann", "k") is not None

    def test_delete_takes_any_number_of_keys(self, store: Store) -> None:
        """Forty thousand names, a hundred rows."""
        for number in range(100):
            store.rows.put(SEARCHES, TENANT, an_entry(str(number)))
        assert store.rows.delete(SEARCHES, TENANT, [str(number) for number in range(40_000)]) == 100

    def test_delete_may_keep_rows_that_are_not_expired(self, store: Store) -> None:
        """With `expired_at`, a row renewed meanwhile stays; at exactly `expires_at` a row is expired."""
        for key, expires_at in (("before", NOW - 1), ("at", NOW), ("after", NOW + 0.001)):
            store.rows.put(SEARCHES, TENANT, an_entry(key, expires_at=expires_at))
        assert store.rows.delete(SEARCHES, TENANT, ["before", "at", "after", "unknown"], expired_at=NOW) == 2
        assert [entry.key for entry in store.listings.scan(SEARCHES, TENANT)] == ["after"]

    # replace -----------------------------------------------------------------------------------------------------

    def test_replace_puts_rows_where_others_were(self, store: Store) -> None:
        """Rows with these values in their own columns are deleted and counted; all new ones are stored."""
        for key in ("a", "b"):
            store.rows.put(SEARCHES, TENANT, embedded(key, own=(10, "old", "{}")))
        new = [embedded(key, own=(10, "new", "{}")) for key in ("c", "d", "e")]
        assert store.rows.replace(SEARCHES, TENANT, new, instead_of={"engine": "old"}) == 2
        assert list(store.listings.scan(SEARCHES, TENANT)) == new
        assert keys_near(store, vector_of("d"), 1, scope=("new", "{}")) == ["d"]
        assert ask(store, vector_of("a"), scope=("old", "{}")) == []

    def test_replace_keeps_all_other_rows(self, store: Store) -> None:
        """Rows with another value in a column, of another tenant, or of another table."""
        store.rows.put(SEARCHES, TENANT, an_entry("engine", own=(10, "other", "{}")))
        store.rows.put(SEARCHES, TENANT, an_entry("number", own=(20, "ddgs", "{}")))
        store.rows.put(SEARCHES, TENANT, an_entry("gone", own=(10, "ddgs", "{}")))
        store.rows.put(SEARCHES, "ann", an_entry("ann's", own=(10, "ddgs", "{}")))
        store.rows.put(RESEARCH, TENANT, an_entry("research", RESEARCH))
        assert store.rows.replace(SEARCHES, TENANT, [], instead_of={"engine": "ddgs", "max_results": 10}) == 1
        assert [entry.key for entry in store.listings.scan(SEARCHES, TENANT)] == ["engine", "number"]
        assert [entry.key for entry in store.listings.scan(SEARCHES, "ann")] == ["ann's"]
        assert [entry.key for entry in store.listings.scan(RESEARCH, TENANT)] == ["research"]

    def test_replace_takes_over_a_key_from_elsewhere(self, store: Store) -> None:
        """A key belongs to one row: after `replace` it is no longer in its old place."""
        store.rows.put(SEARCHES, TENANT, an_entry("k", own=(10, "elsewhere", "{}")))
        assert store.rows.replace(SEARCHES, TENANT, [an_entry("k")], instead_of={"engine": "ddgs"}) == 0
        assert list(store.listings.scan(SEARCHES, TENANT)) == [an_entry("k")]

    def test_replace_changes_the_learned_meanings(self, store: Store) -> None:
        """Meanings from the old rows are deleted; those from the new rows are found."""
        store.rows.put(SEARCHES, TENANT, an_entry("old", teaches=(("RAG", "an old cloth"),)))
        new = an_entry("new", teaches=(("RAG", "retrieval-augmented generation"),))
        store.rows.replace(SEARCHES, TENANT, [new], instead_of={"engine": "ddgs"})
        assert store.nearest.meanings(TENANT, ["RAG"]) == [("RAG", "retrieval-augmented generation")]

    @pytest.mark.parametrize(
        "where",
        [{}, {"tenant": TENANT}, {"query": "q"}, {"engine = 'x' OR 1=1 --": "x"}, {"engine": "ddgs", "Engine": "x"}],
        ids=["none", "common", "text", "SQL", "other case"],
    )
    def test_rows_are_selected_by_declared_columns_only(self, store: Store, where: dict[str, object]) -> None:
        """Reads and writes refuse any other name, and delete nothing."""
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        with pytest.raises(InvalidInput, match="max_results, engine, options"):
            store.rows.replace(SEARCHES, TENANT, [], instead_of=where)
        with pytest.raises(InvalidInput, match="max_results, engine, options"):
            store.listings.find(SEARCHES, TENANT, where)
        assert store.rows.get(SEARCHES, TENANT, "k") is not None

    def test_no_thread_sees_a_half_replaced_set(self, store: Store) -> None:
        """While one thread replaces five rows again and again, the others always see five of one kind."""
        sets = [[an_entry(f"{name}{at}", text=name) for at in range(5)] for name in ("odd", "even")]
        store.rows.replace(SEARCHES, TENANT, sets[0], instead_of={"engine": "ddgs"})
        seen = []

        def work(number: int) -> None:
            for turn in range(30):
                if number:
                    seen.append([entry.text for entry in store.listings.find(SEARCHES, TENANT, {"engine": "ddgs"})])
                else:
                    store.rows.replace(SEARCHES, TENANT, sets[turn % 2], instead_of={"engine": "ddgs"})

        _in_threads(3, work)
        assert {tuple(texts) for texts in seen} <= {("odd",) * 5, ("even",) * 5}

    # swap --------------------------------------------------------------------------------------------------------

    def test_swap_puts_if_there_is_no_row(self, store: Store) -> None:
        """Expecting no row, the first swap stores, the second changes nothing; expired rows count as rows."""
        first, second = an_entry("k", expires_at=0.0), an_entry("k", payload=b"[]")
        assert store.rows.swap(SEARCHES, TENANT, first, expecting=None)
        assert not store.rows.swap(SEARCHES, TENANT, second, expecting=None)
        assert list(store.listings.scan(SEARCHES, TENANT)) == [first]
        assert store.rows.swap(SEARCHES, "ann", second, expecting=None), "another tenant's row is no obstacle"

    def test_swap_puts_if_the_row_is_as_expected(self, store: Store) -> None:
        """The whole row and its meanings are replaced; another number of results does not match."""
        store.rows.put(SEARCHES, TENANT, an_entry("k", own=(10, "ddgs", "{}"), teaches=(("RAG", "old cloth"),)))
        new = embedded("k", own=(20, "ddgs", "{}"))
        assert not store.rows.swap(SEARCHES, TENANT, new, expecting={"max_results": 20})
        assert store.rows.swap(SEARCHES, TENANT, new, expecting={"max_results": 10, "engine": "ddgs"})
        assert list(store.listings.scan(SEARCHES, TENANT)) == [new]
        assert store.nearest.meanings(TENANT, ["RAG"]) == []
        assert keys_near(store, vector_of("k"), scope=("ddgs", "{}")) == ["k"]

    def test_swap_makes_no_row_if_one_is_expected(self, store: Store) -> None:
        """A row deleted meanwhile stays deleted; another key's or tenant's row does not match."""
        store.rows.put(SEARCHES, TENANT, an_entry("other"))
        store.rows.put(SEARCHES, "ann", an_entry("k"))
        assert not store.rows.swap(SEARCHES, TENANT, an_entry("k"), expecting={"max_results": 10})
        assert store.rows.get(SEARCHES, TENANT, "k") is None

    def test_one_of_several_swaps_at_once_succeeds(self, store: Store) -> None:
        """Eight threads raise the same number twenty times; no change is lost."""
        store.rows.put(SEARCHES, TENANT, an_entry("k", own=(0, "ddgs", "{}")))
        done = []

        def work(_: int) -> None:
            for number in range(20):
                if store.rows.swap(
                    SEARCHES, TENANT, an_entry("k", own=(number + 1, "ddgs", "{}")), expecting={"max_results": number}
                ):
                    done.append(number)
                while _got(store, SEARCHES, "k").own[0] <= number:
                    time.sleep(0.001)

        _in_threads(8, work)
        assert sorted(done) == list(range(20))

    def test_one_of_several_swaps_that_make_a_row_succeeds(self, store: Store) -> None:
        """The same if no row is expected."""
        keys = [str(number) for number in range(20)]
        done: list[str] = []

        def work(number: int) -> None:
            rows = [an_entry(key, text=str(number)) for key in keys]
            done.extend(row.key for row in rows if store.rows.swap(SEARCHES, TENANT, row, expecting=None))

        _in_threads(8, work)
        assert sorted(done) == sorted(keys)

    # recent ------------------------------------------------------------------------------------------------------

    @each_table
    def test_the_newest_rows_come_first(self, store: Store, table: str) -> None:
        """Whole rows, expired or not, at most the limit; a row that was written again is new."""
        put = {key: embedded(key, table) for key in "abc"} | {"d": an_entry("d", table, expires_at=0.0)}
        for key in "abcda":
            store.rows.put(table, TENANT, put[key])
        assert store.listings.recent(table, TENANT, 3) == [put["a"], put["d"], put["c"]]
        assert [entry.key for entry in store.listings.recent(table, TENANT, 100)] == ["a", "d", "c", "b"]
        assert store.listings.recent(table, TENANT, 0) == []

    def test_recent_rows_are_of_one_tenant_and_kind(self, store: Store) -> None:
        """Only rows with these values; an unknown column is refused."""
        for number, engine in enumerate(("ddgs", "pubmed", "ddgs")):
            store.rows.put(SEARCHES, TENANT, an_entry(str(number), own=(10, engine, "{}")))
        store.rows.put(SEARCHES, "ann", an_entry("ann's", own=(10, "ddgs", "{}")))
        assert [entry.key for entry in store.listings.recent(SEARCHES, TENANT, 9, where={"engine": "ddgs"})] == [
            "2",
            "0",
        ]
        with pytest.raises(InvalidInput, match="max_results, engine, options"):
            store.listings.recent(SEARCHES, TENANT, 9, where={"query": "x"})

    # outlines ----------------------------------------------------------------------------------------------------

    def test_outlines_list_the_newest_rows_without_large_columns(self, store: Store) -> None:
        """Key, text, time, own columns and a growing number, newest first; a row that was written again is new."""
        own = (10, "ddgs", "{}")
        for key in "abca":
            store.rows.put(SEARCHES, TENANT, an_entry(key, own=own))
        told = store.listings.outlines(SEARCHES, TENANT, {"engine": "ddgs"}, limit=2)
        entry = an_entry("a", own=own)
        assert [(each.key, each.text, each.created_at, each.own) for each in told] == [
            ("a", entry.text, entry.created_at, own),
            ("c", an_entry("c").text, entry.created_at, own),
        ]
        assert told[0].number > told[1].number

    def test_outlines_list_rows_after_a_number(self, store: Store) -> None:
        """Rows written or embedded since then, once each; nothing else."""
        for key in "ab":
            store.rows.put(SEARCHES, TENANT, an_entry(key, own=(10, "ddgs", "{}")))
        seen = store.listings.outlines(SEARCHES, TENANT, {"engine": "ddgs"}, limit=9)[0].number
        assert store.listings.outlines(SEARCHES, TENANT, {"engine": "ddgs"}, after=seen, limit=9) == []
        vector = vector_of("a").tobytes()
        store.nearest.embed(SEARCHES, TENANT, "a", vector, EMBEDDER)
        store.rows.put(SEARCHES, TENANT, an_entry("c", own=(10, "ddgs", "{}")))
        told = store.listings.outlines(SEARCHES, TENANT, {"engine": "ddgs"}, after=seen, limit=9)
        assert [each.key for each in told] == ["c", "a"]

    def test_outlines_are_of_one_tenant_and_kind(self, store: Store) -> None:
        """Only rows with these values; an unknown column is refused, and without any all rows count."""
        for number, engine in enumerate(("ddgs", "pubmed", "ddgs")):
            store.rows.put(SEARCHES, TENANT, an_entry(str(number), own=(10, engine, "{}")))
        store.rows.put(SEARCHES, "ann", an_entry("ann's", own=(10, "ddgs", "{}")))
        found = store.listings.outlines(SEARCHES, TENANT, {"engine": "ddgs"}, limit=9)
        assert [each.key for each in found] == ["2", "0"]
        assert [each.key for each in store.listings.outlines(SEARCHES, TENANT, limit=2)] == ["2", "1"]
        with pytest.raises(InvalidInput, match="max_results, engine, options"):
            store.listings.outlines(SEARCHES, TENANT, {"query": "x"}, limit=9)

    # rows --------------------------------------------------------------------------------------------------------

    @each_table
    def test_rows_come_whole_in_the_order_of_writing(self, store: Store, table: str) -> None:
        """All columns of fresh and expired rows; a row that was written again comes last."""
        put = [embedded("b", table), an_entry("c", table, expires_at=0.0), embedded("a", table)]
        for entry in (put[2], *put):
            store.rows.put(table, TENANT, entry)
        where = dict(zip(SCOPED[table], SCOPES[table], strict=True))
        assert store.listings.find(table, TENANT, where) == put

    def test_rows_are_those_with_all_the_values(self, store: Store) -> None:
        """Values of any type are compared as they are, for one tenant."""
        hostile = "x' OR '1'='1"
        for number, engine in ((10, hostile), (20, hostile), (10, "ddgs")):
            store.rows.put(SEARCHES, TENANT, an_entry(f"{number} {engine}", own=(number, engine, "{}")))
        store.rows.put(SEARCHES, "ann", an_entry("ann's", own=(10, hostile, "{}")))
        found = store.listings.find(SEARCHES, TENANT, {"engine": hostile, "max_results": 10})
        assert [entry.key for entry in found] == [f"10 {hostile}"]
        assert store.listings.find(SEARCHES, TENANT, {"engine": "unknown"}) == []

    # evict -------------------------------------------------------------------------------------------------------

    @each_table
    def test_the_least_recently_used_are_evicted(self, store: Store, table: str) -> None:
        """By their last use, not by when they were put; the number of evicted rows is returned."""
        for number, key in enumerate("abcde"):
            store.rows.put(table, TENANT, an_entry(key, table, last_used_at=NOW + number))
        store.rows.touch(table, TENANT, "a", NOW + 50)
        assert store.rows.evict(table, TENANT, SCOPES[table], 2) == 3
        assert [entry.key for entry in store.listings.scan(table, TENANT)] == ["a", "e"]

    def test_of_rows_used_at_the_same_time_the_later_written_stay(self, store: Store) -> None:
        """So a row that was just put is not evicted."""
        for key in "bca":
            store.rows.put(SEARCHES, TENANT, an_entry(key))
        assert store.rows.evict(SEARCHES, TENANT, SCOPES[SEARCHES], 1) == 2
        assert [entry.key for entry in store.listings.scan(SEARCHES, TENANT)] == ["a"]

    @pytest.mark.parametrize(("keep", "gone"), [(-1, 3), (0, 3), (2, 1), (3, 0), (10**9, 0)])
    def test_eviction_counts_every_row(self, store: Store, keep: int, gone: int) -> None:
        """Expired or not, embedded or not."""
        for entry in (embedded("a"), an_entry("b"), an_entry("c", expires_at=0.0)):
            store.rows.put(SEARCHES, TENANT, entry)
        assert store.rows.evict(SEARCHES, TENANT, SCOPES[SEARCHES], keep) == gone
        assert len(list(store.listings.scan(SEARCHES, TENANT))) == 3 - gone

    def test_eviction_is_of_one_scope_tenant_and_table(self, store: Store) -> None:
        """Rows of other scopes, tenants and tables are neither counted nor evicted."""
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        store.rows.put(SEARCHES, TENANT, an_entry("other", own=_OTHER_OWN[SEARCHES]))
        store.rows.put(SEARCHES, "ann", an_entry("k"))
        store.rows.put(RESEARCH, TENANT, an_entry("k", RESEARCH))
        assert store.rows.evict(SEARCHES, TENANT, SCOPES[SEARCHES], 1) == 0
        assert store.rows.evict(SEARCHES, TENANT, SCOPES[SEARCHES], 0) == 1
        assert [entry.key for entry in store.listings.scan(SEARCHES, TENANT)] == ["other"]
        assert store.rows.get(SEARCHES, "ann", "k") is not None
        assert store.rows.get(RESEARCH, TENANT, "k") is not None

    # meanings ----------------------------------------------------------------------------------------------------

    def test_learned_meanings_are_found(self, store: Store) -> None:
        """Short forms are found in any case, and returned as they were written."""
        store.rows.put(
            SEARCHES, TENANT, an_entry("k", teaches=(("RAG", "retrieval-augmented generation"), ("Zü", "Zürich")))
        )
        assert store.nearest.meanings(TENANT, ["rag"]) == [("RAG", "retrieval-augmented generation")]
        assert sorted(store.nearest.meanings(TENANT, ["Rag", "ZÜ", "unknown"])) == [
            ("RAG", "retrieval-augmented generation"),
            ("Zü", "Zürich"),
        ]

    def test_no_short_forms_have_no_meanings(self, store: Store) -> None:
        """No short forms, no meanings."""
        store.rows.put(SEARCHES, TENANT, an_entry("k", teaches=(("RAG", "retrieval-augmented generation"),)))
        assert store.nearest.meanings(TENANT, []) == []
        assert store.nearest.meanings(TENANT, ["unknown", ""]) == []

    def test_a_meaning_is_returned_once_for_each_row(self, store: Store) -> None:
        """For rows of any table, so that the caller can see which meaning is usual."""
        pair = ("RAG", "retrieval-augmented generation")
        store.rows.put(SEARCHES, TENANT, an_entry("one", teaches=(pair,)))
        store.rows.put(SEARCHES, TENANT, an_entry("two", teaches=(pair, ("rag", "old cloth"))))
        store.rows.put(RESEARCH, TENANT, an_entry("one", RESEARCH, teaches=(pair,)))
        assert sorted(store.nearest.meanings(TENANT, ["RAG"])) == [pair, pair, pair, ("rag", "old cloth")]

    def test_meanings_are_of_one_tenant(self, store: Store) -> None:
        """Abbreviations are private, as rows are."""
        store.rows.put(SEARCHES, "ann", an_entry("k", teaches=(("RAG", "ann's"),)))
        store.rows.put(SEARCHES, "bob", an_entry("k", teaches=(("RAG", "bob's"),)))
        assert store.nearest.meanings("ann", ["RAG"]) == [("RAG", "ann's")]
        assert store.nearest.meanings(TENANT, ["RAG"]) == []

    @each_table
    @each_way_to_go
    def test_meanings_are_deleted_with_their_row(self, store: Store, table: str, go: Go) -> None:
        """A row that was deleted, cleared, swept or replaced by one without meanings leaves none."""
        store.rows.put(table, TENANT, embedded("k", table, teaches=(("RAG", "retrieval-augmented generation"),)))
        go(store, table, "k")
        assert store.nearest.meanings(TENANT, ["RAG"]) == []

    def test_meanings_of_other_rows_stay(self, store: Store) -> None:
        """The same key in another table or of another tenant keeps them."""
        for tenant in ("ann", "bob"):
            for table in (SEARCHES, RESEARCH):
                store.rows.put(table, tenant, an_entry("k", table, teaches=(("RAG", f"{tenant} {table}"),)))
        store.rows.delete(SEARCHES, "ann", ["k"])
        assert store.nearest.meanings("ann", ["RAG"]) == [("RAG", "ann research_cache")]
        store.admin.clear(RESEARCH, "ann")
        assert store.nearest.meanings("ann", ["RAG"]) == []
        assert sorted(store.nearest.meanings("bob", ["RAG"])) == [
            ("RAG", "bob research_cache"),
            ("RAG", "bob search_cache"),
        ]

    def test_a_second_put_replaces_the_meanings(self, store: Store) -> None:
        """Only the present row counts."""
        store.rows.put(SEARCHES, TENANT, an_entry("k", teaches=(("RAG", "old cloth"),)))
        store.rows.put(SEARCHES, TENANT, an_entry("k", teaches=(("RAG", "retrieval-augmented generation"),)))
        assert store.nearest.meanings(TENANT, ["RAG"]) == [("RAG", "retrieval-augmented generation")]

    def test_touching_and_embedding_keep_the_meanings(self, store: Store) -> None:
        """Neither makes a new row."""
        store.rows.put(SEARCHES, TENANT, an_entry("k", teaches=(("RAG", "retrieval-augmented generation"),)))
        store.rows.touch(SEARCHES, TENANT, "k", NOW + 1)
        store.nearest.embed(SEARCHES, TENANT, "k", vector_of("k").tobytes(), EMBEDDER)
        assert store.nearest.meanings(TENANT, ["RAG"]) == [("RAG", "retrieval-augmented generation")]

    # count -------------------------------------------------------------------------------------------------------

    def test_counting_nothing_changes_nothing(self, store: Store) -> None:
        """An empty count adds nothing."""
        store.usage.add(TENANT, "2026-01-01", {})
        assert store.usage.by_day(TENANT) == {}

    def test_threads_lose_no_count(self, store: Store) -> None:
        """Counting is atomic."""
        _in_threads(8, lambda _: [store.usage.add(TENANT, "2026-01-01", {"exact": 1}) for _ in range(20)])
        assert store.usage.by_day(TENANT) == {"2026-01-01": {"exact": 160}}

    # turn --------------------------------------------------------------------------------------------------------

    def test_one_thread_at_a_time_has_the_lock(self, store: Store) -> None:
        """8 threads count without other protection; no count is lost."""
        total = [0]

        def count(_: int) -> None:
            for _ in range(10):
                with store.locks.hold("counter", 60) as mine:
                    assert mine
                    seen = total[0]
                    time.sleep(0.0005)
                    total[0] = seen + 1

        _in_threads(8, count)
        assert total == [80]

    @pytest.mark.parametrize("wait", [0, 0.05])
    def test_a_lock_that_is_not_free_in_time_yields_false(self, store: Store, wait: float) -> None:
        """The holder of the lock keeps it."""
        got = []

        def try_it(_: int) -> None:
            with store.locks.hold("name", wait) as mine:
                got.append(mine)

        with store.locks.hold("name", 60) as mine:
            assert mine
            _in_threads(1, try_it)
            _in_threads(1, try_it)
        _in_threads(1, try_it)
        assert got == [False, False, True]

    def test_a_lock_is_free_after_an_error(self, store: Store) -> None:
        """The error is raised unchanged, and the next one gets the lock at once."""
        error = RuntimeError("inside")
        with pytest.raises(RuntimeError) as raised, store.locks.hold("name", 60):
            raise error
        assert raised.value is error
        with store.locks.hold("name", 0) as mine:
            assert mine

    def test_locks_of_other_names_do_not_wait(self, store: Store) -> None:
        """Any text is a name, and two names are two locks."""
        names = ["a", "A", "", "a/../b", "検索" * 200, "nul\0", "*?<>|"]
        with store.locks.hold("held", 60):
            for name in names:
                with store.locks.hold(name, 0) as mine:
                    assert mine

    # sweep -------------------------------------------------------------------------------------------------------

    @each_table
    def test_sweep_deletes_rows_expired_at_or_before(self, store: Store, table: str) -> None:
        """A row is expired at the exact time `expires_at`, and not a moment before."""
        for key, expires_at in (("before", NOW - 1), ("at", NOW), ("after", NOW + 0.001)):
            store.rows.put(table, TENANT, an_entry(key, table, expires_at=expires_at))
        assert store.rows.sweep(table, TENANT, NOW) == 2
        assert [store.rows.get(table, TENANT, key) is None for key in ("before", "at", "after")] == [True, True, False]

    @each_table
    def test_sweep_deletes_rows_created_later_than_now(self, store: Store, table: str) -> None:
        """So no row stays for ever because a clock was set back; rows that never expire stay."""
        for key, created_at, expires_at in (
            ("later", NOW + 1, NOW + 9),
            ("now", NOW, NOW + 9),
            ("ever", NOW + 1, NEVER),
        ):
            store.rows.put(table, TENANT, an_entry(key, table, created_at=created_at, expires_at=expires_at))
        assert store.rows.sweep(table, TENANT, NOW, created_after=NOW) == 1
        assert [store.rows.get(table, TENANT, key) is None for key in ("later", "now", "ever")] == [True, False, False]

    def test_sweeping_nothing_counts_nothing(self, store: Store) -> None:
        """A sweep of a table without expired rows returns 0 and deletes nothing."""
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        assert store.rows.sweep(SEARCHES, TENANT, NOW) == 0
        assert store.rows.get(SEARCHES, TENANT, "k") is not None

    def test_sweep_takes_more_than_one_batch(self, store: Store) -> None:
        """One sweep deletes all expired rows, however many."""
        for number in range(2_100):
            store.rows.put(SEARCHES, TENANT, an_entry(str(number), expires_at=NOW - number))
        assert store.rows.sweep(SEARCHES, TENANT, NOW) == 2_100
        assert store.listings.stats(SEARCHES, TENANT, NOW).total == 0

    def test_sweep_is_for_one_tenant_and_table(self, store: Store) -> None:
        """Expired rows of other tenants and tables stay, also if a put sweeps."""
        for tenant in ("ann", "bob", "cid"):
            store.rows.put(SEARCHES, tenant, an_entry("k", expires_at=NOW))
        store.rows.put(RESEARCH, "ann", an_entry("k", RESEARCH, expires_at=NOW))
        assert store.rows.sweep(SEARCHES, "ann", NOW) == 1
        store.rows.put(SEARCHES, "bob", an_entry("new"), sweep_before=NOW)
        assert [store.rows.get(SEARCHES, tenant, "k") is None for tenant in ("ann", "bob", "cid")] == [
            True,
            True,
            False,
        ]
        assert store.rows.get(RESEARCH, "ann", "k") is not None

    def test_put_sweeps_rows_expired_at_or_before(self, store: Store) -> None:
        """A put with `sweep_before` deletes expired rows, the boundary included, and stores its own."""
        for key, expires_at in (("before", NOW - 1), ("at", NOW), ("after", NOW + 1)):
            store.rows.put(SEARCHES, TENANT, an_entry(key, expires_at=expires_at))
        store.rows.put(SEARCHES, TENANT, an_entry("new"), sweep_before=NOW)
        found = {key for key in ("before", "at", "after", "new") if store.rows.get(SEARCHES, TENANT, key)}
        assert found == {"after", "new"}

    def test_put_without_sweep_before_sweeps_nothing(self, store: Store) -> None:
        """Expired rows stay until a call deletes them."""
        store.rows.put(SEARCHES, TENANT, an_entry("expired", expires_at=0.0))
        store.rows.put(SEARCHES, TENANT, an_entry("new"))
        assert store.rows.get(SEARCHES, TENANT, "expired") is not None

    def test_put_renews_the_expired_row_of_its_own_key(self, store: Store) -> None:
        """Storing a fresh answer for a key whose row is expired leaves the fresh one."""
        store.rows.put(SEARCHES, TENANT, an_entry("k", expires_at=NOW))
        store.rows.put(SEARCHES, TENANT, an_entry("k", expires_at=NOW + 9), sweep_before=NOW)
        assert _got(store, SEARCHES, "k").expires_at == NOW + 9

    # clear -------------------------------------------------------------------------------------------------------

    def test_clear_empties_one_table_of_one_tenant_and_counts(self, store: Store) -> None:
        """Every row of the tenant is deleted, fresh or expired; another tenant's and the other table stay."""
        store.rows.put(SEARCHES, "ann", an_entry("fresh"))
        store.rows.put(SEARCHES, "ann", an_entry("expired", expires_at=0.0))
        store.rows.put(SEARCHES, "bob", an_entry("fresh"))
        store.rows.put(RESEARCH, "ann", an_entry("k", RESEARCH))
        assert store.admin.clear(SEARCHES, "ann") == 2
        assert store.listings.stats(SEARCHES, "ann", NOW).total == 0
        assert store.rows.get(SEARCHES, "bob", "fresh") is not None
        assert store.rows.get(RESEARCH, "ann", "k") is not None

    def test_clearing_an_empty_table_counts_nothing(self, store: Store) -> None:
        """There is nothing to delete, and no error."""
        assert store.admin.clear(SEARCHES, TENANT) == 0

    def test_a_cleared_table_takes_new_rows(self, store: Store) -> None:
        """The store works after `clear`."""
        store.rows.put(SEARCHES, TENANT, an_entry("old"))
        store.admin.clear(SEARCHES, TENANT)
        store.rows.put(SEARCHES, TENANT, an_entry("new"))
        assert store.rows.get(SEARCHES, TENANT, "new") is not None

    # stats, size, close --------------------------------------------------------------------------------------------

    @each_table
    def test_stats_of_an_empty_table(self, store: Store, table: str) -> None:
        """No rows, and no oldest or newest one."""
        stats = store.listings.stats(table, TENANT, NOW)
        assert (stats.table, stats.live, stats.expired, stats.total) == (table, 0, 0, 0)
        assert (stats.oldest, stats.newest) == (None, None)

    @each_table
    def test_stats_count_by_freshness(self, store: Store, table: str) -> None:
        """Live and expired add up to the total; at exactly `expires_at` a row is expired. Others do not count."""
        store.rows.put(table, TENANT, an_entry("live", table, created_at=NOW - 3, expires_at=NOW + 1))
        store.rows.put(table, TENANT, an_entry("later", table, created_at=NOW - 1, expires_at=NOW + 1))
        store.rows.put(table, TENANT, an_entry("at", table, created_at=NOW - 2, expires_at=NOW))
        store.rows.put(table, "ann", an_entry("live", table, created_at=NOW - 9, expires_at=NOW + 1))
        stats = store.listings.stats(table, TENANT, NOW)
        assert (stats.live, stats.expired, stats.total) == (2, 1, 3)
        assert (stats.oldest, stats.newest) == (NOW - 3, NOW - 1)

    @each_table
    def test_stats_count_the_vectors(self, store: Store, table: str) -> None:
        """Index and tail add up to the rows with a vector; both are empty after a clear."""
        store.rows.put(table, TENANT, embedded("one", table))
        store.rows.put(table, TENANT, embedded("two", table, embedder="another"))
        store.rows.put(table, TENANT, an_entry("three", table))
        store.rows.put(table, "ann", embedded("four", table))
        stats = store.listings.stats(table, TENANT, NOW)
        assert (stats.indexed + stats.tail, stats.unembedded) == (2, 0)
        store.admin.clear(table, TENANT)
        stats = store.listings.stats(table, TENANT, NOW)
        assert (stats.indexed, stats.tail) == (0, 0)

    def test_stats_count_the_live_rows_without_a_vector(self, store: Store) -> None:
        """A vector of another embedder counts as none; expired rows do not count."""
        store.rows.put(SEARCHES, TENANT, embedded("embedded"))
        store.rows.put(SEARCHES, TENANT, embedded("another's", embedder="another"))
        store.rows.put(SEARCHES, TENANT, an_entry("none"))
        store.rows.put(SEARCHES, TENANT, an_entry("expired", expires_at=NOW))
        store.rows.put(SEARCHES, "ann", an_entry("ann's"))
        assert store.listings.stats(SEARCHES, TENANT, NOW, EMBEDDER).unembedded == 2

    # verify, reindex -----------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("repair", [False, True])
    def test_a_sound_store_has_no_problems(self, store: Store, repair: bool) -> None:
        """Empty or not, `verify` finds nothing, and repairing changes nothing."""
        assert store.admin.verify(repair=repair) == []
        entries = [embedded("k"), an_entry("no vector", payload=b"[]"), an_entry("expired", expires_at=0.0)]
        for entry in entries:
            store.rows.put(SEARCHES, TENANT, entry)
        store.rows.put(RESEARCH, TENANT, embedded("k", RESEARCH, payload="any text: Zürich".encode()))
        assert store.admin.verify(repair=repair) == []
        assert list(store.listings.scan(SEARCHES, TENANT)) == entries

    def test_reindexing_changes_no_answer(self, store: Store) -> None:
        """The index is rebuilt from the rows; the similarities are the same."""
        for number in range(20):
            store.rows.put(SEARCHES, TENANT, embedded(str(number)))
        before = ask(store, near(vector_of("7"), 0.3))
        assert store.admin.reindex() >= 0
        assert ask(store, near(vector_of("7"), 0.3)) == before

    def test_size_is_in_bytes_and_counts_the_rows(self, store: Store) -> None:
        """A megabyte more makes the store about a megabyte larger."""
        before = store.admin.size()
        store.rows.put(SEARCHES, TENANT, an_entry("k", payload=_INCOMPRESSIBLE))
        assert 2**20 <= store.admin.size() - before < 2**22

    def test_a_closed_store_opens_again(self, store: Store) -> None:
        """`close` loses nothing and may be called twice; the next call works."""
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        store.close()
        store.close()
        assert store.rows.get(SEARCHES, TENANT, "k") is not None
        store.rows.put(SEARCHES, TENANT, an_entry("later"))

    # tenants -----------------------------------------------------------------------------------------------------

    @each_table
    def test_a_tenant_sees_only_its_own_rows(self, store: Store, table: str) -> None:
        """One key, two tenants: two rows, each with its own answer."""
        store.rows.put(table, "ann", an_entry("k", table, payload=b"ann's"))
        assert store.rows.get(table, "bob", "k") is None
        store.rows.put(table, "bob", an_entry("k", table, payload=b"bob's"))
        found = [store.rows.get(table, tenant, "k") for tenant in ("ann", "bob")]
        assert [entry and entry.payload for entry in found] == [b"ann's", b"bob's"]

    def test_touch_is_for_one_tenant(self, store: Store) -> None:
        """A use by one tenant does not change the row of another."""
        for tenant in ("ann", "bob"):
            store.rows.put(SEARCHES, tenant, an_entry("k"))
        store.rows.touch(SEARCHES, "ann", "k", NOW + 9)
        bobs = store.rows.get(SEARCHES, "bob", "k")
        assert bobs is not None
        assert bobs.last_used_at == NOW

    def test_tenants_are_those_with_rows(self, store: Store) -> None:
        """Sorted by name, each once."""
        assert store.admin.tenants() == []
        for tenant, table in (("cid", SEARCHES), ("ann", RESEARCH), ("ann", SEARCHES), ("Zoë", SEARCHES)):
            store.rows.put(table, tenant, an_entry("k", table))
        assert store.admin.tenants() == sorted(["cid", "ann", "Zoë"])

    def test_forgetting_a_tenant_deletes_all_its_data(self, store: Store) -> None:
        """Rows of every table, vectors, meanings, counts; other tenants keep theirs. It may return."""
        for tenant in ("ann", "bob"):
            store.rows.put(SEARCHES, tenant, embedded("k", teaches=(("RAG", "old cloth"),)))
            store.rows.put(RESEARCH, tenant, an_entry("k", RESEARCH))
            store.usage.add(tenant, "2026-01-01", {"exact": 1})
        assert store.admin.forget("ann") == 2
        assert store.admin.tenants() == ["bob"]
        assert (store.usage.by_day("ann"), store.nearest.meanings("ann", ["RAG"])) == ({}, [])
        assert keys_near(store, vector_of("k"), tenant="ann") == []
        assert store.usage.by_day("bob") == {"2026-01-01": {"exact": 1}}
        assert store.nearest.meanings("bob", ["RAG"]) == [("RAG", "old cloth")]
        assert keys_near(store, vector_of("k"), tenant="bob") == ["k"]
        store.rows.put(SEARCHES, "ann", an_entry("k"))
        assert store.admin.tenants() == ["ann", "bob"]
        assert store.admin.forget("unknown") == 0

    def test_forgetting_a_user_keeps_the_rows(self, store: Store) -> None:
        """Tokens are deleted; rows have no user any more. Other users and tenants keep theirs."""
        for tenant, user in (("acme", "ann"), ("acme", "bob"), ("other", "ann")):
            store.rows.put("tool_cache", tenant, a_tool_entry(user, created_by=user))
            store.rows.put("access_tokens", tenant, a_token(user))
        assert store.admin.forget("acme", "ann") == 1
        kept = {entry.key: entry.own[-1] for entry in store.listings.scan("tool_cache", "acme")}
        assert kept == {"ann": None, "bob": "bob"}
        assert [entry.key for entry in store.listings.scan("access_tokens", "acme")] == ["bob"]
        assert [entry.own[-1] for entry in store.listings.scan("tool_cache", "other")] == ["ann"]
        assert len(list(store.listings.scan("access_tokens", "other"))) == 1

    @pytest.mark.parametrize("created_by", [None, "ann"])
    def test_a_tool_row_comes_back_unchanged(self, store: Store, created_by: str | None) -> None:
        """All own columns are equal, and JSON in canonical form is not changed."""
        put = a_tool_entry("k", created_by=created_by)
        store.rows.put("tool_cache", TENANT, put)
        assert store.rows.get("tool_cache", TENANT, "k") == put
        assert store.listings.recent("tool_cache", TENANT, 1, where={"cache_type": "job_search"}) == [put]

    @settings(
        max_examples=25,
        deadline=None,  # a disk may be slow
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,  # every example begins by emptying the store
            HealthCheck.differing_executors,  # one contract, several stores: that is its point
        ],
    )
    @given(actions=_actions)
    def test_tenants_are_always_isolated(self, store: Store, actions: list[tuple[str, str, str, str]]) -> None:
        """After any sequence of puts, look-ups and clears, each tenant finds the contents of its model dict."""
        for tenant in ("ann", "bob"):
            store.admin.clear(SEARCHES, tenant)
        model: dict[tuple[str, str], bytes] = {}
        for action, tenant, key, payload in actions:
            if action == "put":
                store.rows.put(SEARCHES, tenant, an_entry(key, payload=payload.encode()))
                model[tenant, key] = payload.encode()
            elif action == "clear":
                mine = [place for place in model if place[0] == tenant]
                assert store.admin.clear(SEARCHES, tenant) == len(mine)
                for place in mine:
                    del model[place]
            else:
                found = store.rows.get(SEARCHES, tenant, key)
                assert (found and found.payload) == model.get((tenant, key))
        for tenant in ("ann", "bob"):
            for key in ("one", "two", "three"):
                found = store.rows.get(SEARCHES, tenant, key)
                assert (found and found.payload) == model.get((tenant, key))


def _got(store: Store, table: str, key: str) -> Entry:
    entry = store.rows.get(table, TENANT, key)
    assert entry is not None
    return entry


def _in_threads(count: int, work: Callable[[int], object]) -> None:
    """Run `work` in `count` threads; raise the first error of any."""
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
