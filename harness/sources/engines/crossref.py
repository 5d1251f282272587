"""Crossref, the registry of most DOIs of scholarly works, through its REST API.

https://www.crossref.org/documentation/retrieve-metadata/rest-api/, https://api.crossref.org/swagger-ui/index.html
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct, field

from harness.core.text import clean, one_line, shorten, words
from harness.errors import EngineUnavailable, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import Filters, filters_of
from harness.sources.engines.json_api import MAX_BODY_CHARS, authors_of, decoded, identified, plain, result, results
from harness.sources.http.request import HttpResponse, ask, base_address, check_status

BASE_URL = "https://api.crossref.org"
MAX_RESULTS = 100

_NO_FILTERS = Filters()
_WHO = "Crossref"
_SELECTED = "DOI,URL,title,container-title,author,abstract,published,issued"
_WITH_ABSTRACT = "has-abstract:1"
_MAX_QUERY_CHARS = 500

_HEADING = re.compile(r"\A(?:abstract|summary)[.:]?\n\n", re.IGNORECASE)
_ESCAPED_TAG = re.compile(
    r"&lt;(/?(?:p|br|div|span|i|b|em|strong|sub|sup|ul|ol|li)(?:\s[a-z-]+=[^<>]{0,200}?)?\s*/?)&gt;", re.IGNORECASE
)
_RAISED = re.compile(r"(?<=[0-9])<(?:jats:)?sup>", re.IGNORECASE)


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


class Crossref:
    """Search titles, journals and authors of scholarly works, most relevant first; at most `MAX_RESULTS`. A result's
    body is the abstract. Works without one are found only where no work with an abstract is, by a second request.

    Filter: years. `contact` is an address to send along; Crossref allows more requests with one. `timeout` is in
    seconds, for each request.

    Raises:
        InvalidInput: `base_url` is not an http(s) URL.
    """

    name = "crossref"

    def __init__(
        self,
        *,
        filters: Filters = _NO_FILTERS,
        contact: str | None = None,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
    ) -> None:
        self._url = base_address(base_url, "the URL of Crossref")
        self._headers = identified(contact)
        self._timeout = timeout
        self._years = _years(filters)
        self.options: Mapping[str, Any] = {
            **filters.options,
            **({} if self._url == BASE_URL else {"base_url": self._url}),
        }

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
        url = f"{self._url}/works"
        answer = ask(_WHO, url, params=parameters, headers=self._headers, timeout=self._timeout)
        self._check(answer)
        return results(map(_result, _works(decoded(_WHO, answer, _Reply).message.items)), limit)

    def _check(self, answer: HttpResponse) -> None:
        """Raise unless the status is 200.

        Raises:
            RateLimited, EngineUnavailable: Crossref refuses.
        """
        advice = "" if self._headers else ", or set contact_email"
        if answer.status == 429:
            raise RateLimited(f"{_WHO} asks for fewer requests (HTTP 429); wait a minute{advice}")
        if answer.status == 403:
            raise EngineUnavailable(f"{_WHO} refuses requests from this network (HTTP 403); try again later{advice}")
        if answer.status != 200 and (said := _said(answer)):
            raise EngineUnavailable(f"{_WHO} could not search (HTTP {answer.status}): {said}; try again later")
        check_status(_WHO, answer)


def _said(answer: HttpResponse) -> str:
    """Return the first message of an error, shortened; "" if there is none."""
    try:
        said = msgspec.json.decode(answer.body, type=_Failure).message
    except (ValueError, RecursionError):
        return ""
    if isinstance(said, list):
        said = said[0] if said else ""
    if isinstance(said, dict):
        said = said.get("message") or said.get("description")
    return shorten(clean(said, 2_000), 200).rstrip(".") if isinstance(said, str) else ""


def _works(items: Sequence[Any]) -> list[_Work]:
    """Return the works; those of another form are left out.

    Raises:
        EngineUnavailable: all of them are of another form.
    """
    works: list[_Work] = []
    for item in items:
        with suppress(msgspec.ValidationError):
            works.append(msgspec.convert(item, _Work))
    if items and not works:
        raise EngineUnavailable(f"{_WHO} answered with something else than works; try again later")
    return works


def _result(work: _Work) -> SearchResult | None:
    doi = clean(work.doi, 300).lower()
    return result(
        one_line(plain(_first(work.title))),
        # quoted, because a DOI may contain # and ?
        f"https://doi.org/{quote(doi, safe='/():;,')}" if doi.startswith("10.") else work.url,
        _abstract(work.abstract),
        date=_date(work.published) or _date(work.issued),
        authors=authors_of(_name(author) for author in work.author or [] if author is not None),
        site=one_line(plain(_first(work.journal))),
        doi="" if "<" in doi else doi,  # what stands before it would be another work
    )


def _abstract(markup: str | None) -> str:
    """Return the paragraphs of an abstract, without its heading "Abstract". 10<sup>6</sup> becomes 10^6, not 106. Some
    publishers send HTML as text: its tags are removed too.
    """
    tagged = _ESCAPED_TAG.sub(r"<\1>", (markup or "")[: 4 * MAX_BODY_CHARS])
    paragraphs = plain(_RAISED.sub("^", tagged)).split("\n\n")
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


def _years(filters: Filters) -> tuple[str, ...]:
    """Return the years as conditions of the parameter `filter`; both are part of the range."""
    since, until = f"from-pub-date:{filters.since}", f"until-pub-date:{filters.until}"
    return (since,) * bool(filters.since) + (until,) * bool(filters.until)


def from_settings(argument: str, settings: Settings) -> Crossref:
    """Return the engine with the filters in `argument`."""
    return Crossref(
        filters=filters_of("crossref", argument, ("years",)),
        contact=settings.contact_email,
        timeout=settings.search_timeout,
    )
