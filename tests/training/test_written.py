"""The clusters written for training are as described."""

from collections import Counter

import pytest

from benchmarks.clusters import Cluster
from harness.core.keys import normalise
from training.sources import WRITTEN
from training.written import Folder, read_clusters

KINDS = {
    "numbers", "units", "dates", "versions", "negation", "opposites", "comparatives", "names", "direction", "scope",
    "audience", "roles", "order", "aspect", "topic",
}  # fmt: skip


@pytest.mark.parametrize("folder", WRITTEN)
def test_every_cluster_has_both_sides(folder: Folder) -> None:
    """At least two that are the same, at least one that is not, each kind a known one."""
    clusters = read_clusters(folder)
    assert clusters
    assert all(len(cluster.same) >= 2 and cluster.other for cluster in clusters)
    assert {kind for cluster in clusters for kind, _ in cluster.other} <= KINDS


@pytest.mark.parametrize("folder", WRITTEN)
def test_no_text_stands_on_both_sides(folder: Folder) -> None:
    """Within a cluster every text is another one."""
    for cluster in read_clusters(folder):
        texts = [normalise(text) for text in cluster.texts]
        assert max(Counter(texts).values()) == 1, cluster.same[0]


def test_a_cluster_is_every_pair_of_it() -> None:
    """Two that are the same make one pair, and two with each other one."""
    cluster = Cluster(("a", "b"), (("names", "c"), ("scope", "d")))
    assert list(cluster.pairs()) == [
        ("a", "b", True, "same"),
        ("a", "c", False, "names"),
        ("a", "d", False, "scope"),
        ("b", "c", False, "names"),
        ("b", "d", False, "scope"),
    ]
