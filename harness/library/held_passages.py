"""Passages of the library, and the documents that they are cut from."""

import logging
from collections.abc import Iterator
from hashlib import sha256
from math import isfinite
from typing import Annotated, Literal, TypeAlias

import msgspec
import orjson
from msgspec import Meta, Struct, structs

from harness.core.chunking import in_context, passages
from harness.core.entries import Entry
from harness.core.freshness import is_volatile
from harness.core.keys import canonical_url
from harness.core.languages import is_written_in, primary_tag
from harness.core.page_numbers import PageStarts, checked_starts, shifted_starts, starts_in
from harness.core.search_engines import LIBRARY
from harness.core.tables import KNOWLEDGE, PAGES, SEARCHES, LibraryColumns
from harness.core.text import clean, one_line
from harness.ports import LanguageDetector

log = logging.getLogger(__name__)

SourceKind: TypeAlias = Literal["snippet", "page", "file", "knowledge"]
"""An excerpt among search results, a page of the web, a file of the user, an entry of the knowledge base."""

MAX_DOCUMENT_CHARS = 200_000
"""Characters of one document that are kept, about 200 passages."""
MAX_FILE_CHARS = 5_000_000
"""Characters of one file of the user that are kept."""
MAX_TITLE_CHARS = 300
MAX_URL_CHARS = 2_000
MAX_TAG_CHARS = 100


