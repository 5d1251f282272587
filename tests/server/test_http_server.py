"""Listening: addresses, ports, proxies."""

import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.app import App
from harness.errors import InvalidInput
from harness.server.http_server import LOOPBACK, check_reach, http_server, is_loopback, listen
from harness.settings import Settings

EVERYWHERE = "0.0.0.0"  # noqa: S104 - nothing is bound to it


@pytest.mark.parametrize("host", [*LOOPBACK, "LOCALHOST", "127.1.2.3", "::1", "0:0:0:0:0:0:0:1"])
def test_loopback_addresses(host: str) -> None:
    """Only this machine can reach them."""
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", [EVERYWHERE, "::", "", "127.1", "192.168.0.1", "localhost.evil.example", "127.0.0.1.evil.example",
             "example.org", "2130706433"]
)  # fmt: skip
def test_public_addresses(host: str) -> None:
    """Other machines may reach them; unknown names count as public."""
    assert not is_loopback(host)


@given(st.text(max_size=40))
def test_any_name_is_classified(host: str) -> None:
    """Without an error."""
    assert is_loopback(host) in {True, False}


def test_public_addresses_need_a_token(tmp_path: Path) -> None:
    """Loopback does not."""
    with App(Settings(data_dir=tmp_path)) as app:
        check_reach(app, "127.0.0.1")
        with pytest.raises(InvalidInput, match="harness token create"):
            check_reach(app, EVERYWHERE)
        app.databases.tokens.create("lab", "ada", "reader")
        check_reach(app, EVERYWHERE)


def test_a_free_port_is_found() -> None:
    """Port 0 picks a free one; two servers get two ports."""
    with listen("127.0.0.1", 0) as first, listen("localhost", 0) as second:
        assert first.getsockname()[1] != second.getsockname()[1]


def test_unusable_addresses_are_reported() -> None:
    """A taken port, an unknown name, a host of another machine: one line says what to choose."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for host, number in (("127.0.0.1", port), ("no such host", 0), ("x" * 300, 0), ("192.0.2.1", 0), ("\ud800", 0)):
            with pytest.raises(InvalidInput, match="choose another --host or --port"):
                listen(host, number)


def test_no_proxy_is_trusted_by_default() -> None:
    """And no `Server` header is sent."""

    async def app(*_: object) -> None: ...

    config = http_server(app).config
    assert (config.proxy_headers, config.server_header, config.access_log, config.ws) == (False, False, False, "none")
    assert config.timeout_graceful_shutdown is not None


def test_only_configured_proxies_are_trusted() -> None:
    """Addresses and networks; anything else is refused with a message."""

    async def app(*_: object) -> None: ...

    config = http_server(app, proxies=["10.0.0.1", "fd00::/8"]).config
    assert (config.proxy_headers, config.forwarded_allow_ips) == (True, ["10.0.0.1", "fd00::/8"])
    for wrong in ("*", "proxy.example", "10.0.0.0/33", ""):
        with pytest.raises(InvalidInput, match=r"trusted_proxies: .* is neither an address nor a network"):
            http_server(app, proxies=[wrong])
