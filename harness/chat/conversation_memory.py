"""Memory of conversations, as other packages use it."""

import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness.chat.journal import Journal
from harness.chat.listing import MemoryListing, MemoryStats
from harness.chat.memory_rows import MemoryRows
from harness.chat.memory_search import MemorySearch
from harness.chat.memory_writing import Added, MemoryWriter
from harness.chat.transfer import Imported, MemoryTransfer
from harness.ports import Embedder, Progress, Store, silent
from harness.settings import VectorStoreSettings

if TYPE_CHECKING:
    from harness.core.redaction import Redactor

__all__ = ["Added", "Imported", "Memory", "MemoryStats"]


@dataclass(eq=False, repr=False)
class Memory:
    """Memories of one tenant's conversations, in one collection of one store. Threads and processes may share the
    store. No tenant sees, counts or changes another tenant's memories.

    `search` finds memories by meaning and words, `listing` by id, thread and session; `writer` adds and deletes them;
    `transfer` exports and imports them.

    `store` may be a function that opens the store at first use; creating a `Memory` reads nothing. `settings` is the
    settings block `vector_store`. `place` is the store's name in `stats`. `journal` holds exchanges that could not be
    stored. `docs:NAME` is looked up in `documents_folder` unless the settings name another folder. `redactor` masks
    secrets; by default it uses the patterns in the settings. `clock` returns seconds since the epoch.
    `rarity` is higher for a rarer word of a message; by default longer words are rarer.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from harness.models.local.embedder import MiniLM
    >>> from harness.chat import Exchange, Memory
    >>> from harness.storage.sqlite.store import SqliteStore
    >>> folder = TemporaryDirectory()
    >>> store = SqliteStore(Path(folder.name) / "memory.db")
    >>> memory = Memory(store, MiniLM())
    >>> exchange = Exchange(
    ...     id="e1",
    ...     thread_id="t1",
    ...     session_id="s1",
    ...     user_message="My cat is called Schnurri.",
    ...     assistant_message="A lovely name for a cat!",
    ...     timestamp="2026-11-22T10:00:00+00:00",
    ... )
    >>> memory.writer.remember(exchange) == exchange
    True
    >>> [match.remembered.id for match in memory.search.context_for("what is the name of my cat?")]
    ['e1']
    >>> memory.search.context_for("how do I bake bread?")
    []
    >>> memory.close()
    >>> store.close()
    >>> folder.cleanup()

    Raises:
        InvalidInput: a tenant without a name.
    """

    store: Store | Callable[[], Store]
    embedder: Embedder
    settings: VectorStoreSettings = field(default_factory=VectorStoreSettings)
    _: KW_ONLY
    tenant: str = "default"
    place: str = ""
    clock: Callable[[], float] = time.time
    redactor: "Redactor | None" = None
    journal: Path | None = None
    documents_folder: Path | None = None
    progress: Progress | None = None
    rarity: Callable[[str], int] = len

    def __post_init__(self) -> None:
        journal = None if self.journal is None else Journal(self.journal)
        folder = self.settings.documents_folder or self.documents_folder
        self.rows = MemoryRows(
            self.store, self.embedder, self.settings, tenant=self.tenant, clock=self.clock, redactor=self.redactor
        )
        self.search = MemorySearch(self.rows, self.rarity)
        self.listing = MemoryListing(self.rows, journal, self.place)
        self.writer = MemoryWriter(self.rows, self.listing, journal, folder, self.progress or silent)
        self.transfer = MemoryTransfer(self.rows)

    def close(self) -> None:
        """Drop the word index. The caller closes the store; a later search builds the index again."""
        self.rows.words.forget()
