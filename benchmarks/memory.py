"""Does a conversation remember what matters? `python -m benchmarks.memory --data DIR`, DIR with `locomo_turns`,
`locomo_qa` and `trec_cast` (.jsonl.gz), which are not in this project.

LoCoMo: two people talk over months. Two turns of a session that follow each other are one exchange, the first the
user's message, the second the reply (the last turn of an odd number has none); a turn is `NAME: text`, with the caption
of a shared picture. Every conversation has its own collection. A question should find the exchanges with the turns that
it is annotated with: recall is the share of them among the first 5 and 10. Questions without such turns are left out.
Constants were chosen on the conversations `TUNED` and are measured on the others.

TREC CAsT: the rewritten, self-contained questions of all topics of a year are stored, one thread per topic. A question
as it was asked ("is it treatable?") should find its rewritten form. First questions, and those that were not rewritten,
are left out. Constants were chosen on topics of even numbers and are measured on the others.

Start-up: run time of `harness chat` on an empty memory, and on one with many exchanges.
"""

import argparse
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tabulate import tabulate

from benchmarks.embeddings import RememberedEmbedder
from benchmarks.pairs import read_lines
from benchmarks.rows import SEED, at_least, entry_point, say, workplace
from benchmarks.timing import MILLISECOND, Contestant, Timing, interleaved, table
from harness.chat import Exchange, Memory
from harness.chat.exchanges import entry_of, iso
from harness.core.text import content_words, words
from harness.models.local.embedder import MiniLM
from harness.settings import VectorStoreSettings
from harness.storage.opening import DATABASE
from harness.storage.sqlite.entries import row_values
from harness.storage.sqlite.store import SqliteStore
from harness.storage.tables import TABLES

TUNED = frozenset({"conv-26", "conv-41"})
"""The conversations of LoCoMo on which `hybrid` was fitted."""

DEPTHS = (5, 10)
BM25 = "plain BM25"
COSINE = "plain cosine"
EMPTY = "no exchanges"
AS_ONE = "as one text, cosine"
MOST_SLOWER = 1.2
"""Limit for the extra start-up time on a full memory."""

_DEPTH = max(DEPTHS)
_RESAMPLES = 2_000
_NEEDED_BYTES = 2 * 2**30
_BYTES_AN_EXCHANGE = 8_000
_WORDS_AN_EXCHANGE = 100
_VOCABULARY = 20_000
_FILL_BATCH = 10_000

