"""Clusters of questions in the varied wordings of people, and of look-alikes: they measure.

In each cluster some texts ask the same, with about half of their words in common, and others need another answer, each
with its kind of difference. Language models that had seen no rules, training data or other sets wrote 2,400 of them for
this project, by subject. No training text has one of their wordings. There are no other labels. English only. Fit
nothing on them.

Licence: Apache-2.0, as the rest of the project.
"""

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

import msgspec

from benchmarks.traps import Trap
from benchmarks.wording import wording


class Cluster(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`same`: texts that one answer serves in full. `other`: kind of difference and text that needs another answer."""

    same: tuple[str, ...]
    other: tuple[tuple[str, str], ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts, the same ones first."""
        return (*self.same, *(text for _, text in self.other))

    def pairs(self) -> Iterator[tuple[str, str, bool, str]]:
        """Yield every two of the same texts, and each of them with each of the others: both texts, whether one answer
        serves both, and the kind of difference.
        """
        for a, b in combinations(self.same, 2):
            yield a, b, True, "same"
        for a, (kind, b) in product(self.same, self.other):
            yield a, b, False, kind

    def traps(self) -> Iterator[Trap]:
        """Yield the same texts two by two, no text twice, and each of the others with the same text that shares most
        words.
        """
        for a, b in zip(self.same[::2], self.same[1::2], strict=False):
            yield Trap(a, b, 1, "reworded")
        for kind, b in self.other:
            yield Trap(max(self.same, key=lambda a: _common(a, b)), b, 0, kind)


def read_clusters(folder: Path) -> list[Cluster]:
    """Return all clusters of the `.jsonl` files of `folder`, by file and line.

    Raises:
        msgspec.ValidationError: a line is not a cluster.
    """
    decoder = msgspec.json.Decoder(Cluster)
    return [cluster for file in sorted(folder.glob("*.jsonl")) for cluster in decoder.decode_lines(file.read_bytes())]


def clusters() -> list[Cluster]:
    """Return the clusters that measure."""
    return read_clusters(Path(__file__).parent)


def cluster_pairs() -> list[Trap]:
    """Return the pairs of these clusters."""
    return [trap for cluster in clusters() for trap in cluster.traps()]


def _common(a: str, b: str) -> float:
    """Return the share (0..1) of all words that both texts have."""
    one, other = (frozenset(wording(text).split()) for text in (a, b))
    return len(one & other) / max(1, len(one | other))