class ReadDocument(Struct, frozen=True, kw_only=True):
    """A text that was read: `engine` is the engine or page reader that brought it, `found_by` the query, `knowledge`
    the id of a document of knowledge. Times are seconds since the epoch; `expires_at` is when the cached answer expires
    that it came with. `page_starts` are the places in `text` at which the pages of a PDF begin. `language` is the tag
    that the document declares, if it does.
    """

    url: str
    title: str
    text: str
    source: SourceKind
    engine: str = ""
    found_by: str = ""
    knowledge: str = ""
    fetched_at: float
    expires_at: float
    page_starts: PageStarts = ()
    language: str = ""

    @property
    def id(self) -> str:
        """Digest that a later reading of the same document shares. Each excerpt is a separate document."""
        excerpt = self.text if self.source == "snippet" else ""
        return sha256(orjson.dumps([self.source, self.url, excerpt])).hexdigest()

    @property
    def volatile(self) -> bool:
        """Whether the text was found as an answer about the present, which a few hours make wrong."""
        year = 1970 + int(self.fetched_at // 31_556_952)
        return is_volatile(self.found_by, year) or is_volatile(self.title, year)


class PassageDetails(Struct, frozen=True, omit_defaults=True):
    """Payload of a passage's row: the heading above the passage, its place in the document (from 0), and the query that
    found it; of knowledge, the id of the document; of a PDF, where its pages begin in the passage.
    """

    section: str = ""
    position: Annotated[int, Meta(ge=0)] = 0
    found_by: str = ""
    knowledge: str = ""
    page_starts: PageStarts = ()


class HeldPassage(Struct, frozen=True, kw_only=True):
    """A passage of the library. Times are seconds since the epoch: the text was `fetched_at` then. `language` is a
    primary tag of BCP 47, "" if it is not certain, or not known as of older rows.
    """

    key: str
    text: str
    url: str
    title: str
    section: str
    position: int
    source: str
    engine: str
    found_by: str
    knowledge: str
    fetched_at: float
    expires_at: float
    page_starts: PageStarts = ()
    language: str = ""

    @property
    def in_context(self) -> str:
        """The text after its title and heading, as the reader has learned to read it."""
        return in_context(self.title, self.section, self.text)

    @property
    def under_heading(self) -> str:
        """The text under its heading in Markdown, unless that is the title."""
        headed = self.section and self.section != self.title
        return f"# {self.section}\n\n{self.text}" if headed else self.text

    @property
    def page_starts_under_heading(self) -> PageStarts:
        """Starts of pages in the text under its heading."""
        return shifted_starts(self.page_starts, len(self.under_heading) - len(self.text))


def passage_key(text: str) -> str:
    """Return the key of a passage: the same text has one, wherever it was read."""
    return sha256(text.encode(errors="replace")).hexdigest()


def rows_of(document: ReadDocument, expires_at: float, detector: LanguageDetector | None = None) -> list[Entry]:
    """Return the rows of a document's passages, in order, without vectors. A passage that it has twice counts once. Its
    language is the one that the document declares, if the passage is in a script of that; else `detector` finds it.
    """
    own = LibraryColumns(document.id, document.url, document.title, document.source, document.engine)
    declared, fetched, rows = primary_tag(document.language), document.fetched_at, dict[str, Entry]()
    text = document.text[: MAX_FILE_CHARS if document.source == "file" else MAX_DOCUMENT_CHARS]
    if len(text) < len(document.text):
        log.warning("%s: only %d of %d characters are kept", document.url, len(text), len(document.text))
    cut = passages(text)
    starts = starts_in((passage.text for passage in cut), text, document.page_starts)
    for position, (passage, paged) in enumerate(zip(cut, starts, strict=True)):
        key = passage_key(passage.text)
        details = msgspec.json.encode(
            PassageDetails(passage.section, position, document.found_by, document.knowledge, paged)
        )
        if key not in rows:
            told = own._replace(language=_language(passage.text, declared, detector))
            rows[key] = Entry(key, passage.text, details, fetched, expires_at, fetched, told)
    return list(rows.values())


def _language(text: str, declared: str, detector: LanguageDetector | None) -> str:
    if declared and is_written_in(text, declared):
        return declared
    return "" if detector is None else detector.language(text)


def passage_of(entry: Entry) -> HeldPassage | None:
    """Return the passage in a row; `None` if the row is damaged."""
    try:
        details = msgspec.json.decode(entry.payload, type=PassageDetails)
    except msgspec.MsgspecError:
        return None
    return HeldPassage(
        key=entry.key,
        text=entry.text,
        url=entry.own.url,
        title=entry.own.title,
        source=entry.own.source,
        engine=entry.own.engine,
        fetched_at=entry.created_at,
        expires_at=entry.expires_at,
        **structs.asdict(details),
        language=primary_tag(entry.own.language or ""),
    )


def documents_in(table: str, entry: Entry) -> Iterator[ReadDocument]:
    """Yield the documents in a row of searches, pages or knowledge. A damaged row has none. Never raises."""
    try:
        value = orjson.loads(entry.payload)
    except ValueError:
        return
    if not (isfinite(entry.created_at) and entry.created_at >= 0):
        return
    if table == SEARCHES and isinstance(value, list) and entry.own.engine != LIBRARY:
        engine = engine_id(entry.own.engine, entry.own.options)
        for result in value:
            if isinstance(result, dict):
                yield from _document(entry, result, "href", "body", source="snippet", engine=engine)
    elif table == PAGES and isinstance(value, dict):
        yield from _document(entry, {**value, "url": entry.text}, "url", "text", source="page", engine=entry.own.reader)
    elif table == KNOWLEDGE and isinstance(value, dict):
        address = str(value.get("source_url") or "")
        value = {**value, "url": address if 0 < len(address) <= MAX_URL_CHARS else f"knowledge:{entry.key}"}
        yield from _document(entry, value, "url", "content", source="knowledge", engine="")


def addresses_of(page: Entry) -> set[str]:
    """Return the addresses of a cached page: the one that was asked for, and the one that it was found at. Never
    raises.
    """
    try:
        found_at = orjson.loads(page.payload)["url"]
    except (ValueError, TypeError, KeyError):
        found_at = page.text
    return {canonical_url(page.text), canonical_url(str(found_at))}


def engine_id(engine: str, options: str) -> str:
    """Return the name of an engine, for a corpus with its options (JSON): passages of another corpus, or of an earlier
    version of it, have another one.
    """
    return f"{engine} {options}" if engine == "corpus" else engine


def _document(
    entry: Entry, value: dict[str, object], url: str, text: str, *, source: SourceKind, engine: str
) -> Iterator[ReadDocument]:
    address = clean(canonical_url(str(value.get(url) or "")[: MAX_URL_CHARS + 1]), MAX_URL_CHARS + 1)
    held = clean(value.get(text), MAX_DOCUMENT_CHARS)
    if held and address and len(address) <= MAX_URL_CHARS:
        title = one_line(clean(value.get("title"), MAX_TITLE_CHARS)) or one_line(address)[:MAX_TITLE_CHARS]
        yield ReadDocument(
            url=address,
            title=title,
            text=held,
            source=source,
            engine=engine,
            found_by=entry.text[:MAX_TITLE_CHARS] if source == "snippet" else "",
            knowledge=entry.key if source == "knowledge" else "",
            fetched_at=_updated_at(value, entry.created_at) if source == "knowledge" else entry.created_at,
            expires_at=entry.expires_at,
            page_starts=checked_starts(value.get("page_starts")) if source != "knowledge" else (),
            language=str(value.get("language") or "")[:MAX_TAG_CHARS] if source == "page" else "",
        )


def _updated_at(value: dict[str, object], created_at: float) -> float:
    updated = value.get("updated_at")
    return updated if isinstance(updated, float) and isfinite(updated) and updated >= 0 else created_at
