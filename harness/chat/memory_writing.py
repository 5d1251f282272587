"""Writing of memories: exchanges, texts and documents; deletion; the retry of what could not be stored."""

import logging
from collections.abc import Sequence
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from msgspec import Struct
from msgspec.structs import replace

from harness.chat.exchanges import (
    MAX_MESSAGE,
    MEMORY,
    DocumentChunk,
    Exchange,
    Remembered,
    Source,
    iso,
    new_id,
)
from harness.chat.journal import Journal
from harness.chat.listing import MemoryListing, unknown_id
from harness.chat.memory_rows import MemoryRows
from harness.chat.text_files import read_document
from harness.core.text import clean
from harness.errors import EmbeddingError, InvalidInput, StoreError
from harness.ports import Progress

log = logging.getLogger(__name__)

EMBED_AT_ONCE = 4
"""Memories without a vector that one `remember` embeds besides its own: at most 0.2 s."""
_BATCH = 32
_DELETE_BATCH = 500


class Added(Struct, frozen=True):
    """Result of adding a text or document, stored in `chunks` chunks. `replaced` counts deleted chunks of an earlier
    version of the file, `masked` the masked secrets, `left_out` the characters at the end that are in no chunk (with
    the chunking strategy `truncate`).
    """

    document_id: str
    chunks: int
    characters: int
    replaced: int = 0
    masked: int = 0
    left_out: int = 0
    source_file: str = ""


