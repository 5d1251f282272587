"""Documents from local files: list, state and text."""

import logging
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Protocol

import orjson
from msgspec import Struct
from msgspec.structs import replace

from harness.core.page_numbers import PageStarts
from harness.core.text import clean, one_line
from harness.errors import InvalidInput, PageError
from harness.sources.pages.extraction import extract
from harness.sources.pages.pdf_text import paged_text

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 50 * 2**20
MAX_HTML_BYTES = 5 * 2**20
"""trafilatura takes 20 s for this size, and four times as long for twice as much."""

MAX_LINES_BYTES = 4 * 2**30
MAX_DOCUMENT_CHARS = 5_000_000
MAX_PDF_PAGES = 2_000


class CorpusDocument(Struct, frozen=True):
    """A text to search: `href` is the link for readers. `page_starts` are the places in `text` at which the pages of a
    PDF begin.
    """

    title: str
    text: str
    href: str
    page_starts: PageStarts = ()


class CorpusSource(Protocol):
    """Source of documents, divided into parts that change independently."""

    label: str

    def parts(self) -> Mapping[str, str]:
        """Return each part with its state. Equal states mean equal documents."""

    def read(self, part: str) -> Iterator[CorpusDocument]:
        """Yield the documents of a part. Unreadable text is skipped with a warning.

        Raises:
            PartUnavailable: the part cannot be opened; a warning was logged.
        """


class FileSource:
    """Readable files of a folder and its subfolders (except hidden ones), or one file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.label = str(root)

    @classmethod
    def at(cls, path: str) -> "FileSource":
        """Return the source at `path`.

        Raises:
            InvalidInput: no such path, or an unsupported file type.
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
            raise InvalidInput(f"{root} is not a corpus: a file must be one of {' '.join(_READERS)}")
        return cls(root)

    def parts(self) -> Mapping[str, str]:
        """See `CorpusSource.parts`: every file with its size and modification time."""
        parts = {}
        for path in self._files():
            try:
                state = path.stat()
            except OSError as error:
                _skipped(path, error.strerror or "cannot be read")
                continue
            if not stat.S_ISREG(state.st_mode):
                _skipped(path, "not a regular file")  # reading a pipe would wait for ever
                continue
            parts[str(path)] = f"{state.st_size}:{state.st_mtime_ns}"
        return parts

    def read(self, part: str) -> Iterator[CorpusDocument]:
        """See `CorpusSource.read`."""
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
    """A part cannot be opened now; it may be possible later, with the same state."""


class _Unreadable(Exception):
    """A file has no text that can be read; the message is the reason."""


def _skipped(path: Path, reason: str) -> None:
    log.warning("skipped %s: %s; fix or remove it", os.fsencode(path).decode(errors="replace"), reason)


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


def _plain(path: Path) -> Iterator[CorpusDocument]:
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


def _html(path: Path) -> Iterator[CorpusDocument]:
    try:
        page = extract(_bytes(path, MAX_HTML_BYTES), "text/html")
    except PageError as error:
        raise _Unreadable(str(error)) from error
    yield _document(path, page.title or path.stem, page.text)


def _pdf(path: Path) -> Iterator[CorpusDocument]:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns about every oddity that it can handle
    try:
        reader = PdfReader(BytesIO(_bytes(path)))
        title = reader.metadata.title if reader.metadata else None
        paged = paged_text(reader.pages[:MAX_PDF_PAGES], MAX_DOCUMENT_CHARS)
    except Exception as error:  # on a damaged PDF, pypdf raises any kind of exception
        raise _Unreadable(f"an unreadable PDF ({type(error).__name__})") from error
    if not paged.text:
        raise _Unreadable("no text in this PDF (scanned images?)")
    document = _document(path, str(title or path.stem), paged.text)
    yield replace(document, page_starts=tuple(each for each in paged.page_starts if each[0] < len(document.text)))


def _json_lines(path: Path) -> Iterator[CorpusDocument]:
    """Yield one document per line (fields title, text, url); lines without a text are skipped and counted."""
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
            title = clean(fields.get("title"), 500) or one_line(text)[:80]
            href = clean(fields.get("url"), 4_000) or f"{path.as_uri()}#L{number}"
            yield CorpusDocument(title=title, text=text, href=href)
    if bad:
        _skipped(path, f"{len(bad)} lines are not JSON objects with a text, the first is line {bad[0]}")


def _document(path: Path, title: str, text: str) -> CorpusDocument:
    return CorpusDocument(clean(one_line(title), 500), clean(text, MAX_DOCUMENT_CHARS), path.as_uri())


_READERS: dict[str, Callable[[Path], Iterator[CorpusDocument]]] = {
    ".md": _plain,
    ".txt": _plain,
    ".rst": _plain,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
    ".jsonl": _json_lines,
}
