"""Support of a sentence by a quotation: a pure decision with reasons.

Deterministic: the content of the sentence must be in the quotation. Numbers, dates and names that only the sentence
has, another subject, a negation on only one side, opposites, exchanged words, a reversed comparison, and a stronger
claim are contradictions. Otherwise the share of the sentence's content words that the quotation has decides, or the
probability of a model that has read both.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from harness.core.assertions import not_stated
from harness.core.citations import is_quoted_in
from harness.core.equivalence import roles
from harness.core.equivalence.comparison import Comparison, compare
from harness.core.equivalence.guards import identities, unmatched_quantities
from harness.core.equivalence.lexicon import AUDIENCES
from harness.core.equivalence.polarity import MAX_COMPARED, opposite_functions, opposites_among
from harness.core.equivalence.reading import Reading, form
from harness.core.equivalence.reading import read as read_words
from harness.core.qualifiers import overstatement
from harness.core.reading_calibration import ReadingCalibration
from harness.core.text import sentences
from harness.core.worded_numbers import in_digits, years_of_decades

MIN_COVERAGE = 0.5
"""Least share (0..1) of the sentence's content words that the quotation must have, without a model."""
LIKELIER = 0.5
"""Least probability (0..1) that sentence and quotation are about the same, by a reader, where the words are shared."""
MIN_COVERAGE_OTHER_SUBJECT = 0.75
"""Least share if the sentence begins with a word that the quotation lacks: its subject may differ."""
_ENDS = " .!?:"
_ENGLISH = frozenset(
    "the a an is are was were be of to in and or by with for that it on as from at not has have".split()
)
"""Word order is compared only if both sides have one of these: other languages have another order."""
_BE = frozenset("is are was were be been being am".split())

_CLAUSE = re.compile(
    r"[;:()]|[,.!?](?=\s|$)|\s[-–—]\s|\b(?:but|whereas|although|though|while|and|or|because|if|unless|when|which)\b",
    re.IGNORECASE,
)
_ATTRIBUTED = re.compile(
    r"^(?:(?:however|but|in contrast),? )?(?:(?:one|another|the other|a second|a third|a different) source "
    r"(?:says|states|gives|reports|adds)(?: that)?|according to (?:one|another|the other) source,) ",
    re.IGNORECASE,
)
"""The beginning of a sentence that leaves it to its citation who says so."""
_AFTER_THAN = 4
"""Words after "than" that belong to the comparison."""
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class SupportProbabilities(Struct, frozen=True, gc=False):
    """Probabilities of a model for a sentence and a quotation: supports, contradicts, neither; the sum is 1."""

    supports: float
    contradicts: float
    neither: float


class Support(Struct, frozen=True):
    """Result of a support check. `reasons` explain why not, empty if supported; `coverage` is the share (0..1) of the
    sentence's content words that the quotation has; `probability` (0..1) is a reader's, `None` without one, 1 for a
    repeated sentence. `contradicted`: the words are against it, rather than too few.
    """

    supported: bool
    reasons: tuple[str, ...]
    coverage: float
    probability: float | None = None
    contradicted: bool = False


def supports(
    sentence: str,
    quotation: str,
    *,
    context: str = "",
    read: SupportProbabilities | None = None,
    by: ReadingCalibration | None = None,
    shared: float = MIN_COVERAGE,
) -> Support:
    """Decide whether `quotation` supports `sentence`. Names in `context` (the question, the source's title) need not be
    in the quotation. `read` is what a reader with the thresholds `by` says; it never overrules a contradiction of the
    words. Where the quotation has at least the share `shared` (0..1) of the sentence's words, the reader must find that
    both are about the same; its view of contradictions does not count. Elsewhere it must find support. Never raises.
    """
    sentence = _ATTRIBUTED.sub("", sentence, count=1)
    if is_repeated(sentence, quotation):
        return Support(True, (), 1.0, 1.0)
    probability = None if read is None else round(read.supports, 4)
    sentence, quotation = in_digits(sentence, quotation)
    said, quoted = read_words(sentence), read_words(quotation)
    if not (said.whole and quoted.whole):
        return Support(False, ("too long to compare",), 0.0, probability)
    pair = compare(said, quoted, frozenset())
    coverage = round(_coverage(sentence, quotation, pair), 4)
    known = {word.form for word in read_words(context).words}
    if reasons := tuple(_contradictions(sentence, quotation, pair, known)):
        return Support(False, reasons, coverage, probability, contradicted=True)
    enough = coverage >= max(shared, _least_coverage(pair, known))
    if enough and (added := _added(sentence, quoted)):
        return Support(False, (f"the quotation does not mention {added}",), coverage, probability)
    if read is None or by is None:
        reasons = () if enough else (_not_mentioned(pair),)
        return Support(enough, reasons, coverage)
    likely, least = (1 - read.neither, LIKELIER) if enough else (read.supports, by.supports)
    reasons = () if likely >= least else (f"probability of support {likely:.2f}, needs {least:.2f}",)
    return Support(not reasons, reasons, coverage, round(likely, 4))


