"""The adapter against a real HTTP server on loopback that answers as the query API of arXiv does."""

import socket
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, HarnessError, InvalidInput, RateLimited
from harness.settings import Settings
from harness.sources.engines.arxiv import BASE_URL, MAX_RESULTS, MAX_WORDS, PAUSE_SECONDS, Arxiv, from_settings
from harness.sources.engines.filters import Filters

FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
      xmlns:arxiv="http://arxiv.org/schemas/atom">
  <link href="http://arxiv.org/api/query?search_query=all:q" rel="self" type="application/atom+xml"/>
  <title type="html">ArXiv Query: search_query=all:q</title>
  <id>http://arxiv.org/api/cHxbiOdZaP56ODnBPIenZhzg5f8</id>
  <opensearch:totalResults>{total}</opensearch:totalResults>
  {entries}
</feed>"""

ENTRY = """<entry>
  <id>{address}</id>
  <updated>2018-01-10T00:00:00Z</updated>
  <published>2017-06-12T17:57:34Z</published>
  <title>{title}</title>
  <summary>{summary}</summary>
  <author><name>Ada Lovelace</name><arxiv:affiliation>London</arxiv:affiliation></author>
  <author><name>Alan Turing</name></author>
  {more}
  <link href="{address}" rel="alternate" type="text/html"/>
  <arxiv:primary_category term="cs.CL" scheme="http://arxiv.org/schemas/atom"/>
</entry>"""

PUBLISHED = (
    "<arxiv:doi>10.1103/PhysRevX.1</arxiv:doi><arxiv:journal_ref>Phys. Rev. X\n 1 (2018) 17-29</arxiv:journal_ref>"
)

ERROR = """<entry><id>{address}</id><title>Error</title><summary>{summary}</summary>
  <author><name>arXiv api core</name></author></entry>"""


def entry(number: str = "1706.03762v5", *, more: str = "", **texts: str) -> str:
    """Return one paper as the API sends it."""
    fields = {"address": f"http://arxiv.org/abs/{number}", "title": f"Paper {number}", "summary": "An abstract."}
    return ENTRY.format(more=more, **{name: escape(text) for name, text in (fields | texts).items()})


def failed(summary: str, address: str = "https://arxiv.org/api/errors", status: int = 400) -> Response:
    """Answer with an error, which is an entry of a feed."""
    return feed(ERROR.format(address=address, summary=escape(summary)), status=status)


def feed(*entries: str, total: int | None = None, status: int = 200) -> Response:
    """Answer with a feed."""
    document = FEED.format(total=len(entries) if total is None else total, entries="".join(entries))
    return Response(document, status, content_type="application/atom+xml; charset=UTF-8")


def served(server: HTTPServer, *answers: Response) -> list[dict[str, str]]:
    """Let `server` give these answers, the last one to all later requests; return the requests' parameters."""
    asked: list[dict[str, str]] = []

    def answer(request: Request) -> Response:
        asked.append(request.args.to_dict())
        return answers[min(len(asked), len(answers)) - 1]

    server.expect_request("/query", method="GET").respond_with_handler(answer)
    return asked


def engine(server: HTTPServer, **options: Any) -> Arxiv:
    """Return the engine at `server`, which does not really pause."""
    return Arxiv(base_url=server.url_for(""), **{"sleep": lambda seconds: None} | options)


def test_a_paper_has_all_fields(httpserver: HTTPServer) -> None:
    """The address has no version; line breaks of the feed are removed."""
    served(
        httpserver, feed(entry(title="Attention\n   Is All", summary="  We propose\n  a network.\n", more=PUBLISHED))
    )
    assert engine(httpserver).search("attention", 10) == [
        {
            "title": "Attention Is All",
            "href": "https://arxiv.org/abs/1706.03762",
            "body": "We propose a network.",
            "date": "2017-06-12",
            "authors": "Ada Lovelace, Alan Turing",
            "site": "Phys. Rev. X 1 (2018) 17-29",
            "doi": "10.1103/physrevx.1",
            "full_text": "https://arxiv.org/pdf/1706.03762",
        }
    ]


