"""The adapter against a real HTTP server on loopback that answers as the MediaWiki API does."""

import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.core.search_engines import ENGINE_SPECS
from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.settings import Settings
from harness.sources.engines.wikipedia import MAX_BODY_CHARS, MAX_RESULTS, Wikipedia
from harness.sources.from_settings import Sources

SNIPPET = 'An <span class="searchmatch">exponential</span> backoff &amp; its <span class="searchmatch">jitter</span>'


def match(number: int, **fields: Any) -> dict[str, Any]:
    """Return one search result in the shape of MediaWiki 1.44, formatversion 2."""
    made = {
        "ns": 0,
        "title": f"Article {number}",
        "pageid": number,
        "size": 9_000,
        "wordcount": 900,
        "snippet": SNIPPET,
    }
    return made | fields


def searched(*matches: dict[str, Any]) -> Response:
    """Answer `list=search`."""
    return reply({"batchcomplete": True, "query": {"searchinfo": {"totalhits": len(matches)}, "search": matches}})


def extracted(request: Request) -> Response:
    """Answer `prop=extracts`, pages sorted by id as MediaWiki does."""
    pageids = sorted(map(int, request.args["pageids"].split("|")))
    pages = [
        {"pageid": pageid, "ns": 0, "title": f"Article {pageid}", "extract": f"Introduction {pageid}.\nMore."}
        for pageid in pageids
    ]
    return reply({"batchcomplete": True, "query": {"pages": pages}})


def failed(code: str, info: str, **headers: str) -> Response:
    """Answer with an error of the API: the status is 200."""
    document = {"error": {"code": code, "info": info, "docref": "See https://en.wikipedia.org/w/api.php"}}
    return reply(document, **{"MediaWiki-API-Error": code, **headers})


def reply(document: object, status: int = 200, **headers: str) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(document), status, headers, content_type="application/json; charset=utf-8")


def served(server: HTTPServer, search: Response, extracts: Response | None = None) -> list[Request]:
    """Let `server` answer searches and extracts; return the requests."""
    requests: list[Request] = []

    def answer(request: Request) -> Response:
        requests.append(request)
        if request.args.get("list") == "search":
            return search
        return extracts or extracted(request)

    server.expect_request("/w/api.php", method="GET").respond_with_handler(answer)
    return requests


def engine(server: HTTPServer, language: str = "en", timeout: float = 10.0) -> Wikipedia:
    """Return the engine at `server`."""
    return Wikipedia(language, timeout=timeout, base_url=server.url_for(""))


def test_results_have_the_introductions_in_the_order_of_the_search(httpserver: HTTPServer) -> None:
    """The API returns extracts by page id; the order is that of the search."""
    served(httpserver, searched(match(7), match(3), match(5)))
    results = engine(httpserver).search("retries", 10)
    assert [result["title"] for result in results] == ["Article 7", "Article 3", "Article 5"]
    assert [result["body"] for result in results] == [f"Introduction {number}.\nMore." for number in (7, 3, 5)]
    assert results[0]["href"] == httpserver.url_for("/wiki/Article_7")


def test_the_requests_are_as_the_api_documents_them(httpserver: HTTPServer) -> None:
    """One search, one request for extracts; both polite: `maxlag`, and a name in the user agent."""
    requests = served(httpserver, searched(match(7), match(3)))
    engine(httpserver).search("  retries & jitter ", 2)
    common = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}
    search = {"list": "search", "srsearch": "retries & jitter", "srlimit": "2", "srprop": "snippet"}
    extracts = {"prop": "extracts", "exintro": "1", "explaintext": "1", "exlimit": "20", "pageids": "7|3"}
    assert [request.args.to_dict() for request in requests] == [common | search, common | extracts]
    assert all("harness" in request.headers["User-Agent"] for request in requests)


def test_a_search_without_results_is_empty_and_asks_once(httpserver: HTTPServer) -> None:
    """No results are not a failure, and need no extracts."""
    requests = served(httpserver, searched())
    assert engine(httpserver).search("zxqv", 10) == []
    assert len(requests) == 1


def test_more_results_need_more_requests_for_extracts(httpserver: HTTPServer) -> None:
    """20 extracts at a time, at most `MAX_RESULTS` results, whatever the server sends."""
    requests = served(httpserver, searched(*(match(number) for number in range(1, 101))))
    results = engine(httpserver).search("q", 100)
    assert len(results) == MAX_RESULTS
    assert requests[0].args["srlimit"] == f"{MAX_RESULTS}"
    assert [len(request.args["pageids"].split("|")) for request in requests[1:]] == [20, 20]
    assert all(result["body"].startswith("Introduction") for result in results)


