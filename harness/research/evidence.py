"""Selection of the excerpts that answer a question: the best sentences of the best chunks.

Vectors and words rank the excerpts. A reader, if there is one, decides with them which excerpt comes first, and whether
any sentence answers the question: if none is likely to, there is no evidence, however near the vectors are.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from harness.cache import Cache
from harness.core.agreement import agreement
from harness.core.answer_kinds import lacks_kind
from harness.core.disagreement import Said, disagreements, outvoted
from harness.core.foreign_text import foreign_language
from harness.core.helpfulness import after_earlier, helpfulness
from harness.core.multilingual_vectors import knows
from harness.core.question_language import question_language
from harness.core.rank_fusion import select_diverse
from harness.core.redundancy import share_said
from harness.core.sites import host_of
from harness.ports import Reader, Vectors
from harness.research.answer_opening import about_part, answers_first, merit
from harness.research.gathering import GatheredSource
from harness.research.missing_terms import Missing, missing_terms
from harness.research.quotable_sentences import Sentence, promising_sentences
from harness.research.relevance import MIN_SIMILARITY, MIN_WORDED_SIMILARITY, Wording
from harness.research.repeats import without_repeats
from harness.research.rules import rules_of, version_of_rules
from harness.research.scoring import ChunkSet
from harness.research.sentence_reading import Answering, parts_by_vectors, read_sentences
from harness.research.sentence_runs import runs_of, trimmed
from harness.settings import WritingSettings

MAX_OVERLAP = 0.5
"""Two excerpts are duplicates if they share more than this share of the shorter one's words, the question's words
aside.
"""


class Evidence(Struct, frozen=True):
    """Consecutive sentences of one chunk (`document`, `chunk`) of `source`; `position` orders the excerpts of one
    source.

    `similarity` is the cosine similarity of question and excerpt (0..1), `score` the ranking score. `lacks` are the
    years, versions and numbers of the question that its passage does not have; `relevance` (0..1) is how likely it
    answers, by reader and vectors; `None` without a reader. `part` is the place of the sub-question that it is
    about, `of_part` (0..1) how likely it answers that one, `of_chunk` the similarity of its chunk, `agreement` that
    with other sites, `helps` (0..1) how likely it helps at its rank; `None` without a reader. `disagrees` is the
    number of a disagreement if it is one of its statements, else 0. `lacks_kind`: its part asks for a kind of answer,
    such as a number, and it has none.
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
    of_part: float = 0.0
    of_chunk: float = 0.0
    agreement: float | None = None
    helps: float | None = None
    lacks_kind: bool = False


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
    helps: float | None = None


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
    """Return what `find_evidence` returns, from the cache if it is there: embedding takes about a second. Nothing is
    refused if neither the reader nor the vectors know the question's language.

    Raises:
        EmbeddingError: the embedder failed.
        ReaderError: the reader failed.
        StoreError: the cache cannot be read.
    """
    language = foreign_language(chunk_set.question)
    if language and not knows(chunk_set.embedder.id, language):
        reader = None

    def compute() -> list[Excerpt]:
        found = find_evidence(sources, chunk_set, writing, reader, parts)
        return [_excerpt(each) for each in found]

    by_url, undated = {source.url: source for source in sources}, [source.undated for source in sources]
    weighed = f"most={writing.max_evidence}, per_source={writing.per_source}, weights={writing.ranking_weights}"
    ranking = f"{chunk_set.code.evidence} Choice({weighed}) {chunk_set.chunking_id}"  # a key of older snapshots, too
    ranking += "".join(f" part={part}" for part in parts)
    if replaced := version_of_rules(writing.rules, "weights"):
        ranking += f" {replaced}"
    ranking = f"{ranking} {reader.id} {writing.reading_weight} {reader.calibration}" if reader else ranking
    kept = cache.derived.get(chunk_set.question, ranking, undated, compute, list[Excerpt], ttl=ttl)
    # a cached row may come from another user's file
    if any(each.url not in by_url or not each.sentences for each in kept):
        kept = compute()
    return [_evidence(each, by_url[each.url]) for each in kept]


def _excerpt(found: Evidence) -> Excerpt:
    return Excerpt(
        found.sentences, found.source.url, found.document, found.chunk, found.position, found.similarity, found.score,
        found.lacks, found.relevance, found.part, found.disagrees, found.helps,
    )  # fmt: skip


