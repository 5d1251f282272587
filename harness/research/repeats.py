"""Repeated sentences of excerpts: what they say is quoted once, in these words or others."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from harness.core.dangling import needs_previous
from harness.core.redundancy import adds_nothing, restates_figure
from harness.core.required_terms import all_numbers
from harness.ports import Vectors

if TYPE_CHECKING:
    from harness.research.evidence import Evidence


def without_repeats(
    found: "Iterable[Evidence]", vectors: Mapping[str, Vectors], repeated: float, questions: Sequence[str]
) -> "list[Evidence]":
    """Return the excerpts without the sentences that say what an earlier one says; `questions` are those of their
    parts. One that the next sentence needs stays if it is there in nearly the same words; if an earlier excerpt of the
    same text ends with it, that excerpt takes what follows.
    """
    quoted, kept = list[str](), list["Evidence"]()
    about = defaultdict[int, list[str]](list)  # the sentences about each part
    for each in found:
        question, left, is_reworded = questions[each.part], list[str](), False
        for text, after in zip(each.sentences, (*each.sentences[1:], ""), strict=True):
            if is_reworded and needs_previous(text):
                continue
            is_reworded = text not in quoted and (
                any(adds_nothing(text, question, other) for other in quoted)
                or restates_figure(text, question, about[each.part])
            )
            is_needed = after not in quoted and needs_previous(after)
            if not is_reworded and (is_needed or not _is_repeat(text, quoted, vectors, repeated)):
                left.append(text)
        before = next((place for place, other in enumerate(kept) if _goes_on(other, each, left)), None)
        if before is not None:
            kept[before] = replace(kept[before], sentences=(*kept[before].sentences, *left[1:]))
        elif left:
            kept.append(replace(each, sentences=tuple(left)))
        quoted += left
        about[each.part] += left
    return kept


def _goes_on(first: "Evidence", found: "Evidence", left: list[str]) -> bool:
    """Return whether what is `left` of an excerpt begins with the sentence with which another one of its text ends."""
    return first.document == found.document and list(first.sentences[-1:]) == left[:1]


def _is_repeat(text: str, quoted: Sequence[str], vectors: Mapping[str, Vectors], repeated: float) -> bool:
    """Return whether a sentence says what an earlier one says: the same words, or a cosine similarity of at least
    `repeated` and the same numbers.
    """
    numbers = all_numbers(text)
    return any(
        text == other or (float(vectors[text] @ vectors[other]) >= repeated and numbers == all_numbers(other))
        for other in quoted
    )
