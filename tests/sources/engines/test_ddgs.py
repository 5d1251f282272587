"""The real library ddgs against a real HTTP server on loopback that answers as DuckDuckGo's HTML page does."""

import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from html import escape

import pytest
from ddgs.engines.duckduckgo import Duckduckgo
from ddgs.engines.mojeek import Mojeek
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, HarnessError, InvalidInput, RateLimited
from harness.sources.engines.ddgs import DEFAULTS, MAX_PAGES, DuckDuckGo

Result = tuple[str, str, str]

HTML = "text/html; charset=utf-8"

RESULT = """
<div class="result results_links results_links_deep web-result ">
  <div class="links_main links_deep result__body">
    <h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>
    <div class="result__extras"><div class="result__extras__url">
      <span class="result__icon"><a rel="nofollow" href="{href}"><img class="result__icon__img" alt=""/></a></span>
      <a class="result__url" href="{href}">{href}</a>
    </div></div>
    <a class="result__snippet" href="{href}">{body}</a>
    <div class="clear"></div>
  </div>
</div>"""

PAGE = """<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head><meta http-equiv="content-type" content="text/html; charset=UTF-8" /><title>q at DuckDuckGo</title></head>
<body class="body--html">
<form name="x" id="search_form" class="search_form" action="/html/" method="post">
  <input name="q" autocomplete="off" class="search__input" value="q" /><input class="search__button" type="submit" />
</form>
<div class="serp__results"><div id="links" class="results">{results}</div></div>
</body></html>"""

NO_RESULT = """
<div class="result results_links results_links_deep result--no-result">
  <div class="links_main links_deep result__body"><div class="no-results">No results.</div></div>
</div>"""

ANOMALY = """<!DOCTYPE html><html><head><title>DuckDuckGo</title></head><body>
<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html&cc=sre" method="POST">
  <div class="anomaly-modal__mask"><div class="anomaly-modal__modal">
    <div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>
    <div class="anomaly-modal__description">Please complete the following challenge.</div>
  </div></div>
</form></body></html>"""

MOJEEK_PAGE = """<!DOCTYPE html><html><head><title>q - Mojeek Search</title></head><body>
<form action="/search"><input name="q" value="q"/></form>
<ul class="results-standard"><li class="r1"><a class="ob" href="https://example.org/m"><p class="i">example.org</p></a>
<h2><a class="title" href="https://example.org/m">From Mojeek</a></h2><p class="s">The other index.</p></li></ul>
</body></html>"""


def results_page(*results: Result) -> Response:
    """Answer as DuckDuckGo does when it found something."""
    found = "".join(
        RESULT.format(title=escape(title), href=escape(href, quote=True), body=escape(body))
        for title, href, body in results
    )
    return Response(PAGE.format(results=found), content_type=HTML)


def numbered(first: int, last: int) -> list[Result]:
    """Return results that differ by their number."""
    return [(f"Title {n}", f"https://example.org/{n}", f"Body {n}.") for n in range(first, last + 1)]


def served(server: HTTPServer, *responses: Response, uri: str = "/html/") -> list[Mapping[str, str]]:
    """Let `server` answer with `responses`, the last one again and again; return the parameters of each request."""
    asked: list[Mapping[str, str]] = []

    def answer(request: Request) -> Response:
        asked.append({**request.args.to_dict(), **request.form.to_dict()})
        return responses[min(len(asked), len(responses)) - 1]

    server.expect_request(uri).respond_with_handler(answer)
    return asked


