"""The adapter against a real HTTP server on loopback that answers as the REST API of Crossref does."""

import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.settings import Settings
from harness.sources.engines.crossref import MAX_RESULTS, Crossref
from harness.sources.engines.filters import Filters, filters_of
from harness.sources.engines.result_fields import MAX_BODY_CHARS
from harness.sources.from_settings import Sources

ABSTRACT = """<jats:title>Abstract</jats:title>
<jats:sec><jats:title>Aim</jats:title>
<jats:p>Sleep &amp; <jats:italic>memory</jats:italic>
    in 10<jats:sup>6</jats:sup> rats (P &lt; 0.05).</jats:p></jats:sec>"""


def work(number: int, **fields: Any) -> dict[str, Any]:
    """Return a work with the fields that the adapter asks for."""
    made = {
        "DOI": f"10.1234/w.{number}",
        "URL": f"https://doi.org/10.1234/w.{number}",
        "title": [f"Work {number}"],
        "container-title": ["Journal of Sleep", "J. Sleep"],
        "author": [{"given": "Ada", "family": "Lovelace", "sequence": "first", "affiliation": []}],
        "abstract": ABSTRACT,
        "published": {"date-parts": [[2021, 3, 4]]},
        "issued": {"date-parts": [[2021, 3]]},
    }
    return made | fields


def found(*works: Any) -> Response:
    """Answer with works."""
    message = {"facets": {}, "total-results": len(works), "items": works, "items-per-page": 20}
    return reply({"status": "ok", "message-type": "work-list", "message-version": "1.0.0", "message": message})


def failed(message: object, status: int = 400) -> Response:
    """Answer with an error of the API."""
    return reply({"status": "failed", "message-type": "validation-failure", "message": message}, status)


def reply(document: object, status: int = 200) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(document), status, content_type="application/json")


def served(server: HTTPServer, with_abstract: Response, any_work: Response | None = None) -> list[Request]:
    """Let `server` answer searches for works with an abstract, and for any; return the requests."""
    requests: list[Request] = []

    def answer(request: Request) -> Response:
        requests.append(request)
        return with_abstract if "has-abstract:1" in request.args.get("filter", "") else any_work or with_abstract

    server.expect_request("/works", method="GET").respond_with_handler(answer)
    return requests


def engine(server: HTTPServer, **options: Any) -> Crossref:
    """Return the engine at `server`."""
    return Crossref(base_url=server.url_for(""), **options)


def test_the_request_is_as_the_api_documents_it(httpserver: HTTPServer) -> None:
    """One search for works with an abstract; the address is in a header, not in the URL."""
    requests = served(httpserver, found(work(1)))
    engine(httpserver, contact="me@example.org").search("  sleep & memory? ", 7)
    [request] = requests
    assert request.args.to_dict() == {
        "query.bibliographic": "sleep & memory?",
        "rows": "7",
        "sort": "relevance",
        "select": "DOI,URL,title,container-title,author,abstract,published,issued",
        "filter": "has-abstract:1",
    }
    assert "mailto:me@example.org" in request.headers["User-Agent"]


