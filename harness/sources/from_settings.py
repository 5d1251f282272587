"""Search engines and the page reader, as the settings name them."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from harness.core.foreign_text import foreign_language
from harness.core.locales import ANY, requested_language, tongue_of
from harness.core.locales import AUTO as AUTO_LANGUAGE
from harness.core.search_engines import AUTO, ENGINE_SPECS, KEYED, LIBRARY, alternative_specs, engine_kind
from harness.errors import InvalidInput
from harness.ports import Embedder, PageReader, Progress, SearchEngine
from harness.settings import Settings
from harness.storage.forks import cached_property

if TYPE_CHECKING:
    from harness.core.engine_choice import EngineChoice
    from harness.sources.pages.reader import WebReader
    from harness.storage.opening import Replay


class Sources:
    """The engines and the page reader of one app. `embedder` returns the embedder for a question to corpora,
    `library` the engine over the library. `base` has those of another app, whose web reader is shared.
    """

    def __init__(
        self,
        settings: Settings,
        embedder: Callable[[str], Embedder],
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
        self._chains: dict[tuple[str, bool, str, str], SearchEngine] = {} if base is None else base.chains_for(settings)

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
        return WebReader(
            timeout=settings.page_timeout,
            allowed_hosts=settings.allowed_hosts,
            proxy=settings.proxy,
            robots=settings.robots,
        )

    def chains_for(self, settings: Settings) -> dict[tuple[str, bool, str, str], SearchEngine]:
        """Return the chains of engines that were made, for another app; none if its settings differ."""
        return self._chains if settings == self._settings else {}

    def engines(
        self, specs: Sequence[str] = (), *, question: str = "", waits: bool = False
    ) -> tuple[SearchEngine, ...]:
        """Return the engines that `specs` (`NAME[:ARG]`, else the setting) name; for a replay, the recorded ones. Of
        engines with commas between them, the first that works answers; `auto` are those that suit `question`. They
        search in the language of the settings, else in that of the question.

        With `waits`, a corpus first embeds its new passages (see `Corpus`), so that the search can be repeated exactly.

        Raises:
            InvalidInput: no such engine, a missing or unusable argument, or one named twice.
            StoreError: the index of a corpus cannot be written.
        """
        if self._replay is not None and (run := self._replay.run) is not None:
            from harness.storage.recorded import recorded_engine

            return tuple(recorded_engine(engine.name, engine.options) for engine in run.engines)
        settings = in_language(self._settings, question)
        return tuple(self._engine(spec, settings, question, waits=waits) for spec in self.chosen(specs, question))

    def chosen(self, specs: Sequence[str] = (), question: str = "") -> tuple[str, ...]:
        """Return the engines that `specs` (else the setting) name, with those that suit the question for `auto`.

        Raises:
            InvalidInput: one is named twice.
        """
        named = tuple(specs) or self._settings.engine
        every = [each for spec in named for each in alternative_specs(spec)]
        if len(set(every)) < len(every):
            raise InvalidInput(f"an engine is named twice: {', '.join(named)}")
        if AUTO not in named:
            return named
        suited = self.suited(question).specs
        in_chains = {each for spec in suited for each in alternative_specs(spec)}
        given = [(spec,) if spec != AUTO else suited for spec in named if spec == AUTO or spec not in in_chains]
        return tuple(dict.fromkeys(each for specs in given for each in specs))

    def suited(self, question: str) -> "EngineChoice":
        """Return the engines that suit a question: of those for the whole web, all that are set up, in order."""
        from harness.core.engine_choice import EngineChoice, chosen_engines

        if self._settings.proxy:  # the others do not go through it
            return EngineChoice(("ddgs",), "general", ())
        keyed = (name for name in KEYED if (getattr(self._settings, f"{name}_api_key") or "").strip())
        return chosen_engines(question, ",".join(["ddgs", *keyed]))

    def check(self) -> None:
        """Check the engines of the settings within milliseconds: no corpus is read or indexed.

        Raises:
            InvalidInput: see `engines`; a corpus without documents is not noticed.
        """
        settings = in_language(self._settings, "")
        for spec in (each for chosen in self.chosen() for each in alternative_specs(chosen)):
            name, _, argument = spec.partition(":")
            if name == "corpus":
                from harness.sources.corpus.engine import source_of

                source_of(argument)
            elif spec != LIBRARY:
                self._engine(spec, settings, "", waits=False)

    def _engine(self, spec: str, settings: Settings, question: str, *, waits: bool) -> SearchEngine:
        if len(alternatives := alternative_specs(spec)) > 1:
            from harness.sources.engines.failover import Failover

            key = (spec, waits, settings.language, foreign_language(question))
            if key not in self._chains:  # it knows which engine failed last
                made = [self._engine(each, settings, question, waits=waits) for each in alternatives]
                self._chains[key] = Failover(made)
            return self._chains[key]
        if spec == AUTO:
            raise InvalidInput(f"{AUTO} cannot replace another engine; give it by itself: --engine {AUTO}")
        name, _, argument = spec.partition(":")
        if name == "corpus":
            from harness.sources.corpus.engine import open_corpus

            embedder = self._embedder(question) if settings.corpus_meaning else None
            return open_corpus(argument, settings.data_dir / "corpora", self._progress, embedder, waits=waits)
        return self._library() if spec == LIBRARY else _remote(name, argument, settings)

    def close(self) -> None:
        """Close the connections of the web reader."""
        if self._base is None and "web_reader" in self.__dict__:
            self.web_reader.close()


def in_language(settings: Settings, question: str) -> Settings:
    """Return settings whose `language` is the one to search a question in: a code, or `any`. A language that is set
    replaces a region of ddgs for another language and the language of SearXNG; that of the question does not.

    Raises:
        InvalidInput: the setting is not a language.
    """
    language = requested_language(settings.language, question)
    if settings.language in {AUTO_LANGUAGE, ANY}:
        return replace(settings, language=language)
    fits = language == tongue_of(language) == (settings.ddgs_region or "").partition("-")[2]
    region = settings.ddgs_region if fits else None
    return replace(settings, language=language, ddgs_region=region, searxng_language="auto")


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
        per_minute=min(settings.searches_per_minute, kind.per_minute),
        retries=settings.rate_limit_retries,
    )
