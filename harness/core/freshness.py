"""Expiry: the only definition of *expired*, volatile questions, and ages in words.

A TTL is a duration in seconds; `expires_at` is a time in seconds since the epoch. They are never mixed.
"""

import re
from collections.abc import Mapping
from math import inf
from types import MappingProxyType

from harness.errors import InvalidInput

HOUR = 3_600.0
DAY = 24 * HOUR
DEFAULT_TTL = 86_400
"""Default TTL of a cached search or research: 24 hours, in seconds."""

TOOL_TTL_HOURS: Mapping[str, float] = MappingProxyType(
    {"job_search": 24.0, "web_fetch": 1.0, "company_research": 7 * 24.0}
)
"""TTLs in hours of tool results, by cache type; other types have `DEFAULT_TTL`."""

MAX_TTL = 100 * 365 * DAY
"""A century: a later expiry would not be a date that people or databases can read."""


_NUMBERS = (int, float)
_VOLATILE = re.compile(
    r"\b(?:latest|newest|most recent|today(?:'s)?|tonight|tomorrow|yesterday|now|nowadays|currently|current|breaking|"
    r"news|headlines|prices?|stock quote|exchange rate|scores?|standings|weather|forecast|trending|upcoming|"
    r"at the moment|this (?:week|month|year|morning|evening|weekend|season)|next (?:week|month|game|match|episode)|"
    r"who is winning|who won)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


NEVER = 1e15
"""The expiry of entries that never expire, in seconds since the epoch; later ones mean the same."""
MAX_CLOCK_SKEW = 300.0
"""Seconds that a clock may be set back: the age of a row created later than this from now is unknown."""


def is_expired(expires_at: float, now: float, created_at: float = 0.0) -> bool:
    """Return whether an entry is expired: from the second of `expires_at` on, or if it was created more than
    `MAX_CLOCK_SKEW` after `now` (the clock was set back). Entries that never expire are never expired.
    """
    if expires_at <= now:
        return True
    return created_at > now and created_at > latest_creation(now) and expires_at < NEVER


def latest_creation(now: float) -> float:
    """Return the latest creation time of an entry that is fresh `now`. A `now` of 0 or less means any time."""
    return now + MAX_CLOCK_SKEW if now > 0 else inf


def fresh_sql(now: str, latest: str, never: str) -> str:
    """Return the SQL condition for rows that are not expired; the arguments are SQL expressions for the time, its
    `latest_creation`, and `NEVER`.
    """
    return f"expires_at > {now} AND (created_at <= {latest} OR expires_at >= {never})"


def checked_ttl(ttl: float) -> float:
    """Return `ttl` (seconds) if it is valid: positive, finite, at most `MAX_TTL`.

    Raises:
        InvalidInput: zero, negative, NaN, infinite, longer than a century, or not a number.
    """
    if type(ttl) in _NUMBERS and 0 < ttl <= MAX_TTL:  # false for NaN too
        return ttl
    # a huge int has no float, and may have too many digits for repr
    shown = f"{ttl:g}" if type(ttl) is float or (type(ttl) is int and abs(ttl) < 1e18) else f"this {type(ttl).__name__}"
    raise InvalidInput(f"ttl must be more than 0 and at most {MAX_TTL:.0f} seconds (a century), not {shown}")


def seconds_of(ttl_hours: float) -> float:
    """Return a TTL in hours as seconds.

    Raises:
        InvalidInput: not a number, or not more than 0 and at most a century.
    """
    if type(ttl_hours) in _NUMBERS and 0 < ttl_hours <= MAX_TTL / HOUR:
        return ttl_hours * HOUR
    raise InvalidInput(f"ttl_hours must be a number, more than 0 and at most {MAX_TTL / HOUR:.0f} (a century)")


def age_in_words(seconds: float) -> str:
    """Return an age in words: `just now`, `5 min ago`, `2 h ago`, `3 d ago`. A negative age (clock set back) is
    `just now`.
    """
    if seconds < 60:
        return "just now"
    if seconds < HOUR:
        return f"{int(seconds // 60)} min ago"
    if seconds < 2 * DAY:
        return f"{int(seconds // HOUR)} h ago"
    return f"{int(seconds // DAY)} d ago"


def is_volatile(query: str, year: int) -> bool:
    """Return whether the answer to `query` changes within hours or days: it mentions the present, prices or scores, or
    the current `year` or a later one.
    """
    query = query[:10_000]
    return bool(_VOLATILE.search(query)) or any(int(found) >= year for found in _YEAR.findall(query))


def jittered(ttl: float, jitter: float, key: str) -> float:
    """Shorten `ttl` by up to the share `jitter` (0..1), so that entries stored together do not expire together.

    The amount depends on the key alone (a hex digest): the same entry always gets the same TTL.
    """
    return ttl * (1.0 - jitter * (int(key[:8], 16) / 0xFFFFFFFF))
