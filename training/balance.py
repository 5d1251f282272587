"""Balance and difficulty of the generated pairs: number and median cosine of each kind."""

from collections import defaultdict
from collections.abc import Sequence
from random import Random

import numpy as np
from tabulate import tabulate

from harness.models.local.embedder import MiniLM
from training.sources import Example

SAMPLED = 60
"""Pairs of each kind that are embedded."""


def shown(examples: Sequence[Example]) -> str:
    """Return a table of the number of pairs of each kind and the median cosine of a sample. A contrast is hard if that
    is high, a rewording if it is low.
    """
    kinds: dict[tuple[bool, str], list[Example]] = defaultdict(list)
    for example in examples:
        kinds[example.same, example.kind.removesuffix(", reworded")].append(example)
    model, chance = MiniLM(), Random(0)
    rows = []
    for (same, kind), pairs in sorted(kinds.items()):
        sample = chance.sample(pairs, min(SAMPLED, len(pairs)))
        vectors = model.embed([text for pair in sample for text in (pair.a, pair.b)])
        cosines = np.einsum("ij,ij->i", vectors[::2], vectors[1::2])
        rows.append(("same" if same else "different", kind, f"{len(pairs):,}", f"{np.median(cosines):.2f}"))
    return tabulate(
        rows, headers=("label", "kind", "pairs", "median cosine"), colalign=("left", "left", "right", "right")
    )
