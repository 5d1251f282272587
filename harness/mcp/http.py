"""The server over HTTP: who asks is told by the token of each request, and everything else is refused before the tools.

Sessions are not kept: every request stands for itself, so that none can be taken over, and a restart is not noticed.
"""

import ipaddress
import logging
import socket
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from types import TracebackType
from typing import Self

from anyio.to_thread import run_sync
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.errors import AccessDenied, HarnessError, InvalidInput, TooManyRequests
from harness.identity import Identity, RateLimit
from harness.mcp.calls import REQUESTS_WORKBENCH
from harness.mcp.envelope import INTERNAL, INVALID, envelope, envelope_of
from harness.mcp.server import build_server
from harness.workbench import Workbench

log = logging.getLogger(__name__)

PATH = "/mcp"
HEALTH = "/healthz"
MAX_BODY = 2 * 2**20
"""Bytes of one request."""
MAX_WORKBENCHES = 100
"""Tokens whose workbench is kept open for their next request."""
CLOSING_SECONDS = 5
"""How long connections may take to end when the server is stopped."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


def serve(
    workbench: Workbench,
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
    import uvicorn

    if not is_loopback(host) and not workbench.tokens.list():
        raise InvalidInput(
            f"others can reach {host}, and there is no token yet; make one with `harness token create`, "
            "or leave --host out to serve this machine alone"
        )
    with _listening(host, port) as listener, build_app(workbench, host, per_minute=per_minute, names=names) as gate:
        config = uvicorn.Config(
            gate,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
        tell(f"serving on http://{host}:{listener.getsockname()[1]}{PATH}")
        with suppress(KeyboardInterrupt):  # uvicorn ends gracefully, and then raises what ended it
            uvicorn.Server(config).run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as error:
        raise InvalidInput(
            f"cannot listen on {host}, port {port} ({error}); choose another --host or --port"
        ) from error


def build_app(workbench: Workbench, host: str, *, per_minute: float, names: Sequence[str] = ()) -> "Gate":
    """Make the application that is served on `host`; each token may make `per_minute` requests a minute."""
    security = allowed(host, names)
    app = build_server(None).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=security,
    )
    return Gate(app, workbench, security, RateLimit(per_minute), alone=is_loopback(host))


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach `host`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


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
    """Lets through who has a token, with the workbench of the token's tenant and role; answers the rest with the
    envelope.

    Without any token in the store, and only then, a request of this machine (`alone`) is served as the local identity.
    """

    def __init__(
        self, app: ASGIApp, workbench: Workbench, security: TransportSecuritySettings, rate: RateLimit, *, alone: bool
    ) -> None:
        self._app = app
        self._own = workbench
        self._security = TransportSecurityMiddleware(security)
        self._rate = rate
        self._alone = alone
        self._tokens_seen = False
        self._open: OrderedDict[Identity, Workbench] = OrderedDict()
        self._opening = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for workbench in self._open.values():
            workbench.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or pass on what is none."""
        if scope["type"] == "http":
            request = Request(scope, receive)
            refused = await self._refused(request)
            if refused is not None:
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _refused(self, request: Request) -> Response | None:
        """Return why the request is not served; `None` when it is, and then it has its workbench."""
        if (foreign := await self._security.validate_request(request)) is not None:
            return refusal(foreign.status_code, "access_denied", "this server is not asked by that name, or from there")
        return _other_than_a_message(request) or await self._let_in(request)

    async def _let_in(self, request: Request) -> Response | None:
        """Give the request the workbench of its token; return why it gets none."""
        try:
            request.scope.setdefault("state", {})[REQUESTS_WORKBENCH] = await run_sync(self._workbench_for, request)
        except AccessDenied as error:
            return refusal(401, error.code, str(error), **{"WWW-Authenticate": 'Bearer realm="harness"'})
        except TooManyRequests as error:
            return refusal(429, error.code, str(error), **{"Retry-After": str(int(error.wait) + 1)})
        except HarnessError as error:
            return JSONResponse(envelope_of(error), status_code=503)
        except Exception:
            log.exception("a request could not be served")
            return refusal(500, INTERNAL, "the request failed because of a bug in harness; the server's log tells more")
        return None

    def _workbench_for(self, request: Request) -> Workbench:
        identity = self._identity(request)
        self._rate.check(identity.token)
        with self._opening:
            if (workbench := self._open.pop(identity, None)) is None:
                workbench = self._own.serving(identity)
            self._open[identity] = workbench
            if len(self._open) > MAX_WORKBENCHES:
                self._open.popitem(last=False)[1].close()
        return workbench

    def _identity(self, request: Request) -> Identity:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if token and scheme.lower() == "bearer":
            return self._own.tokens.verify(token)
        if self._token_needed(request):
            raise AccessDenied("this needs a token: send the header `Authorization: Bearer TOKEN`")
        return self._own.identity

    def _token_needed(self, request: Request) -> bool:
        """Say whether a request without a token is refused: where others can reach the server, behind a proxy, and
        everywhere from when the first token was made.
        """
        if not self._alone or any(name in request.headers for name in _FORWARDED):
            return True
        self._tokens_seen = self._tokens_seen or bool(self._own.tokens.list())
        return self._tokens_seen


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
