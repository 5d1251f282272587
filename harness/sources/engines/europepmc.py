"""Europe PMC, through its REST API: papers and preprints of the life sciences, patents and guidelines.

https://europepmc.org/RestfulWebService. Query language: https://europepmc.org/searchsyntax
"""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from harness.core.text import STOP_WORDS, clean, one_line
from harness.errors import RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import NO_FILTERS, Filters, filters_of
from harness.sources.engines.json_api import ApiEngine, shown
from harness.sources.engines.result_fields import authors_of, plain, result
from harness.sources.engines.result_lists import results
from harness.sources.http.request import HttpResponse, check_status

BASE_URL = "https://www.ebi.ac.uk/europepmc/webservices/rest"
MAX_RESULTS = 100
MAX_WORDS = 50

_FIRST_YEAR = 1500
_LAST_YEAR = 3000
"""Europe PMC's own upper bound for "until now"."""
_MAX_AUTHOR_CHARS = 2_000

_WORD = re.compile(r"\w+(?:[-.'’]\w+)*")
_SOURCE = re.compile(r"[A-Z]{2,5}")
_ID = re.compile(r"[\w.:/-]{1,60}", re.ASCII)
_PMCID = re.compile(r"PMC[1-9][0-9]{0,9}")


class _Journal(Struct):
    title: str | None = None


class _Issue(Struct):
    journal: _Journal | None = None


class _Book(Struct, rename="camel"):
    """A book, a report or a preprint server."""

    comprising_title: str | None = None
    publisher: str | None = None


class _Link(Struct, rename="camel"):
    """Address of a text; `availability_code` is OA (open access), F (free) or S (subscription)."""

    url: str | None = None
    document_style: str | None = None
    availability_code: str | None = None
    site: str | None = None


class _Links(Struct, rename="camel"):
    full_text_url: list[_Link | None] | None = None


class _Paper(Struct, rename="camel"):
    """Fields of a record of the result type `core` that are read. `title` and `abstract_text` may have HTML."""

    id: str | int | None = None
    source: str | None = None
    pmcid: str | None = None
    doi: str | None = None
    title: str | None = None
    author_string: str | None = None
    abstract_text: str | None = None
    journal_info: _Issue | None = None
    book_or_report_details: _Book | None = None
    first_publication_date: str | None = None
    pub_year: str | int | None = None
    is_open_access: str | None = None
    full_text_url_list: _Links | None = None


class _Results(Struct):
    result: list[Any] | None = None


class _Reply(Struct, rename="camel"):
    """Response: at times one with a version and nothing else, which is a failure."""

    hit_count: int | None = None
    result_list: _Results | None = None
    err_msg: str | None = None


class EuropePmc(ApiEngine):
    """Search papers, preprints and books of the life sciences, most relevant first; at most `MAX_RESULTS`. A result's
    body is the abstract.

    A paper must have all words of the query, function words excepted. Filters: years, and `open`: only open access.
    `email` is an address to write to, which Europe PMC asks for. `timeout` is in seconds.

    Raises:
        InvalidInput: `base_url` is not an http(s) URL.
    """

    name, who, where = "europepmc", "Europe PMC", "the URL of Europe PMC"

    def __init__(
        self,
        *,
        filters: Filters = NO_FILTERS,
        email: str | None = None,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
    ) -> None:
        super().__init__(base_url, BASE_URL, timeout, filters.options)
        self._filters = filters
        self._email = one_line(clean(email, 200))

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        found = _words(query)
        if not found:
            return []
        limit = min(max_results, MAX_RESULTS)
        parameters = {
            "query": _query(found, self._filters),
            "resultType": "core",
            "format": "json",
            "pageSize": str(limit),
            **({"email": self._email} if self._email else {}),
        }
        reply = self._checked(self._ask("search", params=parameters))
        items = (reply.result_list and reply.result_list.result) or []
        papers = [paper for paper in self._items(items, _Paper) if _address(paper)]
        if not papers and (items or reply.hit_count != 0):
            raise self._another_reply()
        return results(map(_result, papers), limit)

    def _checked(self, answer: HttpResponse) -> _Reply:
        """Return the reply to a search.

        Raises:
            RateLimited: status 429, or an error that says so.
            EngineUnavailable: another status, an error, or something else than results.
        """
        reply = self._decoded(answer, _Reply)
        if reply.err_msg is not None and answer.status != 429:
            said = shown(reply.err_msg)
            if "too many requests" in said.lower() or "rate limit" in said.lower():
                raise RateLimited(f"{self.who} asks for fewer requests; wait some minutes")
            self._fail(answer, said or "no reason given")
        check_status(self.who, answer)
        return reply


