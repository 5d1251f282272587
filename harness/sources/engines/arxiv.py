"""arXiv, through its query API, which answers with an Atom feed.

https://info.arxiv.org/help/api/user-manual.html
"""

import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from harness.core.text import content_words, one_line, words
from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import NO_FILTERS, Filters, filters_of
from harness.sources.engines.json_api import ApiEngine, shown
from harness.sources.engines.result_fields import authors_of, result
from harness.sources.engines.result_lists import results
from harness.sources.engines.xml_reply import parsed
from harness.sources.http.request import HttpResponse, check_status

if TYPE_CHECKING:
    from lxml import etree

BASE_URL = "https://export.arxiv.org/api"
MAX_RESULTS = 100
MAX_WORDS = 20
PAUSE_SECONDS = 3.0
"""Time between two requests that arXiv asks for: https://info.arxiv.org/help/api/tou.html"""

_WHO = "arXiv"
_FIRST_YEAR = 1991
_LAST_YEAR = 2099
_ATOM = "{http://www.w3.org/2005/Atom}"
_EXTENSION = "{http://arxiv.org/schemas/atom}"
_TOTAL = "{http://a9.com/-/spec/opensearch/1.1/}totalResults"

_CATEGORY = re.compile(r"([a-z]+(?:-[a-z]+)*)(?:\.([a-z]+(?:-[a-z]+)*))?", re.IGNORECASE)
_PAPER = re.compile(
    r"https?://(?:export\.|www\.)?arxiv\.org/abs/"
    r"([0-9]{4}\.[0-9]{4,5}|[a-z-]{2,20}(?:\.[a-z-]{2,20})?/[0-9]{7})(?:v[0-9]{1,3})?",
    re.IGNORECASE,
)
_ERROR = "arxiv.org/api/errors"


class Arxiv(ApiEngine):
    """Search the papers of arXiv, most relevant first; at most `MAX_RESULTS`. A result's body is the abstract.

    A paper must have all words of the query that carry meaning. If no paper has, a second request asks for papers with
    any of them. Filters: years (of the first version), and `field`: a category (`cs.CL`) or an archive (`cs`). `open`
    changes nothing, because every paper is free. `timeout` is in seconds, for each request.

    Raises:
        InvalidInput: `field` is not a category, or `base_url` is not an http(s) URL.
    """

    name, who, where = "arxiv", _WHO, "the URL of the API of arXiv"

    def __init__(
        self,
        *,
        filters: Filters = NO_FILTERS,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._filters = replace(filters, open=False, field=_category(filters.field))
        super().__init__(base_url, BASE_URL, timeout, self._filters.options)
        self._sleep = sleep

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        # Only letters, digits, underscores and apostrophes remain, in lower case: no operator, quotation mark,
        # parenthesis, field or hyphen (which excludes the word after it).
        found = list(dict.fromkeys(content_words(query, whole=True) or words(query, whole=True)))[:MAX_WORDS]
        if not found or 0 < self._filters.until < _FIRST_YEAR:
            return []
        limit = min(max_results, MAX_RESULTS)
        papers = self._papers(found, "AND", limit)
        if not papers and len(found) > 1:
            self._sleep(PAUSE_SECONDS)
            papers = self._papers(found, "OR", limit)
        return papers

    def _papers(self, asked: Sequence[str], operator: str, limit: int) -> list[SearchResult]:
        """Return the papers that have all words (`AND`) or any of them (`OR`).

        Raises:
            RateLimited: arXiv asks for fewer requests.
            EngineUnavailable: no answer, an error, or no feed.
        """
        terms = f" {operator} ".join(f"all:{word}" for word in asked)
        restrictions = _restrictions(self._filters)
        parameters = {
            "search_query": " AND ".join([f"({terms})", *restrictions]) if restrictions else terms,
            "max_results": str(limit),
            "sortBy": "relevance",
            "sortOrder": "descending",
        }
        entries = self._entries(self._ask("query", params=parameters))
        papers = results(map(_result, entries), limit)
        if entries and not papers:
            raise self._another_reply()
        return papers

    def _entries(self, answer: HttpResponse) -> list["etree._Element"]:
        """Return the entries of a feed.

        Raises:
            RateLimited: status 429, or 503 with the time to wait.
            EngineUnavailable: another status, an error in the feed, something else than a feed, or a feed without the
                papers that it counts.
        """
        if answer.status == 503 and "retry-after" in answer.headers:
            raise RateLimited(f"{self.who} asks for fewer requests (HTTP 503); wait some minutes")
        if answer.status not in {200, 400, 500}:  # 400 and 500 have an error in a feed
            check_status(self.who, answer)
        try:
            feed = parsed(self.who, answer.body)
        except EngineUnavailable:
            check_status(self.who, answer)
            raise
        entries = list(feed.iterchildren(f"{_ATOM}entry"))
        for entry in entries:
            if _ERROR in _text(entry, f"{_ATOM}id"):
                self._fail(answer, shown(_text(entry, f"{_ATOM}summary")) or "no reason given")
        check_status(self.who, answer)
        if feed.tag != f"{_ATOM}feed":
            raise self._another_reply("a feed")
        if not entries and _text(feed, _TOTAL).strip("0"):
            raise EngineUnavailable(f"{self.who} found papers but sent none of them; try again later")
        return entries


def _result(entry: "etree._Element") -> SearchResult | None:
    """Return a paper, `None` for an entry without the address of one."""
    found = _PAPER.fullmatch(_text(entry, f"{_ATOM}id"))
    if found is None:
        return None
    return result(
        _text(entry, f"{_ATOM}title"),
        f"https://arxiv.org/abs/{found[1]}",
        _text(entry, f"{_ATOM}summary"),
        date=_text(entry, f"{_ATOM}published"),
        authors=authors_of(author.text for author in entry.iterfind(f"{_ATOM}author/{_ATOM}name")),
        site=_text(entry, f"{_EXTENSION}journal_ref") or _WHO,
        doi=_text(entry, f"{_EXTENSION}doi"),
        full_text=f"https://arxiv.org/pdf/{found[1]}",
    )


def _text(element: "etree._Element", path: str) -> str:
    """Return the text at a path in one line, "" if there is none."""
    return one_line(element.findtext(path) or "")


def _category(name: str) -> str:
    """Return a category as arXiv writes it: `cs.CL`, `cond-mat.soft`, `quant-ph`; "" for none.

    Raises:
        InvalidInput: it is of another form.
    """
    found = _CATEGORY.fullmatch(name)
    if name and found is None:
        raise InvalidInput(f"{name[:60]!r} is not a category of arXiv; write one like cs.CL, math or quant-ph")
    if found is None:
        return ""
    archive, subject = found[1].lower(), found[2] or ""
    subject = subject.upper() if len(subject) == 2 else subject.lower()
    return f"{archive}.{subject}" if subject else archive


def _restrictions(filters: Filters) -> list[str]:
    """Return the filters as parts of a query. An archive has its own papers and those of its categories."""
    parts = []
    if filters.field:
        whole = f"(cat:{filters.field} OR cat:{filters.field}.*)"
        parts.append(f"cat:{filters.field}" if "." in filters.field else whole)
    if filters.since or filters.until:
        first, last = max(filters.since, _FIRST_YEAR), filters.until or _LAST_YEAR
        parts.append(f"submittedDate:[{first}01010000 TO {last}12312359]")
    return parts


def from_settings(argument: str, settings: Settings) -> Arxiv:
    """Return the engine with the filters in `argument`."""
    filters = filters_of("arxiv", argument, ("years", "open", "field"))
    return Arxiv(filters=filters, timeout=settings.search_timeout)
