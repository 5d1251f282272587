"""The adapter against a real HTTP server on loopback that answers as the REST API of Europe PMC does."""

import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.settings import Settings
from harness.sources.engines.europepmc import BASE_URL, MAX_RESULTS, MAX_WORDS, EuropePmc, from_settings
from harness.sources.engines.filters import Filters

EMAIL = "ada@example.org"
PMC_TEXT = "https://pmc-oa-opendata.s3.amazonaws.com/PMC7759461.1/PMC7759461.1.txt"


def link(url: str | None, *, style: str = "pdf", code: str = "OA", site: str = "Unpaywall") -> dict[str, Any]:
    """Return one entry of `fullTextUrlList`."""
    return {"availability": "…", "availabilityCode": code, "documentStyle": style, "site": site, "url": url}


def paper(number: str = "32939066", **fields: Any) -> dict[str, Any]:
    """Return one record in the shape of the result type `core`, version 6.9."""
    made = {
        "id": number,
        "source": "MED",
        "pmid": number,
        "pmcid": "PMC7759461",
        "doi": "10.1038/S41586-020-2649-2",
        "title": "Array programming with <i>NumPy</i>.",
        "authorString": "Harris CR, Millman KJ, van der Walt SJ, Gommers R.",
        "abstractText": "<h4>Background</h4>Arrays are &amp; were useful.<h4>Results</h4>Yes.",
        "journalInfo": {"volume": "585", "journal": {"title": "Nature", "issn": "0028-0836"}},
        "pubYear": "2020",
        "firstPublicationDate": "2020-09-16",
        "isOpenAccess": "Y",
        "fullTextUrlList": {"fullTextUrl": [link("https://doi.org/10.1038/x", style="doi", code="S", site="DOI")]},
    }
    return made | fields


def found(*papers: object, **fields: Any) -> Response:
    """Answer with records."""
    return reply({"version": "6.9", "hitCount": len(papers), "resultList": {"result": papers}} | fields)


def reply(document: object, status: int = 200) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(document), status, content_type="application/json;charset=UTF-8")


def served(server: HTTPServer, answer: Response) -> list[Request]:
    """Let `server` give this answer; return the requests."""
    requests: list[Request] = []

    def respond(request: Request) -> Response:
        requests.append(request)
        return answer

    server.expect_request("/search", method="GET").respond_with_handler(respond)
    return requests


def engine(server: HTTPServer, **options: Any) -> EuropePmc:
    """Return the engine at `server`."""
    return EuropePmc(base_url=server.url_for(""), **options)


def test_a_paper_has_all_fields(httpserver: HTTPServer) -> None:
    """The body is the abstract alone, without HTML."""
    served(httpserver, found(paper()))
    assert engine(httpserver).search("numpy", 10) == [
        {
            "title": "Array programming with NumPy.",
            "href": "https://europepmc.org/article/MED/32939066",
            "body": "Background\n\nArrays are & were useful.\n\nResults\n\nYes.",
            "date": "2020-09-16",
            "authors": "Harris CR, Millman KJ, van der Walt SJ and others",
            "site": "Nature",
            "doi": "10.1038/s41586-020-2649-2",
            "full_text": PMC_TEXT,
        }
    ]


def test_the_request_is_as_the_api_documents_it(httpserver: HTTPServer) -> None:
    """All words but function words, and the fields of `core`."""
    requests = served(httpserver, found(paper()))
    engine(httpserver).search("How often does CRISPR have off-target effects?", 7)
    assert [request.args.to_dict() for request in requests] == [
        {
            "query": 'often AND crispr AND "off-target" AND effects',
            "resultType": "core",
            "format": "json",
            "pageSize": "7",
        }
    ]