def _words(query: str) -> list[str]:
    """Return the words of a query without function words, at most `MAX_WORDS`."""
    found = list(dict.fromkeys(_WORD.findall(query.lower())))
    return ([word for word in found if word not in STOP_WORDS] or found)[:MAX_WORDS]


def _query(asked: Sequence[str], filters: Filters) -> str:
    """Return a query for papers with all words.

    Words are in lower case, so none is an operator; one with a hyphen, point or apostrophe is in quotation marks. No
    other character with a meaning remains.
    """
    parts = [word if word.isalnum() else f'"{word}"' for word in asked]
    if filters.since or filters.until:
        parts.append(f"PUB_YEAR:[{filters.since or _FIRST_YEAR} TO {filters.until or _LAST_YEAR}]")
    if filters.open:
        parts.append("OPEN_ACCESS:Y")
    return " AND ".join(parts)


def _address(paper: _Paper) -> str:
    """Return the address of a record's page, "" without a source and an identifier."""
    source, number = paper.source or "", str(paper.id or "")
    known = _SOURCE.fullmatch(source) and _ID.fullmatch(number)
    return f"https://europepmc.org/article/{source}/{quote(number, safe='')}" if known else ""


def _result(paper: _Paper) -> SearchResult | None:
    journal = (paper.journal_info and paper.journal_info.journal) or _Journal()
    book = paper.book_or_report_details or _Book()
    return result(
        plain(paper.title),
        _address(paper),
        plain(paper.abstract_text),
        date=paper.first_publication_date or str(paper.pub_year or ""),
        authors=authors_of((paper.author_string or "")[:_MAX_AUTHOR_CHARS].rstrip(". ").split(",")),
        site=plain(journal.title or book.comprising_title or book.publisher),
        doi=paper.doi,
        full_text=_full_text(paper),
    )


def _full_text(paper: _Paper) -> str:
    """Return the address of an open text that can be read without JavaScript, "" if there is none.

    For an open paper in PubMed Central that is its plain text in the PMC Article Datasets, which are there for programs
    (https://pmc.ncbi.nlm.nih.gov/tools/cloud/). Article pages need JavaScript, the REST API has only XML, and Europe
    PMC's own PDFs are often refused to programs, so those are the last choice.
    """
    pmcid = paper.pmcid or ""
    if paper.is_open_access == "Y" and _PMCID.fullmatch(pmcid):
        return f"https://pmc-oa-opendata.s3.amazonaws.com/{pmcid}.1/{pmcid}.1.txt"
    links = (paper.full_text_url_list and paper.full_text_url_list.full_text_url) or []
    free = [link for link in links if link and link.document_style == "pdf" and link.availability_code in {"OA", "F"}]
    return next((link.url for link in sorted(free, key=lambda link: link.site == "Europe_PMC") if link.url), "")


def from_settings(argument: str, settings: Settings) -> EuropePmc:
    """Return the engine with the filters in `argument`."""
    filters = filters_of("europepmc", argument, ("years", "open"))
    return EuropePmc(filters=filters, email=settings.contact_email, timeout=settings.search_timeout)
