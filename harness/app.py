"""Everything that the settings name, put together: the only place that imports services and adapters."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from msgspec.structs import replace

from harness.cache import Cache, Semantics
from harness.cache.acceptance_rule import rule_of
from harness.cache.policy import policy_of
from harness.cache.semantic import MAX_DISTANCE
from harness.cache.usage import Tallies
from harness.core.origins import OWN, RunOrigin
from harness.errors import InvalidInput
from harness.identity import LOCAL, Identity
from harness.models.from_settings import Models
from harness.models.local.tokenizer import rarity, vocabulary
from harness.ports import Embedder, Progress, Store, silent
from harness.settings import Loaded, Settings, run_settings
from harness.settings.mode import DEFAULT_MODE, Mode
from harness.sources.from_settings import Sources
from harness.storage.forks import cached_property
from harness.storage.opening import Databases, Replay

if TYPE_CHECKING:
    from harness.cache import Results
    from harness.cache.audit import Auditor
    from harness.chat import Memory
    from harness.knowledge import Knowledge
    from harness.library import Library
    from harness.library.library_engine import LibraryEngine
    from harness.research.gathering import Round
    from harness.research.history import History
    from harness.research.result import Research
    from harness.research.run import Researcher
    from harness.research.search import EngineSearch
    from harness.vector_cache import VectorCache

JOURNAL = "memory-journal.jsonl"


class App:
    """All services for one user, each made at its first use. Use it as a context manager, or close it.

    `database` replaces the SQLite file of the settings. `progress` is called during long work. `identity` is the user;
    by default the owner of the token in the settings, or the local user. `lender` is an app that shares its databases,
    models and connections: see `serving`.

    Raises:
        InvalidInput: without reading the cache, an app cannot be offline or replay.
    """

    def __init__(
        self,
        settings: Settings,
        mode: Mode = DEFAULT_MODE,
        *,
        database: Path | None = None,
        progress: Progress = silent,
        identity: Identity | None = None,
        lender: "App | None" = None,
    ) -> None:
        if (settings.offline or mode.replay) and not mode.read:
            which = "--offline" if mode.replay is None else "--replay"
            raise InvalidInput(f"with {which} only cached results can answer; leave out --refresh and --no-cache")
        self.settings = settings
        self.progress = progress
        self._mode = mode
        self._clock = time.time if (at := mode.at) is None else lambda: at
        self._identity = identity
        self._serve_stale = settings.stale_if_error if mode.serve_stale is None else mode.serve_stale
        self._lender = lender
        self.tallies: Tallies = Tallies() if lender is None else lender.tallies
        """Counts of answers that are not stored yet."""
        self.loaded: Loaded | None = None if lender is None else lender.loaded
        """The settings with the origin of each, where a command loaded them."""
        if lender is None:
            replay = None if mode.replay is None else Replay(mode.replay)
            self.databases, self.models = Databases(settings, database, replay), Models(settings, replay)
        else:
            self.databases, self.models = lender.databases, lender.models.with_settings(settings)
        self._replay = self.databases.replay
        base = None if lender is None else lender.sources
        self.sources: Sources = Sources(
            settings, self.models.embedder_for, progress, self._library_engine, self._replay, base
        )

    def serving(
        self,
        identity: Identity,
        *,
        progress: Progress | None = None,
        read: bool | None = None,
        serve_stale: float | None = None,
        origin: RunOrigin | None = None,
        at: float | None = None,
        **changes: Any,
    ) -> "App":
        """Return an app for another user, with changed settings (`changes`, already checked). It shares what this app
        has opened, and only this app closes that; services of a tenant are its own. Thread-safe; takes microseconds.
        For `at` and the others, see `Mode`.
        """
        mode = replace(
            self._mode,
            read=self._mode.read if read is None else read,
            serve_stale=self._serve_stale if serve_stale is None else serve_stale,
            origin=origin or self._mode.origin,
            at=self._mode.at if at is None else at,
        )
        settings = replace(self.settings, **changes) if changes else self.settings
        lender = self._lender or self
        return App(settings, mode, progress=progress or self.progress, identity=identity, lender=lender)

    @cached_property
    def identity(self) -> Identity:
        """The user: the given one, else the owner of the token in the settings; without a token, or for a replay, the
        local user.

        Raises:
            AccessDenied: the token is not valid.
            StoreError: the store cannot be read.
        """
        if self._identity is not None:
            return self._identity
        if self.settings.token is None or self._replay is not None:
            return LOCAL
        return self.databases.tokens.verify(self.settings.token)

    @cached_property
    def store(self) -> Store:
        """The store; for a user with a token, only the rows of its tenant."""
        if self.identity.local:
            return self.databases.store
        from harness.storage.guarded import guarded

        return guarded(self.databases.store, self.identity)

    @cached_property
    def cache(self) -> Cache:
        """The cache of searches, pages, tools and researches.

        Raises:
            AccessDenied: the token is not valid, or a reader's where live calls are required.
            StoreError: the store cannot be opened.
        """
        if not self._mode.read:
            self.identity.require("writer")
        writer = self.identity.may("writer")
        return Cache(
            self.store,
            semantics=self._semantics if self.settings.semantic else None,
            policy=policy_of(
                self.settings, self._mode, replay=self._replay is not None, stale=self._serve_stale, writer=writer
            ),
            auditor=self._auditor,
            tenant=self.identity.tenant,
            clock=self._clock,
            origin=self._mode.origin,
            counted_with=(self.tallies, (self.identity, self._mode.at)),
        )

    @cached_property
    def _auditor(self) -> "Auditor | None":
        """Checks some of the semantic hits; `None` where the setting is 0."""
        if self._lender is not None:
            return self._lender._auditor  # noqa: SLF001 - of the same class
        if not self.settings.audit_rate:
            return None
        from harness.cache.audit import Auditor

        return Auditor(self.settings.audit_rate)

    @cached_property
    def _semantics(self) -> Semantics:
        """The semantic lookup; where passages may be reused, the results of a refused query may answer."""
        settings, embedder, results = self.settings, self.models.embedder, None
        if settings.reading and self._may_reuse:
            from harness.cache.result_reading import ResultReading

            results = ResultReading.of(self.models.reader, embedder, settings.max_wrong)
        return Semantics(
            self.store,
            embedder,
            rule=partial(rule_of, settings=settings),
            verifier=self.models.verifier,
            words=vocabulary,
            results=results,
            max_distance=settings.semantic_cache_threshold,
            candidates=settings.candidates,
            tenant=self.identity.tenant,
        )

    def search(
        self, query: str, specs: Sequence[str] = (), *, reuse: bool = False
    ) -> "tuple[list[EngineSearch], Results]":
        """Search one query with the engines that `specs` name, through the cache; return the outcome of each engine,
        and the fused results. With `reuse`, passages that were read before may answer instead, if they suffice.

        Raises:
            InvalidInput: an unusable query or engine.
            SearchError: every engine failed.
            StoreError: the cache cannot be read.
            OfflineMiss: the cache has no answer, and may not make a live call.
        """
        from harness.research.search import search_all

        cache = self.cache  # opened first: if it cannot be, no engine is asked
        self.models.check_language(query)
        engines = self.sources.engines(specs, question=query)
        if reuse and self._may_reuse:
            from harness.research.held_answers import held_answer

            if held := held_answer(query, self.library, engines, self.settings, cache, self.progress):
                return [held], held.results
        return search_all(query, cache, engines, self.settings, self.progress)

    @property
    def _may_reuse(self) -> bool:
        """Whether passages read for other questions may answer: not in evaluations, whose tasks are independent."""
        return self.settings.reuse != "off" and self._mode.read and self._mode.origin in OWN

    @cached_property
    def knowledge(self) -> "Knowledge":
        """The knowledge base of the user's tenant."""
        from harness.knowledge import Knowledge

        return Knowledge(
            self.store,
            self.models.embedder,
            tenant=self.identity.tenant,
            ttl_hours=self.settings.knowledge_ttl_hours,
            floor=self.settings.knowledge_floor,
            words=vocabulary,
            clock=self._clock,
        )

    @cached_property
    def library(self) -> "Library":
        """Every passage that the user's tenant has read."""
        from harness.library import Library, LibraryPolicy

        settings = self.settings
        return Library(
            self.store,
            self.models.embedder,
            tenant=self.identity.tenant,
            policy=LibraryPolicy(
                ttl=settings.library_ttl,
                volatile_ttl=settings.volatile_ttl,
                max_mb=settings.library_max_mb,
                writes=self.cache.policy.write,
            ),
            reader=self.models.reader if settings.reading else None,
            rarity=rarity,
            clock=self._clock,
            detector=self.models.language_detector,
        )

    def _library_engine(self) -> "LibraryEngine":
        return self.library.engine()

    @cached_property
    def history(self) -> "History":
        """Past searches, researches and knowledge of the user's tenant."""
        from harness.research.history import History

        return History(self.store, self.models.embedder, tenant=self.identity.tenant, clock=self._clock)

    @cached_property
    def chat_memory(self) -> "Memory":
        """The memory of conversations of the user's tenant. Nothing is opened or read before it is used.

        Raises:
            InvalidInput: it is disabled, or its backend or embedding model is not usable.
            AccessDenied: the token is not valid.
        """
        from harness.chat import Memory
        from harness.storage.guarded import guarded

        block, databases = self.settings.vector_store, self.databases
        if not block.enabled:
            raise InvalidInput("nothing is remembered: vector_store.enabled is false; set it to true in the settings")
        return Memory(
            lambda: self.store if block.path is None else guarded(databases.memory_file, self.identity),
            self.models.memory_embedder,
            block,
            tenant=self.identity.tenant,
            place=databases.memory_place,
            clock=self._clock,
            journal=self.settings.data_dir / JOURNAL,
            documents_folder=self.sources.documents_folder,
            progress=self.progress,
            rarity=rarity,
        )

    def vector_cache(self, collection: str, embedder: Embedder | None = None) -> "VectorCache":
        """Return the vector cache of a collection: chunks of documents, and solved questions; with the app's embedder,
        or another one.
        """
        from harness.vector_cache import VectorCache

        farthest = self.settings.semantic_cache_threshold
        return VectorCache(
            self.store,
            embedder or self.models.embedder,
            space=collection,
            tenant=self.identity.tenant,
            threshold=1.0 - (MAX_DISTANCE if farthest is None else farthest),
            chunk_tokens=((self._replay and self._replay.run) or self.settings).chunk_tokens,
            clock=self._clock,
        )

    def researcher(
        self,
        specs: Sequence[str] = (),
        *,
        question: str = "",
        epoch: str = "",
        on_text: Callable[[str], None] | None = None,
        on_round: "Callable[[Round], None] | None" = None,
    ) -> "Researcher":
        """Return a researcher with the engines that suit `specs` and `question`; see `Writing` and `Researcher`."""
        from harness.research.assembly import researcher_of
        from harness.research.services import ResearchServices

        settings = replace(self.settings, engine=(specs := self.sources.chosen(specs, question)))
        started = {"settings": run_settings(settings), "refresh": not self._mode.read, "serve_stale": self._serve_stale}
        run = self._replay.run if self._replay else None
        # a wrong setting is found before indexing
        model, embedder = self.models.language_model, self.models.embedder_for(question)
        engines, reader = self.sources.engines(specs, question=question, waits=True), self.sources.reader
        answering, library = self.models.reader, self.library if self._may_reuse else None
        chunks, progress = partial(self.vector_cache, embedder=embedder), self.progress
        services = ResearchServices(
            self.cache, engines, reader, embedder, chunks, progress, rarity, answering, library,
            detector=self.models.language_detector,
        )  # fmt: skip
        return researcher_of(services, model, settings, run, started, epoch=epoch, on_text=on_text, on_round=on_round)

    def resume(
        self,
        run: str,
        *,
        given: Mapping[str, Any] | None = None,
        epoch: str = "",
        sections: int | None = None,
        serve_stale: float | None = None,
        progress: Progress | None = None,
        on_text: Callable[[str], None] | None = None,
        on_round: "Callable[[Round], None] | None" = None,
    ) -> "Research":
        """Resume a run with its own settings; `given` settings, `epoch`, `sections` and `serve_stale` override them.

        Raises:
            NotFound: there is no such run.
            StoreCorrupt: its record cannot be read.
            InvalidInput: its settings are not usable here (see `resumed_start`), or not stored.
            HarnessError: see `Researcher.run`.
        """
        from harness.research.resume import resumed_start

        record = self.cache.runs.get(run)
        start, settings = resumed_start(record, run, self.settings, given or {}, local=self.identity.local)
        with self.serving(
            self.identity,
            progress=progress,
            read=False if start.refresh else None,
            serve_stale=start.serve_stale if serve_stale is None else serve_stale,
            **{name: getattr(settings, name) for name in settings.__struct_fields__},
        ) as app:
            asked, epoch = str(record["question"]), epoch or start.epoch
            researcher = app.researcher(question=asked, epoch=epoch, on_text=on_text, on_round=on_round)
            return researcher.resume(run, sections=sections)

    def close(self, *, hurry: bool = False) -> None:
        """Store the counts, and close what was opened, unless another app has lent it. Audits that are running may take
        a moment to finish, or none with `hurry`; then they are given up.
        """
        made = self.__dict__
        if "chat_memory" in made:
            self.chat_memory.close()
        if self._lender is not None:
            return
        self.tallies.flush()
        try:
            if (auditor := made.get("_auditor")) is not None:
                auditor.close(0.0) if hurry else auditor.close()
        finally:
            self.sources.close()
            self.databases.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _traceback: object) -> None:
        self.close(hurry=kind is not None and issubclass(kind, KeyboardInterrupt))
