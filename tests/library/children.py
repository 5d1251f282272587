"""Functions that tests run in other processes; the module imports little, so that many start quickly."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness.library import Library
from harness.storage.sqlite.store import SqliteStore
from tests.fakes import WordEmbedder
from tests.library.documents import NOW
from tests.storage import children


def update_together(path: str) -> tuple[int, int]:
    """Update the library of a file at the same moment as the other processes; return how many passages were added, and
    how many a search then finds.
    """
    assert children._meeting is not None
    store = SqliteStore(Path(path))
    library = Library(store, WordEmbedder(), clock=lambda: NOW + 600)
    children._meeting.wait(60)
    added = library.index.update()
    found = len(library.search("fact of many", 100, read=0))
    store.close()
    return added, found


class SlowEmbedder(WordEmbedder):
    """An embedder that writes a line for each call, and takes a while."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """See `Embedder.embed`."""
        sys.stdout.write("embedding\n")
        sys.stdout.flush()
        time.sleep(0.2)
        return super().embed(texts)


def update_until_killed(path: str) -> None:
    """Update the library of a file, slowly; the caller kills the process."""
    Library(SqliteStore(Path(path)), SlowEmbedder(), clock=lambda: NOW + 600).index.update(seconds=600)


if __name__ == "__main__":
    update_until_killed(sys.argv[1])
