"""Interface of a generator: one way to vary a question, with the same answer or another one."""

from random import Random
from typing import Protocol


class Generator(Protocol):
    """One way to vary a question. A contrast asks for another answer, a rewording for the same one."""

    name: str

    def vary(self, text: str, chance: Random) -> str | None:
        """Return a variant of `text`, never `text` itself; `None` if this generator does not apply.

        Deterministic: the same text and the same state of `chance` give the same variant. Never raises.
        """
        ...
