"""Context for a model or a person: the matching chunks and their neighbours."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from harness.cache import Cache
from harness.research.evidence import Evidence
from harness.research.gathering import GatheredSource, documents_of
from harness.research.scoring import ChunkSet
from harness.vector_cache import Anchor, StoredChunk


class ChunkReader(Protocol):
    """Reader of single chunks."""

    def chunk(self, document: str, index: int) -> StoredChunk | None:
        """Return one chunk of a document, or `None` if there is no such chunk."""


class Window(Struct, frozen=True):
    """Neighbouring chunks of one document, in document order, as one text. `similarity` is that of the best anchor
    among them; `first` and `last` are chunk indices.
    """

    document: str
    section: str
    first: int
    last: int
    text: str
    similarity: float


class ShownSource(Struct, frozen=True):
    """A source and the part of its text that a model is shown; an empty line separates paragraphs."""

    source: GatheredSource
    text: str


def cached_context(
    evidence: Sequence[Evidence], chunk_set: ChunkSet, cache: Cache, *, budget: int, ttl: float
) -> list[ShownSource]:
    """Return the context for a model: the chunks that hold the evidence (best first), widened by their neighbours,
    grouped by source, at most `budget` tokens of the embedder. If not even one chunk fits: the best excerpt.

    Raises:
        EmbeddingError: a source is no longer in the chunk store and cannot be added again.
        StoreError: the cache or the chunks cannot be read.
    """
    sources = {found.source.url: found.source for found in evidence}
    ranking = f"{chunk_set.code.context} {budget} {chunk_set.chunking_id}"
    made_of = ([source.undated for source in sources.values()], [(found.document, found.chunk) for found in evidence])
    kept = cache.derived.get(
        chunk_set.question,
        ranking,
        made_of,
        lambda: _context(evidence, chunk_set, budget),
        list[tuple[str, str]],
        ttl=ttl,
    )
    if any(url not in sources for url, _ in kept):  # the cached row comes from another user's file
        kept = _context(evidence, chunk_set, budget)
    return [ShownSource(sources[url], text) for url, text in kept]


def _context(evidence: Sequence[Evidence], chunk_set: ChunkSet, budget: int) -> list[tuple[str, str]]:
    """Return (URL, text) pairs."""
    chunk_set.chunks_of(documents_of({found.source.url: found.source for found in evidence}.values()))
    anchors = {
        (found.document, found.chunk): Anchor(text=chunk.text, metadata=chunk.metadata, similarity=found.similarity)
        for found in reversed(evidence)
        if (chunk := chunk_set.chunk(found.document, found.chunk))
    }
    best_first = list(anchors.values())[::-1]
    windows = build_context(best_first, chunk_set, budget=budget, count=chunk_set.embedder.count_tokens)
    of = {found.document: found.source.url for found in evidence}
    texts = [(of[window.document], window.text) for window in windows]
    texts = texts or [(found.source.url, " ".join(found.sentences)) for found in evidence[:1]]
    urls = dict.fromkeys(url for url, _ in texts)
    return [(url, "\n\n".join(text for found, text in texts if found == url)) for url in urls]


def build_context(
    anchors: Sequence[Anchor], chunks: ChunkReader, *, budget: int, count: Callable[[Sequence[str]], Sequence[int]]
) -> list[Window]:
    """Return the anchors (best first), widened by their neighbours up to `budget` tokens in total.

    Anchors come first: one that does not fit is skipped and the next one tried. Then each gets the chunk before it and
    the chunk after it, in turn, then the next ones. Touching or overlapping chunks become one window. Documents are
    ordered by their best anchor, the windows of a document by position. `count` returns the number of tokens of each
    text.

    Raises:
        StoreError: the chunks cannot be read.
    """
    chosen: dict[str, dict[int, str]] = {}
    left = budget

    def take(document: str, index: int, text: str) -> bool:
        nonlocal left
        held = chosen.setdefault(document, {})
        cost = 0 if index in held else count([text])[0]
        if cost > left:
            return False
        left -= cost
        held[index] = text
        return True

    kept = [anchor for anchor in anchors if take(*_place(anchor), anchor.text)]
    pending = [(*_place(anchor), step) for anchor in kept for step in (-1, 1)]
    while pending and left > 0:
        widened = []
        for document, index, step in pending:
            neighbour = chunks.chunk(document, index + step) if index + step >= 0 else None
            if neighbour is not None and take(document, index + step, neighbour.text):
                widened.append((document, index + step, step))
        pending = widened
    return [window for document in chosen for window in _windows(document, chosen[document], kept)]


def _windows(document: str, held: dict[int, str], anchors: Sequence[Anchor]) -> list[Window]:
    """Join neighbouring chunks into windows."""
    runs: list[list[int]] = []
    for index in sorted(held):
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    windows = []
    for run in runs:
        matched = [anchor for anchor in anchors if _place(anchor)[0] == document and _place(anchor)[1] in run]
        best = max(matched, key=lambda anchor: anchor.similarity)
        text = "\n\n".join(held[index] for index in run)
        section = str(best.metadata["section"])
        windows.append(Window(document, section, run[0], run[-1], text, best.similarity))
    return windows


def _place(anchor: Anchor) -> tuple[str, int]:
    return str(anchor.metadata["document"]), int(anchor.metadata["chunk_index"])
