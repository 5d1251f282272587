"""`/search` for SearXNG clients."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx import Response
from lxml import html
from pytest_httpserver import HTTPServer
from starlette.testclient import TestClient

from harness.server.search_api.searxng_search import SearxngQuery, _around
from harness.sources.engines.searxng import _Page
from tests.server.dropin import Instance, client_of


@pytest.fixture
def client(instance: Instance, tmp_path: Path) -> Iterator[TestClient]:
    """A client, with that instance as the engine."""
    with client_of(tmp_path, f"searxng:{instance.address}") as opened:
        yield opened


def found(answer: Response) -> list[int]:
    """Return the numbers of the results, in order."""
    assert answer.status_code == 200, answer.text
    return [int(result["title"].removeprefix("Title ")) for result in answer.json()["results"]]


def refusal(answer: Response, status: int = 400) -> str:
    """Return why a search was refused."""
    assert answer.status_code == status, answer.text
    assert answer.json()["status"] == "error"
    message: str = answer.json()["message"]
    return message


def ask(client: TestClient, **parameters: Any) -> Response:
    """Search in JSON."""
    answer: Response = client.get("/search", params={"q": "rag", "format": "json"} | parameters)
    return answer


# --- the response


def test_a_response_has_searxngs_shape(client: TestClient) -> None:
    """With every field that a client may read."""
    answer = ask(client).json()
    assert answer["results"][1] == {
        "url": "https://site-2.example/2",
        "title": "Title 2",
        "content": "Text 2.",
        "engine": "searxng",
        "engines": ["searxng"],
        "positions": [2],
        "score": 0.5,
        "category": "general",
        "template": "default.html",
        "parsed_url": ["https", "site-2.example", "/2", "", "", ""],
        "publishedDate": None,
    }
    del answer["results"]
    assert answer == {
        "query": "rag",
        "number_of_results": 10,
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }


def test_the_searxng_engine_reads_a_response(client: TestClient) -> None:
    """One harness can search through another one."""
    import msgspec

    assert len(msgspec.json.decode(ask(client).content, type=_Page).results) == 10


def test_a_repeated_search_is_free(client: TestClient, instance: Instance) -> None:
    """By GET or POST, in any spelling."""
    first = ask(client)
    assert ask(client, q=" RAG ").json()["results"] == first.json()["results"]
    assert client.post("/search", data={"q": "rag", "format": "json"}).json() == first.json()
    assert len(instance.asked) == 1


def test_results_name_their_engines(notes: str, tmp_path: Path, instance: Instance) -> None:
    """With the rank in each."""
    with client_of(tmp_path, notes, f"searxng:{instance.address}") as client:
        results = ask(client, q="retries").json()["results"]
    assert {result["engine"] for result in results} == {"corpus", "searxng"}
    assert [result["positions"] for result in results if result["engine"] == "searxng"][:2] == [[1], [2]]
    assert [result["score"] for result in results] == sorted((r["score"] for r in results), reverse=True)


def test_a_failed_engine_is_reported(notes: str, tmp_path: Path, instance: Instance) -> None:
    """A failure is not an empty result."""
    instance.status = 500
    with client_of(tmp_path, notes, f"searxng:{instance.address}") as client:
        answer = ask(client, q="retries").json()
    assert answer["results"]
    ((engine, reason),) = answer["unresponsive_engines"]
    assert engine == "searxng"
    assert "HTTP 500" in reason


@pytest.mark.parametrize(("status", "given"), [(500, 502), (429, 429)])
def test_the_search_fails_if_every_engine_fails(
    client: TestClient, instance: Instance, status: int, given: int
) -> None:
    """The status gives the cause, the message what to do."""
    instance.status = status
    assert f"HTTP {status}" in refusal(ask(client), given)


def test_offline_an_uncached_search_fails(instance: Instance, tmp_path: Path) -> None:
    """No engine is called."""
    with client_of(tmp_path, f"searxng:{instance.address}", offline=True) as client:
        refusal(ask(client), 503)
    assert instance.asked == []


def test_texts_and_urls_are_cleaned_and_shortened(httpserver: HTTPServer, tmp_path: Path) -> None:
    """They come from anywhere."""
    result = {"url": "https://a.example/[", "title": "T\n\u202e" + "t" * 5_000, "content": "\x1b[31m" + "c" * 9_000}
    httpserver.expect_request("/search").respond_with_json({"results": [result]})
    with client_of(tmp_path, f"searxng:{httpserver.url_for('')}") as client:
        (shown,) = ask(client).json()["results"]
    assert shown["title"].startswith("T t")
    assert len(shown["title"]) <= 300
    assert "\x1b" not in shown["content"]
    assert len(shown["content"]) <= 4_000
    assert len(shown["parsed_url"]) == 6


# --- pages


def test_pages_follow_one_another(client: TestClient) -> None:
    """No result is on two pages, and none is missing."""
    assert found(ask(client, pageno=1)) == list(range(1, 11))
    assert found(ask(client, pageno=2)) == list(range(11, 21))
    assert ask(client, pageno=2).json()["results"][0]["score"] == round(1 / 11, 4)


def test_a_page_has_max_results_results(instance: Instance, tmp_path: Path) -> None:
    """As the setting says."""
    with client_of(tmp_path, f"searxng:{instance.address}", max_results=3) as client:
        assert found(ask(client, pageno=3)) == [7, 8, 9]


def test_an_earlier_page_is_free(client: TestClient, instance: Instance) -> None:
    """Going back calls no engine."""
    ask(client, pageno=2)
    asked = len(instance.asked)
    assert found(ask(client, pageno=1)) == list(range(1, 11))
    assert len(instance.asked) == asked


def test_the_html_has_links_to_the_pages_around_it(client: TestClient) -> None:
    """They repeat the query and its options, also those of a form; the last page has no link to a next one."""

    def links(answer: Response) -> dict[str, str]:
        return {link.get("class"): link.get("href") for link in html.fromstring(answer.text).xpath("//nav/a[@class]")}

    first = links(client.get("/search", params={"q": "rag", "language": "de"}))
    assert first == {"next_page": "/search?q=rag&language=de&pageno=2"}
    sent = client.post("/search", data={"q": "a & b <i>", "pageno": "2"})
    assert links(sent)["previous_page"] == "/search?q=a+%26+b+%3Ci%3E&pageno=1"
    assert links(client.get(first["next_page"]))["next_page"] == "/search?q=rag&pageno=3&language=de"
    assert set(links(client.get("/search", params={"q": "rag", "pageno": 6}))) == {"previous_page"}
    assert "next_page" not in links(client.get("/search", params={"q": "rag", "pageno": 10}))
    assert links(client.get("/search", params={"q": "rag", "pageno": 10**30}))["previous_page"].endswith("pageno=10")


@pytest.mark.parametrize(("size", "last"), [(30, 4), (99, 2), (100, 1)])
def test_the_last_page_may_be_a_part(size: int, last: int) -> None:
    """The link leads there from far beyond it."""
    earlier, _ = _around(SearxngQuery(q="rag", pageno=10**30), None, size)
    assert earlier.endswith(f"pageno={last}")


@pytest.mark.parametrize("page", [6, 11, 10**30])
def test_pages_after_the_last_are_empty(client: TestClient, page: int) -> None:
    """As in SearXNG; the engine has 50 results here, and 100 are the limit."""
    assert found(ask(client, pageno=page)) == []


def test_beyond_a_hundred_results_no_engine_is_called(client: TestClient, instance: Instance) -> None:
    """The page is empty."""
    ask(client, pageno=11)
    assert instance.asked == []


@pytest.mark.parametrize("page", [0, -1, "two"])
def test_invalid_page_numbers_are_refused(client: TestClient, page: object) -> None:
    """Zero, negative, not a number."""
    assert "pageno" in refusal(ask(client, pageno=page))


# --- formats


@pytest.mark.parametrize("format_", ["csv", "rss", "JSON", "xml"])
def test_another_format_is_refused(client: TestClient, format_: str) -> None:
    """With 403, as SearXNG refuses a disabled format."""
    assert "use format=json or format=html" in refusal(ask(client, format=format_), 403)


def parsed(answer: Response) -> list[tuple[str, list[str], str]]:
    """Return title, URLs and text of the results on a page, as clients find them that parse SearXNG's page."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/html")
    results = html.fromstring(answer.text).xpath("//article[contains(concat(@class, ' '), 'result ')]")
    return [
        (
            each.xpath("string(h3)"),
            each.xpath(".//a/@href"),
            each.xpath("string(p[@class='content'])"),
        )
        for each in results
    ]


