"""Selection of the excerpts that answer a question: the best sentences of the best chunks.

Vectors and words rank the excerpts. A reader, if there is one, decides whether any sentence answers the question: if
none is likely to, there is no evidence, however near the vectors are.
"""

import logging
import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from harness.cache import Cache
from harness.core.rank_fusion import select_diverse
from harness.core.text import sentences, stems, words
from harness.errors import ReaderError
from harness.ports import Reader, Vectors
from harness.research.gathering import GatheredSource, documents_of
from harness.research.relevance import MIN_SIMILARITY, MIN_WORDED_SIMILARITY, Wording
from harness.research.scoring import ChunkSet
from harness.settings import WritingSettings
from harness.vector_cache import EmbeddedChunk

MAX_EMBEDDED = 96
"""Most sentences embedded, from the best chunks: one embedding takes about 20 ms on a slow core."""

MAX_READ = 40
"""Most sentences that the reader reads before it says that none answers: each takes 5 to 30 ms."""

MAX_RUN = 3
"""Most sentences in an excerpt. One sentence alone rarely names its subject."""

MAX_OVERLAP = 0.5
"""Two excerpts are duplicates if they share more than this share of the shorter one's words, the question's words
aside.
"""

_WORDS_IN_CHUNK = 0.3
"""Weight of the question's words when chunks are ranked; similarity has weight 1."""
_MIN_CHARS, _MAX_CHARS, _MIN_WORDS = 20, 450, 5


log = logging.getLogger(__name__)


class Evidence(Struct, frozen=True):
    """Consecutive sentences of one chunk (`document`, `chunk`) of `source`; `position` orders the excerpts of one
    source.

    `similarity` is the cosine similarity of question and excerpt, `score` the ranking score; both 0..1.
    """

    sentences: tuple[str, ...]
    source: GatheredSource
    document: str
    chunk: int
    position: int
    similarity: float
    score: float
    stems: frozenset[str] = frozenset()


class Excerpt(Struct, frozen=True, array_like=True):
    """Evidence as stored: with the URL of its source instead of the source."""

    sentences: tuple[str, ...]
    url: str
    document: str
    chunk: int
    position: int
    similarity: float
    score: float


class _Sentence(Struct, frozen=True):
    """A quotable sentence of a chunk; `position` is its place in the source."""

    text: str
    source: GatheredSource
    chunk: EmbeddedChunk
    position: int
    stems: frozenset[str]

    @property
    def place(self) -> tuple[str, int]:
        """Document and index of the chunk."""
        return self.chunk.metadata["document"], self.chunk.metadata["chunk_index"]

    @property
    def in_context(self) -> str:
        """The sentence after the title of its source, as the reader has learned to read it."""
        return f"{self.source.title}: {self.text}" if self.source.title else self.text


def cached_evidence(
    sources: Sequence[GatheredSource],
    chunk_set: ChunkSet,
    cache: Cache,
    writing: WritingSettings,
    *,
    ttl: float,
    reader: Reader | None = None,
) -> list[Evidence]:
    """Return what `find_evidence` returns, from the cache if it is there: embedding takes about a second. If the reader
    does not work, nothing is refused, with a warning in the log.

    Raises:
        EmbeddingError: the embedder failed.
        StoreError: the cache cannot be read.
    """

    def compute() -> list[Excerpt]:
        found = find_evidence(sources, chunk_set, writing, reader)
        return [
            Excerpt(e.sentences, e.source.url, e.document, e.chunk, e.position, e.similarity, e.score) for e in found
        ]

    by_url = {source.url: source for source in sources}
    weighed = f"most={writing.max_evidence}, per_source={writing.per_source}, weights={writing.ranking_weights}"
    ranking = f"{chunk_set.code.evidence} Choice({weighed}) {chunk_set.chunking_id}"  # a key of older snapshots, too
    try:
        ranking = f"{ranking} {reader.id}" if reader else ranking
        kept = cache.derived.get(chunk_set.question, ranking, sources, compute, list[Excerpt], ttl=ttl)
        # a cached row may come from another user's file
        if any(each.url not in by_url or not each.sentences for each in kept):
            kept = compute()
    except ReaderError as error:
        log.warning("%s; until then a research does not check whether its sources answer the question", error)
        return cached_evidence(sources, chunk_set, cache, writing, ttl=ttl)
    return [Evidence(e.sentences, by_url[e.url], e.document, e.chunk, e.position, e.similarity, e.score) for e in kept]


def find_evidence(
    sources: Sequence[GatheredSource], chunk_set: ChunkSet, writing: WritingSettings, reader: Reader | None = None
) -> list[Evidence]:
    """Return the excerpts that answer best, best first: at most as many as `writing` allows, no near-duplicates, none
    off topic (better nothing than something unrelated). The vector of an excerpt is the mean of its sentences' vectors.
    With a `reader`, there are none if it finds no sentence likely enough to answer.

    Raises:
        EmbeddingError: the embedder failed.
        ReaderError: the reader failed.
    """
    wanted = chunk_set.wording
    likely = _likely(sources, chunk_set, wanted)
    if not likely:
        return []
    titles = list(dict.fromkeys(sentence.source.title for sentence in likely))
    vectors = chunk_set.embedder.embed([*titles, *(sentence.text for sentence in likely)])
    title_similarity = dict(zip(titles, (vectors[: len(titles)] @ chunk_set.question_vector).tolist(), strict=True))
    if reader is not None and not _is_answered(likely, vectors[len(titles) :], chunk_set, reader):
        return []
    ranked = sorted(
        _excerpts(
            likely,
            vectors[len(titles) :],
            chunk_set.question_vector,
            wanted,
            title_similarity,
            writing.ranking_weights,
        ),
        key=lambda evidence: -evidence.score,
    )
    return select_diverse(
        (evidence for evidence in ranked if _is_relevant(evidence, wanted)),
        limit=writing.max_evidence,
        document=lambda evidence: evidence.source.url,
        per_document=writing.per_source,
        features=lambda evidence: set(evidence.stems - wanted.stems),  # every good excerpt shares the question's words
        max_overlap=MAX_OVERLAP,
    )


