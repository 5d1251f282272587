"""The adapter against a real HTTP server on loopback that answers as the APIs of GitHub do."""

import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, HarnessError, InvalidInput, RateLimited
from harness.settings import Settings
from harness.sources.engines.filters import Filters
from harness.sources.engines.github import MAX_RESULTS, GitHub, from_settings
from harness.sources.engines.result_fields import MAX_BODY_CHARS

TOKEN = "ghp_0123456789abcdefghij0123456789abcdef"  # noqa: S105 - of no account
PATHS = {"code": "/search/code", "discussions": "/graphql", "repositories": "/search/repositories"}


def issue(number: int, **fields: Any) -> dict[str, Any]:
    """Return one issue in the shape of the REST API."""
    made = {
        "url": f"https://api.github.com/repos/python/cpython/issues/{number}",
        "repository_url": "https://api.github.com/repos/python/cpython",
        "html_url": f"https://github.com/python/cpython/issues/{number}",
        "number": number,
        "title": f"Issue {number}",
        "user": {"login": "octocat", "type": "User"},
        "state": "closed",
        "created_at": "2023-05-04T12:00:00Z",
        "body": "`gather` hides\r\nan error.\r\n\r\n```py\r\nasync def f():\r\n    ...\r\n```",
        "score": 1.0,
    }
    return made | fields


def found(*items: Any, incomplete: bool = False) -> Response:
    """Answer a search of the REST API."""
    return reply({"total_count": len(items), "incomplete_results": incomplete, "items": list(items)})


def reply(document: object, status: int = 200, **headers: str) -> Response:
    """Answer with JSON; `_` in the names of headers means `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(msgspec.json.encode(document), status, named, content_type="application/json; charset=utf-8")


def served(server: HTTPServer, answer: Response, kind: str = "issues") -> list[Request]:
    """Let `server` answer searches of a kind; return the requests."""
    requests: list[Request] = []

    def respond(request: Request) -> Response:
        request.get_data()
        requests.append(request)
        return answer

    server.expect_request(PATHS.get(kind, "/search/issues")).respond_with_handler(respond)
    return requests


def engine(server: HTTPServer, kind: str = "", site: str = "", token: str | None = None) -> GitHub:
    """Return the engine at `server`."""
    return GitHub(filters=Filters(kind=kind, site=site), token=token, base_url=server.url_for(""))


def test_an_issue_is_a_result(httpserver: HTTPServer) -> None:
    """Its Markdown is the body, with plain line ends; the rest is in the other fields; the order is GitHub's."""
    served(httpserver, found(issue(7), issue(3), issue(7)))
    first, second = engine(httpserver).search("gather", 10)
    assert first == {
        "title": "Issue 7",
        "href": "https://github.com/python/cpython/issues/7",
        "body": "`gather` hides\nan error.\n\n```py\nasync def f():\n    ...\n```",
        "date": "2023-05-04",
        "authors": "octocat",
        "site": "python/cpython",
    }
    assert second["title"] == "Issue 3"


@pytest.mark.parametrize(
    ("kind", "site", "q"),
    [
        ("", "", "gather hide errors is:issue"),
        ("pulls", "", "gather hide errors is:pull-request"),
        ("Issues", "python/cpython", "gather hide errors is:issue repo:python/cpython"),
        ("code", "a/b.js", "gather hide errors repo:a/b.js"),
        ("repositories", "", "gather hide errors"),
    ],
)
def test_the_request_is_as_the_api_documents_it(httpserver: HTTPServer, kind: str, site: str, q: str) -> None:
    """Function words are left out, because GitHub finds only what has every word."""
    requests = served(httpserver, found(), kind)
    assert engine(httpserver, kind, site, TOKEN).search("Why does gather hide errors?", 20) == []
    [request] = requests
    accept = "application/vnd.github.text-match+json" if kind == "code" else "application/vnd.github+json"
    assert (request.method, request.args.to_dict()) == ("GET", {"q": q, "per_page": "20"})
    assert request.headers["Accept"] == accept
    assert request.headers["Authorization"] == f"Bearer {TOKEN}"
    assert request.headers["X-GitHub-Api-Version"] == "2022-11-28"
    assert "harness" in request.headers["User-Agent"]


