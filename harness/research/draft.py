"""Draft of a report, or of a section, by a language model: its citations, checked, and what is wrong with it, in
words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from harness.core.citations import verbatim
from harness.core.disagreement import Said, disagreements
from harness.core.question_language import question_language
from harness.core.required_terms import lacking, required_terms
from harness.core.support import Support, supports
from harness.core.text import content_words, one_line, shorten, stems
from harness.research.extractive_writer import ANSWER_SENTENCES
from harness.research.gathering import GatheredSource
from harness.research.messages import heading_in
from harness.research.planner import DETAILS, Plan
from harness.research.quotation_support import QuotationSupport
from harness.research.report import Citation
from harness.research.statements import Statement, statements, without_addresses

Unsupported: TypeAlias = Literal["replace", "mark", "drop"]
"""Treatment of a sentence that its quotation does not support."""

MIN_QUOTED_WORDS = 3
MIN_QUOTED_CHARS = 8
"""For scripts that have no spaces between words."""
REPEATED = 0.85
"""Least share (0..1) of the word stems of two sentences that both have, for one to repeat the other."""
ABOUT = 0.5
"""Least share of the word stems of a sub-question that the heading of its section has."""
MAX_PROBLEMS = 20
MAX_DRAFT_CHARS = 60_000
"""Characters of a draft that the model gets back: as many as it can be read in sentences."""
SECTION_SENTENCES = 12
"""Most sentences of a section that is written by itself; further ones are not read."""
SHOWN_CHARS = 200
_ENDS = " .:?!"
_CONTRASTED = re.compile(
    r"\b(?:disagree|differ|(?:an)?other|while|whereas|however|but|although|instead)", re.IGNORECASE
)
"""Words of a sentence that says that sources disagree."""


class Draft(Struct, frozen=True):
    """A model's report or section: its `text`, at most `MAX_DRAFT_CHARS`, whether that is `whole`, its citations,
    checked, and its first `problems`, a line each, of `wrong` in all.
    """

    text: str
    whole: bool
    citations: tuple[Citation, ...]
    problems: tuple[str, ...]
    wrong: int

    @property
    def score(self) -> int:
        """Sentences that rest on a quotation, less what is wrong."""
        return sum(each.trusted for each in self.citations) - self.wrong


class Beside(Struct):
    """Problems of a draft next to others, and how many of them are `repeated` sentences."""

    problems: list[str]
    repeated: int = 0


class DraftCheck(Struct, frozen=True):
    """Checker of drafts that cite `sources` by number (1, 2, …). `similarity` is that of the question, by URL."""

    plan: Plan
    sources: Sequence[GatheredSource]
    similarity: Mapping[str, float]
    support: QuotationSupport

    def draft(self, text: str, whole: bool, stated: Sequence[Statement]) -> Draft:
        """Return the draft of these statements.

        A quotation that is nearly a passage of its source becomes that passage.

        Raises:
            StoreError: the cache cannot be read.
        """
        checked, unfounded = self._checked(self.neutral([self._cited(each) for each in stated]))
        return _draft(text, whole, checked, [*unfounded, *self._of_form(checked)])

    def section(self, heading: str, question: str, text: str, whole: bool) -> Draft:
        """Return the draft of one section, which answers `question`; headings in its text do not count.

        Raises:
            StoreError: the cache cannot be read.
        """
        stated = islice(statements(text), SECTION_SENTENCES)
        checked, problems = self._checked([replace(self._cited(each), section=heading) for each in stated])
        if not any(each.trusted for each in checked):
            problems.append(f"No sentence with a source answers: {_shown(question)}")
        elif heading == self.plan.sections[0] and len(checked) > ANSWER_SENTENCES:
            problems.append(_too_long(heading, len(checked)))
        return _draft(text, whole, checked, problems)

    def between(self, drafts: Sequence[Draft]) -> list[Beside]:
        """Return what is wrong with each draft beside itself and those before it: what it repeats, and where both
        disagree without a word.
        """
        trusted = [(place, each) for place, draft in enumerate(drafts) for each in draft.citations if each.trusted]
        found = [Beside([]) for _ in drafts]
        for later, problem, repeated in self._against_each_other([each for _, each in trusted]):
            beside = found[trusted[later][0]]
            beside.problems.append(problem)
            beside.repeated += repeated
        return found

    def _cited(self, statement: Statement) -> Citation:
        known = 1 <= statement.number <= len(self.sources)
        source = self.sources[statement.number - 1] if known else None
        quoted = statement.quotation
        quotation = verbatim(quoted, source.texts) if source and _says_something(quoted) else None
        lacks: tuple[str, ...] = ()
        if source and quotation:
            text = next((each for each in source.texts if quotation in each), quotation)
            lacks = lacking(required_terms(self.plan.question), f"{source.title}\n{quotation}\n{text}")
        return Citation(
            self._section(statement.section),
            statement.paragraph,
            statement.sentence,
            quotation or without_addresses(statement.quotation),
            statement.number if source else 0,
            source.url if source else "",
            self.similarity[source.url] if source else 0.0,
            quotation is not None,
            lacks=lacks,
        )

    def neutral(self, cited: Sequence[Citation]) -> list[Citation]:
        """Return the citations with headings that claim nothing: one that is not of the plan has only words of the
        question and of the quotations below it, which do not contradict it; any other becomes `DETAILS`.
        """
        quoted = dict[str, list[str]]()
        for each in cited:
            quoted.setdefault(each.section, []).extend([each.quotation] * each.verified)
        kept = {section for section in quoted if self.is_neutral(section, " ".join(quoted[section]))}
        return [each if each.section in kept else replace(each, section=DETAILS) for each in cited]

    def is_neutral(self, section: str, quotations: str) -> bool:
        """Return whether a heading claims nothing beside these quotations, see `neutral`."""
        if section in self.plan.sections:
            return True
        words = stems(section)
        known = stems(self.plan.question) | stems(quotations)
        return words <= known and not supports(section, quotations, context=self.plan.question).contradicted

    def _section(self, heading: str) -> str:
        """Return the heading of the plan that the model meant, whatever its case, its end and whether it is translated;
        otherwise its own.
        """
        meant, language = _folded(heading), question_language(self.plan.question)
        shown = {name: (name, heading_in(language, name)) for name in self.plan.sections}
        return next((name for name, each in shown.items() if meant in {_folded(form) for form in each}), heading)

    def _checked(self, cited: Sequence[Citation]) -> tuple[tuple[Citation, ...], list[str]]:
        """Return the citations with the support that they have, and what is wrong with single sentences."""
        verified = [each for each in cited if each.verified]
        titles = {source.url: source.title for source in self.sources}
        pairs = [(each.sentence, each.quotation) for each in verified]
        contexts = [f"{self.plan.question}\n{titles[each.url]}" for each in verified]
        found = iter(self.support.check(self.plan.question, pairs, contexts))
        supports = [next(found) if each.verified else None for each in cited]
        checked = tuple(
            replace(each, supported=support.supported, support=support.probability) if support else each
            for each, support in zip(cited, supports, strict=True)
        )
        return checked, list(_unfounded(checked, supports))

    def _of_form(self, checked: Sequence[Citation]) -> Iterator[str]:
        """Yield what is wrong with the report as a whole: what it leaves out, repeats, or says against itself."""
        trusted = [each for each in checked if each.trusted]
        answer = [each for each in checked if each.section == self.plan.sections[0]]
        if not any(each.trusted for each in answer):
            yield f'No sentence with a source answers the question at the beginning, under "{self.plan.sections[0]}".'
        elif len(answer) > ANSWER_SENTENCES and self.plan.wanted != 1:
            yield _too_long(self.plan.sections[0], len(answer))
        for part in () if self.plan.wanted else self.plan.parts:
            if not any(is_about(each.section, part) for each in trusted):
                yield f"No section with a source answers: {_shown(part)}"
        yield from (problem for _, problem, _ in self._against_each_other(trusted))

    def _against_each_other(self, trusted: Sequence[Citation]) -> Iterator[tuple[int, str, bool]]:
        """Yield what is wrong between sentences: the place of the last one, the words, and whether that repeats."""
        worded = [_words_and_numbers(each.sentence) for each in trusted]
        for one, other in combinations(range(len(trusted)), 2):
            if _is_repeated(worded[one], worded[other]):
                yield other, f"{_shown(trusted[other].sentence)} repeats {_shown(trusted[one].sentence)}", True
        titles = {source.url: source.title for source in self.sources}
        kept = [place for place, each in enumerate(trusted) if not _CONTRASTED.search(each.sentence)]
        said = [Said(trusted[place].sentence, trusted[place].url, titles[trusted[place].url]) for place in kept]
        for places in disagreements(self.plan.question, said):
            both = " and ".join(_shown(said[place].text) for place in places)
            yield kept[max(places)], f"These disagree, and the report does not say so: {both}", False


def settled(checked: Sequence[Citation], unsupported: Unsupported) -> Iterator[Citation]:
    """Yield the citations as the report shows them; a quotation that replaces several sentences of a section appears
    once.
    """
    shown: set[tuple[str, str, str]] = set()
    for citation in checked:
        if citation.trusted or unsupported == "mark" or (unsupported == "replace" and not citation.verified):
            yield citation
        elif unsupported == "replace":
            place = (citation.section, citation.url, citation.quotation)
            if place not in shown:
                shown.add(place)
                yield replace(citation, sentence=citation.quotation, supported=True, replaced=True)


def is_about(heading: str, question: str) -> bool:
    """Return whether a heading is that of the section on a sub-question."""
    words = stems(question)
    return len(words & stems(heading)) >= ABOUT * len(words)


def _draft(text: str, whole: bool, checked: tuple[Citation, ...], problems: Sequence[str]) -> Draft:
    return Draft(text[:MAX_DRAFT_CHARS], whole, checked, tuple(problems[:MAX_PROBLEMS]), len(problems))


def _too_long(heading: str, count: int) -> str:
    return f'"{heading}" has {count} sentences: it may have {ANSWER_SENTENCES}.'


def _unfounded(checked: Sequence[Citation], supports: Sequence[Support | None]) -> Iterator[str]:
    """Yield what is wrong with single sentences."""
    for citation, support in zip(checked, supports, strict=True):
        if support is not None and not support.supported:
            yield f"{_shown(citation.sentence)}: its quotation does not support it; {'; '.join(support.reasons)}."
        elif support is None and citation.number and not _says_something(citation.quotation):
            yield f"{_shown(citation.sentence)}: its quotation is too short to support it; quote the whole statement."
        elif support is None and citation.number:
            yield f"{_shown(citation.sentence)}: its quotation is not in source {citation.number}, word for word."
        elif support is None:
            yield f"{_shown(citation.sentence)}: it names no source that was shown."


def repeats(one: str, other: str) -> bool:
    """Return whether two sentences have nearly the same words, and the same numbers."""
    return _is_repeated(_words_and_numbers(one), _words_and_numbers(other))


def _words_and_numbers(sentence: str) -> tuple[set[str], set[str]]:
    words = stems(sentence)
    return words, {word for word in words if any(map(str.isdigit, word))}


def _is_repeated(one: tuple[set[str], set[str]], other: tuple[set[str], set[str]]) -> bool:
    (first, numbers), (second, others) = one, other
    return numbers == others and len(first & second) >= REPEATED * max(len(first), len(second), 1)


def _says_something(quotation: str) -> bool:
    """Return whether a quotation is long enough to support anything: every text contains "the"."""
    words = len(content_words(quotation))
    return words >= MIN_QUOTED_WORDS or (not quotation.isascii() and len(quotation) >= MIN_QUOTED_CHARS)


def _folded(heading: str) -> str:
    return heading.rstrip(_ENDS).casefold()


def _shown(text: str) -> str:
    return f'"{shorten(one_line(text), SHOWN_CHARS)}"'
