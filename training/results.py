"""Fit of the decision whether the results of one query answer another: `python -m training.results`.

It reads the written queries of `training/written/results`, half of which the results of another query answer. It prints
the numbers for `harness/core/equivalence/results.py`, and what they reach on parts left out in turn.
"""

import json
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from benchmarks.rows import entry_point
from harness.cache.result_reading import MAX_CHARS, MAX_READ
from harness.cache.semantic import NOT_IN_WORDS, VERIFIED_DISTANCE
from harness.core.equivalence import examine
from harness.core.equivalence.results import read_result, result_signs
from harness.library.relevance import relevance
from harness.models.local.embedder import MiniLM
from harness.models.local.reader import MiniLMReader
from harness.models.local.tokenizer import vocabulary
from training.sufficiency import PARTS, fitted, hash_of, least

WRITTEN = Path(__file__).with_name("written") / "results"
SHARES = (0.0025, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Shares of wrong answers for which the least probability is printed."""


class Pair(Struct, frozen=True):
    """A query whose results answer another one or not, and the signs of that; none if the results are not read."""

    kind: str
    group: str
    held: bool
    signs: dict[str, float]


def pairs() -> list[Pair]:
    """Return the written pairs as the program reads them."""
    reader, embedder, words, found = MiniLMReader(), MiniLM(), vocabulary(), list[Pair]()
    for file in sorted(WRITTEN.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            row = json.loads(line)
            first, second = embedder.embed([row["first"], row["second"]])
            similarity = float(first @ second)
            verdicts = examine(row["second"], row["first"], similarity, known=words).verdicts
            objections = {verdict.guard for verdict in verdicts if not verdict.passed}
            texts = [f"{each['title']}\n\n{each['body']}"[:MAX_CHARS] for each in row["results"][:MAX_READ]]
            new, before = (relevance(each, texts, reader, embedder) for each in (row["second"], row["first"]))
            clean = [
                result
                for each in zip(texts, new, before, strict=True)
                if (result := read_result(row["second"], *each)).clean
            ]
            may_answer = clean and similarity >= 1 - VERIFIED_DISTANCE and not objections & NOT_IN_WORDS
            signs = result_signs(clean, similarity) if may_answer else {}
            found.append(Pair(row["kind"], row["first"], row["held"], signs))
    return found


def report(written: list[Pair]) -> None:
    """Print weights and thresholds, and what they reach on pairs left out of the fit."""
    usable = [each for each in written if each.signs]
    names = list(usable[0].signs)
    values = np.array([list(each.signs.values()) for each in usable])
    held = np.array([each.held for each in usable])
    part = np.array([hash_of(each.group) % PARTS for each in usable])
    scores = np.zeros(len(held))
    for number in range(PARTS):
        weights = fitted(values[part != number], held[part != number])
        scores[part == number] = np.c_[values, np.ones(len(values))][part == number] @ weights
    yes, no = scores[held], scores[~held]
    refused = np.full(sum(not each.held for each in written) - len(no), -np.inf)
    others = np.r_[no, refused]
    all_held = sum(each.held for each in written)
    print(f"{len(written)} pairs, {all_held} held; read: {len(yes)} held, {len(no)} not; ", end="")
    print(f"AUC {np.mean(yes[:, None] > no[None]):.3f}")
    for share in SHARES:
        threshold = least(others, share)
        logit = np.inf if threshold >= 1 else np.log(threshold / (1 - threshold))
        served, wrong = np.sum(yes >= logit) / all_held, np.mean(others >= logit)
        print(f"  share {share:.2%}: least {threshold:.3f}, serves {served:.1%} of the held, {wrong:.1%} of the others")
    weights = fitted(values, held)
    print("\nWEIGHTS =", {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=False)})
    print("CONSTANT =", round(float(weights[-1]), 3))
    print("LEAST =", {share: _rounded(others, share) for share in SHARES if least(others, share) <= 1})
    _by_kind(usable, scores, others)


def _by_kind(usable: list[Pair], scores: NDArray[np.float64], others: NDArray[np.float64]) -> None:
    threshold = least(others, 0.05)
    logit = np.log(threshold / (1 - threshold))
    for kind in sorted({each.kind for each in usable}):
        of_kind = [(each.held, score >= logit) for each, score in zip(usable, scores, strict=True) if each.kind == kind]
        served = sum(answered for is_held, answered in of_kind if is_held)
        wrong = sum(answered for is_held, answered in of_kind if not is_held)
        print(f"  {kind}: {len(of_kind)} read; at a share of 5 %: {served} served rightly, {wrong} wrongly")


def _rounded(others: NDArray[np.float64], share: float) -> float:
    return round(least(others, share), 3)


@entry_point
def main() -> None:
    """Fit the decision."""
    report(pairs())


if __name__ == "__main__":
    main()
