"""Does the reader see what answers a question and what supports a sentence? `python -m benchmarks.reading --data DIR`.

WikiQA (a sample of its questions): the mean average precision and the mean reciprocal rank of a question's sentences.
SQuAD 2.0 (three articles that training never reads): passages that answer against look-alikes, as the area under the
ROC curve. Climate-FEVER (claims that training never reads) and SciFact (sentences of the cited abstracts): what
supports a claim against the rest, likewise. None of these is in this project. BM25 and the cosine of MiniLM see the
same texts.
"""

import argparse
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tabulate import tabulate

from benchmarks.pairs import read_lines
from benchmarks.rows import entry_point, say
from harness.core.openings import opening_factor
from harness.core.text import words
from harness.library.relevance import relevance
from harness.models.local.embedder import MiniLM
from harness.models.local.reader import MiniLMReader

HELD_OUT_ARTICLES = frozenset({"Normans", "Packet_switching", "European_Union_law"})
"""Articles of SQuAD 2.0 that only measure."""
HELD_OUT_CLAIMS = 0.3
"""Share of the claims of Climate-FEVER that only measure."""
WIKIQA_QUESTIONS = 0.25
"""Share of the questions that are read."""
SENTENCE, PASSAGE = 40, 150
"""Word pieces of the texts whose reading is timed."""


class Judged(NamedTuple):
    """A question or claim, texts, and whether each is right."""

    first: str
    texts: Sequence[str]
    right: Sequence[bool]


def is_held_out(name: str, share: float) -> bool:
    """Return whether what has this name only measures."""
    return int(sha256(name.encode()).hexdigest()[:8], 16) < share * 0x1_0000_0000


Judge = Callable[[str, Sequence[str]], Sequence[float]]


def wikiqa(folder: Path) -> Iterator[Judged]:
    """Yield questions that have an answer among their sentences."""
    rows = defaultdict[str, list[tuple[str, str, bool]]](list)
    for row in read_lines(folder / "reading" / "wikiqa.jsonl.gz"):
        if is_held_out(row["qid"], WIKIQA_QUESTIONS):
            rows[row["qid"]].append((row["question"], f"{row['title']}: {row['sentence']}", bool(row["label"])))
    for each in rows.values():
        if any(right for *_, right in each):
            yield Judged(each[0][0], [text for _, text, _ in each], [right for *_, right in each])


def squad(folder: Path) -> Iterator[Judged]:
    """Yield questions of the held-out articles, each with its passage."""
    for row in read_lines(folder / "reading" / "squad2.jsonl.gz"):
        if row["title"] in HELD_OUT_ARTICLES:
            yield Judged(row["question"], [row["passage"]], [row["answerable"]])


def climate(folder: Path) -> Iterator[Judged]:
    """Yield held-out claims with their evidence."""
    for row in read_lines(folder / "reading" / "climate_fever.jsonl.gz"):
        if is_held_out(row["claim"], HELD_OUT_CLAIMS):
            yield Judged(row["claim"], [row["evidence"]], [row["label"] == "SUPPORTS"])


def scifact(folder: Path) -> Iterator[Judged]:
    """Yield claims with the sentences of the abstracts that support them."""
    abstracts = {row["id"]: row for row in read_lines(folder / "retrieval" / "scifact_corpus.jsonl.gz")}
    for row in read_lines(folder / "retrieval" / "scifact_claims.jsonl.gz"):
        for evidence in row["evidence"]:
            if evidence["label"] == "SUPPORT":
                sentences = abstracts[evidence["doc"]]["sents"]
                yield Judged(row["claim"], sentences, [place in evidence["sents"] for place in range(len(sentences))])


