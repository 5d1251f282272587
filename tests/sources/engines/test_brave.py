"""The adapter against a real HTTP server on loopback that answers as the Web Search API of Brave does."""

import logging
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, HarnessError, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.brave import MAX_RESULTS, Brave, from_settings
from harness.sources.engines.result_fields import MAX_BODY_CHARS, MAX_TITLE_CHARS

KEY = "BSA-0123456789abcdef"


def item(number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return one result in the shape of the API."""
    made = {
        "type": "search_result",
        "subtype": "generic",
        "title": f"Page {number}",
        "url": f"https://example.org/{number}",
        "description": f"What page {number} says.",
        "is_live": False,
        "page_age": "2024-03-05T10:00:00",
        "age": "March 5, 2024",
        "profile": {"name": "Example", "url": f"https://example.org/{number}", "long_name": "example.org"},
        "language": "en",
        "extra_snippets": [f"More of page {number}.", "And more."],
    }
    return made | fields


def found(*items: object, more: bool | None = True, headers: Mapping[str, str] | None = None) -> Response:
    """Answer a search."""
    query = {"original": "q"} | ({} if more is None else {"more_results_available": more})
    web = {"type": "search", "results": items, "family_friendly": True}
    return reply({"type": "search", "query": query, "web": web}, headers=headers)


def failed(status: int, code: str, detail: str = "It was refused.") -> Response:
    """Answer with an error of the API."""
    error = {"id": "5d832250", "status": status, "code": code, "detail": detail, "meta": {"component": "x"}}
    return reply({"type": "ErrorResponse", "error": error, "time": 1_663_072_993}, status)


def reply(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(document), status, headers, content_type="application/json")


def served(server: HTTPServer, *answers: Response) -> list[Request]:
    """Let `server` answer each page, the last answer for all further ones; return the requests."""
    requests: list[Request] = []

    def handle(request: Request) -> Response:
        requests.append(request)
        return answers[min(int(request.args["offset"]), len(answers) - 1)]

    server.expect_request("/web/search", method="GET").respond_with_handler(handle)
    return requests


def engine(server: HTTPServer, **options: Any) -> Brave:
    """Return the engine at `server`."""
    return Brave(**{"api_key": KEY, "base_url": server.url_for(""), **options})


def searched(server: HTTPServer, *items: object) -> Sequence[SearchResult]:
    """Return what a search makes of these results."""
    served(server, found(*items))
    return engine(server).search("q", 10)


def test_the_request_is_as_the_api_documents_it(httpserver: HTTPServer) -> None:
    """The service refuses every other `Accept`."""
    requests = served(httpserver, found(item()))
    engine(httpserver).search("  sleep  & memory ", 5)
    [request] = requests
    assert request.args.to_dict() == {
        "q": "sleep & memory",
        "count": "5",
        "offset": "0",
        "extra_snippets": "true",
        "result_filter": "query,web",
    }
    assert request.headers["Accept"] == "application/json"


def test_the_key_is_sent_as_a_header_only(httpserver: HTTPServer, caplog: pytest.LogCaptureFixture) -> None:
    """It is in no address, no log and no option."""
    caplog.set_level(logging.DEBUG)
    requests = served(httpserver, found(item()))
    searcher = engine(httpserver, api_key=f" {KEY}\n")
    searcher.search("q", 5)
    assert requests[0].headers["X-Subscription-Token"] == KEY
    assert KEY not in requests[0].url + caplog.text + repr(searcher.options)


def test_a_result_has_all_fields(httpserver: HTTPServer) -> None:
    """The body has the description and the other excerpts, without their HTML and each once."""
    made = item(
        7,
        title="Sleep &amp; <strong>memory</strong>",
        description="How <strong>sleep</strong> isn&#x27;t rest.",
        extra_snippets=["How sleep isn't rest.", "Another <strong>part</strong>."],
    )
    assert searched(httpserver, made) == [
        {
            "title": "Sleep & memory",
            "href": "https://example.org/7",
            "body": "How sleep isn't rest.\n\nAnother part.",
            "date": "2024-03-05",
            "site": "Example",
        }
    ]


def test_results_are_in_the_order_of_the_service(httpserver: HTTPServer) -> None:
    """Each address is there once."""
    results = searched(httpserver, item(3), item(1), item(3, title="Again"), item(2))
    assert [result["title"] for result in results] == ["Page 3", "Page 1", "Page 2"]


@pytest.mark.parametrize(
    "answer",
    [found(), reply({"type": "search", "query": {"original": "q"}}), reply({"type": "search", "web": {}})],
    ids=["an empty list", "no web", "no list"],
)
def test_no_results_are_not_a_failure(httpserver: HTTPServer, answer: Response) -> None:
    """The reply may lack the list; no second page is requested."""
    requests = served(httpserver, answer)
    assert engine(httpserver).search("zxqv", 60) == []
    assert len(requests) == 1


def test_more_results_are_on_further_pages(httpserver: HTTPServer) -> None:
    """20 on a page, at most `MAX_RESULTS`; the offset counts pages."""
    pages = [found(*(item(20 * page + number) for number in range(20))) for page in range(9)]
    requests = served(httpserver, *pages)
    results = engine(httpserver).search("q", 100)
    assert [result["title"] for result in results] == [f"Page {number}" for number in range(MAX_RESULTS)]
    assert [(request.args["offset"], request.args["count"]) for request in requests] == [
        ("0", "20"),
        ("1", "20"),
        ("2", "20"),
    ]


@pytest.mark.parametrize(
    "pages",
    [
        (found(item(1), more=False), found(item(2))),
        (found(item(1), more=None), found(item(1), more=None), found(item(2))),
    ],
    ids=["no more", "nothing new"],
)
def test_the_pages_end_with_the_results(httpserver: HTTPServer, pages: tuple[Response, ...]) -> None:
    """The pages end where the service says so, or where one has nothing new."""
    requests = served(httpserver, *pages)
    assert len(engine(httpserver).search("q", 60)) == 1
    assert len(requests) == len(pages) - 1


def test_a_later_page_that_fails_ends_the_results(httpserver: HTTPServer) -> None:
    """Return the results of the pages before it."""
    served(httpserver, found(*map(item, range(20))), failed(429, "RATE_LIMITED"))
    assert len(engine(httpserver).search("q", 60)) == 20


@pytest.mark.parametrize(("remaining", "pauses"), [("0, 1999", [1.0]), ("19, 1999", []), ("", [])])
def test_pages_wait_for_the_next_second(httpserver: HTTPServer, remaining: str, pauses: list[float]) -> None:
    """Wait where the plan has no request left in this second; never after the last page."""
    headers = {"X-RateLimit-Remaining": remaining}
    served(httpserver, *(found(*(item(20 * page + n) for n in range(19)), headers=headers) for page in range(2)))
    slept: list[float] = []
    engine(httpserver, sleep=slept.append).search("q", 40)
    assert slept == pauses


@pytest.mark.parametrize("query", ["word " * 500, "w" * 5_000, "\n\tone\x00 two  " * 300])
def test_a_long_query_is_cut_to_what_the_service_accepts(httpserver: HTTPServer, query: str) -> None:
    """At most 400 characters and 50 words."""
    requests = served(httpserver, found())
    engine(httpserver).search(query, 10)
    sent = requests[0].args["q"]
    assert 0 < len(sent) <= 400
    assert len(sent.split()) <= 50
    assert sent.isprintable()


def test_an_empty_query_is_not_sent(httpserver: HTTPServer) -> None:
    """The service would refuse it."""
    requests = served(httpserver, found(item()))
    assert (engine(httpserver).search(" \x00\n", 10), requests) == ([], [])


@pytest.mark.parametrize("field", ["title", "description", "extra_snippets", "page_age", "profile"])
@pytest.mark.parametrize("null", [True, False])
def test_a_field_may_be_missing(httpserver: HTTPServer, field: str, null: bool) -> None:
    """Or null; the other fields stay."""
    made = item(4, **{field: None})
    if not null:
        del made[field]
    [result] = searched(httpserver, made)
    assert result["href"] == "https://example.org/4"
    assert result["title"] == ("https://example.org/4" if field == "title" else "Page 4")
    assert ("date" in result, "site" in result) == (field != "page_age", field != "profile")


def test_without_a_text_the_body_is_empty(httpserver: HTTPServer) -> None:
    """The title does not become a text."""
    [result] = searched(httpserver, item(description=None, extra_snippets=[None, ""]))
    assert result["body"] == ""


@pytest.mark.parametrize(
    "odd", [None, 1, "x", [], {"url": 5}, item(2, url=None), item(2, url="javascript:alert(1)"), item(2, title=[1])]
)
def test_an_odd_result_does_not_lose_the_others(httpserver: HTTPServer, odd: object) -> None:
    """It is left out."""
    assert [result["title"] for result in searched(httpserver, item(1), odd, item(3))] == ["Page 1", "Page 3"]


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Control and direction characters, mark-up, endless texts."""
    hostile = item(1, title="\x1b]0;x\x07A\u202eB\nC", description="<img src=x onerror=alert(1)>\x9bText")
    endless = item(2, title="t" * 5_000, description="d " * 50_000, profile={"name": "n" * 5_000})
    first, second = searched(httpserver, hostile, endless)
    assert (first["title"], first["body"]) == ("]0;xAB C", "Text\n\nMore of page 1.\n\nAnd more.")
    assert (len(second["title"]), len(second["site"])) == (MAX_TITLE_CHARS, 200)
    assert len(second["body"]) <= MAX_BODY_CHARS


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (failed(422, "SUBSCRIPTION_TOKEN_INVALID"), InvalidInput, "refuses the key; check brave_api_key"),
        (failed(403, "SUBSCRIPTION_TOKEN_INVALID"), InvalidInput, "refuses the key; check brave_api_key"),
        (failed(404, "SUBSCRIPTION_NOT_FOUND"), InvalidInput, "refuses the key; check brave_api_key"),
        (
            reply({"type": "ErrorResponse", "errors": [{"code": "SUBSCRIPTION_TOKEN_INVALID"}]}, 422),
            InvalidInput,
            "refuses the key",
        ),
        (Response("", 401), InvalidInput, "refuses the key"),
        (failed(429, "RATE_LIMITED"), RateLimited, "asks for fewer requests .HTTP 429.; wait a minute"),
        (Response("<title>Too many</title>", 429), RateLimited, "asks for fewer requests"),
        (failed(429, "QUOTA_LIMITED"), EngineUnavailable, "no requests left for this key"),
        (Response("", 402), EngineUnavailable, "no requests left for this key"),
        (failed(422, "VALIDATION", "Bad\n\x07 input."), EngineUnavailable, "search .HTTP 422.: Bad input; try again"),
        (failed(403, "", ""), EngineUnavailable, "HTTP 403; try again later"),
        (Response("<title>Down</title>", 503), EngineUnavailable, "HTTP 503; try again later"),
        (Response("", 301, {"Location": "https://other.example/x"}), EngineUnavailable, "redirect to https://other"),
    ],
)
def test_a_refusal_says_what_to_do(
    httpserver: HTTPServer, answer: Response, kind: type[HarnessError], words: str
) -> None:
    """In one line."""
    served(httpserver, answer)
    with pytest.raises(kind, match=words) as raised:
        engine(httpserver).search("q", 10)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    "answer",
    [
        Response("<!DOCTYPE html><title>Brave</title>"),
        Response(b"[" * 100_000, content_type="application/json"),
        reply([1, 2]),
        reply({}),
        reply({"type": "ErrorResponse"}),
        reply({"type": "search", "web": {"results": {"a": 1}}}),
        found("x", {"url": 5}),
    ],
    ids=["HTML", "deep", "a list", "empty", "an error", "no list", "odd results"],
)
def test_another_reply_is_never_an_empty_result(httpserver: HTTPServer, answer: Response) -> None:
    """Broken JSON, and JSON of another form."""
    served(httpserver, answer)
    with pytest.raises(EngineUnavailable, match="something else than results; try again later"):
        engine(httpserver).search("q", 10)


