"""Extractive writer: a report in which every sentence is quoted from a numbered source."""

import re
import time
from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from harness.core.citations import is_quoted_in
from harness.core.required_terms import MAX_TERM, MAX_TERMS
from harness.core.text import clean, one_line, shorten
from harness.research.evidence import Evidence
from harness.research.gathering import GatheredSource
from harness.research.planner import Plan

ANSWER_EXCERPTS = 3
FURTHER = "Further"

_LIMITS = re.compile(
    r"\b(however|except (for|if|when)|unless|only if|must not|should not|never|cannot|avoid|warning|limit\w*)\b",
    re.IGNORECASE,
)
_LINKED = ("http://", "https://", "file://", "pydoc:")
_MARKUP = re.compile(r"([\\`*_<>#|~]|\](?=[(\[:]))")


class Citation(Struct, frozen=True):
    """One sentence of the report: its section and paragraph, the quotation that supports it (itself in a report of
    excerpts), and the number and URL of the quotation's source.

    `similarity` (0..1) is that of the question and the whole excerpt; `verified` means that the quotation is, word for
    word, in the stored text of its source. Without a source: number 0 and an empty URL.

    `supported` means that the quotation supports the sentence (see `harness.core.support`). `replaced` means that the
    quotation replaced a sentence of the model that it did not support. `lacks` are the years, versions and numbers of
    the question that the quoted passage does not have. Probabilities (0..1) of the reader: `relevance` that the excerpt
    answers the question, `support` that the quotation supports the sentence; `None` where it was not asked.
    """

    section: str
    paragraph: int
    sentence: str
    quotation: str
    number: int
    url: str
    similarity: float
    verified: bool
    supported: bool = True
    replaced: bool = False
    lacks: tuple[str, ...] = ()
    relevance: float | None = None
    support: float | None = None

    @property
    def trusted(self) -> bool:
        """Whether the quotation is verified and supports the sentence."""
        return self.verified and self.supported


class CitedSource(Struct, frozen=True, omit_defaults=True):
    """A source that the report cites. `fetched_at` (seconds since the epoch) is when a source that was read for an
    earlier question was read; 0: for this one.
    """

    number: int
    title: str
    url: str
    fetched_at: float = 0.0

    @property
    def read_on(self) -> str:
        """The day (UTC) on which it was read for an earlier question, in words; empty if for this one."""
        return time.strftime("read on %Y-%m-%d", time.gmtime(self.fetched_at)) if self.fetched_at else ""


def cited_source(number: int, source: GatheredSource) -> CitedSource:
    """Return a gathered source under a number, 0 if it is not cited."""
    return CitedSource(number, source.title, source.url, source.fetched_at)


class Report(Struct, frozen=True):
    """Sentences by section, and the cited sources, numbered in the order of their first citation.

    `writer` is the language model that wrote it, empty for a report of excerpts; `remark` is a note about how it was
    made. `dropped` counts the model's sentences that were left out, `replaced` those that quotations replaced, because
    no quotation supported them.
    """

    title: str
    citations: tuple[Citation, ...]
    sources: tuple[CitedSource, ...]
    writer: str = ""
    remark: str = ""
    dropped: int = 0
    replaced: int = 0

    @property
    def quotations(self) -> list[Citation]:
        """The citations that quote something."""
        return [citation for citation in self.citations if citation.quotation]

    @property
    def verified(self) -> int:
        """The number of quotations that are in their sources, word for word, and support their sentences."""
        return sum(citation.trusted for citation in self.quotations)

    @property
    def checks(self) -> str:
        """The result of all checks, in one line."""
        replaced = self.replaced or sum(citation.replaced for citation in self.citations)  # older reports have no count
        marked = sum(citation.verified and not citation.supported for citation in self.citations)
        counts = ((replaced, "replaced"), (marked, "marked"), (self.dropped, "left out"))
        lines = [f"{self.verified} of {len(self.quotations)} quotations verified"]
        lines += [_count_of_sentences(count, what) for count, what in counts if count]
        return "; ".join(lines)

    def markdown(self) -> str:
        """Return the report as Markdown (CommonMark); source text is escaped, so that it is never markup."""
        blocks = [f"# {_escaped(self.title)}", *([f"> {_escaped(self.remark)}"] if self.remark else [])]
        for section, cited in groupby(self.citations, key=lambda citation: citation.section):
            blocks.append(f"## {_escaped(section)}")
            for _, sentences in groupby(cited, key=lambda citation: citation.paragraph):
                blocks.append(" ".join(map(_cited, sentences)))
        if written := [citation for citation in self.quotations if citation.sentence != citation.quotation]:
            blocks.append("## Quotations")
            blocks.append("\n".join(f"- [{_mark(each)}] “{_escaped(each.quotation)}”" for each in written))
        blocks.append("## Sources")
        blocks.append(
            "\n".join(
                f"{source.number}. {_escaped(source.title)} {_address(source.url)}{_after(source.read_on)}"
                for source in self.sources
            )
        )
        blocks.append(self.checks)
        return "\n\n".join(blocks) + "\n"


