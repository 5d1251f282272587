"""Calls that the cache saves on a real query log: `python -m benchmarks.replay --log FILE`.

The log (gzipped JSON lines with `query`, in the order of asking) goes through a `Cache` whose engine is a function, so
live calls cost nothing and are counted. The clock does not move and nothing expires: the result is which queries find
an answer, not how long it stays good. Caches that decide by cosine alone over the same vectors are compared.

A log does not show which hits are right. `--sample FILE` writes a random sample of the semantic hits for a person to
judge; the last column of the table counts the pairs that this project's guards reject.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from tabulate import tabulate

from benchmarks.embeddings import RememberedEmbedder
from benchmarks.pairs import read_lines
from benchmarks.rows import SEED, at_least, entry_point, say, workplace
from benchmarks.shipped import decision, open_cache
from harness.cache import Answer, Results
from harness.core.entries import Hit
from harness.core.keys import normalise
from harness.errors import InvalidInput
from harness.storage.sqlite.store import SqliteStore

OURS = "this cache"
EXACT = "exact hits alone"
CUTS = {"cosine >= 0.60 (GPTCache's default)": 0.60, "cosine >= 0.85": 0.85, "cosine >= 0.90 (RedisVL's default)": 0.90}
CUTS |= {"cosine >= 0.95": 0.95}
TTL = 10 * 365 * 86_400.0
NOW = 1_577_836_800.0
"""The fixed time of the clock: 2020-01-01."""

SAMPLED = 200
BYTES_A_QUERY = 8_000

Reworded = tuple[str, str, float]
"""The query asked, the one whose answer was served, their similarity."""


@dataclass
class Replay:
    """Numbers of exact hits, semantic hits and engine calls for the queries of a log."""

    exact: int = 0
    semantic: int = 0
    live: int = 0
    reworded: Counter[Reworded] = field(default_factory=Counter)

    @property
    def asked(self) -> int:
        """All of them."""
        return self.exact + self.semantic + self.live


def usable(log: Path, limit: int | None) -> list[str]:
    """Read the queries of `log`, in its order; say how many are no queries."""
    queries = [row["query"] for row in read_lines(log)][:limit]
    kept = []
    for query in queries:
        try:
            normalise(query)
        except InvalidInput:
            continue
        kept.append(query)
    if len(kept) < len(queries):
        say(f"left out as unusable: {len(queries) - len(kept):,} of {len(queries):,}")
    if not kept:
        sys.exit(f"error: {log} holds no queries")
    return kept


def through_cache(queries: Sequence[str], folder: Path, embedder: RememberedEmbedder | None) -> Replay:
    """Ask `queries` of an empty cache; without an embedder it knows exact hits alone."""
    told = Replay()
    with closing(SqliteStore(folder / f"{'exact' if embedder is None else 'semantic'}.db")) as store:
        cache = open_cache(store, embedder, lambda: NOW)
        for query in queries:
            _count(told, query, cache.searches.answer(query, _engine, ttl=TTL))
    return told


def _engine(query: str, max_results: int) -> Results:
    del max_results
    return [{"title": query, "href": "https://engine.example/", "body": f"what there is about {query}"}]


def _count(told: Replay, query: str, answer: Answer[Results]) -> None:
    outcome = answer.outcome
    if not isinstance(outcome, Hit):
        told.live += 1
    elif outcome.found == "exact":
        told.exact += 1
    else:
        told.semantic += 1
        told.reworded[query, outcome.query, outcome.similarity] += 1


def by_cosine(queries: Sequence[str], embedder: RememberedEmbedder, least: float) -> Replay:
    """Ask `queries` of a cache that serves the nearest stored query's answer from a cosine of `least` up."""
    told = Replay()
    known: set[str] = set()
    stored: list[str] = []
    vectors = np.empty((len(set(queries)), embedder.dimension), dtype=np.float32)
    for query in queries:
        if normalise(query) in known:
            told.exact += 1
            continue
        vector = embedder.embed([query])[0]
        cosines = vectors[: len(stored)] @ vector
        if stored and cosines.max() >= least:
            told.semantic += 1
            told.reworded[query, stored[int(cosines.argmax())], float(cosines.max())] += 1
            continue
        told.live += 1
        vectors[len(stored)] = vector
        stored.append(query)
        known.add(normalise(query))
    return told