def test_an_error_never_shows_the_key(httpserver: HTTPServer) -> None:
    """Also where the service repeats it; a long message is shortened."""
    served(httpserver, failed(400, "BAD", f"The token {KEY} " + "is bad " * 500))
    with pytest.raises(EngineUnavailable, match="The token … is bad") as raised:
        engine(httpserver).search("q", 10)
    assert KEY not in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("key", [None, "", " \n"])
def test_a_missing_key_is_an_error_at_once(tmp_path: Path, key: str | None) -> None:
    """It names the setting, and where a key is got."""
    with pytest.raises(InvalidInput, match=r"https://api-dashboard\.search\.brave\.com and set brave_api_key"):
        from_settings("", Settings(data_dir=tmp_path, brave_api_key=key))


@pytest.mark.parametrize("key", ["a b", "a\r\nX-Evil: 1", "kéy", "k" * 501])
def test_a_key_of_another_form_is_refused(key: str) -> None:
    """It would break the header; the error does not show it."""
    with pytest.raises(InvalidInput, match="brave_api_key has characters") as raised:
        Brave(api_key=key)
    assert key not in str(raised.value)


def test_the_settings_give_the_key(tmp_path: Path) -> None:
    """No option is set by default; another address is one."""
    assert from_settings("", Settings(data_dir=tmp_path, brave_api_key=KEY)).options == {}
    assert Brave(api_key=KEY, base_url="https://proxy.example/").options == {"base_url": "https://proxy.example"}


def test_no_answer_is_a_failure() -> None:
    """A server that hangs, and one that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = Brave(api_key=KEY, timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"Brave Search did not answer within 0\.2 s"):
            hanging.search("q", 10)
    with pytest.raises(EngineUnavailable, match="Brave Search cannot be reached"):
        hanging.search("q", 10)
