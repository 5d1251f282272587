"""A library of many passages: searches without reading, and adding pages: `python -m benchmarks.library`.

Passages are drawn words with random unit vectors, stored without the program's own checks, so that filling takes
seconds. PostgreSQL is measured, too, if `--url` names a database.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tabulate import tabulate

from benchmarks.rows import at_least, entry_point, workplace
from benchmarks.timing import MILLISECOND, Timing
from harness.core.entries import Entry
from harness.core.freshness import NEVER
from harness.core.tables import LIBRARY, LibraryColumns
from harness.library import Library, LibraryPolicy, ReadDocument
from harness.ports import Store
from harness.storage.sqlite.store import SqliteStore

DIMENSION = 384
VOCABULARY = 20_000
WORDS = 150
BYTES_A_PASSAGE = 8_000
UNLIMITED = 1_000_000
"""MiB that no size here reaches: adding a page would first delete what is beyond the limit."""
BATCH = 1_000
QUESTIONS = 50
QUESTION_WORDS = 6
STOPPED = 50
"""The most frequent words, which are no content words."""
_UPTO = np.cumsum(1 / np.arange(STOPPED, STOPPED + VOCABULARY))
PAGE_PASSAGES = 20


class Drawn:
    """An embedder that draws a unit vector for each text, in no time."""

    id = "drawn-384"
    dimension = DIMENSION

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        return np.stack([_vector(text) for text in texts])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`."""
        return [len(text.split()) for text in texts]


def passages(count: int, seed: int = 3) -> Iterator[Entry]:
    """Yield rows of drawn passages."""
    chance, draw = random.Random(seed), np.random.default_rng(seed)
    now = time.time()
    for number in range(count):
        text = words(draw, WORDS)
        own = LibraryColumns(
            f"document {number // 5}", f"https://example.org/{number // 5}", f"Page {number}", "page", "web"
        )
        key = sha256(text.encode()).hexdigest()
        vector = _vector(str(chance.random()))
        yield Entry(key, text, b"{}", now, NEVER, now, own, vector.tobytes(), Drawn.id)


def words(draw: np.random.Generator, count: int) -> str:
    """Return drawn words; the frequency of each is inverse to its rank."""
    places = np.searchsorted(_UPTO, draw.random(count) * _UPTO[-1])
    return " ".join(f"word{place}" for place in places)


def fill(store: Store, count: int) -> float:
    """Put rows into the library; return the seconds."""
    started, batch = time.perf_counter(), list[Entry]()
    for number, row in enumerate(passages(count), start=1):
        batch.append(row)
        if len(batch) == BATCH or number == count:
            store.rows.replace(LIBRARY, "default", batch, instead_of={"document": "none"})
            batch = []
    store.admin.reindex()
    return time.perf_counter() - started


def measured(store: Store, count: int) -> tuple[str, ...]:
    """Return the figures of one library."""
    filled = fill(store, count)
    library = Library(store, Drawn(), policy=LibraryPolicy(max_mb=UNLIMITED))
    started = time.perf_counter()
    library.search("word17 word230 first", 20, read=0)
    first = time.perf_counter() - started
    times = []
    for number in range(QUESTIONS):
        draw = np.random.default_rng(number)
        question = words(draw, QUESTION_WORDS)
        began = time.perf_counter_ns()
        library.search(question, 20, read=0)
        times.append(time.perf_counter_ns() - began)
    searches = Timing(times)
    text = "\n\n".join(row.text for row in passages(PAGE_PASSAGES, seed=9))
    now = time.time()
    page = ReadDocument(
        url="https://example.org/new", title="New", text=text, source="page", fetched_at=now, expires_at=now + 9
    )
    began = time.perf_counter()
    added = library.index.add(page)
    adding = 1000 * (time.perf_counter() - began) / added
    return (
        type(store).__name__.removesuffix("Store"),
        f"{count:,}",
        f"{filled:.0f}",
        f"{first:.1f}",
        f"{searches.p50 / MILLISECOND:.0f}",
        f"{searches.percentile(95) / MILLISECOND:.0f}",
        f"{adding:.2f}",
    )


def _vector(text: str) -> NDArray[np.float32]:
    drawn = np.random.default_rng(int.from_bytes(sha256(text.encode()).digest()[:8], "big")).standard_normal(DIMENSION)
    unit: NDArray[np.float32] = (drawn / np.linalg.norm(drawn)).astype(np.float32)
    return unit


@entry_point
def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.library", description=__doc__)
    parser.add_argument(
        "--passages", type=at_least(1), nargs="+", default=[10_000, 100_000], help="sizes (%(default)s)"
    )
    parser.add_argument("--url", help="a PostgreSQL database to fill, too")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for the files, removed at the end")
    arguments = parser.parse_args()
    rows = []
    with workplace(arguments.data, BYTES_A_PASSAGE * max(arguments.passages)) as folder:
        for count in arguments.passages:
            store = SqliteStore(folder / f"{count}.db")
            rows.append(measured(store, count))
            store.close()
            if arguments.url:
                from harness.storage.postgres.store import PostgresStore

                team = PostgresStore(arguments.url)
                team.admin.clear(LIBRARY, "default")
                rows.append(measured(team, count))
                team.close()
    headers = ("store", "passages", "filled in s", "first search s", "search p50 ms", "p95 ms", "adding ms a passage")
    print(tabulate(rows, headers=headers, disable_numparse=True))


if __name__ == "__main__":
    main()
