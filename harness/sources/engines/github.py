"""GitHub: issues, pull requests, code and repositories through its REST API, discussions through its GraphQL API.

https://docs.github.com/en/rest/search/search, https://docs.github.com/en/graphql/reference/queries
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from harness.core.text import clean, one_line, shorten
from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import Filters, filters_of
from harness.sources.engines.json_api import decoded, result, results
from harness.sources.http.request import HttpResponse, ask, base_address, check_status

BASE_URL = "https://api.github.com"
MAX_RESULTS = 100

_NO_FILTERS = Filters()
_WHO = "GitHub"
_TOKENS_URL = "https://github.com/settings/tokens"
_MAX_QUERY_CHARS = 256
"""Limit of GitHub; qualifiers do not count."""

_TOKEN = re.compile(r"[!-~]{1,500}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_WORD = re.compile(r"\w[\w.+#'’-]*")
_OPERATORS = frozenset({"and", "or", "not"})
_FILLERS = frozenset(
    """
    a an are as at be been by can could did do does for from had has have how i if in into is it its me my of on our
    should so than that the their there these they this those to was we were what when where which who whose why will
    with would you your
    """.split()
)

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

T = TypeVar("T")


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
            _text(self.body),
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
        text = _text(self.description)
        return result(self.full_name, self.html_url, text, date=self.created_at, authors=author, site=self.full_name)


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
        parts = [text for match in matches if (text := _text(match.fragment))]
        site = (self.repository or _Repository()).full_name
        return result(self.path, self.html_url, "\n\n".join(parts), site=site)


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
        texts = (_text((self.answer or _Answer()).body), _text(self.body))
        return result(
            self.title,
            self.url,
            "\n\n".join(filter(None, texts)),
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
    """What is searched: the path of the API, the type of an item, and the qualifier that queries need."""

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


class GitHub:
    """Search what is on GitHub, best match first; at most `MAX_RESULTS`. A result's body is the Markdown of an issue or
    pull request, the parts of a file that match, the answer and the question of a discussion, or the description of a
    repository.

    Filters: `kind` (issues, pulls, code, discussions or repositories; not set: issues) and `site` (one repository, as
    OWNER/NAME). Code and discussions need a `token`. `timeout` is in seconds.

    Raises:
        InvalidInput: an unusable filter or token, no token for a kind that needs one, or `base_url` is not a URL.
    """

    name = "github"

    def __init__(
        self,
        *,
        filters: Filters = _NO_FILTERS,
        token: str | None = None,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
    ) -> None:
        kind = filters.kind.lower() or _DEFAULT_KIND
        if kind not in _KINDS:
            raise InvalidInput(f"{_WHO} cannot be searched for {kind[:60]!r}; choose one of {', '.join(_KINDS)}")
        if filters.site and not _REPOSITORY.fullmatch(filters.site):
            raise InvalidInput(f"{filters.site[:60]!r} is not a repository; write site=OWNER/NAME")
        self._token = (token or "").strip()
        if self._token and not _TOKEN.fullmatch(self._token):
            raise InvalidInput("github_token has characters that no token has; copy the token again")
        self._kind = _KINDS[kind]
        if self._kind.needs_token and not self._token:
            raise InvalidInput(f"{_WHO} finds {kind} only with a token; set github_token to one from {_TOKENS_URL}")
        self._url = base_address(base_url, "the URL of GitHub's API")
        self._timeout = timeout
        self._qualifiers = " ".join(filter(None, (self._kind.qualifier, filters.site and f"repo:{filters.site}")))
        set_filters = msgspec.structs.replace(filters, kind="" if kind == _DEFAULT_KIND else kind).options
        self.options: Mapping[str, Any] = {
            **set_filters,
            **({} if self._url == BASE_URL else {"base_url": self._url}),
        }

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`.

        Raises:
            InvalidInput: GitHub refuses the token.
        """
        words = _words(query)
        if not words:  # the qualifiers alone would find everything
            return []
        limit = min(max_results, MAX_RESULTS)
        text = f"{words} {self._qualifiers}".strip()
        items = self._discussions(text, limit) if self._kind.item is _Discussion else self._items(text, limit)
        return results((item.result() for item in _converted(items, self._kind.item)), limit)

    def _items(self, text: str, limit: int) -> list[Any]:
        """Return what the REST API finds."""
        answer = self._ask(params={"q": text, "per_page": str(limit)})
        found = decoded(_WHO, answer, _Found)
        if found.items is None:
            self._refuse(answer)
        if found.incomplete_results and not found.items:
            raise EngineUnavailable(f"{_WHO} ran out of time for this search; use fewer words, or try again later")
        return found.items

    def _discussions(self, text: str, limit: int) -> list[Any]:
        """Return what the GraphQL API finds."""
        answer = self._ask(json={"query": _DISCUSSIONS, "variables": {"query": text, "first": limit}})
        found = (decoded(_WHO, answer, _GraphQL).data or _Data()).search or _Nodes()
        if found.nodes is None:  # it answers errors with HTTP 200
            self._refuse(answer)
        return found.nodes

    def _ask(self, **request: Any) -> HttpResponse:
        headers = {
            "Accept": "application/vnd.github.text-match+json"
            if self._kind.item is _File
            else "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            **({"Authorization": f"Bearer {self._token}"} if self._token else {}),
        }
        answer = ask(_WHO, f"{self._url}/{self._kind.path}", headers=headers, timeout=self._timeout, **request)
        if answer.status != 200:
            self._refuse(answer)
        return answer

    def _refuse(self, answer: HttpResponse) -> NoReturn:
        """Raise for a response that is not a result.

        Raises:
            RateLimited, InvalidInput, EngineUnavailable: see `search`.
        """
        said = self._said(answer)
        if answer.status == 429 or (answer.status in {200, 403} and _is_limit(answer, said)):
            advice = "wait a minute" if self._token else "wait a minute, or set github_token"
            raise RateLimited(f"{_WHO} asks for fewer requests (HTTP {answer.status}); {advice}")
        if answer.status == 401:
            raise InvalidInput(f"{_WHO} refuses the token; set github_token to a valid one from {_TOKENS_URL}")
        if answer.status == 422 and said:
            raise EngineUnavailable(f"{_WHO} could not search: {said}; check the filters, or use other words")
        if said and not 300 <= answer.status < 400:
            raise EngineUnavailable(f"{_WHO} could not search (HTTP {answer.status}): {said}; try again later")
        check_status(_WHO, answer)
        raise EngineUnavailable(f"{_WHO} answered with something else than results; try again later")

    def _said(self, answer: HttpResponse) -> str:
        """Return the messages of an error, shortened and without the token; "" if there are none."""
        try:
            failure = msgspec.json.decode(answer.body, type=_Failure)
        except (ValueError, RecursionError):
            return ""
        errors = failure.errors if isinstance(failure.errors, list) else [failure.errors]
        said = [failure.message, *(each.get("message") if isinstance(each, dict) else each for each in errors[:3])]
        text = ": ".join(dict.fromkeys(each for each in said if isinstance(each, str) and each))
        text = text.replace(self._token, "…") if self._token else text
        return shorten(one_line(clean(text, 2_000)), 200).rstrip(".")