def test_without_a_token_there_is_no_authorization(httpserver: HTTPServer) -> None:
    """Issues and repositories are found without an account."""
    requests = served(httpserver, found())
    engine(httpserver).search("q", 10)
    assert "Authorization" not in requests[0].headers


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("repo:evil/x is:open -label:bug author:@me", "repo evil x open label bug author"),
        ('"exact phrase" OR (a NOT b) AND c', "exact phrase b c"),
        ("C++ or C# in node.js, with scikit-learn's __init__.", "C++ C# node.js scikit-learn's __init__"),
        ("--verbose created:>2020-01-01 size:10..*", "verbose created 2020-01-01 size 10"),
        ("what is it", "what is it"),
        ("word " * 200, " ".join(["word"] * 51)),
        ("x" * 400, "x" * 256),
    ],
    ids=["qualifiers", "operators", "names", "ranges", "only function words", "long", "a long word"],
)
def test_nothing_in_a_query_acts_as_syntax(httpserver: HTTPServer, query: str, words: str) -> None:
    """Qualifiers, quotation marks, brackets, hyphens and operators are only words; at most 256 characters."""
    requests = served(httpserver, found(), "repositories")
    engine(httpserver, "repositories").search(query, 10)
    assert requests[0].args["q"] == words


@pytest.mark.parametrize("query", ["???", "AND or NOT", " \x07 "])
def test_a_query_without_words_finds_nothing(httpserver: HTTPServer, query: str) -> None:
    """The qualifiers alone would find everything; no request is sent."""
    requests = served(httpserver, found(issue(1)))
    assert engine(httpserver).search(query, 10) == []
    assert requests == []


def test_the_limit_is_that_of_one_request(httpserver: HTTPServer) -> None:
    """At most `MAX_RESULTS`, whatever the server sends."""
    requests = served(httpserver, found(*(issue(number) for number in range(1, 151))))
    assert len(engine(httpserver).search("q", 500)) == MAX_RESULTS
    assert len(engine(httpserver).search("q", 2)) == 2
    assert [request.args["per_page"] for request in requests] == [f"{MAX_RESULTS}", "2"]


def test_code_has_the_parts_that_match(httpserver: HTTPServer) -> None:
    """Parts of the path are left out; indentation stays."""
    matches = [
        {"property": "content", "fragment": "def f():\r\n    gather()\n"},
        {"property": "path", "fragment": "Lib/gather.py"},
        None,
        {"property": "content", "fragment": "    await gather(a)"},
    ]
    item = {
        "name": "tasks.py",
        "path": "Lib/asyncio/tasks.py",
        "html_url": "https://github.com/python/cpython/blob/abc/Lib/asyncio/tasks.py",
        "repository": {"full_name": "python/cpython", "owner": {"login": "python"}},
        "text_matches": matches,
    }
    served(httpserver, found(item), "code")
    [result] = engine(httpserver, "code", token=TOKEN).search("gather", 10)
    assert result["body"] == "def f():\n    gather()\n\n    await gather(a)"
    assert (result["title"], result.get("site")) == ("Lib/asyncio/tasks.py", "python/cpython")


def test_a_repository_has_its_description(httpserver: HTTPServer) -> None:
    """Its name is the title; without a description the body is empty."""
    address = "https://github.com/o/"
    items = [
        {"full_name": "o/a", "html_url": f"{address}a", "description": "A queue", "created_at": "2020-01-02T00:00:00Z"},
        {"full_name": "o/b", "html_url": f"{address}b", "description": None, "owner": {"login": "o"}},
    ]
    served(httpserver, found(*items), "repositories")
    first, second = engine(httpserver, "repositories").search("queue", 10)
    assert (first["title"], first["body"], first.get("date")) == ("o/a", "A queue", "2020-01-02")
    assert (second["body"], second.get("authors"), "date" in second) == ("", "o", False)


