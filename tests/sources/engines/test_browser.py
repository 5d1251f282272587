"""Results read from a page; then a real Chromium with pages of an HTTP server on loopback."""

import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, InvalidInput, RateLimited, SearchError
from harness.sources.engines.browser import BASE_URL, COMMANDS, MAX_PAGES, Browser, _profile, results_of
from tests.sources.engines.test_ddgs import ANOMALY, HTML, NO_RESULT, PAGE, RESULT, Result, numbered, results_page

NEXT = """<div class="nav-link"><form action="/html/" method="post">
<input type="submit" class="btn btn--alt" value="Next" /><input type="hidden" name="q" value="q" />
<input type="hidden" name="s" value="{start}" /><input type="hidden" name="vqd" value="4-1" /></form></div>"""


def text_of(*results: Result) -> str:
    """Return a page of DuckDuckGo that holds these results."""
    return results_page(*results).get_data(as_text=True)


def page_of(*results: Result, more: str = "") -> Response:
    """Answer with these results and what comes below them."""
    return Response(text_of(*results).replace("</body>", f"{more}</body>"), content_type=HTML)


# --- pages


def test_results_of_a_page_come_in_order() -> None:
    """The results are those of the page, as plain text."""
    assert results_of(text_of(("RAG & friends", "https://example.org/a?b=1&c=2", "Größer."), *numbered(2, 2))) == [
        {"title": "RAG & friends", "href": "https://example.org/a?b=1&c=2", "body": "Größer."},
        {"title": "Title 2", "href": "https://example.org/2", "body": "Body 2."},
    ]


def test_markup_inside_a_result_is_plain_text() -> None:
    """Marks of emphasis go, their words stay."""
    page = PAGE.format(results=RESULT.format(title="A <b>bold</b> one", href="https://e.org/", body="An <b>RAG</b>."))
    assert results_of(page) == [{"title": "A bold one", "href": "https://e.org/", "body": "An RAG."}]


def test_a_link_that_counts_clicks_is_unwrapped() -> None:
    """Some links go through a page of DuckDuckGo; the result has the final URL."""
    link = "//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1&rut=0af"
    assert [each["href"] for each in results_of(text_of(("T", link, "B")))] == ["https://example.org/a?b=1"]


@pytest.mark.parametrize(
    "href",
    [
        "https://duckduckgo.com/y.js?ad_domain=shop.example",
        "//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Dx",
        "//duckduckgo.com/l/?uddg=javascript%3Aalert(1)",
        "//duckduckgo.com/l/",
        "/settings",
        "javascript:alert(1)",
        "http://[",
        "https://" + "a" * 5_000,
        "",
    ],
)
def test_advertisements_and_what_has_no_address_are_left_out(href: str) -> None:
    """A paid link is no result, nor is what cannot be cited."""
    assert [each["title"] for each in results_of(text_of(("No", href, "B"), *numbered(1, 1)))] == ["Title 1"]


def test_hostile_text_is_cleaned_and_bounded() -> None:
    """Nothing from a page turns a line around or fills the cache."""
    [found] = results_of(text_of(("Ti\u202etle" + "t" * 9_000, "https://example.org/%0A", "B" * 9_000)))
    assert found["title"].startswith("Titlett")
    assert (len(found["title"]), len(found["body"]), len(found["href"].split())) == (500, 5_000, 1)


@pytest.mark.parametrize("page", [PAGE.format(results=NO_RESULT), PAGE.format(results="")], ids=["told", "empty list"])
def test_a_page_without_results_is_an_empty_list(page: str) -> None:
    """A true empty result raises nothing."""
    assert results_of(page) == []


def test_a_query_about_robots_is_no_test_for_robots() -> None:
    """The page repeats the query; that alone makes it no challenge."""
    page = PAGE.format(results=NO_RESULT).replace('value="q"', 'value="h-captcha consent anomaly.js"')
    assert results_of(page) == []


@pytest.mark.parametrize(
    "page",
    [
        ANOMALY,
        PAGE.format(results='<div class="g-recaptcha" data-sitekey="x"></div>'),
        '<html><body><iframe src="https://hcaptcha.com/captcha/v1"></iframe></body></html>',
        '<html><body><form action="https://consent.example.com/save"><button>Accept all</button></form></body></html>',
        '<html><body><div id="cookie-consent">We value your privacy</div></body></html>',
    ],
    ids=["anomaly", "recaptcha", "hcaptcha", "consent form", "consent"],
)
def test_a_robot_test_or_a_consent_page_is_a_rate_limit(page: str) -> None:
    """They are reported, never bypassed."""
    with pytest.raises(RateLimited, match="a robot test or a consent page"):
        results_of(page)


