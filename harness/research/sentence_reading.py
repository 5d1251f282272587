"""Reading of sentences: how likely each answers a question, by reader and vectors."""

from collections.abc import Sequence

from msgspec import Struct

from harness.core.foreign_text import foreign_language, is_english
from harness.core.helpfulness import mean_odds
from harness.core.multilingual_vectors import SCALE, knows
from harness.core.required_terms import is_of_time
from harness.core.steps import asks_for_steps, gives_steps
from harness.core.sub_questions import as_question
from harness.ports import Reader, Vectors
from harness.research.missing_terms import Missing
from harness.research.quotable_sentences import Sentence
from harness.research.relevance import promise
from harness.research.rules import Weights
from harness.research.scoring import ChunkSet


class Answering(Struct, frozen=True):
    """For each sentence: how likely it answers (0..1; `None` without a reader), which part of the question, and how
    likely it answers that part. `nearest` is how likely the best one answers that lacks nothing but years.
    """

    relevance: Sequence[float] | None
    part: Sequence[int]
    of_part: Sequence[float] = ()
    nearest: float = 0.0

    def of_each(self) -> list[float]:
        """Return how likely (0..1) each sentence answers the question or its part, 0 for one that was not read."""
        return list(map(max, self.relevance or (), self.of_part))

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
    words do, and the vectors if they know that. A list of steps belongs to the only part that asks for steps.
    """
    parts = questions[:-1] or questions
    of_part, by_part, nearest = parts_by_vectors(vectors, parts), [0.0] * len(likely), 0.0
    found = [0.0] * len(likely)
    for part, (question, vector) in enumerate(questions):
        near, wanted = (vectors @ vector).tolist(), chunk_set.wording
        promises = [promise(similar, wanted.share(each.stems)) for similar, each in zip(near, likely, strict=True)]
        most = weights.sentences_read if part == len(questions) - 1 else weights.sentences_read // len(parts)
        best = sorted(range(len(likely)), key=lambda place: -promises[place])[:most]
        relevances = _relevances(
            question, [likely[place] for place in best], [near[place] for place in best], chunk_set, reader
        )
        for place, relevance in zip(best, relevances, strict=True):
            lacks = missing[likely[place].place]
            if all(map(is_of_time, lacks)):
                nearest = max(nearest, relevance)
            weighed = relevance * (weights.lacking_relevance if lacks else 1.0)
            if part == len(questions) - 1:
                found[place] = weighed
            if part < len(parts) and weighed > by_part[place]:
                by_part[place], of_part[place] = weighed, part
    asking = [part for part, (question, _) in enumerate(parts) if asks_for_steps(question)]
    if len(asking) == 1:
        for place, each in enumerate(likely):
            if found[place] and gives_steps(each.text):
                by_part[place], of_part[place] = found[place], asking[0]
    return Answering(found, of_part, by_part, nearest)


def _relevances(
    question: str, likely: Sequence[Sentence], near: Sequence[float], chunk_set: ChunkSet, reader: Reader
) -> list[float]:
    """Return how likely each sentence answers a question; `near` are its similarities. A search query of which none is
    likely enough to answer is read again as a question, and the mean counts.
    """
    calibration = reader.calibration.with_vectors_of(chunk_set.embedder.id)
    wanted, english, found = chunk_set.wording, is_english(chunk_set.question), list[float]()
    languages = [_other_language(each, chunk_set) for each in likely]
    readable = [each.in_context for each, language in zip(likely, languages, strict=True) if english and not language]
    read = iter(chunk_set.answers(reader, question, readable))
    for each, similar, language in zip(likely, near, languages, strict=True):
        share = wanted.share(each.stems)
        if not english:
            found.append(calibration.by_meaning(similar, share, across=bool(language)))
        elif not language:
            found.append(calibration.relevance(next(read), similar))
        else:
            by_meaning = calibration.by_meaning(similar / SCALE, share, across=True)
            found.append(max(calibration.by_words(share), by_meaning * knows(chunk_set.embedder.id, language)))
    asked = as_question(question)
    if not english or asked == question or max(found, default=1.0) >= calibration.answers:
        return found
    again = _relevances(asked, likely, near, chunk_set, reader)
    return [mean_odds(one, other) for one, other in zip(found, again, strict=True)]


def _other_language(sentence: Sentence, chunk_set: ChunkSet) -> str:
    """Return the language of a sentence if it is not the question's, "" if it is, or is not known. A source may be too
    short to show it.
    """
    if chunk_set.across and not sentence.source.language:
        return foreign_language(sentence.text)
    return sentence.source.language
