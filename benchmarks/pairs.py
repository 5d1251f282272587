"""Labelled pairs of questions: read from a folder and halved so that no text is in both halves.

The folder holds `qqp`, `paws` and `medical` (.jsonl.gz; fields a, b, label; 1 = the same question) and `robust_uqv`
(topic, query: queries that people typed for one topic). It is not in this project; missing sets are reported.
"""

import gzip
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import orjson

from benchmarks.embeddings import RememberedEmbedder
from benchmarks.rows import say
from harness.core.keys import normalise

MOST_WRONG = {"qqp": 0.01, "paws": 0.03, "medical": 0.02}
"""The sets that say which pairs are the same question, and the share of the others that may be served (0..1)."""

LOOSE = "robust_uqv"
"""Queries for one need are looser than that: they share a topic, and an answer to one may not answer the other."""


Part = Literal["train", "tune", "calibrate"]


def part_of(group: bytes) -> Part:
    """Return the part of what is not held out, by a group's digest: 84 % train, which the verifier learns from; 6 %
    tune; 10 % calibrate.
    """
    place = group[-2] * 100 // 256
    return "train" if place < 84 else "tune" if place < 90 else "calibrate"


@dataclass(frozen=True)
class Pair:
    """Two texts, their similarity (cosine, -1..1), and whether they are the same question (in `LOOSE`, one topic)."""

    a: str
    b: str
    same: bool
    similarity: float


@dataclass(frozen=True)
class Halves:
    """One set, halved: `held_out` measures a rule, on `calibration` it may be fitted; that is what the verifier has not
    learned from of the other half. `left_out` pairs are equal texts, which an exact look-up answers.
    """

    name: str
    calibration: list[Pair]
    held_out: list[Pair]
    left_out: int


@dataclass(frozen=True)
class Labelled:
    """Two texts, whether they are the same question, and what all pairs share that are connected with this one."""

    a: str
    b: str
    same: bool
    group: bytes = b""

    @property
    def held_out(self) -> bool:
        """Whether the pair is in the half that nothing may be fitted on."""
        return bool(self.group[-1] % 2)


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a gzipped JSON-lines file.

    Raises:
        SystemExit: if there is no such file.
    """
    if not file.is_file():
        sys.exit(f"error: no such file: {file}; this data is not part of the project, name your copy of it")
    with gzip.open(file, "rb") as lines:
        yield from map(orjson.loads, lines)


def present(folder: Path) -> list[str]:
    """Return the names of the sets that `folder` holds, and say which are absent.

    Raises:
        SystemExit: if there is none.
    """
    names = [*MOST_WRONG, LOOSE]
    found = [name for name in names if _file(folder, name).is_file()]
    if not found:
        wanted = ", ".join(_file(folder, name).name for name in names)
        sys.exit(f"error: none of {wanted} is in {folder}; this data is not part of the project, name your copy of it")
    for name in sorted(set(names) - set(found)):
        say(f"absent, so not measured: {_file(folder, name)}")
    return found


def labelled(folder: Path, name: str) -> tuple[list[Labelled], int]:
    """Read a set of `MOST_WRONG` in an order that a hash decides; return its pairs, and how many equal texts were left
    out.

    Pairs that share a text, directly or through others, are in one group, and so in the same half.
    """
    rows = [(row["a"], row["b"], row["label"] == 1) for row in read_lines(_file(folder, name))]
    different = [row for row in rows if normalise(row[0]) != normalise(row[1])]
    groups = Groups()
    for a, b, _ in different:
        groups.join(normalise(a), normalise(b))
    different.sort(key=lambda row: _digest(f"{row[0]}\0{row[1]}"))
    return [Labelled(*row, groups.of(normalise(row[0]))) for row in different], len(rows) - len(different)


def halves(folder: Path, name: str, embedder: RememberedEmbedder, limit: int | None) -> Halves:
    """Read at most `limit` pairs of a set of `MOST_WRONG`, halve and measure them."""
    pairs, left_out = labelled(folder, name)
    pairs = pairs[:limit]
    held_out = [pair for pair in pairs if pair.held_out]
    calibration = [pair for pair in pairs if not pair.held_out and part_of(pair.group) != "train"]
    return Halves(name, _measured(calibration, embedder), _measured(held_out, embedder), left_out)


def topics(folder: Path, *, held_out: bool) -> list[tuple[str, str]]:
    """Return the queries of one half of the topics of `LOOSE`, each with its topic."""
    rows = [(str(row["topic"]), row["query"]) for row in read_lines(_file(folder, LOOSE))]
    return [row for row in rows if bool(_digest(row[0])[-1] % 2) is held_out]


def topic_pairs(folder: Path, embedder: RememberedEmbedder, limit: int | None) -> list[Pair]:
    """Pair the queries of the held-out topics: each two of one topic (`same`), and each query with the most similar one
    of another topic. `limit` bounds the queries.
    """
    rows = topics(folder, held_out=True)[:limit]
    queries = list({(topic, normalise(query)): (topic, query) for topic, query in rows}.values())
    texts = [query for _, query in queries]
    embedder.prepare(texts)
    vectors = embedder.embed(texts)
    asked = np.array([topic for topic, _ in queries])
    pairs = [
        Labelled(texts[one], texts[other], same=True)
        for one, other in combinations(range(len(texts)), 2)
        if asked[one] == asked[other] and normalise(texts[one]) != normalise(texts[other])
    ]
    nearest = np.where(asked[:, None] == asked[None, :], -np.inf, vectors @ vectors.T).argmax(axis=1)
    near = {(min(one, int(other)), max(one, int(other))) for one, other in enumerate(nearest)}
    pairs += [Labelled(texts[one], texts[other], same=False) for one, other in sorted(near)]
    return _measured(pairs, embedder)


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.jsonl.gz"


def _measured(pairs: Sequence[Labelled], embedder: RememberedEmbedder) -> list[Pair]:
    embedder.prepare(text for pair in pairs for text in (pair.a, pair.b))
    if not pairs:
        return []
    ones, others = (embedder.embed([getattr(pair, side) for pair in pairs]) for side in ("a", "b"))
    similarities = np.einsum("ij,ij->i", ones, others)
    return [Pair(pair.a, pair.b, pair.same, float(s)) for pair, s in zip(pairs, similarities, strict=True)]


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


class Groups:
    """Texts that are connected by pairs (union-find)."""

    def __init__(self) -> None:
        self._towards: dict[str, str] = {}

    def join(self, one: str, other: str) -> None:
        """Connect two texts, and all that either is connected with."""
        first, second = self._root(one), self._root(other)
        # the smaller digest becomes the root, so that it does not depend on the order of the pairs
        low, high = sorted((first, second), key=_digest)
        self._towards[high] = low

    def of(self, text: str) -> bytes:
        """Return what names this text's group: the smallest digest of its texts."""
        return _digest(self._root(text))

    def _root(self, text: str) -> str:
        while (further := self._towards.get(text, text)) != text:
            self._towards[text] = self._towards.get(further, further)
            text = further
        return text
