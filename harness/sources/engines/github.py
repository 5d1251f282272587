"""GitHub: issues, pull requests, code and repositories through its REST API, discussions through its GraphQL API.

https://docs.github.com/en/rest/search/search, https://docs.github.com/en/graphql/reference/queries
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import NO_FILTERS, Filters, filters_of
from harness.sources.engines.json_api import ApiEngine, failure_of, plain_words, shown
from harness.sources.engines.result_fields import joined, result
from harness.sources.engines.result_lists import results
from harness.sources.http.request import HttpResponse

BASE_URL = "https://api.github.com"
MAX_RESULTS = 100

_WHO = "GitHub"
_TOKENS_URL = "https://github.com/settings/tokens"
_MAX_QUERY_CHARS = 256
"""Limit of GitHub; qualifiers do not count."""

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_FILLERS = frozenset(
    """
    a an are as at be been by can could did do does for from had has have how i if in into is it its me my of on our
    should so than that the their there these they this those to was we were what when where which who whose why will
    with would you your
    """.split()
)
"""GitHub finds only what has every word, so the function words of a question would exclude almost everything."""

_DISCUSSIONS = """
query($query: String!, $first: Int!) {
  search(query: $query, type: DISCUSSION, first: $first) {
    nodes {
      ... on Discussion {
        title url body createdAt author { login } repository { nameWithOwner } answer { body }
      }
    }
  }
}
"""


class _User(Struct):
    login: str | None = None


class _Issue(Struct):
    """An issue or a pull request. `body` is Markdown."""

    title: str | None = None
    body: str | None = None
    html_url: str | None = None
    created_at: str | None = None
    user: _User | None = None
    repository_url: str | None = None

    def result(self) -> SearchResult | None:
        """Return it as a result."""
        return result(
            self.title,
            self.html_url,
            self.body,
            date=self.created_at,
            authors=(self.user or _User()).login,
            site=(self.repository_url or "").partition("/repos/")[2],
        )


class _Repository(Struct):
    full_name: str | None = None
    description: str | None = None
    html_url: str | None = None
    created_at: str | None = None
    owner: _User | None = None

    def result(self) -> SearchResult | None:
        """Return it as a result."""
        author = (self.owner or _User()).login
        site = self.full_name
        return result(site, self.html_url, self.description, date=self.created_at, authors=author, site=site)


class _Match(Struct):
    """A part of a file with a word of the query: of its content or of its path."""

    property: str | None = None
    fragment: str | None = None


class _File(Struct):
    path: str | None = None
    html_url: str | None = None
    repository: _Repository | None = None
    text_matches: list[_Match | None] | None = None

    def result(self) -> SearchResult | None:
        """Return it as a result with the parts that match."""
        matches = (match for match in self.text_matches or () if match is not None and match.property == "content")
        site = (self.repository or _Repository()).full_name
        return result(self.path, self.html_url, joined(match.fragment for match in matches), site=site)


class _Home(Struct, rename="camel"):
    name_with_owner: str | None = None


class _Answer(Struct):
    body: str | None = None


class _Discussion(Struct, rename="camel"):
    """A discussion and the comment that was marked as its answer. Both bodies are Markdown."""

    title: str | None = None
    url: str | None = None
    body: str | None = None
    created_at: str | None = None
    author: _User | None = None
    repository: _Home | None = None
    answer: _Answer | None = None

    def result(self) -> SearchResult | None:
        """Return it as a result: the answer, then the question."""
        return result(
            self.title,
            self.url,
            joined(((self.answer or _Answer()).body, self.body)),
            date=self.created_at,
            authors=(self.author or _User()).login,
            site=(self.repository or _Home()).name_with_owner,
        )


_Item: TypeAlias = _Issue | _Repository | _File | _Discussion


class _Found(Struct):
    """Response of the REST API. `incomplete_results`: the search was stopped after some seconds."""

    items: list[Any] | None = None
    incomplete_results: bool | None = None


class _Nodes(Struct):
    nodes: list[Any] | None = None


class _Data(Struct):
    search: _Nodes | None = None


class _GraphQL(Struct):
    """Response of the GraphQL API."""

    data: _Data | None = None


class _Failure(Struct):
    """Response of either API that refuses a request."""

    message: Any = None
    errors: Any = None


class _Kind(Struct, frozen=True):
    """One kind of search: the path of the API, the type of an item, and the qualifier that queries need."""

    path: str
    item: type[_Item]
    qualifier: str = ""
    needs_token: bool = False


# With a token GitHub refuses a search for issues and pull requests at once (HTTP 422). Without one it does not, but a
# token must not change what a search returns.
_KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "issues": _Kind("search/issues", _Issue, "is:issue"),
        "pulls": _Kind("search/issues", _Issue, "is:pull-request"),
        "code": _Kind("search/code", _File, needs_token=True),
        "discussions": _Kind("graphql", _Discussion, needs_token=True),
        "repositories": _Kind("search/repositories", _Repository),
    }
)
_DEFAULT_KIND = "issues"


class GitHub(ApiEngine):
    """Search what is on GitHub, best match first; at most `MAX_RESULTS`. A result's body is the Markdown of an issue or
    pull request, the parts of a file that match, the answer and the question of a discussion, or the description of a
    repository.

    Filters: `kind` (issues, pulls, code, discussions or repositories; not set: issues) and `site` (one repository, as
    OWNER/NAME). Code and discussions need a `token`. `timeout` is in seconds.

    Raises:
        InvalidInput: an unusable filter or token, no token for a kind that needs one, or `base_url` is not a URL.
    """

    name, who, where = "github", _WHO, "the URL of GitHub's API"
    key_setting = "github_token"

    def __init__(
        self,
        *,
        filters: Filters = NO_FILTERS,
        token: str | None = None,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
    ) -> None:
        kind = filters.kind.lower() or _DEFAULT_KIND
        if kind not in _KINDS:
            raise InvalidInput(f"{_WHO} cannot be searched for {kind[:60]!r}; choose one of {', '.join(_KINDS)}")
        if filters.site and not _REPOSITORY.fullmatch(filters.site):
            raise InvalidInput(f"{filters.site[:60]!r} is not a repository; write site=OWNER/NAME")
        set_filters = replace(filters, kind="" if kind == _DEFAULT_KIND else kind)
        super().__init__(base_url, BASE_URL, timeout, set_filters.options, token)
        self._kind = _KINDS[kind]
        if self._kind.needs_token and not self._key:
            raise InvalidInput(f"{_WHO} finds {kind} only with a token; set github_token to one from {_TOKENS_URL}")
        self._qualifiers = " ".join(filter(None, (self._kind.qualifier, filters.site and f"repo:{filters.site}")))
        media = "github.text-match" if self._kind.item is _File else "github"
        self._headers = {
            "Accept": f"application/vnd.{media}+json",
            "X-GitHub-Api-Version": "2022-11-28",
            **({"Authorization": f"Bearer {self._key}"} if self._key else {}),
        }

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`.

        Raises:
            InvalidInput: GitHub refuses the token.
        """
        words = plain_words(query, _MAX_QUERY_CHARS, _FILLERS)
        if not words:  # the qualifiers alone would find everything
            return []
        limit = min(max_results, MAX_RESULTS)
        text = f"{words} {self._qualifiers}".strip()
        items = self._discussions(text, limit) if self._kind.item is _Discussion else self._rest(text, limit)
        return results((item.result() for item in self._items(items, self._kind.item)), limit)

    def _rest(self, text: str, limit: int) -> list[Any]:
        """Return what the REST API finds."""
        answer = self._accepted(self._kind.path, params={"q": text, "per_page": str(limit)})
        found = self._decoded(answer, _Found)
        if found.items is None:
            self._refuse(answer)
        if found.incomplete_results and not found.items:
            raise EngineUnavailable(f"{_WHO} ran out of time for this search; use fewer words, or try again later")
        return found.items

    def _discussions(self, text: str, limit: int) -> list[Any]:
        """Return what the GraphQL API finds."""
        request = {"query": _DISCUSSIONS, "variables": {"query": text, "first": limit}}
        answer = self._accepted(self._kind.path, json=request)
        found = (self._decoded(answer, _GraphQL).data or _Data()).search or _Nodes()
        if found.nodes is None:  # it answers errors with HTTP 200
            self._refuse(answer)
        return found.nodes

    def _refuse(self, answer: HttpResponse) -> NoReturn:
        said = self._said(answer)
        advice = "wait a minute" if self._key else "wait a minute, or set github_token"
        if answer.status in {200, 403} and _is_limit(answer, said):
            raise RateLimited(f"{_WHO} asks for fewer requests (HTTP {answer.status}); {advice}")
        if answer.status == 401:
            raise self._key_refused(_TOKENS_URL)
        if answer.status == 422 and said:
            raise EngineUnavailable(f"{_WHO} could not search: {said}; check the filters, or use other words")
        self._fail(answer, said, advice)

    def _said(self, answer: HttpResponse) -> str:
        """Return the messages of an error, shortened and without the token; "" if there are none."""
        failure = failure_of(answer, _Failure)
        errors = failure.errors if isinstance(failure.errors, list) else [failure.errors]
        said = [failure.message, *(each.get("message") if isinstance(each, dict) else each for each in errors[:3])]
        return shown(": ".join(dict.fromkeys(each for each in said if isinstance(each, str) and each)), self._key)


def _is_limit(answer: HttpResponse, said: str) -> bool:
    """Return whether a refusal is about the number of requests: the primary limit or one of the secondary limits.

    https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
    """
    exhausted = answer.headers.get("x-ratelimit-remaining") == "0"
    return exhausted or "retry-after" in answer.headers or "rate limit" in said.lower()


def from_settings(argument: str, settings: Settings) -> GitHub:
    """Return the engine with the filters in `argument`."""
    filters = filters_of("github", argument, ("kind", "site"))
    return GitHub(filters=filters, token=settings.github_token, timeout=settings.search_timeout)