@pytest.fixture
def duckduckgo(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> HTTPServer:
    """A server in DuckDuckGo's place."""
    monkeypatch.setattr(Duckduckgo, "search_url", httpserver.url_for("/html/"))
    monkeypatch.setattr(Mojeek, "search_url", httpserver.url_for("/search"))
    return httpserver


# --- results


def test_results_come_in_order_with_title_href_and_body(duckduckgo: HTTPServer) -> None:
    """The results are those of the page, best first."""
    served(
        duckduckgo,
        results_page(
            ("RAG & friends", "https://example.org/rag?a=1&b=2", "Chunk, embed & retrieve."),
            ("Zweite Quelle", "https://example.org/zwei", "Größer ist besser."),
        ),
    )
    assert DuckDuckGo().search("rag", 2) == [
        {"title": "RAG & friends", "href": "https://example.org/rag?a=1&b=2", "body": "Chunk, embed & retrieve."},
        {"title": "Zweite Quelle", "href": "https://example.org/zwei", "body": "Größer ist besser."},
    ]


def test_advertisements_are_left_out(duckduckgo: HTTPServer) -> None:
    """A paid link is no result."""
    advertisement = ("Buy", "https://duckduckgo.com/y.js?ad_domain=shop.example", "Now!")
    served(duckduckgo, results_page(advertisement, *numbered(1, 1)))
    assert [r["href"] for r in DuckDuckGo().search("q", 1)] == ["https://example.org/1"]


def test_a_result_without_an_address_is_left_out(duckduckgo: HTTPServer) -> None:
    """An entry without a usable URL is not a result."""
    served(duckduckgo, results_page(("No address", "", "Nowhere."), *numbered(1, 1)))
    assert [r["title"] for r in DuckDuckGo().search("q", 1)] == ["Title 1"]


# --- requests


def test_the_query_and_default_region_reach_the_engine(duckduckgo: HTTPServer) -> None:
    """The query goes out as it was typed, for the region us-en, without a time limit."""
    asked = served(duckduckgo, results_page(*numbered(1, 1)))
    DuckDuckGo().search("Größe & Gewicht = ?", 1)
    assert asked == [{"q": "Größe & Gewicht = ?", "b": "", "l": "us-en"}]


def test_region_and_time_limit_reach_the_engine(duckduckgo: HTTPServer) -> None:
    """Options are not only remembered but sent."""
    asked = served(duckduckgo, results_page(*numbered(1, 1)))
    DuckDuckGo(region="de-de", timelimit="w").search("q", 1)
    assert (asked[0]["l"], asked[0]["df"]) == ("de-de", "w")


def test_safe_search_reaches_the_engine(duckduckgo: HTTPServer) -> None:
    """A backend with safe search gets the setting."""
    asked = served(duckduckgo, Response(MOJEEK_PAGE, content_type=HTML), uri="/search")
    DuckDuckGo(backends=["mojeek"], safesearch="on").search("q", 1)
    assert asked == [{"q": "q", "safe": "1"}]


# --- how many


def test_no_more_results_than_asked_for(duckduckgo: HTTPServer) -> None:
    """A page of ten gives three to who asked for three, with one request."""
    asked = served(duckduckgo, results_page(*numbered(1, 10)))
    assert [r["title"] for r in DuckDuckGo().search("q", 3)] == ["Title 1", "Title 2", "Title 3"]
    assert len(asked) == 1


def test_a_second_page_is_asked_for_when_needed(duckduckgo: HTTPServer) -> None:
    """Fifteen results need a second page, which begins after the first ten."""
    asked = served(duckduckgo, results_page(*numbered(1, 10)), results_page(*numbered(11, 25)))
    assert [r["title"] for r in DuckDuckGo().search("q", 15)] == [f"Title {n}" for n in range(1, 16)]
    assert [page.get("s") for page in asked] == [None, "10"]


def test_a_result_on_two_pages_counts_once(duckduckgo: HTTPServer) -> None:
    """Pages overlap; results do not."""
    served(duckduckgo, results_page(*numbered(1, 10)), results_page(*numbered(6, 15)))
    assert [r["title"] for r in DuckDuckGo().search("q", 15)] == [f"Title {n}" for n in range(1, 16)]


def test_no_further_page_after_one_that_brings_nothing_new(duckduckgo: HTTPServer) -> None:
    """An engine that repeats itself is not asked again."""
    asked = served(duckduckgo, results_page(*numbered(1, 10)))
    assert len(DuckDuckGo().search("q", 100)) == 10
    assert len(asked) == 2


def test_pages_are_bounded(duckduckgo: HTTPServer) -> None:
    """However many results are wanted, the engine is asked for a handful of pages."""
    asked = served(duckduckgo, *(results_page(*numbered(n, n)) for n in range(1, 20)))
    assert len(DuckDuckGo().search("q", 100)) == MAX_PAGES
    assert len(asked) == MAX_PAGES


@pytest.mark.parametrize(
    "refusal", [Response("slow down", 429), Response(ANOMALY, 202, content_type=HTML), Response("oops", 500)]
)
def test_a_refused_later_page_leaves_what_came_before(duckduckgo: HTTPServer, refusal: Response) -> None:
    """Ten results in hand are worth more than an error about the eleventh."""
    served(duckduckgo, results_page(*numbered(1, 10)), refusal)
    assert len(DuckDuckGo().search("q", 15)) == 10


# --- a rate limit


@pytest.mark.parametrize(
    "refusal",
    [
        Response("Too Many Requests", 429),
        Response("Forbidden", 403),
        Response(ANOMALY, 202, content_type=HTML),
        Response("", 202),
    ],
    ids=["429", "403", "202 with a challenge", "202"],
)
def test_a_refusal_is_a_rate_limit(duckduckgo: HTTPServer, refusal: Response) -> None:
    """Each form of "too many requests" is a `RateLimited` with advice, never an empty result."""
    asked = served(duckduckgo, refusal)
    with pytest.raises(RateLimited, match=r"duckduckgo asks for fewer requests .*wait some minutes"):
        DuckDuckGo().search("q", 5)
    assert len(asked) == 1, "a refused engine is not asked again at once"


@pytest.mark.parametrize(
    "challenge",
    [
        ANOMALY,
        ANOMALY.replace("anomaly-modal__description", "anomaly-modal__body"),
        '<html><body><div class="g-recaptcha" data-sitekey="x"></div></body></html>',
        '<html><body><form action="/check"><div class="h-captcha"></div></form></body></html>',
        '<html><body><div id="cf-challenge-running">Checking your browser</div></body></html>',
        '<html><body><form id="captcha-form" action="index" method="post"></form></body></html>',
        '<html><body><div class="main-body"><form id="captcha-form" method="post"></form></div></body></html>',
    ],
    ids=["anomaly", "anomaly with a body", "recaptcha", "hcaptcha", "cloudflare", "captcha form", "form in a body"],
)
def test_a_challenge_with_status_200_is_a_rate_limit(duckduckgo: HTTPServer, challenge: str) -> None:
    """A test for robots is no result page, whatever its status says and however it is laid out."""
    served(duckduckgo, Response(challenge, content_type=HTML))
    with pytest.raises(RateLimited, match="a robot test"):
        DuckDuckGo().search("q", 5)


# --- no answer


@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_a_failing_engine_is_unavailable(duckduckgo: HTTPServer, status: int) -> None:
    """A server error is reported with its status."""
    served(duckduckgo, Response("oops", status))
    with pytest.raises(EngineUnavailable, match=f"duckduckgo answered HTTP {status}; try again later"):
        DuckDuckGo().search("q", 5)


def test_a_refused_connection_is_unavailable(monkeypatch: pytest.MonkeyPatch, closed_port: int) -> None:
    """A dead network is an error that names what works without one."""
    monkeypatch.setattr(Duckduckgo, "search_url", f"http://127.0.0.1:{closed_port}/html/")
    with pytest.raises(EngineUnavailable, match=r"cannot be reached; check the network.*--engine corpus:PATH"):
        DuckDuckGo().search("q", 5)


def test_silence_is_unavailable_within_the_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that accepts and says nothing is given up on in time."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(Duckduckgo, "search_url", f"http://127.0.0.1:{silent.getsockname()[1]}/html/")
        began = time.monotonic()
        with pytest.raises(EngineUnavailable, match=r"did not answer within 0\.5 s.*search_timeout"):
            DuckDuckGo(timeout=0.5).search("q", 5)
    assert time.monotonic() - began < 5


def test_a_trickle_is_unavailable_within_the_time_out(duckduckgo: HTTPServer) -> None:
    """The time-out holds for the whole answer, not for each of its bytes."""

    def trickle() -> Iterator[bytes]:
        for _ in range(10):
            yield b"<p>wait</p>"
            time.sleep(0.1)

    served(duckduckgo, Response(trickle(), content_type=HTML))
    with pytest.raises(EngineUnavailable, match="did not answer within"):
        DuckDuckGo(timeout=0.4).search("q", 5)


# --- true emptiness, and what only looks like it


@pytest.mark.parametrize("page", [PAGE.format(results=NO_RESULT), PAGE.format(results="")], ids=["told", "empty list"])
def test_a_page_without_results_is_an_empty_list(duckduckgo: HTTPServer, page: str) -> None:
    """A true empty result raises nothing."""
    served(duckduckgo, Response(page, content_type=HTML))
    assert DuckDuckGo().search("xqzzyv", 5) == []


@pytest.mark.parametrize(
    "response",
    [
        Response("", content_type=HTML),
        Response("hello", content_type="text/plain"),
        Response('{"ok": true}', content_type="application/json"),
        Response(bytes(range(256)) * 20, content_type="application/octet-stream"),
        Response("<html><body><h1>It works!</h1></body></html>", content_type=HTML),
        Response('<html><body><div class="body">Under maintenance.</div></body></html>', content_type=HTML),
        Response(
            '<html><body><h1>Hotel</h1><form action="/login"><input name="room"/></form></body></html>',
            content_type=HTML,
        ),
        Response(
            '<html><body><div class="login-body"><form action="/login"><input name="room"/></form></div></body></html>',
            content_type=HTML,
        ),
    ],
    ids=[
        "nothing",
        "text",
        "json",
        "binary",
        "another page",
        "maintenance",
        "captive portal",
        "captive portal with a body",
    ],
)
def test_what_is_no_result_page_is_unavailable(duckduckgo: HTTPServer, response: Response) -> None:
    """A foreign response is a failure, not an empty result."""
    served(duckduckgo, response)
    with pytest.raises(EngineUnavailable):
        DuckDuckGo().search("q", 5)


# --- backends


def test_an_unknown_backend_is_refused_with_the_known_ones(duckduckgo: HTTPServer) -> None:
    """The library would silently use any engine instead; the error lists the known ones, and no request is sent."""
    asked = served(duckduckgo, results_page(*numbered(1, 1)))
    with pytest.raises(InvalidInput, match=r"no backend 'duckduckgoo'; choose from .*duckduckgo, .*mojeek"):
        DuckDuckGo(backends=["duckduckgoo"]).search("q", 5)
    assert asked == []


@pytest.mark.parametrize("failure", [Response("", 429), Response("", 500), Response("hello", content_type=HTML)])
def test_a_failing_backend_falls_through_to_the_next(duckduckgo: HTTPServer, failure: Response) -> None:
    """Backends are tried in their order until one answers."""
    served(duckduckgo, failure)
    served(duckduckgo, Response(MOJEEK_PAGE, content_type=HTML), uri="/search")
    assert DuckDuckGo(backends=["duckduckgo", "mojeek"]).search("q", 1) == [
        {"title": "From Mojeek", "href": "https://example.org/m", "body": "The other index."}
    ]


def test_an_unreachable_backend_falls_through_to_the_next(
    duckduckgo: HTTPServer, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    """A dead backend does not stop a search that another can answer."""
    monkeypatch.setattr(Duckduckgo, "search_url", f"http://127.0.0.1:{closed_port}/html/")
    served(duckduckgo, Response(MOJEEK_PAGE, content_type=HTML), uri="/search")
    assert [r["title"] for r in DuckDuckGo(backends=["duckduckgo", "mojeek"]).search("q", 1)] == ["From Mojeek"]


def test_a_true_no_results_counts_as_an_answer(duckduckgo: HTTPServer) -> None:
    """The second backend is for failures of the first, not for a second opinion."""
    served(duckduckgo, Response(PAGE.format(results=NO_RESULT), content_type=HTML))
    asked_mojeek = served(duckduckgo, Response(MOJEEK_PAGE, content_type=HTML), uri="/search")
    assert DuckDuckGo(backends=["duckduckgo", "mojeek"]).search("q", 1) == []
    assert asked_mojeek == []


def test_when_every_backend_fails_the_first_error_is_raised(duckduckgo: HTTPServer) -> None:
    """The backend that was wanted most is the one to hear about."""
    served(duckduckgo, Response("", 429))
    served(duckduckgo, Response("", 500), uri="/search")
    with pytest.raises(RateLimited, match="duckduckgo"):
        DuckDuckGo(backends=["duckduckgo", "mojeek"]).search("q", 1)


# --- options


def test_at_its_defaults_an_engine_has_no_options() -> None:
    """The default search is keyed by its query alone."""
    assert DuckDuckGo().options == {}
    assert DuckDuckGo(**DEFAULTS).options == {}


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({"region": "de-de"}, {"region": "de-de"}),
        ({"timelimit": "y", "region": "us-en"}, {"timelimit": "y"}),
        ({"safesearch": "off"}, {"safesearch": "off"}),
        ({"backends": ["mojeek", "duckduckgo"]}, {"backends": ("mojeek", "duckduckgo")}),
        ({"backends": ["duckduckgo"]}, {}),
    ],
)
def test_only_what_differs_is_an_option(arguments: dict[str, object], options: dict[str, object]) -> None:
    """Options have what changes results, and nothing else."""
    assert DuckDuckGo(**arguments).options == options  # type: ignore[arg-type]


