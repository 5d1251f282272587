"""Keeping: exchanges as they are said, texts and documents as they are added, and what could not be kept before."""

import logging
from collections.abc import Sequence
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from msgspec import Struct
from msgspec.structs import replace

from harness.chat.collection import Collection
from harness.chat.documents import read_document
from harness.chat.exchanges import (
    MAX_MESSAGE,
    DocumentChunk,
    Exchange,
    Remembered,
    Source,
    iso,
    new_id,
)
from harness.core.tables import MEMORY
from harness.core.text import clean
from harness.errors import EmbeddingError, InvalidInput, StoreError

log = logging.getLogger(__name__)

EMBED_AT_ONCE = 4
"""Memories without a vector that one `remember` embeds besides its own: 0.2 s at the most."""
_BATCH = 32


class Added(Struct, frozen=True):
    """A text or document that is now remembered, in so many `chunks`: `replaced` is how many of an earlier version of
    the same file went, `masked` how many secrets were masked, `left_out` how many characters at the end are in no chunk
    (by the chunking strategy `truncate`).
    """

    document_id: str
    chunks: int
    characters: int
    replaced: int = 0
    masked: int = 0
    left_out: int = 0
    source_file: str = ""


class Keeping(Collection):
    """What is written."""

    def remember(self, exchange: Exchange) -> Exchange:
        """Keep an exchange, secrets masked; return it as it is kept. Where no vector can be made now it is kept without
        one, and found by its words; a later `remember` embeds it.

        Raises:
            InvalidInput: the exchange cannot be kept as it is.
            StoreError: it could not be kept. It waits in the journal for the next start, if there is one; the message
                says so.
        """
        kept = replace(
            exchange,
            user_message=self._masked(clean(exchange.user_message, MAX_MESSAGE))[0],
            assistant_message=self._masked(clean(exchange.assistant_message, MAX_MESSAGE))[0],
        )
        try:
            self._save(kept)
        except StoreError as error:
            raise self._journalled(kept, error) from error
        self._embed_some()
        return kept

    def retry_journal(self) -> int:
        """Keep what could not be kept before; return how many. Without a journal, nothing is opened.

        Raises:
            StoreError: it cannot be kept now either; what is left still waits.
        """
        if self._journal is None or not self._journal.exists:
            return 0
        return self._journal.replay(self._tenant, self._name, self._save)

    def add_text(self, text: str, *, session_id: str | None = None) -> Added:
        """Remember a text, cut into chunks if it is long; all of it or nothing.

        Raises:
            InvalidInput: there is no text, or too much.
            EmbeddingError: no vectors can be made.
            StoreError: it cannot be kept.
        """
        if len(text) > MAX_MESSAGE:
            raise InvalidInput(f"a text has at most {MAX_MESSAGE:,} characters; keep it in a file and add that")
        return self._add(clean(text, MAX_MESSAGE), new_id(), "vadd_command", "", session_id)

    def add_document(self, name: str | Path, *, session_id: str | None = None) -> Added:
        """Remember the text file at a path, or `docs:NAME`: a file of the documents' folder. All of it or nothing; of a
        file that is known, what is remembered is replaced.

        Raises:
            InvalidInput: it is missing, no text file, or too large.
            EmbeddingError: no vectors can be made.
            StoreError: it cannot be kept.
        """
        document = read_document(str(name), self._documents_folder)
        path = str(document.path)
        identifier = str(uuid5(NAMESPACE_URL, f"{self._tenant}\0{self._name}\0{path}"))
        return self._add(document.text, identifier, "file", path, session_id)

    def _add(self, text: str, document: str, source: Source, path: str, session_id: str | None) -> Added:
        masked, count = self._masked(text)
        texts, left_out = self._cut(masked)
        if not texts:
            raise InvalidInput("there is no text to remember; name a file that has some, or type some")
        now = iso(self._clock())
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
            self._entry(chunk, vector) for chunk, vector in zip(chunks, self._vectors_of_many(texts), strict=True)
        ]
        instead = {"collection": self._name, "kind": "document", "thread_id": document}
        replaced = self._store.rows.replace(MEMORY, self._tenant, entries, instead_of=instead)
        if replaced:
            self._words.forget()
        return Added(document, len(chunks), len(text), replaced, count, left_out, path)

    def _cut(self, text: str) -> tuple[list[str], int]:
        """Return the chunks of a text that are more than white space, and how many characters are in none."""
        from harness.core.chunking import document_chunks

        cut = document_chunks(text, self.settings.chunking())
        return [chunk.text for chunk in cut.chunks if chunk.text.strip()], cut.left_out

    def _vectors_of_many(self, texts: Sequence[str]) -> list[bytes]:
        vectors = list[bytes]()
        for start in range(0, len(texts), _BATCH):
            self._progress("embedding", start, len(texts))
            vectors += [vector.tobytes() for vector in self._vectors(list(texts[start : start + _BATCH]))]
        self._progress("embedding", len(texts), len(texts))
        return vectors

    def _save(self, remembered: Remembered) -> None:
        vector: bytes | None = None
        try:
            vector = self._vectors([remembered.text])[0].tobytes()
        except EmbeddingError as error:
            log.warning("an exchange is kept, but found by its words alone until it has a vector: %s", error)
        self._store.rows.put(MEMORY, self._tenant, self._entry(remembered, vector))

    def _journalled(self, exchange: Exchange, error: StoreError) -> StoreError:
        """Put an exchange that could not be kept in the journal; return the error to raise."""
        if self._journal is None:
            return error
        try:
            self._journal.append(self._tenant, self._name, exchange)
        except StoreError as second:
            return StoreError(f"the exchange is lost: {error}; {second}")
        return StoreError(f"{error}; the exchange waits in {self._journal.path} and is kept at the next start")

    def _embed_some(self) -> None:
        """Embed a few memories of another model, or of a time when there was none: in the background of use."""
        try:
            missing = self._store.nearest.unembedded(MEMORY, self._tenant, self._embedder.id, EMBED_AT_ONCE)
            mine = [(key, text) for key, text in missing if self._row(key) is not None]
            vectors = self._vectors([text for _, text in mine]) if mine else ()
            for (key, _), vector in zip(mine, vectors, strict=True):
                self._store.nearest.embed(MEMORY, self._tenant, key, vector.tobytes(), self._embedder.id)
        except (EmbeddingError, StoreError) as error:
            log.debug("memories without a vector stay so: %s", error)
