"""Settings of search engines and of pages."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from harness.core.locales import check_language
from harness.core.search_engines import ENGINE_SPECS
from harness.settings.kinds import LOCAL, REACHES, Seconds, Secret, checked_by, flag


class EngineSettings(Struct, frozen=True, kw_only=True):
    """Settings of the search engines."""

    engine: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        flag("--engine", "-e", metavar="NAME[:ARG]"),
        REACHES,
        Meta(
            min_length=1,
            description=f"search engines, fused by rank: {ENGINE_SPECS}",
        ),
    ] = ("ddgs",)
    language: Annotated[
        str,
        flag("--language", metavar="CODE"),
        checked_by(check_language),
        Meta(
            description="language to search in, as de or pt-BR, for engines that know one; auto: that of the question; "
            "any: none is requested"
        ),
    ] = "auto"
    search_timeout: Annotated[Seconds, Meta(gt=0, le=300, description="seconds to wait for a search engine")] = 10.0
    searches_per_minute: Annotated[
        float,
        LOCAL,
        Meta(
            ge=0.01, le=60_000, description="maximum number of live searches of one engine a minute, over all processes"
        ),
    ] = 30.0
    rate_limit_retries: Annotated[
        int, LOCAL, Meta(ge=0, le=10, description="retries of a search that an engine refused as one too many")
    ] = 2
    ddgs_backends: Annotated[tuple[str, ...], Meta(min_length=1, description="backends of ddgs, in this order")] = (
        "duckduckgo",
    )
    ddgs_region: Annotated[
        Annotated[str, Meta(pattern="^[a-z]{2}-[a-z]{2}$")] | None,
        Meta(description="country and language for ddgs, as uk-en; not set: by language, us-en for English"),
    ] = None
    ddgs_safesearch: Annotated[Literal["on", "moderate", "off"], Meta(description="safe search of ddgs")] = "moderate"
    ddgs_timelimit: Annotated[
        Literal["d", "w", "m", "y"] | None, Meta(description="only results of the last day, week, month or year")
    ] = None
    searxng_url: Annotated[Secret | None, Meta(description="address of SearXNG for the engine searxng")] = None
    searxng_language: Annotated[
        str,
        Meta(
            pattern="^(auto|all|[a-z]{2,3}(-[A-Za-z]{2,4})?)$",
            description="language of SearXNG's results, as pt-BR; auto: by language, else SearXNG guesses it",
        ),
    ] = "auto"
    searxng_time_range: Annotated[
        Literal["day", "week", "month", "year"] | None,
        Meta(description="only SearXNG's results of the last day, week, month or year"),
    ] = None
    pubmed_api_key: Annotated[Secret | None, Meta(description="key of NCBI: 10 requests a second instead of 3")] = None
    pubmed_email: Annotated[str | None, LOCAL, Meta(description="address to send to NCBI, which requests one")] = None
    contact_email: Annotated[
        str | None,
        LOCAL,
        Meta(pattern="^[!-~]+@[!-~]+$", description="address to send to crossref, openalex and europepmc"),
    ] = None
    openalex_api_key: Annotated[
        Secret | None, Meta(description="key of OpenAlex, free: 1,000 searches a day instead of 100")
    ] = None
    semanticscholar_api_key: Annotated[
        Secret | None, Meta(description="key of Semantic Scholar: a separate share instead of the public one")
    ] = None
    github_token: Annotated[
        Secret | None, Meta(description="token of GitHub: 30 searches a minute instead of 10, and code")
    ] = None
    stackexchange_key: Annotated[
        Secret | None, Meta(description="key of Stack Exchange: 10,000 requests a day instead of 300")
    ] = None
    brave_api_key: Annotated[Secret | None, Meta(description="key of Brave Search, for the engine brave")] = None
    serper_api_key: Annotated[Secret | None, Meta(description="key of serper.dev, for the engine serper")] = None
    exa_api_key: Annotated[Secret | None, Meta(description="key of Exa, for the engine exa")] = None
    browser_executable: Annotated[
        str | None, LOCAL, Meta(description="Chromium for the engine browser; not set: the one on PATH")
    ] = None
    browser_headless: Annotated[bool, Meta(description="run the browser without a window")] = True
    browser_timeout: Annotated[Seconds, Meta(gt=0, le=300, description="seconds for one search by browser")] = 30.0
    corpus_meaning: Annotated[
        bool, Meta(description="search a corpus by meaning as well as by words; embeds its passages once")
    ] = True
    proxy: Annotated[
        Secret | None, LOCAL, Meta(description="proxy for searches, as http://user:password@host:port")
    ] = None


class PageSettings(Struct, frozen=True, kw_only=True):
    """Settings of reading pages from the web."""

    page_timeout: Annotated[Seconds, Meta(gt=0, le=300, description="seconds to wait for a whole page")] = 20.0
    allowed_hosts: Annotated[
        tuple[str, ...],
        REACHES,
        Meta(description="hosts (HOST or HOST:PORT) to read pages from although their address is private"),
    ] = ()
    robots: Annotated[
        bool, LOCAL, Meta(description="read only pages that the robots.txt of their site allows to research-harness")
    ] = True
