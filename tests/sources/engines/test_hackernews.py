"""The adapter against a real HTTP server on loopback that answers as the search of Hacker News does."""

import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import Filters
from harness.sources.engines.hackernews import MAX_RESULTS, HackerNews, from_settings
from harness.sources.engines.result_fields import MAX_BODY_CHARS, MAX_TITLE_CHARS


def story(number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return a story that is a link, in the shape of the API."""
    made = {
        "_tags": ["story", "author_ada", f"story_{number}"],
        "author": "ada",
        "created_at": "2024-05-06T07:08:09Z",
        "created_at_i": 1_714_979_289,
        "num_comments": 3,
        "objectID": str(number),
        "points": 57,
        "story_id": number,
        "title": f"Story {number}",
        "url": f"https://example.org/{number}",
    }
    return made | fields


def comment(number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return a comment in the shape of the API."""
    made = {
        "_tags": ["comment", "author_alan", "story_9"],
        "author": "alan",
        "comment_text": f"Comment {number}.",
        "created_at": "2023-01-02T03:04:05Z",
        "objectID": str(number),
        "parent_id": 9,
        "points": None,
        "story_id": 9,
        "story_title": "SQLite in production",
        "story_url": "https://example.org/9",
        "title": None,
        "url": None,
    }
    return made | fields


def found(*hits: object) -> Response:
    """Answer a search."""
    return reply({"hits": hits, "page": 0, "nbHits": len(hits), "nbPages": 1, "hitsPerPage": 20})


def reply(document: object, status: int = 200) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(document), status, content_type="application/json")


def served(server: HTTPServer, answer: Response) -> list[Request]:
    """Let `server` answer searches; return the requests."""
    requests: list[Request] = []

    def handle(request: Request) -> Response:
        requests.append(request)
        return answer

    server.expect_request("/search", method="GET").respond_with_handler(handle)
    return requests


def engine(server: HTTPServer, **options: Any) -> HackerNews:
    """Return the engine at `server`."""
    return HackerNews(base_url=server.url_for(""), **options)


def results(server: HTTPServer, *hits: object) -> Sequence[SearchResult]:
    """Return what a search makes of these posts."""
    served(server, found(*hits))
    return engine(server).search("q", 10)


def asked(server: HTTPServer, query: str, **options: Any) -> Request:
    """Search once; return the request."""
    requests = served(server, found(comment()))
    engine(server, **options).search(query, 5)
    [request] = requests
    return request


def test_the_request_is_as_the_api_documents_it(httpserver: HTTPServer) -> None:
    """Stories and comments, twice as many as wanted, because some have no text."""
    assert asked(httpserver, "  sqlite & wal ").args.to_dict() == {
        "query": "sqlite & wal",
        "tags": "(story,comment)",
        "hitsPerPage": "10",
        "removeWordsIfNoResults": "lastWords",
    }


def test_a_comment_has_its_text_and_the_title_of_its_story(httpserver: HTTPServer) -> None:
    """The address is its page; its HTML becomes plain text."""
    html = 'It&#x27;s <i>fast</i>.<p>See <a href="https:&#x2F;&#x2F;sqlite.org" rel="nofollow">sqlite.org</a>'
    assert results(httpserver, comment(42, comment_text=html)) == [
        {
            "title": "Comment on: SQLite in production",
            "href": "https://news.ycombinator.com/item?id=42",
            "body": "It's fast.\n\nSee sqlite.org",
            "date": "2023-01-02",
            "authors": "alan",
            "site": "Hacker News",
        }
    ]


def test_a_story_leads_to_its_discussion(httpserver: HTTPServer) -> None:
    """With the text of a text post; the page that a story links to is not read, so it has no body."""
    ask, link = results(httpserver, story(1, story_text="How do you<p>back up?", url=None), story(2))
    assert (ask["title"], ask["body"]) == ("Story 1", "How do you\n\nback up?")
    assert (link["title"], link["body"]) == ("Story 2", "")
    assert [ask["href"], link["href"]] == [f"https://news.ycombinator.com/item?id={n}" for n in (1, 2)]