Rank = Callable[[str], Sequence[str]]
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A question, its conversation, and the exchanges that should be found."""

    text: str
    conversation: str
    relevant: frozenset[str]


# LoCoMo --------------------------------------------------------------------------------------------------------------


def locomo_exchanges(folder: Path) -> dict[str, list[Exchange]]:
    """Return the exchanges of every conversation, in order; the id names the turns that are in it."""
    held: dict[str, list[Exchange]] = {}
    turns = read_lines(folder / "locomo_turns.jsonl.gz")
    for (conversation, session), said in groupby(turns, key=lambda turn: (turn["conv"], turn["session"])):
        pairs = list(_in_pairs(said))
        began = datetime.strptime(pairs[0][0]["date"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        exchanges = held.setdefault(conversation, [])
        exchanges += [
            Exchange(
                id=f"{conversation}.{'.'.join(turn['dia_id'].replace(':', '-') for turn in pair)}",
                thread_id=conversation,
                session_id=f"{conversation}.{session}",
                user_message=_said(pair[0]),
                assistant_message=_said(pair[1]) if len(pair) > 1 else "",
                timestamp=(began + timedelta(minutes=at)).isoformat(),
                thread_continuation_seq=session - 1,
            )
            for at, pair in enumerate(pairs)
        ]
    return held


def _in_pairs(turns: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for turn in turns:
        other = next(turns, None)
        yield [turn] if other is None else [turn, other]


def _said(turn: Mapping[str, Any]) -> str:
    return f"{turn['speaker']}: {turn['text']}" + (f" [shares {turn['caption']}]" if turn["caption"] else "")


def locomo_questions(folder: Path, held: Mapping[str, Sequence[Exchange]]) -> list[Question]:
    """Return the questions that turns answer, each with the exchanges that hold these."""
    questions = []
    for row in read_lines(folder / "locomo_qa.jsonl.gz"):
        turns = {turn.replace(":", "-") for turn in row["evidence"]}
        relevant = frozenset(each.id for each in held[row["conv"]] if turns.intersection(each.id.split(".")[1:]))
        if relevant:
            questions.append(Question(row["question"], row["conv"], relevant))
    return questions


def locomo(folder: Path, remembered: RememberedEmbedder, work: Path) -> dict[str, Any]:
    """Ask every contender every question; return the figures of each, by what they were fitted on."""
    held = locomo_exchanges(folder)
    questions = locomo_questions(folder, held)
    remembered.prepare([each.text for each in (*chain.from_iterable(held.values()), *questions)])
    ranks = _contenders(held, remembered, work)
    found = {name: [rank[each.conversation](each.text) for each in questions] for name, rank in ranks.items()}
    splits = {
        f"the {len(held) - len(TUNED)} others": [
            at for at, each in enumerate(questions) if each.conversation not in TUNED
        ],
        "fitted on": [at for at, each in enumerate(questions) if each.conversation in TUNED],
        "all": list(range(len(questions))),
    }
    return {
        split: {
            "questions": len(at),
            "contenders": {
                name: {
                    f"recall@{depth}": _means(*(_recalls(questions, at, found[each], depth) for each in (name, BM25)))
                    for depth in DEPTHS
                }
                | {"returned": float(np.mean([len(found[name][number]) for number in at]))}
                for name in ranks
            },
        }
        for split, at in splits.items()
    }


def _contenders(
    held: Mapping[str, Sequence[Exchange]], embedder: RememberedEmbedder, work: Path
) -> dict[str, dict[str, Rank]]:
    """Return what each contender finds in each conversation, best first, at most 10."""
    store = SqliteStore(work / "locomo.db")
    ranks: dict[str, dict[str, Rank]] = {}
    for conversation, exchanges in held.items():
        for strategy in ("default", "dynamic", "hybrid"):
            settings = VectorStoreSettings(
                retrieval_strategy=strategy, context_results=_DEPTH, collection_name=conversation
            )
            memory = Memory(store, embedder, settings)
            if strategy == "default":
                for exchange in exchanges:
                    memory.writer.remember(exchange)
            ranks.setdefault(strategy, {})[conversation] = partial(_injected, memory)
            if strategy == "hybrid":
                ranks.setdefault("hybrid, all that is found", {})[conversation] = partial(_queried, memory)
        texts, ids = [each.text for each in exchanges], [each.id for each in exchanges]
        ranks.setdefault(COSINE, {})[conversation] = plain_cosine(ids, texts, embedder)
        ranks.setdefault(BM25, {})[conversation] = plain_bm25(ids, texts, content_words)
        ranks.setdefault(f"{BM25}, all words", {})[conversation] = plain_bm25(ids, texts, words)
    return ranks


def _injected(memory: Memory, text: str) -> list[str]:
    return [match.remembered.id for match in memory.search.context_for(text)]


def _queried(memory: Memory, text: str) -> list[str]:
    return [match.remembered.id for match in memory.search.query(text, _DEPTH)]


def plain_cosine(ids: Sequence[str], texts: Sequence[str], embedder: RememberedEmbedder) -> Rank:
    """Return what ranks all by the cosine."""
    vectors = embedder.embed(texts)
    return lambda query: [ids[at] for at in np.argsort(-(vectors @ embedder.embed([query])[0]), kind="stable")[:_DEPTH]]


def plain_bm25(ids: Sequence[str], texts: Sequence[str], terms: Callable[[str], list[str]]) -> Rank:
    """Return what ranks all by the BM25 of SQLite's FTS5, stemmed, of those words of a query that `terms` returns."""
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE held USING fts5 (text, tokenize = 'porter')")
    index.executemany("INSERT INTO held (rowid, text) VALUES (?, ?)", enumerate(texts))

    def rank(query: str) -> list[str]:
        expression = " OR ".join(f'"{word}"' for word in dict.fromkeys(terms(query)))
        found = index.execute("SELECT rowid FROM held WHERE held MATCH ? ORDER BY rank LIMIT ?", (expression, _DEPTH))
        return [ids[row] for (row,) in found]

    return rank


