"""The one place where settings become objects: every adapter and service is made here, when first needed, once."""

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from msgspec.structs import replace

from harness.cache import Cache, Policy, Semantics
from harness.cache.acceptance_rule import rule_of
from harness.cache.semantic import MAX_DISTANCE
from harness.core.origins import RunOrigin
from harness.errors import InvalidInput, SearchError
from harness.identity import LOCAL, Identity, Tokens
from harness.ports import (
    Embedder,
    LanguageModel,
    PageReader,
    Progress,
    SearchEngine,
    Store,
    Verifier,
)
from harness.settings import Settings, key_in, run_settings
from harness.storage.shared_resources import Lending, own, shared, shared_unless

if TYPE_CHECKING:
    from harness.cache import Results
    from harness.cache.audit import Auditor
    from harness.chat import Memory
    from harness.core.equivalence import Rule
    from harness.knowledge import Knowledge
    from harness.research.gathering import Round
    from harness.research.history import History
    from harness.research.run import Researcher
    from harness.research.search import Asked
    from harness.sources.pages.reader import WebReader
    from harness.storage.snapshots import SnapshotHeader, SnapshotLine
    from harness.vector_cache import VectorCache

DATABASE = "harness.db"
JOURNAL = "memory-journal.jsonl"

log = logging.getLogger(__name__)


def _silent(what: str, done: int, total: int) -> None:
    """Show no progress."""


