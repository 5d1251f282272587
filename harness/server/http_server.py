"""HTTP server: address checks, the listening socket, and uvicorn with time limits."""

import ipaddress
import socket
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from harness.app import App
from harness.errors import HarnessError, InvalidInput

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

CLOSING_SECONDS = 5
"""Longest time for open connections to end when the server stops."""
NOT_STARTED = 3
"""Exit code of a process that cannot serve; uvicorn does not replace it."""
HANGING_SECONDS = 30
"""Time after which a worker process that does not respond is replaced, and in which a new one must be ready."""
MAX_HEAD = 262_144
"""Bytes of a request line with its headers; longer ones are refused."""
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


def http_server(app: "ASGIApp", *, proxies: Sequence[str] = ()) -> "uvicorn.Server":
    """Return the uvicorn server of an application. It sends no `Server` header and trusts only the proxies in `proxies`
    (addresses and networks). A request that does not arrive in time is refused; see `TimedProtocol`.

    Raises:
        InvalidInput: one of `proxies` is neither an address nor a network.
    """
    import uvicorn

    return uvicorn.Server(_config(app, proxies))


def run_workers(
    factory: Callable[[], "ASGIApp"],
    listener: socket.socket,
    workers: int,
    *,
    on_stop: Callable[[], None],
    proxies: Sequence[str] = (),
) -> None:
    """Serve from `workers` processes until interrupted; each calls `factory`, which is sent there, for its application.
    A process that dies or hangs is replaced; SIGHUP replaces all of them, one after another; on a terminal, which sends
    it when it is closed, it ends the server. `on_stop` is called before the processes are stopped.

    Raises:
        InvalidInput: one of `proxies` is neither an address nor a network.
        HarnessError: a process could not start.
    """
    from uvicorn.supervisors import Multiprocess

    config = _config(factory, proxies, factory=True, workers=workers, timeout_worker_healthcheck=HANGING_SECONDS)

    class Supervisor(Multiprocess):
        """The parent of the workers."""

        def keep_subprocess_alive(self) -> None:
            """Replace the workers that died or hang.

            A worker holds the other end of its pipe alone, so the pipe is closed as soon as the worker dies: the parent
            would wait for its answer otherwise, up to `HANGING_SECONDS`.
            """
            for process in self.processes:
                process.child_conn.close()
            super().keep_subprocess_alive()

        def terminate_all(self) -> None:
            """Stop the workers."""
            on_stop()
            super().terminate_all()

        def handle_hup(self) -> None:
            """Replace the workers, or stop: a terminal sends this signal when it is closed."""
            if sys.stdin is not None and sys.stdin.isatty():
                self.handle_term()
            else:
                super().handle_hup()

    supervisor = Supervisor(config, [listener])
    supervisor.run()
    if any(process.exitcode == NOT_STARTED for process in supervisor.processes):
        raise HarnessError("the server could not start; the lines above say why")


def _config(app: Any, proxies: Sequence[str], **others: Any) -> "uvicorn.Config":
    import uvicorn

    from harness.server.http_protocol import TimedProtocol

    return uvicorn.Config(
        app,
        http=TimedProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=[_checked_network(each) for each in proxies],
        ws="none",
        h11_max_incomplete_event_size=MAX_HEAD,
        timeout_graceful_shutdown=CLOSING_SECONDS,
        **others,
    )


def _checked_network(proxy: str) -> str:
    """Return the address or network unchanged; uvicorn would take any other text for the name of a socket."""
    try:
        ipaddress.ip_network(proxy)
    except ValueError as error:
        raise InvalidInput(f"trusted_proxies: {proxy!r:.60} is neither an address nor a network ({error})") from error
    return proxy
