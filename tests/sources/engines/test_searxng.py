"""The adapter against a real HTTP server on loopback that answers as an instance of SearXNG does."""

import base64
import gzip
import logging
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.sources.engines.result_fields import MAX_BODY_CHARS
from harness.sources.engines.searxng import DEFAULTS, MAX_PAGES, Searxng
from harness.sources.http.request import MAX_BYTES

FORBIDDEN = """<!doctype html><html lang=en><title>403 Forbidden</title><h1>Forbidden</h1>
<p>You don&#39;t have the permission to access the requested resource.</p></html>"""


def result(number: int, **fields: Any) -> dict[str, Any]:
    """Return one result in the shape that SearXNG 2026 gives it."""
    return {
        "url": f"https://example.org/{number}",
        "title": f"Title {number}",
        "content": f"Body {number}.",
        "thumbnail": None,
        "publishedDate": None,
        "engine": "brave",
        "template": "default.html",
        "parsed_url": ["https", "example.org", f"/{number}", "", "", ""],
        "engines": ["brave", "startpage"],
        "positions": [number],
        "score": 1.0 / number,
        "category": "general",
    } | fields


def page(*results: object, unresponsive: list[list[str]] | None = None, **shown: object) -> Response:
    """Answer as SearXNG does, with the answers and infoboxes that are `shown`."""
    document = {
        "query": "q",
        "number_of_results": 0,
        "results": results,
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": ["q r"],
        "unresponsive_engines": unresponsive or [],
    } | shown
    return Response(msgspec.json.encode(document), content_type="application/json")


ANSWER = {
    "answer": "Adults sleep 8 hours.",
    "url": "https://example.org/2",
    "engine": "google",
    "template": "answer/legacy.html",
}
BOX = {
    "infobox": "Sleep",
    "id": "https://en.wikipedia.org/wiki/Sleep",
    "content": "Sleep is a state of rest.",
    "urls": [{"title": "Wikipedia", "url": "https://en.wikipedia.org/wiki/Sleep"}],
    "engine": "wikipedia",
}


def numbered(first: int, last: int) -> Response:
    """Answer with results that differ by their number."""
    return page(*(result(number) for number in range(first, last + 1)))


def served(server: HTTPServer, *responses: Response) -> list[Request]:
    """Let `server` answer with `responses`, the last one again and again; return the requests."""
    asked: list[Request] = []

    def answer(request: Request) -> Response:
        asked.append(request)
        return responses[min(len(asked), len(responses)) - 1]

    server.expect_request("/search", method="GET").respond_with_handler(answer)
    return asked


def engine(server: HTTPServer, **options: Any) -> Searxng:
    """Return the engine at `server`."""
    return Searxng(server.url_for(""), **options)


# --- results


def test_results_come_in_order_with_title_href_and_body(httpserver: HTTPServer) -> None:
    """Results keep the order of the instance."""
    served(httpserver, page(result(1, title="RAG & friends", content="Größer ist besser."), result(2)))
    assert engine(httpserver).search("rag", 2) == [
        {"title": "RAG & friends", "href": "https://example.org/1", "body": "Größer ist besser."},
        {"title": "Title 2", "href": "https://example.org/2", "body": "Body 2."},
    ]


def test_a_result_without_a_text_is_one(httpserver: HTTPServer) -> None:
    """Not every engine behind an instance gives a snippet."""
    served(httpserver, page(result(1, content=None), {"url": "https://example.org/2", "title": "Two"}))
    assert [each["body"] for each in engine(httpserver).search("q", 2)] == ["", ""]


@pytest.mark.parametrize("url", [None, "", "magnet:?xt=urn:btih:00", "javascript:alert(1)", "https://" + "a" * 5_000])
def test_what_has_no_address_of_the_web_is_left_out(httpserver: HTTPServer, url: str | None) -> None:
    """An entry without a usable URL is not a result."""
    served(httpserver, page(result(1, url=url), result(2)))
    assert [each["title"] for each in engine(httpserver).search("q", 1)] == ["Title 2"]