@pytest.mark.parametrize(
    "page", ["", "hello", '{"ok": true}', "<html><body><h1>It works!</h1></body></html>", "<!-- -->"]
)
def test_what_is_no_page_of_results_is_unavailable(page: str) -> None:
    """A foreign page is a failure, not an empty result."""
    with pytest.raises(EngineUnavailable):
        results_of(page)


@given(st.text() | st.text(alphabet="<>/div class=\"body'ah2&;#0"))
def test_no_page_breaks_the_reader(page: str) -> None:
    """Any page gives results or a `HarnessError`."""
    with suppress(SearchError):
        assert isinstance(results_of(page), list)


# --- options, and what is missing


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({}, {}),
        ({"headless": False, "timeout": 5, "executable": "/usr/bin/chromium", "base_url": BASE_URL + "/"}, {}),
        ({"region": "de-de", "timelimit": "w"}, {"region": "de-de", "timelimit": "w"}),
        ({"base_url": "http://localhost:8080/html/"}, {"base_url": "http://localhost:8080/html"}),
    ],
)
def test_only_what_differs_and_changes_results_is_an_option(
    arguments: Mapping[str, Any], options: Mapping[str, Any]
) -> None:
    """Settings of the browser process are not in the options."""
    assert Browser(**arguments).options == options


def test_without_playwright_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is an extra; who lacks it learns the command."""
    monkeypatch.setitem(sys.modules, "playwright", None)
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(InvalidInput, match=r"pip install 'research-harness\[browser\]'"):
        Browser().search("q", 1)


def test_a_missing_browser_is_refused() -> None:
    """A mistyped path ends in one line that names the setting."""
    with pytest.raises(InvalidInput, match=r"no program '/no/such/chromium'; correct or remove browser_executable"):
        Browser(executable="/no/such/chromium").search("q", 1)


@pytest.mark.slow
def test_a_profile_goes_after_the_last_process_that_names_it() -> None:
    """A part of the browser may write for a moment after the browser itself has ended."""
    # a second: longer than the checks that find the profile gone take
    late = "import os, sys, time; time.sleep(1); os.makedirs(sys.argv[1] + '/Default/Cache')"
    with _profile() as folder:
        process = subprocess.Popen([sys.executable, "-c", late, folder])
    assert process.wait(10) == 0
    assert not Path(folder).exists()


# --- a real Chromium


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, where no profile is left after a search; no process of a browser is, either.

    Its path is short: Chromium keeps a socket there, whose address must fit into a hundred characters.
    """
    with tempfile.TemporaryDirectory(prefix="h-") as path:
        monkeypatch.setattr(tempfile, "tempdir", path)
        yield Path(path)
        left = [str(each.relative_to(path)) for each in Path(path).rglob("harness-browser-*/**")]
        assert (left, processes(Path(path))) == ([], [])


