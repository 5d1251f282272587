"""The adapter against a real HTTP server on loopback that answers as the API of OpenAlex does."""

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
from harness.sources.engines.filters import Filters, filters_of
from harness.sources.engines.openalex import FIELDS, MAX_RESULTS, OpenAlex, from_settings
from harness.sources.engines.result_fields import MAX_BODY_CHARS
from harness.sources.from_settings import Sources

KEY = "k3y-of-openalex"


def work(number: int, **fields: Any) -> dict[str, Any]:
    """Return a work with the fields that the adapter asks for."""
    made = {
        "id": f"https://openalex.org/W{number}",
        "doi": f"https://doi.org/10.1234/w.{number}",
        "display_name": f"Work {number}",
        "publication_date": "2021-03-04",
        "publication_year": 2021,
        "authorships": [{"author_position": "first", "author": {"display_name": "Ada Lovelace", "orcid": None}}],
        "primary_location": {
            "landing_page_url": f"https://journal.example/{number}",
            "pdf_url": None,
            "source": {"display_name": "Journal of Sleep", "type": "journal"},
        },
        "best_oa_location": {"landing_page_url": "https://repo.example/1", "pdf_url": "https://repo.example/1.pdf"},
        "open_access": {"is_oa": True, "oa_status": "green", "oa_url": "https://repo.example/oa"},
        "abstract_inverted_index": {"Sleep": [0], "helps": [1, 4], "memory;": [2], "it": [3], "most.": [5]},
    }
    return made | fields


def found(*works: Any) -> Response:
    """Answer with works."""
    return reply({"meta": {"count": len(works), "page": 1, "per_page": 25}, "results": works, "group_by": []})


def reply(document: object, status: int = 200, **headers: str) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(document), status, headers, content_type="application/json")


def served(server: HTTPServer, response: Response) -> list[Request]:
    """Let `server` answer every search with `response`; return the requests."""
    requests: list[Request] = []

    def answer(request: Request) -> Response:
        requests.append(request)
        return response

    server.expect_request("/works", method="GET").respond_with_handler(answer)
    return requests


def engine(server: HTTPServer, **options: Any) -> OpenAlex:
    """Return the engine at `server`."""
    return OpenAlex(base_url=server.url_for(""), **options)


def test_the_request_is_as_the_api_documents_it(httpserver: HTTPServer) -> None:
    """One search; the key and the address are in headers, not in the URL."""
    requests = served(httpserver, found())
    engine(httpserver, api_key=f" {KEY}\n", contact="me@example.org").search("  sleep & memory ", 7)
    request = requests[0]
    assert {**request.args.to_dict(), "select": ""} == {"search": "sleep & memory", "per_page": "7", "select": ""}
    assert {"doi", "display_name", "abstract_inverted_index"} <= set(request.args["select"].split(","))
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert "mailto:me@example.org" in request.headers["User-Agent"]
    engine(httpserver).search("q", 1)
    assert "Authorization" not in requests[1].headers


def test_a_result_has_all_fields(httpserver: HTTPServer) -> None:
    """The abstract comes from its inverted index, the address from the DOI."""
    served(httpserver, found(work(1)))
    assert engine(httpserver).search("q", 5) == [
        {
            "title": "Work 1",
            "href": "https://doi.org/10.1234/w.1",
            "body": "Sleep helps memory; it helps most.",
            "date": "2021-03-04",
            "authors": "Ada Lovelace",
            "site": "Journal of Sleep",
            "doi": "10.1234/w.1",
            "full_text": "https://repo.example/1.pdf",
        }
    ]


def test_missing_fields_and_nulls_are_left_out(httpserver: HTTPServer) -> None:
    """A work needs an address only: its DOI, else its page, else its page at OpenAlex."""
    bare = dict.fromkeys(work(1)) | {"id": "https://openalex.org/W1"}
    page = {"id": "https://openalex.org/W2", "primary_location": {"landing_page_url": "https://journal.example/2"}}
    nulls = {
        "authorships": [None, {"author": None}, {"author": {"display_name": None}}, {"author": {"display_name": "B"}}],
        "best_oa_location": {"pdf_url": None},
        "publication_date": None,
    }
    served(httpserver, found(bare, page, work(3, **nulls), {}))
    first, second, third = engine(httpserver).search("q", 5)
    assert first == {"title": "https://openalex.org/W1", "href": "https://openalex.org/W1", "body": ""}
    assert second["href"] == "https://journal.example/2"
    assert (third["authors"], third["date"], third["full_text"]) == ("B", "2021", "https://repo.example/oa")


