"""A report: the answer, key points, sections, disagreements, limits and sources, and the same as Markdown."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from harness.cache.usage import day_of
from harness.core.page_numbers import PageNumber
from harness.core.quotable import is_cut_off
from harness.core.required_terms import MAX_TERM, MAX_TERMS
from harness.core.sites import WEB
from harness.core.source_kind import source_kind
from harness.core.sub_questions import as_asked
from harness.core.text import clean, one_line, shorten
from harness.research.figures import FIGURES, Figure, figures_of
from harness.research.gathering import GatheredSource
from harness.research.messages import chosen, counted, ended, heading_in, in_language, list_in, message, place_in
from harness.research.planner import LISTED

DISAGREEMENTS = "Where sources disagree"
"""Section whose paragraphs are the statements of different sources about one thing."""

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

    def mark_in(self, language: str) -> str:
        """Return its place, what is wrong with the quotation, and whether it is cut off, in words of a language."""
        if not self.number:
            return message(language, "no source")
        notes = (
            (message(language, "unverified"), not self.verified),
            (message(language, "not supported"), not self.supported),
            (lacking_note(self, language), bool(self.lacks)),
            (message(language, "quoted instead"), self.replaced),
        )
        cut_off = [message(language, "cut off")] if is_cut_off(self.quotation) else []
        wrong = [note for note, holds in notes if holds][:1]
        return list_in(language, [place_in(language, self.number, self.page), *wrong, *cut_off])


class CitedSource(Struct, frozen=True, omit_defaults=True):
    """A source that the report cites. `fetched_at` (seconds since the epoch) is when a source that was read for an
    earlier question was read; 0: for this one, on the day `read_on` (UTC, YYYY-MM-DD; empty for a document). `date` is
    YYYY, YYYY-MM or YYYY-MM-DD; what is not known is empty. `read`: its page was read, not only an excerpt in search
    results. `language` is its language, as a primary tag, if it is known and not that of the question.
    """

    number: int
    title: str
    url: str
    fetched_at: float = 0.0
    read_on: str = ""
    authors: str = ""
    site: str = ""
    date: str = ""
    doi: str = ""
    read: bool = False
    language: str = ""

    @property
    def kind(self) -> str:
        """Its kind, by its address and DOI, as "paper" or "news"."""
        return source_kind(self.url, self.doi)

    def described_in(self, language: str) -> str:
        """Return a description in words of a language: authors, site, date, kind, language, whether it was read."""
        own, kind = in_language(language, self.language), chosen(language, self.kind)
        return list_in(language, [self.authors, self.site, self.date, kind, own, *self._seen_in(language)])

    @property
    def day(self) -> str:
        """The day (UTC, YYYY-MM-DD) on which it was read; empty if that is not known."""
        return day_of(self.fetched_at) if self.fetched_at else self.read_on

    def _seen_in(self, language: str) -> Iterator[str]:
        """Yield whether its page was read or only an excerpt, and on which day."""
        if self.url.startswith(WEB) and not (self.read or self.fetched_at):
            yield message(language, "excerpt of search results")
        if self.day:
            yield message(language, "read on {day}", day=self.day)
        elif self.read:
            yield message(language, "page read")


def cited_source(number: int, source: GatheredSource) -> CitedSource:
    """Return a gathered source, which has the same fields and more, under a number, 0 if it is not cited."""
    return CitedSource(number, *(getattr(source, name) for name in CitedSource.__struct_fields__[1:]))


class Report(Struct, frozen=True):
    """Sentences by section, and the cited sources, numbered in the order of their first citation.

    `writer` is the language model that wrote it, empty for a report of excerpts; `remark` is a note about how it was
    made. `dropped` counts the model's sentences that were left out, `replaced` those that quotations replaced, because
    no quotation supported them. `limits` say what the report does not rest on, a sentence each. `revisions` counts how
    often the model fixed what checks found wrong. `headings` are those of the user, by name, where they differ.
    `language` is that of the question, as a primary tag: people read the report in it. "" is not known, and read as
    English.
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
    language: str = ""

    @property
    def undated(self) -> "Report":
        """The report without the days of reading: from the same texts it is the same on any day."""
        return replace(self, sources=tuple(replace(source, read_on="") for source in self.sources))

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
        return message(self.language, "; ").join(self._checks())

    def _checks(self) -> Iterator[str]:
        """Yield how many quotations are verified, how many sentences none supports, by what was done with them, and
        how often the report was revised.
        """
        language = self.language
        yield counted(
            language,
            "{verified} of {count} quotations verified",
            "{verified} of {count} quotations verified",
            len(self.quotations),
            verified=self.verified,
        )
        # older reports have no count
        if replaced := self.replaced or sum(citation.replaced for citation in self.citations):
            yield counted(
                language,
                "1 sentence replaced: not supported by its quotation",
                "{count} sentences replaced: not supported by their quotation",
                replaced,
            )
        if marked := sum(citation.verified and not citation.supported for citation in self.citations):
            yield counted(
                language,
                "1 sentence marked: not supported by its quotation",
                "{count} sentences marked: not supported by their quotation",
                marked,
            )
        if self.dropped:
            yield counted(
                language,
                "1 sentence left out: not supported by its quotation",
                "{count} sentences left out: not supported by their quotation",
                self.dropped,
            )
        if self.revisions:
            yield counted(language, "revised once", "revised {count} times", self.revisions)

    @property
    def sections(self) -> list[tuple[str, list[list[Citation]]]]:
        """The sections in order: the title of each, and its paragraphs."""
        found = []
        for section, cited in groupby(self.citations, key=lambda citation: citation.section):
            found.append((section, [list(part) for _, part in groupby(cited, key=lambda each: each.paragraph)]))
        return found

    def heading(self, name: str) -> str:
        """Return the heading that the section `name` is shown under: a sub-question as it was asked."""
        return self.headings.get(name) or as_asked(heading_in(self.language, name), self.title)

    def source_of(self, number: int) -> CitedSource:
        """Return a cited source by its number, an empty one if there is none."""
        return next((source for source in self.sources if source.number == number), CitedSource(number, "", ""))

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
        `bars`: values of figures have bars of block characters, for a terminal.
        """
        blocks = [f"# {_escaped(self.title)}", *([f"> {_line(self.remark)}"] if self.remark else [])]
        for section, paragraphs in self.sections:
            blocks.append(self._head(section))
            blocks += self._blocks(section, paragraphs)
        figures = figures_of(self)
        blocks += [self._head(FIGURES)] if figures else []
        for figure in figures:
            blocks += [_table(figure, self.language, bars=bars), _escaped(figure.title_in(self.language))]
        if written := [citation for citation in self.quotations if citation.sentence != citation.quotation]:
            blocks.append(self._head("Quotations"))
            marked = ((_escaped(each.mark_in(self.language)), _escaped(each.quotation)) for each in written)
            blocks.append("\n".join(f"- [{mark}] “{text}”" for mark, text in marked))
        if self.limits:
            blocks += [self._head("Limits"), "\n".join(f"- {_line(limit)}" for limit in self.limits)]
        blocks.append(self._head("Sources"))
        blocks.append("\n".join(_listed(source, self.language) for source in self.sources))
        blocks.append(self.checks)
        return "\n\n".join(blocks) + "\n"

    def _head(self, name: str) -> str:
        return f"## {_escaped(self.heading(name))}"

    def _blocks(self, section: str, paragraphs: Sequence[Sequence[Citation]]) -> Iterator[str]:
        if section == DISAGREEMENTS:
            names = " | ".join(map(_escaped, columns_in(self.language)))
            for rows in paragraphs:
                lines = [
                    f"| {self._number(each)} | {self._cited(each)} | {_escaped(self.source_of(each.number).date)} |"
                    for each in rows
                ]
                yield "\n".join([f"| {names} |", "| --- | --- | --- |", *lines])
        elif section in LISTED:
            yield "\n".join(f"- {' '.join(map(self._cited, part))}" for part in paragraphs)
        else:
            yield from (" ".join(map(self._cited, part)) for part in paragraphs)

    def _number(self, citation: Citation) -> str:
        return str(citation.number) if citation.number else message(self.language, "none")

    def _cited(self, citation: Citation) -> str:
        mark = _escaped(citation.mark_in(self.language))
        if citation.sentence == citation.quotation:
            return f"“{_escaped(citation.quotation)}” [{mark}]"
        return f"{_escaped(citation.sentence)} [{mark}]"


def columns_in(language: str) -> tuple[str, str, str]:
    """Return the names of the columns of statements that disagree."""
    return message(language, "Source"), message(language, "Says"), message(language, "Date")


def _table(figure: Figure, language: str, *, bars: bool) -> str:
    """Return the values of a figure as a table."""
    drawn = figure.bars if bars else ()
    rows = [
        [_escaped(row.label), _escaped(row.text_in(language)), *drawn[place : place + 1], row.mark_in(language)]
        for place, row in enumerate(figure.rows)
    ]
    label, value, source = map(_escaped, figure.columns_in(language))
    names = [label, value, *([" "] if drawn else []), source]
    lines = ["---", "---:", *(["---"] if drawn else []), "---"]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [names, lines, *rows])


def _listed(source: CitedSource, language: str) -> str:
    title, about = _line(source.title), _escaped(source.described_in(language))
    return f"{source.number}. {ended(language, title)}{ended(language, about)}{_address(source.url)}"


def lacking_note(citation: Citation, language: str) -> str:
    """Return what the quoted passage of a citation lacks of the question, in words of a language."""
    terms = lacking_terms_in(language, citation.lacks)
    return message(language, "does not mention {terms}", terms=terms) if terms else ""


def lacking_terms_in(language: str, lacks: Sequence[str]) -> str:
    """Return the first terms of the question that a passage lacks, in a line."""
    return message(language, " or ").join(shorten(one_line(term), MAX_TERM) for term in lacks[:MAX_TERMS])


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", clean(one_line(text), len(text)))


def _line(text: str) -> str:
    """Return a text that begins a line: it is no list, whatever it begins with."""
    return _BLOCK.sub(lambda found: f"\\{found[1]}" if not found[1].isdecimal() else f"{found[1]}\\", _escaped(text))


def _address(url: str) -> str:
    """Return a link that cannot break out of its angle brackets; a URL of an unknown scheme becomes text."""
    if not url.startswith(_LINKED):
        return _escaped(url)
    safe = _UNSAFE.sub(lambda bad: quote(bad[0], errors="replace"), url)
    return f"<{safe}>"
