"""The adapter against a real HTTP server on loopback that answers as the E-utilities of NCBI do."""

import logging
import threading
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EngineUnavailable, HarnessError, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.sources.engines.pubmed import BASE_URL, MAX_BODY_CHARS, PubMed
from tests.fakes import FakeClock

KEY = "0123456789abcdef0123456789abcdef0123"

SET = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">
<PubmedArticleSet>{articles}</PubmedArticleSet>"""

ARTICLE = """
<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM" IndexingMethod="Automated">
  <PMID Version="1">{pmid}</PMID>
  <Article PubModel="Print">
    <Journal><ISSN IssnType="Electronic">1533-4406</ISSN>
      <JournalIssue CitedMedium="Internet"><Volume>383</Volume><PubDate>{date}</PubDate></JournalIssue>
      <Title>{journal}</Title><ISOAbbreviation>N Engl J Med</ISOAbbreviation></Journal>
    <ArticleTitle>{title}</ArticleTitle>
    {abstract}
    <AuthorList CompleteYN="Y"><Author ValidYN="Y"><CollectiveName>A Study Group</CollectiveName></Author></AuthorList>
  </Article>
</MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">{pmid}</ArticleId></ArticleIdList><ReferenceList><Reference>
  <ArticleIdList><ArticleId IdType="pubmed">999</ArticleId></ArticleIdList></Reference></ReferenceList>
</PubmedData></PubmedArticle>"""

ABSTRACT = "<Abstract><AbstractText>{text}</AbstractText></Abstract>"

SECTIONS = """<Abstract>
<AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">Fever is common.</AbstractText>
<AbstractText Label="METHODS" NlmCategory="METHODS">We asked <i>n</i> = 10 people,
      twice.</AbstractText>
<AbstractText Label="RESULTS"></AbstractText>
<AbstractText>All were well.</AbstractText>
<CopyrightInformation>Copyright © 2020.</CopyrightInformation></Abstract>"""

BOOK = """
<PubmedBookArticle><BookDocument><PMID Version="1">20301340</PMID>
  <ArticleIdList><ArticleId IdType="bookaccession">NBK1161</ArticleId></ArticleIdList>
  <Book><Publisher><PublisherName>University of Washington, Seattle</PublisherName></Publisher>
    <BookTitle book="gene">GeneReviews<sup>®</sup></BookTitle><PubDate><Year>1993</Year></PubDate></Book>
  {chapter}
  <Abstract><AbstractText Label="CLINICAL CHARACTERISTICS">Onset is early.</AbstractText></Abstract>
