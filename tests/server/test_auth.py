"""Who is let in, as whom, how often, and what is kept open for them."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.requests import Request

from harness.app import App
from harness.errors import AccessDenied, InvalidInput, TooManyRequests
from harness.server import auth as admitting
from harness.server.auth import Admission, bearer
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


def test_each_token_has_a_app_of_its_own(app: App, token: Callable[..., str]) -> None:
    """The same token gets the same app again, another one another; each is its tenant's."""
    lab, shop = token("lab"), token("shop")
    with Admission(app, per_minute=6_000, alone=True) as admission:
        first = admission.app_for(asking(lab))
        assert admission.app_for(asking(lab)) is first
        other = admission.app_for(asking(shop))
        assert (first.identity.tenant, other.identity.tenant) == ("lab", "shop")


def test_so_many_are_kept_open(app: App, token: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the one that was asked for longest ago is closed; with its next request it is opened again."""
    monkeypatch.setattr(admitting, "MAX_APPS", 2)
    tokens = [token("lab", f"user{number}") for number in range(3)]
    with Admission(app, per_minute=6_000, alone=True) as admission:
        opened = [admission.app_for(asking(each)) for each in tokens]
        assert len(admission._open) == 2
        assert admission.app_for(asking(tokens[2])) is opened[2]
        again = admission.app_for(asking(tokens[0]))
        assert again is not opened[0]
        assert again.identity == opened[0].identity
        assert opened[1].cache.stats(), "one that is still at work goes on after it was closed"


def test_without_tokens_only_this_machine_is_let_in(app: App, token: Callable[..., str]) -> None:
    """On loopback, before the first token, and not through a proxy: then it is the local user."""
    with Admission(app, per_minute=6_000, alone=True) as admission:
        assert admission.app_for(asking()).identity.local
        with pytest.raises(AccessDenied):
            admission.app_for(asking(x_forwarded_for="127.0.0.1"))
        token()
        with pytest.raises(AccessDenied):
            admission.app_for(asking())
    with Admission(app, per_minute=6_000, alone=False) as admission, pytest.raises(AccessDenied):
        admission.app_for(asking())


def test_the_door_does_not_open_again(app: App, token: Callable[..., str]) -> None:
    """A server that has seen a token asks for one until it ends, though all are revoked."""
    text = token()
    with Admission(app, per_minute=6_000, alone=True) as admission:
        with pytest.raises(AccessDenied):
            admission.app_for(asking())
        app.databases.tokens.revoke(text.split(".")[1])
        with pytest.raises(AccessDenied):
            admission.app_for(asking())


def test_each_token_has_its_own_rate(app: App, token: Callable[..., str]) -> None:
    """One that asks too often is told how long to wait; a rate below one a minute is none."""
    ada, bob = token("lab", "ada"), token("lab", "bob")
    with Admission(app, per_minute=2, alone=True) as admission:
        for _ in range(2):
            admission.app_for(asking(ada))
        with pytest.raises(TooManyRequests) as told:
            admission.app_for(asking(ada))
        assert 0 < told.value.wait <= 60
        admission.app_for(asking(bob))
    with pytest.raises(InvalidInput):
        Admission(app, per_minute=0, alone=True)


def test_many_ask_at_once(app: App, token: Callable[..., str]) -> None:
    """Threads that ask at the same time with one token get one app."""
    text = token()
    found: list[App] = []
    with Admission(app, per_minute=60_000, alone=True) as admission:
        threads = [threading.Thread(target=lambda: found.append(admission.app_for(asking(text)))) for _ in range(20)]
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
    """The scheme is compared without regard to case; without a token there is none."""
    assert bearer(asking(authorization=header)) == token
