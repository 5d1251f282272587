"""Checks of every request before routing: host name, origin, size, token."""

import base64
import json
import logging
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from anyio.to_thread import run_sync
from fastapi import HTTPException
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.errors import AccessDenied, HarnessError
from harness.identity import PREFIX
from harness.server.auth import REQUEST_APP, Authenticator, bearer_token
from harness.server.error_payload import BUG, INTERNAL, INVALID, error_payload
from harness.server.error_responses import is_data_path, respond_error, respond_with
from harness.server.http_server import LOOPBACK, is_loopback

access = logging.getLogger("harness.server.access")
log = logging.getLogger(__name__)

COOKIE = "harness_token"
MAX_BODY = 2 * 2**20
"""Bytes of one request."""
TOO_LARGE = f"a request may have at most {MAX_BODY:,} bytes; send less at once"
PUBLIC_PATHS = ("/healthz", "/login", "/logout", "/static/")
"""Served without a token."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


def token_of(request: Request) -> str | None:
    """Return the token of a request: from the header `Authorization` (`Bearer`, or the password of `Basic`, which
    clients send for a URL such as `http://me:TOKEN@host/`), else from the cookie. Keys of other services, which their
    clients may send, are ignored.
    """
    for token in (bearer_token(request), _basic(request), request.cookies.get(COOKIE)):
        if token and token.strip().startswith(PREFIX):
            return token
    return None


class HostNames:
    """Host names that requests may use: those of loopback, `host` and `names`; any name if other machines can reach the
    server and `names` is empty. Stops DNS rebinding: a page whose own host name points here sends that name.
    """

    def __init__(self, host: str, names: Sequence[str] = ()) -> None:
        any_name = not is_loopback(host) and not names
        self._known = None if any_name else {name.lower().strip("[]") for name in (*LOOPBACK, host, *names)}

    def include(self, address: str) -> bool:
        """Return whether the name in `HOST[:PORT]` is allowed."""
        try:
            name = urlsplit(f"//{address}").hostname
        except ValueError:
            return False
        return name is not None and (self._known is None or name in self._known)


class RequestChecks:
    """ASGI middleware: refuses requests that fail a check, adds the app of the token and the security headers for
    browsers, and writes a log line for each request if `logs` is set.
    """

    def __init__(self, asgi: ASGIApp, *, names: HostNames, authenticator: Authenticator, logs: bool = False) -> None:
        self._asgi = asgi
        self._names = names
        self._admission = authenticator
        self._logs = logs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; pass on other events."""
        if scope["type"] != "http":
            await self._asgi(scope, receive, send)
            return
        began, status, request = time.perf_counter(), 0, Request(scope, receive)

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            refused = self._check_origin(request) or _too_large(request) or await self._authenticate(request)
            if refused is not None:
                await refused(scope, receive, send_with_headers)
            else:
                await self._asgi(scope, _limited(receive), send_with_headers)
        finally:
            if self._logs:
                self._log(request, status, time.perf_counter() - began)

    def _check_origin(self, request: Request) -> Response | None:
        """Refuse requests from pages of other sites, and requests to other host names."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if not self._names.include(host):
            return _refusal(request, 403, "access_denied", "this host name is not allowed; add it with --allow-host")
        if origin is not None and _host_of(origin) != host.lower():
            return _refusal(request, 403, "access_denied", "requests from other sites are not allowed")
        site, writes = request.headers.get("sec-fetch-site"), request.method not in _READS
        if site in {"cross-site", "same-site"} and (writes or is_data_path(request.url.path)):
            return _refusal(request, 403, "access_denied", "requests from other sites are not allowed")
        return None

    async def _authenticate(self, request: Request) -> Response | None:
        return None if request.url.path.startswith(PUBLIC_PATHS) else await authenticate(request, self._admission)

    def _log(self, request: Request, status: int, seconds: float) -> None:
        app = request.scope.get("state", {}).get(REQUEST_APP)
        fields: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "method": request.method,
            "path": request.url.path[:500],
            "status": status,
            "milliseconds": round(1_000 * seconds, 1),
            "tenant": app.identity.tenant if app else None,
            "user": app.identity.user or None if app else None,
        }
        access.info(json.dumps(fields))


async def authenticate(request: Request, authenticator: Authenticator) -> Response | None:
    """Add the app of the token to the request; return the response if it is refused."""
    try:
        app = await run_sync(authenticator.app_for, request)
    except AccessDenied as error:
        if not is_data_path(request.url.path) and request.method == "GET":
            return RedirectResponse("/login", 303)
        return _refusal(request, 401, error.code, str(error), {"WWW-Authenticate": 'Bearer realm="harness"'})
    except HarnessError as error:
        return respond_with(request, error)
    except Exception:  # a bug; bugs in routes are handled by the application
        log.exception("a request could not be authenticated")
        return respond_error(request, 500, error_payload(INTERNAL, BUG))
    request.scope.setdefault("state", {})[REQUEST_APP] = app
    return None


def _refusal(request: Request, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    log.debug("%s %s refused: %s", request.method, request.url.path[:200], message)
    return respond_error(request, status, error_payload(code, message), headers)


def _host_of(origin: str) -> str:
    """Return the `HOST[:PORT]` of an origin; empty if it is not one."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _basic(request: Request) -> str | None:
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(encoded, validate=True).decode().partition(":")[2]
    except ValueError:  # not base64, or not text
        return None


def _too_large(request: Request) -> Response | None:
    return _refusal(request, 413, INVALID, TOO_LARGE) if declared_bytes(request) > MAX_BODY else None


def declared_bytes(request: Request) -> int:
    """Return the `Content-Length` of a request in bytes; 0 without a valid one."""
    declared = request.headers.get("content-length", "")
    return int(declared[:20]) if declared.isascii() and declared.isdigit() else 0


def _limited(receive: Receive) -> Receive:
    """Refuse a body that turns out too large although its length was not declared; the application responds."""
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_BODY:
            raise HTTPException(413, TOO_LARGE)
        return message

    return counted
