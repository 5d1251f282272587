"""HTTP server: address checks, the listening socket, and uvicorn with time limits."""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.app import App
from harness.errors import InvalidInput

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

CLOSING_SECONDS = 5
"""Longest time for open connections to end when the server stops."""
MAX_HEAD = 262_144
"""Bytes of a request line with its headers; longer ones are refused."""
HEAD_SECONDS = 10.0
"""Longest time for a request line with its headers to arrive."""
BODY_SECONDS = 30.0
"""Longest time for a body to arrive."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach `host`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_reach(app: App, host: str) -> None:
    """Check that a server which other machines can reach requires a token.

    Raises:
        InvalidInput: other machines can reach `host`, and there is no token.
        StoreError: the database cannot be read.
    """
    if not is_loopback(host) and not app.databases.tokens.list():
        raise InvalidInput(
            f"other machines can reach {host}, and there is no token yet; make one with `harness token create`, "
            "or leave out --host to serve only this machine"
        )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; port 0 picks a free port.

    Raises:
        InvalidInput: another program listens there, or there is no such address.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as error:
        raise InvalidInput(
            f"cannot listen on {host}, port {port} ({error}); choose another --host or --port"
        ) from error


def http_server(
    app: "ASGIApp",
    *,
    proxies: Sequence[str] = (),
    head_seconds: float = HEAD_SECONDS,
    body_seconds: float = BODY_SECONDS,
) -> "uvicorn.Server":
    """Return the uvicorn server of an application. It sends no `Server` header and trusts only the proxies in `proxies`
    (addresses and networks). A request that does not arrive in time is refused; see `TimedProtocol`.

    Raises:
        InvalidInput: one of `proxies` is neither an address nor a network.
    """
    import uvicorn

    from harness.server.http_protocol import TimedProtocol

    protocol: Any = partial(TimedProtocol, head_seconds=head_seconds, body_seconds=body_seconds)
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=protocol,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=[_checked_network(each) for each in proxies],
            ws="none",
            h11_max_incomplete_event_size=MAX_HEAD,
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
    )


def _checked_network(proxy: str) -> str:
    """Return the address or network unchanged; uvicorn would take any other text for the name of a socket."""
    try:
        ipaddress.ip_network(proxy)
    except ValueError as error:
        raise InvalidInput(f"trusted_proxies: {proxy!r:.60} is neither an address nor a network ({error})") from error
    return proxy


def run_server(server: "uvicorn.Server", listener: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serve until interrupted; call `on_ready` once the socket accepts connections."""
    on_ready()
    with suppress(KeyboardInterrupt):  # uvicorn shuts down gracefully, then raises the interrupt again
        server.run(sockets=[listener])
