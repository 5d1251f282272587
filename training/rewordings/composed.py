"""Several rewordings one after another, for harder ones."""

from collections.abc import Sequence
from random import Random

from training.generator import Generator

_LAST = ("punctuation", "case", "typing errors")
"""After these the others may no longer know the words."""
_SHORTENING = "dropped words"
"""The rest of such a question is not a topic for a frame."""
_MOST_LATE = 2


class Composed:
    """Applies `least` to `most` different generators of `generators`, each at most once; `None` where fewer apply."""

    name = "composed"

    def __init__(self, generators: Sequence[Generator], least: int, most: int) -> None:
        if not 1 <= least <= most:
            raise ValueError(f"needs 1 <= least <= most, got {least} and {most}")
        self._generators = tuple(generators)
        self._least = least
        self._most = most

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        wanted = chance.randint(self._least, self._most)
        order = chance.sample(self._generators, len(self._generators))
        late = [generator for generator in order if generator.name in _LAST]
        early = [generator for generator in order if generator.name not in _LAST]
        early.sort(key=lambda generator: generator.name == _SHORTENING)
        kept = wanted - chance.randint(0, min(wanted, len(late), _MOST_LATE))
        varied, applied = _apply(early, text, kept, chance)
        varied, more = _apply(late, varied, wanted - applied, chance)
        return varied if applied + more >= self._least and varied != text else None


def _apply(generators: Sequence[Generator], text: str, wanted: int, chance: Random) -> tuple[str, int]:
    """Apply up to `wanted` of `generators` to `text`; return the result and how many applied."""
    applied = 0
    for generator in generators:
        if applied == wanted:
            break
        varied = generator.vary(text, chance)
        if varied is not None:
            text, applied = varied, applied + 1
    return text, applied
