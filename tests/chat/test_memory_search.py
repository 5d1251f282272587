"""Search of memories, for a text and for a message in its conversation."""

from collections.abc import Callable

import pytest

from harness.chat import Exchange, Memory
from harness.chat.memory_search import MemorySearch
from harness.chat.strategies import STRATEGIES, Query, RankedMemory, Searchable
from harness.core.freshness import DAY
from harness.errors import InvalidInput
from harness.ports import Store
from tests.chat.said import BEGAN, said
from tests.fakes import FakeClock

Remembering = Callable[..., Memory]
EVERY = ("default", "dynamic", "hybrid")


def ids(memory: Memory, message: str, earlier: tuple[Exchange, ...] = ()) -> list[str]:
    """Return the ids found for a message, best first."""
    return [match.remembered.id for match in memory.search.context_for(message, earlier)]


@pytest.mark.parametrize("strategy", EVERY)
def test_an_exchange_of_another_conversation_is_found(remembering: Remembering, strategy: str) -> None:
    """By every strategy, with its similarity to the question."""
    memory = remembering(retrieval_strategy=strategy, similarity_threshold=0.3, dynamic_threshold=(0.3, 0.4))
    memory.writer.remember(said("e1", "ferret otto", thread="t1"))
    memory.writer.remember(said("e2", "weather rain", thread="t2", session="s2"))
    (match,) = memory.search.context_for("ferret otto")
    assert match.remembered.id == "e1"
    assert 0.5 < match.similarity < 1


class _Everything:
    """A third-party strategy that returns every memory."""

    def retrieve(self, query: Query, memories: Searchable) -> list[RankedMemory]:
        """See `RetrievalStrategy.retrieve`."""
        return [RankedMemory(each.key, 1.0, None) for each in memories.nearest(query.vector, query.k)]


