"""Language of searches on the command line: found in the question, given with `--language`, part of the key."""

import json

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.cli.program import Program

GERMAN, ENGLISH = "Wie lange ist die Kündigungsfrist?", "How long is the notice period?"
TEXT = "Die Kündigungsfrist beträgt drei Monate zum Monatsende. Sie gilt für beide Seiten und beginnt am Ersten."


@pytest.fixture
def asked(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Languages that a SearXNG is asked for; it always finds the same page, and no page is read."""
    languages: list[str] = []

    def answer(request: Request) -> Response:
        languages.append(request.args["language"])
        results = [{"title": "Kündigungsfrist", "url": "https://docs.example.org/1", "content": TEXT}]
        return Response(json.dumps({"results": results}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(answer)
    for name, value in (("ENGINE", f"searxng:{httpserver.url_for('/')}"), ("READ_PAGES", "0"), ("READING", "false")):
        monkeypatch.setenv(f"HARNESS_{name}", value)
    monkeypatch.setenv("HARNESS_SEARCHES_PER_MINUTE", "60000")
    return languages


def test_the_language_of_the_query_is_requested(harness: Program, asked: list[str]) -> None:
    """English asks as before; the same query again comes from the cache."""
    harness("search", GERMAN, "-q")
    harness("search", ENGLISH, "-q")
    assert harness("search", GERMAN, "--json").told["live_calls"] == 0
    assert list(dict.fromkeys(asked)) == ["de", "auto"]


def test_a_language_can_be_given(harness: Program, asked: list[str]) -> None:
    """It is another search; an unknown one is an error."""
    harness("search", ENGLISH, "-q")
    assert harness("search", ENGLISH, "--language", "fr", "--json").told["live_calls"] == 1
    harness("search", GERMAN, "--language", "any", "-q")
    assert list(dict.fromkeys(asked)) == ["auto", "fr"]
    assert "unknown language" in harness("search", ENGLISH, "--language", "xx").one_line_error(2)


def test_explain_looks_where_the_search_was_stored(harness: Program, asked: list[str]) -> None:
    """Under the key with the language."""
    harness("search", GERMAN, "-q")
    harness("search", ENGLISH, "--language", "fr", "-q")
    assert harness("cache", "explain", GERMAN, "--json").told["exact"] == "hit"
    assert harness("cache", "explain", ENGLISH, "--json").told["exact"] == "miss"
    assert harness("cache", "explain", ENGLISH, "--language", "fr", "--json").told["exact"] == "hit"


def test_a_research_searches_in_the_language_of_its_question(harness: Program, asked: list[str]) -> None:
    """All its queries do; a language that is given wins."""
    harness("research", GERMAN, "-q", "--max-rounds", "1")
    assert set(asked) == {"de"}
    harness("research", GERMAN, "-q", "--max-rounds", "1", "--language", "nl")
    assert set(asked) == {"de", "nl"}