class MemoryWriter:
    """Adding and deleting memories."""

    def __init__(
        self,
        rows: MemoryRows,
        listing: MemoryListing,
        journal: Journal | None,
        documents_folder: Path | None,
        progress: Progress,
    ) -> None:
        self._rows = rows
        self._listing = listing
        self._journal = journal
        self._documents_folder = documents_folder
        self._progress = progress

    def remember(self, exchange: Exchange) -> Exchange:
        """Store an exchange with its secrets masked; return the stored exchange. If embedding fails, it is stored
        without a vector and found by its words; a later `remember` embeds it.

        Raises:
            InvalidInput: the exchange cannot be stored as it is.
            StoreError: storing failed. With a journal, the exchange waits there for the next start; the message says
                so.
        """
        masked = replace(
            exchange,
            user_message=self._rows.masked(clean(exchange.user_message, MAX_MESSAGE))[0],
            assistant_message=self._rows.masked(clean(exchange.assistant_message, MAX_MESSAGE))[0],
        )
        try:
            self._save(masked)
        except StoreError as error:
            raise self._journalled(masked, error) from error
        self._embed_some()
        return masked

    def retry_journal(self) -> int:
        """Store the exchanges that wait in the journal; return their number. Without a journal, opens nothing.

        Raises:
            StoreError: storing failed again; the remaining exchanges still wait.
        """
        if self._journal is None or not self._journal.exists:
            return 0
        return self._journal.replay(self._rows.tenant, self._rows.collection, self._save)

    def add_text(self, text: str, *, session_id: str | None = None) -> Added:
        """Store a text, split into chunks if it is long; all chunks or none.

        Raises:
            InvalidInput: the text is empty or too long.
            EmbeddingError: embedding failed.
            StoreError: storing failed.
        """
        if len(text) > MAX_MESSAGE:
            raise InvalidInput(f"a text has at most {MAX_MESSAGE:,} characters; save it to a file and add the file")
        return self._add(clean(text, MAX_MESSAGE), new_id(), "vadd_command", "", session_id)

    def add_document(self, name: str | Path, *, session_id: str | None = None) -> Added:
        """Store the text file at a path, or `docs:NAME` in the documents folder; all chunks or none. The chunks of an
        earlier version of the file are replaced.

        Raises:
            InvalidInput: the file is missing, not text, or too large.
            EmbeddingError: embedding failed.
            StoreError: storing failed.
        """
        document = read_document(str(name), self._documents_folder)
        path = str(document.path)
        identifier = str(uuid5(NAMESPACE_URL, f"{self._rows.tenant}\0{self._rows.collection}\0{path}"))
        return self._add(document.text, identifier, "file", path, session_id)

    def delete(self, id: str) -> int:  # noqa: A002
        """Delete an exchange, a chunk, or all chunks of a document; return the number of deleted rows.

        Raises:
            InvalidInput: no memory has this id.
            StoreError: the store cannot be written.
        """
        wanted = id.strip()
        keys = [wanted] if self._rows.row(wanted) is not None else []
        keys = keys or [row.key for row in self._rows.rows(kind="document", thread_id=wanted)]
        deleted = self._delete(keys)
        if not deleted:
            raise unknown_id(id)
        return deleted

    def forget(self, *, older_than: float | None = None, thread: str | None = None) -> int:
        """Delete everything older than `older_than` seconds, or one thread (its id or a unique prefix); return the
        number of deleted exchanges and chunks. Exchanges in the journal are stored first, so that they are deleted too.

        Raises:
            InvalidInput: neither or both arguments; an unknown thread; a negative age.
            StoreError: the store cannot be written.
        """
        if (older_than is None) == (thread is None):
            raise InvalidInput("choose what to forget: everything older than an age, or one thread")
        if older_than is not None and not older_than >= 0:
            raise InvalidInput(f"an age must be 0 seconds or more, not {older_than:g}")
        self.retry_journal()
        if thread is not None:
            return self._delete([each.id for each in self._listing.thread(thread)])
        before = self._rows.clock() - (older_than or 0.0)
        collection = self._rows.collection
        rows = self._rows.store.scan(MEMORY, self._rows.tenant)
        return self._delete([row.key for row in rows if row.own[0] == collection and row.created_at < before])

    def _add(self, text: str, document: str, source: Source, path: str, session_id: str | None) -> Added:
        masked, count = self._rows.masked(text)
        texts, left_out = self._cut(masked)
        if not texts:
            raise InvalidInput("the text is empty; type some text, or name a file that has some")
        now = iso(self._rows.clock())
        chunks = [
            DocumentChunk(
                id=new_id(),
                document_id=document,
                text=each,
                source=source,
                timestamp=now,
                chunk_index=at,
                total_chunks=len(texts),
                source_file=path,
                session_id=session_id,
            )
            for at, each in enumerate(texts)
        ]
        entries = [
            self._rows.entry(chunk, vector) for chunk, vector in zip(chunks, self._vectors_of_many(texts), strict=True)
        ]
        instead = {"collection": self._rows.collection, "kind": "document", "thread_id": document}
        replaced = self._rows.store.replace(MEMORY, self._rows.tenant, entries, instead_of=instead)
        if replaced:
            self._rows.words.forget()
        return Added(document, len(chunks), len(text), replaced, count, left_out, path)

    def _cut(self, text: str) -> tuple[list[str], int]:
        """Return the chunks of a text that are not blank, and the number of characters in no chunk."""
        from harness.core.chunking import document_chunks

        cut = document_chunks(text, self._rows.settings.chunking())
        return [chunk.text for chunk in cut.chunks if chunk.text.strip()], cut.left_out

    def _vectors_of_many(self, texts: Sequence[str]) -> list[bytes]:
        vectors = list[bytes]()
        for start in range(0, len(texts), _BATCH):
            self._progress("embedding", start, len(texts))
            vectors += [vector.tobytes() for vector in self._rows.vectors(list(texts[start : start + _BATCH]))]
        self._progress("embedding", len(texts), len(texts))
        return vectors

    def _save(self, remembered: Remembered) -> None:
        vector: bytes | None = None
        try:
            vector = self._rows.vectors([remembered.text])[0].tobytes()
        except EmbeddingError as error:
            log.warning("an exchange was stored without a vector; until it has one, only its words find it: %s", error)
        self._rows.store.put(MEMORY, self._rows.tenant, self._rows.entry(remembered, vector))

    def _journalled(self, exchange: Exchange, error: StoreError) -> StoreError:
        """Write an exchange that could not be stored to the journal; return the error to raise."""
        if self._journal is None:
            return error
        try:
            self._journal.append(self._rows.tenant, self._rows.collection, exchange)
        except StoreError as second:
            return StoreError(f"the exchange is lost: {error}; {second}")
        return StoreError(f"{error}; the exchange waits in {self._journal.path} and is stored at the next start")

    def _delete(self, keys: Sequence[str]) -> int:
        parts = (keys[start : start + _DELETE_BATCH] for start in range(0, len(keys), _DELETE_BATCH))
        deleted = sum(self._rows.store.delete(MEMORY, self._rows.tenant, part) for part in parts)
        self._rows.words.forget()
        return deleted

    def _embed_some(self) -> None:
        """Embed a few memories that have no vector, or one of another model."""
        try:
            missing = self._rows.store.unembedded(MEMORY, self._rows.tenant, self._rows.embedder.id, EMBED_AT_ONCE)
            mine = [(key, text) for key, text in missing if self._rows.row(key) is not None]
            vectors = self._rows.vectors([text for _, text in mine]) if mine else ()
            for (key, _), vector in zip(mine, vectors, strict=True):
                self._rows.store.embed(MEMORY, self._rows.tenant, key, vector.tobytes(), self._rows.embedder.id)
        except (EmbeddingError, StoreError) as error:
            log.debug("memories without a vector were not embedded: %s", error)
