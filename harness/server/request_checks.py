"""What every request passes before it is routed: by which name it asks, from where, how much it sends, who it is."""

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
from harness.server.auth import REQUEST_APP, Admission, bearer
from harness.server.error_payload import BUG, INTERNAL, INVALID, envelope
from harness.server.errors import failed, failed_with, is_data
from harness.server.run_server import LOOPBACK, is_loopback

access = logging.getLogger("harness.server.access")
log = logging.getLogger(__name__)

COOKIE = "harness_token"
MAX_BODY = 2 * 2**20
"""Bytes of one request."""
_TOO_LONG = f"a request has at most {MAX_BODY:,} bytes; send less at once"
OPEN = ("/healthz", "/login", "/logout", "/static/")
"""What is answered without a token."""
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
    """Return the token of a request: in the header `Authorization`, as `Bearer`, or as the password of `Basic`, which
    an address such as `http://me:TOKEN@host/` turns into; else in the cookie. What is no token of the harness (other
    services' clients send keys of theirs) counts as none.
    """
    for token in (bearer(request), _basic(request), request.cookies.get(COOKIE)):
        if token and token.strip().startswith(PREFIX):
            return token
    return None


class Names:
    """By which names the server may be asked: those of loopback, `host` and `names`; where others can reach it and none
    is named, by any. A page of another site, whose name is made to lead here, asks by that site's name.
    """

    def __init__(self, host: str, names: Sequence[str] = ()) -> None:
        every = not is_loopback(host) and not names
        self._known = None if every else {name.lower().strip("[]") for name in (*LOOPBACK, host, *names)}

    def include(self, address: str) -> bool:
        """Say whether the name in `HOST[:PORT]` is one of them."""
        try:
            name = urlsplit(f"//{address}").hostname
        except ValueError:
            return False
        return name is not None and (self._known is None or name in self._known)


class Gate:
    """Lets requests through that may be answered, with the app of whoever asks; sets the headers that bind a
    browser; writes a line for each request if `logs` is asked for.
    """

    def __init__(self, asgi: ASGIApp, *, names: Names, admission: Admission, logs: bool = False) -> None:
        self._asgi = asgi
        self._names = names
        self._admission = admission
        self._logs = logs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or pass on what is none."""
        if scope["type"] != "http":
            await self._asgi(scope, receive, send)
            return
        began, status, request = time.perf_counter(), 0, Request(scope, receive)

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            refused = self._foreign(request) or _too_long(request) or await self._let_in(request)
            if refused is not None:
                await refused(scope, receive, watched)
            else:
                await self._asgi(scope, _bounded(receive), watched)
        finally:
            if self._logs:
                self._tell(request, status, time.perf_counter() - began)

    def _foreign(self, request: Request) -> Response | None:
        """Refuse what a page of another site has a browser send, and other names than the server's own."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if not self._names.include(host):
            return _refusal(request, 403, "access_denied", "this server is not asked by that name; see --allow-host")
        if origin is not None and _place(origin) != host.lower():
            return _refusal(request, 403, "access_denied", "this server is not asked from another site")
        site, writes = request.headers.get("sec-fetch-site"), request.method not in _READS
        if site in {"cross-site", "same-site"} and (writes or is_data(request.url.path)):
            return _refusal(request, 403, "access_denied", "this server is not asked from another site")
        return None

    async def _let_in(self, request: Request) -> Response | None:
        if request.url.path.startswith(OPEN):
            return None
        try:
            app = await run_sync(self._admission.app_for, request)
        except AccessDenied as error:
            if not is_data(request.url.path) and request.method == "GET":
                return RedirectResponse("/login", 303)
            return _refusal(request, 401, error.code, str(error), {"WWW-Authenticate": 'Bearer realm="harness"'})
        except HarnessError as error:
            return failed_with(request, error)
        except Exception:  # a bug, told as every other one is; the routes' own are told by the application
            log.exception("a request could not be let in")
            return failed(request, 500, envelope(INTERNAL, BUG))
        request.scope.setdefault("state", {})[REQUEST_APP] = app
        return None

    def _tell(self, request: Request, status: int, seconds: float) -> None:
        app = request.scope.get("state", {}).get(REQUEST_APP)
        told: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "method": request.method,
            "path": request.url.path[:500],
            "status": status,
            "milliseconds": round(1_000 * seconds, 1),
            "tenant": app.identity.tenant if app else None,
            "user": app.identity.user or None if app else None,
        }
        access.info(json.dumps(told))


def _refusal(request: Request, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    log.debug("%s %s is refused: %s", request.method, request.url.path[:200], message)
    return failed(request, status, envelope(code, message), headers)


def _place(origin: str) -> str:
    """Return the `HOST[:PORT]` of an origin; nothing of what is none."""
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
    except ValueError:  # not base64, or not of text
        return None


def _too_long(request: Request) -> Response | None:
    declared = request.headers.get("content-length", "")
    length = int(declared[:20]) if declared.isascii() and declared.isdigit() else 0
    return _refusal(request, 413, INVALID, _TOO_LONG) if length > MAX_BODY else None


def _bounded(receive: Receive) -> Receive:
    """Refuse a body that turns out too long where its length was not declared: the application answers with that."""
    held = 0

    async def counted() -> Message:
        nonlocal held
        message = await receive()
        held += len(message.get("body", b""))
        if held > MAX_BODY:
            raise HTTPException(413, _TOO_LONG)
        return message

    return counted
