"""Chunks of a document by characters: every character is in some chunk, and what chunks share is exact."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from harness.core.chunking.boundaries import Chunk, cluster_end, paragraph_ends, sentence_starts, word_end
from harness.errors import InvalidInput

Strategy: TypeAlias = Literal["truncate", "fixed_size", "semantic", "hybrid"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
LOOK_AHEAD = 200
"""Characters after a cut that `truncate` reads, to see whether a sentence ends before it."""


class Chunking(Struct, frozen=True, forbid_unknown_fields=True):
    """How documents are cut. Sizes are in characters (code points); no chunk is ever longer than `max_chunk_size`.

    - `truncate`: one chunk, the first `chunk_size` characters; the rest is left out.
    - `fixed_size`: chunks of `chunk_size`, each beginning `chunk_overlap` before the end of the last.
    - `semantic`: paragraphs, as many as `chunk_size` takes together; one alone may be as long as `max_chunk_size`. A
      longer one is cut into sentences, a longer sentence between words, a longer word anywhere. Chunks share nothing.
    - `hybrid`: the chunks of `semantic` for `max_chunk_size - chunk_overlap`, each with the `chunk_overlap` characters
      before it.

    With `preserve_sentence_boundaries` a chunk of `truncate` ends where the last sentence in it does, one of
    `fixed_size` at the sentence's end, or the text's, that is nearest to `chunk_size`, between half of that and
    `max_chunk_size`; where there is none, as without. Without it, a paragraph that is too long is cut between words.

    `fixed_size` and `hybrid` make about `chunk_size / (chunk_size - chunk_overlap)` times the text.

    Raises:
        InvalidInput: no such strategy, `chunk_size` below 1, `chunk_overlap` below 0 or not below `chunk_size`, or
            `max_chunk_size` below `chunk_size`; whatever the strategy, so that another one can be chosen at any time.
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
    """The chunks of a document, in order, and how many characters at its end are in none: 0 but for `truncate`."""

    chunks: list[Chunk]
    left_out: int


def document_chunks(text: str, chunking: Chunking) -> Chunked:
    """Cut `text` into chunks; an empty one has none. Takes time and memory in proportion to what comes out.

    Every character, white space too, is in some chunk, in order; a chunk may be nothing but white space. A chunk ends
    between two grapheme clusters, but in one of more than 64 characters or longer than the chunk. Where one begins
    follows from the overlap, which is exact, so that it may begin with a mark of a letter that it does not have.
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
    """Return where the only chunk ends."""
    size = chunking.chunk_size
    if len(text) <= size:
        return len(text)
    if chunking.preserve_sentence_boundaries:
        ends = [end for end in _sentence_ends(text[: size + LOOK_AHEAD]) if end <= size]
        if ends:
            return ends[-1]
    return cluster_end(text, 0, size)


def _windows(text: str, chunking: Chunking) -> Iterator[tuple[int, int]]:
    """Yield the chunks of `fixed_size`; each has more than the overlap, so that each goes on."""
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
    """Return which of `ends` from `least` to `most` is nearest to `at`, the earlier one of two as near."""
    after = bisect_left(ends, at)
    near = (end for end in ends[max(0, after - 1) : after + 1] if least <= end <= most)
    return min(near, key=lambda end: abs(end - at), default=None)


def _sentence_ends(text: str) -> Iterator[int]:
    """Yield where each sentence and paragraph ends, the white space after it included."""
    start = 0
    for end in paragraph_ends(text):
        yield from sentence_starts(text, start, end)
        yield end
        start = end


def _packed(text: str, chunking: Chunking, most: int) -> Iterator[int]:
    """Yield where chunks end that are as many pieces as `chunk_size` takes, or a single one of at most `most`."""
    size = min(chunking.chunk_size, most)
    start = before = 0
    for end in _pieces(text, size, most, by_sentences=chunking.preserve_sentence_boundaries):
        if end - start > size and before > start:
            yield before
            start = before
        before = end
    yield before


def _pieces(text: str, size: int, most: int, *, by_sentences: bool) -> Iterator[int]:
    """Yield the end of each paragraph; of longer ones than `most`, that of their sentences; of longer ones, of parts of
    at most `size`.
    """
    start = 0
    for paragraph in paragraph_ends(text):
        whole = paragraph - start <= most or not by_sentences
        for end in [paragraph] if whole else _and_last(sentence_starts(text, start, paragraph), paragraph):
            while end - start > most:
                start = word_end(text, start, start + size)
                yield start
            yield end
            start = end


def _and_last(ends: Iterable[int], last: int) -> Iterator[int]:
    yield from ends
    yield last


def _overlapping(ends: Iterable[int], overlap: int, length: int) -> list[tuple[int, int]]:
    """Return chunks that end there and begin so far before the end of the last. A first one that would be wholly in
    the second is left out.
    """
    kept = [end for end in ends if end > overlap or end == length]
    return [(0, kept[0]), *((end - overlap, after) for end, after in pairwise(kept))]
