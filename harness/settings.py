"""Every setting, in one typed object: defaults < YAML file < environment < flags.

The only reader of the environment and of YAML. Every setting may stand in the file under its name, and in the
environment as `HARNESS_` and its name in capitals (lists with commas, mappings as `a=1,b=2`); `RESEARCH_CACHE` and
`SEMANTIC_CACHE_THRESHOLD` are historical forms without the prefix. `HARNESS_CONFIG` or `--config` names another file.
A key that nobody knows is an error. A block (`vector_store:`) is a mapping in the file; each of its settings is
`vector_store.enabled` in messages, and `HARNESS_VECTOR_STORE__ENABLED` in the environment.
"""

import difflib
import os
import reprlib
from collections.abc import Iterator, Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

import msgspec
import platformdirs
from msgspec import Meta, Struct, field

from harness.core.freshness import DAY, DEFAULT_TTL, HOUR, MAX_TTL, TOOL_TTL_HOURS
from harness.core.text import shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:  # cutting needs what takes long to import
    from harness.core.chunking import Chunking

APP = "harness"
PREFIX = "HARNESS_"
CONFIG_VARIABLE = "HARNESS_CONFIG"
HISTORICAL = {"RESEARCH_CACHE": "research_cache", "SEMANTIC_CACHE_THRESHOLD": "semantic_cache_threshold"}
MAX_CONFIG_BYTES = 2**20

_SHORT = reprlib.Repr()
_SHORT.maxstring, _SHORT.maxother, _SHORT.maxlevel = 120, 120, 2

Count: TypeAlias = Annotated[int, Meta(ge=1)]
Weight: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Secret: TypeAlias = Annotated[str, Meta(extra={"secret": True})]


def default_data_dir() -> Path:
    """Return the platform's directory for what programs keep."""
    return platformdirs.user_data_path(APP, appauthor=False)


def default_config_path() -> Path:
    """Return where the platform keeps configuration; the file need not exist."""
    return platformdirs.user_config_path(APP, appauthor=False) / "config.yaml"


class VectorStoreSettings(Struct, frozen=True, kw_only=True):
    """The block `vector_store`: what conversations remember, and how it is found again."""

    enabled: Annotated[bool, Meta(description="whether conversations are remembered and looked up")] = True
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
    dynamic_threshold: Annotated[
        tuple[Weight, Weight],
        Meta(description="least similarity at a conversation's start and when it is long, for the strategy dynamic"),
    ] = (0.5, 0.75)
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