def processes(folder: Path) -> list[int]:
    """Return the processes that have something in `folder`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


def served(server: HTTPServer, *responses: Response) -> list[Mapping[str, str]]:
    """Let `server` answer with `responses`, the last one again and again; return the parameters of each request."""
    asked: list[Mapping[str, str]] = []

    def answer(request: Request) -> Response:
        asked.append({"method": request.method, **request.args.to_dict(), **request.form.to_dict()})
        return responses[min(len(asked), len(responses)) - 1]

    server.expect_request("/html/").respond_with_handler(answer)
    return asked


def engine(server: HTTPServer, **options: Any) -> Browser:
    """Return the engine at `server`."""
    return Browser(base_url=server.url_for("/html/"), **options)


@pytest.mark.full
def test_a_search_reads_the_page_of_results(httpserver: HTTPServer, folder: Path) -> None:
    """The query goes out as it was typed, and the results come back in their order; no more than asked for."""
    asked = served(httpserver, page_of(*numbered(1, 10), more=NEXT))
    found = engine(httpserver, timelimit="m").search("Größe & Gewicht = ?", 3)
    assert [each["title"] for each in found] == ["Title 1", "Title 2", "Title 3"]
    assert asked == [{"method": "GET", "q": "Größe & Gewicht = ?", "kl": "us-en", "df": "m"}]


@pytest.mark.full
def test_further_pages_are_turned_to(httpserver: HTTPServer, folder: Path) -> None:
    """Fifteen results need a second page, whose form is sent as the page has it."""
    asked = served(httpserver, page_of(*numbered(1, 10), more=NEXT.format(start=10)), page_of(*numbered(6, 20)))
    assert [each["title"] for each in engine(httpserver).search("q", 15)] == [f"Title {n}" for n in range(1, 16)]
    assert asked[1:] == [{"method": "POST", "q": "q", "s": "10", "vqd": "4-1"}]


@pytest.mark.full
def test_pages_are_bounded(httpserver: HTTPServer, folder: Path) -> None:
    """However many results are wanted, a handful of pages is asked for."""
    asked = served(httpserver, *(page_of(*numbered(n, n), more=NEXT) for n in range(1, 20)))
    assert len(engine(httpserver).search("q", 100)) == MAX_PAGES == len(asked)


@pytest.mark.full
def test_a_refused_later_page_leaves_what_came_before(httpserver: HTTPServer, folder: Path) -> None:
    """Ten results in hand are worth more than an error about the eleventh."""
    served(httpserver, page_of(*numbered(1, 10), more=NEXT), Response(ANOMALY, 202, content_type=HTML))
    assert len(engine(httpserver).search("q", 15)) == 10


@pytest.mark.full
def test_no_results_is_an_empty_list(httpserver: HTTPServer, folder: Path) -> None:
    """A true empty result raises nothing."""
    served(httpserver, Response(PAGE.format(results=NO_RESULT), content_type=HTML))
    assert engine(httpserver).search("xqzzyv", 5) == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("response", "error", "why"),
    [
        (Response(ANOMALY, 202, content_type=HTML), RateLimited, "HTTP 202"),
        (Response(ANOMALY, 200, content_type=HTML), RateLimited, "a robot test"),
        (Response("slow down", 429), RateLimited, "HTTP 429"),
        (Response("<p>oops</p>", 500, content_type=HTML), EngineUnavailable, "HTTP 500"),
        (Response("", content_type=HTML), EngineUnavailable, "not a result page"),
        (Response("x", headers={"Content-Disposition": "attachment"}), EngineUnavailable, "the browser failed"),
    ],
    ids=["202", "challenge", "429", "500", "nothing", "download"],
)
def test_an_unusable_response_is_reported(
    httpserver: HTTPServer, folder: Path, response: Response, error: type[SearchError], why: str
) -> None:
    """Refusals are rate limits, everything else is a failure; nothing is downloaded."""
    served(httpserver, response)
    with pytest.raises(error, match=why):
        engine(httpserver).search("q", 5)


@pytest.mark.full
def test_nobody_else_is_asked_and_no_script_runs(httpserver: HTTPServer, folder: Path) -> None:
    """A page cannot reach another host through the browser, open a dialog, or hold it up."""
    with HTTPServer(host="127.0.0.1") as other:
        visited: list[str] = []
        other.expect_request("/pixel").respond_with_handler(lambda request: visited.append("pixel") or Response(""))
        address = other.url_for("/pixel")
        hostile = (
            f'<img src="{address}"><iframe src="{address}"></iframe><link rel="stylesheet" href="{address}">'
            f'<script>alert(1); fetch("{address}"); new WebSocket("{address}"); while (true) {{}}</script>'
        )
        served(httpserver, page_of(*numbered(1, 1), more=hostile))
        assert len(engine(httpserver).search("q", 1)) == 1
    assert visited == []


@pytest.mark.full
@pytest.mark.parametrize("how", ["redirect", "refresh"])
def test_a_page_cannot_lead_elsewhere(httpserver: HTTPServer, folder: Path, how: str) -> None:
    """Neither a redirect nor a refresh makes the browser read a page of another host."""
    with HTTPServer(host="127.0.0.1") as other:
        visited: list[str] = []
        other.expect_request("/").respond_with_handler(
            lambda request: visited.append("/") or Response(text_of(*numbered(9, 9)), content_type=HTML)
        )
        address = other.url_for("/")
        refresh = Response(f'<meta http-equiv="refresh" content="0; url={address}">', content_type=HTML)
        served(httpserver, Response("", 302, {"Location": address}) if how == "redirect" else refresh)
        with pytest.raises(EngineUnavailable):
            engine(httpserver).search("q", 1)
    assert visited == []


@pytest.mark.full
def test_silence_is_unavailable_within_the_time_out(folder: Path) -> None:
    """A server that accepts and says nothing is given up on in time."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        with pytest.raises(EngineUnavailable, match=r"within 4 s.*browser_timeout"):
            Browser(base_url=f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=4).search("q", 5)
    assert time.monotonic() - began < 15


