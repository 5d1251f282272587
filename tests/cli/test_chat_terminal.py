"""`harness chat` in a real terminal: typing, stopping, leaving and continuing."""

import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.models.endpoint import Endpoint, endless, said, saying

pytestmark = pytest.mark.slow

PROMPT = "> "
LONG = 30
"""Seconds that the program may take for a step, on a machine that is busy."""


class Terminal:
    """The program in a separate terminal; its output is read without colours and cursor movements."""

    def __init__(self, endpoint: Endpoint, *arguments: str, columns: int = 100) -> None:
        environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
        environment |= {"HARNESS_MODEL": "m", "HARNESS_MODEL_URL": endpoint.url, "TERM": "xterm"}
        environment |= {"PROMPT_TOOLKIT_NO_CPR": "1", "NO_COLOR": "1", "HARNESS_CORPUS_MEANING": "0"}
        command = [sys.executable, "-m", "harness.cli.main", "chat", *arguments]
        self._process = pexpect.spawn(
            command[0], command[1:], env=environment, dimensions=(40, columns), timeout=LONG, encoding="utf-8"
        )
        self.waits_for("Ctrl-D exits")

    def waits_for(self, text: str) -> str:
        """Wait until it shows a text; return what came before and with it."""
        words = r"\s+(?:\x1b\[[0-9;?]*[a-zA-Z]|[│\s])*".join(map(re.escape, text.split()))
        self._process.expect(words)
        return _plain(self._process.before + self._process.after)

    def types(self, text: str) -> None:
        """Type a line, and Enter."""
        self._process.send(f"{text}\r")

    def keys(self, keys: str) -> None:
        """Press keys."""
        self._process.send(keys)

    def leaves(self) -> int:
        """Press Ctrl-D; return how the program ended."""
        self._process.send("\x04")
        self._process.expect(pexpect.EOF)
        self._process.close()
        return int(self._process.exitstatus)

    def kill(self) -> None:
        """Kill the program."""
        self._process.close(force=True)


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]", "", text)


@pytest.fixture
def terminals(endpoint: Endpoint) -> Iterator[list[Terminal]]:
    """Terminals of a test; closed at its end."""
    opened: list[Terminal] = []
    yield opened
    for each in opened:
        each.kill()


def test_two_conversations_and_the_first_goes_on(endpoint: Endpoint, terminals: list[Terminal]) -> None:
    """Leave, return, continue the first; a fact from the second is found, with its similarity."""
    endpoint.answers(saying("Your cat is called Mirabelle."))
    first = Terminal(endpoint)
    terminals.append(first)
    first.types("Remember that my cat is called Mirabelle.")
    first.waits_for("Your cat is called Mirabelle.")
    first.types("/threads")
    thread = re.findall(r"([0-9a-f]{8}) · ", first.waits_for("this one"))[-1]
    assert first.leaves() == 0

    endpoint.answers(saying("The staging server is restarted on Mondays."))
    second = Terminal(endpoint)
    terminals.append(second)
    second.types("When is the staging server restarted?")
    second.waits_for("is restarted on Mondays.")
    assert second.leaves() == 0

    endpoint.answers(saying("On Mondays, as you know."))
    third = Terminal(endpoint)
    terminals.append(third)
    third.types(f"/continue {thread}")
    third.waits_for("continues: 1 exchange loaded, continuation 1")
    third.types("When is the staging server restarted?")
    assert re.search(r"similarity 0\.\d\d", third.waits_for("/context summary shows them"))
    told = endpoint.asked[-1]["messages"]
    assert told[1]["content"] == "Remember that my cat is called Mirabelle."
    assert "is restarted on Mondays." in told[-1]["content"]
    third.types('/vquery "staging server restarted" 1')
    third.waits_for("1 · similarity 0.")
    third.waits_for("restarted on Mondays.")
    assert third.leaves() == 0


