"""Which excerpts of the sources speak to the question, and how well."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from harness.cache import Cache
from harness.core.ranking import select_diverse
from harness.core.text import sentences, stems, words
from harness.ports import Embedder, Vectors
from harness.research.gather import Source

MAX_EMBEDDED = 96
"""Sentences that are embedded, chosen by words: an embedding costs some 20 ms on a slow core."""

MAX_RUN = 3
"""Sentences of an excerpt: alone, one rarely says what it speaks of."""

MAX_EVIDENCE = 8
PER_SOURCE = 4
MIN_SIMILARITY = 0.35
"""Below this cosine similarity all-MiniLM-L6-v2 sees no common subject: better nothing than something unrelated."""

MAX_OVERLAP = 0.5
"""Two excerpts that share more than this of the shorter one's words say the same."""

RANKING = "sentences-1"
"""Goes up when other excerpts would be chosen."""

_WEIGHTS = {"excerpt": 0.45, "passage": 0.15, "title": 0.25, "words": 0.15}
_MIN_CHARS, _MAX_CHARS, _MIN_WORDS = 30, 450, 6


class Evidence(Struct, frozen=True):
    """Consecutive sentences of one passage of `source`; `position` orders the excerpts of one source.

    `similarity` is the cosine similarity of question and excerpt, `score` what they were ranked by; both 0..1.
    """

    sentences: tuple[str, ...]
    source: Source
    position: int
    similarity: float
    score: float
    stems: frozenset[str] = frozenset()


class Excerpt(Struct, frozen=True, array_like=True):
    """Evidence as it is kept: with the address of its source instead of the source."""

    sentences: tuple[str, ...]
    url: str
    position: int
    similarity: float
    score: float


class _Sentence(Struct, frozen=True):
    """A quotable sentence: the `position`th of its source, in its `passage`th passage."""

    text: str
    source: Source
    passage: int
    position: int
    stems: frozenset[str]
    context: frozenset[str]


def cached_evidence(
    question: str, sources: Sequence[Source], embedder: Embedder, cache: Cache, *, ttl: float
) -> list[Evidence]:
    """Return what `find_evidence` finds, from the cache if it has found it before: embedding takes a second or so.

    Raises:
        EmbeddingError: if the embedder fails.
        StoreError: the cache cannot be read.
    """

    def compute() -> list[Excerpt]:
        found = find_evidence(question, sources, embedder)
        return [Excerpt(e.sentences, e.source.url, e.position, e.similarity, e.score) for e in found]

    by_url = {source.url: source for source in sources}
    ranking = f"{RANKING} {embedder.id}"
    kept = cache.evidence(question, ranking, sources, compute, list[Excerpt], ttl=ttl)
    return [Evidence(e.sentences, by_url[e.url], e.position, e.similarity, e.score) for e in kept]


def find_evidence(question: str, sources: Iterable[Source], embedder: Embedder) -> list[Evidence]:
    """Return the excerpts that answer best, best first: at most `MAX_EVIDENCE`, `PER_SOURCE` from one source, none
    that mostly repeats another, none below `MIN_SIMILARITY`.

    The score (0..1) weighs the similarity of the question to the excerpt, its passage and its source's title with the
    share of the question's words that the excerpt holds. The vector of an excerpt, or of what was embedded of a
    passage, is the mean of its sentences'.

    Raises:
        EmbeddingError: if the embedder fails.
    """
    wanted = stems(question)
    likely = _likely(list(_sentences(sources)), wanted)
    if not likely:
        return []
    titles = list(dict.fromkeys(sentence.source.title for sentence in likely))
    vectors = embedder.embed([question, *titles, *(sentence.text for sentence in likely)])
    asked, rest = vectors[0], vectors[1:]
    title_similarity = dict(zip(titles, (rest[: len(titles)] @ asked).tolist(), strict=True))
    ranked = sorted(
        _excerpts(likely, rest[len(titles) :], asked, wanted, title_similarity), key=lambda evidence: -evidence.score
    )
    return select_diverse(
        (evidence for evidence in ranked if evidence.similarity >= MIN_SIMILARITY),
        limit=MAX_EVIDENCE,
        document=lambda evidence: evidence.source.url,
        per_document=PER_SOURCE,
        features=lambda evidence: set(evidence.stems),
        max_overlap=MAX_OVERLAP,
    )