</BookDocument><PubmedBookData/></PubmedBookArticle>"""

LAUGHS = """<?xml version="1.0"?><!DOCTYPE PubmedArticleSet [<!ENTITY lol "lol">{entities}]>
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>
<ArticleTitle>&lol9;</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>""".format(
    entities="".join(f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">' for n in range(1, 10)).replace("&lol0;", "&lol;")
)

LIMITED = {"error": "API rate limit exceeded", "api-key": "203.0.113.7", "count": "4", "limit": "3"}


def article(
    pmid: int, *, title: str = "", journal: str = "A journal", date: str = "<Year>2020</Year>", abstract: str = ""
) -> str:
    """Return one paper as efetch gives it."""
    return ARTICLE.format(pmid=pmid, title=title or f"Title {pmid}.", journal=journal, date=date, abstract=abstract)


def found(*pmids: int, **more: Any) -> dict[str, Any]:
    """Return the document of an esearch that found these."""
    result = {
        "count": str(len(pmids)),
        "retmax": str(len(pmids)),
        "retstart": "0",
        "idlist": [str(pmid) for pmid in pmids],
        "translationset": [],
        "querytranslation": '"q"[All Fields]',
    }
    return {"header": {"type": "esearch", "version": "0.3"}, "esearchresult": result | more}


def json(document: object, status: int = 200) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(document), status, content_type="application/json; charset=UTF-8")


def xml(*articles: str) -> Response:
    """Answer with papers."""
    return Response(SET.format(articles="".join(articles)), content_type="text/xml; charset=UTF-8")


def served(server: HTTPServer, search: Response, fetch: Response | None = None) -> list[tuple[str, Mapping[str, str]]]:
    """Let `server` answer as the two utilities; return which of them was asked, and with which form."""
    asked: list[tuple[str, Mapping[str, str]]] = []

    def answer(request: Request) -> Response:
        utility = request.path.removeprefix("/").removesuffix(".fcgi")
        asked.append((utility, request.form.to_dict()))
        assert not request.args, "nothing is in the address, where a log would show it"
        return search if utility == "esearch" else fetch or xml()

    server.expect_request("/esearch.fcgi", method="POST").respond_with_handler(answer)
    server.expect_request("/efetch.fcgi", method="POST").respond_with_handler(answer)
    return asked


def engine(server: HTTPServer, **options: Any) -> PubMed:
    """Return the engine at `server`, which does not really wait for its turns."""
    return PubMed(base_url=server.url_for(""), **{"sleep": lambda seconds: None} | options)


def results(server: HTTPServer, *articles: str, pmids: Sequence[int] = (1,)) -> Sequence[SearchResult]:
    """Return what a search makes of these papers."""
    served(server, json(found(*pmids)), xml(*articles))
    return engine(server).search("q", 10)


# --- papers


def test_a_paper_has_title_address_and_abstract(httpserver: HTTPServer) -> None:
    """The body says first where and when, and the PMID, then the abstract."""
    abstract = ABSTRACT.format(text="Masks &amp; distance help.")
    paper = article(1, title="On masks.", journal="The New England journal of medicine", abstract=abstract)
    assert results(httpserver, paper) == [
        {
            "title": "On masks.",
            "href": "https://pubmed.ncbi.nlm.nih.gov/1/",
            "body": "The New England journal of medicine, 2020. PMID 1.\n\nMasks & distance help.",
        }
    ]


def test_sections_of_an_abstract_keep_their_labels(httpserver: HTTPServer) -> None:
    """Each section is a paragraph; an empty one and the copyright are none."""
    [paper] = results(httpserver, article(1, abstract=SECTIONS))
    assert paper["body"].split("\n\n")[1:] == [
        "BACKGROUND: Fever is common.",
        "METHODS: We asked n = 10 people, twice.",
        "All were well.",
    ]


def test_a_paper_without_an_abstract_is_a_result(httpserver: HTTPServer) -> None:
    """Letters and comments have none."""
    assert results(httpserver, article(1))[0]["body"] == "A journal, 2020. PMID 1."


def test_the_order_is_that_of_the_search(httpserver: HTTPServer) -> None:
    """The papers come in any order; the most relevant is first all the same."""
    papers = results(httpserver, article(3), article(1), article(2), pmids=[2, 3, 1])
    assert [paper["title"] for paper in papers] == ["Title 2.", "Title 3.", "Title 1."]


def test_a_paper_that_was_not_sent_is_left_out(httpserver: HTTPServer) -> None:
    """A withdrawn PMID does not cost the others; one that was not asked for does not come in."""
    assert [each["title"] for each in results(httpserver, article(9), article(2), pmids=[1, 2])] == ["Title 2."]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<i>TP53</i> and CO<sub>2</sub> in <b><i>E. coli</i></b>.", "TP53 and CO2 in E. coli."),
        ("10<sup>6</sup> cells with Ca<sup>2+</sup> and <sup>13</sup>C", "10^6 cells with Ca2+ and 13C"),
        ("[Über Fieber &#x3b1;].", "[Über Fieber α]."),
        ("a\n      b <!-- not this --> c<?pi not this?>", "a b c"),
    ],
)
def test_markup_becomes_plain_text(httpserver: HTTPServer, markup: str, text: str) -> None:
    """Marks go, their words stay, and a power of ten stays one."""
    [paper] = results(httpserver, article(1, title=markup, abstract=ABSTRACT.format(text=markup)))
    assert paper["title"] == text
    assert paper["body"].endswith("\n\n" + text)


@pytest.mark.parametrize(
    ("date", "where"),
    [
        ("<Year>1998</Year><Month>Dec</Month>", "A journal, 1998. PMID 1."),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", "A journal, 1998. PMID 1."),
        ("<MedlineDate>Winter 2007-8</MedlineDate>", "A journal, 2007. PMID 1."),
        ("<MedlineDate>undated</MedlineDate>", "A journal. PMID 1."),
        ("", "A journal. PMID 1."),
    ],
)
def test_the_year_is_found_where_there_is_one(httpserver: HTTPServer, date: str, where: str) -> None:
    """Old issues have a date in words."""
    assert results(httpserver, article(1, date=date))[0]["body"] == where


def test_a_paper_without_a_journal_is_a_result(httpserver: HTTPServer) -> None:
    """The PMID alone identifies it."""
    assert results(httpserver, article(1, journal="", date=""))[0]["body"] == "PMID 1."


def test_a_chapter_of_a_book_names_its_book(httpserver: HTTPServer) -> None:
    """Books are not lost, though they are built differently."""
    chapter = BOOK.format(chapter='<ArticleTitle book="gene">Alzheimer Disease Overview</ArticleTitle>')
    [paper] = results(httpserver, chapter, pmids=[20301340])
    assert paper["title"] == "Alzheimer Disease Overview"
    assert paper["body"] == "GeneReviews®, 1993. PMID 20301340.\n\nCLINICAL CHARACTERISTICS: Onset is early."


def test_a_whole_book_names_its_publisher(httpserver: HTTPServer) -> None:
    """A book is its own title."""
    [paper] = results(httpserver, BOOK.format(chapter=""), pmids=[20301340])
    assert paper["title"] == "GeneReviews®"
    assert paper["body"].startswith("University of Washington, Seattle, 1993. PMID 20301340.\n\n")


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Nothing from outside turns a line around or fills the cache."""
    paper = article(1, title="Ti\u202etle\u009b " + "t" * 2_000, abstract=ABSTRACT.format(text="B" * 100_000))
    [found_] = results(httpserver, paper)
    assert found_["title"].startswith("Title tt")
    assert (len(found_["title"]), len(found_["body"])) == (500, MAX_BODY_CHARS)


