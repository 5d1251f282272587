"""Vectors stored between runs: embedding tens of thousands of texts takes ten minutes."""

import multiprocessing
import os
import sys
import time
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import orjson

from benchmarks.rows import say
from harness.models.local.embedder import MiniLM
from harness.ports import Vectors

_PROCESSES = 2
_CHUNK = 500
_TELL_EVERY_S = 30.0


class RememberedEmbedder:
    """MiniLM, but a text whose vector is known is not embedded again. `file` (.npz), if given, keeps the vectors.

    Raises:
        SystemExit: if the file holds another embedder's vectors.
    """

    id = MiniLM.id
    dimension = MiniLM.dimension

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._model = MiniLM()
        self._known: dict[str, Vectors] = {}
        if file is not None and file.exists():
            self._load(file)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        unknown = [text for text in texts if text not in self._known]
        self._known.update(zip(unknown, self._model.embed(unknown), strict=True))
        return np.stack([self._known[text] for text in texts])

    def prepare(self, texts: Iterable[str]) -> None:
        """Embed what is not known yet, in two processes, and save all; what is done is saved if this is interrupted."""
        unknown = sorted(set(texts) - self._known.keys())
        if not unknown:
            return
        say(f"embedding {len(unknown):,} texts, about {max(1, len(unknown) // 12_000)} min ...")
        chunks = [unknown[start : start + _CHUNK] for start in range(0, len(unknown), _CHUNK)]
        told = time.monotonic()
        with multiprocessing.get_context("spawn").Pool(_PROCESSES) as pool:
            try:
                for number, vectors in enumerate(pool.imap(_embedded, chunks)):
                    self._known.update(zip(chunks[number], vectors, strict=True))
                    if time.monotonic() - told > _TELL_EVERY_S:
                        told = time.monotonic()
                        say(f"  {(number + 1) * _CHUNK:,} of {len(unknown):,}")
            finally:
                self._save()

    def _load(self, file: Path) -> None:
        with np.load(file, allow_pickle=False) as kept:
            if str(kept["embedder"]) != self.id:
                sys.exit(f"error: {file} holds vectors of {kept['embedder']}, not of {self.id}; pass another --cache")
            self._known = dict(zip(orjson.loads(kept["texts"].tobytes()), kept["vectors"], strict=True))

    def _save(self) -> None:
        if self._file is None or not self._known:
            return
        texts = np.frombuffer(orjson.dumps(list(self._known)), dtype=np.uint8)
        unfinished = self._file.with_name(f"{self._file.name}.{os.getpid()}.npz")  # np.savez adds .npz to other names
        np.savez(unfinished, embedder=np.array(self.id), texts=texts, vectors=np.stack(list(self._known.values())))
        unfinished.replace(self._file)


def _embedded(texts: list[str]) -> Vectors:
    """Embed in a process of the pool: one text a call, or each process would start threads for both cores."""
    return np.concatenate([_model().embed([text]) for text in texts])


@cache
def _model() -> MiniLM:
    return MiniLM()
