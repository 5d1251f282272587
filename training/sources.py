"""Training data of the verifier: labelled pairs, and questions as raw material; no evaluation uses any of them.

Labelled pairs come from the halves of `benchmarks.pairs` that are not held out. Everything is divided into the same
parts: `train` for the model, `tune` for the few weights of the rule, and `calibrate` for its thresholds.

`PERMITTED` names the sets whose licence permits that shipped weights learn from them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import combinations
from pathlib import Path

from benchmarks.clusters import clusters
from benchmarks.grades import digest, named, read_grades
from benchmarks.pairs import MOST_WRONG, Groups, Part, labelled, part_of, read_lines, topics
from benchmarks.traps import read_traps
from benchmarks.wording import wording
from harness.core.keys import normalise
from training.written import Folder, read_clusters

MAX_CHARS = 240
"""Longer texts are not raw material: a cross-encoder's time grows with the text."""
LOG = "query_logs/bing_2020_01.jsonl.gz"
PAIRS = "query_pairs"
WRITTEN: tuple[Folder, ...] = ("subjects", "orders", "small", "short", "compounds", "stories")
"""The folders that the shipped weights have learned from."""
ADDED: tuple[Folder, ...] = ("wordings",)
"""The folders that only a training with permitted data reads, so far."""
PERMITTED = frozenset({"paws"})
GRADES = Path(__file__).with_name("grades.txt")
THIRD = "through a third"
ALIKE = "alike"


@dataclass(frozen=True)
class Example:
    """Two texts, whether they have the same answer, the kind of the pair, and the grade (0..1) of a reader, if any."""

    a: str
    b: str
    same: bool
    kind: str
    part: Part
    grade: float | None = None

    @property
    def target(self) -> float:
        """Target of the model (0..1): the grade if there is one, else the label. A grade of a labelled pair is already
        the mean of both, because raters and readers err.
        """
        return float(self.same) if self.grade is None else self.grade


@dataclass(frozen=True)
class Text:
    """A question or sentence to vary, and its source."""

    text: str
    source: str
    part: Part


@dataclass(frozen=True)
class Sources:
    """Labelled pairs, graded pairs (some of the former, and others), written pairs by folder, raw texts, and the
    wordings of all texts of evaluations, which no other field has and no generated text may have.
    """

    pairs: list[Example]
    graded: list[Example]
    written: dict[Folder, list[Example]]
    texts: list[Text]
    evaluated: frozenset[str]


def read_sources(data: Path, *, permitted: bool = False) -> Sources:
    """Read everything from the data folder. With `permitted`, of the labelled sets only `PERMITTED` is learned from;
    the others are in the part `calibrate` only, which measures, and the written texts are raw material.

    Raises:
        SystemExit: a file is missing.
    """
    folder = data / PAIRS
    evaluated = {wording(text) for trap in read_traps() for text in (trap.a, trap.b)}
    evaluated |= {wording(text) for cluster in clusters() for text in cluster.texts}
    pairs: list[Example] = []
    raw: list[Text] = []
    for name in MOST_WRONG:
        found, _ = labelled(folder, name)
        evaluated |= {wording(text) for pair in found if pair.held_out for text in (pair.a, pair.b)}
        learned = [pair for pair in found if not pair.held_out]
        if permitted and name not in PERMITTED:
            learned = [pair for pair in learned if part_of(pair.group) == "calibrate"]
        pairs += [Example(pair.a, pair.b, pair.same, name, part_of(pair.group)) for pair in learned]
        if not permitted or name in PERMITTED:
            raw += [Text(text, name, part_of(pair.group)) for pair in learned for text in (pair.a, pair.b)]
        groups: dict[bytes, list[tuple[str, str]]] = defaultdict(list)
        for pair in learned:
            if pair.same:
                groups[pair.group].append((pair.a, pair.b))
        pairs += [
            Example(a, b, True, f"{name}, {THIRD}", part_of(group))
            for group, linked in groups.items()
            for a, b in _linked(linked)
        ]
    written = {folder: list(_written(folder)) for folder in (*WRITTEN, *ADDED)}
    if permitted:
        raw += [Text(pair.a, "written", pair.part) for pairs in written.values() for pair in pairs]
    else:
        pairs += _of_one_topic(folder)
        raw += [Text(text, "topics", part_of(_digest(topic))) for topic, text in topics(folder, held_out=False)]
        log = {normalise(row["query"]): row["query"] for row in read_lines(data / LOG)}
        raw += [Text(text, "log", part_of(_digest(key))) for key, text in log.items()]
    evaluated |= {wording(text) for _, text in topics(folder, held_out=True)}

    @cache  # a text of a cluster is in many pairs
    def is_unseen(text: str) -> bool:
        return wording(text) not in evaluated

    def unseen(pairs: list[Example]) -> list[Example]:
        return [pair for pair in pairs if is_unseen(pair.a) and is_unseen(pair.b)]

    pairs = unseen(pairs)
    texts = _once(text for text in raw if is_unseen(text.text) and len(text.text) <= MAX_CHARS)
    return Sources(
        pairs,
        list(_graded(pairs, texts)),
        {folder: unseen(pairs) for folder, pairs in written.items()},
        texts,
        frozenset(evaluated),
    )


