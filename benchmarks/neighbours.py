"""Data of the semantic benchmark: rewordings of stored questions, among many unrelated rows.

Some rows are real questions with their MiniLM vectors; a rewording of each is the query. The others fill the table:
their texts come from a few thousand real queries, their vectors are these queries' vectors rotated by a random angle.
Embedding 100,000 texts would take ten minutes without effect on the result.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.embeddings import RememberedEmbedder
from benchmarks.pairs import read_lines
from benchmarks.rows import SEED, say
from benchmarks.shipped import decision, served
from harness.core.keys import normalise
from harness.ports import Vectors

SEEDS = 2_000
"""Real queries that the filling rows are made of."""

LEAST_TURNED, MOST_TURNED = 0.85, 0.5
"""Cosines between a filling row and its query: near enough to be candidates, too far to be answers."""

_BLOCK = 5_000
_SUBJECTS = (
    "postgres index/bicycle chain/sourdough starter/credit score/solar panel/rental contract/garden pond/diesel engine/"
    "heat pump/wedding speech/job interview/sinus infection/knee injury/vegetable garden/mortgage rate/gas boiler/"
    "wood stove/laptop battery/coffee machine/tomato plant/birth certificate/student loan/vintage camera/maple tree/"
    "leather jacket/running shoe/guitar string/swimming pool/water filter/wisdom tooth/hiking boot/electric scooter/"
    "kitchen sink/fish tank/car insurance/night sky photo/cover letter/kidney stone/goat cheese/linen shirt"
).split("/")
_REWORDED = (
    ("best practices for {} maintenance", "{} maintenance best practices"),
    ("how to choose a {}", "how do I choose a {}"),
    ("what is a {}", "what's a {}?"),
    ("common {} problems", "common problems with a {}"),
    ("history of the {}", "the history of the {}"),
    ("{} buying guide", "buying guide for a {}"),
    ("how does a {} work", "how {} works"),
    ("cost of a {}", "{} cost"),
    ("what to know about {} safety", "{} safety: what to know"),
    ("tools for {} repair", "{} repair tools"),
)
_FILLING = ("why did the {} of {} change", "{} near {}", "who invented {} for {}", "difference between {} and {}")
_TAILS = (
    "archive blog city clinic club college county course daily district exam factory forum gallery history holiday "
    "hotel law lesson library list market memorial menu museum news office outlet park policy price review river "
    "rules school service shop station story street studio survey temple theatre tour trail union valley video wiki"
).split()


@dataclass(frozen=True)
class Rows:
    """Texts and unit vectors (float32, one row each). `asks` are rewordings, `answers` the rows that they reword."""

    texts: Sequence[str]
    vectors: Vectors
    asks: Sequence[str]
    answers: Sequence[int]

    def part(self, size: int) -> "Rows":
        """Return `size` rows with all that are asked for, in an order that does not betray which these are.

        It matters: rows that were stored together, before many others of another kind, are what an approximate index
        loses first.
        """
        order = np.random.default_rng(SEED).permutation(size)
        places = np.argsort(order)
        return Rows([self.texts[n] for n in order], self.vectors[order], self.asks, places[self.answers].tolist())


def make_rows(number: int, embedder: RememberedEmbedder, queries: Path | None) -> Rows:
    """Make `number` rows, those that are asked for first; `queries` (.jsonl.gz with `query`) gives the others' texts.

    Only rewordings that this project's rule accepts are asked, so that a look-up is a hit.
    """
    forms = product(_SUBJECTS, _REWORDED)
    stored = [(first.format(subject), second.format(subject)) for subject, (first, second) in forms]
    seeds = _real(queries) if queries else _made()
    embedder.prepare([text for pair in stored for text in pair] + seeds)
    ours, asked = (embedder.embed([pair[side] for pair in stored]) for side in (0, 1))
    cosines = np.einsum("ij,ij->i", ours, asked)
    kept = [n for n, (one, other) in enumerate(stored) if served(decision(one, other, float(cosines[n])))]
    random.Random(SEED).shuffle(kept)
    kept = kept[: number // 2]
    say(f"{len(kept)} of {len(stored)} rewordings are accepted and will be asked")
    texts = [stored[n][0] for n in kept]
    filling = _filling_texts(seeds, number - len(texts), {normalise(text) for text in texts})
    turned = _turned(embedder.embed(seeds), number - len(texts))
    asks = [stored[n][1] for n in kept]
    return Rows(texts + filling, np.concatenate([ours[kept], turned]), asks, range(len(asks)))


def _real(queries: Path) -> list[str]:
    found: dict[str, str] = {}
    for row in read_lines(queries):
        found.setdefault(normalise(row["query"]), row["query"])
        if len(found) == SEEDS:
            break
    return list(found.values())


def _made() -> list[str]:
    chance = random.Random(SEED)
    made = [text.format(*pair) for text, pair in product(_FILLING, product(_SUBJECTS, _SUBJECTS)) if pair[0] != pair[1]]
    return chance.sample(made, SEEDS)


def _filling_texts(seeds: Sequence[str], number: int, taken: set[str]) -> list[str]:
    def texts() -> Iterator[str]:
        for first, second in product(_TAILS, _TAILS):
            yield from (f"{seed} {first} {second}" for seed in seeds)

    found = (text for text in texts() if normalise(text) not in taken)
    return [next(found) for _ in range(number)]


def _turned(seeds: Vectors, number: int) -> Vectors:
    """Return `number` unit vectors, each at a random cosine from `MOST_TURNED` to `LEAST_TURNED` of a seed in turn."""
    chance = np.random.default_rng(SEED)
    turned = np.empty((number, seeds.shape[1]), dtype=np.float32)
    for start in range(0, number, _BLOCK):
        near = seeds[np.arange(start, min(start + _BLOCK, number)) % len(seeds)]
        aside = chance.standard_normal(near.shape)
        aside -= np.einsum("ij,ij->i", aside, near)[:, None] * near
        aside /= np.linalg.norm(aside, axis=1, keepdims=True)
        cosine = chance.uniform(MOST_TURNED, LEAST_TURNED, (len(near), 1))
        turned[start : start + len(near)] = cosine * near + np.sqrt(1 - cosine**2) * aside
    return turned