class Settings(Struct, frozen=True, kw_only=True):
    """The effective settings of one run. The text of a field is what `harness config` shows."""

    data_dir: Annotated[Path, Meta(description="where everything is kept: harness.db, corpora/")] = field(
        default_factory=default_data_dir
    )
    store: Annotated[
        Secret | None,
        Meta(description="a team's database, postgresql://user@host/name; none: harness.db in data_dir"),
    ] = None
    engine: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(
            min_length=1,
            description="search engines, NAME[:ARG]: ddgs, searxng:URL, pubmed, browser, corpus:PATH or python-docs",
        ),
    ] = ("ddgs",)
    max_results: Annotated[int, Meta(ge=1, le=100, description="results asked for by each search")] = 10
    ttl: Annotated[float, Meta(gt=0, le=MAX_TTL, description="lifetime of cached searches and researches, seconds")] = (
        float(DEFAULT_TTL)
    )
    research_cache: Annotated[bool, Meta(description="keep whole researches, too; also RESEARCH_CACHE=1")] = False
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
    search_timeout: Annotated[float, Meta(gt=0, le=300, description="seconds to wait for a search engine")] = 10.0
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
    browser_timeout: Annotated[float, Meta(gt=0, le=300, description="seconds for one search by browser")] = 30.0
    corpus_meaning: Annotated[
        bool, Meta(description="search a corpus by meaning, too; its passages are embedded once, with progress")
    ] = True
    proxy: Annotated[Secret | None, Meta(description="proxy for searches, as http://user:password@host:port")] = None
    semantic: Annotated[bool, Meta(description="answer a search by one that means the same, on an exact miss")] = True
    semantic_cache_threshold: Annotated[
        float, Meta(ge=0, le=1, description="cosine distance beyond which nothing is answered by meaning")
    ] = 0.15
    max_wrong: Annotated[
        float, Meta(gt=0, lt=1, description="share of look-alike questions that may be answered wrongly by meaning")
    ] = 0.01
    candidates: Annotated[int, Meta(ge=1, le=100, description="nearest entries that are tried, in order")] = 8
    volatile_ttl: Annotated[
        float, Meta(gt=0, le=MAX_TTL, description="lifetime at the most of answers about now (latest, price), seconds")
    ] = HOUR
    negative_ttl: Annotated[
        float, Meta(ge=0, le=MAX_TTL, description='how long "no results" is believed, seconds; 0 never')
    ] = 600.0
    ttl_jitter: Annotated[
        float,
        Meta(ge=0, le=0.5, description="share of lifetimes taken off by chance, so that not all expire at once"),
    ] = 0.0
    stale_if_error: Annotated[
        float,
        Meta(ge=0, le=MAX_TTL, description="seconds past their expiry that results serve if a search fails"),
    ] = DAY
    tool_ttl_hours: Annotated[
        dict[
            Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9_-]{0,63}$")], Annotated[float, Meta(gt=0, le=MAX_TTL / HOUR)]
        ],
        Meta(description="lifetime of what tools bring, hours, as job_search=24; 24 for types that are not named"),
    ] = field(default_factory=lambda: dict(TOOL_TTL_HOURS))
    knowledge_ttl_hours: Annotated[
        float, Meta(gt=0, le=MAX_TTL / HOUR, description="lifetime of knowledge of which nobody says, hours")
    ] = 720.0
    knowledge_floor: Annotated[
        float, Meta(ge=0, le=1, description="least similarity of a document's title to what is looked up")
    ] = 0.6
    read_pages: Annotated[
        int, Meta(ge=0, le=20, description="pages that a research reads each round, of the best results; 0 none")
    ] = 3
    page_ttl: Annotated[float, Meta(gt=0, le=MAX_TTL, description="lifetime of cached pages, seconds")] = float(HOUR)
    page_timeout: Annotated[float, Meta(gt=0, le=300, description="seconds to wait for a page, whole")] = 20.0
    allowed_hosts: Annotated[
        tuple[str, ...],
        Meta(description="hosts (HOST or HOST:PORT) that pages are read from though their address is private"),
    ] = ()
    max_live_calls: Annotated[
        Count | None,
        Meta(description="searches and pages of one research; those that the cache answers count, so that it repeats"),
    ] = None
    max_seconds: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="seconds after which no further round begins")
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
    model_timeout: Annotated[float, Meta(gt=0, le=3_600, description="seconds to wait for the model's next words")] = (
        60.0
    )
    embedding_model: Annotated[
        str | None,
        Meta(description="embedding model behind an endpoint; none, or out of reach: the local MiniLM serves"),
    ] = None
    embedding_url: Annotated[
        str, Meta(min_length=1, description="OpenAI-compatible endpoint of the embedding model")
    ] = "http://127.0.0.1:11434/v1"
    embedding_key_variable: Annotated[
        str | None, Meta(description="environment variable that holds that endpoint's key, as OPENAI_API_KEY")
    ] = None
    embedding_timeout: Annotated[
        float, Meta(gt=0, le=3_600, description="seconds of silence that are borne of the embedding endpoint")
    ] = 30.0
    writer_style: Annotated[
        str, Meta(max_length=2_000, description="what the model is told of style, besides the rules for its report")
    ] = ""
    strict: Annotated[bool, Meta(description="leave out what no quotation of a source supports")] = False
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