# --- requests


def test_both_utilities_are_asked_as_they_should_be(httpserver: HTTPServer) -> None:
    """The query goes out as it was typed, and NCBI learns who asks."""
    asked = served(httpserver, json(found(7, 8)), xml(article(7), article(8)))
    engine(httpserver, email="me@example.org").search("fever AND (mask OR Größe)", 2)
    who = {"db": "pubmed", "tool": "harness", "email": "me@example.org"}
    search = {"term": "fever AND (mask OR Größe)", "retmax": "2", "sort": "relevance", "retmode": "json"}
    assert asked == [
        ("esearch", who | search),
        ("efetch", who | {"id": "7,8", "rettype": "abstract", "retmode": "xml"}),
    ]


def test_no_more_results_than_asked_for(httpserver: HTTPServer) -> None:
    """Even if more were found than were asked for; and each once."""
    served(httpserver, json(found(1, 1, 2, 3, 4)), xml(*(article(number) for number in range(1, 5))))
    assert [each["title"] for each in engine(httpserver).search("q", 3)] == ["Title 1.", "Title 2.", "Title 3."]


def test_requests_keep_their_distance(httpserver: HTTPServer) -> None:
    """Three a second without a key: the wait is before the request, and the first does not wait."""
    clock, starts = FakeClock(), []

    def answer(request: Request) -> Response:
        starts.append(clock())
        return json(found(1)) if "esearch" in request.path else xml(article(1))

    httpserver.expect_request("/esearch.fcgi").respond_with_handler(answer)
    httpserver.expect_request("/efetch.fcgi").respond_with_handler(answer)
    slow = engine(httpserver, clock=clock, sleep=clock.advance)
    for _ in range(2):
        slow.search("q", 1)
    assert [after - before for before, after in pairwise(starts)] == pytest.approx([1 / 3] * 3, abs=1e-6)
    quick = engine(httpserver, clock=clock, sleep=clock.advance, api_key=KEY)
    starts.clear()
    quick.search("q", 1)
    assert starts[1] - starts[0] == pytest.approx(0.1, abs=1e-6)


