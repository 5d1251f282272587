"""Finding: what fits a text, and what fits what is being talked about."""

from collections.abc import Callable

import pytest

from harness.chat import Exchange, Memory
from harness.chat.strategies import STRATEGIES, Query, Ranked, Searchable
from harness.core.freshness import DAY
from harness.errors import InvalidInput
from harness.ports import Store
from tests.chat.said import BEGAN, said
from tests.fakes import FakeClock

Remembering = Callable[..., Memory]
EVERY = ("default", "dynamic", "hybrid")


def ids(memory: Memory, message: str, earlier: tuple[Exchange, ...] = ()) -> list[str]:
    """Return what is found for a message, best first."""
    return [match.remembered.id for match in memory.context_for(message, earlier)]


@pytest.mark.parametrize("strategy", EVERY)
def test_what_was_said_in_another_conversation_is_found(remembering: Remembering, strategy: str) -> None:
    """By every strategy, with its similarity to what was asked."""
    memory = remembering(retrieval_strategy=strategy, similarity_threshold=0.3, dynamic_threshold=(0.3, 0.4))
    memory.remember(said("e1", "ferret otto", thread="t1"))
    memory.remember(said("e2", "weather rain", thread="t2", session="s2"))
    (match,) = memory.context_for("ferret otto")
    assert match.remembered.id == "e1"
    assert 0.5 < match.similarity < 1


class _Everything:
    """A strategy of a package that returns every memory."""

    def retrieve(self, query: Query, memories: Searchable) -> list[Ranked]:
        """See `RetrievalStrategy.retrieve`."""
        return [Ranked(each.key, 1.0, None) for each in memories.nearest(query.vector, query.k)]


