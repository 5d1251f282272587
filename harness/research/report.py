"""A report: the answer, key points, sections, disagreements, limits and sources, and the same as Markdown."""

import re
import time
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from harness.core.page_numbers import PageNumber
from harness.core.required_terms import MAX_TERM, MAX_TERMS
from harness.core.source_kind import source_kind
from harness.core.text import clean, one_line, shorten
from harness.research.figures import FIGURES, Figure, figure_of
from harness.research.gathering import GatheredSource
from harness.research.planner import KEY_POINTS

DISAGREEMENTS = "Where sources disagree"
"""Section whose paragraphs are the statements of different sources about one thing."""

WEB = ("http://", "https://")
_LINKED = (*WEB, "file://", "pydoc:")
_MARKUP = re.compile(r"([\\`*_<>#|~]|\](?=[(\[:])|&(?=[#\w]))")
_BLOCK = re.compile(r"^([-+=]|\d+(?=[.)]))")
"""Signs that begin a list or a line where a text begins."""
_UNSAFE = re.compile(r"[\s<>\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Citation(Struct, frozen=True):
    """One sentence of the report: its section and paragraph, the quotation that supports it (itself in a report of
    excerpts), and the number and URL of the quotation's source.

    `similarity` (0..1) is that of the question and the whole excerpt; `verified` means that the quotation is, word for
    word, in the stored text of its source. Without a source: number 0 and an empty URL.

    `supported` means that the quotation supports the sentence (see `harness.core.support`). `replaced` means that the
    quotation replaced a sentence of the model that it did not support. `lacks` are the years, versions and numbers of
    the question that the quoted passage does not have. Probabilities (0..1) of the reader: `relevance` that the excerpt
    answers the question, `support` that the quotation supports the sentence; `None` where it was not asked. `page` is
    the page of a PDF on which the quotation begins, counted from 1; 0: not known, or its source has no pages.
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
    page: PageNumber = 0

    @property
    def trusted(self) -> bool:
        """Whether the quotation is verified and supports the sentence."""
        return self.verified and self.supported

    @property
    def place(self) -> str:
        """The number of its source and the page, if that is known."""
        return f"{self.number}, p. {self.page}" if self.page else str(self.number)

    @property
    def mark(self) -> str:
        """Its place, and what is wrong with the quotation, in words."""
        if not self.number:
            return "no source"
        notes = (
            ("unverified", not self.verified),
            ("not supported", not self.supported),
            (lacking_note(self), bool(self.lacks)),
            ("quoted instead", self.replaced),
        )
        return ", ".join([self.place, *[note for note, holds in notes if holds][:1]])


class CitedSource(Struct, frozen=True, omit_defaults=True):
    """A source that the report cites. `fetched_at` (seconds since the epoch) is when a source that was read for an
    earlier question was read; 0: for this one. `date` is YYYY, YYYY-MM or YYYY-MM-DD; what is not known is empty.
    `read`: its page was read, not only an excerpt in search results.
    """

    number: int
    title: str
    url: str
    fetched_at: float = 0.0
    authors: str = ""
    site: str = ""
    date: str = ""
    doi: str = ""
    read: bool = False

    @property
    def kind(self) -> str:
        """Its kind, by its address and DOI, as "paper" or "news"."""
        return source_kind(self.url, self.doi)

    @property
    def read_on(self) -> str:
        """The day (UTC) on which it was read for an earlier question, in words; empty if for this one."""
        return time.strftime("read on %Y-%m-%d", time.gmtime(self.fetched_at)) if self.fetched_at else ""

    @property
    def described(self) -> str:
        """Description in words: authors, site, date, kind, whether it was read."""
        of_web = self.url.startswith(WEB)
        seen = self.read_on or ("page read" if self.read else "excerpt of search results" if of_web else "")
        return ", ".join(part for part in (self.authors, self.site, self.date, self.kind, seen) if part)


def cited_source(number: int, source: GatheredSource) -> CitedSource:
    """Return a gathered source under a number, 0 if it is not cited."""
    return CitedSource(
        number,
        source.title,
        source.url,
        source.fetched_at,
        source.authors,
        source.site,
        source.date,
        source.doi,
        source.read,
    )


class Report(Struct, frozen=True):
    """Sentences by section, and the cited sources, numbered in the order of their first citation.

    `writer` is the language model that wrote it, empty for a report of excerpts; `remark` is a note about how it was
    made. `dropped` counts the model's sentences that were left out, `replaced` those that quotations replaced, because
    no quotation supported them. `limits` say what the report does not rest on, a sentence each. `revisions` counts how
    often the model fixed what checks found wrong. `headings` are those that are shown, by name, where they differ.
    """

    title: str
    citations: tuple[Citation, ...]
    sources: tuple[CitedSource, ...]
    writer: str = ""
    remark: str = ""
    dropped: int = 0
    replaced: int = 0
    limits: tuple[str, ...] = ()
    revisions: int = 0
    headings: dict[str, str] = {}

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
        if self.revisions:
            lines.append(f"revised {'once' if self.revisions == 1 else f'{self.revisions} times'}")
        return "; ".join(lines)

    @property
    def sections(self) -> list[tuple[str, list[list[Citation]]]]:
        """The sections in order: the title of each, and its paragraphs."""
        found = []
        for section, cited in groupby(self.citations, key=lambda citation: citation.section):
            found.append((section, [list(part) for _, part in groupby(cited, key=lambda each: each.paragraph)]))
        return found

    def heading(self, name: str) -> str:
        """Return the heading that the section `name` is shown under."""
        return self.headings.get(name, name)

    def date_of(self, number: int) -> str:
        """Return the date of a cited source, "" if it is not known."""
        return next((source.date for source in self.sources if source.number == number), "")

    def with_pages(self, sources: Sequence[GatheredSource]) -> "Report":
        """Return the report with the page of each quotation that its source knows."""
        paged = {source.url: source for source in sources if source.page_starts}
        citations = (
            replace(each, page=paged[each.url].page_of(each.quotation)) if each.url in paged else each
            for each in self.citations
        )
        return replace(self, citations=tuple(citations))

    def markdown(self, *, bars: bool = False) -> str:
        """Return the report as Markdown (CommonMark, and tables); source text is escaped, so it is never markup.
        `bars`: values of the figure have bars of block characters, for a terminal.
        """
        blocks = [f"# {_escaped(self.title)}", *([f"> {_line(self.remark)}"] if self.remark else [])]
        for section, paragraphs in self.sections:
            blocks.append(self._head(section))
            blocks += self._blocks(section, paragraphs)
        if figure := figure_of(self):
            blocks += [self._head(FIGURES), _table(figure, bars=bars), _escaped(figure.title)]
        if written := [citation for citation in self.quotations if citation.sentence != citation.quotation]:
            blocks.append(self._head("Quotations"))
            blocks.append("\n".join(f"- [{_escaped(each.mark)}] “{_escaped(each.quotation)}”" for each in written))
        if self.limits:
            blocks += [self._head("Limits"), "\n".join(f"- {_line(limit)}" for limit in self.limits)]
        blocks.append(self._head("Sources"))
        blocks.append("\n".join(map(_listed, self.sources)))
        blocks.append(self.checks)
        return "\n\n".join(blocks) + "\n"

    def _head(self, name: str) -> str:
        return f"## {_escaped(self.heading(name))}"

    def _blocks(self, section: str, paragraphs: Sequence[Sequence[Citation]]) -> Iterator[str]:
        if section == DISAGREEMENTS:
            for rows in paragraphs:
                lines = [
                    f"| {_number(each)} | {_cited(each)} | {_escaped(self.date_of(each.number))} |" for each in rows
                ]
                yield "\n".join(["| Source | Says | Date |", "| --- | --- | --- |", *lines])
        elif section == KEY_POINTS:
            yield "\n".join(f"- {' '.join(map(_cited, part))}" for part in paragraphs)
        else:
            yield from (" ".join(map(_cited, part)) for part in paragraphs)


def _table(figure: Figure, *, bars: bool) -> str:
    """Return the values of a figure as a table."""
    drawn = figure.bars if bars else ()
    rows = [
        [_escaped(row.label), _escaped(row.text), *drawn[place : place + 1], row.mark]
        for place, row in enumerate(figure.rows)
    ]
    label, value, source = map(_escaped, figure.columns)
    names = [label, value, *([" "] if drawn else []), source]
    lines = ["---", "---:", *(["---"] if drawn else []), "---"]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [names, lines, *rows])


def _number(citation: Citation) -> str:
    return str(citation.number) if citation.number else "none"


def _listed(source: CitedSource) -> str:
    title, about = _line(source.title), _escaped(source.described)
    return f"{source.number}. {title}{'' if title.endswith(('.', '?', '!')) else '.'} {about}. {_address(source.url)}"


def _cited(citation: Citation) -> str:
    if citation.sentence == citation.quotation:
        return f"“{_escaped(citation.quotation)}” [{_escaped(citation.mark)}]"
    return f"{_escaped(citation.sentence)} [{_escaped(citation.mark)}]"


def lacking_note(citation: Citation) -> str:
    """Return what the quoted passage of a citation lacks of the question, in words."""
    lacks = [shorten(one_line(term), MAX_TERM) for term in citation.lacks[:MAX_TERMS]]
    return f"does not mention {' or '.join(lacks)}" if lacks else ""


def _count_of_sentences(count: int, what: str) -> str:
    if count == 1:
        return f"1 sentence {what}: not supported by its quotation"
    return f"{count} sentences {what}: not supported by their quotation"


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", clean(one_line(text), len(text)))


def _line(text: str) -> str:
    """Return a text that begins a line: it is no list, whatever it begins with."""
    return _BLOCK.sub(lambda found: f"\\{found[1]}" if not found[1].isdecimal() else f"{found[1]}\\", _escaped(text))


def _address(url: str) -> str:
    """Return a link that cannot break out of its angle brackets; a URL of an unknown scheme becomes text."""
    if not url.startswith(_LINKED):
        return _escaped(url)
    safe = _UNSAFE.sub(_percent, url)
    return f"<{safe}>"


def _percent(bad: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in bad[0].encode(errors="replace"))