def test_date_and_author_of_a_result(httpserver: HTTPServer) -> None:
    """As the instance knows them, or as an engine writes the day before the excerpt."""
    served(
        httpserver,
        page(
            result(1, publishedDate="2023-05-29T00:00:00", author="Ann Lee"),
            result(2, content="May 29, 2023 ... The lake is deep."),
            result(3, content="3 hours ago · The lake is deep.", author=["Ann Lee"], publishedDate=3),
            result(4, content="May 12, 2001 – June 3, 2010, it was closed."),
        ),
    )
    one, two, three, four = engine(httpserver).search("q", 4)
    assert (one["date"], one["authors"]) == ("2023-05-29", "Ann Lee")
    assert (two["date"], two["body"]) == ("2023-05-29", "The lake is deep.")
    assert three.keys() == {"title", "href", "body"}
    assert (four.get("date"), four["body"]) == (None, "May 12, 2001 – June 3, 2010, it was closed.")


def test_an_address_counts_once(httpserver: HTTPServer) -> None:
    """Two engines behind the instance may spell one address differently."""
    served(httpserver, page(result(1), result(2, url="https://EXAMPLE.org:443/1/"), result(3)))
    assert [each["title"] for each in engine(httpserver).search("q", 5)] == ["Title 1", "Title 3"]


