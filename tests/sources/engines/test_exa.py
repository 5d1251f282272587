"""The adapter against a real HTTP server on loopback that answers as the API of Exa does."""

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
from harness.sources.engines.exa import MAX_RESULTS, MAX_TEXT_CHARS, Exa, from_settings
from harness.sources.engines.filters import Filters
from harness.sources.engines.result_fields import MAX_BODY_CHARS, MAX_TITLE_CHARS

KEY = "0123abcd-4567-89ef-0123-456789abcdef"


def item(number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return one result in the shape of the API."""
    made = {
        "id": f"https://example.org/{number}",
        "title": f"Page {number}",
        "url": f"https://example.org/{number}",
        "publishedDate": "2024-03-05T01:36:32.547Z",
        "author": "Ada Lovelace",
        "text": f"How page {number} begins.\n\nIts second paragraph.",
        "highlights": [f"A passage of page {number}."],
        "highlightScores": [0.46],
        "image": f"https://example.org/{number}.png",
    }
    return made | fields


def found(*items: object) -> Response:
    """Answer a search."""
    return reply({"requestId": "b594", "searchType": "neural", "results": items, "costDollars": {"total": 0.007}})


def failed(status: int, tag: str, error: object = "It was refused.") -> Response:
    """Answer with an error of the API."""
    return reply({"requestId": "b594", "error": error, "tag": tag}, status)


def reply(document: object, status: int = 200) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(document), status, content_type="application/json")


def served(server: HTTPServer, answer: Response) -> list[Request]:
    """Let `server` answer searches; return the requests."""
    requests: list[Request] = []

    def handle(request: Request) -> Response:
        request.get_data()
        requests.append(request)
        return answer

    server.expect_request("/search", method="POST").respond_with_handler(handle)
    return requests


def engine(server: HTTPServer, **options: Any) -> Exa:
    """Return the engine at `server`."""
    return Exa(**{"api_key": KEY, "base_url": server.url_for(""), **options})


def asked(server: HTTPServer, query: str = "q", max_results: int = 5, **options: Any) -> Any:
    """Search once; return the JSON of the request."""
    requests = served(server, found(item()))
    engine(server, **options).search(query, max_results)
    [request] = requests
    return msgspec.json.decode(request.get_data())


def searched(server: HTTPServer, *items: object) -> Sequence[SearchResult]:
    """Return what a search makes of these results."""
    served(server, found(*items))
    return engine(server).search("q", 10)


def test_the_request_is_as_the_api_documents_it(httpserver: HTTPServer) -> None:
    """One request for the results and the texts of their pages."""
    assert asked(httpserver, '  How does "sleep"\n affect memory? ') == {
        "query": 'How does "sleep" affect memory?',
        "numResults": 5,
        "type": "auto",
        "contents": {"text": {"maxCharacters": 6_000}, "highlights": {"maxCharacters": 2_000}},
    }


def test_the_key_is_sent_as_a_header_only(httpserver: HTTPServer, caplog: pytest.LogCaptureFixture) -> None:
    """It is in no address, no log and no option."""
    caplog.set_level(logging.DEBUG)
    requests = served(httpserver, found(item()))
    searcher = engine(httpserver, api_key=f" {KEY}\n")
    searcher.search("q", 5)
    assert requests[0].headers["x-api-key"] == KEY
    assert KEY not in requests[0].url + caplog.text + repr(searcher.options)
    assert KEY.encode() not in requests[0].get_data()


@pytest.mark.parametrize(
    ("filters", "fields"),
    [
        (
            Filters(since=2020, until=2024),
            {"startPublishedDate": "2019-12-31T23:59:59.999Z", "endPublishedDate": "2024-12-31T23:59:59.999Z"},
        ),
        (Filters(since=2020), {"startPublishedDate": "2019-12-31T23:59:59.999Z"}),
        (Filters(until=2024), {"endPublishedDate": "2024-12-31T23:59:59.999Z"}),
        (Filters(), {}),
    ],
)
def test_years_are_times_before_and_after(httpserver: HTTPServer, filters: Filters, fields: dict[str, str]) -> None:
    """The first moment of the first year is after the start."""
    request = asked(httpserver, filters=filters)
    assert {name: value for name, value in request.items() if name.endswith("PublishedDate")} == fields


def test_a_result_has_all_fields(httpserver: HTTPServer) -> None:
    """The body is the text of the page, then what is further down."""
    assert searched(httpserver, item(7)) == [
        {
            "title": "Page 7",
            "href": "https://example.org/7",
            "body": "How page 7 begins.\n\nIts second paragraph.\n\nA passage of page 7.",
            "date": "2024-03-05",
            "authors": "Ada Lovelace",
        }
    ]


@pytest.mark.parametrize(
    ("text", "highlights", "body"),
    [
        ("A page.\n\nIts text.", ["page. Its"], "A page.\n\nIts text."),
        ("A page.", ["Further down.", "Further down.", None, ""], "A page.\n\nFurther down."),
        (None, ["One.", "Two."], "One.\n\nTwo."),
        ("A page.", None, "A page."),
        (None, None, ""),
    ],
    ids=["in the text", "twice", "no text", "no highlights", "neither"],
)
def test_a_passage_is_in_the_body_once(
    httpserver: HTTPServer, text: str | None, highlights: list[str | None] | None, body: str
) -> None:
    """The title never becomes the text."""
    [result] = searched(httpserver, item(text=text, highlights=highlights))
    assert result["body"] == body


def test_results_are_in_the_order_of_the_service(httpserver: HTTPServer) -> None:
    """Each address is there once."""
    results = searched(httpserver, item(3), item(1), item(3, title="Again"), item(2))
    assert [result["title"] for result in results] == ["Page 3", "Page 1", "Page 2"]


def test_no_results_are_not_a_failure(httpserver: HTTPServer) -> None:
    """They are an empty list."""
    assert searched(httpserver) == []


@pytest.mark.parametrize(("wanted", "limit"), [(3, 3), (100, MAX_RESULTS), (500, MAX_RESULTS)])
def test_there_are_at_most_as_many_results_as_wanted(httpserver: HTTPServer, wanted: int, limit: int) -> None:
    """Whatever the service sends; it allows `MAX_RESULTS`."""
    requests = served(httpserver, found(*map(item, range(150))))
    assert len(engine(httpserver).search("q", wanted)) == limit
    assert msgspec.json.decode(requests[0].get_data())["numResults"] == limit


def test_an_empty_query_is_not_sent(httpserver: HTTPServer) -> None:
    """The service would refuse it."""
    requests = served(httpserver, found(item()))
    assert (engine(httpserver).search(" \x00\n", 10), requests) == ([], [])


@pytest.mark.parametrize("field", ["title", "publishedDate", "author", "text", "highlights", "id"])
@pytest.mark.parametrize("null", [True, False])
def test_a_field_may_be_missing(httpserver: HTTPServer, field: str, null: bool) -> None:
    """Or null; the other fields stay."""
    made = item(4, **{field: None})
    if not null:
        del made[field]
    [result] = searched(httpserver, made)
    assert result["title"] == ("https://example.org/4" if field == "title" else "Page 4")
    assert ("date" in result, "authors" in result) == (field != "publishedDate", field != "author")


@pytest.mark.parametrize(
    "odd", [None, 1, "x", [], {"url": 5}, item(2, url=None), item(2, url="javascript:alert(1)"), item(2, title=[1])]
)
def test_an_odd_result_does_not_lose_the_others(httpserver: HTTPServer, odd: object) -> None:
    """It is left out."""
    assert [result["title"] for result in searched(httpserver, item(1), odd, item(3))] == ["Page 1", "Page 3"]


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Control and direction characters, dates that are none, endless texts."""
    hostile = item(
        1, title="\x1b]0;x\x07A\u202eB\nC", text="\x9bText\x00", highlights=["\x1b"], publishedDate="\x1b[2024"
    )
    endless = item(2, title="t" * 5_000, text="d " * 50_000, highlights=["h" * 50_000] * 50, author="a" * 5_000)
    first, second = searched(httpserver, hostile, endless)
    assert (first["title"], first["body"], first.get("date")) == ("]0;xAB C", "Text", None)
    assert (len(second["title"]), len(second["authors"])) == (MAX_TITLE_CHARS, 300)
    assert MAX_TEXT_CHARS < len(second["body"]) <= MAX_BODY_CHARS


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (failed(401, "INVALID_API_KEY"), InvalidInput, "refuses the key; check exa_api_key"),
        (failed(400, "INVALID_API_KEY"), InvalidInput, "refuses the key; check exa_api_key"),
        (Response("", 401), InvalidInput, "refuses the key; check exa_api_key"),
        (failed(402, "NO_MORE_CREDITS"), EngineUnavailable, "no credits left for this key; add some"),
        (failed(429, "RATE_LIMIT_EXCEEDED"), RateLimited, "asks for fewer requests .HTTP 429.; wait a minute"),
        (Response("<title>Too many</title>", 429), RateLimited, "asks for fewer requests"),
        (
            failed(400, "INVALID_REQUEST", "Bad\n\x07 input."),
            EngineUnavailable,
            "HTTP 400.: Bad input; try again later",
        ),
        (failed(403, "FEATURE_DISABLED", "Not on your plan."), EngineUnavailable, "HTTP 403.: Not on your plan; try"),
        (failed(500, "INTERNAL_ERROR", {"odd": 1}), EngineUnavailable, "HTTP 500; try again later"),
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
        Response("<!DOCTYPE html><title>Exa</title>"),
        Response(b"[" * 100_000, content_type="application/json"),
        reply([1, 2]),
        reply({"requestId": "b594"}),
        reply({"results": None}),
        reply({"results": {"a": 1}}),
        found("x", {"url": 5}),
    ],
    ids=["HTML", "deep", "a list", "no results", "null", "no list", "odd results"],
)
def test_another_reply_is_never_an_empty_result(httpserver: HTTPServer, answer: Response) -> None:
    """Broken JSON, and JSON of another form."""
    served(httpserver, answer)
    with pytest.raises(EngineUnavailable, match="something else than results; try again later"):
        engine(httpserver).search("q", 10)


