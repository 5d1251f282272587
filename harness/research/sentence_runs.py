"""Runs of neighbouring sentences that can be quoted together and understood without the rest of their text."""

import re
from collections.abc import Iterator, Mapping, Sequence

from harness.core.answer_kinds import lacks_kind
from harness.core.dangling import needs_previous, needs_time
from harness.core.openings import is_announcement
from harness.core.other_cases import is_of_other_case
from harness.core.quotable import is_cut_off
from harness.core.text import stems
from harness.research.quotable_sentences import Sentence

MAX_RUN = 3
"""Most sentences in an excerpt. One sentence alone rarely names its subject."""
SHARE_OF_BEST = 0.5
"""A sentence that answers at least this share (0..1) as likely as the best one of its excerpt stays in it."""
_REST = re.compile(r"(?:all |any |every |each )?others?\b(?! than\b)", re.IGNORECASE)
"""Beginning of a sentence about the rest of what the one before it is about: "Other errors are not retried."."""


def runs_of(likely: Sequence[Sentence], indices: Sequence[int], asked: frozenset[str]) -> Iterator[list[int]]:
    """Yield runs of one, two, … `indices` whose sentences follow each other without a gap. None ends with the
    announcement of what follows, or begins with a sentence that needs the one before it, unless it may (`_may_begin`),
    goes on with a sentence that was cut off, unless that needs the one before it, or goes on after one.
    `asked` are the stems of the question's words.
    """
    positions = {likely[index].position for index in indices}
    for start in range(len(indices)):
        first = likely[indices[start]]
        if not _may_begin(first, first.position - 1 in positions, asked):
            continue
        run = [indices[start]]
        if not is_announcement(first.text):
            yield run
        for index in indices[start + 1 : start + MAX_RUN]:
            last, text = likely[run[-1]], likely[index].text
            if likely[index].position != last.position + 1 or is_cut_off(last.text):
                break
            if is_cut_off(text) and not needs_previous(text):
                break
            run = [*run, index]
            if not is_announcement(text):
                yield run


def trimmed(sentences: Sequence[str], answering: Mapping[str, float], least: float, question: str) -> tuple[str, ...]:
    """Return the sentences of an excerpt without those at its ends that hardly answer the question: less likely than
    `least` and `SHARE_OF_BEST`, without the kind of answer that it asks for (such as a number), or about another case
    (such as another year); the last two only next to a better sentence. `answering` has the probability (0..1) of each,
    0 where it was not read; such a sentence stays, and so do an announcement with what it announces, the sentence that
    the next one needs, and one about the rest.
    """
    kept = list(sentences)
    least = min(least, SHARE_OF_BEST * max(answering[each] for each in kept))
    hardly = {each for each in kept if 0 < answering[each] < least}
    lacking = {each for each in kept if lacks_kind(each, question) or is_of_other_case(each, question)}
    if not hardly | lacking >= set(kept):
        hardly |= lacking
    while kept[-1] in hardly and not (is_announcement(kept[-2]) or _REST.match(kept[-1])):
        kept.pop()
    while kept[0] in hardly and not needs_previous(kept[1]):
        kept.pop(0)
    return tuple(kept)


def _may_begin(first: Sentence, previous: bool, asked: frozenset[str]) -> bool:
    """Return whether an excerpt may begin with a sentence; `previous`: the one before it can be quoted. One that counts
    from an earlier time may not. One that points back may, if it points to a sentence that does so, too, or to a
    heading, question or title with a word of the question.
    """
    if not needs_previous(first.text):
        return True
    if needs_time(first.text):
        return False
    if previous:
        return needs_previous(first.before)
    named = first.before or first.heading or first.source.title
    return not named or not asked.isdisjoint(stems(named))
