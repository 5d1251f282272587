"""Chunks of a document by tokens, for an embedder with a limited input."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from harness.core.chunking.boundaries import WORD, Chunk, is_break, sentence_ends
from harness.errors import InvalidInput

CHARS_A_TOKEN = 100
"""Most characters per token of the limit: a tokenizer may count a long blob as one token."""

_ROUNDING = 1e-6


class _Piece(NamedTuple):
    """A piece that is never cut further, `start` to `end`; the higher the rank of its end, the better
    a place to cut.
    """

    start: int
    end: int
    rank: int


_INSIDE, _WORD, _SENTENCE, _PARAGRAPH = range(4)


def token_chunks(
    text: str, count: Callable[[Sequence[str]], Sequence[int]], *, least: int = 200, most: int = 350
) -> list[Chunk]:
    """Split `text` into chunks of `least` to `most` tokens: after a paragraph if one ends in this range, else after a
    sentence, else between words, else inside one; of equally good places, at the last.

    `count` returns the number of tokens of each given text. No chunk exceeds `most` tokens (unless a single character
    does) or `CHARS_A_TOKEN * most` characters. Only the last chunk, or one before a longer run of characters, has fewer
    than `least` tokens. Every character except white space between chunks is in exactly one chunk, in order. All pieces
    are counted in one batch; the text and each chunk once more as a whole.

    Raises:
        InvalidInput: `least` is not 1 to `most`.
    """
    if not 1 <= least <= most:
        raise InvalidInput(f"chunks of {least} to {most} tokens cannot be made; give 1 <= least <= most")
    return list(_Packer(text, count, least, most).chunks())


class _Packer:
    """Pieces of one text with their tokens, and the search for the best cuts."""

    def __init__(self, text: str, count: Callable[[Sequence[str]], Sequence[int]], least: int, most: int) -> None:
        self._text = text
        self._count = count
        self._least = least
        self._most = most
        self._max_chars = CHARS_A_TOKEN * most
        # if no piece is heavier than the range is wide, no step jumps over the range
        self._pieces, bare = self._cut_small(list(_word_pieces(text)), most - least + 1)
        self._ends = [piece.end for piece in self._pieces]
        # many tokenizers treat the white space before a word as part of it
        spaced = [text[start:end] for start, end in pairwise([0, *self._ends])]
        tokens = self._tokens_of(spaced)
        upto = list(accumulate((tokens[each] for each in spaced), initial=0))
        # some counters round, or join over white space: scale so that the sum of estimates is the counted total
        whole = bare[0] + upto[-1] - upto[1] if bare else 0
        ratio = count([text.strip()])[0] / whole if whole else 1.0
        self._bare = [ratio * each for each in bare]
        self._upto = [ratio * each for each in upto]
        """Tokens of all pieces before each one, including the white space before them."""

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks, in order."""
        first = 0
        while first < len(self._pieces):
            last = self._last_of_chunk(first)
            start, end = self._pieces[first].start, self._ends[last]
            yield Chunk(self._text[start:end], start, end)
            first = last + 1

    def _last_of_chunk(self, first: int) -> int:
        """Return the last piece of the chunk that begins with `first`; retry if the counted tokens differ from the
        estimate.
        """
        low, high = float(self._least), float(self._most)
        reach = max(first, bisect_right(self._ends, self._pieces[first].start + self._max_chars) - 1)
        while True:
            last = self._best_end(first, reach, low, high)
            tokens = self._count([self._text[self._pieces[first].start : self._ends[last]]])[0]
            estimated = self._estimate(first, last)
            if tokens > self._most and last > first:
                reach, high = last - 1, min(high, estimated * self._most / tokens)
            elif tokens < self._least and last < reach:
                low = max(estimated + 0.5, estimated * self._least / max(1, tokens))
                high = max(high, self._estimate(first, last + 1))
            else:
                return last

    def _best_end(self, first: int, reach: int, low: float, high: float) -> int:
        """Return the best last piece, up to `reach`, of a chunk of `low` to `high` tokens; of at most `high` if none
        fits.
        """
        end = len(self._pieces) - 1
        rest = self._estimate(first, end)
        if reach == end and rest <= high + _ROUNDING:
            return end
        earliest = max(first, self._last_within(first, low - 0.5) + 1)
        latest = max(first, min(reach, self._last_within(first, high)))
        balanced = self._last_within(first, rest - self._least)  # leaves enough for the last chunk
        latest = balanced if earliest <= balanced < latest else latest
        return max(range(min(earliest, latest), latest + 1), key=lambda at: (self._pieces[at].rank, at))

    def _estimate(self, first: int, last: int) -> float:
        """Return the tokens from `first` to `last`: exact if no token spans white space."""
        return self._bare[first] + self._upto[last + 1] - self._upto[first + 1]

    def _last_within(self, first: int, tokens: float) -> int:
        """Return the last piece up to which there are at most `tokens` tokens; the one before `first` if none."""
        room = tokens - self._bare[first] + _ROUNDING
        return max(first - 1, bisect_right(self._upto, self._upto[first + 1] + room) - 2)

    def _cut_small(self, pieces: list[_Piece], heaviest: int) -> tuple[list[_Piece], list[int]]:
        """Cut pieces that are too heavy or too long until none is, or it is one character; return all, with their
        tokens.
        """
        done: list[tuple[_Piece, int]] = []
        while pieces:
            texts = [self._text[piece.start : piece.end] for piece in pieces]
            tokens = self._tokens_of(texts)
            parts: list[_Piece] = []
            for piece, length, weight in ((p, len(t), tokens[t]) for p, t in zip(pieces, texts, strict=True)):
                if length > 1 and (weight > heaviest or length > self._max_chars):
                    parts += _parts(piece, max(2, 2 * weight // heaviest, 1 + length // self._max_chars))
                else:
                    done.append((piece, weight))
            pieces = parts
        done.sort()
        return [piece for piece, _ in done], [weight for _, weight in done]

    def _tokens_of(self, texts: Sequence[str]) -> dict[str, int]:
        """Count the tokens of each text, equal ones once, in one batch."""
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, self._count(distinct), strict=True)) if distinct else {}


def _parts(piece: _Piece, number: int) -> Iterator[_Piece]:
    """Cut a piece into about `number` parts of equal length."""
    step = max(1, (piece.end - piece.start) // number)
    for start in range(piece.start, piece.end, step):
        end = min(start + step, piece.end)
        yield _Piece(start, end, piece.rank if end == piece.end else _INSIDE)


def _word_pieces(text: str) -> Iterator[_Piece]:
    """Yield the words of `text`, split where a sentence ends inside a word, as in scripts without spaces."""
    paragraph: list[tuple[int, int]] = []
    for found in WORD.finditer(text):
        if paragraph and is_break(text[paragraph[-1][1] : found.start()]):
            yield from _paragraph_pieces(text, paragraph)
            paragraph = []
        paragraph.append(found.span())
    yield from _paragraph_pieces(text, paragraph)


def _paragraph_pieces(text: str, words: list[tuple[int, int]]) -> Iterator[_Piece]:
    """Yield the pieces of the paragraph with these words."""
    ends = sentence_ends(text, words)
    ahead = next(ends, None)
    for start, end in words:
        done = start
        while ahead is not None and ahead < end:  # a sentence ends inside the word
            yield _Piece(done, ahead, _SENTENCE)
            done, ahead = ahead, next(ends, None)
        is_last = end == words[-1][1]
        yield _Piece(done, end, _PARAGRAPH if is_last else _SENTENCE if ahead == end else _WORD)
        ahead = next(ends, None) if ahead == end else ahead
