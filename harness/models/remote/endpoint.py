"""URL, key and error messages of an OpenAI-compatible endpoint, for language and embedding models."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from harness.core.text import clean, shorten
from harness.errors import InvalidInput

MAX_ERROR_BYTES = 65_536
MAX_WORDS = 200

ANONYMOUS: Mapping[str, Any] = {
    "api_key": "the transport has it",
    "admin_api_key": "",
    "organization": "",
    "project": "",
    "webhook_secret": "",
}
"""Arguments of openai's client that it would otherwise take from the environment."""


def checked_address(endpoint: str) -> str:
    """Return the URL of an endpoint without a trailing slash.

    Raises:
        InvalidInput: it is not a plain URL; the message does not repeat it, because it may contain a password.
    """
    try:
        parts = urlsplit(endpoint.strip())
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or parts.username is not None or parts.query or parts.fragment:
        raise InvalidInput(
            "the endpoint is not a plain URL; write it as https://host/v1, without user, password, ? or #"
        )
    return endpoint.strip().rstrip("/")


def checked_key(key: str | None, what: str, variable: str) -> str | None:
    """Return the key without surrounding white space, `None` if empty. The error names `what` the key is for and the
    `variable` that sets it.

    Raises:
        InvalidInput: the key has invalid characters; the message does not show it.
    """
    key = (key or "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput(f"the key for {what} has invalid characters; correct {variable}")
    return key or None


def words_of(body: object, key: str | None) -> str:
    """Return an endpoint's message in one line of at most 200 characters, without markup and the key."""
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    text = clean(body, MAX_ERROR_BYTES)
    if key:
        text = text.replace(key, "[key]")
    return shorten(re.sub(r"<[^>]*>", " ", text), MAX_WORDS) or "no message"
