"""The settings: what each is, what it may be, and what it is when nobody says."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

import platformdirs
from msgspec import Meta, Struct, field

from harness.core.freshness import DAY, DEFAULT_TTL, HOUR, MAX_TTL, TOOL_TTL_HOURS
from harness.core.search_engines import ENGINE_SPECS
from harness.errors import InvalidInput

if TYPE_CHECKING:  # cutting needs what takes long to import
    from harness.core.chunking import Chunking

APP = "harness"

Count: TypeAlias = Annotated[int, Meta(ge=1)]
Weight: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Secret: TypeAlias = Annotated[str, Meta(extra={"secret": True})]
Seconds: TypeAlias = Annotated[float, Meta(extra={"unit": "s"})]
Hours: TypeAlias = Annotated[float, Meta(extra={"unit": "h"})]
"""Durations: as text they may name another unit, as 7d (see `harness.core.durations`)."""

DYNAMIC_THRESHOLDS = (0.5, 0.75)


def default_data_dir() -> Path:
    """Return the platform's directory for what programs keep."""
    return platformdirs.user_data_path(APP, appauthor=False)


class VectorStoreSettings(Struct, frozen=True, kw_only=True):
    """The block `vector_store`: what conversations remember, and how it is found again."""

    enabled: Annotated[bool, Meta(description="whether conversations are remembered and looked up")] = True
    backend: Annotated[
        Literal["sqlite", "chroma"] | None,
        Meta(
            description="sqlite or chroma: memories are in a SQLite file, and vectors beyond 10,000 in a Chroma index "
            "next to it; none: in the store, whichever it is"
        ),
    ] = None
    path: Annotated[Path | None, Meta(description="another SQLite file for what is remembered; none: the store")] = None
    collection_name: Annotated[
        str,
        Meta(
            pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
            description="what is remembered under one name is looked up together",
        ),
    ] = "conversations"
    context_results: Annotated[int, Meta(ge=0, le=50, description="memories that a question is given at the most")] = 5
    search_context_window: Annotated[
        int,
        Meta(ge=0, le=20, description="exchanges before a question that it is looked up by, too; 0 by itself alone"),
    ] = 3
    retrieval_strategy: Annotated[
        str,
        Meta(
            pattern="^[a-z0-9][a-z0-9_-]{0,63}$",
            description="how memories are found: default (cosine), dynamic, hybrid (words, too), or one installed",
        ),
    ] = "hybrid"
    similarity_threshold: Annotated[
        float, Meta(ge=0, le=1, description="least similarity of a memory, for the strategy default")
    ] = 0.65
    similarity_floor: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="least similarity of a memory that a question is given, for every strategy; one that has the "
            "question's rarest word and most others is given in any case",
        ),
    ] = 0.15
    dynamic_threshold: Annotated[
        tuple[Weight, Weight] | bool,
        Meta(
            description="least similarity at a conversation's start and when it is long, for the strategy dynamic; "
            "true chooses that strategy"
        ),
    ] = DYNAMIC_THRESHOLDS
    dynamic_messages: Annotated[
        int, Meta(ge=1, le=10_000, description="messages after which a conversation counts as long, for dynamic")
    ] = 20
    embedding_provider: Annotated[
        Literal["openai", "ollama", "local"] | None,
        Meta(description="who makes the vectors of memories; none: the embedder of everything else"),
    ] = None
    embedding_model: Annotated[str | None, Meta(description="model of that provider, as nomic-embed-text")] = None
    embedding_url: Annotated[
        str | None, Meta(description="OpenAI-compatible endpoint; none: the provider's own address")
    ] = None
    embedding_key_variable: Annotated[
        str | None, Meta(description="environment variable that holds its key; none: OPENAI_API_KEY for openai")
    ] = None
    embedding_dimensions: Annotated[
        Annotated[int, Meta(ge=1, le=16_384)] | None, Meta(description="numbers of a vector; others are refused")
    ] = None
    chunking_strategy: Annotated[
        Literal["truncate", "fixed_size", "semantic", "hybrid"], Meta(description="how long texts are cut")
    ] = "hybrid"
    chunk_size: Annotated[int, Meta(ge=50, le=20_000, description="characters that a chunk aims at")] = 1_000
    chunk_overlap: Annotated[
        int, Meta(ge=0, le=10_000, description="characters that a chunk repeats of the one before")
    ] = 100
    max_chunk_size: Annotated[int, Meta(ge=50, le=50_000, description="characters of a chunk at the most")] = 1_500
    preserve_sentence_boundaries: Annotated[bool, Meta(description="cut between sentences where that is possible")] = (
        True
    )
    documents_folder: Annotated[
        Path | None, Meta(description="where docs:NAME is looked for; none: documents in data_dir")
    ] = None
    redact: Annotated[
        tuple[str, ...],
        Meta(description="regular expressions of what is masked before it is kept, besides keys and tokens"),
    ] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Make the block of the settings that are given. `dynamic_threshold: true` chooses the strategy `dynamic`.

        Raises:
            InvalidInput: another strategy is given as well.
        """
        strategy, dynamic = given.get("retrieval_strategy"), given.get("dynamic_threshold")
        if dynamic is True and strategy is None:
            return cls(**{**given, "retrieval_strategy": "dynamic"})
        if isinstance(dynamic, bool) and strategy is not None and dynamic is not (strategy == "dynamic"):
            raise InvalidInput(
                f"dynamic_threshold is {str(dynamic).lower()}, but retrieval_strategy is {strategy}; "
                "leave one of them out"
            )
        return cls(**given)

    @property
    def dynamic_thresholds(self) -> tuple[float, float]:
        """The least similarity at a conversation's start and when it is long."""
        return DYNAMIC_THRESHOLDS if isinstance(self.dynamic_threshold, bool) else self.dynamic_threshold

    def chunking(self) -> "Chunking":
        """Return how long texts are cut.

        Raises:
            InvalidInput: the sizes do not fit one another.
        """
        from harness.core.chunking import Chunking

        return Chunking(
            self.chunking_strategy,
            self.chunk_size,
            self.chunk_overlap,
            self.max_chunk_size,
            self.preserve_sentence_boundaries,
        )


