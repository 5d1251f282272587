"""Listing and forgetting: ids, threads, sessions, what there is, and what goes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from harness.chat import Memory
from harness.core.freshness import DAY
from harness.errors import InvalidInput, StoreBusy, StoreError
from tests.chat.said import BEGAN, said
from tests.fakes import FakeClock, WordEmbedder, refusing

Remembering = Callable[..., Memory]


def told(call: Callable[[], object]) -> str:
    """Return what is said when something is refused."""
    with pytest.raises(InvalidInput) as caught:
        call()
    return str(caught.value)


def test_a_thread_is_sorted_by_time(memory: Memory) -> None:
    """Over all its sessions, whatever the order of writing."""
    memory.remember(said("e3", "three", at=20, session="s2", continuation=1))
    memory.remember(said("e1", "one", at=0))
    memory.remember(said("e2", "two", at=10))
    assert [each.id for each in memory.thread("t1")] == ["e1", "e2", "e3"]


def test_the_beginning_of_an_id_tells_a_thread(memory: Memory) -> None:
    """If it is one thread's alone; a whole id wins over what begins with it."""
    for number, thread in enumerate(("abc1", "abc2", "abc")):
        memory.remember(said(f"e{number}", "hello", thread=thread))
    assert [each.id for each in memory.thread("abc1")] == ["e0"]
    assert [each.id for each in memory.thread("abc")] == ["e2"]
    message = told(lambda: memory.thread("ab"))
    assert "several threads" in message
    assert "abc, abc1, abc2" in message


@pytest.mark.parametrize("name", ["", " ", "unknown", "e1", "%", "*"])
def test_a_thread_that_does_not_exist_is_said_not_to(memory: Memory, name: str) -> None:
    """In words, with where to look."""
    memory.remember(said("e1", "hello"))
    assert "harness memory threads" in told(lambda: memory.thread(name))


@pytest.mark.parametrize("what", ["get", "session", "find", "delete"])
def test_an_unknown_id_is_said_to_be_unknown(memory: Memory, what: str) -> None:
    """By every method that takes one; nothing changes."""
    memory.remember(said("e1", "hello"))
    for unknown in ("unknown", "", "x" * 500):
        assert told(lambda unknown=unknown: getattr(memory, what)(unknown))
    assert memory.stats().total_exchanges == 1


def test_an_id_finds_what_it_stands_for(memory: Memory) -> None:
    """An exchange, a chunk, a document, a session, a thread or its beginning."""
    exchange = memory.remember(said("e1", "hello", thread="thread-one", session="s1"))
    added = memory.add_text("Otto", session_id="s2")
    (chunk,) = memory.find(added.document_id)
    assert memory.find("e1") == [exchange]
    assert memory.find(chunk.id) == [chunk]
    assert memory.find("s1") == [exchange]
    assert memory.find("s2") == [chunk]
    assert memory.find("thread-one") == memory.find("thread-o") == [exchange]


def test_of_several_threads_find_says_which(memory: Memory) -> None:
    """The ambiguity is told, not that nothing is known."""
    for thread in ("abc1", "abc2"):
        memory.remember(said(thread, "hello", thread=thread))
    memory.delete("abc1")
    memory.remember(said("e", "hello", thread="abc1"))
    memory.delete("abc2")
    memory.remember(said("f", "hello", thread="abc2"))
    assert "several threads" in told(lambda: memory.find("ab"))


def test_threads_are_listed_the_last_used_first(memory: Memory) -> None:
    """With what was said first, how much, and how often it went on."""
    memory.remember(said("e1", "what is a ferret?", thread="old", at=0))
    memory.remember(said("e2", "who is Otto?", thread="new", at=10))
    memory.remember(said("e3", "and his food?", thread="old", session="s2", at=20, continuation=1))
    memory.add_text("no thread")
    old, new = memory.threads()
    assert (old.id, old.title, old.exchanges, old.sessions, old.continuation) == ("old", "what is a ferret?", 2, 2, 1)
    assert (new.id, new.exchanges, new.continuation) == ("new", 1, 0)
    assert old.first < new.first < old.last
    assert [each.id for each in memory.threads(1)] == ["old"]


