"""Choice of the excerpts that answer a question: of the best chunks, the best sentences."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from harness.cache import Cache
from harness.core.ranking import select_diverse
from harness.core.text import sentences, stems, words
from harness.ports import Vectors
from harness.research.gathering import Source, documents_of
from harness.research.relevance import MIN_SIMILARITY, MIN_WORDED_SIMILARITY, Wording
from harness.research.scoring import Holdings
from harness.settings import WritingSettings
from harness.vector_cache import EmbeddedChunk

MAX_EMBEDDED = 96
"""Sentences that are embedded, of the best chunks: an embedding costs some 20 ms on a slow core."""

MAX_RUN = 3
"""Sentences of an excerpt: alone, one rarely says what it speaks of."""

MAX_OVERLAP = 0.5
"""Two excerpts that share more than this of the shorter one's words, apart from the question's, say the same."""

_WORDS_IN_CHUNK = 0.3
"""What the question's words weigh in the choice of chunks, beside a similarity that weighs 1."""
_MIN_CHARS, _MAX_CHARS, _MIN_WORDS = 30, 450, 6


class Evidence(Struct, frozen=True):
    """Consecutive sentences of one chunk of `source`, which `document` and `chunk` name; `position` orders the excerpts
    of one source.

    `similarity` is the cosine similarity of question and excerpt, `score` what they were ranked by; both 0..1.
    """

    sentences: tuple[str, ...]
    source: Source
    document: str
    chunk: int
    position: int
    similarity: float
    score: float
    stems: frozenset[str] = frozenset()


class Excerpt(Struct, frozen=True, array_like=True):
    """Evidence as it is kept: with the address of its source instead of the source."""

    sentences: tuple[str, ...]
    url: str
    document: str
    chunk: int
    position: int
    similarity: float
    score: float


class _Sentence(Struct, frozen=True):
    """A quotable sentence of a chunk: the `position`th of its source."""

    text: str
    source: Source
    chunk: EmbeddedChunk
    position: int
    stems: frozenset[str]

    @property
    def place(self) -> tuple[str, int]:
        """Document and index of the chunk."""
        return self.chunk.metadata["document"], self.chunk.metadata["chunk_index"]


def cached_evidence(
    sources: Sequence[Source], holdings: Holdings, cache: Cache, writing: WritingSettings, *, ttl: float
) -> list[Evidence]:
    """Return what `find_evidence` finds, from the cache if it has found it before: embedding takes a second or so.

    Raises:
        EmbeddingError: if the embedder fails.
        StoreError: the cache cannot be read.
    """

    def compute() -> list[Excerpt]:
        found = find_evidence(sources, holdings, writing)
        return [
            Excerpt(e.sentences, e.source.url, e.document, e.chunk, e.position, e.similarity, e.score) for e in found
        ]

    by_url = {source.url: source for source in sources}
    weighed = f"most={writing.max_evidence}, per_source={writing.per_source}, weights={writing.ranking_weights}"
    ranking = f"{holdings.code.evidence} Choice({weighed}) {holdings.way}"  # a key of older snapshots, too
    kept = cache.derived(holdings.question, ranking, sources, compute, list[Excerpt], ttl=ttl)
    if any(each.url not in by_url or not each.sentences for each in kept):  # from a file of somebody else
        kept = compute()
    return [Evidence(e.sentences, by_url[e.url], e.document, e.chunk, e.position, e.similarity, e.score) for e in kept]