def test_threads_take_turns(httpserver: HTTPServer) -> None:
    """Searches at the same time share one rate."""
    waits: list[float] = []
    served(httpserver, json(found(1)), xml(article(1)))
    shared = engine(httpserver, clock=lambda: 0.0, sleep=waits.append)
    threads = [threading.Thread(target=shared.search, args=("q", 1)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(waits) == pytest.approx([number / 3 for number in range(1, 8)])


# --- nothing found


@pytest.mark.parametrize(
    "errors", [{}, {"phrasesnotfound": ["xqzzyv"], "fieldsnotfound": []}, {"fieldsnotfound": ["x"]}]
)
def test_nothing_found_is_an_empty_list(httpserver: HTTPServer, errors: dict[str, Any]) -> None:
    """An unknown phrase is no failure; and nothing is fetched."""
    warnings = {"phrasesignored": [], "quotedphrasesnotfound": [], "outputmessages": ["No items found."]}
    asked = served(httpserver, json(found(errorlist=errors, warninglist=warnings)))
    assert engine(httpserver).search("xqzzyv", 5) == []
    assert [utility for utility, _ in asked] == ["esearch"]


def test_a_phrase_that_was_left_out_does_not_cost_the_rest(httpserver: HTTPServer) -> None:
    """PubMed searches on without a word that it does not know."""
    served(httpserver, json(found(1, errorlist={"phrasesnotfound": ["xqzzyv"]})), xml(article(1)))
    assert len(engine(httpserver).search("fever xqzzyv", 5)) == 1


# --- failures


@pytest.mark.parametrize("status", [200, 429])
def test_too_many_requests_are_a_rate_limit(httpserver: HTTPServer, status: int) -> None:
    """NCBI says so in its JSON, whatever the status; our address, which it repeats, is not shown."""
    asked = served(httpserver, json(LIMITED, status))
    with pytest.raises(RateLimited, match="wait a minute, or set pubmed_api_key") as caught:
        engine(httpserver).search("q", 5)
    assert "203.0.113.7" not in str(caught.value)
    assert len(asked) == 1


def test_429_without_words_is_a_rate_limit(httpserver: HTTPServer) -> None:
    """A gateway before NCBI need not speak JSON."""
    served(httpserver, Response("<html>Too many</html>", 429))
    with pytest.raises(RateLimited, match="HTTP 429"):
        engine(httpserver).search("q", 5)


def test_a_rate_limit_at_the_second_request_is_one(httpserver: HTTPServer) -> None:
    """JSON in the place of papers is understood."""
    served(httpserver, json(found(1)), json(LIMITED))
    with pytest.raises(RateLimited):
        engine(httpserver).search("q", 5)


def test_a_refused_key_is_invalid_input(httpserver: HTTPServer) -> None:
    """A wrong key is an error to correct, not a reason to retry."""
    served(httpserver, json({"error": "API key invalid", "api-key": KEY, "type": "api", "status": "unknown"}, 400))
    with pytest.raises(InvalidInput, match="check pubmed_api_key") as caught:
        engine(httpserver, api_key=KEY).search("q", 5)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "document",
    [
        {"esearchresult": {"ERROR": "Search Backend failed: Database is not supported: pubmed"}},
        found(errorlist={"other": ["Search Backend failed"]}),
        {"error": "Search Backend failed"},
    ],
)
def test_a_failed_search_is_unavailable(httpserver: HTTPServer, document: object) -> None:
    """NCBI reports failures with status 200; they are not an empty list."""
    served(httpserver, json(document))
    with pytest.raises(EngineUnavailable, match="Search Backend failed"):
        engine(httpserver).search("q", 5)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"{}", b"<html>Maintenance</html>", b'{"esearchresult": []}', b'{"esearchresult": {}}',
        b'{"esearchresult": {"idlist": "1"}}',
        b'{"esearchresult": {"count": "0", "idlist": ["1&db=x"]}}', b'{"esearchresult": {"count": "7", "idlist": []}}',
        b'{"esearchresult": {"ERROR": "a\nb"}}', b'{"error": [}', b'{"esearchresult":' + b"[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_list_of_papers_is_unavailable(httpserver: HTTPServer, body: bytes) -> None:
    """A foreign response is a failure."""
    served(httpserver, Response(body))
    with pytest.raises(EngineUnavailable):
        engine(httpserver).search("q", 5)


@pytest.mark.parametrize(
    "document",
    [
        "",
        "<PubmedArticleSet><PubmedArticle>",
        "<html><body>Maintenance</body></html>",
        "<eFetchResult><ERROR>UID list is empty</ERROR></eFetchResult>",
        "<PubmedArticleSet></PubmedArticleSet>",
        "<PubmedArticleSet><PubmedArticle/></PubmedArticleSet>",
        "<PubmedArticleSet>" + "<a>" * 100_000,
    ],
)
def test_what_are_no_papers_is_unavailable(httpserver: HTTPServer, document: str) -> None:
    """Papers that were found and cannot be read are no empty list."""
    served(httpserver, json(found(1)), Response(document, content_type="text/xml"))
    with pytest.raises(EngineUnavailable):
        engine(httpserver).search("q", 5)


@pytest.mark.parametrize(
    "document",
    [
        LAUGHS,
        '<!DOCTYPE PubmedArticleSet [<!ENTITY e SYSTEM "{file}">]><PubmedArticleSet><PubmedArticle><MedlineCitation>'
        "<PMID>1</PMID><Article><ArticleTitle>&e;</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
        "</PubmedArticleSet>",
        '<!DOCTYPE PubmedArticleSet [<!ENTITY % e SYSTEM "{url}"> %e;]><PubmedArticleSet/>',
        '<!DOCTYPE PubmedArticleSet [<!ENTITY a "x">]><PubmedArticleSet b="&a;&a;"/>',
    ],
    ids=["billion laughs", "file", "remote", "attribute"],
)
def test_entities_are_neither_expanded_nor_fetched(httpserver: HTTPServer, tmp_path: Any, document: str) -> None:
    """A document cannot grow, read a file, or call anybody."""
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    visited = []
    httpserver.expect_request("/dtd").respond_with_handler(lambda request: visited.append(1) or Response(""))
    document = document.replace("{file}", secret.as_uri()).replace("{url}", httpserver.url_for("/dtd"))
    served(httpserver, json(found(1)), Response(document, content_type="text/xml"))
    with pytest.raises(EngineUnavailable, match=r"entity declarations|broken XML") as caught:
        engine(httpserver).search("q", 5)
    assert "the secret" not in str(caught.value)
    assert visited == []


def test_the_document_type_is_not_fetched(httpserver: HTTPServer) -> None:
    """NCBI's own document names its definition by an address; it is not asked for."""
    visited = []
    httpserver.expect_request("/dtd").respond_with_handler(lambda request: visited.append(1) or Response(""))
    named = SET.replace("https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd", httpserver.url_for("/dtd"))
    served(httpserver, json(found(1)), Response(named.format(articles=article(1)), content_type="text/xml"))
    assert len(engine(httpserver).search("q", 5)) == 1
    assert visited == []


@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_another_status_is_unavailable(httpserver: HTTPServer, status: int) -> None:
    """A server error is reported with its status."""
    served(httpserver, Response("oops", status))
    with pytest.raises(EngineUnavailable, match=f"PubMed answered HTTP {status}"):
        engine(httpserver).search("q", 5)


# --- the key, and options


@pytest.mark.parametrize(
    "response",
    [
        json(found(1)),
        json({"esearchresult": {"ERROR": f"Search Backend failed for api_key={KEY}"}}),
        json({"error": f"no service for {KEY}"}),
        json(LIMITED | {"api-key": KEY}, 429),
        Response("", 302, {"Location": "https://example.org/"}),
        Response(f"<p>{KEY}</p>", 500),
    ],
    ids=["answer", "failure", "refusal", "limit", "redirect", "error"],
)
def test_the_key_is_sent_and_shown_nowhere(
    httpserver: HTTPServer, caplog: pytest.LogCaptureFixture, response: Response
) -> None:
    """Not in options, not in an error, not in what any library logs at any level."""
    caplog.set_level(logging.DEBUG)
    asked = served(httpserver, response, xml(article(1)))
    keyed = engine(httpserver, api_key=KEY)
    told = ""
    try:
        keyed.search("q", 1)
    except HarnessError as error:
        told = str(error)
    assert asked[0][1]["api_key"] == KEY
    assert KEY not in f"{told}{keyed.options}{caplog.text}"


def test_at_its_defaults_an_engine_has_no_options() -> None:
    """Identity and rate of the client are not in the options."""
    assert PubMed().options == {}
    assert PubMed(api_key=KEY, email="me@example.org", timeout=3).options == {}
    assert PubMed(base_url=BASE_URL + "/").options == {}


def test_another_server_is_an_option() -> None:
    """A mirror may hold other papers."""
    assert PubMed(base_url="http://localhost:8080/eutils/").options == {"base_url": "http://localhost:8080/eutils"}


def test_an_invalid_url_is_refused() -> None:
    """A mistyped mirror ends in one line."""
    with pytest.raises(InvalidInput, match="the URL of the E-utilities"):
        PubMed(base_url="eutils.ncbi.nlm.nih.gov")