@pytest.mark.parametrize(
    "extracts",
    [
        reply({"batchcomplete": True, "query": {"pages": [{"pageid": 7, "ns": 0, "title": "Article 7"}]}}),
        reply({"batchcomplete": True, "query": {"pages": [{"pageid": 7, "extract": ""}, {"missing": True}]}}),
        reply({"batchcomplete": True, "warnings": {"main": {"warnings": "Unrecognized parameter: exintro."}}}),
    ],
    ids=["no extract", "an empty one", "no extension"],
)
def test_without_an_extract_the_snippet_is_the_body(httpserver: HTTPServer, extracts: Response) -> None:
    """Its HTML is removed: tags, and entities."""
    served(httpserver, searched(match(7)), extracts)
    [result] = engine(httpserver).search("q", 10)
    assert result["body"] == "An exponential backoff & its jitter"


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Control and direction characters, endless texts, scripts; a title leads to no other host."""
    hostile = match(1, title="\x1b]0;x\x07//evil.example/\u202e../a?b#c", snippet="<script>alert(1)</script>" * 2_000)
    endless = match(2, title="t" * 5_000)
    broken = match(3, snippet="<" * 100_000)
    extract = {"pageid": 2, "extract": "\x00\u202e word" * 50_000}
    served(httpserver, searched(hostile, endless, broken), reply({"query": {"pages": [extract, {"pageid": 9}]}}))
    first, second, third = engine(httpserver).search("q", 10)
    assert first["title"] == "]0;x//evil.example/../a?b#c"
    assert first["href"].startswith(httpserver.url_for("/wiki/"))
    assert not set("?# ") & set(first["href"])
    assert "<script" not in first["body"]
    assert (len(second["title"]), len(second["body"]) <= MAX_BODY_CHARS) == (500, True)
    assert second["body"].startswith("word word")
    assert len(third["body"]) <= MAX_BODY_CHARS


@pytest.mark.parametrize(
    "refusal",
    [
        failed("maxlag", "Waiting for 10.64.16.7: 5.6 seconds lagged.", **{"Retry-After": "5"}),
        failed("ratelimited", "You've exceeded your rate limit. Please wait some time and try again."),
        failed("cirrussearch-too-busy-error", "Search is currently too busy. Please try again later."),
        Response("<!DOCTYPE html><title>Too many requests</title>", 429, {"Retry-After": "10"}),
        reply({"error": {"code": "maxlag", "info": "Waiting for a server: 9 seconds lagged."}}, 503),
    ],
    ids=["maxlag", "ratelimited", "too busy", "429", "503 with maxlag"],
)
@pytest.mark.parametrize("late", [False, True])
def test_a_busy_server_is_a_rate_limit(httpserver: HTTPServer, refusal: Response, late: bool) -> None:
    """Whether it refuses the search or the extracts."""
    served(httpserver, searched(match(1)) if late else refusal, refusal)
    with pytest.raises(RateLimited, match="Wikipedia asks for fewer requests"):
        engine(httpserver).search("q", 10)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            failed("search-error", "An error has occurred while searching:\n\x07 bad."),
            "searching: bad; try again",
        ),
        (failed("internal_api_error_DBQueryError", ""), "internal_api_error_DBQueryError"),
        (reply({"batchcomplete": True}), "something else than results"),
        (reply({"query": {"pages": []}}), "something else than results"),
        (reply([1, 2]), "something else than results"),
        (reply({"query": {"search": [{"title": "no id"}]}}), "something else than results"),
        (Response(b"[" * 100_000, content_type="application/json"), "something else than results"),
        (Response("<!DOCTYPE html><title>Wikimedia Error</title>"), "something else than results"),
        (Response("<!DOCTYPE html><title>Wikimedia Error</title>", 503), "HTTP 503"),
        (Response("", 301, {"Location": "https://en.wikipedia.org/w/api.php"}), "redirect to https://en.wikipedia.org"),
        (Response(b"x" * 5_000_001), "more than 5 MB"),
    ],
    ids=["search", "internal", "no query", "no search", "a list", "no id", "deep", "HTML", "503", "redirect", "large"],
)
def test_a_failure_is_never_an_empty_result(httpserver: HTTPServer, answer: Response, words: str) -> None:
    """The error is one line that says what happened."""
    served(httpserver, answer)
    with pytest.raises(EngineUnavailable, match=words) as raised:
        engine(httpserver).search("q", 10)
    assert "\n" not in str(raised.value)
    assert "\x07" not in str(raised.value)


def test_no_answer_is_a_failure(httpserver: HTTPServer) -> None:
    """A server that hangs, and one that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = Wikipedia(timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"did not answer within 0\.2 s"):
            hanging.search("q", 10)
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        hanging.search("q", 10)


def test_a_long_query_is_cut_to_what_the_search_accepts(httpserver: HTTPServer) -> None:
    """CirrusSearch refuses more than 300 characters."""
    requests = served(httpserver, searched())
    engine(httpserver).search("word " * 500, 10)
    assert len(requests[0].args["srsearch"]) <= 300


def test_the_language_is_part_of_the_key() -> None:
    """Results of one language never answer for another."""
    assert Wikipedia().options == {"language": "en"}
    assert Wikipedia("DE").options == Wikipedia(" de ").options == {"language": "de"}
    assert Wikipedia("zh-min-nan").options == {"language": "zh-min-nan"}


@pytest.mark.parametrize("language", ["", "e", "en.evil.example/", "de:", "en_US", "../x", "é", "a-" * 99])
def test_a_language_that_is_none_is_refused(language: str) -> None:
    """It would be part of a host name."""
    with pytest.raises(InvalidInput, match="no Wikipedia has the code"):
        Wikipedia(language)


def test_it_is_an_engine_like_the_others(tmp_path: Path) -> None:
    """`wikipedia` and `wikipedia:LANG` name it; it sends nothing past a proxy."""
    assert "wikipedia[:LANG]" in ENGINE_SPECS

    def unused() -> Any:
        raise AssertionError("it needs no embedder and no library")

    sources = Sources(Settings(data_dir=tmp_path), unused, lambda *_: None, unused)
    found = sources.engines(["wikipedia", "wikipedia:de"])
    assert [(each.name, each.options["language"]) for each in found] == [("wikipedia", "en"), ("wikipedia", "de")]
    settings = Settings(data_dir=tmp_path, proxy="http://127.0.0.1:9")
    behind = Sources(settings, unused, lambda *_: None, unused)
    with pytest.raises(InvalidInput, match="does not go through a proxy"):
        behind.engines(["wikipedia"])