@pytest.mark.parametrize("format_", ["", "html"])
@pytest.mark.parametrize("accept", ["*/*", "text/html,application/xhtml+xml,*/*;q=0.8"])
def test_without_json_the_answer_is_a_page(client: TestClient, instance: Instance, format_: str, accept: str) -> None:
    """Its elements and classes are SearXNG's, and the search shares its entry with one in JSON."""
    answer = client.get("/search", params={"q": "rag", "format": format_}, headers={"Accept": accept})
    first, *others = parsed(answer)
    assert first == ("Title 1", ["https://site-1.example/1"], "Text 1.")
    assert len(others) == 9
    assert parsed(client.post("/search", data={"q": "rag", "format": format_})) == [first, *others]
    assert len(found(ask(client))) == 10
    assert len(instance.asked) == 1


def test_a_page_shows_hostile_texts_as_text(httpserver: HTTPServer, tmp_path: Path) -> None:
    """No markup of a result or a query is markup of the page."""
    nasty = "<script>alert(1)</script><article class=result>"
    results = [
        {"url": "https://b.example/<b>", "title": nasty, "content": nasty},
        {"url": 'https://a.example/"onmouseover="x', "title": "T", "content": "\u202e\x1b[31mC"},
    ]
    httpserver.expect_request("/search").respond_with_json({"results": results})
    with client_of(tmp_path, f"searxng:{httpserver.url_for('')}") as client:
        answer = client.get("/search", params={"q": f"rag {nasty}"})
    assert "<script>alert" not in answer.text
    assert "\u202e" not in answer.text
    assert "onmouseover" not in {name for each in html.fromstring(answer.text).iter() for name in each.attrib}
    assert parsed(answer) == [
        (nasty, ["https://b.example/<b>"], nasty),
        ("T", ['https://a.example/"onmouseover="x'], "[31mC"),
    ]


