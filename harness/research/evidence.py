"""Selection of the excerpts that answer a question: the best sentences of the best chunks.

Vectors and words rank the excerpts. A reader, if there is one, decides with them which excerpt comes first, and whether
any sentence answers the question: if none is likely to, there is no evidence, however near the vectors are.
"""

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from harness.cache import Cache
from harness.core.dangling import needs_previous
from harness.core.disagreement import Said, disagreements
from harness.core.rank_fusion import select_diverse
from harness.core.required_terms import all_numbers, lacking, lacking_names, required_names, required_terms
from harness.core.text import stems
from harness.errors import ReaderError
from harness.ports import Reader, Vectors
from harness.research.gathering import GatheredSource
from harness.research.quotable_sentences import Sentence, promising_sentences
from harness.research.relevance import MIN_SIMILARITY, MIN_WORDED_SIMILARITY, Wording, promise
from harness.research.scoring import ChunkSet
from harness.settings import WritingSettings

MAX_READ = 40
"""Most sentences that the reader reads, the most promising first: each takes 5 to 20 ms."""

LACKING, LACKING_RELEVANCE = 0.1, 0.5
"""Lower score of an excerpt whose passage lacks a year, version or number of the question, or its source a name; and
the factor of its relevance.
"""

MAX_RUN = 3
"""Most sentences in an excerpt. One sentence alone rarely names its subject."""

MAX_OVERLAP = 0.5
"""Two excerpts are duplicates if they share more than this share of the shorter one's words, the question's words
aside.
"""

REPEATED = 0.93
"""Least cosine similarity of two sentences that say the same."""

_FIRST = 0.5
"""Share of an excerpt's first sentence in its relevance; the rest is that of its likeliest sentence."""

Missing: TypeAlias = Mapping[tuple[str, int], tuple[str, ...]]
"""Terms and names of the question that each place (document, index of the chunk) lacks."""

UNREAD = "%s; until then a research does not check whether its sources answer the question"
"""Warning where the reader does not work."""

log = logging.getLogger(__name__)


class Evidence(Struct, frozen=True):
    """Consecutive sentences of one chunk (`document`, `chunk`) of `source`; `position` orders the excerpts of one
    source.

    `similarity` is the cosine similarity of question and excerpt (0..1), `score` the ranking score. `lacks` are the
    years, versions and numbers of the question that its passage does not have; `relevance` (0..1) is how
    likely it answers, by reader and vectors; `None` without a reader. `part` is the place of the sub-question that it
    is about. `disagrees` is the number of a disagreement if it is one of its statements, else 0.
    """

    sentences: tuple[str, ...]
    source: GatheredSource
    document: str
    chunk: int
    position: int
    similarity: float
    score: float
    lacks: tuple[str, ...] = ()
    relevance: float | None = None
    part: int = 0
    disagrees: int = 0
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
    lacks: tuple[str, ...] = ()
    relevance: float | None = None
    part: int = 0
    disagrees: int = 0


def cached_evidence(
    sources: Sequence[GatheredSource],
    chunk_set: ChunkSet,
    cache: Cache,
    writing: WritingSettings,
    *,
    ttl: float,
    reader: Reader | None = None,
    parts: Sequence[str] = (),
) -> list[Evidence]:
    """Return what `find_evidence` returns, from the cache if it is there: embedding takes about a second. If the reader
    does not work, nothing is refused, with a warning in the log.

    Raises:
        EmbeddingError: the embedder failed.
        StoreError: the cache cannot be read.
    """

    def compute() -> list[Excerpt]:
        found = find_evidence(sources, chunk_set, writing, reader, parts)
        return [_excerpt(each) for each in found]

    by_url = {source.url: source for source in sources}
    weighed = f"most={writing.max_evidence}, per_source={writing.per_source}, weights={writing.ranking_weights}"
    ranking = f"{chunk_set.code.evidence} Choice({weighed}) {chunk_set.chunking_id}"  # a key of older snapshots, too
    ranking += "".join(f" part={part}" for part in parts)
    try:
        ranking = f"{ranking} {reader.id} {writing.reading_weight} {reader.calibration}" if reader else ranking
        kept = cache.derived.get(chunk_set.question, ranking, sources, compute, list[Excerpt], ttl=ttl)
        # a cached row may come from another user's file
        if any(each.url not in by_url or not each.sentences for each in kept):
            kept = compute()
    except ReaderError as error:
        log.warning(UNREAD, error)
        return cached_evidence(sources, chunk_set, cache, writing, ttl=ttl, parts=parts)
    return [_evidence(each, by_url[each.url]) for each in kept]


