"""`harness chat` from a pipe: plain lines in, plain lines out."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.models.remote import chat_completions
from tests.cli.program import Program
from tests.models.endpoint import Endpoint, refusing, saying


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """A model that the settings name."""
    monkeypatch.setattr(chat_completions, "BACK_OFF", 0.01)
    serving = Endpoint()
    monkeypatch.setenv("HARNESS_MODEL", "m")
    monkeypatch.setenv("HARNESS_MODEL_URL", serving.url)
    yield serving
    serving.stop()


def test_lines_are_answered_one_by_one(harness: Program, endpoint: Endpoint) -> None:
    """Without prompts and colours; a blank line is none; a carriage return does not count."""
    endpoint.answers(saying("They **back** off."), saying("Five."))
    ended = harness("chat", stdin="How do retries work?\r\n\n  \nHow many?")
    assert (ended.code, ended.out) == (0, "They **back** off.\nFive.\n")
    assert "\x1b" not in ended.err
    assert [each["content"] for each in endpoint.asked[1]["messages"][1:]] == [
        "How do retries work?", "They **back** off.", "How many?",
    ]  # fmt: skip


def test_a_later_conversation_is_reminded_of_an_earlier_one(harness: Program, endpoint: Endpoint) -> None:
    """Two runs: the second asks what only the first knew, and the model gets it; its similarity is shown."""
    endpoint.answers(saying("Staging is restarted every Monday at 6."))
    harness("chat", stdin="When is the staging server restarted?\n")
    endpoint.answers(saying("On Mondays."))
    ended = harness("chat", stdin="When is the staging server restarted?\n/context summary\n")
    assert "every Monday at 6" in endpoint.asked[-1]["messages"][-1]["content"]
    assert "similarity 0." in ended.err
    assert "every Monday at 6" in ended.out


def test_a_thread_is_continued(harness: Program, endpoint: Endpoint) -> None:
    """`--continue` loads the exchanges; the list shows two sessions of one thread."""
    endpoint.answers(saying("Blue."))
    harness("chat", stdin="What is my colour?\n")
    (thread,) = harness("memory", "threads", "--json").told["threads"]
    ended = harness("chat", "--continue", thread["id"][:6], stdin="Really?\n")
    assert ended.code == 0
    assert [each["content"] for each in endpoint.asked[1]["messages"][1:3]] == ["What is my colour?", "Blue."]
    (thread,) = harness("memory", "threads", "--json").told["threads"]
    assert (thread["exchanges"], thread["sessions"], thread["continuation"]) == (2, 2, 1)
    harness("chat", "--continue", "zzzz", stdin="x").one_line_error(2)


def test_without_a_model_it_says_so_once_and_shows_what_is_remembered(harness: Program) -> None:
    """On standard error; the memories that fit are on standard output."""
    harness("memory", "add", "-", stdin="Staging is restarted every Monday at 6.")
    ended = harness("chat", stdin="When is staging restarted?\nAnd when is staging not restarted?\n")
    assert (ended.code, ended.err.count("no model is set")) == (0, 1)
    assert "/research" in ended.err
    assert ended.out.count("every Monday at 6") == 2


def test_an_echo_keeps_nothing(harness: Program, tmp_path: Path) -> None:
    """`--dummy`: a fixed reply, no exchange, no history."""
    ended = harness("chat", "--dummy", stdin="hello  there\n")
    assert ended.out == "You said: hello  there\n"
    assert harness("memory", "stats", "--json").told["total_exchanges"] == 0


def test_a_research_is_shown_and_remembered(harness: Program, notes: str) -> None:
    """A cited report; then the thread has the question and the report."""
    ended = harness("chat", "--engine", notes, stdin="/research how do retries back off\n/vget thread\n")
    assert ended.code == 0
    assert "exponential backoff" in ended.out
    assert "quotations verified" in ended.out
    assert "You: how do retries back off" in ended.out
    (thread,) = harness("memory", "threads", "--json").told["threads"]
    assert thread["title"] == "how do retries back off"


def test_a_search_and_a_page_are_in_the_context(harness: Program, endpoint: Endpoint, notes: str) -> None:
    """The model gets what /web found; a second /web is answered by the cache; a private address is refused."""
    endpoint.answers(saying("Five."))
    lines = "/web retries\n/web retries\n/url http://127.0.0.1:1/x\nHow many attempts?\n/showcontext\n"
    ended = harness("chat", "--engine", notes, stdin=lines)
    assert "Retries use exponential backoff" in ended.out
    assert "1 live call\n" in ended.err
    assert "from the cache (exact, just now); 0 live calls" in ended.err
    assert "error: http://127.0.0.1:1/x: " in ended.err
    content = endpoint.asked[0]["messages"][-1]["content"]
    assert "stop after five failed attempts" in content
    assert content.endswith("How many attempts?")
    assert "texts that /web and /url looked up" in ended.err
    assert re.search(
        r"About [\d,]+ of 3,000 tokens \(context_tokens\); exchanges: 1, memories: 0, texts of /web and /url: \d",
        ended.out,
    )


def test_settings_and_model_are_shown_without_secrets(
    harness: Program, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And /model asks another model of the same endpoint."""
    monkeypatch.setenv("HARNESS_GITHUB_TOKEN", "ghp_verysecret")
    endpoint.answers(saying("Hello."))
    ended = harness("chat", stdin="/config\n/config github\n/model\n/model other\nHi\n/clear\n")
    assert "ghp_verysecret" not in ended.out + ended.err
    assert "github_token: set (hidden)  (environment HARNESS_GITHUB_TOKEN)" in ended.out
    assert endpoint.asked[0]["model"] == "other"
    assert "cleared; 1 exchange stays stored as thread " in ended.out


