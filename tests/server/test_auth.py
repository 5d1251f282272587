"""Authentication: identity, rate limit, open apps."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.requests import Request

from harness.app import App
from harness.errors import AccessDenied, InvalidInput, TooManyRequests
from harness.server import auth
from harness.server.auth import Authenticator, bearer_token
from harness.settings import Settings


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """The local user's app."""
    with App(Settings(data_dir=tmp_path)) as opened:
        yield opened


@pytest.fixture
def token(app: App) -> Callable[..., str]:
    """Make a token; return its text."""

    def make(tenant: str = "lab", user: str = "ada") -> str:
        return app.databases.tokens.create(tenant, user, "writer").text

    return make


def asking(token: str = "", **headers: str) -> Request:
    """Return a request with a token in its header."""
    if token:
        headers["authorization"] = f"Bearer {token}"
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "headers": raw})


def test_each_token_has_its_own_app(app: App, token: Callable[..., str]) -> None:
    """The same token gets the same app again; each app belongs to its tenant."""
    lab, shop = token("lab"), token("shop")
    with Authenticator(app, per_minute=6_000, alone=True) as authenticator:
        first = authenticator.app_for(asking(lab))
        assert authenticator.app_for(asking(lab)) is first
        other = authenticator.app_for(asking(shop))
        assert (first.identity.tenant, other.identity.tenant) == ("lab", "shop")


def test_the_number_of_open_apps_is_limited(
    app: App, token: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The least recently used one is closed, and opened again with its next request."""
    monkeypatch.setattr(auth, "MAX_APPS", 2)
    tokens = [token("lab", f"user{number}") for number in range(3)]
    with Authenticator(app, per_minute=6_000, alone=True) as authenticator:
        opened = [authenticator.app_for(asking(each)) for each in tokens]
        assert len(authenticator._open) == 2
        assert authenticator.app_for(asking(tokens[2])) is opened[2]
        again = authenticator.app_for(asking(tokens[0]))
        assert again is not opened[0]
        assert again.identity == opened[0].identity
        assert opened[1].cache.maintenance.stats(), "one that is still at work goes on after it was closed"


def test_without_tokens_only_this_machine_is_served(app: App, token: Callable[..., str]) -> None:
    """As the local user; not through a proxy."""
    with Authenticator(app, per_minute=6_000, alone=True) as authenticator:
        assert authenticator.app_for(asking()).identity.local
        with pytest.raises(AccessDenied):
            authenticator.app_for(asking(x_forwarded_for="127.0.0.1"))
        token()
        with pytest.raises(AccessDenied):
            authenticator.app_for(asking())
    with Authenticator(app, per_minute=6_000, alone=False) as authenticator, pytest.raises(AccessDenied):
        authenticator.app_for(asking())


def test_tokens_stay_required(app: App, token: Callable[..., str]) -> None:
    """Once the server has seen a token, even if all are revoked."""
    text = token()
    with Authenticator(app, per_minute=6_000, alone=True) as authenticator:
        with pytest.raises(AccessDenied):
            authenticator.app_for(asking())
        app.databases.tokens.revoke(text.split(".")[1])
        with pytest.raises(AccessDenied):
            authenticator.app_for(asking())


def test_each_token_has_its_own_rate(app: App, token: Callable[..., str]) -> None:
    """The error says how long to wait; a rate below one a minute is invalid."""
    ada, bob = token("lab", "ada"), token("lab", "bob")
    with Authenticator(app, per_minute=2, alone=True) as authenticator:
        for _ in range(2):
            authenticator.app_for(asking(ada))
        with pytest.raises(TooManyRequests) as payload:
            authenticator.app_for(asking(ada))
        assert 0 < payload.value.wait <= 60
        authenticator.app_for(asking(bob))
    with pytest.raises(InvalidInput):
        Authenticator(app, per_minute=0, alone=True)


def test_parallel_requests_of_a_token_share_an_app(app: App, token: Callable[..., str]) -> None:
    """Threads with the same token get one app."""
    text = token()
    found: list[App] = []
    with Authenticator(app, per_minute=60_000, alone=True) as authenticator:
        threads = [
            threading.Thread(target=lambda: found.append(authenticator.app_for(asking(text)))) for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 20
    assert len(set(map(id, found))) == 1


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer x", "x"), ("bearer x", "x"), ("BEARER x y", "x y"), ("Bearer ", None), ("Bearer", None),
        ("Basic x", None), ("x", None), ("", None),
    ],
)  # fmt: skip
def test_the_token_of_a_header(header: str, token: str | None) -> None:
    """The scheme is case-insensitive; without a token the result is `None`."""
    assert bearer_token(asking(authorization=header)) == token