def test_a_paper_that_no_journal_has_published_is_of_arxiv(httpserver: HTTPServer) -> None:
    """Without a journal reference and a DOI, arXiv is the place of publication."""
    served(httpserver, feed(entry()))
    [paper] = engine(httpserver).search("q", 10)
    assert paper["site"] == "arXiv"
    assert "doi" not in paper


def test_the_request_is_as_the_api_documents_it(httpserver: HTTPServer) -> None:
    """All words that carry meaning, most relevant first; function words are left out."""
    asked = served(httpserver, feed(entry()))
    engine(httpserver).search("How do language models use long contexts?", 7)
    assert asked == [
        {
            "search_query": "all:language AND all:models AND all:long AND all:contexts",
            "max_results": "7",
            "sortBy": "relevance",
            "sortOrder": "descending",
        }
    ]


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ('"sparse attention"', "all:sparse AND all:attention"),
        ("ti:graph ANDNOT (au:smith OR cat:cs.CL)", "all:ti AND all:graph AND all:andnot AND all:au AND all:smith"),
        ("pre-training -excluded", "all:pre AND all:training AND all:excluded"),
        ("a]b[c TO *] ~2 ^x \\", "all:a AND all:b"),
        ("what is it", "all:what AND all:is AND all:it"),
        ("graph graph GRAPH", "all:graph"),
    ],
)
def test_nothing_of_a_query_is_an_operator(httpserver: HTTPServer, query: str, terms: str) -> None:
    """Only words are sent, in lower case, each with its field; of function words alone, all are sent."""
    asked = served(httpserver, feed(entry()))
    engine(httpserver).search(query, 5)
    assert asked[0]["search_query"].startswith(terms)
    assert not set('"()[]{}~^*-\\') & set(asked[0]["search_query"])


def test_a_long_query_is_cut(httpserver: HTTPServer) -> None:
    """At most `MAX_WORDS` words."""
    asked = served(httpserver, feed(entry()))
    engine(httpserver).search(" ".join(f"word{number}" for number in range(500)), 5)
    assert asked[0]["search_query"].count("all:") == MAX_WORDS


def test_a_query_without_words_sends_no_request(httpserver: HTTPServer) -> None:
    """There is nothing to search for."""
    asked = served(httpserver, feed(entry()))
    assert engine(httpserver).search("?! …", 5) == []
    assert asked == []


def test_without_results_a_second_request_asks_for_any_word(httpserver: HTTPServer) -> None:
    """After the pause that arXiv asks for."""
    pauses: list[float] = []
    asked = served(httpserver, feed(), feed(entry()))
    papers = engine(httpserver, sleep=pauses.append).search("sparse attention", 5)
    assert [each["search_query"] for each in asked] == ["all:sparse AND all:attention", "all:sparse OR all:attention"]
    assert (len(papers), pauses) == (1, [PAUSE_SECONDS])


@pytest.mark.parametrize(("query", "requests"), [("xqzzyv", 1), ("xqzzyv wvutq", 2)])
def test_nothing_found_is_an_empty_list(httpserver: HTTPServer, query: str, requests: int) -> None:
    """One word needs no second request."""
    asked = served(httpserver, feed())
    assert engine(httpserver).search(query, 5) == []
    assert len(asked) == requests


@pytest.mark.parametrize(
    ("filters", "query"),
    [
        (Filters(since=2020, until=2024), "(all:q1) AND submittedDate:[202001010000 TO 202412312359]"),
        (Filters(since=2020), "(all:q1) AND submittedDate:[202001010000 TO 209912312359]"),
        (Filters(until=2024), "(all:q1) AND submittedDate:[199101010000 TO 202412312359]"),
        (Filters(since=1900, until=1999), "(all:q1) AND submittedDate:[199101010000 TO 199912312359]"),
        (Filters(field="cs.cl"), "(all:q1) AND cat:cs.CL"),
        (Filters(field="Cond-Mat.Soft"), "(all:q1) AND cat:cond-mat.soft"),
        (Filters(field="math"), "(all:q1) AND (cat:math OR cat:math.*)"),
        (
            Filters(since=2020, until=2020, field="q-bio.NC"),
            "(all:q1) AND cat:q-bio.NC AND submittedDate:[202001010000 TO 202012312359]",
        ),
    ],
)
def test_filters_are_part_of_the_query(httpserver: HTTPServer, filters: Filters, query: str) -> None:
    """Years in the only form that the API accepts; a category in the form that arXiv writes."""
    asked = served(httpserver, feed(entry()))
    engine(httpserver, filters=filters).search("q1", 5)
    assert asked[0]["search_query"] == query