def test_no_results_is_an_empty_list(httpserver: HTTPServer) -> None:
    """If all engines answered and found nothing, nothing is raised."""
    asked = served(httpserver, page())
    assert engine(httpserver).search("xqzzyv", 5) == []
    assert len(asked) == 1


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Nothing from an instance can move a cursor, turn a line around or fill the cache."""
    served(httpserver, page(result(1, title="Ti\u202etle\x1b[31m\n2", content="B" * 100_000)))
    [found] = engine(httpserver).search("q", 1)
    assert (found["title"], len(found["body"])) == ("Title[31m 2", MAX_BODY_CHARS)


# --- requests


def test_the_query_and_the_defaults_reach_the_instance(httpserver: HTTPServer) -> None:
    """Requests do not depend on the defaults of the instance."""
    asked = served(httpserver, numbered(1, 1))
    engine(httpserver).search("Größe & Gewicht = ?", 1)
    assert asked[0].args.to_dict() == {
        "q": "Größe & Gewicht = ?",
        "pageno": "1",
        "format": "json",
        "language": "auto",
        "safesearch": "1",
        "categories": "general",
    }


def test_options_reach_the_instance(httpserver: HTTPServer) -> None:
    """Options are not only remembered but sent."""
    asked = served(httpserver, numbered(1, 1))
    chosen = {"language": "de", "time_range": "year"}
    engine(httpserver, **chosen).search("q", 1)
    sent = asked[0].args
    assert {name: sent[name] for name in chosen} == chosen


def test_an_instance_in_a_folder_is_asked_there(httpserver: HTTPServer) -> None:
    """An instance need not be at the root of its host."""
    httpserver.expect_request("/searxng/search").respond_with_response(numbered(1, 1))
    assert len(Searxng(httpserver.url_for("/searxng/")).search("q", 1)) == 1


def test_the_limiter_takes_us_for_no_robot(httpserver: HTTPServer) -> None:
    """The limiter wants HTML accepted, gzip, a language, and no connection that is closed at once."""
    asked = served(httpserver, numbered(1, 1))
    engine(httpserver).search("q", 1)
    headers = asked[0].headers
    assert "text/html" in headers["Accept"]
    assert "gzip" in headers["Accept-Encoding"]
    assert headers["Accept-Language"] == "en"
    assert headers.get("Connection") != "close"
    assert headers["User-Agent"] == "research-harness"


def test_user_and_password_of_the_address_are_sent_and_hidden(
    httpserver: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    """An instance behind basic authentication works; its password is in no option, error or log."""
    caplog.set_level(logging.DEBUG)
    asked = served(httpserver, Response("oops", 500))
    protected = Searxng(httpserver.url_for("").replace("http://", "http://me:p%40ss@"))
    with pytest.raises(EngineUnavailable) as caught:
        protected.search("q", 1)
    assert asked[0].headers["Authorization"] == "Basic " + base64.b64encode(b"me:p@ss").decode()
    told = f"{protected.options} {caught.value} {caplog.text}"
    assert "p@ss" not in told
    assert "p%40ss" not in told


def test_the_environment_sets_no_proxy(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only settings say where searches go."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    served(httpserver, numbered(1, 1))
    assert len(engine(httpserver).search("q", 1)) == 1


# --- how many


def test_no_more_results_than_asked_for(httpserver: HTTPServer) -> None:
    """A page of ten gives three to who asked for three, with one request."""
    asked = served(httpserver, numbered(1, 10))
    assert [each["title"] for each in engine(httpserver).search("q", 3)] == ["Title 1", "Title 2", "Title 3"]
    assert len(asked) == 1


def test_further_pages_are_asked_for_when_needed(httpserver: HTTPServer) -> None:
    """Fifteen results need a second page; what is on both counts once."""
    asked = served(httpserver, numbered(1, 10), numbered(6, 20))
    assert [each["title"] for each in engine(httpserver).search("q", 15)] == [f"Title {n}" for n in range(1, 16)]
    assert [request.args["pageno"] for request in asked] == ["1", "2"]


def test_no_further_page_after_one_that_brings_nothing_new(httpserver: HTTPServer) -> None:
    """An instance that repeats itself is not asked again."""
    asked = served(httpserver, numbered(1, 10))
    assert len(engine(httpserver).search("q", 100)) == 10
    assert len(asked) == 2


def test_pages_are_bounded(httpserver: HTTPServer) -> None:
    """However many results are wanted, a handful of pages is asked for."""
    asked = served(httpserver, *(numbered(n, n) for n in range(1, 20)))
    assert len(engine(httpserver).search("q", 100)) == MAX_PAGES == len(asked)


@pytest.mark.parametrize(
    "refusal", [Response("slow", 429), Response("oops", 500), page(unresponsive=[["brave", "timeout"]])]
)
def test_a_failing_later_page_leaves_what_came_before(httpserver: HTTPServer, refusal: Response) -> None:
    """Ten results in hand are worth more than an error about the eleventh."""
    served(httpserver, numbered(1, 10), refusal)
    assert len(engine(httpserver).search("q", 15)) == 10


# --- failures


def test_403_says_that_json_must_be_enabled(httpserver: HTTPServer) -> None:
    """The default instance speaks no JSON, and the error says what to write where."""
    served(httpserver, Response(FORBIDDEN, 403, content_type="text/html"))
    with pytest.raises(EngineUnavailable, match=r"settings\.yml \(formats: \[html, json\]\)"):
        engine(httpserver).search("q", 5)


def test_429_is_a_rate_limit(httpserver: HTTPServer) -> None:
    """The instance's limiter is distinguished from a failure."""
    asked = served(httpserver, Response("Too Many Requests", 429))
    with pytest.raises(RateLimited, match=r"asks for fewer requests \(HTTP 429\)"):
        engine(httpserver).search("q", 5)
    assert len(asked) == 1


@pytest.mark.parametrize("status", [400, 404, 500, 502])
def test_another_status_is_unavailable(httpserver: HTTPServer, status: int) -> None:
    """A server error is reported with its status."""
    served(httpserver, Response("oops", status))
    with pytest.raises(EngineUnavailable, match=f"HTTP {status}"):
        engine(httpserver).search("q", 5)


def test_a_redirect_is_reported_not_followed(httpserver: HTTPServer) -> None:
    """No instance can send us elsewhere; the error names the host to use, without what else the address holds."""
    served(httpserver, Response("", 302, {"Location": "https://me:secret@searx.example.net/login?next=1"}))
    with pytest.raises(EngineUnavailable, match=r"redirect to https://searx\.example\.net; use the final") as caught:
        engine(httpserver).search("q", 5)
    assert "secret" not in str(caught.value)


