"""DuckDuckGo's result page for browsers without scripts, read with Chromium through playwright.

Use it where a plain request gets no answer. A robot test is reported as an error, never bypassed.
"""

import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from harness.core.keys import MAX_QUERY_CHARS
from harness.core.locales import DEFAULT_REGION, region_of
from harness.core.text import clean, one_line
from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.settings.extras import require_extra
from harness.sources.engines.result_lists import results_of_pages
from harness.sources.http.request import base_address, origin, web_address

BASE_URL = "https://html.duckduckgo.com/html"
DEFAULTS: Mapping[str, Any] = {"base_url": BASE_URL, "region": DEFAULT_REGION, "timelimit": None}
MAX_PAGES = 5
MAX_PAGE_CHARS = 5_000_000

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

FLAGS = (
    "--no-sandbox",  # it cannot start as root or in most containers; scripts are off, only one host is contacted
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
)

_CHALLENGES = ("anomaly", "captcha", "cf-challenge", "consent")
_MARKS = "//@id | //@class | //form/@action | //script/@src | //iframe/@src"
"""Places that reveal a robot test or a consent page; not texts and values, which repeat the query."""

_TIMES_GONE = 4
"""Number of checks, 0.1 s apart, that must find a profile gone."""
_EXIT_SECONDS = 5.0
"""Time for a browser to end after its driver has died."""

_REFUSED = frozenset({202, 403, 429})
_NEXT = "form input[type=submit][value=Next]"


