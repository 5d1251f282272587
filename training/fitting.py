"""Fit of the rule that weighs the verifier's probability: on the tune part; thresholds on the calibrate part."""

import multiprocessing
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.pairs import MOST_WRONG
from harness.cache.semantic import VERIFIED_DISTANCE
from harness.core.calibration import lowest_threshold
from harness.core.equivalence import Examined, Rule, examine, judge
from harness.core.equivalence.decision import FEATURES, REWORDED_FEATURES, logit
from harness.errors import InvalidInput
from harness.models.local.cross_encoder import UNREAD, PairReader
from harness.models.local.embedder import MiniLM
from harness.models.local.tokenizer import vocabulary
from training.sources import Example

SHARES = (0.0025, 0.005, 0.01, 0.02, 0.05)
LOOSER = {name: most / min(MOST_WRONG.values()) for name, most in MOST_WRONG.items()}
"""Allowed share of wrong answers of a set, as a multiple of that of others. Different pairs of PAWS share all of their
words, as hardly two people's questions do, and there are so few of them that one would choose the threshold.
"""
CHANGED = frozenset({"paws", "orders", "small", "short", "contrast", "reworded", "crossed"})
"""Kinds of pairs of which one text is a changed version of the other. Some look reworded and are not, so the weights
for reworded questions are not fitted on them.
"""
PROCESSES = 2


class Weights(NamedTuple):
    """Constant of the rule and one weight per feature: in general, and for reworded questions (see `Rule`)."""

    everywhere: tuple[float, ...]
    reworded: tuple[float, ...]


@dataclass(frozen=True)
class Read:
    """A pair, its features before reading, and the verifier's probability (0..1)."""

    example: Example
    examined: Examined
    probability: float

    @property
    def judged(self) -> bool:
        """Whether the rule decides: no guard rejects, and the texts are near enough."""
        near = 1.0 - self.examined.similarity <= VERIFIED_DISTANCE
        return near and not (self.examined.vetoed or self.examined.identical)

    @property
    def row(self) -> tuple[float, ...]:
        """Features that the rule weighs."""
        return (logit(self.probability), *self.examined.features)


def read_all(weights: Path, examples: Sequence[Example], *, vetoed: bool = False) -> list[Read]:
    """Examine all pairs and let the model of these weights read them, in two processes; with `vetoed` also those that
    a guard rejects.
    """
    chunks = [examples[start : start + 200] for start in range(0, len(examples), 200)]
    with multiprocessing.get_context("spawn").Pool(PROCESSES, initializer=_open, initargs=(weights,)) as pool:
        return [read for chunk in pool.imap(partial(_read, vetoed=vetoed), chunks) for read in chunk]


def fit(reads: Sequence[Read]) -> Weights:
    """Return the weights by logistic regression, in which rarer kinds of pairs count more."""
    decided = [read for read in reads if read.judged]
    reworded = [read for read in decided if read.examined.reworded and _family(read.example) not in CHANGED]
    everywhere = [read for read in decided if not read.examined.reworded]
    return Weights(_regression(everywhere, FEATURES), _regression(reworded, REWORDED_FEATURES))


def scores(reads: Sequence[Read], weights: Weights) -> NDArray[np.float64]:
    """Return the log-odds of each pair; minus infinity if it is never served."""
    rule = Rule(0.0, 1.0, "", "", weights.everywhere, weights.reworded)
    return np.array([judge(read.examined, rule, read.probability).score if read.judged else -inf for read in reads])


def thresholds(reads: Sequence[Read], weights: Weights) -> dict[str, list[tuple[float, float]]]:
    """Return for each set of pairs the thresholds that keep each of `SHARES`, if it has enough pairs."""
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


def described(weights: Weights) -> str:
    """Return the weights by name."""
    everywhere, reworded = (
        ", ".join(f"{name} {weight:+.3f}" for name, weight in zip(("constant", *names), each, strict=True))
        for names, each in zip((FEATURES, REWORDED_FEATURES), weights, strict=True)
    )
    return f"{everywhere}; reworded questions: {reworded}"


def _regression(reads: Sequence[Read], features: Sequence[str]) -> tuple[float, ...]:
    """Return the constant and one weight for each of `features`, the first of `FEATURES`."""
    kinds = Counter(_family(read.example) for read in reads)
    model = LogisticRegression(C=10.0, max_iter=1_000)
    rows = np.array([read.row[: len(features)] for read in reads])
    same = np.array([read.example.same for read in reads])
    model.fit(rows, same, sample_weight=[1.0 / kinds[_family(read.example)] ** 0.5 for read in reads])
    return tuple(round(float(number), 4) for number in (model.intercept_[0], *model.coef_[0]))


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