def test_when_all_engines_of_the_instance_fail_it_is_unavailable(httpserver: HTTPServer) -> None:
    """No engine answered: that is not an empty result."""
    failed = [["brave", "Suspended: too many requests"], ["duckduckgo", "CAPTCHA"]]
    served(httpserver, page(unresponsive=failed))
    with pytest.raises(EngineUnavailable, match=r"brave \(Suspended: too many requests\), duckduckgo \(CAPTCHA\)"):
        engine(httpserver).search("q", 5)


def test_some_unresponsive_engines_do_not_matter(httpserver: HTTPServer) -> None:
    """Results of one engine are results."""
    served(httpserver, page(result(1), unresponsive=[["brave", "timeout"]]))
    assert len(engine(httpserver).search("q", 1)) == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<!DOCTYPE html><html><h1>It works!</h1></html>", "HTML instead of JSON"),
        (b"", "something other"),
        (b'{"results": [', "something other"),
        (b"[]", "something other"),
        (b"{}", "something other"),
        (b'{"results": {}}', "something other"),
        (b'{"results": ["a"]}', "something other"),
        (b'{"results": [{"url": 1}]}', "something other"),
        (b'{"results": [], "unresponsive_engines": [["brave"]]}', "something other"),
        (b'{"results": [{"url": "\xff"}]}', "something other"),
        (b'{"results": ' + b"[" * 100_000, "something other"),
        (bytes(range(256)) * 20, "something other"),
    ],
    ids=[
        "html", "nothing", "cut off", "a list", "empty", "results no list", "result no object", "address no text",
        "no reason", "no UTF-8", "deep", "binary",
    ],
)  # fmt: skip
def test_an_unusable_response_of_searxng_is_unavailable(httpserver: HTTPServer, body: bytes, why: str) -> None:
    """A foreign response is a failure, not an empty result."""
    served(httpserver, Response(body, content_type="application/json"))
    with pytest.raises(EngineUnavailable, match=why):
        engine(httpserver).search("q", 5)


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_that_is_too_large_is_unavailable(httpserver: HTTPServer, packed: bool) -> None:
    """Neither a long answer nor a small one that unpacks to much fills the memory."""
    body = b" " * (MAX_BYTES + 1)
    headers = {"Content-Encoding": "gzip"} if packed else {}
    served(httpserver, Response(gzip.compress(body) if packed else body, headers=headers))
    with pytest.raises(EngineUnavailable, match="more than 5 MB"):
        engine(httpserver).search("q", 5)


def test_a_response_that_cannot_be_decompressed_is_unavailable(httpserver: HTTPServer) -> None:
    """A lie about the encoding is an error of ours."""
    served(httpserver, Response(b"not gzip", headers={"Content-Encoding": "gzip"}))
    with pytest.raises(EngineUnavailable, match="cannot be decompressed"):
        engine(httpserver).search("q", 5)


def test_a_refused_connection_is_unavailable() -> None:
    """A dead instance is an error that names what works without one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(EngineUnavailable, match=r"cannot be reached \(ConnectError\).*--engine corpus:PATH"):
        Searxng(f"http://127.0.0.1:{port}").search("q", 5)


def trickle(server: socket.socket, piece: bytes) -> None:
    """Accept one connection and send `piece` again and again, until the other side goes."""
    connection, _ = server.accept()
    with connection:
        connection.recv(10_000)
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        try:
            while True:
                connection.sendall(piece)
                time.sleep(0.02)
        except OSError:
            return


@pytest.fixture
def trickling(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that never comes to an end, in headers or in the body."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=trickle, args=(server, request.param))
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(5)


@pytest.mark.parametrize("trickling", [b"X-A: 1\r\n", b"X", b"\r\n "], ids=["headers", "one", "body"], indirect=True)
@pytest.mark.slow
def test_a_trickle_is_unavailable_within_the_time_out(trickling: str) -> None:
    """The time-out holds for the whole answer, its headers too, not for each of its bytes."""
    began = time.monotonic()
    with pytest.raises(EngineUnavailable, match=r"did not answer within 0\.3 s.*search_timeout"):
        Searxng(trickling, timeout=0.3).search("q", 5)
    assert time.monotonic() - began < 3


def test_silence_is_unavailable_within_the_time_out() -> None:
    """A server that accepts and says nothing is given up on in time."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        with pytest.raises(EngineUnavailable, match="did not answer within"):
            Searxng(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.3).search("q", 5)
    assert time.monotonic() - began < 3


