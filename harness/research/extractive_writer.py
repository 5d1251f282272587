"""Extractive writer: a report in which every sentence is quoted from a numbered source."""

from collections.abc import Container, Iterator, Mapping, Sequence

from msgspec.structs import replace

from harness.core.citations import is_quoted_in
from harness.core.dangling import names_earlier, needs_previous
from harness.core.definitions import asks_what, defines
from harness.core.question_language import question_language
from harness.core.rules import RuleName
from harness.research.evidence import Evidence
from harness.research.planner import ANSWER, DETAILS, FURTHER, KEY_POINTS, Plan
from harness.research.report import DISAGREEMENTS, Citation, Report, cited_source
from harness.research.rules import SHIPPED_RULES, Weights, rules_of

ANSWER_SENTENCES = 3


def write_report(plan: Plan, evidence: Sequence[Evidence], rules: Mapping[RuleName, str] = SHIPPED_RULES) -> Report:
    """Arrange `evidence` (best first) in a report: the answer, at most `ANSWER_SENTENCES` sentences if the best excerpt
    of each sub-question is not longer; the key points; then a section for each sub-question, in which the excerpts of
    one source keep their order; then the statements that disagree; then the excerpts that more likely do not help. A
    section without evidence is left out.

    If a number of sections is wanted, all but the best excerpts are grouped by sub-question, or by source under the
    sources' titles; there are as many sections as the evidence allows. `rules` replace the shipped ones by name, among
    them the weights.

    Raises:
        InvalidInput: a rule cannot be used, see `harness.core.rules`.
    """
    weights = rules_of(rules).weights
    excerpts = [found for found in evidence if not found.disagrees]
    against = evidence[len(excerpts) :]
    placed = _in_wanted(plan, excerpts, weights) if plan.wanted else _by_question(plan, excerpts, against, weights)
    further = placed.pop(FURTHER, [])
    paragraphs = [(section, found) for section, held in placed.items() for found in held]
    numbers: dict[str, int] = {}
    citations = list[Citation]()
    for paragraph, (section, found) in enumerate(paragraphs, start=1):
        citations += _citations(section, paragraph, found, numbers)
    citations += statements_of(evidence, numbers)
    for paragraph, found in enumerate(further, start=len(paragraphs) + 1):
        citations += _citations(FURTHER, paragraph, found, numbers)
    sources = {found.source.url: found.source for found in evidence}
    cited = tuple(cited_source(number, sources[url]) for url, number in numbers.items())
    return Report(plan.question, tuple(citations), cited, language=question_language(plan.question))


def statements_of(evidence: Sequence[Evidence], numbers: dict[str, int]) -> Iterator[Citation]:
    """Yield the section of statements that disagree, a paragraph a disagreement; `numbers` of sources by URL are
    added to.
    """
    for found in evidence:
        if found.disagrees:
            yield from _citations(DISAGREEMENTS, found.disagrees, found, numbers)


def _citations(section: str, paragraph: int, found: Evidence, numbers: dict[str, int]) -> Iterator[Citation]:
    number = numbers.setdefault(found.source.url, len(numbers) + 1)
    for sentence in found.sentences:
        yield Citation(
            section,
            paragraph,
            sentence,
            sentence,
            number,
            found.source.url,
            found.similarity,
            is_quoted_in(sentence, found.source.texts),
            lacks=found.lacks,
            relevance=found.relevance,
        )


def _by_question(
    plan: Plan, excerpts: Sequence[Evidence], against: Sequence[Evidence], weights: Weights
) -> dict[str, list[Evidence]]:
    """Place the excerpts: the best one of each part answers, and the next ones while the answer is short. Those that
    more likely do not help come last. Of the rest, the section of each sub-question has at least one, and the likeliest
    are key points, those first that say what a thing is.
    """
    answer = [_first(excerpts, part, question) for part, question in _questions(plan, excerpts)]
    rest = [found for found in excerpts if not any(found is first for first in answer)]
    room = ANSWER_SENTENCES - sum(len(found.sentences) for found in answer)
    while rest and len(rest[0].sentences) <= room and _adds(answer[0], rest[0], weights):
        room -= len(rest[0].sentences)
        answer.append(rest.pop(0))
    compared = {sentence for found in against for sentence in found.sentences}  # they are shown in the table
    rest = [
        replace(found, sentences=left)
        for found in rest
        if (left := tuple(each for each in found.sentences if each not in compared))
    ]
    rest, further = _split(plan, rest, weights.further_below)
    likeliest = sorted(rest, key=lambda found: -(found.relevance or 0.0))[: weights.key_points]
    if plan.parts:  # the last point of a part goes to its section if nothing else does
        detailed = {found.part for found in rest if not any(found is each for each in likeliest)}
        last = {found.part: found for found in likeliest}
        likeliest = [found for found in likeliest if found.part in detailed or found is not last[found.part]]
    points = [found for found in rest if any(found is each for each in likeliest)]
    details = [found for found in rest if not any(found is each for each in points)]
    points.sort(key=lambda found: not defines(found.sentences[0], plan.question))
    placed = {ANSWER: answer, KEY_POINTS: points, FURTHER: further}
    for part, section in enumerate(plan.sections[2:]):
        placed[section] = _in_order([found for found in details if found.part == part or not plan.parts])
    return {section: held for section, held in placed.items() if held}


