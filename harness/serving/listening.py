"""Listening on an address until somebody ends it."""

import ipaddress
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from harness.errors import InvalidInput
from harness.workbench import Workbench

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

CLOSING_SECONDS = 5
"""How long connections may take to end when the server is stopped."""
MAX_HEAD = 262_144
"""Bytes of a request line with its headers; uvicorn refuses longer ones by itself."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach `host`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_reach(workbench: Workbench, host: str) -> None:
    """Do nothing where this machine alone can reach `host`, or somebody has a token.

    Raises:
        InvalidInput: others can reach it, and there is no token.
        StoreError: the database cannot be read.
    """
    if not is_loopback(host) and not workbench.tokens.list():
        raise InvalidInput(
            f"others can reach {host}, and there is no token yet; make one with `harness token create`, "
            "or leave --host out to serve this machine alone"
        )


def listening(host: str, port: int) -> socket.socket:
    """Listen on an address; 0 is any free port.

    Raises:
        InvalidInput: that is not possible: another program listens there, or there is no such address.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as error:
        raise InvalidInput(
            f"cannot listen on {host}, port {port} ({error}); choose another --host or --port"
        ) from error


def server_of(app: "ASGIApp") -> "uvicorn.Server":
    """Make the server of an application; it tells nothing of itself, and believes no proxy."""
    import uvicorn

    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            h11_max_incomplete_event_size=MAX_HEAD,
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
    )


def run(server: "uvicorn.Server", listener: socket.socket, tell: Callable[[], None]) -> None:
    """Serve until interrupted; `tell` is called once the server can be reached."""
    tell()
    with suppress(KeyboardInterrupt):  # uvicorn ends gracefully, and then raises what ended it
        server.run(sockets=[listener])