@pytest.mark.parametrize("strategy", [*EVERY, "everything"])
def test_a_memory_below_the_similarity_floor_is_not_found(
    remembering: Remembering, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    """With any strategy, even right after a matching exchange; without a floor it may be."""
    monkeypatch.setattr(
        "harness.chat.strategies.STRATEGIES", {**STRATEGIES, "everything": lambda settings: _Everything()}
    )
    how = {"retrieval_strategy": strategy, "similarity_threshold": 0.0, "dynamic_threshold": (0.0, 0.0)}
    memory = remembering(**how)
    memory.writer.remember(said("asked", "ferret otto"))
    memory.writer.remember(said("unrelated", "weather rain", at=1))
    assert ids(memory, "ferret otto") == ["asked"]
    assert ids(remembering(similarity_floor=0.0, **how), "ferret otto") == ["asked", "unrelated"]


def test_a_rare_word_is_found_below_the_floor(remembering: Remembering) -> None:
    """A memory with the question's rarest word and most others is found, however long it is."""
    memory = remembering(similarity_floor=0.9)
    memory.writer.remember(said("named", "ticket zzyzx4711 is about weather, rain, snow, hail, wind and my uncle"))
    memory.writer.remember(said("other", "ticket office opens at nine", session="s2", thread="t2"))
    assert ids(memory, "what about ticket zzyzx4711") == ["named"]


def test_a_query_finds_weak_matches_too(memory: Memory) -> None:
    """`k` memories of every kind, best first."""
    memory.writer.remember(said("e1", "ferret otto"))
    memory.writer.remember(said("e2", "weather rain"))
    memory.writer.add_text("ferret food")
    found = memory.search.query("ferret", 3)
    assert {match.remembered.id for match in found[:2]} >= {"e1"}
    assert found[-1].remembered.id == "e2"
    assert [match.score for match in found] == sorted((match.score for match in found), reverse=True)
    assert len(memory.search.query("ferret", 2)) == 2


@pytest.mark.parametrize(("text", "k"), [("", 5), (" \n", 5), ("ferret", 0), ("ferret", 101)])
def test_an_unusable_query_is_refused(memory: Memory, text: str, k: int) -> None:
    """No text, or an impossible number of results."""
    with pytest.raises(InvalidInput):
        memory.search.query(text, k)


def test_an_empty_memory_finds_nothing(memory: Memory) -> None:
    """An empty result is not an error."""
    assert memory.search.query("ferret") == []
    assert memory.search.context_for("ferret") == []


def test_a_follow_up_is_found_by_its_context(remembering: Remembering) -> None:
    """Words that are unclear alone find their subject with the earlier messages."""
    memory = remembering(retrieval_strategy="default", similarity_threshold=0.0)
    memory.writer.remember(said("cancer", "throat cancer treatable therapy"))
    memory.writer.remember(said("paint", "walls treatable paint"))
    earlier = (said("now", "throat cancer", "serious cancer throat", thread="t9", session="s9"),)
    assert ids(memory, "is it treatable", earlier)[0] == "cancer"
    alone = remembering(retrieval_strategy="default", similarity_threshold=0.0, search_context_window=0)
    assert ids(alone, "is it treatable", earlier)[0] == "paint"


def test_only_the_last_exchanges_are_the_context(remembering: Remembering) -> None:
    """As many as the window has."""
    memory = remembering(search_context_window=1, retrieval_strategy="default", similarity_threshold=0.0)
    memory.writer.remember(said("e1", "ferret ferret ferret"))
    memory.writer.remember(said("e2", "badger badger badger"))
    earlier = (said("n1", "ferret ferret"), said("n2", "badger badger"))
    assert ids(memory, "tell more", earlier)[0] == "e2"
    assert ids(memory, "tell more", earlier[::-1])[0] == "e1"


def test_exchanges_of_the_conversation_are_not_found_again(memory: Memory) -> None:
    """Unless `shown` leaves them out; and found memories are not stored again."""
    exchange = memory.writer.remember(said("e1", "ferret otto"))
    assert ids(memory, "ferret otto", (exchange,)) == []
    assert [match.remembered.id for match in memory.search.context_for("ferret otto", (exchange,), shown=())] == ["e1"]
    assert memory.listing.stats().total_exchanges == 1


def test_the_settings_limit_the_results(remembering: Remembering) -> None:
    """At most `context_results`; none with 0."""
    for number in range(9):
        remembering().writer.remember(said(f"e{number}", "ferret otto", at=number))
    assert len(ids(remembering(), "ferret otto")) == 5
    assert len(ids(remembering(context_results=2), "ferret otto")) == 2
    assert ids(remembering(context_results=0), "ferret otto") == []


def test_the_newer_of_equals_comes_first(memory: Memory, clock: FakeClock) -> None:
    """Hybrid prefers the latest."""
    memory.writer.remember(said("old", "ferret otto", session="a"))
    memory.writer.remember(said("new", "ferret otto", session="b", at=400 * DAY))
    clock.now = BEGAN + 401 * DAY
    assert ids(memory, "ferret otto") == ["new", "old"]


def test_a_memory_found_only_by_words_has_a_similarity(
    remembering: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is computed from the row, which the vector search did not return."""
    monkeypatch.setattr("harness.chat.strategies.POOL", 1)
    memory = remembering()
    memory.writer.remember(said("near", "ferret ferret ferret ferret"))
    memory.writer.remember(said("far", "ferret zzyzx plays chess with my uncle in winter"))
    far = next(match for match in memory.search.query("ferret zzyzx", 5) if match.remembered.id == "far")
    assert 0 < far.similarity < 1


def test_a_memory_deleted_by_another_process_is_not_found(remembering: Remembering) -> None:
    """The word index may be outdated; the results are not."""
    one, other = remembering(), remembering()
    one.writer.remember(said("e1", "ferret otto"))
    assert ids(one, "ferret otto") == ["e1"]
    other.writer.delete("e1")
    assert ids(one, "ferret otto") == []


def test_a_memory_of_another_process_is_found(remembering: Remembering) -> None:
    """At the next search."""
    one, other = remembering(), remembering()
    assert ids(one, "ferret otto") == []
    other.writer.remember(said("e1", "ferret otto"))
    assert ids(one, "ferret otto") == ["e1"]


def test_tenants_and_collections_are_separate(remembering: Remembering) -> None:
    """By vector and by words."""
    remembering(tenant="ann").writer.remember(said("e1", "ferret otto"))
    remembering(collection_name="other").writer.remember(said("e2", "ferret otto"))
    memory = remembering()
    assert memory.search.query("ferret otto") == []
    assert memory.listing.stats().total_exchanges == 0


def test_a_damaged_row_is_skipped(memory: Memory, store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """With a warning; the others are found."""
    from msgspec.structs import replace

    memory.writer.remember(said("e1", "ferret otto"))
    memory.writer.remember(said("e2", "ferret otto"))
    (row,) = [row for row in store.scan("memory", "default") if row.key == "e1"]
    store.put("memory", "default", replace(row, payload=b"{}"))
    assert ids(memory, "ferret otto") == ["e2"]
    assert "e1 is damaged" in caplog.text


def test_a_failing_third_party_strategy_is_a_typed_error(
    remembering: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its name, so that the conversation continues without memories."""

    class Broken:
        def retrieve(self, query: object, memories: object) -> object:
            raise KeyError("oops")

    broken = remembering(retrieval_strategy="theirs")
    monkeypatch.setattr(MemorySearch, "_strategy", Broken())
    with pytest.raises(InvalidInput, match=r"'theirs' failed \(KeyError"):
        broken.search.context_for("ferret")