def is_repeated(sentence: str, quotation: str) -> bool:
    """Return whether the sentence is the quotation, or one whole sentence of it, word for word.

    A part of a sentence may say the opposite.
    """
    plain = sentence.strip(_ENDS)
    if not is_quoted_in(plain, [quotation]):
        return False
    return any(is_quoted_in(each.strip(_ENDS), [plain]) for each in (quotation, *sentences(quotation)))


def _not_mentioned(pair: Comparison) -> str:
    missing = ", ".join(word.plain.lstrip("#") for word in pair.rest_a[:5])
    return f"the quotation does not mention {missing}" if missing else "no word in common"


def _least_coverage(pair: Comparison, known: set[str]) -> float:
    subject = pair.a.words[0] if pair.a.words else None
    begins = subject is not None and pair.a.plain.startswith(subject.plain)
    if subject is None or not begins or subject not in pair.rest_a or subject.form in known:
        return MIN_COVERAGE
    return MIN_COVERAGE_OTHER_SUBJECT


def _added(sentence: str, quoted: Reading) -> str:
    """Return a clause of the sentence of which the quotation has no word, "" if there is none."""
    clauses = [clause for clause in _clauses(sentence) if len(clause.words) > 1]
    held = _forms(quoted)
    apart = [clause for clause in clauses if held.isdisjoint(_forms(clause))] if len(clauses) > 1 else []
    return apart[0].plain if apart else ""


def _coverage(sentence: str, quotation: str, pair: Comparison) -> float:
    if _UNSPACED.search(sentence):
        said, quoted = ({"".join(two) for two in pairwise("".join(text.split()))} for text in (sentence, quotation))
        return len(said & quoted) / len(said) if said else 0.0
    return len(pair.pairs) / len(pair.a.words) if pair.a.words else 0.0


def _contradictions(sentence: str, quotation: str, pair: Comparison, known: set[str]) -> Iterator[str]:
    said, quoted = pair.a, pair.b
    numbers, _ = unmatched_quantities(said.quantities, quoted.quantities, reworded=True)
    if numbers:
        yield f"the quotation does not have the number {', '.join(f'{q.value} {q.unit}'.strip() for q in numbers)}"
    other = (said.dates | said.times) - quoted.dates - quoted.times
    if dates := sorted(other | years_of_decades(sentence, quotation)):
        yield f"the quotation does not have the date {', '.join(dates)}"
    if names := identities(word for word in pair.only_a if word.form not in known and not _UNSPACED.search(word.plain)):
        yield f"the quotation does not name {', '.join(names[:5])}"
    if _negated_otherwise(sentence, quotation):
        yield "only one of sentence and quotation is negated"
    if len(pair.rest_a) * len(pair.rest_b) <= MAX_COMPARED and (found := opposites_among(pair.rest_a, pair.rest_b)):
        yield f"{found[0]} and {found[1]} are opposites"
    if turned := opposite_functions(set(said.functions), set(quoted.functions)):
        yield f"{turned[0]} and {turned[1]} are opposites"
    yield from _claims_differ(said, quotation, pair, known)
    if unstated := _in_each(not_stated(sentence, each) for each in _nearest_sentences(said, quotation)):
        yield unstated


def _claims_differ(said: Reading, quotation: str, pair: Comparison, known: set[str]) -> Iterator[str]:
    if audiences := _other_audience(pair):
        yield f"the sentence is about {audiences[0]}, the quotation about {audiences[1]}"
    if _compared_otherwise(said, pair.b):
        yield "the comparison is reversed"
    if subjects := _other_subject(pair, known):
        yield f"the sentence is about {subjects[0]}, the quotation about {subjects[1]}"
    nearest = [read_words(each) for each in _nearest_sentences(said, quotation)]
    if moved := _in_each(_moved(compare(said, each, frozenset())) for each in nearest):
        yield moved
    if stronger := _in_each(overstatement(said.plain, each.plain) for each in nearest):
        yield stronger