def _excerpt(found: Evidence) -> Excerpt:
    return Excerpt(
        found.sentences, found.source.url, found.document, found.chunk, found.position, found.similarity, found.score,
        found.lacks, found.relevance, found.part, found.disagrees,
    )  # fmt: skip


def _evidence(kept: Excerpt, source: GatheredSource) -> Evidence:
    return Evidence(
        kept.sentences, source, kept.document, kept.chunk, kept.position, kept.similarity, kept.score,
        kept.lacks, kept.relevance, kept.part, kept.disagrees,
    )  # fmt: skip


def find_evidence(
    sources: Sequence[GatheredSource],
    chunk_set: ChunkSet,
    writing: WritingSettings,
    reader: Reader | None = None,
    parts: Sequence[str] = (),
) -> list[Evidence]:
    """Return the excerpts that answer best, best first: at most as many as `writing` allows, no near-duplicates, none
    off topic (better nothing than something unrelated); then the statements of sources that disagree. The vector of an
    excerpt is the mean of its sentences' vectors. With a `reader`, there are none if it finds no sentence likely enough
    to answer. Each of the `parts`, the sub-questions of a compound question, has an excerpt if one is about it.

    Raises:
        EmbeddingError: the embedder failed.
        ReaderError: the reader failed.
    """
    wanted = chunk_set.wording
    likely = promising_sentences(sources, chunk_set, wanted)
    if not likely:
        return []
    titles = list(dict.fromkeys(sentence.source.title for sentence in likely))
    texts = [*titles, *parts, *(sentence.text for sentence in likely)]
    vectors = chunk_set.embedder.embed(texts)
    title_similarity = dict(zip(titles, (vectors[: len(titles)] @ chunk_set.question_vector).tolist(), strict=True))
    whole = (chunk_set.question, chunk_set.question_vector)
    questions = [(part, vectors[len(titles) + place]) for place, part in enumerate(parts)] or [whole]
    vectors, least = vectors[len(titles) + len(parts) :], math.inf
    missing = _missing(likely, chunk_set.question)
    answering = _Answering(None, _parts_by_vectors(vectors, questions))
    if reader is not None:
        read = [*questions, whole] if parts else questions
        answering, least = _relevance(likely, vectors, read, chunk_set, reader, missing), reader.calibration.answers
        if max(answering.relevance or ()) < least:
            return []
    ranked = sorted(
        _excerpts(likely, vectors, chunk_set, title_similarity, missing, answering, writing),
        key=lambda evidence: -evidence.score,
    )
    weight = writing.reading_weight
    if reader is not None:  # what answers comes first; the rest is about everything that belongs to it
        first = max(ranked, key=lambda each: _merit(each, weight))
        ranked = [first, *(each for each in ranked if each is not first)]
    ranked = [each for each in ranked if _is_relevant(each, wanted, least)]
    chosen = select_diverse(
        ranked,
        limit=writing.max_evidence,
        document=lambda evidence: evidence.source.url,
        per_document=writing.per_source,
        features=lambda evidence: set(evidence.stems - wanted.stems),  # every good excerpt shares the question's words
        max_overlap=MAX_OVERLAP,
    )
    absent = set(range(len(parts))) - {found.part for found in chosen}
    chosen += [max(about, key=lambda each: _merit(each, weight)) for part in absent if (about := _about(ranked, part))]
    by_text = {each.text: vector for each, vector in zip(likely, vectors, strict=True)}
    return [*_without_repeats(chosen, by_text), *_disagreeing(ranked, questions, least)]


