"""Shared parts of the engines of services with an API: their base with requests, replies and errors, the words of a
query, and the fields of a result.
"""

import html
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from harness.core.authors import OTHERS, author_line
from harness.core.text import clean, one_line, shorten
from harness.errors import EngineUnavailable, InvalidInput, RateLimited, SearchError
from harness.ports import SearchResult
from harness.sources.http.request import MAX_BYTES, HttpResponse, ask, base_address, check_status, web_address

MAX_TITLE_CHARS = 500
MAX_BODY_CHARS = 10_000
MAX_AUTHORS_CHARS = 300
MAX_KEY_CHARS = 500

T = TypeVar("T")

_KEY = re.compile(rf"[!-~]{{1,{MAX_KEY_CHARS}}}")
_WORD = re.compile(r"\w[\w.+#'’-]*")
_OPERATORS = frozenset({"and", "or", "not"})

_MAX_MARKUP_CHARS = 4 * MAX_BODY_CHARS
_TAG = re.compile(r"</?[A-Za-z!?][^<>]{0,1000}>")
_CUT_TAG = re.compile(r"<(?:/?[A-Za-z][^<>]{0,1000}|[!?][^<>]{0,1000}|/)?\Z")
_BLOCK = re.compile(
    r"</?(?:p|div|li|ul|ol|pre|br|h[1-6]|blockquote|jats:(?:p|title|sec|list|list-item))\b[^<>]{0,1000}>",
    re.IGNORECASE,
)
_RAISED = re.compile(r"(?<=[0-9])<(?:jats:)?sup\b[^<>]{0,1000}>", re.IGNORECASE)
_ESCAPED_TAG = re.compile(
    r"&lt;(/?(?:p|br|div|span|i|b|em|strong|sub|sup|ul|ol|li)(?:\s[a-z-]{1,30}=[^<>]{0,200}?)?\s?/?)&gt;",
    re.IGNORECASE,
)
_EMPTY_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")

_DATE = re.compile(r"(1[5-9]|20)[0-9]{2}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?")
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s?)?(10\.[0-9]{4,9}/\S{1,200})", re.IGNORECASE)
_DOI_IN_TEXT = re.compile(r'10\.[0-9]{4,9}/[^\s"<>]{0,199}[^\s"<>.,;)]')


class _Failure(Struct):
    message: Any = None
    error: Any = None


# Keys and headers --------------------------------------------------------------------------------------------------


def key_of(value: str | None, setting: str, where: str = "") -> str:
    """Return the key that a setting has, "" for none. `where` is the address to get one at, if one is needed.

    Raises:
        InvalidInput: it is missing, or cannot be sent in a header. The message does not show it.
    """
    key = (value or "").strip()
    if where and not key:
        raise InvalidInput(f"this engine needs a key; get one at {where} and set {setting}")
    if key and not _KEY.fullmatch(key):
        source = f" from {where}" if where else ""
        raise InvalidInput(f"{setting} has characters that no key has; copy it again{source}")
    return key


def identified(contact: str | None) -> Mapping[str, str]:
    """Return the header that names this program, with an address to write to if there is one."""
    return {"User-Agent": f"research-harness (mailto:{one_line(contact)})"} if contact else {}


# Requests and replies ----------------------------------------------------------------------------------------------


