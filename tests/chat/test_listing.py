"""Listing and forgetting: ids, threads, sessions, what there is, and what goes."""

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn

import pytest

from harness.chat import Memory
from harness.core.freshness import DAY
from harness.errors import InvalidInput, StoreBusy, StoreError
from tests.chat.said import BEGAN, said
from tests.fakes import FakeClock, MemoryStore, WordEmbedder

Remembering = Callable[..., Memory]


def told(call: Callable[[], object]) -> str:
    """Return what is said when something is refused."""
    with pytest.raises(InvalidInput) as caught:
        call()
    return str(caught.value)


def test_a_thread_is_sorted_by_time(memory: Memory) -> None:
    """Over all its sessions, whatever the order of writing."""
    memory.writer.remember(said("e3", "three", at=20, session="s2", continuation=1))
    memory.writer.remember(said("e1", "one", at=0))
    memory.writer.remember(said("e2", "two", at=10))
    assert [each.id for each in memory.listing.thread("t1")] == ["e1", "e2", "e3"]


def test_the_beginning_of_an_id_tells_a_thread(memory: Memory) -> None:
    """If it is one thread's alone; a whole id wins over what begins with it."""
    for number, thread in enumerate(("abc1", "abc2", "abc")):
        memory.writer.remember(said(f"e{number}", "hello", thread=thread))
    assert [each.id for each in memory.listing.thread("abc1")] == ["e0"]
    assert [each.id for each in memory.listing.thread("abc")] == ["e2"]
    message = told(lambda: memory.listing.thread("ab"))
    assert "several threads" in message
    assert "abc, abc1, abc2" in message


@pytest.mark.parametrize("name", ["", " ", "unknown", "e1", "%", "*"])
def test_a_thread_that_does_not_exist_is_said_not_to(memory: Memory, name: str) -> None:
    """In words, with where to look."""
    memory.writer.remember(said("e1", "hello"))
    assert "harness memory threads" in told(lambda: memory.listing.thread(name))


@pytest.mark.parametrize("method", ["listing.get", "listing.session", "listing.find", "writer.delete"])
def test_an_unknown_id_is_reported(memory: Memory, method: str) -> None:
    """Every method that takes an id reports it; nothing changes."""
    memory.writer.remember(said("e1", "hello"))
    for unknown in ("unknown", "", "x" * 500):
        assert told(lambda unknown=unknown: attrgetter(method)(memory)(unknown))
    assert memory.listing.stats().total_exchanges == 1


def test_an_id_finds_what_it_stands_for(memory: Memory) -> None:
    """An exchange, a chunk, a document, a session, a thread or its beginning."""
    exchange = memory.writer.remember(said("e1", "hello", thread="thread-one", session="s1"))
    added = memory.writer.add_text("Otto", session_id="s2")
    (chunk,) = memory.listing.find(added.document_id)
    assert memory.listing.find("e1") == [exchange]
    assert memory.listing.find(chunk.id) == [chunk]
    assert memory.listing.find("s1") == [exchange]
    assert memory.listing.find("s2") == [chunk]
    assert memory.listing.find("thread-one") == memory.listing.find("thread-o") == [exchange]


def test_of_several_threads_find_says_which(memory: Memory) -> None:
    """The ambiguity is told, not that nothing is known."""
    for thread in ("abc1", "abc2"):
        memory.writer.remember(said(thread, "hello", thread=thread))
    memory.writer.delete("abc1")
    memory.writer.remember(said("e", "hello", thread="abc1"))
    memory.writer.delete("abc2")
    memory.writer.remember(said("f", "hello", thread="abc2"))
    assert "several threads" in told(lambda: memory.listing.find("ab"))


def test_threads_are_listed_the_last_used_first(memory: Memory) -> None:
    """With what was said first, how much, and how often it went on."""
    memory.writer.remember(said("e1", "what is a ferret?", thread="old", at=0))
    memory.writer.remember(said("e2", "who is Otto?", thread="new", at=10))
    memory.writer.remember(said("e3", "and his food?", thread="old", session="s2", at=20, continuation=1))
    memory.writer.add_text("no thread")
    old, new = memory.listing.threads()
    assert (old.id, old.title, old.exchanges, old.sessions, old.continuation) == ("old", "what is a ferret?", 2, 2, 1)
    assert (new.id, new.exchanges, new.continuation) == ("new", 1, 0)
    assert old.first < new.first < old.last
    assert [each.id for each in memory.listing.threads(1)] == ["old"]


def test_stats_count_what_there_is(memory: Memory) -> None:
    """Exchanges, threads, documents, and what keeps them."""
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


def test_what_is_deleted_is_gone(memory: Memory) -> None:
    """By its id, and from what is found; a document goes with all its chunks."""
    memory.writer.remember(said("e1", "ferret otto"))
    added = memory.writer.add_text("A sentence about ferrets. " * 200)
    assert memory.writer.delete("e1") == 1
    assert memory.writer.delete(added.document_id) == added.chunks > 1
    assert memory.search.query("ferret") == []
    assert told(lambda: memory.writer.delete("e1"))


def test_what_is_old_is_forgotten(memory: Memory, clock: FakeClock) -> None:
    """What is older than so many seconds, exchanges and documents; what is exactly so old stays."""
    for number in range(3):
        memory.writer.remember(said(f"e{number}", "hello", thread=f"t{number}", at=number * DAY))
    clock.now = BEGAN + 2 * DAY
    assert memory.writer.forget(older_than=DAY) == 1
    assert [each.id for each in memory.listing.threads()] == ["t2", "t1"]


def test_a_thread_is_forgotten_whole(memory: Memory) -> None:
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
def test_what_to_forget_must_be_plain(memory: Memory, how: dict[str, Any]) -> None:
    """Nothing, both, an age that is none, or a thread that is not there: nothing goes."""
    memory.writer.remember(said("e1", "hello"))
    assert told(lambda: memory.writer.forget(**how))
    assert memory.listing.stats().total_exchanges == 1


def test_what_waits_in_the_journal_is_forgotten_too(remembering: Remembering, journal: Path) -> None:
    """Or it would come back at the next start."""

    class Failing(MemoryStore):
        def put(self, *_: Any, **__: Any) -> NoReturn:
            raise StoreBusy("locked")

    with pytest.raises(StoreError):
        remembering(opens=Failing()).writer.remember(said("e1", "hello"))
    memory = remembering()
    assert memory.writer.forget(thread="t1") == 1
    assert not journal.exists()
    assert memory.listing.stats().total_exchanges == 0


def test_only_ones_own_is_forgotten(remembering: Remembering, clock: FakeClock) -> None:
    """No other tenant's, and no other collection's."""
    others = [remembering(tenant="ann"), remembering(collection_name="other")]
    for number, other in enumerate(others):
        other.writer.remember(said(f"e{number}", "hello"))
    clock.advance(DAY)
    memory = remembering()
    assert memory.writer.forget(older_than=1) == 0
    assert told(lambda: memory.writer.delete("e0"))
    assert told(lambda: memory.writer.delete("e1"))
    assert [other.listing.stats().total_exchanges for other in others] == [1, 1]


def test_a_memory_that_cannot_be_read_says_so(embedder: WordEmbedder) -> None:
    """A store that fails is an error, never an empty list."""

    def opens() -> NoReturn:
        raise StoreError("unable to open the database; check the folder")

    memory = Memory(opens, embedder)
    listing = memory.listing
    for call in (listing.threads, listing.stats, lambda: memory.listing.get("e1"), lambda: memory.search.query("x")):
        with pytest.raises(StoreError, match="unable to open"):
            call()