def test_a_discussion_has_its_answer_first(httpserver: HTTPServer) -> None:
    """GraphQL: the query is a variable, never a part of the document."""
    node = {
        "title": "How?",
        "url": "https://github.com/o/n/discussions/1",
        "body": "I tried.",
        "createdAt": "2024-02-03T04:05:06Z",
        "author": {"login": "ada"},
        "repository": {"nameWithOwner": "o/n"},
        "answer": {"body": "Use `x`."},
    }
    other = node | {"url": "https://github.com/o/n/discussions/2", "answer": None, "author": None}
    document = {"data": {"search": {"nodes": [node, other, {}]}}}
    requests = served(httpserver, reply(document), "discussions")
    first, second = engine(httpserver, "discussions", "o/n", TOKEN).search('x" }', 10)
    assert (first["body"], second["body"]) == ("Use `x`.\n\nI tried.", "I tried.")
    assert (first.get("date"), first.get("authors"), first.get("site")) == ("2024-02-03", "ada", "o/n")
    sent = msgspec.json.decode(requests[0].get_data())
    assert sent["variables"] == {"query": "x repo:o/n", "first": 10}
    assert "type: DISCUSSION" in sent["query"]
    assert "o/n" not in sent["query"]


def test_missing_fields_and_odd_items_lose_no_other_result(httpserver: HTTPServer) -> None:
    """Every field may be missing, null or of another form."""
    bare = {"html_url": "https://github.com/o/n/issues/1", "title": None, "body": None, "user": None}
    items = [None, 5, issue(2, title=["x"]), issue(3, html_url="javascript:alert(1)"), {}, bare, issue(4)]
    served(httpserver, found(*items))
    first, second = engine(httpserver).search("q", 10)
    assert first == {"title": bare["html_url"], "href": bare["html_url"], "body": ""}
    assert second["title"] == "Issue 4"


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Control and direction characters, endless texts."""
    served(httpserver, found(issue(1, title="\x1b]0;x\x07\u202e t\nu", body="\x00\u202e word\r" * 50_000)))
    [result] = engine(httpserver).search("q", 10)
    assert result["title"] == "]0;x t u"
    assert result["body"].startswith("word\n word")
    assert len(result["body"]) <= MAX_BODY_CHARS
    assert not set("\x00\u202e\r") & set(result["body"])


SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
PRIMARY = {"message": "API rate limit exceeded for 192.0.2.1.", "documentation_url": "https://docs.github.com/rest"}
GRAPHQL = {"errors": [{"type": "RATE_LIMIT", "message": "API rate limit already exceeded for user ID 1."}]}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply(PRIMARY, 403, X_RateLimit_Remaining="0"), "issues"),
        (reply({"message": "Forbidden"}, 403, Retry_After="60"), "issues"),
        (reply(SECONDARY, 403, X_RateLimit_Remaining="9"), "code"),
        (Response("<html>", 429), "issues"),
        (reply(GRAPHQL), "discussions"),
        (reply({"data": None, "errors": [{"message": "Wait"}]}, X_RateLimit_Remaining="0"), "discussions"),
    ],
    ids=["primary", "retry-after", "secondary", "429", "GraphQL", "GraphQL, by header"],
)
def test_a_rate_limit_is_one_in_every_form(httpserver: HTTPServer, answer: Response, kind: str) -> None:
    """The message says what to do, and shows no IP address."""
    served(httpserver, answer, kind)
    with pytest.raises(RateLimited, match=r"wait a minute$") as raised:
        engine(httpserver, kind, token=TOKEN).search("q", 10)
    assert "192.0.2.1" not in str(raised.value)


def test_without_a_token_a_rate_limit_advises_to_set_one(httpserver: HTTPServer) -> None:
    """It allows more requests."""
    served(httpserver, reply(PRIMARY, 403, X_RateLimit_Remaining="0"))
    with pytest.raises(RateLimited, match=r"wait a minute, or set github_token$"):
        engine(httpserver).search("q", 10)


NO_ACCESS = "The listed users and repositories cannot be searched\n\x07 either."


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            reply({"message": "Validation Failed", "errors": [{"message": NO_ACCESS, "code": "invalid"}]}, 422),
            "Validation Failed: The listed users and repositories cannot be searched either; check the filters",
        ),
        (reply({"message": f"Odd token {TOKEN}", "errors": "e " * 9_000}, 403), "HTTP 403.: Odd token …: "),
        (reply({"message": "Server Error"}, 503), r"HTTP 503.: Server Error; try again later"),
        (Response("<html>Unicorn!</html>", 503), "HTTP 503; try again later"),
        (reply({"message": "Moved"}, 301, Location="https://api.github.com/x"), "redirect to https://api.github.com"),
        (found(incomplete=True), "ran out of time"),
        (found(1, "x"), "something else than results"),
        (reply({"total_count": 0}), "something else than results"),
        (reply({"items": {}}), "something else than results"),
        (reply([1]), "something else than results"),
        (Response(b"[" * 100_000), "something else than results"),
        (Response("<html>"), "something else than results"),
    ],
    ids="422 403 503 HTML-503 redirect incomplete odd no-items items list deep HTML".split(),
)
def test_a_failure_is_never_an_empty_result(httpserver: HTTPServer, answer: Response, words: str) -> None:
    """The error is one short line that says what happened, without the token."""
    served(httpserver, answer)
    with pytest.raises(EngineUnavailable, match=words) as raised:
        engine(httpserver, token=TOKEN).search("q", 10)
    assert TOKEN not in str(raised.value)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 350


def test_an_error_of_graphql_is_a_failure(httpserver: HTTPServer) -> None:
    """Its status is 200."""
    served(
        httpserver, reply({"data": {"search": None}, "errors": [{"message": "Something went wrong"}]}), "discussions"
    )
    with pytest.raises(EngineUnavailable, match="Something went wrong; try again later"):
        engine(httpserver, "discussions", token=TOKEN).search("q", 10)


def test_a_refused_token_names_the_setting(httpserver: HTTPServer) -> None:
    """The token itself is not shown."""
    served(httpserver, reply({"message": "Bad credentials"}, 401))
    with pytest.raises(InvalidInput, match="github_token") as raised:
        engine(httpserver, token=TOKEN).search("q", 10)
    assert TOKEN not in str(raised.value)


def test_no_answer_is_a_failure() -> None:
    """A server that hangs."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = GitHub(timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"did not answer within 0\.2 s"):
            hanging.search("q", 10)


