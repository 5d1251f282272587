"""Does the corpus engine find what answers a question? `python -m benchmarks.retrieval --scifact DIR --pubmedqa FILE`.

SciFact: a claim is the query and should find the abstracts that it cites. The engine's one fitted constant was chosen
on the split `train` and is measured on the other. PubMedQA: a question should find its own abstract. Neither is in this
project. All contenders use the same texts and the same MiniLM; "plain" ones search whole documents: BM25 in SQLite
FTS5, cosine, and both fused by rank. Intervals (95 %) are bootstrapped over the questions, for a ratio in pairs. The
time of a question includes its embedding.
"""

import argparse
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from tabulate import tabulate

from benchmarks.embeddings import RememberedEmbedder
from benchmarks.pairs import read_lines
from benchmarks.rows import SEED, entry_point, say, workplace
from harness.cache import Cache, Policy
from harness.core.chunking import embedded_text, passages, token_chunks
from harness.core.rank_fusion import reciprocal_rank_fusion
from harness.core.text import words
from harness.models.local.embedder import MiniLM
from harness.models.local.reader import MiniLMReader
from harness.ports import SearchEngine, Store, Vectors, silent
from harness.research.reranking import reranked
from harness.sources.corpus.engine import open_corpus
from harness.sources.corpus.local_documents import FileSource
from harness.storage.sqlite.memory import MemoryStore
from harness.storage.sqlite.store import SqliteStore
from harness.vector_cache import VectorCache

HYBRID = "corpus engine"
RERANKED = "corpus engine, reranked"
WORDS = "corpus engine, words only"
CHUNKS = "chunk store"
BM25 = "plain BM25"
MINILM = "plain MiniLM"
FUSED = "plain rank fusion"

DEPTH = 10
"""Results that are judged."""

RERANK = 20
"""Results of the corpus engine that the reader orders again."""

_POOL = 1_000
_RESAMPLES = 2_000
_NEEDED_BYTES = 200 * 2**20

