"""One bounded HTTP request, for search engines with an HTTP API."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from harness.core.keys import canonical_url
from harness.core.text import clean, one_line
from harness.errors import EngineUnavailable, InvalidInput, RateLimited

MAX_BYTES = 5_000_000
MAX_ADDRESS_CHARS = 4_000

HEADERS = {
    "User-Agent": "research-harness",
    "Accept": "application/json, application/xml;q=0.9, text/html;q=0.5",
    "Accept-Language": "en",
    "Accept-Encoding": "gzip",
}
"""SearXNG's limiter treats clients that do not accept HTML, gzip and a language as robots."""


class HttpResponse(Struct, frozen=True):
    """Response of a server: a `body` of at most `MAX_BYTES` bytes, and its headers, by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def ask(
    who: str,
    url: str,
    *,
    timeout: float,
    params: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
    json: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    login: tuple[str, str] | None = None,
) -> HttpResponse:
    """Send one request (POST with a `form` or an object of `json`, else GET) and return the response, with any status.

    `timeout` is in seconds, from the first connection to the last byte. Redirects are not followed; no proxy or
    password is taken from the environment. `headers` are added to `HEADERS`. `who` names the server in errors, which
    show nothing of the request.

    Raises:
        EngineUnavailable: no response in time, a broken one, or one of more than `MAX_BYTES`.
        InvalidInput: a header that is not ASCII.
    """
    import httpx2  # it takes 0.1 s to import, and an exact hit sends no request

    from harness.sources.http.transport import Deadline, Sockets, Transport, beginning, trusted

    deadline = Deadline(timeout)
    transport = Transport(Sockets(deadline), trusted())
    method, sent = "GET" if form is None and json is None else "POST", {**HEADERS, **(headers or {})}
    try:
        with (
            httpx2.Client(transport=transport, headers=sent, timeout=timeout, trust_env=False) as client,
            client.stream(method, url, params=params, data=form, json=json, auth=login) as response,
        ):
            received = {name: clean(value, MAX_ADDRESS_CHARS) for name, value in response.headers.items()}
            body = beginning(response, MAX_BYTES, deadline)
            if len(body) > MAX_BYTES:
                raise EngineUnavailable(
                    f"{who} answered with more than {MAX_BYTES // 1_000_000} MB, too much for a result list"
                )
            return HttpResponse(response.status_code, received, body)
    except httpx2.TimeoutException as error:
        raise EngineUnavailable(
            f"{who} did not answer within {timeout:g} s; check the network, or raise search_timeout"
        ) from error
    except httpx2.DecodingError as error:
        raise EngineUnavailable(f"{who} sent a response that cannot be decompressed; try again later") from error
    except UnicodeEncodeError as error:  # headers are ASCII
        raise InvalidInput(f"{who}: a key or an address in the settings has a character that cannot be sent") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise EngineUnavailable(
            f"{who} cannot be reached ({type(error).__name__}); check the network, or use --engine corpus:PATH"
        ) from error


def check_status(who: str, answer: HttpResponse) -> None:
    """Raise unless the status is 200.

    Raises:
        RateLimited: the server asks for fewer requests (429).
        EngineUnavailable: a redirect (the message names its host) or any other status.
    """
    if answer.status == 429:
        raise RateLimited(f"{who} asks for fewer requests (HTTP 429); wait some minutes")
    if 300 <= answer.status < 400:
        target = origin(answer.headers.get("location", "")) or "another path"
        raise EngineUnavailable(f"{who} answered HTTP {answer.status}, a redirect to {target}; use the final URL")
    if answer.status != 200:
        raise EngineUnavailable(f"{who} answered HTTP {answer.status}; try again later")


def web_address(href: str | None) -> str:
    """Return a result's URL if it is http(s) and at most `MAX_ADDRESS_CHARS` long, else an empty string."""
    address = "".join(clean(href, MAX_ADDRESS_CHARS + 1).split())
    usable = address.lower().startswith(("http://", "https://")) and len(address) <= MAX_ADDRESS_CHARS
    return address if usable else ""


def base_address(url: str, what: str) -> str:
    """Return the canonical URL of a server: no user, no trailing slash. `what` names it in the error.

    Raises:
        InvalidInput: not an http(s) URL, or one with a query.
    """
    address = canonical_url(url)
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        usable = False
    if not usable or parts.query or address.split() != [address]:
        raise InvalidInput(f"{what} must be a URL like https://search.example.org, without a query")
    return address


def login_of(url: str) -> tuple[str, str] | None:
    """Return user and password of a URL, if it has any."""
    from urllib.parse import unquote

    parts = urlsplit(url.strip())
    return (unquote(parts.username), unquote(parts.password or "")) if parts.username else None


def origin(url: str) -> str:
    """Return scheme, host and port of a URL, without user and password; an empty string if it has none."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return one_line(f"{parts.scheme}://{parts.hostname}{port}")[:200] if parts.scheme and parts.hostname else ""
