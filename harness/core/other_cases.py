"""Sentences about another case than a question: another year, or "with" where the question says "without"."""

import re

from harness.core.answer_kinds import kind_of_answer
from harness.core.equivalence.reading import read
from harness.core.foreign_text import is_english
from harness.core.required_terms import is_of_time, lacking, names_year, required_terms

_NEGATED = re.compile(
    r"\b(?:without(?: (?:an?|any|the|using))?|no(?! (?:longer|matter|more|one|way)\b)|lacks?|lacking)"
    r"\s+[`\"“‘'*]*([^\W\d]\w*)",
    re.IGNORECASE,
)
_ASKS_WHY = re.compile(r"\bwhy\b|\b(?:is|are|was|were) there no\b", re.IGNORECASE)
"""Questions for a reason are not about a case."""


def is_of_other_case(sentence: str, question: str) -> bool:
    """Return whether a sentence is about another case than an English question. Its years are all other ones than those
    of the question. Or the question is about a thing without something ("What is used if it has no __prepare__?"), and
    the sentence about one that has it ("If it has a __prepare__, …"). Never raises.
    """
    if not is_english(question):
        return False
    return _is_of_other_time(sentence, question) or _has_what_is_negated(sentence, question)


def _is_of_other_time(sentence: str, question: str) -> bool:
    asked = list(filter(is_of_time, required_terms(question)))
    if not asked or kind_of_answer(question) == "time":
        return False
    return names_year(sentence) and len(lacking(asked, sentence)) == len(asked)


def _has_what_is_negated(sentence: str, question: str) -> bool:
    negated = _NEGATED.findall(question)
    if not negated or _ASKS_WHY.search(question) or read(sentence).negations:
        return False
    return any(_is_condition(term, sentence) for term in negated)


def _is_condition(term: str, sentence: str) -> bool:
    """Return whether a term is in a condition, or follows "with"."""
    before = rf"\b(?:if|when|whenever|where|with)\b[^,.;:]*?\b{re.escape(term)}"
    return re.search(before, sentence, re.IGNORECASE) is not None