def test_the_order_is_that_of_the_answer_and_the_limit_holds(httpserver: HTTPServer) -> None:
    """A work that comes twice counts once; never more than `MAX_RESULTS` are asked for."""
    requests = served(httpserver, found(work(5), work(3), work(5), work(9)))
    assert [each["title"] for each in engine(httpserver).search("q", 2)] == ["Work 5", "Work 3"]
    assert len(engine(httpserver).search("q", 1_000)) == 3
    assert [request.args["per_page"] for request in requests] == ["2", f"{MAX_RESULTS}"]


def test_a_search_without_results_is_empty(httpserver: HTTPServer) -> None:
    """No results are not a failure."""
    served(httpserver, found())
    assert engine(httpserver).search("zxqv", 10) == []


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("How does sleep affect memory?", "How does sleep affect memory"),
        ('"sleep spindles" OR (naps AND NOT coffee)', "sleep spindles or naps and not coffee"),
        ("\u201csleep\u201d wom*n therapy~2 a|b !c", "sleep wom n therapy 2 a b c"),
        ("Ca2+ & C++, 5-HT: p.R175H", "Ca2+ & C++, 5-HT: p.R175H"),
        ("\x1b[31msleep\u202e", "31msleep"),
    ],
)
def test_operators_of_the_query_language_are_not_sent(httpserver: HTTPServer, query: str, sent: str) -> None:
    """A question mark alone would be refused as a wildcard."""
    requests = served(httpserver, found())
    engine(httpserver).search(query, 5)
    assert requests[0].args["search"] == sent


def test_a_query_without_words_is_not_sent(httpserver: HTTPServer) -> None:
    """An empty search would find all works."""
    requests = served(httpserver, found(work(1)))
    assert engine(httpserver).search('?! "*"', 5) == []
    assert requests == []


def test_a_long_query_fits_a_url(httpserver: HTTPServer) -> None:
    """OpenAlex allows 4 KB, also for characters of four bytes."""
    requests = served(httpserver, found())
    engine(httpserver, filters=Filters(since=1999, until=2024, open=True, field="Medicine")).search("𠮷" * 9_000, 5)
    assert len(requests[0].url) > 300
    assert len(requests[0].query_string) < 4_096


@pytest.mark.parametrize(
    ("argument", "conditions"),
    [
        ("years=2020-2024", "from_publication_date:2020-01-01,to_publication_date:2024-12-31"),
        ("years=2020-", "from_publication_date:2020-01-01"),
        ("years=-2020", "to_publication_date:2020-12-31"),
        ("open", "open_access.is_oa:true"),
        ("field=computer science", "primary_topic.field.id:17"),
        ("field=Chemistry:open", "open_access.is_oa:true,primary_topic.field.id:16"),
        ("field=genetics", "primary_topic.field.id:13"),
        ("field=health professions", "primary_topic.field.id:36"),
        ("", None),
    ],
)
def test_filters_are_conditions_of_the_request(httpserver: HTTPServer, argument: str, conditions: str | None) -> None:
    """They are in one parameter, and in the options, which are part of the key."""
    requests = served(httpserver, found())
    filters = filters_of("openalex", argument, ("years", "open", "field"))
    engine(httpserver, filters=filters).search("q", 5)
    assert requests[0].args.get("filter") == conditions
    assert bool(OpenAlex(filters=filters).options) == bool(argument)


def test_a_field_has_one_name_in_the_options() -> None:
    """However it is written: the results are the same."""
    spelled = [OpenAlex(filters=Filters(field=name)) for name in ("computer science", "Computer  Science", "computer")]
    assert [each.options for each in spelled] == [{"field": "Computer Science"}] * 3
    assert all(OpenAlex(filters=Filters(field=name)).options == {"field": name} for name in FIELDS)


