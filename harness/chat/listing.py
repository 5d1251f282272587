"""Listing and forgetting: by id, thread and session; what there is in all; what goes."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from harness.chat.exchanges import (
    Exchange,
    Remembered,
    ThreadInfo,
    iso,
    remembered_in,
    seconds_of,
)
from harness.chat.writing import Keeping
from harness.core.entries import Outline
from harness.core.tables import MEMORY
from harness.core.text import clean, one_line, shorten
from harness.errors import EmbeddingError, InvalidInput

MAX_LISTED = 1_000_000
"""Memories that a list of threads, or a search for the beginning of an id, looks at: the newest ones."""
TITLE_CHARS = 120
_SHOWN_IDS = 3
_DELETE_BATCH = 500


class MemoryStats(Struct, frozen=True):
    """What is remembered. `not_embedded` counts what has no vector of the present model: it is found by words alone;
    `waiting` is whether the journal holds something. The dimension is `None` where the model cannot be asked.
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


class Listing(Keeping):
    """What is read and deleted by name."""

    def get(self, id: str) -> Remembered:  # noqa: A002 - the field's name
        """Return what has this id.

        Raises:
            InvalidInput: nothing has.
            StoreError: the store cannot be read (`StoreCorrupt`: the row is damaged).
        """
        entry = self._row(id.strip())
        if entry is None:
            raise _unknown(id)
        return remembered_in(entry)

    def thread(self, id_or_prefix: str) -> list[Exchange]:
        """Return the exchanges of a thread, told by its id or an unambiguous beginning of it, by time.

        Raises:
            InvalidInput: there is no such thread, or several begin like this.
            StoreError: the store cannot be read.
        """
        wanted = id_or_prefix.strip()
        rows = self._rows(kind="exchange", thread_id=wanted) if wanted else []
        if not rows:
            rows = self._rows(kind="exchange", thread_id=self._thread_beginning(wanted))
        return _by_time(map(remembered_in, rows))

    def session(self, id: str) -> list[Remembered]:  # noqa: A002
        """Return what was said and added in a session, by time.

        Raises:
            InvalidInput: there is no such session.
            StoreError: the store cannot be read.
        """
        rows = self._rows(session_id=id.strip()) if id.strip() else []
        if not rows:
            raise InvalidInput(f"no session {_shown(id)}; `harness memory threads` lists what there is")
        return [remembered_in(row) for row in sorted(rows, key=lambda row: row.created_at)]

    def find(self, id: str) -> Sequence[Remembered]:  # noqa: A002
        """Return what an id stands for: an exchange or a chunk, the chunks of a document, a session, or a thread (or an
        unambiguous beginning of its id).

        Raises:
            InvalidInput: nothing, or several threads.
            StoreError: the store cannot be read.
        """
        wanted = id.strip()
        if not wanted:
            raise _unknown(id)
        if (entry := self._row(wanted)) is not None:
            return [remembered_in(entry)]
        if rows := self._rows(kind="document", thread_id=wanted) or self._rows(session_id=wanted):
            return [remembered_in(row) for row in sorted(rows, key=lambda row: (row.created_at, row.own.position))]
        if not self._rows(kind="exchange", thread_id=wanted) and not self._threads_beginning(wanted):
            raise _unknown(id)
        return self.thread(wanted)

    def threads(self, limit: int = 50) -> list[ThreadInfo]:
        """Return up to `limit` threads, the one last used first.

        Raises:
            StoreError: the store cannot be read.
        """
        threads = dict[str, list[Outline]]()
        for each in self.outlines(0, MAX_LISTED):
            if each.own.kind == "exchange":
                threads.setdefault(each.own.thread_id, []).append(each)
        newest = sorted(threads.items(), key=lambda item: -max(each.created_at for each in item[1]))
        return [_thread_info(*each) for each in newest[: max(0, limit)]]

    def stats(self) -> MemoryStats:
        """Count what is remembered.

        Raises:
            StoreError: the store cannot be read.
        """
        held = self.outlines(0, MAX_LISTED)
        kinds = Counter(each.own.kind for each in held)
        exchanges = [each for each in held if each.own.kind == "exchange"]
        times = [each.created_at for each in held]
        return MemoryStats(
            total_exchanges=kinds["exchange"],
            threads=len({each.own.thread_id for each in exchanges}),
            sessions=len({each.own.session_id for each in exchanges}),
            documents=len({each.own.thread_id for each in held if each.own.kind == "document"}),
            document_chunks=kinds["document"],
            not_embedded=self._store.listings.stats(MEMORY, self._tenant, self._clock(), self._embedder.id).unembedded,
            waiting=self._journal is not None and self._journal.exists,
            oldest=iso(min(times)) if times else None,
            newest=iso(max(times)) if times else None,
            collection=self._name,
            store_path=self.place,
            embedding_model=self._embedder.id,
            embedding_dimension=self._dimension(),
            retrieval_strategy=self.settings.retrieval_strategy,
        )

    def delete(self, id: str) -> int:  # noqa: A002
        """Delete an exchange, a chunk, or all chunks of a document; return how many rows went.

        Raises:
            InvalidInput: nothing has this id.
            StoreError: the store cannot be written.
        """
        wanted = id.strip()
        keys = [wanted] if self._row(wanted) is not None else []
        keys = keys or [row.key for row in self._rows(kind="document", thread_id=wanted)]
        gone = self._delete(keys)
        if not gone:
            raise _unknown(id)
        return gone

    def forget(self, *, older_than: float | None = None, thread: str | None = None) -> int:
        """Delete what is older than so many seconds, or a thread (its id or an unambiguous beginning); return how many
        exchanges and chunks went. What waits in the journal is kept first, so that it can go, too.

        Raises:
            InvalidInput: neither is told, or both; no such thread; an age that is none.
            StoreError: the store cannot be written.
        """
        if (older_than is None) == (thread is None):
            raise InvalidInput("say what to forget: what is older than an age, or one thread")
        if older_than is not None and not older_than >= 0:
            raise InvalidInput(f"an age is 0 seconds or more, not {older_than:g}")
        self.retry_journal()
        if thread is not None:
            return self._delete([each.id for each in self.thread(thread)])
        before = self._clock() - (older_than or 0.0)
        rows = self._store.listings.scan(MEMORY, self._tenant)
        return self._delete([row.key for row in rows if row.own.collection == self._name and row.created_at < before])

    def _delete(self, keys: Sequence[str]) -> int:
        parts = (keys[start : start + _DELETE_BATCH] for start in range(0, len(keys), _DELETE_BATCH))
        gone = sum(self._store.rows.delete(MEMORY, self._tenant, part) for part in parts)
        self._words.forget()
        return gone

    def _thread_beginning(self, prefix: str) -> str:
        """Return the only thread whose id begins so."""
        found = self._threads_beginning(prefix)
        if not found:
            raise InvalidInput(f"no thread {_shown(prefix)}; `harness memory threads` lists them")
        if len(found) > 1:
            some = ", ".join(found[:_SHOWN_IDS]) + (", …" if len(found) > _SHOWN_IDS else "")
            raise InvalidInput(f"several threads begin with {_shown(prefix)} ({some}); type more of the id")
        return found[0]

    def _threads_beginning(self, prefix: str) -> list[str]:
        outlines = self.outlines(0, MAX_LISTED) if prefix else []
        return sorted(
            {
                each.own.thread_id
                for each in outlines
                if each.own.kind == "exchange" and each.own.thread_id.startswith(prefix)
            }
        )

    def _dimension(self) -> int | None:
        try:
            return self._embedder.dimension
        except EmbeddingError:
            return None


def _by_time(remembered: Iterable[Remembered]) -> list[Exchange]:
    exchanges = (each for each in remembered if isinstance(each, Exchange))
    return sorted(exchanges, key=lambda each: (seconds_of(each.timestamp), each.thread_continuation_seq))


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


def _unknown(id: str) -> InvalidInput:  # noqa: A002
    return InvalidInput(f"nothing is remembered as {_shown(id)}; `harness memory threads` and `query` tell ids")


def _shown(text: str) -> str:
    return repr(clean(text, 100))
