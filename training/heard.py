"""Find what training has read of the evaluations, signs aside: `python -m training.heard --data DIR`, three minutes.

It makes all passes' pairs again, and every fresh pair of those that a model chooses from, so that none is missed. All
that was written for training counts, for the rule is fitted on what no pass reads.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.clusters import clusters
from benchmarks.heard import FILE, digest, wording
from benchmarks.rows import say
from training.mixture import Mixture
from training.passes import PASSES
from training.sources import Example, Sources, read_sources


def heard(sources: Sources) -> list[str]:
    """Return the digests, sorted, of the wordings that evaluations and training share."""
    written = {text for cluster in clusters() for text in cluster.texts}
    evaluated = {wording(text) for text in sources.evaluated | written}
    shared = {wording(text) for pairs in sources.written.values() for pair in pairs for text in (pair.a, pair.b)}
    shared &= evaluated
    say(f"written: {len(shared)} wordings of evaluations")
    for name, each in PASSES.items():
        pairs = each.read(Mixture(sources, "train", each.plan.seed), _all)
        found = {wording(text) for pair in pairs for text in (pair.a, pair.b)} & evaluated
        say(f"{name} pass: {len(found)} wordings of evaluations")
        shared |= found
    return sorted(map(digest, shared))


def _all(pairs: Sequence[Example], _keep: int) -> list[Example]:
    return list(pairs)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(prog="python -m training.heard", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder of the data to learn from")
    found = heard(read_sources(parser.parse_args().data))
    FILE.write_text("".join(f"{each}\n" for each in found))
    print(f"{FILE}: {len(found)}")


if __name__ == "__main__":
    main()
