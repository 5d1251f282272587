"""Sentences of the gathered sources that may be quoted, from the chunks that promise most."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from harness.core.chunking import heading_of, in_context
from harness.core.dangling import with_needed
from harness.core.quotable import ASKS, is_aside, is_quotable
from harness.core.steps import asks_for_steps, steps_of
from harness.research.gathering import GatheredSource, documents_of
from harness.research.joined_sentences import Piece, joined, pieces_of
from harness.research.relevance import Wording, promise
from harness.research.scoring import ChunkSet
from harness.vector_cache import EmbeddedChunk

_NUMBER = re.compile(r"\d")
_OWN_CASE = re.compile(r"\W*my\b", re.IGNORECASE)
_OF_WRITER = re.compile(r"\W*(?:i|my)\b", re.IGNORECASE)
MIN_ASKED, MAX_ADDED = 0.8, 2
"""Least share of the question's words, and most other ones, of a sentence that says that its writer has the same
question: "My router restarts every night."
"""
MAX_EMBEDDED = 96
"""Most sentences embedded, from the best chunks: one embedding takes about 20 ms on a slow core."""


class Sentence(Struct, frozen=True):
    """A quotable sentence of a chunk; `position` is its place in the source, `before` the sentence that it needs to be
    understood, if any, and `heading` that of its section.
    """

    text: str
    source: GatheredSource
    chunk: EmbeddedChunk
    position: int
    stems: frozenset[str]
    before: str = ""
    heading: str = ""

    @property
    def place(self) -> tuple[str, int]:
        """Document and index of the chunk."""
        return self.chunk.metadata["document"], self.chunk.metadata["chunk_index"]

    @property
    def in_context(self) -> str:
        """The sentence after the title of its source, its heading, and the sentence that it needs, as the reader has
        learned to read it. Steps are read by what they are the steps of, the heading: none of them says that.
        """
        text = f"{self.before} {self.text}" if self.before else self.text
        if (named := self.heading or self.source.title) and steps_of(self.text):
            text = f"{named}."
        return in_context(self.source.title, self.heading, text)


def promising_sentences(sources: Sequence[GatheredSource], chunk_set: ChunkSet, wanted: Wording) -> list[Sentence]:
    """Return the quotable sentences of the most promising chunks, each once, in the order of sources and text."""
    by_url = {source.url: source for source in sources}
    chunks = chunk_set.chunks_of(documents_of(sources))

    promises = [
        promise(float(chunk.vector @ chunk_set.question_vector), wanted.share(wanted.stems_of(chunk.text)))
        for chunk in chunks
    ]
    best = sorted(range(len(chunks)), key=lambda at: -promises[at])  # stable: ties keep their order
    headings, seen, steps = _headings(chunks), set[str](), asks_for_steps(chunk_set.question)
    last = set({chunk.metadata["document"]: at for at, chunk in enumerate(chunks)}.values())
    chosen: dict[int, list[Sentence]] = {}
    for at in best:
        source, join = by_url[chunks[at].metadata["url"]], partial(joined, steps=steps, ends=at in last)
        found = [
            each
            for each in _sentences(chunks[at], source, at * 1_000, headings[at], seen, wanted, join)
            if not _only_repeats(each, wanted) and not is_aside(each.text, chunk_set.question)
        ]
        if sum(map(len, chosen.values())) + len(found) > MAX_EMBEDDED:
            break
        chosen[at] = found
    return [sentence for at in sorted(chosen) for sentence in chosen[at]]


def _only_repeats(sentence: Sentence, wanted: Wording) -> bool:
    """Return whether a sentence only repeats the question, or says that its writer has the same one."""
    if _OWN_CASE.match(sentence.text) and len(sentence.stems - wanted.stems) <= MAX_ADDED:
        return wanted.share(sentence.stems) >= MIN_ASKED
    return wanted.repeats(sentence.stems) and not _NUMBER.search(sentence.text)


def _headings(chunks: Sequence[EmbeddedChunk]) -> list[str]:
    """Return, for each chunk, the heading of its first paragraph: the last one before it in its document."""
    found, document, heading = list[str](), None, ""
    for chunk in chunks:
        if chunk.metadata["document"] != document:
            document, heading = chunk.metadata["document"], ""
        found.append(heading)
        heading = next((held for held in map(heading_of, reversed(chunk.text.split("\n\n"))) if held), heading)
    return found


def _sentences(
    chunk: EmbeddedChunk,
    source: GatheredSource,
    first: int,
    heading: str,
    seen: set[str],
    wanted: Wording,
    join: Callable[[Sequence[Piece]], Iterable[Piece]],
) -> Iterator[Sentence]:
    """Yield every quotable sentence not `seen` yet, but not why a writer asks a question; positions count from `first`,
    `heading` is that of the first paragraph, and `join` makes one sentence of those that are quoted so.
    """
    pieces = list[Piece]()
    for paragraph in chunk.text.split("\n\n"):
        heading = heading_of(paragraph) or heading
        found = pieces_of(paragraph, heading, excerpt=source.is_excerpt)
        if found[-1:] and found[-1].text.endswith(ASKS):  # why its writer asks
            seen.update(piece.text for piece in found if _OF_WRITER.match(piece.text))
        pieces += found
    pieces = list(join(pieces))
    needed = with_needed(piece.text for piece in pieces)
    for position, (piece, (text, before)) in enumerate(zip(pieces, needed, strict=True), start=first):
        if text not in seen and is_quotable(text, cut_off=source.is_excerpt):
            seen.add(text)
            yield Sentence(text, source, chunk, position, wanted.stems_of(text), before, piece.heading)
