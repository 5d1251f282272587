"""What a generator is: one way in which a question is varied, and whether the variant still asks the same."""

from random import Random
from typing import Protocol


class Generator(Protocol):
    """One way to vary a question. A contrast asks for another answer, a rewording for the same one."""

    name: str

    def vary(self, text: str, chance: Random) -> str | None:
        """Return a variant of `text`, never `text` itself; `None` where this way does not apply.

        All chance comes from `chance`: the same text and the same state give the same variant. Never raises.
        """
        ...