def bm25(first: str, texts: Sequence[str]) -> list[float]:
    """Return BM25 (k1 1.2, b 0.75) among the given texts; with one text alone, the share of the words it has."""
    wanted = set(words(first))
    held = [Counter(words(text)) for text in texts]
    if len(texts) == 1:
        return [len(wanted & held[0].keys()) / max(1, len(wanted))]
    mean = sum(each.total() for each in held) / len(held)
    scores = []
    for each in held:
        score = 0.0
        for word in wanted & each.keys():
            having = sum(word in other for other in held)
            rarity = math.log(1 + (len(held) - having + 0.5) / (having + 0.5))
            score += rarity * each[word] * 2.2 / (each[word] + 1.2 * (0.25 + 0.75 * each.total() / mean))
        scores.append(score)
    return scores


def mean_average_precision(judged: Sequence[Judged], judge: Judge) -> tuple[float, float]:
    """Return MAP and MRR."""
    precisions, reciprocals = [], []
    for each in judged:
        scores = judge(each.first, each.texts)
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        ranks = [rank for rank, place in enumerate(order, start=1) if each.right[place]]
        precisions.append(np.mean([found / rank for found, rank in enumerate(ranks, start=1)]))
        reciprocals.append(1 / ranks[0])
    return float(np.mean(precisions)), float(np.mean(reciprocals))


def area(judged: Sequence[Judged], judge: Judge) -> float:
    """Return the area under the ROC curve over all texts."""
    scores, right = [], []
    for each in judged:
        scores += judge(each.first, each.texts)
        right += each.right
    order = np.argsort(np.argsort(scores)) + 1
    mask = np.array(right)
    positives, negatives = mask.sum(), (~mask).sum()
    return float((order[mask].sum() - positives * (positives + 1) / 2) / (positives * negatives))


@entry_point
def main() -> None:
    """Print the table, and the time of a reading."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder of the data to measure with")
    folder = parser.parse_args().data
    embedder, reader = MiniLM(), MiniLMReader()

    def cosine(first: str, texts: Sequence[str]) -> list[float]:
        vectors = embedder.embed([first, *texts])
        found: list[float] = (vectors[1:] @ vectors[0]).tolist()
        return found

    def supports(first: str, texts: Sequence[str]) -> list[float]:
        return [each.supports for each in reader.supports(first, texts)]

    def both(first: str, texts: Sequence[str]) -> list[float]:
        return relevance(first, texts, reader, embedder)

    def opening(first: str, texts: Sequence[str]) -> list[float]:
        factors = (opening_factor(text.partition(": ")[2], first) for text in texts)
        return [likely * factor for likely, factor in zip(both(first, texts), factors, strict=True)]

    sets = {"WikiQA": list(wikiqa(folder)), "SQuAD 2.0": list(squad(folder))}
    claims = {"Climate-FEVER": list(climate(folder)), "SciFact": list(scifact(folder))}
    rows = []
    for name, judges in {
        "BM25": (bm25, bm25),
        "cosine": (cosine, cosine),
        "reader": (reader.answers, supports),
        "relevance (both)": (both, None),
        "relevance, as the first sentence": (opening, None),
    }.items():
        answers, support = judges
        precision, reciprocal = mean_average_precision(sets["WikiQA"], answers)
        areas = [area(sets["SQuAD 2.0"], answers)] if answers is not opening else []
        areas += [area(each, support) for each in claims.values()] if support else []
        rows.append([name, precision, reciprocal, *areas])
        say(f"{name} is measured")
    heads = ["", "WikiQA MAP", "MRR", "SQuAD 2.0 AUC", "Climate-FEVER AUC", "SciFact AUC"]
    print(tabulate(rows, headers=heads, floatfmt=".3f"))
    for pieces in (SENTENCE, PASSAGE):
        text = "word " * (pieces - 10)
        start = time.perf_counter()
        for number in range(20):
            reader.answers(f"what is the answer to question {number}", [text])
        print(f"a text of {pieces} word pieces: {(time.perf_counter() - start) / 20 * 1_000:.1f} ms")


if __name__ == "__main__":
    main()