@pytest.mark.full
def test_a_refused_connection_is_unavailable(folder: Path) -> None:
    """A dead network is an error that names what works without one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(EngineUnavailable, match=r"ERR_CONNECTION_REFUSED.*--engine corpus:PATH"):
        Browser(base_url=f"http://127.0.0.1:{port}").search("q", 5)


@pytest.mark.full
def test_a_crash_is_unavailable(httpserver: HTTPServer, folder: Path) -> None:
    """A browser that dies while it loads the page is a failure, and leaves nothing."""

    def crash(request: Request) -> Response:
        for process in processes(folder):
            os.kill(process, signal.SIGKILL)
        return page_of(*numbered(1, 1))

    httpserver.expect_request("/html/").respond_with_handler(crash)
    with pytest.raises(EngineUnavailable, match="the browser failed"):
        engine(httpserver).search("q", 5)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # playwright's own pipes to its driver
def test_a_driver_that_dies_is_unavailable(httpserver: HTTPServer, folder: Path) -> None:
    """The program between us and the browser may die, too."""

    def crash(request: Request) -> Response:
        children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
        for child in " ".join(path.read_text() for path in children).split():
            if b"playwright" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(int(child), signal.SIGKILL)
        return page_of(*numbered(1, 1))

    httpserver.expect_request("/html/").respond_with_handler(crash)
    with pytest.raises(EngineUnavailable, match="the browser failed"):
        engine(httpserver).search("q", 5)
    gc.collect()  # so that resources left open by playwright are reported here


@pytest.mark.full
def test_a_program_that_is_no_browser_is_unavailable(httpserver: HTTPServer, folder: Path) -> None:
    """A browser that ends at once is a failure."""
    with pytest.raises(EngineUnavailable, match="the browser failed"):
        engine(httpserver, executable="false").search("q", 5)


@pytest.mark.full
def test_without_a_browser_the_error_says_which_package(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither on PATH nor of playwright's own: the error says what to install."""
    monkeypatch.setattr(shutil, "which", lambda command: None)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    with pytest.raises(EngineUnavailable, match="apt install chromium"):
        engine(httpserver).search("q", 5)


@pytest.mark.full
def test_threads_search_at_the_same_time(httpserver: HTTPServer, folder: Path) -> None:
    """Each search has its own browser."""
    served(httpserver, page_of(*numbered(1, 1)))
    shared = engine(httpserver)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda query: shared.search(query, 1), ["a", "b", "c"]))
    assert [len(results) for results in found] == [1, 1, 1]


@pytest.mark.full
@pytest.mark.parametrize("everybody", [False, True], ids=["harness alone", "as a terminal does"])
def test_an_interrupt_leaves_nothing(httpserver: HTTPServer, folder: Path, everybody: bool) -> None:
    """Ctrl-C in the middle of a search ends it at once, and the browser and its profile with it."""
    loading, done = threading.Event(), threading.Event()

    def wait(request: Request) -> Response:
        loading.set()
        done.wait(30)
        return Response("")

    httpserver.expect_request("/html/").respond_with_handler(wait)
    url = httpserver.url_for("/html")
    code = f"from harness.sources.engines.browser import Browser\nBrowser(base_url={url!r}).search('q', 1)"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(folder)},
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            assert loading.wait(30)
            (os.killpg if everybody else os.kill)(process.pid, signal.SIGINT)
            _, told = process.communicate(timeout=20)
        finally:
            done.set()
            process.kill()
    assert b"KeyboardInterrupt" in told.splitlines()


@pytest.mark.full
def test_the_browser_of_the_system_is_found() -> None:
    """The tests above mean something only with a real Chromium."""
    assert any(shutil.which(command) for command in COMMANDS)