def test_years_before_arxiv_send_no_request(httpserver: HTTPServer) -> None:
    """There are no papers, and the range would be reversed."""
    asked = served(httpserver, feed(entry()))
    assert engine(httpserver, filters=Filters(until=1980)).search("q1", 5) == []
    assert asked == []


@pytest.mark.parametrize("field", ["cs.CL OR all", "cs.", "c s", "cs.CL.x", "a#b", "1"])
def test_a_field_that_is_no_category_is_refused(field: str) -> None:
    """It would be part of the query."""
    with pytest.raises(InvalidInput, match="is not a category of arXiv; write one like"):
        Arxiv(filters=Filters(field=field))


def test_no_more_results_than_asked_for(httpserver: HTTPServer) -> None:
    """In the order of the feed, each paper once, whatever the server sends."""
    asked = served(httpserver, feed(*(entry(f"2401.{number:05}v{number % 9 + 1}") for number in (3, 3, *range(300)))))
    papers = engine(httpserver).search("q1", 1_000)
    assert asked[0]["max_results"] == str(MAX_RESULTS)
    assert [paper["href"][-3:] for paper in papers[:4]] == ["003", "000", "001", "002"]
    assert len(papers) == MAX_RESULTS
    assert len(engine(httpserver).search("q1", 2)) == 2


@pytest.mark.parametrize(
    ("number", "bare"),
    [
        ("2401.00001", "2401.00001"),
        ("hep-ex/0307015v1", "hep-ex/0307015"),
        ("math.GT/0309136v12", "math.GT/0309136"),
        ("0710.5765v1", "0710.5765"),
    ],
)
def test_the_address_has_no_version(httpserver: HTTPServer, number: str, bare: str) -> None:
    """So one paper is one source; old and new identifiers."""
    served(httpserver, feed(entry(number)))
    [paper] = engine(httpserver).search("q1", 5)
    assert (paper["href"], paper["full_text"]) == (f"https://arxiv.org/abs/{bare}", f"https://arxiv.org/pdf/{bare}")


