"""Shares served, as shipped, of pairs like those of training that no pass has read: `python -m training.unread --data
DIR`. The labelled sets have no small changes and no generated pairs; these are measured here. Thresholds are chosen on
the written pairs and the look-alikes among these, on none of the others.
"""

import argparse
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from tabulate import tabulate

from benchmarks.rows import entry_point
from benchmarks.shipped import decision, served
from harness.core.calibration import interval
from harness.models.local.embedder import MiniLM
from training.mixture import Amounts, Mixture
from training.passes import SEED
from training.sources import WRITTEN, Example, read_sources

MOST = 2_000
"""Pairs of each set that are read."""
_embedder = cache(MiniLM)


def sets(mixture: Mixture) -> dict[str, list[Example]]:
    """Return the pairs by origin: written, changed slightly, generated; each evenly thinned to `MOST`."""
    generated = mixture.generated(Amounts().times(0.1))
    found = {f"written: {folder}": mixture.written(folder) for folder in WRITTEN}
    found |= {
        "real ones that look alike, read for this": mixture.alike(),
        "slight changes": mixture.slight(MOST, WRITTEN),
        "generated rewordings": [pair for pair in generated if pair.same],
        "generated contrasts": [pair for pair in generated if not pair.same],
    }
    return {name: pairs[:: -(-len(pairs) // MOST)] for name, pairs in found.items()}


def shares(pairs: Sequence[Example]) -> list[str]:
    """Return the shares of `pairs` served with and without the verifier, in per cent, with 95 % intervals."""
    found = np.array([_served(pair) for pair in pairs]).sum(axis=0)
    shares = [interval(int(number), len(pairs)) for number in found]
    return [f"{100 * share.share:.1f} ({100 * share.low:.1f}-{100 * share.high:.1f})" for share in shares]


def _served(pair: Example) -> tuple[bool, bool]:
    one, other = (_embedder().embed([text])[0] for text in (pair.a, pair.b))
    similarity = float(one @ other)
    with_it, without = (decision(pair.a, pair.b, similarity, verified=verified) for verified in (True, False))
    return served(with_it), served(without, verified=False)


@entry_point
def main() -> None:
    """Run the command: measure and print."""
    parser = argparse.ArgumentParser(prog="python -m training.unread", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder of the data to learn from")
    found = sets(Mixture(read_sources(parser.parse_args().data), "calibrate", SEED))
    rows = []
    for name, pairs in found.items():
        for label, chosen in (("same", [p for p in pairs if p.same]), ("different", [p for p in pairs if not p.same])):
            if chosen:
                rows.append((name, label, f"{len(chosen):,}", *shares(chosen)))
    headers = ("pairs that no pass has read", "label", "pairs", "served, %", "without the verifier, %")
    print(tabulate(rows, headers=headers, colalign=("left", "left", "right", "right", "right")))


if __name__ == "__main__":
    main()
