"""The one place where settings become objects: every adapter and service is made here, when first needed, once."""

import logging
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from harness.cache import Cache, Policy, Semantics
from harness.errors import InvalidInput
from harness.ports import (
    Embedder,
    LanguageModel,
    PageReader,
    Progress,
    SearchEngine,
    Store,
)
from harness.settings import Settings, key_in

if TYPE_CHECKING:
    from harness.cache import Results
    from harness.core.equivalence import Rule
    from harness.pages.reader import WebReader
    from harness.research.run import Researcher
    from harness.research.searching import Asked
    from harness.stores.snapshot import Header, Line
    from harness.vector_cache import VectorCache

DATABASE = "harness.db"

log = logging.getLogger(__name__)


def _silent(what: str, done: int, total: int) -> None:
    """Show no progress."""


class Workbench:
    """Everything that one run of the harness works with. Use it as a context manager, or close it.

    `database` is another SQLite file than `harness.db` in the data directory. `progress` is told about long work.
    `read` and `write` say whether the cache is looked up and stored (see `Policy`); `replay` names a snapshot that
    answers instead of it; `serve_stale` is another window for stale answers than the setting's. `at` is the time
    (seconds since the epoch) that it is for whatever expires; the real one if `None`.
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
    ) -> None:
        if (settings.offline or replay) and not read:
            which = "--offline" if replay is None else "--replay"
            raise InvalidInput(f"with {which} only what is cached can answer; leave out --refresh and --no-cache")
        self.settings = settings
        self.database = database or settings.data_dir / DATABASE
        self.progress = progress
        self._read = read
        self._write = write
        self._replay = replay
        self._clock = time.time if at is None else lambda: at
        self._serve_stale = settings.stale_if_error if serve_stale is None else serve_stale

    @cached_property
    def store(self) -> Store:
        """The store, opened and brought up to date; replaying, the snapshot."""
        if self._replay is not None:
            from harness.stores.snapshot import SnapshotStore

            return SnapshotStore(self.snapshot[1])
        from harness.stores.sqlite import SqliteStore

        return SqliteStore(self.database)

    @cached_property
    def snapshot(self) -> "tuple[Header, list[Line]]":
        """The snapshot that is replayed, checked."""
        from harness.stores.snapshot import read_snapshot

        if self._replay is None:
            raise InvalidInput("no snapshot is replayed; name one with --replay FILE")
        return read_snapshot(self._replay)

    @cached_property
    def cache(self) -> Cache:
        """The cache of searches and researches."""
        settings, replay = self.settings, self._replay is not None
        policy = Policy(
            read=self._read,
            write=self._write and not replay,
            offline=settings.offline or replay,
            replay=replay,
            stale_if_error=self._serve_stale,
            keep_expired=max(self._serve_stale, settings.stale_if_error),
            volatile_ttl=settings.volatile_ttl,
            negative_ttl=settings.negative_ttl,
            jitter=settings.ttl_jitter,
        )
        semantics = self.semantics if settings.semantic else None
        return Cache(self.store, semantics=semantics, policy=policy, clock=self._clock)

    @cached_property
    def semantics(self) -> Semantics:
        """The look-up by meaning."""
        from harness.embedders.minilm import vocabulary

        return Semantics(
            self.store,
            self.embedder,
            rule=lambda: self.rule,
            words=vocabulary,
            max_distance=self.settings.semantic_cache_threshold,
            candidates=self.settings.candidates,
        )

    @property
    def rule_file(self) -> Path:
        """Where the acceptance rule is kept that somebody has calibrated on pairs of their own."""
        return self.settings.data_dir / "acceptance.json"

    @cached_property
    def rule(self) -> "Rule":
        """The acceptance rule: one's own, else the one shipped, at the setting `max_wrong`."""
        import msgspec

        from harness.core.equivalence import Rule, rule_for

        try:
            rule = msgspec.json.decode(self.rule_file.read_bytes(), type=Rule)
        except FileNotFoundError:
            return rule_for(self.settings.max_wrong)
        except (OSError, msgspec.MsgspecError) as error:
            raise InvalidInput(
                f"the acceptance rule {self.rule_file} cannot be used ({error}); calibrate again, or remove the file"
            ) from error
        return rule if rule.max_wrong <= self.settings.max_wrong else rule_for(self.settings.max_wrong)

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder: the endpoint's, if one is set and answers, else the local one, which loads its weights at the
        first text. Offline it is the local one; replaying, the one of the time by its name, if it was another.

        Raises:
            InvalidInput: the variable that is to hold the endpoint's key holds none; an unusable address or key.
        """
        from harness.embedders.minilm import MiniLM

        settings, local = self.settings, MiniLM()
        if self._replay is not None:
            from harness.embedders.recorded import RecordedEmbedder

            of_then = local.id if (run := self.snapshot[0].run) is None else run.embedder
            return local if of_then == local.id else RecordedEmbedder(of_then)
        if settings.embedding_model is None:
            return local
        if settings.offline:
            log.debug("offline, %s is not asked: the local model serves", settings.embedding_model)
            return local
        from harness.embedders.available import FirstAvailable
        from harness.embedders.openai_compatible import OpenAIEmbedder

        endpoint = OpenAIEmbedder(
            settings.embedding_model,
            settings.embedding_url,
            api_key=key_in(settings.embedding_key_variable),
            key_variable=settings.embedding_key_variable or "embedding_key_variable",
            timeout=settings.embedding_timeout,
        )
        return FirstAvailable(endpoint, local)

    @property
    def reader(self) -> PageReader:
        """The reader of pages; replaying, the one of the time."""
        if self._replay is not None and (run := self.snapshot[0].run) is not None:
            from harness.stores.recorded import RecordedReader

            return RecordedReader(run.reader)
        return self.web_reader

    @cached_property
    def web_reader(self) -> "WebReader":
        """The reader of pages from the web."""
        from harness.pages.reader import WebReader

        settings = self.settings
        return WebReader(timeout=settings.page_timeout, allowed_hosts=settings.allowed_hosts, proxy=settings.proxy)

    def engines(self, specs: Sequence[str] = ()) -> tuple[SearchEngine, ...]:
        """Return the engines that `specs` (`NAME[:ARG]`, else the setting) name; replaying, those of the time.

        Raises:
            InvalidInput: no such engine, a missing or unusable argument, or one named twice.
        """
        if self._replay is not None and (run := self.snapshot[0].run) is not None:
            from harness.stores.recorded import RecordedEngine

            return tuple(RecordedEngine(engine.name, engine.options) for engine in run.engines)
        named = tuple(specs) or self.settings.engine
        if len(set(named)) < len(named):
            raise InvalidInput(f"an engine is named twice: {', '.join(named)}")
        from harness.workbench.engines import engine_for

        return tuple(engine_for(spec, self.settings, self.embedder, self.progress) for spec in named)

    def search(self, query: str, specs: Sequence[str] = ()) -> "tuple[list[Asked], Results]":
        """Ask the engines that `specs` name one query, through the cache; return what came of each, and the results.

        Raises:
            InvalidInput: an unusable query or engine.
            SearchError: every engine failed.
            StoreError: the cache cannot be read.
            OfflineMiss: the cache has no answer, and may not compute one.
        """
        from harness.research.searching import ask_all, results_of

        settings, cache = self.settings, self.cache  # opened first: if it cannot be, no engine is asked
        asked = ask_all(
            [query],
            cache,
            self.engines(specs),
            ttl=settings.ttl,
            max_results=settings.max_results,
            concurrency=settings.concurrency,
            progress=self.progress,
            what="searching",
        )
        return asked, results_of(asked, settings.max_results)

    @cached_property
    def model(self) -> LanguageModel | None:
        """The language model, if one is set; replaying, the one of the time.

        Raises:
            InvalidInput: the variable that is to hold its key holds none.
        """
        settings = self.settings
        if self._replay is not None and (run := self.snapshot[0].run) is not None:
            from harness.stores.recorded import RecordedModel

            held = run.model
            return None if held is None else RecordedModel(held.name, held.endpoint, held.parameters)
        if settings.model is None:
            return None
        from harness.models.openai_compatible import OpenAICompatible

        return OpenAICompatible(
            settings.model,
            settings.model_url,
            api_key=key_in(settings.model_key_variable),
            key_variable=settings.model_key_variable or "OPENAI_API_KEY",
            temperature=settings.model_temperature,
            max_tokens=settings.model_max_tokens,
            timeout=settings.model_timeout,
        )

    def memory(self, space: str) -> "VectorCache":
        """Return the vector cache of a space: chunks of documents, and questions that were solved."""
        from harness.vector_cache import VectorCache

        threshold = 1.0 - self.settings.semantic_cache_threshold
        run = self.snapshot[0].run if self._replay is not None else None
        return VectorCache(
            self.store,
            self.embedder,
            space=space,
            threshold=threshold,
            chunk_tokens=(run or self.settings).chunk_tokens,
            clock=self._clock,
        )

    def researcher(
        self, specs: Sequence[str] = (), *, epoch: str = "", on_text: Callable[[str], None] | None = None
    ) -> "Researcher":
        """Return what leads a research with the engines that `specs` name; see `Writing` for `epoch` and `on_text`."""
        from harness.research.evidence import Choice
        from harness.research.gathered import Lifetimes, Limits
        from harness.research.model_planner import ModelPlanner
        from harness.research.planner import Planner, RulePlanner
        from harness.research.run import Researcher, Writing

        settings = self.settings
        run = self.snapshot[0].run if self._replay is not None else None
        asked = run or settings  # what is replayed is bounded as it was
        epoch = run.epoch if run else epoch
        planner: Planner = RulePlanner(asked.follow_ups)
        if self.model is not None:
            planner = ModelPlanner(self.model, epoch=epoch, follow_ups=asked.follow_ups)
        return Researcher(
            self.cache,
            self.engines(specs),
            self.reader,
            self.embedder,
            self.memory,
            planner=planner,
            writing=Writing(
                self.model,
                asked.context_tokens,
                settings.model_max_tokens,
                asked.strict,
                epoch,
                on_text,
                Choice(asked.max_evidence, asked.per_source, asked.ranking_weights),
                asked.writer_style,
            ),
            limits=Limits(
                asked.max_rounds,
                asked.enough_score,
                asked.min_novelty,
                asked.max_results,
                asked.read_pages,
                settings.concurrency,
                asked.max_live_calls,
                None if run else settings.max_seconds,
                asked.max_tokens,
                asked.follow_ups,
                asked.chunk_tokens,
            ),
            lifetimes=Lifetimes(settings.ttl, settings.page_ttl),
            keep_research=asked.research_cache,
            progress=self.progress,
        )

    def close(self) -> None:
        """Keep what has been counted, and close what was opened."""
        if "web_reader" in self.__dict__:
            self.web_reader.close()
        if "cache" in self.__dict__:
            self.cache.flush()
        if "store" in self.__dict__:
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