def _recalls(questions: Sequence[Question], at: Sequence[int], found: Sequence[Sequence[str]], depth: int) -> Scores:
    shares = [
        len(questions[number].relevant.intersection(found[number][:depth])) / len(questions[number].relevant)
        for number in at
    ]
    return np.array(shares)


def _means(scores: Scores, reference: Scores) -> dict[str, float]:
    """Return the mean with its interval (95 %), and its difference to the mean of `reference`, in pairs."""
    chosen = np.random.default_rng(SEED).integers(0, len(scores), (_RESAMPLES, len(scores)))
    low, high = np.percentile(scores[chosen].mean(axis=1), [2.5, 97.5])
    less, more = np.percentile((scores - reference)[chosen].mean(axis=1), [2.5, 97.5])
    return {
        "mean": float(scores.mean()),
        "low": float(low),
        "high": float(high),
        "more": float((scores - reference).mean()),
        "more_low": float(less),
        "more_high": float(more),
    }


# TREC CAsT -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FollowUp:
    """A question as it was asked, what was said before it, and what it should find."""

    text: str
    earlier: list[Exchange]
    wanted: str
    year: int
    topic: int


def cast(folder: Path, remembered: RememberedEmbedder, work: Path) -> dict[str, Any]:
    """Look every follow-up up with and without its context; return the figures of each way."""
    turns = list(read_lines(folder / "trec_cast.jsonl.gz"))
    store = SqliteStore(work / "cast.db")
    remembered.prepare([*(_asked(turn, "resolved").text for turn in turns), *(turn["raw"] for turn in turns)])
    for turn in turns:
        _memory(store, remembered, turn["year"], "hybrid", 0).writer.remember(_asked(turn, "resolved"))
    follow_ups = [each for each in _follow_ups(turns) if each.topic % 2]
    ways = {
        (strategy, window): [_found(store, remembered, each, strategy, window) for each in follow_ups]
        for strategy in ("default", "hybrid")
        for window in (0, 3)
    }
    ways[AS_ONE, 3] = [_found_as_one(store, remembered, each) for each in follow_ups]
    return {
        "follow-ups": len(follow_ups),
        "ways": {
            f"{strategy}, {'with' if window else 'without'} context": {
                f"recall@{depth}": float(
                    np.mean([each.wanted in at[:depth] for each, at in zip(follow_ups, found, strict=True)])
                )
                for depth in (1, 5)
            }
            for (strategy, window), found in ways.items()
        },
    }


def _follow_ups(turns: Sequence[Mapping[str, Any]]) -> Iterator[FollowUp]:
    for (year, topic), asked in groupby(turns, key=lambda turn: (turn["year"], turn["topic"])):
        before: list[Exchange] = []
        for turn in asked:
            if before and turn["raw"].strip() != turn["resolved"].strip():
                yield FollowUp(turn["raw"], list(before), _asked(turn, "resolved").id, year, topic)
            before.append(_asked(turn, "raw"))


def _asked(turn: Mapping[str, Any], which: str) -> Exchange:
    """Return a turn as an exchange; as it was asked, with what was answered, which is not what is looked for."""
    number = f"{turn['year']}.{turn['topic']}.{turn['turn']}"
    return Exchange(
        id=f"{which}.{number}",
        thread_id=f"{which}.{turn['year']}.{turn['topic']}",
        session_id=f"{which}.{turn['year']}.{turn['topic']}",
        user_message=turn[which],
        assistant_message=(turn["response"] or "") if which == "raw" else "",
        timestamp=(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=_minute(turn))).isoformat(),
    )