def test_a_result_has_all_fields(httpserver: HTTPServer) -> None:
    """The abstract is plain text in paragraphs, without its heading; a raised number stays one."""
    served(httpserver, found(work(1)))
    assert engine(httpserver).search("q", 5) == [
        {
            "title": "Work 1",
            "href": "https://doi.org/10.1234/w.1",
            "body": "Aim\n\nSleep & memory in 10^6 rats (P < 0.05).",
            "date": "2021-03-04",
            "authors": "Ada Lovelace",
            "site": "Journal of Sleep",
            "doi": "10.1234/w.1",
        }
    ]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("Plain text, 5 &lt; 7 &amp; a &gt; b.", "Plain text, 5 < 7 & a > b."),
        ("<p>One.</p><p>Two.</p>", "One.\n\nTwo."),
        (
            "<jats:p>&lt;p class=&quot;x&quot;&gt;One &lt;b&gt;is&lt;/b&gt;.&lt;br /&gt;Two.&lt;/p&gt;</jats:p>",
            "One is.\n\nTwo.",
        ),
        ("<jats:p>If a&lt;b then c&gt;d.</jats:p>", "If a<b then c>d."),
        ("<jats:title>ABSTRACT</jats:title><jats:p>Abstract algebra.</jats:p>", "Abstract algebra."),
        ("<jats:p>Abstract algebra.</jats:p>", "Abstract algebra."),
        ("<jats:p>x<jats:sup>2</jats:sup>, 10<sup>-6</sup></jats:p>", "x2, 10^-6"),
        ("", ""),
    ],
)
def test_abstracts_are_plain_text(httpserver: HTTPServer, markup: str, text: str) -> None:
    """JATS, HTML, and HTML that was sent as text."""
    served(httpserver, found(work(1, abstract=markup)))
    assert engine(httpserver).search("q", 5)[0]["body"] == text


def test_without_abstracts_any_works_are_found(httpserver: HTTPServer) -> None:
    """By a second request, with the same years."""
    requests = served(httpserver, found(), found(work(2, abstract=None)))
    [result] = engine(httpserver, filters=Filters(since=2020)).search("q", 5)
    assert (result["title"], result["body"]) == ("Work 2", "")
    assert [each.args["filter"] for each in requests] == ["has-abstract:1,from-pub-date:2020", "from-pub-date:2020"]


def test_a_search_without_results_is_empty(httpserver: HTTPServer) -> None:
    """No results are not a failure; the second request has no filter."""
    requests = served(httpserver, found())
    assert engine(httpserver).search("zxqv", 10) == []
    assert ["filter" in request.args for request in requests] == [True, False]


def test_missing_fields_and_nulls_are_left_out(httpserver: HTTPServer) -> None:
    """A work needs an address only: its DOI, else its URL."""
    bare = dict.fromkeys(work(1)) | {"URL": "https://doi.org/10.1234/bare"}
    empty = {"DOI": "10.1234/E", "title": [], "container-title": [], "author": []}
    authors = [None, {"name": "WHO"}, {"family": "Curie"}, {"given": None, "family": None}]
    odd = work(3, author=authors, title=[None, "", "Third"])
    served(httpserver, found(bare, empty, odd, {}))
    first, second, third = engine(httpserver).search("q", 5)
    assert first == {"title": "https://doi.org/10.1234/bare", "href": "https://doi.org/10.1234/bare", "body": ""}
    assert second == {
        "title": "https://doi.org/10.1234/e",
        "href": "https://doi.org/10.1234/e",
        "body": "",
        "doi": "10.1234/e",
    }
    assert (third["title"], third["authors"]) == ("Third", "WHO, Curie")


@pytest.mark.parametrize(
    ("dates", "date"),
    [
        ({"published": {"date-parts": [[2020]]}}, "2020"),
        ({"published": {"date-parts": [[2020, 5]]}}, "2020-05"),
        ({"published": None, "issued": {"date-parts": [[1999, 12, 31]]}}, "1999-12-31"),
        ({"published": {"date-parts": [[None]]}, "issued": {"date-parts": [[1987]]}}, "1987"),
        ({"published": {"date-parts": []}, "issued": {}}, None),
        ({"published": {"date-parts": [[]]}, "issued": {"date-parts": [[None]]}}, None),
        ({"published": {"date-parts": [[-5, 99, 10**12, 7]]}}, None),
    ],
)
def test_dates_are_as_exact_as_they_are_known(httpserver: HTTPServer, dates: dict[str, Any], date: str | None) -> None:
    """The year, the month or the day of publication, else none."""
    served(httpserver, found(work(1, **dates)))
    assert engine(httpserver).search("q", 5)[0].get("date") == date