def test_ctrl_c_stops_a_reply_and_keeps_its_text(endpoint: Endpoint, terminals: list[Terminal]) -> None:
    """The chat stays; the next message is answered; at the prompt Ctrl-C clears the line, and nothing typed is lost."""
    endpoint.answers(endless(said("word "), lambda: endpoint.pause(0.01)), saying("Here."))
    chat = Terminal(endpoint)
    terminals.append(chat)
    chat.types("Tell me a long story")
    chat.waits_for("word word word")
    chat.keys("\x03")
    chat.waits_for("stopped; its text is kept")
    chat.types("Are you still there?")
    chat.waits_for("Here.")
    chat.types("/vget thread")
    chat.waits_for("[cut off here]")
    chat.keys("half a thought")
    chat.waits_for("half a thought")
    chat.keys("\x03")
    chat.keys("\x1b[A")  # up
    chat.waits_for("half a thought")
    chat.keys("\x03")
    assert chat.leaves() == 0


def test_typing_during_a_reply_waits_for_the_prompt(endpoint: Endpoint, terminals: list[Terminal]) -> None:
    """The next line, typed too early, is sent when the prompt is back."""
    endpoint.answers(saying(*["slow "] * 60), saying("Second."))
    chat = Terminal(endpoint)
    terminals.append(chat)
    chat.types("one")
    chat.types("two")
    chat.waits_for("Second.")
    assert [each["messages"][-1]["content"] for each in endpoint.asked] == ["one", "two"]
    assert chat.leaves() == 0


def test_several_lines_are_one_message(endpoint: Endpoint, terminals: list[Terminal]) -> None:
    """By Alt-Enter, and pasted."""
    endpoint.answers(saying("Read."), saying("Read again."))
    chat = Terminal(endpoint)
    terminals.append(chat)
    chat.keys("first line\x1b\rsecond line\r")
    chat.waits_for("Read.")
    chat.keys("\x1b[200~pasted one\npasted two\x1b[201~\r")
    chat.waits_for("Read again.")
    asked = [each["messages"][-1]["content"] for each in endpoint.asked]
    assert asked == ["first line\nsecond line", "pasted one\npasted two"]
    assert chat.leaves() == 0


def test_commands_and_paths_are_completed(endpoint: Endpoint, terminals: list[Terminal], tmp_path: Path) -> None:
    """With Tab: a command, a file."""
    (tmp_path / "staging-notes.md").write_text("Staging is restarted every Monday.")
    chat = Terminal(endpoint)
    terminals.append(chat)
    chat.keys("/vd")
    chat.keys("o\t")
    chat.keys(f" {tmp_path}/stag\t")
    chat.waits_for("ing-notes.md")
    chat.keys("\r")
    chat.waits_for("as 1 passage")
    chat.types("/vqury x")
    chat.waits_for("did you mean /vquery?")
    assert chat.leaves() == 0


def test_the_history_is_private_and_has_no_secret(
    endpoint: Endpoint, terminals: list[Terminal], tmp_path: Path
) -> None:
    """Typed lines are there at the next start, in a private file; a key is masked."""
    endpoint.answers(saying("Yes."))
    chat = Terminal(endpoint)
    terminals.append(chat)
    key = "ghp_" + "a1B2" * 9
    chat.types(f"is {key} a key")
    chat.waits_for("Yes.")
    assert chat.leaves() == 0
    history = tmp_path / "data" / "chat_history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert key not in history.read_text()
    again = Terminal(endpoint)
    terminals.append(again)
    again.keys("\x1b[A")
    again.waits_for("[redacted:github-token] a key")
    again.keys("\x03")
    assert again.leaves() == 0


def test_a_narrow_terminal_stays_readable(endpoint: Endpoint, terminals: list[Terminal]) -> None:
    """40 columns: no line is wider, and nothing that matters is cut off."""
    endpoint.answers(saying("# Retries\n\nThey back off, and stop after five attempts that have failed.\n"))
    chat = Terminal(endpoint, columns=40)
    terminals.append(chat)
    chat.types("How do retries work?")
    chat.waits_for("attempts that have failed.")
    chat.types('/vquery "how do retries work" 1')
    panel = chat.waits_for("session").partition("╭")[2]
    assert max(len(line) for line in panel.splitlines()) <= 40
    chat.types("/help")
    told = chat.waits_for("starts with a slash.").partition("/research")[2]
    assert max(len(line) for line in told.splitlines()) <= 40
    assert chat.leaves() == 0