class ApiEngine:
    """Base of the engines of services with an API: requests, replies as typed values, and the errors of a service.

    `who` names the service in messages, `where` its address. `key_setting` is the setting of its key, and `key_page`
    the address to get one at, if it needs one. `timeout` is in seconds, for each request. `options` are those of the
    engine without the address, which is one if it is not the `default`.

    Raises:
        InvalidInput: `base_url` is not an http(s) URL, or `api_key` is missing or cannot be sent in a header.
    """

    name: str
    who: str
    where: str
    key_setting = ""
    key_page = ""

    def __init__(
        self, base_url: str, default: str, timeout: float, options: Mapping[str, Any], api_key: str | None = None
    ) -> None:
        self._url = base_address(base_url, self.where)
        self._key = key_of(api_key, self.key_setting, self.key_page)
        self._timeout = timeout
        self._headers: Mapping[str, str] = {}
        self.options = options if self._url == default else {**options, "base_url": self._url}

    def _ask(self, path: str, **request: Any) -> HttpResponse:
        """Send one request, see `ask`; return the response, with any status."""
        return ask(self.who, f"{self._url}/{path}", headers=self._headers, timeout=self._timeout, **request)

    def _accepted(self, path: str, **request: Any) -> HttpResponse:
        """Send one request; return the response, which has the status 200. Others raise as `_refuse` does."""
        answer = self._ask(path, **request)
        if answer.status != 200:
            self._refuse(answer)
        return answer

    def _reply(self, kind: type[T], path: str, **request: Any) -> T:
        """Send one request; return the JSON of the response, see `_accepted` and `_decoded`."""
        return self._decoded(self._accepted(path, **request), kind)

    def _decoded(self, answer: HttpResponse, kind: type[T]) -> T:
        """Return a response's JSON.

        Raises:
            EngineUnavailable: it is of another form.
        """
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except (ValueError, RecursionError) as error:
            raise self._another_reply() from error

    def _items(self, values: Sequence[Any] | None, kind: type[T]) -> list[T]:
        """Return the items of a reply as `kind`; those of another form are left out.

        Raises:
            EngineUnavailable: all of them are of another form.
        """
        items: list[T] = []
        for value in values or ():
            with suppress(msgspec.ValidationError):
                items.append(msgspec.convert(value, kind))
        if values and not items:
            raise self._another_reply()
        return items

    def _another_reply(self, expected: str = "results") -> EngineUnavailable:
        """Return the error for a reply of another form."""
        return EngineUnavailable(f"{self.who} answered with something else than {expected}; try again later")

    def _key_refused(self, where: str = "") -> InvalidInput:
        """Return the error for a key that is refused. `where` is the address to get one at, if one is needed."""
        advice = f" against {where}" if where else ", or leave it out"
        return InvalidInput(f"{self.who} refuses the key; check {self.key_setting}{advice}")

    def _message(self, answer: HttpResponse) -> str:
        """Return the text in `message` or `error` of a response that refuses a request, as `shown`; "" for none."""
        failure = failure_of(answer, _Failure)
        texts = (text for text in (failure.message, failure.error) if text and isinstance(text, str))
        return shown(next(texts, ""), self._key)

    def _refuse(self, answer: HttpResponse) -> NoReturn:
        """Raise the error that a response with another status than 200 means. An engine whose service has errors of
        its own replaces this.

        Raises:
            RateLimited, InvalidInput, EngineUnavailable: see `SearchEngine.search`.
        """
        self._fail(answer, self._message(answer))

    def _fail(self, answer: HttpResponse, said: str = "", advice: str = "wait a minute") -> NoReturn:
        """Raise the error that a response without results means. `said` is the message of the service, as `shown`;
        `advice` is what helps against a rate limit.

        Raises:
            RateLimited: the service asks for fewer requests (429).
            EngineUnavailable: all other responses.
        """
        if answer.status == 429:
            raise RateLimited(f"{self.who} asks for fewer requests (HTTP 429); {advice}")
        if said and not 300 <= answer.status < 400:
            raise EngineUnavailable(f"{self.who} could not search (HTTP {answer.status}): {said}; try again later")
        check_status(self.who, answer)
        raise self._another_reply()


def failure_of(answer: HttpResponse, kind: type[T]) -> T:
    """Return the JSON of a response that refuses a request, an empty `kind` if it is of another form."""
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except (ValueError, RecursionError):
        return kind()


def shown(text: str | None, key: str = "") -> str:
    """Return a service's message as it is shown: clean, in one line, shortened, and without the key."""
    message = clean(text, MAX_BYTES)  # not shorter: a part of the key would remain
    return shorten(message.replace(key, "…") if key else message, 200).rstrip(".")


# Queries -----------------------------------------------------------------------------------------------------------


def plain_words(query: str, limit: int, fillers: Collection[str] = ()) -> str:
    """Return the words of a query, at most `limit` characters; `fillers` are left out where other words remain.

    A word may have signs in it and at its end (node.js, C++, e-mail). No other sign remains, and no AND, OR or NOT, so
    nothing acts as syntax.
    """
    found = (word.rstrip(".'’-") for word in _WORD.findall(clean(query, 4 * limit)))
    words = [word for word in found if word.lower() not in _OPERATORS]
    text = " ".join([word for word in words if word.lower() not in fillers] or words)
    if len(text) <= limit:
        return text
    return text[: limit + 1].rpartition(" ")[0] or text[:limit]


# Results -----------------------------------------------------------------------------------------------------------


