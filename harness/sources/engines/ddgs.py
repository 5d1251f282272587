"""DuckDuckGo and its like, through the library ddgs (the maintained successor of duckduckgo-search).

`DDGS.text()` turns a refusal (HTTP 429), a dead network and a page without results into the same exception, and picks
backends at random. So this adapter asks the library's own backends one by one, in a pinned order, and looks at the
status of their answer before it lets them parse it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.core.text import clean
from harness.errors import EngineUnavailable, InvalidInput, RateLimited, SearchError
from harness.ports import SearchResult
from harness.settings import Settings

DEFAULTS: Mapping[str, Any] = {
    "backends": ("duckduckgo",),
    "region": "us-en",
    "safesearch": "moderate",
    "timelimit": None,
}
MAX_PAGES = 5
MAX_PAGE_CHARS = 5_000_000
MAX_ADDRESS_CHARS = 4_000

_REFUSED = frozenset({202, 403, 429})
"""DuckDuckGo answers 202, other engines 403 or 429, when they take us for a robot."""

_CHALLENGES = ("anomaly-modal", "anomaly.js", "g-recaptcha", "h-captcha", "cf-challenge", "captcha-form")


_SEARCH_FIELD = re.compile(r"<input[^>]{0,500}\bname=[\"']?q[\"'\s>/]")
"""Every page of a search engine has a field to search again, a page without results most of all."""


class DuckDuckGo:
    """Search through ddgs. Backends are tried in order; the first that answers, with or without results, counts.

    `timeout` is in seconds and holds for each request. `options` holds what differs from `DEFAULTS`.

    Raises:
        InvalidInput: a backend that ddgs does not have.
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
        chosen = {
            "backends": tuple(backends),
            "region": region,
            "safesearch": safesearch,
            "timelimit": timelimit,
        }
        self.options: Mapping[str, Any] = {name: value for name, value in chosen.items() if value != DEFAULTS[name]}
        self._backends = tuple(backends)
        self._arguments = {"region": region, "safesearch": safesearch, "timelimit": timelimit}
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
                return self._ask(backend, query, max_results)
            except SearchError as error:
                failures.append(error)
        raise failures[0]

    def _ask(self, backend: str, query: str, max_results: int) -> list[SearchResult]:
        """Return up to `max_results` results of one backend, page after page until one brings nothing new."""
        source = self._observed(backend)
        found: dict[str, SearchResult] = {}
        for page in range(1, MAX_PAGES + 1):
            before = len(found)
            try:
                for result in self._page(source, query, page):
                    found.setdefault(result["href"], result)
            except SearchError:
                if not found:
                    raise
                break  # a later page was refused; what came before stands
            if len(found) >= max_results or len(found) == before:
                break
        return list(found.values())[:max_results]

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
        except Exception as error:  # whatever a parser throws at a page that it was not made for
            raise EngineUnavailable(
                f"{source.name} answered with a page that ddgs cannot read ({type(error).__name__}); "
                "try `pip install -U ddgs` or another of ddgs_backends"
            ) from error
        found = [
            SearchResult(title=clean(each.title, 500), href=address, body=clean(each.body, 5_000))
            for each in results
            if (address := _web_address(each.href))  # what only looks like a result has none
        ]
        if not found and page == 1:
            _check_empty(source)
        return found

    def _observed(self, backend: str) -> Any:
        """Return a backend of ddgs that raises on a refusal instead of hiding it, and keeps its last page."""
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
        except Exception:  # noqa: BLE001 - primp's own; not chained, for its message may show the password
            raise InvalidInput("the setting proxy is no address; write it as http://user:password@host:port") from None


def _web_address(href: str) -> str:
    """Return a result's address if it is one of the web and not absurdly long, else an empty string."""
    address = "".join(clean(href, MAX_ADDRESS_CHARS + 1).split())
    usable = address.lower().startswith(("http://", "https://")) and len(address) <= MAX_ADDRESS_CHARS
    return address if usable else ""


def _check_empty(source: Any) -> None:
    """Tell true emptiness from a page that only looks empty: a challenge for robots, or no page of this engine."""
    page = source.last_page.lower()
    if any(mark in page for mark in _CHALLENGES):
        raise _rate_limited(source.name, "a test for robots")
    if not _SEARCH_FIELD.search(page):
        raise EngineUnavailable(f"{source.name} answered with something that is no result page; try again later")


def _rate_limited(name: str, how: str) -> RateLimited:
    return RateLimited(f"{name} asks for fewer requests ({how}); wait some minutes, or add another of ddgs_backends")


def from_settings(_argument: str, settings: Settings) -> DuckDuckGo:
    """Return the engine that the settings describe."""
    return DuckDuckGo(
        backends=settings.ddgs_backends,
        region=settings.ddgs_region,
        safesearch=settings.ddgs_safesearch,
        timelimit=settings.ddgs_timelimit,
        proxy=settings.proxy,
        timeout=settings.search_timeout,
    )
