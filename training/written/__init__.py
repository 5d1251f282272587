"""Clusters of questions that were written for training: some ask the same in other words, others only look like it.

Each line of the files is a cluster: those in `subjects/` were written subject by subject, those in `orders/` are about
words that change places, with another meaning and without, those in `small/` about changes of a letter, a word or a
place. One author, a language model, wrote them for this project by hand, by subject; none was copied or filled into a
template, and the author had not seen what the verifier is measured on.
Licence: Apache-2.0, as the rest of the project.
"""

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Literal

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


Folder = Literal["subjects", "orders", "small"]


def read_clusters(folder: Folder) -> list[Cluster]:
    """Return all clusters of `folder`, by file and line.

    Raises:
        msgspec.ValidationError: a line is not a cluster.
    """
    decoder = msgspec.json.Decoder(Cluster)
    files = sorted((_FOLDER / folder).glob("*.jsonl"))
    return [cluster for file in files for cluster in decoder.decode_lines(file.read_bytes())]