def _about(ranked: Sequence[Evidence], part: int) -> list[Evidence]:
    return [each for each in ranked if each.part == part]


def _merit(found: Evidence, weight: float) -> float:
    return weight * (found.relevance or 0.0) + (1 - weight) * found.score


def _disagreeing(
    ranked: Sequence[Evidence], questions: Sequence[tuple[str, Vectors]], least: float
) -> Iterator[Evidence]:
    """Yield the statements of sources that disagree, disagreement after disagreement."""
    number = 0
    for part, (question, _) in enumerate(questions):
        single = [each for each in _about(ranked, part) if len(each.sentences) == 1]
        answers = [each for each in single if (each.relevance or 0.0) >= least or each.similarity >= MIN_SIMILARITY]
        answers.sort(key=lambda each: (-(each.relevance or 0.0), -each.similarity))
        said = [Said(each.sentences[0], each.source.url, each.source.title) for each in answers]
        for group in disagreements(question, said):
            number += 1
            yield from (replace(answers[place], disagrees=number) for place in group)


def _without_repeats(found: Iterable[Evidence], vectors: Mapping[str, Vectors]) -> Iterator[Evidence]:
    """Yield the excerpts without the sentences that an earlier one has, in these or nearly these words; one that the
    next sentence needs stays.
    """
    quoted: list[str] = []
    for each in found:
        following = (*each.sentences[1:], "")
        kept = tuple(
            text
            for text, after in zip(each.sentences, following, strict=True)
            if not _is_repeat(text, quoted, vectors) or (after not in quoted and needs_previous(after))
        )
        if kept:
            quoted += kept
            yield replace(each, sentences=kept)


def _is_repeat(text: str, quoted: Sequence[str], vectors: Mapping[str, Vectors]) -> bool:
    """Return whether a sentence says what an earlier one says: the same words or meaning, and the same numbers."""
    numbers = all_numbers(text)
    return any(
        text == other or (float(vectors[text] @ vectors[other]) >= REPEATED and numbers == all_numbers(other))
        for other in quoted
    )


class _Answering(Struct, frozen=True):
    """For each sentence: how likely it answers (0..1; `None` without a reader), and which part of the question."""

    relevance: Sequence[float] | None
    part: Sequence[int]


def _parts_by_vectors(vectors: Vectors, questions: Sequence[tuple[str, Vectors]]) -> list[int]:
    near = [(vectors @ vector).tolist() for _, vector in questions]
    return [max(range(len(questions)), key=lambda part: near[part][place]) for place in range(len(vectors))]


def _relevance(
    likely: Sequence[Sentence],
    vectors: Vectors,
    questions: Sequence[tuple[str, Vectors]],
    chunk_set: ChunkSet,
    reader: Reader,
    missing: Missing,
) -> _Answering:
    """Return how likely (0..1) each sentence answers the last question, the whole one, and which of the others it
    answers best, by reader and vectors; half of that where something is `missing`. Only the most promising ones are
    read; the others are 0.
    """
    parts = questions[:-1] or questions
    of_part, by_part = _parts_by_vectors(vectors, parts), [0.0] * len(likely)
    found, calibration = [0.0] * len(likely), reader.calibration.with_vectors_of(chunk_set.embedder.id)
    for part, (question, vector) in enumerate(questions):
        near, wanted = (vectors @ vector).tolist(), chunk_set.wording
        promises = [promise(similar, wanted.share(each.stems)) for similar, each in zip(near, likely, strict=True)]
        most = MAX_READ if part == len(questions) - 1 else MAX_READ // len(parts)
        best = sorted(range(len(likely)), key=lambda place: -promises[place])[:most]
        read = reader.answers(question, [likely[place].in_context for place in best])
        for place, probability in zip(best, read, strict=True):
            factor = LACKING_RELEVANCE if missing[likely[place].place] else 1.0
            relevance = factor * calibration.relevance(probability, near[place])
            if part == len(questions) - 1:
                found[place] = relevance
            if part < len(parts) and relevance > by_part[place]:
                by_part[place], of_part[place] = relevance, part
    return _Answering(found, of_part)