def _is_limit(answer: HttpResponse, said: str) -> bool:
    """Return whether a refusal is about the number of requests: the primary limit or one of the secondary limits.

    https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
    """
    exhausted = answer.headers.get("x-ratelimit-remaining") == "0"
    return exhausted or "retry-after" in answer.headers or "rate limit" in said.lower()


def _words(query: str) -> str:
    """Return the words of a query that say what is meant, at most `_MAX_QUERY_CHARS` characters.

    GitHub finds only what has every word, so the function words of a question would exclude almost everything. Colons,
    quotation marks, brackets and leading hyphens, and the words AND, OR and NOT, are left out: they are its syntax.
    """
    found = (word.rstrip(".'’-") for word in _WORD.findall(clean(query, 4 * _MAX_QUERY_CHARS)))
    words = [word for word in found if word.lower() not in _OPERATORS]
    text = " ".join([word for word in words if word.lower() not in _FILLERS] or words)
    if len(text) <= _MAX_QUERY_CHARS:
        return text
    return text[: _MAX_QUERY_CHARS + 1].rpartition(" ")[0] or text[:_MAX_QUERY_CHARS]


def _converted(items: Sequence[Any], kind: type[T]) -> list[T]:
    """Return items as `kind`; those of another form are left out.

    Raises:
        EngineUnavailable: all of them are of another form.
    """
    converted: list[T] = []
    for item in items:
        with suppress(msgspec.ValidationError):
            converted.append(msgspec.convert(item, kind))
    if items and not converted:
        raise EngineUnavailable(f"{_WHO} answered with something else than results; try again later")
    return converted


def _text(text: str | None) -> str:
    """Return a text with the line ends of this program; what is written in a browser has others."""
    return (text or "").replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def from_settings(argument: str, settings: Settings) -> GitHub:
    """Return the engine with the filters in `argument`."""
    filters = filters_of("github", argument, ("kind", "site"))
    return GitHub(filters=filters, token=settings.github_token, timeout=settings.search_timeout)