def _evidence(kept: Excerpt, source: GatheredSource) -> Evidence:
    return Evidence(
        kept.sentences, source, kept.document, kept.chunk, kept.position, kept.similarity, kept.score,
        kept.lacks, kept.relevance, kept.part, kept.disagrees, helps=kept.helps,
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
    excerpt is the mean of its sentences' vectors. With a `reader`, there are none if it, or the vectors in another
    language than English, find no sentence likely enough to answer the question or one of the `parts`, the
    sub-questions of a compound question; its years may be missing then. Each part has an excerpt if one is about it,
    but none if nothing answers it while another part is answered. The rules in `writing` weigh.

    Raises:
        InvalidInput: a rule cannot be used, see `harness.core.rules`.
        EmbeddingError: the embedder failed.
        ReaderError: the reader failed.
    """
    wanted, weights = chunk_set.wording, rules_of(writing.rules).weights
    likely = promising_sentences(sources, chunk_set, wanted)
    if not likely:
        return []
    titles = list(dict.fromkeys(sentence.source.title for sentence in likely))
    texts = [*titles, *parts, *(sentence.text for sentence in likely)]
    vectors = chunk_set.vectors_of(texts)
    title_similarity = dict(zip(titles, (vectors[: len(titles)] @ chunk_set.question_vector).tolist(), strict=True))
    whole = (chunk_set.question, chunk_set.question_vector)
    questions = [(part, vectors[len(titles) + place]) for place, part in enumerate(parts)] or [whole]
    asked = [question for question, _ in questions]
    vectors, least = vectors[len(titles) + len(parts) :], math.inf
    missing = missing_terms(likely, chunk_set.question)
    answering, answered = Answering(None, parts_by_vectors(vectors, questions)), set(range(len(questions)))
    if reader is not None:
        read = [*questions, whole] if parts else questions
        answering = read_sentences(likely, vectors, read, chunk_set, reader, missing, weights)
        least = reader.calibration.answers
        if max(answering.nearest, *(answering.relevance or ()), *answering.of_part) < least:
            return []
        answered = {part for part, likeliest in answering.likeliest().items() if likeliest >= least} or answered
    ranked = sorted(
        _excerpts(likely, vectors, chunk_set, title_similarity, missing, answering, writing, asked),
        key=lambda evidence: -evidence.score,
    )
    ranked = _in_own_language(ranked, chunk_set.question, lambda each: _is_relevant(each, wanted, least))
    ranked = [each for each in ranked if each.part in answered and _is_relevant(each, wanted, least)]
    said = [_said(ranked, part, least) for part in range(len(questions))]
    if reader is not None:
        few = frozenset[str]().union(*map(_outvoted, asked, said))
        ranked = answers_first(ranked, asked, wanted, writing, reader, few)
    chosen = _choose(ranked, wanted, writing, len(parts))
    if reader is not None:
        answers = dict(zip((each.text for each in likely), answering.of_each(), strict=True))
        chosen = [
            replace(each, sentences=trimmed(each.sentences, answers, weights.trimmed_below, asked[each.part]))
            for each in chosen
        ]
    by_text = {each.text: vector for each, vector in zip(likely, vectors, strict=True)}
    return [*without_repeats(chosen, by_text, weights.repeated, asked), *_disagreeing(asked, said)]


def _choose(ranked: Sequence[Evidence], wanted: Wording, writing: WritingSettings, parts: int) -> list[Evidence]:
    """Return the excerpts that a report has: different ones that help, and at least one about each of the parts."""
    different = select_diverse(
        ranked,
        limit=writing.max_evidence,
        document=lambda evidence: evidence.source.url,
        per_document=writing.per_source,
        features=lambda evidence: set(evidence.stems - wanted.stems),  # every good excerpt shares the question's words
        max_overlap=MAX_OVERLAP,
    )
    chosen = list(_helpful(different, wanted, rules_of(writing.rules).weights.helpful))
    absent = (about_part(ranked, part) for part in set(range(parts)) - {found.part for found in chosen})
    chosen += [max(about, key=lambda each: merit(each, wanted, writing.reading_weight)) for about in absent if about]
    return chosen


def _helpful(chosen: Iterable[Evidence], wanted: Wording, least: float) -> Iterator[Evidence]:
    """Yield the excerpts that were read and help at least so likely, and those that were not read. One with the words
    of an earlier one helps less, unless it is the first about its part, but is not left out for that: the rest may be
    new.
    """
    ranks, said = Counter[int](), list[frozenset[str]]()
    for each in chosen:
        ranks[each.part] += 1
        helps = helpfulness(
            each.of_part,
            ranks[each.part],
            has_rarest=bool(wanted.rarest & each.stems),
            of_chunk=each.of_chunk,
            agreement=each.agreement,
            lacks_kind=each.lacks_kind,
        )
        if each.relevance is None:
            yield each
        elif helps >= least:
            repeated = share_said(each.stems, said) if ranks[each.part] > 1 else 0.0
            yield replace(each, helps=round(after_earlier(helps, repeated), 4))
            said.append(each.stems)


def _in_own_language(
    ranked: Sequence[Evidence], question: str, is_relevant: Callable[[Evidence], bool]
) -> list[Evidence]:
    """Return ranked excerpts without those in another language than the question, where the best one about the same
    part is in the question's own: that language does not lack an answer. An English question keeps them.
    """
    if question_language(question) == "en":
        return list(ranked)
    best: dict[int, Evidence] = {}
    for each in filter(is_relevant, ranked):
        best.setdefault(each.part, each)
    answered = {part for part, each in best.items() if not each.source.language}
    return [each for each in ranked if not (each.source.language and each.part in answered)]


def _said(ranked: Sequence[Evidence], part: int, least: float) -> list[Evidence]:
    """Return the excerpts of one sentence that answer a part of the question, the likeliest first."""
    single = [each for each in about_part(ranked, part) if len(each.sentences) == 1]
    answers = [each for each in single if (each.relevance or 0.0) >= least or each.similarity >= MIN_SIMILARITY]
    return sorted(answers, key=lambda each: (-(each.relevance or 0.0), -each.similarity))


def _outvoted(question: str, answers: Sequence[Evidence]) -> frozenset[str]:
    return outvoted(question, list(map(_statement, answers)))


def _disagreeing(questions: Sequence[str], said: Sequence[Sequence[Evidence]]) -> Iterator[Evidence]:
    """Yield the statements of sources that disagree about each question, disagreement after disagreement."""
    number = 0
    for question, answers in zip(questions, said, strict=True):
        for group in disagreements(question, list(map(_statement, answers))):
            number += 1
            yield from (replace(answers[place], disagrees=number) for place in group)


def _statement(found: Evidence) -> Said:
    return Said(found.sentences[0], found.source.url, found.source.title)


def _is_relevant(evidence: Evidence, wanted: Wording, least: float) -> bool:
    """Return whether an excerpt is about the question: by vectors, words, or the reader."""
    if evidence.similarity >= MIN_SIMILARITY or (evidence.relevance or 0.0) >= least:
        return True
    return evidence.similarity >= MIN_WORDED_SIMILARITY and wanted.matches(
        evidence.stems | wanted.stems_of(evidence.source.title)
    )


def _excerpts(
    likely: Sequence[Sentence],
    vectors: Vectors,
    chunk_set: ChunkSet,
    title_similarity: Mapping[str, float],
    missing: Missing,
    answering: Answering,
    writing: WritingSettings,
    questions: Sequence[str],
) -> Iterator[Evidence]:
    """Yield and score every run of neighbouring sentences of one chunk (see `runs_of`)."""
    weights = rules_of(writing.rules).weights
    of_excerpt, of_chunk, of_title, of_words = writing.ranking_weights
    question = chunk_set.question_vector
    foreign = 0.0 if question_language(chunk_set.question) == "en" else weights.other_language
    sites = [host_of(each.source.url).removeprefix("www.") for each in likely]
    agreeing = agreement([each.stems for each in likely], sites, chunk_set.wording.stems)
    for (document, chunk), group in groupby(range(len(likely)), key=lambda i: likely[i].place):
        indices = list(group)
        chunk_similarity = float(likely[indices[0]].chunk.vector @ question)
        lacks = missing[document, chunk]
        for run in runs_of(likely, indices, chunk_set.wording.stems):
            first = likely[run[0]]
            similarity = _similarity(vectors[run], question) * chunk_set.scale
            held = frozenset[str]().union(*(likely[i].stems for i in run))
            score = (
                of_excerpt * similarity
                + of_chunk * chunk_similarity
                + of_title * title_similarity[first.source.title]
                + of_words * chunk_set.wording.share(held)
                + first.source.weight
                - weights.lacking_score * bool(lacks)
                - foreign * bool(first.source.language)
            )
            best, of_part, likeliest, relevance = None, 0.0, run[0], answering.relevance
            if relevance is not None:
                likeliest = max(run, key=relevance.__getitem__)
                best, of_part = (
                    round(weights.first_sentence * each[run[0]] + (1 - weights.first_sentence) * each[likeliest], 4)
                    for each in (relevance, answering.of_part)
                )
            sentences, part = tuple(likely[i].text for i in run), answering.part[likeliest]
            yield Evidence(
                sentences, first.source, document, chunk, first.position, round(min(1.0, max(0.0, similarity)), 4),
                round(score, 4), lacks, best, part, 0, held, of_part, chunk_similarity * chunk_set.scale,
                agreeing[likeliest], lacks_kind=all(lacks_kind(text, questions[part]) for text in sentences),
            )  # fmt: skip


def _similarity(vectors: Vectors, question: Vectors) -> float:
    """Return the cosine similarity of `question` (a unit vector) and the mean of `vectors`."""
    mean = vectors.mean(axis=0)
    return float(mean @ question) / (math.sqrt(float(mean @ mean)) or 1.0)