def test_an_address_to_write_to_is_sent(httpserver: HTTPServer, tmp_path: Path) -> None:
    """It is in no key; from the settings, it is `contact_email`."""
    requests = served(httpserver, found(paper()))
    made = engine(httpserver, email=EMAIL)
    made.search("numpy", 5)
    assert requests[0].args["email"] == EMAIL
    assert EMAIL not in str(made.options)
    assert from_settings("", Settings(data_dir=tmp_path, contact_email=EMAIL))._email == EMAIL


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("vitamin D", "vitamin AND d"),
        ("SARS-CoV-2 & IL-6", '"sars-cov-2" AND "il-6"'),
        ("fever AND (mask OR NOT soap)", "fever AND mask AND soap"),
        ('TITLE:"x y" OPEN_ACCESS:N', 'title AND x AND y AND "open_access" AND n'),
        ("alzheimer's +cell -line ~2 ^3 a*b? [1 TO 2] {c} \\", '"alzheimer\'s" AND cell AND line AND 2 AND 3'),
        ("p 0.05", 'p AND "0.05"'),
        ("what is it", "what AND is AND it"),
        ("fever Fever FEVER", "fever"),
    ],
)
def test_nothing_of_a_query_is_an_operator(httpserver: HTTPServer, query: str, sent: str) -> None:
    """Words remain, in lower case; compound ones are phrases. Of function words alone, all are sent."""
    requests = served(httpserver, found(paper()))
    engine(httpserver).search(query, 5)
    assert requests[0].args["query"].startswith(sent)
    assert not set("()[]{}~^*?:+\\&") & set(requests[0].args["query"])


def test_a_long_query_is_cut(httpserver: HTTPServer) -> None:
    """At most `MAX_WORDS` words."""
    requests = served(httpserver, found(paper()))
    engine(httpserver).search(" ".join(f"word{number}" for number in range(500)), 5)
    assert requests[0].args["query"].count("word") == MAX_WORDS


def test_a_query_without_words_sends_no_request(httpserver: HTTPServer) -> None:
    """There is nothing to search for."""
    requests = served(httpserver, found(paper()))
    assert engine(httpserver).search("?! …", 5) == []
    assert requests == []


@pytest.mark.parametrize(
    ("filters", "query"),
    [
        (Filters(since=2020, until=2024), "fever AND PUB_YEAR:[2020 TO 2024]"),
        (Filters(since=2020), "fever AND PUB_YEAR:[2020 TO 3000]"),
        (Filters(until=2024), "fever AND PUB_YEAR:[1500 TO 2024]"),
        (Filters(open=True), "fever AND OPEN_ACCESS:Y"),
        (Filters(since=2024, until=2024, open=True), "fever AND PUB_YEAR:[2024 TO 2024] AND OPEN_ACCESS:Y"),
    ],
)
def test_filters_are_part_of_the_query(httpserver: HTTPServer, filters: Filters, query: str) -> None:
    """In the query language of Europe PMC."""
    requests = served(httpserver, found(paper()))
    engine(httpserver, filters=filters).search("fever", 5)
    assert requests[0].args["query"] == query


def test_nothing_found_is_an_empty_list(httpserver: HTTPServer) -> None:
    """No results are not a failure."""
    served(httpserver, found())
    assert engine(httpserver).search("xqzzyv", 5) == []


def test_no_more_results_than_asked_for(httpserver: HTTPServer) -> None:
    """In the order of the response, each paper once, whatever the server sends."""
    requests = served(httpserver, found(*(paper(str(number)) for number in (7, 7, 3, *range(100, 400)))))
    papers = engine(httpserver).search("q", 1_000)
    assert requests[0].args["pageSize"] == str(MAX_RESULTS)
    assert [each["href"].rpartition("/")[2] for each in papers[:3]] == ["7", "3", "100"]
    assert len(papers) == MAX_RESULTS
    assert len(engine(httpserver).search("q", 2)) == 2


@pytest.mark.parametrize("absent", [{}, dict.fromkeys(paper(), None)], ids=["missing", "null"])
def test_a_record_without_fields_is_a_result(httpserver: HTTPServer, absent: dict[str, Any]) -> None:
    """Its source and identifier are enough."""
    served(httpserver, found(absent | {"source": "PPR", "id": "PPR1"}))
    address = "https://europepmc.org/article/PPR/PPR1"
    assert engine(httpserver).search("q", 5) == [{"title": address, "href": address, "body": ""}]


