"""The one place where settings become objects: every adapter and service is made here, when first needed, once."""

from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from harness.cache import Cache
from harness.errors import InvalidInput
from harness.ports import Embedder, Progress, SearchEngine, Store
from harness.settings import Settings

if TYPE_CHECKING:
    from harness.research.run import Researcher

DATABASE = "harness.db"


def _silent(what: str, done: int, total: int) -> None:
    """Show no progress."""


class Workbench:
    """Everything that one run of the harness works with. Use it as a context manager, or close it.

    `database` is another SQLite file than `harness.db` in the data directory. `progress` is told about long work.
    """

    def __init__(self, settings: Settings, *, database: Path | None = None, progress: Progress = _silent) -> None:
        self.settings = settings
        self.database = database or settings.data_dir / DATABASE
        self._progress = progress

    @cached_property
    def store(self) -> Store:
        """The store, opened and brought up to date."""
        from harness.stores.sqlite import SqliteStore

        return SqliteStore(self.database)

    @cached_property
    def cache(self) -> Cache:
        """The cache of searches and researches."""
        return Cache(self.store)

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder; its weights are loaded at the first text."""
        from harness.embedders.minilm import MiniLM

        return MiniLM()

    def engine(self, spec: str | None = None) -> SearchEngine:
        """Return the engine that `spec` (`NAME[:ARG]`, else the setting) names.

        Raises:
            InvalidInput: no such engine, a missing or unusable argument.
        """
        name, _, argument = (spec or self.settings.engine).partition(":")
        match name:
            case "ddgs":
                return self._ddgs(argument)
            case "corpus":
                from harness.engines.corpus import open_corpus

                return open_corpus(argument, self.settings.data_dir / "corpora", self._progress)
        raise InvalidInput(f"no such engine: {name!r}; choose ddgs, corpus:python-docs or corpus:PATH")

    def researcher(self, spec: str | None = None) -> "Researcher":
        """Return what leads a research with the engine that `spec` names."""
        from harness.research.gather import Limits
        from harness.research.run import Researcher

        settings = self.settings
        limits = Limits(settings.max_rounds, settings.min_novelty, settings.max_results, settings.concurrency)
        return Researcher(
            self.cache,
            self.engine(spec),
            self.embedder,
            limits=limits,
            ttl=settings.ttl,
            keep_research=settings.research_cache,
            progress=self._progress,
        )

    def close(self) -> None:
        """Close the store, if it was opened."""
        if "store" in self.__dict__:
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _ddgs(self, argument: str) -> SearchEngine:
        from harness.engines.ddgs import DuckDuckGo

        if argument:
            raise InvalidInput(f"the engine ddgs takes no argument, not {argument!r}; see ddgs_… in `harness config`")
        settings = self.settings
        return DuckDuckGo(
            backends=settings.ddgs_backends,
            region=settings.ddgs_region,
            safesearch=settings.ddgs_safesearch,
            timelimit=settings.ddgs_timelimit,
            proxy=settings.proxy,
            timeout=settings.search_timeout,
        )
