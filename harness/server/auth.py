"""Authentication: each request is served with the app of its token's tenant and role."""

import base64
from collections import OrderedDict
from threading import Lock
from typing import Self

from starlette.requests import Request

from harness.app import App
from harness.errors import AccessDenied
from harness.identity import PREFIX, Identity, RateLimit

REQUEST_APP = "harness.app"
"""Key of the request's app in the state of its ASGI scope."""
COOKIE = "harness_token"
MCP_PATH = "/mcp"
"""Path for agents; what they do has the origin `agent`."""
MAX_APPS = 100
"""Tokens whose app stays open for their next request."""
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


def bearer_token(request: Request) -> str | None:
    """Return the token in the header `Authorization: Bearer TOKEN`."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if token and scheme.lower() == "bearer" else None


def token_of(request: Request) -> str | None:
    """Return the token of a request: from the header `Authorization` (`Bearer`, or the password of `Basic`, which
    clients send for a URL such as `http://me:TOKEN@host/`), else from the cookie. Keys of other services, which their
    clients may send, are ignored.
    """
    for token in (bearer_token(request), _basic(request), request.cookies.get(COOKIE)):
        if token and token.strip().startswith(PREFIX):
            return token
    return None


def _basic(request: Request) -> str | None:
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(encoded, validate=True).decode().partition(":")[2]
    except ValueError:  # not base64, or not text
        return None


class Authenticator:
    """Authenticates requests and opens their apps. Thread-safe; close it after use.

    While the store has no token, a request from this machine (`alone`) is served as the local identity. `per_minute`
    is the rate limit of each token.
    """

    def __init__(self, app: App, *, per_minute: float, alone: bool) -> None:
        self.own = app
        self._rate = RateLimit(per_minute)
        self._alone = alone
        self._tokens_seen = False
        self._open: OrderedDict[tuple[Identity, bool], App] = OrderedDict()
        self._opening = Lock()

    def app_for(self, request: Request) -> App:
        """Authenticate a request and return the app for its tenant and role.

        Raises:
            AccessDenied: the token is missing or not valid.
            TooManyRequests: this token exceeds its rate limit.
            StoreError: the store cannot be read.
        """
        identity = self._identity(request)
        self._rate.check(identity.token)
        key = (identity, request.scope.get("path") == MCP_PATH)
        with self._opening:
            if (app := self._open.pop(key, None)) is None:
                app = self.own.serving(identity, origin="agent" if key[1] else None)
            self._open[key] = app
            if len(self._open) > MAX_APPS:
                self._open.popitem(last=False)[1].close()
        return app

    def verify(self, token: str) -> Identity:
        """Return the identity of a token.

        Raises:
            AccessDenied: it is not valid.
            StoreError: the store cannot be read.
        """
        return self.own.databases.tokens.verify(token)

    def close(self) -> None:
        """Close all open apps."""
        for app in self._open.values():
            app.close()

    def _identity(self, request: Request) -> Identity:
        if token := token_of(request):
            return self.verify(token)
        if self._token_required(request):
            raise AccessDenied("a token is required: send the header `Authorization: Bearer TOKEN`")
        return self.own.identity

    def _token_required(self, request: Request) -> bool:
        """Return whether a request without a token is refused: if other machines can reach the server, behind a proxy,
        and everywhere once the first token exists.
        """
        if not self._alone or any(name in request.headers for name in _FORWARDED):
            return True
        self._tokens_seen = self._tokens_seen or bool(self.own.databases.tokens.list())
        return self._tokens_seen

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