def test_an_entry_without_fields_does_not_lose_the_others(httpserver: HTTPServer) -> None:
    """A paper may lack everything but its address; an entry without one is left out."""
    bare = "<entry><id>http://arxiv.org/abs/2401.00001v1</id><title/></entry>"
    served(httpserver, feed("<entry><title>No id</title></entry>", bare, entry("2401.00002v1")))
    first, second = engine(httpserver).search("q1", 5)
    assert first == {
        "title": "https://arxiv.org/abs/2401.00001",
        "href": "https://arxiv.org/abs/2401.00001",
        "body": "",
        "site": "arXiv",
        "full_text": "https://arxiv.org/pdf/2401.00001",
    }
    assert second["title"] == "Paper 2401.00002v1"


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Direction characters, endless texts, and addresses that lead to another host or contain a query."""
    hostile = entry(title="Ti\u202etle\u009b " + "t" * 2_000, summary="a < b > c " * 50_000)
    elsewhere = entry(address="http://arxiv.org.evil.example/abs/2401.00002v1")
    longer = entry(address="http://arxiv.org/abs/2401.00003v1?x=javascript:1")
    served(httpserver, feed(hostile, elsewhere, longer))
    [paper] = engine(httpserver).search("q1", 5)
    assert paper["title"].startswith("Title tt")
    assert len(paper["title"]) == 500
    assert (len(paper["body"]) <= 10_000, paper["body"][:9]) == (True, "a < b > c")


@pytest.mark.parametrize(
    "refusal",
    [Response("Rate exceeded.", 429), Response("Retry after specified interval", 503, {"Retry-After": "10"})],
    ids=["429", "503 with the time to wait"],
)
def test_too_many_requests_are_a_rate_limit(httpserver: HTTPServer, refusal: Response) -> None:
    """Also if the second request is refused."""
    served(httpserver, refusal, feed(), refusal)
    for _ in range(2):
        with pytest.raises(RateLimited, match="arXiv asks for fewer requests"):
            engine(httpserver).search("sparse attention", 5)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (failed("incorrect id format for x.", "http://arxiv.org/api/errors#x", 200), "incorrect id format for x; try"),
        (failed("Invalid\n query \u202e" + "x" * 999), "Invalid query"),
        (failed(""), "no reason given"),
        (failed("The server encountered an internal error", status=500), "internal error; try again"),
        (Response("<html>down", 500), "HTTP 500"),
        (Response("<html>Service unavailable</html>", 503), "HTTP 503"),
        (Response("<html>no robots</html>", 403), "HTTP 403"),
        (Response("", 301, {"Location": "https://arxiv.org/api/query"}), "redirect to https://arxiv.org"),
        (Response(""), "broken XML"),
        (Response("<feed><entry>"), "broken XML"),
        (Response("<html><body>Maintenance</body></html>"), "something else than a feed"),
        (feed("<entry/>", "<entry><id>http://arxiv.org/help</id></entry>"), "something else than results"),
        (feed(total=1_000), "found papers but sent none"),
        (Response(b"x" * 5_000_001), "more than 5 MB"),
    ],
    ids=["200", "400", "no text", "500", "HTML 500", "503", "403", "redirect", "empty", "cut", "HTML", "no papers",
         "none sent", "large"],
)  # fmt: skip
def test_a_failure_is_never_an_empty_result(httpserver: HTTPServer, answer: Response, message: str) -> None:
    """The error is one short line that says what happened."""
    served(httpserver, answer)
    with pytest.raises(EngineUnavailable, match=message) as raised:
        engine(httpserver).search("q1", 10)
    assert not set("\n\u202e") & set(str(raised.value))
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    "declared", ['<!ENTITY e "text">', '<!ENTITY e SYSTEM "{url}">', '<!ENTITY % p SYSTEM "{url}"> %p;']
)
def test_entities_are_refused(httpserver: HTTPServer, declared: str) -> None:
    """Nothing is expanded or fetched."""
    httpserver.expect_request("/dtd").respond_with_data("")
    document = f"<!DOCTYPE feed [{declared.replace('{url}', httpserver.url_for('/dtd'))}]><feed>&e;</feed>"
    served(httpserver, Response(document, content_type="application/atom+xml"))
    with pytest.raises(EngineUnavailable, match=r"arXiv sent (broken XML|XML with entity declarations)"):
        engine(httpserver).search("q1", 10)
    assert [request.path for request, _ in httpserver.log] == ["/query"]


def test_no_answer_is_a_failure() -> None:
    """A server that hangs, and one that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = Arxiv(timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"arXiv did not answer within 0\.2 s"):
            hanging.search("q1", 10)
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        hanging.search("q1", 10)


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("", {}),
        ("open", {}),
        ("field=cs.cl:years=2020-2024:open", {"field": "cs.CL", "since": 2020, "until": 2024}),
        ("years=2020-", {"since": 2020}),
    ],
)
def test_the_filters_are_part_of_the_key(tmp_path: Path, argument: str, options: dict[str, Any]) -> None:
    """In one form; `open` changes no result, so it is not among them."""
    made = from_settings(argument, Settings(data_dir=tmp_path))
    assert (made.name, made.options) == ("arxiv", options)


@pytest.mark.parametrize("argument", ["site=x", "kind=x", "2020", "field=", "years=2024-2020"])
def test_an_unknown_filter_is_refused(tmp_path: Path, argument: str) -> None:
    """The error names the filters."""
    with pytest.raises(InvalidInput, match="write arxiv"):
        from_settings(argument, Settings(data_dir=tmp_path))


def test_another_server_is_part_of_the_key() -> None:
    """The default is not; an address without a host is refused."""
    assert Arxiv(base_url=BASE_URL + "/").options == {}
    assert Arxiv(base_url="https://mirror.example/api").options == {"base_url": "https://mirror.example/api"}
    with pytest.raises(HarnessError, match="the URL of the API of arXiv must be a URL"):
        Arxiv(base_url="arxiv.org")