def _minute(turn: Mapping[str, Any]) -> float:
    number = str(turn["turn"]).replace("-", ".").split(".")  # turns of trees are written as 1-2 or 1.2
    return float(number[0]) + (float(number[1]) / 100 if len(number) > 1 else 0.0)


def _memory(store: SqliteStore, embedder: RememberedEmbedder, year: int, strategy: str, window: int) -> Memory:
    settings = VectorStoreSettings(
        collection_name=f"cast-{year}",
        retrieval_strategy=strategy,
        search_context_window=window,
        similarity_threshold=0.0,
    )
    key = (year, strategy, window)
    if key not in _memories:
        _memories[key] = Memory(store, embedder, settings)
    return _memories[key]


_memories: dict[tuple[int, str, int], Memory] = {}


def _found(store: SqliteStore, embedder: RememberedEmbedder, each: FollowUp, strategy: str, window: int) -> list[str]:
    memory = _memory(store, embedder, each.year, strategy, window)
    return [match.remembered.id for match in memory.search.context_for(each.text, each.earlier)]


def _found_as_one(store: SqliteStore, embedder: RememberedEmbedder, each: FollowUp) -> list[str]:
    """Look up the question and the earlier ones as one text, as is usual."""
    text = "\n".join([*(said.user_message for said in each.earlier[-3:]), each.text])
    memory = _memory(store, embedder, each.year, "default", 0)
    return [match.remembered.id for match in memory.search.query(text, 5)]


# Start-up ------------------------------------------------------------------------------------------------------------


def start_up(work: Path, exchanges: int, runs: int) -> dict[str, Any]:
    """Start the chat on an empty and on a full memory, in turns; then look up in the full one, twice."""
    empty, full = work / "empty", work / "full"
    for folder in (empty, full):
        folder.mkdir()
        SqliteStore(folder / DATABASE).close()
    fill(full / DATABASE, exchanges)
    timings = _starts(empty, full, exchanges, runs)
    return {"timings": timings, "look-ups": _look_ups(full / DATABASE)}


def fill(database: Path, exchanges: int) -> None:
    """Store so many exchanges of random words and vectors, by the store's own statement."""
    chance = np.random.default_rng(SEED)
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # a benchmark's file may be lost
        for start in range(0, exchanges, _FILL_BATCH):
            connection.execute("BEGIN")
            numbers = range(start, min(start + _FILL_BATCH, exchanges))
            connection.executemany(TABLES["memory"].upsert, (_row(number, chance) for number in numbers))
            connection.execute("COMMIT")


def _row(number: int, chance: np.random.Generator) -> tuple[Any, ...]:
    # the n-th most frequent word of 20,000 is as frequent as in English: 1 / n, but for the few that come first
    ranks = 10 * (_VOCABULARY / 10 + 1) ** chance.random(_WORDS_AN_EXCHANGE) - 10
    said = [f"word{int(rank)}" for rank in ranks]
    thread = f"thread-{number // 20}"
    exchange = Exchange(
        id=f"exchange-{number}",
        thread_id=thread,
        session_id=thread,
        user_message=" ".join(said[:20]),
        assistant_message=" ".join(said[20:]),
        timestamp=iso(1_700_000_000.0 + 60 * number),
    )
    vector = chance.standard_normal(MiniLM.dimension).astype(np.float32)
    entry = entry_of(exchange, "conversations", (vector / np.linalg.norm(vector)).tobytes(), MiniLM.id)
    return row_values(TABLES["memory"], "default", entry)


