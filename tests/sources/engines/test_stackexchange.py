"""The adapter against a real HTTP server on loopback that answers as the API of Stack Exchange does."""

import gzip
import re
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.settings import Settings
from harness.sources.engines.result_fields import MAX_BODY_CHARS
from harness.sources.engines.stackexchange import MAX_RESULTS, MAX_WAIT, StackExchange, from_settings
from tests.fakes import FakeClock

KEY = "U4DMV*8nvpm3EOpvf69Rxw(("


def question(number: int, **fields: Any) -> dict[str, Any]:
    """Return one question in the shape of API 2.3, filter `withbody`."""
    made = {
        "tags": ["python"],
        "owner": {"user_id": 1, "display_name": "Ayberk &#214;zg&#252;r"},
        "is_answered": True,
        "answer_count": 2,
        "score": 5,
        "creation_date": 1_223_334_444,
        "question_id": number,
        "link": f"https://stackoverflow.com/questions/{number}/merge",
        "title": f"Merge &quot;x&quot; &amp; y {number}",
        "body": f"<p>How do I merge {number}?</p>\n",
    }
    return made | fields


def answer(number: int, body: str, score: int = 1, **fields: Any) -> dict[str, Any]:
    """Return one answer to a question."""
    return {"question_id": number, "answer_id": score, "score": score, "is_accepted": False, "body": body} | fields


def page(*items: Any, **wrapper: Any) -> Response:
    """Answer with a page of items, compressed as the API does."""
    document = {"items": list(items), "has_more": False, "quota_max": 300, "quota_remaining": 299} | wrapper
    body = gzip.compress(msgspec.json.encode(document))
    return Response(body, 200, {"Content-Encoding": "gzip"}, content_type="application/json; charset=utf-8")


def failed(number: int, name: str, message: str, status: int = 400) -> Response:
    """Answer with an error of the API."""
    document = {"error_id": number, "error_message": message, "error_name": name}
    return Response(msgspec.json.encode(document), status, content_type="application/json; charset=utf-8")


def served(server: HTTPServer, search: Response, answers: Response | None = None) -> list[Request]:
    """Let `server` answer searches, and requests for answers; return the requests."""
    requests: list[Request] = []

    def respond(request: Request) -> Response:
        requests.append(request)
        return search if request.path == "/search/advanced" else answers or page()

    server.expect_request(re.compile("^/(search/advanced|questions/[0-9;]+/answers)$")).respond_with_handler(respond)
    return requests


def engine(server: HTTPServer, site: str = "stackoverflow", **arguments: Any) -> StackExchange:
    """Return the engine at `server`."""
    return StackExchange(site, base_url=server.url_for(""), **arguments)


def test_a_question_with_its_best_answers_is_a_result(httpserver: HTTPServer) -> None:
    """The two answers with the most votes, then the question; names and titles without HTML entities."""
    texts = [answer(7, "<p>Use <code>x | y</code>.</p>", 90), answer(7, "<p>Use &lt;b&gt;.</p>", 9)]
    served(httpserver, page(question(7)), page(*texts, answer(7, "<p>Third.</p>", 2)))
    [result] = engine(httpserver).search("merge", 10)
    assert result == {
        "title": 'Merge "x" & y 7',
        "href": "https://stackoverflow.com/questions/7/merge",
        "body": "Use x | y.\n\nUse <b>.\n\nHow do I merge 7?",
        "date": "2008-10-06",
        "authors": "Ayberk Özgür",
        "site": "stackoverflow",
    }


def test_the_requests_are_as_the_api_documents_them(httpserver: HTTPServer) -> None:
    """One for questions, one for the answers of all that have some; both with the key."""
    requests = served(httpserver, page(question(7), question(3, answer_count=0), question(5)))
    engine(httpserver, "superuser", api_key=KEY).search("  merge two dictionaries? ", 20)
    common = {"site": "superuser", "order": "desc", "filter": "withbody", "key": KEY}
    search = {"q": "merge two dictionaries", "sort": "relevance", "pagesize": "20"}
    answers = {"sort": "votes", "pagesize": "100"}
    assert [request.args.to_dict() for request in requests] == [common | search, common | answers]
    assert [request.path for request in requests] == ["/search/advanced", "/questions/7;5/answers"]
    assert all("harness" in request.headers["User-Agent"] for request in requests)


def test_the_order_is_that_of_the_search(httpserver: HTTPServer) -> None:
    """Answers come by their votes, over all questions; each goes to its own."""
    served(httpserver, page(question(7), question(3)), page(answer(3, "Three", 9), answer(7, "Seven", 1)))
    results = engine(httpserver).search("merge", 10)
    assert [result["body"].split("\n")[0] for result in results] == ["Seven", "Three"]