def key_in(variable: str | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the secret that the environment holds under a name; `None` without a name.

    Raises:
        InvalidInput: there is no such variable, or it is empty.
    """
    if variable is None:
        return None
    if not (key := environment.get(variable, "").strip()):
        raise InvalidInput(f"the environment variable {variable} holds no key; set it, or name another one")
    return key


class Described(Struct, frozen=True):
    """One setting as a person reads it: `value` is hidden for secrets, `origin` says which layer decided."""

    name: str
    value: str
    origin: str
    help: str


class Loaded(Struct, frozen=True):
    """The settings, and for each name the layer that it came from: `default`, a file, a variable or a flag."""

    settings: Settings
    origins: dict[str, str]
    config_path: Path

    def describe(self) -> list[Described]:
        """Tell every setting in the order of declaration, those of a block one by one, secrets hidden."""
        return [
            Described(name, self._shown(name), self.origins[name], _meta(name, "description"))
            for name in setting_names()
        ]

    def _shown(self, name: str) -> str:
        value = attrgetter(name)(self.settings)
        if value is None or value in ((), ""):
            return "not set"
        if _meta(name, "secret"):
            return "set (hidden)"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, dict):
            return ", ".join(f"{name}={number:g}" for name, number in sorted(value.items()))
        return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    config: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Loaded:
    """Merge the layers and check every value. Flags that are `None` were not given; empty variables are not set.

    Raises:
        InvalidInput: an unknown key (the nearest known one is named), a value out of range, an unreadable file.
    """
    named = config or (Path(environment[CONFIG_VARIABLE]) if environment.get(CONFIG_VARIABLE) else None)
    try:
        path = (named or default_config_path()).expanduser()
    except RuntimeError as error:
        raise InvalidInput(f"no such configuration file: {named}; {error}") from error
    values: dict[str, Any] = {}
    origins = dict.fromkeys(setting_names(), "default")
    for name, raw, origin in (
        *_from_file(path, required=named is not None),
        *_from_environment(environment),
        *_from_flags(flags or {}),
    ):
        values[name] = _checked(name, raw, origin)
        origins[name] = origin
    blocks = {name: _block(name, kind, values, origins) for name, kind in BLOCKS.items()}
    plain = {name: value for name, value in values.items() if "." not in name}
    return Loaded(Settings(**plain, **blocks), origins, path)


@cache
def setting_names() -> tuple[str, ...]:
    """Return the name of every setting in the order of declaration; of a block, `block.setting` for each of its own."""
    return tuple(
        each
        for name in Settings.__struct_fields__
        for each in ([f"{name}.{own}" for own in BLOCKS[name].__struct_fields__] if name in BLOCKS else [name])
    )


def checked(changes: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return values for settings as `Settings` holds them; `where` says in errors where they come from.

    Raises:
        InvalidInput: an unknown setting (the nearest known one is named), or a value out of range.
    """
    for name in changes:
        if name in BLOCKS or "." in name:
            raise InvalidInput(f"{name} (in {where}) is of a block, and those cannot be changed there")
    return {_known(name, f"in {where}"): _checked(name, value, where) for name, value in changes.items()}


def read_mapping(path: Path) -> dict[Any, Any]:
    """Read a YAML file that holds one mapping.

    Raises:
        InvalidInput: it cannot be read, is too large, or no mapping; where YAML tells the line, it is named.
    """
    try:
        with path.open("rb") as file:
            return _yaml_mapping(file.read(MAX_CONFIG_BYTES + 1), path)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error


def _from_file(path: Path, *, required: bool) -> Iterator[tuple[str, Any, str]]:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_CONFIG_BYTES + 1)
    except FileNotFoundError:
        if required:
            raise InvalidInput(
                f"no such configuration file: {path}; `harness config --path` shows the usual place"
            ) from None
        return
    except OSError as error:
        raise InvalidInput(f"cannot read the configuration file {path}: {error.strerror}") from error
    for name, value in _yaml_mapping(text, path).items():
        if value is None:
            continue
        if name not in BLOCKS:
            yield _known(str(name), f"in {path}"), value, f"file {path}"
            continue
        if not isinstance(value, dict):
            raise InvalidInput(f"{name} in {path} must hold `name: value` lines, not {_SHORT.repr(value)}")
        for own, part in value.items():
            if part is not None:
                yield _known(f"{name}.{own}", f"in {path}"), part, f"file {path}"