def _starts(empty: Path, full: Path, exchanges: int, runs: int) -> dict[str, Timing]:
    program = str(Path(sys.executable).parent / "harness")

    def start(folder: Path) -> None:
        environment = os.environ | {"HARNESS_DATA_DIR": str(folder)}
        subprocess.run(
            [program, "chat", "--dummy"], env=environment, input=b"/quit\n", stdout=subprocess.DEVNULL, check=True
        )

    contestants = [
        Contestant(EMPTY, _no_arguments, partial(start, empty)),
        Contestant(f"{exchanges:,} exchanges", _no_arguments, partial(start, full)),
    ]
    return interleaved(contestants, [[None]] * (1 + runs), warm_up=1)


def _no_arguments(task: None) -> tuple[()]:
    del task
    return ()


def _look_ups(database: Path) -> list[float]:
    """Return the seconds of a first look-up, with loading the model and indexing words, and, once the index of vectors
    is whole, of five more.
    """
    with closing(SqliteStore(database)) as store, closing(Memory(store, MiniLM())) as memory:
        taken = []
        for number in range(6):
            start = time.perf_counter()
            memory.search.context_for(f"what was it that I said about word{number + 30} and word{number + 90}")
            taken.append(time.perf_counter() - start)
            if not number:
                store.admin.reindex()
    return taken


# Telling -------------------------------------------------------------------------------------------------------------


def _show_locomo(figures: Mapping[str, Any]) -> None:
    for split, results in figures.items():
        rows = [
            [name, *(cell for depth in DEPTHS for cell in _cells(each[f"recall@{depth}"])), f"{each['returned']:.1f}"]
            for name, each in results["contenders"].items()
        ]
        measures = [header for depth in DEPTHS for header in (f"recall@{depth}", f"- {BM25}")]
        headers = [f"LoCoMo, {split}: {results['questions']} questions", *measures, "returned"]
        print(tabulate(rows, headers, disable_numparse=True), end="\n\n")


def _cells(results: Mapping[str, float]) -> tuple[str, str]:
    return (
        f"{results['mean']:.3f} ({results['low']:.3f}-{results['high']:.3f})",
        f"{results['more']:+.3f} ({results['more_low']:+.3f} to {results['more_high']:+.3f})",
    )


def _show_cast(figures: Mapping[str, Any]) -> None:
    rows = [[name, *(f"{each:.3f}" for each in results.values())] for name, results in figures["ways"].items()]
    print(tabulate(rows, [f"TREC CAsT: {figures['follow-ups']} follow-ups", "recall@1", "recall@5"]), end="\n\n")


def _show_start(figures: Mapping[str, Any]) -> None:
    timings = figures["timings"]
    print(table("start to end of `harness chat`", timings, references={"x empty": EMPTY}, unit="ms"), end="\n\n")
    few, many = (timing.p50 / MILLISECOND for timing in timings.values())
    print(f"a start on the full memory takes {many / few:.2f} times as long; at most {MOST_SLOWER:.2f} may be")
    first, *others = figures["look-ups"]
    print(f"a first look-up takes {1000 * first:.0f} ms, a later one {1000 * float(np.median(others)):.0f} ms")


@entry_point
def main() -> None:
    """Run the command: measure and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the conversations (.jsonl.gz)")
    parser.add_argument("--cache", type=Path, metavar="FILE", help=".npz file that keeps the vectors between runs")
    parser.add_argument("--exchanges", type=at_least(0), default=100_000, help="of the full memory; 0: no start-up")
    parser.add_argument("--runs", type=at_least(3), default=10, help="starts of each (%(default)s)")
    arguments = parser.parse_args()
    remembered = RememberedEmbedder(arguments.cache)
    with workplace(None, _NEEDED_BYTES + _BYTES_AN_EXCHANGE * arguments.exchanges) as work:
        if arguments.data is None:
            say("retrieval is not measured: no --data given; the data are not part of this project")
        else:
            _show_locomo(locomo(arguments.data, remembered, work))
            _show_cast(cast(arguments.data, remembered, work))
        if arguments.exchanges:
            _show_start(start_up(work, arguments.exchanges, arguments.runs))


if __name__ == "__main__":
    main()
