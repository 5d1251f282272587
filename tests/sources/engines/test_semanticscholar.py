"""The adapter against a real HTTP server on loopback that answers as the API of Semantic Scholar does."""

import logging
import socket
import time
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
from harness.sources.engines.filters import Filters
from harness.sources.engines.result_fields import MAX_BODY_CHARS, MAX_TITLE_CHARS
from harness.sources.engines.semanticscholar import FIELDS_OF_STUDY, MAX_RESULTS, SemanticScholar, from_settings

KEY = "S2-0123456789abcdef"
SHA = "649def34f8be52c8b66281af98ae884c09aef38b"


def paper(number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return one paper in the shape of the API."""
    made = {
        "paperId": f"{number:040x}",
        "externalIds": {"MAG": "1", "DOI": f"10.1000/Paper.{number}", "CorpusId": number},
        "url": f"https://www.semanticscholar.org/paper/{number:040x}",
        "title": f"Paper {number}",
        "abstract": f"Abstract {number}.",
        "venue": "A journal",
        "year": 2020,
        "publicationDate": "2020-03-04",
        "openAccessPdf": {"url": f"https://example.org/{number}.pdf", "status": "GREEN", "license": None},
        "authors": [{"authorId": "1", "name": "Ada Lovelace"}, {"authorId": None, "name": "Alan Turing"}],
        "tldr": {"model": "tldr@v2.0.0", "text": f"Summary {number}."},
    }
    return made | fields


def found(*papers: object) -> Response:
    """Answer a search."""
    return reply({"total": 1_000, "offset": 0, "next": len(papers), "data": papers})


def reply(document: object, status: int = 200) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(document), status, content_type="application/json")


def served(server: HTTPServer, answer: Response) -> list[Request]:
    """Let `server` answer searches; return the requests."""
    requests: list[Request] = []

    def handle(request: Request) -> Response:
        requests.append(request)
        return answer

    server.expect_request("/paper/search", method="GET").respond_with_handler(handle)
    return requests


def engine(server: HTTPServer, **options: Any) -> SemanticScholar:
    """Return the engine at `server`."""
    return SemanticScholar(base_url=server.url_for(""), **options)


def results(server: HTTPServer, *papers: object) -> Sequence[SearchResult]:
    """Return what a search makes of these papers."""
    served(server, found(*papers))
    return engine(server).search("q", 10)


def asked(server: HTTPServer, query: str, **options: Any) -> Request:
    """Search once; return the request."""
    requests = served(server, found(paper()))
    engine(server, **options).search(query, 5)
    [request] = requests
    return request


def test_the_request_is_as_the_api_documents_it(httpserver: HTTPServer) -> None:
    """One request; no header for a key that is not there."""
    request = asked(httpserver, "  sleep  & memory ")
    assert request.args.to_dict() == {
        "query": "sleep & memory",
        "limit": "5",
        "fields": "title,abstract,year,publicationDate,authors,venue,externalIds,openAccessPdf,url,tldr",
    }
    assert "x-api-key" not in request.headers


def test_a_key_is_sent_as_a_header_only(httpserver: HTTPServer, caplog: pytest.LogCaptureFixture) -> None:
    """It is in no address, no log and no option."""
    caplog.set_level(logging.DEBUG)
    request = asked(httpserver, "q", api_key=f" {KEY}\n")
    assert request.headers["x-api-key"] == KEY
    assert KEY not in request.url
    assert KEY not in caplog.text
    assert KEY not in repr(SemanticScholar(api_key=KEY).options)


def test_a_result_has_all_fields(httpserver: HTTPServer) -> None:
    """The address is that of the DOI; nothing about the paper is in the body."""
    assert results(httpserver, paper(7)) == [
        {
            "title": "Paper 7",
            "href": "https://doi.org/10.1000/paper.7",
            "body": "Abstract 7.",
            "date": "2020-03-04",
            "authors": "Ada Lovelace, Alan Turing",
            "site": "A journal",
            "doi": "10.1000/paper.7",
            "full_text": "https://example.org/7.pdf",
        }
    ]


@pytest.mark.parametrize(
    ("ids", "href"),
    [
        ({"DOI": "10.1/x", "ArXiv": "2106.15928"}, "https://arxiv.org/abs/2106.15928"),
        ({"DOI": "10.1000/a#b?c", "ArXiv": "2106.15928"}, "https://doi.org/10.1000/a%23b%3Fc"),
        ({"DOI": None, "ArXiv": "hep-th/9901001"}, "https://arxiv.org/abs/hep-th/9901001"),
        ({"ArXiv": "../../evil"}, f"https://www.semanticscholar.org/paper/{SHA}"),
        ({"DOI": "10.1002/(SICI)1097:15<1661::AID>3"}, "https://doi.org/10.1002/(sici)1097:15%3C1661::aid%3E3"),
        ({"DOI": "10.1000/half a"}, f"https://www.semanticscholar.org/paper/{SHA}"),
        (None, f"https://www.semanticscholar.org/paper/{SHA}"),
    ],
    ids=["no DOI", "DOI", "old arXiv", "no arXiv", "old DOI", "half a DOI", "none"],
)
def test_the_address_is_the_doi_or_arxiv_or_semantic_scholar(httpserver: HTTPServer, ids: object, href: str) -> None:
    """In this order; an identifier of another form is not used."""
    url = f"https://www.semanticscholar.org/paper/{SHA}"
    [result] = results(httpserver, paper(externalIds=ids, url=url))
    assert result["href"] == href
    assert ("doi" in result) == href.startswith("https://doi.org/")


def test_papers_stay_in_order_each_once_and_without_an_address_not_at_all(httpserver: HTTPServer) -> None:
    """The order is that of the service."""
    nowhere = paper(8, externalIds=None, url=None)
    titles = [each["title"] for each in results(httpserver, paper(5), paper(3), nowhere, paper(5), paper(4))]
    assert titles == ["Paper 5", "Paper 3", "Paper 4"]


@pytest.mark.parametrize("document", [{"total": 0, "offset": 0, "data": []}, {"total": 0, "offset": 0}])
def test_a_search_without_results_is_empty(httpserver: HTTPServer, document: object) -> None:
    """No results are not a failure."""
    served(httpserver, reply(document))
    assert engine(httpserver).search("zxqv", 10) == []


@pytest.mark.parametrize(("wanted", "limit"), [(3, 3), (1_000, MAX_RESULTS)])
def test_the_limit_is_kept_whatever_the_server_sends(httpserver: HTTPServer, wanted: int, limit: int) -> None:
    """The API refuses a limit of more than 100."""
    requests = served(httpserver, found(*map(paper, range(1, 121))))
    assert len(engine(httpserver).search("q", wanted)) == limit
    assert requests[0].args["limit"] == str(limit)


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("state-of-the-art COVID\u201119", "state of the art COVID 19"),
        ('"exact" +a -b (c|d)*', '"exact" +a b (c|d)*'),
        ("\x00\u202eword ", "word"),
        ("long " * 1_000, ("long " * 100).strip()),
    ],
    ids=["hyphens", "signs", "control characters", "long"],
)
def test_a_query_is_plain_text_without_hyphens(httpserver: HTTPServer, query: str, sent: str) -> None:
    """A word with a hyphen would find nothing; other signs have no meaning."""
    request = asked(httpserver, query)
    assert request.args["query"] == sent


def test_a_query_of_hyphens_finds_nothing_and_asks_nothing(httpserver: HTTPServer) -> None:
    """The API refuses an empty query."""
    assert engine(httpserver).search(" -- ", 10) == []
    assert not httpserver.log


def test_without_an_abstract_the_summary_is_the_body(httpserver: HTTPServer) -> None:
    """Publishers withhold abstracts; without either there is no text, and the title is none."""
    first, second = results(httpserver, paper(1, abstract=None), paper(2, abstract="", tldr=None))
    assert (first["body"], second["body"]) == ("Summary 1.", "")


def test_null_and_missing_fields_are_left_out(httpserver: HTTPServer) -> None:
    """The API may null any field; a closed paper has an empty URL."""
    nulls = dict.fromkeys(paper(), None) | {"url": "https://www.semanticscholar.org/paper/a"}
    bare = {"paperId": SHA, "url": f"https://www.semanticscholar.org/paper/{SHA}", "authors": [None, {"name": None}]}
    closed = paper(3, publicationDate=None, openAccessPdf={"url": "", "status": "CLOSED"})
    first, second, third = results(httpserver, nulls, bare, closed)
    assert first == {"title": nulls["url"], "href": nulls["url"], "body": ""}
    assert second == {"title": bare["url"], "href": bare["url"], "body": ""}
    assert third["date"] == "2020"
    assert "full_text" not in third


def test_an_arxiv_paper_has_its_text_there(httpserver: HTTPServer) -> None:
    """Semantic Scholar leaves out the URL of many of them."""
    [result] = results(httpserver, paper(externalIds={"ArXiv": "2106.15928v2"}, openAccessPdf=None))
    assert result["full_text"] == "https://arxiv.org/pdf/2106.15928v2"


def test_a_paper_of_another_form_does_not_lose_the_others(httpserver: HTTPServer) -> None:
    """It is left out."""
    odd = [paper(1, year="2020"), None, 7, paper(2, authors="Ada")]
    assert [each["title"] for each in results(httpserver, *odd, paper(3))] == ["Paper 3"]


def test_the_filters_are_parameters_and_options(httpserver: HTTPServer) -> None:
    """The field is written as the API wants it; `openAccessPdf` has no value."""
    filters = Filters(since=2016, until=2020, open=True, field="computer science")
    request = asked(httpserver, "q", filters=filters)
    sent = {name: request.args[name] for name in ("year", "openAccessPdf", "fieldsOfStudy")}
    assert sent == {"year": "2016-2020", "openAccessPdf": "", "fieldsOfStudy": "Computer Science"}
    options = SemanticScholar(filters=filters).options
    assert options == {"since": 2016, "until": 2020, "open": True, "field": "Computer Science"}
    assert SemanticScholar().options == {}
    assert engine(httpserver).options == {"base_url": httpserver.url_for("").rstrip("/")}


@pytest.mark.parametrize(
    ("since", "until", "year"), [(2019, 2019, "2019-2019"), (2010, 0, "2010-"), (0, 2015, "-2015")]
)
def test_years_may_be_open_at_one_end(httpserver: HTTPServer, since: int, until: int, year: str) -> None:
    """In the form of the API."""
    request = asked(httpserver, "q", filters=Filters(since=since, until=until))
    assert request.args["year"] == year


@pytest.mark.parametrize(
    ("key", "advice"), [(None, "wait a minute, or set semanticscholar_api_key"), (KEY, "wait a minute$")]
)
def test_a_rate_limit_says_what_to_do(httpserver: HTTPServer, key: str | None, advice: str) -> None:
    """Very common without a key."""
    served(httpserver, reply({"message": "Too Many Requests. Please wait.", "code": "429"}, 429))
    with pytest.raises(RateLimited, match=advice):
        engine(httpserver, api_key=key).search("q", 10)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_the_setting(httpserver: HTTPServer, status: int) -> None:
    """The error does not show the key; without one the service is unavailable."""
    served(httpserver, reply({"message": f"Forbidden: {KEY}"}, status))
    with pytest.raises(InvalidInput, match="check semanticscholar_api_key") as raised:
        engine(httpserver, api_key=KEY).search("q", 10)
    assert KEY not in str(raised.value)
    with pytest.raises(EngineUnavailable, match="set semanticscholar_api_key"):
        engine(httpserver).search("q", 10)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (reply({"error": f"Unacceptable\n\x1b[31m query {KEY}: " + "x " * 500}, 400), r"Unacceptable \[31m query …:"),
        (reply([], 400), "HTTP 400"),
        (reply({"message": "Internal Server Error"}, 500), "HTTP 500"),
        (Response("<h1>Service Unavailable</h1>", 503), "HTTP 503"),
        (Response("", 302, {"Location": "https://evil.example/x"}), "redirect to https://evil.example"),
        (Response("<!DOCTYPE html>"), "something else than results"),
        (Response(b"[" * 100_000), "something else than results"),
        (reply([]), "something else than results"),
        (reply({"total": []}), "something else than results"),
        (reply({"total": 3, "data": "none"}), "something else than results"),
        (reply({"total": 2, "data": [1, "two"]}), "something else than results"),
    ],
    ids=["400", "empty 400", "500", "503", "302", "HTML", "deep", "a list", "no data", "a text", "no papers"],
)
def test_a_failure_is_never_an_empty_result(httpserver: HTTPServer, answer: Response, words: str) -> None:
    """The error is one short line without the key and control characters."""
    served(httpserver, answer)
    with pytest.raises(EngineUnavailable, match=words) as raised:
        engine(httpserver, api_key=KEY).search("q", 10)
    message = str(raised.value)
    assert message.isprintable()
    assert len(message) < 300
    assert KEY not in message


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Mark-up, control and direction characters, endless texts, addresses that are none."""
    hostile = paper(
        1,
        title="\x1b]0;x\x07<i>In vivo</i>\u202e &amp; <script>alert(1)</script>",
        abstract="<jats:p>One\x00.</jats:p><jats:p>Two &lt; three.</jats:p>",
        venue="J\n" * 1_000,
        openAccessPdf={"url": "javascript:alert(1)"},
        authors=[{"name": "\x1b[31m" + "a" * 10_000}] * 5,
    )
    endless = paper(2, title="t" * 5_000, abstract="word " * 50_000, url="file:///etc/passwd", externalIds=None)
    long = paper(3, title="t" * 5_000, abstract="word " * 50_000)
    first, second = results(httpserver, hostile, endless, long)
    assert first["title"] == "]0;xIn vivo & alert(1)"
    assert first["body"] == "One.\n\nTwo < three."
    assert first["authors"].startswith("[31maaa")
    assert (len(first["site"]) <= 200, len(first["authors"]) <= 300, "full_text" in first) == (True, True, False)
    assert (len(second["title"]), len(second["body"]) <= MAX_BODY_CHARS) == (MAX_TITLE_CHARS, True)


def test_less_than_signs_of_an_abstract_are_no_tags(httpserver: HTTPServer) -> None:
    """Text between a < and a > stays."""
    text = "It helped (p < 0.05, n<20) and lasted (r > 0.5)."
    [result] = results(httpserver, paper(abstract=text))
    assert result["body"] == text


def test_no_answer_in_time_is_a_failure(httpserver: HTTPServer) -> None:
    """A server that hangs, and one that sends slowly."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = SemanticScholar(timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"Semantic Scholar did not answer within 0\.2 s"):
            hanging.search("q", 10)

    def slow(_: Request) -> Response:
        time.sleep(0.5)
        return found(paper())

    httpserver.expect_request("/paper/search").respond_with_handler(slow)
    with pytest.raises(EngineUnavailable, match="did not answer"):
        engine(httpserver, timeout=0.1).search("q", 10)


def test_the_settings_give_filters_key_and_time(tmp_path: Path) -> None:
    """A key is optional."""
    settings = Settings(data_dir=tmp_path, semanticscholar_api_key=KEY, search_timeout=7)
    made = from_settings("years=2020-:open:field=Medicine", settings)
    assert made.options == {"since": 2020, "open": True, "field": "Medicine"}
    assert (made.name, made._key, made._timeout) == ("semanticscholar", KEY, 7)
    assert from_settings("", Settings(data_dir=tmp_path)).options == {}


@pytest.mark.parametrize(
    ("argument", "key", "words"),
    [
        ("field=Astrology", None, f"has no field 'Astrology'; choose one of {FIELDS_OF_STUDY[0]}"),
        ("site=arxiv", None, "cannot be filtered by 'site=arxiv'"),
        ("", f"{KEY}\nHost: x", "semanticscholar_api_key has characters"),
        ("", "schlüssel", "semanticscholar_api_key has characters"),
    ],
)
def test_unusable_settings_are_refused(tmp_path: Path, argument: str, key: str | None, words: str) -> None:
    """Before any request; the key is not shown."""
    with pytest.raises(HarnessError, match=words) as raised:
        from_settings(argument, Settings(data_dir=tmp_path, semanticscholar_api_key=key))
    assert isinstance(raised.value, InvalidInput)
    assert key is None or key not in str(raised.value)
