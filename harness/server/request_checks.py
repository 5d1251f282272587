"""Checks of every request before routing: host name, origin, size, token."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

from anyio.to_thread import run_sync
from fastapi import FastAPI, HTTPException
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Message, Receive, Scope, Send

from harness.app import App
from harness.errors import AccessDenied, HarnessError, TooManyRequests
from harness.server.auth import MCP_PATH, REQUEST_APP, Authenticator
from harness.server.error_payload import BUG, INTERNAL, INVALID, error_payload
from harness.server.error_responses import is_data_path, respond_error, respond_with
from harness.server.http_server import LOOPBACK, is_loopback
from harness.server.metrics import Metrics
from harness.server.tenant_limits import TenantLimits

access = logging.getLogger("harness.server.access")
log = logging.getLogger(__name__)

MAX_BODY = 2 * 2**20
"""Bytes of one request."""
TOO_LARGE = f"a request may have at most {MAX_BODY:,} bytes; send less at once"
PUBLIC_PATHS = ("/healthz", "/readyz", "/login", "/logout", "/static/")
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
_METHODS = _READS | {"POST", "PUT", "PATCH", "DELETE"}
UNAVAILABLE = "unavailable"
STOPPING = "the server is being stopped or replaced; send the request again"


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
    browsers, counts requests, and writes a log line for each if `logs` is set. A tenant's requests beyond its share
    wait here.
    """

    def __init__(self, asgi: FastAPI, *, names: HostNames, authenticator: Authenticator, logs: bool = False) -> None:
        self._asgi = asgi
        self._limits: TenantLimits = asgi.state.limits
        self._metrics: Metrics = asgi.state.metrics
        self._names = names
        self._authenticator = authenticator
        self._logs = logs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; pass on other events."""
        if scope["type"] != "http":
            await self._asgi(scope, receive, send)
            return
        began, request, sending = time.perf_counter(), Request(scope, receive), _Sending(send)
        try:
            await self._serve(request, sending)
        except asyncio.CancelledError:
            if not sending.status:  # the server stops
                stopping = _refusal(request, 503, UNAVAILABLE, STOPPING, {"Retry-After": "5"})
                await stopping(scope, receive, sending)
            raise
        finally:
            seconds = time.perf_counter() - began
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.count_request(route_of(scope), method, sending.status, seconds)
            if self._logs:
                self._log(request, sending.status, seconds)

    async def _serve(self, request: Request, sending: "_Sending") -> None:
        scope, receive = request.scope, request.receive
        refused = self._check_origin(request) or _too_large(request) or await self._authenticate(request)
        if refused is not None:
            await refused(scope, receive, sending)
            return
        try:
            body = await _whole(receive)  # before it takes a place: a client may send it slowly
            async with AsyncExitStack() as place:
                if tenant := _sharing(request):
                    sending.free_place = await place.enter_async_context(self._limits.slot(tenant))
                await self._asgi(scope, _replayed(body, receive), sending)
        except ClientDisconnect:
            log.debug("%s: the client left before its request was complete", request.url.path[:200])
        except (TooManyRequests, HTTPException) as error:
            if sending.status:
                raise
            await _failure(request, error)(scope, receive, sending)

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
        """Add the app of the token to the request; return the response if it is refused."""
        if request.url.path.startswith(PUBLIC_PATHS):
            return None
        try:
            app = await run_sync(self._authenticator.app_for, request)
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


def route_of(scope: Scope) -> str:
    """Return the template of the path that served a request; `other` where none did."""
    path: str = scope["path"]
    if path == MCP_PATH or path.startswith("/static/"):  # not FastAPI's routes: they leave no trace in the scope
        return MCP_PATH if path == MCP_PATH else "/static/{path}"
    return str(getattr(scope.get("route"), "path", "other"))


def _refusal(request: Request, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    log.debug("%s %s refused: %s", request.method, request.url.path[:200], message)
    return respond_error(request, status, error_payload(code, message), headers)


def _host_of(origin: str) -> str:
    """Return the `HOST[:PORT]` of an origin; empty if it is not one."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


class _Sending:
    """Function that sends a response with the security headers; it knows the status, which is 0 before the response
    starts, and then frees the tenant's place: a client that reads slowly takes none.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0
        self.free_place: Callable[[], None] | None = None

    async def __call__(self, message: Message) -> None:
        """Send one part."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            if self.free_place is not None:
                self.free_place()
        await self._send(message)


def _sharing(request: Request) -> str | None:
    """Return the tenant of a request that takes a place. Public paths take none, nor do requests that wait without a
    thread of the server, or have limits of their kind: agents, events, model calls.
    """
    app: App | None = request.scope.get("state", {}).get(REQUEST_APP)
    path = request.url.path
    if app is None or path == MCP_PATH or path.startswith("/v1/") or path.endswith("/events"):
        return None
    return app.identity.tenant


async def _whole(receive: Receive) -> bytes:
    """Return the body of a request.

    Raises:
        ClientDisconnect: the client left.
        HTTPException: the body is too large, although its length was not declared.
    """
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            raise HTTPException(413, TOO_LARGE)
        more = message.get("more_body", False)
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body that was read, then waits for the client to leave."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


def _failure(request: Request, error: TooManyRequests | HTTPException) -> Response:
    if isinstance(error, TooManyRequests):
        return respond_with(request, error)
    return _refusal(request, error.status_code, INVALID, str(error.detail))


def _too_large(request: Request) -> Response | None:
    """Refuse a request whose `Content-Length` is too large; one that is not valid is ignored."""
    declared = request.headers.get("content-length", "")
    size = int(declared[:20]) if declared.isascii() and declared.isdigit() else 0
    return _refusal(request, 413, INVALID, TOO_LARGE) if size > MAX_BODY else None
