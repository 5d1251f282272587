"""Every setting, in one typed object: defaults < YAML file < environment < flags.

The only reader of the environment and of YAML. Every setting may stand in the file under its name, and in the
environment as `HARNESS_` and its name in capitals (lists with commas); `RESEARCH_CACHE` and `SEMANTIC_CACHE_THRESHOLD`
are historical forms without the prefix. `HARNESS_CONFIG` or `--config` names another file. A key that nobody knows is
an error.
"""

import difflib
import os
import reprlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

import msgspec
import platformdirs
from msgspec import Meta, Struct, field

from harness.core.freshness import DAY, DEFAULT_TTL, HOUR, MAX_TTL
from harness.core.text import shorten
from harness.errors import InvalidInput

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


class Settings(Struct, frozen=True, kw_only=True):
    """The effective settings of one run. The text of a field is what `harness config` shows."""

    data_dir: Annotated[Path, Meta(description="where everything is kept: harness.db, corpora/")] = field(
        default_factory=default_data_dir
    )
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
    searches_per_minute: Annotated[
        float, Meta(ge=0.01, le=60_000, description="live searches of one engine, of all processes together")
    ] = 30.0
    rate_limit_retries: Annotated[
        int, Meta(ge=0, le=10, description="how often a search is tried again that an engine refused as one too many")
    ] = 2
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="what is logged to standard error")
    ] = "warning"


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
        """Tell every setting in the order of declaration, secrets hidden."""
        return [
            Described(name, self._shown(name), self.origins[name], _meta(name, "description"))
            for name in Settings.__struct_fields__
        ]

    def _shown(self, name: str) -> str:
        value = getattr(self.settings, name)
        if value is None or value in ((), ""):
            return "not set"
        if _meta(name, "secret"):
            return "set (hidden)"
        if isinstance(value, bool):
            return str(value).lower()
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
    origins = dict.fromkeys(Settings.__struct_fields__, "default")
    for name, raw, origin in (
        *_from_file(path, required=named is not None),
        *_from_environment(environment),
        *_from_flags(flags or {}),
    ):
        values[name] = _checked(name, raw, origin)
        origins[name] = origin
    return Loaded(Settings(**values), origins, path)


def checked(changes: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return values for settings as `Settings` holds them; `where` says in errors where they come from.

    Raises:
        InvalidInput: an unknown setting (the nearest known one is named), or a value out of range.
    """
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
        if value is not None:
            yield _known(str(name), f"in {path}"), value, f"file {path}"


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
            name = _known(variable.removeprefix(PREFIX).lower(), f"in the environment ({variable})")
            yield name, environment[variable], f"environment {variable}"


def _from_flags(flags: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    for name, value in flags.items():
        if value is not None:
            yield name, value, f"flag --{name.replace('_', '-')}"


def _known(name: str, where: str) -> str:
    if name in Settings.__struct_fields__:
        return name
    nearest = difflib.get_close_matches(name, Settings.__struct_fields__, n=1, cutoff=0.0)
    raise InvalidInput(
        f"unknown setting {name!r} {where}; did you mean {nearest[0]!r}? `harness config` lists them all"
    )


def _checked(name: str, raw: object, origin: str) -> Any:
    kind = _types()[name]
    if isinstance(raw, str) and raw.lower() == "null" and type(None) in get_args(get_args(kind)[0]):
        raw = None
    if isinstance(raw, str) and get_origin(get_args(kind)[0]) is tuple:
        raw = [part.strip() for part in raw.split(",") if part.strip()]
    try:
        return msgspec.convert(raw, kind, strict=False, dec_hook=_decode)
    except msgspec.ValidationError as error:
        reason = shorten(str(error), 200)
        shown = "its value" if _meta(name, "secret") else _SHORT.repr(raw)
        raise InvalidInput(f"{name} ({origin}) cannot be {shown}: {reason[0].lower()}{reason[1:]}") from None


def _decode(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, (str, Path)) and str(value) and "\0" not in str(value):
        try:
            return Path(value).expanduser().absolute()
        except RuntimeError as error:
            raise msgspec.ValidationError(f"{error}") from error
    raise msgspec.ValidationError("expected a path")


@cache
def _types() -> dict[str, Any]:
    return get_type_hints(Settings, include_extras=True)


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