@pytest.mark.parametrize(
    "odd",
    [{}, None, "text", paper(title=7), paper(source=None), paper(id="../x y"), paper(source="med/x"), paper(id="")],
    ids=["empty", "null", "text", "number", "no source", "bad id", "bad source", "no id"],
)
def test_an_odd_record_does_not_lose_the_others(httpserver: HTTPServer, odd: object) -> None:
    """It is left out; but if all are odd, that is a failure."""
    served(httpserver, found(odd, paper()))
    assert [each["site"] for each in engine(httpserver).search("q", 5)] == ["Nature"]
    httpserver.clear()
    served(httpserver, found(odd))
    with pytest.raises(EngineUnavailable, match="something else than results"):
        engine(httpserver).search("q", 5)


@pytest.mark.parametrize(
    ("fields", "site", "date"),
    [
        ({"bookOrReportDetails": {"publisher": "bioRxiv"}, "firstPublicationDate": None}, "bioRxiv", "2020"),
        ({"bookOrReportDetails": {"comprisingTitle": "GeneReviews", "publisher": "UW"}}, "GeneReviews", "2020-09-16"),
        ({"firstPublicationDate": "", "pubYear": 1998}, None, "1998"),
        ({"firstPublicationDate": "2020-09", "pubYear": None}, None, "2020-09"),
    ],
)
def test_preprints_and_books_have_a_place(
    httpserver: HTTPServer, fields: dict[str, Any], site: str | None, date: str
) -> None:
    """A preprint server or a book where there is no journal; a year where there is no day."""
    served(httpserver, found(paper(**{"journalInfo": None} | fields)))
    [each] = engine(httpserver).search("q", 5)
    assert (each.get("site"), each["date"]) == (site, date)


