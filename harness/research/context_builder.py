"""Context for a model or a person: the matching chunks and their neighbours."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from harness.cache import Cache
from harness.research.evidence import Evidence
from harness.research.gathering import GatheredSource, documents_of
from harness.research.scoring import ChunkSet
from harness.vector_cache import StoredChunk


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
    best_first = list(dict.fromkeys((found.document, found.chunk) for found in reversed(evidence)))[::-1]
    windows = build_context(best_first, chunk_set.chunk, budget=budget, count=chunk_set.embedder.count_tokens)
    of = {found.document: found.source.url for found in evidence}
    texts = [(of[document], "\n\n".join(window.values())) for document, window in windows]
    texts = texts or [(found.source.url, " ".join(found.sentences)) for found in evidence[:1]]
    urls = dict.fromkeys(url for url, _ in texts)
    return [(url, "\n\n".join(text for found, text in texts if found == url)) for url in urls]


def build_context(
    anchors: Sequence[tuple[str, int]],
    chunk_of: Callable[[str, int], StoredChunk | None],
    *,
    budget: int,
    count: Callable[[Sequence[str]], Sequence[int]],
) -> list[tuple[str, dict[int, str]]]:
    """Return the anchors (documents and indices of chunks, best first), widened by their neighbours up to `budget`
    tokens in total: windows of a document and the texts of neighbouring chunks by index, in order.

    Anchors come first: one that does not fit is skipped and the next one tried. Then each gets the chunk before it and
    the chunk after it, in turn, then the next ones. Touching or overlapping chunks become one window. Documents are
    ordered by their best anchor, the windows of a document by position. `chunk_of` returns a chunk, `None` if there is
    none; `count` the number of tokens of each text.

    Raises:
        StoreError: the chunks cannot be read.
    """
    chosen: dict[str, dict[int, str]] = {}
    left = budget

    def take(document: str, index: int) -> bool:
        nonlocal left
        if (chunk := chunk_of(document, index)) is None:
            return False
        held = chosen.setdefault(document, {})
        cost = 0 if index in held else count([chunk.text])[0]
        if cost > left:
            return False
        left -= cost
        held[index] = chunk.text
        return True

    pending = [(*anchor, step) for anchor in anchors if take(*anchor) for step in (-1, 1)]
    while pending and left > 0:
        wider = [(document, index + step, step) for document, index, step in pending]
        pending = [each for each in wider if take(*each[:2])]
    return [(document, window) for document, held in chosen.items() for window in _windows(held)]


def _windows(held: Mapping[int, str]) -> Iterator[dict[int, str]]:
    """Yield the chunks in runs of neighbours."""
    for _, run in groupby(enumerate(sorted(held)), key=lambda each: each[1] - each[0]):  # equal for neighbours
        yield {index: held[index] for _, index in run}
