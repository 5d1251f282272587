"""Writing: created once, updated in order, never older, nothing lost."""

import doctest
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from math import inf, nan
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from harness import knowledge as module
from harness.core.tables import KNOWLEDGE, KNOWLEDGE_HISTORY
from harness.errors import InvalidInput
from harness.knowledge import Knowledge
from harness.knowledge import knowledge_writing as writing_module
from harness.ports import Store
from harness.storage.sqlite.store import SqliteStore
from tests.fakes import FakeClock, MemoryStore, WordEmbedder

HOURS = 3_600.0
URL = "https://docs.github.com/rest"
THREADS = 8


def together(do: Any) -> list[Any]:
    """Run a function in eight threads at once; return the results."""
    barrier = Barrier(THREADS)

    def one(number: int) -> Any:
        barrier.wait()
        return do(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def test_a_document_is_stored_as_given(knowledge: Knowledge, clock: FakeClock) -> None:
    """Texts without control characters, tags once each, numbers and times unchanged."""
    written = knowledge.write(
        "  A\n title ", "line\n\x07line", agent="scout", tags=["API", "api", "x"], confidence=1, source_url=URL,
        expires_at=clock.now + 5,
    )  # fmt: skip
    document = knowledge.get(written.id)
    assert document == written.document
    assert document is not None
    assert (document.title, document.content, document.tags) == ("A title", "line\nline", ("API", "x"))
    assert (document.confidence, document.agent, document.source_url) == (1.0, "scout", URL)
    assert (document.created_at, document.updated_at, document.expires_at) == (clock.now, clock.now, clock.now + 5)


def test_a_refresh_renews_the_lifetime(knowledge: Knowledge, clock: FakeClock) -> None:
    """Without a lifetime, the document's own starts again; only the version changes."""
    created = knowledge.write("one", "1", ttl_hours=10).document
    assert created is not None
    clock.advance(9 * HOURS)
    refreshed = knowledge.write(id=created.id).document
    assert refreshed is not None
    assert (refreshed.created_at, refreshed.updated_at) == (created.created_at, clock.now)
    assert refreshed.expires_at == clock.now + 10 * HOURS
    assert (refreshed.title, refreshed.content, refreshed.version) == ("one", "1", 2)
    clock.advance(1_000 * HOURS)
    assert knowledge.write(id=created.id, ttl_hours=1).document.expires_at == clock.now + HOURS  # type: ignore[union-attr]


def test_the_lifetime_has_a_default(store: Store, clock: FakeClock) -> None:
    """Thirty days, or that of the service."""
    for given, hours in (({}, 720), ({"ttl_hours": 2}, 2)):
        made = Knowledge(store, WordEmbedder(), clock=clock, **given).write("one", "1").document
        assert made is not None
        assert made.expires_at == clock.now + hours * HOURS


@pytest.mark.parametrize("told", ["2023-11-15T00:13:20+02:00", "2023-11-14 22:13:20.000001", "2023-11-14T22:13:21Z"])
def test_an_expiry_may_be_a_date(knowledge: Knowledge, told: str) -> None:
    """ISO 8601 with any offset, UTC without one. A past time is refused."""
    if "+02" in told:
        with pytest.raises(InvalidInput, match="in the future"):
            knowledge.write("one", "1", expires_at=told)
    else:
        assert knowledge.write("one", "1", expires_at=told).outcome == "created"


def test_an_update_changes_only_given_fields(knowledge: Knowledge) -> None:
    """Tags, agent and URL may be emptied, title and content may not."""
    written = knowledge.write("one", "1", agent="scout", tags=["a"], source_url=URL, confidence=0.9)
    updated = knowledge.write("two", id=written.id).document
    assert updated is not None
    assert (updated.title, updated.content, updated.agent, updated.tags) == ("two", "1", "scout", ("a",))
    emptied = knowledge.write(id=written.id, agent="", tags=[], source_url="").document
    assert emptied is not None
    assert (emptied.agent, emptied.tags, emptied.source_url, emptied.confidence) == ("", (), "", 0.9)
    assert knowledge.write("three", "3", source_url=URL).outcome == "created"
    for nothing in ({"title": " "}, {"content": "\x07"}):
        with pytest.raises(InvalidInput, match="empty"):
            knowledge.write(id=written.id, **nothing)


def test_a_new_title_is_found_and_the_old_one_is_not(knowledge: Knowledge) -> None:
    """The vector changes with the title."""
    written = knowledge.write("redis eviction policies", "lru")
    knowledge.write("nginx proxy timeouts", id=written.id)
    assert knowledge.lookup("nginx proxy timeouts").hit
    assert not knowledge.lookup("redis eviction policies").hit


def test_history_keeps_every_version(knowledge: Knowledge) -> None:
    """The present one first, each unchanged."""
    written = knowledge.write("one", "1")
    for content in ("2", "3"):
        knowledge.write(id=written.id, content=content)
    assert [(each.version, each.content) for each in knowledge.history(written.id)] == [(3, "3"), (2, "2"), (1, "1")]


def test_history_is_bounded(knowledge: Knowledge, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last versions of a document are kept."""
    monkeypatch.setattr(writing_module, "KEPT_VERSIONS", 3)
    written = knowledge.write("one", "1")
    for _ in range(6):
        clock.advance(1)
        knowledge.write(id=written.id)
    assert [each.version for each in knowledge.history(written.id)] == [7, 6, 5]


def test_a_crash_before_the_swap_loses_nothing(
    knowledge: Knowledge, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version to be replaced is already in the history, and is not listed twice."""
    written = knowledge.write("one", "1")

    def die(*_args: Any, **_named: Any) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store.rows, "swap", die)
        with pytest.raises(KeyboardInterrupt):
            knowledge.write(id=written.id, content="2")
    assert [each.version for each in knowledge.history(written.id)] == [1]
    assert knowledge.write(id=written.id, content="3").version == 2
    assert [each.content for each in knowledge.history(written.id)] == ["3", "1"]


def test_a_document_deleted_during_an_update_leaves_no_history(
    knowledge: Knowledge, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The history written by the update is deleted, and the update reports an unknown id."""
    written = knowledge.write("one", "1")
    swap = store.rows.swap

    def delete_first(*args: Any, **named: Any) -> bool:
        store.rows.delete(KNOWLEDGE, "default", [written.id])
        return swap(*args, **named)

    monkeypatch.setattr(store.rows, "swap", delete_first)
    with pytest.raises(InvalidInput, match="no document"):
        knowledge.write(id=written.id, content="2")
    assert list(store.listings.scan(KNOWLEDGE_HISTORY, "default")) == []


def test_one_url_has_one_document(knowledge: Knowledge) -> None:
    """Creating a second one, or moving another document to the URL, names the first and changes nothing."""
    owner = knowledge.write("one", "1", source_url=URL)
    other = knowledge.write("two", "2", source_url=f"{URL}/other")
    for outcome in (
        knowledge.write("again", "1", source_url=f"{URL}/?utm_source=x"),
        knowledge.write(id=other.id, source_url=URL, content="changed"),
    ):
        assert (outcome.outcome, outcome.id, outcome.version, outcome.document) == ("duplicate", owner.id, 1, None)
    assert knowledge.get(other.id) == other.document
    assert len(knowledge.list()) == 2
    assert knowledge.write(id=owner.id, source_url=f"{URL}/").outcome == "updated"


def test_one_of_several_threads_creates_the_document_of_a_url(knowledge: Knowledge) -> None:
    """The others get its id."""
    for round_ in range(5):
        url = f"{URL}/{round_}"
        written = together(lambda n, url=url: knowledge.write(f"title {n}", "1", source_url=url))
        assert sorted(each.outcome for each in written) == ["created"] + ["duplicate"] * (THREADS - 1)
        assert len({each.id for each in written}) == 1
    assert len(knowledge.list(100)) == 5


def _write_urls(path: Path) -> list[tuple[str, str]]:
    store = SqliteStore(path)
    try:
        knowledge = Knowledge(store, WordEmbedder())
        written = [knowledge.write("title", "1", source_url=f"{URL}/{number}") for number in range(20)]
        return [(each.outcome, each.id) for each in written]
    finally:
        store.close()


@pytest.mark.slow
def test_one_of_several_processes_creates_the_document_of_a_url(tmp_path: Path) -> None:
    """Four processes write the same twenty URLs: twenty documents, and all get their ids."""
    path = tmp_path / "team.db"
    SqliteStore(path).close()
    with get_context("spawn").Pool(4) as pool:
        told = pool.map(_write_urls, [path] * 4, chunksize=1)
    for of_one_url in zip(*told, strict=True):
        assert sorted(outcome for outcome, _ in of_one_url) == ["created", "duplicate", "duplicate", "duplicate"]
        assert len({document_id for _, document_id in of_one_url}) == 1


def test_the_first_row_stays_if_two_hold_one_lock(
    knowledge: Knowledge, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the lock admits two at once, one URL has one document."""
    put, written = store.rows.put, []

    def another_first(*args: Any, **named: Any) -> None:
        monkeypatch.setattr(store.rows, "put", put)
        monkeypatch.setattr(knowledge._writer, "_alone", lambda _: nullcontext())
        written.append(knowledge.write("first", "1", source_url=URL))
        put(*args, **named)

    monkeypatch.setattr(store.rows, "put", another_first)
    second = knowledge.write("second", "2", source_url=URL)
    assert (written[0].outcome, second.outcome, second.id) == ("created", "duplicate", written[0].id)
    assert [each.title for each in knowledge.list()] == ["first"]


def test_another_version_is_a_conflict(knowledge: Knowledge) -> None:
    """The result has the present version, and nothing changes."""
    written = knowledge.write("one", "1")
    assert knowledge.write(id=written.id, content="2", version=1).outcome == "updated"
    conflict = knowledge.write(id=written.id, content="3", version=1)
    assert (conflict.outcome, conflict.id, conflict.version) == ("version_conflict", written.id, 2)
    assert [each.content for each in knowledge.history(written.id)] == ["2", "1"]


def test_one_of_several_updates_of_a_version_succeeds(knowledge: Knowledge) -> None:
    """The others get a conflict and store nothing."""
    written = knowledge.write("one", "1")
    outcomes = together(lambda n: knowledge.write(id=written.id, content=f"by {n}", version=1))
    assert sorted(each.outcome for each in outcomes) == ["updated"] + ["version_conflict"] * (THREADS - 1)
    assert [each.version for each in knowledge.history(written.id)] == [2, 1]


def test_simultaneous_updates_without_a_version_are_all_kept(knowledge: Knowledge) -> None:
    """Each continues from the one before, and the history has all of them."""
    written = knowledge.write("one", "first")
    outcomes = together(lambda n: knowledge.write(id=written.id, content=f"by {n}"))
    assert sorted(each.version for each in outcomes) == list(range(2, THREADS + 2))
    history = knowledge.history(written.id)
    assert [each.version for each in history] == list(range(THREADS + 1, 0, -1))
    assert {each.content for each in history} == {"first", *(f"by {n}" for n in range(THREADS))}


@pytest.mark.parametrize(
    "wrong",
    [{"title": bad} for bad in (None, "", " ", "x" * 501, "a\0b", "\ud800", 7)]
    + [{"content": bad} for bad in (None, "", "\n", "x" * 200_001, "a\0b", "\udfff", b"x")]
    + [{"agent": bad} for bad in ("x" * 201, "a\0", 7)]
    + [{"tags": bad} for bad in ("api", [7], [""], ["x" * 51], [f"t{n}" for n in range(21)])]
    + [{"confidence": bad} for bad in (-0.1, 1.1, nan, inf, True, "1", 10**400)]
    + [{"source_url": bad} for bad in ("ftp://a.org", "not a url", "https://me:secret@a.org/", "x" * 10_001)]
    + [{"ttl_hours": bad} for bad in (0, -1, nan, inf, True, 1e9, 10**400)]
    + [{"expires_at": bad} for bad in (0, 1_600_000_000, nan, inf, True, 10**400, "tomorrow", "", "9999-01-01")]
    + [{"ttl_hours": 1, "expires_at": 1_700_000_100}, {"version": 1}]
    + [{"id": "0" * 32}, {"id": ""}, {"id": "0" * 32, "version": 0}, {"id": "0" * 32, "version": nan}],
    ids=lambda wrong: f"{next(iter(wrong))}={next(iter(wrong.values()))!r:.25}".encode("ascii", "replace").decode(),
)
def test_unusable_values_are_refused(wrong: dict[str, Any]) -> None:
    """A bound, an invalid number, an unknown id: one line, and nothing is written."""
    store = MemoryStore()
    with pytest.raises(InvalidInput) as raised:
        Knowledge(store, WordEmbedder(), clock=FakeClock()).write(**{"title": "one", "content": "1", **wrong})
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 300
    assert list(store.listings.scan(KNOWLEDGE, "default")) == []


def test_the_bounds_are_inclusive(knowledge: Knowledge) -> None:
    """A value of the maximum length is stored whole."""
    written = knowledge.write(
        "t" * 500, "ü" * 200_000, agent="a" * 200, tags=[f"{n:050}" for n in range(20)], ttl_hours=876_000,
        source_url="https://a.org/" + "x" * 9_986,
    )  # fmt: skip
    assert knowledge.get(written.id) == written.document


@pytest.mark.parametrize(
    "wrong", [{"tenant": " "}, {"ttl_hours": 0}, {"ttl_hours": nan}, {"floor": 1.1}, {"floor": nan}]
)
def test_the_defaults_of_a_service_are_checked(store: Store, wrong: dict[str, Any]) -> None:
    """Lifetime, floor and tenant, when the service is created."""
    with pytest.raises(InvalidInput):
        Knowledge(store, WordEmbedder(), **wrong)


def test_the_documented_example_runs() -> None:
    """With the real model."""
    assert doctest.testmod(module).failed == 0
