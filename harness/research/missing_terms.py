"""Years, versions, numbers and names of a question that a passage, or its source, does not have."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from harness.core.place_names import has_form, names_asked
from harness.core.question_language import question_language
from harness.core.required_terms import (
    lacking,
    lacking_names,
    lacking_things,
    named_things,
    names_year,
    required_names,
    required_terms,
)
from harness.research.quotable_sentences import Sentence

Missing: TypeAlias = Mapping[tuple[str, int], tuple[str, ...]]
"""Terms and names of the question that each place (document, index of the chunk) lacks."""

NAMES_AS_WRITTEN = frozenset(("", "en", "es", "fr", "it", "nl", "pt"))
"""Languages in which a capital letter within a sentence begins a name, and names are not inflected."""


def missing_terms(likely: Sequence[Sentence], question: str) -> Missing:
    """Return, for each place, the years, versions and numbers of the question that its chunk lacks, and the names that
    its whole source lacks: a text seldom repeats the name of its subject. A year is met by the date of the
    source, if the chunk names none. A name that most sources have is the subject of all. A thing that no source
    is about ("the Halden tunnel") is missing everywhere.
    """
    terms, sources = required_terms(question), {each.source for each in likely}
    texts = {each: "\n".join((each.title, *each.texts)) for each in sources}
    lacks_names = _lacks_names(question)
    absent = {each: lacks_names(text) for each, text in texts.items()}
    nowhere = lacking_things(named_things(question), list(texts.values()))
    often = Counter(name for lacks in absent.values() for name in lacks)
    found: dict[tuple[str, int], tuple[str, ...]] = {}
    for each in likely:
        if each.place not in found:
            rare = tuple(name for name in absent[each.source] if 2 * often[name] >= len(sources))
            text = f"{each.source.title}\n{each.chunk.text}"
            dated = "" if names_year(text) else each.source.date[:4]
            found[each.place] = tuple(term for term in lacking(terms, text) if term != dated) + rare + nowhere
    return found


def _lacks_names(question: str) -> Callable[[str], tuple[str, ...]]:
    """Return a function that gives the names of the question that a text lacks, as far as its language shows names."""
    language = question_language(question)
    if language in NAMES_AS_WRITTEN:
        return partial(lacking_names, required_names(question))
    asked = names_asked(question, language)
    return lambda text: tuple(name for name, forms in asked.items() if not has_form(text, forms, language))
