"""The clusters that measure are as described."""

from collections import Counter

from benchmarks.clusters import Cluster, cluster_pairs, clusters
from benchmarks.traps import KINDS, Trap
from harness.core.keys import normalise


def test_every_cluster_is_well_formed() -> None:
    """Two pairs of the same, at least three others, of known kinds, all of one trimmed line; no text stands twice."""
    found = clusters()
    assert len(found) == 2_400
    for cluster in found:
        texts = cluster.texts
        assert len(cluster.same) >= 4, cluster
        assert len(cluster.other) >= 3, cluster
        assert {kind for kind, _ in cluster.other} <= set(KINDS), cluster
        assert all(text and " ".join(text.split()) == text and text.isprintable() for text in texts), cluster
        assert max(Counter(map(normalise, texts)).values()) == 1, cluster


def test_each_of_the_others_is_put_beside_what_it_looks_like() -> None:
    """The same are paired without a text in two pairs; another one with that which has most of its words."""
    cluster = Cluster(("how big is x", "size of x", "x size", "x how big", "x"), (("names", "size of y"),))
    assert list(cluster.traps()) == [
        Trap("how big is x", "size of x", 1, "reworded"),
        Trap("x size", "x how big", 1, "reworded"),
        Trap("size of x", "size of y", 0, "names"),
    ]


def test_there_are_enough_of_each_kind_to_say_that_few_are_served() -> None:
    """None of 130 pairs served means at most 3 % with 95 % confidence; rare kinds are in the traps, too."""
    counts = Counter(trap.kind for trap in cluster_pairs())
    assert counts["reworded"] > 4_000
    assert sum(counts.values()) - counts["reworded"] > 9_000
    assert {kind for kind in KINDS if counts[kind] < 130} <= {"audience", "comparatives", "versions"}
