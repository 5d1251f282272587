"""Tenants: none finds, counts or exports another's passages, and none is affected by another."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cache import Cache
from harness.core.tables import LIBRARY, MOVED
from harness.library import Library
from harness.ports import Store
from tests.fakes import FakeClock, MemoryStore, WordEmbedder
from tests.library.documents import Pages, document, result

TENANTS = ("ada", "bob")
WORDS = ("pool", "timeout", "retry")
URLS = ("https://a.org/1", "https://a.org/2")

STEPS = st.lists(
    st.tuples(
        st.sampled_from(TENANTS),
        st.sampled_from(("search", "page", "add", "update", "find", "forget", "clear", "embed", "evict", "sweep")),
        st.sampled_from(WORDS),
        st.sampled_from(URLS),
    ),
    max_size=25,
)


class Tenant:
    """The services of one tenant; all of its texts have its name."""

    def __init__(self, name: str, store: Store, clock: FakeClock) -> None:
        self.name = name
        self.clock = clock
        self.store = store
        self.cache = Cache(store, tenant=name, clock=clock)
        self.library = Library(store, WordEmbedder(), tenant=name, clock=clock)

    def take(self, what: str, word: str, url: str) -> object:
        """Do a step; return its outcome."""
        self.clock.advance(600)
        text = f"{self.name} writes about a {word}."
        steps: dict[str, Callable[[], object]] = {
            "search": lambda: self.cache.searches.put(f"what is a {word}", [result(url, text)]),
            "page": lambda: self.cache.pages.answer(url, Pages({url: f"{text}\n\n# More\n\n{text} Again."})).how,
            "add": lambda: self.library.index.add(document(text, url, fetched_at=self.clock.now)),
            "update": self.library.index.update,
            "find": lambda: [
                (each.passage.text, each.by_words) for each in self.library.search(f"{word} of ada or bob")
            ],
            "forget": lambda: self.library.forget(url),
            "clear": self.cache.maintenance.clear,
            "embed": self.library.index.embed,
            "evict": self.library.index.evict,
            "sweep": self.cache.maintenance.sweep,
        }
        return steps[what]()

    def assert_own(self) -> None:
        """Check that all passages this tenant sees are its own."""
        passages = list(self.library.passages())
        assert all(self.name in each.text for each in passages)
        assert self.library.stats().total == len(passages)
        assert all(self.name in each.text for url in URLS for each in self.library.passages_of(url))
        exported = [entry for table, entry in self.cache.maintenance.entries(MOVED) if table == LIBRARY]
        assert sorted(each.key for each in exported) == sorted(each.key for each in passages)
        for word in WORDS:
            found = self.library._search.search(f"{word} of ada or bob", 100, read=0)
            assert all(self.name in each.passage.text for each in found)
            words = self.store.nearest.by_words(LIBRARY, self.name, [word, *TENANTS], k=100, now=self.clock.now)
            assert all(self.name in each.text for each in words)


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(STEPS)
def test_tenants_do_not_affect_each_other(steps: list[tuple[Any, ...]]) -> None:
    """Any steps of two tenants in one store, in any order, give each the results that it would get alone."""
    assert lived(steps, TENANTS) == {name: lived(steps, (name,))[name] for name in TENANTS}


def lived(steps: list[tuple[Any, ...]], names: tuple[str, ...]) -> dict[str, list[object]]:
    """Do the steps of these tenants in one store; return the outcomes and the final passages of each."""
    store = MemoryStore()
    tenants = {name: Tenant(name, store, FakeClock()) for name in names}
    outcomes: dict[str, list[object]] = {name: [] for name in names}
    for name, *step in steps:
        if name in tenants:
            outcomes[name].append(tenants[name].take(*step))
            for each in tenants.values():
                each.assert_own()
    for name, tenant in tenants.items():
        outcomes[name] += [list(tenant.library.passages()), tenant.library.stats()]
    return outcomes


def test_the_same_text_belongs_to_both() -> None:
    """A deletion by one tenant leaves the other's row, and keys of one are unknown to the other."""
    store, clock = MemoryStore(), FakeClock()
    ada, bob = (Tenant(name, store, clock) for name in TENANTS)
    for each in (ada, bob):
        each.library.index.add(document("A pool holds ten.", URLS[0]))
    ada.library.index.add(document("Only ada.", URLS[1]))
    (own,) = ada.library.passages_of(URLS[1])
    assert own not in bob.library.passages()
    bob.library.touch([own.key])
    assert ada.library.forget(URLS[0]) == (1, 0)
    assert [each.text for each in bob.library.passages()] == ["A pool holds ten."]
    assert bob.library.forget(URLS[1]) == (0, 0)
    assert [each.text for each in ada.library.passages()] == ["Only ada."]
