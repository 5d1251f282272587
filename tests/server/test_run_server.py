"""Where a server listens, and who can reach it there."""

import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.app import App
from harness.errors import InvalidInput
from harness.server.run_server import LOOPBACK, check_reach, is_loopback, listening, server_of
from harness.settings import Settings

EVERYWHERE = "0.0.0.0"  # noqa: S104 - nothing is bound to it


@pytest.mark.parametrize("host", [*LOOPBACK, "LOCALHOST", "127.1.2.3", "::1", "0:0:0:0:0:0:0:1"])
def test_this_machine_alone(host: str) -> None:
    """These reach no further than this machine."""
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", [EVERYWHERE, "::", "", "127.1", "192.168.0.1", "localhost.evil.example", "127.0.0.1.evil.example",
             "example.org", "2130706433"]
)  # fmt: skip
def test_others_can_reach_it(host: str) -> None:
    """These may be reached by others; what is not surely this machine counts as that."""
    assert not is_loopback(host)


@given(st.text(max_size=40))
def test_no_name_is_a_crash(host: str) -> None:
    """Whatever stands there, the answer is yes or no."""
    assert is_loopback(host) in {True, False}


def test_others_are_served_with_a_token_only(tmp_path: Path) -> None:
    """Beyond this machine nothing is served before there is a token; on it, everything."""
    with App(Settings(data_dir=tmp_path)) as app:
        check_reach(app, "127.0.0.1")
        with pytest.raises(InvalidInput, match="harness token create"):
            check_reach(app, EVERYWHERE)
        app.databases.tokens.create("lab", "ada", "reader")
        check_reach(app, EVERYWHERE)


def test_a_free_port_is_found() -> None:
    """Port 0 is any free one, and two servers get two."""
    with listening("127.0.0.1", 0) as first, listening("localhost", 0) as second:
        assert first.getsockname()[1] != second.getsockname()[1]


def test_what_cannot_be_listened_on_is_told() -> None:
    """A port that is taken, a name of nothing, a host of another machine: one line says what to choose."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for host, number in (("127.0.0.1", port), ("no such host", 0), ("x" * 300, 0), ("192.0.2.1", 0), ("\ud800", 0)):
            with pytest.raises(InvalidInput, match="choose another --host or --port"):
                listening(host, number)


def test_the_server_believes_no_proxy_and_tells_nothing_of_itself() -> None:
    """Who asks is who connects; which program answers is nobody's business."""

    async def app(*_: object) -> None: ...

    config = server_of(app).config
    assert (config.proxy_headers, config.server_header, config.access_log, config.ws) == (False, False, False, "none")
    assert config.timeout_graceful_shutdown is not None


def test_only_configured_proxies_are_believed() -> None:
    """An address or a network; anything else is refused, and the message says what it must be."""

    async def app(*_: object) -> None: ...

    config = server_of(app, proxies=["10.0.0.1", "fd00::/8"]).config
    assert (config.proxy_headers, config.forwarded_allow_ips) == (True, ["10.0.0.1", "fd00::/8"])
    for wrong in ("*", "proxy.example", "10.0.0.0/33", ""):
        with pytest.raises(InvalidInput, match=r"trusted_proxies: .* is neither an address nor a network"):
            server_of(app, proxies=[wrong])
