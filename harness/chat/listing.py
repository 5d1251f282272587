"""Listing of memories by id, thread and session, and their statistics."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from harness.chat.exchanges import Exchange, Remembered, ThreadInfo, iso, remembered_in, seconds_of
from harness.chat.journal import Journal
from harness.chat.memory_rows import MemoryRows
from harness.core.entries import Outline
from harness.core.tables import MEMORY
from harness.core.text import clean, one_line, shorten
from harness.errors import EmbeddingError, InvalidInput

MAX_LISTED = 1_000_000
"""Newest memories that a list of threads, or a search for an id prefix, reads."""
TITLE_CHARS = 120
_SHOWN_IDS = 3


class MemoryStats(Struct, frozen=True):
    """Statistics of the memories. `not_embedded` counts those without a vector of the present model, which are found
    only by words; `waiting` says whether the journal holds any. The dimension is `None` if the model is unavailable.
    """

    total_exchanges: int
    threads: int
    sessions: int
    documents: int
    document_chunks: int
    not_embedded: int
    waiting: bool
    oldest: str | None
    newest: str | None
    collection: str
    store_path: str
    embedding_model: str
    embedding_dimension: int | None
    retrieval_strategy: str


class MemoryListing:
    """Reading memories by id, thread and session."""

    def __init__(self, rows: MemoryRows, journal: Journal | None, place: str) -> None:
        self._rows = rows
        self._journal = journal
        self._place = place

    def get(self, id: str) -> Remembered:  # noqa: A002 - the field's name
        """Return the memory with this id.

        Raises:
            InvalidInput: no memory has it.
            StoreError: the store cannot be read (`StoreCorrupt`: the row is damaged).
        """
        entry = self._rows.row(id.strip())
        if entry is None:
            raise unknown_id(id)
        return remembered_in(entry)

    def thread(self, id_or_prefix: str) -> list[Exchange]:
        """Return the exchanges of a thread, named by its id or a unique prefix of it, in order of time.

        Raises:
            InvalidInput: no thread, or several, have this prefix.
            StoreError: the store cannot be read.
        """
        wanted = id_or_prefix.strip()
        rows = self._rows.rows(kind="exchange", thread_id=wanted) if wanted else []
        if not rows:
            rows = self._rows.rows(kind="exchange", thread_id=self._full_thread_id(wanted))
        exchanges = (each for each in map(remembered_in, rows) if isinstance(each, Exchange))
        return sorted(exchanges, key=lambda each: (seconds_of(each.timestamp), each.thread_continuation_seq))

    def session(self, id: str) -> list[Remembered]:  # noqa: A002
        """Return the exchanges and documents of a session, in order of time.

        Raises:
            InvalidInput: there is no such session.
            StoreError: the store cannot be read.
        """
        rows = self._rows.rows(session_id=id.strip()) if id.strip() else []
        if not rows:
            raise InvalidInput(f"no session {_shown(id)}; `harness memory threads` lists the threads")
        return [remembered_in(row) for row in sorted(rows, key=lambda row: row.created_at)]

    def find(self, id: str) -> Sequence[Remembered]:  # noqa: A002
        """Return the memories with an id: that of an exchange, a chunk, a document, a session or a thread, or a unique
        prefix of a thread's id.

        Raises:
            InvalidInput: nothing has this id, or several threads have this prefix.
            StoreError: the store cannot be read.
        """
        wanted = id.strip()
        if not wanted:
            raise unknown_id(id)
        if (entry := self._rows.row(wanted)) is not None:
            return [remembered_in(entry)]
        if rows := self._rows.rows(kind="document", thread_id=wanted) or self._rows.rows(session_id=wanted):
            return [remembered_in(row) for row in sorted(rows, key=lambda row: (row.created_at, row.own.position))]
        if not self._rows.rows(kind="exchange", thread_id=wanted) and not self._threads_with_prefix(wanted):
            raise unknown_id(id)
        return self.thread(wanted)

    def threads(self, limit: int = 50) -> list[ThreadInfo]:
        """Return up to `limit` threads, the last used first.

        Raises:
            StoreError: the store cannot be read.
        """
        threads = dict[str, list[Outline]]()
        for each in self._rows.outlines(0, MAX_LISTED):
            if each.own.kind == "exchange":
                threads.setdefault(each.own.thread_id, []).append(each)
        newest = sorted(threads.items(), key=lambda item: -max(each.created_at for each in item[1]))
        return [_thread_info(*each) for each in newest[: max(0, limit)]]

    def stats(self) -> MemoryStats:
        """Return statistics of the memories.

        Raises:
            StoreError: the store cannot be read.
        """
        rows = self._rows
        outlines = rows.outlines(0, MAX_LISTED)
        usage = rows.store.listings.stats(MEMORY, rows.tenant, rows.clock(), rows.embedder.id)
        kinds = Counter(each.own.kind for each in outlines)
        exchanges = [each for each in outlines if each.own.kind == "exchange"]
        times = [each.created_at for each in outlines]
        return MemoryStats(
            total_exchanges=kinds["exchange"],
            threads=len({each.own.thread_id for each in exchanges}),
            sessions=len({each.own.session_id for each in exchanges}),
            documents=len({each.own.thread_id for each in outlines if each.own.kind == "document"}),
            document_chunks=kinds["document"],
            not_embedded=usage.unembedded,
            waiting=self._journal is not None and self._journal.exists,
            oldest=iso(min(times)) if times else None,
            newest=iso(max(times)) if times else None,
            collection=rows.collection,
            store_path=self._place,
            embedding_model=rows.embedder.id,
            embedding_dimension=self._dimension(),
            retrieval_strategy=rows.settings.retrieval_strategy,
        )

    def _full_thread_id(self, prefix: str) -> str:
        """Return the id of the only thread with this prefix."""
        found = self._threads_with_prefix(prefix)
        if not found:
            raise InvalidInput(f"no thread {_shown(prefix)}; `harness memory threads` lists them")
        if len(found) > 1:
            some = ", ".join(found[:_SHOWN_IDS]) + (", …" if len(found) > _SHOWN_IDS else "")
            raise InvalidInput(f"several threads begin with {_shown(prefix)} ({some}); type more of the id")
        return found[0]

    def _threads_with_prefix(self, prefix: str) -> list[str]:
        outlines = self._rows.outlines(0, MAX_LISTED) if prefix else []
        return sorted(
            {
                each.own.thread_id
                for each in outlines
                if each.own.kind == "exchange" and each.own.thread_id.startswith(prefix)
            }
        )

    def _dimension(self) -> int | None:
        try:
            return self._rows.embedder.dimension
        except EmbeddingError:
            return None


def _thread_info(thread: str, outlines: Sequence[Outline]) -> ThreadInfo:
    first, last = min(outlines, key=_time), max(outlines, key=_time)
    said = first.text.partition("\nAssistant: ")[0].removeprefix("User: ")
    return ThreadInfo(
        id=thread,
        title=shorten(one_line(said), TITLE_CHARS),
        exchanges=len(outlines),
        sessions=len({each.own.session_id for each in outlines}),
        first=iso(first.created_at),
        last=iso(last.created_at),
        continuation=max(each.own.continuation for each in outlines),
    )


def _time(outline: Outline) -> tuple[float, int]:
    return outline.created_at, outline.number


def unknown_id(id: str) -> InvalidInput:  # noqa: A002
    """Return the error for an id that no memory has."""
    return InvalidInput(f"no memory has the id {_shown(id)}; `harness memory threads` and `query` show ids")


def _shown(text: str) -> str:
    return repr(clean(text, 100))
