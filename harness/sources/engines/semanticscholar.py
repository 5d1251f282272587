"""Semantic Scholar, through the paper search of its Academic Graph API.

https://api.semanticscholar.org/api-docs/graph
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from msgspec import Struct, field
from msgspec.structs import replace

from harness.core.text import clean, one_line
from harness.errors import EngineUnavailable, InvalidInput
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import NO_FILTERS, Filters, filters_of
from harness.sources.engines.json_api import ApiEngine
from harness.sources.engines.result_fields import authors_of, doi_address, plain, result
from harness.sources.engines.result_lists import results
from harness.sources.http.request import HttpResponse

BASE_URL = "https://api.semanticscholar.org/graph/v1"
MAX_RESULTS = 100

FIELDS_OF_STUDY = tuple(
    (
        "Agricultural and Food Sciences, Art, Biology, Business, Chemistry, Computer Science, Economics, Education, "
        "Engineering, Environmental Science, Geography, Geology, History, Law, Linguistics, Materials Science, "
        "Mathematics, Medicine, Philosophy, Physics, Political Science, Psychology, Sociology"
    ).split(", ")
)
"""Values of the filter `field`."""

_WHO = "Semantic Scholar"
_FIELDS = "title,abstract,year,publicationDate,authors,venue,externalIds,openAccessPdf,url,tldr"
_MAX_QUERY_CHARS = 500
_HYPHEN = re.compile(r"[-\u2010\u2011]")
_ARXIV = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]{1,20}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?")


class _Author(Struct):
    name: str | None = None


class _Ids(Struct):
    doi: str | None = field(name="DOI", default=None)
    arxiv: str | None = field(name="ArXiv", default=None)


class _Pdf(Struct):
    url: str | None = None


class _Summary(Struct):
    text: str | None = None


class _Paper(Struct, rename="camel"):
    """Fields of a paper that are read. `tldr` is a sentence that a model wrote."""

    title: str | None = None
    abstract: str | None = None
    year: int | None = None
    publication_date: str | None = None
    authors: list[_Author | None] | None = None
    venue: str | None = None
    external_ids: _Ids | None = None
    open_access_pdf: _Pdf | None = None
    url: str | None = None
    tldr: _Summary | None = None


class _Reply(Struct):
    """Response: `total` is an estimate; without papers `data` may be missing."""

    data: list[Any] | None = None
    total: Any = None


class SemanticScholar(ApiEngine):
    """Search papers of all fields, most relevant first; at most `MAX_RESULTS`. A result's body is the abstract; where
    the publisher withholds it, a summary in one sentence.

    Filters: years, `open` (a free PDF is known) and `field` (one of `FIELDS_OF_STUDY`, in any case). With an `api_key`
    requests have a separate rate limit, else one shared with all other users. `timeout` is in seconds.

    Raises:
        InvalidInput: an unknown field of study, a key of another form, or `base_url` is not an http(s) URL.
    """

    name, who, where = "semanticscholar", _WHO, "the URL of Semantic Scholar"
    key_setting = "semanticscholar_api_key"

    def __init__(
        self,
        *,
        filters: Filters = NO_FILTERS,
        api_key: str | None = None,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
    ) -> None:
        filters = replace(filters, field=_field_of_study(filters.field))
        super().__init__(base_url, BASE_URL, timeout, filters.options, api_key)
        self._headers = {"x-api-key": self._key} if self._key else {}
        self._filters = _filter_parameters(filters)

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`.

        Raises:
            InvalidInput: Semantic Scholar refuses the API key.
        """
        # No sign has a meaning, but a word with a hyphen finds nothing (documented for the parameter `query`).
        text = one_line(clean(_HYPHEN.sub(" ", query), _MAX_QUERY_CHARS))
        if not text:
            return []
        limit = min(max_results, MAX_RESULTS)
        parameters = {"query": text, "limit": str(limit), "fields": _FIELDS, **self._filters}
        reply = self._reply(_Reply, "paper/search", params=parameters)
        if reply.data is None and reply.total not in (0, "0"):
            raise self._another_reply()
        return results(map(_result, self._items(reply.data, _Paper)), limit)

    def _refuse(self, answer: HttpResponse) -> NoReturn:
        if answer.status in {401, 403}:
            if self._key:
                raise self._key_refused()
            raise EngineUnavailable(
                f"{_WHO} refuses a request without a key (HTTP {answer.status}); set semanticscholar_api_key"
            )
        advice = "wait a minute" if self._key else "wait a minute, or set semanticscholar_api_key"
        self._fail(answer, self._message(answer), advice)


def _result(paper: _Paper) -> SearchResult | None:
    ids = paper.external_ids or _Ids()
    by_doi = doi_address(ids.doi)
    arxiv = ids.arxiv if _ARXIV.fullmatch(ids.arxiv or "") else ""
    summary, pdf = paper.tldr or _Summary(), paper.open_access_pdf or _Pdf()
    return result(
        plain(paper.title),
        by_doi or (f"https://arxiv.org/abs/{arxiv}" if arxiv else paper.url),
        plain(paper.abstract) or plain(summary.text),
        date=paper.publication_date or str(paper.year or ""),
        authors=authors_of(author.name for author in paper.authors or [] if author is not None),
        site=paper.venue,
        doi=ids.doi if by_doi else None,  # a DOI in a longer text may be that of another paper
        full_text=pdf.url or (f"https://arxiv.org/pdf/{arxiv}" if arxiv else ""),
    )


def _field_of_study(name: str) -> str:
    """Return a field of study as Semantic Scholar writes it; "" for none.

    Raises:
        InvalidInput: it has no such field.
    """
    known = {each.lower(): each for each in FIELDS_OF_STUDY}
    if name and name.lower() not in known:
        raise InvalidInput(f"{_WHO} has no field {name[:60]!r}; choose one of {', '.join(FIELDS_OF_STUDY)}")
    return known.get(name.lower(), "")


def _filter_parameters(filters: Filters) -> Mapping[str, str]:
    """Return filters as parameters; years as 2016-2020, 2016- or -2020."""
    parameters = {"fieldsOfStudy": filters.field} if filters.field else {}
    if filters.since or filters.until:
        parameters["year"] = f"{filters.since or ''}-{filters.until or ''}"
    if filters.open:
        parameters["openAccessPdf"] = ""  # has no value
    return parameters


def from_settings(argument: str, settings: Settings) -> SemanticScholar:
    """Return the engine with the filters in `argument`."""
    filters = filters_of("semanticscholar", argument, ("years", "open", "field"))
    key = settings.semanticscholar_api_key
    return SemanticScholar(filters=filters, api_key=key, timeout=settings.search_timeout)
