"""Checks of the arguments of `Knowledge`, before anything is read or written."""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from math import inf
from urllib.parse import urlsplit

from harness.core.freshness import HOUR, MAX_TTL
from harness.core.keys import canonical_url, normalise
from harness.core.text import clean, one_line
from harness.errors import InvalidInput

MAX_TITLE = 500
MAX_CONTENT = 200_000
MAX_TAGS, MAX_TAG = 20, 50
MAX_AGENT = 200
MAX_URL = 10_000
MAX_LIMIT = 100
MAX_LISTED = 1_000
MAX_HOURS = MAX_TTL / HOUR


def query(given: str) -> str:
    """Return a query on one line."""
    normalise(given)
    return one_line(_text(given, "query", len(given)))


def title(given: str) -> str:
    """Return a title on one line."""
    return one_line(_text(given, "title", MAX_TITLE))


def content(given: str) -> str:
    """Return a content without control characters."""
    return _text(given, "content", MAX_CONTENT)


def agent(given: str) -> str:
    """Return the name of the writer, on one line; it may be empty."""
    return one_line(_text(given, "agent", MAX_AGENT, empty=True))


def tags(given: Sequence[str]) -> tuple[str, ...]:
    """Return tags without duplicates; case does not count, and the first spelling stays."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidInput(f"tags must be a list of strings, not {type(given).__name__}")
    unique = {tag.casefold(): tag for tag in (one_line(_text(each, "tag", MAX_TAG)) for each in reversed(given))}
    if len(unique) > MAX_TAGS:
        raise InvalidInput(f"{len(unique)} tags are too many; at most {MAX_TAGS} are allowed")
    return tuple(reversed(unique.values()))


def source_url(given: str) -> str:
    """Return a web URL, stripped; an empty one means none."""
    url = _text(given, "source_url", MAX_URL, empty=True)
    if not url:
        return ""
    try:
        parts = urlsplit(canonical_url(url))
        named = parts.scheme in {"http", "https"} and parts.hostname and url.split() == [url]
        secret = urlsplit(url).username or urlsplit(url).password
    except ValueError:
        named, secret = None, None
    if not named:
        raise InvalidInput(f"source_url must be a URL (http://… or https://…), not {url!r:.100}")
    if secret:
        raise InvalidInput("source_url contains a user name or a password; leave them out: they would be stored")
    return url


def url_key(url: str) -> str:
    """Return the key that all spellings of a checked URL share; "" for an empty URL."""
    return sha256(canonical_url(url).encode()).hexdigest() if url else ""


def share(given: float, what: str) -> float:
    """Return a number from 0 to 1."""
    if type(given) not in {int, float} or not 0 <= given <= 1:  # false for NaN, too
        raise InvalidInput(f"{what} must be a number from 0 to 1, not {_shown(given)}")
    return float(given)


def hours(given: float, what: str) -> float:
    """Return hours as seconds."""
    if type(given) not in {int, float} or not 0 < given <= MAX_HOURS:  # false for NaN, too
        raise InvalidInput(
            f"{what} must be more than 0 and at most {MAX_HOURS:.0f} hours (a century), not {_shown(given)}"
        )
    return given * HOUR


def limit(given: int, most: int = MAX_LIMIT) -> int:
    """Return the largest number of results."""
    if type(given) is not int or not 1 <= given <= most:
        raise InvalidInput(f"limit must be a whole number from 1 to {most:,}, not {_shown(given)}")
    return given


def version(given: int) -> int:
    """Return a version number."""
    if type(given) is not int or given < 1:
        raise InvalidInput(f"version must be a whole number of at least 1, not {_shown(given)}")
    return given


def expiry(given: float | str, now: float) -> float:
    """Return a future time in seconds since the epoch, given as such or in ISO 8601 (UTC without an offset)."""
    if isinstance(given, str):
        try:
            time = datetime.fromisoformat(given.strip())
            seconds = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError) as error:
            raise InvalidInput(f"expires_at must be a time like 2027-01-31T12:00:00Z, not {given!r:.60}") from error
    else:
        seconds = given if type(given) in {int, float} else inf
    if not now < seconds <= now + MAX_TTL:
        raise InvalidInput(f"expires_at must be in the future, within a century, not {_shown(given)}")
    return float(seconds)


def _text(given: str, what: str, most: int, *, empty: bool = False) -> str:
    if not isinstance(given, str):
        raise InvalidInput(f"the {what} must be text, not {type(given).__name__}")
    if len(given) > most:
        raise InvalidInput(f"the {what} is {len(given):,} characters long; at most {most:,} are allowed, so shorten it")
    if "\0" in given:
        raise InvalidInput(f"the {what} contains a NUL character; remove it")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"the {what} contains a lone surrogate (broken Unicode); re-encode it") from None
    cleaned = clean(given, most)
    if not cleaned and not empty:
        raise InvalidInput(f"the {what} is empty; give some text")
    return cleaned


def _shown(given: object) -> str:
    # a huge int may have too many digits for repr
    return f"this {type(given).__name__}" if type(given) is int and abs(given) > 10**18 else f"{given!r:.60}"
