"""Listing and deleting: ids, threads, sessions and statistics."""

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn

import pytest

from harness.chat import Memory
from harness.core.freshness import DAY
from harness.errors import InvalidInput, StoreBusy, StoreError
from tests.chat.said import BEGAN, said
from tests.fakes import FakeClock, WordEmbedder, refusing

Remembering = Callable[..., Memory]


def refusal(call: Callable[[], object]) -> str:
    """Return the message of the refused call."""
    with pytest.raises(InvalidInput) as caught:
        call()
    return str(caught.value)


def test_a_thread_is_sorted_by_time(memory: Memory) -> None:
    """Across all sessions, in any order of writing."""
    memory.writer.remember(said("e3", "three", at=20, session="s2", continuation=1))
    memory.writer.remember(said("e1", "one", at=0))
    memory.writer.remember(said("e2", "two", at=10))
    assert [each.id for each in memory.listing.thread("t1")] == ["e1", "e2", "e3"]


def test_a_unique_prefix_selects_a_thread(memory: Memory) -> None:
    """A whole id wins over ids that it is a prefix of."""
    for number, thread in enumerate(("abc1", "abc2", "abc")):
        memory.writer.remember(said(f"e{number}", "hello", thread=thread))
    assert [each.id for each in memory.listing.thread("abc1")] == ["e0"]
    assert [each.id for each in memory.listing.thread("abc")] == ["e2"]
    message = refusal(lambda: memory.listing.thread("ab"))
    assert "several threads" in message
    assert "abc, abc1, abc2" in message


@pytest.mark.parametrize("name", ["", " ", "unknown", "e1", "%", "*"])
def test_an_unknown_thread_is_reported(memory: Memory, name: str) -> None:
    """The message names the command that lists threads."""
    memory.writer.remember(said("e1", "hello"))
    assert "harness memory threads" in refusal(lambda: memory.listing.thread(name))


@pytest.mark.parametrize("method", ["listing.get", "listing.session", "listing.find", "writer.delete"])
def test_an_unknown_id_is_reported(memory: Memory, method: str) -> None:
    """Every method that takes an id reports it; nothing changes."""
    memory.writer.remember(said("e1", "hello"))
    for unknown in ("unknown", "", "x" * 500):
        assert refusal(lambda unknown=unknown: attrgetter(method)(memory)(unknown))
    assert memory.listing.stats().total_exchanges == 1


def test_an_id_finds_its_memories(memory: Memory) -> None:
    """An exchange, a chunk, a document, a session, a thread or its prefix."""
    exchange = memory.writer.remember(said("e1", "hello", thread="thread-one", session="s1"))
    added = memory.writer.add_text("Otto", session_id="s2")
    (chunk,) = memory.listing.find(added.document_id)
    assert memory.listing.find("e1") == [exchange]
    assert memory.listing.find(chunk.id) == [chunk]
    assert memory.listing.find("s1") == [exchange]
    assert memory.listing.find("s2") == [chunk]
    assert memory.listing.find("thread-one") == memory.listing.find("thread-o") == [exchange]


def test_find_names_the_threads_of_an_ambiguous_prefix(memory: Memory) -> None:
    """The error reports the ambiguity, not an unknown id."""
    for thread in ("abc1", "abc2"):
        memory.writer.remember(said(thread, "hello", thread=thread))
    memory.writer.delete("abc1")
    memory.writer.remember(said("e", "hello", thread="abc1"))
    memory.writer.delete("abc2")
    memory.writer.remember(said("f", "hello", thread="abc2"))
    assert "several threads" in refusal(lambda: memory.listing.find("ab"))


def test_threads_are_listed_the_last_used_first(memory: Memory) -> None:
    """With the first message, the number of exchanges and of sessions."""
    memory.writer.remember(said("e1", "what is a ferret?", thread="old", at=0))
    memory.writer.remember(said("e2", "who is Otto?", thread="new", at=10))
    memory.writer.remember(said("e3", "and his food?", thread="old", session="s2", at=20, continuation=1))
    memory.writer.add_text("no thread")
    old, new = memory.listing.threads()
    assert (old.id, old.title, old.exchanges, old.sessions, old.continuation) == ("old", "what is a ferret?", 2, 2, 1)
    assert (new.id, new.exchanges, new.continuation) == ("new", 1, 0)
    assert old.first < new.first < old.last
    assert [each.id for each in memory.listing.threads(1)] == ["old"]


