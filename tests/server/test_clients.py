"""Real clients against a server on loopback: LangChain's for SearXNG, Tavily's, and the code of the guide."""

import asyncio
import importlib
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from harness.app import App
from harness.settings import Settings
from tests.docs.guides import DOCS, blocks
from tests.server.dropin import Instance

pytestmark = pytest.mark.full

FIRST_TWO = ["https://site-1.example/1", "https://site-2.example/2"]


@pytest.fixture
def settings(instance: Instance, httpserver: HTTPServer, tmp_path: Path) -> Settings:
    """Settings with that instance as the engine; pages of this machine may be read."""
    httpserver.expect_request("/robots.txt").respond_with_data("", 404)
    httpserver.expect_request("/page").respond_with_data("A chunk is a slice of a document.", content_type="text/plain")
    return Settings(
        data_dir=tmp_path / "data",
        engine=(f"searxng:{instance.address}",),
        semantic=False,
        rate_limit_retries=0,
        allowed_hosts=("localhost",),
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of langchain_community, at its import
def test_langchain_searches_and_pays_once(address: str, instance: Instance) -> None:
    """`run` joins the texts, `results` has the URLs; the second search is free."""
    from langchain_community.utilities import SearxSearchWrapper

    searx = SearxSearchWrapper(searx_host=f"{address}/search")
    assert searx.run("rag").startswith("Text 1.\n\nText 2.")
    assert [result["link"] for result in searx.results("rag", num_results=2)] == FIRST_TWO
    assert len(instance.asked) == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_langchain_shows_why_a_search_is_refused(address: str) -> None:
    """The message is in the error."""
    from langchain_community.utilities import SearxSearchWrapper

    searx = SearxSearchWrapper(searx_host=f"{address}/search")
    with pytest.raises(ValueError, match="no such category"):
        searx.run("rag", categories=["images"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_langchain_searches_asynchronously(address: str) -> None:
    """With its asynchronous client."""
    from langchain_community.utilities import SearxSearchWrapper

    searx = SearxSearchWrapper(searx_host=f"{address}/search")
    assert [result["link"] for result in asyncio.run(searx.aresults("rag", num_results=2))] == FIRST_TWO


def test_tavily_searches_and_pays_once(address: str, instance: Instance) -> None:
    """With the client's default fields, and with optional ones."""
    from tavily import TavilyClient

    with TavilyClient(api_key="tvly-x", api_base_url=f"{address}/tavily") as client:
        first = client.search("rag", max_results=2)
        again = client.search("rag", max_results=2, search_depth="advanced", topic="general", include_usage=True)
    assert [result["url"] for result in first["results"]] == FIRST_TWO
    assert again["results"] == first["results"]
    assert (first["usage"], again["usage"]) == ({"credits": 1}, {"credits": 0})
    assert len(instance.asked) == 1


def test_tavily_reads_pages(address: str, httpserver: HTTPServer) -> None:
    """By URL."""
    from tavily import TavilyClient

    page = httpserver.url_for("/page")
    with TavilyClient(api_key="tvly-x", api_base_url=f"{address}/tavily") as client:
        payload = client.extract([page, "https://["])
    assert [(each["url"], each["raw_content"]) for each in payload["results"]] == [
        (page, "A chunk is a slice of a document.")
    ]
    assert [each["url"] for each in payload["failed_results"]] == ["https://["]


def test_tavily_shows_why_a_search_is_refused(address: str, instance: Instance) -> None:
    """In the kind of error that its users catch."""
    from tavily import BadRequestError, TavilyClient, UsageLimitExceededError

    with TavilyClient(api_key="tvly-x", api_base_url=f"{address}/tavily") as client:
        with pytest.raises(BadRequestError, match="topic='news' is not supported"):
            client.search("rag", topic="news")
        with pytest.raises(BadRequestError, match="max_results"):
            client.search("rag", max_results=1_000)
        instance.status = 429
        with pytest.raises(UsageLimitExceededError, match="asks for fewer requests"):
            client.search("rag")


def test_tavily_shows_alternatives_for_other_endpoints(address: str) -> None:
    """In the client's error."""
    from tavily import BadRequestError, TavilyClient

    with TavilyClient(api_key="tvly-x", api_base_url=f"{address}/tavily") as client:
        with pytest.raises(BadRequestError, match=r"crawl is not supported.*/tavily/extract"):
            client.crawl("https://example.org")
        with pytest.raises(BadRequestError, match=r"map is not supported.*include_domains"):
            client.map("https://example.org")
        with pytest.raises(BadRequestError, match=r"research is not supported.*/api/researches"):
            client.research("rag")
        with pytest.raises(BadRequestError, match="research is not supported"):
            list(client.research("rag", stream=True))
        with pytest.raises(BadRequestError, match="research is not supported"):
            client.get_research("1")


def test_tavily_searches_and_reads_asynchronously(address: str, instance: Instance, httpserver: HTTPServer) -> None:
    """With its asynchronous client."""
    from tavily import AsyncTavilyClient, BadRequestError

    async def story() -> tuple[list[str], list[str]]:
        async with AsyncTavilyClient(api_key="tvly-x", api_base_url=f"{address}/tavily") as client:
            found = await client.search("rag", max_results=2)
            await client.search("rag", max_results=2)
            read = await client.extract(httpserver.url_for("/page"))
            with pytest.raises(BadRequestError, match="country='germany' is not supported"):
                await client.search("rag", country="germany")
        return [each["url"] for each in found["results"]], [each["raw_content"] for each in read["results"]]

    assert asyncio.run(story()) == (FIRST_TWO, ["A chunk is a slice of a document."])
    assert len(instance.asked) == 1


def test_both_clients_can_send_a_token(address: str, token: Callable[..., str], instance: Instance) -> None:
    """In the URL for SearXNG, as the API key for Tavily; an invalid token is reported."""
    import requests
    from tavily import InvalidAPIKeyError, TavilyClient

    text = token("lab", "ada", "writer")
    there = address.replace("http://", f"http://ada:{text}@")
    answer = requests.get(f"{there}/search", params={"q": "rag", "format": "json"}, timeout=10)
    assert len(answer.json()["results"]) == 10
    with TavilyClient(api_key=text, api_base_url=f"{address}/tavily") as client:
        assert client.search("rag")["usage"] == {"credits": 0}
    with (
        TavilyClient(api_key="tvly-x", api_base_url=f"{address}/tavily") as client,
        pytest.raises(InvalidAPIKeyError, match="a token is required"),
    ):
        client.search("rag")
    assert len(instance.asked) == 1


def test_the_guides_retriever_and_tool_find_what_was_read(
    address: str, app: App, token: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With source and age; of another tenant, nothing."""
    (code,) = [each.body for each in blocks(DOCS / "guides/other-clients.md") if each.title == "harness_retriever.py"]
    (tmp_path / "harness_retriever.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("harness_retriever")
    text = token("default", "ada", "writer")
    result = {"title": "Pools", "href": "https://example.org/pool", "body": "The pool holds ten connections."}
    app.cache.searches.put("connection pool", [result])
    retriever = module.HarnessRetriever(server=address, token=text, limit=3)
    (found,) = retriever.invoke("how many connections does the pool hold")
    assert (found.page_content, found.metadata["url"]) == (result["body"], result["href"])
    assert found.metadata["age_seconds"] < 60
    tool = module.library_tool(server=address, token=text)
    assert result["body"] in tool.invoke("how many connections does the pool hold")
    other = module.HarnessRetriever(server=address, token=token("lab", "bob", "writer"))
    assert other.invoke("how many connections does the pool hold") == []