def result(title: str | None, href: str | None, body: str | None, **about: str | None) -> SearchResult | None:
    """Return a result with clean fields, `None` without a web address. `about` are the other fields of `SearchResult`;
    those that are empty or of another form are left out.
    """
    address = web_address(href)
    if not address:
        return None
    text = clean(_with_line_feeds(body or ""), MAX_BODY_CHARS)
    made = SearchResult(title=one_line(clean(title, MAX_TITLE_CHARS)) or address, href=address, body=text)
    checked = {
        "date": date_of(about.get("date")),
        "authors": _bounded_authors(about.get("authors")),
        "site": one_line(clean(about.get("site"), 200)),
        "doi": doi_of(about.get("doi")),
        "full_text": web_address(about.get("full_text")),
    }
    for name, value in checked.items():
        if value:
            made[name] = value  # type: ignore[literal-required]  # names of SearchResult
    return made


def results(found: Iterable[SearchResult | None], limit: int) -> list[SearchResult]:
    """Return up to `limit` results, each address once."""
    by_address: dict[str, SearchResult] = {}
    for each in found:
        if each is not None:
            by_address.setdefault(each["href"], each)
    return list(by_address.values())[:limit]


def results_of_pages(pages: Iterable[Iterable[SearchResult | None]], limit: int) -> list[SearchResult]:
    """Return up to `limit` results from pages, until one has nothing new. If a later page fails, the results until
    then are returned.

    Raises:
        SearchError: there is no result before the page that fails.
    """
    found: list[SearchResult] = []
    try:
        for page in pages:
            before, found = len(found), results([*found, *page], limit)
            if len(found) in {before, limit}:
                break
    except SearchError:
        if not found:
            raise
    return found


def authors_of(names: Iterable[str | None]) -> str:
    """Return the first names in one line, see `author_line`."""
    clean_names = [one_line(clean(name, 100)) for name in names]
    return author_line([name for name in clean_names if name])


def joined(texts: Iterable[str | None]) -> str:
    """Return the texts that are not empty, each once, with an empty line between them."""
    stripped = ((text or "").strip("\r\n") for text in texts)
    return "\n\n".join(dict.fromkeys(text for text in stripped if text.strip()))


def plain(markup: str | None) -> str:
    """Return the text of HTML or JATS. Paragraphs stay apart, code keeps its indentation, and 10<sup>6</sup> becomes
    10^6, not 106. HTML that is escaped inside JATS loses its tags too.
    """
    text = markup or ""
    if len(text) > _MAX_MARKUP_CHARS:
        text = _CUT_TAG.sub("", text[:_MAX_MARKUP_CHARS])
    if "<jats:" in text:
        text, tags = _ESCAPED_TAG.subn(r"<\1>", text)
        text = text.replace("&amp;", "&") if tags else text  # escaped HTML has its own signs escaped twice
    text = _TAG.sub("", _BLOCK.sub("\n\n", _RAISED.sub("^", text)))
    return _EMPTY_LINES.sub("\n\n", _with_line_feeds(html.unescape(text))).strip()


def date_of(text: str | None) -> str:
    """Return the date (YYYY, YYYY-MM or YYYY-MM-DD) with which `text` begins, "" if there is none."""
    found = _DATE.match((text or "").strip())
    return found[0] if found else ""


def doi_of(text: str | None) -> str:
    """Return the DOI that `text` is, alone or as an address, else the first one in it, in lower case; "" for none."""
    cleaned = clean(text, 500)
    if whole := _DOI.fullmatch(cleaned):
        return whole[1].lower()
    found = _DOI_IN_TEXT.search(cleaned)
    return found[0].lower() if found else ""


def doi_address(doi: str | None) -> str:
    """Return the web address of a DOI, "" for a text that is not one and nothing else."""
    whole = _DOI.fullmatch(clean(doi, 500))
    return f"https://doi.org/{quote(whole[1].lower(), safe='/():;,')}" if whole else ""


def _bounded_authors(text: str | None) -> str:
    line = one_line(clean(text, 2 * MAX_AUTHORS_CHARS))
    ending = OTHERS if line.endswith(OTHERS) else ""
    if len(line) <= MAX_AUTHORS_CHARS:
        return line
    return line[: MAX_AUTHORS_CHARS - len(ending)].rstrip(" ,") + ending


def _with_line_feeds(text: str) -> str:
    """Return a text with the line ends of this program; a text from a browser has others."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