def _is_answered(likely: Sequence[_Sentence], vectors: Vectors, chunk_set: ChunkSet, reader: Reader) -> bool:
    """Return whether a sentence is likely enough to answer; the most promising are read first, until one is."""
    near, wanted = vectors @ chunk_set.question_vector, chunk_set.wording

    def promise(place: int) -> float:
        return float(near[place]) + _WORDS_IN_CHUNK * wanted.share(likely[place].stems)

    best = sorted(range(len(likely)), key=lambda place: -promise(place))[:MAX_READ]
    return any(
        reader.answers(chunk_set.question, [likely[place].in_context])[0] >= reader.calibration.answers
        for place in best
    )


def _is_relevant(evidence: Evidence, wanted: Wording) -> bool:
    if evidence.similarity >= MIN_SIMILARITY:
        return True
    return evidence.similarity >= MIN_WORDED_SIMILARITY and wanted.matches(
        evidence.stems | stems(evidence.source.title)
    )


def _likely(sources: Sequence[GatheredSource], chunk_set: ChunkSet, wanted: Wording) -> list[_Sentence]:
    """Return the quotable sentences of the most promising chunks, each once, in the order of sources and text."""
    by_url = {source.url: source for source in sources}
    chunks = chunk_set.chunks_of(documents_of(sources))

    def promise(chunk: EmbeddedChunk) -> float:
        return float(chunk.vector @ chunk_set.question_vector) + _WORDS_IN_CHUNK * wanted.share(
            frozenset(stems(chunk.text))
        )

    best = sorted(range(len(chunks)), key=lambda at: -promise(chunks[at]))  # stable: ties keep their order
    seen: set[str] = set()
    chosen: dict[int, list[_Sentence]] = {}
    for at in best:
        found = list(_sentences(chunks[at], by_url[chunks[at].metadata["url"]], at * 1_000, seen))
        if sum(map(len, chosen.values())) + len(found) > MAX_EMBEDDED:
            break
        chosen[at] = found
    return [sentence for at in sorted(chosen) for sentence in chosen[at]]


def _sentences(chunk: EmbeddedChunk, source: GatheredSource, first: int, seen: set[str]) -> Iterator[_Sentence]:
    """Yield every quotable sentence not `seen` yet; positions count from `first`."""
    pieces = [piece.strip() for paragraph in chunk.text.split("\n\n") for piece in sentences(paragraph)]
    for position, text in enumerate(pieces, start=first):
        if text not in seen and _is_quotable(text):
            seen.add(text)
            yield _Sentence(text, source, chunk, position, frozenset(stems(text)))


def _is_quotable(sentence: str) -> bool:
    """Return whether this reads as a whole sentence rather than code, a heading or a table."""
    if not _MIN_CHARS <= len(sentence) <= _MAX_CHARS or len(words(sentence)) < _MIN_WORDS:
        return False
    if sentence[0].islower() or sentence[-1] not in ".!?\"'”’)。！？":
        return False
    letters = sum(char.isalpha() or char.isspace() for char in sentence)
    return letters / len(sentence) >= 0.75 and ">>>" not in sentence


def _excerpts(
    likely: Sequence[_Sentence],
    vectors: Vectors,
    question: Vectors,
    wanted: Wording,
    title_similarity: dict[str, float],
    weights: tuple[float, float, float, float],
) -> Iterator[Evidence]:
    """Yield and score every run of up to `MAX_RUN` neighbouring sentences of one chunk."""
    of_excerpt, of_chunk, of_title, of_words = weights
    for (document, chunk), group in groupby(range(len(likely)), key=lambda i: likely[i].place):
        indices = list(group)
        chunk_similarity = float(likely[indices[0]].chunk.vector @ question)
        for run in _runs(likely, indices):
            first = likely[run[0]]
            similarity = _similarity(vectors[run], question)
            held = frozenset[str]().union(*(likely[i].stems for i in run))
            score = (
                of_excerpt * similarity
                + of_chunk * chunk_similarity
                + of_title * title_similarity[first.source.title]
                + of_words * wanted.share(held)
            )
            texts = tuple(likely[i].text for i in run)
            yield Evidence(
                texts, first.source, document, chunk, first.position, round(similarity, 4), round(score, 4), held
            )


def _runs(likely: Sequence[_Sentence], indices: Sequence[int]) -> Iterator[list[int]]:
    """Yield runs of one, two, … `indices` whose sentences follow each other without a gap."""
    for start in range(len(indices)):
        run = [indices[start]]
        yield run
        for index in indices[start + 1 : start + MAX_RUN]:
            if likely[index].position != likely[run[-1]].position + 1:
                break
            run = [*run, index]
            yield run


def _similarity(vectors: Vectors, question: Vectors) -> float:
    """Return the cosine similarity of `question` (a unit vector) and the mean of `vectors`."""
    mean = vectors.mean(axis=0)
    return float(mean @ question) / (math.sqrt(float(mean @ mean)) or 1.0)
