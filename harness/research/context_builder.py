"""What a model, or a person, is shown around the chunks that matched."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from harness.cache import Cache
from harness.research.evidence import Evidence
from harness.research.gathering import Source, documents_of
from harness.research.scoring import Holdings
from harness.vector_cache import Anchor, StoredChunk


class Chunks(Protocol):
    """Where the neighbours of a chunk are."""

    def chunk(self, document: str, index: int) -> StoredChunk | None:
        """Return one chunk of a document, or `None` when there is no such chunk."""


class Window(Struct, frozen=True):
    """Neighbouring chunks of one document, in its order, as one text. `similarity` is that of the best anchor among
    them, as it was found; `first` and `last` are chunk indices.
    """

    document: str
    section: str
    first: int
    last: int
    text: str
    similarity: float


class Shown(Struct, frozen=True):
    """A source, and what of its text a model is shown; paragraphs are apart by an empty line."""

    source: Source
    text: str


def cached_context(
    evidence: Sequence[Evidence], holdings: Holdings, cache: Cache, *, budget: int, ttl: float
) -> list[Shown]:
    """Return what a model is to be shown: the chunks that the evidence (best first) stands in, widened by what stands
    beside them, by source; at most `budget` tokens of the embedder. Where not even one chunk fits, the best excerpt.

    Raises:
        EmbeddingError: a source is no longer in the chunk store, and cannot be put there.
        StoreError: the cache or the chunks cannot be read.
    """
    sources = {found.source.url: found.source for found in evidence}
    ranking = f"{holdings.code.context} {budget} {holdings.way}"
    made_of = (list(sources.values()), [(found.document, found.chunk) for found in evidence])
    kept = cache.derived.get(
        holdings.question,
        ranking,
        made_of,
        lambda: _context(evidence, holdings, budget),
        list[tuple[str, str]],
        ttl=ttl,
    )
    if any(url not in sources for url, _ in kept):  # from a file of somebody else
        kept = _context(evidence, holdings, budget)
    return [Shown(sources[url], text) for url, text in kept]


def _context(evidence: Sequence[Evidence], holdings: Holdings, budget: int) -> list[tuple[str, str]]:
    """Return addresses and texts."""
    holdings.chunks_of(documents_of({found.source.url: found.source for found in evidence}.values()))
    anchors = {
        (found.document, found.chunk): Anchor(text=chunk.text, metadata=chunk.metadata, similarity=found.similarity)
        for found in reversed(evidence)
        if (chunk := holdings.chunk(found.document, found.chunk))
    }
    best_first = list(anchors.values())[::-1]
    windows = build_context(best_first, holdings, budget=budget, count=holdings.embedder.count_tokens)
    of = {found.document: found.source.url for found in evidence}
    texts = [(of[window.document], window.text) for window in windows]
    texts = texts or [(found.source.url, " ".join(found.sentences)) for found in evidence[:1]]
    urls = dict.fromkeys(url for url, _ in texts)
    return [(url, "\n\n".join(text for found, text in texts if found == url)) for url in urls]


def build_context(
    anchors: Sequence[Anchor], chunks: Chunks, *, budget: int, count: Callable[[Sequence[str]], Sequence[int]]
) -> list[Window]:
    """Return the anchors (best first), widened by their neighbours while all together take at most `budget` tokens.

    Anchors come first: one that no longer fits is left out, and the next is tried. Then each gets the chunk before and
    the one behind, in turn, then the next ones. What touches or overlaps becomes one window; the documents come in the
    order of their best anchor, the windows of one in its own. `count` returns how many tokens texts have.

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
    """Join neighbours."""
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