def test_code_is_kept(httpserver: HTTPServer) -> None:
    """With its lines, indentation and signs, apart from the sentence before it."""
    body = "<p>Try:</p>\n<pre><code>for x in y:\n    if x &lt; 1 &amp;&amp; z:\n        f(x)\n</code></pre>"
    served(httpserver, page(question(7, body="")), page(answer(7, body)))
    [result] = engine(httpserver).search("loop", 10)
    assert result["body"] == "Try:\n\nfor x in y:\n    if x < 1 && z:\n        f(x)"


@pytest.mark.parametrize(
    "answers",
    [page(), page(answer(7, "<p>Wrong.</p>", -2)), page(answer(7, " ")), page(answer(8, "Of another question"))],
    ids=["none", "only disliked", "empty", "of another question"],
)
def test_without_an_answer_the_body_is_the_question(httpserver: HTTPServer, answers: Response) -> None:
    """An answer with less than 0 votes is none."""
    served(httpserver, page(question(7)), answers)
    [result] = engine(httpserver).search("merge", 10)
    assert result["body"] == "How do I merge 7?"


@pytest.mark.parametrize("found", [page(), page(question(7, answer_count=0)), page(question(7), quota_remaining=0)])
def test_answers_are_requested_only_if_there_can_be_some(httpserver: HTTPServer, found: Response) -> None:
    """Not without questions or answers, and not after the last request of the day."""
    requests = served(httpserver, found)
    results = engine(httpserver).search("merge", 10)
    assert len(requests) == 1
    assert all(result["body"] == "How do I merge 7?" for result in results)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('[python] user:1 is:answered "exact phrase" -word', "python user 1 is answered exact phrase word"),
        ("a or b AND NOT c*", "a b c"),
        ("C++ and C# in node.js, --verbose?", "C++ C# in node.js verbose"),
        ("word " * 100, " ".join(["word"] * 48)),
        ("x" * 400, "x" * 240),
    ],
)
def test_nothing_in_a_query_acts_as_syntax(httpserver: HTTPServer, query: str, words: str) -> None:
    """Tags, operators, quotation marks and wildcards are only words; at most 240 characters."""
    requests = served(httpserver, page())
    engine(httpserver).search(query, 10)
    assert requests[0].args["q"] == words


def test_a_query_without_words_finds_nothing(httpserver: HTTPServer) -> None:
    """Without one the API returns every question; no request is sent."""
    requests = served(httpserver, page(question(7)))
    assert engine(httpserver).search("[]?!", 10) == []
    assert requests == []


def test_the_limit_is_that_of_one_request(httpserver: HTTPServer) -> None:
    """At most `MAX_RESULTS` questions, whatever the server sends; a method takes as many ids."""
    requests = served(httpserver, page(*(question(number) for number in range(1, 151))))
    assert len(engine(httpserver).search("q", 500)) == MAX_RESULTS
    assert requests[0].args["pagesize"] == f"{MAX_RESULTS}"
    assert requests[1].path.count(";") == MAX_RESULTS - 1


