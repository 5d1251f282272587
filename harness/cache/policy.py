"""Rules of a cache: what it may read, write, serve stale and compute."""

from collections.abc import Mapping

from msgspec import Struct

from harness.core.freshness import HOUR, TOOL_TTL_HOURS
from harness.settings import Settings
from harness.settings.mode import Mode


class Policy(Struct, frozen=True, kw_only=True):
    """Rules of one cache; every time is in seconds.

    `read`, `write`: whether it is looked up and stored at all (`--refresh` only writes, `--no-cache` does neither).
    `offline`: nothing is computed, and a miss is an `OfflineMiss`. `replay`: offline, and failures that were recorded
    are raised again. `denied`: offline only because the user may not write; a miss is an `AccessDenied`.
    `stale_if_error`: how long after its expiry an answer may be served when the live call fails (RFC 5861), 0 never.
    `keep_expired`: how long expired rows are kept for callers that may serve them.
    `volatile_ttl`: the longest lifetime of an answer to a query about now; older ones do not answer by meaning either.
    `negative_ttl`: how long "no results" answers, 0 never. `jitter`: the largest share (0..1) by which the hash of the
    key shortens a TTL. `turn_wait`: how long to wait for another process that computes the same. `tool_ttl_hours`: the
    lifetime of tool results by cache type, in hours; 24 for other types.
    """

    read: bool = True
    write: bool = True
    offline: bool = False
    replay: bool = False
    denied: bool = False
    stale_if_error: float = 0.0
    keep_expired: float = 0.0
    volatile_ttl: float = HOUR
    negative_ttl: float = 600.0
    jitter: float = 0.0
    turn_wait: float = 120.0
    tool_ttl_hours: Mapping[str, float] = TOOL_TTL_HOURS


def policy_of(settings: Settings, mode: Mode, *, replay: bool, stale: float, writer: bool) -> Policy:
    """Return the rules that settings and mode make; `stale` is how long (seconds) a stale answer may serve. A user who
    may not write makes no live call.
    """
    return Policy(
        read=mode.read,
        write=mode.write and writer and not replay,
        offline=settings.offline or replay or not writer,
        replay=replay,
        denied=not (writer or settings.offline or replay),
        stale_if_error=stale,
        keep_expired=max(stale, settings.stale_if_error),
        volatile_ttl=settings.volatile_ttl,
        negative_ttl=settings.negative_ttl,
        jitter=settings.ttl_jitter,
        tool_ttl_hours=settings.tool_ttl_hours,
    )
