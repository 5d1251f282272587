"""Texts that commands read: files, documents, and standard input."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import InvalidInput

MAX_CHARS = 20_000_000
STDIN = Path("-")


def text_of(file: Path) -> str:
    """Return the text of a file, or of standard input for `-`.

    Raises:
        InvalidInput: it cannot be read, is too long, or nothing is piped in.
    """
    try:
        if file == STDIN:
            if sys.stdin.isatty():
                raise InvalidInput("no text: name a file, or pipe it in")
            text = sys.stdin.read(MAX_CHARS + 1)
        else:
            with file.open(encoding="utf-8", errors="replace") as opened:
                text = opened.read(MAX_CHARS + 1)
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("standard input is not UTF-8; re-encode it") from error
    if len(text) > MAX_CHARS:
        raise InvalidInput(f"{file} has more than {MAX_CHARS:,} characters; pass less")
    return text


def passages_of(file: Path) -> Iterator[str]:
    """Yield the passages of a file: its lines (.txt, .jsonl, standard input), or the parts of a document, each after
    its heading or title.

    Raises:
        InvalidInput: see `text_of`; or a document of an unknown kind, or a line that is not JSON.
    """
    if file == STDIN or file.suffix.lower() in {".txt", ".jsonl"}:
        for number, line in enumerate(text_of(file).splitlines(), start=1):
            if line.strip():
                yield _from_json(line, file, number) if file.suffix.lower() == ".jsonl" else line.strip()
        return
    from harness.core.chunking import passages

    for title, text in documents_of(file):
        for passage in passages(text):
            yield ": ".join(filter(None, (passage.section or title, passage.text)))


def documents_of(file: Path) -> Iterator[tuple[str, str]]:
    """Yield title and text of each document in a file (.md, .html, .pdf, …).

    Raises:
        InvalidInput: there is no such file, it is of an unknown kind, or it cannot be read.
    """
    from harness.sources.corpus.local_documents import FileSource, PartUnavailable

    source = FileSource.at(str(file))
    try:
        for part in source.parts():
            for document in source.read(part):
                yield document.title, document.text
    except PartUnavailable as error:
        raise InvalidInput(f"cannot read {file}") from error


def _from_json(line: str, file: Path, number: int) -> str:
    import orjson

    try:
        value: Any = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"{file}:{number}: not JSON: {error.msg}") from None
    text = value.get("text") if isinstance(value, dict) else value
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"{file}:{number}: neither a text nor an object with a member `text`")
    return text.strip()