@pytest.mark.parametrize(
    ("fields", "address"),
    [
        ({}, PMC_TEXT),
        ({"isOpenAccess": "N"}, None),
        ({"isOpenAccess": None}, None),
        ({"pmcid": "PMC1/../../x"}, None),
        ({"pmcid": None, "links": [link("https://a.example/1.pdf")]}, "https://a.example/1.pdf"),
        ({"isOpenAccess": "N", "links": [link("https://a.example/1.pdf", code="F")]}, "https://a.example/1.pdf"),
        ({"pmcid": None, "links": [link("https://a.example/1.pdf", code="S")]}, None),
        ({"pmcid": None, "links": [link("https://a.example/1", style="html"), None, link(None)]}, None),
        ({"pmcid": None, "links": [link("javascript:alert(1)")]}, None),
        (
            {"pmcid": None, "links": [link("https://e.example/1", site="Europe_PMC"), link("https://a.example/2")]},
            "https://a.example/2",
        ),
        ({"pmcid": None, "links": None}, None),
    ],
)
def test_the_full_text_is_one_that_a_program_may_read(
    httpserver: HTTPServer, fields: dict[str, Any], address: str | None
) -> None:
    """The plain text of an open paper in PubMed Central, else an open or free PDF."""
    if "links" in fields:
        fields = {**fields, "fullTextUrlList": {"fullTextUrl": fields["links"]}}
    served(httpserver, found(paper(**fields)))
    [each] = engine(httpserver).search("q", 5)
    assert each.get("full_text") == address


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<i>TP53</i> and CO<sub>2</sub>", "TP53 and CO2"),
        ("10<sup>6</sup> cells with Ca<sup>2+</sup>", "10^6 cells with Ca2+"),
        ("P < 0.05 and n > 3", "P < 0.05 and n > 3"),
        ("P &lt; 0.05<p>End</p>", "P < 0.05\n\nEnd"),
    ],
)
def test_markup_becomes_plain_text(httpserver: HTTPServer, markup: str, text: str) -> None:
    """Tags go; a sign of comparison and a power of ten stay."""
    served(httpserver, found(paper(abstractText=markup)))
    assert engine(httpserver).search("q", 5)[0]["body"] == text


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Control and direction characters, scripts, endless texts and names."""
    hostile = paper(title="\x1b]0;x\x07\u202eT" + "t" * 5_000, abstractText="<script>alert(1)</script>" * 5_000)
    endless = paper("2", abstractText="<" * 100_000, authorString="\x00Name, " * 100_000, pubYear="x" * 999)
    served(httpserver, found(hostile, endless))
    first, second = engine(httpserver).search("q", 5)
    assert (first["title"][:7], len(first["title"])) == ("]0;xTtt", 500)
    assert "<script" not in first["body"]
    assert len(second["body"]) <= 10_000
    assert second["authors"] == "Name, Name, Name and others"


@pytest.mark.parametrize(
    "refusal",
    [
        Response("<html>Too many</html>", 429),
        reply({"errCode": 429, "errMsg": "Slow down"}, 429),
        reply({"errCode": 429, "errMsg": "Too many requests from this address"}),
        reply({"errCode": "x", "errMsg": "Rate limit exceeded."}, 503),
    ],
    ids=["HTML", "JSON", "status 200", "status 503"],
)
def test_too_many_requests_are_a_rate_limit(httpserver: HTTPServer, refusal: Response) -> None:
    """Whatever the status."""
    served(httpserver, refusal)
    with pytest.raises(RateLimited, match="Europe PMC asks for fewer requests"):
        engine(httpserver).search("q", 5)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (reply({"errCode": 404, "errMsg": "Invalid\n query \u202e" + "x" * 999}), "search .HTTP 200.: Invalid query"),
        (reply({"errCode": 400, "errMsg": "The query is empty."}, 400), "The query is empty; try again later"),
        (reply({"errCode": 500, "errMsg": ""}, 500), "no reason given"),
        (reply({"version": "6.10"}), "something else than results"),
        (reply({"version": "6.9", "hitCount": 3}), "something else than results"),
        (found(hitCount=3), "something else than results"),
        (reply({"hitCount": 1, "resultList": {"result": {"id": "1"}}}), "something else than results"),
        (reply([1, 2]), "something else than results"),
        (Response(b'{"resultList":' + b"[" * 100_000), "something else than results"),
        (Response("<html>Maintenance</html>"), "something else than results"),
        (Response("<html>Maintenance</html>", 503), "HTTP 503"),
        (reply({}, 502), "HTTP 502"),
        (Response("", 301, {"Location": "https://www.ebi.ac.uk/x"}), "redirect to https://www.ebi.ac.uk"),
        (Response(b"x" * 5_000_001), "more than 5 MB"),
    ],
    ids=["200", "400", "no text", "version", "count", "none sent", "no list", "a list", "deep", "HTML", "503", "502",
         "redirect", "large"],
)  # fmt: skip
def test_a_failure_is_never_an_empty_result(httpserver: HTTPServer, answer: Response, message: str) -> None:
    """The error is one short line that says what happened, without the address of a person."""
    served(httpserver, answer)
    with pytest.raises(EngineUnavailable, match=message) as raised:
        engine(httpserver, email=EMAIL).search("q", 10)
    assert not set("\n\u202e") & set(str(raised.value))
    assert len(str(raised.value)) < 300
    assert EMAIL not in str(raised.value)


def test_no_answer_is_a_failure() -> None:
    """A server that hangs, and one that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = EuropePmc(timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"Europe PMC did not answer within 0\.2 s"):
            hanging.search("q", 10)
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        hanging.search("q", 10)


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("", {}),
        ("open", {"open": True}),
        ("years=2020-2024:open", {"since": 2020, "until": 2024, "open": True}),
        ("years=-2024", {"until": 2024}),
    ],
)
def test_the_filters_are_part_of_the_key(tmp_path: Path, argument: str, options: dict[str, Any]) -> None:
    """Results with a filter never answer for a search without it."""
    made = from_settings(argument, Settings(data_dir=tmp_path))
    assert (made.name, made.options) == ("europepmc", options)


@pytest.mark.parametrize("argument", ["field=x", "site=x", "open=yes", "2020", "years=2024-2020"])
def test_an_unknown_filter_is_refused(tmp_path: Path, argument: str) -> None:
    """The error names the filters."""
    with pytest.raises(InvalidInput, match="write europepmc"):
        from_settings(argument, Settings(data_dir=tmp_path))


def test_another_server_is_part_of_the_key() -> None:
    """The default is not; an address without a host is refused."""
    assert EuropePmc(base_url=BASE_URL + "/").options == {}
    assert EuropePmc(base_url="https://mirror.example/rest").options == {"base_url": "https://mirror.example/rest"}
    with pytest.raises(InvalidInput, match="the URL of Europe PMC must be a URL"):
        EuropePmc(base_url="europepmc.org")