def find_evidence(sources: Sequence[Source], holdings: Holdings, writing: WritingSettings) -> list[Evidence]:
    """Return the excerpts that answer best, best first: as many as `writing` says, none that mostly repeats another,
    none that is not about the question (better nothing than something unrelated). The vector of an excerpt is the
    mean of its sentences'.

    Raises:
        EmbeddingError: if the embedder fails.
    """
    wanted = holdings.wording
    likely = _likely(sources, holdings, wanted)
    if not likely:
        return []
    titles = list(dict.fromkeys(sentence.source.title for sentence in likely))
    vectors = holdings.embedder.embed([*titles, *(sentence.text for sentence in likely)])
    title_similarity = dict(zip(titles, (vectors[: len(titles)] @ holdings.asked).tolist(), strict=True))
    ranked = sorted(
        _excerpts(likely, vectors[len(titles) :], holdings.asked, wanted, title_similarity, writing.ranking_weights),
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


def _is_relevant(evidence: Evidence, wanted: Wording) -> bool:
    if evidence.similarity >= MIN_SIMILARITY:
        return True
    return evidence.similarity >= MIN_WORDED_SIMILARITY and wanted.matches(
        evidence.stems | stems(evidence.source.title)
    )


def _likely(sources: Sequence[Source], holdings: Holdings, wanted: Wording) -> list[_Sentence]:
    """Return the quotable sentences of the chunks that promise most, each once; in the order of sources and text."""
    by_url = {source.url: source for source in sources}
    chunks = holdings.chunks_of(documents_of(sources))

    def promise(chunk: EmbeddedChunk) -> float:
        return float(chunk.vector @ holdings.asked) + _WORDS_IN_CHUNK * wanted.share(frozenset(stems(chunk.text)))

    best = sorted(range(len(chunks)), key=lambda at: -promise(chunks[at]))  # stable: ties keep their order
    seen: set[str] = set()
    chosen: dict[int, list[_Sentence]] = {}
    for at in best:
        found = list(_sentences(chunks[at], by_url[chunks[at].metadata["url"]], at * 1_000, seen))
        if sum(map(len, chosen.values())) + len(found) > MAX_EMBEDDED:
            break
        chosen[at] = found
    return [sentence for at in sorted(chosen) for sentence in chosen[at]]


def _sentences(chunk: EmbeddedChunk, source: Source, first: int, seen: set[str]) -> Iterator[_Sentence]:
    """Yield every quotable sentence that was not `seen` yet; places count from `first`."""
    pieces = [piece.strip() for paragraph in chunk.text.split("\n\n") for piece in sentences(paragraph)]
    for position, text in enumerate(pieces, start=first):
        if text not in seen and _is_quotable(text):
            seen.add(text)
            yield _Sentence(text, source, chunk, position, frozenset(stems(text)))


def _is_quotable(sentence: str) -> bool:
    """Say whether this reads as a whole sentence rather than code, a heading or a table."""
    if not _MIN_CHARS <= len(sentence) <= _MAX_CHARS or len(words(sentence)) < _MIN_WORDS:
        return False
    if sentence[0].islower() or sentence[-1] not in ".!?\"'”’)。！？":
        return False
    letters = sum(char.isalpha() or char.isspace() for char in sentence)
    return letters / len(sentence) >= 0.75 and ">>>" not in sentence


def _excerpts(
    likely: Sequence[_Sentence],
    vectors: Vectors,
    asked: Vectors,
    wanted: Wording,
    title_similarity: dict[str, float],
    weights: tuple[float, float, float, float],
) -> Iterator[Evidence]:
    """Yield every run of up to `MAX_RUN` neighbouring sentences of one chunk, scored."""
    of_excerpt, of_chunk, of_title, of_words = weights
    for (document, chunk), group in groupby(range(len(likely)), key=lambda i: likely[i].place):
        indices = list(group)
        chunk_similarity = float(likely[indices[0]].chunk.vector @ asked)
        for run in _runs(likely, indices):
            first = likely[run[0]]
            similarity = _similarity(vectors[run], asked)
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
    """Yield one, two, … indices of `indices` whose sentences follow each other without a gap."""
    for start in range(len(indices)):
        run = [indices[start]]
        yield run
        for index in indices[start + 1 : start + MAX_RUN]:
            if likely[index].position != likely[run[-1]].position + 1:
                break
            run = [*run, index]
            yield run


def _similarity(vectors: Vectors, asked: Vectors) -> float:
    """Return the cosine similarity of `asked` (a unit vector) and the mean of `vectors`."""
    mean = vectors.mean(axis=0)
    return float(mean @ asked) / (math.sqrt(float(mean @ mean)) or 1.0)