def test_the_order_is_that_of_the_answer_and_the_limit_holds(httpserver: HTTPServer) -> None:
    """A work that comes twice counts once; never more than `MAX_RESULTS` are asked for."""
    requests = served(httpserver, found(work(5), work(3), work(5), work(9)))
    assert [each["title"] for each in engine(httpserver).search("q", 2)] == ["Work 5", "Work 3"]
    assert len(engine(httpserver).search("q", 1_000)) == 3
    assert [request.args["rows"] for request in requests] == ["2", f"{MAX_RESULTS}"]


@pytest.mark.parametrize(
    ("argument", "conditions"),
    [
        ("years=2020-2024", "from-pub-date:2020,until-pub-date:2024"),
        ("years=2020-", "from-pub-date:2020"),
        ("years=-2020", "until-pub-date:2020"),
        ("years=2020", "from-pub-date:2020,until-pub-date:2020"),
    ],
)
def test_years_are_conditions_of_the_request(httpserver: HTTPServer, argument: str, conditions: str) -> None:
    """They are in the options too, which are part of the key."""
    requests = served(httpserver, found(work(1)))
    filters = filters_of("crossref", argument, ("years",))
    engine(httpserver, filters=filters).search("q", 5)
    assert requests[0].args["filter"] == f"has-abstract:1,{conditions}"
    assert Crossref(filters=filters).options == filters.options != {}


def test_a_query_is_bounded_and_has_words(httpserver: HTTPServer) -> None:
    """A search without words would find all works, and is not sent."""
    requests = served(httpserver, found(work(1)))
    assert engine(httpserver).search('?! "*"', 5) == []
    assert requests == []
    engine(httpserver).search("\x1b sleep\u202e " * 900, 5)
    assert len(requests[0].args["query.bibliographic"]) <= 500
    assert requests[0].args["query.bibliographic"].startswith("sleep sleep")


def test_a_rate_limit_says_what_to_do(httpserver: HTTPServer) -> None:
    """Without an address, one helps; the address is not shown."""
    served(httpserver, Response("<h1>429 Too Many Requests</h1>", 429))
    with pytest.raises(RateLimited, match=r"wait a minute, or set contact_email$"):
        engine(httpserver).search("q", 5)
    with pytest.raises(RateLimited, match=r"wait a minute$"):
        engine(httpserver, contact="me@example.org").search("q", 5)


def test_a_rate_limit_of_the_second_request_is_one_too(httpserver: HTTPServer) -> None:
    """It is not an empty result."""
    served(httpserver, found(), Response("", 429))
    with pytest.raises(RateLimited, match="Crossref asks for fewer requests"):
        engine(httpserver).search("q", 5)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            failed([{"type": "filter-not-available", "value": "x", "message": "Bad\n\x07 filter " + "x " * 500}]),
            r"could not search \(HTTP 400\): Bad filter x",
        ),
        (failed({"name": "class java.lang.Exception", "description": "It failed."}, 500), "It failed; try again later"),
        (failed("Resource not found.", 404), "Resource not found; try again later"),
        (failed([], 400), "HTTP 400; try again later"),
        (failed([7], 400), "HTTP 400; try again later"),
        (Response("Blocked", 403), "refuses requests from this network.*set contact_email"),
        (Response("<h1>Service unavailable</h1>", 503), "HTTP 503; try again later"),
        (Response("", 301, {"Location": "https://www.crossref.org/x"}), "redirect to https://www.crossref.org"),
        (reply({"status": "ok", "message": {}}), "something else than results"),
        (reply({"status": "ok", "message": None}), "something else than results"),
        (reply([1, 2]), "something else than results"),
        (found(1, {"DOI": 5}), "something else than results"),
        (Response(b"[" * 100_000, content_type="application/json"), "something else than results"),
        (Response('{"message": {"items": [', content_type="application/json"), "something else than results"),
        (Response(b"x" * 5_000_001), "more than 5 MB"),
    ],
    ids="400 500 404 empty number 403 503 301 no-items null list no-works deep cut large".split(),
)
def test_a_failure_is_never_an_empty_result(httpserver: HTTPServer, answer: Response, words: str) -> None:
    """The error is one short line."""
    served(httpserver, answer)
    with pytest.raises(EngineUnavailable, match=words) as raised:
        engine(httpserver).search("q", 5)
    assert len(str(raised.value)) < 300
    assert not {"\n", "\x07"} & set(str(raised.value))


