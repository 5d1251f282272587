"""Documents from local files: which there are, when they changed, and their text."""

import logging
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import orjson
from msgspec import Struct

from harness.core.text import clean, one_line
from harness.errors import InvalidInput

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 50 * 2**20
MAX_HTML_BYTES = 5 * 2**20
"""trafilatura takes 20 s for a page of this size, and four times as long for twice as much."""

MAX_LINES_BYTES = 4 * 2**30
MAX_DOCUMENT_CHARS = 5_000_000
MAX_PDF_PAGES = 2_000


class Document(Struct, frozen=True):
    """A text to search in: `href` is where a person finds it, `id` is unique in its corpus."""

    id: str
    title: str
    text: str
    href: str


class Source(Protocol):
    """Where documents come from, in parts that change each on their own."""

    label: str

    def parts(self) -> Mapping[str, str]:
        """Return each part with its state: as long as that stays the same, so do the part's documents."""

    def read(self, part: str) -> Iterator[Document]:
        """Yield the documents of a part. What is no readable text is skipped, with a warning that says so.

        Raises:
            PartUnavailable: the part cannot be opened; a warning has said so.
        """


class FileSource:
    """The readable files of a folder and its subfolders (hidden ones aside), or one file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.label = str(root)

    @classmethod
    def at(cls, path: str) -> "FileSource":
        """Return the source at `path`.

        Raises:
            InvalidInput: nothing is there, or a file of a kind that cannot be read.
        """
        try:
            root = Path(path).expanduser().resolve()
            exists = root.exists()
            str(root).encode()
        except (OSError, ValueError, RuntimeError) as error:
            raise InvalidInput(f"no such corpus: {path!r} ({error})") from error
        if not exists:
            raise InvalidInput(f"no such corpus: {path} (looked for {root}); pass corpus:PATH or corpus:python-docs")
        if root.is_file() and root.suffix.lower() not in _READERS:
            raise InvalidInput(f"{root} is no corpus: a file must be one of {' '.join(_READERS)}")
        return cls(root)

    def parts(self) -> Mapping[str, str]:
        """See `Source.parts`: every file with its size and time of change."""
        found = {}
        for path in self._files():
            try:
                state = path.stat()
            except OSError as error:
                _skipped(path, error.strerror or "cannot be read")
                continue
            if not stat.S_ISREG(state.st_mode):
                _skipped(path, "no regular file")  # reading a pipe would wait for ever
                continue
            found[str(path)] = f"{state.st_size}:{state.st_mtime_ns}"
        return found

    def read(self, part: str) -> Iterator[Document]:
        """See `Source.read`."""
        path = Path(part)
        try:
            yield from _READERS[path.suffix.lower()](path)
        except OSError as error:
            _skipped(path, error.strerror or "cannot be read")
            raise PartUnavailable(part) from error
        except _Unreadable as error:
            _skipped(path, str(error))

    def _files(self) -> Iterator[Path]:
        if self.root.is_file():
            yield self.root
            return

        def unreadable(error: OSError) -> None:
            _skipped(Path(error.filename), error.strerror or "cannot be read")

        for folder, folders, names in os.walk(self.root, onerror=unreadable):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(folder, name)
                if not name.startswith(".") and path.suffix.lower() in _READERS and _has_readable_name(path):
                    yield path


class PartUnavailable(Exception):
    """A part could not be opened this time; it may be the next time, although its state is the same."""


class _Unreadable(Exception):
    """A file is there but holds no text that this program can read; the message says why."""


def _skipped(path: Path, reason: str) -> None:
    log.warning("skipped %s: %s; mend or remove it", os.fsencode(path).decode(errors="replace"), reason)


def _has_readable_name(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        _skipped(path, "its name is not valid UTF-8")
        return False
    return True


def _bytes(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise _Unreadable(f"larger than {limit // 2**20} MB")
    return data


def _plain(path: Path) -> Iterator[Document]:
    text = _decoded(_bytes(path))
    title = next((line.strip("#=-*~ \t") for line in text.splitlines() if line.strip("#=-*~ \t")), path.name)
    yield _document(path, title, text)


def _decoded(data: bytes) -> str:
    for encoding in ("utf-16",) if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else ("utf-8-sig", "cp1252"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        return text
    raise _Unreadable("not text")


def _html(path: Path) -> Iterator[Document]:
    from trafilatura import bare_extraction

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # what it cannot read is said here, once
    page: Any = bare_extraction(_bytes(path, MAX_HTML_BYTES), include_comments=False, with_metadata=True)
    if page is None or not page.text:
        raise _Unreadable("no article text found in this HTML")
    # trafilatura puts one paragraph on one line
    yield _document(path, page.title or path.stem, page.text.replace("\n", "\n\n"))


def _pdf(path: Path) -> Iterator[Document]:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of every oddity that it then reads past
    try:
        reader = PdfReader(BytesIO(_bytes(path)))
        title = reader.metadata.title if reader.metadata else None
        text = "\n\n".join(page.extract_text() for page in reader.pages[:MAX_PDF_PAGES])
    except Exception as error:  # a damaged PDF makes pypdf raise whatever its parser runs into
        raise _Unreadable(f"not a PDF that can be read ({type(error).__name__})") from error
    if not text.strip():
        raise _Unreadable("no text in this PDF (scanned images?)")
    yield _document(path, str(title or path.stem), text)


def _json_lines(path: Path) -> Iterator[Document]:
    """Yield a document a line (fields id, title, text, url); a line that is none is skipped and counted."""
    if path.stat().st_size > MAX_LINES_BYTES:
        raise _Unreadable(f"larger than {MAX_LINES_BYTES // 2**30} GB")
    bad: list[int] = []
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_FILE_BYTES), b""), start=1):
            if not line.strip():
                continue
            try:
                fields = orjson.loads(line)
                text = clean(fields["text"], MAX_DOCUMENT_CHARS) if isinstance(fields["text"], str) else ""
            except (orjson.JSONDecodeError, KeyError, TypeError):
                text = ""
            if not text:
                bad.append(number)
                continue
            id_ = clean(fields.get("id"), 500) or str(number)
            title = clean(fields.get("title"), 500) or one_line(text)[:80]
            href = clean(fields.get("url"), 4_000) or f"{path.as_uri()}#L{number}"
            yield Document(id=f"{path}#{id_}", title=title, text=text, href=href)
    if bad:
        _skipped(path, f"{len(bad)} lines are no JSON object with a text, the first is line {bad[0]}")


def _document(path: Path, title: str, text: str) -> Document:
    return Document(
        id=str(path), title=clean(one_line(title), 500), text=clean(text, MAX_DOCUMENT_CHARS), href=path.as_uri()
    )


_READERS: dict[str, Callable[[Path], Iterator[Document]]] = {
    ".md": _plain,
    ".txt": _plain,
    ".rst": _plain,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
    ".jsonl": _json_lines,
}
