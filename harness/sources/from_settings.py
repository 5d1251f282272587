"""Search engines by their names: what the settings say of each."""

from harness.errors import InvalidInput
from harness.ports import Embedder, Progress, SearchEngine
from harness.settings import Settings


def engine_for(spec: str, settings: Settings, embedder: Embedder, progress: Progress, *, waits: bool) -> SearchEngine:
    """Return the engine that `spec` (`NAME[:ARG]`) names; what asks others is spaced by the gate. `embedder` is for
    what is searched here; whether the caller `waits` for its vectors, see `Corpus`.

    Raises:
        InvalidInput: no such engine, a missing or unusable argument.
    """
    name, _, argument = spec.partition(":")
    match name:
        case "corpus":
            from harness.sources.corpus.engine import open_corpus

            meaning = embedder if settings.corpus_meaning else None
            return open_corpus(argument, settings.data_dir / "corpora", progress, meaning, waits=waits)
        case "searxng":
            return _gated(_searxng(argument, settings), settings)
        case "ddgs" | "pubmed" | "browser" if argument:
            raise InvalidInput(f"the engine {name} takes no argument, not {argument!r}; see `harness config`")
        case "ddgs":
            return _gated(_ddgs(settings), settings)
        case "pubmed":
            return _gated(_pubmed(settings), settings)
        case "browser":
            return _gated(_browser(settings), settings)
    raise InvalidInput(
        f"no such engine: {name!r}; choose ddgs, searxng:URL, pubmed, browser, corpus:python-docs or corpus:PATH"
    )


def check_engine(spec: str, settings: Settings, embedder: Embedder, progress: Progress) -> None:
    """Check what `spec` names; a corpus is neither read nor indexed.

    Raises:
        InvalidInput: see `engine_for`.
    """
    name, _, argument = spec.partition(":")
    if name == "corpus":
        from harness.sources.corpus.engine import source_of

        source_of(argument)
    else:
        engine_for(spec, settings, embedder, progress, waits=False)


def _gated(engine: SearchEngine, settings: Settings) -> SearchEngine:
    from harness.sources.engines.rate_limit import GatedEngine

    return GatedEngine(
        engine,
        settings.data_dir / "gates",
        per_minute=settings.searches_per_minute,
        retries=settings.rate_limit_retries,
    )


def _ddgs(settings: Settings) -> SearchEngine:
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


def _pubmed(settings: Settings) -> SearchEngine:
    from harness.sources.engines.pubmed import PubMed

    _refuse_proxy("pubmed", settings)
    return PubMed(api_key=settings.pubmed_api_key, email=settings.pubmed_email, timeout=settings.search_timeout)


def _browser(settings: Settings) -> SearchEngine:
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
    if settings.proxy:  # to ignore it would let the traffic out another way
        raise InvalidInput(f"the engine {engine} does not go through a proxy; unset `proxy` to use it")