# --- options


def test_at_its_defaults_only_the_instance_is_an_option() -> None:
    """Two instances have different engines behind them; their results are kept apart."""
    assert Searxng("https://searx.example.org").options == {"url": "https://searx.example.org"}
    assert Searxng("https://searx.example.org", **DEFAULTS).options == {"url": "https://searx.example.org"}


@pytest.mark.parametrize(
    "url", ["https://SEARX.example.org/", " https://searx.example.org:443", "https://me:pw@searx.example.org#top"]
)
def test_an_instance_has_one_spelling(url: str) -> None:
    """However its address is written, the key is the same."""
    assert Searxng(url).options == {"url": "https://searx.example.org"}


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({"language": "de"}, {"language": "de"}),
        ({"language": "auto"}, {}),
        ({"time_range": "week", "timeout": 3}, {"time_range": "week"}),
    ],
)
def test_only_what_differs_is_an_option(arguments: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Options have what changes results, and nothing else."""
    assert Searxng("http://localhost:8888", **arguments).options == {"url": "http://localhost:8888"} | options


@pytest.mark.parametrize(
    "url",
    [
        "",
        "searx.example.org",
        "ftp://searx.example.org",
        "http://",
        "http://[",
        "https://a.example/?q=1",
        "https://a b",
    ],
)
def test_an_invalid_url_is_refused(url: str) -> None:
    """A mistyped instance ends in one line before anybody is asked."""
    with pytest.raises(InvalidInput, match=r"must be a URL like https://"):
        Searxng(url)


def test_answers_and_infoboxes_come_first(httpserver: HTTPServer) -> None:
    """Each address is there once: what the answer says, and what the result says of the same page."""
    served(httpserver, page(result(1), result(2), answers=[ANSWER], infoboxes=[BOX]))
    assert engine(httpserver).search("q", 3) == [
        {"title": "Title 2", "href": "https://example.org/2", "body": "Adults sleep 8 hours.\n\nBody 2."},
        {"title": "Sleep", "href": "https://en.wikipedia.org/wiki/Sleep", "body": "Sleep is a state of rest."},
        {"title": "Title 1", "href": "https://example.org/1", "body": "Body 1."},
    ]


@pytest.mark.parametrize(
    ("url", "title"),
    [
        ("https://example.org/wiki/Heaven_Sent_(Doctor%20Who)", "Heaven Sent (Doctor Who)"),
        ("https://example.org/sleep-at-night.html?x=1", "sleep at night"),
        ("https://example.org/compound/8078/", "example.org"),
        ("https://someone:secret@example.org", "example.org"),
        ("https://[bad", "https://[bad"),
    ],
)
def test_the_page_of_an_answer_is_named_by_its_address(httpserver: HTTPServer, url: str, title: str) -> None:
    """An answer has no title; a result of the same page has one."""
    served(httpserver, page(answers=[ANSWER | {"url": url}]))
    assert [each["title"] for each in engine(httpserver).search("q", 1)] == [title]


@pytest.mark.parametrize(
    "shown",
    [
        {"answers": ["8 hours", 5, None]},  # as versions before 2025 have them
        {"answers": [ANSWER | {"url": None}, ANSWER | {"url": "data:image/svg+xml;base64,x"}, {"translations": []}]},
        {"answers": [ANSWER | {"url": "x"}]},
        {"answers": None, "infoboxes": {"Sleep": BOX}},
        {"infoboxes": ["Sleep", BOX | {"id": 5}, BOX | {"id": "Sleep"}, BOX | {"content": " "}, {}]},
    ],
)
def test_answers_without_a_text_or_a_source_are_left_out(httpserver: HTTPServer, shown: dict[str, object]) -> None:
    """As those of another form are: a currency has no page that could be quoted."""
    served(httpserver, page(result(1), **shown), page())
    assert [each["title"] for each in engine(httpserver).search("q", 5)] == ["Title 1"]