def _yaml_mapping(text: bytes, path: Path) -> dict[Any, Any]:
    import yaml

    if len(text) > MAX_CONFIG_BYTES:
        raise InvalidInput(f"{path} is larger than {MAX_CONFIG_BYTES:,} bytes; that is no configuration file")
    try:
        loaded = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError) as error:  # its constructors', too
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else "its start"
        raise InvalidInput(f"{path} is not valid YAML near {where}; mend or remove it") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise InvalidInput(f"{path} must hold `name: value` lines, not a {type(loaded).__name__}")
    return loaded


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    for variable, name in HISTORICAL.items():
        if environment.get(variable):
            yield name, environment[variable], f"environment {variable}"
    for variable in sorted(environment):
        if variable.startswith(PREFIX) and variable != CONFIG_VARIABLE and environment[variable]:
            name = variable.removeprefix(PREFIX).lower().replace("__", ".", 1)
            name = _known(name, f"in the environment ({variable})")
            yield name, environment[variable], f"environment {variable}"


def _from_flags(flags: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    for name, value in flags.items():
        if value is not None:
            yield name, value, f"flag --{name.replace('_', '-')}"


def _known(name: str, where: str) -> str:
    known = setting_names()
    if name in known:
        return name
    own = [each for each in known if each.startswith(f"{name.partition('.')[0]}.")]
    nearest = difflib.get_close_matches(name, own or known, n=1, cutoff=0.0)
    raise InvalidInput(
        f"unknown setting {name!r} {where}; did you mean {nearest[0]!r}? `harness config` lists them all"
    )


def _checked(name: str, raw: object, origin: str) -> Any:
    kind = _types()[name]
    if isinstance(raw, str) and raw.lower() == "null" and type(None) in get_args(get_args(kind)[0]):
        raw = None
    if isinstance(raw, str) and get_origin(get_args(kind)[0]) is tuple:
        raw = [part.strip() for part in raw.split(",") if part.strip()]
    merged = get_origin(get_args(kind)[0]) is dict
    if merged and isinstance(raw, str):
        raw = dict(_pair(part) for part in raw.split(",") if part.strip())
    try:
        value = msgspec.convert(raw, kind, strict=False, dec_hook=_decode)
        return {**getattr(Settings(), name), **value} if merged else value
    except msgspec.ValidationError as error:
        reason = shorten(str(error), 200)
        shown = "its value" if _meta(name, "secret") else _SHORT.repr(raw)
        raise InvalidInput(f"{name} ({origin}) cannot be {shown}: {reason[0].lower()}{reason[1:]}") from None


def _block(name: str, kind: type[VectorStoreSettings], values: dict[str, Any], origins: dict[str, str]) -> Any:
    """Make a block of its checked values, which must fit one another.

    Raises:
        InvalidInput: they do not.
    """
    own = {each.partition(".")[2]: value for each, value in values.items() if each.startswith(f"{name}.")}
    block = kind(**own)
    sizes = [each for each in own if "chunk" in each]
    try:
        if sizes:
            block.chunking()
    except InvalidInput as error:
        raise InvalidInput(f"{name} ({origins[f'{name}.{sizes[-1]}']}) cannot be used: {error}") from None
    return block


def _pair(text: str) -> tuple[str, str]:
    """Read one `name=value` of a mapping in the environment; what has no value has an empty one, which none can be."""
    name, _, value = text.partition("=")
    return name.strip(), value.strip()


def _decode(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, (str, Path)) and str(value) and "\0" not in str(value):
        try:
            return Path(value).expanduser().absolute()
        except RuntimeError as error:
            raise msgspec.ValidationError(f"{error}") from error
    raise msgspec.ValidationError("expected a path")


@cache
def _types() -> dict[str, Any]:
    blocks = {
        f"{name}.{own}": kind
        for name, block in BLOCKS.items()
        for own, kind in get_type_hints(block, include_extras=True).items()
    }
    return get_type_hints(Settings, include_extras=True) | blocks


def _meta(name: str, key: str) -> Any:
    """Return what a field's annotations say under `key`, wherever in a union they stand."""
    pending = [_types()[name]]
    while pending:
        kind = pending.pop()
        for note in getattr(kind, "__metadata__", ()):
            if found := getattr(note, key, None) or (note.extra or {}).get(key):
                return found
        pending.extend(part for part in get_args(kind) if not isinstance(part, Meta))
    return None
