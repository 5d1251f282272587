"""Alternatives to the cross-encoder, measured in the same way: `python -m training.ablations --data DIR`.

Late interaction (Khattab and Zaharia, 2020, arXiv:2004.12832): each token vector of one text is compared with its
nearest in the other; a cache could store them and need no further model run. Also each group of features alone, in a
rule fitted on labelled pairs, compared with the released rule.
"""

import argparse
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from tabulate import tabulate

from benchmarks.clusters import cluster_pairs
from benchmarks.pairs import MOST_WRONG, labelled
from benchmarks.rows import entry_point
from benchmarks.traps import read_traps
from harness.core.equivalence import Rule, judge
from harness.core.equivalence.decision import FEATURES
from harness.models.local import embedder
from harness.models.local.cross_encoder import Release
from training.fitting import Read, read_all
from training.sources import Example, Sources, read_sources

WORDS = tuple(feature for feature in FEATURES if feature not in ("verifier", "similarity"))
GROUPS = {
    "cosine": ("similarity",),
    "words": WORDS,
    "cosine and words": ("similarity", *WORDS),
    "verifier": ("verifier",),
    "verifier and cosine": ("verifier", "similarity"),
    "verifier, cosine and words": FEATURES,
}
CLUSTERS = 5
"""Every fifth pair of the clusters that measure is read."""


def late_interaction(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Return for each pair the mean similarity of each token to its nearest token in the other text (the lower of both
    directions).
    """
    found = []
    for a, b in pairs:
        likeness = _tokens(a) @ _tokens(b).T
        found.append(min(likeness.max(axis=1).mean(), likeness.max(axis=0).mean()))
    return np.array(found)


def aucs(reads: dict[str, list[Read]], learned: Sequence[Read]) -> dict[str, list[float]]:
    """Return the area under the ROC curve of each group of features on each set, without guards."""
    found = {}
    same = [read.example.same for read in learned]
    for name, features in GROUPS.items():
        places = [FEATURES.index(feature) for feature in features]
        model = LogisticRegression(C=10.0, max_iter=1_000).fit(_rows(learned, places), same)
        found[name] = [
            roc_auc_score([read.example.same for read in each], model.decision_function(_rows(each, places)))
            for each in reads.values()
        ]
    return found


def released(reads: Sequence[Read], weights: Path) -> NDArray[np.float64]:
    """Return the scores of the released rule for the pairs, without guards."""
    release = msgspec.json.decode(weights.with_suffix(".json").read_bytes(), type=Release)
    rule = Rule(0.0, 1.0, "", "", release.weights, release.reworded)
    return np.array([judge(replace(read.examined, verdicts=()), rule, read.probability).score for read in reads])


def _rows(reads: Sequence[Read], places: Sequence[int]) -> NDArray[np.float64]:
    return np.array([read.row for read in reads])[:, places]


def _tokens(text: str) -> NDArray[np.float32]:
    session, tokenizer = _model()
    encoded = tokenizer.encode(text)
    inputs = {
        "input_ids": np.array([encoded.ids], dtype=np.int64),
        "attention_mask": np.array([encoded.attention_mask], dtype=np.int64),
        "token_type_ids": np.array([encoded.type_ids], dtype=np.int64),
    }
    states = session.run(None, inputs)[0][0][1:-1]
    unit: NDArray[np.float32] = states / np.linalg.norm(states, axis=1, keepdims=True)
    return unit if len(unit) else np.zeros((1, embedder.MiniLM.dimension), dtype=np.float32)


@cache
def _model() -> tuple[Any, Any]:
    return embedder._model()  # noqa: SLF001 - its token vectors are no part of what an embedder gives


def _held_out(data: Path, limit: int) -> dict[str, list[Example]]:
    sets = {
        name: [
            Example(pair.a, pair.b, pair.same, name, "train")
            for pair in labelled(data / "query_pairs", name)[0]
            if pair.held_out
        ][:limit]
        for name in MOST_WRONG
    }
    written = {"traps": read_traps(), "clusters": cluster_pairs()[::CLUSTERS]}
    return sets | {
        name: [Example(trap.a, trap.b, trap.label == 1, trap.kind, "train") for trap in traps]
        for name, traps in written.items()
    }


def _read(weights: Path, examples: Sequence[Example]) -> list[Read]:
    """Return the readings of all pairs except those that are too long."""
    return [read for read in read_all(weights, examples, vetoed=True) if read.examined.features]


def _tune(sources: Sources) -> list[Example]:
    return [pair for pair in sources.pairs if pair.part != "train"]


@entry_point
def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m training.ablations", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", required=True)
    parser.add_argument(
        "--weights", type=Path, metavar="FILE", default=Path("harness/models/local/weights/minilm.onnx")
    )
    parser.add_argument("--limit", type=int, metavar="N", default=3_000, help="pairs of each set")
    arguments = parser.parse_args()
    sets = _held_out(arguments.data, arguments.limit)
    reads = {name: _read(arguments.weights, each) for name, each in sets.items()}
    late = [
        roc_auc_score([pair.same for pair in each], late_interaction([(pair.a, pair.b) for pair in each]))
        for each in sets.values()
    ]
    groups = aucs(reads, _read(arguments.weights, _tune(read_sources(arguments.data))))
    used = [
        roc_auc_score([read.example.same for read in each], released(each, arguments.weights))
        for each in reads.values()
    ]
    rows = [("late interaction", *late), *((name, *values) for name, values in groups.items()), ("as released", *used)]
    print(tabulate(rows, headers=("AUC, held-out pairs", *sets), floatfmt=".3f"))


if __name__ == "__main__":
    main()
