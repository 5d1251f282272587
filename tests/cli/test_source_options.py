"""Options of a research that choose its sources: lists of sites, `--source-quality`, and `--explain`."""

import json

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.cli.program import Program

QUESTION = "How many retries does the client make?"
ANSWER = (
    "The client makes five retries before it stops. It waits after every failed call and doubles the pause each time, "
    "so that a server that is down is not asked again by everybody at once."
)
OTHER = "A retry budget limits how many retries all clients together may make in a minute."
FARM, PRIMARY, BLOG = "https://newbedev.com/1", "https://docs.example.org/1", "https://blog.example.net/\x1b[31m1"


@pytest.fixture(autouse=True)
def web(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SearXNG that always finds the same three pages; no page is read."""

    def answer(request: Request) -> Response:
        found = [(FARM, ANSWER), (PRIMARY, ANSWER), (BLOG, OTHER)]
        results = [{"title": "Retries", "url": url, "content": text} for url, text in found]
        return Response(json.dumps({"query": request.args["q"], "results": results}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(answer)
    for name, value in (("ENGINE", f"searxng:{httpserver.url_for('/')}"), ("READ_PAGES", "0"), ("READING", "false")):
        monkeypatch.setenv(f"HARNESS_{name}", value)
    monkeypatch.setenv("HARNESS_SEARCHES_PER_MINUTE", "60000")


def sources(harness: Program, *options: str) -> list[str]:
    """Return the hosts of the sources of a research with these options."""
    found = harness("research", QUESTION, "--json", "-q", *options).told
    return [source["url"].split("/")[2] for source in found["sources"]]


def test_explain_names_why_sources_come_earlier_or_are_left_out(harness: Program) -> None:
    """A line for each on standard error, also of a stored run; nothing in it acts on a terminal."""
    plain = harness("research", QUESTION, "-q", "--explain", "--skip-sites", "example.net")
    lines = [line for line in plain.err.splitlines() if line.startswith("source: ")]
    assert lines[:2] == [f"source: {PRIMARY}: documentation: up", f"source: {FARM}: copy of {PRIMARY}: left out"]
    assert lines[2].startswith("source: https://blog.example.net/")
    assert lines[2].endswith(": skip_sites: left out")
    assert "\x1b" not in plain.err
    assert [line for line in harness("show", "--explain").err.splitlines() if line.startswith("source: ")] == lines


def test_the_json_has_the_notes(harness: Program) -> None:
    """And none where nothing is to be said."""
    found = harness("research", QUESTION, "--json", "-q").told
    assert found["source_notes"][0] == {"url": PRIMARY, "note": "documentation: up"}
    assert "source_notes" not in harness("research", QUESTION, "--json", "-q", "--no-source-quality").told


def test_without_source_quality_copies_stay(harness: Program) -> None:
    """In the order of the engine."""
    assert sources(harness) == ["docs.example.org", "blog.example.net"]
    assert sources(harness, "--no-source-quality") == ["newbedev.com", "docs.example.org", "blog.example.net"]


@pytest.mark.parametrize(
    "options",
    [
        ("--skip-sites", "newbedev.com", "--skip-sites", "*.example.net"),
        ("--skip-sites", "newbedev.com,example.net"),
        ("--only-sites", "example.org:443"),
    ],
)
def test_lists_are_repeated_or_have_commas(harness: Program, options: tuple[str, ...]) -> None:
    """Each leaves the same source."""
    assert sources(harness, *options) == ["docs.example.org"]


def test_lists_come_from_the_environment_too(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """With commas; an option wins."""
    monkeypatch.setenv("HARNESS_SKIP_SITES", "newbedev.com, example.org")
    assert sources(harness) == ["blog.example.net"]
    assert sources(harness, "--skip-sites", "example.net") == ["docs.example.org"]


def test_if_nothing_is_left_the_lists_are_named(harness: Program) -> None:
    """With the number of results; it ends like any research that finds nothing."""
    ended = harness("research", QUESTION, "--only-sites", "python.org", "--skip-sites", "example.org")
    assert ended.code == 1
    assert ended.out == ""
    assert (
        "nothing is left: only_sites left out 2 results and skip_sites left out 1 result; change the list to use them"
        in ended.err.splitlines()
    )
    assert "nothing found by" not in ended.err


@pytest.mark.parametrize("name", ["only", "skip"])
def test_what_is_no_host_is_an_error(harness: Program, name: str) -> None:
    """One line, an error of usage, says how to write it."""
    error = harness("research", QUESTION, f"--{name}-sites", "https://example.org/").one_line_error(2)
    assert f"in {name}_sites is not a host; write it as example.com" in error
