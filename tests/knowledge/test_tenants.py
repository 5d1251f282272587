"""Tenants: none sees, counts or changes another's documents."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import AccessDenied, InvalidInput
from harness.identity import Identity
from harness.knowledge import Knowledge
from harness.storage.guarded import guarded
from tests.fakes import FakeClock, MemoryStore, WordEmbedder

TENANTS = ("ada", "bob")
TITLES = ("redis eviction policies", "nginx proxy timeouts")
URLS = (None, "https://a.org/1", "https://a.org/2")

STEPS = st.lists(
    st.tuples(
        st.sampled_from(TENANTS),
        st.sampled_from(("write", "update", "delete", "lookup", "foreign")),
        st.sampled_from(TITLES),
        st.sampled_from(URLS),
        st.integers(0, 3),
    ),
    max_size=25,
)


def _take(knowledge: Knowledge, own: list[str], foreign: list[str], step: tuple[Any, ...], clock: FakeClock) -> object:
    """Take one step for one tenant; return its result without ids and times."""
    _, what, title, url, place = step
    clock.advance(600)
    if what == "write":
        written = knowledge.write(title, "content", source_url=url)
        if written.outcome == "created":
            own.append(written.id)
        return written.outcome, own.index(written.id), written.version
    if what == "foreign":
        return _unknown(knowledge, foreign)
    if what == "lookup":  # of documents with one title, which one is near enough is chance
        found = knowledge.lookup(title, url)
        return found.hit, found.found, found.document and found.document.title, found.stale_exists
    return _changed(knowledge, own[place % len(own)], step) if own else None


def _changed(knowledge: Knowledge, document: str, step: tuple[Any, ...]) -> object:
    _, what, title, url, _ = step
    if what == "delete":
        return knowledge.delete(document)
    try:
        return knowledge.write(title, id=document, source_url=url).outcome
    except InvalidInput:
        return "gone"


def _unknown(knowledge: Knowledge, foreign: list[str]) -> None:
    """Check that every method reports another tenant's ids as unknown."""
    for document in foreign:
        assert knowledge.get(document) is None
        assert knowledge.history(document) == []
        assert not knowledge.delete(document)
        try:
            raise AssertionError(knowledge.write("taken over", id=document))
        except InvalidInput as error:
            assert "no document has the id" in str(error)  # noqa: PT017 - else the assertion above has been raised


@pytest.mark.slow
@settings(deadline=None)
@given(STEPS)
def test_tenants_do_not_affect_each_other(steps: list[tuple[Any, ...]]) -> None:
    """Any steps of two tenants in one store, in any order, give each the results it would get alone."""
    told = {tenant: _lived(steps, tenant, alone=False) for tenant in TENANTS}
    assert told == {tenant: _lived(steps, tenant, alone=True) for tenant in TENANTS}


def _lived(steps: list[tuple[Any, ...]], about: str, *, alone: bool) -> list[object]:
    """Take the steps of all tenants, or of one `alone`; return that one's results and final documents."""
    store, embedder = MemoryStore(), WordEmbedder()
    clocks = {tenant: FakeClock() for tenant in TENANTS}
    all_own: dict[str, list[str]] = {tenant: [] for tenant in TENANTS}
    services = {tenant: Knowledge(store, embedder, tenant=tenant, clock=clocks[tenant]) for tenant in TENANTS}
    told: list[object] = []
    for step in steps:
        tenant = step[0]
        if alone and tenant != about:
            continue
        (other,) = {*TENANTS} - {tenant}
        came = _take(services[tenant], all_own[tenant], all_own[other], step, clocks[tenant])
        if tenant == about:
            told.append(came)
    own = all_own[about]
    told.append([(own.index(each.id), each.version, each.title) for each in services[about].list(100)])
    told.append([[each.version for each in services[about].history(document)] for document in own])
    return told


def test_tenants_may_use_the_same_url() -> None:
    """Another tenant's URL is not a duplicate, and its document is not revealed."""
    store, embedder = MemoryStore(), WordEmbedder()
    for tenant in TENANTS:
        knowledge = Knowledge(store, embedder, tenant=tenant)
        assert not knowledge.lookup("redis eviction policies", URLS[1]).hit
        written = knowledge.write("redis eviction policies", f"for {tenant}", source_url=URLS[1])
        assert written.outcome == "created"
        found = knowledge.lookup("anything", URLS[1]).document
        assert found is not None
        assert found.content == f"for {tenant}"


def test_a_reader_s_token_looks_up_and_writes_nothing() -> None:
    """It finds every document with a vector, embeds no title, and cannot write."""
    store, embedder = MemoryStore(), WordEmbedder()
    written = Knowledge(store, embedder, tenant="lab").write("redis eviction policies", "lru", source_url=URLS[1])
    store.nearest.embed("knowledge", "lab", written.id, b"", "of another model")
    reader = Knowledge(guarded(store, Identity("lab", "ada", "reader", "token")), embedder, tenant="lab")
    for _ in range(2):
        assert not reader.lookup("redis eviction policies").hit
        assert reader.lookup("anything", URLS[1]).hit
    assert [each.id for each in reader.list()] == [each.id for each in reader.history(written.id)] == [written.id]
    for change in (
        lambda: reader.write("nginx proxy timeouts", "60 s"),
        lambda: reader.write(id=written.id),
        lambda: reader.delete(written.id),
    ):
        with pytest.raises(AccessDenied):
            change()
    assert [each.version for each in reader.list()] == [1]
