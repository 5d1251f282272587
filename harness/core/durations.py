"""Durations: in one notation for options and settings (`90s`, `15m`, `1.5h`, `7d`, `8w`, `2y`), and in words for
people (`1.2 s`, `4 min`, `2 h 10 min`, `3 d`).
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from harness.core.freshness import DAY, HOUR, MAX_TTL
from harness.errors import InvalidInput

UNITS: Mapping[str, float] = MappingProxyType({"s": 1.0, "m": 60.0, "h": HOUR, "d": DAY, "w": 7 * DAY, "y": 365 * DAY})
NAMES: Mapping[str, str] = MappingProxyType(
    {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks", "y": "years"}
)

_DURATION = re.compile(r"([0-9]{1,10}(?:\.[0-9]{1,12})?)\s*([smhdwy]?)")


def seconds_in(text: str, *, bare: str = "") -> float:
    """Parse a duration: a number and a unit of `UNITS`. A year has 365 days.

    `bare` is the unit of a number without one. If it is empty, such a number is an error; 0 is 0 in every unit.

    Raises:
        InvalidInput: not a duration, or longer than a century.
    """
    found = _DURATION.fullmatch(text[:40].strip().lower())
    if not found:
        raise InvalidInput(f"a duration is a number with s, m, h, d, w or y, such as 15m, 24h or 7d, not {text[:40]!r}")
    seconds = float(found[1]) * UNITS.get(found[2] or bare, 0.0)
    if not found[2] and not bare and float(found[1]):
        raise InvalidInput(f"{found[1]} names no unit; write {found[1]}h for hours or {found[1]}d for days")
    if seconds > MAX_TTL:
        raise InvalidInput(f"a duration is at most a century (100y), not {text[:40].strip()}")
    return seconds


def is_bare(text: str) -> bool:
    """Return whether `text` is a number without a unit, other than 0."""
    found = _DURATION.fullmatch(text[:40].strip().lower())
    return bool(found and not found[2] and float(found[1]))


def spelled(seconds: float) -> str:
    """Format a duration in the largest unit that divides it, else in seconds."""
    unit = next((unit for unit in "dhm" if seconds and seconds % UNITS[unit] == 0), "s")
    return f"{seconds / UNITS[unit]:.12g}{unit}"


def in_words(seconds: float) -> str:
    """Format a duration for people: `0.4 s`, `35 s`, `4 min`, `2 h 10 min`, `3 d`."""
    if round(seconds, 1) < 10:
        return f"{round(seconds, 1):g} s"
    if round(seconds) < 60:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if seconds >= 2 * DAY:
        return f"{round(seconds / DAY)} d"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"