def test_missing_fields_and_odd_items_lose_no_other_result(httpserver: HTTPServer) -> None:
    """Every field may be missing, null or of another form; a date may be none."""
    bare: dict[str, Any] = {
        "link": "https://stackoverflow.com/questions/1",
        "title": None,
        "owner": {},
        "creation_date": 10**18,
    }
    items = [None, 5, {}, question(2, title=1), question(3, link="javascript:x"), bare, question(4, owner=None)]
    served(httpserver, page(*items), page(None, {"body": "lost"}, answer(4, "Four")))
    first, second = engine(httpserver).search("q", 10)
    assert first == {"title": bare["link"], "href": bare["link"], "body": "", "site": "stackoverflow"}
    assert second["body"].startswith("Four")


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Control and direction characters (also as entities), mark-up, endless texts."""
    title = "\x1b]0;x&#7;&#x202e; &lt;script&gt; t\nu" + "v" * 5_000
    body = "<script>\x00</script><p onclick='x'>\u202e word</p>" * 20_000
    served(httpserver, page(question(7, title=title)), page(answer(7, body)))
    [result] = engine(httpserver).search("q", 10)
    assert result["title"].startswith("]0;x <script> t u")
    assert len(result["title"]) <= 500
    assert result["body"].startswith("word\n\n")
    assert len(result["body"]) <= MAX_BODY_CHARS
    assert not set("\x00\x07\u202e>") & set(result["body"])


@pytest.mark.parametrize(("backoff", "slept", "asked"), [(1, [1.0], 2), (MAX_WAIT, [MAX_WAIT], 2), (10, [], 1)])
def test_a_pause_that_the_service_asks_for_is_kept(
    httpserver: HTTPServer, backoff: float, slept: list[float], asked: int
) -> None:
    """A short one by waiting; for a long one the answers are left out, and a search before its end is refused."""
    clock, sleeps = FakeClock(), list[float]()

    def sleep(seconds: float) -> None:
        sleeps.append(seconds)
        clock.advance(seconds)

    requests = served(httpserver, page(question(7), backoff=backoff), page(answer(7, "Yes.")))
    patient = engine(httpserver, clock=clock, sleep=sleep)
    [result] = patient.search("q", 10)
    assert (sleeps, len(requests)) == (slept, asked)
    assert result["body"].startswith("Yes.") == (asked == 2)
    if asked == 1:
        clock.advance(3.5)
        with pytest.raises(RateLimited, match="wait 7 s"):
            patient.search("q", 10)
        clock.advance(7)
    assert len(patient.search("q", 10)) == 1


THROTTLED = failed(
    502, "throttle_violation", "too many requests from this IP, more requests available in 17524 seconds"
)


@pytest.mark.parametrize(
    ("refusal", "advice"),
    [
        (THROTTLED, "wait 17524 s"),
        (failed(502, "throttle_violation", "Violation of backoff parameter"), "wait a minute"),
        (Response("<html>Too many requests</html>", 429), "wait a minute"),
    ],
    ids=["quota", "backoff", "429"],
)
@pytest.mark.parametrize("late", [False, True])
def test_a_rate_limit_is_one_in_every_form(httpserver: HTTPServer, refusal: Response, advice: str, late: bool) -> None:
    """Whether it refuses the search or the answers; a key is advised if there is none."""
    served(httpserver, page(question(7)) if late else refusal, refusal)
    with pytest.raises(RateLimited, match=f"{advice}, or set stackexchange_key$"):
        engine(httpserver).search("q", 10)
    with pytest.raises(RateLimited, match=f"{advice}$"):
        engine(httpserver, api_key=KEY).search("q", 10)


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (failed(400, "bad_parameter", "`key` doesn&#39;t match a known application"), "check stackexchange_key"),
        (failed(400, "bad_parameter", "No site found for name `nosuch`"), "no site 'nosuch'"),
        (failed(400, "bad_parameter", "site"), "no site 'nosuch'"),
    ],
)
def test_a_refused_key_or_site_is_an_input_error(httpserver: HTTPServer, refusal: Response, words: str) -> None:
    """It names the setting or the site, and does not show the key."""
    served(httpserver, refusal)
    with pytest.raises(InvalidInput, match=words) as raised:
        engine(httpserver, "nosuch", api_key=KEY).search("q", 10)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (
            failed(503, "temporarily_unavailable", f"Down\n\x07 {KEY} " + "x " * 9_000),
            "could not search .HTTP 400.: Down …",
        ),
        (failed(500, "internal_error", "", 500), "internal_error; try again later"),
        (Response("<html>Offline</html>", 503), "HTTP 503; try again later"),
        (Response("", 301, {"Location": "https://api.stackexchange.com/x"}), "redirect to https://api.stackexchange"),
        (page(1, "x"), "something else than results"),
        (Response('{"has_more": false}'), "something else than results"),
        (Response('{"items": {}}'), "something else than results"),
        (Response("[1]"), "something else than results"),
        (Response(b"[" * 100_000), "something else than results"),
        (Response("<html>"), "something else than results"),
        (Response("<html>", headers={"Content-Encoding": "gzip"}), "cannot be decompressed"),
    ],
    ids="503 500 HTML-503 redirect odd no-items items list deep HTML gzip".split(),
)
def test_a_failure_is_never_an_empty_result(httpserver: HTTPServer, reply: Response, words: str) -> None:
    """The error is one short line that says what happened, without the key."""
    served(httpserver, reply)
    with pytest.raises(EngineUnavailable, match=words) as raised:
        engine(httpserver, api_key=KEY).search("q", 10)
    assert KEY not in str(raised.value)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 300


def test_no_answer_is_a_failure() -> None:
    """A server that hangs."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = StackExchange(timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"did not answer within 0\.2 s"):
            hanging.search("q", 10)


@pytest.mark.parametrize("site", ["", "-x", "a/b", "a b", "a&key=1", "é", "x" * 99, "site=unix"])
def test_a_site_that_is_none_is_refused_at_once(site: str) -> None:
    """Letters, digits, dots and hyphens."""
    with pytest.raises(InvalidInput, match="is not a site"):
        StackExchange(site)


def test_the_options_are_the_site(tmp_path: Path) -> None:
    """Results of one site never answer for another; the key is no option, and one with odd characters is refused."""
    settings = Settings(data_dir=tmp_path, stackexchange_key=KEY)
    assert from_settings("", settings).options == {"site": "stackoverflow"}
    assert from_settings(" Unix.StackExchange.com ", settings).options == {"site": "unix.stackexchange.com"}
    elsewhere = StackExchange(base_url="https://se.example/2.3/")
    assert elsewhere.options == {"site": "stackoverflow", "base_url": "https://se.example/2.3"}
    with pytest.raises(InvalidInput, match="stackexchange_key has characters"):
        from_settings("", Settings(data_dir=tmp_path, stackexchange_key="a b"))
