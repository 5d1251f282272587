"""The first try without a network: the error names engines that need none."""

import pytest

from tests.cli.program import Program

MANUAL = "--engine corpus:python-docs (the manual of Python)"


@pytest.fixture(autouse=True)
def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an engine on a port where nothing listens."""
    monkeypatch.setenv("HARNESS_ENGINE", "searxng:http://127.0.0.1:9")
    monkeypatch.setenv("HARNESS_RATE_LIMIT_RETRIES", "0")


@pytest.mark.parametrize("command", [pytest.param("research", marks=pytest.mark.slow), "search"])
def test_an_error_without_a_network_says_what_to_try(harness: Program, command: str) -> None:
    """Errors without a reachable engine, and offline; still one line."""
    for arguments, code in (((), 3), (("--offline",), 6)):
        line = harness(command, "how do retries work", *arguments).one_line_error(code)
        assert f"Without a network, try {MANUAL} or --engine corpus:PATH (your files)" in line
        assert line.count("corpus:PATH") == 1


def test_the_library_is_named_once_it_has_passages(harness: Program, notes: str) -> None:
    """Passages of the library can answer."""
    harness("library", "add", notes.removeprefix("corpus:"))
    line = harness("search", "a question about something else").one_line_error(3)
    assert f"try --engine library (everything read before) or {MANUAL}" in line


def test_a_local_engine_gets_no_hint(harness: Program, notes: str) -> None:
    """It needs no network, so another would not help."""
    assert "Without a network" not in harness("search", "retries", "-e", notes, "--offline").one_line_error(6)


@pytest.mark.slow
def test_a_follow_up_question_gets_the_hint(harness: Program, notes: str) -> None:
    """The library is named, which has what the run read."""
    harness("research", "retries", "-e", notes)
    line = harness("ask", "last", "who invented the telephone", "-e", "searxng:http://127.0.0.1:9").one_line_error(3)
    assert "Without a network, try --engine library" in line