class Browser:
    """Search DuckDuckGo with a Chromium that is started with an empty profile and closed for each search.

    `executable` is a Chromium-based browser; the default is the first of `COMMANDS` on PATH, else playwright's own.
    `timeout` is in seconds, for the whole search except closing. The browser runs no scripts, keeps and downloads
    nothing, and contacts only the host of `base_url`. Safe in any thread without a running event loop.

    Raises:
        InvalidInput: `base_url` is not an http(s) URL; at a search, `executable` is not a program.
    """

    name = "browser"

    def __init__(
        self,
        *,
        headless: bool = True,
        executable: str | None = None,
        region: str = DEFAULTS["region"],
        timelimit: str | None = DEFAULTS["timelimit"],
        timeout: float = 30.0,
        base_url: str = BASE_URL,
    ) -> None:
        self._url = base_address(base_url, "the URL of the result page")
        chosen = {"base_url": self._url, "region": region, "timelimit": timelimit}
        self.options: Mapping[str, Any] = {name: value for name, value in chosen.items() if value != DEFAULTS[name]}
        self._parameters = {"kl": region} | ({"df": timelimit} if timelimit else {})
        self._headless = headless
        self._executable = executable
        self._timeout = timeout

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`. If a later page fails, the results until then are returned."""
        command = self._command()
        require_extra("browser")
        until = time.monotonic() + self._timeout
        address = f"{self._url}/?{urlencode({'q': clean(query, MAX_QUERY_CHARS), **self._parameters})}"
        with self._translated(), self._window(command, until) as window:
            return results_of_pages(self._pages(window, address, until), max_results)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise playwright's errors as ours."""
        from playwright.sync_api import Error, TimeoutError  # noqa: A004 - playwright's own name for it

        try:
            yield
        except TimeoutError as error:
            raise EngineUnavailable(
                f"the browser had no result page within {self._timeout:g} s; check the network, "
                "or raise browser_timeout"
            ) from error
        except Error as error:
            reason = one_line(clean(error, 2_000))[:200]
            raise EngineUnavailable(
                f"the browser failed ({reason}); check the network, or use --engine corpus:PATH"
            ) from error

    def _pages(self, window: Any, address: str, until: float) -> Iterator[list[SearchResult]]:
        """Yield the results of each page, until there is no next one."""
        for number in range(MAX_PAGES):
            with self._translated():
                answer = (
                    _next(window, until)
                    if number
                    else window.goto(address, timeout=_left(until), wait_until="domcontentloaded")
                )
                page = self._page(window, answer, until)
            yield results_of(page)
            if 'value="Next"' not in page:
                return

    def _page(self, window: Any, answer: Any, until: float) -> str:
        """Return the HTML of the page in the window, at most `MAX_PAGE_CHARS` of it."""
        status = answer.status if answer else 200
        if status in _REFUSED:
            raise _rate_limited(f"HTTP {status}")
        if status != 200:
            raise EngineUnavailable(f"duckduckgo answered the browser with HTTP {status}; try again later")
        if origin(window.url) != origin(self._url):
            raise EngineUnavailable(f"duckduckgo redirected the browser to {origin(window.url)}, which is not read")
        shown = window.locator("html").evaluate(
            "(page, most) => page.outerHTML.slice(0, most)", MAX_PAGE_CHARS, timeout=_left(until)
        )
        return clean(shown, MAX_PAGE_CHARS)

    @contextmanager
    def _window(self, command: str | None, until: float) -> Iterator[Any]:
        """Start a restricted browser, yield its window, and remove it and its profile."""
        from playwright.sync_api import Error, sync_playwright

        host = urlsplit(self._url).hostname
        with _profile() as profile, sync_playwright() as playwright:
            executable = command or playwright.chromium.executable_path
            if not Path(executable).exists():
                raise EngineUnavailable(
                    "there is no browser to start; install the package chromium (Debian: apt install chromium), "
                    "or name one in browser_executable"
                )
            context = playwright.chromium.launch_persistent_context(
                profile,
                headless=self._headless,
                executable_path=executable,
                # a route sees neither redirect targets nor DNS prefetches; this does
                args=[*FLAGS, f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {host}"],
                timeout=_left(until),
                java_script_enabled=False,
                accept_downloads=False,
                service_workers="block",
                permissions=[],
            )
            try:
                context.route("**/*", self._let_through)
                yield context.pages[0] if context.pages else context.new_page()
            finally:
                with suppress(Error):  # it may be dead; keep the exception that ended the search, such as Ctrl-C
                    context.close()

    def _let_through(self, route: Any) -> None:
        """Allow requests to the result page's host only."""
        if origin(route.request.url) == origin(self._url):
            route.continue_()
        else:
            route.abort("blockedbyclient")

    def _command(self) -> str | None:
        """Return the browser to start, from the setting or the system; `None` means playwright's own."""
        if self._executable is None:
            return next((path for command in COMMANDS if (path := shutil.which(command))), None)
        if found := shutil.which(self._executable):
            return found
        raise InvalidInput(f"there is no program {self._executable!r}; correct or remove browser_executable")


def results_of(page: str) -> list[SearchResult]:
    """Return the results of an HTML page of DuckDuckGo, found with the XPaths of ddgs.

    Raises:
        RateLimited: a robot test, or a consent page.
        EngineUnavailable: not a result page.
    """
    from ddgs.engines.duckduckgo import Duckduckgo
    from lxml import etree, html

    try:
        tree = html.document_fromstring(page, parser=html.HTMLParser(remove_comments=True, remove_pis=True))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise EngineUnavailable("duckduckgo sent the browser no page; try again later") from error
    results = []
    for found in tree.xpath(Duckduckgo.items_xpath):
        title, href, body = (
            " ".join("".join(found.xpath(path)).split())
            for path in map(Duckduckgo.elements_xpath.__getitem__, ("title", "href", "body"))
        )
        if address := _address(href):  # things that only look like results have none
            results.append(SearchResult(title=clean(title, 500), href=address, body=clean(body, 5_000)))
    if not results:
        _check_empty(tree)
    return results


def _address(href: str) -> str:
    """Return the target of a link, which may go through a click counter; "" for advertisements."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return ""
    if (parts.hostname or "duckduckgo.com").endswith("duckduckgo.com"):
        if parts.path == "/y.js":
            return ""
        if parts.path == "/l/":
            return _address(parse_qs(parts.query).get("uddg", [""])[0])
    return web_address(href)


def _check_empty(tree: Any) -> None:
    """Raise if a page without results is a robot test or not a result page."""
    marks = " ".join(tree.xpath(_MARKS)).lower()
    if any(mark in marks for mark in _CHALLENGES):
        raise _rate_limited("a robot test or a consent page")
    if not tree.xpath("//input[@name='q']"):
        raise EngineUnavailable("duckduckgo sent the browser something that is not a result page")


def _next(window: Any, until: float) -> Any:
    """Go to the next page; return its response."""
    with window.expect_navigation(timeout=_left(until), wait_until="domcontentloaded") as navigation:
        window.locator(_NEXT).first.click(timeout=_left(until))
    return navigation.value


@contextmanager
def _profile() -> Iterator[str]:
    """Yield an empty folder and remove it after its browser has ended, which would otherwise create it again."""
    folder = mkdtemp(prefix="harness-browser-")
    try:
        yield folder
    finally:
        until, gone = time.monotonic() + _EXIT_SECONDS, 0
        while gone < _TIMES_GONE and time.monotonic() < until:
            used = _in_use(folder)
            if not used:
                shutil.rmtree(folder, ignore_errors=True)  # a process that is just ending may write it again
            gone = 0 if used or Path(folder).exists() else gone + 1
            time.sleep(0.1)
        shutil.rmtree(folder, ignore_errors=True)


def _in_use(folder: str) -> bool:
    """Return whether a process uses this profile: the browser, whose lock is a link to HOST-PID, or, on Linux, one that
    names it on its command line. The browser's other processes do, and may write for a moment after the browser ended.
    """
    try:
        os.kill(int((Path(folder) / "SingletonLock").readlink().name.rpartition("-")[2]), 0)
    except (OSError, ValueError, OverflowError):
        return any(folder.encode() in _command_line(each) for each in Path("/proc").glob("[0-9]*/cmdline"))
    return True


def _command_line(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # it has ended
        return b""


def _left(until: float) -> float:
    """Return the milliseconds until `until` (monotonic seconds), at least 1, because 0 means no limit."""
    return max(1.0, (until - time.monotonic()) * 1_000)


def _rate_limited(how: str) -> RateLimited:
    return RateLimited(f"duckduckgo asks the browser for fewer requests ({how}); wait some minutes")


def from_settings(_argument: str, settings: Settings) -> Browser:
    """Return the engine that the settings describe."""
    return Browser(
        headless=settings.browser_headless,
        executable=settings.browser_executable,
        region=settings.ddgs_region or region_of(settings.language),
        timelimit=settings.ddgs_timelimit,
        timeout=settings.browser_timeout,
    )
