"""Search engines and the page reader, as the settings name them."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.search_engines import ENGINE_SPECS, LIBRARY, engine_kind
from harness.errors import InvalidInput
from harness.ports import Embedder, PageReader, Progress, SearchEngine
from harness.settings import Settings
from harness.storage.forks import cached_property

if TYPE_CHECKING:
    from harness.sources.pages.reader import WebReader
    from harness.storage.opening import Replay


class Sources:
    """The engines and the page reader of one app. `embedder` returns the embedder for corpora, `library` the
    engine over the library. `base` has those of another app, whose web reader is shared.
    """

    def __init__(
        self,
        settings: Settings,
        embedder: Callable[[], Embedder],
        progress: Progress,
        library: Callable[[], SearchEngine],
        replay: "Replay | None" = None,
        base: "Sources | None" = None,
    ) -> None:
        self._library = library
        self._settings = settings
        self._embedder = embedder
        self._progress = progress
        self._replay = replay
        self._base = base

    @property
    def documents_folder(self) -> Path:
        """The folder of the documents `docs:NAME`."""
        return self._settings.vector_store.documents_folder or self._settings.data_dir / "documents"

    @property
    def reader(self) -> PageReader:
        """The page reader; for a replay, the recorded one."""
        if self._replay is not None and (run := self._replay.run) is not None:
            from harness.storage.recorded import RecordedReader

            return RecordedReader(run.reader)
        return self.web_reader

    @cached_property
    def web_reader(self) -> "WebReader":
        """The reader of pages on the web."""
        if self._base is not None:
            return self._base.web_reader
        from harness.sources.pages.reader import WebReader

        settings = self._settings
        return WebReader(timeout=settings.page_timeout, allowed_hosts=settings.allowed_hosts, proxy=settings.proxy)

    def engines(self, specs: Sequence[str] = (), *, waits: bool = False) -> tuple[SearchEngine, ...]:
        """Return the engines that `specs` (`NAME[:ARG]`, else the setting) name; for a replay, the recorded ones.

        With `waits`, a corpus first embeds its new passages (see `Corpus`), so that the search can be repeated exactly.

        Raises:
            InvalidInput: no such engine, a missing or unusable argument, or one named twice.
            StoreError: the index of a corpus cannot be written.
        """
        if self._replay is not None and (run := self._replay.run) is not None:
            from harness.storage.recorded import RecordedEngine

            return tuple(RecordedEngine(engine.name, engine.options) for engine in run.engines)
        return tuple(self._engine(spec, waits=waits) for spec in self._checked(specs))

    def check(self) -> None:
        """Check the engines of the settings within milliseconds: no corpus is read or indexed.

        Raises:
            InvalidInput: see `engines`; a corpus without documents is not noticed.
        """
        for spec in self._checked(()):
            name, _, argument = spec.partition(":")
            if name == "corpus":
                from harness.sources.corpus.engine import source_of

                source_of(argument)
            elif spec != LIBRARY:
                self._engine(spec, waits=False)

    def _checked(self, specs: Sequence[str]) -> tuple[str, ...]:
        specs = tuple(specs) or self._settings.engine
        if len(set(specs)) < len(specs):
            raise InvalidInput(f"an engine is named twice: {', '.join(specs)}")
        return specs

    def _engine(self, spec: str, *, waits: bool) -> SearchEngine:
        name, _, argument = spec.partition(":")
        settings = self._settings
        if name == "corpus":
            from harness.sources.corpus.engine import open_corpus

            embedder = self._embedder() if settings.corpus_meaning else None
            return open_corpus(argument, settings.data_dir / "corpora", self._progress, embedder, waits=waits)
        return self._library() if spec == LIBRARY else _remote(name, argument, settings)

    def close(self) -> None:
        """Close the connections of the web reader."""
        if self._base is None and "web_reader" in self.__dict__:
            self.web_reader.close()


def _remote(name: str, argument: str, settings: Settings) -> SearchEngine:
    """Return an engine that sends requests, rate-limited.

    Raises:
        InvalidInput: no such engine, or an unusable argument.
    """
    kind = engine_kind(name)
    if kind is None:
        raise InvalidInput(f"no such engine: {name!r}; choose {ENGINE_SPECS}")
    if argument and not kind.argument:
        raise InvalidInput(f"the engine {name} takes no argument, not {argument!r}; see `harness config`")
    if settings.proxy and not kind.proxy:  # a direct connection would bypass it
        raise InvalidInput(f"the engine {name} does not go through a proxy; unset `proxy` to use it")
    from harness.sources.engines.rate_limit import RateLimitedEngine

    engine: SearchEngine = import_module(f"harness.sources.engines.{name}").from_settings(argument, settings)
    return RateLimitedEngine(
        engine,
        settings.data_dir / "gates",
        per_minute=settings.searches_per_minute,
        retries=settings.rate_limit_retries,
    )