def write_report(plan: Plan, evidence: Sequence[Evidence]) -> Report:
    """Arrange `evidence` (best first) in the plan's sections; a section without evidence is left out.

    The best excerpts come first; of the rest, those about limits and exceptions last, all others in between. If a
    number of sections is wanted, the rest is grouped by source, under the sources' titles; there are as many sections
    as the evidence allows. The first section begins with the best excerpt; in the others, excerpts of one source keep
    their order in the source.
    """
    placed = _by_source(plan, evidence) if plan.wanted else _by_kind(plan, evidence)
    numbers: dict[str, int] = {}
    citations = []
    in_order = [
        (section, found)
        for place, (section, excerpts) in enumerate(placed.items())
        for found in (_in_order(excerpts) if place else excerpts)
    ]
    for paragraph, (section, found) in enumerate(in_order, start=1):
        url = found.source.url
        number = numbers.setdefault(url, len(numbers) + 1)
        for sentence in found.sentences:
            verified = is_quoted_in(sentence, found.source.texts)
            citations.append(
                Citation(
                    section,
                    paragraph,
                    sentence,
                    sentence,
                    number,
                    url,
                    found.similarity,
                    verified,
                    lacks=found.lacks,
                    relevance=found.relevance,
                )
            )
    sources = {found.source.url: found.source for found in evidence}
    return Report(
        plan.question, tuple(citations), tuple(cited_source(number, sources[url]) for url, number in numbers.items())
    )


def _by_kind(plan: Plan, evidence: Sequence[Evidence]) -> dict[str, list[Evidence]]:
    first, between, last = plan.sections
    placed: dict[str, list[Evidence]] = {section: [] for section in plan.sections}
    for rank, found in enumerate(evidence):
        if rank < ANSWER_EXCERPTS:
            placed[first].append(found)
        else:
            placed[last if _LIMITS.search(" ".join(found.sentences)) else between].append(found)
    return placed


def _by_source(plan: Plan, evidence: Sequence[Evidence]) -> dict[str, list[Evidence]]:
    """Put the best excerpts first and the others under the titles of their sources, in `plan.wanted` sections. Surplus
    sources share the last section; with too few sources, trailing excerpts get their own sections.
    """
    wanted = plan.wanted or 1
    answering = max(1, min(ANSWER_EXCERPTS, len(evidence) - wanted + 1)) if wanted > 1 else len(evidence)
    groups: dict[str, list[Evidence]] = {}
    for found in evidence[answering:]:
        groups.setdefault(found.source.url, []).append(found)
    parts = sorted(groups.values(), key=lambda part: -part[0].score)
    while len(parts) < wanted - 1 and any(len(part) > 1 for part in parts):
        largest = max(parts, key=len)
        parts[parts.index(largest)] = largest[:-1]
        parts.append(largest[-1:])
    if len(parts) > wanted - 1:
        parts[max(0, wanted - 2) :] = [[found for part in parts[max(0, wanted - 2) :] for found in part]]
    placed = {plan.sections[0]: list(evidence[:answering])}
    for part in parts:
        title = part[0].source.title if len({found.source.url for found in part}) == 1 else FURTHER
        name, number = title, 2
        while name in placed:
            name, number = f"{title} ({number})", number + 1
        placed[name] = part
    return placed


def _cited(citation: Citation) -> str:
    if citation.sentence == citation.quotation:
        return f"“{_escaped(citation.quotation)}” [{_mark(citation)}]"
    return f"{_escaped(citation.sentence)} [{_mark(citation)}]"


def _mark(citation: Citation) -> str:
    if not citation.number:
        return "no source"
    if not citation.verified:
        return f"{citation.number}, unverified"
    if not citation.supported:
        return f"{citation.number}, not supported"
    if citation.lacks:
        return f"{citation.number}, {_escaped(lacking_note(citation))}"
    return f"{citation.number}, quoted instead" if citation.replaced else str(citation.number)


def lacking_note(citation: Citation) -> str:
    """Return what the quoted passage of a citation lacks of the question, in words."""
    lacks = [shorten(one_line(term), MAX_TERM) for term in citation.lacks[:MAX_TERMS]]
    return f"does not mention {' or '.join(lacks)}" if lacks else ""


def _count_of_sentences(count: int, what: str) -> str:
    if count == 1:
        return f"1 sentence {what}: not supported by its quotation"
    return f"{count} sentences {what}: not supported by their quotation"


def _in_order(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Group by source, the source of the best sentence first; within a source, keep its order."""
    rank = {url: place for place, url in enumerate(dict.fromkeys(found.source.url for found in evidence))}
    return sorted(evidence, key=lambda found: (rank[found.source.url], found.position))


def _after(remark: str) -> str:
    return f", {remark}" if remark else ""


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", clean(one_line(text), len(text)))


def _address(url: str) -> str:
    """Return a link that cannot break out of its angle brackets; a URL of an unknown scheme becomes text."""
    if not url.startswith(_LINKED):
        return _escaped(url)
    safe = re.sub(r"[\s<>]", _percent, url)
    return f"<{safe}>"


def _percent(bad: re.Match[str]) -> str:
    return f"%{ord(bad[0]):02X}"
