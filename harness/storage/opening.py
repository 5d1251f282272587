"""The databases that settings name, and the snapshot that is replayed: each opened at its first use, once."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InvalidInput
from harness.identity import Tokens
from harness.ports import Store
from harness.settings import Settings
from harness.storage.forks import cached_property

if TYPE_CHECKING:
    from harness.settings import RecordedRun
    from harness.storage.snapshots import SnapshotHeader, SnapshotLine

DATABASE = "harness.db"


class Replay:
    """A snapshot file that answers instead of the database and the web."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def snapshot(self) -> "tuple[SnapshotHeader, list[SnapshotLine]]":
        """The header and the lines of the file, checked."""
        from harness.storage.snapshots import read_snapshot

        return read_snapshot(self._path)

    @property
    def run(self) -> "RecordedRun | None":
        """The run that the snapshot holds, if it holds one."""
        return self.snapshot[0].run

    @property
    def embedder(self) -> str:
        """Id of the embedder that made its vectors: that of its run, else of most entries; "" if there are none."""
        if self.run is not None:
            return self.run.embedder
        made = Counter(line.embedder for line in self.snapshot[1] if line.embedder)
        return made.most_common(1)[0][0] if made else ""


class Databases:
    """The databases of one app and of all that it serves. `file` replaces the SQLite file that the settings name."""

    def __init__(self, settings: Settings, file: Path | None = None, replay: Replay | None = None) -> None:
        self._settings = settings
        self._file = file
        self.replay = replay

    @property
    def team_url(self) -> str | None:
        """URL of the PostgreSQL database of a team, if one is set; it may hold a password."""
        return self._settings.store if self._file is None else None

    @property
    def path(self) -> Path:
        """Path of the SQLite file, which is not used where `team_url` is set."""
        return self._file or self._settings.data_dir / DATABASE

    @property
    def place(self) -> str:
        """Name of the database in messages: its path, or its URL without the password."""
        if self.team_url is None:
            return str(self.path)
        from harness.storage.postgres.connections import shown_url

        return shown_url(self.team_url)

    @cached_property
    def store(self) -> Store:
        """The store of all tenants, migrated; for a replay, the snapshot. A request with a token must go through
        `App.store` instead.
        """
        if self.replay is not None:
            from harness.storage.replay_store import replay_store

            return replay_store(self.replay.snapshot[1])
        if self.team_url is not None:
            from harness.storage.postgres.store import PostgresStore

            return PostgresStore(self.team_url)
        from harness.storage.sqlite.store import SqliteStore

        return SqliteStore(self.path, durability=self._settings.durability)

    @cached_property
    def tokens(self) -> Tokens:
        """The access tokens of all tenants. The caller checks whether its user may see or change them."""
        return Tokens(self.store)

    @property
    def memory_place(self) -> str:
        """Name of the database of the chat memory in messages.

        Raises:
            InvalidInput: the setting `vector_store.backend` is for another database.
        """
        block = self._settings.vector_store
        if block.path is not None:
            return str(block.path)
        if block.backend and self.team_url is not None:
            raise InvalidInput(
                f"vector_store.backend is {block.backend}, but memories would go to PostgreSQL, the setting store; "
                "leave backend out, or set vector_store.path to a file for memories"
            )
        return self.place

    @cached_property
    def memory_file(self) -> Store:
        """The store in the file `vector_store.path`, for the chat memory of all tenants.

        Raises:
            InvalidInput: the setting names no file.
            StoreError: the file cannot be opened.
        """
        from harness.storage.sqlite.store import SqliteStore

        if (path := self._settings.vector_store.path) is None:
            raise InvalidInput("no file is named for memories; set vector_store.path")
        return SqliteStore(path, durability=self._settings.durability)

    def close(self) -> None:
        """Close what was opened."""
        for name in ("store", "memory_file"):
            if name in self.__dict__:
                getattr(self, name).close()