def test_stats_count_the_memories(memory: Memory) -> None:
    """Exchanges, threads, documents, and the store and model."""
    memory.writer.remember(said("e1", "hello", thread="t1"))
    memory.writer.remember(said("e2", "hello", thread="t2", at=10))
    memory.writer.add_text("Otto")
    stats = memory.listing.stats()
    assert (stats.total_exchanges, stats.threads, stats.sessions) == (2, 2, 1)
    assert (stats.documents, stats.document_chunks, stats.not_embedded) == (1, 1, 0)
    assert (stats.store_path, stats.embedding_model, stats.embedding_dimension) == ("here", "words-64", 64)
    assert not stats.waiting
    assert stats.oldest is not None
    assert stats.newest is not None
    assert stats.oldest < stats.newest


def test_a_deleted_memory_is_gone(memory: Memory) -> None:
    """By id and from searches; a document with all its chunks."""
    memory.writer.remember(said("e1", "ferret otto"))
    added = memory.writer.add_text("A sentence about ferrets. " * 200)
    assert memory.writer.delete("e1") == 1
    assert memory.writer.delete(added.document_id) == added.chunks > 1
    assert memory.search.query("ferret") == []
    assert refusal(lambda: memory.writer.delete("e1"))


def test_old_memories_are_forgotten(memory: Memory, clock: FakeClock) -> None:
    """Exchanges and documents older than the age; those exactly as old stay."""
    for number in range(3):
        memory.writer.remember(said(f"e{number}", "hello", thread=f"t{number}", at=number * DAY))
    clock.now = BEGAN + 2 * DAY
    assert memory.writer.forget(older_than=DAY) == 1
    assert [each.id for each in memory.listing.threads()] == ["t2", "t1"]


def test_a_whole_thread_is_forgotten(memory: Memory) -> None:
    """All its sessions, and no other thread."""
    memory.writer.remember(said("e1", "hello", thread="one"))
    memory.writer.remember(said("e2", "hello", thread="one", session="s2"))
    memory.writer.remember(said("e3", "hello", thread="two"))
    assert memory.writer.forget(thread="on") == 2
    assert [each.id for each in memory.listing.threads()] == ["two"]


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"older_than": 1.0, "thread": "t1"},
        {"older_than": -1.0},
        {"older_than": float("nan")},
        {"thread": "unknown"},
        {"thread": ""},
    ],
)
def test_what_to_forget_must_be_clear(memory: Memory, how: dict[str, Any]) -> None:
    """No argument, both, a negative age, or an unknown thread: nothing is deleted."""
    memory.writer.remember(said("e1", "hello"))
    assert refusal(lambda: memory.writer.forget(**how))
    assert memory.listing.stats().total_exchanges == 1


def test_memories_in_the_journal_are_forgotten_too(remembering: Remembering, journal: Path) -> None:
    """Otherwise they would return at the next start."""
    failing = refusing(StoreBusy("locked"), "rows.put")
    with pytest.raises(StoreError):
        remembering(opens=failing).writer.remember(said("e1", "hello"))
    memory = remembering()
    assert memory.writer.forget(thread="t1") == 1
    assert not journal.exists()
    assert memory.listing.stats().total_exchanges == 0


def test_only_own_memories_are_forgotten(remembering: Remembering, clock: FakeClock) -> None:
    """Other tenants and collections are unchanged."""
    others = [remembering(tenant="ann"), remembering(collection_name="other")]
    for number, other in enumerate(others):
        other.writer.remember(said(f"e{number}", "hello"))
    clock.advance(DAY)
    memory = remembering()
    assert memory.writer.forget(older_than=1) == 0
    assert refusal(lambda: memory.writer.delete("e0"))
    assert refusal(lambda: memory.writer.delete("e1"))
    assert [other.listing.stats().total_exchanges for other in others] == [1, 1]


def test_an_unreadable_memory_is_an_error(embedder: WordEmbedder) -> None:
    """A failing store never gives an empty list."""

    def opens() -> NoReturn:
        raise StoreError("unable to open the database; check the folder")

    memory = Memory(opens, embedder)
    listing = memory.listing
    for call in (listing.threads, listing.stats, lambda: memory.listing.get("e1"), lambda: memory.search.query("x")):
        with pytest.raises(StoreError, match="unable to open"):
            call()
