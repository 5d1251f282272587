"""`/tavily/search` and `/tavily/extract` for Tavily clients."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx import Response
from pytest_httpserver import HTTPServer
from starlette.testclient import TestClient

from tests.server.dropin import Instance, client_of

PAGE = "<html><head><title>Chunks</title></head><body><article><h1>Chunks</h1><p>{}</p></article></body></html>"
SENTENCES = "A chunk is a slice of a document that is kept with its title. " * 5


@pytest.fixture
def client(instance: Instance, tmp_path: Path) -> Iterator[TestClient]:
    """A client, with that instance as the engine."""
    with client_of(tmp_path, f"searxng:{instance.address}") as opened:
        yield opened


@pytest.fixture
def reading(httpserver: HTTPServer, tmp_path: Path) -> Iterator[TestClient]:
    """A client, with an engine that finds an existing and a missing page on this machine, which may be read."""
    results = [{"url": httpserver.url_for(path), "title": path, "content": ""} for path in ("/page", "/gone")]
    httpserver.expect_request("/search").respond_with_json({"results": results})
    httpserver.expect_request("/gone").respond_with_data("gone", 404)
    httpserver.expect_request("/robots.txt").respond_with_data("", 404)
    httpserver.expect_request("/page").respond_with_data(PAGE.format(SENTENCES), content_type="text/html")
    with client_of(tmp_path, f"searxng:{httpserver.url_for('')}", allowed_hosts=("localhost",)) as opened:
        yield opened


@pytest.fixture
def read(httpserver: HTTPServer) -> Callable[[], int]:
    """Return how often the page was read."""
    return lambda: sum(request.path == "/page" for request, _ in httpserver.log)


def ask(client: TestClient, **fields: Any) -> Response:
    """Search."""
    answer: Response = client.post("/tavily/search", json={"query": "rag"} | fields)
    return answer


def found(answer: Response) -> list[int]:
    """Return the numbers of the results, in order."""
    assert answer.status_code == 200, answer.text
    return [int(result["title"].removeprefix("Title ")) for result in answer.json()["results"]]


def refusal(answer: Response, status: int = 400) -> str:
    """Return why a request was refused, from the field for Tavily's clients."""
    assert answer.status_code == status, answer.text
    payload = answer.json()
    assert (payload["status"], payload["detail"]) == ("error", {"error": payload["message"]})
    message: str = payload["message"]
    return message


# --- search


def test_a_response_has_tavilys_shape(client: TestClient) -> None:
    """Five results by default."""
    answer = ask(client).json()
    assert [result["score"] for result in answer["results"]] == [1.0, 0.95, 0.9, 0.85, 0.8]
    assert answer["results"][0] == {
        "title": "Title 1",
        "url": "https://site-1.example/1",
        "content": "Text 1.",
        "score": 1.0,
        "raw_content": None,
    }
    assert answer["response_time"] >= 0
    assert answer["request_id"]
    del answer["results"], answer["response_time"], answer["request_id"]
    assert answer == {
        "query": "rag",
        "answer": None,
        "follow_up_questions": None,
        "images": [],
        "usage": {"credits": 1},
    }


def test_a_repeated_search_is_free(client: TestClient, instance: Instance) -> None:
    """For any number of results and any client."""
    ask(client)
    assert ask(client, max_results=10).json()["usage"] == {"credits": 0}
    assert client.get("/search", params={"q": "rag", "format": "json"}).status_code == 200
    assert len(instance.asked) == 1


@pytest.mark.parametrize("wanted", [0, 1, 20])
def test_max_results_limits_the_results(client: TestClient, wanted: int) -> None:
    """Zero to twenty."""
    assert found(ask(client, max_results=wanted)) == list(range(1, wanted + 1))


def test_zero_results_cost_nothing(client: TestClient, instance: Instance) -> None:
    """No engine is called."""
    ask(client, max_results=0)
    assert instance.asked == []


DEFAULTS = {
    "api_key": "tvly-x",
    "search_depth": "advanced",
    "topic": "general",
    "days": 7,
    "include_answer": False,
    "include_raw_content": False,
    "include_images": False,
    "include_image_descriptions": False,
    "include_favicon": False,
    "include_usage": True,
    "auto_parameters": False,
    "chunks_per_source": 3,
    "include_domains": None,
    "exclude_domains": [],
    "country": None,
    "start_date": None,
    "end_date": None,
    "use_cache": True,
    "something_new": {"a": [1]},
}


def test_default_fields_of_clients_are_accepted(client: TestClient, instance: Instance) -> None:
    """And share the cache entry."""
    ask(client)
    assert len(found(ask(client, **DEFAULTS))) == 5
    assert len(instance.asked) == 1


@pytest.mark.parametrize(
    "wish",
    [
        {"topic": "news"},
        {"start_date": "2026-01-01"},
        {"end_date": "2026-01-01"},
        {"max_age_hours": 0},
        {"country": "germany"},
        {"exact_match": True},
        {"auto_parameters": True},
        {"include_answer": "advanced"},
        {"include_images": True},
        {"include_favicon": True},
    ],
)
def test_unsupported_options_are_refused(client: TestClient, instance: Instance, wish: dict[str, Any]) -> None:
    """By name."""
    (name,) = wish
    assert refusal(ask(client, **wish)).startswith(f"{name}=")
    assert instance.asked == []


