"""Address checks: only the public internet and the hosts that the user allows by name.

A page or redirect may name a host in the user's own network (server-side request forgery). So the addresses that the
name resolves to are checked, and the caller connects to exactly those: a DNS answer that changes later (rebinding) has
no effect.
"""

import socket
from collections.abc import Callable, Collection, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeAlias
from urllib.parse import urlsplit

from harness.errors import AddressRefused, InvalidInput, PageError

Resolver: TypeAlias = Callable[[str, int], Sequence[str]]
"""Function from host and port to IP addresses; raises `OSError` or `ValueError` when there are none."""

MAX_ADDRESSES = 8
"""Number of a host's addresses that are tried; all are checked."""

_GLOBAL_IPV6 = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")
_REFUSED = tuple(
    ip_network(each)
    for each in (
        "192.0.0.0/24",  # IETF protocol assignments; older Pythons count only parts of it as private
        "192.88.99.0/24",  # relays of 6to4
        "3fff::/20",  # documentation (RFC 9637), unknown to older Pythons
    )
)


def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses that the system connects to for `host`, in its order; see `Resolver`."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public(address: str) -> bool:
    """Return whether an IP address is on the public internet.

    Not public: private, loopback, link-local, shared (RFC 6598), multicast, reserved and unspecified addresses, IPv6
    addresses that contain such an IPv4 address (mapped, 6to4, NAT64), and Teredo.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address) and (inside := _carried(parsed)) is not None:
        parsed = inside
    if isinstance(parsed, IPv6Address) and parsed not in _GLOBAL_IPV6:
        return False
    special = parsed.is_multicast or parsed.is_reserved or any(parsed in network for network in _REFUSED)
    return parsed.is_global and not special


def _carried(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that `address` is translated to, if any."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


class AddressGuard:
    """Check of the addresses of a host.

    `allowed_hosts` may have any address: exact names or IP addresses, each with or without `:port`.

    Raises:
        InvalidInput: an invalid allowed host.
    """

    def __init__(self, allowed_hosts: Collection[str] = (), resolver: Resolver = resolve) -> None:
        self._allowed = frozenset(_host_and_port(each) for each in allowed_hosts)
        self._resolver = resolver

    def addresses(self, host: str, port: int, timeout: float) -> Sequence[str]:
        """Return the addresses to connect to, in order, at most `MAX_ADDRESSES`. `timeout` is in seconds.

        Raises:
            AddressRefused: one of the host's addresses is not public, and the host is not allowed.
            PageError: the host has no address, or it was not resolved in time.
        """
        found = self._resolved(host, port, timeout)
        name = host.lower().rstrip(".")
        if not {(name, None), (name, port)} & self._allowed:
            for address in found:
                if not is_public(address):
                    raise AddressRefused(
                        f"{host} is at {address}, which is not a public address; to allow it, add {name} to the "
                        "setting allowed_hosts"
                    )
        return found[:MAX_ADDRESSES]

    def _resolved(self, host: str, port: int, timeout: float) -> Sequence[str]:
        """Resolve in a daemon thread: the system's resolver has no time-out."""
        answers: SimpleQueue[Sequence[str] | Exception] = SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self._resolver(host, port))
            except (OSError, ValueError) as error:
                answers.put(error)

        Thread(target=ask, name="resolve", daemon=True).start()
        try:
            answer = answers.get(timeout=timeout)
        except Empty:
            raise PageError(f"no address of {host} within {timeout:.0f} s; check the network") from None
        if isinstance(answer, Exception) or not answer:
            raise PageError(f"the host {host} has no address; check its spelling and the network")
        return answer


def _host_and_port(entry: str) -> tuple[str, int | None]:
    """Read an allowed host: `name`, `name:port`, `1.2.3.4`, `::1`, `[::1]:port`."""
    bracketed = f"[{entry}]" if entry.count(":") > 1 and not entry.startswith("[") else entry
    try:
        parts = urlsplit(f"//{bracketed.strip()}")
        host, port = (parts.hostname or "").rstrip(".").encode("idna").decode(), parts.port
    except ValueError:  # a port that is not a number, a label that is too long
        host, port = "", None
    if not host or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        raise InvalidInput(f"{entry!r} in allowed_hosts is not a host; write it as host or host:port, without http://")
    return host, port
