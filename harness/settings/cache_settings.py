"""Settings of the cache and of knowledge."""

from typing import Annotated

from msgspec import Meta, Struct, field

from harness.core.freshness import DAY, HOUR, MAX_TTL, TOOL_TTL_HOURS
from harness.settings.kinds import LOCAL, Hours, Seconds, flag


class CacheSettings(Struct, frozen=True, kw_only=True):
    """Settings that decide when a cached answer is used."""

    research_cache: Annotated[
        bool | None,
        flag("--research-cache/--no-research-cache"),
        Meta(
            description="reuse whole researches, also RESEARCH_CACHE; not set: only solved questions (evaluations and "
            "experiments reuse all they gather); false: none"
        ),
    ] = None
    semantic: Annotated[
        bool,
        flag("--semantic/--exact"),
        Meta(description="on an exact miss, answer a search with one that means the same"),
    ] = True
    semantic_cache_threshold: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(
            description="largest cosine distance of a semantic hit; not set: 0.15, or 0.4 where the verifier reads "
            "the pair"
        ),
    ] = None
    verifier: Annotated[
        bool, Meta(description="let a small model read both questions before one is answered for the other")
    ] = True
    max_wrong: Annotated[
        float, Meta(gt=0, lt=1, description="share of look-alike questions that semantic hits may answer wrongly")
    ] = 0.01
    audit_rate: Annotated[
        float,
        LOCAL,
        Meta(ge=0, le=1, description="share of semantic hits that are also searched live, and compared"),
    ] = 0.0
    candidates: Annotated[
        int, Meta(ge=1, le=100, description="nearest entries to try for a semantic hit, in order")
    ] = 8
    volatile_ttl: Annotated[
        Seconds,
        Meta(gt=0, le=MAX_TTL, description="longest lifetime of answers about now (latest, price), seconds"),
    ] = HOUR
    negative_ttl: Annotated[
        Seconds, Meta(ge=0, le=MAX_TTL, description='lifetime of "no results", seconds; 0: not cached')
    ] = 600.0
    ttl_jitter: Annotated[
        float,
        Meta(ge=0, le=0.5, description="largest share of a lifetime to take off at random, so that expiry is spread"),
    ] = 0.0
    stale_if_error: Annotated[
        Seconds,
        Meta(ge=0, le=MAX_TTL, description="seconds after expiry in which results still serve if a search fails"),
    ] = DAY
    tool_ttl_hours: Annotated[
        dict[
            Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9_-]{0,63}$")], Annotated[Hours, Meta(gt=0, le=MAX_TTL / HOUR)]
        ],
        LOCAL,
        Meta(description="lifetime of tool results in hours by type, as job_search=24; other types: 24"),
    ] = field(default_factory=lambda: dict(TOOL_TTL_HOURS))
    offline: Annotated[
        bool,
        flag("--offline/--online"),
        Meta(description="answer only from the cache; a miss is an error (exit code 6)"),
    ] = False


class LibrarySettings(Struct, frozen=True, kw_only=True):
    """Settings of the library: everything that was read."""

    library_ttl: Annotated[
        Seconds,
        Meta(gt=0, le=MAX_TTL, description="lifetime of passages that were read, beyond that of the cached answer: 7d"),
    ] = 7 * DAY
    library_max_mb: Annotated[
        float,
        LOCAL,
        Meta(gt=0, le=1_000_000, description="largest size of the passages that were read, MB; the least used go"),
    ] = 2_000.0


class KnowledgeSettings(Struct, frozen=True, kw_only=True):
    """Settings of documents that are known."""

    knowledge_ttl_hours: Annotated[
        Hours,
        LOCAL,
        Meta(gt=0, le=MAX_TTL / HOUR, description="lifetime of knowledge that names none, hours"),
    ] = 720.0
    knowledge_floor: Annotated[
        float, LOCAL, Meta(ge=0, le=1, description="smallest similarity of a document's title to the query")
    ] = 0.6