def test_stats_count_what_there_is(memory: Memory) -> None:
    """Exchanges, threads, documents, and what keeps them."""
    memory.remember(said("e1", "hello", thread="t1"))
    memory.remember(said("e2", "hello", thread="t2", at=10))
    memory.add_text("Otto")
    stats = memory.stats()
    assert (stats.total_exchanges, stats.threads, stats.sessions) == (2, 2, 1)
    assert (stats.documents, stats.document_chunks, stats.not_embedded) == (1, 1, 0)
    assert (stats.store_path, stats.embedding_model, stats.embedding_dimension) == ("here", "words-64", 64)
    assert not stats.waiting
    assert stats.oldest is not None
    assert stats.newest is not None
    assert stats.oldest < stats.newest


def test_what_is_deleted_is_gone(memory: Memory) -> None:
    """By its id, and from what is found; a document goes with all its chunks."""
    memory.remember(said("e1", "ferret otto"))
    added = memory.add_text("A sentence about ferrets. " * 200)
    assert memory.delete("e1") == 1
    assert memory.delete(added.document_id) == added.chunks > 1
    assert memory.query("ferret") == []
    assert told(lambda: memory.delete("e1"))


def test_what_is_old_is_forgotten(memory: Memory, clock: FakeClock) -> None:
    """What is older than so many seconds, exchanges and documents; what is exactly so old stays."""
    for number in range(3):
        memory.remember(said(f"e{number}", "hello", thread=f"t{number}", at=number * DAY))
    clock.now = BEGAN + 2 * DAY
    assert memory.forget(older_than=DAY) == 1
    assert [each.id for each in memory.threads()] == ["t2", "t1"]


def test_a_thread_is_forgotten_whole(memory: Memory) -> None:
    """All its sessions, and no other thread."""
    memory.remember(said("e1", "hello", thread="one"))
    memory.remember(said("e2", "hello", thread="one", session="s2"))
    memory.remember(said("e3", "hello", thread="two"))
    assert memory.forget(thread="on") == 2
    assert [each.id for each in memory.threads()] == ["two"]


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
    memory.remember(said("e1", "hello"))
    assert told(lambda: memory.forget(**how))
    assert memory.stats().total_exchanges == 1


def test_what_waits_in_the_journal_is_forgotten_too(remembering: Remembering, journal: Path) -> None:
    """Or it would come back at the next start."""
    failing = refusing(StoreBusy("locked"), "rows.put")
    with pytest.raises(StoreError):
        remembering(opens=failing).remember(said("e1", "hello"))
    memory = remembering()
    assert memory.forget(thread="t1") == 1
    assert not journal.exists()
    assert memory.stats().total_exchanges == 0


def test_only_ones_own_is_forgotten(remembering: Remembering, clock: FakeClock) -> None:
    """No other tenant's, and no other collection's."""
    others = [remembering(tenant="ann"), remembering(collection_name="other")]
    for number, other in enumerate(others):
        other.remember(said(f"e{number}", "hello"))
    clock.advance(DAY)
    memory = remembering()
    assert memory.forget(older_than=1) == 0
    assert told(lambda: memory.delete("e0"))
    assert told(lambda: memory.delete("e1"))
    assert [other.stats().total_exchanges for other in others] == [1, 1]


def test_a_memory_that_cannot_be_read_says_so(embedder: WordEmbedder) -> None:
    """A store that fails is an error, never an empty list."""

    def opens() -> NoReturn:
        raise StoreError("unable to open the database; check the folder")

    memory = Memory(opens, embedder)
    for call in (memory.threads, memory.stats, lambda: memory.get("e1"), lambda: memory.query("x")):
        with pytest.raises(StoreError, match="unable to open"):
            call()
