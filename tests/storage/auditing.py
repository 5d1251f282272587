"""Contract of the audits of every `Store`: each pair of queries is stored once, and belongs to one tenant."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.core.audits import Audit
from harness.core.keys import search_key
from harness.ports import Store
from tests.storage.entries import NOW, SEARCHES, TENANT, an_audit, an_entry

ODD = "Zürich 検索 👩‍🔬 e\u0301 esc \x1b[0 'x'; DROP TABLE harness_audits; --"

_pairs = st.lists(st.tuples(st.permutations("abc").map(lambda found: found[:2]), st.booleans()), max_size=12)


class AuditContract:
    """One test for each requirement."""

    def test_without_audits_nothing_disagrees(self, store: Store) -> None:
        """No audits, no counts, no refused pairs; `clear` deletes nothing."""
        assert store.audits.all(TENANT) == []
        assert store.audits.count(TENANT) == (0, 0)
        assert store.audits.disagreeing(TENANT, search_key("a")) == frozenset()
        assert store.audits.clear(TENANT) == 0

    @pytest.mark.parametrize("audit", [an_audit("A  b", ODD, probability=0.5), an_audit("b", "a", agreed=True)])
    def test_an_audit_comes_back(self, store: Store, audit: Audit) -> None:
        """With both texts as they were written, and every number."""
        store.audits.put(TENANT, audit)
        assert store.audits.all(TENANT) == [audit]

    def test_audits_are_sorted_by_time(self, store: Store) -> None:
        """The oldest first."""
        for asked, at in (("b", 2.0), ("c", 1.0), ("d", 3.0)):
            store.audits.put(TENANT, an_audit(asked, "a", at=at))
        assert [audit.created_at - NOW for audit in store.audits.all(TENANT)] == [1.0, 2.0, 3.0]

    def test_disagreeing_queries_refuse_each_other(self, store: Store) -> None:
        """In both directions, any case and spacing; agreeing and other queries are not refused."""
        store.audits.put(TENANT, an_audit("a", "B b"))
        store.audits.put(TENANT, an_audit("c", "a"))
        store.audits.put(TENANT, an_audit("a", "d", agreed=True))
        assert store.audits.disagreeing(TENANT, search_key(" A ")) == {search_key("b  B"), search_key("c")}
        assert store.audits.disagreeing(TENANT, search_key("b b")) == {search_key("a")}
        assert store.audits.disagreeing(TENANT, search_key("d")) == frozenset()
        assert store.audits.count(TENANT) == (1, 2)

    def test_a_pair_is_one_in_either_order(self, store: Store) -> None:
        """A later audit replaces the earlier one, whichever is stored first."""
        earlier = an_audit("a", "b", agreed=True)
        later = an_audit("b", "A", agreed=True, at=5.0, overlap=1.0, probability=0.5)
        assert [store.audits.put(TENANT, audit) for audit in (earlier, later, later, earlier)] == [
            True,
            True,
            False,
            False,
        ]
        assert store.audits.all(TENANT) == [later]

    def test_an_agreeing_pair_may_disagree_later(self, store: Store) -> None:
        """A disagreement counts at any time."""
        store.audits.put(TENANT, an_audit("a", "b", agreed=True))
        assert store.audits.put(TENANT, an_audit("a", "b", at=-1.0))
        assert store.audits.count(TENANT) == (0, 1)

    def test_a_disagreeing_pair_stays_refused(self, store: Store) -> None:
        """No later audit removes that."""
        first = an_audit("a", "b")
        later = an_audit("b", "a", agreed=True, at=1.0), an_audit("a", "b", overlap=0.0, at=2.0)
        assert [store.audits.put(TENANT, audit) for audit in (first, *later)] == [True, False, False]
        assert store.audits.all(TENANT) == [first]
        assert store.audits.disagreeing(TENANT, search_key("b")) == {search_key("a")}

    @settings(
        max_examples=20,
        deadline=None,  # a disk may be slow
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(history=_pairs)
    def test_any_history_refuses_every_pair_that_disagreed(
        self, store: Store, history: list[tuple[list[str], bool]]
    ) -> None:
        """In any order: those pairs, and no others."""
        store.audits.clear(TENANT)
        for at, ((asked, answered), agreed) in enumerate(history):
            store.audits.put(TENANT, an_audit(asked, answered, agreed=agreed, at=at))
        apart = {frozenset(pair) for pair, agreed in history if not agreed}
        for query in "abc":
            others = {search_key(other) for pair in apart if query in pair for other in pair if other != query}
            assert store.audits.disagreeing(TENANT, search_key(query)) == others
        assert store.audits.count(TENANT) == (len({frozenset(pair) for pair, _ in history} - apart), len(apart))

    def test_audits_are_of_one_tenant(self, store: Store) -> None:
        """Another tenant neither sees, counts, refuses nor clears them."""
        store.audits.put(TENANT, an_audit("a", "b"))
        store.audits.put("another", an_audit("a", "b", agreed=True))
        assert store.audits.disagreeing("another", search_key("a")) == frozenset()
        assert (store.audits.count(TENANT), store.audits.count("another")) == ((0, 1), (1, 0))
        assert store.audits.clear("another") == 1
        assert store.audits.count(TENANT) == (0, 1)

    def test_clearing_a_table_leaves_audits(self, store: Store) -> None:
        """A disagreement stays; audits are deleted by a separate call."""
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        store.audits.put(TENANT, an_audit("a", "b"))
        store.admin.clear(SEARCHES, TENANT)
        assert store.audits.count(TENANT) == (0, 1)
        assert store.audits.clear(TENANT) == 1
        assert store.audits.disagreeing(TENANT, search_key("a")) == frozenset()

    def test_forgetting_a_tenant_deletes_its_audits(self, store: Store) -> None:
        """All of the tenant's and no others; they count as deleted rows."""
        for tenant in (TENANT, "another"):
            store.rows.put(SEARCHES, tenant, an_entry("k"))
            store.audits.put(tenant, an_audit("a", "b"))
        assert store.admin.forget(TENANT) == 2
        assert (store.audits.count(TENANT), store.audits.count("another")) == ((0, 0), (0, 1))
