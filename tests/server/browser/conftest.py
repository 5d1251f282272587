"""Fixtures: real Chromium windows on `harness serve`; errors, external requests and dialogs fail every test."""

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.browser.sample_data import Furnished, furnish
from tests.server.browser.sites import Engine, Site

if TYPE_CHECKING:  # `make test` does not install playwright
    from playwright.sync_api import Browser, Dialog, Page

OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
WIDE, PHONE, ZOOMED = (1280, 800), (360, 740), (640, 400)
"""Sizes of the window in CSS pixels; the last one is the first at 200 %."""
PATIENCE = 15_000
"""Milliseconds until a page that does not come to what it should is given up, on a machine that is busy as well."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip these tests unless requested: they import packages that `make test` does not install."""
    return None if "not full" not in config.option.markexpr else True


class Windows:
    """Windows of one browser, reused by later tests of the same kind: a new one takes half a second."""

    def __init__(self, browser: "Browser") -> None:
        self._browser = browser
        self._free: dict[str, list[Page]] = defaultdict(list)

    def take(self, **options: Any) -> "Page":
        """Return an empty window; `options` are those of a browser context."""
        if free := self._free[repr(options)]:
            return free.pop()
        context = self._browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        return context.new_page()

    def give_back(self, page: "Page", **options: Any) -> None:
        """Keep a window for the next test, emptied; drop it if the test closed it."""
        if page.is_closed():
            page.context.close()
            return
        page.goto("about:blank")  # or pending requests (an icon) would disturb the next test
        page.context.clear_cookies()
        self._free[repr(options)].append(page)


class Visitor:
    """Visitor of pages: `visit("/cache")` opens one in a new window.

    Problems on any page are recorded: console errors and warnings (including violations of the content security
    policy), failing scripts, requests to other servers, dialogs. `forgive(pattern)` lists the expected ones.
    """

    def __init__(self, windows: Windows, site: Site) -> None:
        self.site = site
        self.problems: list[str] = []
        self._windows = windows
        self._forgiven: list[str] = []
        self._open = ExitStack()

    def __call__(
        self, path: str, *, size: tuple[int, int] = WIDE, dark: bool = False, site: Site | None = None, **options: Any
    ) -> "Page":
        """Open a page; `options` are those of a browser context."""
        options["viewport"] = {"width": size[0], "height": size[1]}
        options["color_scheme"] = "dark" if dark else "light"
        page = self._windows.take(**options)
        self._open.callback(self._windows.give_back, page, **options)
        address = (site or self.site).address
        heard: dict[str, Callable[[Any], None]] = {
            "console": lambda said: self._heard(said.type, said.text),
            "pageerror": lambda error: self.problems.append(f"script: {error}"),
            "dialog": self._asked,
            "request": lambda request: self._requested(request.url, address),
        }
        for event, handler in heard.items():
            page.on(event, handler)  # type: ignore[call-overload]
            self._open.callback(page.remove_listener, event, handler)
        page.goto(address + path)
        return page

    def forgive(self, pattern: str) -> None:
        """Expect problems that `pattern` matches."""
        self._forgiven.append(pattern)

    def close(self) -> list[str]:
        """Give all windows back; return the problems."""
        self._open.close()
        return [each for each in self.problems if not any(re.search(known, each) for known in self._forgiven)]

    def _heard(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.problems.append(f"{kind}: {text}")

    def _asked(self, dialog: "Dialog") -> None:
        self.problems.append(f"dialog: {dialog.message[:200]}")
        dialog.dismiss()

    def _requested(self, url: str, address: str) -> None:
        if not url.startswith(f"{address}/"):
            self.problems.append(f"request: {url[:200]}")


@pytest.fixture(scope="package")
def windows() -> Iterator[Windows]:
    """Windows of the system's Chromium."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    found = shutil.which("chromium")
    assert found, "no chromium on PATH; install it with the system's package manager"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=OPTIONS)
        yield Windows(browser)
        browser.close()


@pytest.fixture(scope="package")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    """A folder with sample data of every kind. Read-only."""
    return furnish(tmp_path_factory.mktemp("furnished"))


@pytest.fixture(scope="package")
def site(furnished: Furnished) -> Iterator[Site]:
    """The server of that folder. Its data is read-only."""
    with Site(furnished.data_dir, "--engine", furnished.engine) as started:
        yield started


@pytest.fixture(scope="package")
def own(furnished: Furnished, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The server of a copy of that folder, for tests that change data."""
    folder = tmp_path_factory.mktemp("own") / "data"
    shutil.copytree(furnished.data_dir, folder)
    with Site(folder, "--engine", furnished.engine) as started:
        yield started


@pytest.fixture(scope="package")
def bare(furnished: Furnished, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The server of an empty folder."""
    folder = tmp_path_factory.mktemp("bare") / "data"
    folder.mkdir()
    with Site(folder, "--engine", furnished.engine) as started:
        yield started


@pytest.fixture(scope="package")
def slow_engine() -> Iterator[Engine]:
    """A search engine that waits."""
    from pytest_httpserver import HTTPServer

    with HTTPServer(threaded=True) as server:
        yield Engine(server)


@pytest.fixture
def engine(slow_engine: Engine) -> Iterator[Engine]:
    """The waiting search engine, for one test."""
    yield slow_engine
    slow_engine.hold()


@pytest.fixture
def visit(windows: Windows, site: Site) -> Iterator[Visitor]:
    """A visitor; problems on its pages fail the test."""
    visitor = Visitor(windows, site)
    yield visitor
    assert visitor.close() == []