def _nearest_sentences(said: Reading, quotation: str) -> list[str]:
    """Return the sentences of the quotation that share most words with the sentence."""
    forms, every = _forms(said), sentences(quotation)
    shared = [len(forms & _forms(read_words(each))) for each in every]
    return [each for each, count in zip(every, shared, strict=True) if count and count == max(shared)]


def _other_audience(pair: Comparison) -> tuple[str, str] | None:
    """Return for whom the sentence is, and for whom the quotation, if both say so and not the same."""
    said, quoted = ([word.plain for word in rest if word.plain in AUDIENCES] for rest in (pair.rest_a, pair.rest_b))
    return (said[0], quoted[0]) if said and quoted else None


def _in_each(reasons: Iterator[str | None]) -> str | None:
    """Return the first of `reasons` if there is one for every sentence, otherwise `None`."""
    found = list(reasons)
    return found[0] if found and all(found) else None


def _other_subject(pair: Comparison, known: set[str]) -> tuple[str, str] | None:
    """Return the first words of both sides, if they differ and the same word follows ("Ruby added …", "Python 3.1
    added …").
    """
    if not (pair.pairs and pair.a.words and pair.b.words):
        return None
    first, other = pair.a.words[0], pair.b.words[0]
    begins = all(side.plain.startswith(word.plain) for side, word in ((pair.a, first), (pair.b, other)))
    place_a, place_b = pair.pairs[0]
    follows = place_a == 1 and not any(pair.b.words[place] not in pair.rest_b for place in range(place_b))
    if not begins or not follows or first not in pair.rest_a or other not in pair.rest_b:
        return None
    if first.form in known and pair.rest_a != (first,):  # if all else is said of the other one, it is about that
        return None
    return first.plain, other.plain


def _moved(pair: Comparison) -> str | None:
    """Return why words of a sentence have changed places, with each other or with their governors. Clauses may move."""
    sides = (pair.a.plain, pair.b.plain)
    if any(_ENGLISH.isdisjoint(side.split()) or len(_clauses(side)) > 1 for side in sides):
        return None
    if found := roles.turned_opposites(pair) or roles.exchanged_prepositions(pair):
        return f"{found[0]} and {found[1]} have changed places"
    if roles.opposed_prepositions(pair) or roles.exchanged_pronouns(pair) or roles.only_one_is_passive(pair):
        return "who or what acts has changed places"
    passive, other = (_is_passive(side) for side in (pair.a, pair.b))
    if passive == other and roles.is_reversed(pair):
        return "words have changed places"
    return None


def _is_passive(reading: Reading) -> bool:
    return "by" in reading.functions and not _BE.isdisjoint(reading.functions)


def _negated_otherwise(sentence: str, quotation: str) -> bool:
    """Compare each clause of the sentence with the clause of the quotation that shares most words with it."""
    quoted = [(_forms(clause), clause.negations % 2) for clause in _clauses(quotation)]
    for clause in _clauses(sentence):
        forms, negated = _forms(clause), clause.negations % 2
        shared = max((len(forms & other) for other, _ in quoted), default=0)
        if shared and all(odd != negated for other, odd in quoted if len(forms & other) == shared):
            return True
    return False


def _clauses(text: str) -> list[Reading]:
    return [read_words(clause) for clause in _CLAUSE.split(text) if clause.strip()]


def _forms(reading: Reading) -> set[str]:
    return {word.form for word in reading.words}


def _compared_otherwise(said: Reading, quoted: Reading) -> bool:
    (before, after), (other_before, other_after) = _compared(said), _compared(quoted)
    return bool(before & other_after and after & other_before)


def _compared(reading: Reading) -> tuple[set[str], set[str]]:
    """Return the words before "than", none without it, and those right after it, without the words of both."""
    words = [form(word) for word in reading.plain.split()]
    place = words.index("than") if "than" in words else 0
    left, right = set(words[:place]), set(words[place + 1 : place + 1 + _AFTER_THAN])
    return left - right, right - left
