"""What was seen in a turn, and by whom."""

from harness.core.freshness import HOUR
from harness.identity import LOCAL, Identity
from harness.server.mcp.agent_turns import MAX_TURNS, AgentTurns

ADA = Identity("lab", "ada", "writer", "0" * 16)
BOB = Identity("lab", "bob", "writer", "1" * 16)


def test_a_turn_goes_on() -> None:
    """The same turn of the same caller has seen what it has seen; another turn, or caller, has not."""
    turns = AgentTurns()
    turns.seen(ADA, "a").first("lab", "key")
    assert not turns.seen(ADA, "a").first("lab", "key")
    for identity, turn in ((ADA, "b"), (BOB, "a"), (LOCAL, "a")):
        assert turns.seen(identity, turn).first("lab", "key")


def test_a_silent_turn_is_forgotten() -> None:
    """A turn lasts an hour beyond its last call."""
    now = 0.0
    turns = AgentTurns(lambda: now)
    turns.seen(ADA, "a").first("lab", "key")
    now += HOUR
    assert not turns.seen(ADA, "a").first("lab", "key")
    now += HOUR + 1
    assert turns.seen(ADA, "a").first("lab", "key")


def test_turns_are_bounded() -> None:
    """Of too many turns, the one that was longest silent is forgotten."""
    turns = AgentTurns()
    first = turns.seen(ADA, "first")
    turns.seen(ADA, "second").first("lab", "key")
    for number in range(MAX_TURNS - 2):
        turns.seen(ADA, str(number))
    assert turns.seen(ADA, "first") is first
    turns.seen(ADA, "one too many")
    assert turns.seen(ADA, "second").first("lab", "key")
