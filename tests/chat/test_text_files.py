"""Files that somebody names: what is read, and what is refused in plain words."""

import os
from pathlib import Path

import pytest

from harness.chat.text_files import MAX_BYTES, read_document
from harness.errors import InvalidInput


def told(path: Path | str, folder: Path | None = None) -> str:
    """Return what is said of a file that is refused."""
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
    """UTF-8, what has a byte order mark, and what it plainly is."""
    file = tmp_path / "text.txt"
    file.write_bytes(text.encode(encoding))
    assert read_document(str(file)).text == text.strip()


def test_control_characters_go(tmp_path: Path) -> None:
    """A text with a stray one is still a text."""
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
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes) -> None:
    """Programs, PDFs and noise: it says what to do."""
    file = tmp_path / "program"
    file.write_bytes(data)
    assert "is not a text file" in told(file)


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    """50 MB: the size is told, and the limit."""
    file = tmp_path / "large.txt"
    with file.open("wb") as large:
        large.truncate(50 * 2**20)
    message = told(file)
    assert "50.0 MB" in message
    assert f"{MAX_BYTES // 2**20} MB at the most" in message


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """It says that it is one."""
    assert "is a folder" in told(tmp_path)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """Nobody writes to it, and nobody waits for it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "not a regular file" in told(pipe)


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    """With the one beside it whose name is most alike."""
    (tmp_path / "notes.md").write_text("text")
    message = told(tmp_path / "note.md")
    assert "no such file" in message
    assert "did you mean notes.md?" in message


@pytest.mark.parametrize("name", ["", " ", "a\0b", "\ud800", "x" * 5_000, "~nobody-of-this-name/x"])
def test_what_is_no_path_is_refused(name: str) -> None:
    """Every one in words, none with a traceback."""
    assert told(name)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    """There is nothing to remember in it."""
    file = tmp_path / "empty.txt"
    file.write_text(" \n")
    assert "is empty" in told(file)


def test_a_document_of_the_folder_is_found_by_its_name(tmp_path: Path) -> None:
    """With its ending or without, in a folder of the folder, too."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "notes.md").write_text("one")
    (tmp_path / "sub" / "more.txt").write_text("two")
    assert read_document("docs:notes", tmp_path).text == "one"
    assert read_document("docs:notes.md", tmp_path).text == "one"
    assert read_document("docs:sub/more", tmp_path).text == "two"


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "link", "a\0b", "x" * 5_000, ""])
def test_nothing_outside_the_folder_is_found(tmp_path: Path, name: str) -> None:
    """By no path, and through no link."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    assert "no document" in told(f"docs:{name}", folder)


def test_without_a_folder_it_says_where_one_would_be(tmp_path: Path) -> None:
    """With the setting that names it."""
    message = told("docs:notes", tmp_path / "documents")
    assert "there is no folder" in message
    assert "vector_store.documents_folder" in message