@pytest.mark.parametrize(
    ("wish", "payload"),
    [
        ({"query": " "}, "the query is empty"),
        ({"query": None}, "query"),
        ({"max_results": 21}, "max_results"),
        ({"time_range": "decade"}, "time_range"),
        ({"language": "klingon"}, "not a language code"),
        ({"safe_search": True}, "not support strict safe search"),
        ({"include_domains": [""]}, "include_domains"),
    ],
)
def test_invalid_values_are_refused(client: TestClient, wish: dict[str, Any], payload: str) -> None:
    """In the format that Tavily's clients show."""
    assert payload in refusal(ask(client, **wish))


def test_a_failed_search_is_an_error(client: TestClient, instance: Instance) -> None:
    """The reason is where Tavily's clients look for it."""
    instance.status = 429
    assert "HTTP 429" in refusal(ask(client), 429)


@pytest.mark.parametrize(("given", "payload"), [("w", "week"), ("year", "year")])
def test_language_and_time_range_reach_the_engine(
    client: TestClient, instance: Instance, given: str, payload: str
) -> None:
    """Tavily's letters for ranges work, too."""
    ask(client, time_range=given, language="de")
    assert (instance.asked[0]["time_range"], instance.asked[0]["language"]) == (payload, "de")


@pytest.mark.parametrize(
    ("fields", "numbers"),
    [
        ({"include_domains": ["site-2.example", "site-9.example"]}, [2, 9]),
        ({"include_domains": ["https://SITE-3.example/path"]}, [3]),
        ({"include_domains": ["example"], "max_results": 3}, [1, 2, 3]),
        ({"include_domains": ["*.example"], "exclude_domains": ["site-1.example"], "max_results": 2}, [2, 3]),
        ({"exclude_domains": ["site-1.example", "site-3.example"], "max_results": 2}, [2, 4]),
        ({"include_domains": ["e-2.example", "ample", "[", "//"]}, []),
    ],
)
def test_results_are_filtered_by_domain(client: TestClient, fields: dict[str, Any], numbers: list[int]) -> None:
    """Subdomains count; another domain with the same ending does not."""
    assert found(ask(client, **fields)) == numbers


@pytest.mark.slow
@pytest.mark.parametrize("kind", [True, "markdown", "text"])
def test_pages_are_read_with_the_results(reading: TestClient, kind: object) -> None:
    """An unreadable page has no text, but stays a result."""
    answer = ask(reading, include_raw_content=kind).json()
    assert [result["title"] for result in answer["results"]] == ["/page", "/gone"]
    page, gone = (result["raw_content"] for result in answer["results"])
    assert "A chunk is a slice" in page
    assert gone is None
    assert answer["usage"] == {"credits": 2}


def test_pages_are_read_once(reading: TestClient, read: Callable[[], int]) -> None:
    """By search and by extract."""
    (page, _) = ask(reading, include_raw_content=True).json()["results"]
    again = reading.post("/tavily/extract", json={"urls": page["url"]}).json()
    assert again["results"][0]["raw_content"] == page["raw_content"]
    assert again["usage"] == {"credits": 0}
    assert read() == 1


# --- extract


def test_pages_keep_the_requested_order(reading: TestClient, httpserver: HTTPServer) -> None:
    """Unreadable ones are listed separately, with the reason."""
    page, gone = httpserver.url_for("/page"), httpserver.url_for("/gone")
    fields = {"urls": [gone, page, "file:///etc/passwd"], "format": "text", "extract_depth": "advanced", "timeout": 30}
    answer = reading.post("/tavily/extract", json=fields)
    assert answer.status_code == 200, answer.text
    payload = answer.json()
    assert [(each["url"], each["title"], each["images"]) for each in payload["results"]] == [(page, "Chunks", [])]
    assert [each["url"] for each in payload["failed_results"]] == [gone, "file:///etc/passwd"]
    assert "404" in payload["failed_results"][0]["error"]
    assert "root:" not in answer.text


def test_urls_of_this_machine_are_not_read(client: TestClient, httpserver: HTTPServer) -> None:
    """Unless a setting allows it."""
    payload = client.post("/tavily/extract", json={"urls": [httpserver.url_for("/page")]}).json()
    assert payload["results"] == []
    assert "allowed_hosts" in payload["failed_results"][0]["error"]


@pytest.mark.parametrize(
    ("fields", "payload"),
    [
        ({"urls": []}, "urls"),
        ({"urls": ["https://a.example"] * 21}, "urls"),
        ({}, "urls"),
        ({"urls": "https://a.example", "query": "chunks"}, "query="),
        ({"urls": "https://a.example", "include_images": True}, "include_images="),
    ],
)
def test_unsupported_extract_options_are_refused(client: TestClient, fields: dict[str, Any], payload: str) -> None:
    """At most twenty pages at once."""
    assert payload in refusal(client.post("/tavily/extract", json=fields))
