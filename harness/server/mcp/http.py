"""The server over HTTP: who asks is told by the token of each request, and everything else is refused before the tools.

Sessions are not kept: every request stands for itself, so that none can be taken over, and a restart is not noticed.
"""

import logging
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from anyio.to_thread import run_sync
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.app import App
from harness.errors import AccessDenied, HarnessError, TooManyRequests
from harness.server.auth import REQUEST_APP, Admission
from harness.server.error_payload import BUG, INTERNAL, INVALID, envelope, envelope_of
from harness.server.mcp.server import build_server
from harness.server.run_server import LOOPBACK, check_reach, is_loopback, listening, run, server_of

log = logging.getLogger(__name__)

PATH = "/mcp"
HEALTH = "/healthz"
MAX_BODY = 2 * 2**20
"""Bytes of one request."""


def serve(
    app: App,
    host: str,
    port: int,
    *,
    per_minute: float,
    names: Sequence[str] = (),
    tell: Callable[[str], None],
) -> None:
    """Serve until interrupted. `names` are further names by which clients reach the server; `tell` is told the address
    once it can be reached.

    Raises:
        InvalidInput: `host` can be reached by others, and no token exists; or the address cannot be listened on.
        StoreError: the database cannot be read.
    """
    check_reach(app, host)
    with listening(host, port) as listener, build_app(app, host, per_minute=per_minute, names=names) as gate:
        address = f"http://{host}:{listener.getsockname()[1]}{PATH}"
        run(server_of(gate), listener, lambda: tell(f"serving on {address}"))


def build_app(app: App, host: str, *, per_minute: float, names: Sequence[str] = ()) -> "Gate":
    """Make the application that is served on `host`; each token may make `per_minute` requests a minute."""
    security = allowed(host, names)
    asgi = build_server(None).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=security,
    )
    return Gate(asgi, security, Admission(app, per_minute=per_minute, alone=is_loopback(host)))


def allowed(host: str, names: Sequence[str]) -> TransportSecuritySettings:
    """Return by which names the server may be asked: those of loopback, `host` and `names`; where others can reach it
    and none is named, by any. A page of another site, whose name is made to lead here, asks by that site's name.
    """
    if not is_loopback(host) and not names:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)  # there, a token is needed anyway
    hosts = [each for name in (*LOOPBACK, host, *names) for each in (name, f"{name}:*")]
    origins = [f"{scheme}://{each}" for each in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


class Gate:
    """Lets through who has a token, with the app of the token's tenant and role; answers the rest with the
    envelope.
    """

    def __init__(self, asgi: ASGIApp, security: TransportSecuritySettings, admission: Admission) -> None:
        self._asgi = asgi
        self._security = TransportSecurityMiddleware(security)
        self._admission = admission

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._admission.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or pass on what is none."""
        if scope["type"] == "http":
            request = Request(scope, receive)
            refused = await self._refused(request)
            if refused is not None:
                await refused(scope, receive, send)
                return
        await self._asgi(scope, receive, send)

    async def _refused(self, request: Request) -> Response | None:
        """Return why the request is not served; `None` when it is, and then it has its app."""
        if (foreign := await self._security.validate_request(request)) is not None:
            return refusal(foreign.status_code, "access_denied", "this server is not asked by that name, or from there")
        return _other_than_a_message(request) or await self._let_in(request)

    async def _let_in(self, request: Request) -> Response | None:
        """Give the request the app of its token; return why it gets none."""
        try:
            request.scope.setdefault("state", {})[REQUEST_APP] = await run_sync(self._admission.app_for, request)
        except AccessDenied as error:
            return refusal(401, error.code, str(error), **{"WWW-Authenticate": 'Bearer realm="harness"'})
        except TooManyRequests as error:
            return refusal(429, error.code, str(error), **{"Retry-After": str(int(error.wait) + 1)})
        except HarnessError as error:
            return JSONResponse(envelope_of(error), status_code=503)
        except Exception:  # a bug, told as every other failure is
            log.exception("a request could not be served")
            return refusal(500, INTERNAL, BUG)
        return None


def refusal(status: int, code: str, message: str, **headers: str) -> Response:
    """Make a response that says why nothing was done."""
    return JSONResponse(envelope(code, message), status_code=status, headers=headers)


def _other_than_a_message(request: Request) -> Response | None:
    """Answer what is no message for the server: whether it is up, another address or method, too much."""
    if request.url.path == HEALTH:
        return JSONResponse({"status": "ok"})
    if request.url.path != PATH:
        return refusal(404, INVALID, f"there is nothing here; the server is at {PATH}")
    if request.method != "POST":
        return refusal(405, INVALID, "only POST is answered here", Allow="POST")
    if _declared_bytes(request) > MAX_BODY:
        return refusal(413, INVALID, f"a request has at most {MAX_BODY:,} bytes; send less at once")
    return None


def _declared_bytes(request: Request) -> int:
    declared = request.headers.get("content-length", "")
    return int(declared[:20]) if declared.isascii() and declared.isdigit() else 0
