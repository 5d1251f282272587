"""Clusters of questions written for training: some ask the same in other words, others only look alike.

Each line of a file is a cluster. `subjects/`: by subject. `orders/`: words that change places, with and without another
meaning. `short/`: the same in compounds and other few words. `small/`: a letter, a word or a place changes.
`compounds/`: regrouped, renamed, or in other units. `stories/`: questions that tell a story. `wordings/`: synonyms,
inflection, filler, comparisons in either order, and small words that change the answer. Language models wrote them
for this project by subject; none was copied or filled into a template, and the authors had not seen the sets that
measure the verifier. Licence: Apache-2.0, as the rest of the project.
"""

from pathlib import Path
from typing import Literal

from benchmarks import clusters

Folder = Literal["subjects", "orders", "small", "short", "compounds", "stories", "wordings"]


def read_clusters(folder: Folder) -> list[clusters.Cluster]:
    """Return all clusters of `folder`, by file and line.

    Raises:
        msgspec.ValidationError: a line is not a cluster.
    """
    return clusters.read_clusters(Path(__file__).with_name(folder))
