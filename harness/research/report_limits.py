"""Limits of a report, in sentences."""

from collections.abc import Iterator, Sequence

from harness.core.keys import host_in
from harness.core.text import one_line, shorten
from harness.research.answered import help_probability
from harness.research.evidence import Evidence
from harness.research.gathering import Gathered
from harness.research.messages import chosen, counted, list_in, message
from harness.research.page_reading import READABLE
from harness.research.planner import Plan
from harness.research.report import CitedSource, Report, lacking_terms_in

MAX_NAMED = 3
"""Hosts or engines that are named."""


def limits_of(
    plan: Plan, gathered: Gathered, evidence: Sequence[Evidence], report: Report, least: float
) -> Iterator[str]:
    """Yield the limits of a report: terms and sub-questions that nothing answers, what failed, what was seen only as
    an excerpt, how old the sources are, and what earlier questions read. A sub-question is not clearly answered if no
    excerpt helps with a probability of at least `least` (0..1). The same research has the same limits.
    """
    language = report.language
    read = help_probability(evidence) is not None
    if terms := _lacking_terms(report):
        yield message(language, "No quoted passage answers: each does not mention {terms}.", terms=terms)
    for place, part in enumerate(plan.parts):
        about = [found for found in evidence if found.part == place]
        if not about:
            yield message(language, "Nothing was found that answers: {question}", question=shorten(part, 200))
        elif read and not all(found.disagrees for found in about) and (help_probability(about) or 0.0) < least:
            yield message(language, "No source clearly answers: {question}", question=shorten(part, 200))
    if gathered.stop_reason.startswith("limit of") and gathered.stop_reason != "limit of rounds":
        reason = chosen(language, gathered.stop_reason)
        yield message(language, "The search ended early: {reason}.", reason=reason)
    for name, count in gathered.left_out.items():
        yield counted(language, "{name} left out 1 result.", "{name} left out {count} results.", count, name=name)
    yield from _failures(gathered, language)
    yield from _of_sources(report.sources, language)


def remark_of(report: Report, evidence: Sequence[Evidence], least: float) -> str:
    """Return a remark if no quotation mentions a year, version or number of the question, or if, in a report without a
    writer, no excerpt helps with a probability of at least `least` (0..1); else "".
    """
    if terms := _lacking_terms(report):
        return message(
            report.language,
            "nothing that was found answers exactly: each passage does not mention {terms}; these are the nearest",
            terms=terms,
        )
    likeliest = help_probability(evidence)
    if report.writer or likeliest is None or likeliest >= least:
        return ""
    return message(report.language, "no source clearly answers the question; these passages are the nearest")


def _lacking_terms(report: Report) -> str:
    """Return the terms of the question that every quoted passage lacks, in a line."""
    quoted = report.quotations
    missing = set.intersection(*(set(each.lacks) for each in quoted)) if quoted else set()
    return lacking_terms_in(report.language, [term for term in quoted[0].lacks if term in missing] if quoted else ())


def _failures(gathered: Gathered, language: str) -> Iterator[str]:
    if searches := [each for each in gathered.searches if each.answered_by == "failed"]:
        named = _named(list(dict.fromkeys(each.engine for each in searches)), language)
        count = len(searches)
        yield counted(language, "1 search failed: {named}.", "{count} searches failed: {named}.", count, named=named)
    if pages := [each for each in gathered.pages if each.answered_by == "failed"]:
        unusable = message(language, "an unusable address")
        named = _named(list(dict.fromkeys(host_in(each.url) or unusable for each in pages)), language)
        yield counted(
            language,
            "1 page could not be read: {named}.",
            "{count} pages could not be read: {named}.",
            len(pages),
            named=named,
        )


def _of_sources(sources: Sequence[CitedSource], language: str) -> Iterator[str]:
    total = len(sources)
    of_web = [source for source in sources if source.url.startswith(READABLE)]
    if unread := [source for source in of_web if not source.read and not source.fetched_at]:
        yield counted(
            language,
            "1 of {total} cited sources was seen only as an excerpt in search results, not read whole.",
            "{count} of {total} cited sources were seen only as an excerpt in search results, not read whole.",
            len(unread),
            total=total,
        )
    if dates := sorted(source.date[:4] for source in sources if source.date):
        yield _dated(dates, total, language)
    if reused := [source for source in sources if source.fetched_at]:
        yield counted(
            language,
            "1 of {total} cited sources was read for an earlier question, on {day} or later.",
            "{count} of {total} cited sources were read for an earlier question, on {day} or later.",
            len(reused),
            total=total,
            day=min(source.day for source in reused),
        )


def _dated(dates: Sequence[str], total: int, language: str) -> str:
    """Return a sentence on the years of the sources that have one, in order."""
    span = dates[0]
    if dates[0] != dates[-1]:
        span = message(language, "{low} to {high}", low=dates[0], high=dates[-1])
    without = total - len(dates)
    if not without:
        return message(language, "The sources date from {years}.", years=span)
    return counted(
        language,
        "The sources date from {years}; {count} of {total} has no date.",
        "The sources date from {years}; {count} of {total} have no date.",
        without,
        years=span,
        total=total,
    )


def _named(names: Sequence[str], language: str) -> str:
    shown = list_in(language, [shorten(one_line(name), 80) for name in names[:MAX_NAMED]])
    more = len(names) - MAX_NAMED
    return message(language, "{names} and {count} more", names=shown, count=more) if more > 0 else shown
