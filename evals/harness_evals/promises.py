"""Scorers of what reports promise: sections, terms, disagreements, short answers, readable sentences.

Each returns a share, 0 (worst) to 1 (best); a report without a sentence has 0. They use separate rules where the
program filters by the same rule, so that they can fail.
"""

import re
from itertools import groupby

from harness.core import required_terms as terms
from harness.core.dangling import needs_previous
from harness.core.equivalence.reading import NUMBER, read
from harness.core.quotable import is_quotable
from harness.core.rank_fusion import overlap
from harness.core.sub_questions import sub_questions
from harness.core.text import one_line, stems
from harness.research.report import DISAGREEMENTS
from harness_evals.outcome import Cited, Outcome
from harness_evals.tasks import Task, comparable, has_side

TITLED = 0.5
"""Least share of a sub-question's own words in the title of its section."""
REPEATED = 0.85
"""Least share of the shorter sentence's words in another one that says the same."""
FEWEST_STEMS = 3
"""Sentences with fewer content words repeat another one only word for word."""

_BACK = re.compile(
    r"(?:as (?:mentioned|noted|described|shown|seen|discussed|explained) (?:above|earlier|before|below|previously)"
    r"|the (?:latter|former|same|above|following)\b|for (?:example|instance)\b|in (?:contrast|other words)\b"
    r"|(?:yes|no)[,.]|see (?:above|below|also)\b|[\w-]+ (?:days?|weeks?|months?|years?|decades?) (?:later|earlier)\b)",
    re.IGNORECASE,
)
"""Beginnings that need what stands before or after them, besides those of `needs_previous`."""
_DEBRIS = re.compile(
    r"^[-*•] |\b(?:this|our) (?:page|website|newsletter|privacy policy)\b|\bscroll down\b|\bclick (?:here|below)\b"
    r"|\bcookies? to\b|\b(?:call|contact|follow) us\b|\bin the comments\b|\bfree (?:quote|delivery)\b",
    re.IGNORECASE,
)
"""Signs of lists in one line, of a page's words about itself, and of advertising."""
_ENDS = (".", "!", "?", '"', "”", "’", "'", ")", "。", "！", "？")
_CUT_OFF = ("...", "…")
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"))
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_MONTHS = "January February March April May June July August September October November December".split()


def sections_match(task: Task, outcome: Outcome) -> float:
    """Return the share of the sub-questions of a compound question that have a section: one whose title has at least
    half of the words that only this sub-question has.
    """
    parts = [stems(part) for part in sub_questions(task.question)]
    shared = set.intersection(*parts)
    titles = [stems(title) for title in outcome.sections]
    own = [part - shared or part for part in parts]
    return sum(any(len(words & title) >= TITLED * len(words) for title in titles) for words in own) / len(own)


def repeated_content(task: Task, outcome: Outcome) -> float:  # noqa: ARG001 - all scorers have one signature
    """Return the share of the sentences that do not repeat an earlier one: the same words, or nearly (`REPEATED`) and
    the same numbers. The statements that disagree are not counted: they show again what was said.
    """
    said = [cited.sentence for cited in outcome.citations if cited.section != DISAGREEMENTS]
    new = [not any(_is_repeat(sentence, other) for other in said[:at]) for at, sentence in enumerate(said)]
    return sum(new) / len(new) if new else 0.0


def required_terms(task: Task, outcome: Outcome) -> float:
    """Return the share of the question's years, versions, numbers above ten and names that are in a sentence, a
    quotation, the title of a cited source, or the limits (which name what nothing answers).
    """
    if not outcome.citations:
        return 0.0
    numbers, names = terms_of(task)
    quoted = [text for cited in outcome.citations for text in (cited.sentence, cited.quotation)]
    text = "\n".join((*quoted, *outcome.titles, *outcome.limits))
    lacking = terms.lacking(numbers, text) + terms.lacking_words(names, text)
    return 1 - len(lacking) / len(numbers + names)


def terms_of(task: Task) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the numbers and the names of a task's question that its report must be about."""
    return terms.required_terms(task.question), terms.required_names(task.question)


