"""Fetching of a URL: redirects, robots.txt, validators, limits, and every failure as a `PageError`."""

import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

import httpcore2
import httpx2
from msgspec import Struct

from harness.core.pages import Page
from harness.core.sites import ANY_SITE, Sites
from harness.core.text import clean, shorten
from harness.errors import AddressRefused, InvalidInput, PageError, SiteLeftOut
from harness.sources.http.transport import Deadline, Sockets, Transport, beginning
from harness.sources.pages.addresses import AddressGuard
from harness.sources.pages.robots import MAX_RULES_BYTES, MAX_RULES_REDIRECTS, Robots, Rules, rules_in

MAX_ADDRESS_CHARS = 4_000
MAX_HEADER_CHARS = 500
CONNECT_SECONDS = 5.0
"""Time limit for connecting to one address of a host."""

_HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; research-harness)",  # many sites refuse other beginnings
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,text/markdown;q=0.8,*/*;q=0.1",
    "Accept-Encoding": "gzip, deflate",  # the codings that are decoded in bounded pieces
}
_CODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
NOT_MODIFIED = 304
_ETAG = re.compile(r'(?:W/)?"[!#-~]{0,200}"')
_DATE = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} "
    r"[0-9]{2}:[0-9]{2}:[0-9]{2} GMT"
)
_NO_CONNECTION = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)
_ADVICE: Mapping[int, str] = {
    401: "it requires a login",
    403: "it refuses robots or requires a login",
    404: "there is no such page",
    410: "the page is gone",
    429: "it asks for fewer requests; wait some minutes",
    503: "it is overloaded or refuses robots; try again later",
}


class Fetched(Struct, frozen=True):
    """Result of a fetch: `url` after redirects, decompressed `body`, `content_type` header as received; `etag` and
    `last_modified` are empty if they were not received or are not valid.
    """

    url: str
    content_type: str
    body: bytes
    etag: str = ""
    last_modified: str = ""


class FetchLimits(Struct, frozen=True):
    """Limits of one fetch: `timeout` in seconds, `max_bytes` of the decompressed body, `max_redirects` in a row."""

    timeout: float
    max_bytes: int
    max_redirects: int


def web_address(url: str) -> httpx2.URL:
    """Return `url` parsed, without user, password and fragment.

    Raises:
        InvalidInput: it is not an http(s) URL with a host.
    """
    try:
        parsed = httpx2.URL(url.strip())
        usable = parsed.scheme in {"http", "https"} and bool(parsed.host) and len(url) <= MAX_ADDRESS_CHARS
        if usable:
            return parsed.copy_with(userinfo=b"", fragment=None)
    except (httpx2.InvalidURL, ValueError):  # ValueError: a host that cannot be encoded
        pass
    raise InvalidInput(f"{shown_url(url)!r} is not a URL; pass one that begins with http:// or https://")


def shown_url(url: object) -> str:
    """Return a URL for a message: on one line, at most 200 characters."""
    return shorten(clean(url, MAX_ADDRESS_CHARS), 200)


def usable_proxy(address: str | None) -> httpx2.Proxy | None:
    """Return the proxy at `address`, if any.

    Raises:
        InvalidInput: it is not the URL of a proxy, or a SOCKS proxy without the package `socksio`.
    """
    if address is None:
        return None
    try:
        proxy = httpx2.Proxy(address)
    except (httpx2.InvalidURL, ValueError):  # not chained: its message may show the password
        raise InvalidInput("the setting proxy is not a URL; write it as http://user:password@host:port") from None
    if proxy.url.scheme.startswith("socks") and find_spec("socksio") is None:
        raise InvalidInput("a SOCKS proxy needs the package socksio; run `pip install socksio`, or name an HTTP proxy")
    return proxy


def fetch(
    url: str,
    guard: AddressGuard,
    limits: FetchLimits,
    proxy: httpx2.Proxy | None,
    *,
    robots: Robots | None = None,
    held: Page | None = None,
    sites: Sites = ANY_SITE,
) -> Fetched | Page:
    """Fetch `url`, following redirects; `guard` checks every address before it is requested, and so do `robots`, if
    given. `sites` are those that redirects may lead to. The validators of `held`, an earlier answer, are sent only to
    the URL that it came from; it is returned if it has not changed.

    Raises:
        InvalidInput: not an http(s) URL.
        AddressRefused: it, or a redirect, leads to an address that is neither public nor allowed, or is not http(s).
        SiteLeftOut: a redirect leads to another site than `sites` allows.
        PageError: no response in time, an error status, refused to robots, too large, too many redirects.
    """
    address = web_address(url)
    deadline = Deadline(limits.timeout)
    try:
        with httpx2.Client(
            transport=_transport(guard, deadline, proxy),
            headers=_HEADERS,
            timeout=httpx2.Timeout(limits.timeout, connect=CONNECT_SECONDS),
            trust_env=False,
        ) as client:
            requests = _Requests(client, guard if proxy else None, deadline)
            for _ in range(limits.max_redirects + 1):
                if robots:
                    robots.check(address, requests.rules, deadline.within())
                headers = conditions(held, str(address))
                with requests.get(address, headers) as response:
                    if held and headers and response.status_code == NOT_MODIFIED:
                        return held
                    if not _is_redirect(response):
                        return _body(response, limits, deadline)
                    address = _next(address, response.headers["location"])
                    if name := sites.left_out_by(str(address)):
                        raise SiteLeftOut(f"it redirects to a site that {name} leaves out")
    except httpx2.HTTPError as error:
        raise PageError(_why(error, limits, deadline)) from error
    raise PageError(f"more than {limits.max_redirects} redirects; open it in a browser to see where it leads")


def entity_tag(header: str | None) -> str:
    """Return an entity tag, weak or strong, of printable ASCII and at most 200 characters; "" for anything else."""
    return header if header and _ETAG.fullmatch(header) else ""


def http_date(header: str | None) -> str:
    """Return a date in the form of RFC 9110, section 5.6.7; "" for anything else."""
    return header if header and _DATE.fullmatch(header) else ""


def conditions(held: Page | None, url: str) -> Mapping[str, str]:
    """Return the headers that request the page at `url` only if it is no longer the `held` one; none if that came from
    another URL or without validators. They are checked again: a database may have been imported.
    """
    if held is None or held.url != url:
        return {}
    headers = {"If-None-Match": entity_tag(held.etag), "If-Modified-Since": http_date(held.last_modified)}
    return {name: value for name, value in headers.items() if value}


def _transport(guard: AddressGuard, deadline: Deadline, proxy: httpx2.Proxy | None) -> Transport:
    """Return the transport of one fetch, until `deadline`. Without a `proxy`, it connects only to addresses that
    `guard` accepts; exceptions of `guard` propagate.
    """
    if proxy is None:
        return Transport(_CheckedSockets(guard, deadline), _tls())
    return Transport(Sockets(deadline), _tls(), httpcore2.Proxy(url=str(proxy.url), auth=proxy.raw_auth))


class _CheckedSockets(Sockets):
    def __init__(self, guard: AddressGuard, deadline: Deadline) -> None:
        super().__init__(deadline)
        self._guard = guard

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **kwargs: Any
    ) -> httpcore2.NetworkStream:
        addresses = self._guard.addresses(host, port, self.deadline.within())
        for number, address in enumerate(addresses, start=1):
            try:
                return super().connect_tcp(address, port, timeout, *args, **kwargs)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise httpcore2.ConnectError(f"{host} has no address")


class _Requests:
    """Requests of one fetch, all until its deadline. A proxy resolves hosts itself, so their addresses are checked by
    the `guard` before each request.
    """

    def __init__(self, client: httpx2.Client, guard: AddressGuard | None, deadline: Deadline) -> None:
        self._client = client
        self._guard = guard
        self._deadline = deadline

    @contextmanager
    def get(self, address: httpx2.URL, headers: Mapping[str, str] | None = None) -> Iterator[httpx2.Response]:
        """Send one request; redirects are not followed."""
        if self._guard:
            port = address.port or {"http": 80, "https": 443}[address.scheme]
            self._guard.addresses(address.host, port, self._deadline.within())
        with self._client.stream("GET", address, headers=headers) as response:
            yield response

    def rules(self, address: httpx2.URL) -> Rules:
        """Return the rules at `address`, or why they are unreachable (RFC 9309, section 2.3.1).

        Raises:
            httpx2.HTTPError: the host cannot be connected to.
            PageError: likewise, or its address is refused.
        """
        first = address
        try:
            for _ in range(MAX_RULES_REDIRECTS + 1):
                with self.get(address) as response:
                    if not _is_redirect(response):
                        return self._rules_of(response)
                    location = response.headers["location"]
                try:
                    address = _next(address, location)
                except PageError:  # not a URL: there are no rules
                    break
        except (httpx2.HTTPError, PageError) as error:
            if address == first and isinstance(error, (PageError, *_NO_CONNECTION)):  # the page is not there, either
                raise
            return Rules(unreachable=_cause(error))
        return Rules()

    def _rules_of(self, response: httpx2.Response) -> Rules:
        if response.status_code >= 500:
            return Rules(unreachable=f"HTTP {response.status_code}")
        if not response.is_success:
            return Rules()
        return rules_in(beginning(response, MAX_RULES_BYTES, self._deadline))


def _is_redirect(response: httpx2.Response) -> bool:
    return response.status_code in _REDIRECTS and "location" in response.headers


def _cause(error: Exception) -> str:
    if isinstance(error, httpx2.TimeoutException):
        return "it did not answer in time"
    return shorten(clean(error, 500), 100)


@cache
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def _next(address: httpx2.URL, location: str) -> httpx2.URL:
    try:
        target = address.join(location)
    except (httpx2.InvalidURL, ValueError) as error:
        raise PageError(f"it redirects to {shown_url(location)!r}, which is not a URL") from error
    try:
        return web_address(str(target))
    except InvalidInput as error:
        raise AddressRefused(f"it redirects to {shown_url(location)!r}, which is not an http(s) URL") from error


def _body(response: httpx2.Response, limits: FetchLimits, deadline: Deadline) -> Fetched:
    """Read the body. A body above the limit is an error: half of it would look like all of it."""
    if not 200 <= response.status_code < 300:
        advice = _ADVICE.get(response.status_code, "try again later, or read another page")
        raise PageError(f"answered HTTP {response.status_code}: {advice}")
    codings = {each.strip().lower() for each in response.headers.get("content-encoding", "").split(",")}
    if unknown := codings - _CODINGS:
        raise PageError(f"compressed as {shorten(clean(min(unknown), 100), 40)!r}, which was not requested")
    too_large = PageError(f"larger than {limits.max_bytes:,} bytes; raise max_bytes to read it")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and len(length) < 20 and int(length) > limits.max_bytes:
        raise too_large
    body = beginning(response, limits.max_bytes, deadline)
    if len(body) > limits.max_bytes:
        raise too_large
    return Fetched(
        url=str(response.url),
        content_type=clean(response.headers.get("content-type"), MAX_HEADER_CHARS),
        body=body,
        etag=entity_tag(response.headers.get("etag")),
        last_modified=http_date(response.headers.get("last-modified")),
    )


def _why(error: httpx2.HTTPError, limits: FetchLimits, deadline: Deadline) -> str:
    if isinstance(error, httpx2.TimeoutException):
        if deadline.left <= 0:
            return f"it took longer than {limits.timeout:g} s; try again later, or raise the time limit"
        return "did not answer in time; try again later"
    if isinstance(error, httpx2.DecodingError):
        return "its compression is damaged; try again later"
    if isinstance(error, (httpx2.NetworkError, httpx2.ProxyError)):
        what = "the proxy refuses" if isinstance(error, httpx2.ProxyError) else "cannot be reached"
        return f"{what} ({shorten(clean(error, 500), 100)}); check the network, or try again later"
    return f"its answer is not HTTP ({shorten(clean(error, 500), 100)}); try again later"