def test_posts_with_a_text_come_first(httpserver: HTTPServer) -> None:
    """Both groups stay in the order of the service; each post once."""
    hits = [story(1), comment(2), story(3), story(4, story_text="Text."), comment(2), comment(5)]
    addresses = [each["href"].partition("=")[2] for each in results(httpserver, *hits)]
    assert addresses == ["2", "4", "5", "1", "3"]


def test_links_are_left_out_where_enough_posts_have_a_text(httpserver: HTTPServer) -> None:
    """They count for the limit last."""
    served(httpserver, found(story(1), story(2), comment(3), comment(4)))
    assert [each["body"] for each in engine(httpserver).search("q", 2)] == ["Comment 3.", "Comment 4."]


def test_a_search_without_results_is_empty(httpserver: HTTPServer) -> None:
    """No results are not a failure."""
    assert results(httpserver) == []


@pytest.mark.parametrize(("wanted", "hits", "limit"), [(3, "6", 3), (80, "100", 80), (1_000, "100", MAX_RESULTS)])
def test_the_limit_is_kept_whatever_the_server_sends(
    httpserver: HTTPServer, wanted: int, hits: str, limit: int
) -> None:
    """At most 100 posts are asked for."""
    requests = served(httpserver, found(*map(comment, range(1, 301))))
    assert len(engine(httpserver).search("q", wanted)) == limit
    assert requests[0].args["hitsPerPage"] == hits


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ('"exact phrase" -not --flag', "exact phrase not flag"),
        ("gcc -O3 - (-x)", "gcc O3 ( x)"),
        ("state-of-the-art C++ C#", "state-of-the-art C++ C#"),
        ("\x00\u202eword ", "word"),
        ("é" * 1_000, "é" * 256),
    ],
    ids=["phrase and exclusion", "options", "hyphens within words", "control characters", "long"],
)
def test_nothing_in_a_query_is_an_operator(httpserver: HTTPServer, query: str, sent: str) -> None:
    """Quotation marks and hyphens before words have a meaning; Algolia refuses more than 512 bytes."""
    assert asked(httpserver, query).args["query"] == sent


@pytest.mark.parametrize("query", ['"-"', " -- ", "\x00"])
def test_an_empty_query_finds_nothing_and_asks_nothing(httpserver: HTTPServer, query: str) -> None:
    """The service would return the posts with the most points."""
    assert engine(httpserver).search(query, 10) == []
    assert not httpserver.log


@pytest.mark.parametrize(
    ("since", "until", "sent"),
    [
        (2020, 2021, "created_at_i>=1577836800,created_at_i<1640995200"),
        (2020, 0, "created_at_i>=1577836800"),
        (0, 2019, "created_at_i<1577836800"),
        (1500, 0, "created_at_i>=0"),
    ],
)
def test_years_are_a_range_of_seconds(httpserver: HTTPServer, since: int, until: int, sent: str) -> None:
    """Results from the first second of a year to the last, in UTC; they are options."""
    filters = Filters(since=since, until=until)
    assert asked(httpserver, "q", filters=filters).args["numericFilters"] == sent
    assert HackerNews(filters=filters).options == filters.options != {}


def test_null_and_missing_fields_are_left_out(httpserver: HTTPServer) -> None:
    """A deleted post, or one without a number, is no result."""
    gone = dict.fromkeys(comment(), None)
    deleted = gone | {"objectID": "1"}
    bare = {"objectID": 2, "comment_text": "Text."}
    strange = [comment(3, objectID="../x"), comment(4, objectID="5&goto=x"), comment(6, objectID="7" * 400)]
    assert results(httpserver, gone, deleted, bare, *strange) == [
        {
            "title": "Comment on: a story",
            "href": "https://news.ycombinator.com/item?id=2",
            "body": "Text.",
            "site": "Hacker News",
        }
    ]