@pytest.mark.parametrize("name", ["science", "astrology", "and", "+"])
def test_a_field_that_is_none_or_several_is_refused(name: str) -> None:
    """The message lists those that there are."""
    with pytest.raises(InvalidInput, match=rf"no single field '{re.escape(name)}'.*Computer Science; .*Veterinary"):
        OpenAlex(filters=Filters(field=name))


@pytest.mark.parametrize(
    ("refusal", "advice"),
    [
        (reply({"error": "Rate limit exceeded", "message": "100 requests per second."}, 429), "wait a minute"),
        (reply({"error": "Rate limit exceeded"}, 429, **{"Retry-After": "40000"}), "wait until midnight UTC"),
        (reply({"error": "Rate limit exceeded"}, 429, **{"Retry-After": "soon"}), "wait a minute"),
        (Response("<h1>Slow down</h1>", 403), "wait a minute"),
    ],
    ids=["second", "day", "unclear", "403"],
)
def test_a_rate_limit_says_what_to_do(httpserver: HTTPServer, refusal: Response, advice: str) -> None:
    """Without a key, one helps."""
    served(httpserver, refusal)
    with pytest.raises(RateLimited, match=f"{advice}, or set openalex_api_key"):
        engine(httpserver).search("q", 5)
    with pytest.raises(RateLimited, match=f"{advice}$"):
        engine(httpserver, api_key=KEY).search("q", 5)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_the_setting(httpserver: HTTPServer, status: int) -> None:
    """And so does a request for one; the key is not shown."""
    served(httpserver, reply({"error": "Invalid or missing API key", "message": f"API key not found: {KEY}"}, status))
    with pytest.raises(InvalidInput, match="refuses the key; check openalex_api_key") as raised:
        engine(httpserver, api_key=KEY).search("q", 5)
    assert KEY not in str(raised.value)
    with pytest.raises(InvalidInput, match="asks for an API key; set openalex_api_key"):
        engine(httpserver).search("q", 5)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            reply({"error": "Invalid query parameters error.", "message": f"Bad\n\x07 {KEY} " + "x " * 500}, 400),
            r"could not search \(HTTP 400\): Bad … x",
        ),
        (reply({"error": "Search execution error.", "message": None}, 404), "Search execution error; try again later"),
        (Response("<h1>Bad gateway</h1>", 503), "HTTP 503; try again later"),
        (Response("", 301, {"Location": "https://openalex.org/x"}), "redirect to https://openalex.org"),
        (reply({"meta": {}}), "something else than results"),
        (reply({"results": None}), "something else than results"),
        (reply([1, 2]), "something else than results"),
        (found(1, {"id": 5}), "something else than results"),
        (Response(b"[" * 100_000, content_type="application/json"), "something else than results"),
        (Response('{"results": [', content_type="application/json"), "something else than results"),
        (Response(b"x" * 5_000_001), "more than 5 MB"),
    ],
    ids=["400", "404", "503", "301", "no results", "null", "a list", "no works", "deep", "cut", "large"],
)
def test_a_failure_is_never_an_empty_result(httpserver: HTTPServer, answer: Response, words: str) -> None:
    """The error is one short line, without the key."""
    served(httpserver, answer)
    with pytest.raises(EngineUnavailable, match=words) as raised:
        engine(httpserver, api_key=KEY).search("q", 5)
    assert len(str(raised.value)) < 300
    assert not {"\n", "\x07"} & set(str(raised.value))
    assert KEY not in str(raised.value)


def test_an_odd_work_does_not_lose_the_others(httpserver: HTTPServer) -> None:
    """It is left out."""
    odd = [work(2, display_name=["a"]), work(3, abstract_inverted_index={"a": "b"}), work(4, id=7), None]
    served(httpserver, found(*odd, work(1)))
    assert [each["title"] for each in engine(httpserver).search("q", 9)] == ["Work 1"]