def _missing(likely: Sequence[Sentence], question: str) -> Missing:
    """Return, for each place, the years, versions and numbers of the question that its chunk lacks, and the names that
    its whole source lacks: a text seldom repeats the name of its subject. A name that most sources have is the subject
    of all.
    """
    terms, names, sources = required_terms(question), required_names(question), {each.source for each in likely}
    absent = {each: lacking_names(names, "\n".join((each.title, *each.texts))) for each in sources}
    often = Counter(name for lacks in absent.values() for name in lacks)
    found: dict[tuple[str, int], tuple[str, ...]] = {}
    for each in likely:
        if each.place not in found:
            rare = tuple(name for name in absent[each.source] if 2 * often[name] >= len(sources))
            found[each.place] = lacking(terms, f"{each.source.title}\n{each.chunk.text}") + rare
    return found


def _is_relevant(evidence: Evidence, wanted: Wording, least: float) -> bool:
    """Return whether an excerpt is about the question: by vectors, words, or the reader."""
    if evidence.similarity >= MIN_SIMILARITY or (evidence.relevance or 0.0) >= least:
        return True
    return evidence.similarity >= MIN_WORDED_SIMILARITY and wanted.matches(
        evidence.stems | stems(evidence.source.title)
    )


def _excerpts(
    likely: Sequence[Sentence],
    vectors: Vectors,
    chunk_set: ChunkSet,
    title_similarity: Mapping[str, float],
    missing: Missing,
    answering: _Answering,
    writing: WritingSettings,
) -> Iterator[Evidence]:
    """Yield and score every run of up to `MAX_RUN` neighbouring sentences of one chunk."""
    of_excerpt, of_chunk, of_title, of_words = writing.ranking_weights
    question = chunk_set.question_vector
    for (document, chunk), group in groupby(range(len(likely)), key=lambda i: likely[i].place):
        indices = list(group)
        chunk_similarity = float(likely[indices[0]].chunk.vector @ question)
        lacks = missing[document, chunk]
        for run in _runs(likely, indices):
            first = likely[run[0]]
            similarity = _similarity(vectors[run], question)
            held = frozenset[str]().union(*(likely[i].stems for i in run))
            score = (
                of_excerpt * similarity
                + of_chunk * chunk_similarity
                + of_title * title_similarity[first.source.title]
                + of_words * chunk_set.wording.share(held)
                + first.source.weight
                - LACKING * bool(lacks)
            )
            best, likeliest, relevance = None, run[0], answering.relevance
            if relevance is not None:
                likeliest = max(run, key=relevance.__getitem__)
                best = round(_FIRST * relevance[run[0]] + (1 - _FIRST) * relevance[likeliest], 4)
            yield Evidence(
                tuple(likely[i].text for i in run), first.source, document, chunk, first.position,
                round(max(0.0, similarity), 4), round(score, 4), lacks, best, answering.part[likeliest], 0, held,
            )  # fmt: skip


def _runs(likely: Sequence[Sentence], indices: Sequence[int]) -> Iterator[list[int]]:
    """Yield runs of one, two, … `indices` whose sentences follow each other without a gap; none begins with a sentence
    that needs the one before it, if that can be quoted, too.
    """
    positions = {likely[index].position for index in indices}
    for start in range(len(indices)):
        first = likely[indices[start]]
        if first.before and first.position - 1 in positions and not needs_previous(first.before):
            continue
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