def _sentences(sources: Iterable[Source]) -> Iterator[_Sentence]:
    """Yield every quotable sentence once, from the first source that holds it."""
    seen: set[str] = set()
    for source in sources:
        position = 0
        for number, passage in enumerate(source.passages):
            context = frozenset(stems(passage) | stems(source.title))
            for piece in sentences(passage):
                position += 1
                text = piece.strip()
                if text not in seen and _is_quotable(text):
                    seen.add(text)
                    yield _Sentence(text, source, number, position, frozenset(stems(text)), context)


def _is_quotable(sentence: str) -> bool:
    """Say whether this reads as a whole sentence rather than code, a heading or a table."""
    if not _MIN_CHARS <= len(sentence) <= _MAX_CHARS or len(words(sentence)) < _MIN_WORDS:
        return False
    if sentence[0].islower() or sentence[-1] not in ".!?\"'”’)。！？":
        return False
    letters = sum(char.isalpha() or char.isspace() for char in sentence)
    return letters / len(sentence) >= 0.75 and ">>>" not in sentence


def _likely(found: Sequence[_Sentence], wanted: set[str]) -> list[_Sentence]:
    """Choose the sentences that hold, with their passages, most of the question's words; in their first order."""

    def promise(index: int) -> float:
        return 2 * _share(wanted, found[index].stems) + _share(wanted, found[index].context)

    best = sorted(range(len(found)), key=promise, reverse=True)[:MAX_EMBEDDED]  # stable: ties keep their order
    return [found[index] for index in sorted(best)]


def _excerpts(
    likely: Sequence[_Sentence], vectors: Vectors, asked: Vectors, wanted: set[str], title_similarity: dict[str, float]
) -> Iterator[Evidence]:
    """Yield every run of up to `MAX_RUN` neighbouring sentences of one passage, scored."""
    for _, group in groupby(range(len(likely)), key=lambda i: (likely[i].source.url, likely[i].passage)):
        passage = list(group)
        passage_similarity = _similarity(vectors[passage], asked)
        for run in _runs(likely, passage):
            first = likely[run[0]]
            similarity = _similarity(vectors[run], asked)
            held = frozenset[str]().union(*(likely[i].stems for i in run))
            score = (
                _WEIGHTS["excerpt"] * similarity
                + _WEIGHTS["passage"] * passage_similarity
                + _WEIGHTS["title"] * title_similarity[first.source.title]
                + _WEIGHTS["words"] * _share(wanted, held)
            )
            texts = tuple(likely[i].text for i in run)
            yield Evidence(texts, first.source, first.position, round(similarity, 4), round(score, 4), held)


def _runs(likely: Sequence[_Sentence], passage: Sequence[int]) -> Iterator[list[int]]:
    """Yield one, two, … indices of `passage` whose sentences follow each other without a gap."""
    for start in range(len(passage)):
        run = [passage[start]]
        yield run
        for index in passage[start + 1 : start + MAX_RUN]:
            if likely[index].position != likely[run[-1]].position + 1:
                break
            run = [*run, index]
            yield run


def _similarity(vectors: Vectors, asked: Vectors) -> float:
    """Return the cosine similarity of `asked` (a unit vector) and the mean of `vectors`."""
    mean = vectors.mean(axis=0)
    return float(mean @ asked) / (math.sqrt(float(mean @ mean)) or 1.0)


def _share(wanted: set[str], held: frozenset[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 0.0