def test_a_page_without_a_query_has_a_form(client: TestClient, instance: Instance) -> None:
    """No engine is called."""
    assert parsed(client.get("/search")) == []
    assert instance.asked == []


def test_a_page_names_failed_engines(notes: str, tmp_path: Path, instance: Instance) -> None:
    """If all fail, the error is in JSON, as for every client."""
    instance.status = 500
    with client_of(tmp_path, notes, f"searxng:{instance.address}") as client:
        answer = client.get("/search", params={"q": "retries"})
        assert "HTTP 500" in answer.text
        assert parsed(answer)
        assert not any(urls for _, urls, _ in parsed(answer))  # files are no links
        assert "HTTP 500" in refusal(client.get("/search", params={"q": "retries", "engines": "searxng"}), 502)


def test_format_json_wins_over_the_accept_header(client: TestClient) -> None:
    """Open WebUI accepts HTML but requests JSON."""
    answer = client.get("/search", params={"q": "rag", "format": "json"}, headers={"Accept": "text/html"})
    assert len(found(answer)) == 10


def test_a_form_is_completed_by_the_query_string(client: TestClient, instance: Instance) -> None:
    """As SearXNG merges them; the form wins."""
    assert found(client.post("/search?format=json&pageno=2", data={"q": "rag"})) == list(range(11, 21))
    assert found(client.post("/search?q=rag&format=json&language=de")) == list(range(1, 11))
    answer = client.post("/search?q=other&format=html&pageno=2", data={"q": "rag", "format": "json", "pageno": "1"})
    assert (answer.json()["query"], found(answer)) == ("rag", list(range(1, 11)))
    assert [asked["language"] for asked in instance.asked] == ["auto", "auto", "de"]


def test_a_search_in_json_is_refused(client: TestClient) -> None:
    """Its fields would be ignored."""
    assert "form fields" in refusal(client.post("/search", json={"q": "rag", "format": "json"}))


# --- options


def test_an_empty_query_is_refused(client: TestClient) -> None:
    """As in SearXNG."""
    assert "the query is empty" in refusal(ask(client, q=" "))
    assert "the query is empty" in refusal(client.get("/search", params={"format": "json"}))


def test_language_and_time_range_reach_the_engine(client: TestClient, instance: Instance) -> None:
    """And make separate cache entries."""
    ask(client)
    ask(client, language="pt-br", time_range="week")
    assert [(asked["language"], asked.get("time_range")) for asked in instance.asked] == [
        ("auto", None),
        ("pt-BR", "week"),
    ]


@pytest.mark.parametrize("nothing", [{"language": "all"}, {"time_range": ""}, {"time_range": "None"}, {"engines": ""}])
def test_default_options_share_the_entry(client: TestClient, instance: Instance, nothing: dict[str, str]) -> None:
    """Values that clients send if the user chose nothing."""
    ask(client)
    assert len(found(ask(client, safesearch="1", categories="general", theme="simple", **nothing))) == 10
    assert len(instance.asked) == 1


@pytest.mark.parametrize(
    ("wish", "payload"),
    [
        ({"time_range": "decade"}, "time_range"),
        ({"safesearch": "3"}, "safesearch"),
        ({"safesearch": "2"}, "not support strict safe search"),
        ({"categories": "general,images"}, "no such category: 'images'"),
        ({"engines": "google, bing"}, "no such engine here: 'google'; choose from searxng"),
        ({"language": "tlhIngan"}, "not a language code"),
    ],
)
def test_unsupported_options_are_refused(
    client: TestClient, instance: Instance, wish: dict[str, str], payload: str
) -> None:
    """Ignoring them would give wrong results."""
    assert payload in refusal(ask(client, **wish))
    assert instance.asked == []


def test_engines_can_be_chosen(notes: str, tmp_path: Path, instance: Instance) -> None:
    """The others are not called."""
    with client_of(tmp_path, notes, f"searxng:{instance.address}") as client:
        results = ask(client, q="retries", engines="corpus").json()["results"]
    assert {result["engine"] for result in results} == {"corpus"}
    assert instance.asked == []
