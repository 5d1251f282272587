"""Wikipedia, through the MediaWiki API: `list=search` finds articles, `prop=extracts` returns their introductions.

https://www.mediawiki.org/wiki/API:Search, https://www.mediawiki.org/wiki/Extension:TextExtracts
"""

import html
import re
from collections.abc import Sequence
from urllib.parse import quote

from msgspec import Struct

from harness.core.locales import specific, tongue_of
from harness.core.text import clean, one_line
from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.json_api import ApiEngine
from harness.sources.http.request import check_status

LANGUAGE = "en"
_CODES = {"fil": "tl", "nb": "no"}
"""Codes of Wikipedias that are not the language's."""
MAX_RESULTS = 40
MAX_BODY_CHARS = 10_000

_MAX_QUERY_CHARS = 300
"""Limit of the search of Wikipedia (CirrusSearch)."""
_EXTRACTS_AT_ONCE = 20
_MAX_LAG_SECONDS = 5
"""With a longer replication lag the servers refuse the request: https://www.mediawiki.org/wiki/Manual:Maxlag_parameter"""

_CODE = re.compile(r"[a-z]{2,12}(-[a-z]{2,12}){0,2}")
_TAG = re.compile(r"<[^<>]{0,1000}>")
_BUSY = frozenset({"maxlag", "ratelimited", "cirrussearch-too-busy-error"})


class _Match(Struct):
    """The part of a search result that we read. `snippet` is HTML."""

    pageid: int
    title: str
    snippet: str = ""


class _Article(Struct):
    """The part of an article that we read."""

    pageid: int = 0
    extract: str = ""


class _Query(Struct):
    search: list[_Match] | None = None
    pages: list[_Article] | None = None


class _Error(Struct):
    code: str = ""
    info: str = ""


class _Reply(Struct):
    query: _Query | None = None
    error: _Error | None = None


class Wikipedia(ApiEngine):
    """Search the articles of one Wikipedia, at most `MAX_RESULTS`. A result's body is the article's introduction as
    plain text; where there is none, the snippet that matches the query.

    `language` is the code of a Wikipedia (`en`, `de`, `zh-min-nan`). `timeout` is in seconds, for each request: one to
    search, and one for the introductions of 20 articles.

    Raises:
        InvalidInput: `language` is not such a code, or `base_url` is not a URL.
    """

    name, who, where = "wikipedia", "Wikipedia", "the address of a MediaWiki"

    def __init__(self, language: str = LANGUAGE, *, timeout: float = 10.0, base_url: str = "") -> None:
        language = language.strip().lower()
        if not _CODE.fullmatch(language):
            raise InvalidInput(f"no Wikipedia has the code {language[:50]!r}; write one like en, de or zh-min-nan")
        default = f"https://{language}.wikipedia.org"
        super().__init__(base_url or default, default, timeout, {"language": language})

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        limit = min(max_results, MAX_RESULTS)
        parameters = {"list": "search", "srprop": "snippet", "srlimit": str(limit)}
        matches = self._found(srsearch=clean(query, _MAX_QUERY_CHARS), **parameters).search
        if matches is None:
            raise self._another_reply()
        found = {match.pageid: match for match in matches[:limit]}
        extracts: dict[int, str] = {}
        for start in range(0, len(found), _EXTRACTS_AT_ONCE):
            extracts |= self._extracts(list(found)[start : start + _EXTRACTS_AT_ONCE])
        return [self._result(match, extracts.get(pageid, "")) for pageid, match in found.items()]

    def _extracts(self, pageids: Sequence[int]) -> dict[int, str]:
        """Return the introductions of articles, by page id."""
        parameters = {"prop": "extracts", "exintro": "1", "explaintext": "1", "exlimit": str(_EXTRACTS_AT_ONCE)}
        articles = self._found(pageids="|".join(map(str, pageids)), **parameters).pages or []
        return {article.pageid: article.extract for article in articles}

    def _result(self, match: _Match, extract: str) -> SearchResult:
        title = one_line(clean(match.title, 500))
        snippet = html.unescape(_TAG.sub("", match.snippet[: 4 * MAX_BODY_CHARS]))
        body = clean(extract, MAX_BODY_CHARS) or one_line(clean(snippet, MAX_BODY_CHARS))
        path = quote(title.replace(" ", "_"), safe="/:,()")
        return SearchResult(title=title, href=f"{self._url}/wiki/{path}", body=body)

    def _found(self, **parameters: str) -> _Query:
        """Return the reply to one request.

        Raises:
            RateLimited: the servers are busy, or ask for fewer requests.
            EngineUnavailable: no reply, an error, or a reply that is not of MediaWiki.
        """
        common = {"action": "query", "format": "json", "formatversion": "2", "maxlag": str(_MAX_LAG_SECONDS)}
        answer = self._ask("w/api.php", params=common | parameters)
        reply = self._decoded(answer, _Reply)
        if reply.error is not None and reply.error.code in _BUSY:
            raise RateLimited(f"Wikipedia asks for fewer requests ({reply.error.code}); wait some minutes")
        check_status(self.who, answer)
        if reply.error is not None:
            said = one_line(clean(reply.error.info or reply.error.code, 200)).rstrip(".")
            raise EngineUnavailable(f"Wikipedia could not search: {said}; try again later")
        return reply.query or _Query()


def from_settings(language: str, settings: Settings) -> Wikipedia:
    """Return the engine for `language`, else for that of the settings, else English."""
    requested = tongue_of(specific(settings.language)) or LANGUAGE
    return Wikipedia(language or _CODES.get(requested, requested), timeout=settings.search_timeout)
