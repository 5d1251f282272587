"""Repeated sentences of excerpts: each is quoted once, in these or nearly these words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from harness.core.dangling import needs_previous
from harness.core.required_terms import all_numbers
from harness.ports import Vectors

if TYPE_CHECKING:
    from harness.research.evidence import Evidence


def without_repeats(found: "Iterable[Evidence]", vectors: Mapping[str, Vectors], repeated: float) -> "list[Evidence]":
    """Return the excerpts without the sentences that an earlier one has, in these or nearly these words. One that the
    next sentence needs stays; if an earlier excerpt of the same text ends with it, that excerpt takes what follows.
    """
    quoted, kept = list[str](), list["Evidence"]()
    for each in found:
        following = (*each.sentences[1:], "")
        left = tuple(
            text
            for text, after in zip(each.sentences, following, strict=True)
            if not _is_repeat(text, quoted, vectors, repeated) or (after not in quoted and needs_previous(after))
        )
        before = next((place for place, other in enumerate(kept) if _goes_on(other, each, left)), None)
        if before is not None:
            kept[before] = replace(kept[before], sentences=(*kept[before].sentences, *left[1:]))
        elif left:
            kept.append(replace(each, sentences=left))
        quoted += left
    return kept


def _goes_on(first: "Evidence", found: "Evidence", left: tuple[str, ...]) -> bool:
    """Return whether what is `left` of an excerpt begins with the sentence with which another one of its text ends."""
    return first.document == found.document and first.sentences[-1:] == left[:1]


def _is_repeat(text: str, quoted: Sequence[str], vectors: Mapping[str, Vectors], repeated: float) -> bool:
    """Return whether a sentence says what an earlier one says: the same words, or a cosine similarity of at least
    `repeated` and the same numbers.
    """
    numbers = all_numbers(text)
    return any(
        text == other or (float(vectors[text] @ vectors[other]) >= repeated and numbers == all_numbers(other))
        for other in quoted
    )
