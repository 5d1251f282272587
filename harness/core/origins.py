"""Origins of runs and searches: a user, an agent, an evaluation, an experiment."""

from typing import Literal, TypeAlias, get_args

from harness.errors import InvalidInput

RunOrigin: TypeAlias = Literal["user", "agent", "evaluation", "experiment"]
RowOrigin: TypeAlias = Literal["user", "agent", "evaluation", "experiment", "run"]
"""Origin of a stored row: the searches of a user's or an agent's run belong to the run."""

OWN: tuple[RunOrigin, ...] = ("user", "agent")
"""Origins shown by history and statistics by default."""
EVERY: tuple[RowOrigin, ...] = get_args(RowOrigin)
CHOICES = ("own", *EVERY, "all")
OriginChoice: TypeAlias = Literal["own", "user", "agent", "evaluation", "experiment", "run", "all"]


def origins_of(choice: str) -> tuple[str, ...]:
    """Return the origins that a filter selects: one of them, `own` (user and agent), or `all`.

    Raises:
        InvalidInput: an unknown filter.
    """
    if choice not in CHOICES:
        raise InvalidInput(f"no such origin: {choice!r:.60}; choose {', '.join(CHOICES)}")
    return {"own": OWN, "all": EVERY}.get(choice) or (choice,)
