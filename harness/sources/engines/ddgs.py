"""DuckDuckGo and other search engines through the library ddgs (the maintained successor of duckduckgo-search).

`DDGS.text()` raises the same exception for a refusal (HTTP 429), a dead network and a page without results, and picks
backends at random. So this adapter calls the library's backends one by one, in a fixed order, and checks the HTTP
status before they parse the page.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.core.locales import DEFAULT_REGION, region_of
from harness.errors import EngineUnavailable, InvalidInput, RateLimited, SearchError
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.result_fields import web_result
from harness.sources.engines.result_lists import results_of_pages

DEFAULTS: Mapping[str, Any] = {
    "backends": ("duckduckgo",),
    "region": DEFAULT_REGION,
    "safesearch": "moderate",
    "timelimit": None,
}
MAX_PAGES = 5
MAX_PAGE_CHARS = 5_000_000

_REFUSED = frozenset({202, 403, 429})
"""Statuses for suspected robots: DuckDuckGo answers 202, other engines 403 or 429."""

_CHALLENGES = ("anomaly-modal", "anomaly.js", "g-recaptcha", "h-captcha", "cf-challenge", "captcha-form")

_SEARCH_FIELD = re.compile(r"<input[^>]{0,500}\bname=[\"']?q[\"'\s>/]")
"""Every page of a search engine has a search field, also one without results."""


class DuckDuckGo:
    """Search through ddgs. Backends are tried in order; the first that answers, with or without results, counts.

    `timeout` is in seconds per request. `options` has the values that differ from `DEFAULTS`.

    Raises:
        InvalidInput: ddgs has no such backend.
    """

    name = "ddgs"

    def __init__(
        self,
        *,
        backends: Sequence[str] = DEFAULTS["backends"],
        region: str = DEFAULTS["region"],
        safesearch: str = DEFAULTS["safesearch"],
        timelimit: str | None = DEFAULTS["timelimit"],
        proxy: str | None = None,
        timeout: float = 10.0,
    ) -> None:
        self._backends = tuple(backends)
        self._arguments = {"region": region, "safesearch": safesearch, "timelimit": timelimit}
        chosen = {"backends": self._backends, **self._arguments}
        self.options: Mapping[str, Any] = {name: value for name, value in chosen.items() if value != DEFAULTS[name]}
        self._proxy = proxy
        self._timeout = timeout

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`. When every backend fails, the error of the first is raised."""
        from ddgs.engines import ENGINES

        if unknown := [backend for backend in self._backends if backend not in ENGINES["text"]]:
            known = ", ".join(sorted(ENGINES["text"]))
            raise InvalidInput(f"ddgs has no backend {unknown[0]!r}; choose from {known} for ddgs_backends")
        failures: list[SearchError] = []
        for backend in self._backends:
            try:
                source = self._observed(backend)
                pages = (self._page(source, query, page) for page in range(1, MAX_PAGES + 1))
                return results_of_pages(pages, max_results)
            except SearchError as error:
                failures.append(error)
        raise failures[0]

    def _page(self, source: Any, query: str, page: int) -> list[SearchResult]:
        from ddgs.exceptions import DDGSException, TimeoutException

        try:
            results = source.search(query, page=page, **self._arguments) or []
        except TimeoutException as error:
            raise EngineUnavailable(
                f"{source.name} did not answer within {self._timeout:g} s; check the network, or raise search_timeout"
            ) from error
        except DDGSException as error:
            raise EngineUnavailable(
                f"{source.name} cannot be reached; check the network and proxy, or use --engine corpus:PATH"
            ) from error
        except SearchError:
            raise
        except Exception as error:  # on unexpected pages, the parsers raise any kind of exception
            raise EngineUnavailable(
                f"{source.name} answered with a page that ddgs cannot read ({type(error).__name__}); "
                "try `pip install -U ddgs` or another of ddgs_backends"
            ) from error
        made = (web_result(each.title, each.href, each.body) for each in results)
        found = [each for each in made if each]  # things that only look like results have no address
        if not found and page == 1:
            _check_empty(source)
        return found

    def _observed(self, backend: str) -> Any:
        """Return a backend of ddgs that raises on a refusal and keeps its last page."""
        from ddgs.engines import ENGINES

        class Observed(ENGINES["text"][backend]):  # type: ignore[misc]
            last_page = ""

            def request(self, *args: Any, **kwargs: Any) -> str:
                response = self.http_client.request(*args, **kwargs)
                if response.status_code in _REFUSED:
                    raise _rate_limited(self.name, f"HTTP {response.status_code}")
                if response.status_code != 200:
                    raise EngineUnavailable(f"{self.name} answered HTTP {response.status_code}; try again later")
                self.last_page = response.text[:MAX_PAGE_CHARS]
                return self.last_page

        try:
            return Observed(proxy=self._proxy, timeout=self._timeout, verify=True)
        except Exception:  # noqa: BLE001 - primp's own; not chained, because its message may show the password
            raise InvalidInput("the setting proxy is not a URL; write it as http://user:password@host:port") from None


def _check_empty(source: Any) -> None:
    """Raise if a page without results is a robot test or not a result page."""
    page = source.last_page.lower()
    if any(mark in page for mark in _CHALLENGES):
        raise _rate_limited(source.name, "a robot test")
    if not _SEARCH_FIELD.search(page):
        raise EngineUnavailable(f"{source.name} answered with something that is not a result page; try again later")


def _rate_limited(name: str, how: str) -> RateLimited:
    return RateLimited(f"{name} asks for fewer requests ({how}); wait some minutes, or add another of ddgs_backends")


def from_settings(_argument: str, settings: Settings) -> DuckDuckGo:
    """Return the engine that the settings describe."""
    return DuckDuckGo(
        backends=settings.ddgs_backends,
        region=settings.ddgs_region or region_of(settings.language),
        safesearch=settings.ddgs_safesearch,
        timelimit=settings.ddgs_timelimit,
        proxy=settings.proxy,
        timeout=settings.search_timeout,
    )
