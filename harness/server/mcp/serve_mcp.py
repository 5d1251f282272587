"""MCP server over HTTP. Each request is authenticated by its token before it reaches a tool.

There are no sessions: each request is independent, so no session can be hijacked, and clients do not notice a restart.
"""

from collections.abc import Callable, Sequence
from typing import Self

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.app import App
from harness.server.auth import Authenticator
from harness.server.error_payload import INVALID, error_payload
from harness.server.http_server import LOOPBACK, check_reach, http_server, is_loopback, listen, run_server
from harness.server.mcp.server import build_server
from harness.server.request_checks import MAX_BODY, TOO_LARGE, authenticate, declared_bytes

PATH = "/mcp"
HEALTH = "/healthz"


def serve(
    app: App,
    host: str,
    port: int,
    *,
    per_minute: float,
    names: Sequence[str] = (),
    on_ready: Callable[[str], None],
) -> None:
    """Serve until interrupted. `names` are more host names that clients may use; `on_ready` gets a line with the
    address once the server accepts connections.

    Raises:
        InvalidInput: other machines can reach `host` and no token exists; or it is not possible to listen there.
        StoreError: the database cannot be read.
    """
    check_reach(app, host)
    with listen(host, port) as listener, build_app(app, host, per_minute=per_minute, names=names) as checks:
        address = f"http://{host}:{listener.getsockname()[1]}{PATH}"
        run_server(http_server(checks), listener, lambda: on_ready(f"serving on {address}"))


def build_app(app: App, host: str, *, per_minute: float, names: Sequence[str] = ()) -> "McpChecks":
    """Return the ASGI application to serve on `host`; each token may make `per_minute` requests a minute."""
    security = allowed(host, names)
    asgi = build_server(None).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=security,
    )
    return McpChecks(asgi, security, Authenticator(app, per_minute=per_minute, alone=is_loopback(host)))


def allowed(host: str, names: Sequence[str]) -> TransportSecuritySettings:
    """Return the allowed host names and origins: those of loopback, `host` and `names`; any if other machines can reach
    the server and `names` is empty. Stops DNS rebinding: a page whose own host name points here sends that name.
    """
    if not is_loopback(host) and not names:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)  # a token is required there anyway
    hosts = [each for name in (*LOOPBACK, host, *names) for each in (name, f"{name}:*")]
    origins = [f"{scheme}://{each}" for each in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


class McpChecks:
    """ASGI middleware: adds the app of the token to each request, and refuses the others with an error response."""

    def __init__(self, asgi: ASGIApp, security: TransportSecuritySettings, authenticator: Authenticator) -> None:
        self._asgi = asgi
        self._security = TransportSecurityMiddleware(security)
        self._admission = authenticator

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._admission.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; pass on other events."""
        if scope["type"] == "http":
            request = Request(scope, receive)
            refused = await self._refused(request)
            if refused is not None:
                await refused(scope, receive, send)
                return
        await self._asgi(scope, receive, send)

    async def _refused(self, request: Request) -> Response | None:
        """Return the response to a refused request; `None` if it may be served, and then it has its app."""
        if (invalid := await self._security.validate_request(request)) is not None:
            return refusal(invalid.status_code, "access_denied", "this host name or origin is not allowed")
        return _not_a_message(request) or await authenticate(request, self._admission)


def refusal(status: int, code: str, message: str, **headers: str) -> Response:
    """Return the response to a refused request."""
    return JSONResponse(error_payload(code, message).model_dump(), status_code=status, headers=headers)


def _not_a_message(request: Request) -> Response | None:
    """Respond to requests that are not MCP messages: health checks, other paths or methods, too large bodies."""
    if request.url.path == HEALTH:
        return JSONResponse({"status": "ok"})
    if request.url.path != PATH:
        return refusal(404, INVALID, f"page not found; the MCP server is at {PATH}")
    if request.method != "POST":
        return refusal(405, INVALID, "only POST is allowed here", Allow="POST")
    if declared_bytes(request) > MAX_BODY:
        return refusal(413, INVALID, TOO_LARGE)
    return None
