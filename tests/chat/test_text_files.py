"""Text files named by users: reading, and refusals with clear messages."""

import os
from pathlib import Path

import pytest

from harness.chat.text_files import MAX_BYTES, read_document
from harness.errors import InvalidInput


def refusal(path: Path | str, folder: Path | None = None) -> str:
    """Return the error message for a refused file."""
    with pytest.raises(InvalidInput) as caught:
        read_document(str(path), folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "Grüße, 世界"),
        ("utf-8-sig", "Grüße"),
        ("utf-16", "Grüße"),
        ("utf-32", "Grüße"),
        ("cp1252", "Ein längerer Text über Grüße, Bücher und schöne Gärten. " * 5),
    ],
)
def test_text_is_read_in_its_encoding(tmp_path: Path, encoding: str, text: str) -> None:
    """UTF-8, byte order marks, and detectable encodings."""
    file = tmp_path / "text.txt"
    file.write_bytes(text.encode(encoding))
    assert read_document(str(file)).text == text.strip()


def test_control_characters_are_removed(tmp_path: Path) -> None:
    """A text with a stray one is still text."""
    file = tmp_path / "text.txt"
    file.write_text("colour \x1b[31mred\x1b[0m " + "and more text " * 50)
    assert "\x1b" not in read_document(str(file)).text


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01\x01\x00" + b"\x00" * 100,
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + bytes(range(256)),
        os.urandom(4_096),
    ],
)
def test_a_binary_file_is_refused(tmp_path: Path, data: bytes) -> None:
    """Programs, PDFs and noise; the message says what to do."""
    file = tmp_path / "program"
    file.write_bytes(data)
    assert "is not a text file" in refusal(file)


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    """50 MB: the message has the size and the limit."""
    file = tmp_path / "large.txt"
    with file.open("wb") as large:
        large.truncate(50 * 2**20)
    message = refusal(file)
    assert "50.0 MB" in message
    assert f"at most {MAX_BYTES // 2**20} MB" in message


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """The message says that it is a folder."""
    assert "is a folder" in refusal(tmp_path)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """It has no writer, and reading does not block."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "not a regular file" in refusal(pipe)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    """With the most similar name in the folder."""
    (tmp_path / "notes.md").write_text("text")
    message = refusal(tmp_path / "note.md")
    assert "no such file" in message
    assert "did you mean notes.md?" in message


@pytest.mark.parametrize("name", ["", " ", "a\0b", "\ud800", "x" * 5_000, "~nobody-of-this-name/x"])
def test_an_invalid_path_is_refused(name: str) -> None:
    """Each with a message, none with a traceback."""
    assert refusal(name)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    """It has no text to store."""
    file = tmp_path / "empty.txt"
    file.write_text(" \n")
    assert "is empty" in refusal(file)


def test_a_document_of_the_folder_is_found_by_its_name(tmp_path: Path) -> None:
    """With or without its ending, in subfolders, too."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "notes.md").write_text("one")
    (tmp_path / "sub" / "more.txt").write_text("two")
    assert read_document("docs:notes", tmp_path).text == "one"
    assert read_document("docs:notes.md", tmp_path).text == "one"
    assert read_document("docs:sub/more", tmp_path).text == "two"


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "link", "a\0b", "x" * 5_000, ""])
def test_nothing_outside_the_folder_is_found(tmp_path: Path, name: str) -> None:
    """By no path and no link."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    assert "no document" in refusal(f"docs:{name}", folder)


def test_without_a_folder_the_message_says_where_it_would_be(tmp_path: Path) -> None:
    """With the name of the setting."""
    message = refusal("docs:notes", tmp_path / "documents")
    assert "there is no folder" in message
    assert "vector_store.documents_folder" in message