@pytest.mark.parametrize("strategy", [*EVERY, "everything"])
def test_what_is_below_the_floor_of_similarity_is_not_found(
    remembering: Remembering, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    """Whichever strategy chose it, and though it follows the exchange that fits; with no floor it may be."""
    monkeypatch.setattr(
        "harness.chat.strategies.STRATEGIES", {**STRATEGIES, "everything": lambda settings: _Everything()}
    )
    how = {"retrieval_strategy": strategy, "similarity_threshold": 0.0, "dynamic_threshold": (0.0, 0.0)}
    memory = remembering(**how)
    memory.remember(said("asked", "ferret otto"))
    memory.remember(said("unrelated", "weather rain", at=1))
    assert ids(memory, "ferret otto") == ["asked"]
    assert ids(remembering(similarity_floor=0.0, **how), "ferret otto") == ["asked", "unrelated"]


def test_a_rare_word_is_found_below_the_floor(remembering: Remembering) -> None:
    """A memory that has the question's rarest word and most others is found, however much else it says."""
    memory = remembering(similarity_floor=0.9)
    memory.remember(said("named", "ticket zzyzx4711 is about weather, rain, snow, hail, wind and my uncle"))
    memory.remember(said("other", "ticket office opens at nine", session="s2", thread="t2"))
    assert ids(memory, "what about ticket zzyzx4711") == ["named"]


def test_the_query_of_a_text_finds_how_little_it_fits(memory: Memory) -> None:
    """As many as are asked for, of every kind, best first."""
    memory.remember(said("e1", "ferret otto"))
    memory.remember(said("e2", "weather rain"))
    memory.add_text("ferret food")
    found = memory.query("ferret", 3)
    assert {match.remembered.id for match in found[:2]} >= {"e1"}
    assert found[-1].remembered.id == "e2"
    assert [match.score for match in found] == sorted((match.score for match in found), reverse=True)
    assert len(memory.query("ferret", 2)) == 2


@pytest.mark.parametrize(("text", "k"), [("", 5), (" \n", 5), ("ferret", 0), ("ferret", 101)])
def test_a_query_that_asks_nothing_is_refused(memory: Memory, text: str, k: int) -> None:
    """No text, or a number of results that is none."""
    with pytest.raises(InvalidInput):
        memory.query(text, k)


def test_an_empty_memory_finds_nothing(memory: Memory) -> None:
    """No error: nothing has been said yet."""
    assert memory.query("ferret") == []
    assert memory.context_for("ferret") == []


def test_a_follow_up_is_found_by_its_context(remembering: Remembering) -> None:
    """Words that mean nothing alone find what they are about, if what was said before may tell."""
    memory = remembering(retrieval_strategy="default", similarity_threshold=0.0)
    memory.remember(said("cancer", "throat cancer treatable therapy"))
    memory.remember(said("paint", "walls treatable paint"))
    earlier = (said("now", "throat cancer", "serious cancer throat", thread="t9", session="s9"),)
    assert ids(memory, "is it treatable", earlier)[0] == "cancer"
    alone = remembering(retrieval_strategy="default", similarity_threshold=0.0, search_context_window=0)
    assert ids(alone, "is it treatable", earlier)[0] == "paint"


def test_only_the_last_exchanges_tell_the_context(remembering: Remembering) -> None:
    """As many as the window has."""
    memory = remembering(search_context_window=1, retrieval_strategy="default", similarity_threshold=0.0)
    memory.remember(said("e1", "ferret ferret ferret"))
    memory.remember(said("e2", "badger badger badger"))
    earlier = (said("n1", "ferret ferret"), said("n2", "badger badger"))
    assert ids(memory, "tell more", earlier)[0] == "e2"
    assert ids(memory, "tell more", earlier[::-1])[0] == "e1"


def test_what_is_in_the_conversation_is_not_found_again(memory: Memory) -> None:
    """Unless it is said to be out of sight; and nothing that is found is stored again."""
    exchange = memory.remember(said("e1", "ferret otto"))
    assert ids(memory, "ferret otto", (exchange,)) == []
    assert [match.remembered.id for match in memory.context_for("ferret otto", (exchange,), shown=())] == ["e1"]
    assert memory.stats().total_exchanges == 1


def test_no_more_than_the_settings_say_is_found(remembering: Remembering) -> None:
    """At most `context_results`; none at all with 0."""
    for number in range(9):
        remembering().remember(said(f"e{number}", "ferret otto", at=number))
    assert len(ids(remembering(), "ferret otto")) == 5
    assert len(ids(remembering(context_results=2), "ferret otto")) == 2
    assert ids(remembering(context_results=0), "ferret otto") == []


def test_the_newer_of_equals_comes_first(memory: Memory, clock: FakeClock) -> None:
    """Hybrid prefers what was said last."""
    memory.remember(said("old", "ferret otto", session="a"))
    memory.remember(said("new", "ferret otto", session="b", at=400 * DAY))
    clock.now = BEGAN + 401 * DAY
    assert ids(memory, "ferret otto") == ["new", "old"]


def test_what_only_words_find_has_its_similarity(remembering: Remembering, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is computed from the row, though the vectors' search did not bring it."""
    monkeypatch.setattr("harness.chat.strategies.POOL", 1)
    memory = remembering()
    memory.remember(said("near", "ferret ferret ferret ferret"))
    memory.remember(said("far", "ferret zzyzx plays chess with my uncle in winter"))
    far = next(match for match in memory.query("ferret zzyzx", 5) if match.remembered.id == "far")
    assert 0 < far.similarity < 1


def test_what_another_process_deleted_is_not_found(remembering: Remembering) -> None:
    """The index of words may lag; what is returned is there."""
    one, other = remembering(), remembering()
    one.remember(said("e1", "ferret otto"))
    assert ids(one, "ferret otto") == ["e1"]
    other.delete("e1")
    assert ids(one, "ferret otto") == []


def test_what_another_process_remembers_is_found(remembering: Remembering) -> None:
    """At the next look-up."""
    one, other = remembering(), remembering()
    assert ids(one, "ferret otto") == []
    other.remember(said("e1", "ferret otto"))
    assert ids(one, "ferret otto") == ["e1"]


def test_no_tenant_or_collection_finds_another_ones(remembering: Remembering) -> None:
    """Neither by vector nor by words."""
    remembering(tenant="ann").remember(said("e1", "ferret otto"))
    remembering(collection_name="other").remember(said("e2", "ferret otto"))
    memory = remembering()
    assert memory.query("ferret otto") == []
    assert memory.stats().total_exchanges == 0


def test_a_damaged_row_is_passed_over(memory: Memory, store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """It is told of, and the others are found."""
    from msgspec.structs import replace

    memory.remember(said("e1", "ferret otto"))
    memory.remember(said("e2", "ferret otto"))
    (row,) = [row for row in store.listings.scan("memory", "default") if row.key == "e1"]
    store.rows.put("memory", "default", replace(row, payload=b"{}"))
    assert ids(memory, "ferret otto") == ["e2"]
    assert "e1 is damaged" in caplog.text


def test_a_strategy_of_somebody_else_that_fails_is_a_typed_error(
    remembering: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its name: the conversation goes on without memories."""

    class Broken:
        def retrieve(self, query: object, memories: object) -> object:
            raise KeyError("oops")

    broken = remembering(retrieval_strategy="theirs")
    monkeypatch.setattr(Memory, "_strategy", Broken())
    with pytest.raises(InvalidInput, match=r"'theirs' failed \(KeyError"):
        broken.context_for("ferret")
