"""What language models and embedding models behind an OpenAI-compatible endpoint share: address, key, and its words."""

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
"""What openai's client is given in the place of what it would look for in the environment."""


def checked_address(endpoint: str) -> str:
    """Return the address of an endpoint, without a slash at its end.

    Raises:
        InvalidInput: it is no address, or holds more than one; the message does not repeat it.
    """
    try:
        parts = urlsplit(endpoint.strip())
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or parts.username is not None or parts.query or parts.fragment:
        raise InvalidInput(
            "the endpoint is no plain address; write it as https://host/v1, without user, password, ? or #"
        )
    return endpoint.strip().rstrip("/")


def checked_key(key: str | None, what: str, variable: str) -> str | None:
    """Return the key without white space around it, `None` for none. `what` it is for, and the `variable` that sets it,
    stand in the error.

    Raises:
        InvalidInput: it has characters that no key has; the message does not show it.
    """
    key = (key or "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput(f"the key for {what} has characters that no key has; set {variable} anew")
    return key or None


def words_of(body: object, key: str | None) -> str:
    """Return what an endpoint says, in one line of at most 200 characters, without markup and the key."""
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    text = clean(body, MAX_ERROR_BYTES)
    if key:
        text = text.replace(key, "[key]")
    return shorten(re.sub(r"<[^>]*>", " ", text), MAX_WORDS) or "no words"
