"""Base of the engines of services with an API: keys, requests, replies and errors, and the words of a query."""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

import msgspec
from msgspec import Struct

from harness.core.text import clean, one_line, shorten
from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.sources.http.request import MAX_BYTES, HttpResponse, ask, base_address, check_status

MAX_KEY_CHARS = 500

T = TypeVar("T")

_KEY = re.compile(rf"[!-~]{{1,{MAX_KEY_CHARS}}}")
_WORD = re.compile(r"\w[\w.+#'’-]*")
_OPERATORS = frozenset({"and", "or", "not"})


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
            RateLimited, EngineUnavailable: it is of another form; the error is that of its status, if it is not 200.
        """
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except (ValueError, RecursionError) as error:
            check_status(self.who, answer)
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