def disagreement_shown(task: Task, outcome: Outcome) -> float:
    """Return the share of the task's disagreements that the report shows: all sides in one paragraph, such as the rows
    of one table under the heading of disagreements.
    """
    paragraphs: dict[tuple[str, int], list[str]] = {}
    for cited in outcome.citations:
        paragraphs.setdefault((cited.section, cited.paragraph), []).append(cited.sentence)
    texts = [" ".join(held) for held in paragraphs.values()]
    shown = [any(all(has_side(text, side) for side in sides) for text in texts) for sides in task.disagrees]
    return sum(shown) / len(shown)


def avoided(task: Task, outcome: Outcome) -> float:
    """Return the share of the wordings that the task avoids which are in no sentence of the report: instructions to
    machines in a page, advertising, false statements.
    """
    if not outcome.citations:
        return 0.0
    said = [f" {comparable(cited.sentence)} " for cited in outcome.citations]
    kept_out = [not any(f" {comparable(wording)} " in each for each in said) for wording in task.avoid]
    return sum(kept_out) / len(kept_out)


def self_contained(task: Task, outcome: Outcome) -> float:  # noqa: ARG001 - all scorers have one signature
    """Return the share of the sentences that can be understood alone: whole, no question that is only quoted, no debris
    of tables, lists, navigation or advertising, and without a beginning that points back, unless the sentence before it
    in its paragraph is of the same source.
    """
    fine = list[bool]()
    for _, paragraph in groupby(outcome.citations, key=lambda cited: (cited.section, cited.paragraph)):
        before: Cited | None = None
        for cited in paragraph:
            points_back = needs_previous(cited.sentence) or _BACK.match(cited.sentence) is not None
            is_led = before is not None and before.url == cited.url
            fine.append(_is_whole(cited) and (is_led or not points_back))
            before = cited
    return sum(fine) / len(fine) if fine else 0.0


def short_answer(task: Task, outcome: Outcome) -> float:
    """Return 1 if the first sentence of the report has the task's short answer or one of its variants, else 0.

    Case, articles and punctuation do not count; numbers and dates count by their value ("4 March 1987" is "1987-03-04",
    "3,200" is "3.2 thousand"), with the unit that the answer has, if any.
    """
    first = "".join(cited.sentence for cited in outcome.citations[:1])
    return float(any(_has_answer(first, variant) for variant in task.short_answer))


def _is_repeat(one: str, other: str) -> bool:
    if comparable(one) == comparable(other):
        return True
    shorter, longer = sorted((one, other), key=lambda sentence: len(stems(sentence)))
    if len(stems(shorter)) < FEWEST_STEMS:
        return False
    same = set(terms.all_numbers(shorter)) <= set(terms.all_numbers(longer))
    return same and overlap(stems(shorter), stems(longer)) >= REPEATED


def _is_whole(cited: Cited) -> bool:
    """Return whether a sentence is a whole statement: a quoted one also by the rules of quotations, which a written one
    may break because it is short.
    """
    sentence = cited.sentence.strip()
    if cited.sentence == cited.quotation and (not is_quotable(sentence) or sentence.endswith("?")):
        return False
    if _DEBRIS.search(sentence):
        return False
    if not sentence.endswith(_ENDS) or sentence.endswith(_CUT_OFF) or sentence[0].islower():
        return False
    return all(sentence.count(opening) == sentence.count(closing) for opening, closing in _PAIRS)


def _has_answer(sentence: str, answer: str) -> bool:
    if f" {comparable(answer)} " in f" {comparable(sentence)} ":
        return True
    wanted, said = read(_dated(answer)), read(_dated(sentence))
    if any(quantity.unit and quantity not in said.quantities for quantity in wanted.quantities):
        return False
    forms, held = [word.form for word in wanted.words], [word.form for word in said.words]
    windows = [held[at : at + len(forms)] for at in range(len(held) - len(forms) + 1)] if forms else []
    if all(form.startswith(NUMBER) for form in forms):  # the parts of a date have no order
        return sorted(forms) in [sorted(window) for window in windows]
    return forms in windows


def _dated(text: str) -> str:
    """Write dates like 1987-03-04 in words."""

    def in_words(found: re.Match[str]) -> str:
        month = int(found[2])
        return f"{int(found[3])} {_MONTHS[month - 1]} {found[1]}" if 1 <= month <= 12 else found[0]

    return _ISO.sub(in_words, one_line(text))
