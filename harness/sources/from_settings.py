"""Search engines and the page reader, as the settings name them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InvalidInput
from harness.ports import Embedder, PageReader, Progress, SearchEngine
from harness.settings import Settings
from harness.storage.made_once import made_once

if TYPE_CHECKING:
    from harness.sources.pages.reader import WebReader
    from harness.storage.opening import Replay


class Sources:
    """The engines and the page reader of one app. `embedder` returns the embedder for corpora. `base` has those of
    another app, whose web reader is shared.
    """

    def __init__(
        self,
        settings: Settings,
        embedder: Callable[[], Embedder],
        progress: Progress,
        replay: "Replay | None" = None,
        base: "Sources | None" = None,
    ) -> None:
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

    @made_once
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
            else:
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
        return _remote(name, argument, settings)

    def close(self) -> None:
        """Close the connections of the web reader."""
        if self._base is None and "web_reader" in self.__dict__:
            self.web_reader.close()


def _remote(name: str, argument: str, settings: Settings) -> SearchEngine:
    """Return an engine that sends requests, rate-limited.

    Raises:
        InvalidInput: no such engine, or an unusable argument.
    """
    if name not in _REMOTE:
        raise InvalidInput(
            f"no such engine: {name!r}; choose ddgs, searxng:URL, pubmed, browser, corpus:python-docs or corpus:PATH"
        )
    if argument and name != "searxng":
        raise InvalidInput(f"the engine {name} takes no argument, not {argument!r}; see `harness config`")
    from harness.sources.engines.rate_limit import RateLimitedEngine

    return RateLimitedEngine(
        _REMOTE[name](argument, settings),
        settings.data_dir / "gates",
        per_minute=settings.searches_per_minute,
        retries=settings.rate_limit_retries,
    )


def _ddgs(_argument: str, settings: Settings) -> SearchEngine:
    from harness.sources.engines.ddgs import DuckDuckGo

    return DuckDuckGo(
        backends=settings.ddgs_backends,
        region=settings.ddgs_region,
        safesearch=settings.ddgs_safesearch,
        timelimit=settings.ddgs_timelimit,
        proxy=settings.proxy,
        timeout=settings.search_timeout,
    )


def _searxng(address: str, settings: Settings) -> SearchEngine:
    from harness.sources.engines.searxng import Searxng

    _refuse_proxy("searxng", settings)
    return Searxng(
        address or settings.searxng_url or "",
        language=settings.searxng_language,
        time_range=settings.searxng_time_range,
        timeout=settings.search_timeout,
    )


def _pubmed(_argument: str, settings: Settings) -> SearchEngine:
    from harness.sources.engines.pubmed import PubMed

    _refuse_proxy("pubmed", settings)
    return PubMed(api_key=settings.pubmed_api_key, email=settings.pubmed_email, timeout=settings.search_timeout)


def _browser(_argument: str, settings: Settings) -> SearchEngine:
    from harness.sources.engines.browser import Browser

    _refuse_proxy("browser", settings)
    return Browser(
        headless=settings.browser_headless,
        executable=settings.browser_executable,
        region=settings.ddgs_region,
        timelimit=settings.ddgs_timelimit,
        timeout=settings.browser_timeout,
    )


def _refuse_proxy(engine: str, settings: Settings) -> None:
    if settings.proxy:  # a direct connection would bypass it
        raise InvalidInput(f"the engine {engine} does not go through a proxy; unset `proxy` to use it")


_REMOTE: dict[str, Callable[[str, Settings], SearchEngine]] = {
    "ddgs": _ddgs,
    "searxng": _searxng,
    "pubmed": _pubmed,
    "browser": _browser,
}
"""The engines that send requests: each function takes what follows the colon and the settings."""