def test_an_error_never_shows_the_key(httpserver: HTTPServer) -> None:
    """Also where the service repeats it; a long message is shortened."""
    served(httpserver, failed(400, "INVALID_REQUEST", f"The key {KEY} " + "is bad " * 500))
    with pytest.raises(EngineUnavailable, match="The key … is bad") as raised:
        engine(httpserver).search("q", 10)
    assert KEY not in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("key", [None, "", " \n"])
def test_a_missing_key_is_an_error_at_once(tmp_path: Path, key: str | None) -> None:
    """It names the setting, and where a key is got."""
    with pytest.raises(InvalidInput, match=r"https://dashboard\.exa\.ai and set exa_api_key"):
        from_settings("", Settings(data_dir=tmp_path, exa_api_key=key))


@pytest.mark.parametrize("key", ["a b", "a\r\nX-Evil: 1", "kéy", "k" * 501])
def test_a_key_of_another_form_is_refused(key: str) -> None:
    """It would break the header; the error does not show it."""
    with pytest.raises(InvalidInput, match="exa_api_key has characters") as raised:
        Exa(api_key=key)
    assert key not in str(raised.value)


def test_the_options_are_the_filters(tmp_path: Path) -> None:
    """And an address that is not the default."""
    settings = Settings(data_dir=tmp_path, exa_api_key=KEY)
    assert from_settings("", settings).options == {}
    assert from_settings("years=2020-2024", settings).options == {"since": 2020, "until": 2024}
    assert Exa(api_key=KEY, base_url="https://proxy.example/").options == {"base_url": "https://proxy.example"}


@pytest.mark.parametrize("argument", ["open", "years=2024-2020", "field=Biology"])
def test_other_filters_are_refused(tmp_path: Path, argument: str) -> None:
    """The error shows what can be written."""
    with pytest.raises(InvalidInput, match=r"exa\[:years=2020-2024\]"):
        from_settings(argument, Settings(data_dir=tmp_path, exa_api_key=KEY))


def test_no_answer_is_a_failure() -> None:
    """A server that hangs, and one that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = Exa(api_key=KEY, timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"Exa did not answer within 0\.2 s"):
            hanging.search("q", 10)
    with pytest.raises(EngineUnavailable, match="Exa cannot be reached"):
        hanging.search("q", 10)
