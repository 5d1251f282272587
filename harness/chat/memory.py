"""The memory of conversations, as everything else uses it."""

from harness.chat.listing import Listing, MemoryStats
from harness.chat.search import Finding
from harness.chat.transfer import Imported, Transfer
from harness.chat.writing import Added

__all__ = ["Added", "Imported", "Memory", "MemoryStats"]


class Memory(Finding, Listing, Transfer):
    """What conversations of one tenant remember, in one collection of one store. Threads and processes may share the
    store; no tenant sees, counts or changes what another remembers.

    `store` may be a function that opens it: it is called when first needed, and making a `Memory` reads nothing.
    `settings` is the block `vector_store`. `place` is what `stats` call the store. `journal` is where exchanges wait
    that cannot be kept; `documents_folder` where `docs:NAME` is looked for, if the settings do not say. Secrets are
    masked by `redactor`, else by one with the patterns of the settings. `clock` returns seconds since the epoch.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from harness.models.local.embedder import MiniLM
    >>> from harness.chat import Exchange, Memory
    >>> from harness.storage.sqlite.store import SqliteStore
    >>> folder = TemporaryDirectory()
    >>> store = SqliteStore(Path(folder.name) / "memory.db")
    >>> memory = Memory(store, MiniLM())
    >>> said = Exchange(
    ...     id="e1",
    ...     thread_id="t1",
    ...     session_id="s1",
    ...     user_message="My cat is called Schnurri.",
    ...     assistant_message="A lovely name for a cat!",
    ...     timestamp="2026-11-22T10:00:00+00:00",
    ... )
    >>> memory.remember(said) == said
    True
    >>> [match.remembered.id for match in memory.context_for("what is the name of my cat?")]
    ['e1']
    >>> memory.context_for("how do I bake bread?")
    []
    >>> memory.close()
    >>> store.close()
    >>> folder.cleanup()

    Raises:
        InvalidInput: a tenant without a name.
    """
