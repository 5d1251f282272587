"""Stack Exchange: `search/advanced` finds questions of one site, `questions/{ids}/answers` returns their answers.

https://api.stackexchange.com/docs/advanced-search, https://api.stackexchange.com/docs/answers-on-questions
"""

import html
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

from msgspec import Struct

from harness.core.locales import tongue_of
from harness.errors import InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.json_api import ApiEngine, failure_of, plain_words, shown
from harness.sources.engines.result_fields import joined, plain, result
from harness.sources.engines.result_lists import results
from harness.sources.http.request import HttpResponse

BASE_URL = "https://api.stackexchange.com/2.3"
SITE = "stackoverflow"
SITES = {language: f"{language}.stackoverflow" for language in ("es", "ja", "pt", "ru")}
"""Stack Overflow in other languages."""
MAX_RESULTS = 100
MAX_ANSWERS = 2
"""Answers of one question in a result's body."""
MAX_WAIT = 2.0
"""Seconds to wait, if the service asks for it, between a search and the request for answers."""

_WHO = "Stack Exchange"
_MAX_QUERY_CHARS = 240
_LONGEST_PAUSE = 3_600.0

_SITE = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,60}[a-z0-9])?")
_KEY_REFUSED = re.compile(r"[`'\"]?key\b")
_SITE_REFUSED = re.compile(r"no site found|[`'\"]?site\b")
_WAIT = re.compile(r"\bin ([0-9]{1,6}) seconds")


class _Owner(Struct):
    display_name: str | None = None


class _Question(Struct):
    """Fields of a question that are read. `title` and the owner's name have HTML entities, `body` is HTML."""

    question_id: int | None = None
    title: str | None = None
    body: str | None = None
    link: str | None = None
    creation_date: int | None = None
    answer_count: int | None = None
    owner: _Owner | None = None


class _Answer(Struct):
    question_id: int | None = None
    body: str | None = None
    score: int | None = None


class _Reply(Struct):
    """Response. `backoff` is how many seconds to wait before the next request, `quota_remaining` how many requests are
    left today.
    """

    items: list[Any] | None = None
    backoff: float | None = None
    quota_remaining: int | None = None


class _Failure(Struct):
    error_id: int | None = None
    error_name: str | None = None
    error_message: str | None = None


class StackExchange(ApiEngine):
    """Search the questions of one site, most relevant first; at most `MAX_RESULTS`. A result's body has the texts of
    the question's `MAX_ANSWERS` answers with the most votes, then the question's text. The answers of all questions
    come with one request, which returns the 100 with the most votes.

    `site` is the name of a site in the API (`stackoverflow`, `superuser`, `unix`) or its domain. With an `api_key` the
    service allows 10,000 requests a day, else 300. `timeout` is in seconds, for each of the two requests of a search.
    `clock` returns monotonic seconds.

    Raises:
        InvalidInput: `site` or `api_key` is of another form, or `base_url` is not an http(s) URL.
    """

    name, who, where = "stackexchange", _WHO, "the URL of Stack Exchange's API"
    key_setting = "stackexchange_key"

    def __init__(
        self,
        site: str = SITE,
        *,
        api_key: str | None = None,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._site = site.strip().lower()
        if not _SITE.fullmatch(self._site):
            raise InvalidInput(f"{site[:60]!r} is not a site of {_WHO}; write one like superuser or unix")
        super().__init__(base_url, BASE_URL, timeout, {"site": self._site}, api_key)
        self._clock = clock
        self._sleep = sleep
        self._paused_until = float("-inf")

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`.

        Raises:
            InvalidInput: Stack Exchange refuses the key, or has no such site.
        """
        text = plain_words(query, _MAX_QUERY_CHARS)
        if not text:  # it would find everything
            return []
        if (left := self._paused_until - self._clock()) > 0:
            raise RateLimited(f"{_WHO} asks for fewer requests; wait {math.ceil(left)} s")
        limit = min(max_results, MAX_RESULTS)
        found = self._found("search/advanced", q=text, sort="relevance", pagesize=str(limit))
        questions = self._items(found.items, _Question)[:limit]
        answers = self._answers(questions, found)
        return results((self._result(each, answers.get(each.question_id, ())) for each in questions), limit)

    def _answers(self, questions: Sequence[_Question], found: _Reply) -> Mapping[int | None, list[str]]:
        """Return the texts of the best answers by the number of their question. Without a request, and empty, if there
        are no answers, or the service asks for a pause of more than `MAX_WAIT`.
        """
        numbers = [each.question_id for each in questions if each.answer_count and (each.question_id or 0) > 0]
        pause = found.backoff or 0.0
        if not numbers or pause > MAX_WAIT or found.quota_remaining == 0:
            return {}
        if pause > 0:
            self._sleep(pause)
        path = f"questions/{';'.join(map(str, numbers))}/answers"
        reply = self._found(path, sort="votes", pagesize=str(MAX_RESULTS))
        texts: dict[int | None, list[str]] = {number: [] for number in numbers}
        for answer in self._items(reply.items, _Answer):
            best = texts.get(answer.question_id, [])
            if len(best) < MAX_ANSWERS and (answer.score or 0) >= 0 and (text := plain(answer.body)):
                best.append(text)
        return texts

    def _result(self, question: _Question, answers: Sequence[str]) -> SearchResult | None:
        return result(
            html.unescape(question.title or ""),
            question.link,
            joined((*answers, plain(question.body))),
            date=_date(question.creation_date),
            authors=html.unescape((question.owner or _Owner()).display_name or ""),
            site=self._site,
        )

    def _found(self, path: str, **parameters: str) -> _Reply:
        """Return the reply to one request; raises as `search` does."""
        common = {"site": self._site, "order": "desc", "filter": "withbody"}
        # The API takes a key only as a parameter, so an HTTP library may log it. It is not a secret: it belongs to a
        # program, gives no access to an account, and only raises the quota.
        key = {"key": self._key} if self._key else {}
        answer = self._accepted(path, params=common | parameters | key)
        reply = self._decoded(answer, _Reply)
        if reply.items is None:
            self._refuse(answer)
        if reply.backoff:
            self._paused_until = self._clock() + min(reply.backoff, _LONGEST_PAUSE)
        return reply

    def _refuse(self, answer: HttpResponse) -> NoReturn:
        # https://api.stackexchange.com/docs/error-handling
        failure = failure_of(answer, _Failure)
        said = shown(html.unescape(failure.error_message or failure.error_name or ""), self._key)
        if answer.status == 429 or failure.error_id == 502 or failure.error_name == "throttle_violation":
            advice = f"wait {found[1]} s" if (found := _WAIT.search(said)) else "wait a minute"
            more = "" if self._key else ", or set stackexchange_key"
            raise RateLimited(f"{_WHO} asks for fewer requests; {advice}{more}")
        if failure.error_id == 400 and self._key and _KEY_REFUSED.match(said.lower()):
            raise self._key_refused()
        if failure.error_id == 400 and _SITE_REFUSED.match(said.lower()):
            raise InvalidInput(f"{_WHO} has no site {self._site!r}; write one like superuser or unix")
        self._fail(answer, said)


def _date(seconds: int | None) -> str:
    """Return seconds since 1970 as YYYY-MM-DD, "" if that is no date."""
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds else ""
    except (ValueError, OverflowError, OSError):
        return ""


def from_settings(site: str, settings: Settings) -> StackExchange:
    """Return the engine for `site`, else Stack Overflow, in the language of the settings if there is one."""
    site = site or SITES.get(tongue_of(settings.language), SITE)
    return StackExchange(site, api_key=settings.stackexchange_key, timeout=settings.search_timeout)