def write_sample(file: Path, reworded: Counter[Reworded]) -> None:
    """Write at most `SAMPLED` random pairs, the least similar first, with what the guards say of each."""
    pairs = sorted(reworded, key=lambda pair: pair[:2])
    chosen = random.Random(SEED).sample(pairs, min(SAMPLED, len(pairs)))
    rows = [
        (
            "[ ]",
            asked,
            served,
            f"{similarity:.3f}",
            reworded[asked, served, similarity],
            _guards(asked, served, similarity),
        )
        for asked, served, similarity in sorted(chosen, key=lambda pair: pair[2])
    ]
    headers = ("wrong", "asked", "served the answer to", "similarity", "times", "guards")
    head = f"{len(rows)} of {len(pairs):,} different semantic hits, at random. Mark what is wrong with an x.\n\n"
    file.write_text(head + tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True) + "\n")
    say(f"{len(rows)} semantic hits to judge are in {file}")


def _guards(asked: str, served: str, similarity: float) -> str:
    decided = decision(asked, served, similarity)
    said = [f"{each.guard}: {each.reason}" for each in decided.verdicts if each.reason]
    return "; ".join([f"these need {decided.required:.2f}", *said])


def _refused(reworded: Counter[Reworded]) -> int:
    """Count the different pairs that a guard of ours vetoes."""
    return sum(any(not each.passed for each in decision(*pair).verdicts) for pair in reworded)


def _show(replays: Mapping[str, Replay]) -> None:
    asked, exact_live = replays[OURS].asked, replays[EXACT].live
    print(f"{asked:,} queries, {exact_live:,} different ones\n")
    rows = [
        (
            name,
            *(f"{each / asked:.1%}" for each in (told.exact, told.semantic, told.exact + told.semantic)),
            f"{told.live:,}",
            f"{told.live / exact_live:.2f}",
            f"{len(told.reworded):,}",
            f"{_refused(told.reworded) / len(told.reworded):.1%}" if told.reworded else "",
        )
        for name, told in replays.items()
    ]
    headers = ("", "exact", "semantic", "hits", "live calls", "x exact", "different pairs", "we refuse")
    print(tabulate(rows, headers=headers, colalign=("left", *["right"] * 7), disable_numparse=True))


def _as_json(replays: Mapping[str, Replay]) -> dict[str, Any]:
    return {
        name: asdict(told) | {"reworded": len(told.reworded), "refused by our guards": _refused(told.reworded)}
        for name, told in replays.items()
    }


@entry_point
def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    parser.add_argument("--log", type=Path, metavar="FILE", required=True, help="query log (.jsonl.gz)")
    parser.add_argument("--limit", type=at_least(1), metavar="N", help="the first N queries only")
    parser.add_argument("--cache", type=Path, metavar="FILE", help=".npz file that keeps the vectors between runs")
    parser.add_argument("--sample", type=Path, metavar="FILE", help="write semantic hits for a person to judge")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for the database, removed at the end")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    queries = usable(arguments.log, arguments.limit)
    embedder = RememberedEmbedder(arguments.cache)
    embedder.prepare(queries)
    with workplace(arguments.data, BYTES_A_QUERY * len(queries) + 2**28) as folder:
        say(f"replaying {len(queries):,} queries ...")
        replays = {EXACT: through_cache(queries, folder, None), OURS: through_cache(queries, folder, embedder)}
    replays |= {name: by_cosine(queries, embedder, least) for name, least in CUTS.items()}
    if arguments.sample:
        write_sample(arguments.sample, replays[OURS].reworded)
    if arguments.json:
        print(orjson.dumps(_as_json(replays), option=orjson.OPT_INDENT_2).decode())
    else:
        _show(replays)


if __name__ == "__main__":
    main()
