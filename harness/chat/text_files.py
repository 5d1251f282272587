"""Reading of text files named by a user, with checks of location, size and content."""

import codecs
import difflib
import os
import stat
from pathlib import Path

from msgspec import Struct

from harness.chat.exchanges import MAX_SOURCE
from harness.core.text import clean
from harness.errors import InvalidInput

MAX_BYTES = 5 * 2**20
"""A file of this size makes about 6,000 chunks, which MiniLM embeds in a few minutes."""
FOLDER_PREFIX = "docs:"
MAX_LISTED = 1_000
_SUFFIXES = ("", ".md", ".txt", ".rst")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks and their encodings. UTF-32 comes first: its mark starts with that of UTF-16."""
_SAMPLE = 100_000
"""Characters or bytes that are examined to recognise text."""
_CONTROL_SHARE = 0.01
"""Largest share of control characters in a text."""


class TextFile(Struct, frozen=True):
    """Text of a file and its resolved path; `text` has no control characters."""

    path: Path
    text: str


def read_document(name: str, folder: Path | None = None) -> TextFile:
    """Read the text file at a path, or `docs:NAME`: a file in `folder` or below, with or without its ending (.md, .txt,
    .rst). At most 5 MiB. Encodings: UTF-8, UTF-16 or UTF-32 with a byte order mark, or another that can be detected.

    Raises:
        InvalidInput: the file is missing, too large, not a regular file, or not text; the message says which.
    """
    path = _in_folder(name.removeprefix(FOLDER_PREFIX), folder) if name.startswith(FOLDER_PREFIX) else _at(name)
    text = _decoded(_bytes(path), path)
    if not text.strip():
        raise InvalidInput(f"{path} is empty; there is nothing to store")
    return TextFile(path, text)


def _at(name: str) -> Path:
    if not name.strip():
        raise InvalidInput("name a file, such as notes.md or docs:notes")
    try:
        path = Path(name).expanduser().resolve()
        str(path).encode()
        path.stat()
    except FileNotFoundError:
        raise InvalidInput(f"no such file: {_shown(name)}{_nearest(Path(name).expanduser())}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {_shown(name)}: {error.strerror}") from error
    except (ValueError, RuntimeError) as error:  # a NUL, a lone surrogate, the home of an unknown user
        raise InvalidInput(f"not a path: {_shown(name)}") from error
    if len(str(path)) > MAX_SOURCE:
        raise InvalidInput(f"a path has at most {MAX_SOURCE:,} characters; move the file to a shorter path")
    return path


def _in_folder(name: str, folder: Path | None) -> Path:
    if folder is None or not folder.is_dir():
        where = f"there is no folder {folder}" if folder else "no documents folder is set"
        raise InvalidInput(f"{where}; create it, or set vector_store.documents_folder to the folder of your documents")
    root = folder.resolve()
    for suffix in _SUFFIXES:
        try:
            path = (root / f"{name}{suffix}").resolve()
            if path.is_relative_to(root) and path.is_file():
                return path
        except (OSError, ValueError):  # too long, a NUL
            continue
    raise InvalidInput(f"no document {_shown(name)} in {root}{_nearest(root / name)}")


def _nearest(path: Path) -> str:
    """Return a hint that names the most similar file in the same folder, or ""."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MAX_LISTED), strict=False)]
    except (OSError, ValueError):
        return ""
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"; did you mean {clean(near[0], 255)}?" if near else ""


def _bytes(path: Path) -> bytes:
    """Return the content of a regular file."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise InvalidInput(f"{path} is not a regular file; name a text file")
            data = file.read(MAX_BYTES + 1) if state.st_size <= MAX_BYTES else b""
    except IsADirectoryError:
        raise InvalidInput(f"{path} is a folder; name a file in it") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
    if max(state.st_size, len(data)) > MAX_BYTES:
        size = max(state.st_size, len(data)) / 2**20
        raise InvalidInput(
            f"{path} has {size:,.1f} MB, but a document may have at most {MAX_BYTES // 2**20} MB; split it"
        )
    return data


def _without_waiting(path: str, flags: int) -> int:
    """Open a file without blocking, so that a pipe without a writer cannot block forever."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _decoded(data: bytes, path: Path) -> str:
    marked = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)
    if marked is None and b"\0" in data:
        raise _binary(path)
    encoding = marked or "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = _guessed(data, path)
    control = sum(1 for character in text[:_SAMPLE] if ord(character) < 32 and not character.isspace())
    if control > _CONTROL_SHARE * len(text[:_SAMPLE]):
        raise _binary(path)
    return clean(text, len(text))


def _guessed(data: bytes, path: Path) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE], threshold=0.1).best()
    if best is None or best.encoding == "utf_8":
        raise _binary(path)
    try:
        return data.decode(best.encoding)
    except (UnicodeDecodeError, LookupError):
        raise _binary(path) from None


def _binary(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} is not a text file; convert it to text (UTF-8) first")


def _shown(name: str) -> str:
    return repr(clean(name, 200))
