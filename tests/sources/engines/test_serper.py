"""The adapter against a real HTTP server on loopback that answers as serper.dev does."""

import logging
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, HarnessError, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.result_fields import MAX_BODY_CHARS, MAX_TITLE_CHARS
from harness.sources.engines.serper import MAX_RESULTS, Serper, from_settings

KEY = "0123456789abcdef0123456789abcdef"
BOX = {"title": "Sleep", "link": "https://example.org/box", "answer": "8 hours", "snippet": "Adults sleep 8 hours."}


def item(number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return one result in the shape of the service."""
    made = {
        "title": f"Page {number}",
        "link": f"https://example.org/{number}",
        "snippet": f"What page {number} says.",
        "date": "Jan 5, 2024",
        "position": number,
        "sitelinks": [{"title": "Part", "link": f"https://example.org/{number}/part"}],
    }
    return made | fields


def found(*items: object, **blocks: object) -> Response:
    """Answer a search."""
    asked = {"q": "q", "type": "search", "engine": "google"}
    related = {"peopleAlsoAsk": [{"question": "Why?", "snippet": "So.", "link": "https://example.org/why"}]}
    return reply({"searchParameters": asked, "organic": items, **related, "credits": 1, **blocks})


def failed(status: int, message: str) -> Response:
    """Answer with an error of the service."""
    return reply({"message": message, "statusCode": status}, status)


def reply(document: object, status: int = 200) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(document), status, content_type="application/json")


def served(server: HTTPServer, *answers: Response) -> list[Request]:
    """Let `server` answer each page, the last answer for all further ones; return the requests."""
    requests: list[Request] = []

    def handle(request: Request) -> Response:
        page: int = body_of(request)["page"]
        requests.append(request)
        return answers[min(page, len(answers)) - 1]

    server.expect_request("/search", method="POST").respond_with_handler(handle)
    return requests


def body_of(request: Request) -> Any:
    """Return the JSON of a request."""
    return msgspec.json.decode(request.get_data())


def engine(server: HTTPServer, **options: Any) -> Serper:
    """Return the engine at `server`."""
    return Serper(**{"api_key": KEY, "base_url": server.url_for(""), **options})


def searched(server: HTTPServer, *items: object, **blocks: object) -> Sequence[SearchResult]:
    """Return what a search makes of these results."""
    served(server, found(*items, **blocks))
    return engine(server).search("q", 10)


def test_the_request_is_as_the_service_expects_it(httpserver: HTTPServer) -> None:
    """An object of JSON; the pages have their own size."""
    requests = served(httpserver, found(item()))
    engine(httpserver).search('  "sleep"  & site:example.org ', 5)
    [request] = requests
    assert body_of(request) == {"q": '"sleep" & site:example.org', "page": 1}
    assert request.headers["Content-Type"] == "application/json"


def test_the_key_is_sent_as_a_header_only(httpserver: HTTPServer, caplog: pytest.LogCaptureFixture) -> None:
    """It is in no address, no log and no option."""
    caplog.set_level(logging.DEBUG)
    requests = served(httpserver, found(item()))
    searcher = engine(httpserver, api_key=f" {KEY}\n")
    searcher.search("q", 5)
    assert requests[0].headers["X-API-KEY"] == KEY
    assert KEY not in requests[0].url + caplog.text + repr(searcher.options)


def test_a_result_has_all_fields(httpserver: HTTPServer) -> None:
    """Title, address, text and date."""
    assert searched(httpserver, item(7)) == [
        {"title": "Page 7", "href": "https://example.org/7", "body": "What page 7 says.", "date": "2024-01-05"}
    ]


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("Jan 5, 2024", "2024-01-05"),
        (" Dec 31, 1999 ", "1999-12-31"),
        ("September 1, 2020", "2020-09-01"),
        ("3 days ago", None),
        ("2000 years ago", None),
        ("Foo 5, 2024", None),
        ("", None),
    ],
)
def test_only_a_day_is_a_date(httpserver: HTTPServer, date: str, expected: str | None) -> None:
    """A date that is relative to today is wrong tomorrow."""
    [result] = searched(httpserver, item(date=date))
    assert result.get("date") == expected


def test_results_are_in_the_order_of_the_service(httpserver: HTTPServer) -> None:
    """Each address is there once."""
    results = searched(httpserver, item(3), item(1), item(3, title="Again"), item(2))
    assert [result["title"] for result in results] == ["Page 3", "Page 1", "Page 2"]


def test_the_answer_box_comes_first(httpserver: HTTPServer) -> None:
    """Its address is not there again; what the result says of that page is kept."""
    first, second = searched(httpserver, item(1), item(2, link=BOX["link"]), answerBox=BOX)
    assert first == {
        "title": "Sleep",
        "href": BOX["link"],
        "body": "8 hours\n\nAdults sleep 8 hours.\n\nWhat page 2 says.",
        "date": "2024-01-05",
    }
    assert second["title"] == "Page 1"


@pytest.mark.parametrize(
    "box",
    [None, "x", [], {}, {"answer": "8 hours"}, {"title": "t", "link": "https://example.org/box"}, BOX | {"link": 5}],
)
def test_an_answer_box_without_a_text_or_a_source_is_left_out(httpserver: HTTPServer, box: object) -> None:
    """As one of another form is."""
    results = searched(httpserver, item(1), answerBox=box, knowledgeGraph={"title": "Sleep", "description": "Rest."})
    assert [result["title"] for result in results] == ["Page 1"]


@pytest.mark.parametrize(
    "answer",
    [found(), reply({"searchParameters": {"q": "q"}, "credits": 1}), reply({"organic": []})],
    ids=["an empty list", "no list", "only a list"],
)
def test_no_results_are_not_a_failure(httpserver: HTTPServer, answer: Response) -> None:
    """The reply may lack the list; no second page is requested."""
    requests = served(httpserver, answer)
    assert engine(httpserver).search("zxqv", 50) == []
    assert len(requests) == 1


def test_more_results_are_on_further_pages(httpserver: HTTPServer) -> None:
    """10 on a page, at most `MAX_RESULTS`."""
    requests = served(httpserver, *(found(*(item(10 * page + n) for n in range(10))) for page in range(9)))
    results = engine(httpserver).search("q", 100)
    assert [result["title"] for result in results] == [f"Page {number}" for number in range(MAX_RESULTS)]
    assert [body_of(request)["page"] for request in requests] == [1, 2, 3, 4, 5]


def test_few_results_need_one_credit(httpserver: HTTPServer) -> None:
    """Up to 10 results are on one page, also where it has fewer."""
    requests = served(httpserver, found(*map(item, range(8))), found(*map(item, range(8, 16))))
    assert len(engine(httpserver).search("q", 10)) == 8
    assert len(engine(httpserver).search("q", 3)) == 3
    assert len(requests) == 2


def test_the_pages_end_where_one_has_nothing_new(httpserver: HTTPServer) -> None:
    """No further credit is spent."""
    requests = served(httpserver, found(item(1), item(2)), found(item(2)), found(item(3)))
    assert len(engine(httpserver).search("q", 50)) == 2
    assert len(requests) == 2


def test_a_later_page_that_fails_ends_the_results(httpserver: HTTPServer) -> None:
    """Return the results of the pages before it."""
    served(httpserver, found(*map(item, range(10))), failed(400, "Not enough credits"))
    assert len(engine(httpserver).search("q", 50)) == 10


def test_a_long_query_is_cut(httpserver: HTTPServer) -> None:
    """Google takes 2,048 characters."""
    requests = served(httpserver, found())
    engine(httpserver).search("word\x00 " * 5_000, 10)
    assert len(body_of(requests[0])["q"]) <= 2_048
    assert body_of(requests[0])["q"].startswith("word word")


def test_an_empty_query_is_not_sent(httpserver: HTTPServer) -> None:
    """It would cost a credit."""
    requests = served(httpserver, found(item()))
    assert (engine(httpserver).search(" \x00\n", 10), requests) == ([], [])


@pytest.mark.parametrize("field", ["title", "snippet", "date", "position", "sitelinks"])
@pytest.mark.parametrize("null", [True, False])
def test_a_field_may_be_missing(httpserver: HTTPServer, field: str, null: bool) -> None:
    """Or null; the title never becomes the text."""
    made = item(4, **{field: None})
    if not null:
        del made[field]
    [result] = searched(httpserver, made)
    assert result["title"] == ("https://example.org/4" if field == "title" else "Page 4")
    assert result["body"] == ("" if field == "snippet" else "What page 4 says.")
    assert ("date" in result) == (field != "date")


@pytest.mark.parametrize(
    "odd", [None, 1, "x", [], {"link": 5}, item(2, link=None), item(2, link="javascript:alert(1)"), item(2, title=[1])]
)
def test_an_odd_result_does_not_lose_the_others(httpserver: HTTPServer, odd: object) -> None:
    """It is left out."""
    assert [result["title"] for result in searched(httpserver, item(1), odd, item(3))] == ["Page 1", "Page 3"]


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Control and direction characters, endless texts."""
    hostile = item(1, title="\x1b]0;x\x07A\u202eB\nC", snippet="\x9bText\x00", date="\x1b[31m")
    endless = item(2, title="t" * 5_000, snippet="d " * 50_000, date="9" * 50_000)
    first, second = searched(httpserver, hostile, endless)
    assert (first["title"], first["body"]) == ("]0;xAB C", "Text")
    assert len(second["title"]) == MAX_TITLE_CHARS
    assert len(second["body"]) <= MAX_BODY_CHARS
    assert "date" not in {**first, **second}


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (failed(403, "Unauthorized."), InvalidInput, "refuses the key; check serper_api_key"),
        (failed(403, "Unauthorized. Sign up for a free account."), InvalidInput, "refuses the key"),
        (failed(401, ""), InvalidInput, "refuses the key; check serper_api_key"),
        (failed(400, "Not enough credits"), EngineUnavailable, "no credits left for this key; buy some"),
        (failed(429, "Not enough credits"), EngineUnavailable, "no credits left for this key; buy some"),
        (failed(429, "Too many requests"), RateLimited, "asks for fewer requests .HTTP 429.; wait a minute"),
        (Response("<title>Too many</title>", 429), RateLimited, "asks for fewer requests"),
        (failed(400, "Query pattern not allowed for free accounts"), EngineUnavailable, "leave out operators"),
        (failed(400, "Bad\n\x07 input."), EngineUnavailable, "search .HTTP 400.: Bad input; try again later"),
        (Response("<title>Forbidden</title>", 403), EngineUnavailable, "HTTP 403; try again later"),
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
        Response("<!DOCTYPE html><title>Google</title>"),
        Response(b"[" * 100_000, content_type="application/json"),
        reply([1, 2]),
        reply({}),
        reply({"message": "?"}),
        reply({"organic": {"a": 1}}),
        found("x", {"link": 5}),
    ],
    ids=["HTML", "deep", "a list", "empty", "a message", "no list", "odd results"],
)
def test_another_reply_is_never_an_empty_result(httpserver: HTTPServer, answer: Response) -> None:
    """Broken JSON, and JSON of another form."""
    served(httpserver, answer)
    with pytest.raises(EngineUnavailable, match="something else than results; try again later"):
        engine(httpserver).search("q", 10)


