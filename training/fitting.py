"""The rule that weighs what the verifier says: fitted on the tune part, its thresholds chosen on the calibrate part."""

import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.pairs import MOST_WRONG
from harness.cache.semantic import VERIFIED_DISTANCE
from harness.core.calibration import lowest_threshold
from harness.core.equivalence import Examined, examine
from harness.core.equivalence.decision import FEATURES, logit
from harness.embedders.minilm import MiniLM
from harness.errors import InvalidInput
from harness.verifiers.pairs import UNREAD, PairReader
from harness.wordpieces import vocabulary
from training.sources import Example

SHARES = (0.0025, 0.005, 0.01, 0.02, 0.05)
LOOSER = {name: most / min(MOST_WRONG.values()) for name, most in MOST_WRONG.items()}
"""How many times as often as others a set may be wrong. Different pairs of PAWS share all of their words, as hardly two
people's questions do, and there are so few of them that one would choose the threshold.
"""
PROCESSES = 2


@dataclass(frozen=True)
class Read:
    """A pair, what is known of it before it is read, and what the verifier then says (0..1)."""

    example: Example
    examined: Examined
    probability: float

    @property
    def judged(self) -> bool:
        """Whether the rule decides: no guard vetoes, and the two are near enough."""
        near = 1.0 - self.examined.similarity <= VERIFIED_DISTANCE
        return near and not (self.examined.vetoed or self.examined.identical)

    @property
    def row(self) -> tuple[float, ...]:
        """What the rule weighs."""
        return (logit(self.probability), *self.examined.features)


def read_all(weights: Path, examples: Sequence[Example], *, vetoed: bool = False) -> list[Read]:
    """Examine all pairs and have the weights' model read them (`vetoed`: those that a guard refuses, too), in two
    processes.
    """
    chunks = [examples[start : start + 200] for start in range(0, len(examples), 200)]
    with multiprocessing.get_context("spawn").Pool(PROCESSES, initializer=_open, initargs=(weights,)) as pool:
        return [read for chunk in pool.imap(partial(_read, vetoed=vetoed), chunks) for read in chunk]


def fit(reads: Sequence[Read]) -> tuple[float, ...]:
    """Return the constant and one weight a feature, by logistic regression; each kind of pair counts as much."""
    decided = [read for read in reads if read.judged]
    kinds = [_family(read.example) for read in decided]
    counts = {kind: kinds.count(kind) for kind in set(kinds)}
    model = LogisticRegression(C=10.0, max_iter=1_000)
    rows = np.array([read.row for read in decided])
    same = np.array([read.example.same for read in decided])
    model.fit(rows, same, sample_weight=[1.0 / counts[kind] ** 0.5 for kind in kinds])
    return tuple(round(float(number), 4) for number in (model.intercept_[0], *model.coef_[0]))


def scores(reads: Sequence[Read], weights: Sequence[float]) -> NDArray[np.float64]:
    """Return the log-odds a pair; minus infinity for what is never served."""
    constant, *rest = weights
    return np.array([constant + float(np.dot(rest, read.row)) if read.judged else -inf for read in reads])


def thresholds(reads: Sequence[Read], weights: Sequence[float]) -> dict[str, list[tuple[float, float]]]:
    """Return for each set of pairs the thresholds that keep each of `SHARES`, where it has pairs enough."""
    found: dict[str, list[tuple[float, float]]] = {}
    for family in sorted({_family(read.example) for read in reads}):
        wrong = scores([r for r in reads if not r.example.same and _family(r.example) == family], weights)
        for share in SHARES:
            try:
                threshold = lowest_threshold(wrong.tolist(), share * LOOSER.get(family, 1.0))
            except InvalidInput:  # too few pairs to promise so little
                continue
            found.setdefault(family, []).append((share, threshold))
    return found


def told(weights: Sequence[float]) -> str:
    """Return the weights by name."""
    return ", ".join(f"{name} {weight:+.3f}" for name, weight in zip(("constant", *FEATURES), weights, strict=True))


def _family(example: Example) -> str:
    return example.kind.split(":")[0].split(",")[0]


_opened: list[Path] = []


def _open(weights: Path) -> None:
    _opened.append(weights)


@cache
def _models(weights: Path) -> tuple[PairReader, MiniLM]:
    return PairReader(weights.read_bytes()), MiniLM()


def _read(examples: Sequence[Example], *, vetoed: bool) -> list[Read]:
    reader, embedder = _models(_opened[0])
    found = []
    for example in examples:
        one, other = (embedder.embed([text])[0] for text in (example.a, example.b))
        examined = examine(example.a, example.b, float(one @ other), known=vocabulary())
        read = vetoed or not examined.vetoed
        found.append(Read(example, examined, reader.probability(examined.a, examined.b) if read else UNREAD))
    return found
