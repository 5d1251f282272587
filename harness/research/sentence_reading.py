"""Reading of sentences: how likely each answers a question, by reader and vectors."""

from collections.abc import Sequence

from msgspec import Struct

from harness.core.foreign_text import foreign_language, is_english
from harness.core.multilingual_vectors import SCALE, knows
from harness.ports import Reader, Vectors
from harness.research.missing_terms import Missing
from harness.research.quotable_sentences import Sentence
from harness.research.relevance import promise
from harness.research.rules import Weights
from harness.research.scoring import ChunkSet


class Answering(Struct, frozen=True):
    """For each sentence: how likely it answers (0..1; `None` without a reader), which part of the question, and how
    likely it answers that part.
    """

    relevance: Sequence[float] | None
    part: Sequence[int]
    of_part: Sequence[float] = ()

    def likeliest(self) -> dict[int, float]:
        """Return for each part of the question how likely the best sentence about it answers it."""
        found: dict[int, float] = {}
        for part, of_part in zip(self.part, self.of_part, strict=True):
            found[part] = max(of_part, found.get(part, 0.0))
        return found


def parts_by_vectors(vectors: Vectors, questions: Sequence[tuple[str, Vectors]]) -> list[int]:
    """Return the place of the question that each vector is nearest to."""
    near = [(vectors @ vector).tolist() for _, vector in questions]
    return [max(range(len(questions)), key=lambda part: near[part][place]) for place in range(len(vectors))]


def read_sentences(
    likely: Sequence[Sentence],
    vectors: Vectors,
    questions: Sequence[tuple[str, Vectors]],
    chunk_set: ChunkSet,
    reader: Reader,
    missing: Missing,
    weights: Weights,
) -> Answering:
    """Return how likely (0..1) each sentence answers the last question, the whole one, and which of the others it
    answers best, by reader and vectors; a share of that (see `weights`) where something is `missing`. Only the most
    promising ones are read; the others are 0. The reader reads English: for a question in another language the vectors,
    which must know it (see `multilingual_vectors.knows`), decide. Where only the source is in another language, shared
    words do, and the vectors if they know that.
    """
    parts = questions[:-1] or questions
    of_part, by_part = parts_by_vectors(vectors, parts), [0.0] * len(likely)
    found, calibration = [0.0] * len(likely), reader.calibration.with_vectors_of(chunk_set.embedder.id)
    english = is_english(chunk_set.question)
    for part, (question, vector) in enumerate(questions):
        near, wanted = (vectors @ vector).tolist(), chunk_set.wording
        promises = [promise(similar, wanted.share(each.stems)) for similar, each in zip(near, likely, strict=True)]
        most = weights.sentences_read if part == len(questions) - 1 else weights.sentences_read // len(parts)
        best = sorted(range(len(likely)), key=lambda place: -promises[place])[:most]
        languages = {place: _other_language(likely[place], chunk_set) for place in best}
        readable = {place for place in best if english and not languages[place]}
        read = iter(reader.answers(question, [likely[place].in_context for place in best if place in readable]))
        for place in best:
            if place in readable:
                relevance = calibration.relevance(next(read), near[place])
            elif english:
                share = wanted.share(likely[place].stems)
                relevance = calibration.by_words(share)
                if knows(chunk_set.embedder.id, languages[place]):
                    relevance = max(relevance, calibration.by_meaning(near[place] / SCALE, share, across=True))
            else:
                share, across = wanted.share(likely[place].stems), bool(languages[place])
                relevance = calibration.by_meaning(near[place], share, across=across)
            relevance *= weights.lacking_relevance if missing[likely[place].place] else 1.0
            if part == len(questions) - 1:
                found[place] = relevance
            if part < len(parts) and relevance > by_part[place]:
                by_part[place], of_part[place] = relevance, part
    return Answering(found, of_part, by_part)


def _other_language(sentence: Sentence, chunk_set: ChunkSet) -> str:
    """Return the language of a sentence if it is not the question's, "" if it is, or is not known. A source may be too
    short to show it.
    """
    if chunk_set.across and not sentence.source.language:
        return foreign_language(sentence.text)
    return sentence.source.language
