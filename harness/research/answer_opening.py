"""Choice of the excerpt that opens an answer: by merit, by the form of its first sentence, and by a second reading."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from harness.core.foreign_text import is_english
from harness.core.helpfulness import helpfulness, mean_odds
from harness.core.openings import ASIDE, opening_factor
from harness.core.steps import steps_of
from harness.ports import Reader
from harness.research.relevance import Wording
from harness.research.rules import rules_of
from harness.settings import WritingSettings

if TYPE_CHECKING:
    from harness.research.evidence import Evidence

OPENINGS = 5
"""Excerpts whose first sentences are read again before one of them opens an answer: about 40 ms."""


def answers_first(
    ranked: "Sequence[Evidence]",
    questions: Sequence[str],
    wanted: Wording,
    writing: WritingSettings,
    reader: Reader,
    outvoted: Collection[str] = (),
) -> "list[Evidence]":
    """Return ranked excerpts with the best opening of the answer to each question first, rather none of the sentences
    that others have `outvoted`. The rest may be about all that belongs to it.
    """
    by_part = (about_part(ranked, part) for part in range(len(questions)))
    firsts = [
        _opening(about, questions[about[0].part], wanted, writing, reader, outvoted) for about in by_part if about
    ]
    return [*firsts, *(each for each in ranked if not any(each is first for first in firsts))]


def _opening(
    about: "Sequence[Evidence]",
    question: str,
    wanted: Wording,
    writing: WritingSettings,
    reader: Reader,
    outvoted: Collection[str],
) -> "Evidence":
    """Return the excerpt that opens the answer to a question best: one that lacks nothing of the question, if any is
    likely to answer. The first sentences of the best ones are read a second time, without title and heading,
    whose words count for every sentence below them; steps, which say nothing without them, are not.
    """
    best: dict[str, Evidence] = {}  # by their first sentence
    whole = [each for each in about if not each.lacks]
    if max((each.of_part for each in whole), default=0.0) >= reader.calibration.answers:
        about = whole
    for each in sorted(about, key=lambda each: -merit(each, wanted, writing.reading_weight)):
        best.setdefault(each.sentences[0], each)
    factors = {
        text: opening_factor(text, question, each.source.title) * (ASIDE if text in outvoted else 1.0)
        for text, each in best.items()
    }

    def of_opening(found: "Evidence") -> float:
        return factors[found.sentences[0]] * merit(found, wanted, writing.reading_weight)

    likeliest = sorted(best.values(), key=lambda each: -of_opening(each))[:OPENINGS]
    if not all(map(is_english, (question, *(each.sentences[0] for each in likeliest)))):
        return likeliest[0]
    again = [each for each in likeliest if not steps_of(each.sentences[0])]
    texts = [each.sentences[0] for each in again]
    lacking = rules_of(writing.rules).weights.lacking_relevance
    read_again = {
        text: mean_odds(each.of_part, read * (lacking if each.lacks else 1.0))
        for text, each, read in zip(texts, again, reader.answers(question, texts), strict=True)
    }
    return max(
        likeliest, key=lambda each: of_opening(replace(each, of_part=read_again.get(each.sentences[0], each.of_part)))
    )


def about_part(ranked: "Sequence[Evidence]", part: int) -> "list[Evidence]":
    """Return the excerpts about a part of the question, in their order."""
    return [each for each in ranked if each.part == part]


def merit(found: "Evidence", wanted: Wording, weight: float) -> float:
    """Return the merit of an excerpt as the first one about its part of a question."""
    has_rarest = bool(wanted.rarest & found.stems)
    helps = helpfulness(
        found.of_part,
        1,
        has_rarest=has_rarest,
        of_chunk=found.of_chunk,
        agreement=found.agreement,
        lacks_kind=found.lacks_kind,
    )
    return weight * helps + (1 - weight) * found.score