def test_an_odd_work_does_not_lose_the_others(httpserver: HTTPServer) -> None:
    """It is left out."""
    served(httpserver, found(work(2, title="text"), work(3, author=[7]), work(4, DOI={}), None, work(1)))
    assert [each["title"] for each in engine(httpserver).search("q", 9)] == ["Work 1"]


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Control characters, mark-up, endless texts, other schemes."""
    hostile = work(
        1,
        title=["\x1b]0;x\x07<i>Sleep</i>\n  &amp; <b onclick='x'>memory</b>\u202e"],
        abstract="<jats:p><script>x</script>\x07" * 9_000,
        author=[{"given": "A\x07" * 900, "family": "\u202eB"}] * 9,
        **{"container-title": ["<b>J\x07" * 900]},
    )
    served(httpserver, found(hostile, work(2, DOI="x", URL="javascript:alert(1)"), work(3, abstract="<" * 100_000)))
    first, second = engine(httpserver).search("q", 5)
    assert first["title"] == "]0;xSleep & memory"
    assert first["body"].startswith("x\n\nx")
    assert len(first["body"]) <= MAX_BODY_CHARS
    assert len(first["authors"]) <= 300
    assert len(first["site"]) <= 200
    assert "\x07" not in "".join(map(str, first.values()))
    assert second["title"] == "Work 3"
    assert len(second["body"]) <= MAX_BODY_CHARS


def test_a_doi_with_signs_of_a_url_leads_to_its_work(httpserver: HTTPServer) -> None:
    """Old DOIs have angle brackets and semicolons."""
    served(
        httpserver,
        found(work(1, DOI="10.1002/(SICI)1097(199009)41:6<391::AID-1>3.0.CO;2-9"), work(2, DOI="10.1000/a#b?c")),
    )
    first, second = engine(httpserver).search("q", 5)
    assert first["href"] == "https://doi.org/10.1002/(sici)1097(199009)41:6%3C391::aid-1%3E3.0.co;2-9"
    assert first["doi"] == "10.1002/(sici)1097(199009)41:6<391::aid-1>3.0.co;2-9"
    assert second["href"] == "https://doi.org/10.1000/a%23b%3Fc"


def test_no_answer_is_a_failure() -> None:
    """A server that hangs, and one that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = Crossref(timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"did not answer within 0\.2 s"):
            hanging.search("q", 5)
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        hanging.search("q", 5)


def test_the_address_to_write_to_is_not_an_option() -> None:
    """Options are stored with results; only what changes results is one."""
    made = Crossref(contact="me@example.org", filters=Filters(until=2020), base_url="https://a.example/")
    assert made.options == {"until": 2020, "base_url": "https://a.example"}
    assert Crossref(contact="me@example.org").options == {}


def test_it_is_an_engine_like_the_others(tmp_path: Path) -> None:
    """`crossref:years=…` names it; it has no other filter."""

    def unused() -> Any:
        raise AssertionError("it needs no embedder and no library")

    sources = Sources(Settings(data_dir=tmp_path), unused, lambda *_: None, unused)
    [made] = sources.engines(["crossref:years=2020-2024"])
    assert (made.name, made.options) == ("crossref", {"since": 2020, "until": 2024})
    with pytest.raises(InvalidInput, match="crossref cannot be filtered by 'open'"):
        sources.engines(["crossref:open"])