MAX_LINKED = 12


def _linked(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield pairs that are both the same as a third text: two steps only, because longer paths add errors."""
    near: dict[str, list[str]] = defaultdict(list)
    for a, b in pairs:
        near[a].append(b)
        near[b].append(a)
    known = {frozenset(pair) for pair in pairs}
    for others in near.values():
        for a, b in combinations(dict.fromkeys(others[:MAX_LINKED]), 2):
            if frozenset((a, b)) not in known and normalise(a) != normalise(b):
                known.add(frozenset((a, b)))
                yield a, b


def _of_one_topic(folder: Path) -> Iterator[Example]:
    """Yield pairs of queries of one topic that share most of their words; one answer may not serve the others."""
    needs: dict[str, dict[str, str]] = defaultdict(dict)
    for topic, text in topics(folder, held_out=False):
        needs[topic][normalise(text)] = text
    for topic, queries in needs.items():
        for a, b in combinations(queries, 2):
            if len(set(a.split()) & set(b.split())) >= 0.75 * max(len(a.split()), len(b.split())):
                yield Example(queries[a], queries[b], True, "topics", part_of(_digest(topic)))


def _graded(pairs: Iterable[Example], texts: Iterable[Text]) -> Iterator[Example]:
    """Yield the graded pairs: labelled ones, and others whose texts are in the same part."""
    labelled = {named(pair.a, pair.b): pair for pair in pairs}
    known = {digest(text.text): text for text in texts}
    for name, grade in read_grades(GRADES).items():
        if pair := labelled.get(name):
            yield replace(pair, grade=(grade + pair.same) / 2)
        elif (one := known.get(name[0])) and (other := known.get(name[1])) and one.part == other.part:
            yield Example(one.text, other.text, grade >= 0.5, f"{ALIKE}: {one.source}", one.part, grade)


def _written(folder: Folder) -> Iterator[Example]:
    """Yield the pairs of the written clusters; clusters of a folder that share a text are in one part."""
    clusters, groups = read_clusters(folder), Groups()
    for cluster in clusters:
        for text in cluster.texts[1:]:
            groups.join(normalise(cluster.same[0]), normalise(text))
    for cluster in clusters:
        part = part_of(groups.of(normalise(cluster.same[0])))
        for a, b, same, kind in cluster.pairs():
            yield Example(a, b, same, f"{folder}: {kind}", part)


def _once(texts: Iterable[Text]) -> list[Text]:
    return list({normalise(text.text): text for text in texts}.values())


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()
