"""Crossref, the registry of most DOIs of scholarly works, through its REST API.

https://www.crossref.org/documentation/retrieve-metadata/rest-api/, https://api.crossref.org/swagger-ui/index.html
"""

import re
from collections.abc import Sequence
from typing import Any, NoReturn

from msgspec import Struct, field

from harness.core.text import clean, one_line, words
from harness.errors import EngineUnavailable
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import NO_FILTERS, Filters, filters_of
from harness.sources.engines.json_api import ApiEngine, failure_of, identified, shown
from harness.sources.engines.result_fields import authors_of, doi_address, plain, result
from harness.sources.engines.result_lists import results
from harness.sources.http.request import HttpResponse

BASE_URL = "https://api.crossref.org"
MAX_RESULTS = 100

_SELECTED = "DOI,URL,title,container-title,author,abstract,published,issued"
_WITH_ABSTRACT = "has-abstract:1"
_MAX_QUERY_CHARS = 500

_HEADING = re.compile(r"\A(?:abstract|summary)[.:]?\n\n", re.IGNORECASE)


class _Author(Struct):
    """A person with `given` and `family` names, or an organisation with a `name`."""

    given: str | None = None
    family: str | None = None
    name: str | None = None


class _Date(Struct):
    """A date as `[[year, month, day]]`; month and day may be missing, and an unknown date is `[[null]]`."""

    parts: list[list[int | None]] | None = field(name="date-parts", default=None)


class _Work(Struct, rename={"doi": "DOI", "url": "URL", "journal": "container-title"}):
    """Fields of a work that are read. `abstract` is JATS XML."""

    doi: str | None = None
    url: str | None = None
    title: list[str | None] | None = None
    journal: list[str | None] | None = None
    author: list[_Author | None] | None = None
    abstract: str | None = None
    published: _Date | None = None
    issued: _Date | None = None


class _Found(Struct):
    items: list[Any]


class _Reply(Struct):
    message: _Found


class _Failure(Struct):
    """An error: `message` is a list of objects with a `message` each, one such object, or a text."""

    message: Any = None


class Crossref(ApiEngine):
    """Search titles, journals and authors of scholarly works, most relevant first; at most `MAX_RESULTS`. A result's
    body is the abstract. Works without one are found only where no work with an abstract is, by a second request.

    Filter: years. `contact` is an address to send along; Crossref allows more requests with one. `timeout` is in
    seconds, for each request.

    Raises:
        InvalidInput: `base_url` is not an http(s) URL.
    """

    name, who, where = "crossref", "Crossref", "the URL of Crossref"

    def __init__(
        self,
        *,
        filters: Filters = NO_FILTERS,
        contact: str | None = None,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
    ) -> None:
        super().__init__(base_url, BASE_URL, timeout, filters.options)
        self._headers = identified(contact)
        self._years = filters.years("from-pub-date:{}", "until-pub-date:{}")

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        # No character has a meaning: Crossref drops them, and has no AND, OR or NOT.
        text = one_line(clean(query, _MAX_QUERY_CHARS))
        if not words(text):  # it would find everything
            return []
        limit = min(max_results, MAX_RESULTS)
        return self._found(text, limit, _WITH_ABSTRACT, *self._years) or self._found(text, limit, *self._years)

    def _found(self, text: str, limit: int, *conditions: str) -> list[SearchResult]:
        """Return the results of one request."""
        parameters = {"query.bibliographic": text, "rows": str(limit), "sort": "relevance", "select": _SELECTED}
        if conditions:
            parameters["filter"] = ",".join(conditions)
        found = self._reply(_Reply, "works", params=parameters).message.items
        return results(map(_result, self._items(found, _Work)), limit)

    def _refuse(self, answer: HttpResponse) -> NoReturn:
        advice = "" if self._headers else ", or set contact_email"
        if answer.status == 403:
            raise EngineUnavailable(
                f"{self.who} refuses requests from this network (HTTP 403); try again later{advice}"
            )
        self._fail(answer, _said(answer), f"wait a minute{advice}")


def _said(answer: HttpResponse) -> str:
    """Return the first message of an error, shortened; "" if there is none."""
    said = failure_of(answer, _Failure).message
    if isinstance(said, list):
        said = said[0] if said else ""
    if isinstance(said, dict):
        said = said.get("message") or said.get("description")
    return shown(said) if isinstance(said, str) else ""


def _result(work: _Work) -> SearchResult | None:
    return result(
        one_line(plain(_first(work.title))),
        doi_address(work.doi) or work.url,
        _abstract(work.abstract),
        date=_date(work.published) or _date(work.issued),
        authors=authors_of(_name(author) for author in work.author or [] if author is not None),
        site=one_line(plain(_first(work.journal))),
        doi=work.doi,
    )


def _abstract(markup: str | None) -> str:
    """Return the paragraphs of an abstract, without its heading "Abstract"."""
    paragraphs = plain(markup).split("\n\n")
    return _HEADING.sub("", "\n\n".join(filter(None, map(one_line, paragraphs))))


def _name(author: _Author) -> str:
    return author.name or " ".join(filter(None, (author.given, author.family)))


def _first(texts: Sequence[str | None] | None) -> str:
    """Return the first text that is not empty, else an empty string."""
    return next(filter(None, texts or []), "")


def _date(date: _Date | None) -> str:
    """Return a date as YYYY, YYYY-MM or YYYY-MM-DD; "" if it is unknown."""
    [parts, *_] = (date.parts if date is not None else None) or [[]]
    return "-".join(f"{part:02d}" for part in parts[:3] if part is not None)


def from_settings(argument: str, settings: Settings) -> Crossref:
    """Return the engine with the filters in `argument`."""
    filters = filters_of("crossref", argument, ("years",))
    return Crossref(filters=filters, contact=settings.contact_email, timeout=settings.search_timeout)