def test_an_error_never_shows_the_key(httpserver: HTTPServer) -> None:
    """Also where the service repeats it; a long message is shortened."""
    served(httpserver, failed(400, f"The key {KEY} " + "is bad " * 500))
    with pytest.raises(EngineUnavailable, match="The key … is bad") as raised:
        engine(httpserver).search("q", 10)
    assert KEY not in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("key", [None, "", " \n"])
def test_a_missing_key_is_an_error_at_once(tmp_path: Path, key: str | None) -> None:
    """It names the setting, and where a key is got."""
    with pytest.raises(InvalidInput, match=r"https://serper\.dev and set serper_api_key"):
        from_settings("", Settings(data_dir=tmp_path, serper_api_key=key))


@pytest.mark.parametrize("key", ["a b", "a\r\nX-Evil: 1", "kéy", "k" * 501])
def test_a_key_of_another_form_is_refused(key: str) -> None:
    """It would break the header; the error does not show it."""
    with pytest.raises(InvalidInput, match="serper_api_key has characters") as raised:
        Serper(api_key=key)
    assert key not in str(raised.value)


def test_the_settings_give_the_key(tmp_path: Path) -> None:
    """No option is set by default; another address is one."""
    assert from_settings("", Settings(data_dir=tmp_path, serper_api_key=KEY)).options == {}
    assert Serper(api_key=KEY, base_url="https://proxy.example/").options == {"base_url": "https://proxy.example"}


def test_no_answer_is_a_failure() -> None:
    """A server that hangs, and one that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = Serper(api_key=KEY, timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"serper\.dev did not answer within 0\.2 s"):
            hanging.search("q", 10)
    with pytest.raises(EngineUnavailable, match=r"serper\.dev cannot be reached"):
        hanging.search("q", 10)
