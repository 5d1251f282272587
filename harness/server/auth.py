"""Who is let in: each request is served with the app of its token's tenant and role."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from types import TracebackType
from typing import Self

from starlette.requests import Request

from harness.app import App
from harness.errors import AccessDenied
from harness.identity import Identity, RateLimit

REQUEST_APP = "harness.app"
"""Where in the state of a request its app is."""
MAX_APPS = 100
"""Tokens whose app is kept open for their next request."""
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


def bearer(request: Request) -> str | None:
    """Return the token in the header `Authorization: Bearer TOKEN`."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if token and scheme.lower() == "bearer" else None


class Admission:
    """Finds out who asks, and what they work with. Safe for threads; close it.

    Without any token in the store, and only then, a request of this machine (`alone`) is served as the local identity.
    `token_of` finds the token of a request, `per_minute` is how often each may ask.
    """

    def __init__(
        self,
        app: App,
        *,
        per_minute: float,
        alone: bool,
        token_of: Callable[[Request], str | None] = bearer,
    ) -> None:
        self._own = app
        self._rate = RateLimit(per_minute)
        self._alone = alone
        self._token_of = token_of
        self._tokens_seen = False
        self._open: OrderedDict[Identity, App] = OrderedDict()
        self._opening = Lock()

    def app_for(self, request: Request) -> App:
        """Return the app of whoever asks.

        Raises:
            AccessDenied: no token, where one is needed, or one that is not valid.
            TooManyRequests: this token asks too often.
            StoreError: the store cannot be read.
        """
        identity = self._identity(request)
        self._rate.check(identity.token)
        with self._opening:
            if (app := self._open.pop(identity, None)) is None:
                app = self._own.serving(identity)
            self._open[identity] = app
            if len(self._open) > MAX_APPS:
                self._open.popitem(last=False)[1].close()
        return app

    def verify(self, token: str) -> Identity:
        """Return who holds a token.

        Raises:
            AccessDenied: it is not valid.
            StoreError: the store cannot be read.
        """
        return self._own.databases.tokens.verify(token)

    def close(self) -> None:
        """Close every app that was opened for somebody."""
        for app in self._open.values():
            app.close()

    def _identity(self, request: Request) -> Identity:
        if token := self._token_of(request):
            return self._own.databases.tokens.verify(token)
        if self._token_needed(request):
            raise AccessDenied("this needs a token: send the header `Authorization: Bearer TOKEN`")
        return self._own.identity

    def _token_needed(self, request: Request) -> bool:
        """Say whether a request without a token is refused: where others can reach the server, behind a proxy, and
        everywhere from when the first token was made.
        """
        if not self._alone or any(name in request.headers for name in _FORWARDED):
            return True
        self._tokens_seen = self._tokens_seen or bool(self._own.databases.tokens.list())
        return self._tokens_seen

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
