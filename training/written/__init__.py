"""Clusters of questions that were written for training: some ask the same in other words, others only look like it.

Each line of the `.jsonl` files beside this one is a cluster. One author, a language model, wrote them for this project
by hand, by subject; none was copied or filled into a template, and the author had not seen what the verifier is
measured on.
Licence: Apache-2.0, as the rest of the project.
"""

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

import msgspec

_FOLDER = Path(__file__).parent


class Cluster(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`same`: texts that one answer serves in full. `other`: texts that need another one, each with what differs."""

    same: tuple[str, ...]
    other: tuple[tuple[str, str], ...]

    def pairs(self) -> Iterator[tuple[str, str, bool, str]]:
        """Yield every two of the same, and each of these with each of the others: both texts, whether one answer
        serves both, and what they differ in.
        """
        for a, b in combinations(self.same, 2):
            yield a, b, True, "same"
        for a, (kind, b) in product(self.same, self.other):
            yield a, b, False, kind


def read_clusters() -> list[Cluster]:
    """Return all clusters, by file and line.

    Raises:
        msgspec.ValidationError: a line is not a cluster.
    """
    decoder = msgspec.json.Decoder(Cluster)
    return [cluster for file in sorted(_FOLDER.glob("*.jsonl")) for cluster in decoder.decode_lines(file.read_bytes())]
