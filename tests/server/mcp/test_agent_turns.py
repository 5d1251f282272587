"""Results that an agent received in a turn."""

from harness.core.freshness import HOUR
from harness.identity import LOCAL, Identity
from harness.server.mcp.agent_turns import MAX_TURNS, AgentTurns

ADA = Identity("lab", "ada", "writer", "0" * 16)
BOB = Identity("lab", "bob", "writer", "1" * 16)


def test_a_turn_remembers_its_results() -> None:
    """Another turn, or another caller, starts empty."""
    turns = AgentTurns()
    turns.seen(ADA, "a").first("lab", "key")
    assert not turns.seen(ADA, "a").first("lab", "key")
    for identity, turn in ((ADA, "b"), (BOB, "a"), (LOCAL, "a")):
        assert turns.seen(identity, turn).first("lab", "key")


def test_an_unused_turn_is_forgotten() -> None:
    """An hour after its last call."""
    now = 0.0
    turns = AgentTurns(lambda: now)
    turns.seen(ADA, "a").first("lab", "key")
    now += HOUR
    assert not turns.seen(ADA, "a").first("lab", "key")
    now += HOUR + 1
    assert turns.seen(ADA, "a").first("lab", "key")


def test_the_number_of_turns_is_limited() -> None:
    """The least recently used one is forgotten."""
    turns = AgentTurns()
    first = turns.seen(ADA, "first")
    turns.seen(ADA, "second").first("lab", "key")
    for number in range(MAX_TURNS - 2):
        turns.seen(ADA, str(number))
    assert turns.seen(ADA, "first") is first
    turns.seen(ADA, "one too many")
    assert turns.seen(ADA, "second").first("lab", "key")
