"""A reply while it arrives: complete blocks are printed once, and nothing is lost."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.cli.chat_stream import PlainReply, StreamedReply, whole_blocks

REPLY = "# Title\n\nOne **paragraph**.\n\n1. first\n\n2. second\n\n```python\na = 1\n\nb = 2\n```\n\nThe end of it.\n"


@given(st.text(alphabet="ab1-.# `~\n", max_size=200))
def test_splitting_loses_nothing(text: str) -> None:
    """The whole blocks and the rest are the text."""
    whole, rest = whole_blocks(text)
    assert whole + rest == text


def test_no_block_ends_inside_code_or_a_list() -> None:
    """Cut anywhere, a block is whole only when nothing that follows can change it."""
    blocks = set()
    for end in range(len(REPLY) + 1):
        whole, _ = whole_blocks(REPLY[:end])
        blocks.add(whole)
    assert sorted(blocks, key=len) == [
        "",
        "# Title\n\n",
        "# Title\n\nOne **paragraph**.\n\n1. first\n\n2. second\n\n",
        "# Title\n\nOne **paragraph**.\n\n1. first\n\n2. second\n\n```python\na = 1\n\nb = 2\n```\n\n",
    ]


@pytest.mark.parametrize("width", [100, 40])
@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_the_whole_reply_is_on_the_terminal(width: int, size: int) -> None:
    """However it is cut, the terminal ends with the lines of the reply, once, in order."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=width, color_system=None)
    with StreamedReply(console, width) as shown:
        for start in range(0, len(REPLY), size):
            shown(REPLY[start : start + size])
    lines = [line.strip() for line in _left(file.getvalue()).splitlines() if line.strip()]
    assert [line.strip("│ ") for line in lines] == [
        "Title", "One paragraph.", "1 first", "2 second", "a = 1", "b = 2", "The end of it.",
    ]  # fmt: skip


def test_a_link_shows_its_address() -> None:
    """The text of a link cannot hide its address."""
    file = io.StringIO()
    with StreamedReply(Console(file=file, force_terminal=True, width=80, color_system=None), 80) as shown:
        shown("[your bank](https://example.org/phish)")
    assert "https://example.org/phish" in file.getvalue()
    assert "\x1b]8" not in file.getvalue()


def test_in_a_pipe_it_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    """The text as it arrives, and a line end; nothing for an empty reply."""
    with PlainReply() as shown:
        shown("**a")
        shown("**")
    with PlainReply():
        pass
    assert capsys.readouterr().out == "**a**\n"


def _left(output: str) -> str:
    """Return the final lines of a terminal: rich erases lines that it drew above the cursor."""
    lines = [""]
    row = 0
    position = 0
    while position < len(output):
        if output[position] != "\x1b":
            if output[position] == "\n":
                row += 1
                if row == len(lines):
                    lines.append("")
            elif output[position] == "\r":
                pass
            else:
                lines[row] += output[position]
            position += 1
            continue
        end = position + 2
        while not output[end].isalpha():
            end += 1
        code = output[end]
        if code == "A":
            row -= int(output[position + 2 : end] or 1)
        elif code == "K":
            lines[row] = ""
        position = end + 1
    return "\n".join(lines)