NOT_OF_A_RUN = frozenset(
    """
    data_dir store token log_level proxy vector_store knowledge_ttl_hours knowledge_floor tool_ttl_hours audit_rate
    model_key_variable embedding_key_variable pubmed_email browser_executable searches_per_minute rate_limit_retries
    """.split()
)
"""Settings of the machine and of other services. All others shape a research and are stored with its run, except
secrets.
"""


class Settings(Struct, frozen=True, kw_only=True):
    """The effective settings of one run. The text of a field is what `harness config` shows."""

    data_dir: Annotated[Path, Meta(description="where everything is kept: harness.db, corpora/")] = field(
        default_factory=default_data_dir
    )
    store: Annotated[
        Secret | None,
        Meta(description="a team's database, postgresql://user@host/name; none: harness.db in data_dir"),
    ] = None
    durability: Annotated[
        Literal["normal", "full"],
        Meta(description="what a power cut may take: normal, the last writes; full, none, and writes are slower"),
    ] = "normal"
    engine: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(
            min_length=1,
            description=f"search engines, NAME[:ARG]: {ENGINE_SPECS}",
        ),
    ] = ("ddgs",)
    max_results: Annotated[int, Meta(ge=1, le=100, description="results asked for by each search")] = 10
    ttl: Annotated[
        Seconds, Meta(gt=0, le=MAX_TTL, description="lifetime of cached searches and researches, seconds")
    ] = float(DEFAULT_TTL)
    research_cache: Annotated[
        bool | None,
        Meta(
            description="reuse whole researches, also RESEARCH_CACHE; not set: solved questions only (and all that "
            "evaluations and experiments gather); false: none"
        ),
    ] = None
    max_rounds: Annotated[int, Meta(ge=1, le=5, description="rounds of searches at the most")] = 5
    enough_score: Annotated[
        float, Meta(ge=0, le=1, description="stop when the best chunks are so similar to the question")
    ] = 0.65
    min_novelty: Annotated[
        float, Meta(ge=0, le=1, description="stop after a round that is so near, in cosine distance, to what is held")
    ] = 0.1
    follow_ups: Annotated[int, Meta(ge=1, le=10, description="queries of every round after the first")] = 2
    chunk_tokens: Annotated[
        tuple[Annotated[int, Meta(ge=20, le=2_000)], Annotated[int, Meta(ge=20, le=2_000)]],
        Meta(description="least and most tokens of the chunks that are weighed"),
    ] = (200, 350)
    max_evidence: Annotated[int, Meta(ge=1, le=50, description="excerpts that a report is made of")] = 8
    per_source: Annotated[int, Meta(ge=1, le=50, description="excerpts from one source at the most")] = 4
    ranking_weights: Annotated[
        tuple[Weight, Weight, Weight, Weight],
        Meta(
            description="what counts for an excerpt: its own similarity, its chunk's, its title's, the question's words"
        ),
    ] = (0.45, 0.15, 0.25, 0.15)
    concurrency: Annotated[int, Meta(ge=1, le=32, description="searches of one round at the same time")] = 4
    search_timeout: Annotated[Seconds, Meta(gt=0, le=300, description="seconds to wait for a search engine")] = 10.0
    ddgs_backends: Annotated[
        tuple[str, ...], Meta(min_length=1, description="backends of ddgs, tried in this order")
    ] = ("duckduckgo",)
    ddgs_region: Annotated[
        str, Meta(pattern="^[a-z]{2}-[a-z]{2}$", description="country and language for ddgs, as us-en")
    ] = "us-en"
    ddgs_safesearch: Annotated[Literal["on", "moderate", "off"], Meta(description="safe search of ddgs")] = "moderate"
    ddgs_timelimit: Annotated[
        Literal["d", "w", "m", "y"] | None, Meta(description="only results of the last day, week, month or year")
    ] = None
    searxng_url: Annotated[
        Secret | None, Meta(description="SearXNG instance for the engine searxng without an address")
    ] = None
    searxng_language: Annotated[
        str,
        Meta(pattern="^(auto|all|[a-z]{2,3}(-[A-Za-z]{2,4})?)$", description="language of SearXNG's results, as pt-BR"),
    ] = "auto"
    searxng_time_range: Annotated[
        Literal["day", "week", "month", "year"] | None, Meta(description="only SearXNG's results of the last …")
    ] = None
    pubmed_api_key: Annotated[Secret | None, Meta(description="key of NCBI: 10 requests a second instead of 3")] = None
    pubmed_email: Annotated[str | None, Meta(description="told to NCBI, as it asks")] = None
    browser_executable: Annotated[
        str | None, Meta(description="Chromium that the engine browser starts; else the one on PATH")
    ] = None
    browser_headless: Annotated[bool, Meta(description="whether the browser shows no window")] = True
    browser_timeout: Annotated[Seconds, Meta(gt=0, le=300, description="seconds for one search by browser")] = 30.0
    corpus_meaning: Annotated[
        bool, Meta(description="search a corpus by meaning, too; its passages are embedded once, with progress")
    ] = True
    proxy: Annotated[Secret | None, Meta(description="proxy for searches, as http://user:password@host:port")] = None
    semantic: Annotated[bool, Meta(description="answer a search by one that means the same, on an exact miss")] = True
    semantic_cache_threshold: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(
            description="cosine distance beyond which nothing is answered by meaning; unset: 0.15, "
            "or 0.4 where the verifier reads the pair"
        ),
    ] = None
    verifier: Annotated[
        bool, Meta(description="a small model reads both questions before one is answered for the other")
    ] = True
    max_wrong: Annotated[
        float, Meta(gt=0, lt=1, description="share of look-alike questions that may be answered wrongly by meaning")
    ] = 0.01
    audit_rate: Annotated[
        float,
        Meta(ge=0, le=1, description="share of searches answered by meaning that are made live, too, and compared"),
    ] = 0.0
    candidates: Annotated[int, Meta(ge=1, le=100, description="nearest entries that are tried, in order")] = 8
    volatile_ttl: Annotated[
        Seconds,
        Meta(gt=0, le=MAX_TTL, description="longest lifetime of answers about now (latest, price), seconds"),
    ] = HOUR
    negative_ttl: Annotated[
        Seconds, Meta(ge=0, le=MAX_TTL, description='how long "no results" is believed, seconds; 0 never')
    ] = 600.0
    ttl_jitter: Annotated[
        float,
        Meta(ge=0, le=0.5, description="share of lifetimes taken off by chance, so that not all expire at once"),
    ] = 0.0
    stale_if_error: Annotated[
        Seconds,
        Meta(ge=0, le=MAX_TTL, description="seconds past their expiry that results serve if a search fails"),
    ] = DAY
    tool_ttl_hours: Annotated[
        dict[
            Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9_-]{0,63}$")], Annotated[Hours, Meta(gt=0, le=MAX_TTL / HOUR)]
        ],
        Meta(description="lifetime of what tools bring, hours, as job_search=24; 24 for types that are not named"),
    ] = field(default_factory=lambda: dict(TOOL_TTL_HOURS))
    knowledge_ttl_hours: Annotated[
        Hours, Meta(gt=0, le=MAX_TTL / HOUR, description="lifetime of knowledge of which nobody says, hours")
    ] = 720.0
    knowledge_floor: Annotated[
        float, Meta(ge=0, le=1, description="least similarity of a document's title to what is looked up")
    ] = 0.6
    read_pages: Annotated[
        int, Meta(ge=0, le=20, description="pages that a research reads each round, of the best results; 0 none")
    ] = 3
    page_ttl: Annotated[Seconds, Meta(gt=0, le=MAX_TTL, description="lifetime of cached pages, seconds")] = float(HOUR)
    page_timeout: Annotated[Seconds, Meta(gt=0, le=300, description="seconds to wait for a page, whole")] = 20.0
    allowed_hosts: Annotated[
        tuple[str, ...],
        Meta(description="hosts (HOST or HOST:PORT) that pages are read from though their address is private"),
    ] = ()
    trusted_proxies: Annotated[
        tuple[str, ...],
        Meta(description="addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-Proto `serve` believes"),
    ] = ()
    max_live_calls: Annotated[
        Count | None,
        Meta(description="searches and pages of one research; those that the cache answers count, so that it repeats"),
    ] = None
    max_seconds: Annotated[
        Annotated[Seconds, Meta(gt=0)] | None, Meta(description="seconds after which no further round begins")
    ] = None
    max_tokens: Annotated[
        Count | None, Meta(description="tokens of the model, read and written, that one research may take")
    ] = None
    context_tokens: Annotated[
        int, Meta(ge=200, le=200_000, description="tokens of sources that the model is shown to write the report")
    ] = 3_000
    model: Annotated[str | None, Meta(description="language model that plans and words reports; none: rules do")] = None
    model_url: Annotated[
        str, Meta(min_length=1, description="OpenAI-compatible endpoint of the model, as http://127.0.0.1:11434/v1")
    ] = "http://127.0.0.1:11434/v1"
    model_key_variable: Annotated[
        str | None, Meta(description="environment variable that holds the endpoint's key, as OPENAI_API_KEY")
    ] = None
    model_temperature: Annotated[float, Meta(ge=0, le=2, description="temperature of the model")] = 0.0
    model_max_tokens: Annotated[int, Meta(ge=16, le=100_000, description="tokens of one answer at the most")] = 2_048
    model_timeout: Annotated[
        Seconds, Meta(gt=0, le=3_600, description="seconds to wait for the next words of the model")
    ] = 60.0
    model_wait: Annotated[
        Seconds,
        Meta(gt=0, le=3_600, description="seconds to wait in all for an answer of the model to begin, tries included"),
    ] = 60.0
    embedding_model: Annotated[
        str | None,
        Meta(
            description="embedding model behind an endpoint (none, or out of reach: the local MiniLM serves), or "
            "sentence-transformers:NAME_OR_PATH with the extra of that name"
        ),
    ] = None
    embedding_url: Annotated[
        str, Meta(min_length=1, description="OpenAI-compatible endpoint of the embedding model")
    ] = "http://127.0.0.1:11434/v1"
    embedding_key_variable: Annotated[
        str | None, Meta(description="environment variable that holds that endpoint's key, as OPENAI_API_KEY")
    ] = None
    embedding_timeout: Annotated[
        Seconds, Meta(gt=0, le=3_600, description="seconds of silence that are borne of the embedding endpoint")
    ] = 30.0
    writer_style: Annotated[
        str, Meta(max_length=2_000, description="what the model is told of style, besides the rules for its report")
    ] = ""
    strict: Annotated[bool, Meta(description="leave out sentences that no quotation of a source supports")] = False
    marked: Annotated[
        bool, Meta(description="keep such sentences, marked; neither: the quotation replaces the sentence")
    ] = False
    offline: Annotated[bool, Meta(description="answer from the cache alone; what is not there is an error")] = False
    vector_store: Annotated[
        VectorStoreSettings, Meta(description="what conversations remember; a block of settings of its own")
    ] = field(default_factory=VectorStoreSettings)
    token: Annotated[
        Secret | None, Meta(description="access token: says whose cache this is, and what may be done; none: `default`")
    ] = None
    searches_per_minute: Annotated[
        float, Meta(ge=0.01, le=60_000, description="live searches of one engine, of all processes together")
    ] = 30.0
    rate_limit_retries: Annotated[
        int, Meta(ge=0, le=10, description="how often a search is tried again that an engine refused as one too many")
    ] = 2
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="what is logged to standard error")
    ] = "warning"

    def __hash__(self) -> int:
        """Settings are keys, though one of them is a mapping."""
        values = (getattr(self, name) for name in self.__struct_fields__)
        return hash(tuple(frozenset(value.items()) if isinstance(value, dict) else value for value in values))


BLOCKS: Mapping[str, type[VectorStoreSettings]] = MappingProxyType({"vector_store": VectorStoreSettings})
"""Settings that are blocks of settings."""
