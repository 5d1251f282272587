"""Limits of a report, in sentences."""

import time
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from harness.core.keys import host_in
from harness.core.text import one_line, shorten
from harness.research.evidence import Evidence
from harness.research.gathering import Gathered
from harness.research.page_reading import READABLE
from harness.research.planner import Plan
from harness.research.report import CitedSource, Report, lacking_note

MAX_NAMED = 3
"""Hosts or engines that are named."""


def limits_of(plan: Plan, gathered: Gathered, evidence: Sequence[Evidence], report: Report) -> tuple[str, ...]:
    """Return the limits of a report: terms and sub-questions that nothing answers, what failed, what was seen only as
    an excerpt, how old the sources are, and what earlier questions read. The same research has the same limits.
    """
    return tuple(_limits(plan, gathered, evidence, report))


def remark_of(report: Report) -> str:
    """Return a remark for a report of which no quotation mentions a year, version or number of the question, "" for any
    other.
    """
    note = _lacking_note(report)
    return f"nothing that was found answers exactly: each passage {note}; these are the nearest" if note else ""


def _lacking_note(report: Report) -> str:
    """Return what every quoted passage lacks of the question, in words."""
    quoted = report.quotations
    missing = set.intersection(*(set(each.lacks) for each in quoted)) if quoted else set()
    common = tuple(term for term in quoted[0].lacks if term in missing) if quoted else ()
    return lacking_note(replace(quoted[0], lacks=common)) if common else ""


def _limits(plan: Plan, gathered: Gathered, evidence: Sequence[Evidence], report: Report) -> Iterator[str]:
    if note := _lacking_note(report):
        yield f"No quoted passage answers: each {note}."
    for place, part in enumerate(plan.parts):
        if all(found.part != place for found in evidence):
            yield f"Nothing was found that answers: {shorten(part, 200)}"
    if gathered.stop_reason.startswith("limit of") and gathered.stop_reason != "limit of rounds":
        yield f"The search ended early: {gathered.stop_reason}."
    for name, count in gathered.left_out.items():
        yield f"{name} left out {_count(count, 'result', 'results')}."
    yield from _failures(gathered)
    yield from _of_sources(report.sources)


def _failures(gathered: Gathered) -> Iterator[str]:
    if searches := [each for each in gathered.searches if each.answered_by == "failed"]:
        engines = list(dict.fromkeys(each.engine for each in searches))
        yield f"{_count(len(searches), 'search', 'searches')} failed: {_named(engines)}."
    if pages := [each for each in gathered.pages if each.answered_by == "failed"]:
        hosts = list(dict.fromkeys(host_in(each.url) or "an unusable address" for each in pages))
        yield f"{_count(len(pages), 'page', 'pages')} could not be read: {_named(hosts)}."


def _of_sources(sources: Sequence[CitedSource]) -> Iterator[str]:
    of_web = [source for source in sources if source.url.startswith(READABLE)]
    if unread := [source for source in of_web if not source.read and not source.fetched_at]:
        yield f"{_share(unread, sources)} seen only as an excerpt in search results, not read whole."
    if dates := sorted(source.date[:4] for source in sources if source.date):
        span = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
        without = len(sources) - len(dates)
        yield f"The sources date from {span}{f'; {without} of {len(sources)} have no date' if without else ''}."
    if reused := [source for source in sources if source.fetched_at]:
        oldest = time.strftime("%Y-%m-%d", time.gmtime(min(source.fetched_at for source in reused)))
        yield f"{_share(reused, sources)} read for an earlier question, on {oldest} or later."


def _share(some: Sequence[CitedSource], every: Sequence[CitedSource]) -> str:
    return f"{len(some)} of {len(every)} cited sources {'was' if len(some) == 1 else 'were'}"


def _count(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(shorten(one_line(name), 80) for name in names[:MAX_NAMED])
    return f"{shown} and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else shown
