"""Chunks of a document by characters: every character is in a chunk, and overlaps are exact."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from harness.core.chunking.boundaries import Chunk, cluster_end, paragraph_ends, sentence_starts, word_end
from harness.errors import InvalidInput

Strategy: TypeAlias = Literal["truncate", "fixed_size", "semantic", "hybrid"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
LOOK_AHEAD = 200
"""Characters after the cut that `truncate` reads, to find a sentence end before it."""


class Chunking(Struct, frozen=True, forbid_unknown_fields=True):
    """Options for cutting documents. Sizes are in characters (code points); no chunk is longer than `max_chunk_size`.

    - `truncate`: one chunk, the first `chunk_size` characters; the rest is left out.
    - `fixed_size`: chunks of `chunk_size`, each beginning `chunk_overlap` before the end of the one before.
    - `semantic`: whole paragraphs, as many as fit in `chunk_size`; a single one may have up to `max_chunk_size`. A
      longer one is cut into sentences, a longer sentence between words, a longer word anywhere. No overlap.
    - `hybrid`: the chunks of `semantic` for `max_chunk_size - chunk_overlap`, each with the `chunk_overlap` characters
      before it.

    With `preserve_sentence_boundaries`, a chunk of `truncate` ends with its last sentence, one of `fixed_size` at the
    end of the sentence or text that is nearest to `chunk_size`, between half of that and `max_chunk_size`, if there is
    one. Without it, a paragraph that is too long is cut between words.

    `fixed_size` and `hybrid` produce about `chunk_size / (chunk_size - chunk_overlap)` times the text.

    Raises:
        InvalidInput: an unknown strategy, `chunk_size` below 1, `chunk_overlap` below 0 or not below `chunk_size`, or
            `max_chunk_size` below `chunk_size`; for every strategy, so that it can be changed at any time.
    """

    strategy: Strategy = "hybrid"
    chunk_size: int = 1_000
    chunk_overlap: int = 100
    max_chunk_size: int = 1_500
    preserve_sentence_boundaries: bool = True

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise InvalidInput(f"no such chunking strategy: {self.strategy!r:.100}; choose {', '.join(STRATEGIES)}")
        if self.chunk_size < 1:
            raise InvalidInput(f"chunk_size must be at least 1 character, not {self.chunk_size}")
        if not 0 <= self.chunk_overlap < self.chunk_size:
            raise InvalidInput(
                f"chunk_overlap must be 0 to {self.chunk_size - 1}, less than chunk_size, not {self.chunk_overlap}"
            )
        if self.max_chunk_size < self.chunk_size:
            raise InvalidInput(
                f"max_chunk_size ({self.max_chunk_size}) must not be less than chunk_size ({self.chunk_size})"
            )


class Chunked(Struct, frozen=True):
    """The chunks of a document, in order, and the number of characters at its end in none: 0 except for `truncate`."""

    chunks: list[Chunk]
    left_out: int


def document_chunks(text: str, chunking: Chunking) -> Chunked:
    """Cut `text` into chunks; an empty one has none. Time and memory are linear in the size of the result.

    Every character, white space too, is in some chunk, in order; a chunk may be all white space. A chunk ends between
    two grapheme clusters, except inside one of more than 64 characters or longer than the chunk. Its start follows from
    the overlap, which is exact, so it may begin with a combining mark.
    """
    if not text:
        return Chunked([], 0)
    match chunking.strategy:
        case "truncate":
            spans = [(0, _truncated(text, chunking))]
        case "fixed_size":
            spans = list(_windows(text, chunking))
        case "semantic":
            spans = _overlapping(_packed(text, chunking, chunking.max_chunk_size), 0, len(text))
        case "hybrid":
            most = chunking.max_chunk_size - chunking.chunk_overlap
            spans = _overlapping(_packed(text, chunking, most), chunking.chunk_overlap, len(text))
    return Chunked([Chunk(text[start:end], start, end) for start, end in spans], len(text) - spans[-1][1])


def _truncated(text: str, chunking: Chunking) -> int:
    """Return the end of the only chunk."""
    size = chunking.chunk_size
    if len(text) <= size:
        return len(text)
    if chunking.preserve_sentence_boundaries:
        ends = [end for end in _sentence_ends(text[: size + LOOK_AHEAD]) if end <= size]
        if ends:
            return ends[-1]
    return cluster_end(text, 0, size)


def _windows(text: str, chunking: Chunking) -> Iterator[tuple[int, int]]:
    """Yield the chunks of `fixed_size`; each is longer than the overlap, so that each advances."""
    ends = list(_sentence_ends(text)) if chunking.preserve_sentence_boundaries else []
    size, overlap = chunking.chunk_size, chunking.chunk_overlap
    start = end = 0
    while len(text) - start > size:
        least, most = start + max(overlap, size // 2) + 1, start + chunking.max_chunk_size
        nearest = _nearest(ends, start + size, least, most) or cluster_end(text, end, start + size)
        end = nearest if nearest > start + overlap else start + size
        yield start, end
        if end == len(text):
            return
        start = end - overlap
    yield start, len(text)


def _nearest(ends: Sequence[int], at: int, least: int, most: int) -> int | None:
    """Return the one of `ends` from `least` to `most` that is nearest to `at`; of two, the earlier."""
    after = bisect_left(ends, at)
    near = (end for end in ends[max(0, after - 1) : after + 1] if least <= end <= most)
    return min(near, key=lambda end: abs(end - at), default=None)


def _sentence_ends(text: str) -> Iterator[int]:
    """Yield the end of each sentence and paragraph, including the white space after it."""
    start = 0
    for end in paragraph_ends(text):
        yield from sentence_starts(text, start, end)
        yield end
        start = end


def _packed(text: str, chunking: Chunking, most: int) -> Iterator[int]:
    """Yield the ends of chunks of as many pieces as fit in `chunk_size`, or of a single one of at most `most`."""
    size = min(chunking.chunk_size, most)
    start = before = 0
    for end in _pieces(text, size, most, by_sentences=chunking.preserve_sentence_boundaries):
        if end - start > size and before > start:
            yield before
            start = before
        before = end
    yield before


def _pieces(text: str, size: int, most: int, *, by_sentences: bool) -> Iterator[int]:
    """Yield the end of each paragraph; of the sentences of paragraphs longer than `most`; of parts of at most `size` of
    longer sentences.
    """
    start = 0
    for paragraph in paragraph_ends(text):
        whole = paragraph - start <= most or not by_sentences
        for end in chain(() if whole else sentence_starts(text, start, paragraph), [paragraph]):
            while end - start > most:
                start = word_end(text, start, start + size)
                yield start
            yield end
            start = end


def _overlapping(ends: Iterable[int], overlap: int, length: int) -> list[tuple[int, int]]:
    """Return chunks with these ends, each starting `overlap` before the end of the one before. A first one entirely
    inside the second is left out.
    """
    kept = [end for end in ends if end > overlap or end == length]
    return [(0, kept[0]), *((end - overlap, after) for end, after in pairwise(kept))]