class App(Lending):
    """Everything that one run of the harness works with. Use it as a context manager, or close it.

    `database` is another SQLite file than the settings name. `progress` is told about long work.
    `read` and `write` say whether the cache is looked up and stored (see `Policy`); `replay` names a snapshot that
    answers instead of it; `serve_stale` is another window for stale answers than the setting's. `at` is the time
    (seconds since the epoch) that it is for whatever expires but tokens; the real one if `None`. `identity` says who
    asks; else the token in the settings does. `origin` says who it works for, which history and statistics tell apart.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        database: Path | None = None,
        progress: Progress = _silent,
        read: bool = True,
        write: bool = True,
        replay: Path | None = None,
        serve_stale: float | None = None,
        at: float | None = None,
        identity: Identity | None = None,
        origin: RunOrigin = "user",
    ) -> None:
        if (settings.offline or replay) and not read:
            which = "--offline" if replay is None else "--replay"
            raise InvalidInput(f"with {which} only what is cached can answer; leave out --refresh and --no-cache")
        self.settings = settings
        self.database = database
        self.progress = progress
        self._read = read
        self._write = write
        self._replay = replay
        self._at = at
        self._clock = time.time if at is None else lambda: at
        self._identity = identity
        self._origin: RunOrigin = origin
        self._serve_stale = settings.stale_if_error if serve_stale is None else serve_stale
        super().__init__()

    def serving(
        self,
        identity: Identity,
        *,
        progress: Progress | None = None,
        read: bool | None = None,
        serve_stale: float | None = None,
        origin: RunOrigin | None = None,
        **changes: Any,
    ) -> "App":
        """Return an app for somebody else: what is opened is shared, and closed by this one alone; what belongs to
        a tenant is its own. Safe for threads; takes a few microseconds. `progress`, `read`, `serve_stale`, `origin` and
        settings (`changes`, already checked) may be others than here.
        """
        settings = replace(self.settings, **changes) if changes else self.settings
        served = App(
            settings,
            database=self.database,
            progress=progress or self.progress,
            read=self._read if read is None else read,
            write=self._write,
            replay=self._replay,
            serve_stale=self._serve_stale if serve_stale is None else serve_stale,
            at=self._at,
            identity=identity,
            origin=origin or self._origin,
        )
        served._lender = self._lender or self
        return served

    @own
    def identity(self) -> Identity:
        """Who asks: as given, else by the token in the settings; without one, or replaying, whoever is at the machine.

        Raises:
            AccessDenied: the token is not valid.
            StoreError: the store cannot be read.
        """
        if self._identity is not None:
            return self._identity
        if self.settings.token is None or self._replay is not None:
            return LOCAL
        return self.tokens.verify(self.settings.token)

    @own
    def tokens(self) -> Tokens:
        """The access tokens of every tenant; who may make and see them is for the surface to ask of `identity`."""
        return Tokens(self.database_store)

    @own
    def store(self) -> Store:
        """The store, for whoever asks: with a token it is its tenant's alone."""
        if self.identity.local:
            return self.database_store
        from harness.storage.guarded import guarded

        return guarded(self.database_store, self.identity)

    @property
    def team_database(self) -> str | None:
        """The address of the database that others use as well; it may hold a password."""
        return self.settings.store if self.database is None else None

    @property
    def place(self) -> str:
        """What a person calls the database: its path, or its address without the password."""
        if self.team_database is None:
            return str(self.database or self.settings.data_dir / DATABASE)
        from harness.storage.postgres.connections import shown_url

        return shown_url(self.team_database)

    @shared
    def database_store(self) -> Store:
        """The store of all tenants, opened and brought up to date; replaying, the snapshot. Not for what is asked with
        a token: see `store`.
        """
        if self._replay is not None:
            from harness.storage.replay_store import replay_store

            return replay_store(self.snapshot[1])
        if self.team_database is not None:
            from harness.storage.postgres.store import PostgresStore

            return PostgresStore(self.team_database)
        from harness.storage.sqlite.store import SqliteStore

        path = self.database or self.settings.data_dir / DATABASE
        return SqliteStore(path, durability=self.settings.durability)

    @shared
    def snapshot(self) -> "tuple[SnapshotHeader, list[SnapshotLine]]":
        """The snapshot that is replayed, checked."""
        from harness.storage.snapshots import read_snapshot

        if self._replay is None:
            raise InvalidInput("no snapshot is replayed; name one with --replay FILE")
        return read_snapshot(self._replay)

    @own
    def cache(self) -> Cache:
        """The cache of searches and researches.

        Raises:
            AccessDenied: the token is not valid, or a reader's, who may not ask anew.
            StoreError: the store cannot be opened.
        """
        settings, replay, identity = self.settings, self._replay is not None, self.identity
        if not self._read:
            identity.require("writer")
        writer = identity.may("writer")
        policy = Policy(
            read=self._read,
            write=self._write and writer and not replay,
            offline=settings.offline or replay or not writer,
            replay=replay,
            stale_if_error=self._serve_stale,
            keep_expired=max(self._serve_stale, settings.stale_if_error),
            volatile_ttl=settings.volatile_ttl,
            negative_ttl=settings.negative_ttl,
            jitter=settings.ttl_jitter,
            tool_ttl_hours=settings.tool_ttl_hours,
        )
        semantics = self.semantics if settings.semantic else None
        return Cache(
            self.store,
            semantics=semantics,
            policy=policy,
            auditor=self.auditor,
            tenant=identity.tenant,
            clock=self._clock,
            origin=self._origin,
        )

    @shared
    def auditor(self) -> "Auditor | None":
        """What checks some of the searches that are answered by meaning; none where the setting is 0."""
        if not self.settings.audit_rate:
            return None
        from harness.cache.audit import Auditor

        return Auditor(self.settings.audit_rate)

    @own
    def semantics(self) -> Semantics:
        """The look-up by meaning."""
        from harness.models.local.tokenizer import vocabulary

        return Semantics(
            self.store,
            self.embedder,
            rule=self.rule_of,
            verifier=self.verifier,
            words=vocabulary,
            max_distance=self.settings.semantic_cache_threshold,
            candidates=self.settings.candidates,
            tenant=self.identity.tenant,
        )

    @property
    def rule_file(self) -> Path:
        """Where the acceptance rule is kept that somebody has calibrated on pairs of their own."""
        return self.settings.data_dir / "acceptance.json"

    @property
    def verifier(self) -> Verifier | None:
        """What reads pairs of questions before one is answered for the other; none where it is switched off."""
        if not self.settings.verifier:
            return None
        from harness.models.local.cross_encoder import MiniLMVerifier

        return MiniLMVerifier()

    def rule_of(self, verifier: Verifier | None) -> "Rule":
        """See `rules.rule_of`."""
        return rule_of(verifier, self.rule_file, self.settings.max_wrong)

    @shared_unless("embedding_", "offline")
    def embedder(self) -> Embedder:
        """The embedder that the settings name (see `main_embedder`), which loads its weights at the first text;
        replaying, the one of the time by its name, if it was another than the local one.

        Raises:
            InvalidInput: see `main_embedder`.
        """
        if self._replay is None:
            from harness.models.from_settings import main_embedder

            return main_embedder(self.settings)
        from harness.models.local.embedder import MiniLM
        from harness.models.recorded_embedder import RecordedEmbedder

        of_then = MiniLM.id if (run := self.snapshot[0].run) is None else run.embedder
        return MiniLM() if of_then == MiniLM.id else RecordedEmbedder(of_then)

    def started_with(self, specs: Sequence[str] = ()) -> dict[str, Any]:
        """Return what the record of a run with the engines `specs` holds for whoever resumes it."""
        settings = replace(self.settings, engine=tuple(specs) or self.settings.engine)
        return {"settings": run_settings(settings), "refresh": not self._read, "serve_stale": self._serve_stale}

    @property
    def reader(self) -> PageReader:
        """The reader of pages; replaying, the one of the time."""
        if self._replay is not None and (run := self.snapshot[0].run) is not None:
            from harness.storage.recorded import RecordedReader

            return RecordedReader(run.reader)
        return self.web_reader

    @shared
    def web_reader(self) -> "WebReader":
        """The reader of pages from the web."""
        from harness.sources.pages.reader import WebReader

        settings = self.settings
        return WebReader(timeout=settings.page_timeout, allowed_hosts=settings.allowed_hosts, proxy=settings.proxy)

    def engines(self, specs: Sequence[str] = (), *, waits: bool = False) -> tuple[SearchEngine, ...]:
        """Return the engines that `specs` (`NAME[:ARG]`, else the setting) name; replaying, those of the time.

        If the caller `waits`, a corpus gets its missing vectors first (see `Corpus`): for whatever must repeat exactly.

        Raises:
            InvalidInput: no such engine, a missing or unusable argument, or one named twice.
            StoreError: the index of a corpus cannot be written.
        """
        if self._replay is not None and (run := self.snapshot[0].run) is not None:
            from harness.storage.recorded import RecordedEngine

            return tuple(RecordedEngine(engine.name, engine.options) for engine in run.engines)
        from harness.sources.from_settings import engine_for

        named = self._named(specs)
        return tuple(engine_for(spec, self.settings, self.embedder, self.progress, waits=waits) for spec in named)

    def check_engines(self) -> None:
        """Check the engines that the settings name, in milliseconds: no corpus is indexed.

        Raises:
            InvalidInput: see `engines`; that a corpus holds nothing to read is not seen yet.
        """
        from harness.sources.from_settings import check_engine

        for spec in self._named(()):
            check_engine(spec, self.settings, self.embedder, self.progress)

    def _named(self, specs: Sequence[str]) -> tuple[str, ...]:
        named = tuple(specs) or self.settings.engine
        if len(set(named)) < len(named):
            raise InvalidInput(f"an engine is named twice: {', '.join(named)}")
        return named

    def search(self, query: str, specs: Sequence[str] = ()) -> "tuple[list[Asked], Results]":
        """Ask the engines that `specs` name one query, through the cache; return what came of each, and the results.

        Raises:
            InvalidInput: an unusable query or engine.
            SearchError: every engine failed.
            StoreError: the cache cannot be read.
            OfflineMiss: the cache has no answer, and may not compute one.
        """
        from harness.research.search import ask_all, results_of

        settings, cache = self.settings, self.cache  # opened first: if it cannot be, no engine is asked
        engines = self.engines(specs)
        asked = ask_all(
            [query],
            cache,
            engines,
            ttl=settings.ttl,
            max_results=settings.max_results,
            concurrency=settings.concurrency,
            progress=self.progress,
            what="searching",
        )
        for engine, each in zip(engines, asked, strict=True):
            if not isinstance(each.outcome, SearchError) and each.outcome.how == "exact":
                cache.claim(query, engine.name, engine.options)
        return asked, results_of(asked, settings.max_results)

    @shared_unless("model")
    def model(self) -> LanguageModel | None:
        """The language model, if one is set; replaying, the one of the time.

        Raises:
            InvalidInput: the variable that is to hold its key holds none.
        """
        settings = self.settings
        if self._replay is not None and (run := self.snapshot[0].run) is not None:
            from harness.storage.recorded import RecordedModel

            held = run.model
            return None if held is None else RecordedModel(held.name, held.endpoint, held.parameters)
        if settings.model is None:
            return None
        from harness.models.remote.chat_completions import OpenAICompatible

        return OpenAICompatible(
            settings.model,
            settings.model_url,
            api_key=key_in(settings.model_key_variable),
            key_variable=settings.model_key_variable or "OPENAI_API_KEY",
            temperature=settings.model_temperature,
            max_tokens=settings.model_max_tokens,
            timeout=settings.model_timeout,
            max_wait=settings.model_wait,
        )

    @own
    def knowledge(self) -> "Knowledge":
        """What is known to whoever asks."""
        from harness.knowledge import Knowledge
        from harness.models.local.tokenizer import vocabulary

        return Knowledge(
            self.store,
            self.embedder,
            tenant=self.identity.tenant,
            ttl_hours=self.settings.knowledge_ttl_hours,
            floor=self.settings.knowledge_floor,
            words=vocabulary,
            clock=self._clock,
        )

    @own
    def history(self) -> "History":
        """What whoever asks has searched, researched and written down."""
        from harness.research.history import History

        return History(self.store, self.embedder, tenant=self.identity.tenant, clock=self._clock)

    @property
    def documents_folder(self) -> Path:
        """Where `docs:NAME` is looked for."""
        return self.settings.vector_store.documents_folder or self.settings.data_dir / "documents"

    @own
    def remembering(self) -> "Memory":
        """What the conversations of whoever asks remember. Opens and reads nothing before it is used.

        Raises:
            InvalidInput: it is disabled, its backend is not that of the store, or the variable that is to hold the key
                of its embedding model holds none.
            AccessDenied: the token is not valid.
        """
        from harness.chat import Memory

        block = self.settings.vector_store
        if not block.enabled:
            raise InvalidInput("nothing is remembered: vector_store.enabled is false; set it to true in the settings")
        if block.backend and block.path is None and self.team_database is not None:
            raise InvalidInput(
                f"vector_store.backend is {block.backend}, but memories would go to PostgreSQL, the setting store; "
                "leave backend out, or set vector_store.path to a file for memories"
            )
        return Memory(
            lambda: self.store if block.path is None else self.memory_store,
            self.memory_embedder,
            block,
            tenant=self.identity.tenant,
            place=self.place if block.path is None else str(block.path),
            clock=self._clock,
            journal=self.settings.data_dir / JOURNAL,
            documents_folder=self.documents_folder,
            progress=self.progress,
        )

    @own
    def memory_store(self) -> Store:
        """The store of memories in a file of their own, for whoever asks."""
        from harness.storage.guarded import guarded

        return guarded(self.memory_file, self.identity)

    @shared
    def memory_file(self) -> Store:
        """The file that `vector_store.path` names, opened, of all tenants.

        Raises:
            InvalidInput: it names none.
            StoreError: it cannot be opened.
        """
        from harness.storage.sqlite.store import SqliteStore

        if (path := self.settings.vector_store.path) is None:
            raise InvalidInput("no file is named for memories; set vector_store.path")
        return SqliteStore(path, durability=self.settings.durability)

    @shared
    def memory_embedder(self) -> Embedder:
        """The embedder of memories: that of their own provider, if one is set and answers, else the local one; without
        a provider, the one of everything else.

        Raises:
            InvalidInput: the variable that is to hold the provider's key holds none; an unusable address or key.
        """
        from harness.models.from_settings import memory_embedder

        if self._replay is not None or self.settings.vector_store.embedding_provider is None:
            return self.embedder
        return memory_embedder(self.settings)

    def memory(self, space: str) -> "VectorCache":
        """Return the vector cache of a space: chunks of documents, and questions that were solved."""
        from harness.vector_cache import VectorCache

        farthest = self.settings.semantic_cache_threshold
        threshold = 1.0 - (MAX_DISTANCE if farthest is None else farthest)
        run = self.snapshot[0].run if self._replay is not None else None
        return VectorCache(
            self.store,
            self.embedder,
            space=space,
            tenant=self.identity.tenant,
            threshold=threshold,
            chunk_tokens=(run or self.settings).chunk_tokens,
            clock=self._clock,
        )

    def researcher(
        self,
        specs: Sequence[str] = (),
        *,
        epoch: str = "",
        on_text: Callable[[str], None] | None = None,
        on_round: "Callable[[Round], None] | None" = None,
    ) -> "Researcher":
        """Return what leads a research with the engines that `specs` name; see `Writing` for `epoch` and `on_text`, and
        `Researcher` for `on_round`.
        """
        from harness.research.assembly import researcher_of

        run = self.snapshot[0].run if self._replay is not None else None
        return researcher_of(self, run, specs, epoch=epoch, on_text=on_text, on_round=on_round)

    def close(self) -> None:
        """Keep what has been counted, and close what was opened, unless another app has lent it. Audits that are
        under way are waited for shortly, then given up.
        """
        self._close()

    def _close(self, *, hurry: bool = False) -> None:
        if "cache" in self.__dict__:
            self.cache.flush()
        if "remembering" in self.__dict__:
            self.remembering.close()
        if self._lender is not None:
            return
        try:
            if (auditor := self.__dict__.get("auditor")) is not None:
                auditor.close(0.0) if hurry else auditor.close()
        finally:
            self._close_shared()

    def _close_shared(self) -> None:
        if "web_reader" in self.__dict__:
            self.web_reader.close()
        for name in ("database_store", "memory_file"):
            if name in self.__dict__:
                getattr(self, name).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close(hurry=kind is not None and issubclass(kind, KeyboardInterrupt))
