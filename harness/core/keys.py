"""Keys: normalised, hashed requests; equal keys mean the same request.

Keys are SHA-256 hex digests. A search by the default engine with default options is keyed by the normalised query
alone, a research without a fingerprint by its task and type; everything else that changes the result is added.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import orjson

from harness.errors import InvalidInput

DEFAULT_ENGINE = "ddgs"
MESSAGES = "messages"
"""Field of a chat completion's request. The order of a message's members means nothing."""
MAX_QUERY_CHARS = 10_000
"""A longer query or task is an error: no engine accepts one; probably a pasted document."""

_CACHE_TYPE = re.compile("[a-z0-9][a-z0-9_-]{0,63}")
_TRACKING = ("utm_", "gclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "igshid")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})?")


def normalise(text: str) -> str:
    """Lower-case `text` and collapse every run of white space to one space.

    Raises:
        InvalidInput: `text` is not a string, is empty, is longer than `MAX_QUERY_CHARS`, or contains a NUL character.
    """
    if isinstance(text, str) and len(text) <= MAX_QUERY_CHARS and "\0" not in text:
        normalised = " ".join(text.lower().split())
        if normalised:
            return normalised
    raise InvalidInput(_why_unusable(text))


def search_key(query: str, engine: str = DEFAULT_ENGINE, options: Mapping[str, Any] | None = None) -> str:
    """Return the key of a search: SHA-256 of the normalised query for the default engine and options.

    `options` are the engine options that differ from their defaults and change results; with any of them, or another
    engine, their canonical JSON is added to the digest.

    Raises:
        InvalidInput: see `normalise`; also for lone surrogates.
    """
    text = normalise(query)
    if engine != DEFAULT_ENGINE or options:
        _check_text(engine, "engine")
        text += "\0" + canonical_json({"engine": engine, "options": options or {}})
    return _hashed(text)


def research_key(task: str, task_type: str, fingerprint: str = "") -> str:
    """Return the key of a research: SHA-256 of the normalised task + `|` + the lower-cased task type.

    `fingerprint` identifies how it is gathered (planner, engine, parameters); an empty one does not change the digest.

    Raises:
        InvalidInput: see `search_key`.
    """
    _check_text(task_type, "task_type")
    text = f"{normalise(task)}|{task_type.lower()}"
    return _hashed(f"{text}\0{fingerprint}" if fingerprint else text)


def page_key(url: str, reader: str) -> str:
    """Return the key of a page as read by `reader`: SHA-256 of the reader's name and the canonical URL.

    Raises:
        InvalidInput: lone surrogates in the URL.
    """
    return _key_of({"reader": reader, "url": canonical_url(url)})


def tool_key(cache_type: str, query: str) -> str:
    """Return the key of a tool result: SHA-256 of the cache type + `:` + the query, trimmed and lower-cased.

    Queries that are not language keep their case: URLs are made canonical, JSON objects stay unchanged.

    Raises:
        InvalidInput: see `checked_cache_type` and `search_key`.
    """
    name = checked_cache_type(cache_type)
    normalise(query)  # raises for an unusable query
    query = query.strip()
    text = query.lower() if in_words(query) else canonical_url(query)
    _hashed(query)  # raises for broken characters, which a canonical URL has replaced
    return _hashed(f"{name}:{text}")


def checked_cache_type(cache_type: str) -> str:
    """Return a cache type, trimmed and lower-cased: 1 to 64 of a-z, 0-9, `-` and `_`, beginning with a letter or digit.

    Raises:
        InvalidInput: otherwise.
    """
    name = cache_type.strip().lower() if isinstance(cache_type, str) else ""
    if not _CACHE_TYPE.fullmatch(name):
        raise InvalidInput(f"a cache type is 1 to 64 letters, digits, - and _, like job_search; not {cache_type!r:.80}")
    return name


def in_words(query: str) -> bool:
    """Return whether a query is language: its case does not count, and another query may mean the same. URLs and JSON
    objects are not.
    """
    query = query.strip()
    return not is_url(query) and not (query.startswith("{") and query.endswith("}"))


def is_url(text: str) -> bool:
    """Return whether `text` is a web URL (http or https) and nothing else."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and text.split() == [text]