def test_a_post_of_another_form_does_not_lose_the_others(httpserver: HTTPServer) -> None:
    """It is left out."""
    odd = [comment(1, author=["x"]), None, 7, story(2, title={})]
    assert [each["body"] for each in results(httpserver, *odd, comment(3))] == ["Comment 3."]


def test_a_rate_limit_says_what_to_do(httpserver: HTTPServer) -> None:
    """10,000 requests an hour from one address."""
    served(httpserver, reply({"message": "Too many requests", "status": 429}, 429))
    with pytest.raises(RateLimited, match=r"Hacker News asks for fewer requests .* wait"):
        engine(httpserver).search("q", 10)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            reply({"message": "Invalid\n\x1b[31m filter " + "x " * 500, "status": 400}, 400),
            r"could not search .HTTP 400.: Invalid \[31m",
        ),
        (Response("GET https://x.algolia.net/1/indexes/Item: {}", 400), "HTTP 400"),
        (Response("Forbidden", 403), "HTTP 403"),
        (Response("<h1>Service Unavailable</h1>", 503), "HTTP 503"),
        (Response("", 301, {"Location": "https://evil.example/x"}), "redirect to https://evil.example"),
        (Response("<!DOCTYPE html>"), "something else than results"),
        (Response(b"[" * 100_000), "something else than results"),
        (reply([]), "something else than results"),
        (reply({"nbHits": 0}), "something else than results"),
        (reply({"hits": None}), "something else than results"),
        (reply({"hits": [1, "two"]}), "something else than results"),
    ],
    ids=["400", "text 400", "403", "503", "301", "HTML", "deep", "a list", "no hits", "null", "no posts"],
)
def test_a_failure_is_never_an_empty_result(httpserver: HTTPServer, answer: Response, words: str) -> None:
    """The error is one short line without control characters and addresses of the backend."""
    served(httpserver, answer)
    with pytest.raises(EngineUnavailable, match=words) as raised:
        engine(httpserver).search("q", 10)
    message = str(raised.value)
    assert message.isprintable()
    assert len(message) < 300
    assert "algolia.net" not in message


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Mark-up, control and direction characters, endless texts."""
    hostile = comment(
        1,
        story_title="\x1b]0;x\x07Title\n\u202ehere",
        comment_text="<script>alert(1)</script>\x00 a &lt;b&gt; <pre><code>x\ny</code></pre>",
        author="a" * 10_000,
        created_at="<now>",
    )
    endless = comment(2, story_title="t" * 5_000, comment_text="<" * 50_000 + "word " * 50_000)
    first, second = results(httpserver, hostile, endless)
    assert first["title"] == "Comment on: ]0;xTitle here"
    assert first["body"] == "alert(1) a <b> \n\nx\ny"
    assert (len(first["authors"]) <= 300, "date" in first) == (True, False)
    assert (len(second["title"]), len(second["body"]) <= MAX_BODY_CHARS) == (MAX_TITLE_CHARS, True)


def test_no_answer_in_time_is_a_failure(httpserver: HTTPServer) -> None:
    """A server that hangs, and one that sends slowly."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = HackerNews(timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"Hacker News did not answer within 0\.2 s"):
            hanging.search("q", 10)

    def slow(_: Request) -> Response:
        time.sleep(0.5)
        return found(comment())

    httpserver.expect_request("/search").respond_with_handler(slow)
    with pytest.raises(EngineUnavailable, match="did not answer"):
        engine(httpserver, timeout=0.1).search("q", 10)


def test_the_settings_give_filters_and_time(tmp_path: Path) -> None:
    """It needs no key; another filter than the years is refused."""
    settings = Settings(data_dir=tmp_path, search_timeout=7)
    made = from_settings("years=2020", settings)
    assert (made.name, made.options, made._timeout) == ("hackernews", {"since": 2020, "until": 2020}, 7)
    assert from_settings("", settings).options == {}
    with pytest.raises(InvalidInput, match="hackernews cannot be filtered by 'open'"):
        from_settings("open", settings)
