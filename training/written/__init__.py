"""Clusters of questions that were written for training: some ask the same in other words, others only look like it.

Each line of the files is a cluster: those in `subjects/` were written subject by subject, those in `orders/` are about
words that change places, with another meaning and without, those in `short/` about compounds and other few words that
do, those in `small/` about changes of a letter, a word or a place, those in `compounds/` about what is regrouped, named
otherwise or counted in other units, those in `stories/` about questions that tell a story. One author, a language
model, wrote them for this project by hand, by subject; none was copied or filled into a template, and the author had
not seen what the verifier is measured on.
Licence: Apache-2.0, as the rest of the project.
"""

from pathlib import Path
from typing import Literal

from benchmarks import clusters

Folder = Literal["subjects", "orders", "small", "short", "compounds", "stories"]


def read_clusters(folder: Folder) -> list[clusters.Cluster]:
    """Return all clusters of `folder`, by file and line.

    Raises:
        msgspec.ValidationError: a line is not a cluster.
    """
    return clusters.read_clusters(Path(__file__).with_name(folder))