def host_in(address: str) -> str:
    """Return the host name in an address; empty if there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def completion_key(
    endpoint: str,
    model: str,
    messages: object,
    *,
    parameters: Mapping[str, Any],
    schema: object = None,
    epoch: str = "",
) -> str:
    """Return the key of a language model's answer: SHA-256 of everything that determines it. `epoch` keeps repetitions
    apart that should differ.

    Raises:
        InvalidInput: something that is not JSON, or lone surrogates.
    """
    return _key_of(
        {
            "endpoint": endpoint,
            "model": model,
            "messages": messages,
            "parameters": parameters,
            "schema": schema,
            "epoch": epoch,
        }
    )


def model_call_key(kind: str, endpoint: str, request: Mapping[str, object]) -> str:
    """Return the key of another program's request to a model: SHA-256 of its kind, the endpoint, and everything in it
    that changes the answer.

    Inside a field other than `messages`, the order of members counts: a model fills in a schema in its order.

    Raises:
        InvalidInput: something that is not JSON, lone surrogates, or more than 250 levels.
    """
    try:
        fields = {name: value if name == MESSAGES else orjson.dumps(value).decode() for name, value in request.items()}
    except TypeError as error:
        raise InvalidInput(f"not JSON, or broken Unicode: {error}") from error
    return _key_of({"call": kind, "endpoint": endpoint, "request": fields})


def _key_of(value: object) -> str:
    try:
        return sha256(canonical_json(value).encode()).hexdigest()
    except TypeError as error:
        raise InvalidInput(f"not JSON, or broken Unicode: {error}") from error


def digest_of(value: object) -> str:
    """Return a short SHA-256 (16 hex digits) of a JSON-able value, independent of the order of mappings."""
    return sha256(canonical_json(value).encode()).hexdigest()[:16]


def _check_text(value: object, name: str) -> None:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{name} contains a lone surrogate (broken Unicode); retype or re-encode it") from None


def canonical_json(value: object) -> str:
    """Encode `value` as compact JSON with sorted keys."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()


def canonical_url(url: str) -> str:
    """Return the canonical form of a web URL: scheme and host lower-cased, default port, fragment and tracking
    parameters dropped, query parameters sorted, percent-encoding normalised, no trailing slash on the path.

    Anything that is not http(s) is returned stripped but otherwise unchanged; the case of a path is kept. Follows the
    syntax-based normalisation of RFC 3986, section 6.2.2.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # "[", an invalid port: not a URL, but still usable as an identity
        return url
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname or parts.netloc.split() != [parts.netloc]:
        return url
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if port and port != {"http": 80, "https": 443}[parts.scheme.lower()]:
        host = f"{host}:{port}"
    path = quote(_ESCAPE.sub(_plain_if_unreserved, parts.path), safe="/%~:@!$&'()*+,;=", errors="replace")
    kept = [
        pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not pair[0].lower().startswith(_TRACKING)
    ]
    query = "&".join(sorted(urlencode(kept, errors="replace").split("&")))
    return urlunsplit((parts.scheme.lower(), host, path.rstrip("/"), query, ""))


def _plain_if_unreserved(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return "%25"  # a percent sign that escapes nothing is literal
    char = chr(int(escape[1], 16))
    return char if char.isascii() and (char.isalnum() or char in "-._~") else escape[0].upper()


def _why_unusable(text: object) -> str:
    if not isinstance(text, str):
        return f"a query must be text, not {type(text).__name__}"
    if len(text) > MAX_QUERY_CHARS:
        return f"the query is {len(text):,} characters long; at most {MAX_QUERY_CHARS:,} are allowed"
    if "\0" in text:
        return "the query contains a NUL character; remove it"
    return "the query is empty; say what to look for"


def _hashed(text: str) -> str:
    try:
        return sha256(text.encode()).hexdigest()
    except UnicodeEncodeError:
        raise InvalidInput("the query contains a lone surrogate (broken Unicode); retype or re-encode it") from None