@pytest.mark.parametrize(
    ("argument", "token", "words"),
    [
        ("kind=code", None, "set github_token"),
        ("kind=discussions", " ", "set github_token"),
        ("kind=users", TOKEN, "choose one of issues, pulls, code"),
        ("site=python", None, "site=OWNER/NAME"),
        ("site=a/b repo", None, "site=OWNER/NAME"),
        ("site=a/..", None, "site=OWNER/NAME"),
        ("site=-a/b", None, "site=OWNER/NAME"),
        ("years=2020", None, "cannot be filtered by"),
        ("", "ghp_é", "github_token has characters"),
        ("", "a\nb", "github_token has characters"),
    ],
)
def test_an_unusable_setting_is_refused_at_once(tmp_path: Path, argument: str, token: str | None, words: str) -> None:
    """The message names the setting or the form of the filter, never the token."""
    with pytest.raises(InvalidInput, match=words) as raised:
        from_settings(argument, Settings(data_dir=tmp_path, github_token=token))
    assert not (token or "").strip() or str(token) not in str(raised.value)


def test_the_options_are_the_filters(tmp_path: Path) -> None:
    """Never the token; the default kind and address are left out."""
    settings = Settings(data_dir=tmp_path, github_token=TOKEN)
    assert from_settings("", settings).options == from_settings("kind=issues", settings).options == {}
    assert from_settings("kind=Code:site=a/b", settings).options == {"kind": "code", "site": "a/b"}
    assert GitHub(base_url="https://ghe.example/api/v3/").options == {"base_url": "https://ghe.example/api/v3"}


def test_every_error_is_one_of_the_harness(httpserver: HTTPServer) -> None:
    """Also for a body that is not text."""
    served(httpserver, Response(b"\xff\xfe\x00", 418))
    with pytest.raises(HarnessError, match="HTTP 418"):
        engine(httpserver).search("q", 10)