def _split(plan: Plan, rest: Sequence[Evidence], least: float) -> tuple[list[Evidence], list[Evidence]]:
    """Return the excerpts for the sections and the further passages. The best excerpt about each part of a compound
    question is for its section.
    """
    first = {found.part: found for found in reversed(rest)} if plan.parts else {}
    further = [found for found in rest if _is_further(found, least) and found is not first.get(found.part)]
    return [found for found in rest if not any(found is each for each in further)], further


def _is_further(found: Evidence, least: float) -> bool:
    """Return whether an excerpt belongs to the further passages: it helps less likely than `least`, its passage lacks
    a year or version of the question, or it needs the sentence before it, or a thing that an earlier one names. One
    that was not read does not.
    """
    if found.helps is None:
        return False
    begins = found.sentences[0]
    return found.helps < least or bool(found.lacks) or needs_previous(begins) or names_earlier(begins)


def _questions(plan: Plan, excerpts: Sequence[Evidence]) -> list[tuple[int, str]]:
    """Return the parts that excerpts are about, in order, each with its question."""
    parts = plan.parts or (plan.question,)
    about = sorted({found.part for found in excerpts})
    return [(part, parts[part] if part < len(parts) else plan.question) for part in about]


def _first(excerpts: Sequence[Evidence], part: int, question: str) -> Evidence:
    """Return the best excerpt about a part; if the question asks for a definition, the best that gives it, if any."""
    about = [found for found in excerpts if found.part == part]
    saying = [found for found in about if defines(found.sentences[0], question)] if asks_what(question) else []
    return [*saying, *about][0]


def _adds(first: Evidence, found: Evidence, weights: Weights) -> bool:
    """Return whether an excerpt belongs in the answer: it is no further passage, and about as likely to answer as the
    first one.
    """
    if _is_further(found, weights.further_below):
        return False
    return found.relevance is None or found.relevance >= weights.answer_share * (first.relevance or 0.0)


def _in_wanted(plan: Plan, excerpts: Sequence[Evidence], weights: Weights) -> dict[str, list[Evidence]]:
    """Put the best excerpts first and the others in `plan.wanted` sections: one for each sub-question, or else for each
    source, under its title. Surplus ones share the last section; if there are too few, trailing excerpts get their own.
    Those that more likely do not help come last, unless a section would be empty.
    """
    wanted = plan.wanted or 1
    likely, further = _split(plan, excerpts[1:], weights.further_below)
    further = further[max(0, wanted - 1 - len(likely)) :]
    evidence = [found for found in excerpts if not any(found is each for each in further)]
    most = weights.answer_excerpts
    answering = max(1, min(most, len(evidence) - wanted + 1)) if wanted > 1 else len(evidence)
    asked = dict(_questions(plan, evidence)) if plan.parts else {}
    groups: dict[str, list[Evidence]] = {}
    for found in evidence[answering:]:
        groups.setdefault(asked.get(found.part, found.source.url), []).append(found)
    parts = sorted(groups.values(), key=lambda part: part[0].part if asked else -part[0].score)
    while len(parts) < wanted - 1 and any(len(part) > 1 for part in parts):
        largest = max(parts, key=len)
        parts[parts.index(largest)] = largest[:-1]
        parts.append(largest[-1:])
    if len(parts) > wanted - 1:
        parts[max(0, wanted - 2) :] = [[found for part in parts[max(0, wanted - 2) :] for found in part]]
    placed = {plan.sections[0]: list(evidence[:answering])}
    for part in parts:
        title = _title(part, asked, placed)
        name, number = title, 2
        while name in placed or name in (KEY_POINTS, DISAGREEMENTS, FURTHER):
            name, number = f"{title} ({number})", number + 1
        placed[name] = _in_order(part)
    return placed | ({FURTHER: further} if further else {})


def _title(held: Sequence[Evidence], asked: Mapping[int, str], taken: Container[str]) -> str:
    """Return the heading of a section: the sub-question that all its excerpts are about, if it is not `taken`, or the
    title of their source.
    """
    question = asked.get(held[0].part, "") if len({found.part for found in held}) == 1 else ""
    if question and question not in taken:
        return question
    return held[0].source.title if len({found.source.url for found in held}) == 1 else DETAILS


def _in_order(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Group by source, the source of the best sentence first; within a source, keep its order."""
    rank = {url: place for place, url in enumerate(dict.fromkeys(found.source.url for found in evidence))}
    return sorted(evidence, key=lambda found: (rank[found.source.url], found.position))