Rank = Callable[[str], Sequence[str]]
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A query, the documents that should be found, and the part of the data that it is in."""

    text: str
    relevant: frozenset[str]
    split: str


@dataclass(frozen=True)
class Task:
    """Documents (fields id, title, text of the corpus engine's JSON Lines), and questions to them."""

    name: str
    documents: Sequence[Mapping[str, str]]
    questions: Sequence[Question]
    measures: Mapping[str, Callable[[Sequence[str], frozenset[str]], float]]


class QuestionsLive:
    """The `Embedder` that contenders get: texts in batches are remembered ones, a single one is a question, which is
    always embedded again, so that its time is measured.
    """

    id = MiniLM.id
    dimension = MiniLM.dimension

    def __init__(self, remembered: RememberedEmbedder) -> None:
        self._remembered = remembered
        self._model = MiniLM()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        return self._model.embed(texts) if len(texts) == 1 else self._remembered.embed(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`."""
        return self._model.count_tokens(texts)


class Remembered(QuestionsLive):
    """The same vectors, remembered for single texts, too: a document may be one chunk."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        return self._remembered.embed(texts)


def ndcg(found: Sequence[str], relevant: frozenset[str]) -> float:
    """Return the normalised discounted cumulative gain (0..1) of the first `DEPTH`, of binary relevance."""
    gains = 1 / np.log2(np.arange(2, DEPTH + 2))
    best = gains[: len(relevant)].sum()
    return float(sum(gain for gain, each in zip(gains, found, strict=False) if each in relevant) / best)


def recall(depth: int) -> Callable[[Sequence[str], frozenset[str]], float]:
    """Return a function for the share (0..1) of the relevant documents among the first `depth`."""
    return lambda found, relevant: len(relevant.intersection(found[:depth])) / len(relevant)


def scifact(folder: Path) -> Task:
    """Read SciFact: `scifact_corpus` and `scifact_claims` (.jsonl.gz)."""
    documents = [
        {"id": row["id"], "title": row["title"], "text": " ".join(row["sents"])}
        for row in read_lines(folder / "scifact_corpus.jsonl.gz")
    ]
    questions = [
        Question(row["claim"], frozenset(row["cited"]), row["split"])
        for row in read_lines(folder / "scifact_claims.jsonl.gz")
    ]
    return Task("SciFact", documents, questions, {"nDCG@10": ndcg, "recall@10": recall(10)})


def pubmedqa(file: Path) -> Task:
    """Read PubMedQA (.jsonl.gz)."""
    rows = list(read_lines(file))
    documents = [{"id": row["pmid"], "title": "", "text": "\n\n".join(row["contexts"])} for row in rows]
    questions = [Question(row["question"], frozenset([row["pmid"]]), "all") for row in rows]
    return Task("PubMedQA", documents, questions, {"recall@1": recall(1), "recall@5": recall(5)})


def contenders(task: Task, remembered: RememberedEmbedder, folder: Path) -> dict[str, Rank]:
    """Index the documents for every contender; return what each finds, best first."""
    file = folder / f"{task.name}.jsonl"
    file.write_bytes(b"".join(orjson.dumps({**each, "url": each["id"]}) + b"\n" for each in task.documents))
    whole = [f"{each['title']}\n{each['text']}".strip() for each in task.documents]
    embedder = QuestionsLive(remembered)
    chunks = [chunk.text for text in whole for chunk in token_chunks(text, embedder.count_tokens)]
    remembered.prepare([*_passage_texts(file), *whole, *chunks])
    by_words = open_corpus(str(file), folder / "words", silent)
    open_corpus(str(file), folder / "hybrid", silent, embedder).embed()
    start = time.perf_counter()
    hybrid = open_corpus(str(file), folder / "hybrid", silent, embedder)
    say(f"{task.name}: opened in {1000 * (time.perf_counter() - start):.0f} ms, {hybrid.options['mode']}")
    ids = [each["id"] for each in task.documents]
    bm25, cosine = _plain_bm25(task, folder / "plain.db"), _plain_cosine(ids, remembered.embed(whole), embedder)
    return {
        HYBRID: _engine(hybrid),
        RERANKED: _reranked(hybrid, embedder),
        WORDS: _engine(by_words),
        CHUNKS: _chunk_store(ids, whole, SqliteStore(folder / "chunks.db"), embedder, Remembered(remembered)),
        BM25: lambda query: bm25(query)[:DEPTH],
        MINILM: lambda query: cosine(query)[:DEPTH],
        FUSED: lambda query: list(reciprocal_rank_fusion([bm25(query), cosine(query)]))[:DEPTH],
    }


def measure(task: Task, ranks: Mapping[str, Rank]) -> dict[str, Any]:
    """Ask every contender every question; return the figures of each, by split."""
    found: dict[str, list[Sequence[str]]] = {name: [] for name in ranks}
    taken: dict[str, list[float]] = {name: [] for name in ranks}
    for question in task.questions:
        for name, rank in ranks.items():
            start = time.perf_counter()
            found[name].append(rank(question.text))
            taken[name].append(1000 * (time.perf_counter() - start))
    results = {}
    for split in sorted({question.split for question in task.questions}):
        at = [number for number, question in enumerate(task.questions) if question.split == split]
        results[split] = {
            name: {"ms": float(np.median(taken[name])), "questions": len(at)}
            | {
                measured: _means(*(_scores(task, at, found[which], measured) for which in (name, BM25)))
                for measured in task.measures
            }
            for name in ranks
        }
    return results


def _scores(task: Task, at: Sequence[int], found: Sequence[Sequence[str]], measured: str) -> Scores:
    return np.array([task.measures[measured](found[number], task.questions[number].relevant) for number in at])


def _means(scores: Scores, reference: Scores) -> dict[str, float]:
    """Return the mean with its interval, and its ratio to the mean of `reference`."""
    chosen = np.random.default_rng(SEED).integers(0, len(scores), (_RESAMPLES, len(scores)))
    means, others = scores[chosen].mean(axis=1), reference[chosen].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    ratio_low, ratio_high = np.percentile(means / others, [2.5, 97.5])
    return {
        "mean": float(scores.mean()),
        "low": float(low),
        "high": float(high),
        "ratio": float(scores.mean() / reference.mean()),
        "ratio_low": float(ratio_low),
        "ratio_high": float(ratio_high),
    }


def _passage_texts(file: Path) -> Iterator[str]:
    """Yield what the engine will embed of a file."""
    source = FileSource(file)
    for part in source.parts():
        for document in source.read(part):
            for passage in passages(document.text):
                yield embedded_text(document.title, passage.section, passage.text)


def _engine(engine: SearchEngine) -> Rank:
    return lambda query: [result["href"] for result in engine.search(query, DEPTH)]


def _reranked(engine: SearchEngine, embedder: QuestionsLive) -> Rank:
    """Return what a research makes of the engine's results, without its cache."""
    reader, cache = MiniLMReader(), Cache(MemoryStore(), policy=Policy(read=False, write=False))

    def rank(query: str) -> list[str]:
        found = [(result["href"], [dict(result)]) for result in engine.search(query, RERANK)]
        ordered = reranked(query, found, reader, embedder, cache, most=RERANK, ttl=1)
        return [url for url, _ in ordered[:DEPTH]]

    return rank


def _chunk_store(
    ids: Sequence[str], texts: Sequence[str], store: Store, embedder: QuestionsLive, indexing: Remembered
) -> Rank:
    """Return the documents of the best chunks, each once."""
    written, asked = (VectorCache(store, each, chunk_threshold=0.0) for each in (indexing, embedder))
    for number, text in zip(ids, texts, strict=True):
        written.add_document(number, text)
    return lambda query: [anchor.metadata["document"] for anchor in asked.search_chunks(query, DEPTH, per_document=1)]


def _plain_bm25(task: Task, file: Path) -> Rank:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE VIRTUAL TABLE documents USING fts5 (id UNINDEXED, title, text, tokenize = 'porter')")
        rows = [(each["id"], each["title"], each["text"]) for each in task.documents]
        connection.executemany("INSERT INTO documents VALUES (?, ?, ?)", rows)

    def rank(query: str) -> list[str]:
        expression = " OR ".join(f'"{word}"' for word in dict.fromkeys(words(query)))
        with closing(sqlite3.connect(file)) as connection:
            found = connection.execute(
                "SELECT id FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT ?", (expression, _POOL)
            )
            return [row[0] for row in found]

    return rank


def _plain_cosine(ids: Sequence[str], vectors: Vectors, embedder: QuestionsLive) -> Rank:
    def rank(query: str) -> list[str]:
        cosines = vectors @ embedder.embed([query])[0]
        return [ids[at] for at in np.argsort(-cosines, kind="stable")[:_POOL]]

    return rank


def _table(name: str, split: str, figures: Mapping[str, Mapping[str, Any]]) -> str:
    measures = [each for each in next(iter(figures.values())) if each not in {"ms", "questions"}]
    number = next(iter(figures.values()))["questions"]
    rows = [[contender, *_cells(results, measures), f"{results['ms']:.1f}"] for contender, results in figures.items()]
    headers = [f"{name}, {split}: {number} questions", *(h for m in measures for h in (m, f"x {BM25}")), "ms"]
    return tabulate(rows, headers, disable_numparse=True)


def _cells(results: Mapping[str, Any], measures: Iterable[str]) -> Iterator[str]:
    for measured in measures:
        each = results[measured]
        yield f"{each['mean']:.3f} ({each['low']:.3f}-{each['high']:.3f})"
        yield f"{each['ratio']:.2f} ({each['ratio_low']:.2f}-{each['ratio_high']:.2f})"


@entry_point
def main() -> None:
    """Measure what is given, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description=__doc__)
    parser.add_argument("--scifact", type=Path, metavar="DIR", help="folder of scifact_corpus and _claims (.jsonl.gz)")
    parser.add_argument("--pubmedqa", type=Path, metavar="FILE", help="the questions and abstracts (.jsonl.gz)")
    parser.add_argument("--cache", type=Path, metavar="FILE", help=".npz file that keeps the vectors between runs")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    given = {"SciFact": (arguments.scifact, scifact), "PubMedQA": (arguments.pubmedqa, pubmedqa)}
    remembered = RememberedEmbedder(arguments.cache)
    results: dict[str, dict[str, Any]] = {}
    for name, (path, read) in given.items():
        if path is None:
            say(f"{name} is not measured: no --{name.lower()} given; the data are not part of this project")
            continue
        task = read(path)
        with workplace(None, _NEEDED_BYTES) as folder:
            results[name] = measure(task, contenders(task, remembered, folder))
    if arguments.json:
        print(orjson.dumps(results, option=orjson.OPT_INDENT_2).decode())
        return
    for name, splits in results.items():
        for split, figures in splits.items():
            print(_table(name, split, figures), end="\n\n")


if __name__ == "__main__":
    main()