def test_hostile_text_is_cleaned_and_bounded(httpserver: HTTPServer) -> None:
    """Control characters, mark-up, endless words, places out of range, other schemes."""
    hostile = work(
        1,
        doi="javascript:alert(1)",
        display_name="\x1b]0;x\x07<i>Sleep</i> &amp; <b onclick='x'>memory</b>\u202e",
        primary_location={"landing_page_url": "javascript:alert(1)", "source": {"display_name": "<b>J\x07" * 900}},
        best_oa_location={"pdf_url": "file:///etc/passwd", "landing_page_url": "data:text/html,x"},
        open_access={"oa_url": "//evil.example"},
        abstract_inverted_index={"w" * 90_000: list(range(20_000)), "\x07first": [-(2**40)], "<script>x": [2**62]},
    )
    served(httpserver, found(hostile, work(2, display_name="t" * 5_000)))
    first, second = engine(httpserver).search("q", 5)
    assert first["title"] == "]0;xSleep & memory"
    assert first["href"] == "https://openalex.org/W1"
    assert first["body"].startswith("first www")
    assert len(first["body"]) <= MAX_BODY_CHARS
    assert len(first["site"]) <= 200
    assert not {"doi", "full_text"} & set(first)
    assert len(second["title"]) == 500


def test_signs_of_less_than_stay_in_an_abstract(httpserver: HTTPServer) -> None:
    """They are not the beginning of a tag; tags are removed."""
    text = "<p>Rats (n <20, P <0.05 &lt; 1, and n> 3) slept</p>"
    index = {word: [place] for place, word in enumerate(text.split())}
    served(httpserver, found(work(1, abstract_inverted_index=index)))
    assert engine(httpserver).search("q", 5)[0]["body"] == "Rats (n <20, P <0.05 < 1, and n> 3) slept"


def test_a_doi_with_signs_of_a_url_leads_to_its_work(httpserver: HTTPServer) -> None:
    """Old DOIs have angle brackets and semicolons."""
    served(httpserver, found(work(1, doi="https://doi.org/10.1002/(sici)1097(199009)41:6<391::aid-1>3.0.co;2-9")))
    [result] = engine(httpserver).search("q", 5)
    assert result["href"] == "https://doi.org/10.1002/(sici)1097(199009)41:6%3C391::aid-1%3E3.0.co;2-9"
    assert result["doi"] == "10.1002/(sici)1097(199009)41:6<391::aid-1>3.0.co;2-9"


def test_no_answer_is_a_failure() -> None:
    """A server that hangs, and one that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = OpenAlex(timeout=0.2, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineUnavailable, match=r"did not answer within 0\.2 s"):
            hanging.search("q", 5)
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        hanging.search("q", 5)


def test_neither_key_nor_address_is_an_option() -> None:
    """Options are stored with results; only what changes results is one."""
    made = OpenAlex(api_key=KEY, contact="me@example.org", filters=Filters(since=2020), base_url="https://a.example/")
    assert made.options == {"since": 2020, "base_url": "https://a.example"}
    assert OpenAlex(api_key=KEY).options == {}


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "ключ", "k" * 501])
def test_a_key_of_another_form_is_refused(key: str) -> None:
    """It could not be sent; the message does not show it."""
    with pytest.raises(InvalidInput, match="openalex_api_key has characters that no key has") as raised:
        OpenAlex(api_key=key)
    assert key not in str(raised.value)


def test_it_is_an_engine_like_the_others(tmp_path: Path) -> None:
    """`openalex:FILTER` names it; the key and the address come from settings."""

    def unused() -> Any:
        raise AssertionError("it needs no embedder and no library")

    sources = Sources(Settings(data_dir=tmp_path), unused, lambda *_: None, unused)
    [made] = sources.engines(["openalex:years=2020-:open:field=medicine"])
    assert (made.name, made.options) == ("openalex", {"since": 2020, "open": True, "field": "Medicine"})
    with pytest.raises(InvalidInput, match="openalex cannot be filtered by 'site=x'"):
        sources.engines(["openalex:site=x"])
    settings = Settings(data_dir=tmp_path, openalex_api_key=KEY, contact_email="me@example.org")
    headers = from_settings("", settings)._headers
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert "me@example.org" in headers["User-Agent"]