def test_what_does_not_change_results_is_no_option() -> None:
    """A time-out or a proxy changes how results come, not which; a proxy may hold a password."""
    assert DuckDuckGo(timeout=3, proxy="http://user:secret@127.0.0.1:9").options == {}


# --- hostile input


def test_a_huge_result_is_bounded(duckduckgo: HTTPServer) -> None:
    """A page cannot fill the cache with one title."""
    served(duckduckgo, results_page(("T" * 100_000, "https://example.org/" + "a" * 100_000, "B" * 1_000_000)))
    results: Sequence[Mapping[str, str]] = DuckDuckGo().search("q", 1)
    assert all(len(r["title"]) <= 500 and len(r["href"]) <= 4_000 and len(r["body"]) <= 5_000 for r in results)


def test_control_characters_and_overrides_are_dropped(duckduckgo: HTTPServer) -> None:
    """Nothing from a page can move a terminal's cursor or turn a line around."""
    served(
        duckduckgo,
        results_page(
            ("Ti\u202etle\x1b[31m\x07", "https://example.org/a%1B%5B31m%E2%80%AEb%00c", "Bo\u2066dy\u2069\x7f\u200f."),
        ),
    )
    assert DuckDuckGo().search("q", 1) == [
        {"title": "Title[31m", "href": "https://example.org/a[31mbc", "body": "Body."}
    ]