def test_after_a_failure_the_next_line_is_answered(harness: Program, endpoint: Endpoint) -> None:
    """The exit code is that of the first failure."""
    endpoint.answers(refusing(401, "no such key"), saying("Yes."))
    ended = harness("chat", stdin="first\n/nope\nsecond\n")
    assert (ended.code, ended.out) == (5, "Yes.\n")
    assert [line.split(":")[0] for line in ended.err.splitlines()] == ["error", "error"]


def test_quit_ends_it(harness: Program) -> None:
    """Later lines are not read."""
    assert harness("chat", "--dummy", stdin="one\n/quit\ntwo\n").out == "You said: one\n"


def test_a_line_that_is_too_long_is_one_error(harness: Program) -> None:
    """It is refused whole, and the next line is answered."""
    ended = harness("chat", "--dummy", stdin=f"{'x' * 450_000}\nnext\n")
    assert (ended.code, ended.out, ended.err.count("error: ")) == (2, "You said: next\n", 1)


@pytest.mark.parametrize("line", ["/vadd x", "/vdoc x", "/vquery x", "/vget x", "/vdelete x", "/vstats", "/continue x",
                                  "/threads", "/context on"])  # fmt: skip
def test_disabled_each_command_says_why_and_how_to_enable_it(harness: Program, tmp_path: Path, line: str) -> None:
    """By the option, and by the setting; the conversation continues."""
    config = tmp_path / "config.yaml"
    config.write_text("vector_store:\n  enabled: false\n")
    for arguments, how in ((("--no-vector-store",), "leave out that option"), (("--config", config), "enabled: true")):
        ended = harness("chat", "--dummy", *arguments, stdin=f"{line}\nhello\n")
        assert (ended.code, ended.out) == (2, "You said: hello\n")
        error = next(each for each in ended.err.splitlines() if each.startswith("error"))
        assert "disabled" in error
        assert how in error


def test_a_store_that_cannot_be_opened_ends_no_conversation(
    harness: Program, endpoint: Endpoint, tmp_path: Path
) -> None:
    """A folder in the database's place: warnings, a reply, and nothing is lost: the exchange waits in the journal."""
    data = tmp_path / "data"
    (data / "harness.db").mkdir(parents=True)
    endpoint.answers(saying("Yes."))
    ended = harness("chat", stdin="Are you there?\n")
    assert (ended.code, ended.out) == (0, "Yes.\n")
    assert "warning: " in ended.err
    (data / "harness.db").rmdir()
    again = harness("chat", stdin="/threads\n")
    assert "saved 1 exchange that could not be saved before" in again.err
    assert "Are you there?" in again.out
