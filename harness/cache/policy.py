"""How a cache is used: what may be read, written, served late, and computed."""

from collections.abc import Mapping

from msgspec import Struct

from harness.core.freshness import HOUR, TOOL_TTL_HOURS


class Policy(Struct, frozen=True, kw_only=True):
    """One cache's rules; every time is in seconds.

    `read` and `write`: whether it is looked up and stored at all (`--refresh` only writes, `--no-cache` neither).
    `offline`: nothing is computed; what is not there is an `OfflineMiss`. `replay`: offline, and what was not answered
    at the time is not answered again.
    `stale_if_error`: for how long after its expiry an answer may be served when the engine fails (RFC 5861), 0 never;
    `keep_expired`: for how long expired rows are kept for somebody who may serve them.
    `volatile_ttl`: how long an answer lives at the most whose query speaks of now; nor is it served by meaning beyond.
    `negative_ttl`: how long "no results" is believed, 0 never. `jitter`: the share (0..1) of a TTL that is taken off by
    chance of the key. `turn_wait`: how long to wait for another process that computes the same. `tool_ttl_hours`: how
    long what tools bring lives, by cache type, in hours; 24 where it names none.
    """

    read: bool = True
    write: bool = True
    offline: bool = False
    replay: bool = False
    stale_if_error: float = 0.0
    keep_expired: float = 0.0
    volatile_ttl: float = HOUR
    negative_ttl: float = 600.0
    jitter: float = 0.0
    turn_wait: float = 120.0
    tool_ttl_hours: Mapping[str, float] = TOOL_TTL_HOURS