def test_an_address_holds_no_white_space(duckduckgo: HTTPServer) -> None:
    """An escaped line end in a link cannot begin a new line of a report."""
    served(duckduckgo, results_page(("Title", "https://example.org/%0A%0A%23%09Injected%0D%0Aheading", "Body.")))
    [result] = DuckDuckGo().search("q", 1)
    assert len(result["href"].split()) == 1


def test_markup_inside_a_result_is_plain_text(duckduckgo: HTTPServer) -> None:
    """`body` is plain text: marks of emphasis go, their words stay."""
    served(duckduckgo, results_page(*numbered(1, 1)))
    page = PAGE.format(
        results=RESULT.format(title="A <b>bold</b> title", href="https://example.org/1", body="An <b>RAG</b> page.")
    )
    duckduckgo.clear()
    served(duckduckgo, Response(page, content_type=HTML))
    assert DuckDuckGo().search("q", 1) == [
        {"title": "A bold title", "href": "https://example.org/1", "body": "An RAG page."}
    ]


@pytest.mark.parametrize("proxy", ["http://user:secret@[bad", "secret"])
def test_a_proxy_that_is_no_address_is_an_error_of_ours(duckduckgo: HTTPServer, proxy: str) -> None:
    """A mistyped proxy ends in one line that does not show the password."""
    with pytest.raises(HarnessError, match="proxy") as caught:
        DuckDuckGo(proxy=proxy).search("q", 1)
    assert "secret" not in str(caught.value)


def test_a_proxy_that_is_dead_is_told_without_its_password(duckduckgo: HTTPServer, closed_port: int) -> None:
    """The proxy is used, and its password is in no message."""
    with pytest.raises(EngineUnavailable, match="check the network and proxy") as caught:
        DuckDuckGo(proxy=f"http://user:secret@127.0.0.1:{closed_port}").search("q", 1)
    assert "secret" not in str(caught.value)
